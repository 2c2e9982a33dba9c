// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Identification of the sender of the messages in a mailbox. The first message of a connection
 * carries the identity of its sender. Clients neither agree on who connects first nor clear
 * mailboxes that they use again. So messages that are in the mailbox when a connection begins are
 * of one of two kinds. Either the peer was faster and has sent them in this connection, or they
 * were left unread in an earlier connection of these two mailboxes. When the owner wants to read
 * them the peer is asked: the messages are valid if the peer still has the identity that they were
 * sent with. If the memory has never been a mailbox before, the peer need not be asked.
 *
 * A peer that has not reconnected by then still has its old identity. When it reconnects, its first
 * message goes into the first slot once more, with another identity. So the first slot is watched
 * as well until another message has arrived.
 *
 * Until it reconnects the peer may also continue to send in the earlier connection, into any slot.
 * All of that arrives before the first message of the new connection. So when that one arrives,
 * whatever else is in the slots is not a message.
 */
#include "gni_smsg_conn.h"

/* A peer that does not answer is asked again after this many calls. */
#define GNI_SMSG_LOOKS 64

static uint64_t gni_smsg_load_slot(const struct gni_smsg_conn *c, uint32_t slot)
{
	/* pairs with the NIC, which stores this word after the data */
	return gni_load_acquire(gni_smsg_slot(c, slot));
}

/*
 * The identity at the place where the first message of a connection has it. That place does not
 * depend on the length of the message.
 */
static uint64_t gni_smsg_first_identity(const struct gni_smsg_conn *c)
{
	const uint32_t at = gni_smsg_place(0, c->in.box.ring_bytes, 0).at;

	return gni_load((uint64_t *)gni_smsg_ring(c, at) + 1);
}

/*
 * The identity that came with the message of header @word, and its key.
 * Return: 0 if this is not the first message of a connection.
 */
static uint64_t gni_smsg_identity_of(const struct gni_smsg_conn *c, uint64_t word, uint32_t *key)
{
	const struct gni_smsg_mailbox *box = &c->in.box;
	uint64_t identity;
	uint32_t nonce;

	if (!word || gni_smsg_header_length(word) > box->most)
		return 0;
	identity = gni_smsg_first_identity(c);
	nonce = identity >> 32;
	*key = gni_smsg_key(box->key, nonce);
	return identity == gni_smsg_identity(box->key, nonce) && gni_smsg_header_is(word, *key, 0)
		       ? identity
		       : 0;
}

/* Read the identity that the peer has now. Return: whether it has answered. */
static bool gni_smsg_ask_identity(gni_ep_handle_t ep, struct gni_smsg_conn *c, uint64_t *identity)
{
	struct gni_smsg_receiver *in = &c->in;
	const bool first = !in->asked;

	if (in->looks && --in->looks)
		return false;
	in->asked = true;
	if (gni_env_smsg_ask(ep, c, c->out.box.control + GNI_SMSG_IDENTITY * GNI_SMSG_WORD,
			     identity, first))
		return true;
	in->looks = GNI_SMSG_LOOKS;
	return false;
}

/*
 * From now on the sender is known by @key. Words in the slots that are not from this sender are
 * ignored for ever, all others are messages to be read.
 */
static void gni_smsg_know(struct gni_smsg_conn *c, uint32_t key)
{
	uint32_t i;

	c->in.key = key;
	c->in.known = true;
	for (i = 0; i < c->credits; i++) {
		uint64_t word = gni_smsg_load_slot(c, i);

		c->last[i] = gni_smsg_header_is(word, key, i) ? 0 : word;
	}
}

/* How many messages of a sender with @key we had released before this connection began. */
static uint32_t gni_smsg_released_earlier(const struct gni_smsg_conn *c, uint32_t key)
{
	uint64_t word = c->in.earlier;

	return word && word == gni_smsg_credit(key, word >> 32) ? word >> 32 : 0;
}

/* Ask the peer whether it has sent the messages that were found. Return: whether it has. */
static bool gni_smsg_decide(gni_ep_handle_t ep, struct gni_smsg_conn *c)
{
	uint64_t identity;
	uint32_t key = 0;

	if (!gni_smsg_ask_identity(ep, c, &identity))
		return false;
	if (identity != gni_smsg_identity_of(c, c->last[0], &key)) {
		c->in.found = 0;
		return false;
	}
	gni_smsg_know(c, key);
	return true;
}

/**
 * gni_smsg_take_stock() - remember what is in our mailbox when a connection begins
 * @c: connection
 */
