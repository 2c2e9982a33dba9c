// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory for completion queues. It is contiguous, because the NIC has one bus address for each
 * queue. The page allocator has blocks of up to 4 MiB, and the largest queue takes one page more.
 * Larger areas are made by migrating other pages away, as it is done for huge pages of 1 GiB.
 *
 * Both kinds of memory are charged to the memory cgroup of the caller.
 */
#include <linux/gfp.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/pageblock-flags.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "aries_core.h"

/*
 * The page allocator charges pages when it hands them out, but alloc_contig_range() charges nobody,
 * and modules have no function that charges pages. So one page after the other is allocated with
 * its charge, hands the charge over to a page of the area, and is freed. A page ends its charge
 * when it is freed, wherever it came from.
 * Return: 0, or -ENOMEM if the limit of the memory cgroup would be exceeded.
 */
static int aries_ring_charge(unsigned long pfn, unsigned long npages)
{
#ifdef CONFIG_MEMCG
	const unsigned long end = pfn + npages;

	for (; pfn < end; pfn++) {
		/* a cgroup at its limit gets an error, and none of its processes is killed */
		struct page *page =
			alloc_page(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);

		if (!page)
			return -ENOMEM;
		swap(pfn_to_page(pfn)->memcg_data, page->memcg_data);
		__free_page(page);
		cond_resched();
	}
#endif
	return 0;
}

#ifdef CONFIG_CONTIG_ALLOC

/*
 * Are these pages present, in this zone and managed by the page allocator? Whether they can be
 * migrated is found out by trying.
 */
static bool aries_ring_possible(const struct zone *zone, unsigned long pfn, unsigned long npages)
{
	unsigned long end = pfn + npages;

	for (; pfn < end; pfn++) {
		struct page *page = pfn_to_online_page(pfn);

		if (!page || page_zone(page) != zone || PageReserved(page))
			return false;
	}
	return true;
}

static struct page *aries_ring_from_zone(struct zone *zone, unsigned long npages)
{
	unsigned long pfn = ALIGN(zone->zone_start_pfn, pageblock_nr_pages);
	const unsigned long end = zone_end_pfn(zone);

	for (; pfn + npages <= end; pfn += pageblock_nr_pages) {
		if (fatal_signal_pending(current))
			return NULL;
		cond_resched();
		if (aries_ring_possible(zone, pfn, npages) &&
		    !alloc_contig_range(pfn, pfn + npages, MIGRATE_MOVABLE,
					GFP_KERNEL | __GFP_NOWARN))
			return pfn_to_page(pfn);
	}
	return NULL;
}

/* Do not use the movable zone, because queues cannot be migrated. */
static struct page *aries_ring_from_node(int nid, unsigned long npages)
{
	struct page *page = NULL;
	int i;

	for (i = ZONE_NORMAL; i >= 0 && !page; i--) {
		struct zone *zone = &NODE_DATA(nid)->node_zones[i];

		if (managed_zone(zone))
			page = aries_ring_from_zone(zone, npages);
	}
	return page;
}

#else

/* Such a kernel does not support queues of more than 4 MiB. */
static struct page *aries_ring_from_node(int nid, unsigned long npages)
{
	return NULL;
}

#endif

/**
 * aries_ring_alloc() - allocate contiguous memory, zeroed
 * @npages: number of pages
 *
 * Context: sleeps, for long if memory is fragmented, so it must be called without locks.
 * Return: its address, or NULL if there is no such memory or the memory cgroup is at its limit.
 */
void *aries_ring_alloc(unsigned long npages)
{
	const size_t size = npages * PAGE_SIZE;
	struct page *page = NULL;
	void *ring = NULL;
	int nid;

	if (get_order(size) <= ARIES_RING_ORDER_MAX)
		ring = alloc_pages_exact(size, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (ring)
		return ring;
	for_each_online_node(nid) {
		page = aries_ring_from_node(nid, npages);
		if (page)
			break;
	}
	if (!page)
		return NULL;
	ring = page_address(page);
	if (aries_ring_charge(page_to_pfn(page), npages)) {
		aries_ring_free(ring, npages);
		return NULL;
	}
	return memset(ring, 0, size);
}

/** aries_ring_free() - undo aries_ring_alloc(). Context: any. */
void aries_ring_free(void *ring, unsigned long npages)
{
	/* pages from both sources are single ones, with one reference each */
	free_pages_exact(ring, npages * PAGE_SIZE);
}
