// SPDX-License-Identifier: GPL-2.0-only
/*
 * A NIC that reports other properties after a reset is refused, because tables were allocated and
 * numbers given out for the properties that it reported at probe.
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "aries_sim.h"

unsigned int sim_warnings;
unsigned long sim_steps;
unsigned long jiffies;

static u64 block[ARIES_BAR_REGS_SIZE / sizeof(u64)];
static struct pci_dev pdev;

void writeq(u64 value, void *at)
{
	*(volatile u64 *)at = value;
}

static void reg32(u32 reg, u32 value)
{
	memcpy((u8 *)block + reg, &value, sizeof(value));
}

static void reg64(u32 reg, u64 value)
{
	memcpy((u8 *)block + reg, &value, sizeof(value));
}

/* Node 3 of 8, with small limits. */
static void fill(void)
{
	memset(block, 0, sizeof(block));
	reg32(ARIES_ID_MAGIC, ARIES_ID_MAGIC_VALUE);
	reg32(ARIES_ID_VERSION, ARIES_ID_VERSION_VALUE);
	reg32(ARIES_ID_PE, FIELD_PREP(ARIES_ID_PE_PE_MASK, 3));
	reg32(ARIES_ID_NODES, 8);
	reg32(ARIES_ID_FMA, 16);
	reg32(ARIES_ID_MDD, 64);
	reg32(ARIES_ID_CQ, 32);
	reg32(ARIES_ID_BTE, FIELD_PREP(ARIES_ID_BTE_QUEUE_MASK, 4));
	reg64(ARIES_ID_CAPS, 0x100000001);
}

/* A device as after probe, with the properties from fill(). */
static struct aries_dev probed(void)
{
	struct aries_dev ad = { .pdev = &pdev, .regs = (u8 *)block, .hw_ok = true };

	fill();
	sim_warnings = 0;
	assert_int_equal(aries_hw_identify(&ad), 0);
	assert_int_equal(ad.pe, 3);
	assert_int_equal(ad.nodes, 8);
	assert_int_equal(ad.nfma, 16);
	assert_int_equal(ad.nmdd, 64);
	assert_int_equal(ad.ncq, 32);
	assert_int_equal(ad.bte_queue, 4);
	assert_int_equal(ad.caps, 0x100000001);
	return ad;
}

static void the_same_again(void **state)
{
	struct aries_dev ad = probed();

	(void)state;
	assert_int_equal(aries_hw_identify(&ad), 0);
	assert_int_equal(sim_warnings, 0);
}

/* Larger limits are refused as well as smaller ones, because the tables have no space for them. */
static void another_one(void **state)
{
	static const struct {
		u32 reg;
		u64 value;
		bool wide;
	} changes[] = {
		{ ARIES_ID_PE, 2, false },	  { ARIES_ID_NODES, 9, false },
		{ ARIES_ID_FMA, 15, false },	  { ARIES_ID_FMA, 17, false },
		{ ARIES_ID_MDD, 128, false },	  { ARIES_ID_CQ, 33, false },
		{ ARIES_ID_BTE, 8, false },	  { ARIES_ID_CAPS, 0x100000003, true },
		{ ARIES_ID_CAPS, 1, true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		struct aries_dev ad = probed(), before = ad;

		if (changes[i].wide)
			reg64(changes[i].reg, changes[i].value);
		else
			reg32(changes[i].reg, (u32)changes[i].value);
		assert_int_equal(aries_hw_identify(&ad), -ENODEV);
		assert_int_equal(sim_warnings, 1);
		/* numbers given out before are still checked against the old limits */
		assert_memory_equal(&ad, &before, sizeof(ad));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_again),
		cmocka_unit_test(another_one),
	};

	return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
