/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Short messages: the state of one connection. What a mailbox looks like, and why, is said in
 * gni_smsg.h. All of this is protected by gni_ep.lock.
 */
#ifndef KGNI_SMSG_H
#define KGNI_SMSG_H

#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "gni_smsg.h"
#include "kgni.h"

/**
 * struct kgni_mailbox - one mailbox
 * @control: address of its first line; the peer's: as the NIC is told
 * @slots: of the header words
 * @ring: of the data
 * @ring_bytes: size of that
 * @most: bytes that a message may have; a client of libugni may exceed msg_maxsize in some calls
 * @key: of the direction that writes into it
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
 * @identity: goes with each message
 * @sent: messages
 * @acknowledged: of these released by the peer, as far as we know
 * @told_seen: credit word of the peer's own that was looked at last
 * @credit_seen: the same, of those that come with messages
 * @key: of messages and of credits for them
 * @slot: of the next message
 * @turn: of its header
 * @oldest: slot of the first message that is not acknowledged
 * @position: in the ring
 * @used: of the ring
 * @refused: sends for want of room, since there was some
 * @pause: jiffies from one reading of what is released to the next
 * @look: when it is read next
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
 * @released: messages
 * @told: of these the peer knows
 * @credit: credit word that tells all that is released, 0 if nothing is
 * @word: header of the current message, 0 if there is none
 * @key: as the sender's, when it is known
 * @slot: of the next message, or the current one
 * @position: in the ring
 * @untold_bytes: of the ring, released and not told
 * @found: messages that were there when the connection began, until it is known whose they are
 * @earlier: credit word that told all that was released when the connection began
 * @looks: for them
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
	bool known;
};

/**
 * struct kgni_spot - where a message goes in the peer's mailbox
 * @place: in the ring
 * @slot: of its header word
 * @header: that word
 */
struct kgni_spot {
	struct gni_smsg_place place;
	u32 slot;
	u64 header;
};

/**
 * struct kgni_message - a message that waits for another attempt, or has left and may get lost yet
 * @node: in gni_ep.smsg_lost
 * @cq: of its event
 * @id: its request
 * @number: of the message, when it was put
 * @status: ARIES_ST_* of the last attempt
 * @left: attempts
 * @bytes: of header and data
 * @put: it is the one whose fate is not known
 * @lost: it has left, and was lost
 * @spot: where it has gone, if it has left
 * @position: of the ring, where it began
 * @pause: jiffies from one attempt to the next, once it was lost
 * @due: when that is
 * @msg_id: for its event
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
 * @credits: messages under way, at most
 * @largest: bytes of a message: msg_maxsize
 * @events: of the put that carries a message, as in a doorbell
 * @repeats: GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT
 * @broken: the peer wrote what it must not
 * @unsure: the fate of the last put is not known; with its header word and its place
 * @unsure_header: that
 * @unsure_place: and that
 * @waiting: a struct kgni_message that is tried again, NULL if there is none
 * @pause: jiffies from one attempt for that to the next
 * @due: when that is
 * @origin: address from which offsets in the region of our mailbox count
 * @taken: bytes of the ring, by slot of the message
 * @last: header words that were read, by slot
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
 * struct kgni_text - a message as its sender handed it over
 * @part: header and data
 * @bytes: of both
 * @msg_id: for its event
 */
struct kgni_text {
	struct kvec part[2];
	u32 bytes;
	u32 msg_id;
};

/**
 * struct kgni_try - what became of an attempt to put a message
 * @status: ARIES_ST_*; ARIES_ST_LATER: it is on its way, and may be lost yet
 * @whole: the put that makes the message readable has been rung, and with it the event
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

/** kgni_status_unknown() - may it have happened all the same? */
static inline bool kgni_status_unknown(u8 status)
{
	return status == ARIES_ST_TIMEOUT || status == ARIES_ST_FLUSHED;
}

/* Packets get lost now and then: so many attempts come at once. */
#define KGNI_AT_ONCE 2
/*
 * Then ways may be closed, for as long as it takes to find others: pauses of a tick, four times as
 * long each time, up to this. Ten attempts are four seconds.
 */
#define KGNI_MORE_PAUSE 4
#define KGNI_LONGEST_PAUSE msecs_to_jiffies(1024)

/** kgni_smsg_pause() - when the next attempt for a message that was lost is due */
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
	KGNI_ORIGIN_UNKNOWN, /* the peer does not say */
	KGNI_ORIGIN_EARLIER, /* another connection */
	KGNI_ORIGIN_DAMAGED, /* nobody that may write here */
};

void kgni_smsg_take_stock(struct kgni_smsg *s);
bool kgni_smsg_adopt(struct kgni_smsg *s, u64 word);
enum kgni_origin kgni_smsg_origin(struct gni_ep *ep, u64 word);
bool kgni_smsg_consider(struct gni_ep *ep);

#endif
