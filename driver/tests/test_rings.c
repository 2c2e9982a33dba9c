// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of queues: where it is taken from, and to whom it is charged. The machine has one node with
 * three zones in a row, of 8 MiB each; a page is free, used by somebody who can go elsewhere, or in
 * the way.
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "objects.h"

#define CONFIG_MEMCG 1
#define CONFIG_CONTIG_ALLOC 1

enum { ZONE_DMA, ZONE_NORMAL, ZONE_MOVABLE, ZONES };

#define BLOCK 512ul /* pages */
#define ZONE_PAGES (4 * BLOCK)
#define PAGES (ZONES * ZONE_PAGES)
#define LARGE 1025ul /* the smallest area that the page allocator does not have */
#define CHARGE 0xc9ul

struct page {
	unsigned long memcg_data;
	bool reserved; /* not managed by the page allocator */
	bool absent;
	bool foreign; /* of the movable zone, which begins in the middle of another one */
	bool stays; /* whoever uses it does not go elsewhere */
	bool taken; /* by us */
};

struct zone {
	unsigned long zone_start_pfn;
	bool managed;
};

struct sim_node_data {
	struct zone node_zones[ZONES];
};

static u8 *memory; /* of all pages */
static struct page pages[PAGES];
static struct sim_node_data node;
static bool fragmented, killed;
static unsigned long limit, charges; /* pages that the cgroup may still get */
static unsigned int exact; /* areas of the page allocator */

#undef page_address
#define page_address(page) ((void *)(memory + ((page) - pages) * PAGE_SIZE))
#define page_to_pfn(page) ((unsigned long)((page) - pages))
#define pfn_to_page(pfn) (&pages[pfn])
#define pfn_to_online_page(pfn) (pages[pfn].absent ? NULL : &pages[pfn])
#define page_zone(page) \
	(&node.node_zones[(page)->foreign ? ZONE_MOVABLE : page_to_pfn(page) / ZONE_PAGES])
#define PageReserved(page) ((page)->reserved)
#define pageblock_nr_pages BLOCK
#define zone_end_pfn(zone) ((zone)->zone_start_pfn + ZONE_PAGES)
#define managed_zone(zone) ((zone)->managed)
#define NODE_DATA(nid) ((void)(nid), &node)
#define for_each_online_node(nid) for ((nid) = 0; (nid) < 1; (nid)++)
#define MIGRATE_MOVABLE 1
#define __GFP_RETRY_MAYFAIL 0
#define __GFP_ZERO 0
#define ALIGN(n, to) (DIV_ROUND_UP(n, to) * (to))
#define swap(a, b) ({ typeof(a) sim_was = (a); (a) = (b); (b) = sim_was; })
#define current NULL
#define fatal_signal_pending(task) ((void)(task), killed)

static void *alloc_pages_exact(size_t size, int flags);
static void free_pages_exact(void *mem, size_t size);
static int alloc_contig_range(unsigned long from, unsigned long to, int type, int flags);
static struct page *alloc_page(int flags);
static void __free_page(struct page *page);

#include "../core/aries_ring.c"

static void *alloc_pages_exact(size_t size, int flags)
{
	assert_true(size <= PAGE_SIZE << ARIES_RING_ORDER_MAX);
	if (fragmented)
		return NULL;
	exact++;
	return memset(aligned_alloc(PAGE_SIZE, size), 0, size);
}

static void free_pages_exact(void *mem, size_t size)
{
	unsigned long pfn = ((u8 *)mem - memory) / PAGE_SIZE, n;

	if ((u8 *)mem < memory || pfn >= PAGES) {
		exact--;
		free(mem);
		return;
	}
	for (n = 0; n < size / PAGE_SIZE; n++) {
		assert_true(pages[pfn + n].taken);
		pages[pfn + n].taken = false;
		charges -= pages[pfn + n].memcg_data == CHARGE;
		pages[pfn + n].memcg_data = 0;
	}
}

static int alloc_contig_range(unsigned long from, unsigned long to, int type, int flags)
{
	unsigned long pfn;

	assert_true(to <= PAGES && from % BLOCK == 0);
	for (pfn = from; pfn < to; pfn++) {
		/* the caller has looked */
		assert_false(pages[pfn].reserved || pages[pfn].absent);
		assert_ptr_equal(page_zone(&pages[pfn]), page_zone(&pages[from]));
		if (pages[pfn].stays || pages[pfn].taken)
			return -EBUSY;
	}
	for (pfn = from; pfn < to; pfn++)
		pages[pfn].taken = true;
	/* whoever was there before has left traces */
	memset(page_address(&pages[from]), 0xa5, (to - from) * PAGE_SIZE);
	return 0;
}

static struct page *alloc_page(int flags)
{
	static struct page page;

	if (charges == limit)
		return NULL;
	charges++;
	page.memcg_data = CHARGE;
	return &page;
}

