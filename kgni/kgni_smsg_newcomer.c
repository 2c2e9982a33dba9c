// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Who sends into a mailbox. The first message says it, by the identity that goes with it. Clients
 * neither agree on who connects first nor clear mailboxes that they use again, so messages that are
 * there when a connection begins are either the peer's, which was faster, or nobody has read them
 * in an earlier connection of these two mailboxes. The peer is asked when the owner wants to read
 * them: they are its if it still has the identity that they were sent with.
 *
 * A peer that has not connected anew by then still has the old one. When it does, its first message
 * comes to the first slot once more, with another identity; so as long as nothing else has come
 * that slot is looked at as well.
 *
 * Until it connects anew it may also go on to send in the earlier connection, into any slot. All of
 * that is there before its first message of the new connection, so when that one comes, other words
 * in the slots are no messages.
 */
#include "kgni_smsg.h"

/* A peer that does not answer is asked again after so many looks. */
#define KGNI_LOOKS 64

static u64 kgni_smsg_load(const struct kgni_smsg *s, u32 slot)
{
	/* the NIC stores it after the data */
	return smp_load_acquire(kgni_smsg_slot(s, slot));
}

/* The identity where the first message of a connection has it; its length does not matter. */
static u64 kgni_smsg_first_identity(const struct kgni_smsg *s)
{
	u32 at = gni_smsg_place(0, s->in.box.ring_bytes, 0).at;

	return READ_ONCE(((u64 *)kgni_smsg_ring(s, at))[1]);
}

/*
 * The identity that lies with the message of header @word, the first of a connection, and its key.
 * Return: 0 if it is none.
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

/* The identity that the peer has now. Return: whether it has answered. */
static bool kgni_smsg_ask_identity(struct gni_ep *ep, u64 *identity)
{
	struct kgni_smsg *s = ep->smsg;
	u64 from = s->out.box.control + GNI_SMSG_IDENTITY * GNI_SMSG_WORD;

	if (s->in.looks && --s->in.looks)
		return false;
	if (kgni_smsg_read(ep, from, identity) == ARIES_ST_OK)
		return true;
	s->in.looks = KGNI_LOOKS;
	return false;
}

/*
 * The sender is known by @key: what is there and not from it will never be a message, all else is
 * to be read.
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

/* Messages that we have released of a sender with @key before this connection began. */
static u32 kgni_smsg_released_earlier(const struct kgni_smsg *s, u32 key)
{
	u64 word = s->in.earlier;

	return word && word == gni_smsg_credit(key, word >> 32) ? word >> 32 : 0;
}

/* Asks the peer whether the messages that were found are its. Return: whether they are. */
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
	 * Backwards: whoever sends begins with the first slot, so what comes meanwhile is seen
	 * there.
	 */
	for (i = s->credits; i-- > 0;)
		s->last[i] = kgni_smsg_load(s, i);
	s->in.earlier = READ_ONCE(*kgni_smsg_own(s, GNI_SMSG_RELEASED));
	/* What has been read in an earlier connection is not the peer's, which was faster. */
	if (!kgni_smsg_identity_of(s, s->last[0], &key) || kgni_smsg_released_earlier(s, key))
		return;
	while (s->in.found < s->credits &&
	       gni_smsg_header_is(s->last[s->in.found], key, s->in.found))
		s->in.found++;
}

/**
 * kgni_smsg_adopt() - take the sender of a first message for the peer
 * @s: connection
 * @word: in the first slot
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
	/* It may be the earlier connection's only one. */
	in->found = 1;
	in->released = 0;
	in->told = 0;
	in->credit = 0;
	in->word = 0;
	in->slot = 0;
	in->position = 0;
	in->untold_bytes = 0;
	/* after all of the above */
	smp_store_release(kgni_smsg_own(s, GNI_SMSG_RELEASED), 0);
	return true;
}

/**
 * kgni_smsg_origin() - whom a word is from that lies in the first slot and is no first message
 * @ep: endpoint; its peer is not known yet, may have sent it in an earlier connection, and is asked
 * @word: that
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
	/* It has connected anew. If the first message is there, this should be its header. */
	if (!read)
		return identity == kgni_smsg_first_identity(s) ? KGNI_ORIGIN_DAMAGED
							       : KGNI_ORIGIN_EARLIER;
	/*
	 * It still has the earlier connection. Numbers in the first slot are multiples of the
	 * credits.
	 */
	number = DIV_ROUND_UP_ULL((u64)read, s->credits) * s->credits;
	return gni_smsg_header_is(word, key, number) ? KGNI_ORIGIN_EARLIER : KGNI_ORIGIN_DAMAGED;
}

/**
 * kgni_smsg_consider() - nothing new, but messages were there when the connection began
 * @ep: endpoint
 *
 * Context: any; gni_ep.lock held. Return: whether it is worth to look once more.
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
