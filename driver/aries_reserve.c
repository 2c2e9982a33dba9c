// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reserved regions: the range of a memory domain stands, its pages come with each update. A page
 * that the process has replaced since is taken out when no access can reach it any more.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "aries.h"
#include "aries_trace.h"

/**
 * struct aries_stale - a page that left a region
 * @next: another one
 * @page: it
 * @dma: its bus address
 */
struct aries_stale {
	struct aries_stale *next;
	struct page *page;
	dma_addr_t dma;
};

static enum dma_data_direction aries_reserve_dir(const struct aries_mem *mem)
{
	return mem->read_only ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL;
}

static void aries_reserve_drop(struct aries_dev *ad, const struct aries_mem *mem,
			       struct page *page, dma_addr_t dma)
{
	dma_unmap_page(&ad->pdev->dev, dma, PAGE_SIZE, aries_reserve_dir(mem));
	unpin_user_pages_dirty_lock(&page, 1, !mem->read_only);
}

static dma_addr_t aries_reserve_dma(const struct aries_mem *mem, unsigned long n)
{
	__le64 pte = mem->leaf[n / ARIES_PTES_PER_PAGE][n % ARIES_PTES_PER_PAGE];

	return le64_to_cpu(pte) & ARIES_PTE_ADDR_MASK;
}

static void aries_reserve_free_stale(struct aries_dev *ad, struct aries_mem *mem,
				     struct aries_stale *stale)
{
	while (stale) {
		struct aries_stale *next = stale->next;

		aries_reserve_drop(ad, mem, stale->page, stale->dma);
		kfree(stale);
		stale = next;
	}
}

/**
 * aries_reserve_free() - release the pages of a reserved region
 * @ad: the device
 * @mem: registration, which the NIC no longer knows
 *
 * Context: sleeps.
 */
void aries_reserve_free(struct aries_dev *ad, struct aries_mem *mem)
{
	struct page *page;
	unsigned long n;

	aries_reserve_free_stale(ad, mem, mem->stale);
	mem->stale = NULL;
	xa_for_each(&mem->pages, n, page) {
		aries_reserve_drop(ad, mem, page, aries_reserve_dma(mem, n));
		cond_resched();
	}
	xa_destroy(&mem->pages);
}

/* The region of an update, if it is one and the range lies in there. */
static struct aries_mem *aries_reserve_find(struct aries_ctx *ctx, u32 mdh,
					    const struct aries_range *range)
{
	struct aries_mem *mem = xa_load(&ctx->mems, mdh);

	if (!mem || mem->leaving)
		return ERR_PTR(-ENOENT);
	if (!mem->reserved || range->start < mem->start)
		return ERR_PTR(-EINVAL);
	if (((range->start - mem->start) >> PAGE_SHIFT) + range->npages > mem->npages)
		return ERR_PTR(-EINVAL);
	return mem;
}

/*
 * Puts one page into its place. One that was there before goes to *stale.
 * Return: 1 the page is the region's now, 0 it was already, or a negative errno.
 */
static int aries_reserve_put(struct aries_dev *ad, struct aries_mem *mem, unsigned long n,
			     struct page *page, struct aries_stale **stale)
{
	u64 flags = ARIES_PTE_VALID | (mem->read_only ? 0 : ARIES_PTE_WRITE);
	struct page *old = xa_load(&mem->pages, n);
	struct aries_stale *left = NULL;
	dma_addr_t dma;
	__le64 *pte;
	int rc = -ENOMEM;

	if (old == page)
		return 0;
	pte = aries_pte_leaf(ad, mem, n);
	if (IS_ERR(pte))
		return PTR_ERR(pte);
	if (old) {
		left = kzalloc(sizeof(*left), GFP_KERNEL_ACCOUNT);
		if (!left)
			return -ENOMEM;
	}
	dma = dma_map_page(&ad->pdev->dev, page, 0, PAGE_SIZE, aries_reserve_dir(mem));
	if (dma_mapping_error(&ad->pdev->dev, dma))
		goto err_left;
	rc = xa_err(xa_store(&mem->pages, n, page, GFP_KERNEL_ACCOUNT));
	if (rc)
		goto err_map;
	if (left) {
		left->page = old;
		left->dma = aries_reserve_dma(mem, n);
		left->next = *stale;
		*stale = left;
	}
	WRITE_ONCE(*pte, cpu_to_le64(dma | flags));
	return 1;

err_map:
	dma_unmap_page(&ad->pdev->dev, dma, PAGE_SIZE, aries_reserve_dir(mem));
err_left:
	kfree(left);
	return rc;
}

/* The NIC lets go of pages that have left: they end here, or with the region. */
static unsigned long aries_reserve_release(struct aries_dev *ad, struct aries_mem *mem,
					   struct aries_stale *stale)
{
	struct aries_stale *last = stale;
	unsigned long count = 1;

