/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Short messages: the state of one connection. gni_smsg.h describes the layout of a mailbox and the
 * reasons for it. Callers serialise what they do with a connection: kGNI by gni_ep.lock, clients of
 * libugni by themselves.
 */
#ifndef GNI_SMSG_CONN_H
#define GNI_SMSG_CONN_H

#include "aries_hw.h"
#include "gni_env.h"
#include "gni_smsg.h"

/**
 * struct gni_smsg_mailbox - one mailbox
 * @control: address of its first line; for the peer's mailbox, the offset that is given to the NIC
 * @slots: address of the header words
 * @ring: address of the ring that holds the data
 * @ring_bytes: size of the ring
 * @most: largest message with a tag in bytes, header and data; not less than msg_maxsize
 * @key: key of the direction that writes into it
 * @mdh: memory domain
 */
struct gni_smsg_mailbox {
	uint64_t control;
	uint64_t slots;
	uint64_t ring;
	uint32_t ring_bytes;
	uint32_t most;
	uint32_t key;
	uint16_t mdh;
};

/**
 * struct gni_smsg_sender - the sending half
 * @box: the peer's mailbox
 * @identity: identity of this connection, sent with each message
 * @sent: messages sent so far
 * @acknowledged: how many of these the peer is known to have released
 * @told_seen: last credit word examined of those that the peer puts on their own
 * @credit_seen: last credit word examined of those that come with messages
 * @key: key of our messages and of the credits for them
 * @slot: slot of the next message
 * @turn: turn bit of its header
 * @oldest: slot of the first message that is not acknowledged
 * @position: where the next message goes in the ring
 * @used: bytes of the ring that are in use
 * @refused: sends refused for lack of space, since there was space last
 * @pause: time between two reads of the peer's release count; its unit is the environment's
 * @look: time at which it is read next
 */
struct gni_smsg_sender {
	struct gni_smsg_mailbox box;
	uint64_t identity;
	uint64_t sent;
	uint64_t acknowledged;
	uint64_t told_seen;
	uint64_t credit_seen;
	uint32_t key;
	uint32_t slot;
	uint32_t turn;
	uint32_t oldest;
	uint32_t position;
	uint32_t used;
	uint32_t refused;
	uint32_t pause;
	uint64_t look;
};

/**
 * struct gni_smsg_receiver - the receiving half
 * @box: our own mailbox
 * @released: messages released so far
 * @told: how many of these the peer has been told of
 * @credit: credit word for all released messages, 0 if there are none
 * @word: header of the current message, 0 if there is none
 * @key: the sender's key, once it is known
 * @slot: slot of the current message, or of the next one if there is none
 * @position: where the current message, or the next one, begins in the ring
 * @untold_bytes: bytes of the ring that are released without the peer knowing
 * @found: messages that were in the mailbox when the connection began, until their sender is known
 * @earlier: credit word that was valid when the connection began
 * @looks: calls left until the peer is asked again whether the found messages are its own
 * @asked: the peer was asked for it at least once
 * @known: the sender's identity is known
 */
struct gni_smsg_receiver {
	struct gni_smsg_mailbox box;
	uint64_t released;
	uint64_t told;
	uint64_t credit;
	uint64_t word;
	uint32_t key;
	uint32_t slot;
	uint32_t position;
	uint32_t untold_bytes;
	uint32_t found;
	uint64_t earlier;
	uint32_t looks;
	bool asked;
	bool known;
};

/**
 * struct gni_smsg_spot - where a message goes in the peer's mailbox, and the sender's state before
 * @place: its place in the ring
 * @slot: slot of its header word
 * @position: position in the ring before it was put
 * @number: messages sent before it
 * @header: its header word
 */
struct gni_smsg_spot {
	struct gni_smsg_place place;
	uint32_t slot;
	uint32_t position;
	uint64_t number;
	uint64_t header;
};

