// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Posts: what reaches the descriptor area and the doorbell, and what is refused before that. */
#include "aries_regs.h"
#include "atomic.hpp"
#include "session.hpp"

#include <cstring>
#include <vector>

/* Takes one event that must be there and its descriptor. */
static gni_return_t reap(const Session &s, gni_post_descriptor_t **d, gni_cq_entry_t *entry = nullptr)
{
	gni_cq_entry_t e = 0;
	gni_return_t rc = GNI_CqGetEvent(s.cq, &e);

	if (entry)
		*entry = e;
	if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
		return rc;
	gni_return_t completed = GNI_GetCompleted(s.cq, e, d);
	assert_int_equal(completed, rc);
	return rc;
}

TEST(put_of_8_bytes)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT);
	gni_post_descriptor_t *back = nullptr;
	gni_cq_entry_t e = 0;

	memcpy(s.bytes, "abcdefgh", 8);
	d.post_id = 0x1122334455667788;
	d.dlvr_mode = GNI_DLVMODE_IN_ORDER;
	unsigned calls = fake::kernel().calls;
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_int_equal(fake::kernel().doorbells.size(), 1);
	assert_int_equal(Session::last().offset, ARIES_DB_FMA);
	assert_int_equal(Session::last().op(), ARIES_FMA_PUT_LINE);
	assert_int_equal(Session::last().length(), 8);
	assert_int_equal(Session::last().mode(), ARIES_EV_GLOBAL);
	const aries_fma_desc &f = s.file().fma();
	assert_true(f.pe == 6 && f.mdh == 17 && f.dlvr_mode == GNI_DLVMODE_IN_ORDER && f.reserved == 0);
	assert_true(f.offset == 0x1000);
	assert_int_equal(f.cq, 3);
	assert_int_equal(f.local_event, 88);
	assert_int_equal(f.remote_event, 77);
	assert_memory_equal(s.file().line(), "abcdefgh", 8);
	assert_rc(SUCCESS, reap(s, &back, &e));
	assert_ptr_equal(back, &d);
	assert_int_equal(GNI_CQ_GET_TYPE(e), GNI_CQ_EVENT_TYPE_POST);
	assert_int_equal(GNI_CQ_GET_INST_ID(e), 88);
	assert_true(d.status == GNI_RC_SUCCESS && d.cq_mode_complete == GNI_CQMODE_GLOBAL_EVENT);
	assert_true(d.post_id == 0x1122334455667788);
	/* The data path makes no request of the kernel. */
	assert_int_equal(fake::kernel().calls, calls);
	/* One event, one descriptor. */
	assert_rc(NOT_DONE, GNI_CqGetEvent(s.cq, &e));
	assert_rc(DESCRIPTOR_ERROR, GNI_GetCompleted(s.cq, e, &back));
	assert_null(back);
}

TEST(event_data)
{
	Session s(GNI_CDM_MODE_DUAL_EVENTS);
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT, 8, GNI_CQMODE_DUAL_EVENTS);
	gni_post_descriptor_t *back = nullptr;
	gni_cq_entry_t e = 0;

	assert_rc(SUCCESS, GNI_EpSetEventData(s.ep, 0x111111, 0x222222));
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_rc(SUCCESS, reap(s, &back, &e));
	assert_ptr_equal(back, &d);
	assert_int_equal(GNI_CQ_GET_INST_ID(e), 0x111111);
	assert_int_equal(d.cq_mode_complete, GNI_CQMODE_LOCAL_EVENT);
	assert_rc(NOT_DONE, GNI_EpUnbind(s.ep));
	assert_rc(SUCCESS, reap(s, &back, &e));
	assert_ptr_equal(back, &d);
	assert_int_equal(GNI_CQ_GET_INST_ID(e), 0x111111);
	assert_int_equal(d.cq_mode_complete, GNI_CQMODE_DUAL_EVENTS);
	assert_rc(SUCCESS, GNI_EpUnbind(s.ep));
	/* Data that the caller chose outlives the binding. */
	assert_rc(SUCCESS, GNI_EpBind(s.ep, 6, 99));
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_int_equal(s.file().fma().local_event, 0x111111);
}

