// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions of kernel memory: linear, from vmalloc, or named by physical addresses.
 *
 * Nothing pins such memory, so a call that deregisters a region returns only after the NIC has
 * released it, however long that takes. The number of a region may be held longer: a peer that is
 * believed dead may still use the handle, which must not refer to other memory then.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/iopoll.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "aries_client.h"
#include "aries_compat.h"

/* Much longer than an access takes, unless its peer is stopped, and short enough to spin. */
#define ARIES_CUT_US 10000

/**
 * struct aries_hold - a number that outlives its region
 * @node: in aries_kowner.holds
 * @mdh: the number
 * @until: when the hold ends, in jiffies
 */
struct aries_hold {
	struct list_head node;
	u16 mdh;
	unsigned long until;
};

/**
 * struct aries_kmem - a region of kernel memory
 * @region: the region
 * @own: the client, with a reference
 * @hold: hold for the number after deregistration, or NULL
 * @lock: protects @settled, and the number and @guarded until that is set
 * @settled: the NIC has released it, or never will; its number may be in use for another region
 * @guarded: how many of its pages, from the first on, have a reference until it is freed
 * @freed: completed when the NIC has released it, or never will
 * @lost: the NIC will never release it
 */
struct aries_kmem {
	struct aries_region region;
	struct aries_owner *own;
	struct aries_hold *hold;
	spinlock_t lock; /* settled */
	bool settled;
	unsigned long guarded;
	struct completion freed;
	bool lost;
};

static void aries_kmem_settle(struct aries_kmem *kmem)
{
	unsigned long flags;

	spin_lock_irqsave(&kmem->lock, flags);
	kmem->settled = true;
	spin_unlock_irqrestore(&kmem->lock, flags);
}

/*
 * Take references of the pages, so that nobody else gets them while a peer may write to them even
 * if the client frees them. Memory from kmalloc() cannot be guarded, nor can later pages of a block
 * that is not compound: such a page has no reference of its own.
 * Return: 0; -EINPROGRESS if all pages are guarded; -ETIMEDOUT if not all can be.
 */
static int aries_kmem_guard(struct aries_kmem *kmem)
{
	struct sg_page_iter at;
	unsigned long flags, seen = 0;
	int rc = 0;

	spin_lock_irqsave(&kmem->lock, flags);
	if (kmem->settled)
		goto out;
	rc = -EINPROGRESS;
	for_each_sgtable_page(&kmem->region.sgt, &at, 0) {
		struct folio *folio = page_folio(sg_page_iter_page(&at));

		/* an earlier call has taken these */
		if (seen++ < kmem->guarded)
			continue;
		if (folio_test_slab(folio) || !folio_try_get(folio)) {
			rc = -ETIMEDOUT;
			break;
		}
		kmem->guarded++;
	}
out:
	spin_unlock_irqrestore(&kmem->lock, flags);
	return rc;
}

static void aries_kmem_unguard(struct aries_kmem *kmem)
{
	struct sg_page_iter at;

	for_each_sgtable_page(&kmem->region.sgt, &at, 0) {
		if (!kmem->guarded)
			break;
		kmem->guarded--;
		folio_put(page_folio(sg_page_iter_page(&at)));
	}
}

static void aries_kmem_release(struct aries_dev *ad, struct aries_region *region)
{
	struct aries_kmem *kmem = container_of(region, struct aries_kmem, region);

	aries_pte_free(ad, region);
	aries_kmem_unguard(kmem);
	sg_free_table(&region->sgt);
	complete(&kmem->freed);
}

/*
 * The driver abandons a NIC that has not released the region. The waiter must not reuse the memory.
 */
static void aries_kmem_lose(struct aries_dev *ad, struct aries_kept *kept)
{
	struct aries_kmem *kmem = container_of(kept, struct aries_kmem, region.kept);

	aries_kmem_settle(kmem);
	kmem->lost = true;
	complete(&kmem->freed);
}

/* Clients that make memory available wait for this work, so it must not need any. */
static struct workqueue_struct *aries_hold_wq;

/** aries_hold_init() - create the work queue. Context: sleeps. Return: 0 or -ENOMEM. */
int aries_hold_init(void)
{
	aries_hold_wq = alloc_workqueue("aries-hold", WQ_MEM_RECLAIM, 0);
	return aries_hold_wq ? 0 : -ENOMEM;
}

