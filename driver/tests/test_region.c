// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions: what the driver writes into a memory domain descriptor, and what is charged to the
 * domain and given back.
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "aries_sim.h"

#define START 0x7f001000ul
#define PAGES 5
#define TABLE 0x123450000ull
#define SHIFT 21
#define MDH 3 /* of a number of its own */
#define VMDH 9 /* of one in a block */

unsigned int sim_warnings;
unsigned long sim_steps;
unsigned long jiffies;

/* what has been written into the descriptor, and how many writes that took */
static struct {
	u64 base, length, table, ctl;
	unsigned int writes;
	u32 invalidated;
} mdd;

/* what the domain has been charged, what it may be charged, and what fails */
static unsigned int charged[2], most[2];
static bool no_memory, no_number;
static unsigned int released, kept_numbers;

static struct aries_domain dom = { .ptag = 7 };
static struct aries_cq cq = { .nr = 11 };
static struct aries_region region;
static struct aries_dev ad;
static struct aries_owner own;

void aries_wr64(struct aries_dev *dev, u32 reg, u64 value)
{
	const unsigned int n = region.mdh;

	/* the store to the control word publishes the descriptor */
	assert_false(mdd.ctl);
	mdd.writes++;
	if (reg == ARIES_MDD_BASE_N(n))
		mdd.base = value;
	else if (reg == ARIES_MDD_LENGTH_N(n))
		mdd.length = value;
	else if (reg == ARIES_MDD_TABLE_N(n))
		mdd.table = value;
	else if (reg == ARIES_MDD_CTL_N(n))
		mdd.ctl = value;
	else
		fail_msg("register 0x%x", reg);
}

void aries_wr32(struct aries_dev *dev, u32 reg, u32 value)
{
	assert_int_equal(reg, ARIES_INV_MDD);
	mdd.invalidated = value;
}

u64 aries_inv_seq(struct aries_dev *dev)
{
	return 77;
}

int aries_domain_charge(struct aries_dev *dev, struct aries_domain *d, enum aries_res res,
			unsigned int count)
{
	if (charged[res] + count > most[res])
		return -ENOSPC;
	charged[res] += count;
	return 0;
}

void aries_domain_uncharge(struct aries_dev *dev, struct aries_domain *d, enum aries_res res,
			   unsigned int count)
{
	assert_true(charged[res] >= count);
	charged[res] -= count;
}

int aries_pool_get(struct aries_pool *pool, u16 owner)
{
	if (no_number)
		return -ENOSPC;
	pool->used++;
	return MDH;
}

void aries_pool_put(struct aries_pool *pool, unsigned int nr, u16 owner)
{
	assert_int_equal(nr, MDH);
	pool->used--;
}

void aries_pool_hold(struct aries_pool *pool, unsigned int nr, u16 owner)
{
	assert_int_equal(nr, MDH);
}

void aries_pool_put_held(struct aries_pool *pool, unsigned int nr)
{
	assert_int_equal(nr, MDH);
	pool->used--;
}

int aries_vmdh_get(struct aries_owner *c, u32 *place, struct aries_block **block)
{
	if (no_number)
		return -EBUSY;
	*block = (struct aries_block *)place;
	return VMDH;
}

void aries_vmdh_put(struct aries_dev *dev, struct aries_block *block, unsigned int mdh)
{
	assert_non_null(block);
	assert_int_equal(mdh, VMDH);
}

void *xa_store(struct xarray *xa, unsigned long index, void *entry, int flags)
{
	if (no_memory)
		return (void *)-1;
	xa->slot[index] = entry;
	return NULL;
}

void aries_kept_take(struct aries_owner *c, struct list_head *gone, struct aries_kept *kept,
		     void (*release)(struct aries_dev *dev, struct aries_kept *kept))
{
	kept->dom = c->dom;
	release(&ad, kept);
}

static bool keep(struct aries_dev *dev, struct aries_region *which)
{
	kept_numbers++;
	return true;
}

static void release_region(struct aries_dev *dev, struct aries_region *which)
{
	assert_ptr_equal(which, &region);
	released++;
}

static int begin(void **state)
{
	memset(&mdd, 0, sizeof(mdd));
	memset(&ad, 0, sizeof(ad));
	memset(&own, 0, sizeof(own));
	memset(charged, 0, sizeof(charged));
	most[ARIES_RES_MDD] = 1;
	most[ARIES_RES_PAGES] = PAGES;
	no_memory = false;
	no_number = false;
	released = 0;
	kept_numbers = 0;
	cq.mem_refs = 0;
	own.ad = &ad;
	own.dom = &dom;
	own.nr = 0x42;
	own.lock.held = 1;
	region = (struct aries_region){ .start = START + ARIES_REGION_MAX, .npages = PAGES,
					.page_shift = SHIFT, .table_dma = TABLE,
					.release = release_region };
	return 0;
}

static void publish(u32 *place)
{
	assert_int_equal(aries_region_publish(&own, &region, place, false), 0);
	assert_int_equal(mdd.writes, 4);
}

