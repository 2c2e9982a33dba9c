/* SPDX-License-Identifier: GPL-2.0-or-later */
/* N12: the AMO cache with lazy updates: results that stay in the NIC, and all that must not notice. */
#include "tests/lazy_pair.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int ALIAS = MDH + 1;

/* Memory is old until something wants the word; every NIC sees the new value. */
TEST(test_results_stay)
{
	LazyPair p;

	p.word() = 100;
	assert_int_equal(p.run(FADD_C, 0, 1), 100);
	assert_int_equal(p.run(FADD_C, 0, 1), 101);
	assert_int_equal(p.word(), 100);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_MISSES), 1);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_HITS), 1);
	assert_int_equal(p.updates(), 0);
	assert_int_equal(p.get(0), 102);
	assert_int_equal(p.word(), 102);
	assert_int_equal(p.updates(), 1);
	/* A get leaves the word where it is. */
	assert_int_equal(p.run(FADD_C, 0, 1), 102);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_HITS), 2);
	assert_int_equal(p.word(), 102);
	p.flush();
	assert_int_equal(p.word(), 103);
	p.flush();
	assert_int_equal(p.updates(), 2);
	/* Lazy is not never. */
	p.run(ADD_C, 0, 1);
	assert_int_equal(p.word(), 103);
	p.b.main_loop();
	assert_int_equal(p.word(), 104);
}

/* Each operation, where the node is not lazy; and one that is may not change its mind under way. */
TEST(test_mode)
{
	LazyPair p;
	const unsigned int errors = p.b.guest_errors;

	p.b.write32(ARIES_AMO_CTL, 0);
	assert_int_equal(p.b.read(ARIES_AMO_CTL, 4), 1);
	assert_int_equal(p.b.guest_errors, errors + 1);
	p.b.write32(ARIES_AMO_FLUSH, 0);
	assert_int_equal(p.b.guest_errors, errors + 2);
	p.run(ADD_C, 0, 7);
	assert_int_equal(p.word(), 0);
	set_lazy(p.b, false);
	assert_int_equal(p.word(), 7);
	p.run(ADD_C, 0, 7);
	assert_int_equal(p.word(), 14);
	p.run(ADD_C, 8, 1);
	/* Names of the other kind are no contents. */
	set_lazy(p.b, true);
	p.run(ADD_C, 0, 7);
	assert_int_equal(p.word(), 14);
	assert_int_equal(p.get(0), 21);
	assert_int_equal(p.a.read(ARIES_AMO_CTL, 4), 0);
}

/* The 65th word drives one out, and that one's result into memory. */
TEST(test_eviction_updates)
{
	LazyPair p;

	for (uint64_t n = 0; n < 64; n++)
		p.run(ADD_C, 8 * n, n + 1);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_EVICTIONS), 0);
	for (uint64_t n = 0; n < 64; n++)
		assert_int_equal(p.word(8 * n), 0);
	p.run(ADD_C, 8 * 64, 1);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_EVICTIONS), 1);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_MISSES), 65);
	assert_int_equal(p.updates(), 1);
	assert_int_equal(p.word(0), 1);
	assert_int_equal(p.word(8), 0);
	assert_int_equal(p.run(FADD_C, 0, 1), 1);
	p.flush();
	for (uint64_t n = 0; n < 64; n++)
		assert_int_equal(p.word(8 * n), n + 1 + (n == 0));
}

/* Each of the four ways of a set is given away in its turn: four words more drive out the four that came first. */
TEST(test_ways_take_turns)
{
	constexpr uint64_t NEXT = 8 * 16; /* the next word of the same set */
	LazyPair p;

	for (uint64_t n = 0; n < 8; n++) {
		p.run(ADD_C, n * NEXT, n + 1);
		assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_EVICTIONS), n < 4 ? 0 : n - 3);
		for (uint64_t before = 0; before <= n; before++)
			assert_int_equal(p.word(before * NEXT), before + 4 <= n ? before + 1 : 0);
	}
	/* The last four are found, the first four are not. */
	for (uint64_t n = 4; n < 8; n++)
		p.run(ADD_C, n * NEXT, 1);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_HITS), 4);
	for (uint64_t n = 0; n < 4; n++)
		p.run(ADD_C, n * NEXT, 1);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_HITS), 4);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_MISSES), 12);
}

