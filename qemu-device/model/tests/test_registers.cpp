/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The register table against the model: reset values, access kinds, reserved bits; the self-test block; reset; INV. */
#include <random>

#include "tests/pair.hpp"
#include "tests/register_rows.hpp"

using namespace aries_test;

namespace
{

TEST(test_table)
{
	FakeHost host(fabric_path(), 0);

	for (const RegisterRow &row : REGISTER_ROWS) {
		for (uint64_t i : {uint64_t(0), row.count - 1}) {
			const uint64_t at = row.at(i);
			const unsigned int size = row.bytes();
			const uint64_t all = row.all();

			if (row.access == RW && !row.starts("CTL_"))
				assert_int_equal(host.read(at, size), row.reset);
			if (row.access == WO)
				assert_int_equal(host.read(at, size), 0);
			/* Read only, or reserved bits set: refused without effect. */
			const uint64_t before = host.counter(ARIES_CNT_GUEST_ERRORS);
			const uint64_t value = row.access == WO ? 0 : host.read(at, size);
			unsigned int errors = 0;

			if (row.access == RO) {
				aries_nic_write(host.nic(), 0, at, size, value);
				errors++;
			}
			if (all & ~row.mask) {
				aries_nic_write(host.nic(), 0, at, size, all & ~row.mask);
				errors++;
			}
			aries_nic_write(host.nic(), 0, at, size == 4 ? 8 : 4, 0);
			aries_nic_write(host.nic(), 0, at, 1, 0);
			assert_int_equal(host.counter(ARIES_CNT_GUEST_ERRORS) - before, errors + 2);
			if (row.access != WO && !row.starts("CNT_") && !row.starts("CLK_NOW"))
				assert_int_equal(host.read(at, size), value);
		}
	}
}

/* What keeps any value reads back, and element 1 is not element 0. */
TEST(test_storage)
{
	/* One that has everything: what a NIC does not have cannot be enabled. */
	FakeHost host(fabric_path(), 0, {.polled = true});
	std::mt19937_64 random(1);

	for (const RegisterRow &row : REGISTER_ROWS) {
		/* Places in a tree must exist: test_ce.cpp; vectors, too: test_timer.cpp, test_nodes.cpp. */
		if (row.access != RW || row.starts("CTL_") || row.starts("TEST_") || row.starts("CE_PARENT") ||
		    row.starts("CE_CHILD") || row.starts("TMR_CTL") || row.starts("NODE_CTL") || row.starts("QSC_CTL"))
			continue;
		const unsigned int size = row.bytes();
		std::vector<uint64_t> values;

		for (uint64_t i = 0; i < row.count; i++) {
			uint64_t value = random() & row.mask;

			/* Without the bit that takes the value into use. */
			if (strstr(row.name, "_CTL"))
				value &= ~uint64_t(1);
			if (row.starts("PTAG_"))
				value &= ~ARIES_PTAG_KEY_VALID_MASK;
			values.push_back(value);
			aries_nic_write(host.nic(), 0, row.at(i), size, value);
		}
		for (uint64_t i = 0; i < row.count; i++) {
			const uint64_t at = row.at(i);

			assert_int_equal(host.read(at, size), values[i]);
			if (size == 8) {
				assert_int_equal(host.read(at, 4), values[i] & UINT32_MAX);
				assert_int_equal(host.read(at + 4, 4), values[i] >> 32);
			}
		}
	}
	assert_int_equal(host.guest_errors, 0);
	aries_nic_reset(host.nic());
	for (const RegisterRow &row : REGISTER_ROWS) {
		for (uint64_t i = 0; row.access == RW && i < row.count; i++)
			assert_int_equal(host.read(row.at(i), row.bytes()), row.reset);
	}
}

TEST(test_identity)
{
	FakeHost host(fabric_path(), 1);

	assert_int_equal(host.read(ARIES_ID_MAGIC, 4), ARIES_ID_MAGIC_VALUE);
	assert_int_equal(host.read(ARIES_ID_VERSION, 4), ARIES_ID_VERSION_VALUE);
	assert_int_equal(host.read(ARIES_ID_PE, 4), 1);
	assert_int_equal(host.read(ARIES_ID_NODES, 4), 2);
	assert_int_equal(host.read(ARIES_ID_FMA, 4), 128);
	assert_int_equal(host.read(ARIES_ID_MDD, 4), 4096);
	assert_int_equal(host.read(ARIES_ID_BTE, 4) & 0xff, 4);
	assert_int_equal(host.read(ARIES_CTL_STATUS, 4), ARIES_CTL_STATUS_LINK_MASK | ARIES_CTL_STATUS_ENABLED_MASK);
}

/* Memory of the host that the NIC was not told of: the driver gets an event for it, and sees it after a reset, too. */
TEST(test_memory_out_of_reach)
{
	constexpr uint64_t FROM = uint64_t(1) << 40;
	FakeHost host(fabric_path(), 0);
	const auto partial = [&host] { return host.read(ARIES_CTL_STATUS, 4) & ARIES_CTL_STATUS_PARTIAL_MASK; };
	const auto waiting = [&host] { return host.read(ARIES_ERR_COUNT, 4); };

	assert_int_equal(partial(), 0);
	aries_nic_set_ram_left_out(host.nic(), ARIES_RAM_ALL);
	assert_int_equal(waiting(), 0);
	for (int i = 0; i < 2; i++) { /* told twice, an event once */
		aries_nic_set_ram_left_out(host.nic(), FROM);
		assert_int_not_equal(partial(), 0);
		assert_int_equal(waiting(), 1);
	}
	assert_int_equal(host.read(ARIES_ERR_EVENT, 8) & 0xffffff, ARIES_RAS_REACH | 0x08 << 16);
	assert_int_equal(host.read(ARIES_ERR_INFO_N(1), 8), FROM);
	aries_nic_set_ram_left_out(host.nic(), FROM / 2);
	assert_int_equal(waiting(), 2);
	aries_nic_reset(host.nic());
	assert_int_not_equal(partial(), 0);
	aries_nic_set_ram_left_out(host.nic(), ARIES_RAM_ALL);
	assert_int_equal(partial(), 0);
	assert_int_equal(waiting(), 0);
}

TEST(test_self_test)
{
	FakeHost host(fabric_path(), 0);

	host.write32(ARIES_TEST_REG32, 0x80000001);
	assert_int_equal(host.read(ARIES_TEST_REG32, 4), 2);
	host.write64(ARIES_TEST_REG64, 0x8000000080000001);
	assert_int_equal(host.read(ARIES_TEST_REG64, 8), 0x100000002);
	host.write32(ARIES_TEST_IRQ, 5);
	assert_int_equal(host.irqs[5], 1);
	host.write32(ARIES_TEST_IRQ, 16);
	assert_int_equal(host.guest_errors, 1);

	const uint64_t buffer = host.alloc(PAGE);

	host.write64(ARIES_TEST_DMA_ADDR, buffer + 3);
	host.write32(ARIES_TEST_DMA_SIZE, 100);
	host.write32(ARIES_TEST_DMA_CTRL, 1);
	assert_int_equal(host.irqs[0], 1);
	assert_int_equal(host.read(ARIES_TEST_DMA_STATUS, 4), 0);
	assert_int_equal(*host.ram(buffer + 2), 0);
	assert_int_equal(*host.ram(buffer + 3), 0x96);
	assert_int_equal(*host.ram(buffer + 102), 0x96);
	assert_int_equal(*host.ram(buffer + 103), 0);
	host.write32(ARIES_TEST_DMA_CTRL, 3);
	assert_int_equal(*host.ram(buffer + 50), 0x69);
	host.write32(ARIES_TEST_DMA_CTRL, 2);
	assert_int_equal(*host.ram(buffer + 50), 0);
	host.write64(ARIES_TEST_DMA_ADDR, LOW_BYTES - 50);
	host.write32(ARIES_TEST_DMA_CTRL, 1);
	assert_int_equal(host.read(ARIES_TEST_DMA_STATUS, 4), ARIES_ST_TRANSLATION);
	aries_nic_set_bus_master(host.nic(), false);
	host.write32(ARIES_TEST_DMA_CTRL, 1);
	assert_int_equal(host.read(ARIES_TEST_DMA_STATUS, 4), ARIES_ST_DISABLED);
}

TEST(test_reset_revokes)
{
	Pair p;
	const uint64_t generation = p.b.read(ARIES_CTL_GENERATION, 4);

	assert_int_equal(p.put(8), 0);
	aries_nic_reset(p.b.nic());
	assert_int_equal(p.b.read(ARIES_CTL_GENERATION, 4), generation + 1);
	assert_int_equal(p.put(8), ARIES_ST_TIMEOUT);
	p.b.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
	p.b.set_key(PTAG_B, KEY);
	assert_int_equal(p.put(8), ARIES_ST_MDD);
	p.b.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_RESET_MASK);
	assert_int_equal(p.b.read(ARIES_CTL_CONTROL, 4), 0);
	assert_int_equal(p.b.counter(ARIES_CNT_RX_REFUSED), 0);
}

