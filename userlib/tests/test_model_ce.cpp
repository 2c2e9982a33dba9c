// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Collectives over the device model: trees over several nodes, N21 to N24 as a process sees them. */
#include "rank.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <thread>
#include <unistd.h>
#include <vector>

constexpr uint32_t kTreeNodes = 6;
constexpr uint32_t kTreeModes = GNI_CE_MODE_ROUND_NEAR | GNI_CE_MODE_CQE_ONCOMP | GNI_CE_MODE_RC_ADAPT;
constexpr size_t kBlock = 32;

/* A process of a tree: a leaf, perhaps with an engine. */
struct Leaf : Rank {
	gni_ce_handle_t ce = nullptr;
	uint32_t ce_id = ~0U;
	gni_cq_handle_t events = nullptr; /* of the engine */
	std::vector<gni_ep_handle_t> edges;

	explicit Leaf(uint32_t node, uint32_t modes = 0) : Rank(node, 500 + node, 4096, modes) {}

	void make_engine()
	{
		assert_rc(SUCCESS, GNI_CeCreate(nic, &ce));
		assert_rc(SUCCESS, GNI_CeGetId(ce, &ce_id));
		assert_rc(SUCCESS, GNI_CqCreate(nic, 100, 0, GNI_CQ_BLOCKING, nullptr, nullptr, &events));
	}
	gni_ep_handle_t edge(const Leaf &peer, uint32_t id, uint32_t index, gni_ce_child_t kind)
	{
		gni_ep_handle_t e = nullptr;

		assert_rc(SUCCESS, GNI_EpCreate(nic, nullptr, &e));
		assert_rc(SUCCESS, GNI_EpBind(e, peer.address, 500 + peer.address));
		assert_rc(SUCCESS, GNI_EpSetCeAttr(e, id, index, kind));
		edges.push_back(e);
		return e;
	}
	void join(const Leaf &engine, uint32_t index) const
	{
		assert_rc(SUCCESS, GNI_EpBind(ep, engine.address, 500 + engine.address));
		assert_rc(SUCCESS, GNI_EpSetCeAttr(ep, engine.ce_id, index, GNI_CE_CHILD_PE));
	}
	gni_post_descriptor_t give(uint32_t command, uint64_t first, uint64_t second = 0, uint32_t mode = 0,
				   size_t block = 0, uint16_t events_ = GNI_CQMODE_GLOBAL_EVENT, uint64_t id = 1) const
	{
		gni_post_descriptor_t d = {};

		d.type = GNI_POST_CE;
		d.cq_mode = events_;
		d.local_addr = at(block * kBlock);
		d.local_mem_hndl = handle;
		d.ce_cmd = static_cast<gni_ce_cmd_type_t>(command);
		d.ce_mode = mode;
		d.ce_red_id = id;
		d.first_operand = first;
		d.second_operand = second;
		return d;
	}
	gni_ce_result_t *result(size_t block = 0) const
	{
		return reinterpret_cast<gni_ce_result_t *>(bytes + block * kBlock);
	}
	/** Reaps the event of @d; its status. */
	uint32_t reap(const gni_post_descriptor_t *d) const
	{
		gni_post_descriptor_t *back = nullptr;
		gni_cq_entry_t e = 0;
		gni_return_t rc = GNI_CqWaitEvent(source, 5000, &e);

		assert_true(rc == GNI_RC_SUCCESS || rc == GNI_RC_TRANSACTION_ERROR);
		assert_int_equal(GNI_GetCompleted(source, e, &back), rc);
		assert_ptr_equal(back, d);
		return static_cast<uint32_t>(GNI_CQ_GET_STATUS(e));
	}
};

/* Engines on 0 and 3: 0 is the root over leaves 0, 1, 2 and engine 3; 3 has leaves 3, 4, 5. */
struct Tree {
	std::vector<std::unique_ptr<Leaf>> leaf;