/* Puts of any kind come after the results before them, and are not overwritten later. */
TEST(test_puts)
{
	LazyPair p;
	const uint32_t half = 0xabcd;

	p.run(ADD_C, 0, 5);
	p.store(0, 1000);
	assert_int_equal(p.run(FADD_C, 0, 1), 1000);
	/* The value that memory has anyway. */
	p.store(0, 1000);
	p.flush();
	assert_int_equal(p.word(), 1000);
	/* Half of the word. */
	p.store(0, uint64_t(7) << 32);
	p.run(ADD_C, 0, 1);
	p.store(0, &half, 4);
	p.flush();
	assert_int_equal(p.word(), uint64_t(7) << 32 | half);
	/* A window store, a long line, and one that begins in the middle of a word. */
	std::vector<uint8_t> line(1000, 0x11);

	for (uint64_t n = 0; n < 64; n++)
		p.run(ADD_C, 8 * n, 2);
	p.store(4, line.data(), 500);
	p.flush();
	assert_int_equal(p.word(0), 0x1111111100000000 | (half + 2));
	assert_int_equal(p.word(8), 0x1111111111111111);
	assert_int_equal(p.word(8 * 63), 2);
	p.run(ADD_C, 16, 1);
	p.desc().offset = BASE;
	p.a.store(FMAD, 16, 8, 77);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0), ARIES_ST_OK);
	p.flush();
	assert_int_equal(p.word(16), 77);
}

/* Launched puts keep no page of a node that is lazy. */
TEST(test_launched_puts)
{
	LazyPair p;
	auto *entry = reinterpret_cast<aries_launch_entry *>(p.a.line(FMAD));
	auto launch = [&](uint64_t at, uint64_t value) {
		for (unsigned int i = 0; i < 2; i++)
			entry[i] = {(BASE + at + 8 * i) | uint64_t(1) << ARIES_LAUNCH_PE_SHIFT |
					    uint64_t(ARIES_LAUNCH_PUT8) << ARIES_LAUNCH_KIND_SHIFT,
				    value + i};
		p.desc().pe = 0;
		const uint32_t status = p.a.ring(FMAD, ARIES_FMA_LAUNCH, 2);

		p.desc().pe = 1;
		assert_int_equal(status, ARIES_ST_OK);
	};

	p.run(ADD_C, 0, 5);
	p.run(ADD_C, 8, 5);
	launch(0, 30);
	p.flush();
	assert_int_equal(p.word(0), 30);
	assert_int_equal(p.word(8), 31);
	assert_int_equal(p.run(FADD_C, 8, 1), 31);
}

