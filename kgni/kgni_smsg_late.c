// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Short messages that are on their way when their put is over, as those for another host are: only
 * the event tells whether they get there. Until then a copy is kept. One that was lost is put
 * again into its own slot: others may have been sent behind it, and the peer waits for this one.
 *
 * The slot is the message's until the peer has released it, so it tells whether the message is
 * there, and it is written only if it is not. Such a put has the event of the message. A slot that
 * was written twice does no harm either: the peer knows the word.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "kgni_cq.h"
#include "kgni_smsg.h"

/**
 * kgni_smsg_left() - a message has left: what has to be known to put it again
 * @s: connection
 * @m: message
 * @place: where it has gone
 *
 * It counts as sent from now on. Context: gni_ep.lock held.
 */
void kgni_smsg_left(struct kgni_smsg *s, struct kgni_message *m, struct gni_smsg_place place)
{
	m->spot = kgni_smsg_spot(s, place, m->bytes);
	m->number = s->out.sent;
	m->position = s->out.position;
	kgni_smsg_sent(s, place);
}

/**
 * kgni_smsg_keep() - a message has left, and may get lost yet
 * @ep: endpoint with a connection
 * @text: message
 * @place: where it has gone
 * @id: its request; its event may have been read
 *
 * Without memory its loss is told. Context: any; gni_ep.lock held.
 */
void kgni_smsg_keep(struct gni_ep *ep, const struct kgni_text *text, struct gni_smsg_place place,
		    u16 id)
{
	struct kgni_message *m = kgni_smsg_copy(ep, text, id, ARIES_ST_LATER);

	if (!m) {
		kgni_smsg_sent(ep->smsg, place);
		return;
	}
	kgni_smsg_left(ep->smsg, m, place);
	kgni_cq_keep(ep, m);
}

/* What an attempt has come to. */
enum kgni_mend {
	KGNI_MEND_OVER,	 /* m->status tells how */
	KGNI_MEND_AGAIN, /* there may be another one */
	KGNI_MEND_LEFT,	 /* it is on its way again, and its event is the next that is heard of it */
};

static enum kgni_mend kgni_smsg_unless_over(const struct kgni_message *m)
{
	return m->left && kgni_status_recoverable(m->status) ? KGNI_MEND_AGAIN : KGNI_MEND_OVER;
}

static enum kgni_mend kgni_smsg_put_again(struct gni_ep *ep, struct kgni_message *m)
{
	const struct kgni_text text = { .part = { { m->text, m->bytes } },
					.bytes = m->bytes,
					.msg_id = m->msg_id };
	struct gni_cq *cq = m->cq;
	const u16 id = m->id;
	/* While that of an earlier put has not been read there is no room for another event. */
	const bool event = kgni_cq_await(cq, id);
	struct kgni_try t = kgni_smsg_put_at(ep, &text, &m->spot, event ? id : 0);

	if (event && ((t.whole && t.status != ARIES_ST_DISABLED) || !kgni_cq_no_event(cq, id, m)))
		return KGNI_MEND_LEFT;
	m->put = t.whole && (t.status == ARIES_ST_LATER || kgni_status_unknown(t.status));
	m->status = t.status == ARIES_ST_LATER ? ARIES_ST_TIMEOUT : t.status;
	return kgni_smsg_unless_over(m);
}

/* One attempt for a message that was lost. m->put: it may be there all the same. */
static enum kgni_mend kgni_smsg_mend_one(struct gni_ep *ep, struct kgni_message *m)
{
	struct kgni_smsg *s = ep->smsg;
	u64 word;
	u8 status;

	/* what would fail because nobody may speak does not count */
	if (READ_ONCE(ep->nic->quiet) && !READ_ONCE(ep->nic->gone))
		return KGNI_MEND_AGAIN;
	if (m->number < s->out.acknowledged) {
		m->status = ARIES_ST_OK;
		return KGNI_MEND_OVER;
	}
	if (!m->left)
		return KGNI_MEND_OVER;
	m->left--;
	kgni_count(ep->nic, GNI_STAT_SMSG_RETRANS_COUNT);
	status = kgni_smsg_read(ep, s->out.box.slots + (u64)m->spot.slot * GNI_SMSG_WORD, &word);
	if (status != ARIES_ST_OK) {
		m->status = status;
		return kgni_smsg_unless_over(m);
	}
	m->put = false;
	if (word == m->spot.header) {
		m->status = ARIES_ST_OK;
		return KGNI_MEND_OVER;
	}
	/* as kgni_smsg_put_quietly() */
	if (m->status == ARIES_ST_NO_CQ)
		s->events &= ~ARIES_EV_REMOTE;
	else if (!s->repeats || !kgni_status_recoverable(m->status))
		return KGNI_MEND_OVER;
	return kgni_smsg_put_again(ep, m);
}

/*
 * A message that is not there and will not come. The last one leaves no hole, as if it had failed
 * at once; behind another one the peer would find nothing.
 */
static void kgni_smsg_give_up(struct gni_ep *ep, const struct kgni_message *m)
{
	struct kgni_smsg *s = ep->smsg;
	struct kgni_sender *out = &s->out;

	if (m->number + 1 != out->sent || s->unsure || s->waiting) {
		WRITE_ONCE(ep->smsg_late, true);
		return;
	}
	out->sent--;
	out->slot = m->spot.slot;
	out->turn = m->spot.header & GNI_SMSG_TURN;
	out->position = m->position;
	out->used -= m->spot.place.taken;
	s->unsure = m->put;
	s->unsure_header = m->spot.header;
	s->unsure_place = m->spot.place;
}

/**
 * kgni_smsg_mend() - attempts that are due for messages that were lost
 * @ep: endpoint with a connection
 * @due: lowered to when the next one is
 *
 * Context: any; gni_ep.lock held. Return: whether there may be another one.
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
 * kgni_smsg_leave_lost() - messages that were lost end as they are, the connection is over
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
