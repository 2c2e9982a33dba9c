// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues: a header page and 2^n entries, contiguous for the NIC, mapped by the process.
 */
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "aries_obj.h"
#include "aries_trace.h"

static void aries_cq_release(struct kref *ref)
{
	struct aries_cq *cq = container_of(ref, struct aries_cq, ref);

	WARN_ON(cq->mem || cq->waiters || cq->mem_refs || cq->ce_refs);
	kfree_rcu(cq, rcu); /* aries_cq_wake() may still use it */
}

/** aries_cq_put() - drop a reference. Context: any. */
void aries_cq_put(struct aries_cq *cq)
{
	kref_put(&cq->ref, aries_cq_release);
}

/* @kernel: do not charge the memory to a user. */
static int aries_cq_alloc_mem(struct aries_cq *cq, bool kernel)
{
	unsigned long npages = cq->size >> PAGE_SHIFT;
	int rc;

	if (!kernel)
		aries_charge_begin(&cq->charge);
	rc = aries_charge(&cq->charge, npages);
	if (!rc) {
		cq->mem = aries_ring_alloc(npages);
		rc = cq->mem ? 0 : -ENOMEM;
	}
	if (rc)
		aries_charge_end(&cq->charge);
	else
		cq->page = virt_to_page(cq->mem);
	return rc;
}

static int aries_cq_map(struct aries_dev *ad, struct aries_cq *cq)
{
	struct device *dev = &ad->pdev->dev;

	cq->dma = dma_map_page(dev, cq->page, 0, cq->size, DMA_BIDIRECTIONAL);
	return dma_mapping_error(dev, cq->dma) ? -ENOMEM : 0;
}

static void aries_cq_unmap(struct aries_dev *ad, struct aries_cq *cq)
{
	dma_unmap_page(&ad->pdev->dev, cq->dma, cq->size, DMA_BIDIRECTIONAL);
}

/* Make waiters and pollers stop accessing the memory and arming the queue. */
static void aries_cq_hide(struct aries_cq *cq)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->mem = NULL;
	spin_unlock_irqrestore(&cq->lock, flags);
}

/** aries_cq_free_mem() - free the memory of a queue that the NIC cannot access. Context: sleeps. */
void aries_cq_free_mem(struct aries_cq *cq)
{
	aries_cq_hide(cq);
	aries_ring_free(page_address(cq->page), cq->size >> PAGE_SHIFT);
	aries_charge_end(&cq->charge);
}

static void aries_cq_free_kept(struct aries_dev *ad, struct aries_kept *kept)
{
	struct aries_cq *cq = container_of(kept, struct aries_cq, kept);

	aries_pool_put_held(&ad->cqs, cq->nr);
	aries_domain_uncharge(ad, kept->dom, ARIES_RES_CQ, 1);
	aries_cq_unmap(ad, cq);
	aries_cq_free_mem(cq);
	aries_cq_put(cq);
}

static unsigned int aries_cq_vector(struct aries_dev *ad)
{
	/* near the CPU that creates the queue, because that will most likely wait on it */
	return ad->nvec > 1 ? 1 + raw_smp_processor_id() % (ad->nvec - 1) : 0;
}

static void aries_cq_start(struct aries_dev *ad, struct aries_cq *cq, u16 owner, u32 delay)
{
	bool irq = cq->flags & KGNI_CQ_BLOCKING;

	rcu_assign_pointer(ad->cq_table[cq->nr], cq);
	aries_wr64(ad, ARIES_CQ_BASE_N(cq->nr), cq->dma);
	aries_wr64(ad, ARIES_CQ_CTL_N(cq->nr),
		   FIELD_PREP(ARIES_CQ_CTL_VALID_MASK, 1ull) |
			   FIELD_PREP(ARIES_CQ_CTL_IRQ_MASK, (u64)irq) |
			   FIELD_PREP(ARIES_CQ_CTL_LOG2_MASK, (u64)cq->log2) |
			   FIELD_PREP(ARIES_CQ_CTL_OWNER_MASK, (u64)owner) |
			   FIELD_PREP(ARIES_CQ_CTL_VECTOR_MASK, (u64)aries_cq_vector(ad)) |
			   FIELD_PREP(ARIES_CQ_CTL_DELAY_MASK, (u64)(irq ? delay : 0)));
}

