// SPDX-License-Identifier: GPL-2.0-only
/*
 * Posts and messages between the call that starts them and their event, for the code that posts.
 * Free entries of a queue are counted, so that local events can never overrun it.
 */
#include <linux/bitops.h>

#include "kgni_cq.h"
#include "kgni_ep.h"

static u16 kgni_cq_begin(struct gni_ep *ep, struct gni_cq *cq, u8 pending,
			 enum kgni_request_kind kind) __must_hold(&cq->lock)
{
	unsigned int events = hweight8(pending);
	struct kgni_request *r;
	u16 id;

	if (cq->gone || cq->room < events)
		return 0;
	id = kgni_request_take(&cq->requests);
	if (!id)
		return 0;
	cq->room -= events;
	r = kgni_request(&cq->requests, id);
	r->ep = ep;
	r->kind = kind;
	r->pending = pending;
	r->raised = true;
	kgni_ep_get(ep);
	return id;
}

/**
 * kgni_cq_request_post() - reserve entries for the events of a post
 * @ep: endpoint
 * @cq: queue for the events
 * @descr: descriptor, with at least one event in cq_mode
 * @kind: KGNI_REQUEST_POST or KGNI_REQUEST_BTE
 *
 * Context: any. Return: transaction id; 0 if the queue could overrun, if there is no memory, or if
 * the NIC is gone.
 */
u16 kgni_cq_request_post(struct gni_ep *ep, struct gni_cq *cq, gni_post_descriptor_t *descr,
			 enum kgni_request_kind kind)
{
	u8 events = descr->cq_mode & (GNI_CQMODE_LOCAL_EVENT | GNI_CQMODE_GLOBAL_EVENT);
	unsigned long flags;
	u16 id;

	/* bit n of cq_mode is the event with code n + 1 */
	BUILD_BUG_ON(GNI_CQMODE_LOCAL_EVENT << 1 != 1 << ARIES_INFO_LOCAL);
	BUILD_BUG_ON(GNI_CQMODE_GLOBAL_EVENT << 1 != 1 << ARIES_INFO_GLOBAL);
	spin_lock_irqsave(&cq->lock, flags);
	id = kgni_cq_begin(ep, cq, events << 1, kind);
	if (id)
		kgni_request(&cq->requests, id)->descr = descr;
	spin_unlock_irqrestore(&cq->lock, flags);
	return id;
}

/**
 * kgni_cq_request_smsg() - reserve an entry for the event of a message
 * @ep: endpoint with a source queue
 * @msg_id: message id for the event
 *
 * Context: any; gni_ep.lock held. Return: as kgni_cq_request_post().
 */
u16 kgni_cq_request_smsg(struct gni_ep *ep, u32 msg_id)
{
	struct gni_cq *cq = ep->cq;
	struct kgni_request *r;
	unsigned long flags;
	u16 id;

	spin_lock_irqsave(&cq->lock, flags);
	id = kgni_cq_begin(ep, cq, BIT(ARIES_INFO_LOCAL), KGNI_REQUEST_SMSG);
	if (id) {
		r = kgni_request(&cq->requests, id);
		r->msg_id = msg_id;
		r->number = ++ep->smsg_begun;
		r->local_event = ep->local_event;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return id;
}

/**
 * kgni_cq_withdraw() - drop a post that the NIC did not accept and raises no event for
 * @cq: queue
 * @id: request
 *
 * Context: any. Return: false if the NIC has gone in the meantime. Then the client gets, or has
 * got, an event all the same.
 */
bool kgni_cq_withdraw(struct gni_cq *cq, u16 id)
{
	unsigned long flags;
	bool ours;

	spin_lock_irqsave(&cq->lock, flags);
	ours = !cq->gone;
	if (ours) {
		cq->room += hweight8(kgni_request(&cq->requests, id)->pending);
		kgni_cq_end(cq, id);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return ours;
}

/**
 * kgni_cq_unsettled() - hold back the event of a request until its outcome is known
 * @cq: queue
 * @id: request
 * @raised: the NIC raises an event for it
 *
 * Context: any. Return: false if the NIC has gone in the meantime. Then the client gets, or has
 * got, an event all the same, and the caller must not settle the request.
 */
bool kgni_cq_unsettled(struct gni_cq *cq, u16 id, bool raised)
{
	struct kgni_request *r;
	unsigned long flags;
	bool ours;

	spin_lock_irqsave(&cq->lock, flags);
	ours = !cq->gone;
	if (ours) {
		r = kgni_request(&cq->requests, id);
		r->unsettled = true;
		r->raised = raised;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return ours;
}

/**
 * kgni_cq_settle() - set the outcome of a request
 * @cq: queue
 * @id: request, after kgni_cq_unsettled()
 * @status: ARIES_ST_*, replaces the status that the NIC has reported
 *
 * Context: any.
 */
void kgni_cq_settle(struct gni_cq *cq, u16 id, u8 status)
{
	struct kgni_request *r;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	r = kgni_request(&cq->requests, id);
	r->unsettled = false;
	r->mended = status == ARIES_ST_OK;
	r->forced = status;
	kgni_cq_drop_copy(r);
	if (!r->raised || r->entry)
		kgni_cq_list(cq, id);
	spin_unlock_irqrestore(&cq->lock, flags);
}