	explicit Tree(uint32_t modes = kTreeModes)
	{
		for (uint32_t n = 0; n < kTreeNodes; n++)
			leaf.push_back(std::make_unique<Leaf>(n));
		leaf[0]->make_engine();
		leaf[3]->make_engine();
		configure(modes);
		for (uint32_t n = 0; n < 3; n++) {
			leaf[n]->join(*leaf[0], n);
			leaf[3 + n]->join(*leaf[3], n);
		}
	}
	void configure(uint32_t modes)
	{
		Leaf &root = *leaf[0], &inner = *leaf[3];
		std::vector<gni_ep_handle_t> kids;

		for (uint32_t n = 0; n < 3; n++)
			kids.push_back(root.edge(*leaf[n], 0, n, GNI_CE_CHILD_PE));
		kids.push_back(root.edge(inner, inner.ce_id, 3, GNI_CE_CHILD_VCE));
		assert_rc(SUCCESS, GNI_CeConfigure(root.ce, kids.data(), 4, nullptr, root.events, modes));
		kids.clear();
		for (uint32_t n = 0; n < 3; n++)
			kids.push_back(inner.edge(*leaf[3 + n], 0, n, GNI_CE_CHILD_PE));
		gni_ep_handle_t up = inner.edge(root, root.ce_id, 3, GNI_CE_CHILD_VCE);
		assert_rc(SUCCESS, GNI_CeConfigure(inner.ce, kids.data(), 3, up, inner.events, modes));
	}
	Leaf &operator[](uint32_t n) { return *leaf[n]; }

	/** All contribute first(n), second(n); all see status OK. */
	template <typename F> void run(uint32_t command, F &&operands, uint32_t mode = 0, uint64_t id = 1)
	{
		gni_post_descriptor_t d[kTreeNodes];

		for (uint32_t i = 0; i < kTreeNodes; i++) {
			const uint32_t n = (i * 5 + 2) % kTreeNodes; /* not in the order of the tree */
			auto [first, second] = operands(n);
			d[n] = leaf[n]->give(command, first, second, mode, 0, GNI_CQMODE_GLOBAL_EVENT, id);
			assert_rc(SUCCESS, GNI_PostFma(leaf[n]->ep, &d[n]));
			if (i + 1 < kTreeNodes)
				assert_rc(NOT_DONE, GNI_CeCheckResult(leaf[n]->result(), 24));
		}
		for (uint32_t n = 0; n < kTreeNodes; n++) {
			assert_int_equal(leaf[n]->reap(&d[n]), 0);
			assert_true(GNI_CE_RES_STATUS_OK(leaf[n]->result()));
			assert_true(GNI_CE_RES_GET_RED_ID(leaf[n]->result()) == id);
		}
	}
	void engine_event(uint32_t n, uint64_t id)
	{
		gni_cq_entry_t e = 0;
		gni_post_descriptor_t *back = nullptr;

		assert_rc(SUCCESS, GNI_CqWaitEvent(leaf[n]->events, 5000, &e));
		assert_int_equal(GNI_CQ_GET_CE_ID(e), leaf[n]->ce_id);
		assert_true(GNI_CQ_GET_REDUCTN_ID(e) == id);
		assert_int_equal(GNI_CQ_GET_STATUS(e), 0);
		/* It belongs to no post. */
		assert_rc(DESCRIPTOR_ERROR, GNI_GetCompleted(leaf[n]->events, e, &back));
	}
};

static int tree_start(void **)
{
	model::start(kTreeNodes);
	model::allow(kCookie, kPtag);
	return 0;
}

TEST_BETWEEN(sums_and_barriers, tree_start, world_stop)
{
	Tree t;

	for (uint64_t round = 1; round <= 20; round++) {
		t.run(
			GNI_FMA_CE_IADD,
			[&](uint32_t n) {
				return std::pair{uint64_t{1} << n << round, uint64_t{0}};
			},
			0, round);
		for (uint32_t n = 0; n < kTreeNodes; n++)
			assert_true(t[n].result()->result1 == 63ULL << round);
		t.engine_event(0, round);
		t.engine_event(3, round);
	}
	t.run(
		GNI_FMA_CE_IADD,
		[](uint32_t n) {
			return std::pair{uint64_t{n}, uint64_t{10} * n};
		},
		GNI_CEMODE_TWO_OP);
	assert_true(t[5].result()->result1 == 15 && t[5].result()->result2 == 150);
	/* The command of a barrier does not matter. */
	t.run(GNI_FMA_CE_AND_S, [](uint32_t) { return std::pair{uint64_t{0}, uint64_t{0}}; });
}

