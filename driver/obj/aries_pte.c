// SPDX-License-Identifier: GPL-2.0-only
/*
 * Translation tables. If the pages of a region are contiguous and aligned on the bus in blocks of
 * at least 64 KiB, the region gets large pages. Otherwise it gets 4 KiB pages, and two levels of
 * tables if the entries do not fit into one page.
 */
#include <linux/bitops.h>
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include "aries_obj.h"

#define ARIES_PTE_LARGE_MIN 16
#define ARIES_PTE_LARGE_MAX 36 /* N02 */
#define ARIES_PTE_TABLE_MAX (4ul << 20) /* the largest block of the page allocator */

static_assert(PAGE_SIZE == 4096, "the NIC's small pages are 4 KiB");
static_assert(ARIES_PTES_PER_PAGE * sizeof(__le64) == PAGE_SIZE);

static unsigned int aries_pte_align(u64 value, unsigned int shift)
{
	return value ? min_t(unsigned int, shift, __ffs64(value)) : shift;
}

/*
 * Choose the largest page size that describes the region exactly. No entry extends beyond the
 * region, so even a NIC with wrong bounds could not access a foreign page.
 */
static unsigned int aries_pte_shift(struct aries_region *region)
{
	unsigned int shift = ARIES_PTE_LARGE_MAX;
	u64 va = region->start, next = 0;
	struct scatterlist *sg;
	unsigned int i;

	shift = aries_pte_align(va, shift);
	shift = aries_pte_align((u64)region->npages << PAGE_SHIFT, shift);
	for_each_sgtable_dma_sg(&region->sgt, sg, i) {
		dma_addr_t dma = sg_dma_address(sg);

		if (!i || dma != next) {
			shift = aries_pte_align(va, shift);
			shift = aries_pte_align(va ^ dma, shift);
		}
		va += sg_dma_len(sg);
		next = dma + sg_dma_len(sg);
	}
	if (shift < ARIES_PTE_LARGE_MIN ||
	    (region->npages >> (shift - PAGE_SHIFT)) * sizeof(__le64) > ARIES_PTE_TABLE_MAX)
		return PAGE_SHIFT;
	return shift;
}

