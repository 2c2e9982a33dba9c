// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Chained FMA posts over the model: order, one set of events, failures in the middle. */
#include "rank.hpp"

#include <random>
#include <vector>

namespace
{

/** A chain of puts or gets between @a and several targets; owns its descriptors. */
template <class Follower> struct Chain {
	gni_post_descriptor_t first = {};
	std::vector<Follower> rest;

	/** Links them; nothing may be added afterwards. */
	gni_post_descriptor_t *link()
	{
		first.next_descr = rest.empty() ? nullptr : &rest[0];
		for (size_t i = 0; i < rest.size(); i++)
			rest[i].next_descr = i + 1 < rest.size() ? &rest[i + 1] : nullptr;
		return &first;
	}
};

using Puts = Chain<gni_ct_put_post_descriptor_t>;
using Gets = Chain<gni_ct_get_post_descriptor_t>;

/** A rank with endpoints to two nodes: its own node's other process, and the peer. */
struct Three {
	Rank a{0, 1000, 262144}, b{1, 1001, 262144}, c{0, 1002, 262144};
	gni_ep_handle_t to_c = nullptr;

	Three()
	{
		a.bind(b, 1001);
		assert_rc(SUCCESS, GNI_EpCreate(a.nic, a.source, &to_c));
		assert_rc(SUCCESS, GNI_EpBind(to_c, c.address, 1002));
	}

	gni_ct_put_post_descriptor_t put(bool far, size_t length, size_t from, size_t to) const
	{
		gni_ct_put_post_descriptor_t d = {};

		d.ep_hndl = far ? a.ep : to_c;
		d.length = length;
		d.local_addr = a.at(from);
		d.remote_addr = (far ? b : c).at(to);
		d.remote_mem_hndl = (far ? b : c).handle;
		return d;
	}
	gni_ct_get_post_descriptor_t get(bool far, size_t length, size_t from, size_t to) const
	{
		gni_ct_get_post_descriptor_t d = {};

		d.ep_hndl = far ? a.ep : to_c;
		d.length = length;
		d.local_addr = a.at(to);
		d.local_mem_hndl = a.handle;
		d.remote_addr = (far ? b : c).at(from);
		d.remote_mem_hndl = (far ? b : c).handle;
		return d;
	}

	/** Posts, expects one event and the first descriptor back; the status it tells. */
	uint32_t run(gni_post_descriptor_t *d)
	{
		gni_post_descriptor_t *back = nullptr;
		gni_cq_entry_t e = 0;

		assert_rc(SUCCESS, GNI_CtPostFma(a.ep, d));
		const gni_return_t rc = GNI_CqWaitEvent(a.source, 5000, &e);
		assert_true(rc == GNI_RC_SUCCESS || rc == GNI_RC_TRANSACTION_ERROR);
		assert_int_equal(GNI_GetCompleted(a.source, e, &back), rc);
		assert_ptr_equal(back, d);
		assert_rc(NOT_DONE, GNI_CqGetEvent(a.source, &e));
		return static_cast<uint32_t>(GNI_CQ_GET_STATUS(e));
	}
};

void randomize(unsigned char *p, size_t n, uint64_t seed)
{
	std::mt19937_64 random(seed);

	for (size_t i = 0; i < n; i++)
		p[i] = static_cast<unsigned char>(random());
}

} // namespace

/* Pieces of all sizes to two nodes, against copies made one after the other. */
MODEL_TEST(chains_of_puts)
{
	Three t;
	std::mt19937_64 random(7);
	std::vector<unsigned char> far(t.b.size), near(t.c.size);
	const size_t sizes[] = {8, 8, 8, 8, 4, 8, 0, 1, 7, 64, 2047, 2048, 2049, 5000};

	randomize(t.a.bytes, t.a.size, 1);
	for (unsigned round = 0; round < 60; round++) {
		Puts chain;
		const size_t count = random() % 300;

		for (size_t i = 0; i <= count; i++) {
			const bool at_b = i == 0 || random() % 3;
			const size_t length = round % 2 ? 8 : sizes[random() % std::size(sizes)];
			const size_t from = random() % (t.a.size - length), to = random() % (t.b.size - length);

			if (i == 0)
				chain.first = t.a.post(t.b, GNI_POST_FMA_PUT, length, from, to);
			else
				chain.rest.push_back(t.put(at_b, length, from, to));
			memcpy((at_b ? far : near).data() + to, t.a.bytes + from, length);
		}
		chain.first.local_mem_hndl = {};
		assert_int_equal(t.run(chain.link()), 0);
		assert_memory_equal(t.b.bytes, far.data(), far.size());
		assert_memory_equal(t.c.bytes, near.data(), near.size());
	}
}