/**
 * aries_cq_stop() - stop a queue and remove it from its owner
 * @own: owner
 * @cq: its queue
 * @gone: list for aries_kept_take(), because its memory may still be written to
 *
 * Its handler may run until a grace period of RCU has passed. Context: own->lock held.
 */
void aries_cq_stop(struct aries_owner *own, struct aries_cq *cq, struct list_head *gone)
	__must_hold(&own->lock)
{
	struct aries_dev *ad = own->ad;

	lockdep_assert_held(&own->lock);
	aries_wr64(ad, ARIES_CQ_CTL_N(cq->nr), 0);
	RCU_INIT_POINTER(ad->cq_table[cq->nr], NULL);
	xa_erase(&own->cqs, cq->nr);
	own->ops->queue_gone(own, cq);
	aries_cq_hide(cq);
	trace_aries_cq_destroy(own, cq);
	wake_up_all(&cq->wq);
	aries_pool_hold(&ad->cqs, cq->nr, own->nr);
	aries_kept_take(own, gone, &cq->kept, aries_cq_free_kept);
}

/**
 * aries_cq_new() - allocate a queue with its memory, but without a number
 * @entries: number of entries that it has to hold, less than 2^ARIES_CQ_LOG2_MAX
 * @flags: KGNI_CQ_*
 * @kernel: do not charge the caller
 *
 * Context: sleeps; called without any lock. Return: the queue, or an error pointer: -EPERM if
 * RLIMIT_MEMLOCK would be exceeded, -ENOMEM.
 */
struct aries_cq *aries_cq_new(u32 entries, u32 flags, bool kernel)
{
	struct aries_cq *cq = kzalloc(sizeof(*cq), GFP_KERNEL_ACCOUNT);
	int rc;

	if (!cq)
		return ERR_PTR(-ENOMEM);
	kref_init(&cq->ref);
	spin_lock_init(&cq->lock);
	init_waitqueue_head(&cq->wq);
	cq->flags = flags;
	cq->log2 = max_t(int, order_base_2(entries + 1), ARIES_CQ_LOG2_MIN);
	cq->size = PAGE_ALIGN(ARIES_CQ_HEADER_BYTES + (8ul << cq->log2));
	rc = aries_cq_alloc_mem(cq, kernel);
	if (!rc)
		return cq;
	aries_cq_put(cq);
	return ERR_PTR(rc);
}

/**
 * aries_cq_add() - add a queue to an owner and to the NIC
 * @own: owner
 * @cq: from aries_cq_new()
 * @delay: number of entries that raise an interrupt
 *
 * Context: sleeps; state_sem and own->lock held. Return: 0; -ENOSPC, -ENOMEM: the caller frees it.
 */
int aries_cq_add(struct aries_owner *own, struct aries_cq *cq, u32 delay)
	__must_hold(&own->lock)
{
	struct aries_dev *ad = own->ad;
	int rc, nr;

	lockdep_assert_held(&own->lock);
	rc = aries_cq_map(ad, cq);
	if (rc)
		return rc;
	rc = aries_domain_charge(ad, own->dom, ARIES_RES_CQ, 1);
	if (rc)
		goto err_unmap;
	nr = aries_pool_get(&ad->cqs, own->nr);
	if (nr < 0) {
		rc = nr;
		goto err_uncharge;
	}
	cq->nr = nr;
	rc = xa_err(xa_store(&own->cqs, nr, cq, GFP_KERNEL));
	if (rc)
		goto err_pool;
	aries_cq_start(ad, cq, own->nr, delay);
	trace_aries_cq_create(own, cq);
	return 0;

err_pool:
	aries_pool_put(&ad->cqs, nr, own->nr);
err_uncharge:
	aries_domain_uncharge(ad, own->dom, ARIES_RES_CQ, 1);
err_unmap:
	aries_cq_unmap(ad, cq);
	return rc;
}

