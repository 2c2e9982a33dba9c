// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Message queues: sends that fail with a status that may pass are tried again as in unsettled.hpp. As with mailboxes
 * nothing is put again before the slot has told that it is not there: the receiver may have emptied it, and somebody
 * else have taken it.
 */
#include "gone.hpp"
#include "msgq_letter.hpp"
#include "unsettled.hpp"

#include <cstdlib>
#include <cstring>

namespace ugni
{

namespace
{

/*
 * Whether the message has come. What others put into the slot after it is no sign that it has not, so that is asked
 * once more when the word is here.
 * Return: ARIES_ST_*; OK: @there says
 */
uint32_t look(const MsgqLetter &l, const gni_cq *cq, bool *there)
{
	*there = true;
	if (msgq_slot_since(l) == MsgqSince::emptied)
		return ARIES_ST_OK;
	aries_fma_desc *area = msgq_fill(l, cq);
	area->offset = l.slot();
	area->local_mdh = gni_hndl_name(&l.q->handle);
	area->local_offset = l.q->layout.landing();
	const uint32_t status = fma_ring_piece(l.q->nic, sizeof(uint64_t), ARIES_FMA_GET_OP);
	if (status != ARIES_ST_OK || __atomic_load_n(l.q->landing(), __ATOMIC_ACQUIRE) == l.header)
		return status;
	const MsgqSince slot = msgq_slot_since(l);
	*there = slot != MsgqSince::kept;
	return slot == MsgqSince::unknown ? uint32_t{ARIES_ST_TIMEOUT} : uint32_t{ARIES_ST_OK};
}

/* A message that waits for another attempt, or has left and may get lost yet. */
struct Waiting : Departed {
	MsgqLetter letter;
	bool open; /* the message may be at the peer */
	bool told; /* the event of the last put has been read: @status tells whether the message is at the peer */
};

/* Whether the message may be at the peer. */
bool in_doubt(const Waiting *w)
{
	return w->told ? status_unknown(w->status) : w->open;
}

/* Reads the slot back. Return: ARIES_ST_*; with OK, Waiting::open tells whether the message is at the peer */
uint32_t settle(Waiting *w)
{
	bool there;
	const uint32_t status = look(w->letter, w->cq, &there);

	if (status == ARIES_ST_OK)
		w->open = there;
	return status;
}

/* With the event of the message, if the one of the last put has been read. */
uint32_t put_again(Waiting *w)
{
	const uint32_t id = w->entry ? w->id : 0;

	w->told = id;
	if (id) {
		unsettled_posted(w);
		w->status = ARIES_ST_TIMEOUT;
		return msgq_put(w->letter, w->cq, id);
	}
	const uint32_t status = msgq_put(w->letter, w->cq, 0);
	w->open = status == ARIES_ST_LATER || status_unknown(status);
	if (status != ARIES_ST_LATER)
		return status;
	/* No event will come. What reads the slot now is behind the put. */
	const uint32_t read = settle(w);
	return read == ARIES_ST_OK && !w->open ? uint32_t{ARIES_ST_TIMEOUT} : read;
}

uint32_t again(Unsettled *u)
{
	auto *w = static_cast<Waiting *>(u);
	const MsgqLetter &l = w->letter;

	w->open = in_doubt(w);
	w->told = false;
	if (!nic_there(w->ep->nic))
		return ARIES_ST_DISABLED;
	/* Another process may have ended the connection. */
	if (msgq_state(l.q, l.route.peer) != l.route.state) {
		w->left = 0;
		return w->status;
	}
	if (w->open) {
		const uint32_t status = settle(w);
		if (status != ARIES_ST_OK || w->open)
			return status;
	}
	return put_again(w);
}

/* The message has not arrived, or that is not known: then its slot stays taken until the receiver releases it. */
void give_up(const MsgqLetter &l, bool open)
{
	if (!open)
		msgq_give_back(&l.route, l.taken);
	else
		msgq_give_up(l);
}

void ended(Unsettled *u)
{
	auto *w = static_cast<Waiting *>(u);

	if (w->status != ARIES_ST_OK)
		give_up(w->letter, in_doubt(w));
	Request &r = w->ep->nic->requests[static_cast<uint16_t>(w->id)];
	if (r.state & Request::kCopied)
		departed_leave(r, w);
}

/* Return: nullptr without memory */
Waiting *copy(gni_ep *ep, gni_cq *cq, const MsgqLetter &l, uint32_t id, uint32_t status)
{
	void *memory = malloc(sizeof(Waiting));

	if (!memory)
		return nullptr;
	auto *w = static_cast<Waiting *>(memset(memory, 0, sizeof(Waiting)));
	w->again = again;
	w->ended = ended;
	w->ep = ep;
	w->cq = cq;
	w->id = id;
	w->status = status;
	w->left = ep->nic->smsg_retransmissions;
	w->letter = l;
	return w;
}

bool lost(Departed *d)
{
	auto *w = static_cast<Waiting *>(d);

	/* Without the endpoint the queue may have been released. */
	if (!endpoints.valid(w->ep))
		return false;
	w->told = true;
	return true;
}

} // namespace

void msgq_keep(gni_ep *ep, gni_cq *cq, const MsgqLetter &l, uint32_t id)
{
	Request &r = ep->nic->requests[static_cast<uint16_t>(id)];
	/* No copy is kept if another thread has read the event already. */
	const bool open = r.state == kMsgqAwaited && r.ep == ep;
	Waiting *w = open ? copy(ep, cq, l, id, ARIES_ST_LATER) : nullptr;

	if (!w)
		return;
	w->lost = lost;
	departed_keep(r, w);
}

gni_return_t msgq_failed(gni_ep *ep, gni_cq *cq, const MsgqLetter &l, uint32_t id, uint32_t status)
{
	if (!nic_there(ep->nic)) {
		msgq_give_back(&l.route, l.taken);
		cq->room++;
		request_end(ep->nic, ep->nic->requests[static_cast<uint16_t>(id)], id);
		return nic_gone(ep->nic);
	}
	Waiting *w = gni_status_recoverable(status) ? copy(ep, cq, l, id, status) : nullptr;

	if (!w) {
		give_up(l, status_unknown(status));
		return GNI_RC_SUCCESS;
	}
	w->open = status_unknown(status);
	unsettled_begin(w);
	return GNI_RC_SUCCESS;
}

bool msgq_behind(gni_nic *nic, const MsgqRoute *route)
{
	unsettled_tend(nic);
	return unsettled_any(
		nic,
		[](const Unsettled *u, const void *what) {
			return u->again == again && static_cast<const Waiting *>(u)->letter.route.sender ==
							    static_cast<const MsgqRoute *>(what)->sender;
		},
		route);
}

} // namespace ugni
