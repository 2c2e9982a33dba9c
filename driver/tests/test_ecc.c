// SPDX-License-Identifier: GPL-2.0-only
/*
 * Settings of the administrator for errors in the NIC's memories. A setting is accepted completely
 * or not at all, and is written to the NIC.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "aries_sim.h"

unsigned int sim_warnings;
unsigned long sim_steps;
unsigned long jiffies;

static struct aries_dev ad;
static u32 limit[ARIES_RAS_MEMORY_COUNT], signal_mask;

void aries_wr32(struct aries_dev *dev, u32 reg, u32 value)
{
	unsigned int i;

	for (i = 0; i < ARIES_RAS_MEMORY_COUNT; i++)
		if (reg == ARIES_RAS_LIMIT_N(i))
			limit[i] = value;
	if (reg == ARIES_RAS_SIGNAL)
		signal_mask = value;
}

char *kstrdup(const char *text, int flags)
{
	return strdup(text);
}

void kfree(const void *p)
{
	free((void *)p);
}

int sysfs_emit_at(char *buf, int at, const char *format, ...)
{
	va_list args;
	int bytes;

	va_start(args, format);
	bytes = vsprintf(buf + at, format, args);
	va_end(args);
	return bytes;
}

/* Every memory gets the same limit. */
static void test_limit(void **state)
{
	unsigned int i;

	assert_int_equal(aries_ecc_set_limit(&ad, "3 60000\n"), 0);
	assert_int_equal(ad.ecc_limit, 3);
	assert_int_equal(ad.ecc_window_ms, 60000);
	for (i = 0; i < ARIES_RAS_MEMORY_COUNT; i++)
		assert_int_equal(limit[i], 3 | 60000u << 16);
}

static void test_wrong_limits(void **state)
{
	const char *const wrong[] = { "", "3", "x 3", "3 x", "3 4 5", "3 4x" };
	unsigned int i;

	aries_ecc_set_limit(&ad, "7 8");
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(aries_ecc_set_limit(&ad, wrong[i]), -EINVAL);
	assert_int_equal(ad.ecc_limit, 7);
	assert_int_equal(ad.ecc_window_ms, 8);
	assert_int_equal(limit[0], 7 | 8u << 16);
}

/* Each name sets its bit, and the output has the format of the input. */
static void test_signal(void **state)
{
	char all[4096], line[4096];
	unsigned int i;

	for (i = 0; i < ARIES_RAS_MEMORY_COUNT; i++) {
		snprintf(line, sizeof(line), "%s\n", aries_ecc_rows[i].name);
		assert_int_equal(aries_ecc_set_signal(&ad, line), 0);
		assert_int_equal(signal_mask, 1u << i);
		assert_int_equal(aries_ecc_show_signal(&ad, all), strlen(line));
		assert_string_equal(all, line);
	}
	assert_int_equal(aries_ecc_set_signal(&ad, "  rmt ntt "), 0);
	assert_int_equal(signal_mask, 1u << ARIES_RAS_RMT | 1u << ARIES_RAS_NTT);
	aries_ecc_show_signal(&ad, all);
	assert_string_equal(all, "ntt rmt\n");
	assert_int_equal(aries_ecc_set_signal(&ad, "ntt,rmt"), -EINVAL);
	assert_int_equal(aries_ecc_set_signal(&ad, "mdd nothing"), -EINVAL);
	assert_int_equal(signal_mask, 1u << ARIES_RAS_RMT | 1u << ARIES_RAS_NTT);
	assert_int_equal(aries_ecc_set_signal(&ad, "\n"), 0);
	assert_int_equal(signal_mask, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_wrong_limits),
		cmocka_unit_test(test_signal),
	};

	return cmocka_run_group_tests_name("ecc", tests, NULL, NULL);
}