TEST_BETWEEN(minimum_with_index, tree_start, world_stop)
{
	Tree t;
	auto value = [](uint32_t n) {
		const double d = n == 2 || n == 4 ? -2.5 : 1.0 * n;
		return std::pair{std::bit_cast<uint64_t>(d), uint64_t{100} + n};
	};

	t.run(GNI_FMA_CE_FPMIN_LIDX, value);
	for (uint32_t n = 0; n < kTreeNodes; n++) {
		assert_true(t[n].result()->result1 == std::bit_cast<uint64_t>(-2.5));
		assert_int_equal(t[n].result()->result2, 102);
	}
	t.run(GNI_FMA_CE_FPMIN_GIDX, value);
	assert_int_equal(t[0].result()->result2, 104);
	t.run(GNI_FMA_CE_FPMAX_LIDX, value);
	assert_int_equal(t[3].result()->result2, 105);
}

/* The value is there, and an error code that asks to look at the exceptions. */
TEST_BETWEEN(exceptions, tree_start, world_stop)
{
	Tree t;
	auto third = [](uint32_t n) { return std::pair{std::bit_cast<uint64_t>(1.0 / (3 + n)), uint64_t{0}}; };

	gni_post_descriptor_t d[kTreeNodes];
	for (uint32_t n = 0; n < kTreeNodes; n++) {
		d[n] = t[n].give(GNI_FMA_CE_FPADD, third(n).first, 0, n == 1 ? GNI_CEMODE_FPE_UFLOW : 0);
		assert_rc(SUCCESS, GNI_PostFma(t[n].ep, &d[n]));
	}
	for (uint32_t n = 0; n < kTreeNodes; n++) {
		assert_int_equal(t[n].reap(&d[n]), 0);
		assert_rc(TRANSACTION_ERROR, GNI_CeCheckResult(t[n].result(), 24));
		assert_true(GNI_CE_RES_STATUS_OK(t[n].result()));
		assert_int_equal(GNI_CE_RES_GET_FPE(t[n].result()), GNI_CE_FPE_UFLOW | GNI_CE_FPE_PRECISION);
		assert_true(t[n].result()->result1 == t[0].result()->result1);
	}
}

/*
 * Result blocks where their address is an offset: in a region of two pieces, of which the second lies before the first,
 * and by a handle that a client has built for a place. The library writes to them, too.
 */