TEST(test_descriptor_rules)
{
	Pair p;
	const uint64_t ctl = p.b.read(ARIES_MDD_CTL_N(MDH), 8);

	/* VALID goes only through INV_MDD, and a valid descriptor is not written over. */
	p.b.write64(ARIES_MDD_CTL_N(MDH), 0);
	assert_int_equal(p.b.read(ARIES_MDD_CTL_N(MDH), 8), ctl);
	p.b.write64(ARIES_MDD_CTL_N(MDH), ctl | ARIES_MDD_CTL_READ_ONLY_MASK);
	assert_int_equal(p.b.read(ARIES_MDD_CTL_N(MDH), 8), ctl);
	/* New values of the others wait for the next VALID. */
	p.b.write64(ARIES_MDD_LENGTH_N(MDH), 1);
	assert_int_equal(p.put(8), 0);
	for (unsigned int shift : {0u, 11u, 37u, 63u}) {
		p.b.write64(ARIES_MDD_LENGTH_N(77), PAGE);
		p.b.write64(ARIES_MDD_CTL_N(77), ARIES_MDD_CTL_VALID_MASK | uint64_t(shift) << 16);
		assert_int_equal(p.b.read(ARIES_MDD_CTL_N(77), 8), 0);
	}
	p.b.write64(ARIES_MDD_LENGTH_N(77), 0);
	p.b.write64(ARIES_MDD_CTL_N(77), ARIES_MDD_CTL_VALID_MASK | uint64_t(12) << 16);
	assert_int_equal(p.b.read(ARIES_MDD_CTL_N(77), 8), 0);
	/* Tags 0 and 255 never get a key. */
	for (unsigned int tag : {0u, 255u}) {
		p.b.set_key(tag, KEY);
		assert_int_equal(p.b.read(ARIES_PTAG_KEY_N(uint64_t(tag)), 8), 0);
	}
	assert_true(p.b.invalidate(MDH));
	assert_int_equal(p.b.read(ARIES_MDD_CTL_N(MDH), 8), 0);
}

TEST(test_unknown_places)
{
	FakeHost host(fabric_path(), 0);

	assert_int_equal(host.read(0x300, 4), UINT32_MAX);
	assert_int_equal(host.read(0x300, 8), UINT64_MAX);
	assert_int_equal(host.read(ARIES_ID_MAGIC + 1, 1), 0xff);
	assert_int_equal(host.read(uint64_t(1) << 40, 4), UINT32_MAX);
	host.write32(0x300, 1);
	host.write32(0xfffffffffffffffc, 1);
	assert_int_equal(aries_nic_read(host.nic(), 3, 0, 4), UINT32_MAX);
	assert_int_equal(aries_nic_read(host.nic(), 2, ARIES_FMA_DOORBELL, 8), 0);
	assert_int_equal(aries_nic_read(host.nic(), 2, ARIES_BAR_FMA_SIZE, 8), UINT64_MAX);
	aries_nic_write(host.nic(), 2, ARIES_BAR_FMA_SIZE, 8, 0);
	aries_nic_write(host.nic(), 7, 0, 3, 0);
	assert_int_equal(host.counter(ARIES_CNT_GUEST_ERRORS), 6);
}

} // namespace

TEST_MAIN("tests")
