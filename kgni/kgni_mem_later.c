// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Deregistration in atomic context. LNDs deregister memory with a spinlock held, and free the
 * memory soon after. So the NIC is cut off from the memory at once, which takes as long as an
 * access that is in flight, and the rest is left to a work item. Callers that need the resources it
 * frees, and may sleep, wait for it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include <linux/workqueue.h>

#include "kgni_mem.h"
#include "kgni_memhandle.h"

static struct kgni_mem *kgni_mem_later_next(struct gni_nic *nic)
{
	struct kgni_mem *mem;
	unsigned long flags;

	spin_lock_irqsave(&nic->lock, flags);
	mem = list_first_entry_or_null(&nic->later, struct kgni_mem, node);
	if (mem)
		list_del(&mem->node);
	spin_unlock_irqrestore(&nic->lock, flags);
	return mem;
}

static void kgni_mem_later_work(struct work_struct *work)
{
	struct gni_nic *nic = container_of(work, struct gni_nic, later_work);
	struct kgni_mem *mem;

	while ((mem = kgni_mem_later_next(nic))) {
		if (mem->region) {
			kgni_mem_end(mem);
			continue;
		}
		/* fails if the hold time has expired, which is fine */
		aries_region_release(nic->own, kgni_mem_mdh(&mem->handle));
		kfree(mem);
	}
}

/** kgni_mem_later_init() - initialise the list and the work item. Context: any. */
void kgni_mem_later_init(struct gni_nic *nic)
{
	INIT_LIST_HEAD(&nic->later);
	INIT_WORK(&nic->later_work, kgni_mem_later_work);
}

static void kgni_mem_later_add(struct gni_nic *nic, struct kgni_mem *mem)
{
	unsigned long flags;

	spin_lock_irqsave(&nic->lock, flags);
	list_add_tail(&mem->node, &nic->later);
	spin_unlock_irqrestore(&nic->lock, flags);
	queue_work(system_unbound_wq, &nic->later_work);
}

/**
 * kgni_mem_end_later() - cut the NIC off from a registration now, and deregister it soon
 * @nic: NIC handle
 * @mem: registration in no list, with the time to hold its MDD number
 *
 * Context: any; spins until accesses in flight have ended.
 */
void kgni_mem_end_later(struct gni_nic *nic, struct kgni_mem *mem)
{
	int rc = aries_region_cut(mem->region);

	if (rc)
		pr_err_ratelimited("a peer may write yet to memory that was deregistered: %d\n",
				   rc);
	kgni_mem_later_add(nic, mem);
}

/* If the registration is still in the list, its MDD number need not be held afterwards. */
static bool kgni_mem_later_unhold(struct gni_nic *nic, const gni_mem_handle_t *handle)
{
	struct kgni_mem *mem;
	unsigned long flags;
	bool found = false;

	spin_lock_irqsave(&nic->lock, flags);
	list_for_each_entry(mem, &nic->later, node)
		if (mem->hold_ms && kgni_mem_mdh(&mem->handle) == kgni_mem_mdh(handle)) {
			mem->hold_ms = 0;
			found = true;
			break;
		}
	spin_unlock_irqrestore(&nic->lock, flags);
	return found;
}

/**
 * kgni_mem_release_later() - release a held MDD number soon
 * @nic: NIC handle
 * @handle: handle of the registration
 *
 * Context: any. Return: false if there is no memory; the number is held until its hold time has
 * passed.
 */
bool kgni_mem_release_later(struct gni_nic *nic, const gni_mem_handle_t *handle)
{
	struct kgni_mem *mem;

	if (kgni_mem_later_unhold(nic, handle))
		return true;
	mem = kzalloc(sizeof(*mem), GFP_ATOMIC | __GFP_NOWARN);
	if (!mem)
		return false;
	mem->handle = *handle;
	kgni_mem_later_add(nic, mem);
	return true;
}

/** kgni_mem_later_flush() - wait for all deferred deregistrations. Context: sleeps. */
void kgni_mem_later_flush(struct gni_nic *nic)
{
	flush_work(&nic->later_work);
}
