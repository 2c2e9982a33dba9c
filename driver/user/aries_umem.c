// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registrations of user memory: regions of pages that are pinned (aries_pin.c) and charged.
 */
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "aries_user.h"

/**
 * aries_mem_range() - whole pages of a range of user memory
 * @address: virtual address
 * @length: length in bytes
 * @range: set to the pages
 *
 * Return: 0, -EINVAL, or -EFBIG if the range is larger than a handle can cover.
 */
int aries_mem_range(u64 address, u64 length, struct aries_range *range)
{
	u64 end;

	if (!length)
		return -EINVAL;
	if (check_add_overflow(address, length, &end) || end > TASK_SIZE_MAX)
		return length > ARIES_REGION_MAX ? -EFBIG : -EINVAL;
	range->start = address & PAGE_MASK;
	range->npages = (PAGE_ALIGN(end) - range->start) >> PAGE_SHIFT;
	return range->npages > ARIES_REGION_MAX >> PAGE_SHIFT ? -EFBIG : 0;
}

/* Early check to avoid useless pinning. It is repeated later because the state may change. */
static int aries_mem_allowed(struct aries_owner *own)
{
	int rc = aries_owner_enter(own, true);

	if (rc)
		return rc;
	rc = aries_ctx_own(aries_ctx_of(own));
	aries_owner_exit(own);
	return rc;
}

static struct aries_umem *aries_umem_reserve(const struct aries_range *range, bool read_only)
{
	struct aries_umem *umem;

	/* no process can populate more, and this limits the size of the directory, too */
	if (range->npages > totalram_pages())
		return ERR_PTR(-ENOMEM);
	umem = aries_pin_none(range->start, range->npages, read_only);
	if (!IS_ERR(umem))
		umem->reserved = true;
	return umem;
}

/* The NIC has never used the registration, or uses it no more. */
static void aries_umem_free(struct aries_dev *ad, struct aries_umem *umem)
{
	if (umem->reserved)
		aries_reserve_free(ad, umem);
	aries_pte_free(ad, &umem->region);
	aries_unpin(ad, umem);
}

static void aries_umem_release(struct aries_dev *ad, struct aries_region *region)
{
	aries_umem_free(ad, container_of(region, struct aries_umem, region));
}

/** aries_umem_of() - the user memory registration of a region, or NULL if it is another kind */
struct aries_umem *aries_umem_of(struct aries_region *region)
{
	return region->release == aries_umem_release ?
		       container_of(region, struct aries_umem, region) :
		       NULL;
}

/**
 * struct aries_told - results of a registration, copied because any thread may deregister it
 * @mdh: memory domain handle
 * @page_shift: log2 of the page size in the NIC's table
 * @npages: number of pages of 4 KiB
 */
struct aries_told {
	u16 mdh;
	unsigned int page_shift;
	unsigned long npages;
};

static int aries_umem_publish(struct aries_owner *own, struct aries_umem *umem, u32 cq, u32 *vmdh)
	__must_hold(&own->lock)
{
	if (cq != KGNI_NO_CQ) {
		umem->region.cq = aries_cq_find(own, cq);
		if (!umem->region.cq)
			return -ENOENT;
	}
	/* a reserved region is programmed by its first update */
	return aries_region_publish(own, &umem->region, vmdh, umem->reserved);
}

/*
 * Builds the translation table without own->lock, which others wait for, and then gives @umem to
 * the owner and lets peers access it. state_sem is held all the time, so that the DMA mappings made
 * here are removed before the NIC goes.
 */
static int aries_umem_build(struct aries_owner *own, struct aries_umem *umem, u32 cq, u32 *vmdh,
			    struct aries_told *told)
{
	struct aries_dev *ad = own->ad;
	int rc = aries_owner_status(own);

	if (!rc)
		rc = umem->reserved ? aries_pte_reserve(ad, &umem->region) :
				      aries_pte_build(ad, &umem->region);
	if (rc)
		return rc;
	mutex_lock(&own->lock);
	rc = aries_owner_status(own);
	if (!rc)
		rc = own->dom ? aries_umem_publish(own, umem, cq, vmdh) : -ENOTCONN;
	*told = (struct aries_told){ .mdh = umem->region.mdh,
				     .page_shift = umem->region.page_shift,
				     .npages = umem->region.npages };
	mutex_unlock(&own->lock);
	return rc;
}

/* Return: 0, or a negative errno, and then @umem is freed. */
static int aries_umem_add(struct aries_owner *own, struct aries_umem *umem, u32 cq, u32 *vmdh,
			  struct aries_told *told)
{
	struct aries_dev *ad = own->ad;
	int rc;

	umem->region.release = aries_umem_release;
	down_read(&ad->state_sem);
	rc = aries_umem_build(own, umem, cq, vmdh, told);
	if (rc)
		aries_umem_free(ad, umem);
	up_read(&ad->state_sem);
	return rc;
}

