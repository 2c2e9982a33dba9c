// SPDX-License-Identifier: GPL-2.0-only
/*
 * Short messages between their put and their completion event: when an event may be delivered to
 * the client, and what happens to a message that was lost in flight. All of this runs with
 * gni_cq.lock held, because a thread that reads events may not hold the endpoint's lock.
 */
#include "gni_entry.h"
#include "kgni_cq.h"
#include "kgni_ep.h"
#include "kgni_smsg.h"

/*
 * Has the sender of this message seen the status of its put? If so, what it recorded about the
 * message is visible here, too.
 */
static bool kgni_cq_decided(const struct kgni_request *r)
{
	/* pairs with kgni_cq_decide() */
	return (s32)(smp_load_acquire(&r->ep->smsg_decided) - r->number) >= 0;
}

/*
 * Is the outcome of this message still unknown? The event of a failed put may be read on another
 * processor before the sender has seen the status of the put. In that case the sender will still
 * say whether it retries, and how the message ends. A sender that has seen the put leave the NIC
 * says nothing more: such a message was lost later, in flight or together with the peer's host.
 * Whatever a sender records about a message it writes with the lock held, and before
 * kgni_cq_decide().
 */
static bool kgni_cq_undecided(const struct gni_cq *cq, const struct kgni_request *r, u64 entry)
	__must_hold(&cq->lock)
{
	if (r->unsettled)
		return true;
	if (!gni_entry_status(entry) || r->mended || r->forced || cq->gone || kgni_cq_decided(r))
		return false;
	WRITE_ONCE(r->ep->smsg_asked, true);
	/* either this sees the decision, or kgni_cq_decide() sees that somebody has asked */
	smp_mb();
	return !kgni_cq_decided(r);
}

/**
 * kgni_cq_decide() - the sender of a message has seen the status of its put
 * @ep: endpoint
 * @id: request of the last message; it may have ended
 *
 * Context: any; gni_ep.lock held.
 */
void kgni_cq_decide(struct gni_ep *ep, u16 id)
{
	struct gni_cq *cq = ep->cq;
	struct kgni_request *r;
	unsigned long flags;

	/* publishes what the sender has recorded about the message */
	smp_store_release(&ep->smsg_decided, ep->smsg_begun);
	smp_mb(); /* pairs with kgni_cq_undecided() */
	if (!READ_ONCE(ep->smsg_asked))
		return;
	spin_lock_irqsave(&cq->lock, flags);
	ep->smsg_asked = false;
	r = kgni_request(&cq->requests, id);
	/* its event was read already and was held back for this decision */
	if (r->kind == KGNI_REQUEST_SMSG && r->ep == ep && r->number == ep->smsg_begun &&
	    r->entry && !r->unsettled)
		kgni_cq_list(cq, id);
	spin_unlock_irqrestore(&cq->lock, flags);
}

/* The message of @r was lost, and there is a copy of it: let the endpoint's timer retransmit it. */
static void kgni_cq_lost(struct kgni_request *r, unsigned long due)
{
	struct gni_ep *ep = r->ep;
	struct kgni_message *m = r->copy;

	r->unsettled = true;
	if (!m->lost)
		WRITE_ONCE(ep->smsg_mending, ep->smsg_mending + 1);
	m->lost = true;
	list_add_tail(&m->node, &ep->smsg_lost);
	kgni_ep_get(ep);
	if (timer_reduce(&ep->timer, due))
		kgni_ep_put(ep); /* it was pending already and holds its own reference */
}

/* The same, if the event of the message reported the loss. */
static void kgni_cq_lost_by_event(struct kgni_request *r)
{
	struct kgni_message *m = r->copy;

	m->status = gni_entry_status(r->entry) & ~ARIES_ST_LOCAL;
	m->copy.put = gni_env_status_unknown(m->status);
	kgni_smsg_pause(m);
	kgni_cq_lost(r, m->due);
}

/**
 * kgni_cq_keep() - keep the copy of a message in flight until its event reports the outcome
 * @ep: endpoint
 * @m: copy of the last message; ownership passes to this function
 *
 * Context: any; gni_ep.lock held, before kgni_cq_decide().
 */
