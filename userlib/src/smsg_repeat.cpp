// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Short messages after a put that failed, and what gni_smsg_conn.h leaves to this library. */
#include "debug.hpp"
#include "gone.hpp"
#include "smsg_waiting.hpp"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace ugni;

namespace
{

/* So long the first answer is waited for: on the way to another host that is busy several questions may time out. */
constexpr uint64_t kPatienceMs = 2000;
constexpr useconds_t kPauseUs = 1000;

constexpr const char *kHole = "a message before this one was lost for good: the peer would find no other one";

SmsgSpot next_spot(const Smsg *s, const SmsgPlace &place, const SmsgText &text)
{
	return gni_smsg_next_spot(s, place, text.bytes(), text.tag);
}

uint32_t again(Unsettled *u)
{
	auto *w = static_cast<SmsgWaiting *>(u);
	const SmsgText text = w->message();
	bool last = false;
	const uint32_t status = gni_smsg_again(w->ep, w->s, w, &text, w->status, &last);

	if (last)
		w->left = 0;
	if (status != ARIES_ST_LATER)
		return status;
	smsg_doubt(w);
	return ARIES_ST_TIMEOUT;
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

/* A put without an event here is on its way: only the slot will show whether it arrives. */
gni_return_t in_doubt(gni_ep *ep, Smsg *s, const SmsgText &text, const SmsgPlace &place, uint32_t id)
{
	SmsgWaiting *w = wait_for(ep, s, text, id, ARIES_ST_TIMEOUT);

	if (w)
		w->spot = next_spot(s, place, text);
	gni_smsg_sent(s, place);
	if (w) {
		smsg_doubt(w);
		unsettled_begin(w);
	} else {
		force_status(ep, id, ARIES_ST_TIMEOUT);
	}
	return GNI_RC_SUCCESS;
}

/* Raises the event of a message whose last part was not put, by an empty put. */
void raise_event(const gni_ep *ep, const Smsg *s, uint32_t id, uint32_t msg_id)
{
	(void)smsg_fill(ep, s, msg_id);
	fma_ring(ep->nic, id, 0, ARIES_FMA_PUT_LINE, kSmsgType | ARIES_EV_LOCAL);
}

} // namespace

uint32_t gni_env_smsg_read(gni_ep_handle_t ep, const gni_smsg_conn *c, uint64_t offset, uint64_t *word)
{
	aries_fma_desc *area = smsg_fill(ep, c, 0);
	const uint64_t *landing = gni_smsg_own(c, GNI_SMSG_LANDING);

	area->offset = offset & GNI_OFFSET_MASK;
	area->local_mdh = c->in.box.mdh;
	area->local_offset = (reinterpret_cast<uintptr_t>(landing) - c->origin) & GNI_OFFSET_MASK;
	const uint32_t status = fma_ring_piece(ep->nic, kSmsgWord, ARIES_FMA_GET_OP);
	*word = gni_load_acquire(landing);
	return status;
}

bool gni_env_smsg_ask(gni_ep_handle_t ep, const gni_smsg_conn *c, uint64_t offset, uint64_t *word, bool first)
{
	const uint64_t until = first ? sys::now_ms() + kPatienceMs : 0;

	for (;;) {
		const uint32_t status = gni_env_smsg_read(ep, c, offset, word);

		if (status == ARIES_ST_OK)
			return true;
		if (status != ARIES_ST_TIMEOUT || sys::now_ms() >= until || !nic_there(ep->nic))
			return false;
		usleep(kPauseUs);
	}
}

bool gni_env_status_unknown(uint32_t status)
{
	return status_unknown(status);
}

uint64_t gni_env_now()
{
	return sys::now_ms();
}

uint32_t gni_env_time(uint32_t ms)
{
	return ms;
}

namespace ugni
{

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
	w->spot.number = s->out.sent;
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
	const SmsgSpot spot = next_spot(s, place, text);
	if (first.status == ARIES_ST_NO_CQ) {
		first = gni_smsg_put_quietly(ep, s, &text, &spot);
		if (first.status == ARIES_ST_OK) {
			r.state |= Request::kMended;
			gni_smsg_sent(s, place);
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
		gni_smsg_unsure(s, &spot);
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
	return gni_smsg_settle(ep, s) == ARIES_ST_OK ? GNI_RC_SUCCESS : told(GNI_RC_TRANSACTION_ERROR);
}

gni_return_t smsg_send_behind(gni_ep *ep, Smsg *s, const SmsgText &text, const char *call)
{
	if (!gni_smsg_room_behind(s, text.bytes()))
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
