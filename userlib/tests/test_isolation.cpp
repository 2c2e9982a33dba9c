// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* What must be refused: each with a cause that names it, and the target's memory as it was. */
#include "gni_memhandle.h"
#include "rank.hpp"

#include <thread>
#include <vector>

constexpr uint32_t kOtherCookie = 0x00900000;
constexpr uint8_t kOtherPtag = 34;

/** Posts of every kind that would change or read @length bytes at @offset of @target; all must end with @status. */
static void refused(const Rank &from, const Rank &target, const gni_mem_handle_t &handle, uint64_t address,
		    size_t length, uint32_t status, bool reading = true)
{
	std::vector<unsigned char> before(target.bytes, target.bytes + target.size);
	std::vector<unsigned char> own(from.bytes, from.bytes + from.size);
	gni_mem_handle_t sealed = handle;

	sealed.qword2 = (sealed.qword2 & ~(0xffULL << 56)) | static_cast<uint64_t>(gni_hndl_crc(&sealed)) << 56;
	for (gni_post_type_t type : {GNI_POST_FMA_PUT, GNI_POST_RDMA_PUT, GNI_POST_AMO, GNI_POST_FMA_PUT_W_SYNCFLAG,
				     GNI_POST_FMA_GET, GNI_POST_RDMA_GET}) {
		if (!reading && (type == GNI_POST_FMA_GET || type == GNI_POST_RDMA_GET))
			continue;
		gni_post_descriptor_t d = from.post(target, type, type == GNI_POST_AMO ? 8 : length);
		d.remote_addr = address;
		d.remote_mem_hndl = sealed;
		d.amo_cmd = GNI_FMA_ATOMIC_FADD;
		d.first_operand = 1;
		d.sync_flag_addr = address & ~7ULL;
		assert_int_equal(from.run(&d), status);
	}
	assert_memory_equal(target.bytes, before.data(), before.size());
	assert_memory_equal(from.bytes, own.data(), own.size());
}

MODEL_TEST(other_domain)
{
	model::allow(kOtherCookie, kOtherPtag);
	Rank victim(1, 1, 16384), attacker(0, 2, 16384, 0, kOtherCookie);

	attacker.bind(victim, 1);
	memset(attacker.bytes, 0x41, 8192);
	refused(attacker, victim, victim.handle, victim.at(64), 64, ARIES_ST_PTAG);
	refused(attacker, victim, victim.handle, victim.at(64), 6000, ARIES_ST_PTAG);
	/* Not even an event. */
	gni_post_descriptor_t d = attacker.post(victim, GNI_POST_CQWRITE, 0);
	gni_cq_entry_t e = 0;
	assert_int_equal(attacker.run(&d), ARIES_ST_PTAG);
	assert_rc(NOT_DONE, GNI_CqGetEvent(victim.remote, &e));
	/* Nor can the victim's memory be the local side. */
	Rank mine(0, 3, 4096);
	d = attacker.post(victim, GNI_POST_FMA_GET, 64);
	d.local_mem_hndl = mine.handle;
	d.local_addr = mine.at(0);
	assert_int_equal(attacker.run(&d), ARIES_ST_LOCAL_PTAG);
}

MODEL_TEST(wrong_cookie)
{
	gni_cdm_handle_t cdm = nullptr;
	gni_nic_handle_t nic = nullptr;
	uint32_t address = 0;

	assert_rc(SUCCESS, GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, kCookie + 1, 0, &cdm));
	assert_rc(PERMISSION_ERROR, GNI_CdmAttach(cdm, 0, &address, &nic));
	assert_rc(SUCCESS, GNI_CdmDestroy(cdm));
	assert_rc(SUCCESS, GNI_CdmCreate(1, kPtag + 1, kCookie, 0, &cdm));
	assert_rc(PERMISSION_ERROR, GNI_CdmAttach(cdm, 0, &address, &nic));
	assert_rc(SUCCESS, GNI_CdmDestroy(cdm));
}

MODEL_TEST(forged_handles)
{
	Pair p;

	for (uint64_t mdh : {100, 4095}) {
		gni_mem_handle_t h = p.b.handle;
		h.qword1 = (h.qword1 & 0x000fffffffffffff) | mdh << 52;
		refused(p.a, p.b, h, p.b.at(64), 64, ARIES_ST_MDD);
	}
	/* Without a valid check code a block transfer is not even begun. */
	gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_RDMA_PUT, 64);
	d.remote_mem_hndl.qword1 ^= 1;
	assert_rc(INVALID_PARAM, GNI_PostRdma(p.a.ep, &d));
	/* A local side that does not exist. */
	d = p.a.post(p.b, GNI_POST_FMA_GET, 64);
	d.local_mem_hndl.qword1 |= 0xfffULL << 52;
	assert_int_equal(p.a.run(&d), ARIES_ST_LOCAL_MDD);
}

