/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Short messages: the state of one connection. gni_smsg.h describes the layout of a mailbox and the
 * reasons for it. All of this is protected by gni_ep.lock.
 */
#ifndef KGNI_SMSG_H
#define KGNI_SMSG_H

#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "gni_smsg.h"
#include "kgni.h"

/**
 * struct kgni_mailbox - one mailbox
 * @control: address of its first line; for the peer's mailbox, the offset that is given to the NIC
 * @slots: address of the header words
 * @ring: address of the ring that holds the data
 * @ring_bytes: size of the ring
 * @most: largest message in bytes; a client of libugni may exceed msg_maxsize in some calls
 * @key: key of the direction that writes into it
 * @mdh: memory domain
 */
struct kgni_mailbox {
	u64 control;
	u64 slots;
	u64 ring;
	u32 ring_bytes;
	u32 most;
	u32 key;
	u16 mdh;
};

/**
 * struct kgni_sender - the sending half
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
 * @pause: jiffies between two reads of the peer's release count
 * @look: jiffies at which it is read next
 */
struct kgni_sender {
	struct kgni_mailbox box;
	u64 identity;
	u64 sent;
	u64 acknowledged;
	u64 told_seen;
	u64 credit_seen;
	u32 key;
	u32 slot;
	u32 turn;
	u32 oldest;
	u32 position;
	u32 used;
	u32 refused;
	u32 pause;
	unsigned long look;
};

/**
 * struct kgni_receiver - the receiving half
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
struct kgni_receiver {
	struct kgni_mailbox box;
	u64 released;
	u64 told;
	u64 credit;
	u64 word;
	u32 key;
	u32 slot;
	u32 position;
	u32 untold_bytes;
	u32 found;
	u64 earlier;
	u32 looks;
	bool asked;
	bool known;
};

/**
 * struct kgni_spot - where a message goes in the peer's mailbox
 * @place: its place in the ring
 * @slot: slot of its header word
 * @header: its header word
 */
struct kgni_spot {
	struct gni_smsg_place place;
	u32 slot;
	u64 header;
};

/**
 * struct kgni_message - a message that waits for another attempt, or is in flight and may be lost
 * @node: in gni_ep.smsg_lost
 * @cq: queue of its event
 * @id: its request
 * @number: number of the message when it was put
 * @status: ARIES_ST_* of the last attempt
 * @left: attempts that remain
 * @bytes: size of header and data
 * @put: it was put, and it is not known whether it arrived
 * @lost: it was lost in flight
 * @spot: where it was put, once it has been sent
 * @position: position in the ring before it was put
 * @pause: jiffies until the next attempt, once it was lost
 * @due: jiffies of the next attempt
 * @msg_id: message id for its event
 * @text: header and data
 */
struct kgni_message {
	struct list_head node;
	struct gni_cq *cq;
	u16 id;
	u64 number;
	u8 status;
	u16 left;
	u32 bytes;
	bool put;
	bool lost;
	struct kgni_spot spot;
	u32 position;
	u32 pause;
	unsigned long due;
	u32 msg_id;
	u8 text[];
};

/**
 * struct kgni_smsg - a connection
 * @out: sending half
 * @in: receiving half
 * @credits: largest number of messages in flight
 * @largest: largest message in bytes: msg_maxsize
 * @events: events of the put that carries a message, in the form of a doorbell
 * @repeats: GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT
 * @broken: the peer has written an invalid word
 * @unsure: it is not known whether the last put arrived; the next two members describe it
 * @unsure_header: header word of that put
 * @unsure_place: its place in the ring
 * @waiting: message that is being retransmitted, NULL if there is none
 * @pause: jiffies between two attempts for @waiting
 * @due: jiffies of the next attempt for it
 * @origin: address that corresponds to offset 0 of our mailbox's region
 * @taken: bytes of the ring that a message occupies, by slot
 * @last: header word that was read last, by slot
 */
struct kgni_smsg {
	struct kgni_sender out;
	struct kgni_receiver in;
	u32 credits;
	u32 largest;
	u32 events;
	bool repeats;
	bool broken;
	bool unsure;
	u64 unsure_header;
	struct gni_smsg_place unsure_place;
	struct kgni_message *waiting;
	u32 pause;
	unsigned long due;
	u64 origin;
	u32 *taken;
	u64 last[];
};

/**
 * struct kgni_text - a message as its sender passed it
 * @part: header and data
 * @bytes: size of both
 * @msg_id: message id for its event
 */
struct kgni_text {
	struct kvec part[2];
	u32 bytes;
	u32 msg_id;
};

