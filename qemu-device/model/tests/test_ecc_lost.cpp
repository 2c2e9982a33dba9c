/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What two wrong bits take away in memories whose entries come and go: who is told, and that nothing wrong is left. */
#include <thread>

#include "tests/ecc_rig.hpp"
#include "tests/tree.hpp"

using namespace aries_test;

namespace
{

constexpr bool TWICE = true;

uint64_t damaged(const FakeHost &host, aries_ras_memory memory)
{
	return host.read(ARIES_RAS_DAMAGED_N(memory), 8);
}

/* ---- AMO cache ---- */

/** The word of line 0 of the cache at node 1 has a result that memory has not, and two wrong bits. */
struct LostResult : LazyPair {
	LostResult()
	{
		word() = 100;
		assert_int_equal(run(FADD_C, 0, 1), 100);
		assert_true(Rig::inject(b, ARIES_RAS_AMO, 0, TWICE));
	}
	uint32_t get_status(uint64_t at, unsigned int bytes)
	{
		desc().offset = BASE + at;
		return a.ring(FMAD, ARIES_FMA_GET_OP, bytes);
	}
	uint32_t put_status(uint64_t at, unsigned int bytes)
	{
		desc().offset = BASE + at;
		return put(bytes);
	}
};

/* Nobody takes what memory has for the result. */
TEST(lost_results_refuse_who_wants_them)
{
	LostResult p;
	uint64_t record = 0;

	assert_int_equal(p.get_status(0, 8), ARIES_ST_ECC);
	assert_int_equal(p.get_status(4, 64), ARIES_ST_ECC);
	assert_int_equal(p.put_status(0, 4), ARIES_ST_ECC);
	p.desc().offset = BASE;
	assert_int_equal(p.amo(FADD_C, 1), ARIES_ST_ECC);
	assert_int_equal(p.amo(FADD, 1), ARIES_ST_ECC);
	assert_int_equal(damaged(p.b, ARIES_RAS_AMO), 5);
	/* The driver is told which memory domain has lost something. */
	while (p.b.read(ARIES_ERR_COUNT, 4)) {
		if ((p.b.read(ARIES_ERR_EVENT, 8) & 0xffff) == ARIES_RAS_DOUBLE + ARIES_RAS_AMO)
			record = p.b.read(ARIES_ERR_INFO_N(0), 8);
		p.b.write32(ARIES_ERR_POP, 1);
	}
	assert_int_equal(record, 1 | uint64_t(MDH) << 32);
	/* The words beside it are as ever. */
	assert_int_equal(p.run(FADD_C, 8, 1), 0);
	assert_int_equal(p.get(8), 1);
	/* What nobody wants is told once, however often the cache is looked through. */
	p.flush();
	p.flush();
	p.b.main_loop();
	assert_int_equal(damaged(p.b, ARIES_RAS_AMO), 5);
	assert_int_equal(p.word(), 100);
	/* All of it is overwritten: it is a word like any other. */
	p.store(0, 7);
	assert_int_equal(p.run(FADD_C, 0, 1), 7);
	assert_int_equal(p.get(0), 8);
}

TEST(lost_results_are_told_by_the_next_flush)
{
	LostResult p;

	p.flush();
	p.flush();
	assert_int_equal(damaged(p.b, ARIES_RAS_AMO), 1);
	assert_int_equal(p.word(), 100);
	assert_int_equal(p.get_status(0, 8), ARIES_ST_ECC);
	/* The memory domain ends, and what is made of its memory then is new. */
	assert_true(p.b.invalidate(MDH));
	p.b.make_mdd(MDH, PTAG_B, p.target, BYTES, BASE);
	assert_int_equal(p.get(0), 100);
}

/* Lines that must stay are not given away; with four of them in a set the next words do without the cache. */
TEST(lost_results_are_not_driven_out)
{
	LazyPair p;
	constexpr uint64_t SET_STRIDE = 128;

	for (uint64_t i = 0; i < 4; i++) {
		p.run(FADD_C, i * SET_STRIDE, 1);
		assert_true(Rig::inject(p.b, ARIES_RAS_AMO, uint32_t(i), TWICE));
	}
	for (uint64_t i = 4; i < 8; i++) {
		assert_int_equal(p.run(FADD_C, i * SET_STRIDE, 5), 0);
		assert_int_equal(p.word(i * SET_STRIDE), 5);
	}
	for (uint64_t i = 0; i < 4; i++) {
		p.desc().offset = BASE + i * SET_STRIDE;
		assert_int_equal(p.amo(FADD_C, 1), ARIES_ST_ECC);
	}
}

/* Memory has what the line had: it is brought in again. */
TEST(clean_lines_lose_nothing)
{
	LazyPair p;

	p.run(FADD_C, 0, 1);
	p.flush();
	assert_true(Rig::inject(p.b, ARIES_RAS_AMO, 0, TWICE));
	assert_int_equal(p.run(FADD_C, 0, 1), 1);
	assert_int_equal(p.get(0), 2);
	assert_int_equal(damaged(p.b, ARIES_RAS_AMO), 1);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_MISSES), 2);
	/* So are names without contents. */
	set_lazy(p.b, false);
	assert_int_equal(p.run(FADD_C, 0, 1), 2);
	assert_int_equal(p.run(FADD_C, 0, 1), 3);
	const uint64_t misses = p.b.counter(ARIES_CNT_AMO_CACHE_MISSES);

	assert_true(Rig::inject(p.b, ARIES_RAS_AMO, 0, TWICE));
	assert_int_equal(p.run(FADD_C, 0, 1), 4);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_MISSES), misses + 1);
	assert_int_equal(damaged(p.b, ARIES_RAS_AMO), 2);
	assert_int_equal(p.run(FADD_C, 0, 1), 5);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_MISSES), misses + 1);
}

