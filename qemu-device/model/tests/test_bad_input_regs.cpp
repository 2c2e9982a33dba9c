/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bad input to registers: every reserved bit while everything is in use, ends of arrays, sizes, values refused. */
#include "tests/bad_input.hpp"
#include "tests/register_rows.hpp"

using namespace aries_test;

namespace
{

/* Counters count the accesses of this test, the clock goes on. */
bool moves(const RegisterRow &row)
{
	return row.is("CNT_VALUE") || row.is("CLK_NOW");
}

std::vector<uint64_t> elements(const RegisterRow &row)
{
	if (row.count < 4)
		return row.count == 1 ? std::vector<uint64_t>{0} : std::vector<uint64_t>{0, row.count - 1};
	/* Those that are in use below are among them. */
	return {0, 1, FMAD, MDH % row.count, 20 % row.count, 21 % row.count, row.count / 2, row.count - 1};
}

/** A NIC with something in each of its tables. */
struct Busy : Pair {
	static constexpr unsigned int VECTOR = 3;

	Busy()
	{
		b.enable_fmad(FMAD, PTAG_B, OWNER);
		b.write64(ARIES_VMDH_CTL_N(1),
			  ARIES_VMDH_CTL_VALID_MASK | uint64_t(PTAG_B) << 8 | uint64_t(100) << 16 | uint64_t(4) << 32);
		b.write32(ARIES_NTT_ENTRY_N(1), ARIES_NTT_ENTRY_VALID_MASK | 1);
		b.write32(ARIES_NTT_REPLACE_N(1), 1 | 1 << 18);
		b.write64(ARIES_CE_CHILD_N(0), uint64_t(2) << 24);
		b.write64(ARIES_CE_CTL_N(0), ARIES_CE_CTL_ENABLE_MASK | uint64_t(PTAG_B) << 8 | uint64_t(1) << 32);
		b.write64(ARIES_CE_INST_N(1), ARIES_CE_INST_VALID_MASK | uint64_t(PTAG_B) << 32 | 77);
		b.write32(ARIES_RMT_LENGTH_N(1), 100);
		b.write64(ARIES_RMT_OFFSET_N(1), BASE);
		b.write64(ARIES_RMT_CTL_N(1), receive(1));
		b.write64(ARIES_TMR_PERIOD_N(1), 1000 * ARIES_TIMER_PERIOD_MIN);
		b.write64(ARIES_TMR_COMPARE_N(1), uint64_t(1) << 60);
		b.write32(ARIES_TMR_CTL_N(1), ARIES_TMR_CTL_ENABLE_MASK | ARIES_TMR_CTL_PERIODIC_MASK | VECTOR << 8);
		b.write32(ARIES_BI_LIMIT, 100);
		assert_int_equal(b.guest_errors, 0);
	}
	static uint64_t receive(uint64_t channel)
	{
		return ARIES_RMT_CTL_VALID_MASK | uint64_t(PTAG_B) << 8 | channel << 16 | uint64_t(MDH) << 32;
	}

	/** Everything that can be read. */
	std::vector<uint64_t> snapshot() const
	{
		std::vector<uint64_t> values;

		for (const RegisterRow &row : REGISTER_ROWS) {
			for (uint64_t i = 0; i < row.count && row.access != WO && !moves(row); i++)
				values.push_back(b.read(row.at(i), row.bytes()));
		}
		return values;
	}

