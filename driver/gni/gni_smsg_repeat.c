// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Short messages whose put has failed, or that were lost in flight, as those to another host may
 * be. A message that was lost is put again into its own slot: others may have been sent after it,
 * and the peer waits for this one. The slot belongs to the message until the peer has released it.
 * So it is read first to find out whether the message has arrived, and it is written only if not.
 * Writing a slot twice would do no harm, because the peer recognises a header word that it has read
 * before.
 */
#include "gni_entry.h"
#include "gni_smsg_conn.h"

/**
 * gni_smsg_put_quietly() - put a message without an event here
 * @ep: endpoint
 * @c: its connection
 * @text: message, in the environment's form
 * @spot: where it goes
 *
 * A mailbox that was registered without a queue cannot take an event, because its owner polls. It
 * is put without the remote event then, as are all others from now on.
 *
 * Return: what became of it
 */
struct gni_smsg_try gni_smsg_put_quietly(gni_ep_handle_t ep, struct gni_smsg_conn *c,
					 const void *text, const struct gni_smsg_spot *spot)
{
	struct gni_smsg_try t = gni_env_smsg_put(ep, c, text, spot, 0);

	if (t.status == ARIES_ST_NO_CQ && (c->events & ARIES_EV_REMOTE)) {
		c->events &= ~ARIES_EV_REMOTE;
		t = gni_env_smsg_put(ep, c, text, spot, 0);
	}
	return t;
}

/**
 * gni_smsg_again() - make one more attempt for a message whose first put has failed
 * @ep: endpoint
 * @c: its connection
 * @m: message
 * @text: the same, in the environment's form
 * @status: ARIES_ST_* of the last attempt
 * @last: set if there shall be no other one
 *
 * Return: ARIES_ST_*; ARIES_ST_LATER: it counts as sent, and its slot will tell whether it arrives
 */
uint32_t gni_smsg_again(gni_ep_handle_t ep, struct gni_smsg_conn *c, struct gni_smsg_copy *m,
			const void *text, uint32_t status, bool *last)
{
	const uint32_t settled = gni_smsg_settle(ep, c);
	struct gni_smsg_place place;
	struct gni_smsg_try t;

	if (settled != ARIES_ST_OK)
		return settled;
	if (m->put && c->out.sent != m->spot.number)
		return ARIES_ST_OK;
	if (m->put && !c->repeats) {
		*last = true;
		return status;
	}
	m->put = false;
	place = gni_smsg_place(c->out.position, c->out.box.ring_bytes, m->bytes);
	m->spot = gni_smsg_next_spot(c, place, m->bytes, m->tag);
	t = gni_smsg_put_quietly(ep, c, text, &m->spot);
	if (t.status == ARIES_ST_OK || t.status == ARIES_ST_LATER) {
		gni_smsg_sent(c, place);
	} else if (t.whole && gni_env_status_unknown(t.status)) {
		gni_smsg_unsure(c, &m->spot);
		m->put = true;
	} else if (!c->repeats) {
		*last = true;
	}
	return t.status;
}

/**
 * gni_smsg_find() - find out whether a message that was lost has arrived all the same
 * @ep: endpoint
 * @c: its connection
 * @m: message that the peer is not known to have released
 * @status: ARIES_ST_* of the last attempt; receives how it has ended, or why that is not known
 *
 * Return: see enum gni_smsg_fate
 */
enum gni_smsg_fate gni_smsg_find(gni_ep_handle_t ep, struct gni_smsg_conn *c,
				 struct gni_smsg_copy *m, uint32_t *status)
{
	const uint64_t slot = c->out.box.slots + (uint64_t)m->spot.slot * GNI_SMSG_WORD;
	uint64_t word;
	uint32_t read = gni_env_smsg_read(ep, c, slot, &word);

	if (read != ARIES_ST_OK) {
		*status = read;
		return GNI_SMSG_OPEN;
	}
	m->put = false;
	if (word == m->spot.header) {
		*status = ARIES_ST_OK;
		return GNI_SMSG_KNOWN;
	}
	if (*status == ARIES_ST_NO_CQ)
		c->events &= ~ARIES_EV_REMOTE; /* as gni_smsg_put_quietly() */
	else if (!c->repeats || !gni_status_recoverable(*status))
		return GNI_SMSG_KNOWN;
	return GNI_SMSG_MISSING;
}
