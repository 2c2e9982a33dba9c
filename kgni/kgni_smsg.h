/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Short messages: a connection, and messages of which a copy is kept. What sender and receiver do
 * is in driver/gni; gni_smsg.h describes the layout of a mailbox and the reasons for it. All of
 * this is protected by gni_ep.lock.
 */
#ifndef KGNI_SMSG_H
#define KGNI_SMSG_H

#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "gni_smsg_conn.h"
#include "kgni.h"

/**
 * struct kgni_message - a message that waits for another attempt, or is in flight and may be lost
 * @node: in gni_ep.smsg_lost
 * @cq: queue of its event
 * @id: its request
 * @copy: what both sides know of it
 * @status: ARIES_ST_* of the last attempt
 * @left: attempts that remain
 * @lost: it was lost in flight
 * @pause: jiffies until the next attempt, once it was lost
 * @due: jiffies of the next attempt
 * @text: header and data
 */
struct kgni_message {
	struct list_head node;
	struct gni_cq *cq;
	u16 id;
	struct gni_smsg_copy copy;
	u8 status;
	u16 left;
	bool lost;
	u32 pause;
	unsigned long due;
	u8 text[];
};

/**
 * struct kgni_smsg - a connection
 * @c: what both sides of it know
 * @waiting: message that is being retransmitted, NULL if there is none
 * @pause: jiffies between two attempts for @waiting
 * @due: jiffies of the next attempt for it
 * @last: gni_smsg_conn.last, with gni_smsg_conn.taken behind it
 */
struct kgni_smsg {
	struct gni_smsg_conn c;
	struct kgni_message *waiting;
	u32 pause;
	unsigned long due;
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
void kgni_smsg_tell(struct gni_ep *ep);

/* kgni_smsg_repeat.c */
void kgni_smsg_put_failed(struct gni_ep *ep, const struct kgni_text *text,
			  struct gni_smsg_place place, u16 id, struct gni_smsg_try first);
void kgni_smsg_behind(struct gni_ep *ep, const struct kgni_text *text, u16 id);
void kgni_smsg_abandon(struct gni_ep *ep);
struct kgni_message *kgni_smsg_copy(struct gni_ep *ep, const struct kgni_text *text, u16 id,
				    u8 status);
void kgni_smsg_timer(struct timer_list *timer);

/* kgni_smsg_late.c */
void kgni_smsg_keep(struct gni_ep *ep, const struct kgni_text *text, struct gni_smsg_place place,
		    u16 id);
bool kgni_smsg_mend(struct gni_ep *ep, unsigned long *due);
void kgni_smsg_leave_lost(struct gni_ep *ep);

#endif