MODEL_TEST(out_of_bounds)
{
	Pair p(8192);

	refused(p.a, p.b, p.b.handle, p.b.at(8192), 64, ARIES_ST_BOUNDS);
	refused(p.a, p.b, p.b.handle, p.b.at(0) - 64, 64, ARIES_ST_BOUNDS);
	refused(p.a, p.b, p.b.handle, p.b.at(0) + (1ULL << 32), 64, ARIES_ST_BOUNDS);
	refused(p.a, p.b, p.b.handle, 0, 64, ARIES_ST_BOUNDS);
	/* The end of a range counts, too. */
	gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_FMA_PUT, 64, 0, 8192 - 32);
	assert_int_equal(p.a.run(&d), ARIES_ST_BOUNDS);
	d = p.a.post(p.b, GNI_POST_FMA_GET, 64, 8192 - 32, 0);
	assert_int_equal(p.a.run(&d), ARIES_ST_LOCAL_BOUNDS);
	/* A long put that runs over the end: the pieces inside are written, the event tells of the one that is not. */
	d = p.a.post(p.b, GNI_POST_FMA_PUT, 5000, 0, 4096);
	assert_int_equal(p.a.run(&d), ARIES_ST_BOUNDS);
	gni_cq_entry_t e = 0;
	assert_rc(NOT_DONE, GNI_CqGetEvent(p.a.source, &e));
	assert_rc(NOT_DONE, GNI_CqGetEvent(p.b.remote, &e));
}

MODEL_TEST(read_only)
{
	Rank a(0, 1, 8192), b(1, 2, 8192, 0, kCookie, 100, GNI_MEM_READ_ONLY);
	gni_mem_handle_t stripped = b.handle;

	a.bind(b, 2);
	memset(a.bytes, 0x41, 4096);
	stripped.qword2 &= ~(1ULL << 34);
	refused(a, b, stripped, b.at(0), 64, ARIES_ST_ACCESS, false);
	gni_post_descriptor_t d = a.post(b, GNI_POST_RDMA_PUT, 64);
	assert_rc(PERMISSION_ERROR, GNI_PostRdma(a.ep, &d));
	d = a.post(b, GNI_POST_FMA_PUT, 64);
	assert_int_equal(a.run(&d), ARIES_ST_ACCESS);
	/* Reading is what it is for. */
	b.bytes[5] = 99;
	d = a.post(b, GNI_POST_RDMA_GET, 64);
	assert_int_equal(a.run(&d), 0);
	assert_int_equal(a.bytes[5], 99);
}

MODEL_TEST(deregistered)
{
	Pair p;
	gni_mem_handle_t old = p.b.handle;

	assert_rc(SUCCESS, GNI_MemDeregister(p.b.nic, &p.b.handle));
	refused(p.a, p.b, old, p.b.at(64), 64, ARIES_ST_MDD);
}

MODEL_TEST(no_such_node)
{
	Pair p;

	assert_rc(SUCCESS, GNI_EpUnbind(p.a.ep));
	assert_rc(SUCCESS, GNI_EpBind(p.a.ep, 77, 1));
	refused(p.a, p.b, p.b.handle, p.b.at(64), 64, ARIES_ST_NO_NODE);
}

/* A node that dies turns posts towards it into error events, within the lease; none is without one. */
MODEL_TEST(dead_node)
{
	Pair p;
	bool failed = false;

	model::kill(1);
	for (int i = 0; i < 200 && !failed; i++) {
		gni_post_descriptor_t d = p.a.post(p.b, i % 2 ? GNI_POST_RDMA_PUT : GNI_POST_FMA_PUT, 64);
		uint32_t status = p.a.run(&d);
		uint32_t recoverable = 9;
		failed = status != 0;
		if (failed) {
			assert_true(status == ARIES_ST_TIMEOUT || status == ARIES_ST_NO_NODE);
			assert_rc(SUCCESS, GNI_CqErrorRecoverable(static_cast<uint64_t>(status) << 48, &recoverable));
		} else {
			std::this_thread::sleep_for(std::chrono::milliseconds(10));
		}
	}
	assert_true(failed);
}

/* Another context's completion queue cannot be named: ids are per NIC handle and checked by the library and the NIC. */
MODEL_TEST(foreign_queue)
{
	Rank a(0, 1, 4096), other(0, 2, 4096), b(1, 3, 4096);
	gni_ep_handle_t ep = nullptr;
	gni_post_descriptor_t d = a.post(b, GNI_POST_RDMA_PUT, 64);
	gni_mem_handle_t h = {};

	a.bind(b, 3);
	d.src_cq_hndl = other.source;
	assert_rc(INVALID_PARAM, GNI_PostRdma(a.ep, &d));
	assert_rc(INVALID_PARAM, GNI_EpCreate(a.nic, other.source, &ep));
	assert_rc(INVALID_PARAM, GNI_MemRegister(a.nic, a.at(0), 64, other.remote, 0, ~0U, &h));
}

TEST_MAIN("isolation over the model")