TEST_BETWEEN(blocks_at_offsets, tree_start, world_stop)
{
	constexpr size_t kPageBytes = 4096;
	Tree t;
	Leaf &root = *t.leaf[0];
	unsigned char *memory = model::memory(0, 4 * kPageBytes);
	const auto start = reinterpret_cast<uintptr_t>(memory);
	gni_mem_segment_t list[] = {{start + 2 * kPageBytes, 16}, {start, kPageBytes}};
	gni_mem_handle_t pieces = {}, place = {};
	constexpr unsigned char kOld = 0x5a;

	assert_rc(SUCCESS, GNI_MemRegisterSegments(root.nic, list, 2, nullptr, 0, ~0U, &pieces));
	assert_rc(SUCCESS, GNI_SetMddResources(root.nic, 4));
	assert_rc(SUCCESS,
		  GNI_MemRegister(root.nic, start + kPageBytes + 100, 8, nullptr, GNI_MEM_USE_VMDH, 2, &place));
	place.qword1 &= ~((1ULL << 52) - 1);
	const struct {
		gni_mem_handle_t handle;
		uint64_t offset;
		size_t where;
		uint64_t next; /* another one, so far behind */
	} blocks[] = {
		{pieces, 64, 2 * kPageBytes + 64, 32},
		{pieces, kPageBytes, 0, 32},
		{pieces, 2 * kPageBytes - 64, kPageBytes - 64, 40},
		{place, 128, kPageBytes + 128, 24},
		{place, kPageBytes - 64, 2 * kPageBytes - 64, 40},
	};
	for (const auto &b : blocks) {
		auto *result = reinterpret_cast<gni_ce_result_t *>(memory + b.where);
		auto *other = reinterpret_cast<gni_ce_result_t *>(memory + b.where + b.next);
		gni_post_descriptor_t d[kTreeNodes], second = {};

		memset(memory, kOld, 4 * kPageBytes);
		for (uint32_t n = 0; n < kTreeNodes; n++) {
			d[n] = t[n].give(GNI_FMA_CE_IADD, n);
			if (!n) {
				d[n].local_mem_hndl = b.handle;
				d[n].local_addr = b.offset;
			}
			assert_rc(SUCCESS, GNI_PostFma(t[n].ep, &d[n]));
			if (n)
				continue;
			/* One that waits in the library says so in its block. */
			second = d[0];
			second.ce_red_id = 2;
			second.local_addr += b.next;
			assert_rc(SUCCESS, GNI_PostFma(root.ep, &second));
			assert_rc(NOT_DONE, GNI_CeCheckResult(other, 24));
		}
		for (uint32_t n = 0; n < kTreeNodes; n++)
			assert_int_equal(t[n].reap(&d[n]), 0);
		assert_true(result->result1 == 15);
		for (uint32_t n = 1; n < kTreeNodes; n++) {
			d[n] = t[n].give(GNI_FMA_CE_IADD, 2 * n, 0, 0, 0, GNI_CQMODE_GLOBAL_EVENT, 2);
			assert_rc(SUCCESS, GNI_PostFma(t[n].ep, &d[n]));
		}
		assert_int_equal(root.reap(&second), 0);
		for (uint32_t n = 1; n < kTreeNodes; n++)
			assert_int_equal(t[n].reap(&d[n]), 0);
		assert_true(other->result1 == 30);
		/* Nothing else was written to. */
		memset(result, kOld, sizeof(*result));
		memset(other, kOld, sizeof(*other));
		assert_true(std::all_of(memory, memory + 4 * kPageBytes, [](unsigned char c) { return c == kOld; }));
	}
	/* Behind the region, and in none that is known here. */
	gni_post_descriptor_t d = root.give(GNI_FMA_CE_IADD, 1);
	d.local_mem_hndl = pieces;
	d.local_addr = 2 * kPageBytes;
	assert_rc(INVALID_PARAM, GNI_PostFma(root.ep, &d));
	d.local_mem_hndl = place;
	d.local_addr = kPageBytes;
	assert_rc(INVALID_PARAM, GNI_PostFma(root.ep, &d));
	d.local_mem_hndl = pieces;
	d.local_addr = 64;
	assert_rc(SUCCESS, GNI_MemDeregister(root.nic, &pieces));
	assert_rc(INVALID_PARAM, GNI_PostFma(root.ep, &d));
}

/* Four on one NIC at a time, a fifth is refused (N21). */
TEST_BETWEEN(resources, tree_start, world_stop)
{
	Tree t;
	gni_ce_handle_t more[4] = {};

	for (unsigned i = 0; i < 3; i++)
		assert_rc(SUCCESS, GNI_CeCreate(t[0].nic, &more[i]));
	assert_rc(ERROR_RESOURCE, GNI_CeCreate(t[0].nic, &more[3]));
	assert_rc(SUCCESS, GNI_CeDestroy(more[1]));
	assert_rc(SUCCESS, GNI_CeCreate(t[0].nic, &more[3]));
}