/* Tables are charged to the user who registers, until the region is released. */
static __le64 *aries_pte_pages(struct aries_dev *ad, struct aries_region *region, size_t size,
			       dma_addr_t *dma)
{
	const unsigned long npages = 1ul << get_order(size);
	__le64 *table;
	int rc = aries_charge(&region->charge, npages);

	if (rc)
		return ERR_PTR(rc);
	table = dma_alloc_coherent(&ad->pdev->dev, size, dma, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (table)
		return table;
	aries_uncharge(&region->charge, npages);
	return ERR_PTR(-ENOMEM);
}

/* Allocate a table of @region->table_size bytes, and arrays for @nleaf pages of entries. */
static int aries_pte_table(struct aries_dev *ad, struct aries_region *region, unsigned int nleaf)
{
	__le64 *table = aries_pte_pages(ad, region, region->table_size, &region->table_dma);

	if (IS_ERR(table))
		return PTR_ERR(table);
	region->table = table;
	if (!nleaf)
		return 0;
	region->leaf = kvcalloc(nleaf, sizeof(*region->leaf), GFP_KERNEL_ACCOUNT);
	region->leaf_dma = kvcalloc(nleaf, sizeof(*region->leaf_dma), GFP_KERNEL_ACCOUNT);
	if (!region->leaf || !region->leaf_dma)
		return -ENOMEM;
	region->nleaf = nleaf;
	return 0;
}

/* Allocate page @i of entries. */
static int aries_pte_page(struct aries_dev *ad, struct aries_region *region, unsigned int i)
{
	__le64 *leaf = aries_pte_pages(ad, region, PAGE_SIZE, &region->leaf_dma[i]);

	if (IS_ERR(leaf))
		return PTR_ERR(leaf);
	region->leaf[i] = leaf;
	/* the NIC must see the empty entries before it sees the page */
	dma_wmb();
	WRITE_ONCE(region->table[i], cpu_to_le64(region->leaf_dma[i] | ARIES_PTE_VALID));
	return 0;
}

static int aries_pte_alloc(struct aries_dev *ad, struct aries_region *region)
{
	unsigned long entries = region->npages >> (region->page_shift - PAGE_SHIFT);
	unsigned int nleaf = 0, i;
	int rc;

	if (region->page_shift == PAGE_SHIFT && entries > ARIES_PTES_PER_PAGE)
		nleaf = DIV_ROUND_UP(region->npages, ARIES_PTES_PER_PAGE);
	region->table_size = (nleaf ?: entries) * sizeof(__le64);
	rc = aries_pte_table(ad, region, nleaf);
	for (i = 0; i < nleaf && !rc; i++)
		rc = aries_pte_page(ad, region, i);
	return rc;
}

static void aries_pte_fill(struct aries_region *region)
{
	unsigned int per_shift = region->page_shift - PAGE_SHIFT;
	u64 flags = ARIES_PTE_VALID | (region->read_only ? 0 : ARIES_PTE_WRITE);
	struct sg_dma_page_iter iter;
	unsigned long n = 0;

	for_each_sgtable_dma_page(&region->sgt, &iter, 0) {
		__le64 pte = cpu_to_le64(sg_page_iter_dma_address(&iter) | flags);

		if (region->leaf)
			region->leaf[n / ARIES_PTES_PER_PAGE][n % ARIES_PTES_PER_PAGE] = pte;
		else if (!(n & ((1ul << per_shift) - 1)))
			region->table[n >> per_shift] = pte;
		n++;
		if (!(n % ARIES_PTES_PER_PAGE))
			cond_resched();
	}
	WARN_ON(n != region->npages);
}

/**
 * aries_pte_build() - map the pages for the NIC and build their translation table
 * @ad: the device
 * @region: it
 *
 * Context: sleeps; state_sem held. Return: 0; -ENOMEM; -EPERM if RLIMIT_MEMLOCK would be exceeded;
 * or an error of the DMA layer. The caller calls aries_pte_free() in any case.
 */
int aries_pte_build(struct aries_dev *ad, struct aries_region *region)
{
	enum dma_data_direction dir = region->read_only ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL;
	int rc = dma_map_sgtable(&ad->pdev->dev, &region->sgt, dir, 0);

	if (rc)
		return rc;
	region->mapped = true;
	region->page_shift = aries_pte_shift(region);
	rc = aries_pte_alloc(ad, region);
	if (rc)
		return rc;
	aries_pte_fill(region);
	return 0;
}

/**
 * aries_pte_reserve() - allocate a directory for two levels, without pages of entries
 * @ad: the device
 * @region: it
 *
 * Context: sleeps; state_sem held. Return: 0; -ENOMEM; -EPERM if RLIMIT_MEMLOCK would be exceeded.
 * The caller calls aries_pte_free() in any case.
 */
int aries_pte_reserve(struct aries_dev *ad, struct aries_region *region)
{
	unsigned int nleaf = DIV_ROUND_UP(region->npages, ARIES_PTES_PER_PAGE);

	region->page_shift = PAGE_SHIFT;
	region->table_size = nleaf * sizeof(__le64);
	return aries_pte_table(ad, region, nleaf);
}

/**
 * aries_pte_leaf() - find an entry of a reserved region
 * @ad: the device
 * @region: it
 * @n: number of the page
 *
 * Allocates the page of entries if there is none. Context: sleeps; own->lock held.
 * Return: the entry, or an error pointer: -ENOMEM; -EPERM if RLIMIT_MEMLOCK would be exceeded.
 */
__le64 *aries_pte_leaf(struct aries_dev *ad, struct aries_region *region, unsigned long n)
{
	unsigned long i = n / ARIES_PTES_PER_PAGE;
	int rc = region->leaf[i] ? 0 : aries_pte_page(ad, region, i);

	return rc ? ERR_PTR(rc) : &region->leaf[i][n % ARIES_PTES_PER_PAGE];
}

/** aries_pte_free() - free a table that the NIC no longer uses. Context: sleeps. */
void aries_pte_free(struct aries_dev *ad, struct aries_region *region)
{
	enum dma_data_direction dir = region->read_only ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL;
	struct device *dev = &ad->pdev->dev;
	unsigned int i;

	for (i = 0; i < region->nleaf; i++)
		if (region->leaf[i])
			dma_free_coherent(dev, PAGE_SIZE, region->leaf[i], region->leaf_dma[i]);
	kvfree(region->leaf);
	kvfree(region->leaf_dma);
	if (region->table)
		dma_free_coherent(dev, region->table_size, region->table, region->table_dma);
	if (region->mapped)
		dma_unmap_sgtable(dev, &region->sgt, dir, 0);
	region->leaf = NULL;
	region->leaf_dma = NULL;
	region->nleaf = 0;
	region->table = NULL;
	region->mapped = false;
}