static void __free_page(struct page *page)
{
	charges -= page->memcg_data == CHARGE;
}

static int begin(void **state)
{
	unsigned int i;

	memset(pages, 0, sizeof(pages));
	for (i = 0; i < ZONES; i++)
		node.node_zones[i] = (struct zone){ .zone_start_pfn = i * ZONE_PAGES, .managed = true };
	memory = aligned_alloc(PAGE_SIZE, PAGES * PAGE_SIZE);
	fragmented = false;
	killed = false;
	limit = PAGES;
	charges = 0;
	exact = 0;
	return memory ? 0 : -1;
}

static int end(void **state)
{
	free(memory);
	return charges || exact ? -1 : 0;
}

/* Number of its first page, in pages of the zone that it has to be in. */
static unsigned long taken_from(const void *ring, unsigned int zone)
{
	const unsigned long pfn = ((const u8 *)ring - memory) / PAGE_SIZE;

	assert_non_null(ring);
	assert_int_equal(pfn / ZONE_PAGES, zone);
	return pfn % ZONE_PAGES;
}

static void of_the_page_allocator(void **state)
{
	void *ring = aries_ring_alloc(LARGE - 1);

	assert_int_equal(exact, 1);
	aries_ring_free(ring, LARGE - 1);
}

/* From where it need not be moved away again, all zero, and each page on the caller's account. */
static void larger(void **state)
{
	u8 *ring = aries_ring_alloc(LARGE);
	unsigned long n;

	assert_int_equal(exact, 0);
	assert_int_equal(taken_from(ring, ZONE_NORMAL), 0);
	for (n = 0; n < LARGE * PAGE_SIZE; n += 64)
		assert_int_equal(ring[n], 0);
	assert_int_equal(charges, LARGE);
	for (n = 0; n < LARGE; n++)
		assert_int_equal(pages[ZONE_PAGES + n].memcg_data, CHARGE);
	aries_ring_free(ring, LARGE);
}

static void fragmented_memory(void **state)
{
	void *ring;

	fragmented = true;
	ring = aries_ring_alloc(2);
	assert_int_equal(taken_from(ring, ZONE_NORMAL), 0);
	assert_int_equal(charges, 2);
	aries_ring_free(ring, 2);
}

/* What is in the way is passed by, block by block, and the next zone is tried at the end. */
static void in_the_way(void **state)
{
	void *ring;

	pages[ZONE_PAGES + BLOCK - 1].stays = true;
	ring = aries_ring_alloc(LARGE);
	assert_int_equal(taken_from(ring, ZONE_NORMAL), BLOCK);
	aries_ring_free(ring, LARGE);
	pages[ZONE_PAGES + 2 * BLOCK].reserved = true;
	ring = aries_ring_alloc(LARGE);
	assert_int_equal(taken_from(ring, ZONE_DMA), 0);
	aries_ring_free(ring, LARGE);
	pages[3].absent = true;
	ring = aries_ring_alloc(LARGE);
	assert_int_equal(taken_from(ring, ZONE_DMA), BLOCK);
	aries_ring_free(ring, LARGE);
	pages[BLOCK + 5].foreign = true;
	assert_null(aries_ring_alloc(LARGE));
	pages[BLOCK + 5].foreign = false;
	node.node_zones[ZONE_DMA].managed = false;
	assert_null(aries_ring_alloc(LARGE));
}

/* An area ends where its zone does, however much of the next one is free. */
static void zones(void **state)
{
	assert_null(aries_ring_alloc(ZONE_PAGES + 1));
	pages[ZONE_PAGES].reserved = true;
	pages[0].reserved = true;
	assert_null(aries_ring_alloc(ZONE_PAGES));
}

/* A cgroup at its limit gets nothing, and keeps nothing of what it had got. */
static void at_the_limit(void **state)
{
	unsigned long n;

	limit = LARGE - 1;
	assert_null(aries_ring_alloc(LARGE));
	assert_int_equal(charges, 0);
	for (n = 0; n < PAGES; n++)
		assert_false(pages[n].taken || pages[n].memcg_data);
}

static void a_process_that_is_killed(void **state)
{
	killed = true;
	assert_null(aries_ring_alloc(LARGE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_the_page_allocator, begin, end),
		cmocka_unit_test_setup_teardown(larger, begin, end),
		cmocka_unit_test_setup_teardown(fragmented_memory, begin, end),
		cmocka_unit_test_setup_teardown(in_the_way, begin, end),
		cmocka_unit_test_setup_teardown(zones, begin, end),
		cmocka_unit_test_setup_teardown(at_the_limit, begin, end),
		cmocka_unit_test_setup_teardown(a_process_that_is_killed, begin, end),
	};

	return cmocka_run_group_tests_name("rings", tests, NULL, NULL);
}