/**
 * struct gni_smsg_copy - a message of which a copy is kept
 * @spot: where it was put; only its number before that
 * @bytes: size of header and data
 * @msg_id: message id for its event
 * @tag: its tag
 * @put: it was put, and it is not known whether it arrived
 */
struct gni_smsg_copy {
	struct gni_smsg_spot spot;
	uint32_t bytes;
	uint32_t msg_id;
	uint8_t tag;
	bool put;
};

/**
 * struct gni_smsg_try - result of an attempt to put a message
 * @status: ARIES_ST_*; ARIES_ST_LATER: the message is in flight and may still be lost
 * @whole: the doorbell of the last put, which makes the message visible and raises the event, was
 *         rung
 */
struct gni_smsg_try {
	uint32_t status;
	bool whole;
};

/* Why a send has to wait, or cannot be. The other bits are the environment's. */
#define GNI_SMSG_BROKEN 0x1u /* the peer has written an invalid word */
#define GNI_SMSG_UNSURE 0x2u /* it is not known whether the last put arrived */

/**
 * struct gni_smsg_conn - a connection
 * @out: sending half
 * @in: receiving half
 * @credits: largest number of messages in flight
 * @largest: largest message in bytes: msg_maxsize
 * @obstacles: GNI_SMSG_BROKEN and others
 * @events: events of the put that carries a message, in the form of a doorbell
 * @unsure: with GNI_SMSG_UNSURE: where that put went
 * @repeats: GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT
 * @origin: address that corresponds to offset 0 of our mailbox's region
 * @taken: bytes of the ring that a message occupies, by slot
 * @last: header word that was read last, by slot
 */
struct gni_smsg_conn {
	struct gni_smsg_sender out;
	struct gni_smsg_receiver in;
	uint32_t credits;
	uint32_t largest;
	uint32_t obstacles;
	uint32_t events;
	struct gni_smsg_spot unsure;
	bool repeats;
	uint64_t origin;
	uint32_t *taken;
	uint64_t *last;
};

/** gni_smsg_own() - word @which of the first line of our own mailbox */
static inline uint64_t *gni_smsg_own(const struct gni_smsg_conn *c, uint32_t which)
{
	return (uint64_t *)(uintptr_t)c->in.box.control + which;
}

/** gni_smsg_slot() - header word @slot of our own mailbox */
static inline uint64_t *gni_smsg_slot(const struct gni_smsg_conn *c, uint32_t slot)
{
	return (uint64_t *)(uintptr_t)c->in.box.slots + slot;
}

/** gni_smsg_ring() - place @at in the ring of our own mailbox */
static inline char *gni_smsg_ring(const struct gni_smsg_conn *c, uint32_t at)
{
	return (char *)(uintptr_t)(c->in.box.ring + at);
}

/** gni_smsg_next_header() - header word of the next message */
static inline uint64_t gni_smsg_next_header(const struct gni_smsg_conn *c, uint32_t bytes,
					    uint8_t tag)
{
	return gni_smsg_header(c->out.key, c->out.sent, bytes, tag, c->out.turn);
}

/** gni_smsg_next_spot() - where the next message goes, which takes @place in the ring */
static inline struct gni_smsg_spot gni_smsg_next_spot(const struct gni_smsg_conn *c,
						      struct gni_smsg_place place, uint32_t bytes,
						      uint8_t tag)
{
	const struct gni_smsg_spot spot = { place, c->out.slot, c->out.position, c->out.sent,
					    gni_smsg_next_header(c, bytes, tag) };

	return spot;
}

/**
 * gni_smsg_advance() - move @slot on
 * @c: connection
 * @slot: one of its slots
 *
 * Threads that share a connection without a lock lose messages, but it is one of the connection's
 * slots at any time: what is stored comes from one look.
 *
 * Return: what it was
 */