TEST(both_events_need_the_mode)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT, 8, GNI_CQMODE_DUAL_EVENTS);
	gni_post_descriptor_t r = s.post(GNI_POST_RDMA_PUT, 8, GNI_CQMODE_DUAL_EVENTS);

	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	assert_rc(INVALID_PARAM, GNI_PostRdma(s.ep, &r));
	assert_int_equal(fake::kernel().doorbells.size(), 0);
}

TEST(put_in_pieces)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT, 5000);
	gni_post_descriptor_t *back = nullptr;
	std::vector<unsigned char> target;
	std::vector<uint32_t> events;

	for (unsigned i = 0; i < sizeof(s.bytes); i++)
		s.bytes[i] = static_cast<unsigned char>(i * 7 + i / 256);
	fake::kernel().on_doorbell = [&](fake::File &f, const fake::Doorbell &b) {
		assert_int_equal(f.fma().offset, (d.remote_addr + target.size()) & 0xffffffffff);
		target.insert(target.end(), f.line(), f.line() + b.length());
		events.push_back(b.mode());
		fake::complete(f, b);
	};
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_int_equal(target.size(), 5000);
	assert_memory_equal(target.data(), s.bytes, 5000);
	assert_true(events == (std::vector<uint32_t>{0, 0, ARIES_EV_GLOBAL}));
	assert_rc(SUCCESS, reap(s, &back));
	assert_ptr_equal(back, &d);
	assert_rc(NOT_DONE, reap(s, &back));
}

/* The second piece fails: the rest is left out and the one event tells. */
TEST(failed_piece)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT, 5000, GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT);
	gni_post_descriptor_t next = s.post(GNI_POST_FMA_PUT);
	gni_post_descriptor_t *back = nullptr;
	gni_cq_entry_t e = 0;
	std::vector<fake::Doorbell> seen;

	fake::kernel().on_doorbell = [&](fake::File &f, const fake::Doorbell &b) {
		seen.push_back(b);
		fake::complete(f, b, seen.size() == 2 ? ARIES_ST_BOUNDS : ARIES_ST_OK);
	};
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_int_equal(seen.size(), 3);
	assert_int_equal(seen[2].length(), 0);
	assert_int_equal(seen[2].mode(), ARIES_EV_GLOBAL);
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &next));
	assert_rc(TRANSACTION_ERROR, reap(s, &back, &e));
	assert_ptr_equal(back, &d);
	assert_int_equal(GNI_CQ_GET_STATUS(e), ARIES_ST_BOUNDS);
	assert_int_equal(d.status, GNI_RC_TRANSACTION_ERROR);
	/* Nobody else's event is changed. */
	assert_rc(SUCCESS, reap(s, &back, &e));
	assert_ptr_equal(back, &next);
	assert_rc(SUCCESS, GNI_EpUnbind(s.ep));
}

TEST(get_in_pieces)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_GET, 0x20000);
	gni_post_descriptor_t *back = nullptr;
	uint64_t done = 0;

	fake::kernel().on_doorbell = [&](fake::File &f, const fake::Doorbell &b) {
		assert_int_equal(b.op(), ARIES_FMA_GET_OP);
		assert_int_equal(f.fma().offset, (d.remote_addr + done) & 0xffffffffff);
		assert_int_equal(f.fma().local_offset, (d.local_addr + done) & 0xffffffffff);
		assert_int_equal(f.fma().local_mdh, 17);
		done += b.length();
		fake::complete(f, b);
	};
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_int_equal(done, 0x20000);
	assert_int_equal(fake::kernel().doorbells.size(), 3);
	assert_rc(SUCCESS, reap(s, &back));
}

