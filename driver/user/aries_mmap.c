// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings: descriptor area, doorbell page, windows and queues of the attachment, and the global
 * clock, and nothing else.
 *
 * The fault handler inserts pages under the lock under which a reset marks the attachment dead. So
 * a mapping that was removed cannot come back (aries_ghost.c).
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "aries_user.h"
#include "aries_compat.h"

static_assert(ARIES_CQ_HEADER_BYTES + (8ul << ARIES_CQ_LOG2_MAX) <= 1ul << ARIES_MMAP_CQ_SHIFT);

/**
 * struct aries_span - what a file offset maps to
 * @pfn: first page frame
 * @size: bytes
 * @prot: type of the mapping
 * @read_only: must not be mapped for writing
 */
struct aries_span {
	unsigned long pfn;
	unsigned long size;
	enum { ARIES_MAP_CACHED, ARIES_MAP_COMBINE, ARIES_MAP_UNCACHED } prot;
	bool read_only;
};

static int aries_span_cq(struct aries_ctx *ctx, u64 offset, struct aries_span *span)
{
	u64 nr = (offset - ARIES_MMAP_CQ) >> ARIES_MMAP_CQ_SHIFT;
	struct aries_cq *cq;

	if (offset & ((1ull << ARIES_MMAP_CQ_SHIFT) - 1) || nr >= ctx->own.ad->ncq)
		return -EINVAL;
	cq = aries_cq_find(&ctx->own, nr);
	if (!cq)
		return -ENXIO;
	span->pfn = page_to_pfn(cq->page);
	span->size = cq->size;
	span->prot = ARIES_MAP_CACHED;
	return 0;
}

/* A page of registers that are all read only and the same for all processes. */
static int aries_span_clock(struct aries_dev *ad, struct aries_span *span)
{
	if (!(ad->caps & ARIES_ID_CAPS_TIMER_MASK) || PAGE_SIZE != SZ_4K)
		return -EOPNOTSUPP;
	span->pfn = PHYS_PFN(ad->regs_phys + ARIES_CLK_NOW);
	span->size = PAGE_SIZE;
	span->read_only = true;
	return 0;
}

static int aries_span_find(struct aries_ctx *ctx, u64 offset, struct aries_span *span)
	__must_hold(&ctx->own.lock)
{
	struct aries_dev *ad = ctx->own.ad;
	resource_size_t fma = ad->fma_phys + (resource_size_t)ctx->own.fmad * ARIES_FMA_STRIDE;

	lockdep_assert_held(&ctx->own.lock);
	span->read_only = false;
	if (READ_ONCE(ctx->own.dead))
		return -EIO;
	if (!ctx->own.dom)
		return -ENOTCONN;
	if (offset >= ARIES_MMAP_CQ && offset < ARIES_MMAP_PLACE)
		return aries_span_cq(ctx, offset, span);
	span->prot = ARIES_MAP_UNCACHED;
	span->size = aries_ctx_window(ctx);
	if (offset == ARIES_MMAP_CLOCK)
		return aries_span_clock(ad, span);
	if (offset < aries_ctx_place(ctx))
		return -EINVAL;
	switch (offset - aries_ctx_place(ctx)) {
	case ARIES_MMAP_DESC:
		span->prot = ARIES_MAP_COMBINE;
		span->size = ARIES_DESC_STRIDE;
		span->pfn = PHYS_PFN(ad->desc_phys +
				       (resource_size_t)ctx->own.fmad * ARIES_DESC_STRIDE);
		return 0;
	case ARIES_MMAP_DOORBELL:
		span->size = PAGE_SIZE;
		span->pfn = PHYS_PFN(fma + ARIES_FMA_DOORBELL);
		return 0;
	case ARIES_MMAP_PUT:
		span->pfn = PHYS_PFN(fma + ARIES_FMA_PUT);
		return 0;
	case ARIES_MMAP_GET:
		span->pfn = PHYS_PFN(fma + ARIES_FMA_GET);
		return 0;
	default:
		return -EINVAL;
	}
}