/** aries_hold_exit() - undo aries_hold_init(). Context: sleeps; no client is left. */
void aries_hold_exit(void)
{
	destroy_workqueue(aries_hold_wq);
}

/* Schedule the work for the next hold that expires. */
static void aries_hold_schedule(struct aries_kowner *kowner)
{
	unsigned long now = jiffies, next = now + MAX_JIFFY_OFFSET;
	struct aries_hold *hold;

	if (list_empty(&kowner->holds))
		return;
	list_for_each_entry(hold, &kowner->holds, node)
		if (time_before(hold->until, next))
			next = hold->until;
	mod_delayed_work(aries_hold_wq, &kowner->hold_work, time_after(next, now) ? next - now : 0);
}

/* The region is gone: should its number be held? Context: sleeps. */
static bool aries_kmem_keep(struct aries_dev *ad, struct aries_region *region)
{
	struct aries_kmem *kmem = container_of(region, struct aries_kmem, region);
	struct aries_kowner *kowner = aries_kowner_of(kmem->own);
	bool keep;

	aries_kmem_settle(kmem);
	if (!kmem->hold)
		return false;
	mutex_lock(&kowner->own.lock);
	/* a reset, or the end of the client, frees all numbers */
	keep = kowner->own.dom && !kowner->own.dead;
	if (keep) {
		list_add_tail(&kmem->hold->node, &kowner->holds);
		kmem->hold = NULL;
		aries_hold_schedule(kowner);
	}
	mutex_unlock(&kowner->own.lock);
	return keep;
}

static struct page *aries_kmem_page(u64 address)
{
	const void *p = (const void *)(uintptr_t)address;

	if (is_vmalloc_addr(p))
		return vmalloc_to_page(p);
	return virt_addr_valid(p) ? virt_to_page(p) : NULL;
}

/* Count the pages of all segments. Return: their number, or a negative errno. */
static long aries_kmem_count(const struct aries_region_args *args)
{
	unsigned long npages = 0;
	unsigned int i;

	if (args->physical)
		return args->count <= ARIES_REGION_MAX >> PAGE_SHIFT ? args->count : -EFBIG;
	for (i = 0; i < args->count; i++) {
		const struct aries_segment *s = &args->segments[i];
		u64 end;

		if (!s->length || check_add_overflow(s->address, s->length - 1, &end))
			return -EINVAL;
		if (s->length > ARIES_REGION_MAX)
			return -EFBIG;
		npages += (end >> PAGE_SHIFT) - (s->address >> PAGE_SHIFT) + 1;
		if (npages > ARIES_REGION_MAX >> PAGE_SHIFT)
			return -EFBIG;
	}
	return npages;
}

static int aries_kmem_fill_physical(const struct aries_region_args *args, struct page **pages)
{
	unsigned int i;

	for (i = 0; i < args->count; i++) {
		unsigned long pfn = PHYS_PFN(args->segments[i].address);

		if (!pfn_valid(pfn))
			return -EFAULT;
		pages[i] = pfn_to_page(pfn);
	}
	return 0;
}

static int aries_kmem_fill(const struct aries_region_args *args, struct page **pages)
{
	unsigned int i;

	if (args->physical)
		return aries_kmem_fill_physical(args, pages);

	for (i = 0; i < args->count; i++) {
		const struct aries_segment *s = &args->segments[i];
		u64 at = s->address & PAGE_MASK, last = s->address + s->length - 1;

		for (;; at += PAGE_SIZE) {
			*pages = aries_kmem_page(at);
			if (!*pages)
				return -EFAULT;
			pages++;
			if (at == (last & PAGE_MASK))
				break;
		}
	}
	return 0;
}

static int aries_kmem_table(struct aries_kmem *kmem, const struct aries_region_args *args)
{
	struct aries_region *region = &kmem->region;
	struct page **pages;
	int rc;

	pages = kvmalloc_array(region->npages, sizeof(*pages), GFP_KERNEL | __GFP_NOWARN);
	if (!pages)
		return -ENOMEM;
	rc = aries_kmem_fill(args, pages);
	if (!rc)
		rc = sg_alloc_table_from_pages(&region->sgt, pages, region->npages, 0,
					       region->npages * PAGE_SIZE, GFP_KERNEL);
	kvfree(pages);
	return rc;
}

