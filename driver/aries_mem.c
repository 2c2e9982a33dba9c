// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory domains: registrations of user memory.
 */
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "aries.h"
#include "aries_trace.h"

#define ARIES_MEM_MAX BIT_ULL(ARIES_OFFSET_BITS)

static void aries_mem_free(struct aries_dev *ad, struct aries_mem *mem)
{
	if (mem->reserved)
		aries_reserve_free(ad, mem);
	aries_pte_free(ad, mem);
	aries_unpin(ad, mem);
}

/** aries_mem_program() - let peers reach a registration. Context: own->lock held. */
void aries_mem_program(struct aries_owner *own, struct aries_mem *mem)
{
	struct aries_dev *ad = own->ad;
	bool two_level = mem->leaf;
	/* a virtual handle is memory elsewhere on each node: offsets count from its start */
	u64 base = mem->block ? 0 : mem->start & (ARIES_MEM_MAX - 1);
	u64 ctl = FIELD_PREP(ARIES_MDD_CTL_VALID_MASK, 1ull) |
		  FIELD_PREP(ARIES_MDD_CTL_READ_ONLY_MASK, (u64)mem->read_only) |
		  FIELD_PREP(ARIES_MDD_CTL_TWO_LEVEL_MASK, (u64)two_level) |
		  FIELD_PREP(ARIES_MDD_CTL_PTAG_MASK, (u64)own->dom->ptag) |
		  FIELD_PREP(ARIES_MDD_CTL_PAGE_SHIFT_MASK, (u64)mem->page_shift) |
		  FIELD_PREP(ARIES_MDD_CTL_OWNER_MASK, (u64)own->nr);

	if (mem->cq)
		ctl |= FIELD_PREP(ARIES_MDD_CTL_CQ_VALID_MASK, 1ull) |
		       FIELD_PREP(ARIES_MDD_CTL_CQ_MASK, (u64)mem->cq->nr);
	aries_wr64(ad, ARIES_MDD_BASE_N(mem->mdh),
		   FIELD_PREP(ARIES_MDD_BASE_OFFSET_MASK, base));
	aries_wr64(ad, ARIES_MDD_LENGTH_N(mem->mdh),
		   FIELD_PREP(ARIES_MDD_LENGTH_LENGTH_MASK, (u64)mem->npages << PAGE_SHIFT));
	aries_wr64(ad, ARIES_MDD_TABLE_N(mem->mdh), mem->table_dma);
	aries_wr64(ad, ARIES_MDD_CTL_N(mem->mdh), ctl);
	mem->live = true;
}

static int aries_mem_find_cq(struct aries_owner *own, struct aries_mem *mem, u32 cq)
{
	if (cq == KGNI_NO_CQ)
		return 0;
	mem->cq = aries_cq_find(own, cq);
	return mem->cq ? 0 : -ENOENT;
}

/* A number of its own; the places of a block are on the domain's account already. */
static int aries_mem_get_number(struct aries_owner *own)
{
	struct aries_dev *ad = own->ad;
	int rc = aries_domain_charge(ad, own->dom, ARIES_RES_MDD, 1);

	if (rc)
		return rc;
	rc = aries_pool_get(&ad->mdds, own->nr);
	if (rc < 0)
		aries_domain_uncharge(ad, own->dom, ARIES_RES_MDD, 1);
	return rc;
}

/* Of a registration that the NIC has never known. */
static void aries_mem_put_number(struct aries_owner *own, const struct aries_mem *mem)
{
	struct aries_dev *ad = own->ad;

	if (mem->block) {
		aries_vmdh_put(ad, mem->block, mem->mdh);
		return;
	}
	aries_pool_put(&ad->mdds, mem->mdh, own->nr);
	aries_domain_uncharge(ad, own->dom, ARIES_RES_MDD, 1);
}

/*
 * @vmdh: place in the domain's block, in and out; NULL for a number of its own. If it fails, what
 * has been made of the table is for aries_mem_exit().
 */
