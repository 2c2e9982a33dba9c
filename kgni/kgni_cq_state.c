// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of a queue: what it is used for, the events that the NIC has written, and the requests
 * whose events kGNI delivers itself. What is told to the client is decided in kgni_cq_deliver.c.
 */
#include "kgni_cq.h"
#include "kgni_ep.h"
#include "kgni_smsg.h"

/** kgni_cq_poll() - the next entry that the NIC has written, 0 if there is none. Context: any. */
u64 kgni_cq_poll(struct gni_cq *cq)
{
	u64 entry;

	return aries_queue_poll(cq->hw, &entry) ? 0 : entry;
}

/**
 * kgni_cq_use() - an endpoint begins to use a queue as its source queue
 * @cq: queue
 *
 * Context: any. Return: false if the queue is for remote events.
 */
bool kgni_cq_use(struct gni_cq *cq)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&cq->lock, flags);
	ok = !cq->registrations;
	if (ok)
		cq->endpoints++;
	spin_unlock_irqrestore(&cq->lock, flags);
	return ok;
}

/** kgni_cq_unuse() - an endpoint no longer uses a queue. Context: any. */
void kgni_cq_unuse(struct gni_cq *cq)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->endpoints--;
	spin_unlock_irqrestore(&cq->lock, flags);
}

/**
 * kgni_cq_register() - a registration begins to use a queue for remote events
 * @cq: queue
 *
 * Context: any. Return: false if the queue is for local events.
 */
bool kgni_cq_register(struct gni_cq *cq)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&cq->lock, flags);
	ok = !cq->endpoints && cq->room == aries_queue_entries(cq->hw) - 1;
	if (ok)
		cq->registrations++;
	spin_unlock_irqrestore(&cq->lock, flags);
	return ok;
}

/** kgni_cq_unregister() - a registration no longer uses a queue. Context: any. */
void kgni_cq_unregister(struct gni_cq *cq)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->registrations--;
	spin_unlock_irqrestore(&cq->lock, flags);
}

/*
 * kgni_cq_list() - let kGNI deliver the pending events of @id itself. Context: gni_cq.lock held.
 */
void kgni_cq_list(struct gni_cq *cq, u16 id) __must_hold(&cq->lock)
{
	struct kgni_request *r = kgni_request(&cq->requests, id);

	if (r->listed)
		return;
	r->listed = true;
	r->next = 0;
	if (cq->kept)
		kgni_request(&cq->requests, cq->kept_last)->next = id;
	else
		cq->kept = id;
	cq->kept_last = id;
	if (cq->handler)
		irq_work_queue(&cq->kick);
}

/** kgni_cq_drop_copy() - free the copy of a message's contents. Context: gni_cq.lock held. */
void kgni_cq_drop_copy(struct kgni_request *r)
{
	if (r->copy && r->copy->lost)
		WRITE_ONCE(r->ep->smsg_mending, r->ep->smsg_mending - 1);
	kfree(r->copy);
	r->copy = NULL;
}

/** kgni_cq_end() - free a request that has no pending event. Context: gni_cq.lock held. */
void kgni_cq_end(struct gni_cq *cq, u16 id) __must_hold(&cq->lock)
{
	struct gni_ep *ep = kgni_request(&cq->requests, id)->ep;

	kgni_cq_drop_copy(kgni_request(&cq->requests, id));
	kgni_request_give(&cq->requests, id);
	kgni_ep_put(ep);
}