/* ---- completion queues ---- */

/* An event that comes while nobody knows where the queue is, is owed: the owner finds a mark. */
TEST(events_of_a_damaged_queue_are_owed)
{
	Rig rig;
	static Rig *hitting;

	/* Remote events: refused before anything is written. */
	assert_true(Rig::inject(rig.b, ARIES_RAS_CQ, 21, TWICE));
	rig.word() = 0x77;
	assert_int_equal(rig.put_with(ARIES_EV_REMOTE), ARIES_ST_ECC);
	assert_int_equal(rig.word(), 0x77);
	rig.rewrite(rig.b, ARIES_RAS_CQ, 21);
	assert_int_equal(rig.put_with(ARIES_EV_REMOTE), ARIES_ST_OK);
	assert_false(rig.b.next_event(21).overrun());
	/* A transfer that is under way when it happens. */
	hitting = &rig;
	rig.during_copy = [] {
		assert_true(Rig::inject(hitting->a, ARIES_RAS_CQ, 20, TWICE));
		hitting->during_copy = nullptr;
	};
	rig.a.slot(FMAD, 0) = block_transfer(ARIES_BTE_PUT, MDH, LOCAL_MDH, BYTES);
	rig.a.ring_bte(FMAD, 0);
	rig.a.main_loop();
	assert_false(bool(rig.a.next_event(20)));
	assert_int_equal(damaged(rig.a, ARIES_RAS_CQ), 1);
	rig.rewrite(rig.a, ARIES_RAS_CQ, 20);
	rig.a.main_loop();
	assert_true(rig.a.next_event(20).overrun());
	assert_int_equal(rig.a.read(ARIES_CQ_DROPPED_N(20), 8), 1);
	/* And it goes on behind the mark. */
	assert_int_equal(rig.transfer(), ARIES_ST_OK);
}

/* A process learns nothing of a queue that is not its own. */
TEST(damage_of_others_shows_nothing)
{
	Rig rig;

	rig.a.make_cq(30, 6, OWNER + 1);
	assert_true(Rig::inject(rig.a, ARIES_RAS_CQ, 30, TWICE));
	rig.a.desc(V).cq = 30;
	assert_int_equal(rig.put_with(ARIES_EV_GLOBAL), ARIES_ST_CQ_OWNER);
	assert_int_equal(damaged(rig.a, ARIES_RAS_CQ), 0);
}

/* ---- collective engines ---- */

/* Every member gets the error, none a sum; the next operation is as good as ever. */
TEST(a_collective_ends_with_an_error_for_all)
{
	const std::string path = fabric_path();
	Member root(path, 0, 3), left(path, 1, 3), right(path, 2, 3);
	Member *const all[] = {&root, &left, &right};

	assert_true(left.engine(1, {{ENDPOINT, 1}, {ENDPOINT, 2}}, {true, 0, 0, 1}));
	assert_true(root.engine(0, {{ENDPOINT, 0}, {aries_test::ENGINE, 1, 1}}));
	for (const bool twice : {true, false}) {
		for (unsigned int who = 0; who < 3; who++) {
			all[who]->prepare(who ? 1 : 0, who ? 1 : 0, who == 2 ? 1 : 0).operand[0] = 10 + who;
			assert_int_equal(all[who]->ring(CE_IADD), ARIES_ST_OK);
			assert_false(who < 2 && all[who]->done());
			if (who == 1) /* in the engine that is not the root, while it waits */
				assert_true(Rig::inject(left.host, ARIES_RAS_CE, ARIES_CE_CHILDREN, twice));
		}
		for (Member *member : all) {
			assert_true(member->done());
			assert_int_equal(member->status(), twice ? ARIES_ST_ECC : ARIES_ST_OK);
			assert_int_equal(member->result().result[0], twice ? 0 : 33);
		}
	}
	assert_int_equal(damaged(left.host, ARIES_RAS_CE), 1);
	assert_int_equal(left.host.read(ARIES_RAS_CORRECTED_N(ARIES_RAS_CE), 8), 1);
}

/* ---- block transfers ---- */

