// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Short messages: what the peer has released, and whether it has the last one. Nothing more is put
 * while it is not known whether a put has arrived: the slot in the peer's mailbox is read back,
 * which gives a definite answer.
 */
#include "gni_smsg_conn.h"

/* A sender without space considers asking the peer at one in this many calls. */
#define GNI_SMSG_CALLS_TO_ASK 8
/*
 * It then asks with growing pauses, up to this one in milliseconds, as long as the peer has
 * released nothing.
 */
#define GNI_SMSG_MOST_PAUSE 64

/**
 * gni_smsg_acknowledge() - account for a credit word of the peer
 * @c: connection
 * @word: credit word that was not examined before
 *
 * Return: whether the word is valid
 */
bool gni_smsg_acknowledge(struct gni_smsg_conn *c, uint64_t word)
{
	if (gni_smsg_acknowledge_known(c, word))
		return true;
	/*
	 * The peer may also have released the message whose arrival was in doubt, and no later one.
	 */
	if (!(c->obstacles & GNI_SMSG_UNSURE) ||
	    word != gni_smsg_credit(c->out.key, c->out.sent + 1))
		return false;
	c->obstacles &= ~GNI_SMSG_UNSURE;
	gni_smsg_sent(c, c->unsure.place);
	return gni_smsg_acknowledge_known(c, word);
}

/**
 * gni_smsg_take_credit() - account for a credit word that the peer has put on its own
 * @c: connection
 * @word: credit word that was not examined before
 *
 * Return: whether the word is valid; if not the connection is broken
 */
bool gni_smsg_take_credit(struct gni_smsg_conn *c, uint64_t word)
{
	/*
	 * A word of 0 is harmless: the owner may have cleared the mailbox. So is an invalid first
	 * word: it may be a late one of an earlier connection.
	 */
	if (word && !gni_smsg_acknowledge(c, word) && (c->out.acknowledged || !(word >> 32))) {
		c->obstacles |= GNI_SMSG_BROKEN;
		return false;
	}
	c->out.told_seen = word;
	return true;
}

/**
 * gni_smsg_ask_credit() - there is no space: read now and then how much the peer has released
 * @ep: endpoint
 * @c: its connection
 */
void gni_smsg_ask_credit(gni_ep_handle_t ep, struct gni_smsg_conn *c)
{
	const uint32_t most = gni_env_time(GNI_SMSG_MOST_PAUSE);
	struct gni_smsg_sender *out = &c->out;
	uint64_t now, word;

	if (++out->refused % GNI_SMSG_CALLS_TO_ASK)
		return;
	now = gni_env_now();
	if (out->refused == GNI_SMSG_CALLS_TO_ASK) {
		out->pause = 1;
		out->look = now + 1;
	}
	if (now < out->look)
		return;
	out->pause = out->pause * 2 < most ? out->pause * 2 : most;
	out->look = now + out->pause;
	/* The word may be left over from an earlier connection, so do not mind if it is invalid. */
	if (gni_env_smsg_read(ep, c, out->box.control + GNI_SMSG_RELEASED * GNI_SMSG_WORD, &word) ==
		    ARIES_ST_OK &&
	    word)
		(void)gni_smsg_acknowledge(c, word);
}

/** gni_smsg_unsure() - it is not known whether the put of the message at @spot has arrived */
void gni_smsg_unsure(struct gni_smsg_conn *c, const struct gni_smsg_spot *spot)
{
	c->unsure = *spot;
	c->obstacles |= GNI_SMSG_UNSURE;
}

/**
 * gni_smsg_settle() - if it is in doubt whether the last put has arrived, find out
 * @ep: endpoint
 * @c: its connection
 *
 * Return: ARIES_ST_OK if it is known now, or why it could not be found out
 */
uint32_t gni_smsg_settle(gni_ep_handle_t ep, struct gni_smsg_conn *c)
{
	uint64_t word;
	uint32_t status;

	if (!(c->obstacles & GNI_SMSG_UNSURE))
		return ARIES_ST_OK;
	status = gni_env_smsg_read(ep, c,
				   c->out.box.slots + (uint64_t)c->out.slot * GNI_SMSG_WORD, &word);
	if (status != ARIES_ST_OK)
		return status;
	c->obstacles &= ~GNI_SMSG_UNSURE;
	if (word == c->unsure.header)
		gni_smsg_sent(c, c->unsure.place);
	return ARIES_ST_OK;
}

/**
 * gni_smsg_room_behind() - is there space for a message behind the one whose arrival is in doubt?
 * @c: connection with GNI_SMSG_UNSURE
 * @bytes: size of the message
 */
bool gni_smsg_room_behind(const struct gni_smsg_conn *c, uint32_t bytes)
{
	const struct gni_smsg_sender *out = &c->out;
	const struct gni_smsg_place *before = &c->unsure.place;
	const struct gni_smsg_place place =
		gni_smsg_place(before->next, out->box.ring_bytes, bytes);

	return out->sent + 1 - out->acknowledged < c->credits &&
	       before->taken + place.taken <= out->box.ring_bytes - out->used;
}

/**
 * gni_smsg_withdraw() - a message has not arrived and will not be put again
 * @c: connection
 * @spot: where it was put
 * @put: it is not known whether its last put arrived
 *
 * The last message is withdrawn, as if it had failed at once.
 *
 * Return: false if others were sent after it: the peer can never reach them
 */
bool gni_smsg_withdraw(struct gni_smsg_conn *c, const struct gni_smsg_spot *spot, bool put)
{
	struct gni_smsg_sender *out = &c->out;

	if (spot->number + 1 != out->sent || (c->obstacles & GNI_SMSG_UNSURE))
		return false;
	out->sent--;
	out->slot = spot->slot;
	out->turn = spot->header & GNI_SMSG_TURN;
	out->position = spot->position;
	out->used -= spot->place.taken;
	if (put)
		gni_smsg_unsure(c, spot);
	return true;
}
