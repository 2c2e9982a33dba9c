// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Registrations that end where nobody may sleep: LNDs do that with a spinlock held, and free the
 * memory before they let go of it. So the NIC is kept off the memory at once, which takes as long
 * as an access does, and the rest is left to a work. Who needs what that gives back, and may
 * sleep, waits for it.
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
		/* its time may be over */
		aries_region_release(nic->own, kgni_mem_mdh(&mem->handle));
		kfree(mem);
	}
}

/** kgni_mem_later_init() - nothing is left to do. Context: any. */
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
 * kgni_mem_end_later() - nobody reaches a registration any more, and it ends soon
 * @nic: NIC handle
 * @mem: in no list, with the time to hold its number
 *
 * Context: any; spins for as long as accesses take that are in flight.
 */
void kgni_mem_end_later(struct gni_nic *nic, struct kgni_mem *mem)
{
	int rc = aries_region_cut(mem->region);

	if (rc)
		pr_err_ratelimited("a peer may write yet to memory that was deregistered: %d\n",
				   rc);
	kgni_mem_later_add(nic, mem);
}

/* It has not ended yet: then it does without being held. */
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
 * kgni_mem_release_later() - let go of a number that is held, soon
 * @nic: NIC handle
 * @handle: what it was
 *
 * Context: any. Return: false without memory: it is held until its time is over.
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

/** kgni_mem_later_flush() - wait for all that was left to do. Context: sleeps. */
void kgni_mem_later_flush(struct gni_nic *nic)
{
	flush_work(&nic->later_work);
}