/* Block transfers read and overwrite what is in the cache, at the target and at home. */
TEST(test_block_transfers)
{
	LazyPair p;
	auto move = [&](unsigned int op, FakeHost &host, unsigned int pe, unsigned int mdh, unsigned int local_mdh) {
		aries_bte_desc &d = host.slot(FMAD, 0);

		d = {};
		d.pe = pe;
		d.mdh = uint16_t(mdh);
		d.local_mdh = uint16_t(local_mdh);
		d.offset = d.local_offset = BASE;
		d.length = 4096;
		d.op = uint8_t(op);
		assert_int_equal(host.ring_bte(FMAD, 0), ARIES_ST_OK);
	};
	auto *here = reinterpret_cast<uint64_t *>(p.a.ram(p.local));

	p.b.enable_fmad(FMAD, PTAG_B, OWNER, CACHED_CTL);
	p.run(ADD_C, 64, 9);
	move(ARIES_BTE_GET, p.a, 1, MDH, LOCAL_MDH);
	assert_int_equal(here[8], 9);
	p.run(ADD_C, 64, 9);
	here[8] = 500;
	move(ARIES_BTE_PUT, p.a, 1, MDH, LOCAL_MDH);
	assert_int_equal(p.run(FADD_C, 64, 1), 500);
	/* The lazy node's own transfers: out of its memory, into it, and to bus addresses. */
	move(ARIES_BTE_PUT, p.b, 0, LOCAL_MDH, MDH);
	assert_int_equal(here[8], 501);
	p.run(ADD_C, 64, 1);
	here[8] = 700;
	move(ARIES_BTE_GET, p.b, 0, LOCAL_MDH, MDH);
	p.flush();
	assert_int_equal(p.word(64), 700);
	p.b.enable_fmad(0, PTAG_B, OWNER, ARIES_FMAD_CTL_KERNEL_MASK);
	p.run(ADD_C, 64, 1);
	aries_bte_desc &d = p.b.slot(0, 0);

	d = {};
	d.pe = 0;
	d.mdh = LOCAL_MDH;
	d.offset = BASE;
	d.local_offset = p.target;
	d.length = 4096;
	d.op = ARIES_BTE_PUT;
	d.flags = ARIES_BTE_PHYS;
	assert_int_equal(p.b.ring_bte(0, 0), ARIES_ST_OK);
	assert_int_equal(here[8], 701);
	p.run(ADD_C, 64, 1);
	here[8] = 800;
	d.op = ARIES_BTE_GET;
	assert_int_equal(p.b.ring_bte(0, 0), ARIES_ST_OK);
	p.flush();
	assert_int_equal(p.word(64), 800);
}

/* Commands that are not cached take part; so do both widths. */
TEST(test_all_commands_agree)
{
	LazyPair p;

	assert_int_equal(p.run(FADD_C, 0, 1), 0);
	assert_int_equal(p.run(FADD, 0, 1), 1);
	assert_int_equal(p.word(), 2);
	assert_int_equal(p.run(FADD_C, 0, 1), 2);
	assert_int_equal(p.run(IADD_SC, 4, 3), 0);
	assert_int_equal(p.run(FADD_C, 0, 1), uint64_t(3) << 32 | 3);
	assert_int_equal(p.run(FIADD_S, 4, 1), 3);
	assert_int_equal(p.word(), uint64_t(4) << 32 | 4);
	/* A half that is in the cache does not hold the other one back. */
	p.run(IADD_SC, 8, 1);
	const uint32_t other = 99;

	p.store(12, &other, 4);
	p.run(IADD_SC, 12, 1);
	p.flush();
	assert_int_equal(p.word(8), uint64_t(100) << 32 | 1);
}

/* Two memory domains over the same pages have one cache. */
TEST(test_aliases)
{
	LazyPair p;

	p.b.make_mdd(ALIAS, PTAG_B, p.target, BYTES, BASE);
	p.run(ADD_C, 0, 1);
	p.desc().mdh = ALIAS;
	assert_int_equal(p.run(FADD_C, 0, 1), 1);
	assert_int_equal(p.get(0), 2);
	p.run(ADD_C, 0, 1);
	p.desc().mdh = MDH;
	p.store(0, 50);
	p.desc().mdh = ALIAS;
	assert_int_equal(p.run(FADD_C, 0, 1), 50);
	p.run(ADD_C, 0, 1);
	/* The other domain goes, and memory has what was reached through it; the word stays. */
	assert_true(p.b.invalidate(MDH));
	assert_int_equal(p.word(), 52);
	assert_int_equal(p.run(FADD_C, 0, 1), 52);
	assert_true(p.b.invalidate(ALIAS));
	assert_int_equal(p.word(), 53);
}

/* N13: a processor's store between an atomic and its update is newer; one between two atomics counts. */
TEST(test_processors)
{
	LazyPair p;

	p.run(ADD_C, 0, 1);
	p.word() = 1000;
	p.flush();
	assert_int_equal(p.word(), 1000);
	p.run(ADD_C, 0, 1);
	p.word() = 2000;
	assert_int_equal(p.run(FADD_C, 0, 1), 2000);
	assert_int_equal(p.get(0), 2001);
}

} // namespace

TEST_MAIN("lazy updates")
