// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* The library over the device model: data, events and order, between two nodes and inside one. */
#include "rank.hpp"

#include <atomic>
#include <thread>
#include <vector>

static void fill(unsigned char *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = static_cast<unsigned char>(i * 31 + i / 251 + seed);
}

MODEL_TEST(fma_puts)
{
	Pair p;

	for (size_t length : {0, 1, 7, 8, 63, 64, 65, 2047, 2048, 2049, 4096, 5000, 8192}) {
		for (size_t skew : {0, 1, 5, 4093}) {
			memset(p.b.bytes, 0xee, p.b.size);
			fill(p.a.bytes, 16384, static_cast<unsigned>(length + skew));
			gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_FMA_PUT, length, skew / 2, skew + 1);
			d.local_mem_hndl = {};
			assert_int_equal(p.a.run(&d), 0);
			assert_memory_equal(p.b.bytes + skew + 1, p.a.bytes + skew / 2, length);
			assert_int_equal(p.b.bytes[skew], 0xee);
			assert_int_equal(p.b.bytes[skew + 1 + length], 0xee);
		}
	}
}

MODEL_TEST(one_doorbell_for_a_short_put)
{
	Pair p;
	uint64_t before = model::counter(0, ARIES_CNT_FMA_TRAPS);
	gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_FMA_PUT, 64);

	assert_int_equal(p.a.run(&d), 0);
	assert_int_equal(model::counter(0, ARIES_CNT_FMA_TRAPS) - before, 1);
}

MODEL_TEST(fma_gets)
{
	Pair p(262144);

	for (size_t length : {4, 8, 60, 64, 68, 4096, 65532, 65536, 200000}) {
		for (size_t skew : {0, 1, 6, 4095}) {
			memset(p.a.bytes, 0xee, p.a.size);
			fill(p.b.bytes, p.b.size, static_cast<unsigned>(length + skew));
			gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_FMA_GET, length, skew + 1, skew / 4 * 4);
			assert_int_equal(p.a.run(&d), 0);
			assert_memory_equal(p.a.bytes + skew + 1, p.b.bytes + skew / 4 * 4, length);
			assert_int_equal(p.a.bytes[skew], 0xee);
			assert_int_equal(p.a.bytes[skew + 1 + length], 0xee);
		}
	}
}

/* bte_limit of a job holds for all of its processes on the node, and the post says so. */
MODEL_TEST(limit_of_transfers)
{
	Pair p(8 << 20);
	Rank c(0, 1002, 65536);
	gni_job_limits_t limits;
	gni_post_descriptor_t small = c.post(p.b, GNI_POST_RDMA_PUT, 64);

	c.bind(p.b, 1001);
	memset(&limits, 0xff, sizeof(limits));
	limits.bte_limit = 0;
	assert_rc(SUCCESS, GNI_ConfigureJob(0, 1, kPtag, kCookie, &limits));
	gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_RDMA_PUT, 64);
	assert_rc(ERROR_RESOURCE, GNI_PostRdma(p.a.ep, &d));
	assert_rc(ERROR_RESOURCE, GNI_PostRdma(c.ep, &small));
	/* Another node's limit is its own. */
	gni_post_descriptor_t back = p.b.post(p.a, GNI_POST_RDMA_PUT, 64);
	assert_int_equal(p.b.run(&back), 0);
	limits.bte_limit = 5;
	assert_rc(SUCCESS, GNI_ConfigureJob(0, 1, kPtag, kCookie, &limits));
	std::vector<gni_post_descriptor_t> all(60, p.a.post(p.b, GNI_POST_RDMA_PUT, 4 << 20));
	size_t posted = 0, refused = 0;
	for (auto &post : all) {
		gni_return_t rc = GNI_PostRdma(p.a.ep, &post);
		assert_true(rc == GNI_RC_SUCCESS || rc == GNI_RC_ERROR_RESOURCE);
		posted += rc == GNI_RC_SUCCESS;
		refused += rc != GNI_RC_SUCCESS;
	}
	assert_true(posted >= 5 && refused > 0);
	for (size_t i = 0; i < posted; i++) {
		gni_post_descriptor_t *done = nullptr;
		gni_cq_entry_t e = 0;
		assert_rc(SUCCESS, GNI_CqWaitEvent(p.a.source, 5000, &e));
		assert_rc(SUCCESS, GNI_GetCompleted(p.a.source, e, &done));
	}
	assert_int_equal(c.run(&small), 0);
}