MODEL_TEST(chains_of_gets)
{
	Three t;
	std::mt19937_64 random(8);
	std::vector<unsigned char> expected(t.a.size);
	const size_t sizes[] = {8, 8, 4, 4, 12, 64, 4096, 65532, 70000};

	randomize(t.b.bytes, t.b.size, 2);
	randomize(t.c.bytes, t.c.size, 3);
	for (unsigned round = 0; round < 40; round++) {
		Gets chain;
		const size_t count = random() % 100;

		for (size_t i = 0; i <= count; i++) {
			const bool at_b = i == 0 || random() % 3;
			const size_t length = sizes[random() % std::size(sizes)];
			const size_t from = random() % ((t.b.size - length) / 4) * 4;
			const size_t to = random() % (t.a.size - length);

			if (i == 0)
				chain.first = t.a.post(t.b, GNI_POST_FMA_GET, length, to, from);
			else
				chain.rest.push_back(t.get(at_b, length, from, to));
			memcpy(expected.data() + to, (at_b ? t.b : t.c).bytes + from, length);
		}
		assert_int_equal(t.run(chain.link()), 0);
		assert_memory_equal(t.a.bytes, expected.data(), expected.size());
	}
}

/* Small gets whose data go into two registrations. */
MODEL_TEST(gets_into_two_regions)
{
	Three t;
	Gets chain;
	unsigned char *more = model::memory(0, 4096);
	gni_mem_handle_t handle = {};

	assert_rc(SUCCESS, GNI_MemRegister(t.a.nic, reinterpret_cast<uintptr_t>(more), 4096, nullptr, 0, ~0U, &handle));
	randomize(t.b.bytes, 256, 4);
	chain.first = t.a.post(t.b, GNI_POST_FMA_GET, 8, 0, 0);
	for (size_t i = 1; i < 8; i++) {
		chain.rest.push_back(t.get(true, 8, i * 8, i * 8));
		if (i % 2) {
			chain.rest.back().local_addr = reinterpret_cast<uintptr_t>(more + i * 8);
			chain.rest.back().local_mem_hndl = handle;
		}
	}
	assert_int_equal(t.run(chain.link()), 0);
	for (size_t i = 0; i < 8; i++)
		assert_memory_equal((i % 2 ? more : t.a.bytes) + i * 8, t.b.bytes + i * 8, 8);
}

/* Small pieces share doorbells: 128 puts of 8 bytes are one. */
MODEL_TEST(one_doorbell_for_small_pieces)
{
	Three t;
	Puts chain;

	chain.first = t.a.post(t.b, GNI_POST_FMA_PUT, 8);
	for (size_t i = 1; i < 128; i++)
		chain.rest.push_back(t.put(true, 8, i * 8, i * 16));
	const uint64_t before = model::counter(0, ARIES_CNT_FMA_TRAPS);
	assert_int_equal(t.run(chain.link()), 0);
	assert_int_equal(model::counter(0, ARIES_CNT_FMA_TRAPS) - before, 1);
}

/* A chain of one is a post like any other. */
MODEL_TEST(no_followers)
{
	Three t;
	gni_post_descriptor_t d = t.a.post(t.b, GNI_POST_FMA_PUT, 5, 0, 3);

	memcpy(t.a.bytes, "chain", 5);
	assert_int_equal(t.run(&d), 0);
	assert_memory_equal(t.b.bytes + 3, "chain", 5);
}