/* Each posts a row of collectives at once; the library hands them over one by one. */
TEST_BETWEEN(back_to_back, tree_start, world_stop)
{
	constexpr size_t kRow = 40;
	Tree t;
	std::vector<std::thread> threads;

	for (uint32_t n = 0; n < kTreeNodes; n++) {
		threads.emplace_back([&t, n] {
			Leaf &me = t[n];
			std::vector<gni_post_descriptor_t> d(kRow);
			for (size_t i = 0; i < kRow; i++) {
				d[i] = me.give(GNI_FMA_CE_IADD, i * 10 + n, 0, 0, i,
					       i % 3 ? GNI_CQMODE_SILENT : GNI_CQMODE_GLOBAL_EVENT, i);
				if (GNI_PostFma(me.ep, &d[i]) != GNI_RC_SUCCESS)
					return;
			}
			for (size_t i = 0; i < kRow; i++) {
				while (GNI_CeCheckResult(me.result(i), 24) == GNI_RC_NOT_DONE)
					std::this_thread::yield();
			}
			for (size_t i = 0; i < kRow; i += 3)
				(void)me.reap(&d[i]);
		});
	}
	for (auto &thread : threads)
		thread.join();
	for (uint32_t n = 0; n < kTreeNodes; n++) {
		for (size_t i = 0; i < kRow; i++) {
			assert_true(GNI_CE_RES_STATUS_OK(t[n].result(i)));
			assert_true(t[n].result(i)->result1 == i * 60 + 15);
			assert_true(GNI_CE_RES_GET_RED_ID(t[n].result(i)) == i);
		}
		gni_cq_entry_t e = 0;
		assert_rc(NOT_DONE, GNI_CqGetEvent(t[n].source, &e));
	}
}

/* An 8-node barrier must take fewer traps than 3 a node: this one takes one a node, and no interrupt. */
TEST_BETWEEN(traps, tree_start, world_stop)
{
	Tree t;
	uint64_t before[2] = {}, after[2] = {};
	auto count = [](uint64_t *sum) {
		for (uint32_t n = 0; n < kTreeNodes; n++) {
			sum[0] += model::counter(n, ARIES_CNT_FMA_TRAPS);
			sum[1] += model::counter(n, ARIES_CNT_IRQS);
		}
	};

	count(before);
	for (uint64_t round = 0; round < 10; round++) {
		gni_post_descriptor_t d[kTreeNodes];
		for (uint32_t n = 0; n < kTreeNodes; n++) {
			d[n] = t[n].give(GNI_FMA_CE_AND, 0, 0, 0, 0, GNI_CQMODE_SILENT, round);
			assert_rc(SUCCESS, GNI_PostFma(t[n].ep, &d[n]));
		}
		for (uint32_t n = 0; n < kTreeNodes; n++)
			assert_rc(SUCCESS, GNI_CeCheckResult(t[n].result(), 24));
	}
	count(after);
	/* Of a doorbell in memory the trap may not be needed, or may be that of one before. */
	const uint64_t most = 10 * kTreeNodes;

	assert_in_range(after[0] - before[0], model::polls() ? 0 : most, most + (model::polls() ? kTreeNodes : 0));
	assert_int_equal(after[1] - before[1], 0);
}

/* Only its own child, of its own domain, on the right node. */
TEST_BETWEEN(protection, tree_start, world_stop)
{
	Tree t;
	model::allow(0x999, 44);
	Rank stranger(1, 7, 4096, 0, 0x999);
	gni_ep_handle_t ep = nullptr;
	auto attempt = [&](const Rank &who, uint32_t node, uint32_t engine, uint32_t index) {
		assert_rc(SUCCESS, GNI_EpCreate(who.nic, who.source, &ep));
		assert_rc(SUCCESS, GNI_EpBind(ep, node, 1));
		assert_rc(SUCCESS, GNI_EpSetCeAttr(ep, engine, index, GNI_CE_CHILD_PE));
		gni_post_descriptor_t d = {}, *back = nullptr;
		d.type = GNI_POST_CE;
		d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
		d.local_addr = who.at(2048);
		d.local_mem_hndl = who.handle;
		d.ce_cmd = GNI_FMA_CE_AND;
		gni_cq_entry_t e = 0;
		assert_rc(SUCCESS, GNI_PostFma(ep, &d));
		gni_return_t rc = GNI_CqWaitEvent(who.source, 1000, &e);
		assert_int_equal(rc, GNI_RC_TRANSACTION_ERROR);
		assert_int_equal(GNI_GetCompleted(who.source, e, &back), rc);
		assert_rc(TRANSACTION_ERROR,
			  GNI_CeCheckResult(reinterpret_cast<gni_ce_result_t *>(who.bytes + 2048), 24));
		return static_cast<uint32_t>(GNI_CQ_GET_STATUS(e));
	};

	assert_int_equal(attempt(stranger, 0, 0, 1), ARIES_ST_PTAG);
	assert_int_equal(attempt(t[1], 0, 0, 2), ARIES_ST_CE_CHILD);
	assert_int_equal(attempt(t[1], 0, 0, 3), ARIES_ST_CE_CHILD);
	assert_int_equal(attempt(t[1], 0, 0, 9), ARIES_ST_CE_CHILD);
	assert_int_equal(attempt(t[1], 0, 1, 1), ARIES_ST_DISABLED);
	/* The tree works as before. */
	t.run(GNI_FMA_CE_IADD, [](uint32_t n) { return std::pair{uint64_t{n}, uint64_t{0}}; });
	assert_int_equal(t[4].result()->result1, 15);
}