MODEL_TEST(rdma)
{
	constexpr size_t kSize = size_t{9} << 20;
	Pair p(kSize);

	for (size_t length : {size_t{4}, size_t{4096}, size_t{65536}, size_t{1000000}, size_t{8} << 20}) {
		fill(p.a.bytes, kSize, static_cast<unsigned>(length));
		memset(p.b.bytes, 0xee, kSize);
		gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_RDMA_PUT, length, 3, 100);
		assert_int_equal(p.a.run(&d), 0);
		assert_memory_equal(p.b.bytes + 100, p.a.bytes + 3, length);
		assert_int_equal(p.b.bytes[99], 0xee);
		assert_int_equal(p.b.bytes[100 + length], 0xee);
		memset(p.a.bytes, 0xee, kSize);
		d = p.a.post(p.b, GNI_POST_RDMA_GET, length, 5, 100);
		assert_int_equal(p.a.run(&d), 0);
		assert_memory_equal(p.a.bytes + 5, p.b.bytes + 100, length);
		assert_int_equal(p.a.bytes[4], 0xee);
		assert_int_equal(p.a.bytes[5 + length], 0xee);
	}
}

MODEL_TEST(many_block_transfers)
{
	constexpr size_t kCount = 150, kLength = 100000;
	Pair p((kCount - 1) * 4096 + kLength);
	std::vector<gni_post_descriptor_t> d;
	unsigned done = 0;

	fill(p.a.bytes, p.a.size, 3);
	for (size_t i = 0; i < kCount; i++)
		d.push_back(p.a.post(p.b, GNI_POST_RDMA_PUT, kLength, i * 4096, i * 4096));
	for (auto &one : d)
		assert_rc(SUCCESS, GNI_PostRdma(p.a.ep, &one));
	assert_rc(NOT_DONE, GNI_EpUnbind(p.a.ep));
	std::vector<bool> seen(kCount);
	while (done < kCount) {
		gni_cq_entry_t e = 0;
		gni_post_descriptor_t *back = nullptr;
		assert_rc(SUCCESS, GNI_CqWaitEvent(p.a.source, 10000, &e));
		assert_rc(SUCCESS, GNI_GetCompleted(p.a.source, e, &back));
		size_t index = static_cast<size_t>(back - d.data());
		assert_true(index < kCount && !seen[index]);
		seen[index] = true;
		done++;
	}
	assert_memory_equal(p.a.bytes, p.b.bytes, p.a.size);
	assert_rc(SUCCESS, GNI_EpUnbind(p.a.ep));
}

MODEL_TEST(all_events)
{
	Pair p(65536, GNI_CDM_MODE_DUAL_EVENTS);
	gni_cq_entry_t e = 0;
	gni_post_descriptor_t *back = nullptr;

	for (gni_post_type_t type : {GNI_POST_FMA_PUT, GNI_POST_RDMA_PUT, GNI_POST_FMA_GET, GNI_POST_RDMA_GET}) {
		gni_post_descriptor_t d =
			p.a.post(p.b, type, 4096, 0, 0, GNI_CQMODE_DUAL_EVENTS | GNI_CQMODE_REMOTE_EVENT);
		assert_rc(SUCCESS, (type == GNI_POST_FMA_PUT || type == GNI_POST_FMA_GET ? GNI_PostFma
											 : GNI_PostRdma)(p.a.ep, &d));
		unsigned seen = 0;
		for (int i = 0; i < 2; i++) {
			assert_rc(SUCCESS, GNI_CqWaitEvent(p.a.source, 5000, &e));
			assert_int_equal(GNI_CQ_GET_TYPE(e), GNI_CQ_EVENT_TYPE_POST);
			assert_int_equal(GNI_CQ_GET_INST_ID(e), 1001);
			assert_rc(SUCCESS, GNI_GetCompleted(p.a.source, e, &back));
			assert_ptr_equal(back, &d);
			seen |= static_cast<unsigned>(GNI_CQ_GET_INFO(e));
			assert_int_equal(d.cq_mode_complete, seen);
		}
		assert_int_equal(seen, GNI_CQMODE_DUAL_EVENTS);
		assert_rc(NOT_DONE, GNI_CqGetEvent(p.a.source, &e));
		assert_rc(SUCCESS, GNI_CqWaitEvent(p.b.remote, 5000, &e));
		assert_int_equal(GNI_CQ_GET_INST_ID(e), 1000);
		assert_int_equal(GNI_CQ_GET_REM_INST_ID(e), 1000);
		assert_int_equal(GNI_CQ_GET_INFO(e), ARIES_INFO_REMOTE);
		assert_rc(NOT_DONE, GNI_CqGetEvent(p.b.remote, &e));
	}
	assert_rc(SUCCESS, GNI_EpSetEventData(p.a.ep, 5, 0x12345678));
	gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_FMA_PUT, 8, 0, 0, GNI_CQMODE_REMOTE_EVENT);
	assert_rc(SUCCESS, GNI_PostFma(p.a.ep, &d));
	assert_rc(SUCCESS, GNI_CqGetEvent(p.b.remote, &e));
	assert_int_equal(GNI_CQ_GET_REM_INST_ID(e), 0x12345678);
	assert_rc(NOT_DONE, GNI_CqGetEvent(p.a.source, &e));
}

