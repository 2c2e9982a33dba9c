// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Mailboxes: whether two fit each other, where all is in them, and how a connection begins. */
#include "gni_memhandle.h"
#include "gni_smsg_conn.h"

/** gni_smsg_attr_fault() - what is wrong with the sizes that a mailbox shall have; NULL: nothing */
const char *gni_smsg_attr_fault(const gni_smsg_attr_t *a)
{
	if (!a)
		return "no attributes of a mailbox";
	if (a->msg_type != GNI_SMSG_TYPE_MBOX && a->msg_type != GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT)
		return "msg_type is neither MBOX nor MBOX_AUTO_RETRANSMIT";
	if (!a->mbox_maxcredit)
		return "mbox_maxcredit is 0";
	if (!a->msg_maxsize || a->msg_maxsize > GNI_SMSG_MAX_SIZE)
		return "msg_maxsize is 0, or more than GNI_SMSG_MAX_SIZE";
	return NULL;
}

static const char *gni_smsg_mailbox_fault(const gni_smsg_attr_t *a)
{
	const char *fault = gni_smsg_attr_fault(a);

	if (fault)
		return fault;
	if (!a->msg_buffer)
		return "msg_buffer is NULL";
	if (gni_hndl_none(&a->mem_hndl))
		return "mem_hndl of a mailbox is empty";
	if (a->buff_size < gni_smsg_needed(a->mbox_maxcredit, a->msg_maxsize))
		return "buff_size is less than GNI_SmsgBufferSizeNeeded() says";
	return NULL;
}

/** gni_smsg_pair_fault() - what is wrong with two mailboxes that shall be joined; NULL: nothing */
const char *gni_smsg_pair_fault(const gni_smsg_attr_t *a, const gni_smsg_attr_t *b)
{
	const char *fault = gni_smsg_mailbox_fault(a);

	if (!fault)
		fault = gni_smsg_mailbox_fault(b);
	if (fault)
		return fault;
	if (a->msg_type != b->msg_type || a->msg_maxsize != b->msg_maxsize ||
	    a->mbox_maxcredit != b->mbox_maxcredit)
		return "the two mailboxes differ in msg_type, msg_maxsize or mbox_maxcredit";
	return NULL;
}

static struct gni_smsg_mailbox gni_smsg_mailbox_of(const gni_smsg_attr_t *a)
{
	const uint64_t start = (uintptr_t)a->msg_buffer + a->mbox_offset;
	const uint64_t control = (start + GNI_SMSG_LINE - 1) / GNI_SMSG_LINE * GNI_SMSG_LINE;
	struct gni_smsg_mailbox box = {
		.control = control,
		.slots = control + GNI_SMSG_LINE,
		.ring = control + gni_smsg_fixed(a->mbox_maxcredit),
		.mdh = gni_hndl_name(&a->mem_hndl),
	};
	uint32_t most;

	box.ring_bytes =
		(uint32_t)((start + a->buff_size - box.ring) / GNI_SMSG_LINE * GNI_SMSG_LINE);
	most = gni_smsg_most_tagged(box.ring_bytes);
	box.most = most < GNI_SMSG_MAX_SIZE ? most : GNI_SMSG_MAX_SIZE;
	return box;
}

/**
 * gni_smsg_join() - make a connection of two mailboxes that fit each other
 * @c: connection; its @taken and @last have room for all credits, all else is 0
 * @local: our mailbox
 * @remote: the peer's
 * @events: events of the put that carries a message, in the form of a doorbell
 */
void gni_smsg_join(struct gni_smsg_conn *c, const gni_smsg_attr_t *local,
		   const gni_smsg_attr_t *remote, uint32_t events)
{
	const uint64_t origin = gni_hndl_origin(&remote->mem_hndl);
	uint64_t here, there;

	c->in.box = gni_smsg_mailbox_of(local);
	c->out.box = gni_smsg_mailbox_of(remote);
	/*
	 * Both sides know both mailboxes, so what another connection left behind is not taken for a
	 * message.
	 */
	here = gni_smsg_end(c->in.box.control, c->in.box.mdh);
	there = gni_smsg_end(c->out.box.control, c->out.box.mdh);
	c->in.box.key = gni_smsg_direction(here, there);
	c->out.box.key = gni_smsg_direction(there, here);
	/* From here on these are the offsets that the NIC takes, not addresses. */
	c->out.box.control -= origin;
	c->out.box.slots -= origin;
	c->out.box.ring -= origin;
	c->origin = gni_hndl_origin(&local->mem_hndl);
	c->credits = local->mbox_maxcredit;
	c->largest = local->msg_maxsize;
	c->events = events;
	c->repeats = local->msg_type == GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
	gni_smsg_take_stock(c);
}

/**
 * gni_smsg_open() - initialise the words that the peer reads; the identity is written last
 * @c: connection
 * @nonce: random number
 */
void gni_smsg_open(struct gni_smsg_conn *c, uint32_t nonce)
{
	c->out.identity = gni_smsg_identity(c->out.box.key, nonce);
	c->out.key = gni_smsg_key(c->out.box.key, nonce);
	/* Nothing has been sent yet, so the peer cannot have released anything. */
	gni_store(gni_smsg_own(c, GNI_SMSG_CREDIT), 0);
	gni_store(gni_smsg_own(c, GNI_SMSG_RELEASED), 0);
	/* a peer that reads the identity finds the words above */
	gni_store_release(gni_smsg_own(c, GNI_SMSG_IDENTITY), c->out.identity);
}
