// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reserved regions: the range of a memory domain is fixed, and its pages are added by each update.
 * A page that the process has replaced since is removed, and released when no access can reach it
 * any more.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "aries_user.h"
#include "aries_trace.h"

/**
 * struct aries_stale - pages removed from a region that the NIC may still access
 * @kept: keeps them until the NIC no longer accesses them
 * @mm: address space that they belong to
 * @read_only: how they were pinned
 * @charge: charge for them
 * @count: number of pages
 * @left: the pages and their bus addresses
 */
struct aries_stale {
	struct aries_kept kept;
	struct mm_struct *mm;
	bool read_only;
	struct aries_charge charge;
	unsigned long count;
	struct {
		struct page *page;
		dma_addr_t dma;
	} left[];
};

/**
 * struct aries_update - one call of KGNI_IOC_MEM_UPDATE
 * @range: pages of the process
 * @pages: the pinned pages of @range; NULL for those that the region has taken over
 * @read_only: how they are pinned
 * @charge: charge for pages that the region has not taken over
 * @stale: pages that were replaced, NULL if none was
 */
struct aries_update {
	struct aries_range range;
	struct page **pages;
	bool read_only;
	struct aries_charge charge;
	struct aries_stale *stale;
};

static enum dma_data_direction aries_reserve_dir(bool read_only)
{
	return read_only ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL;
}

static void aries_reserve_drop(struct aries_dev *ad, struct page *page, dma_addr_t dma,
			       bool read_only)
{
	dma_unmap_page(&ad->pdev->dev, dma, PAGE_SIZE, aries_reserve_dir(read_only));
	unpin_user_pages_dirty_lock(&page, 1, !read_only);
	cond_resched();
}

static dma_addr_t aries_reserve_dma(const struct aries_umem *umem, unsigned long n)
{
	__le64 pte = umem->region.leaf[n / ARIES_PTES_PER_PAGE][n % ARIES_PTES_PER_PAGE];

	return le64_to_cpu(pte) & ARIES_PTE_ADDR_MASK;
}

static void aries_reserve_free_stale(struct aries_dev *ad, struct aries_kept *kept)
{
	struct aries_stale *stale = container_of(kept, struct aries_stale, kept);
	unsigned long i;

	for (i = 0; i < stale->count; i++)
		aries_reserve_drop(ad, stale->left[i].page, stale->left[i].dma, stale->read_only);
	aries_pin_unaccount(ad, stale->mm, stale->count);
	aries_charge_end(&stale->charge);
	mmdrop(stale->mm);
	kvfree(stale);
}

/* Allocates the structure for up to @npages replaced pages. */
static struct aries_stale *aries_reserve_new_stale(const struct aries_umem *umem,
						   unsigned long npages)
{
	struct aries_stale *stale =
		kvzalloc(struct_size(stale, left, npages), GFP_KERNEL_ACCOUNT);

	if (!stale)
		return NULL;
	stale->mm = umem->mm;
	mmgrab(stale->mm);
	stale->read_only = umem->region.read_only;
	aries_charge_same(&stale->charge, &umem->region.charge);
	return stale;
}

/**
 * aries_reserve_free() - release the pages of a reserved region
 * @ad: the device
 * @umem: registration, which the NIC no longer knows
 *
 * Context: sleeps.
 */
void aries_reserve_free(struct aries_dev *ad, struct aries_umem *umem)
{
	struct page *page;
	unsigned long n;

	xa_for_each(&umem->pages, n, page)
		aries_reserve_drop(ad, page, aries_reserve_dma(umem, n), umem->region.read_only);
	xa_destroy(&umem->pages);
}

/* Finds the reserved region of an update and checks that the range lies within. */
static struct aries_umem *aries_reserve_find(struct aries_owner *own, u32 mdh,
					     const struct aries_range *range)
{
	struct aries_region *region = xa_load(&own->mems, mdh);
	struct aries_umem *umem;

	if (!region || region->leaving)
		return ERR_PTR(-ENOENT);
	umem = aries_umem_of(region);
	if (!umem || !umem->reserved || range->start < region->start)
		return ERR_PTR(-EINVAL);
	if (((range->start - region->start) >> PAGE_SHIFT) + range->npages > region->npages)
		return ERR_PTR(-EINVAL);
	return umem;
}

/* Moves page @page, number @n of the region, from the region and its charge to @stale. */
static void aries_reserve_leave(struct aries_umem *umem, struct aries_stale *stale,
				unsigned long n, struct page *page)
{
	stale->left[stale->count].page = page;
	stale->left[stale->count].dma = aries_reserve_dma(umem, n);
	stale->count++;
	aries_charge_move(&stale->charge, &umem->region.charge, 1);
	umem->region.accounted--;
}

/*
 * Puts page @i of an update into the region as page number @n.
 * Return: 0 or a negative errno.
 */
static int aries_reserve_put(struct aries_dev *ad, struct aries_umem *umem,
			     struct aries_update *u, unsigned long i, unsigned long n)
{
	u64 flags = ARIES_PTE_VALID | (umem->region.read_only ? 0 : ARIES_PTE_WRITE);
	enum dma_data_direction dir = aries_reserve_dir(umem->region.read_only);
	struct page *old = xa_load(&umem->pages, n), *page = u->pages[i];
	dma_addr_t dma;
	__le64 *pte;
	int rc;

