// SPDX-License-Identifier: GPL-2.0-only
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
#include "kgni_smsg.h"

/* A peer that does not answer is asked again after this many calls. */
#define KGNI_LOOKS 64
/*
 * The first time it is asked more than once: some clients look for such messages once, and then
 * only when an event comes. Each try may take the doorbell's 100 ms, and the caller may be in an
 * interrupt.
 */
#define KGNI_FIRST_TRIES 5

static u64 kgni_smsg_load(const struct kgni_smsg *s, u32 slot)
{
	/* pairs with the NIC, which stores this word after the data */
	return smp_load_acquire(kgni_smsg_slot(s, slot));
}

/*
 * The identity at the place where the first message of a connection has it. That place does not
 * depend on the length of the message.
 */
static u64 kgni_smsg_first_identity(const struct kgni_smsg *s)
{
	u32 at = gni_smsg_place(0, s->in.box.ring_bytes, 0).at;

	return READ_ONCE(((u64 *)kgni_smsg_ring(s, at))[1]);
}

/*
 * The identity that came with the message of header @word, and its key.
 * Return: 0 if this is not the first message of a connection.
 */
static u64 kgni_smsg_identity_of(const struct kgni_smsg *s, u64 word, u32 *key)
{
	const struct kgni_mailbox *box = &s->in.box;
	u64 identity;
	u32 nonce;

	if (!word || gni_smsg_header_length(word) > box->most)
		return 0;
	identity = kgni_smsg_first_identity(s);
	nonce = identity >> 32;
	*key = gni_smsg_key(box->key, nonce);
	return identity == gni_smsg_identity(box->key, nonce) && gni_smsg_header_is(word, *key, 0)
		       ? identity
		       : 0;
}

/* Read the identity that the peer has now. Return: whether it has answered. */
static bool kgni_smsg_ask_identity(struct gni_ep *ep, u64 *identity)
{
	struct kgni_smsg *s = ep->smsg;
	u64 from = s->out.box.control + GNI_SMSG_IDENTITY * GNI_SMSG_WORD;
	u32 tries = s->in.asked ? 1 : KGNI_FIRST_TRIES;
	u8 status;

	if (s->in.looks && --s->in.looks)
		return false;
	s->in.asked = true;
	do {
		status = kgni_smsg_read(ep, from, identity);
		if (status == ARIES_ST_OK)
			return true;
	} while (status == ARIES_ST_TIMEOUT && --tries);
	s->in.looks = KGNI_LOOKS;
	return false;
}

/*
 * From now on the sender is known by @key. Words in the slots that are not from this sender are
 * ignored for ever, all others are messages to be read.
 */
static void kgni_smsg_know(struct kgni_smsg *s, u32 key)
{
	u32 i;

	s->in.key = key;
	s->in.known = true;
	for (i = 0; i < s->credits; i++) {
		u64 word = kgni_smsg_load(s, i);

		s->last[i] = gni_smsg_header_is(word, key, i) ? 0 : word;
	}
}

/* How many messages of a sender with @key we had released before this connection began. */
static u32 kgni_smsg_released_earlier(const struct kgni_smsg *s, u32 key)
{
	u64 word = s->in.earlier;

	return word && word == gni_smsg_credit(key, word >> 32) ? word >> 32 : 0;
}

/* Ask the peer whether it has sent the messages that were found. Return: whether it has. */
static bool kgni_smsg_decide(struct gni_ep *ep)
{
	struct kgni_smsg *s = ep->smsg;
	u64 identity;
	u32 key = 0;

	if (!kgni_smsg_ask_identity(ep, &identity))
		return false;
	if (identity != kgni_smsg_identity_of(s, s->last[0], &key)) {
		s->in.found = 0;
		return false;
	}
	kgni_smsg_know(s, key);
	return true;
}

/**
 * kgni_smsg_take_stock() - remember what is in our mailbox when a connection begins
 * @s: connection
 *
 * Context: any.
 */