static int aries_mem_add(struct aries_owner *own, struct aries_mem *mem, u32 cq, u32 *vmdh)
	__must_hold(&own->lock)
{
	struct aries_dev *ad = own->ad;
	int rc, mdh;

	lockdep_assert_held(&own->lock);
	rc = aries_mem_find_cq(own, mem, cq);
	if (rc)
		return rc;
	rc = mem->reserved ? aries_pte_reserve(ad, mem) : aries_pte_build(ad, mem);
	if (rc)
		return rc;
	rc = aries_domain_charge(ad, own->dom, ARIES_RES_PAGES, mem->npages);
	if (rc)
		return rc;
	mdh = vmdh ? aries_vmdh_get(own, vmdh, &mem->block) : aries_mem_get_number(own);
	if (mdh < 0) {
		rc = mdh;
		goto err_pages;
	}
	mem->mdh = mdh;
	rc = xa_err(xa_store(&own->mems, mdh, mem, GFP_KERNEL));
	if (rc)
		goto err_pool;
	if (mem->cq)
		mem->cq->mem_refs++;
	/* a reserved region waits for its first update */
	if (!mem->reserved)
		aries_mem_program(own, mem);
	trace_aries_mem_register(own, mem);
	return 0;

err_pool:
	aries_mem_put_number(own, mem);
err_pages:
	aries_domain_uncharge(ad, own->dom, ARIES_RES_PAGES, mem->npages);
	return rc;
}

/* As aries_owner_exit(), after aries_mem_add(), which returned @rc. */
static void aries_mem_exit(struct aries_owner *own, struct aries_mem *mem, int rc)
{
	mutex_unlock(&own->lock);
	if (rc)
		aries_pte_free(own->ad, mem);
	up_read(&own->ad->state_sem);
}

static void aries_mem_free_kept(struct aries_dev *ad, struct aries_kept *kept)
{
	struct aries_mem *mem = container_of(kept, struct aries_mem, kept);

	if (mem->block) {
		aries_vmdh_put(ad, mem->block, mem->mdh);
	} else {
		aries_pool_put_held(&ad->mdds, mem->mdh);
		aries_domain_uncharge(ad, kept->dom, ARIES_RES_MDD, 1);
	}
	aries_domain_uncharge(ad, kept->dom, ARIES_RES_PAGES, mem->npages);
	aries_mem_free(ad, mem);
}

/* No access to it begins any more. Return: what to wait for. */
static u64 aries_mem_revoke(struct aries_dev *ad, struct aries_mem *mem)
{
	mem->leaving = true;
	mem->live = false;
	aries_wr32(ad, ARIES_INV_MDD, FIELD_PREP(ARIES_INV_MDD_MDH_MASK, mem->mdh));
	return aries_inv_seq(ad);
}

/* Invalidates a registration and takes it from the attachment. */
static void aries_mem_del(struct aries_owner *own, struct aries_mem *mem, struct list_head *gone)
	__must_hold(&own->lock)
{
	struct aries_dev *ad = own->ad;

	lockdep_assert_held(&own->lock);
	if (!mem->leaving)
		aries_mem_revoke(ad, mem);
	trace_aries_mem_deregister(own, mem);
	xa_erase(&own->mems, mem->mdh);
	if (mem->cq)
		mem->cq->mem_refs--;
	if (!mem->block)
		aries_pool_hold(&ad->mdds, mem->mdh, own->nr);
	aries_quiet_take(own, gone, &mem->kept, aries_mem_free_kept);
}

/**
 * aries_mem_range() - whole pages of a range of user memory
 * @address: virtual address
 * @length: bytes
 * @range: gets the pages
 *
 * Return: 0, -EINVAL, -EFBIG more than the reach of a handle.
 */
int aries_mem_range(u64 address, u64 length, struct aries_range *range)
{
	u64 end;

	if (!length)
		return -EINVAL;
	if (check_add_overflow(address, length, &end) || end > TASK_SIZE_MAX)
		return length > ARIES_MEM_MAX ? -EFBIG : -EINVAL;
	range->start = address & PAGE_MASK;
	range->npages = (PAGE_ALIGN(end) - range->start) >> PAGE_SHIFT;
	return range->npages > ARIES_MEM_MAX >> PAGE_SHIFT ? -EFBIG : 0;
}

/* Only to refuse before the work of pinning: the answer may change meanwhile. */
static int aries_mem_allowed(struct aries_owner *own)
{
	int rc = aries_owner_enter(own, true);

	if (rc)
		return rc;
	rc = aries_ctx_own(aries_ctx_of(own));
	aries_owner_exit(own);
	return rc;
}

static struct aries_mem *aries_mem_reserve(const struct aries_range *range, bool read_only)
{
	struct aries_mem *mem;

	/* no process can populate more; it bounds the directory, too */
	if (range->npages > totalram_pages())
		return ERR_PTR(-ENOMEM);
	mem = aries_pin_none(range->start, range->npages, read_only);
	if (!IS_ERR(mem))
		mem->reserved = true;
	return mem;
}

