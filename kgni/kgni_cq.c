// SPDX-License-Identifier: GPL-2.0-only
/* Completion queues: creating, destroying and reading them. */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/slab.h>

#include "gni_entry.h"
#include "kgni_cq.h"
#include "kgni_handle.h"
#include "kgni_mem.h"

/* Call the handler from an interrupt, for events of the NIC or of kGNI itself. */
static void kgni_cq_notify(void *data)
{
	struct gni_cq *cq = data;

	cq->handler(cq->nic->device_id, cq->data);
}

static void kgni_cq_kick(struct irq_work *work)
{
	kgni_cq_notify(container_of(work, struct gni_cq, kick));
}

static gni_return_t kgni_cq_open(struct gni_cq *cq, u32 entries, u32 delay)
{
	const struct aries_queue_args args = {
		.entries = entries,
		.delay = delay,
		.handler = cq->handler ? kgni_cq_notify : NULL,
		.data = cq,
	};

	cq->hw = aries_queue_create(cq->nic->own, &args);
	if (IS_ERR(cq->hw))
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, -PTR_ERR(cq->hw), entries);
	cq->number = aries_queue_nr(cq->hw);
	/* one entry is reserved for the overrun marker */
	cq->room = aries_queue_entries(cq->hw) - 1;
	return GNI_RC_SUCCESS;
}

/* gni_cq_create() - create a queue, see gni_pub.h. Context: sleeps. */
gni_return_t gni_cq_create(gni_nic_handle_t nic_hndl, uint32_t entry_count, uint32_t delay_index,
			   gni_cq_event_hndlr_f *event_handler, uint64_t usr_event_data,
			   gni_cq_handle_t *cq_hndl)
{
	unsigned long flags;
	struct gni_cq *cq;
	gni_return_t rc;

	might_sleep();
	if (!kgni_nic_valid(nic_hndl) || !entry_count || !cq_hndl)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)nic_hndl, entry_count);
	cq = kzalloc(sizeof(*cq), GFP_KERNEL);
	if (!cq)
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, ENOMEM);
	cq->nic = nic_hndl;
	cq->handler = event_handler;
	cq->data = usr_event_data;
	spin_lock_init(&cq->lock);
	kgni_requests_init(&cq->requests);
	init_irq_work(&cq->kick, kgni_cq_kick);
	rc = kgni_handle_add(cq) ? kgni_refuse(GNI_RC_ERROR_RESOURCE, ENOMEM)
				 : kgni_cq_open(cq, entry_count, delay_index);
	if (rc != GNI_RC_SUCCESS) {
		kgni_handle_del(cq);
		kfree(cq);
		return rc;
	}
	spin_lock_irqsave(&nic_hndl->lock, flags);
	/*
	 * once in the list the queue is told when the NIC goes, so look now whether it is gone
	 * already
	 */
	cq->gone = nic_hndl->gone;
	list_add_tail(&cq->node, &nic_hndl->cqs);
	spin_unlock_irqrestore(&nic_hndl->lock, flags);
	cq->magic = KGNI_CQ_MAGIC;
	*cq_hndl = cq;
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_cq_create);

/**
 * kgni_cq_free() - destroy a queue that is no longer in use
 * @cq: queue
 *
 * Context: sleeps. Return: 0, or -EBUSY.
 */
int kgni_cq_free(struct gni_cq *cq)
{
	struct gni_nic *nic = cq->nic;
	unsigned long flags;
	int rc;

	/* take the queue off the list first, or a reset would still read it and call the handler */
	spin_lock_irqsave(&nic->lock, flags);
	list_del(&cq->node);
	spin_unlock_irqrestore(&nic->lock, flags);
	rc = aries_queue_destroy(cq->hw);
	if (rc) {
		spin_lock_irqsave(&nic->lock, flags);
		cq->gone = nic->gone;
		list_add_tail(&cq->node, &nic->cqs);
		spin_unlock_irqrestore(&nic->lock, flags);
		return rc;
	}
	irq_work_sync(&cq->kick);
	kgni_cq_drop(cq);
	kgni_requests_exit(&cq->requests);
	kgni_handle_del(cq);
	kfree(cq);
	return 0;
}

/* gni_cq_destroy() - destroy a queue, see gni_pub.h. Context: sleeps. */
gni_return_t gni_cq_destroy(gni_cq_handle_t cq_hndl)
{
	unsigned long flags;
	bool busy;

	might_sleep();
	if (!kgni_cq_valid(cq_hndl))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)cq_hndl);
	kgni_mem_later_flush(cq_hndl->nic);
	spin_lock_irqsave(&cq_hndl->lock, flags);
	busy = cq_hndl->endpoints || cq_hndl->registrations;
	if (!busy)
		cq_hndl->magic = 0;
	spin_unlock_irqrestore(&cq_hndl->lock, flags);
	if (!busy && !kgni_cq_free(cq_hndl))
		return GNI_RC_SUCCESS;
	cq_hndl->magic = KGNI_CQ_MAGIC;
	return kgni_refuse(GNI_RC_ERROR_RESOURCE, EBUSY, cq_hndl->endpoints,
			   cq_hndl->registrations);
}
EXPORT_SYMBOL_GPL(gni_cq_destroy);

/* gni_cq_get_event() - take the next event, see gni_pub.h. Context: any. */
gni_return_t gni_cq_get_event(gni_cq_handle_t cq_hndl, gni_cq_entry_t *event_data)
{
	unsigned long flags;
	u64 entry;

	if (!kgni_cq_valid(cq_hndl) || !event_data)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)cq_hndl);
	spin_lock_irqsave(&cq_hndl->lock, flags);
	entry = kgni_cq_next(cq_hndl);
	spin_unlock_irqrestore(&cq_hndl->lock, flags);
	if (!entry)
		return GNI_RC_NOT_DONE;
	*event_data = entry;
	if (entry & ARIES_CQE_OVERRUN)
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, EOVERFLOW, cq_hndl->number);
	if (entry & ARIES_CQE_STATUS_MASK)
		return kgni_refuse(GNI_RC_TRANSACTION_ERROR, EIO, entry);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_cq_get_event);
