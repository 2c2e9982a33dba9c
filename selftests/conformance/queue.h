/* SPDX-License-Identifier: GPL-2.0-only */
/* Message queues: attributes and a receiver that counts. */
#ifndef QUEUE_H
#define QUEUE_H

#include "conformance.h"

#define QUEUE_SLOTS 4

/* What the callback has seen. */
struct received {
	unsigned int count;
	int go_on; /* what the callback returns */
	uint32_t id, pe;
	uint8_t tag;
	char text[GNI_MSGQ_MSG_SZ_MAX];
};

static inline int queue_receive(uint32_t id, uint32_t pe, void *msg, uint8_t tag, void *data)
{
	struct received *r = data;

	r->count++;
	r->id = id;
	r->pe = pe;
	r->tag = tag;
	memcpy(r->text, msg, 4);
	return r->go_on;
}

static inline gni_msgq_attr_t queue_attributes(uint32_t instances)
{
	return (gni_msgq_attr_t){ .max_msg_sz = GNI_MSGQ_MSG_SZ_MAX,
				  .smsg_q_sz = QUEUE_SLOTS,
				  .rcv_pool_sz = 16,
				  .num_msgq_eps = 2,
				  .nloc_insts = instances,
				  .modes = GNI_MSGQ_MODE_BLOCKING,
				  .rcv_cq_sz = 64 };
}

#endif /* QUEUE_H */
