// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Block transfers between regions named before: the second post takes the short way, and differs in nothing. Each
 * change of the second one must be seen although the first one was right.
 */
#include "session.hpp"

#include <cstring>
#include <functional>

namespace
{

/* A session in which ids are used again, as the short way has it: so many are always left out. */
struct Warm : Session {
	explicit Warm(uint32_t modes = 0, uint32_t entries = 32) : Session(modes, entries)
	{
		for (int i = 0; i < 100; i++) {
			gni_post_descriptor_t d = post(GNI_POST_FMA_PUT), *back = nullptr;
			gni_cq_entry_t e = 0;
			assert_rc(SUCCESS, GNI_PostFma(ep, &d));
			assert_rc(SUCCESS, GNI_CqGetEvent(cq, &e));
			assert_rc(SUCCESS, GNI_GetCompleted(cq, e, &back));
		}
	}
};

using Change = std::function<void(gni_post_descriptor_t &)>;

/* What one post leaves in its slot; the transaction id is the post's own. */
aries_bte_desc slot_after(Session &s, gni_post_descriptor_t &d)
{
	auto *slot = const_cast<aries_bte_desc *>(&s.file().bte(0));
	gni_post_descriptor_t *back = nullptr;
	gni_cq_entry_t e = 0;

	memset(slot, 0xff, sizeof(*slot));
	assert_rc(SUCCESS, GNI_PostRdma(s.ep, &d));
	assert_int_equal(Session::last().offset, ARIES_DB_BTE);
	assert_int_equal(Session::last().value, 0);
	aries_bte_desc seen = *slot;
	assert_int_not_equal(seen.tid, 0);
	seen.tid = 0;
	if (d.cq_mode & (GNI_CQMODE_LOCAL_EVENT | GNI_CQMODE_GLOBAL_EVENT)) {
		assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
		assert_rc(SUCCESS, GNI_GetCompleted(s.cq, e, &back));
		assert_ptr_equal(back, &d);
		assert_int_equal(d.status, GNI_RC_SUCCESS);
		assert_int_equal(d.cq_mode_complete, d.cq_mode & ~GNI_CQMODE_REMOTE_EVENT);
	}
	return seen;
}

/* The same post as the first of its kind, and as one that follows another with the same regions. */
TEST(same_slot)
{
	const Change changes[] = {
		[](gni_post_descriptor_t &) {},
		[](gni_post_descriptor_t &d) { d.length = 0xffffffff; },
		[](gni_post_descriptor_t &d) { d.length = 1; },
		[](gni_post_descriptor_t &d) { d.cq_mode |= GNI_CQMODE_REMOTE_EVENT; },
		[](gni_post_descriptor_t &d) { d.cq_mode = GNI_CQMODE_LOCAL_EVENT; },
		[](gni_post_descriptor_t &d) { d.dlvr_mode = GNI_DLVMODE_IN_ORDER; },
		[](gni_post_descriptor_t &d) { d.remote_addr = 0xfffffffffffff123; },
		[](gni_post_descriptor_t &d) { d.local_addr += 0x123; },
		[](gni_post_descriptor_t &d) { d.rdma_mode = GNI_RDMAMODE_FENCE; },
		[](gni_post_descriptor_t &d) { d.type = GNI_POST_RDMA_GET; },
	};

	for (const Change &change : changes) {
		Warm s;
		gni_post_descriptor_t first = s.post(GNI_POST_RDMA_PUT, 4096);
		change(first);
		gni_post_descriptor_t second = first;
		const aries_bte_desc one = slot_after(s, first), two = slot_after(s, second);
		assert_memory_equal(&one, &two, sizeof(one));
	}
}

TEST(queue_named)
{
	Warm s;
	gni_cq_handle_t other = nullptr;
	gni_post_descriptor_t d = s.post(GNI_POST_RDMA_PUT, 4096);
	gni_post_descriptor_t *back = nullptr;
	gni_cq_entry_t e = 0;

	assert_rc(SUCCESS, GNI_CqCreate(s.nic, 32, 0, 0, nullptr, nullptr, &other));
	const uint16_t own = slot_after(s, d).cq;
	d.src_cq_hndl = s.cq;
	assert_int_equal(slot_after(s, d).cq, own);
	d.src_cq_hndl = other;
	assert_rc(SUCCESS, GNI_PostRdma(s.ep, &d));
	assert_int_not_equal(s.file().bte(0).cq, own);
	assert_rc(NOT_DONE, GNI_CqGetEvent(s.cq, &e));
	assert_rc(SUCCESS, GNI_CqGetEvent(other, &e));
	assert_rc(SUCCESS, GNI_GetCompleted(other, e, &back));
	assert_ptr_equal(back, &d);
}

TEST(refused)
{
	Warm s;
	gni_post_descriptor_t good = s.post(GNI_POST_RDMA_PUT, 4096);
	auto expect = [&](gni_return_t rc, const Change &change) {
		gni_post_descriptor_t d = good;
		(void)slot_after(s, good);
		size_t rung = fake::kernel().doorbells.size();
		change(d);
		assert_int_equal(GNI_PostRdma(s.ep, &d), rc);
		assert_int_equal(fake::kernel().doorbells.size(), rung);
	};

	expect(GNI_RC_INVALID_PARAM, [](auto &d) { d.length = 0; });
	expect(GNI_RC_INVALID_PARAM, [](auto &d) { d.length = uint64_t{1} << 32; });
	expect(GNI_RC_INVALID_PARAM, [](auto &d) { d.remote_mem_hndl.qword1 ^= 1; });
	expect(GNI_RC_INVALID_PARAM, [](auto &d) { d.remote_mem_hndl.qword2 ^= 1; });
	expect(GNI_RC_INVALID_PARAM, [](auto &d) { d.local_mem_hndl.qword1 ^= 1; });
	expect(GNI_RC_INVALID_PARAM, [](auto &d) { d.local_mem_hndl.qword2 ^= 1; });
	expect(GNI_RC_INVALID_PARAM, [](auto &d) { d.local_mem_hndl = {}; });
	expect(GNI_RC_INVALID_PARAM, [](auto &d) { d.local_mem_hndl = d.remote_mem_hndl = {}; });
	expect(GNI_RC_INVALID_PARAM, [](auto &d) { d.rdma_mode = 0x4000; });
	expect(GNI_RC_PERMISSION_ERROR, [](auto &d) { d.rdma_mode = GNI_RDMAMODE_PHYS_ADDR; });
	expect(GNI_RC_INVALID_PARAM, [](auto &d) { d.cq_mode = 0x4000; });
	expect(GNI_RC_INVALID_PARAM, [](auto &d) { d.dlvr_mode = 0x8000; });
	expect(GNI_RC_INVALID_PARAM, [](auto &d) { d.type = GNI_POST_FMA_PUT; });
	expect(GNI_RC_INVALID_PARAM, [](auto &d) { d.src_cq_hndl = reinterpret_cast<gni_cq_handle_t>(64); });
	assert_rc(INVALID_PARAM, GNI_PostRdma(s.ep, nullptr));
	assert_rc(SUCCESS, GNI_EpUnbind(s.ep));
	assert_rc(INVALID_PARAM, GNI_PostRdma(s.ep, &good));
	assert_rc(SUCCESS, GNI_EpDestroy(s.ep));
	assert_rc(INVALID_PARAM, GNI_PostRdma(s.ep, &good));
}

/* Handles of nothing are no pair of handles, even before there was one. */
TEST(nothing_named)
{
	Warm s;
	gni_post_descriptor_t d = s.post(GNI_POST_RDMA_PUT, 64);

	d.local_mem_hndl = d.remote_mem_hndl = {};
	assert_rc(INVALID_PARAM, GNI_PostRdma(s.ep, &d));
}

/* A read-only region may be a source, and a target of no put. */
TEST(read_only)
{
	Warm s;
	gni_mem_handle_t constant = {};

	assert_rc(SUCCESS, GNI_MemRegister(s.nic, reinterpret_cast<uint64_t>(s.bytes), 4096, nullptr, GNI_MEM_READ_ONLY,
					   ~0U, &constant));
	gni_post_descriptor_t get = s.post(GNI_POST_RDMA_GET, 4096), put = s.post(GNI_POST_RDMA_PUT, 4096);
	get.remote_mem_hndl = put.remote_mem_hndl = constant;
	for (int i = 0; i < 2; i++) {
		(void)slot_after(s, get);
		assert_rc(PERMISSION_ERROR, GNI_PostRdma(s.ep, &put));
	}
	put.local_mem_hndl = constant;
	put.remote_mem_hndl = s.memory;
	(void)slot_after(s, put);
}

/* The last transfer that may be queued, the last room in the queue. */
TEST(limits)
{
	Warm s(0, 15);
	gni_post_descriptor_t d[16];
	gni_cq_entry_t e = 0;

	fake::kernel().on_doorbell = nullptr;
	for (auto &post : d)
		post = s.post(GNI_POST_RDMA_PUT, 4096);
	for (int i = 0; i < 15; i++)
		assert_rc(SUCCESS, GNI_PostRdma(s.ep, &d[i]));
	assert_rc(ERROR_RESOURCE, GNI_PostRdma(s.ep, &d[15]));
	assert_rc(NOT_DONE, GNI_EpUnbind(s.ep));
	assert_rc(NOT_DONE, GNI_CqGetEvent(s.cq, &e));
}

} // namespace

TEST_MAIN("block transfers between known regions")