TEST(put_with_sync_flag)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT_W_SYNCFLAG, 3000);

	d.sync_flag_addr = 0x7f0000002008;
	d.sync_flag_value = 0xfeedface12345678;
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_int_equal(fake::kernel().doorbells.size(), 2);
	assert_int_equal(fake::kernel().doorbells[0].op(), ARIES_FMA_PUT_LINE);
	assert_int_equal(fake::kernel().doorbells[1].op(), ARIES_FMA_PUT_SYNC);
	assert_true(s.file().fma().sync_offset == 0x2008);
	assert_true(s.file().fma().sync_value == 0xfeedface12345678);
	for (unsigned wrong = 1; wrong < 8; wrong++) {
		d.sync_flag_addr++;
		assert_rc(ALIGNMENT_ERROR, GNI_PostFma(s.ep, &d));
	}
}

TEST(lengths_and_alignment)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT, 0);
	gni_post_descriptor_t *back = nullptr;

	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d)); /* an empty put is a put */
	assert_rc(SUCCESS, reap(s, &back));
	size_t before = fake::kernel().doorbells.size();

	d = s.post(GNI_POST_FMA_GET, 0);
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	for (uint64_t wrong = 1; wrong < 4; wrong++) {
		for (gni_post_type_t type : {GNI_POST_FMA_GET, GNI_POST_RDMA_GET}) {
			auto post = type == GNI_POST_FMA_GET ? GNI_PostFma : GNI_PostRdma;
			d = s.post(type, 8);
			d.remote_addr += wrong;
			assert_rc(ALIGNMENT_ERROR, post(s.ep, &d));
			d = s.post(type, 8 + wrong);
			assert_rc(ALIGNMENT_ERROR, post(s.ep, &d));
		}
	}
	d = s.post(GNI_POST_RDMA_PUT, 0);
	assert_rc(INVALID_PARAM, GNI_PostRdma(s.ep, &d));
	d = s.post(GNI_POST_RDMA_PUT, 1ULL << 32);
	assert_rc(INVALID_PARAM, GNI_PostRdma(s.ep, &d));
	assert_int_equal(fake::kernel().doorbells.size(), before);

	/* The local side of a get is free on Aries; puts are free altogether. */
	d = s.post(GNI_POST_FMA_GET, 8);
	d.local_addr += 3;
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	d = s.post(GNI_POST_FMA_PUT, 5);
	d.local_addr += 3;
	d.remote_addr += 1;
	d.local_mem_hndl = {};
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	d = s.post(GNI_POST_RDMA_PUT, 5);
	d.remote_addr += 1;
	assert_rc(SUCCESS, GNI_PostRdma(s.ep, &d));
}

TEST(atomics)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_AMO);
	gni_post_descriptor_t *back = nullptr;

	d.amo_cmd = GNI_FMA_ATOMIC_CSWAP;
	d.first_operand = 11;
	d.second_operand = 22;
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_int_equal(Session::last().op(), ARIES_FMA_AMO_OP);
	assert_int_equal(Session::last().amo(), GNI_FMA_ATOMIC_CSWAP);
	assert_int_equal(Session::last().length(), 8);
	assert_true(s.file().fma().operand[0] == 11 && s.file().fma().operand[1] == 22);
	assert_int_equal(s.file().fma().local_mdh, 17);
	assert_rc(SUCCESS, reap(s, &back));

	d.remote_addr += 4;
	assert_rc(ALIGNMENT_ERROR, GNI_PostFma(s.ep, &d));
	d = s.post(GNI_POST_AMO);
	d.amo_cmd = GNI_FMA_ATOMIC_FADD;
	d.local_addr += 4;
	assert_rc(ALIGNMENT_ERROR, GNI_PostFma(s.ep, &d));
	d.amo_cmd = GNI_FMA_ATOMIC_ADD; /* fetches nothing: no local side */
	d.local_mem_hndl = {};
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	d.amo_cmd = GNI_FMA_ATOMIC_FADD;
	d.local_addr -= 4;
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	d = s.post(GNI_POST_AMO);
	for (int wrong : {0, 0x00e, 0x10d, 0x040, 0x241, 0x00c + 0x20, 0x3ff, 0x04d}) {
		d.amo_cmd = static_cast<gni_fma_cmd_type_t>(wrong);
		assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	}
	/* The command tells the width, whatever the length is; only nothing is too little. */
	for (uint64_t length : {4, 8, 16}) {
		d.length = length;
		d.amo_cmd = GNI_FMA_ATOMIC_FADD;
		assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
		assert_int_equal(Session::last().length(), 8);
		d.amo_cmd = GNI_FMA_ATOMIC2_FIADD_S;
		assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
		assert_int_equal(Session::last().length(), 4);
	}
	d.length = 0;
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	d.length = 8;
	d.amo_cmd = GNI_FMA_ATOMIC2_FIADD_SC; /* without GNI_CDM_MODE_CACHED_AMO_ENABLED */
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
}

