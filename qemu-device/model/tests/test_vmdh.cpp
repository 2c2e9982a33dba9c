/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Virtual memory domain handles (N04): one handle on all nodes, each with its own descriptors behind it. */
#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

constexpr uint64_t entry(unsigned int ptag, unsigned int base, unsigned int count)
{
	return ARIES_VMDH_CTL_VALID_MASK | uint64_t(ptag) << 8 | uint64_t(base) << 16 | uint64_t(count) << 32;
}

/** Both nodes have a block of four, in different places; index 2 is a region on each. */
struct Virtual : Pair {
	static constexpr unsigned int BASE_A = 300, BASE_B = 1000, INDEX = 2;
	uint64_t there, here;

	Virtual()
	{
		there = b.alloc(PAGE);
		here = a.alloc(PAGE);
		b.make_mdd(BASE_B + INDEX, PTAG_B, there, PAGE, BASE, ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(21) << 24);
		a.make_mdd(BASE_A + INDEX, PTAG_A, here, PAGE, BASE);
		b.write64(ARIES_VMDH_CTL_N(7), entry(PTAG_B, BASE_B, 4));
		a.write64(ARIES_VMDH_CTL_N(0), entry(PTAG_A, BASE_A, 4));
		desc().mdh = ARIES_MDH_VIRTUAL | INDEX;
		desc().local_mdh = ARIES_MDH_VIRTUAL | INDEX;
		desc().offset = BASE;
		desc().local_offset = BASE;
	}
	uint64_t &far_word() { return *reinterpret_cast<uint64_t *>(b.ram(there)); }
	uint64_t &near_word() { return *reinterpret_cast<uint64_t *>(a.ram(here)); }
	uint32_t put_value(uint64_t value)
	{
		*reinterpret_cast<uint64_t *>(a.line(FMAD)) = value;
		return put(8);
	}
};

TEST(test_same_handle_everywhere)
{
	Virtual p;

	assert_int_equal(p.put_value(0x11), ARIES_ST_OK);
	assert_int_equal(p.far_word(), 0x11);
	assert_int_equal(p.b.counter(ARIES_CNT_VMDH_HITS), 1);
	p.far_word() = 0x22;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_OK);
	assert_int_equal(p.near_word(), 0x22);
	assert_int_equal(p.a.counter(ARIES_CNT_VMDH_HITS), 1);
	assert_int_equal(p.amo(0x008, 3), ARIES_ST_OK);
	assert_int_equal(p.far_word(), 0x25);
	p.desc().operand[0] = 0x777;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CQWRITE, 0), ARIES_ST_OK);
	assert_int_equal(p.b.next_event(21).word & ARIES_CQE_WRITE_MASK, 0x777);
	/* To itself: there the same handle means its own region. */
	p.desc().pe = 0;
	assert_int_equal(p.put_value(0x33), ARIES_ST_OK);
	assert_int_equal(p.near_word(), 0x33);
	constexpr unsigned int HANDLE = ARIES_MDH_VIRTUAL | Virtual::INDEX;

	p.a.slot(FMAD, 0) = block_transfer(ARIES_BTE_PUT, HANDLE, HANDLE, 8, 0);
	assert_int_equal(p.a.ring_bte(FMAD, 0), ARIES_ST_OK);
	assert_int_equal(p.far_word(), 0x33);
}

