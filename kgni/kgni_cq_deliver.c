// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events on their way to the client. Most come from the NIC. kGNI delivers those that the NIC
 * cannot know of: for a post that failed in the middle, for a message that was retransmitted, and
 * for everything that was outstanding when the NIC went away.
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/export.h>

#include "gni_entry.h"
#include "kgni_cq.h"
#include "kgni_handle.h"

/*
 * Take the next event that kGNI delivers itself. Return: the event in the form that the NIC would
 * have given it, or 0.
 */
static u64 kgni_cq_take_kept(struct gni_cq *cq) __must_hold(&cq->lock)
{
	u16 id = cq->kept;
	struct kgni_request *r = id ? kgni_request(&cq->requests, id) : NULL;
	u64 entry, info;
	bool message;
	u8 status;

	if (!r)
		return 0;
	message = r->kind == KGNI_REQUEST_SMSG;
	entry = r->entry;
	r->entry = 0;
	if (!entry) {
		status = r->forced || r->mended || !cq->gone ? r->forced : ARIES_ST_FLUSHED;
		info = __ffs(r->pending & ~r->told);
		entry = FIELD_PREP(ARIES_CQE_TID_MASK, (u64)id) |
			FIELD_PREP(ARIES_CQE_STATUS_MASK, (u64)status) |
			FIELD_PREP(ARIES_CQE_INFO_MASK, info) |
			FIELD_PREP(ARIES_CQE_SOURCE_MASK, r->kind == KGNI_REQUEST_BTE
								  ? (u64)ARIES_SRC_BTE
								  : ARIES_SRC_FMA) |
			FIELD_PREP(ARIES_CQE_TYPE_MASK,
				   message ? (u64)GNI_CQ_EVENT_TYPE_SMSG : GNI_CQ_EVENT_TYPE_POST) |
			(message ? r->msg_id : r->ep->local_event);
	}
	/* not a message: kgni_cq_message() may hold its event back and wait for another one */
	if (!message)
		r->told |= BIT(gni_entry_info(entry));
	if (message || !(r->pending & ~r->told)) {
		cq->kept = r->next;
		r->listed = false;
	}
	return entry;
}

/*
 * Add what kGNI knows, and the NIC does not, about the post that @entry belongs to. The event
 * counts as delivered to the client from now on. Whatever happens to the NIC later does not revoke
 * it.
 */
static u64 kgni_cq_overlay(struct gni_cq *cq, u64 entry) __must_hold(&cq->lock)
{
	u8 source = gni_entry_source(entry);
	struct kgni_request *r;

	if ((source != ARIES_SRC_FMA && source != ARIES_SRC_BTE) ||
	    gni_entry_info(entry) == ARIES_INFO_REMOTE)
		return entry;
	r = kgni_request(&cq->requests, gni_entry_tid(entry));
	if (!r || (r->kind != KGNI_REQUEST_POST && r->kind != KGNI_REQUEST_BTE))
		return entry;
	r->told |= BIT(gni_entry_info(entry));
	return gni_entry_status(entry) ? entry
					: entry | FIELD_PREP(ARIES_CQE_STATUS_MASK, (u64)r->forced);
}

/**
 * kgni_cq_next() - take the next event for the client
 * @cq: queue
 *
 * Context: gni_cq.lock held. Return: the event, 0 if there is none.
 */
u64 kgni_cq_next(struct gni_cq *cq) __must_hold(&cq->lock)
{
	u64 entry;

	do {
		entry = kgni_cq_take_kept(cq);
		if (!entry && !cq->gone)
			entry = kgni_cq_poll(cq);
		if (!entry || (entry & ARIES_CQE_OVERRUN))
			return entry;
		if (gni_entry_message(entry) && gni_entry_info(entry) == ARIES_INFO_LOCAL)
			entry = kgni_cq_message(cq, entry);
		else
			entry = kgni_cq_overlay(cq, entry);
	} while (!entry);
	return entry;
}

/*
 * Save an event that the NIC has written. Of the second event of a post only the status is saved:
 * kgni_cq_take_kept() makes the event anew.
 */
static void kgni_cq_save(struct gni_cq *cq, struct kgni_request *r, u64 entry)
	__must_hold(&cq->lock)
{
	if (!r->entry) {
		r->entry = entry;
		if (!r->unsettled)
			kgni_cq_list(cq, gni_entry_tid(entry));
	} else if (r->kind != KGNI_REQUEST_SMSG) {
		r->forced = gni_entry_status(entry);
		r->mended = !r->forced;
	}
}