TEST(flagged_responses)
{
	Session s;
	gni_post_descriptor_t *back = nullptr;
	gni_post_descriptor_t d = s.post(GNI_POST_AMO_W_FLAG);

	d.amo_cmd = GNI_FMA_ATOMIC_FADD;
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_int_equal(Session::last().op(), ARIES_FMA_AMO_FLAG);
	assert_int_equal(Session::last().length(), 8);
	assert_rc(SUCCESS, reap(s, &back));
	d.amo_cmd = GNI_FMA_ATOMIC_ADD; /* returns nothing that could be flagged */
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	d = s.post(GNI_POST_FMA_GET_W_FLAG, 64);
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_int_equal(Session::last().op(), ARIES_FMA_GET_FLAG);
	assert_int_equal(Session::last().length(), 64);
	assert_rc(SUCCESS, reap(s, &back));
	d.local_addr += 2; /* free in other gets */
	assert_rc(ALIGNMENT_ERROR, GNI_PostFma(s.ep, &d));
	d = s.post(GNI_POST_FMA_GET_W_FLAG, 66);
	assert_rc(ALIGNMENT_ERROR, GNI_PostFma(s.ep, &d));
	d = s.post(GNI_POST_FMA_GET_W_FLAG, 0);
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	d = s.post(GNI_POST_FMA_GET_W_FLAG, 64);
	d.local_mem_hndl = {};
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
}

TEST(atomics_the_nic_lacks)
{
	Session first;
	fake::kernel().caps = ARIES_ID_CAPS_AMO64_MASK;
	gni_cdm_handle_t cdm = nullptr;
	gni_nic_handle_t nic = nullptr;
	gni_cq_handle_t cq = nullptr;
	gni_ep_handle_t ep = nullptr;
	uint32_t address = 0;
	assert_rc(SUCCESS, GNI_CdmCreate(1, 255, 1, 0, &cdm));
	assert_rc(SUCCESS, GNI_CdmAttach(cdm, 0, &address, &nic));
	assert_rc(SUCCESS, GNI_CqCreate(nic, 4, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &cq));
	assert_rc(SUCCESS, GNI_EpCreate(nic, cq, &ep));
	assert_rc(SUCCESS, GNI_EpBind(ep, 6, 1));

	gni_post_descriptor_t d = first.post(GNI_POST_AMO);
	d.amo_cmd = GNI_FMA_ATOMIC2_FIADD;
	assert_rc(SUCCESS, GNI_PostFma(ep, &d));
	d.amo_cmd = GNI_FMA_ATOMIC2_FFPADD;
	assert_rc(INVALID_PARAM, GNI_PostFma(ep, &d));
	d.amo_cmd = GNI_FMA_ATOMIC2_FIADD_S;
	d.length = 4;
	assert_rc(INVALID_PARAM, GNI_PostFma(ep, &d));
	assert_rc(SUCCESS, GNI_CdmDestroy(cdm));
}

