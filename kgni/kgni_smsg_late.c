// SPDX-License-Identifier: GPL-2.0-only
/*
 * Short messages that are still in flight when their put returns, as all messages to another host
 * are. Only the completion event reports whether they arrive, so a copy is kept until then. A
 * message that was lost is put again, see gni_smsg_repeat.c. The new put raises its event.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "gni_entry.h"
#include "kgni_cq.h"
#include "kgni_smsg.h"

/**
 * kgni_smsg_keep() - keep a copy of a message in flight, in case it is lost
 * @ep: endpoint with a connection
 * @text: message
 * @place: where it was put
 * @id: its request, whose event may have been read already
 *
 * If there is no memory for a copy, a loss is reported to the client. Context: any; gni_ep.lock
 * held.
 */
void kgni_smsg_keep(struct gni_ep *ep, const struct kgni_text *text, struct gni_smsg_place place,
		    u16 id)
{
	struct kgni_message *m = kgni_smsg_copy(ep, text, id, ARIES_ST_LATER);

	if (m)
		m->copy.spot = gni_smsg_next_spot(&ep->smsg->c, place, text->bytes, 0);
	gni_smsg_sent(&ep->smsg->c, place);
	if (m)
		kgni_cq_keep(ep, m);
}

/* The result of an attempt. */
enum kgni_mend {
	KGNI_MEND_OVER,	 /* m->status is the final status */
	KGNI_MEND_AGAIN, /* there may be another one */
	KGNI_MEND_LEFT,	 /* it is in flight again, and its event will report the outcome */
};

static enum kgni_mend kgni_smsg_unless_over(const struct kgni_message *m)
{
	return m->left && gni_status_recoverable(m->status) ? KGNI_MEND_AGAIN : KGNI_MEND_OVER;
}

static enum kgni_mend kgni_smsg_put_again(struct gni_ep *ep, struct kgni_message *m)
{
	const struct kgni_text text = { .part = { { m->text, m->copy.bytes } },
					.bytes = m->copy.bytes,
					.msg_id = m->copy.msg_id };
	struct gni_cq *cq = m->cq;
	const u16 id = m->id;
	/*
	 * The queue has space for one event of this message, so no event is asked for while an
	 * earlier one is unread.
	 */
	const bool event = kgni_cq_await(cq, id);
	struct gni_smsg_try t =
		gni_env_smsg_put(ep, &ep->smsg->c, &text, &m->copy.spot, event ? id : 0);

	if (event && ((t.whole && t.status != ARIES_ST_DISABLED) || !kgni_cq_no_event(cq, id, m)))
		return KGNI_MEND_LEFT;
	m->copy.put = t.whole && (t.status == ARIES_ST_LATER || gni_env_status_unknown(t.status));
	m->status = t.status == ARIES_ST_LATER ? ARIES_ST_TIMEOUT : t.status;
	return kgni_smsg_unless_over(m);
}

/* One attempt for a message that was lost. If copy.put is set it may have arrived all the same. */
static enum kgni_mend kgni_smsg_mend_one(struct gni_ep *ep, struct kgni_message *m)
{
	struct gni_smsg_conn *c = &ep->smsg->c;
	u32 status = m->status;
	enum gni_smsg_fate fate;

	/* an attempt during a quiesce would fail, so it does not count */
	if (READ_ONCE(ep->nic->quiet) && !READ_ONCE(ep->nic->gone))
		return KGNI_MEND_AGAIN;
	if (m->copy.spot.number < c->out.acknowledged) {
		m->status = ARIES_ST_OK;
		return KGNI_MEND_OVER;
	}
	if (!m->left)
		return KGNI_MEND_OVER;
	m->left--;
	kgni_count(ep->nic, GNI_STAT_SMSG_RETRANS_COUNT);
	fate = gni_smsg_find(ep, c, &m->copy, &status);
	m->status = status;
	if (fate == GNI_SMSG_MISSING)
		return kgni_smsg_put_again(ep, m);
	return fate == GNI_SMSG_OPEN ? kgni_smsg_unless_over(m) : KGNI_MEND_OVER;
}

/*
 * The message has not arrived and will not be retransmitted. If it is the last one it is withdrawn,
 * as if it had failed at once. If others were sent after it the peer can never reach them, and the
 * connection is broken.
 */
static void kgni_smsg_give_up(struct gni_ep *ep, const struct kgni_message *m)
{
	if (ep->smsg->waiting || !gni_smsg_withdraw(&ep->smsg->c, &m->copy.spot, m->copy.put))
		WRITE_ONCE(ep->smsg_late, true);
}

/**
 * kgni_smsg_mend() - make the attempts that are due for lost messages
 * @ep: endpoint with a connection
 * @due: lowered to the time of the next attempt
 *
 * Context: any; gni_ep.lock held. Return: whether there may be another attempt.
 */
bool kgni_smsg_mend(struct gni_ep *ep, unsigned long *due)
{
	struct kgni_message *m, *next;
	LIST_HEAD(lost);
	LIST_HEAD(again);

	kgni_cq_take_lost(ep, &lost);
	list_for_each_entry_safe(m, next, &lost, node) {
		enum kgni_mend mend = KGNI_MEND_AGAIN;

		list_del(&m->node);
		if (!time_before(jiffies, m->due)) {
			mend = kgni_smsg_mend_one(ep, m);
			if (mend == KGNI_MEND_AGAIN)
				kgni_smsg_pause(m);
		}
		if (mend == KGNI_MEND_AGAIN) {
			list_add_tail(&m->node, &again);
		} else if (mend == KGNI_MEND_OVER) {
			if (m->status != ARIES_ST_OK)
				kgni_smsg_give_up(ep, m);
			kgni_cq_settle(m->cq, m->id, m->status);
		}
	}
	return kgni_cq_put_lost(ep, &again, due);
}

/**
 * kgni_smsg_leave_lost() - the connection ends: complete lost messages with their last status
 * @ep: endpoint
 *
 * Context: any; gni_ep.lock held.
 */
void kgni_smsg_leave_lost(struct gni_ep *ep)
{
	struct kgni_message *m, *next;
	LIST_HEAD(lost);

	kgni_cq_leave(ep);
	kgni_cq_take_lost(ep, &lost);
	list_for_each_entry_safe(m, next, &lost, node) {
		list_del(&m->node);
		kgni_cq_settle(m->cq, m->id, m->status);
	}
}
