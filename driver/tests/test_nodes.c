// SPDX-License-Identifier: GPL-2.0-only
/* The node translation table: who has which entries, and which nodes they lead to. */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "aries_obj.h"
#include "aries_ptag.h"

#define COOKIE 0x11110000u

static struct aries_dev *ad;
static struct aries_owner launcher;

/* An entry becomes valid only when its replacement is there. */
static void written(struct aries_dev *dev, u32 reg, u64 value)
{
	const u32 nr = (reg - ARIES_NTT_ENTRY_N(0)) / 4;

	if (reg >= ARIES_NTT_ENTRY_N(0) && nr < ARIES_NTT_ENTRIES &&
	    FIELD_GET(ARIES_NTT_ENTRY_VALID_MASK, value))
		assert_int_equal(aries_rd32(dev, ARIES_NTT_REPLACE_N(nr)),
				 FIELD_PREP(ARIES_NTT_REPLACE_PE_MASK, dev->ntt[nr].replacement) |
					 FIELD_PREP(ARIES_NTT_REPLACE_SIZE_MASK, dev->ntt[nr].size));
}

static int begin(void **state)
{
	ad = sim_nic_begin();
	sim_nic.written = written;
	sim_owner_begin(ad, &launcher, 0);
	return 0;
}

static int end(void **state)
{
	sim_owner_end(&launcher);
	return sim_nic_end(ad);
}

static int set(const struct kgni_ntt_entry *entries, u32 count, u32 granularity, u32 flags, u32 *base)
{
	struct kgni_ntt arg = { .flags = flags, .count = count, .granularity = granularity,
				.base = *base, .entries = (uintptr_t)entries };
	int rc = aries_ntt(&launcher, &arg);

	*base = arg.base;
	return rc;
}

static int clear(u32 base, u32 count)
{
	struct kgni_ntt arg = { .flags = KGNI_NTT_CLEAR, .base = base, .count = count };

	return aries_ntt(&launcher, &arg);
}

static u32 valid(u32 nr)
{
	return FIELD_GET(ARIES_NTT_ENTRY_VALID_MASK, aries_rd32(ad, ARIES_NTT_ENTRY_N(nr)));
}

static struct aries_domain *job(u32 base, u32 size, u32 flags, int expected)
{
	struct kgni_job_ntt arg = { .cookie = COOKIE, .base = base, .size = size, .flags = flags };
	struct aries_domain *dom;

	mutex_lock(&ad->ptag_lock);
	dom = aries_ptag_by_cookie(ad, COOKIE) ?: aries_ptag_create(ad, ARIES_PTAG_ANY, COOKIE);
	dom->job = true;
	mutex_unlock(&ad->ptag_lock);
	assert_int_equal(aries_ntt_job(&launcher, &arg), expected);
	return dom;
}

static const struct kgni_ntt_entry four[] = {
	{ .block = 40 }, { .block = 100, .replacement = 300, .size = 2 }, { .block = 200 }, { .block = 8 }
};

static void entries(void **state)
{
	u32 base = 77, second = 0;

	assert_int_equal(set(four, 4, 8, 0, &base), 0);
	assert_int_equal(base, 0);
	assert_int_equal(valid(3), 1);
	assert_int_equal(valid(4), 0);
	assert_int_equal(aries_rd32(ad, ARIES_NTT_CONFIG), FIELD_PREP(ARIES_NTT_CONFIG_LOG2_MASK, 3u));
	/* another granularity only while the table is empty */
	assert_int_equal(set(four, 1, 4, 0, &second), -EBUSY);
	assert_int_equal(set(four, 2, 8, 0, &second), 0);
	assert_int_equal(second, 4);
	/* a hole that is large enough is found again */
	assert_int_equal(clear(1, 3), 0);
	assert_int_equal(valid(1), 0);
	assert_int_equal(clear(1, 3), -ENOENT);
	assert_int_equal(set(four, 4, 8, 0, &second), 0);
	assert_int_equal(second, 6);
	assert_int_equal(set(four, 3, 8, 0, &second), 0);
	assert_int_equal(second, 1);
	assert_int_equal(clear(U32_MAX, U32_MAX), 0);
	assert_true(bitmap_empty(ad->ntt_map, ARIES_NTT_ENTRIES));
}

static void what_is_refused(void **state)
{
	static struct kgni_ntt_entry many[ARIES_NTT_ENTRIES + 1];
	const struct kgni_ntt_entry large = { .size = 9 }, far = { .block = 1u << ARIES_PE_BITS };
	u32 base = 0;

	assert_int_equal(set(four, 1, 3, 0, &base), -EINVAL);
	assert_int_equal(set(four, 1, 256, 0, &base), -EINVAL);
	assert_int_equal(set(four, 0, 8, 0, &base), -EINVAL);
	assert_int_equal(set(&large, 1, 8, 0, &base), -EINVAL);
	assert_int_equal(set(&far, 1, 8, 0, &base), -EINVAL);
	assert_int_equal(set(four, 1, 8, KGNI_NTT_CHANGE, &base), -ENOENT);
	assert_int_equal(set(many, ARIES_NTT_ENTRIES + 1, 8, 0, &base), -ENOSPC);
	assert_int_equal(set(many, ARIES_NTT_ENTRIES, 8, 0, &base), 0);
	assert_int_equal(set(four, 1, 8, 0, &base), -ENOSPC);
	sim_fail_in = 1;
	assert_int_equal(set(four, 1, 8, KGNI_NTT_CHANGE, &base), -ENOMEM);
	sim_privileged = false;
	assert_int_equal(set(four, 1, 8, KGNI_NTT_CHANGE, &base), -EPERM);
	assert_int_equal(clear(0, 1), -EPERM);
	assert_int_equal(ad->ntt[0].block, 0);
}

