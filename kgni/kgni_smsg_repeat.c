// SPDX-License-Identifier: GPL-2.0-only
/*
 * Short messages whose put has failed. Nothing more is put while it is not known whether an earlier
 * put has arrived: the slot in the peer's mailbox is read back, which gives a definite answer. A
 * message that waits for another attempt is retransmitted from a timer, with growing pauses. The
 * event for its sender is held back until the outcome is known.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "gni_entry.h"
#include "kgni_cq.h"
#include "kgni_ep.h"
#include "kgni_smsg.h"

/* Make one more attempt. If w->left is 0 afterwards the returned status is final. */
static u8 kgni_smsg_again(struct gni_ep *ep, struct kgni_message *w)
{
	const struct kgni_text text = { .part = { { w->text, w->copy.bytes } },
					.bytes = w->copy.bytes };
	bool last = false;
	u8 status = gni_smsg_again(ep, &ep->smsg->c, &w->copy, &text, w->status, &last);

	if (last)
		w->left = 0;
	return status;
}

/* Complete the message: a reader of its event finds the outcome from now on. */
static void kgni_smsg_over(struct gni_ep *ep)
{
	struct kgni_message *w = ep->smsg->waiting;

	ep->smsg->waiting = NULL;
	kgni_cq_settle(w->cq, w->id, w->status);
	kfree(w);
}

/* Make one attempt for the waiting message. Return: whether there may be another one. */
static bool kgni_smsg_attempt(struct gni_ep *ep)
{
	struct kgni_message *w = ep->smsg->waiting;

	/* an attempt during a quiesce would fail, so it does not count */
	if (READ_ONCE(ep->nic->quiet) && !READ_ONCE(ep->nic->gone))
		return true;
	if (w->left) {
		w->left--;
		kgni_count(ep->nic, GNI_STAT_SMSG_RETRANS_COUNT);
		w->status = kgni_smsg_again(ep, w);
	}
	if (w->status == ARIES_ST_LATER) {
		ep->smsg->waiting = NULL;
		kgni_cq_doubt(ep, w);
		return false;
	}
	if (w->status != ARIES_ST_OK && w->left && gni_status_recoverable(w->status))
		return true;
	kgni_smsg_over(ep);
	return false;
}

/*
 * The same, if the time has come. Return: whether there may be another attempt; @due is lowered to
 * its time.
 */
static bool kgni_smsg_attempt_due(struct gni_ep *ep, unsigned long *due)
{
	struct kgni_smsg *s = ep->smsg;

	if (!s->waiting)
		return false;
	if (!time_before(jiffies, s->due)) {
		if (!kgni_smsg_attempt(ep))
			return false;
		s->pause = min_t(u32, s->pause * KGNI_MORE_PAUSE, KGNI_LONGEST_PAUSE);
		s->due = jiffies + s->pause;
	}
	if (time_before(s->due, *due))
		*due = s->due;
	return true;
}

/**
 * kgni_smsg_timer() - make the attempts that are due
 * @timer: gni_ep.timer; holds a reference to the endpoint
 *
 * Context: softirq.
 */
void kgni_smsg_timer(struct timer_list *timer)
{
	struct gni_ep *ep = from_timer(ep, timer, timer);
	unsigned long flags, due = jiffies + KGNI_LONGEST_PAUSE;
	bool again = false;

	spin_lock_irqsave(&ep->lock, flags);
	if (ep->smsg) {
		again = kgni_smsg_attempt_due(ep, &due);
		again |= kgni_smsg_mend(ep, &due);
	}
	if (again)
		again = !timer_reduce(timer, due);
	spin_unlock_irqrestore(&ep->lock, flags);
	if (!again)
		kgni_ep_put(ep);
}

/* Begin to retransmit @w. The first attempts are made at once. */
static void kgni_smsg_begin(struct gni_ep *ep, struct kgni_message *w)
{
	unsigned int n;

	ep->smsg->waiting = w;
	ep->smsg->pause = 1;
	for (n = 0; n < KGNI_AT_ONCE; n++)
		if (!kgni_smsg_attempt(ep))
			return;
	ep->smsg->due = jiffies + ep->smsg->pause;
	kgni_ep_get(ep);
	if (timer_reduce(&ep->timer, ep->smsg->due))
		kgni_ep_put(ep); /* it was pending already and holds its own reference */
}

/**
 * kgni_smsg_copy() - copy the contents of a message
 * @ep: endpoint with a connection
 * @text: message
 * @id: its request
 * @status: ARIES_ST_* of the first attempt
 *
 * Context: any; gni_ep.lock held. Return: the copy, to be freed by kfree(); NULL if there is no
 * memory.
 */