TEST(test_misses)
{
	Virtual p;
	const uint64_t misses = p.b.counter(ARIES_CNT_VMDH_MISSES);

	/* Outside of the block, though the descriptor that would come next is one of the same domain. */
	p.b.make_mdd(Virtual::BASE_B + 4, PTAG_B, p.there, PAGE, BASE);
	p.a.make_mdd(Virtual::BASE_A + 4, PTAG_A, p.here, PAGE, BASE);
	p.desc().mdh = ARIES_MDH_VIRTUAL | 4;
	assert_int_equal(p.put_value(1), ARIES_ST_MDD);
	assert_int_equal(p.b.counter(ARIES_CNT_VMDH_MISSES) - misses, 1);
	p.desc().mdh = ARIES_MDH_VIRTUAL | Virtual::INDEX;
	p.desc().local_mdh = ARIES_MDH_VIRTUAL | 4;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_LOCAL_MDD);
	p.desc().local_mdh = ARIES_MDH_VIRTUAL | Virtual::INDEX;
	p.desc().mdh = ARIES_MDH_VIRTUAL | 1; /* not registered */
	assert_int_equal(p.put_value(1), ARIES_ST_MDD);
	assert_int_equal(p.b.counter(ARIES_CNT_VMDH_MISSES) - misses, 1);
	for (unsigned int bit : {0x1000u, 0x2000u, 0x4000u, 0x9000u}) {
		p.desc().mdh = uint16_t(bit | Virtual::INDEX);
		assert_int_equal(p.put_value(1), ARIES_ST_RESERVED);
	}
	/* Another domain's packet does not match, and a real handle is as before. */
	p.desc().mdh = ARIES_MDH_VIRTUAL | Virtual::INDEX;
	p.a.set_key(PTAG_A, KEY + 1);
	assert_int_equal(p.put_value(1), ARIES_ST_MDD);
	p.a.set_key(PTAG_A, KEY);
	p.desc().mdh = Virtual::BASE_B + Virtual::INDEX;
	assert_int_equal(p.put_value(2), ARIES_ST_OK);
	assert_int_equal(p.far_word(), 2);
	p.desc().local_mdh = ARIES_MDH_VIRTUAL | 3;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_LOCAL_MDD);
	/* Bounds are those of the descriptor behind it. */
	p.desc().mdh = ARIES_MDH_VIRTUAL | Virtual::INDEX;
	p.desc().offset = BASE + PAGE;
	assert_int_equal(p.put_value(1), ARIES_ST_BOUNDS);
}

/** A block that points at another domain's descriptors opens nothing. */
TEST(test_foreign_block)
{
	Virtual p;

	p.b.set_key(PTAG_B + 1, KEY + 7);
	p.b.make_mdd(2000, PTAG_B + 1, p.b.alloc(PAGE), PAGE, BASE);
	p.b.write64(ARIES_VMDH_CTL_N(7), 0);
	while (p.b.read(ARIES_INV_STATUS, 4))
		;
	assert_int_equal(p.put_value(1), ARIES_ST_MDD);
	p.b.write64(ARIES_VMDH_CTL_N(8), entry(PTAG_B, 2000 - Virtual::INDEX, 4));
	assert_int_equal(p.put_value(1), ARIES_ST_PTAG);
}

TEST(test_rules)
{
	Virtual p;
	const uint64_t valid = p.b.read(ARIES_VMDH_CTL_N(7), 8);

	/* Over a valid entry, beyond the table, an empty block, tags that never are. */
	p.b.write64(ARIES_VMDH_CTL_N(7), entry(PTAG_B, 5, 1));
	assert_int_equal(p.b.read(ARIES_VMDH_CTL_N(7), 8), valid);
	for (uint64_t bad :
	     {entry(PTAG_B, 4095, 2), entry(PTAG_B, 0, 4097), entry(PTAG_B, 5, 0), entry(0, 5, 1), entry(255, 5, 1)}) {
		p.b.write64(ARIES_VMDH_CTL_N(9), bad);
		assert_int_equal(p.b.read(ARIES_VMDH_CTL_N(9), 8), 0);
	}
	assert_int_equal(p.b.guest_errors, 6);
	p.b.write64(ARIES_VMDH_CTL_N(9), entry(254, 0, 4096));
	assert_int_equal(p.b.guest_errors, 6);
	aries_nic_reset(p.b.nic());
	assert_int_equal(p.b.read(ARIES_VMDH_CTL_N(7), 8), 0);
	assert_int_equal(p.b.counter(ARIES_CNT_VMDH_HITS), 0);
}

} // namespace

TEST_MAIN("tests")
