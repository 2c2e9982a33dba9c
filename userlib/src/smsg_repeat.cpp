// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Short messages after a put that failed. Nothing is put while the fate of an earlier put is open: the slot in the
 * peer's mailbox is read back, and tells for certain.
 */
#include "debug.hpp"
#include "gone.hpp"
#include "smsg_waiting.hpp"

#include <cstdlib>
#include <cstring>

using namespace ugni;

namespace
{

/* A sender without room asks at every so many calls whether it is time to ask the peer, */
constexpr uint32_t kCallsToAsk = 8;
/* which it does with pauses from 1 ms up to this, as long as that brings nothing. */
constexpr uint32_t kMostPauseMs = 64;

constexpr const char *kHole = "a message before this one was lost for good: the peer would find no other one";

void unsure(Smsg *s, const SmsgPlace &place, const SmsgText &text)
{
	s->unsure = {smsg_next_header(s, text.bytes(), text.tag), place};
	s->obstacles |= kSmsgUnsure;
}

/* Finds out whether the message of unknown fate is there. Return: ARIES_ST_*; OK: it is known */
uint32_t settle(const gni_ep *ep, Smsg *s)
{
	uint64_t word;

	if (!(s->obstacles & kSmsgUnsure))
		return ARIES_ST_OK;
	const uint32_t status = smsg_read(ep, s, s->out.box.slots + uint64_t{s->out.slot} * kSmsgWord, &word);
	if (status != ARIES_ST_OK)
		return status;
	s->obstacles &= ~kSmsgUnsure;
	if (word == s->unsure.header)
		smsg_sent(s, s->unsure.place);
	return ARIES_ST_OK;
}

/* A mailbox that is registered without a queue takes no event; its owner polls. */
SmsgTry put(const gni_ep *ep, Smsg *s, const SmsgText &text, const SmsgPlace &place)
{
	SmsgTry t = smsg_put(ep, s, text, place, 0);

	if (t.status == ARIES_ST_NO_CQ && (s->events & ARIES_EV_REMOTE)) {
		s->events &= ~uint32_t{ARIES_EV_REMOTE};
		t = smsg_put(ep, s, text, place, 0);
	}
	return t;
}

uint32_t again(Unsettled *u)
{
	auto *w = static_cast<SmsgWaiting *>(u);
	Smsg *s = w->s;
	const uint32_t status = settle(w->ep, s);

	if (status != ARIES_ST_OK)
		return status;
	if (w->put && s->out.sent != w->number)
		return ARIES_ST_OK;
	if (w->put && !s->repeats) {
		w->left = 0;
		return w->status;
	}
	w->put = false;
	const SmsgText text = {{w->text(), w->bytes}, {nullptr, 0}, 0, w->tag};
	const SmsgPlace place = gni_smsg_place(s->out.position, s->out.box.ring_bytes, w->bytes);
	w->number = s->out.sent;
	const SmsgTry t = put(w->ep, s, text, place);
	if (t.status == ARIES_ST_OK) {
		smsg_sent(s, place);
	} else if (t.status == ARIES_ST_LATER) {
		smsg_doubt(w, place);
		return ARIES_ST_TIMEOUT;
	} else if (t.whole && status_unknown(t.status)) {
		unsure(s, place, text);
		w->put = true;
	} else if (!s->repeats) {
		w->left = 0;
	}
	return t.status;
}

void ended(Unsettled *u)
{
	static_cast<SmsgWaiting *>(u)->s->obstacles &= ~kSmsgWaiting;
}

/* Return: nullptr without memory */
SmsgWaiting *wait_for(gni_ep *ep, Smsg *s, const SmsgText &text, uint32_t id, uint32_t status)
{
	SmsgWaiting *w = smsg_copy(ep, s, text, id, status);

	if (!w)
		return nullptr;
	w->again = again;
	w->ended = ended;
	s->obstacles |= kSmsgWaiting;
	return w;
}

void force_status(gni_ep *ep, uint32_t id, uint32_t status)
{
	ep->nic->requests[static_cast<uint16_t>(id)].state |= (status & 0x3f) << Request::kForcedShift;
	ep->cq->attention++;
}

/* A put that has no event here is on its way: only the slot will tell what becomes of it. */
gni_return_t in_doubt(gni_ep *ep, Smsg *s, const SmsgText &text, const SmsgPlace &place, uint32_t id)
{
	SmsgWaiting *w = wait_for(ep, s, text, id, ARIES_ST_TIMEOUT);

	if (w) {
		smsg_doubt(w, place);
		unsettled_begin(w);
	} else {
		smsg_sent(s, place);
		force_status(ep, id, ARIES_ST_TIMEOUT);
	}
	return GNI_RC_SUCCESS;
}

/* The event of a message whose last part was not put: an empty put raises it. */
void raise_event(const gni_ep *ep, const Smsg *s, uint32_t id, uint32_t msg_id)
{
	(void)smsg_fill(ep, s, msg_id);
	fma_ring(ep->nic, id, 0, ARIES_FMA_PUT_LINE, kSmsgType | ARIES_EV_LOCAL);
}

} // namespace