/* One that waits for a channel: it does not start, and the one behind it does. */
TEST(a_waiting_transfer_ends_with_an_error)
{
	Rig rig;
	static Rig *hitting;

	/* All channels are busy while a transfer of this thread is in the middle of its copy. */
	hitting = &rig;
	rig.word() = 0;
	rig.during_copy = [] {
		static unsigned int depth;

		if (++depth < ARIES_BTE_CHANNELS) {
			hitting->start_transfer(10 + depth);
			return;
		}
		hitting->start_transfer(20);
		assert_true(Rig::inject(hitting->a, ARIES_RAS_BTE, 20, TWICE));
		hitting->during_copy = nullptr;
	};
	rig.start_transfer(10);
	unsigned int good = 0, bad = 0;

	for (unsigned int i = 0; i < ARIES_BTE_CHANNELS + 1; i++) {
		const uint32_t status = rig.outcome();

		good += status == ARIES_ST_OK;
		bad += status == ARIES_ST_LOCAL_ECC;
	}
	assert_int_equal(good, ARIES_BTE_CHANNELS);
	assert_int_equal(bad, 1);
	rig.start_transfer(20);
	assert_int_equal(rig.outcome(), ARIES_ST_OK);
}

/* ---- outstanding requests ---- */

/* As with a lost response: the operation was executed, and whoever waits for it gets an error. */
TEST(nobody_waits_for_a_response_without_a_request)
{
	Rig rig;

	rig.fetched() = 0x55;
	rig.word() = 7;
	assert_true(Rig::inject(rig.a, ARIES_RAS_ORB, 1, TWICE));
	assert_int_equal(rig.add(), ARIES_ST_LOCAL_ECC);
	assert_int_equal(rig.fetched(), 0x55);
	assert_true(Rig::inject(rig.a, ARIES_RAS_ORB, 2, TWICE));
	assert_int_equal(rig.a.ring(V, ARIES_FMA_GET_OP, 8), ARIES_ST_LOCAL_ECC);
	assert_int_equal(rig.fetched(), 0x55);
	assert_int_equal(rig.a.ring(V, ARIES_FMA_GET_OP, 8), ARIES_ST_OK);
	assert_int_equal(rig.fetched(), 8);
	assert_true(Rig::inject(rig.a, ARIES_RAS_ORB, 3, TWICE));
	assert_int_equal(rig.transfer(), ARIES_ST_LOCAL_ECC);
	/* One bit of it is no reason to wait. */
	assert_true(Rig::inject(rig.a, ARIES_RAS_ORB, 4, !TWICE));
	assert_int_equal(rig.transfer(), ARIES_ST_OK);
	assert_int_equal(damaged(rig.a, ARIES_RAS_ORB), 3);
	assert_int_equal(rig.a.counter(ARIES_CNT_TIMEOUTS), 0);
}

/* ---- PTE cache ---- */

/* What is read again is what the tables have now. */
TEST(a_damaged_line_is_read_again)
{
	Rig rig;

	assert_int_equal(rig.put(), ARIES_ST_OK);
	const uint64_t misses = rig.b.counter(ARIES_CNT_PTE_CACHE_MISSES);

	assert_true(Rig::inject(rig.b, ARIES_RAS_PTE, MDH % 32 * 4, !TWICE));
	assert_int_equal(rig.put(), ARIES_ST_OK);
	assert_int_equal(rig.b.counter(ARIES_CNT_PTE_CACHE_MISSES), misses);
	assert_true(Rig::inject(rig.b, ARIES_RAS_PTE, MDH % 32 * 4, TWICE));
	assert_int_equal(rig.put(), ARIES_ST_OK);
	assert_int_equal(rig.b.counter(ARIES_CNT_PTE_CACHE_MISSES), misses + 1);
	/* Nothing of it is used, not by a later sender either. */
	uint64_t &entry = *reinterpret_cast<uint64_t *>(rig.b.ram(rig.table));
	const uint64_t whole = entry;

	assert_true(Rig::inject(rig.b, ARIES_RAS_PTE, MDH % 32 * 4, TWICE));
	entry = 0;
	assert_int_equal(rig.put(), ARIES_ST_TRANSLATION);
	assert_int_equal(rig.put(), ARIES_ST_TRANSLATION);
	entry = whole;
	assert_int_equal(rig.put(), ARIES_ST_OK);
	assert_int_equal(damaged(rig.b, ARIES_RAS_PTE), 2);
	/* A line that leaves with its memory domain takes its error along. */
	assert_true(Rig::inject(rig.b, ARIES_RAS_PTE, MDH % 32 * 4, TWICE));
	assert_true(rig.b.invalidate(MDH));
	rig.b.make_mdd(MDH, PTAG_B, rig.target, BYTES, BASE);
	assert_int_equal(rig.put(), ARIES_ST_OK);
	assert_int_equal(damaged(rig.b, ARIES_RAS_PTE), 2);
}

} // namespace

TEST_MAIN("what wrong bits take away")