static struct aries_kmem *aries_kmem_new(struct aries_owner *own,
					 const struct aries_region_args *args)
{
	long npages = args->count ? aries_kmem_count(args) : -EINVAL;
	struct aries_kmem *kmem;
	int rc;

	if (npages < 0 || args->flags & ~ARIES_REGION_READ_ONLY)
		return ERR_PTR(npages < 0 ? npages : -EINVAL);
	kmem = kzalloc(sizeof(*kmem), GFP_KERNEL);
	if (!kmem)
		return ERR_PTR(-ENOMEM);
	kmem->own = own;
	spin_lock_init(&kmem->lock);
	init_completion(&kmem->freed);
	kmem->region.release = aries_kmem_release;
	kmem->region.kept.lose = aries_kmem_lose;
	kmem->region.keep = aries_kmem_keep;
	kmem->region.read_only = args->flags & ARIES_REGION_READ_ONLY;
	kmem->region.npages = npages;
	kmem->region.cq = args->cq;
	if (args->count == 1 && !args->physical && !args->by_offset)
		kmem->region.start = args->segments[0].address & PAGE_MASK;
	rc = aries_kmem_table(kmem, args);
	if (!rc)
		return kmem;
	kfree(kmem);
	return ERR_PTR(rc);
}

/* Context: state_sem held. On failure the caller frees the region. */
static int aries_kmem_publish(struct aries_kmem *kmem)
{
	struct aries_region *region = &kmem->region;
	struct aries_owner *own = kmem->own;
	int rc = aries_owner_status(own);

	if (!rc)
		rc = aries_pte_build(own->ad, region);
	if (rc)
		return rc;
	mutex_lock(&own->lock);
	rc = aries_owner_status(own);
	if (!rc && !own->dom)
		rc = -EIO;
	if (!rc && region->cq && aries_cq_find(own, region->cq->nr) != region->cq)
		rc = -EINVAL;
	if (!rc)
		rc = aries_region_publish(own, region, NULL, false);
	if (!rc)
		kref_get(&own->ref);
	mutex_unlock(&own->lock);
	return rc;
}

struct aries_region *aries_region_register(struct aries_owner *own,
					   const struct aries_region_args *args,
					   struct aries_region_info *info)
{
	struct aries_kmem *kmem = aries_kmem_new(own, args);
	struct aries_dev *ad = own->ad;
	int rc;

	if (IS_ERR(kmem))
		return ERR_CAST(kmem);
	down_read(&ad->state_sem);
	rc = aries_kmem_publish(kmem);
	if (rc)
		aries_kmem_release(ad, &kmem->region);
	up_read(&ad->state_sem);
	if (rc) {
		kfree(kmem);
		return ERR_PTR(rc);
	}
	info->mdh = kmem->region.mdh;
	info->base = kmem->region.start & (ARIES_REGION_MAX - 1);
	info->bytes = (u64)kmem->region.npages << PAGE_SHIFT;
	return &kmem->region;
}
EXPORT_SYMBOL_ARIES(aries_region_register);

/* Free a number that was held. Context: may sleep; the owner has a domain. */
static void aries_hold_put(struct aries_owner *own, struct aries_hold *hold)
{
	struct aries_dev *ad = own->ad;

	aries_pool_put_held(&ad->mdds, hold->mdh);
	aries_domain_uncharge(ad, own->dom, ARIES_RES_MDD, 1);
	kfree(hold);
}

/* Take the hold of @mdh off the list, or one that has expired if @mdh is negative. */
static struct aries_hold *aries_hold_take(struct aries_kowner *kowner, int mdh)
{
	struct aries_hold *hold;

	list_for_each_entry(hold, &kowner->holds, node)
		if (mdh < 0 ? time_after_eq(jiffies, hold->until) : hold->mdh == mdh) {
			list_del(&hold->node);
			return hold;
		}
	return NULL;
}

/** aries_hold_work() - release the numbers whose hold time has passed */
void aries_hold_work(struct work_struct *work)
{
	struct aries_kowner *kowner = container_of(work, struct aries_kowner, hold_work.work);
	struct aries_hold *hold;

	if (aries_owner_enter(&kowner->own, true))
		return;
	while ((hold = aries_hold_take(kowner, -1)))
		aries_hold_put(&kowner->own, hold);
	aries_hold_schedule(kowner);
	aries_owner_exit(&kowner->own);
}