	if (old == page)
		return 0;
	pte = aries_pte_leaf(ad, &umem->region, n);
	if (IS_ERR(pte))
		return PTR_ERR(pte);
	if (old && !u->stale)
		u->stale = aries_reserve_new_stale(umem, u->range.npages - i);
	if (old && !u->stale)
		return -ENOMEM;
	dma = dma_map_page(&ad->pdev->dev, page, 0, PAGE_SIZE, dir);
	if (dma_mapping_error(&ad->pdev->dev, dma))
		return -ENOMEM;
	rc = xa_err(xa_store(&umem->pages, n, page, GFP_KERNEL));
	if (rc) {
		dma_unmap_page(&ad->pdev->dev, dma, PAGE_SIZE, dir);
		return rc;
	}
	if (old)
		aries_reserve_leave(umem, u->stale, n, old);
	WRITE_ONCE(*pte, cpu_to_le64(dma | flags));
	u->pages[i] = NULL;
	aries_charge_move(&umem->region.charge, &u->charge, 1);
	umem->region.accounted++;
	return 0;
}

static int aries_reserve_fill(struct aries_owner *own, struct aries_umem *umem,
			      struct aries_update *u, struct list_head *gone)
	__must_hold(&own->lock)
{
	unsigned long first = (u->range.start - umem->region.start) >> PAGE_SHIFT;
	struct aries_dev *ad = own->ad;
	unsigned long i;
	int rc = 0;

	lockdep_assert_held(&own->lock);
	for (i = 0; i < u->range.npages && !rc; i++) {
		rc = aries_reserve_put(ad, umem, u, i, first + i);
		cond_resched();
	}
	if (!umem->region.live && umem->region.accounted)
		aries_region_program(own, &umem->region);
	if (u->stale) {
		/* prevent new accesses through the old entries */
		aries_wr32(ad, ARIES_INV_PTES,
			   FIELD_PREP(ARIES_INV_PTES_MDH_MASK, umem->region.mdh));
		aries_kept_take(own, gone, &u->stale->kept, aries_reserve_free_stale);
	}
	trace_aries_mem_update(own, &umem->region);
	return rc;
}

static int aries_reserve_update(struct aries_owner *own, struct kgni_mem_update *arg,
				struct aries_update *u)
{
	struct aries_umem *umem;
	LIST_HEAD(gone);
	int rc = aries_owner_enter(own, true);

	if (rc)
		return rc;
	umem = aries_reserve_find(own, arg->mdh, &u->range);
	rc = PTR_ERR_OR_ZERO(umem);
	/*
	 * the handle now belongs to another region, with other access rights or another user
	 * charged
	 */
	if (!rc && (umem->region.read_only != u->read_only ||
		    umem->region.charge.user != u->charge.user))
		rc = -EINVAL;
	if (!rc)
		rc = aries_reserve_fill(own, umem, u, &gone);
	if (!rc)
		arg->pages = umem->region.accounted;
	aries_owner_exit_free(own, &gone);
	return rc;
}

/*
 * Checks before anything is pinned: whether the update is allowed, whether the pages are read only,
 * and who is charged.
 */
static int aries_reserve_check(struct aries_owner *own, const struct kgni_mem_update *arg,
			       struct aries_update *u)
{
	struct aries_umem *umem;
	int rc = aries_owner_enter(own, true);

	if (rc)
		return rc;
	rc = aries_ctx_own(aries_ctx_of(own));
	umem = rc ? ERR_PTR(rc) : aries_reserve_find(own, arg->mdh, &u->range);
	rc = PTR_ERR_OR_ZERO(umem);
	if (!rc) {
		u->read_only = umem->region.read_only;
		aries_charge_same(&u->charge, &umem->region.charge);
	}
	aries_owner_exit(own);
	return rc;
}

static int aries_reserve_pin(struct aries_owner *own, struct aries_update *u)
{
	int rc = aries_charge(&u->charge, u->range.npages);

	if (rc)
		return rc;
	u->pages = kvmalloc_array(u->range.npages, sizeof(*u->pages),
				  GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!u->pages)
		return -ENOMEM;
	rc = aries_pin_range(&u->range, u->read_only, u->pages);
	if (rc)
		return rc;
	aries_pin_account(own->ad, current->mm, u->range.npages);
	return 0;
}

static void aries_reserve_unpin(struct aries_owner *own, struct aries_update *u)
{
	unsigned long i, unused = 0;

	for (i = 0; i < u->range.npages; i++) {
		if (!u->pages[i])
			continue;
		unpin_user_page(u->pages[i]);
		unused++;
	}
	aries_pin_unaccount(own->ad, current->mm, unused);
}

/** aries_mem_update() - KGNI_IOC_MEM_UPDATE. Context: sleeps. */
int aries_mem_update(struct aries_owner *own, struct kgni_mem_update *arg)
{
	struct aries_update u = {};
	int rc;

	if (arg->flags || arg->reserved)
		return -EINVAL;
	rc = aries_mem_range(arg->address, arg->length, &u.range);
	if (!rc)
		rc = aries_reserve_check(own, arg, &u);
	if (rc)
		return rc;
	rc = aries_reserve_pin(own, &u);
	if (!rc) {
		rc = aries_reserve_update(own, arg, &u);
		aries_reserve_unpin(own, &u);
	}
	kvfree(u.pages);
	aries_charge_end(&u.charge);
	return rc;
}