/* Events at the source carry the source's data, whatever was posted. */
MODEL_TEST(events_of_every_kind)
{
	Pair p(65536, GNI_CDM_MODE_DUAL_EVENTS);
	gni_cq_entry_t e = 0;
	gni_post_descriptor_t *back = nullptr;

	assert_rc(SUCCESS, GNI_EpSetEventData(p.a.ep, 0xabcdef, 0x123456));
	for (gni_post_type_t type :
	     {GNI_POST_FMA_PUT, GNI_POST_FMA_PUT_W_SYNCFLAG, GNI_POST_FMA_GET, GNI_POST_FMA_GET_W_FLAG, GNI_POST_AMO,
	      GNI_POST_AMO_W_FLAG, GNI_POST_RDMA_PUT, GNI_POST_RDMA_GET, GNI_POST_CQWRITE}) {
		gni_post_descriptor_t d = p.a.post(p.b, type, 8, 0, 0, GNI_CQMODE_DUAL_EVENTS);
		d.amo_cmd = GNI_FMA_ATOMIC_FADD;
		d.sync_flag_addr = p.b.at(64);
		const bool block = type == GNI_POST_RDMA_PUT || type == GNI_POST_RDMA_GET;
		const auto post = block ? GNI_PostRdma : type == GNI_POST_CQWRITE ? GNI_PostCqWrite : GNI_PostFma;
		assert_rc(SUCCESS, post(p.a.ep, &d));
		for (int i = 0; i < 2; i++) {
			assert_rc(SUCCESS, GNI_CqWaitEvent(p.a.source, 5000, &e));
			assert_int_equal(GNI_CQ_GET_INST_ID(e), 0xabcdef);
			assert_rc(SUCCESS, GNI_GetCompleted(p.a.source, e, &back));
		}
		assert_int_equal(d.cq_mode_complete, GNI_CQMODE_DUAL_EVENTS);
	}
}

/* A put in several doorbells raises one remote event, when all of it is there. */
MODEL_TEST(one_remote_event_for_a_long_put)
{
	Pair p;
	gni_cq_entry_t e = 0;

	fill(p.a.bytes, 10000, 9);
	gni_post_descriptor_t d =
		p.a.post(p.b, GNI_POST_FMA_PUT, 10000, 0, 0, GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT);
	assert_int_equal(p.a.run(&d), 0);
	assert_rc(SUCCESS, GNI_CqGetEvent(p.b.remote, &e));
	assert_rc(NOT_DONE, GNI_CqGetEvent(p.b.remote, &e));
	assert_memory_equal(p.a.bytes, p.b.bytes, 10000);
}

