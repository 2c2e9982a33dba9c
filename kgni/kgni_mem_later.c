// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deregistration. LNDs deregister memory with a spinlock held, and free the memory soon after. No
 * kernel can tell whether its caller holds one, so all callers are treated alike: the NIC is cut
 * off from the memory at once, and the rest is left to a work item. Callers that need the
 * resources it frees wait for it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include <linux/workqueue.h>

#include "gni_memhandle.h"
#include "kgni_cq.h"
#include "kgni_mem.h"

/* Free the records of holds that have ended. Context: nic->lock held. */
static void kgni_mem_held_expire(struct gni_nic *nic)
{
	struct kgni_mem *mem, *next;

	lockdep_assert_held(&nic->lock);
	list_for_each_entry_safe(mem, next, &nic->held, node)
		if (time_after_eq(jiffies, mem->hold_end)) {
			list_del(&mem->node);
			kfree(mem);
		}
}

/*
 * Take what is to be done next off the list. If its MDD number will be held it becomes the record
 * of that here, before the deregistration, so that its release is in time whenever it comes.
 */
static bool kgni_mem_later_next(struct gni_nic *nic, struct kgni_mem *job)
{
	struct kgni_mem *mem;
	unsigned long flags;
	bool found;

	spin_lock_irqsave(&nic->lock, flags);
	mem = list_first_entry_or_null(&nic->later, struct kgni_mem, node);
	found = mem;
	if (mem) {
		*job = *mem;
		mem->region = NULL;
		list_del(&mem->node);
	}
	if (mem && mem->hold_ms) {
		kgni_mem_held_expire(nic);
		list_add_tail(&mem->node, &nic->held);
		mem = NULL;
	}
	spin_unlock_irqrestore(&nic->lock, flags);
	kfree(mem);
	return found;
}

/* Clients may wait for this work while they make memory available, so it must not need any. */
static struct workqueue_struct *kgni_mem_wq;

/** kgni_mem_later_start() - create the work queue. Context: sleeps. Return: 0 or -ENOMEM. */
int kgni_mem_later_start(void)
{
	kgni_mem_wq = alloc_workqueue("kgni-mem", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return kgni_mem_wq ? 0 : -ENOMEM;
}

/** kgni_mem_later_end() - undo kgni_mem_later_start(). Context: sleeps; no NIC handle is left. */
void kgni_mem_later_end(void)
{
	destroy_workqueue(kgni_mem_wq);
}

/** kgni_mem_end() - deregister memory; the caller frees the registration. Context: sleeps. */
void kgni_mem_end(const struct kgni_mem *mem)
{
	int rc = aries_region_deregister(mem->region, mem->hold_ms);

	/*
	 * This cannot fail: kGNI posts no receives into the memory, and if the NIC does not stop
	 * using it the NIC's driver reports that.
	 */
	WARN_ONCE(rc, "deregistration of memory: %d\n", rc);
	if (mem->cq)
		kgni_cq_unregister(mem->cq);
}

static void kgni_mem_later_work(struct work_struct *work)
{
	struct gni_nic *nic = container_of(work, struct gni_nic, later_work);
	struct kgni_mem job;

	while (kgni_mem_later_next(nic, &job)) {
		if (job.region)
			kgni_mem_end(&job);
		else
			/* fails if the hold time has expired meanwhile, which is fine */
			aries_region_release(nic->own, gni_hndl_mdh(&job.handle));
	}
}

/** kgni_mem_later_init() - initialise the lists and the work item. Context: any. */
void kgni_mem_later_init(struct gni_nic *nic)
{
	INIT_LIST_HEAD(&nic->later);
	INIT_LIST_HEAD(&nic->held);
	INIT_WORK(&nic->later_work, kgni_mem_later_work);
}

/**
 * kgni_mem_end_later() - cut the NIC off from a registration now, and deregister it soon
 * @nic: NIC handle
 * @mem: registration in no list, with the time to hold its MDD number
 *
 * Context: any; spins for a moment until accesses in flight have ended.
 */
void kgni_mem_end_later(struct gni_nic *nic, struct kgni_mem *mem)
{
	unsigned long flags;
	int rc = aries_region_cut(mem->region);

	if (rc == -EINPROGRESS)
		pr_warn_ratelimited("a peer is stopped in an access to memory that was deregistered, whose pages stay allocated until it has ended\n");
	else if (rc)
		pr_err_ratelimited("a peer may write yet to memory that was deregistered: %d\n",
				   rc);
	mem->hold_end = jiffies + msecs_to_jiffies(mem->hold_ms);
	spin_lock_irqsave(&nic->lock, flags);
	list_add_tail(&mem->node, &nic->later);
	spin_unlock_irqrestore(&nic->lock, flags);
	queue_work(kgni_mem_wq, &nic->later_work);
}

/* Find what holds the MDD number of a handle: a record, or a registration that would become one. */
static struct kgni_mem *kgni_mem_held_find(struct gni_nic *nic, const gni_mem_handle_t *handle)
{
	struct kgni_mem *mem;

	lockdep_assert_held(&nic->lock);
	/* a reset has freed all numbers */
	if (nic->gone)
		return NULL;
	kgni_mem_held_expire(nic);
	list_for_each_entry(mem, &nic->later, node)
		if (mem->hold_ms && kgni_mem_same(mem, handle))
			return mem;
	list_for_each_entry(mem, &nic->held, node)
		if (kgni_mem_same(mem, handle))
			return mem;
	return NULL;
}

/**
 * kgni_mem_release_later() - release a held MDD number soon
 * @nic: NIC handle
 * @handle: handle of the registration
 *
 * Context: any. Return: false if the number is not held (any more).
 */
bool kgni_mem_release_later(struct gni_nic *nic, const gni_mem_handle_t *handle)
{
	struct kgni_mem *mem;
	unsigned long flags;

	spin_lock_irqsave(&nic->lock, flags);
	mem = kgni_mem_held_find(nic, handle);
	if (mem) {
		mem->hold_ms = 0;
		list_move_tail(&mem->node, &nic->later);
	}
	spin_unlock_irqrestore(&nic->lock, flags);
	if (mem)
		queue_work(kgni_mem_wq, &nic->later_work);
	return mem;
}

/** kgni_mem_later_flush() - wait for all deferred deregistrations. Context: sleeps. */
void kgni_mem_later_flush(struct gni_nic *nic)
{
	flush_work(&nic->later_work);
}

/**
 * kgni_mem_later_close() - wait for all deferred deregistrations, and forget held MDD numbers
 * @nic: NIC handle, with which nothing is registered or deregistered any more
 *
 * The numbers themselves are freed with the owner. Context: sleeps.
 */
void kgni_mem_later_close(struct gni_nic *nic)
{
	struct kgni_mem *mem, *next;

	kgni_mem_later_flush(nic);
	list_for_each_entry_safe(mem, next, &nic->held, node)
		kfree(mem);
	INIT_LIST_HEAD(&nic->held);
}