TEST(opcode_structure)
{
	unsigned count = 0, narrow = 0, cached = 0, fetching = 0, floating = 0;

	for (uint32_t op = 0; op < 0x1000; op++) {
		ugni::AtomicKind k = ugni::atomic_kind(op);
		count += k.operand_bytes != 0;
		narrow += k.operand_bytes == 4;
		cached += k.operand_bytes && k.cached;
		fetching += k.operand_bytes && k.fetching;
		floating += k.operand_bytes && k.floating;
	}
	/* The interface has 118: 22 of the first generation, 96 of the second. */
	assert_int_equal(count, 118);
	assert_int_equal(narrow, 48);
	assert_int_equal(cached, 59);
	assert_int_equal(fetching, 60);
	assert_int_equal(floating, 24);
}

TEST(block_transfers)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_RDMA_GET, 4096);
	gni_post_descriptor_t *back = nullptr;

	d.rdma_mode = GNI_RDMAMODE_FENCE;
	assert_rc(SUCCESS, GNI_PostRdma(s.ep, &d));
	assert_int_equal(Session::last().offset, ARIES_DB_BTE);
	const aries_bte_desc &b = s.file().bte(static_cast<unsigned>(Session::last().value));
	assert_true(b.pe == 6 && b.mdh == 17 && b.local_mdh == 17 && b.length == 4096 && b.cq == 3);
	assert_true(b.op == ARIES_BTE_GET && b.mode == ARIES_EV_GLOBAL && b.flags == ARIES_BTE_FENCE && b.tid != 0);
	assert_true(b.local_offset == (d.local_addr & 0xffffffffff) && b.offset == (d.remote_addr & 0xffffffffff));
	assert_rc(SUCCESS, reap(s, &back));
	assert_ptr_equal(back, &d);

	gni_cq_handle_t other = nullptr;
	assert_rc(SUCCESS, GNI_CqCreate(s.nic, 8, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &other));
	d.src_cq_hndl = other;
	assert_rc(SUCCESS, GNI_PostRdma(s.ep, &d));
	assert_rc(NOT_DONE, reap(s, &back));
	gni_cq_entry_t e = 0;
	assert_rc(SUCCESS, GNI_CqGetEvent(other, &e));
	assert_rc(DESCRIPTOR_ERROR, GNI_GetCompleted(s.cq, e, &back)); /* not this queue's */
	assert_rc(SUCCESS, GNI_GetCompleted(other, e, &back));
	assert_ptr_equal(back, &d);

	d.rdma_mode = GNI_RDMAMODE_PHYS_ADDR;
	assert_rc(PERMISSION_ERROR, GNI_PostRdma(s.ep, &d));
	d = s.post(GNI_POST_RDMA_PUT);
	d.remote_mem_hndl.qword1 ^= 0x1000; /* check code no longer right */
	assert_rc(INVALID_PARAM, GNI_PostRdma(s.ep, &d));
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &(d = s.post(GNI_POST_FMA_PUT))));
	d = s.post(GNI_POST_RDMA_PUT);
	assert_rc(SUCCESS, GNI_MemRegister(s.nic, 0x5000, 4096, nullptr, GNI_MEM_READ_ONLY, ~0U, &d.remote_mem_hndl));
	assert_rc(PERMISSION_ERROR, GNI_PostRdma(s.ep, &d));
}

/* FMA posts must not look at the check code: clients build handles without one. */
TEST(fma_ignores_the_check_code)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT);

	d.remote_mem_hndl.qword2 ^= 0xffULL << 56;
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	d.remote_mem_hndl = {};
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
}

