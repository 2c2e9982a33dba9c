// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pinning of user pages that the NIC may access. aries_charge.c limits their number. The process
 * and the device count them.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "aries_user.h"

#define ARIES_PIN_BATCH 4096 /* pages per call, so that a signal is noticed */

/** aries_pin_account() - count pinned pages of a process. Context: any. */
void aries_pin_account(struct aries_dev *ad, struct mm_struct *mm, unsigned long npages)
{
	atomic64_add(npages, &mm->pinned_vm);
	atomic64_add(npages, &ad->pinned);
}

/** aries_pin_unaccount() - undo aries_pin_account(); any process may call. Context: any. */
void aries_pin_unaccount(struct aries_dev *ad, struct mm_struct *mm, unsigned long npages)
{
	atomic64_sub(npages, &mm->pinned_vm);
	atomic64_sub(npages, &ad->pinned);
}

/*
 * Pages of a writable mapping are pinned for writing even if peers may only read. That breaks
 * copy-on-write now, so NIC and process continue to see the same page.
 */
static int aries_pin_batch(unsigned long start, unsigned int n, bool read_only,
			   struct page **pages)
{
	struct page *probe;
	int rc = pin_user_pages_fast(start, n, FOLL_LONGTERM | FOLL_WRITE, pages);

	if (rc != -EFAULT)
		return rc;
	if (read_only)
		return pin_user_pages_fast(start, 1, FOLL_LONGTERM, pages);
	if (pin_user_pages_fast(start, 1, FOLL_LONGTERM, &probe) != 1)
		return -EFAULT;
	unpin_user_page(probe);
	return -EACCES;
}

/**
 * aries_pin_range() - pin pages of the calling process, all or none
 * @range: the pages
 * @read_only: the NIC will not write to the pages
 * @pages: filled with the pages
 *
 * Context: sleeps, touches user memory: called without any lock.
 * Return: 0, -EFAULT, -EACCES, -ENOMEM, or -EINTR if the process was killed.
 */
int aries_pin_range(const struct aries_range *range, bool read_only, struct page **pages)
{
	unsigned long done = 0;
	int rc;

	while (done < range->npages) {
		unsigned int n = min(range->npages - done, (unsigned long)ARIES_PIN_BATCH);

		rc = fatal_signal_pending(current) ? -EINTR : 0;
		if (!rc)
			rc = aries_pin_batch(range->start + done * PAGE_SIZE, n, read_only,
					     pages + done);
		if (!rc)
			rc = -EFAULT;
		if (rc < 0)
			goto err_unpin;
		done += rc;
		cond_resched();
	}
	return 0;

err_unpin:
	unpin_user_pages(pages, done);
	return rc;
}

static int aries_pin_pages(const struct aries_range *ranges, unsigned int count, bool read_only,
			   struct page **pages)
{
	unsigned long done = 0;
	unsigned int i;
	int rc;

	for (i = 0; i < count; i++) {
		rc = aries_pin_range(&ranges[i], read_only, pages + done);
		if (rc) {
			unpin_user_pages(pages, done);
			return rc;
		}
		done += ranges[i].npages;
	}
	return 0;
}

static int aries_pin_table(struct aries_umem *umem, const struct aries_range *ranges,
			   unsigned int count)
{
	struct aries_region *region = &umem->region;
	struct page **pages;
	int rc;

	/*
	 * a length that cannot be pinned is a mistake of the caller and must not fill the kernel
	 * log
	 */
	if (region->npages > totalram_pages())
		return -ENOMEM;
	pages = kvmalloc_array(region->npages, sizeof(*pages), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!pages)
		return -ENOMEM;
	rc = aries_pin_pages(ranges, count, region->read_only, pages);
	if (rc)
		goto out;
	rc = sg_alloc_table_from_pages(&region->sgt, pages, region->npages, 0,
				       region->npages * PAGE_SIZE, GFP_KERNEL_ACCOUNT);
	if (rc)
		unpin_user_pages(pages, region->npages);
out:
	kvfree(pages);
	return rc;
}

/**
 * aries_pin_none() - create a registration without pages
 * @start: virtual address of the first page
 * @npages: number of pages
 * @read_only: the NIC will not write to the pages
 *
 * Context: sleeps. Return: the registration, or an error pointer: -ENOMEM.
 */
struct aries_umem *aries_pin_none(unsigned long start, unsigned long npages, bool read_only)
{
	struct aries_umem *umem = kzalloc(sizeof(*umem), GFP_KERNEL_ACCOUNT);

	if (!umem)
		return ERR_PTR(-ENOMEM);
	umem->region.start = start;
	umem->region.npages = npages;
	umem->region.read_only = read_only;
	umem->mm = current->mm;
	mmgrab(umem->mm);
	aries_charge_begin(&umem->region.charge);
	xa_init_flags(&umem->pages, XA_FLAGS_ACCOUNT);
	return umem;
}

/**
 * aries_pin() - pin memory of the calling process
 * @ad: the device
 * @ranges: ranges of pages that make up the region, in order
 * @count: number of elements of @ranges, at least 1
 * @read_only: the NIC will not write to the pages
 *
 * Context: sleeps, touches user memory: called without any lock.
 * Return: a registration with pages but without tables, or an error pointer: -EPERM if
 * RLIMIT_MEMLOCK would be exceeded, -EFAULT, -EACCES, -ENOMEM, -EINTR if the process was killed.
 * Its address is that of the first range.
 */
struct aries_umem *aries_pin(struct aries_dev *ad, const struct aries_range *ranges,
			     unsigned int count, bool read_only)
{
	unsigned long npages = 0;
	struct aries_umem *umem;
	unsigned int i;
	int rc;

	for (i = 0; i < count; i++)
		npages += ranges[i].npages;
	umem = aries_pin_none(ranges[0].start, npages, read_only);
	if (IS_ERR(umem))
		return umem;
	rc = aries_charge(&umem->region.charge, npages);
	if (!rc) {
		aries_pin_account(ad, umem->mm, npages);
		umem->region.accounted = npages;
		rc = aries_pin_table(umem, ranges, count);
	}
	if (!rc)
		return umem;
	aries_unpin(ad, umem); /* there are no pages */
	return ERR_PTR(rc);
}

/**
 * aries_unpin() - undo aries_pin() or aries_pin_none(); any process may call
 * @ad: the device
 * @umem: registration, whose tables are freed already; the charge for them ends here, too
 *
 * Context: sleeps; the NIC no longer accesses the pages.
 */
void aries_unpin(struct aries_dev *ad, struct aries_umem *umem)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(&umem->region.sgt, sg, i) {
		unpin_user_page_range_dirty_lock(sg_page(sg), sg->length >> PAGE_SHIFT,
						 !umem->region.read_only);
		cond_resched();
	}
	sg_free_table(&umem->region.sgt);
	aries_pin_unaccount(ad, umem->mm, umem->region.accounted);
	aries_charge_end(&umem->region.charge);
	mmdrop(umem->mm);
	kfree(umem);
}
