// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* One process of a job on the model: attached, with queues, memory, and an endpoint to a peer. */
#ifndef UGNI_TESTS_RANK_HPP
#define UGNI_TESTS_RANK_HPP

#include "aries_hw.h"
#include "cmocka_cpp.hpp"
#include "model_kernel.hpp"

#include <cstring>

constexpr uint32_t kCookie = 0x00800000;
constexpr uint8_t kPtag = 33;

struct Rank {
	gni_cdm_handle_t cdm = nullptr;
	gni_nic_handle_t nic = nullptr;
	gni_cq_handle_t source = nullptr; /* local and global events */
	gni_cq_handle_t remote = nullptr; /* remote events */
	gni_ep_handle_t ep = nullptr;
	uint32_t address = 0;
	unsigned char *bytes = nullptr;
	size_t size = 0;
	gni_mem_handle_t handle = {};

	Rank(uint32_t node, uint32_t inst_id, size_t size_, uint32_t modes = 0, uint32_t cookie = kCookie,
	     uint32_t remote_entries = 100, uint32_t flags = 0)
		: size(size_)
	{
		assert_rc(SUCCESS, GNI_CdmCreate(inst_id, GNI_FIND_ALLOC_PTAG, cookie, modes, &cdm));
		assert_rc(SUCCESS, GNI_CdmAttach(cdm, node, &address, &nic));
		assert_rc(SUCCESS, GNI_CqCreate(nic, 200, 0, GNI_CQ_BLOCKING, nullptr, nullptr, &source));
		assert_rc(SUCCESS, GNI_CqCreate(nic, remote_entries, 0, GNI_CQ_BLOCKING, nullptr, nullptr, &remote));
		assert_rc(SUCCESS, GNI_EpCreate(nic, source, &ep));
		bytes = model::memory(node, size);
		assert_rc(SUCCESS, GNI_MemRegister(nic, at(0), size, remote, flags, ~0U, &handle));
	}
	~Rank() { (void)GNI_CdmDestroy(cdm); }
	Rank(const Rank &) = delete;
	Rank &operator=(const Rank &) = delete;

	uint64_t at(size_t offset) const { return reinterpret_cast<uintptr_t>(bytes) + offset; }
	void bind(const Rank &peer, uint32_t id) const { assert_rc(SUCCESS, GNI_EpBind(ep, peer.address, id)); }

	gni_post_descriptor_t post(const Rank &peer, gni_post_type_t type, size_t length, size_t from = 0,
				   size_t to = 0, uint16_t events = GNI_CQMODE_GLOBAL_EVENT) const
	{
		gni_post_descriptor_t d = {};

		d.type = type;
		d.cq_mode = events;
		d.local_addr = at(from);
		d.local_mem_hndl = handle;
		d.remote_addr = peer.at(to);
		d.remote_mem_hndl = peer.handle;
		d.length = length;
		return d;
	}

	/** Posts and waits for the one event; the status it tells, after checking that all places agree. */
	uint32_t run(gni_post_descriptor_t *d) const
	{
		gni_post_descriptor_t *back = nullptr;
		gni_cq_entry_t e = 0;
		gni_return_t rc = d->type == GNI_POST_RDMA_PUT || d->type == GNI_POST_RDMA_GET ? GNI_PostRdma(ep, d)
				  : d->type == GNI_POST_CQWRITE                                ? GNI_PostCqWrite(ep, d)
											       : GNI_PostFma(ep, d);
		assert_int_equal(rc, GNI_RC_SUCCESS);
		rc = GNI_CqWaitEvent(source, 5000, &e);
		assert_true(rc == GNI_RC_SUCCESS || rc == GNI_RC_TRANSACTION_ERROR);
		assert_int_equal(rc == GNI_RC_SUCCESS, GNI_CQ_STATUS_OK(e));
		assert_int_equal(GNI_GetCompleted(source, e, &back), rc);
		assert_ptr_equal(back, d);
		assert_int_equal(d->status, rc);
		return static_cast<uint32_t>(GNI_CQ_GET_STATUS(e));
	}
};

/** Two ranks on two nodes, bound to each other. */
struct Pair {
	Rank a, b;

	explicit Pair(size_t size = 65536, uint32_t modes = 0, uint32_t remote_entries = 100)
		: a(0, 1000, size, modes), b(1, 1001, size, modes, kCookie, remote_entries)
	{
		a.bind(b, 1001);
		b.bind(a, 1000);
	}
};

inline int world_start(void **)
{
	model::start();
	model::allow(kCookie, kPtag);
	return 0;
}

inline int world_stop(void **)
{
	model::stop();
	return 0;
}

#define model_test(function) cmocka_unit_test_setup_teardown(function, world_start, world_stop)
#define MODEL_TEST(name) TEST_BETWEEN(name, world_start, world_stop)

#endif