	/** Writes what must be refused: counted, told, and nothing else. */
	void refused(uint64_t at, unsigned int size, uint64_t value) const
	{
		const uint64_t before = b.counter(ARIES_CNT_GUEST_ERRORS);

		aries_nic_write(b.nic(), 0, at, size, value);
		if (b.counter(ARIES_CNT_GUEST_ERRORS) - before != 1)
			fail_msg("%u bytes %#llx at %#llx must be a guest error", size,
				 static_cast<unsigned long long>(value), static_cast<unsigned long long>(at));
	}
	void refused64(uint64_t at, uint64_t value) const { refused(at, 8, value); }
	void refused32(uint64_t at, uint64_t value) const { refused(at, 4, value); }
};

/* Alone, with what the register holds, and with all that it could hold. */
TEST(test_reserved_bits)
{
	Busy p;
	const std::vector<uint64_t> before = p.snapshot();
	unsigned int bits = 0;

	for (const RegisterRow &row : REGISTER_ROWS) {
		if (row.access == RO)
			continue;
		for (uint64_t element : elements(row)) {
			const uint64_t held = row.access == WO ? 0 : p.b.read(row.at(element), row.bytes()) & row.mask;

			for (unsigned int bit = 0; bit < row.width; bit++) {
				if (row.mask >> bit & 1)
					continue;
				for (uint64_t with : {uint64_t(0), held, row.mask})
					p.refused(row.at(element), row.bytes(), with | uint64_t(1) << bit);
				bits++;
			}
		}
		if (p.snapshot() != before)
			fail_msg("reserved bits of %s have an effect", row.name);
	}
	print_message("%u reserved bits\n", bits);
	assert_true(bits > 3000);
	assert_int_equal(p.put(8), ARIES_ST_OK);
}

TEST(test_read_only)
{
	Busy p;
	const std::vector<uint64_t> before = p.snapshot();

	for (const RegisterRow &row : REGISTER_ROWS) {
		if (row.access != RO)
			continue;
		for (uint64_t element : elements(row)) {
			for (unsigned int bit = 0; bit < row.width; bit++)
				p.refused(row.at(element), row.bytes(), uint64_t(1) << bit);
			p.refused(row.at(element), row.bytes(), 0);
		}
	}
	assert_true(p.snapshot() == before);
}

/* Every size and place that is not the register's own. */
TEST(test_sizes_and_places)
{
	Busy p;
	const std::vector<uint64_t> before = p.snapshot();

	for (const RegisterRow &row : REGISTER_ROWS) {
		for (uint64_t element : elements(row)) {
			for (uint64_t skew = 0; skew < row.bytes(); skew++) {
				for (unsigned int size : {1u, 2u, 4u, 8u}) {
					/* What a wide access takes along must be of this register, too. */
					if ((size == row.bytes() && !skew) || size + skew > row.bytes())
						continue;
					p.refused(row.at(element) + skew, size, 0);
				}
			}
		}
	}
	assert_true(p.snapshot() == before);
	assert_int_equal(p.put(8), ARIES_ST_OK);
}

/* One past the end of an array is another register's place or nobody's. */
TEST(test_ends_of_arrays)
{
	Busy p;
	unsigned int free = 0;

	for (const RegisterRow &row : REGISTER_ROWS) {
		const uint64_t past = row.at(row.count);
		bool taken = past >= ARIES_BAR_REGS_SIZE;

		for (const RegisterRow &other : REGISTER_ROWS) {
			for (uint64_t i = 0; i < other.count && !taken; i++)
				taken = past + row.bytes() > other.at(i) && past < other.at(i) + other.bytes();
		}
		if (taken)
			continue;
		free++;
		p.refused(past, row.bytes(), row.mask);
		assert_int_equal(p.b.read(past, row.bytes()), row.all());
	}
	assert_true(free > 20);
	p.refused(ARIES_BAR_REGS_SIZE, 8, 1);
	assert_int_equal(p.b.read(ARIES_BAR_REGS_SIZE, 8), UINT64_MAX);
}

/* Numbers that the field can hold and the NIC does not have. */
TEST(test_values)
{
	Busy p;
	const uint64_t cq = p.b.alloc(2 * PAGE), cq_ctl = ARIES_CQ_CTL_VALID_MASK | uint64_t(OWNER) << 16;
	const uint64_t mdd = ARIES_MDD_CTL_VALID_MASK | uint64_t(PTAG_B) << 8;

	for (uint64_t vector = ARIES_MSIX_VECTORS; vector < 256; vector++) {
		p.refused32(ARIES_TEST_IRQ, vector);
		p.refused32(ARIES_TMR_CTL_N(0), vector << 8);
		p.refused32(ARIES_TMR_CTL_N(0), ARIES_TMR_CTL_ENABLE_MASK | vector << 8);
	}
	p.refused32(ARIES_TEST_DMA_SIZE, 65537);
	p.refused32(ARIES_TEST_DMA_CTRL, 0);
	p.refused32(ARIES_ERR_POP, 0);
	for (uint64_t tag : {0u, 255u})
		p.refused64(ARIES_PTAG_KEY_N(tag), ARIES_PTAG_KEY_VALID_MASK | 5);

	/* Queues: size, vector, memory, in use already. */
	p.b.write64(ARIES_CQ_BASE_N(30), cq);
	for (uint64_t log2 = 0; log2 < 32; log2++) {
		if (log2 < ARIES_CQ_LOG2_MIN || log2 > ARIES_CQ_LOG2_MAX)
			p.refused64(ARIES_CQ_CTL_N(30), cq_ctl | log2 << 8);
	}
	for (uint64_t vector = ARIES_MSIX_VECTORS; vector < 256; vector++)
		p.refused64(ARIES_CQ_CTL_N(30), cq_ctl | uint64_t(6) << 8 | vector << 32);
	for (uint64_t base :
	     {LOW_BYTES, LOW_BYTES - PAGE, HIGH_GPA - PAGE, HIGH_GPA + HIGH_BYTES - PAGE, UINT64_MAX & ~(PAGE - 1)}) {
		p.b.write64(ARIES_CQ_BASE_N(30), base);
		p.refused64(ARIES_CQ_CTL_N(30), cq_ctl | uint64_t(6) << 8);
	}
	p.refused64(ARIES_CQ_CTL_N(21), cq_ctl | uint64_t(6) << 8);
	p.refused32(ARIES_CQI_ARM, ARIES_CQ_ENTRIES);
	p.refused32(ARIES_CQI_DISARM, ARIES_CQ_ENTRIES);

	/* Memory domains. */
	p.b.write64(ARIES_MDD_LENGTH_N(70), PAGE);
	for (uint64_t shift = 0; shift < 64; shift++) {
		if (shift < 12 || shift > 36)
			p.refused64(ARIES_MDD_CTL_N(70), mdd | shift << 16);
		if (shift != 12)
			p.refused64(ARIES_MDD_CTL_N(70), mdd | ARIES_MDD_CTL_TWO_LEVEL_MASK | shift << 16);
	}
	for (uint64_t length : {uint64_t(0), uint64_t(MASK40 + 2), uint64_t(ARIES_MDD_LENGTH_LENGTH_MASK)}) {
		p.b.write64(ARIES_MDD_LENGTH_N(70), length);
		p.refused64(ARIES_MDD_CTL_N(70), mdd | uint64_t(12) << 16);
	}
	assert_int_equal(p.b.read(ARIES_MDD_CTL_N(70), 8), 0);
	p.refused64(ARIES_MDD_CTL_N(MDH), p.b.read(ARIES_MDD_CTL_N(MDH), 8));
	p.refused64(ARIES_MDD_CTL_N(MDH), 0);
	p.refused32(ARIES_INV_MDD, ARIES_MDD_ENTRIES);
	p.refused32(ARIES_INV_PTES, ARIES_MDD_ENTRIES);

	/* Virtual handles. */
	const uint64_t block = ARIES_VMDH_CTL_VALID_MASK | uint64_t(PTAG_B) << 8 | uint64_t(1) << 32;

	p.refused64(ARIES_VMDH_CTL_N(1), block);
	p.refused64(ARIES_VMDH_CTL_N(2), block & ~ARIES_VMDH_CTL_COUNT_MASK);
	p.refused64(ARIES_VMDH_CTL_N(2), block & ~ARIES_VMDH_CTL_PTAG_MASK);
	p.refused64(ARIES_VMDH_CTL_N(2), block | ARIES_VMDH_CTL_PTAG_MASK);
	for (uint64_t base = 0; base < ARIES_MDD_ENTRIES; base += 273)
		p.refused64(ARIES_VMDH_CTL_N(2),
			    (block & ~ARIES_VMDH_CTL_COUNT_MASK) | base << 16 | (ARIES_MDD_ENTRIES - base + 1) << 32);
	assert_int_equal(p.b.read(ARIES_VMDH_CTL_N(2), 8), 0);

	/* Receives and timers. */
	p.refused64(ARIES_RMT_CTL_N(1), Busy::receive(2));
	p.refused64(ARIES_RMT_CTL_N(2), Busy::receive(2)); /* no length */
	for (uint64_t period : {0u, 1u, ARIES_TIMER_PERIOD_MIN - 1}) {
		p.b.write64(ARIES_TMR_PERIOD_N(0), period);
		p.refused32(ARIES_TMR_CTL_N(0), ARIES_TMR_CTL_ENABLE_MASK | ARIES_TMR_CTL_PERIODIC_MASK);
	}
	assert_int_equal(p.b.read(ARIES_TMR_CTL_N(0), 4), 0);
	assert_int_equal(p.put(8), ARIES_ST_OK);
}

/* Collective engines: places, numbers of children, kinds, foreign and stale queues, changes under way. */
TEST(test_engines)
{
	Busy p;
	const uint64_t ctl = ARIES_CE_CTL_ENABLE_MASK | uint64_t(PTAG_B) << 8 | uint64_t(OWNER) << 16;
	const auto children = [](uint64_t count) { return count << 32; };

	for (unsigned int bit = 1; bit < 18; bit++) {
		p.refused64(ARIES_CE_PARENT_N(1), ARIES_CE_PARENT_VALID_MASK | uint64_t(1) << bit);
		p.refused64(ARIES_CE_CHILD_N(ARIES_CE_CHILDREN), uint64_t(1) << 24 | uint64_t(1) << bit);
	}
	p.refused64(ARIES_CE_CHILD_N(ARIES_CE_CHILDREN), ARIES_CE_CHILD_KIND_MASK);
	for (uint64_t child = 0; child < ARIES_CE_CHILDREN; child++)
		p.b.write64(ARIES_CE_CHILD_N(ARIES_CE_CHILDREN + child), uint64_t(2) << 24);
	p.refused64(ARIES_CE_CTL_N(1), ctl | children(0));
	for (uint64_t count = ARIES_CE_CHILDREN + 1; count < 64; count++)
		p.refused64(ARIES_CE_CTL_N(1), ctl | children(count));
	/* An element that is unused. */
	p.b.write64(ARIES_CE_CHILD_N(ARIES_CE_CHILDREN + 3), 0);
	p.refused64(ARIES_CE_CTL_N(1), ctl | children(4));
	/* A queue that is not there, another's, and one that was. */
	for (unsigned int owner : {OWNER, OWNER + 1}) {
		const uint64_t with = ctl | children(2) | ARIES_CE_CTL_CQ_VALID_MASK | uint64_t(33) << 40;

		p.refused64(ARIES_CE_CTL_N(1), with);
		p.b.make_cq(33, 6, owner + 1);
		p.refused64(ARIES_CE_CTL_N(1), with);
		p.b.write64(ARIES_CQ_CTL_N(33), 0);
		p.refused64(ARIES_CE_CTL_N(1), with);
	}
	assert_int_equal(p.b.read(ARIES_CE_CTL_N(1), 8), 0);
	/* While it is enabled. */
	p.refused64(ARIES_CE_CTL_N(0), ctl | children(1));
	p.refused64(ARIES_CE_PARENT_N(0), 0);
	for (uint64_t child = 0; child < ARIES_CE_CHILDREN; child++)
		p.refused64(ARIES_CE_CHILD_N(child), 0);
	assert_true(p.b.read(ARIES_CE_CTL_N(0), 8) & ARIES_CE_CTL_ENABLE_MASK);
}

} // namespace

TEST_MAIN("tests")
