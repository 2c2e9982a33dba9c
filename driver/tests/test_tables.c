// SPDX-License-Identifier: GPL-2.0-only
/* Translation tables: each page of a region has its entry, and no entry leads beyond the region. */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "aries_obj.h"

#define K64 0x10000ull
#define BUS 0x7f0000000000ull

static struct aries_dev *ad;
static struct aries_region region;
static struct scatterlist list[1100];

static int begin(void **state)
{
	ad = sim_nic_begin();
	memset(&region, 0, sizeof(region));
	region.sgt.sgl = list;
	aries_charge_begin(&region.charge);
	return 0;
}

static int end(void **state)
{
	aries_pte_free(ad, &region);
	aries_charge_end(&region.charge);
	assert_null(region.table);
	assert_false(region.mapped);
	return sim_nic_end(ad);
}

/* A piece of the region's memory on the bus. */
static void piece(u64 address, u64 bytes)
{
	list[region.sgt.nents++] = (struct scatterlist){ .address = address, .length = bytes };
	region.npages += bytes >> PAGE_SHIFT;
}

/* The entry that the NIC finds for a byte of the region; 0 if there is none. */
static u64 entry(u64 offset)
{
	u64 n = offset >> region.page_shift, pte;

	if (!region.leaf)
		return n * sizeof(*region.table) < region.table_size ? region.table[n] : 0;
	if (n / ARIES_PTES_PER_PAGE >= region.nleaf)
		return 0;
	pte = region.table[n / ARIES_PTES_PER_PAGE];
	if (!pte)
		return 0;
	assert_int_equal(pte & ~ARIES_PTE_ADDR_MASK, ARIES_PTE_VALID);
	return ((u64 *)(uintptr_t)(pte & ARIES_PTE_ADDR_MASK))[n % ARIES_PTES_PER_PAGE];
}

/* Look up every page of the region, as the NIC would. */
static void whole(u64 flags)
{
	u64 at = 0, i, inside;

	for (i = 0; i < region.sgt.nents; i++)
		for (inside = 0; inside < list[i].length; inside += PAGE_SIZE, at += PAGE_SIZE) {
			const u64 pte = entry(at), page = at & (BIT_ULL(region.page_shift) - 1);

			assert_int_equal((pte & ARIES_PTE_ADDR_MASK) + page, list[i].address + inside);
			assert_int_equal(pte & ~ARIES_PTE_ADDR_MASK, flags);
		}
	assert_int_equal(at, region.npages * PAGE_SIZE);
	if (region.page_shift > PAGE_SHIFT)
		assert_int_equal(region.table_size >> 3 << region.page_shift, at);
}

static void large_pages(void **state)
{
	region.start = 0x40000;
	piece(BUS + 0x40000, 4 * K64);
	piece(BUS + 0x200000, 4 * K64);
	assert_int_equal(aries_pte_build(ad, &region), 0);
	assert_int_equal(region.page_shift, 18);
	whole(ARIES_PTE_VALID | ARIES_PTE_WRITE);
}

/* Pieces that follow each other on the bus are one block, however they were found. */
static void pieces_of_a_block(void **state)
{
	unsigned int i;

	for (i = 0; i < 32; i++)
		piece(BUS + i * PAGE_SIZE, PAGE_SIZE);
	assert_int_equal(aries_pte_build(ad, &region), 0);
	assert_int_equal(region.page_shift, 17);
	assert_int_equal(region.table_size, 8);
	whole(ARIES_PTE_VALID | ARIES_PTE_WRITE);
}

/* What is not aligned, on either side or in its length, gets small pages. */
static void small_pages(void **state)
{
	static const struct {
		u64 start, address, bytes;
	} cases[] = {
		{ 0, BUS + 0x8000, 2 * K64 },
		{ 0x8000, BUS, 2 * K64 },
		{ 0, BUS, 2 * K64 + PAGE_SIZE },
		{ 0, BUS, K64 / 2 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(end(NULL), 0);
		begin(NULL);
		region.read_only = true;
		region.start = cases[i].start;
		piece(cases[i].address, cases[i].bytes);
		assert_int_equal(aries_pte_build(ad, &region), 0);
		assert_int_equal(region.page_shift, PAGE_SHIFT);
		assert_null(region.leaf);
		whole(ARIES_PTE_VALID);
	}
}

static void two_levels(void **state)
{
	unsigned int i;

	/* every second page, so that none is beside another */
	for (i = 0; i < ARIES_PTES_PER_PAGE; i++)
		piece(BUS + 2 * i * PAGE_SIZE, PAGE_SIZE);
	assert_int_equal(aries_pte_build(ad, &region), 0);
	assert_null(region.leaf);
	whole(ARIES_PTE_VALID | ARIES_PTE_WRITE);
	aries_pte_free(ad, &region);

	for (i = 0; i < ARIES_PTES_PER_PAGE + 1; i++)
		piece(BUS * 2 + 2 * i * PAGE_SIZE, PAGE_SIZE);
	assert_int_equal(aries_pte_build(ad, &region), 0);
	assert_int_equal(region.nleaf, 3);
	whole(ARIES_PTE_VALID | ARIES_PTE_WRITE);
	assert_int_equal(entry(region.npages * PAGE_SIZE), 0);
}

/* Pages that come later: an entry's page is made when it is first asked for. */
static void reserved(void **state)
{
	__le64 *pte;

	region.npages = 3 * ARIES_PTES_PER_PAGE;
	assert_int_equal(aries_pte_reserve(ad, &region), 0);
	assert_int_equal(sim_nic.charged, 1);
	assert_int_equal(entry(0), 0);
	pte = aries_pte_leaf(ad, &region, ARIES_PTES_PER_PAGE + 7);
	*pte = 0x5000 | ARIES_PTE_VALID;
	assert_int_equal(sim_nic.charged, 2);
	assert_ptr_equal(aries_pte_leaf(ad, &region, ARIES_PTES_PER_PAGE + 8), pte + 1);
	assert_int_equal(sim_nic.charged, 2);
	assert_int_equal(entry((ARIES_PTES_PER_PAGE + 7) * PAGE_SIZE), 0x5000 | ARIES_PTE_VALID);
	assert_int_equal(entry((ARIES_PTES_PER_PAGE + 8) * PAGE_SIZE), 0);
	sim_nic.room = 2;
	assert_int_equal(PTR_ERR(aries_pte_leaf(ad, &region, 0)), -EPERM);
	assert_int_equal(entry(0), 0);
}

/* Whatever allocation fails, and whatever may be charged, all of it is given back. */
static void failures(void **state)
{
	const unsigned int allocations = 5, pages = 3; /* directory, two arrays, two pages of entries */
	unsigned int i, n;

	for (n = 1; n <= allocations + pages; n++) {
		assert_int_equal(end(NULL), 0);
		begin(NULL);
		for (i = 0; i < ARIES_PTES_PER_PAGE + 1; i++)
			piece(BUS + 2 * i * PAGE_SIZE, PAGE_SIZE);
		if (n <= allocations)
			sim_fail_in = n;
		else
			sim_nic.room = n - allocations - 1;
		assert_int_equal(aries_pte_build(ad, &region), n <= allocations ? -ENOMEM : -EPERM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(large_pages, begin, end),
		cmocka_unit_test_setup_teardown(pieces_of_a_block, begin, end),
		cmocka_unit_test_setup_teardown(small_pages, begin, end),
		cmocka_unit_test_setup_teardown(two_levels, begin, end),
		cmocka_unit_test_setup_teardown(reserved, begin, end),
		cmocka_unit_test_setup_teardown(failures, begin, end),
	};

	return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
