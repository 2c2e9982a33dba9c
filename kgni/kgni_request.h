/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Posts and messages under way, by their 16-bit transaction id. Each queue has ids of its own, so
 * that endpoints with different queues share no lock. The table grows as ids are used for the first
 * time. Ids are used again oldest first: an event that is completed twice finds no request rather
 * than somebody else's.
 *
 * Nothing here locks: gni_cq.lock is held.
 */
#ifndef KGNI_REQUEST_H
#define KGNI_REQUEST_H

#include <linux/types.h>

#include "gni_pub.h"

#define KGNI_REQUEST_IDS 65536u
#define KGNI_REQUEST_BLOCK 128u
/* Free ids that are kept back as long as there are fresh ones. */
#define KGNI_REQUEST_QUARANTINE 64u

struct kgni_message;

enum kgni_request_kind {
	KGNI_REQUEST_FREE,
	KGNI_REQUEST_POST, /* of FMA */
	KGNI_REQUEST_BTE,
	KGNI_REQUEST_SMSG,
};

/**
 * struct kgni_request - a post or a message
 * @descr: of a post
 * @msg_id: of a message
 * @number: of it, as in gni_ep.smsg_begun
 * @copy: of a message that has left and may get lost yet, NULL if there is none
 * @ep: with a reference
 * @entry: its event, if that was read before its time
 * @local_event: names the endpoint if a message fails
 * @next: in the list of free ids, or of events to be told
 * @kind: enum kgni_request_kind
 * @pending: bit n: the event with ARIES_INFO_ code n is still to be reaped
 * @told: bit n: the client has that event of a post, and is to complete it
 * @forced: ARIES_ST_* that kGNI has found, 0 if none
 * @raised: the NIC makes the event
 * @mended: the NIC's event tells of a first attempt that failed; a later one did not
 * @unsettled: how it ends is not known yet
 * @partly: one of two events has been reaped
 * @listed: among the events to be told
 */
struct kgni_request {
	union {
		gni_post_descriptor_t *descr;
		struct {
			u32 msg_id;
			u32 number;
		};
	};
	struct kgni_message *copy;
	struct gni_ep *ep;
	u64 entry;
	u32 local_event;
	u16 next;
	u8 kind;
	u8 pending;
	u8 told;
	u8 forced;
	union {
		struct {
			bool raised : 1;
			bool mended : 1;
			bool unsettled : 1;
			bool partly : 1;
			bool listed : 1;
		};
		u8 flags; /* all of them */
	};
};

/**
 * struct kgni_requests - the table
 * @block: its parts, KGNI_REQUEST_BLOCK requests each
 * @fresh: ids below it were used before; 0 is none
 * @head: oldest free id
 * @tail: the one that was given back last
 * @free: number of free ids
 */
struct kgni_requests {
	struct kgni_request *block[KGNI_REQUEST_IDS / KGNI_REQUEST_BLOCK];
	u32 fresh;
	u16 head;
	u16 tail;
	u32 free;
};

/**
 * kgni_request() - a request by its id
 * @t: table
 * @id: from wherever
 *
 * Context: gni_cq.lock held. Return: it, or NULL if the id was never used.
 */
static inline struct kgni_request *kgni_request(const struct kgni_requests *t, u16 id)
{
	struct kgni_request *block = t->block[id / KGNI_REQUEST_BLOCK];

	return block ? &block[id % KGNI_REQUEST_BLOCK] : NULL;
}

void kgni_requests_init(struct kgni_requests *t);
void kgni_requests_exit(struct kgni_requests *t);
u16 kgni_request_take(struct kgni_requests *t);
void kgni_request_give(struct kgni_requests *t, u16 id);

#endif