/** aries_mem_register() - KGNI_IOC_MEM_REGISTER. Context: sleeps. */
int aries_mem_register(struct aries_owner *own, struct kgni_mem_register *arg)
{
	bool read_only = arg->flags & KGNI_MEM_READ_ONLY;
	bool virtual = arg->flags & KGNI_MEM_VMDH;
	struct aries_range range;
	struct aries_mem *mem;
	int rc;

	if (arg->flags & ~(KGNI_MEM_READ_ONLY | KGNI_MEM_RESERVE | KGNI_MEM_VMDH) ||
	    (arg->vmdh && !virtual))
		return -EINVAL;
	rc = aries_mem_range(arg->address, arg->length, &range);
	if (!rc)
		rc = aries_mem_allowed(own);
	if (rc)
		return rc;
	mem = arg->flags & KGNI_MEM_RESERVE ? aries_mem_reserve(&range, read_only) :
					      aries_pin(own->ad, &range, 1, read_only);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	rc = aries_owner_enter(own, true);
	if (rc)
		goto err_unpin;
	rc = aries_mem_add(own, mem, arg->cq, virtual ? &arg->vmdh : NULL);
	if (!rc) {
		arg->mdh = mem->mdh;
		arg->page_shift = mem->page_shift;
		arg->base = mem->start;
		arg->pages = mem->npages;
	}
	aries_mem_exit(own, mem, rc);
	if (!rc)
		return 0;
err_unpin:
	aries_unpin(own->ad, mem);
	return rc;
}

/* The pages of a list of segments; their sum fits a handle. */
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
		if (npages > ARIES_MEM_MAX >> PAGE_SHIFT)
			rc = -EFBIG;
	}
	kvfree(segments);
	if (!rc)
		return ranges;
	kvfree(ranges);
	return ERR_PTR(rc);
}

static int aries_mem_add_segments(struct aries_owner *own, struct aries_mem *mem,
				  struct kgni_mem_segments *arg)
{
	int rc = aries_owner_enter(own, true);

	if (rc)
		return rc;
	mem->start = 0; /* addressed by offset */
	rc = aries_mem_add(own, mem, arg->cq, arg->flags & KGNI_MEM_VMDH ? &arg->vmdh : NULL);
	if (!rc) {
		arg->mdh = mem->mdh;
		arg->page_shift = mem->page_shift;
		arg->pages = mem->npages;
	}
	aries_mem_exit(own, mem, rc);
	return rc;
}

/** aries_mem_segments() - KGNI_IOC_MEM_SEGMENTS. Context: sleeps. */
int aries_mem_segments(struct aries_owner *own, struct kgni_mem_segments *arg)
{
	struct aries_range *ranges;
	struct aries_mem *mem;
	int rc;

	if (arg->flags & ~(KGNI_MEM_READ_ONLY | KGNI_MEM_VMDH) || !arg->count || arg->reserved ||
	    (arg->vmdh && !(arg->flags & KGNI_MEM_VMDH)))
		return -EINVAL;
	if (arg->count > KGNI_SEGMENTS_MAX)
		return -EFBIG;
	rc = aries_mem_allowed(own);
	if (rc)
		return rc;
	ranges = aries_mem_ranges(arg);
	if (IS_ERR(ranges))
		return PTR_ERR(ranges);
	mem = aries_pin(own->ad, ranges, arg->count, arg->flags & KGNI_MEM_READ_ONLY);
	kvfree(ranges);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	rc = aries_mem_add_segments(own, mem, arg);
	if (rc)
		aries_unpin(own->ad, mem);
	return rc;
}

/** aries_mem_deregister() - KGNI_IOC_MEM_DEREGISTER. Context: sleeps. */
int aries_mem_deregister(struct aries_owner *own, struct kgni_mem_deregister *arg)
{
	struct aries_mem *mem;
	LIST_HEAD(gone);
	u64 seq = 0;
	int rc = aries_owner_enter(own, true);

	if (rc)
		return rc;
	mem = xa_load(&own->mems, arg->mdh);
	if (!mem || mem->leaving)
		rc = -ENOENT;
	else if (mem->recvs)
		rc = -EBUSY;
	else
		seq = aries_mem_revoke(own->ad, mem);
	aries_owner_exit(own);
	if (!rc)
		rc = aries_inv_sleep(own->ad, seq);
	if (rc || aries_owner_enter(own, true))
		return rc;
	/* its number was nobody else's meanwhile */
	mem = xa_load(&own->mems, arg->mdh);
	if (mem && mem->leaving)
		aries_mem_del(own, mem, &gone);
	aries_owner_exit_free(own, &gone);
	return 0;
}

/** aries_mem_teardown() - revoke all registrations of an attachment. Context: own->lock held. */
void aries_mem_teardown(struct aries_owner *own, struct list_head *gone)
{
	struct aries_mem *mem;
	unsigned long mdh;

	xa_for_each(&own->mems, mdh, mem)
		aries_mem_del(own, mem, gone);
}