/*
 * Inserts all pages at the first fault, because faults are expensive and would come one per page.
 */
static vm_fault_t aries_vm_insert(struct vm_area_struct *vma, const struct aries_span *span)
{
	vm_fault_t ret = VM_FAULT_SIGBUS;
	unsigned long n;

	for (n = 0; n < vma_pages(vma); n++) {
		ret = vmf_insert_pfn(vma, vma->vm_start + n * PAGE_SIZE, span->pfn + n);
		if (ret != VM_FAULT_NOPAGE)
			break;
	}
	return ret;
}

/*
 * A copy in the kernel would retry the fault for ever, so a process that is being killed gets an
 * error.
 */
static vm_fault_t aries_vm_again(void)
{
	return fatal_signal_pending(current) ? VM_FAULT_SIGBUS : VM_FAULT_NOPAGE;
}

/*
 * The descriptor must complete its transfers first. Wait without a lock, so that others are not
 * blocked, and retry the fault.
 */
static vm_fault_t aries_vm_later(void)
{
	schedule_timeout_killable(1);
	return aries_vm_again();
}

static vm_fault_t aries_vm_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct aries_ctx *ctx = vma->vm_file->private_data;
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	struct aries_span span;

	if (offset >= ARIES_MMAP_PLACE && !aries_suspend_wait(&ctx->own))
		return aries_vm_again();
	mutex_lock(&ctx->own.lock);
	if (READ_ONCE(ctx->own.dead)) {
		ret = aries_ghost_fault(vmf, ctx);
		goto out;
	}
	if (aries_span_find(ctx, offset, &span))
		goto out;
	if (offset >= ARIES_MMAP_PLACE && ctx->own.suspended) {
		ret = VM_FAULT_NOPAGE;
		goto out;
	}
	if (vma->vm_end - vma->vm_start > span.size)
		goto out;
	if (!ctx->share || offset < ARIES_MMAP_PLACE) {
		ret = aries_vm_insert(vma, &span);
	} else if (aries_share_enter(ctx)) {
		ret = aries_vm_insert(vma, &span);
		aries_share_exit(ctx);
	} else {
		mutex_unlock(&ctx->own.lock);
		return aries_vm_later();
	}
out:
	mutex_unlock(&ctx->own.lock);
	return ret;
}

/* A part of a mapping would have another offset, which maps to something else. */
static int aries_vm_may_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static int aries_vm_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

static const struct vm_operations_struct aries_vm_ops = {
	.fault = aries_vm_fault,
	.may_split = aries_vm_may_split,
	.mremap = aries_vm_mremap,
};

/**
 * aries_mmap() - mmap() of /dev/kgniN
 * @file: the open file
 * @vma: the requested mapping
 *
 * A mapping starts at the offset of a region and is not longer than the region. It is shared, not
 * executable and not inherited by fork(), and cannot grow, move or be split.
 *
 * Return: 0; -EINVAL if offset or size is bad or the mapping is private; -EPERM for an executable
 * mapping or a writable one of the clock; -EOPNOTSUPP if there is no clock; -ENOTCONN if not
 * attached; -ENXIO if there is no such queue; -EIO if the NIC was reset.
 */
int aries_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct aries_ctx *ctx = file->private_data;
	struct aries_span span;
	int rc;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	mutex_lock(&ctx->own.lock);
	rc = aries_span_find(ctx, (u64)vma->vm_pgoff << PAGE_SHIFT, &span);
	mutex_unlock(&ctx->own.lock);
	if (rc)
		return rc;
	if (vma->vm_end - vma->vm_start > span.size)
		return -EINVAL;
	if (span.read_only && vma->vm_flags & VM_WRITE)
		return -EPERM;
	aries_vm_flags(vma, VM_IO | VM_PFNMAP | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP,
		       VM_MAYEXEC | (span.read_only ? VM_MAYWRITE : 0));
	if (span.prot == ARIES_MAP_UNCACHED)
		vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	else if (span.prot == ARIES_MAP_COMBINE)
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	vma->vm_ops = &aries_vm_ops;
	return 0;
}