/* What follows a failure is left out; the event tells. */
MODEL_TEST(failure_in_the_middle)
{
	Three t;

	for (const size_t length : {size_t{8}, size_t{100}}) {
		for (const size_t bad : {size_t{0}, size_t{3}, size_t{7}}) {
			Puts chain;

			memset(t.b.bytes, 0, 8192);
			memset(t.a.bytes, 0x5a, length);
			chain.first = t.a.post(t.b, GNI_POST_FMA_PUT, length, 0, 0);
			for (size_t i = 1; i < 8; i++)
				chain.rest.push_back(t.put(true, length, 0, i * 128));
			if (bad)
				chain.rest[bad - 1].remote_addr = t.b.at(t.b.size - length + 1);
			else
				chain.first.remote_addr = t.b.at(t.b.size - length + 1);
			assert_int_equal(t.run(chain.link()), ARIES_ST_BOUNDS);
			assert_int_equal(chain.first.status, GNI_RC_TRANSACTION_ERROR);
			for (size_t i = 0; i < 8; i++)
				assert_int_equal(t.b.bytes[i * 128], i < bad ? 0x5a : 0);
		}
	}
}

MODEL_TEST(events_of_a_chain)
{
	Three t;
	gni_cq_entry_t e = 0;

	for (const size_t length : {size_t{8}, size_t{100}}) {
		Puts chain;

		chain.first =
			t.a.post(t.b, GNI_POST_FMA_PUT, 8, 0, 0, GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT);
		chain.rest.push_back(t.put(false, length, 0, 0));
		assert_int_equal(t.run(chain.link()), 0);
		/* At the first target, and only there. */
		assert_rc(SUCCESS, GNI_CqGetEvent(t.b.remote, &e));
		assert_int_equal(GNI_CQ_GET_REM_INST_ID(e), 1000);
		assert_rc(NOT_DONE, GNI_CqGetEvent(t.b.remote, &e));
		assert_rc(NOT_DONE, GNI_CqGetEvent(t.c.remote, &e));

		/* Silent: done when the call returns, status in the descriptor. */
		chain.first.cq_mode = GNI_CQMODE_SILENT;
		assert_rc(SUCCESS, GNI_CtPostFma(t.a.ep, &chain.first));
		assert_int_equal(chain.first.status, GNI_RC_SUCCESS);
		chain.rest[0].remote_addr = t.c.at(t.c.size);
		assert_rc(SUCCESS, GNI_CtPostFma(t.a.ep, &chain.first));
		assert_int_equal(chain.first.status, GNI_RC_TRANSACTION_ERROR);
		assert_rc(NOT_DONE, GNI_CqGetEvent(t.a.source, &e));
	}
}

/* Nothing has happened when a chain is refused. */
MODEL_TEST(refused_chains)
{
	Three t;
	Puts chain;

	chain.first = t.a.post(t.b, GNI_POST_FMA_PUT, 8, 0, 0);
	chain.rest.push_back(t.put(true, 8, 0, 8));
	chain.rest.push_back(t.put(true, 8, 0, 16));
	chain.link();
	memset(t.a.bytes, 0x77, 8);
	const Puts good = chain;
	auto refuse = [&](gni_return_t rc) {
		assert_int_equal(GNI_CtPostFma(t.a.ep, &chain.first), rc);
		assert_int_equal(t.b.bytes[0], 0);
		chain.first = good.first;
		chain.rest.assign(good.rest.begin(), good.rest.end());
		chain.link();
	};

	assert_rc(INVALID_PARAM, GNI_CtPostFma(nullptr, &chain.first));
	assert_rc(INVALID_PARAM, GNI_CtPostFma(t.a.ep, nullptr));
	for (const gni_post_type_t type : {GNI_POST_AMO, GNI_POST_FMA_PUT_W_SYNCFLAG, GNI_POST_FMA_GET_W_FLAG,
					   GNI_POST_RDMA_PUT, GNI_POST_CQWRITE}) {
		chain.first.type = type;
		refuse(GNI_RC_INVALID_PARAM);
	}
	chain.rest[1].ep_hndl = nullptr;
	refuse(GNI_RC_INVALID_PARAM);
	chain.rest[1].ep_hndl = t.c.ep; /* of another attachment, and not bound */
	refuse(GNI_RC_INVALID_PARAM);
	t.c.bind(t.b, 1001);
	chain.rest[1].ep_hndl = t.c.ep; /* bound, of another attachment still */
	refuse(GNI_RC_INVALID_PARAM);
	chain.rest[1].remote_mem_hndl = {};
	refuse(GNI_RC_INVALID_PARAM);
	chain.rest[1].next_descr = &chain.rest[0]; /* without an end */
	refuse(GNI_RC_INVALID_PARAM);
	chain.first.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_LOCAL_EVENT; /* needs DUAL_EVENTS */
	refuse(GNI_RC_INVALID_PARAM);

	Gets gets;
	gets.first = t.a.post(t.b, GNI_POST_FMA_GET, 8, 0, 0);
	gets.rest.push_back(t.get(true, 8, 8, 8));
	gets.link();
	gets.rest[0].remote_addr += 2;
	assert_rc(ALIGNMENT_ERROR, GNI_CtPostFma(t.a.ep, &gets.first));
	gets.rest[0].remote_addr -= 2;
	gets.rest[0].length = 0;
	assert_rc(INVALID_PARAM, GNI_CtPostFma(t.a.ep, &gets.first));
	gets.rest[0].length = 8;
	gets.rest[0].local_mem_hndl = {};
	assert_rc(INVALID_PARAM, GNI_CtPostFma(t.a.ep, &gets.first));
	gets.rest[0].local_mem_hndl = t.a.handle;
	gets.first.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
	assert_rc(INVALID_PARAM, GNI_CtPostFma(t.a.ep, &gets.first));
	gets.first.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	assert_int_equal(t.run(&gets.first), 0);
}