void kgni_cq_keep(struct gni_ep *ep, struct kgni_message *m)
{
	struct gni_cq *cq = m->cq;
	struct kgni_request *r;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	r = kgni_request(&cq->requests, m->id);
	/* its event may have been read already, and its id may belong to another message now */
	if (r->kind == KGNI_REQUEST_SMSG && r->ep == ep && r->number == ep->smsg_begun &&
	    !cq->gone) {
		/* if its event was read already, kgni_cq_decide() delivers it again */
		r->copy = m;
		m = NULL;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	kfree(m);
}

/**
 * kgni_cq_doubt() - a message was sent without an event: check its slot before long
 * @ep: endpoint
 * @m: copy; ownership passes to this function; its request is not settled
 *
 * Context: any; gni_ep.lock held.
 */
void kgni_cq_doubt(struct gni_ep *ep, struct kgni_message *m)
{
	struct gni_cq *cq = m->cq;
	struct kgni_request *r;
	unsigned long flags;

	m->status = ARIES_ST_TIMEOUT;
	m->copy.put = true;
	m->pause = 1;
	kgni_smsg_pause(m);
	spin_lock_irqsave(&cq->lock, flags);
	r = kgni_request(&cq->requests, m->id);
	r->copy = m;
	kgni_cq_lost(r, m->due);
	spin_unlock_irqrestore(&cq->lock, flags);
}

/**
 * kgni_cq_take_lost() - take the messages that were lost off the endpoint's list
 * @ep: endpoint with a source queue
 * @to: receives them, linked by kgni_message.node; their requests still own them
 *
 * Context: any; gni_ep.lock held.
 */
void kgni_cq_take_lost(struct gni_ep *ep, struct list_head *to)
{
	unsigned long flags;

	spin_lock_irqsave(&ep->cq->lock, flags);
	list_splice_tail_init(&ep->smsg_lost, to);
	spin_unlock_irqrestore(&ep->cq->lock, flags);
}

/**
 * kgni_cq_put_lost() - put messages that will be retransmitted back on the endpoint's list
 * @ep: endpoint with a source queue
 * @from: these messages
 * @due: lowered to the time at which the first of them is due
 *
 * Context: any; gni_ep.lock held. Return: whether the endpoint's list has any message now.
 */
bool kgni_cq_put_lost(struct gni_ep *ep, struct list_head *from, unsigned long *due)
{
	struct kgni_message *m;
	unsigned long flags;
	bool any;

	spin_lock_irqsave(&ep->cq->lock, flags);
	list_splice_tail_init(from, &ep->smsg_lost);
	list_for_each_entry(m, &ep->smsg_lost, node)
		if (time_before(m->due, *due))
			*due = m->due;
	any = !list_empty(&ep->smsg_lost);
	spin_unlock_irqrestore(&ep->cq->lock, flags);
	return any;
}

/**
 * kgni_cq_await() - let the next event of a lost message decide its outcome
 * @cq: queue
 * @id: request, which is not settled
 *
 * Context: any. Return: false if an earlier event has not been read, or the NIC is gone.
 */
bool kgni_cq_await(struct gni_cq *cq, u16 id)
{
	struct kgni_request *r;
	unsigned long flags;
	bool free;

	spin_lock_irqsave(&cq->lock, flags);
	r = kgni_request(&cq->requests, id);
	free = !cq->gone && (r->entry || !r->raised);
	if (free) {
		r->entry = 0;
		r->raised = true;
		r->unsettled = false;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return free;
}

/**
 * kgni_cq_no_event() - undo kgni_cq_await(): the put has failed and raises no event
 * @cq: queue
 * @id: request
 * @m: its copy
 *
 * Context: any. Return: false if the NIC has gone in the meantime. Then the client learns of the
 * failure in another way, and the copy may no longer exist.
 */
bool kgni_cq_no_event(struct gni_cq *cq, u16 id, const struct kgni_message *m)
{
	struct kgni_request *r;
	unsigned long flags;
	bool ours;

	spin_lock_irqsave(&cq->lock, flags);
	r = kgni_request(&cq->requests, id);
	ours = !cq->gone && r->copy == m;
	if (ours) {
		r->unsettled = true;
		r->raised = false;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return ours;
}

/** kgni_cq_leave() - count all messages so far to an earlier connection. Context: as above. */
void kgni_cq_leave(struct gni_ep *ep)
{
	unsigned long flags;

	spin_lock_irqsave(&ep->cq->lock, flags);
	ep->smsg_first = ep->smsg_begun;
	spin_unlock_irqrestore(&ep->cq->lock, flags);
}

/**
 * kgni_cq_message() - complete the message that an event belongs to
 * @cq: queue
 * @entry: event
 *
 * Context: gni_cq.lock held. Return: the entry for the client, 0 if the message is not settled yet.
 */
u64 kgni_cq_message(struct gni_cq *cq, u64 entry) __must_hold(&cq->lock)
{
	u16 id = gni_entry_tid(entry);
	struct kgni_request *r = kgni_request(&cq->requests, id);
	u32 local_event;
	u8 status;

	if (!r || r->kind != KGNI_REQUEST_SMSG)
		return entry;
	if (kgni_cq_undecided(cq, r, entry)) {
		r->entry = entry;
		return 0;
	}
	status = r->mended ? ARIES_ST_OK : r->forced ? r->forced : gni_entry_status(entry);
	if (status && !r->forced && !cq->gone && (s32)(r->number - r->ep->smsg_first) > 0) {
		if (r->copy) {
			r->entry = entry;
			kgni_cq_lost_by_event(r);
			return 0;
		}
		/* The peer waits for this message, and will find none that was sent after it. */
		WRITE_ONCE(r->ep->smsg_late, true);
	}
	local_event = r->local_event;
	cq->room++;
	kgni_cq_end(cq, id);
	entry &= ~ARIES_CQE_STATUS_MASK;
	return status ? gni_entry_failed_pack(entry, status & ~ARIES_ST_LOCAL, local_event) : entry;
}