MODEL_TEST(sync_flag)
{
	Pair p;
	uint64_t flag = 0;

	for (size_t length : {0, 8, 6000}) {
		fill(p.a.bytes, 8192, static_cast<unsigned>(length));
		gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_FMA_PUT_W_SYNCFLAG, length);
		d.sync_flag_addr = p.b.at(16384);
		d.sync_flag_value = 0x1122334455667788 + length;
		assert_int_equal(p.a.run(&d), 0);
		memcpy(&flag, p.b.bytes + 16384, 8);
		assert_true(flag == d.sync_flag_value);
		assert_memory_equal(p.a.bytes, p.b.bytes, length);
	}
}

static uint64_t word(const Rank &r, size_t offset)
{
	uint64_t v;

	memcpy(&v, r.bytes + offset, 8);
	return v;
}

static void set_word(const Rank &r, size_t offset, uint64_t v)
{
	memcpy(r.bytes + offset, &v, 8);
}

MODEL_TEST(atomics)
{
	Pair p;
	struct {
		gni_fma_cmd_type_t op;
		uint64_t expected;
	} table[] = {
		{GNI_FMA_ATOMIC_FADD, 0xf0f0 + 0xff00}, {GNI_FMA_ATOMIC_ADD, 0xf0f0 + 0xff00},
		{GNI_FMA_ATOMIC_FAND, 0xf0f0 & 0xff00}, {GNI_FMA_ATOMIC_OR, 0xf0f0 | 0xff00},
		{GNI_FMA_ATOMIC_FXOR, 0xf0f0 ^ 0xff00}, {GNI_FMA_ATOMIC_FAX, (0xf0f0 & 0xff00) ^ 0x1234},
		{GNI_FMA_ATOMIC_CSWAP, 0xf0f0},         {GNI_FMA_ATOMIC2_FSWAP, 0xff00},
		{GNI_FMA_ATOMIC2_FIMAX, 0xff00},        {GNI_FMA_ATOMIC2_IMIN, 0xf0f0},
	};

	for (auto &t : table) {
		set_word(p.b, 64, 0xf0f0);
		set_word(p.a, 8, 0x5555);
		gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_AMO, 8, 8, 64);
		d.amo_cmd = t.op;
		d.first_operand = 0xff00;
		d.second_operand = 0x1234;
		assert_int_equal(p.a.run(&d), 0);
		assert_true(word(p.b, 64) == t.expected);
		assert_true(word(p.a, 8) == (t.op & 0x100 ? 0x5555 : 0xf0f0));
	}
	/* Compare and swap that finds what it looks for. */
	gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_AMO, 8, 8, 64);
	set_word(p.b, 64, 7);
	d.amo_cmd = GNI_FMA_ATOMIC2_FCSWAP;
	d.first_operand = 7;
	d.second_operand = 9;
	assert_int_equal(p.a.run(&d), 0);
	assert_true(word(p.b, 64) == 9 && word(p.a, 8) == 7);
}

/* Both nodes add to one word at once; nothing is lost. */
MODEL_TEST(contended_atomics)
{
	constexpr uint64_t kRounds = 3000;
	Pair p;
	auto add = [](const Rank &r, const Rank &target) {
		for (unsigned i = 0; i < kRounds; i++) {
			gni_post_descriptor_t d = r.post(target, GNI_POST_AMO, 8, 8, 64);
			d.amo_cmd = i % 2 ? GNI_FMA_ATOMIC_FADD : GNI_FMA_ATOMIC_ADD;
			d.first_operand = 1;
			if (r.run(&d))
				return;
		}
	};

	gni_ep_handle_t self = nullptr;
	assert_rc(SUCCESS, GNI_EpCreate(p.b.nic, p.b.source, &self));
	assert_rc(SUCCESS, GNI_EpBind(self, p.b.address, 1001));
	std::swap(self, p.b.ep); /* b works on its own memory, through the NIC */
	std::thread other([&] { add(p.b, p.b); });
	add(p.a, p.b);
	other.join();
	assert_true(word(p.b, 64) == 2 * kRounds);
}

MODEL_TEST(cq_write)
{
	Pair p;
	gni_cq_entry_t e = 0;
	gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_CQWRITE, 0);

	d.cqwrite_value = 0x8765432101234567;
	d.remote_addr = 0;
	assert_int_equal(p.a.run(&d), 0);
	assert_rc(SUCCESS, GNI_CqGetEvent(p.b.remote, &e));
	assert_true(GNI_CQ_GET_DATA(e) == 0x432101234567);
}

