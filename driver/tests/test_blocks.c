// SPDX-License-Identifier: GPL-2.0-only
/* Blocks of memory domains for virtual handles: who shares them, and when their numbers are free. */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "aries_obj.h"

#define COOKIE 0x11110000u
#define ENTRIES 4

static struct aries_dev *ad;
static struct aries_owner one, two;

static int begin(void **state)
{
	ad = sim_nic_begin();
	sim_owner_begin(ad, &one, COOKIE);
	sim_owner_begin(ad, &two, COOKIE);
	return 0;
}

static int end(void **state)
{
	sim_owner_end(&two);
	sim_owner_end(&one);
	assert_int_equal(aries_pool_used(&ad->mdds), 0);
	return sim_nic_end(ad);
}

static int reserve(struct aries_owner *own, u32 entries)
{
	struct kgni_mdd_block arg = { .entries = entries };

	return aries_vmdh_block(own, &arg);
}

static int take(struct aries_owner *own, u32 *place, struct aries_block **block)
{
	int rc;

	mutex_lock(&own->lock);
	rc = aries_vmdh_get(own, place, block);
	mutex_unlock(&own->lock);
	return rc;
}

static void leave(struct aries_owner *own)
{
	LIST_HEAD(gone);

	down_read(&ad->state_sem);
	mutex_lock(&own->lock);
	aries_vmdh_leave(own, &gone);
	aries_owner_exit_free(own, &gone);
}

static u64 ctl(unsigned int entry)
{
	return aries_rd64(ad, ARIES_VMDH_CTL_N(entry));
}

static void shared(void **state)
{
	const struct aries_domain *dom = one.dom;

	assert_int_equal(reserve(&one, 0), -EINVAL);
	assert_int_equal(reserve(&one, ENTRIES), 0);
	assert_int_equal(ctl(0), FIELD_PREP(ARIES_VMDH_CTL_VALID_MASK, 1ull) |
					 FIELD_PREP(ARIES_VMDH_CTL_PTAG_MASK, (u64)dom->ptag) |
					 FIELD_PREP(ARIES_VMDH_CTL_BASE_MASK, 1ull) |
					 FIELD_PREP(ARIES_VMDH_CTL_COUNT_MASK, (u64)ENTRIES));
	assert_int_equal(reserve(&one, ENTRIES), -EBUSY);
	assert_int_equal(reserve(&two, ENTRIES + 1), -ENOSPC);
	assert_int_equal(reserve(&two, ENTRIES - 1), 0);
	/* charged as a whole and once */
	assert_int_equal(dom->used[ARIES_RES_MDD], ENTRIES);
	leave(&one);
	assert_int_not_equal(ctl(0), 0);
	leave(&one);
	leave(&two);
	assert_int_equal(ctl(0), 0);
	assert_int_equal(dom->used[ARIES_RES_MDD], 0);
}

static void refused(void **state)
{
	struct aries_domain *dom = one.dom;

	dom->limit[ARIES_RES_MDD] = ENTRIES - 1;
	assert_int_equal(reserve(&one, ENTRIES), -ENOSPC);
	dom->limit[ARIES_RES_MDD] = 100;
	assert_int_equal(reserve(&one, aries_pool_total(&ad->mdds) + 1), -ENOSPC);
	sim_fail_in = 1;
	assert_int_equal(reserve(&one, ENTRIES), -ENOMEM);
	assert_int_equal(dom->used[ARIES_RES_MDD], 0);
	assert_int_equal(ctl(0), 0);
	assert_null(dom->block);
}

/* Each domain has an entry of the NIC, as long as there are any. */
static void each_domain_has_one(void **state)
{
	struct aries_owner other;

	assert_int_equal(reserve(&one, 1), 0);
	sim_owner_begin(ad, &other, COOKIE + 1);
	assert_int_equal(reserve(&other, 1), 0);
	assert_int_equal(FIELD_GET(ARIES_VMDH_CTL_PTAG_MASK, ctl(1)), other.dom->ptag);
	leave(&one);
	assert_int_equal(ctl(0), 0);
	assert_int_equal(reserve(&two, 1), 0);
	assert_int_equal(FIELD_GET(ARIES_VMDH_CTL_PTAG_MASK, ctl(0)), two.dom->ptag);
	leave(&two);
	leave(&other);
	sim_owner_end(&other);
}

static void places(void **state)
{
	struct aries_block *block = NULL;
	u32 place = 2;
	int i, base;

	assert_int_equal(take(&one, &place, &block), -ENOENT);
	assert_int_equal(reserve(&one, ENTRIES), 0);
	assert_int_equal(take(&two, &place, &block), -ENOENT);
	assert_int_equal(reserve(&two, ENTRIES), 0);
	base = take(&one, &place, &block) - 2;
	assert_int_equal(base, 1);
	assert_int_equal(take(&two, &place, &block), -EBUSY);
	place = ENTRIES;
	assert_int_equal(take(&two, &place, &block), -ENOENT);
	for (i = 0; i < ENTRIES; i++) {
		place = U32_MAX;
		if (i == 2)
			continue;
		assert_int_equal(take(&two, &place, &block), base + i);
		assert_int_equal(place, i);
	}
	place = U32_MAX;
	assert_int_equal(take(&two, &place, &block), -ENOSPC);
	for (i = 0; i < ENTRIES; i++)
		aries_vmdh_put(ad, block, base + i);
	place = 1;
	assert_int_equal(take(&one, &place, &block), base + 1);
	aries_vmdh_put(ad, block, base + 1);
	leave(&one);
	leave(&two);
}

/* Numbers are free when the NIC has released the block, and the last registration has ended. */
static void numbers(void **state)
{
	const struct aries_domain *dom = one.dom;
	struct aries_block *block;
	u32 place = 0;
	int mdh;

	assert_int_equal(reserve(&one, ENTRIES), 0);
	mdh = take(&one, &place, &block);
	sim_nic.busy = true;
	leave(&one);
	assert_int_equal(ctl(0), 0);
	assert_null(dom->block);
	assert_true(ad->kept_work.pending);
	aries_vmdh_put(ad, block, mdh);
	assert_int_equal(aries_pool_used(&ad->mdds), ENTRIES);
	assert_int_equal(dom->used[ARIES_RES_MDD], ENTRIES);
	/* another block gets other numbers, and the entry that is free already */
	assert_int_equal(reserve(&two, 1), 0);
	assert_int_equal(FIELD_GET(ARIES_VMDH_CTL_BASE_MASK, ctl(0)), mdh + ENTRIES);
	sim_nic.busy = false;
	aries_kept_work(&ad->kept_work.work);
	assert_int_equal(aries_pool_used(&ad->mdds), 1);
	assert_int_equal(dom->used[ARIES_RES_MDD], 1);
	leave(&two);

	assert_int_equal(reserve(&one, ENTRIES), 0);
	mdh = take(&one, &place, &block);
	leave(&one);
	assert_int_equal(aries_pool_used(&ad->mdds), ENTRIES);
	aries_vmdh_put(ad, block, mdh);
	assert_int_equal(aries_pool_used(&ad->mdds), 0);
	assert_int_equal(dom->used[ARIES_RES_MDD], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(shared, begin, end),
		cmocka_unit_test_setup_teardown(refused, begin, end),
		cmocka_unit_test_setup_teardown(each_domain_has_one, begin, end),
		cmocka_unit_test_setup_teardown(places, begin, end),
		cmocka_unit_test_setup_teardown(numbers, begin, end),
	};

	return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