void kgni_smsg_take_stock(struct kgni_smsg *s)
{
	u32 key = 0, i;

	/*
	 * Backwards: a sender begins with the first slot, so a message that arrives during this
	 * loop is noticed there.
	 */
	for (i = s->credits; i-- > 0;)
		s->last[i] = kgni_smsg_load(s, i);
	s->in.earlier = READ_ONCE(*kgni_smsg_own(s, GNI_SMSG_RELEASED));
	/* Messages that were read in an earlier connection were not sent by a faster peer. */
	if (!kgni_smsg_identity_of(s, s->last[0], &key) || kgni_smsg_released_earlier(s, key))
		return;
	while (s->in.found < s->credits &&
	       gni_smsg_header_is(s->last[s->in.found], key, s->in.found))
		s->in.found++;
	/* No connection has begun in this memory yet, so they cannot be of an earlier one. */
	if (!READ_ONCE(*kgni_smsg_own(s, GNI_SMSG_IDENTITY)))
		kgni_smsg_know(s, key);
}

/**
 * kgni_smsg_adopt() - accept the sender of a first message as the peer
 * @s: connection
 * @word: header word in the first slot
 *
 * Context: any; gni_ep.lock held. Return: whether it is the first message of a connection.
 */
bool kgni_smsg_adopt(struct kgni_smsg *s, u64 word)
{
	struct kgni_receiver *in = &s->in;
	u32 key = 0;

	if (!kgni_smsg_identity_of(s, word, &key))
		return false;
	kgni_smsg_know(s, key);
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
	smp_store_release(kgni_smsg_own(s, GNI_SMSG_RELEASED), 0);
	return true;
}

/**
 * kgni_smsg_origin() - find the origin of a word in the first slot that is not a first message
 * @ep: endpoint whose peer is not known yet; the peer is asked, as it may have sent the word in an
 *      earlier connection
 * @word: header word
 *
 * Context: any; gni_ep.lock held. Return: see enum kgni_origin.
 */
enum kgni_origin kgni_smsg_origin(struct gni_ep *ep, u64 word)
{
	struct kgni_smsg *s = ep->smsg;
	u64 identity, number;
	u32 key, read;

	if ((word & GNI_SMSG_ONES) != GNI_SMSG_ONES ||
	    gni_smsg_header_length(word) > s->in.box.most)
		return KGNI_ORIGIN_DAMAGED;
	if (!kgni_smsg_ask_identity(ep, &identity))
		return KGNI_ORIGIN_UNKNOWN;
	key = gni_smsg_key(s->in.box.key, identity >> 32);
	read = kgni_smsg_released_earlier(s, key);
	/* The peer has reconnected. If its first message is here, @word should be the header. */
	if (!read)
		return identity == kgni_smsg_first_identity(s) ? KGNI_ORIGIN_DAMAGED
							       : KGNI_ORIGIN_EARLIER;
	/*
	 * The peer is still in the earlier connection. Message numbers in the first slot are
	 * multiples of the number of credits.
	 */
	number = DIV_ROUND_UP_ULL((u64)read, s->credits) * s->credits;
	return gni_smsg_header_is(word, key, number) ? KGNI_ORIGIN_EARLIER : KGNI_ORIGIN_DAMAGED;
}

/**
 * kgni_smsg_consider() - no new message, but some were there when the connection began
 * @ep: endpoint
 *
 * Context: any; gni_ep.lock held. Return: whether it is worth looking once more.
 */
bool kgni_smsg_consider(struct gni_ep *ep)
{
	struct kgni_smsg *s = ep->smsg;
	struct kgni_receiver *in = &s->in;
	u64 first;

	if (!in->known)
		return kgni_smsg_decide(ep);
	if (in->released > in->found) {
		in->found = 0;
		return false;
	}
	first = kgni_smsg_load(s, 0);
	return in->released && first != s->last[0] && kgni_smsg_adopt(s, first);
}
