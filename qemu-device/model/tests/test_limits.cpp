/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a domain may have under way at once: PTAG_BTE. */
#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int OTHER = FMAD + 1, STRANGER = FMAD + 2, PTAG_C = 9;
constexpr uint64_t BIG = 6 << 20;

struct Limits : Pair {
	Limits()
	{
		const uint64_t near = a.alloc(BIG), far = b.alloc(BIG);

		a.enable_fmad(OTHER, PTAG_A, OWNER + 1);
		a.set_key(PTAG_C, KEY + 1);
		a.enable_fmad(STRANGER, PTAG_C, OWNER + 2);
		a.make_mdd(50, PTAG_A, near, BIG, BASE);
		a.make_mdd(51, PTAG_C, near, BIG, BASE);
		b.make_mdd(50, PTAG_B, far, BIG, BASE);
	}
	uint32_t put(unsigned int fmad, uint32_t length, unsigned int mode = 0, unsigned int local = 50)
	{
		aries_bte_desc &d = a.slot(fmad, 0);

		d = {};
		d.pe = 1;
		d.mdh = 50;
		d.offset = BASE;
		d.local_mdh = uint16_t(local);
		d.local_offset = BASE;
		d.length = length;
		d.cq = 20;
		d.op = ARIES_BTE_PUT;
		d.mode = uint8_t(mode);
		return a.ring_bte(fmad, 0);
	}
	void limit(uint32_t value) { a.write32(ARIES_PTAG_BTE_N(uint64_t(PTAG_A)), value); }
	void settled()
	{
		for (unsigned int fmad : {FMAD, OTHER}) {
			for (unsigned int i = 0;
			     i < 2000 && (a.read(ARIES_FMAD_STATUS_N(uint64_t(fmad)), 8) & ARIES_FMAD_STATUS_BUSY_MASK);
			     i++)
				usleep(1000);
			assert_false(a.read(ARIES_FMAD_STATUS_N(uint64_t(fmad)), 8) & ARIES_FMAD_STATUS_BUSY_MASK);
		}
	}
};

TEST(test_none_allowed)
{
	Limits p;

	p.limit(ARIES_PTAG_BTE_LIMITED_MASK);
	assert_int_equal(p.put(FMAD, 8, ARIES_EV_GLOBAL), ARIES_ST_QUEUE_FULL);
	assert_int_equal(p.put(FMAD, BIG, ARIES_EV_GLOBAL), ARIES_ST_QUEUE_FULL);
	/* Not taken: no event, nothing in the queue, nothing written; other tags do not mind. */
	assert_false(bool(p.a.next_event(20)));
	assert_int_equal(p.a.read(ARIES_FMAD_STATUS_N(uint64_t(FMAD)), 8) & ARIES_FMAD_STATUS_BUSY_MASK, 0);
	assert_int_equal(p.a.counter(ARIES_CNT_BTE_PUTS), 0);
	assert_int_equal(p.put(STRANGER, 8, 0, 51), ARIES_ST_OK);
	p.limit(1);
	assert_int_equal(p.put(FMAD, 8), ARIES_ST_OK);
	p.limit(ARIES_PTAG_BTE_LIMITED_MASK | 1);
	assert_int_equal(p.put(FMAD, 8), ARIES_ST_OK);
	assert_int_equal(p.put(FMAD, 8), ARIES_ST_OK);
}

/* All descriptors of the tag count together, waiting and running ones; each that ends makes room. */
TEST(test_together)
{
	Limits p;
	unsigned int taken = 0, refused = 0;

	p.limit(ARIES_PTAG_BTE_LIMITED_MASK | 7);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(p.put(FMAD, BIG), ARIES_ST_OK);
		taken++;
	}
	for (unsigned int i = 0; i < 20; i++) {
		const uint32_t status = p.put(OTHER, BIG);

		assert_true(status == ARIES_ST_OK || status == ARIES_ST_QUEUE_FULL);
		taken += status == ARIES_ST_OK;
		refused += status != ARIES_ST_OK;
		assert_true(p.a.read(ARIES_FMAD_STATUS_N(uint64_t(FMAD)), 8) % 2048 +
				    p.a.read(ARIES_FMAD_STATUS_N(uint64_t(OTHER)), 8) % 2048 <=
			    7);
	}
	assert_true(refused > 0);
	p.settled();
	assert_int_equal(p.a.counter(ARIES_CNT_BTE_PUTS), taken);
	for (unsigned int i = 0; i < 7; i++)
		assert_int_equal(p.put(FMAD, BIG), ARIES_ST_OK);
}

/* What is flushed by a disable or a reset does not count any more; a reset takes the limits, too. */
TEST(test_flushed)
{
	Limits p;

	p.limit(ARIES_PTAG_BTE_LIMITED_MASK | 8);
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < 8; i++)
			assert_int_equal(p.put(FMAD, BIG), ARIES_ST_OK);
		p.a.write64(ARIES_FMAD_CTL_N(uint64_t(FMAD)), 0);
		p.settled();
		p.a.enable_fmad(FMAD, PTAG_A, OWNER);
	}
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(p.put(FMAD, BIG), ARIES_ST_OK);
	aries_nic_reset(p.a.nic());
	assert_int_equal(p.a.read(ARIES_PTAG_BTE_N(uint64_t(PTAG_A)), 4), 0);
}

} // namespace

TEST_MAIN("tests")