/* Contributions to different operations: the same error for all. */
TEST_BETWEEN(mismatch, tree_start, world_stop)
{
	Tree t;
	gni_post_descriptor_t d[kTreeNodes];

	for (uint32_t n = 0; n < kTreeNodes; n++) {
		d[n] = t[n].give(GNI_FMA_CE_IADD, 1, 0, 0, 0, GNI_CQMODE_GLOBAL_EVENT, n == 4 ? 2 : 1);
		assert_rc(SUCCESS, GNI_PostFma(t[n].ep, &d[n]));
	}
	for (uint32_t n = 0; n < kTreeNodes; n++) {
		assert_int_equal(t[n].reap(&d[n]), ARIES_ST_CE_MISMATCH);
		assert_false(GNI_CE_RES_STATUS_OK(t[n].result()));
	}
}

/* A process that ends takes its engine with it: an error for all the others, once. */
TEST_BETWEEN(death_of_an_engine, tree_start, world_stop)
{
	for (bool node : {false, true}) {
		if (node) {
			world_stop(nullptr);
			tree_start(nullptr);
		}
		Tree t;
		gni_post_descriptor_t d[kTreeNodes];
		for (uint32_t n = 0; n < kTreeNodes; n++) {
			d[n] = t[n].give(GNI_FMA_CE_IADD, 1);
			if (n != 3)
				assert_rc(SUCCESS, GNI_PostFma(t[n].ep, &d[n]));
		}
		if (node)
			model::kill(3);
		else
			t.leaf[3].reset();
		for (uint32_t n = 0; n < kTreeNodes; n++) {
			if (n == 3)
				continue;
			assert_int_not_equal(t[n].reap(&d[n]), 0);
			assert_rc(TRANSACTION_ERROR, GNI_CeCheckResult(t[n].result(), 24));
		}
	}
}

/* A leaf on another node than its engine, with none of its own: it ends, its node lives on. */
TEST_BETWEEN(death_of_a_leaf, tree_start, world_stop)
{
	for (uint32_t victim : {1U, 5U}) {
		if (victim == 5) {
			world_stop(nullptr);
			tree_start(nullptr);
		}
		Tree t;
		gni_post_descriptor_t d[kTreeNodes];
		t.run(GNI_FMA_CE_IADD, [](uint32_t n) { return std::pair{uint64_t{n}, uint64_t{0}}; });
		usleep(100000);
		for (uint32_t n = 0; n < kTreeNodes; n++) {
			d[n] = t[n].give(GNI_FMA_CE_IADD, 1);
			if (n != victim)
				assert_rc(SUCCESS, GNI_PostFma(t[n].ep, &d[n]));
		}
		t.leaf[victim].reset();
		for (uint32_t n = 0; n < kTreeNodes; n++) {
			if (n == victim)
				continue;
			assert_int_equal(t[n].reap(&d[n]), ARIES_ST_TIMEOUT);
			assert_false(GNI_CE_RES_STATUS_OK(t[n].result()));
		}
	}
}

TEST_MAIN("collectives over the model")
