// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Message queues: receiving. */
#include "callback.h"
#include "debug.hpp"
#include "gone.hpp"
#include "msgq.hpp"
#include "unsettled.hpp"

#include <poll.h>

using namespace ugni;

namespace
{

constexpr const char *kProgress = "GNI_MsgqProgress";
constexpr uint32_t kNoWait = ~0U;
/* While something is to be looked after that comes without an event. */
constexpr uint64_t kSliceMs = 2;

MsgqSlot *slot_of(const gni_msgq *q, uint32_t peer, uint32_t slot)
{
	return reinterpret_cast<MsgqSlot *>(q->mailbox(q->self, peer) + uint64_t{slot} * q->layout.slot_bytes);
}

bool emptied(const MsgqInbox *box, uint32_t slot)
{
	return box->emptied[slot / kMsgqWordSlots] >> slot % kMsgqWordSlots & 1;
}

/* Contents of an event of the receive queue. */
MsgqOutcome handle_event(gni_msgq *q, uint64_t entry)
{
	const auto data = static_cast<uint32_t>(entry & ARIES_CQE_DATA_MASK);
	const uint32_t peer = data >> 20;
	const uint32_t slot = data >> 1 & (kMsgqMostSlots - 1);

	if (entry & ARIES_CQE_OVERRUN) {
		msgq_search_all(q);
		return MsgqOutcome::kNothing;
	}
	if (peer >= q->layout.peers || slot >= q->layout.slots)
		return MsgqOutcome::kNothing;
	const uint32_t state = msgq_state(q, peer);
	if ((state >> 8 & 0xff) != (data >> 12 & 0xff) || msgq_link(state) == kMsgqFree)
		return MsgqOutcome::kNothing;
	MsgqInbox *box = msgq_inbox(q, peer);
	if (!box || box->search) {
		/* The other node has connected earlier than ours: its message waits for GNI_MsgqConnect(). */
		q->inboxes[peer].search = true;
		q->searching = true;
		return MsgqOutcome::kNothing;
	}
	/* A search has found the message before, or a repetition has sent it twice. */
	if ((data & 1) == static_cast<uint32_t>(emptied(box, slot)))
		return MsgqOutcome::kNothing;
	return msgq_deliver(q, peer, box, slot);
}

/* Handles one message, or one event without a message. Return: false if there is neither. */
bool step(gni_msgq *q, MsgqOutcome *outcome)
{
	*outcome = MsgqOutcome::kNothing;
	if (q->found_next < q->found_count) [[unlikely]] {
		const uint32_t slot = q->found[q->found_next++].slot;
		MsgqInbox *box = msgq_inbox(q, q->found_peer);
		if (box)
			*outcome = msgq_deliver(q, q->found_peer, box, slot);
		return true;
	}
	if (q->searching && msgq_search(q)) [[unlikely]]
		return true;
	const uint64_t entry = cq_take(q->receive_queue);
	if (!entry)
		return false;
	*outcome = handle_event(q, entry);
	return true;
}

/* A queue that cannot block is looked at again and again. */
void nap(const Uncancelled &outer)
{
	const Sleep here(outer);

	(void)poll(nullptr, 0, 1);
}

/* Sleeps until there may be something. Return: SUCCESS, TIMEOUT, or what the wait says. */
gni_return_t wait(gni_msgq *q, uint64_t end, const Uncancelled &outer)
{
	const uint64_t now = sys::now_ms();
	uint32_t which = 0;

	if (now >= end)
		return nothing(GNI_RC_TIMEOUT);
	uint64_t left = end - now;
	if ((q->searching || q->credits_due || q->nic->unsettled.first()) && left > kSliceMs)
		left = kSliceMs;
	gni_return_t rc = GNI_RC_SUCCESS;
	/* A thread that is cancelled here leaves the queue to others. */
	pthread_cleanup_push([](void *queue) { static_cast<gni_msgq *>(queue)->busy = MsgqBusy::nobody; }, q);
	if (q->blocking)
		rc = cq_monitor(&q->receive_queue, 1, left, &which, outer, kProgress);
	else
		nap(outer);
	pthread_cleanup_pop(0);
	return rc == GNI_RC_TIMEOUT ? GNI_RC_SUCCESS : rc;
}

/** Arguments of the program's receiver. */
struct Message {
	gni_msgq *q;
	MsgqInbox *box;
	uint32_t peer;
	uint32_t slot;
	uint32_t sender_id;
	uint8_t tag;
	void *data;
	bool more; /* return value of the receiver */
};

void receive(void *message)
{
	auto *m = static_cast<Message *>(message);

	m->more = m->q->callback(m->sender_id, m->q->peer(m->peer)->pe, m->data, m->tag, m->q->context) != 0;
}

/* The receiver has left by an exception, or with its thread: the message counts as received, and so ends the call. */
void receiver_left(void *message)
{
	const auto *m = static_cast<Message *>(message);
	gni_msgq *q = m->q;
	const Uncancelled *outer = q->guard;

	msgq_emptied(q, m->peer, m->box, m->slot);
	q->busy = MsgqBusy::nobody;
	outer->end();
}

gni_return_t progress(gni_msgq *q, uint32_t timeout, const Uncancelled &outer)
{
	const bool waits = timeout && timeout != kNoWait;
	uint64_t end = waits ? sys::now_ms() + timeout : 0;

	for (;;) {
		const gni_return_t there = cq_there(q->receive_queue);
		if (there != GNI_RC_SUCCESS) [[unlikely]]
			return there;
		MsgqOutcome outcome;
		if (step(q, &outcome)) {
			if (outcome == MsgqOutcome::kDamaged)
				return refuse(GNI_RC_INVALID_STATE, kProgress, "a peer has written what is no message");
			if (outcome == MsgqOutcome::kStop)
				return q->found_next < q->found_count || cq_peek(q->receive_queue)
					       ? nothing(GNI_RC_NOT_DONE)
					       : GNI_RC_SUCCESS;
			if (outcome == MsgqOutcome::kTaken && waits)
				end = sys::now_ms() + timeout;
			continue;
		}
		if (q->credits_due) [[unlikely]]
			msgq_tell_due(q);
		if (q->nic->unsettled.first()) [[unlikely]]
			unsettled_tend(q->nic);
		gni_return_t rc = waits ? wait(q, end, outer) : nothing(GNI_RC_TIMEOUT);
		if (rc != GNI_RC_SUCCESS)
			return rc == GNI_RC_TIMEOUT ? GNI_RC_SUCCESS : rc;
	}
}

} // namespace