static inline uint32_t gni_smsg_advance(const struct gni_smsg_conn *c, uint32_t *slot)
{
	const uint32_t was = gni_load(slot);

	gni_store(slot, was + 1 >= c->credits ? 0 : was + 1);
	return was;
}

/** gni_smsg_sent() - the peer has the message at @place, and with it our credit word */
static inline void gni_smsg_sent(struct gni_smsg_conn *c, struct gni_smsg_place place)
{
	struct gni_smsg_sender *out = &c->out;
	const uint32_t slot = out->slot; /* as gni_smsg_advance() */
	const bool last = slot + 1 >= c->credits;

	c->taken[slot] = place.taken;
	out->used += place.taken;
	out->position = place.next;
	if (last)
		out->turn ^= GNI_SMSG_TURN;
	gni_store(&out->slot, last ? 0 : slot + 1);
	out->sent++;
	c->in.told = c->in.released;
	c->in.untold_bytes = 0;
}

/**
 * gni_smsg_acknowledge_known() - account for a credit word of the peer that was not examined before
 * @c: connection
 * @word: credit word; one that tells of a message whose arrival is in doubt is left to
 *        gni_smsg_acknowledge()
 *
 * Return: whether the word is valid
 */
static inline bool gni_smsg_acknowledge_known(struct gni_smsg_conn *c, uint64_t word)
{
	struct gni_smsg_sender *out = &c->out;
	const uint32_t more = (uint32_t)(word >> 32) - (uint32_t)out->acknowledged;
	uint32_t n;

	if (word != gni_smsg_credit(out->key, word >> 32))
		return false;
	/* Credit words may be read in another order than they were written: ignore an older one. */
	if ((int32_t)more <= 0)
		return true;
	if (gni_unlikely(more > out->sent - out->acknowledged))
		return false;
	for (n = more; n; n--)
		out->used -= c->taken[gni_smsg_advance(c, &out->oldest)];
	out->acknowledged += more;
	out->refused = 0;
	return true;
}

/** gni_smsg_is_next() - is @word, found in the slot of the next message, its header word? */
static inline bool gni_smsg_is_next(const struct gni_smsg_conn *c, uint64_t word)
{
	const struct gni_smsg_receiver *in = &c->in;

	return gni_smsg_header_is(word, in->key, in->released) &&
	       gni_smsg_header_length(word) <= in->box.most &&
	       gni_smsg_header_tag(word) != GNI_SMSG_ANY_TAG;
}

/**
 * gni_smsg_released() - the current message is released
 * @c: connection
 *
 * The peer is told at once when half of the credits or a quarter of the ring have been released
 * without telling it. What the peer knows to be free then always has space for the largest message.
 * Otherwise the credits go along with the next message.
 *
 * Return: whether the peer is to be told now
 */
static inline bool gni_smsg_released(struct gni_smsg_conn *c)
{
	struct gni_smsg_receiver *in = &c->in;
	const struct gni_smsg_place place =
		gni_smsg_place(in->position, in->box.ring_bytes, gni_smsg_header_length(in->word));

	c->last[in->slot] = in->word;
	in->word = 0;
	in->released++;
	in->credit = gni_smsg_credit(in->key, in->released);
	/* This is the word that the peer reads when it has no space. */
	gni_store_release(gni_smsg_own(c, GNI_SMSG_RELEASED), in->credit);
	(void)gni_smsg_advance(c, &in->slot);
	in->position = place.next;
	in->untold_bytes += place.taken;
	return (in->released - in->told) * 2 >= c->credits ||
	       in->untold_bytes >= in->box.ring_bytes / GNI_SMSG_LARGEST;
}

