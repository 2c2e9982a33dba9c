// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Short messages that are on their way when their put is over, as those for another host are: only the event tells
 * whether they get there. Until then a copy is kept. One that was lost is put again, see gni_smsg_repeat.c. Such a put
 * has the event of the message.
 */
#include "gone.hpp"
#include "smsg_waiting.hpp"

#include <cstdlib>

using namespace ugni;

namespace
{

Request &request_of(const SmsgWaiting *m)
{
	return m->ep->nic->requests[static_cast<uint16_t>(m->id)];
}

uint32_t put_again(SmsgWaiting *m)
{
	const SmsgText text = m->message();
	/* While the event of an earlier put has not been read there is no room for another one. */
	const uint32_t id = m->entry ? m->id : 0;
	const SmsgTry t = gni_env_smsg_put(m->ep, m->s, &text, &m->spot, id);
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
	uint32_t status = m->status;

	if (m->spot.number < m->s->out.acknowledged)
		return ARIES_ST_OK;
	if (!nic_there(m->ep->nic))
		return ARIES_ST_DISABLED;
	const enum gni_smsg_fate fate = gni_smsg_find(m->ep, m->s, m, &status);
	if (fate == GNI_SMSG_MISSING)
		return put_again(m);
	if (fate == GNI_SMSG_KNOWN && status != ARIES_ST_OK)
		m->left = 0;
	return status;
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

	/* The message may belong to an earlier connection, whose memory another connection has by now. */
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
	/* No copy is kept if another thread has read the event already. */
	const bool open = r.state == (1U << ARIES_INFO_LOCAL | Request::kSmsg) && r.ep == ep;
	SmsgWaiting *m = open ? smsg_copy(ep, s, text, id, ARIES_ST_LATER) : nullptr;

	if (m)
		m->spot = gni_smsg_next_spot(s, place, m->bytes, m->tag);
	gni_smsg_sent(s, place);
	if (!m)
		return;
	m->identity = s->out.identity;
	m->lost = lost;
	departed_keep(r, m);
}

void smsg_doubt(SmsgWaiting *w)
{
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