/** aries_mem_register() - KGNI_IOC_MEM_REGISTER. Context: sleeps. */
int aries_mem_register(struct aries_owner *own, struct kgni_mem_register *arg)
{
	bool read_only = arg->flags & KGNI_MEM_READ_ONLY;
	bool virtual = arg->flags & KGNI_MEM_VMDH;
	struct aries_told told;
	struct aries_umem *umem;
	struct aries_range range;
	int rc;

	if (arg->flags & ~(KGNI_MEM_READ_ONLY | KGNI_MEM_RESERVE | KGNI_MEM_VMDH) ||
	    (arg->vmdh && !virtual))
		return -EINVAL;
	rc = aries_mem_range(arg->address, arg->length, &range);
	if (!rc)
		rc = aries_mem_allowed(own);
	if (rc)
		return rc;
	umem = arg->flags & KGNI_MEM_RESERVE ? aries_umem_reserve(&range, read_only) :
					       aries_pin(own->ad, &range, 1, read_only);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	rc = aries_umem_add(own, umem, arg->cq, virtual ? &arg->vmdh : NULL, &told);
	if (rc)
		return rc;
	arg->mdh = told.mdh;
	arg->page_shift = told.page_shift;
	arg->base = range.start;
	arg->pages = range.npages;
	return 0;
}

/* Returns the page ranges of a list of segments, which together fit into one handle. */
static struct aries_range *aries_mem_ranges(const struct kgni_mem_segments *arg)
{
	struct kgni_mem_segment *segments;
	struct aries_range *ranges;
	unsigned long npages = 0;
	unsigned int i;
	int rc = 0;

	segments = vmemdup_user(u64_to_user_ptr(arg->segments), arg->count * sizeof(*segments));
	if (IS_ERR(segments))
		return ERR_CAST(segments);
	ranges = kvcalloc(arg->count, sizeof(*ranges), GFP_KERNEL_ACCOUNT);
	if (!ranges)
		rc = -ENOMEM;
	for (i = 0; i < arg->count && !rc; i++) {
		rc = aries_mem_range(segments[i].address, segments[i].length, &ranges[i]);
		if (rc)
			break;
		npages += ranges[i].npages;
		if (npages > ARIES_REGION_MAX >> PAGE_SHIFT)
			rc = -EFBIG;
	}
	kvfree(segments);
	if (!rc)
		return ranges;
	kvfree(ranges);
	return ERR_PTR(rc);
}

/** aries_mem_segments() - KGNI_IOC_MEM_SEGMENTS. Context: sleeps. */
int aries_mem_segments(struct aries_owner *own, struct kgni_mem_segments *arg)
{
	bool virtual = arg->flags & KGNI_MEM_VMDH;
	struct aries_told told;
	struct aries_range *ranges;
	struct aries_umem *umem;
	int rc;

	if (arg->flags & ~(KGNI_MEM_READ_ONLY | KGNI_MEM_VMDH) || !arg->count || arg->reserved ||
	    (arg->vmdh && !virtual))
		return -EINVAL;
	if (arg->count > KGNI_SEGMENTS_MAX)
		return -EFBIG;
	rc = aries_mem_allowed(own);
	if (rc)
		return rc;
	ranges = aries_mem_ranges(arg);
	if (IS_ERR(ranges))
		return PTR_ERR(ranges);
	umem = aries_pin(own->ad, ranges, arg->count, arg->flags & KGNI_MEM_READ_ONLY);
	kvfree(ranges);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	umem->region.start = 0; /* segments are addressed by offset */
	rc = aries_umem_add(own, umem, arg->cq, virtual ? &arg->vmdh : NULL, &told);
	if (rc)
		return rc;
	arg->mdh = told.mdh;
	arg->page_shift = told.page_shift;
	arg->pages = told.npages;
	return 0;
}

/** aries_mem_deregister() - KGNI_IOC_MEM_DEREGISTER. Context: sleeps. */
int aries_mem_deregister(struct aries_owner *own, struct kgni_mem_deregister *arg)
{
	struct aries_region *region;
	LIST_HEAD(gone);
	u64 seq = 0;
	int rc = aries_owner_enter(own, true);

	if (rc)
		return rc;
	region = xa_load(&own->mems, arg->mdh);
	if (!region || region->leaving)
		rc = -ENOENT;
	else if (region->recvs)
		rc = -EBUSY;
	else
		seq = aries_region_revoke(own->ad, region);
	aries_owner_exit(own);
	if (!rc)
		rc = aries_inv_sleep(own->ad, seq);
	if (rc || aries_owner_enter(own, true))
		return rc;
	/* the number was not reused in the meantime */
	region = xa_load(&own->mems, arg->mdh);
	if (region && region->leaving)
		aries_region_del(own, region, &gone);
	aries_owner_exit_free(own, &gone);
	return 0;
}