	for (; last->next; last = last->next)
		count++;
	if (aries_inv_ptes(ad, mem->mdh)) {
		last->next = mem->stale;
		mem->stale = stale;
		return 0;
	}
	aries_reserve_free_stale(ad, mem, stale);
	return count;
}

/**
 * struct aries_update - one call of KGNI_IOC_MEM_UPDATE
 * @range: pages of the process
 * @pages: the same, pinned; NULL for those that the region has taken over
 * @read_only: how they are pinned
 * @charge: who pays for those that are not the region's
 */
struct aries_update {
	struct aries_range range;
	struct page **pages;
	bool read_only;
	struct aries_charge charge;
};

static int aries_reserve_fill(struct aries_ctx *ctx, struct aries_mem *mem, struct aries_update *u)
	__must_hold(&ctx->lock)
{
	unsigned long first = (u->range.start - mem->start) >> PAGE_SHIFT;
	struct aries_stale *stale = NULL;
	unsigned long i;
	int rc = 0;

	lockdep_assert_held(&ctx->lock);
	for (i = 0; i < u->range.npages && rc >= 0; i++) {
		rc = aries_reserve_put(ctx->ad, mem, first + i, u->pages[i], &stale);
		if (rc > 0) {
			u->pages[i] = NULL;
			aries_charge_move(&mem->charge, &u->charge, 1);
			mem->accounted++;
		}
		cond_resched();
	}
	if (!mem->live && mem->accounted)
		aries_mem_program(ctx, mem);
	if (stale) {
		unsigned long count = aries_reserve_release(ctx->ad, mem, stale);

		mem->accounted -= count;
		aries_pin_unaccount(ctx->ad, mem->mm, count);
		aries_uncharge(&mem->charge, count);
	}
	trace_aries_mem_update(ctx, mem);
	return min(rc, 0);
}

static int aries_reserve_update(struct aries_ctx *ctx, struct kgni_mem_update *arg,
				struct aries_update *u)
{
	struct aries_mem *mem;
	int rc = aries_ctx_enter(ctx, true);

	if (rc)
		return rc;
	mem = aries_reserve_find(ctx, arg->mdh, &u->range);
	rc = PTR_ERR_OR_ZERO(mem);
	/* another region meanwhile: for reading only, or somebody else pays for it */
	if (!rc && (mem->read_only != u->read_only || mem->charge.user != u->charge.user))
		rc = -EINVAL;
	if (!rc)
		rc = aries_reserve_fill(ctx, mem, u);
	if (!rc)
		arg->pages = mem->accounted;
	aries_ctx_exit(ctx);
	return rc;
}

/* Before anything is pinned: may this be done, for whom may be written, and who pays. */
static int aries_reserve_check(struct aries_ctx *ctx, const struct kgni_mem_update *arg,
			       struct aries_update *u)
{
	struct aries_mem *mem;
	int rc = aries_ctx_enter(ctx, true);

	if (rc)
		return rc;
	rc = aries_ctx_own(ctx);
	mem = rc ? ERR_PTR(rc) : aries_reserve_find(ctx, arg->mdh, &u->range);
	rc = PTR_ERR_OR_ZERO(mem);
	if (!rc) {
		u->read_only = mem->read_only;
		aries_charge_same(&u->charge, &mem->charge);
	}
	aries_ctx_exit(ctx);
	return rc;
}

static int aries_reserve_pin(struct aries_ctx *ctx, struct aries_update *u)
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
	aries_pin_account(ctx->ad, current->mm, u->range.npages);
	return 0;
}

static void aries_reserve_unpin(struct aries_ctx *ctx, struct aries_update *u)
{
	unsigned long i, unused = 0;

	for (i = 0; i < u->range.npages; i++) {
		if (!u->pages[i])
			continue;
		unpin_user_page(u->pages[i]);
		unused++;
	}
	aries_pin_unaccount(ctx->ad, current->mm, unused);
}

/** aries_mem_update() - KGNI_IOC_MEM_UPDATE. Context: sleeps. */
int aries_mem_update(struct aries_ctx *ctx, struct kgni_mem_update *arg)
{
	struct aries_update u = {};
	int rc;

	if (arg->flags || arg->reserved)
		return -EINVAL;
	rc = aries_mem_range(arg->address, arg->length, &u.range);
	if (!rc)
		rc = aries_reserve_check(ctx, arg, &u);
	if (rc)
		return rc;
	rc = aries_reserve_pin(ctx, &u);
	if (!rc) {
		rc = aries_reserve_update(ctx, arg, &u);
		aries_reserve_unpin(ctx, &u);
	}
	kvfree(u.pages);
	aries_charge_end(&u.charge);
	return rc;
}
