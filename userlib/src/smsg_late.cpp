// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Short messages that are on their way when their put is over, as those for another host are: only the event tells
 * whether they get there. Until then a copy is kept. One that was lost is put again into its own slot: others may have
 * been sent behind it, and the peer waits for this one.
 *
 * The slot is the message's until the peer has released it, so it tells whether the message is there, and it is written
 * only if it is not. Such a put has the event of the message. A slot that was written twice does no harm either: the
 * peer knows the word.
 */
#include "gone.hpp"
#include "smsg_waiting.hpp"

#include <cstdlib>

using namespace ugni;

namespace
{

/* It counts as sent from now on. */
void left(SmsgWaiting *m, const SmsgPlace &place)
{
	m->identity = m->s->out.identity;
	m->spot = gni_smsg_next_spot(m->s, place, m->bytes, m->tag);
	gni_smsg_sent(m->s, place);
}

Request &request_of(const SmsgWaiting *m)
{
	return m->ep->nic->requests[static_cast<uint16_t>(m->id)];
}

uint32_t put_again(SmsgWaiting *m)
{
	const SmsgText text = {{m->text(), m->bytes}, {nullptr, 0}, m->msg_id, m->tag};
	/* While the event of an earlier put has not been read there is no room for another one. */
	const uint32_t id = m->entry ? m->id : 0;
	Smsg then = *m->s; /* with the newest credit */

	then.out.sent = m->spot.number;
	then.out.slot = m->spot.slot;
	then.out.turn = m->spot.header & GNI_SMSG_TURN;
	const SmsgTry t = smsg_put(m->ep, &then, text, m->spot.place, id);
	if (id && t.whole) {
		unsettled_posted(m);
		return ARIES_ST_LATER;
	}
	m->put = t.whole && (t.status == ARIES_ST_LATER || status_unknown(t.status));
	return t.status == ARIES_ST_LATER ? uint32_t{ARIES_ST_TIMEOUT} : t.status;
}

uint32_t again(Unsettled *u)
{
	auto *m = static_cast<SmsgWaiting *>(u);
	Smsg *s = m->s;
	uint64_t word;

	if (m->spot.number < s->out.acknowledged)
		return ARIES_ST_OK;
	if (!nic_there(m->ep->nic))
		return ARIES_ST_DISABLED;
	const uint32_t status =
		gni_env_smsg_read(m->ep, s, s->out.box.slots + uint64_t{m->spot.slot} * kSmsgWord, &word);
	if (status != ARIES_ST_OK)
		return status;
	m->put = false;
	if (word == m->spot.header)
		return ARIES_ST_OK;
	if (m->status == ARIES_ST_NO_CQ) {
		/* A mailbox that is registered without a queue takes no event; its owner polls. */
		s->events &= ~uint32_t{ARIES_EV_REMOTE};
	} else if (!s->repeats || !gni_status_recoverable(m->status)) {
		m->left = 0;
		return m->status;
	}
	return put_again(m);
}

void ended(Unsettled *u)
{
	auto *m = static_cast<SmsgWaiting *>(u);
	Smsg *s = m->s;

	if (!--s->mending)
		s->obstacles &= ~kSmsgMending;
	/* Behind a message that is not there and will not come the peer would find nothing. */
	if (m->status != ARIES_ST_OK && ((s->obstacles & kSmsgWaiting) || !gni_smsg_withdraw(s, &m->spot, m->put)))
		s->obstacles |= kSmsgHole;
	departed_leave(request_of(m), m);
}

void mend(SmsgWaiting *m)
{
	m->again = again;
	m->ended = ended;
	m->s->mending++;
	m->s->obstacles |= kSmsgMending;
}

bool lost(Departed *d)
{
	auto *m = static_cast<SmsgWaiting *>(d);

	/* Perhaps of an earlier connection, whose memory another one has by now. */
	if (m->ep->smsg != m->s || m->s->out.identity != m->identity)
		return false;
	m->put = status_unknown(m->status);
	mend(m);
	return true;
}

} // namespace

namespace ugni
{

void smsg_keep(gni_ep *ep, Smsg *s, const SmsgText &text, const SmsgPlace &place, uint32_t id)
{
	Request &r = ep->nic->requests[static_cast<uint16_t>(id)];
	/* Not if another thread has read its event. */
	const bool open = r.state == (1U << ARIES_INFO_LOCAL | Request::kSmsg) && r.ep == ep;
	SmsgWaiting *m = open ? smsg_copy(ep, s, text, id, ARIES_ST_LATER) : nullptr;

	if (!m) {
		gni_smsg_sent(s, place);
		return;
	}
	left(m, place);
	m->lost = lost;
	departed_keep(r, m);
}

void smsg_doubt(SmsgWaiting *w, const SmsgPlace &place)
{
	left(w, place);
	w->put = true;
	w->local_event = request_of(w).local_event;
	w->s->obstacles &= ~kSmsgWaiting;
	mend(w);
}

void smsg_late_hole(const gni_ep *ep)
{
	if (ep->smsg)
		ep->smsg->obstacles |= kSmsgHole;
}

} // namespace ugni