/* There and back again, replaced nodes included; and nothing outside of the domain's part. */
static void addresses(void **state)
{
	struct aries_domain *dom;
	u32 base = 0, i, node, pe;

	assert_int_equal(set(four, 1, 8, 0, &base), 0);
	assert_int_equal(set(four, 4, 8, 0, &base), 0);
	dom = job(base, 4, 0, 0);
	for (i = 0; i < 32; i++) {
		const u32 in = i % 8, last = i / 8 == 1 && in >= 6;

		assert_int_equal(aries_ntt_physical(ad, dom, i, &node), 0);
		assert_int_equal(node, last ? 300 + in - 6 : four[i / 8].block + in);
		assert_int_equal(aries_ntt_virtual(ad, dom, node, &pe), 0);
		assert_int_equal(pe, i);
	}
	assert_int_equal(aries_ntt_physical(ad, dom, 32, &node), -ENXIO);
	assert_int_equal(aries_ntt_virtual(ad, dom, 106, &pe), -ENXIO);
	assert_int_equal(aries_ntt_virtual(ad, dom, 48, &pe), -ENXIO);
	/* a node that the machine does not have */
	ad->nodes = 301;
	assert_int_equal(aries_ntt_physical(ad, dom, 15, &node), -ENXIO);
	assert_int_equal(aries_ntt_physical(ad, dom, 14, &node), 0);
	dom->ntt_size = 0;
	assert_int_equal(aries_ntt_physical(ad, dom, 300, &node), 0);
	assert_int_equal(node, 300);
	assert_int_equal(aries_ntt_physical(ad, dom, 301, &node), -ENXIO);
}

static void an_owner_asks(void **state)
{
	struct aries_owner own;
	u32 base = 0, node;

	assert_int_equal(set(four, 4, 8, 0, &base), 0);
	job(base, 4, 0, 0);
	assert_int_equal(aries_owner_node(&launcher, 9, &node), 0);
	assert_int_equal(node, 9);
	assert_int_equal(aries_owner_pe(&launcher, 9), 9);
	sim_owner_begin(ad, &own, COOKIE);
	assert_int_equal(aries_owner_node(&own, 9, &node), 0);
	assert_int_equal(node, 101);
	assert_int_equal(aries_owner_pe(&own, 101), 9);
	assert_int_equal(aries_owner_node(&own, 32, &node), -EINVAL);
	assert_int_equal(aries_owner_pe(&own, 7), KGNI_NO_PE);
	sim_owner_end(&own);
}

/* Entries that a domain uses stay, and end with it if that is wanted. */
static void entries_of_a_job(void **state)
{
	u32 base = 0;
	struct aries_domain *dom;

	assert_int_equal(set(four, 4, 8, 0, &base), 0);
	job(2, 3, 0, -ENOENT);
	dom = job(1, 2, KGNI_JOB_NTT_CLEANUP, 0);
	job(1, 2, KGNI_JOB_NTT_CLEANUP, 0);
	job(0, 2, KGNI_JOB_NTT_CLEANUP, -EOPNOTSUPP);
	assert_int_equal(clear(2, 1), -EBUSY);
	assert_int_equal(clear(U32_MAX, U32_MAX), 0);
	assert_int_equal(valid(0) + valid(3), 0);
	assert_int_equal(valid(1) + valid(2), 2);
	base = 2;
	assert_int_equal(set(four, 1, 8, KGNI_NTT_CHANGE, &base), 0);
	assert_int_equal(ad->ntt[2].block, 40);
	mutex_lock(&ad->ptag_lock);
	aries_ptag_remove(ad, dom);
	mutex_unlock(&ad->ptag_lock);
	assert_int_equal(valid(1) + valid(2), 0);
	assert_true(bitmap_empty(ad->ntt_map, ARIES_NTT_ENTRIES));
}

static void processes_are_attached(void **state)
{
	struct aries_owner own;
	u32 base = 0;

	assert_int_equal(set(four, 4, 8, 0, &base), 0);
	sim_owner_begin(ad, &own, COOKIE);
	job(0, 2, 0, -EBUSY);
	sim_owner_end(&own);
	job(0, 2, 0, 0);
}

static void after_a_reset(void **state)
{
	u32 base = 0;

	assert_int_equal(set(four, 4, 8, 0, &base), 0);
	assert_int_equal(clear(2, 1), 0);
	memset(sim_nic.registers, 0, sizeof(sim_nic.registers));
	aries_ntt_restore(ad);
	assert_int_equal(valid(0) + valid(1) + valid(3), 3);
	assert_int_equal(valid(2), 0);
	assert_int_equal(aries_rd32(ad, ARIES_NTT_CONFIG), FIELD_PREP(ARIES_NTT_CONFIG_LOG2_MASK, 3u));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(entries, begin, end),
		cmocka_unit_test_setup_teardown(what_is_refused, begin, end),
		cmocka_unit_test_setup_teardown(addresses, begin, end),
		cmocka_unit_test_setup_teardown(an_owner_asks, begin, end),
		cmocka_unit_test_setup_teardown(entries_of_a_job, begin, end),
		cmocka_unit_test_setup_teardown(processes_are_attached, begin, end),
		cmocka_unit_test_setup_teardown(after_a_reset, begin, end),
	};

	return cmocka_run_group_tests_name("nodes", tests, NULL, NULL);
}
