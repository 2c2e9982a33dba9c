// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* Mailboxes: size, layout, and the lifetime of a connection. */
#include <linux/export.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "gni_memhandle.h"
#include "kgni_cq.h"
#include "kgni_ep.h"
#include "kgni_handle.h"
#include "kgni_smsg.h"

static bool kgni_smsg_attr_sound(const gni_smsg_attr_t *a)
{
	return a &&
	       (a->msg_type == GNI_SMSG_TYPE_MBOX ||
		a->msg_type == GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT) &&
	       a->mbox_maxcredit && a->msg_maxsize && a->msg_maxsize <= GNI_SMSG_MAX_SIZE;
}

static bool kgni_smsg_mailbox_sound(const gni_smsg_attr_t *a)
{
	return kgni_smsg_attr_sound(a) && a->msg_buffer && !gni_hndl_none(&a->mem_hndl) &&
	       a->buff_size >= gni_smsg_needed(a->mbox_maxcredit, a->msg_maxsize);
}

/* Both sides must agree on the parameters of both mailboxes. */
static bool kgni_smsg_pair_sound(const gni_smsg_attr_t *a, const gni_smsg_attr_t *b)
{
	return kgni_smsg_mailbox_sound(a) && kgni_smsg_mailbox_sound(b) &&
	       a->msg_type == b->msg_type && a->msg_maxsize == b->msg_maxsize &&
	       a->mbox_maxcredit == b->mbox_maxcredit;
}

/*
 * gni_smsg_buff_size_needed() - size of a mailbox in bytes, see gni_pub.h
 *
 * The mailbox holds four messages of the largest size. A larger buffer holds more. Context: any.
 */
gni_return_t gni_smsg_buff_size_needed(gni_smsg_attr_t *smsg_attr, unsigned int *size)
{
	if (!size || !kgni_smsg_attr_sound(smsg_attr))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL);
	*size = gni_smsg_needed(smsg_attr->mbox_maxcredit, smsg_attr->msg_maxsize);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_smsg_buff_size_needed);

static struct kgni_mailbox kgni_smsg_mailbox(const gni_smsg_attr_t *a)
{
	u64 start = (uintptr_t)a->msg_buffer + a->mbox_offset;
	u64 control = ALIGN(start, GNI_SMSG_LINE);
	struct kgni_mailbox box = {
		.control = control,
		.slots = control + GNI_SMSG_LINE,
		.ring = control + gni_smsg_fixed(a->mbox_maxcredit),
		.mdh = gni_hndl_name(&a->mem_hndl),
	};

	box.ring_bytes = round_down(start + a->buff_size - box.ring, GNI_SMSG_LINE);
	box.most = min_t(u32, GNI_SMSG_MAX_SIZE, gni_smsg_most_tagged(box.ring_bytes));
	return box;
}

/* Initialise the words that the peer reads. The identity is written last. */
static void kgni_smsg_open(struct kgni_smsg *s)
{
	u32 nonce = get_random_u32();

	s->out.identity = gni_smsg_identity(s->out.box.key, nonce);
	s->out.key = gni_smsg_key(s->out.box.key, nonce);
	/* Nothing has been sent yet, so the peer cannot have released anything. */
	WRITE_ONCE(*kgni_smsg_own(s, GNI_SMSG_CREDIT), 0);
	WRITE_ONCE(*kgni_smsg_own(s, GNI_SMSG_RELEASED), 0);
	/* a peer that reads the identity finds the words above */
	smp_store_release(kgni_smsg_own(s, GNI_SMSG_IDENTITY), s->out.identity);
}

static struct kgni_smsg *kgni_smsg_new(const gni_smsg_attr_t *local, const gni_smsg_attr_t *remote,
				       u8 later)
{
	u32 credits = local->mbox_maxcredit;
	size_t bytes = sizeof(struct kgni_smsg) + credits * (sizeof(u64) + sizeof(u32));
	struct kgni_smsg *s = kzalloc(bytes, GFP_KERNEL);
	u64 origin = gni_hndl_origin(&remote->mem_hndl), here, there;

	if (!s)
		return NULL;
	s->taken = (u32 *)(s->last + credits);
	s->in.box = kgni_smsg_mailbox(local);
	s->out.box = kgni_smsg_mailbox(remote);
	here = gni_smsg_end(s->in.box.control, s->in.box.mdh);
	there = gni_smsg_end(s->out.box.control, s->out.box.mdh);
	s->in.box.key = gni_smsg_direction(here, there);
	s->out.box.key = gni_smsg_direction(there, here);
	/* From here on these are the offsets that the NIC takes, not addresses. */
	s->out.box.control -= origin;
	s->out.box.slots -= origin;
	s->out.box.ring -= origin;
	s->origin = gni_hndl_origin(&local->mem_hndl);
	s->credits = credits;
	s->largest = local->msg_maxsize;
	s->events = GNI_CQ_EVENT_TYPE_SMSG << ARIES_EV_TYPE_SHIFT | ARIES_EV_LOCAL |
		    ARIES_EV_REMOTE | later;
	s->repeats = local->msg_type == GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
	kgni_smsg_take_stock(s);
	return s;
}

/*
 * gni_smsg_init() - set an endpoint up for short messages, see gni_pub.h
 *
 * Context: sleeps.
 */
gni_return_t gni_smsg_init(gni_ep_handle_t ep_hndl, gni_smsg_attr_t *local_smsg_attr,
			   gni_smsg_attr_t *remote_smsg_attr)
{
	struct kgni_smsg *s;
	unsigned long flags;
	bool free;

	might_sleep();
	if (!kgni_ep_valid(ep_hndl) || !ep_hndl->cq ||
	    !kgni_smsg_pair_sound(local_smsg_attr, remote_smsg_attr))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)ep_hndl);
	s = kgni_smsg_new(local_smsg_attr, remote_smsg_attr, ep_hndl->nic->later_bit);
	if (!s)
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, ENOMEM, local_smsg_attr->mbox_maxcredit);
	spin_lock_irqsave(&ep_hndl->lock, flags);
	free = ep_hndl->bound && !ep_hndl->smsg;
	if (free) {
		kgni_smsg_open(s);
		ep_hndl->smsg = s;
		kgni_cq_leave(ep_hndl);
		WRITE_ONCE(ep_hndl->smsg_late, false);
	}
	spin_unlock_irqrestore(&ep_hndl->lock, flags);
	if (free)
		return GNI_RC_SUCCESS;
	kfree(s);
	return kgni_refuse(GNI_RC_INVALID_STATE, ep_hndl->bound ? EISCONN : ENOTCONN);
}
EXPORT_SYMBOL_GPL(gni_smsg_init);

/**
 * kgni_smsg_close() - end the connection of an endpoint, if it has one
 * @ep: endpoint
 *
 * Context: any; gni_ep.lock held. Return: the connection, to be freed by kfree() after unlocking.
 */
struct kgni_smsg *kgni_smsg_close(struct gni_ep *ep)
{
	struct kgni_smsg *s = ep->smsg;

	if (s)
		kgni_smsg_abandon(ep);
	ep->smsg = NULL;
	return s;
}
