/* SPDX-License-Identifier: GPL-2.0-only */
/* Mailboxes of short messages in the registered memory of a side. */
#ifndef MAILBOX_H
#define MAILBOX_H

#include "conformance.h"

#define MAILBOX_CREDITS 4
#define MAILBOX_LARGEST 256

/* The mailbox at the start of @s's memory. */
static inline gni_smsg_attr_t mailbox(const struct side *s)
{
	gni_smsg_attr_t a;
	unsigned int size = 0;

	memset(&a, 0, sizeof(a));
	a.msg_type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
	a.msg_buffer = s->data;
	a.mem_hndl = s->mem;
	a.mbox_maxcredit = MAILBOX_CREDITS;
	a.msg_maxsize = MAILBOX_LARGEST;
	GNI_SmsgBufferSizeNeeded(&a, &size);
	a.buff_size = size;
	return a;
}

/* Connects two sides of one process; 0, or the side that failed. */
static inline int mailbox_connect(struct side *a, struct side *b)
{
	gni_smsg_attr_t at_a = mailbox(a), at_b = mailbox(b);

	if (GNI_SmsgInit(a->ep, &at_a, &at_b))
		return 1;
	return GNI_SmsgInit(b->ep, &at_b, &at_a) ? 2 : 0;
}

#endif /* MAILBOX_H */