/* A chain of CQ writes: each value at its own target in order, one event at the source. */
MODEL_TEST(chains_of_cq_writes)
{
	Three t;
	gni_cq_entry_t e = 0;
	Chain<gni_ct_cqw_post_descriptor_t> chain;
	const auto write = [&](bool far, uint64_t value) {
		gni_ct_cqw_post_descriptor_t d = {};

		d.ep_hndl = far ? t.a.ep : t.to_c;
		d.remote_mem_hndl = (far ? t.b : t.c).handle;
		d.cqwrite_value = value;
		chain.rest.push_back(d);
	};
	const auto expect = [&](gni_cq_handle_t cq, uint64_t value) {
		assert_rc(SUCCESS, GNI_CqGetEvent(cq, &e));
		assert_int_equal(GNI_CQ_GET_DATA(e), value);
	};

	chain.first = t.a.post(t.b, GNI_POST_CQWRITE, 8, 0, 0);
	chain.first.cqwrite_value = 0xffff000000000001;
	write(false, 2);
	write(true, 3);
	write(false, 0xffffabcdef123456);
	gni_post_descriptor_t *d = chain.link(), *back = nullptr;
	assert_rc(SUCCESS, GNI_CtPostCqWrite(t.a.ep, d));
	assert_rc(SUCCESS, GNI_CqWaitEvent(t.a.source, 5000, &e));
	assert_rc(SUCCESS, GNI_GetCompleted(t.a.source, e, &back));
	assert_ptr_equal(back, d);
	assert_rc(NOT_DONE, GNI_CqGetEvent(t.a.source, &e));
	expect(t.b.remote, 1);
	expect(t.b.remote, 3);
	expect(t.c.remote, 2);
	expect(t.c.remote, 0xabcdef123456);

	/* A write that fails: the rest is left out, and the one event tells. */
	assert_rc(SUCCESS, GNI_MemDeregister(t.c.nic, &t.c.handle));
	assert_rc(SUCCESS, GNI_CtPostCqWrite(t.a.ep, d));
	assert_rc(TRANSACTION_ERROR, GNI_CqWaitEvent(t.a.source, 5000, &e));
	assert_rc(TRANSACTION_ERROR, GNI_GetCompleted(t.a.source, e, &back));
	assert_ptr_equal(back, d);
	expect(t.b.remote, 1);
	assert_rc(NOT_DONE, GNI_CqGetEvent(t.b.remote, &e));

	/* Silent: the status is in the descriptor when the call returns. */
	d->cq_mode = GNI_CQMODE_SILENT;
	assert_rc(SUCCESS, GNI_CtPostCqWrite(t.a.ep, d));
	assert_int_equal(d->status, GNI_RC_TRANSACTION_ERROR);
	expect(t.b.remote, 1);
	chain.rest.back().next_descr = chain.rest.data(); /* without an end */
	assert_rc(INVALID_PARAM, GNI_CtPostCqWrite(t.a.ep, d));
	assert_rc(NOT_DONE, GNI_CqGetEvent(t.b.remote, &e));
	assert_rc(NOT_DONE, GNI_CqGetEvent(t.a.source, &e));
}

TEST_MAIN("chained posts over the model")