/** aries_cq_create() - KGNI_IOC_CQ_CREATE. Context: sleeps. */
int aries_cq_create(struct aries_owner *own, struct kgni_cq_create *arg)
{
	struct aries_cq *cq;
	int rc;

	if (!arg->entries || arg->flags & ~KGNI_CQ_BLOCKING || arg->reserved)
		return -EINVAL;
	if (arg->entries >= 1u << ARIES_CQ_LOG2_MAX)
		return -EFBIG;
	if (arg->delay > arg->entries)
		return -EINVAL;
	/* check this before allocating memory; it is checked again below */
	rc = aries_owner_enter(own, true);
	if (rc)
		return rc;
	aries_owner_exit(own);
	cq = aries_cq_new(arg->entries, arg->flags, false);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	rc = aries_owner_enter(own, true);
	if (rc)
		goto err_free;
	rc = aries_cq_add(own, cq, arg->delay);
	if (!rc) {
		arg->cq = cq->nr;
		arg->entries = 1u << cq->log2;
		arg->mmap_size = cq->size;
	}
	aries_owner_exit(own);
	if (!rc)
		return 0;
err_free:
	aries_cq_free_mem(cq);
	aries_cq_put(cq);
	return rc;
}

/*
 * aries_cq_find() - find a queue of an attachment by its number, or return NULL. Context: own->lock
 * held.
 */
struct aries_cq *aries_cq_find(struct aries_owner *own, u32 nr)
	__must_hold(&own->lock)
{
	lockdep_assert_held(&own->lock);
	return xa_load(&own->cqs, nr);
}

/** aries_cq_destroy() - KGNI_IOC_CQ_DESTROY. Context: sleeps. */
int aries_cq_destroy(struct aries_owner *own, struct kgni_cq_destroy *arg)
{
	struct aries_cq *cq;
	LIST_HEAD(gone);
	int rc = aries_owner_enter(own, true);

	if (rc)
		return rc;
	cq = aries_cq_find(own, arg->cq);
	if (!cq)
		rc = -ENOENT;
	else if (cq->mem_refs || cq->ce_refs || cq->waiters)
		rc = -EBUSY;
	else
		aries_cq_stop(own, cq, &gone);
	aries_owner_exit_free(own, &gone);
	return rc;
}

/** aries_cq_teardown() - stop all queues of an attachment. Context: sleeps; own->lock held. */
void aries_cq_teardown(struct aries_owner *own, struct list_head *gone)
{
	struct aries_cq *cq;
	unsigned long nr;

	xa_for_each(&own->cqs, nr, cq)
		aries_cq_stop(own, cq, gone);
}

/**
 * aries_cq_wake() - handle the interrupt of a queue
 * @ad: the device
 * @nr: number of the queue
 *
 * Wakes up threads in KGNI_IOC_CQ_WAIT, or calls the handler of a client in the kernel.
 * Context: any, without locks.
 */
void aries_cq_wake(struct aries_dev *ad, unsigned int nr)
{
	struct aries_cq *cq;

	rcu_read_lock();
	cq = nr < ad->ncq ? rcu_dereference(ad->cq_table[nr]) : NULL;
	if (cq) {
		WRITE_ONCE(cq->irqs, READ_ONCE(cq->irqs) + 1);
		trace_aries_cq_irq(ad->id, cq);
		if (cq->handler) {
			/* a poll that finds the queue empty after this arms it again */
			WRITE_ONCE(cq->armed, false);
			cq->handler(cq->data);
		} else {
			wake_up_all(&cq->wq);
		}
	}
	rcu_read_unlock();
}