/** aries_hold_end_all() - release all held numbers. Context: sleeps; own->lock held. */
void aries_hold_end_all(struct aries_kowner *kowner)
{
	struct aries_hold *hold, *next;

	list_for_each_entry_safe(hold, next, &kowner->holds, node) {
		list_del(&hold->node);
		aries_hold_put(&kowner->own, hold);
	}
}

/* Context: state_sem and own->lock held. */
static int aries_kmem_end(struct aries_kmem *kmem, unsigned int hold_ms, struct list_head *gone)
	__must_hold(&kmem->own->lock)
{
	struct aries_region *region = &kmem->region;

	if (xa_load(&kmem->own->mems, region->mdh) != region)
		return 0; /* everything was revoked from the owner */
	if (region->recvs)
		return -EBUSY;
	if (kmem->hold)
		kmem->hold->until = jiffies + msecs_to_jiffies(hold_ms);
	aries_region_del(kmem->own, region, gone);
	return 0;
}

/* Has the NIC released the region? The first call revokes it. Context: any. */
static bool aries_kmem_let_go(struct aries_kmem *kmem, u64 *seq)
{
	struct aries_dev *ad = kmem->own->ad;
	unsigned long flags;
	bool gone;

	spin_lock_irqsave(&kmem->lock, flags);
	gone = kmem->settled;
	if (!gone && !*seq)
		*seq = aries_region_take_away(ad, &kmem->region);
	if (!gone)
		gone = !aries_inv_look(ad, *seq);
	spin_unlock_irqrestore(&kmem->lock, flags);
	return gone;
}

int aries_region_cut(struct aries_region *region)
{
	struct aries_kmem *kmem = container_of(region, struct aries_kmem, region);
	struct aries_dev *ad = kmem->own->ad;
	u64 seq = 0, us = ARIES_CUT_US;
	bool gone;

	/* another call has waited for the same access in vain */
	if (aries_rd64(ad, ARIES_INV_DONE) == READ_ONCE(ad->cut_late))
		us = 1;
	if (!read_poll_timeout_atomic(aries_kmem_let_go, gone, gone, 1, us, false, kmem, &seq))
		return 0;
	WRITE_ONCE(ad->cut_late, aries_rd64(ad, ARIES_INV_DONE));
	return aries_kmem_guard(kmem);
}
EXPORT_SYMBOL_ARIES(aries_region_cut);

int aries_region_deregister(struct aries_region *region, unsigned int hold_ms)
{
	struct aries_kmem *kmem = container_of(region, struct aries_kmem, region);
	struct aries_owner *own = kmem->own;
	LIST_HEAD(gone);
	int rc;

	if (hold_ms) {
		kmem->hold = kmalloc(sizeof(*kmem->hold), GFP_KERNEL | __GFP_NOFAIL);
		kmem->hold->mdh = region->mdh;
	}
	down_read(&own->ad->state_sem);
	mutex_lock(&own->lock);
	rc = aries_kmem_end(kmem, hold_ms, &gone);
	aries_owner_exit_free(own, &gone);
	if (!rc) {
		wait_for_completion(&kmem->freed);
		/* the driver still refers to a lost region, so that one is not freed */
		rc = kmem->lost ? -EIO : 0;
	}
	if (rc != -EBUSY)
		aries_owner_put(own);
	if (rc != -EIO) {
		kfree(kmem->hold);
		kmem->hold = NULL;
	}
	if (!rc)
		kfree(kmem);
	return rc;
}
EXPORT_SYMBOL_ARIES(aries_region_deregister);

int aries_region_release(struct aries_owner *own, u16 mdh)
{
	struct aries_kowner *kowner = aries_kowner_of(own);
	struct aries_hold *hold;

	if (aries_owner_enter(own, true))
		return -ENOENT;
	hold = aries_hold_take(kowner, mdh);
	if (hold)
		aries_hold_put(own, hold);
	aries_owner_exit(own);
	return hold ? 0 : -ENOENT;
}
EXPORT_SYMBOL_ARIES(aries_region_release);