TEST(block_queue_limit)
{
	fake::reset();
	Session s(0, 4000);
	std::vector<gni_post_descriptor_t> d(1025, s.post(GNI_POST_RDMA_PUT));
	gni_post_descriptor_t *back = nullptr;

	for (size_t i = 0; i < 1024; i++)
		assert_rc(SUCCESS, GNI_PostRdma(s.ep, &d[i]));
	const auto none_left = static_cast<gni_statistic_t>(18); /* GNI_STAT_FLBTE_TXD_NONE */
	uint32_t times = 9;
	assert_rc(SUCCESS, GNI_GetNicStat(s.nic, none_left, &times));
	assert_int_equal(times, 0);
	assert_rc(ERROR_RESOURCE, GNI_PostRdma(s.ep, &d[1024]));
	assert_rc(SUCCESS, GNI_GetNicStat(s.nic, none_left, &times));
	assert_int_equal(times, 1);
	assert_rc(SUCCESS, GNI_ResetNicStat(s.nic, none_left));
	assert_rc(SUCCESS, GNI_GetNicStat(s.nic, none_left, &times));
	assert_int_equal(times, 0);
	assert_rc(SUCCESS, reap(s, &back));
	assert_ptr_equal(back, &d[0]);
	assert_rc(SUCCESS, GNI_PostRdma(s.ep, &d[1024]));
}

/* The NIC takes no more: told by the call, and everything is as before, so that it can be tried for ever. */
TEST(block_not_taken)
{
	Session s(GNI_CDM_MODE_DUAL_EVENTS, 40);
	gni_post_descriptor_t d = s.post(GNI_POST_RDMA_PUT, 8, GNI_CQMODE_DUAL_EVENTS);
	gni_post_descriptor_t *back = nullptr;
	gni_cq_entry_t e = 0;

	fake::kernel().on_doorbell = [](fake::File &f, const fake::Doorbell &) {
		f.status().sequence++;
		f.status().status = ARIES_ST_QUEUE_FULL;
	};
	for (unsigned i = 0; i < 70000; i++)
		assert_rc(ERROR_RESOURCE, GNI_PostRdma(s.ep, &d));
	d.cq_mode = 0;
	assert_rc(ERROR_RESOURCE, GNI_PostRdma(s.ep, &d));
	assert_rc(NOT_DONE, GNI_CqGetEvent(s.cq, &e));
	fake::kernel().on_doorbell = [](fake::File &f, const fake::Doorbell &b) { fake::complete(f, b); };
	for (unsigned i = 0; i < 15; i++) {
		d.cq_mode = GNI_CQMODE_DUAL_EVENTS;
		assert_rc(SUCCESS, GNI_PostRdma(s.ep, &d));
		assert_rc(SUCCESS, reap(s, &back));
		assert_rc(SUCCESS, reap(s, &back));
		assert_ptr_equal(back, &d);
	}
	assert_rc(SUCCESS, GNI_EpUnbind(s.ep));
}

TEST(queue_size_bounds_posts)
{
	Session s(GNI_CDM_MODE_DUAL_EVENTS, 31);
	std::vector<gni_post_descriptor_t> d(40, s.post(GNI_POST_FMA_PUT));
	gni_post_descriptor_t *back = nullptr;
	unsigned posted = 0;

	while (posted < d.size() && GNI_PostFma(s.ep, &d[posted]) == GNI_RC_SUCCESS)
		posted++;
	assert_int_equal(posted, 31);
	assert_rc(ERROR_RESOURCE, GNI_PostFma(s.ep, &d[posted]));
	for (unsigned i = 0; i < posted; i++) {
		assert_rc(SUCCESS, reap(s, &back));
		assert_ptr_equal(back, &d[i]);
	}
	/* With both events a post counts twice. */
	for (auto &p : d)
		p.cq_mode = GNI_CQMODE_DUAL_EVENTS;
	posted = 0;
	while (posted < d.size() && GNI_PostFma(s.ep, &d[posted]) == GNI_RC_SUCCESS)
		posted++;
	assert_int_equal(posted, 15);
}