/**
 * struct kgni_try - result of an attempt to put a message
 * @status: ARIES_ST_*; ARIES_ST_LATER: the message is in flight and may still be lost
 * @whole: the doorbell of the last put, which makes the message visible and raises the event, was
 *         rung
 */
struct kgni_try {
	u8 status;
	bool whole;
};

/** kgni_smsg_own() - word @which of the first line of our own mailbox */
static inline u64 *kgni_smsg_own(const struct kgni_smsg *s, unsigned int which)
{
	return (u64 *)(uintptr_t)s->in.box.control + which;
}

static inline u64 *kgni_smsg_slot(const struct kgni_smsg *s, u32 slot)
{
	return (u64 *)(uintptr_t)s->in.box.slots + slot;
}

static inline void *kgni_smsg_ring(const struct kgni_smsg *s, u32 at)
{
	return (void *)(uintptr_t)(s->in.box.ring + at);
}

/**
 * kgni_status_unknown() - may an operation that ended with this status have happened all the same?
 */
static inline bool kgni_status_unknown(u8 status)
{
	return status == ARIES_ST_TIMEOUT || status == ARIES_ST_FLUSHED;
}

/* A single packet may be lost: this many attempts are made at once. */
#define KGNI_AT_ONCE 2
/*
 * After that a route may be down until the fabric has found another one. The pauses between further
 * attempts begin at one tick and grow by this factor, up to KGNI_LONGEST_PAUSE. Ten attempts take
 * four seconds.
 */
#define KGNI_MORE_PAUSE 4
#define KGNI_LONGEST_PAUSE msecs_to_jiffies(1024)

/** kgni_smsg_pause() - set the time of the next attempt for a message that was lost */
static inline void kgni_smsg_pause(struct kgni_message *m)
{
	m->due = jiffies + m->pause;
	m->pause = m->pause ? min_t(u32, m->pause * KGNI_MORE_PAUSE, KGNI_LONGEST_PAUSE) : 1;
}

/* kgni_smsg_put.c */
struct kgni_spot kgni_smsg_spot(const struct kgni_smsg *s, struct gni_smsg_place place, u32 bytes);
struct kgni_try kgni_smsg_put_at(struct gni_ep *ep, const struct kgni_text *text,
				 const struct kgni_spot *spot, u16 id);
struct kgni_try kgni_smsg_put(struct gni_ep *ep, const struct kgni_text *text,
			      struct gni_smsg_place place, u16 id);
void kgni_smsg_sent(struct kgni_smsg *s, struct gni_smsg_place place);
u8 kgni_smsg_read(struct gni_ep *ep, u64 offset, u64 *word);
void kgni_smsg_tell(struct gni_ep *ep);

/* kgni_smsg_credit.c */
bool kgni_smsg_acknowledge(struct kgni_smsg *s, u64 word);
void kgni_smsg_ask_credit(struct gni_ep *ep);

/* kgni_smsg_repeat.c */
u8 kgni_smsg_settle(struct gni_ep *ep);
void kgni_smsg_put_failed(struct gni_ep *ep, const struct kgni_text *text,
			  struct gni_smsg_place place, u16 id, struct kgni_try first);
void kgni_smsg_behind(struct gni_ep *ep, const struct kgni_text *text, u16 id);
void kgni_smsg_abandon(struct gni_ep *ep);
struct kgni_message *kgni_smsg_copy(struct gni_ep *ep, const struct kgni_text *text, u16 id,
				    u8 status);
void kgni_smsg_timer(struct timer_list *timer);

/* kgni_smsg_late.c */
void kgni_smsg_left(struct kgni_smsg *s, struct kgni_message *m, struct gni_smsg_place place);
void kgni_smsg_keep(struct gni_ep *ep, const struct kgni_text *text, struct gni_smsg_place place,
		    u16 id);
bool kgni_smsg_mend(struct gni_ep *ep, unsigned long *due);
void kgni_smsg_leave_lost(struct gni_ep *ep);

/* kgni_smsg_newcomer.c */
enum kgni_origin {
	KGNI_ORIGIN_UNKNOWN, /* the peer does not answer */
	KGNI_ORIGIN_EARLIER, /* sent in an earlier connection */
	KGNI_ORIGIN_DAMAGED, /* not sent by the peer */
};

void kgni_smsg_take_stock(struct kgni_smsg *s);
bool kgni_smsg_adopt(struct kgni_smsg *s, u64 word);
enum kgni_origin kgni_smsg_origin(struct gni_ep *ep, u64 word);
bool kgni_smsg_consider(struct gni_ep *ep);

#endif