void gni_smsg_take_stock(struct gni_smsg_conn *c)
{
	uint32_t key = 0, i;

	/*
	 * Backwards: a sender begins with the first slot, so a message that arrives during this
	 * loop is noticed there.
	 */
	for (i = c->credits; i-- > 0;)
		c->last[i] = gni_smsg_load_slot(c, i);
	c->in.earlier = gni_load(gni_smsg_own(c, GNI_SMSG_RELEASED));
	/* Messages that were read in an earlier connection were not sent by a faster peer. */
	if (!gni_smsg_identity_of(c, c->last[0], &key) || gni_smsg_released_earlier(c, key))
		return;
	while (c->in.found < c->credits &&
	       gni_smsg_header_is(c->last[c->in.found], key, c->in.found))
		c->in.found++;
	/* No connection has begun in this memory yet, so they cannot be of an earlier one. */
	if (!gni_load(gni_smsg_own(c, GNI_SMSG_IDENTITY)))
		gni_smsg_know(c, key);
}

/*
 * Accept the sender of @word, a header word in the first slot, as the peer, if it is that of the
 * first message of a connection. Return: whether it is.
 */
static bool gni_smsg_adopt(struct gni_smsg_conn *c, uint64_t word)
{
	struct gni_smsg_receiver *in = &c->in;
	uint32_t key = 0;

	if (!gni_smsg_identity_of(c, word, &key))
		return false;
	gni_smsg_know(c, key);
	/* It may be the only message of the earlier connection. */
	in->found = 1;
	in->released = 0;
	in->told = 0;
	in->credit = 0;
	in->word = 0;
	in->slot = 0;
	in->position = 0;
	in->untold_bytes = 0;
	/* publishes all of the above */
	gni_store_release(gni_smsg_own(c, GNI_SMSG_RELEASED), 0);
	return true;
}

/*
 * Find out what @word in the first slot is, which is no header word of a first message. The peer is
 * not known yet. It is asked, as it may have sent @word in an earlier connection: then that is
 * nothing.
 */
static enum gni_smsg_finding gni_smsg_origin(gni_ep_handle_t ep, struct gni_smsg_conn *c,
					     uint64_t word)
{
	uint64_t identity, number;
	uint32_t key, read;

	if ((word & GNI_SMSG_ONES) != GNI_SMSG_ONES ||
	    gni_smsg_header_length(word) > c->in.box.most)
		return GNI_SMSG_DAMAGED;
	if (!gni_smsg_ask_identity(ep, c, &identity))
		return GNI_SMSG_NO_ANSWER;
	key = gni_smsg_key(c->in.box.key, identity >> 32);
	read = gni_smsg_released_earlier(c, key);
	/* The peer has reconnected. If its first message is here, @word should be the header. */
	if (!read)
		return identity == gni_smsg_first_identity(c) ? GNI_SMSG_DAMAGED : GNI_SMSG_NOTHING;
	/*
	 * The peer is still in the earlier connection. Message numbers in the first slot are
	 * multiples of the number of credits.
	 */
	number = ((uint64_t)read + c->credits - 1) / c->credits * c->credits;
	return gni_smsg_header_is(word, key, number) ? GNI_SMSG_NOTHING : GNI_SMSG_DAMAGED;
}

/**
 * gni_smsg_unexpected() - the word in the slot has changed, but it is no message of this connection
 * @ep: endpoint
 * @c: its connection
 * @word: the word
 *
 * Return: see enum gni_smsg_finding
 */
enum gni_smsg_finding gni_smsg_unexpected(gni_ep_handle_t ep, struct gni_smsg_conn *c,
					  uint64_t word)
{
	struct gni_smsg_receiver *in = &c->in;
	enum gni_smsg_finding finding = GNI_SMSG_DAMAGED;

	if (in->slot == 0 && (!in->known || in->found) && gni_smsg_adopt(c, word))
		return GNI_SMSG_AGAIN;
	/* A word of 0 is harmless: the owner may have cleared the mailbox. */
	if (!word)
		finding = GNI_SMSG_NOTHING;
	else if (in->slot == 0 && !in->known)
		finding = gni_smsg_origin(ep, c, word);
	if (finding == GNI_SMSG_NOTHING)
		c->last[in->slot] = word;
	return finding;
}

/**
 * gni_smsg_consider() - no new message, but some were there when the connection began
 * @ep: endpoint
 * @c: its connection
 *
 * Return: whether it is worth looking once more
 */
bool gni_smsg_consider(gni_ep_handle_t ep, struct gni_smsg_conn *c)
{
	struct gni_smsg_receiver *in = &c->in;
	uint64_t first;

	if (!in->known)
		return gni_smsg_decide(ep, c);
	if (in->released > in->found) {
		in->found = 0;
		return false;
	}
	first = gni_smsg_load_slot(c, 0);
	return in->released && first != c->last[0] && gni_smsg_adopt(c, first);
}