struct kgni_message *kgni_smsg_copy(struct gni_ep *ep, const struct kgni_text *text, u16 id,
				    u8 status)
{
	struct kgni_message *w =
		kmalloc(struct_size(w, text, text->bytes), GFP_ATOMIC | __GFP_NOWARN);

	if (!w)
		return NULL;
	memset(w, 0, sizeof(*w));
	w->cq = ep->cq;
	w->id = id;
	w->copy.spot.number = ep->smsg->c.out.sent;
	w->status = status;
	w->left = ep->nic->smsg_retransmissions;
	w->copy.bytes = text->bytes;
	w->copy.msg_id = text->msg_id;
	if (text->part[0].iov_len)
		memcpy(w->text, text->part[0].iov_base, text->part[0].iov_len);
	if (text->part[1].iov_len)
		memcpy(w->text + text->part[0].iov_len, text->part[1].iov_base,
		       text->part[1].iov_len);
	return w;
}

/* If there is no memory for a copy, the event reports the first attempt. */
static struct kgni_message *kgni_smsg_wait(struct gni_ep *ep, const struct kgni_text *text, u16 id,
					   u8 status)
{
	struct kgni_message *w = kgni_smsg_copy(ep, text, id, status);

	if (!w)
		kgni_cq_settle(ep->cq, id, status);
	return w;
}

/*
 * The message is in flight, but its put has no local event: only reading the slot back will tell
 * whether it has arrived.
 */
static void kgni_smsg_doubt(struct gni_ep *ep, const struct kgni_text *text,
			    struct gni_smsg_place place, u16 id)
{
	struct kgni_message *w = kgni_smsg_wait(ep, text, id, ARIES_ST_TIMEOUT);

	if (w)
		w->copy.spot = gni_smsg_next_spot(&ep->smsg->c, place, text->bytes, 0);
	gni_smsg_sent(&ep->smsg->c, place);
	if (w)
		kgni_cq_doubt(ep, w);
}

/**
 * kgni_smsg_put_failed() - the first attempt to send a message has failed
 * @ep: endpoint with a connection
 * @text: message
 * @place: where it was to be put
 * @id: its request; the NIC reports the failure to it, if the put with the event was rung
 * @first: result of that attempt, not ARIES_ST_OK
 *
 * The client learns the outcome from the event of the message. Context: any; gni_ep.lock held.
 */
void kgni_smsg_put_failed(struct gni_ep *ep, const struct kgni_text *text,
			  struct gni_smsg_place place, u16 id, struct gni_smsg_try first)
{
	struct gni_smsg_conn *c = &ep->smsg->c;
	struct gni_smsg_spot spot = gni_smsg_next_spot(c, place, text->bytes, 0);
	struct kgni_message *w;
	bool open;

	if (!kgni_cq_unsettled(ep->cq, id, first.whole))
		return;
	if (first.status == ARIES_ST_NO_CQ) {
		first = gni_smsg_put_quietly(ep, c, text, &spot);
		if (first.status == ARIES_ST_OK) {
			gni_smsg_sent(c, place);
			kgni_cq_settle(ep->cq, id, ARIES_ST_OK);
			return;
		}
		if (first.status == ARIES_ST_LATER) {
			kgni_smsg_doubt(ep, text, place, id);
			return;
		}
	}
	open = first.whole && gni_env_status_unknown(first.status);
	if (open)
		gni_smsg_unsure(c, &spot);
	if (!open && !(c->repeats && gni_status_recoverable(first.status))) {
		kgni_cq_settle(ep->cq, id, first.status);
		return;
	}
	w = kgni_smsg_wait(ep, text, id, first.status);
	if (!w)
		return;
	w->copy.put = open;
	kgni_smsg_begin(ep, w);
}

/**
 * kgni_smsg_behind() - accept a message that must wait until the put before it is settled
 * @ep: endpoint with a connection that has space for this message as well
 * @text: message
 * @id: its request
 *
 * Context: any; gni_ep.lock held.
 */
void kgni_smsg_behind(struct gni_ep *ep, const struct kgni_text *text, u16 id)
{
	struct kgni_message *w;

	if (!kgni_cq_unsettled(ep->cq, id, false))
		return;
	w = kgni_smsg_wait(ep, text, id, ARIES_ST_TIMEOUT);
	if (w)
		kgni_smsg_begin(ep, w);
}

/**
 * kgni_smsg_abandon() - the connection ends: complete waiting messages with their last status
 * @ep: endpoint
 *
 * Context: any; gni_ep.lock held.
 */
void kgni_smsg_abandon(struct gni_ep *ep)
{
	if (ep->smsg->waiting)
		kgni_smsg_over(ep);
	kgni_smsg_leave_lost(ep);
	if (del_timer(&ep->timer))
		kgni_ep_put(ep);
}
