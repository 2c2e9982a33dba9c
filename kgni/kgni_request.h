/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Outstanding posts and messages, by their 16-bit transaction id. Each queue has ids of its own, so
 * that endpoints with different queues share no lock. The table grows as ids are used for the first
 * time. The id that was freed first is reused first, so that a client that completes an event twice
 * finds no request rather than another one.
 *
 * Nothing here takes a lock: gni_cq.lock is held.
 */
#ifndef KGNI_REQUEST_H
#define KGNI_REQUEST_H

#include <linux/types.h>

#include "gni_pub.h"

#define KGNI_REQUEST_IDS 65536u
#define KGNI_REQUEST_BLOCK 128u
/* This many free ids are not reused as long as there are fresh ones. */
#define KGNI_REQUEST_QUARANTINE 64u

struct kgni_message;

enum kgni_request_kind {
	KGNI_REQUEST_FREE,
	KGNI_REQUEST_POST, /* an FMA post */
	KGNI_REQUEST_BTE,
	KGNI_REQUEST_SMSG,
};

/**
 * struct kgni_request - a post or a message
 * @descr: descriptor of a post
 * @msg_id: id of a message
 * @number: number of a message, as in gni_ep.smsg_begun
 * @copy: copy of a message that is in flight, NULL if there is none
 * @ep: endpoint, with a reference
 * @entry: its event, if it was read before it could be delivered
 * @local_event: event data of the endpoint, for the event of a failed message
 * @next: next id in the list of free ids, or of events to be delivered
 * @kind: enum kgni_request_kind
 * @pending: bit n: the event with ARIES_INFO_ code n is still to be reaped
 * @told: bit n: the client has got that event of a post, and is to complete it
 * @forced: ARIES_ST_* that kGNI has set, 0 if none
 * @raised: the NIC raises the event
 * @mended: the NIC's event reports a failed first attempt, but a later one has succeeded; for a
 *          post: its second event, which the NIC had written before it went away, reports success
 * @unsettled: its outcome is not known yet
 * @partly: one of two events has been reaped
 * @listed: it is in the list of events to be delivered
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
		u8 flags; /* all of the above */
	};
};

/**
 * struct kgni_requests - the table
 * @block: its blocks of KGNI_REQUEST_BLOCK requests each
 * @fresh: lowest id that was never used; 0 is not an id
 * @head: oldest free id
 * @tail: the id that was freed last
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
 * kgni_request() - look a request up by its id
 * @t: table
 * @id: any id, valid or not
 *
 * Context: gni_cq.lock held. Return: the request, or NULL if its block was never allocated.
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