/* Peers reach all of its pages and no more. */
static void descriptor(void **state)
{
	publish(NULL);
	assert_int_equal(FIELD_GET(ARIES_MDD_BASE_OFFSET_MASK, mdd.base), START);
	assert_int_equal(FIELD_GET(ARIES_MDD_LENGTH_LENGTH_MASK, mdd.length), PAGES * PAGE_SIZE);
	assert_int_equal(mdd.table, TABLE);
	assert_int_equal(mdd.ctl, FIELD_PREP(ARIES_MDD_CTL_VALID_MASK, 1ull) |
					  FIELD_PREP(ARIES_MDD_CTL_PTAG_MASK, 7ull) |
					  FIELD_PREP(ARIES_MDD_CTL_PAGE_SHIFT_MASK, (u64)SHIFT) |
					  FIELD_PREP(ARIES_MDD_CTL_OWNER_MASK, 0x42ull));
	assert_true(region.live);
}

static void descriptor_with_all_of_it(void **state)
{
	__le64 *leaf[1] = { NULL };

	region.cq = &cq;
	region.read_only = true;
	region.leaf = leaf;
	publish(NULL);
	assert_int_equal(FIELD_GET(ARIES_MDD_CTL_CQ_VALID_MASK, mdd.ctl), 1);
	assert_int_equal(FIELD_GET(ARIES_MDD_CTL_CQ_MASK, mdd.ctl), 11);
	assert_int_equal(FIELD_GET(ARIES_MDD_CTL_READ_ONLY_MASK, mdd.ctl), 1);
	assert_int_equal(FIELD_GET(ARIES_MDD_CTL_TWO_LEVEL_MASK, mdd.ctl), 1);
	assert_int_equal(cq.mem_refs, 1);
}

/* A virtual handle maps to different addresses on each node: offsets count from its start. */
static void descriptor_in_a_block(void **state)
{
	u32 place = 0;

	publish(&place);
	assert_int_equal(mdd.base, 0);
	assert_int_equal(region.mdh, VMDH);
	assert_int_equal(charged[ARIES_RES_MDD], 0);
}

/* What fails costs nothing, and nothing can be found. */
static void failures(void **state)
{
	u32 place = 0, *places[] = { NULL, &place };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		begin(NULL);
		no_memory = true;
		assert_int_equal(aries_region_publish(&own, &region, places[i], false), -ENOMEM);
		no_memory = false;
		no_number = true;
		assert_int_equal(aries_region_publish(&own, &region, places[i], false),
				 i ? -EBUSY : -ENOSPC);
		no_number = false;
		most[ARIES_RES_PAGES] = PAGES - 1;
		assert_int_equal(aries_region_publish(&own, &region, places[i], false), -ENOSPC);
		assert_int_equal(mdd.writes, 0);
		assert_int_equal(charged[ARIES_RES_MDD] + charged[ARIES_RES_PAGES], 0);
		assert_int_equal(ad.mdds.used, 0);
		assert_null(own.mems.slot[MDH]);
	}
	most[ARIES_RES_PAGES] = PAGES;
	most[ARIES_RES_MDD] = 0;
	assert_int_equal(aries_region_publish(&own, &region, NULL, false), -ENOSPC);
	assert_int_equal(charged[ARIES_RES_PAGES], 0);
}

/* Its pages come later: until then the NIC knows nothing of it. */
static void later(void **state)
{
	assert_int_equal(aries_region_publish(&own, &region, NULL, true), 0);
	assert_int_equal(mdd.writes, 0);
	assert_false(region.live);
	aries_region_program(&own, &region);
	assert_true(region.live);
}

static void end(void **state)
{
	LIST_HEAD(gone);

	region.cq = &cq;
	publish(NULL);
	assert_ptr_equal(own.mems.slot[MDH], &region);
	assert_int_equal(aries_region_revoke(&ad, &region), 77);
	assert_int_equal(mdd.invalidated, MDH);
	assert_false(region.live);
	aries_region_teardown(&own, &gone);
	assert_null(own.mems.slot[MDH]);
	assert_int_equal(released, 1);
	assert_int_equal(cq.mem_refs, 0);
	assert_int_equal(ad.mdds.used, 0);
	assert_int_equal(charged[ARIES_RES_MDD] + charged[ARIES_RES_PAGES], 0);
}

/* With a hold time the number stays charged. */
static void end_with_its_number_kept(void **state)
{
	LIST_HEAD(gone);

	region.keep = keep;
	publish(NULL);
	aries_region_del(&own, &region, &gone);
	assert_int_equal(mdd.invalidated, MDH);
	assert_int_equal(kept_numbers, 1);
	assert_int_equal(released, 1);
	assert_int_equal(ad.mdds.used, 1);
	assert_int_equal(charged[ARIES_RES_MDD], 1);
	assert_int_equal(charged[ARIES_RES_PAGES], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(descriptor, begin),
		cmocka_unit_test_setup(descriptor_with_all_of_it, begin),
		cmocka_unit_test_setup(descriptor_in_a_block, begin),
		cmocka_unit_test_setup(failures, begin),
		cmocka_unit_test_setup(later, begin),
		cmocka_unit_test_setup(end, begin),
		cmocka_unit_test_setup(end_with_its_number_kept, begin),
	};

	return cmocka_run_group_tests_name("region", tests, NULL, NULL);
}