/**
 * kgni_cq_gone() - the NIC goes away: accept no more requests, and save events that it has written
 * @cq: queue
 *
 * Local events that are in the queue are delivered unchanged. Remote events are lost with the NIC,
 * and the client is told that the NIC is gone. Context: any.
 */
void kgni_cq_gone(struct gni_cq *cq)
{
	struct kgni_request *r;
	unsigned long flags;
	u64 entry;

	spin_lock_irqsave(&cq->lock, flags);
	while (!cq->gone && (entry = kgni_cq_poll(cq))) {
		r = kgni_request(&cq->requests, gni_entry_tid(entry));
		if (!(entry & ARIES_CQE_OVERRUN) && gni_entry_info(entry) != ARIES_INFO_REMOTE &&
		    r && r->kind != KGNI_REQUEST_FREE)
			kgni_cq_save(cq, r, entry);
	}
	cq->gone = true;
	spin_unlock_irqrestore(&cq->lock, flags);
}

/**
 * kgni_cq_flush() - the NIC can no longer access memory: complete all outstanding requests
 * @cq: queue, after kgni_cq_gone()
 *
 * This must not happen earlier, because the client reuses the memory of completed requests.
 * Context: any.
 */
void kgni_cq_flush(struct gni_cq *cq)
{
	struct kgni_request *r;
	unsigned long flags;
	u32 id;

	spin_lock_irqsave(&cq->lock, flags);
	for (id = 1; id < cq->requests.fresh; id++) {
		r = kgni_request(&cq->requests, id);
		if (r->kind == KGNI_REQUEST_FREE)
			continue;
		r->raised = false;
		if (r->unsettled || r->listed || !(r->pending & ~r->told))
			continue;
		r->forced = ARIES_ST_FLUSHED;
		kgni_cq_list(cq, id);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
}

/** kgni_cq_drop() - free all outstanding requests of a queue that is destroyed. Context: any. */
void kgni_cq_drop(struct gni_cq *cq)
{
	unsigned long flags;
	u32 id;

	spin_lock_irqsave(&cq->lock, flags);
	for (id = 1; id < cq->requests.fresh; id++)
		if (kgni_request(&cq->requests, id)->kind != KGNI_REQUEST_FREE)
			kgni_cq_end(cq, id);
	cq->kept = 0;
	spin_unlock_irqrestore(&cq->lock, flags);
}

/*
 * gni_get_completed() - get the post that an event belongs to, see gni_pub.h
 *
 * Context: any.
 */
gni_return_t gni_get_completed(gni_cq_handle_t cq_hndl, gni_cq_entry_t event_data,
			       gni_post_descriptor_t **post_descr)
{
	u16 id = gni_entry_tid(event_data);
	u8 info = gni_entry_info(event_data);
	bool failed = gni_entry_status(event_data);
	gni_post_descriptor_t *d = NULL;
	struct kgni_request *r;
	unsigned long flags;

	if (!kgni_cq_valid(cq_hndl) || !post_descr)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)cq_hndl);
	spin_lock_irqsave(&cq_hndl->lock, flags);
	r = kgni_request(&cq_hndl->requests, id);
	if (r && (r->kind == KGNI_REQUEST_POST || r->kind == KGNI_REQUEST_BTE) &&
	    (r->pending & r->told & BIT(info)) &&
	    gni_entry_type(event_data) == GNI_CQ_EVENT_TYPE_POST) {
		d = r->descr;
		if (!r->partly) {
			d->status = GNI_RC_SUCCESS;
			d->cq_mode_complete = 0;
		}
		d->cq_mode_complete |= info;
		if (failed)
			d->status = GNI_RC_TRANSACTION_ERROR;
		r->partly = true;
		r->pending &= ~BIT(info);
		cq_hndl->room++;
		if (!r->pending)
			kgni_cq_end(cq_hndl, id);
	}
	spin_unlock_irqrestore(&cq_hndl->lock, flags);
	*post_descr = d;
	if (!d)
		return kgni_refuse(GNI_RC_DESCRIPTOR_ERROR, ENOENT, event_data);
	return failed ? GNI_RC_TRANSACTION_ERROR : GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_get_completed);
