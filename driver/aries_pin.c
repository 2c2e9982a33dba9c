// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pinning: user pages that the NIC may reach, accounted against RLIMIT_MEMLOCK of the process.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/resource.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "aries.h"

#define ARIES_PIN_BATCH 4096 /* pages a call, so that a signal is noticed */

static int aries_pin_account(struct mm_struct *mm, unsigned long npages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (atomic64_add_return(npages, &mm->pinned_vm) > limit && !capable(CAP_IPC_LOCK)) {
		atomic64_sub(npages, &mm->pinned_vm);
		return -EPERM;
	}
	return 0;
}

/*
 * Pages of a writable mapping are pinned for writing even if peers may only read: that breaks
 * copy-on-write now, so that NIC and process go on to see the same page.
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

static int aries_pin_pages(struct aries_mem *mem, struct page **pages)
{
	unsigned long done = 0;
	int rc;

	while (done < mem->npages) {
		unsigned int n = min(mem->npages - done, (unsigned long)ARIES_PIN_BATCH);

		rc = fatal_signal_pending(current) ? -EINTR : 0;
		if (!rc)
			rc = aries_pin_batch(mem->start + done * PAGE_SIZE, n, mem->read_only,
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

static int aries_pin_table(struct aries_mem *mem)
{
	struct page **pages;
	int rc;

	/* a length that cannot be pinned is the caller's mistake, not worth a line in the log */
	if (mem->npages > totalram_pages())
		return -ENOMEM;
	pages = kvmalloc_array(mem->npages, sizeof(*pages), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!pages)
		return -ENOMEM;
	rc = aries_pin_pages(mem, pages);
	if (rc)
		goto out;
	rc = sg_alloc_table_from_pages(&mem->sgt, pages, mem->npages, 0, mem->npages * PAGE_SIZE,
				       GFP_KERNEL);
	if (rc)
		unpin_user_pages(pages, mem->npages);
out:
	kvfree(pages);
	return rc;
}

/**
 * aries_pin() - pin memory of the calling process
 * @ad: the device
 * @start: virtual address of the first page
 * @npages: pages
 * @read_only: nobody will write to them through the NIC
 *
 * Context: sleeps, touches user memory: called without any lock.
 * Return: a registration with pages only, or an error pointer: -EPERM over RLIMIT_MEMLOCK,
 * -EFAULT, -EACCES, -ENOMEM, -EINTR killed.
 */
struct aries_mem *aries_pin(struct aries_dev *ad, unsigned long start, unsigned long npages,
			    bool read_only)
{
	struct aries_mem *mem = kzalloc(sizeof(*mem), GFP_KERNEL_ACCOUNT);
	int rc;

	if (!mem)
		return ERR_PTR(-ENOMEM);
	mem->start = start;
	mem->npages = npages;
	mem->read_only = read_only;
	mem->mm = current->mm;
	rc = aries_pin_account(mem->mm, npages);
	if (rc)
		goto err_free;
	rc = aries_pin_table(mem);
	if (rc)
		goto err_account;
	mmgrab(mem->mm);
	atomic64_add(npages, &ad->pinned);
	return mem;

err_account:
	atomic64_sub(npages, &mem->mm->pinned_vm);
err_free:
	kfree(mem);
	return ERR_PTR(rc);
}

/**
 * aries_unpin() - undo aries_pin(), from whatever process
 * @ad: the device
 * @mem: registration
 *
 * Context: sleeps; the NIC no longer reaches the pages.
 */
void aries_unpin(struct aries_dev *ad, struct aries_mem *mem)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(&mem->sgt, sg, i) {
		unpin_user_page_range_dirty_lock(sg_page(sg), sg->length >> PAGE_SHIFT,
						 !mem->read_only);
		cond_resched();
	}
	sg_free_table(&mem->sgt);
	atomic64_sub(mem->npages, &mem->mm->pinned_vm);
	atomic64_sub(mem->npages, &ad->pinned);
	mmdrop(mem->mm);
	kfree(mem);
}