MODEL_TEST(blocked_reader_wakes)
{
	Pair p;
	std::atomic<int> rc{-1};
	gni_cq_entry_t e = 0;
	std::thread reader([&] { rc = GNI_CqWaitEvent(p.b.remote, 10000, &e); });
	std::this_thread::sleep_for(std::chrono::milliseconds(50));
	assert_int_equal(rc, -1);
	gni_post_descriptor_t d =
		p.a.post(p.b, GNI_POST_FMA_PUT, 8, 0, 0, GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT);
	assert_int_equal(p.a.run(&d), 0);
	reader.join();
	assert_int_equal(rc, GNI_RC_SUCCESS);
	assert_int_equal(GNI_CQ_GET_INST_ID(e), 1000);
}

MODEL_TEST(remote_queue_overruns)
{
	Pair p(65536, 0, 60); /* 63 events fit */
	gni_cq_entry_t e = 0;
	unsigned marked = 0, read = 0;

	for (int i = 0; i < 70; i++) {
		gni_post_descriptor_t *back = nullptr;
		gni_post_descriptor_t d =
			p.a.post(p.b, GNI_POST_FMA_PUT, 8, 0, 0, GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT);
		assert_rc(SUCCESS, GNI_PostFma(p.a.ep, &d));
		assert_rc(SUCCESS, GNI_CqWaitEvent(p.a.source, 5000, &e));
		assert_rc(SUCCESS, GNI_GetCompleted(p.a.source, e, &back));
		marked += GNI_CQ_REM_OVERRUN(e) != 0;
	}
	assert_int_equal(marked, 7);
	while (GNI_CqGetEvent(p.b.remote, &e) == GNI_RC_SUCCESS)
		read++;
	assert_int_equal(read, 63);
	assert_true(GNI_CQ_OVERRUN(e));
	assert_rc(NOT_DONE, GNI_CqGetEvent(p.b.remote, &e));
	/* Drained: it works again. */
	gni_post_descriptor_t d =
		p.a.post(p.b, GNI_POST_FMA_PUT, 8, 0, 0, GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT);
	assert_int_equal(p.a.run(&d), 0);
	assert_rc(SUCCESS, GNI_CqGetEvent(p.b.remote, &e));
	assert_rc(NOT_DONE, GNI_CqGetEvent(p.b.remote, &e));
}

/* Registered through one domain object, used through another of the same tag, locally and remotely. */
MODEL_TEST(handles_across_domains_of_a_tag)
{
	Rank memory(0, 1, 8192), user(0, 2, 4096), peer(1, 3, 8192);

	fill(memory.bytes, 8192, 1);
	user.bind(peer, 3);
	gni_post_descriptor_t d = user.post(peer, GNI_POST_RDMA_PUT, 8192);
	d.local_addr = memory.at(0);
	d.local_mem_hndl = memory.handle;
	assert_int_equal(user.run(&d), 0);
	assert_memory_equal(peer.bytes, memory.bytes, 8192);
	assert_rc(SUCCESS, GNI_EpUnbind(user.ep));
	user.bind(memory, 1); /* loopback through the NIC */
	set_word(user, 0, 0xabcdef);
	d = user.post(memory, GNI_POST_FMA_PUT, 8, 0, 16);
	assert_int_equal(user.run(&d), 0);
	assert_true(word(memory, 16) == 0xabcdef);
}

/* UCX and others register memory that begins and ends anywhere. */
MODEL_TEST(unaligned_registration)
{
	Pair p;
	gni_mem_handle_t h = {};

	assert_rc(SUCCESS, GNI_MemRegister(p.b.nic, p.b.at(100), 300, nullptr, GNI_MEM_RELAXED_PI_ORDERING, ~0U, &h));
	gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_FMA_PUT, 300, 0, 100);
	d.remote_mem_hndl = h;
	fill(p.a.bytes, 300, 77);
	assert_int_equal(p.a.run(&d), 0);
	assert_memory_equal(p.b.bytes + 100, p.a.bytes, 300);
}

TEST_MAIN("library over the model")