#ifdef __cplusplus
extern "C" {
#endif

/* What the environment does. */

/*
 * Read the word at @offset of the peer's mailbox, as the NIC takes it, into @word.
 * Return: ARIES_ST_*
 */
uint32_t gni_env_smsg_read(gni_ep_handle_t ep, const struct gni_smsg_conn *c, uint64_t offset,
			   uint64_t *word);
/*
 * The same, and once more for a while if the peer does not answer the @first time that it is asked:
 * some clients look for messages once when a connection begins, and then only when an event comes.
 */
bool gni_env_smsg_ask(gni_ep_handle_t ep, const struct gni_smsg_conn *c, uint64_t offset,
		      uint64_t *word, bool first);

/*
 * Put @text, a message in the environment's form, at @spot. @id: request that gets the event here,
 * 0: none
 */
struct gni_smsg_try gni_env_smsg_put(gni_ep_handle_t ep, const struct gni_smsg_conn *c,
				     const void *text, const struct gni_smsg_spot *spot,
				     uint32_t id);
/* May a put that ended with ARIES_ST_* @status have arrived all the same? */
bool gni_env_status_unknown(uint32_t status);
/* Time in units of the environment, and so many milliseconds in these. */
uint64_t gni_env_now(void);
uint32_t gni_env_time(uint32_t ms);

/* gni_smsg_mailbox.c */
const char *gni_smsg_attr_fault(const gni_smsg_attr_t *a);
const char *gni_smsg_pair_fault(const gni_smsg_attr_t *a, const gni_smsg_attr_t *b);
void gni_smsg_join(struct gni_smsg_conn *c, const gni_smsg_attr_t *local,
		   const gni_smsg_attr_t *remote, uint32_t events);
void gni_smsg_open(struct gni_smsg_conn *c, uint32_t nonce);

/* gni_smsg_conn.c */
bool gni_smsg_acknowledge(struct gni_smsg_conn *c, uint64_t word);
bool gni_smsg_take_credit(struct gni_smsg_conn *c, uint64_t word);
void gni_smsg_ask_credit(gni_ep_handle_t ep, struct gni_smsg_conn *c);
void gni_smsg_unsure(struct gni_smsg_conn *c, const struct gni_smsg_spot *spot);
uint32_t gni_smsg_settle(gni_ep_handle_t ep, struct gni_smsg_conn *c);
bool gni_smsg_room_behind(const struct gni_smsg_conn *c, uint32_t bytes);
bool gni_smsg_withdraw(struct gni_smsg_conn *c, const struct gni_smsg_spot *spot, bool put);

/* gni_smsg_repeat.c */
enum gni_smsg_fate {
	GNI_SMSG_KNOWN,	  /* how it has ended is known */
	GNI_SMSG_OPEN,	  /* it could not be found out */
	GNI_SMSG_MISSING, /* it has not arrived, and may be put again */
};

struct gni_smsg_try gni_smsg_put_quietly(gni_ep_handle_t ep, struct gni_smsg_conn *c,
					 const void *text, const struct gni_smsg_spot *spot);
uint32_t gni_smsg_again(gni_ep_handle_t ep, struct gni_smsg_conn *c, struct gni_smsg_copy *m,
			const void *text, uint32_t status, bool *last);
enum gni_smsg_fate gni_smsg_find(gni_ep_handle_t ep, struct gni_smsg_conn *c,
				 struct gni_smsg_copy *m, uint32_t *status);

/* gni_smsg_newcomer.c */
enum gni_smsg_finding {
	GNI_SMSG_NOTHING,   /* no message */
	GNI_SMSG_NO_ANSWER, /* none, as the peer does not say whether it is one */
	GNI_SMSG_AGAIN,	    /* the sender has just become known: look once more */
	GNI_SMSG_DAMAGED,   /* the peer cannot have sent it */
};

void gni_smsg_take_stock(struct gni_smsg_conn *c);
enum gni_smsg_finding gni_smsg_unexpected(gni_ep_handle_t ep, struct gni_smsg_conn *c,
					  uint64_t word);
bool gni_smsg_consider(gni_ep_handle_t ep, struct gni_smsg_conn *c);

#ifdef __cplusplus
}
#endif

#endif