namespace ugni
{

uint32_t smsg_read(const gni_ep *ep, const Smsg *s, uint64_t offset, uint64_t *word)
{
	aries_fma_desc *area = smsg_fill(ep, s, 0);
	const uint64_t *landing = smsg_own(s, kSmsgLanding);

	area->offset = offset & GNI_OFFSET_MASK;
	area->local_mdh = s->in.box.mdh;
	area->local_offset = (reinterpret_cast<uintptr_t>(landing) - s->origin) & GNI_OFFSET_MASK;
	const uint32_t status = fma_ring_piece(ep->nic, kSmsgWord, ARIES_FMA_GET_OP);
	*word = __atomic_load_n(landing, __ATOMIC_ACQUIRE);
	return status;
}

bool smsg_acknowledge(Smsg *s, uint64_t word)
{
	const SmsgSender &out = s->out;

	if (smsg_acknowledge_known(s, word))
		return true;
	/* The message of unknown fate is the last one that may be released. */
	if (!(s->obstacles & kSmsgUnsure) || word != gni_smsg_credit(out.key, out.sent + 1))
		return false;
	s->obstacles &= ~kSmsgUnsure;
	smsg_sent(s, s->unsure.place);
	return smsg_acknowledge_known(s, word);
}

void smsg_ask_credit(gni_ep *ep, Smsg *s)
{
	SmsgSender &out = s->out;
	uint64_t word;

	if (++out.refused % kCallsToAsk)
		return;
	const uint64_t now = sys::now_ms();
	if (out.refused == kCallsToAsk) {
		out.pause_ms = 1;
		out.look_ms = now + 1;
	}
	if (now < out.look_ms)
		return;
	out.pause_ms = out.pause_ms < kMostPauseMs ? out.pause_ms * 2 : kMostPauseMs;
	out.look_ms = now + out.pause_ms;
	/* What is there may be of an earlier connection of these mailboxes. */
	if (smsg_read(ep, s, out.box.control + uint64_t{kSmsgReleased} * kSmsgWord, &word) == ARIES_ST_OK && word)
		(void)smsg_acknowledge(s, word);
}

SmsgWaiting *smsg_copy(gni_ep *ep, Smsg *s, const SmsgText &text, uint32_t id, uint32_t status)
{
	void *memory = malloc(sizeof(SmsgWaiting) + text.bytes());

	if (!memory)
		return nullptr;
	auto *w = static_cast<SmsgWaiting *>(memset(memory, 0, sizeof(SmsgWaiting)));
	w->ep = ep;
	w->cq = ep->cq;
	w->id = id;
	w->status = status;
	w->left = ep->nic->smsg_retransmissions;
	w->s = s;
	w->number = s->out.sent;
	w->bytes = text.bytes();
	w->tag = text.tag;
	w->msg_id = text.msg_id;
	if (text.header.bytes)
		memcpy(w->text(), text.header.from, text.header.bytes);
	if (text.data.bytes)
		memcpy(w->text() + text.header.bytes, text.data.from, text.data.bytes);
	return w;
}

gni_return_t smsg_failed(gni_ep *ep, Smsg *s, const SmsgText &text, const SmsgPlace &place, uint32_t id, SmsgTry first)
{
	Request &r = ep->nic->requests[static_cast<uint16_t>(id)];

	if (first.status == ARIES_ST_LATER) {
		smsg_keep(ep, s, text, place, id);
		return GNI_RC_SUCCESS;
	}
	if (!nic_there(ep->nic)) {
		ep->cq->room++;
		request_end(ep->nic, r, id);
		return nic_gone(ep->nic);
	}

	if (!first.whole)
		raise_event(ep, s, id, text.msg_id);
	if (first.status == ARIES_ST_NO_CQ) {
		first = put(ep, s, text, place);
		if (first.status == ARIES_ST_OK) {
			r.state |= Request::kMended;
			smsg_sent(s, place);
			return GNI_RC_SUCCESS;
		}
		if (first.status == ARIES_ST_LATER)
			return in_doubt(ep, s, text, place, id);
	}
	const bool open = first.whole && status_unknown(first.status);
	SmsgWaiting *w = nullptr;
	if (open || (s->repeats && gni_status_recoverable(first.status)))
		w = wait_for(ep, s, text, id, first.status);
	if (open)
		unsure(s, place, text);
	if (w) {
		w->put = open;
		unsettled_begin(w);
	} else {
		force_status(ep, id, first.status);
	}
	return GNI_RC_SUCCESS;
}

gni_return_t smsg_obstacle(gni_ep *ep, Smsg *s, const char *call)
{
	if (smsg_broken(s))
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", kSmsgDamaged);
	if (!nic_there(ep->nic))
		return nic_gone(ep->nic);
	if (s->obstacles & kSmsgHole)
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", kHole);
	if (s->obstacles & (kSmsgWaiting | kSmsgMending))
		unsettled_tend(ep->nic);
	if (s->obstacles & (kSmsgWaiting | kSmsgMending)) {
		ep->nic->statistics[GNI_STAT_SMSG_RETRANS_STALL]++;
		return later(GNI_RC_NOT_DONE, call, "an earlier message of the endpoint is being repeated");
	}
	return settle(ep, s) == ARIES_ST_OK ? GNI_RC_SUCCESS : told(GNI_RC_TRANSACTION_ERROR);
}

gni_return_t smsg_send_behind(gni_ep *ep, Smsg *s, const SmsgText &text, const char *call)
{
	const SmsgSender &out = s->out;
	const SmsgPlace &before = s->unsure.place;
	const SmsgPlace place = gni_smsg_place(before.next, out.box.ring_bytes, text.bytes());

	/* Room for both. */
	if (out.sent + 1 - out.acknowledged >= s->credits || before.taken + place.taken > out.box.ring_bytes - out.used)
		return later(GNI_RC_NOT_DONE, call, "no room behind a message whose fate is not known");
	const uint32_t id = smsg_reserve_event(ep);
	if (!id)
		return later(GNI_RC_NOT_DONE, call, "%s", kSmsgNoEvent);
	raise_event(ep, s, id, text.msg_id);
	SmsgWaiting *w = wait_for(ep, s, text, id, ARIES_ST_TIMEOUT);
	if (w)
		unsettled_begin(w);
	else
		force_status(ep, id, ARIES_ST_TIMEOUT);
	return GNI_RC_SUCCESS;
}

} // namespace ugni