TEST(silent_posts)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT, 8, GNI_CQMODE_SILENT);
	gni_post_descriptor_t *back = nullptr;

	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_true(Session::last().tid() == 0 && Session::last().mode() == 0);
	assert_rc(NOT_DONE, reap(s, &back));
	assert_int_equal(d.status, GNI_RC_SUCCESS);
	assert_rc(SUCCESS, GNI_EpUnbind(s.ep));
	assert_rc(SUCCESS, GNI_EpBind(s.ep, 6, 1));
	/* Remote event only: nothing here either. */
	d.cq_mode = GNI_CQMODE_REMOTE_EVENT;
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_int_equal(Session::last().mode(), ARIES_EV_REMOTE);
	fake::kernel().on_doorbell = [](fake::File &f, const fake::Doorbell &b) { fake::complete(f, b, ARIES_ST_MDD); };
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_int_equal(d.status, GNI_RC_TRANSACTION_ERROR);
}

TEST(cq_write)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_CQWRITE);
	gni_post_descriptor_t *back = nullptr;

	d.cqwrite_value = 0xffff123456789abc;
	d.remote_addr = ~0ULL; /* not used */
	assert_rc(SUCCESS, GNI_PostCqWrite(s.ep, &d));
	assert_int_equal(Session::last().op(), ARIES_FMA_CQWRITE);
	assert_int_equal(Session::last().length(), 0);
	assert_true(s.file().fma().operand[0] == 0x123456789abc && s.file().fma().offset == 0);
	assert_rc(SUCCESS, reap(s, &back));
	assert_ptr_equal(back, &d);
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	d = s.post(GNI_POST_FMA_PUT);
	assert_rc(INVALID_PARAM, GNI_PostCqWrite(s.ep, &d));
	assert_rc(INVALID_PARAM, GNI_PostRdma(s.ep, &d));
}

TEST(refused_posts)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT);
	gni_ep_handle_t ep = nullptr;

	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, nullptr));
	d.cq_mode = 8;
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	d = s.post(GNI_POST_FMA_PUT);
	d.dlvr_mode = 0x200;
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	for (gni_post_type_t type : {GNI_POST_CE, static_cast<gni_post_type_t>(0), static_cast<gni_post_type_t>(99)}) {
		d = s.post(type);
		assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	}
	/* No source queue; not bound. */
	assert_rc(SUCCESS, GNI_EpCreate(s.nic, nullptr, &ep));
	d = s.post(GNI_POST_FMA_PUT);
	assert_rc(INVALID_PARAM, GNI_PostFma(ep, &d));
	assert_rc(SUCCESS, GNI_EpBind(ep, 6, 1));
	assert_rc(INVALID_PARAM, GNI_EpBind(ep, 6, 1));
	assert_rc(INVALID_PARAM, GNI_PostFma(ep, &d));
	d.cq_mode = GNI_CQMODE_SILENT;
	assert_rc(SUCCESS, GNI_PostFma(ep, &d));
	assert_rc(SUCCESS, GNI_EpUnbind(ep));
	assert_rc(INVALID_PARAM, GNI_EpBind(ep, 1U << 18, 1));
	assert_int_equal(fake::kernel().doorbells.size(), 1);
}

/* An endpoint destroyed with a post in flight: the descriptor still comes back. */
TEST(endpoint_destroyed_in_flight)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_RDMA_PUT);
	gni_post_descriptor_t *back = nullptr;

	assert_rc(SUCCESS, GNI_PostRdma(s.ep, &d));
	assert_rc(NOT_DONE, GNI_EpIdle(s.ep));
	assert_rc(SUCCESS, GNI_EpDestroy(s.ep));
	assert_rc(SUCCESS, reap(s, &back));
	assert_ptr_equal(back, &d);
}

/* Ids wrap long before posts do. */
TEST(many_posts)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT);
	gni_post_descriptor_t *back = nullptr;

	for (int i = 0; i < 200000; i++) {
		assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
		assert_rc(SUCCESS, reap(s, &back));
		if (i % 1000 == 0)
			fake::kernel().doorbells.clear();
	}
}

TEST_MAIN("posts")