namespace ugni
{

MsgqOutcome msgq_look(const gni_msgq *q, uint32_t peer, const MsgqInbox *box, uint32_t slot, uint64_t *word,
		      uint64_t *number, uint32_t *sender_id)
{
	const MsgqSlot *s = slot_of(q, peer, slot);

	/* Pairs with the NIC's release store of the sync flag: the rest is there. */
	*word = __atomic_load_n(&s->header, __ATOMIC_ACQUIRE);
	if (!*word)
		return MsgqOutcome::kNothing;
	*number = __atomic_load_n(&s->number, __ATOMIC_RELAXED);
	*sender_id = __atomic_load_n(&s->sender_id, __ATOMIC_RELAXED);
	const uint32_t length = msgq_header_length(*word);
	if (length > q->largest ||
	    *word != msgq_header(box->key, *number, *sender_id, length, msgq_header_tag(*word), msgq_header_bit(*word)))
		return MsgqOutcome::kDamaged;
	return msgq_header_bit(*word) == emptied(box, slot) ? MsgqOutcome::kNothing : MsgqOutcome::kTaken;
}

MsgqOutcome msgq_deliver(gni_msgq *q, uint32_t peer, MsgqInbox *box, uint32_t slot)
{
	uint64_t word;
	uint64_t number;
	uint32_t sender_id;
	const MsgqOutcome seen = msgq_look(q, peer, box, slot, &word, &number, &sender_id);

	if (seen != MsgqOutcome::kTaken) [[unlikely]]
		return seen;
	MsgqSlot *s = slot_of(q, peer, slot);
	Message m = {q, box, peer, slot, sender_id, msgq_header_tag(word), s + 1, false};
	ugni_call(receive, receiver_left, &m);
	msgq_emptied(q, peer, box, slot);
	return m.more ? MsgqOutcome::kTaken : MsgqOutcome::kStop;
}

} // namespace ugni

gni_return_t GNI_MsgqProgress(gni_msgq_handle_t msgq_hndl, uint32_t timeout)
{
	const Uncancelled whole;
	gni_msgq *q = msgq_hndl;

	if (!msgqs.valid(q))
		return refuse(GNI_RC_INVALID_PARAM, kProgress, "%s", kNoMsgq);
	MsgqBusy before = MsgqBusy::nobody;
	if (!q->busy.compare_exchange_strong(before, MsgqBusy::progress)) {
		if (before == MsgqBusy::progress)
			return refuse(GNI_RC_INVALID_STATE, kProgress, "%s", kMsgqBusy);
		/* Another thread is ending the message queue, or has found that it cannot. */
		return msgqs.valid(q) ? later(GNI_RC_NOT_DONE, kProgress, "another thread may be releasing the queue")
				      : refuse(GNI_RC_INVALID_PARAM, kProgress, "%s", kNoMsgq);
	}
	q->guard = &whole;
	const bool forming = msgq_phase(q) == kMsgqForming;
	gni_return_t rc = forming ? later(GNI_RC_INVALID_STATE, kProgress, "not all instances of the node have come")
				  : progress(q, timeout, whole);
	q->busy = MsgqBusy::nobody;
	return rc;
}
