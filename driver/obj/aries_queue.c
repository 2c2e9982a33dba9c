// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues of clients in the kernel. They are the same as those of processes (aries_cq.c),
 * but can be polled in any context, and have a handler that is called by the interrupt.
 */
#include <linux/err.h>
#include <linux/rcupdate.h>

#include "aries_obj.h"
#include "aries_compat.h"
#include "aries_kapi.h"

/*
 * Arm the queue. If there are entries the NIC raises the interrupt at once. Context: cq->lock held.
 */
static void aries_queue_rearm(struct aries_cq *cq)
{
	if (!cq->handler || READ_ONCE(cq->armed))
		return;
	WRITE_ONCE(cq->armed, true);
	aries_wr32(cq->own->ad, ARIES_CQI_ARM, FIELD_PREP(ARIES_CQI_ARM_CQ_MASK, cq->nr));
}

static int aries_queue_add(struct aries_owner *own, struct aries_cq *cq, u32 delay)
{
	int rc = aries_owner_enter(own, true);

	if (rc)
		return rc;
	rc = aries_cq_add(own, cq, delay);
	if (!rc) {
		kref_get(&cq->ref); /* reference of the client */
		kref_get(&own->ref);
		spin_lock_irq(&cq->lock);
		aries_queue_rearm(cq);
		spin_unlock_irq(&cq->lock);
	}
	aries_owner_exit(own);
	return rc;
}

struct aries_cq *aries_queue_create(struct aries_owner *own, const struct aries_queue_args *args)
{
	struct aries_cq *cq;
	int rc;

	if (!args->entries || args->delay > args->entries)
		return ERR_PTR(-EINVAL);
	if (args->entries >= 1u << ARIES_CQ_LOG2_MAX)
		return ERR_PTR(-EFBIG);
	cq = aries_cq_new(args->entries, args->handler ? KGNI_CQ_BLOCKING : 0, true);
	if (IS_ERR(cq))
		return cq;
	cq->own = own;
	cq->handler = args->handler;
	cq->data = args->data;
	rc = aries_queue_add(own, cq, args->delay);
	if (!rc)
		return cq;
	aries_cq_free_mem(cq);
	aries_cq_put(cq);
	return ERR_PTR(rc);
}
EXPORT_SYMBOL_ARIES(aries_queue_create);

int aries_queue_destroy(struct aries_cq *cq)
{
	struct aries_owner *own = cq->own;
	LIST_HEAD(gone);
	int rc = 0;

	down_read(&own->ad->state_sem);
	mutex_lock(&own->lock);
	if (xa_load(&own->cqs, cq->nr) == cq) {
		if (cq->mem_refs || cq->ce_refs)
			rc = -EBUSY;
		else
			aries_cq_stop(own, cq, &gone);
	}
	aries_owner_exit_free(own, &gone);
	if (rc)
		return rc;
	synchronize_rcu(); /* wait for its handler */
	aries_cq_put(cq);
	aries_owner_put(own);
	return 0;
}
EXPORT_SYMBOL_ARIES(aries_queue_destroy);

int aries_queue_poll(struct aries_cq *cq, u64 *entry)
{
	unsigned long flags;
	int rc = 0;

	spin_lock_irqsave(&cq->lock, flags);
	if (likely(cq->mem)) {
		struct aries_cq_header *header = cq->mem;
		u64 *slots = cq->mem + ARIES_CQ_HEADER_BYTES;
		u64 *slot = &slots[cq->consumed & ((1ull << cq->log2) - 1)];

		*entry = smp_load_acquire(slot); /* pairs with the NIC's release of the entry */
		if (*entry) {
			WRITE_ONCE(*slot, 0);
			/* publish this after the slot is cleared */
			smp_store_release(&header->consumed, ++cq->consumed);
		} else {
			aries_queue_rearm(cq);
			rc = -EAGAIN;
		}
	} else {
		rc = aries_owner_why(cq->own) ?: -EIO; /* -EIO if the owner was destroyed */
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return rc;
}
EXPORT_SYMBOL_ARIES(aries_queue_poll);

u16 aries_queue_nr(const struct aries_cq *cq)
{
	return cq->nr;
}
EXPORT_SYMBOL_ARIES(aries_queue_nr);

u32 aries_queue_entries(const struct aries_cq *cq)
{
	return 1u << cq->log2;
}
EXPORT_SYMBOL_ARIES(aries_queue_entries);
