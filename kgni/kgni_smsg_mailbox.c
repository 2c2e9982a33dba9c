// SPDX-License-Identifier: GPL-2.0-only
/* Mailboxes: their size, and the lifetime of a connection. */
#include <linux/export.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "gni_memhandle.h"
#include "kgni_cq.h"
#include "kgni_ep.h"
#include "kgni_handle.h"
#include "kgni_smsg.h"

/*
 * gni_smsg_buff_size_needed() - size of a mailbox in bytes, see gni_pub.h
 *
 * The mailbox holds four messages of the largest size. A larger buffer holds more. Context: any.
 */
gni_return_t gni_smsg_buff_size_needed(gni_smsg_attr_t *smsg_attr, unsigned int *size)
{
	if (!size || gni_smsg_attr_fault(smsg_attr))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL);
	*size = gni_smsg_needed(smsg_attr->mbox_maxcredit, smsg_attr->msg_maxsize);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_smsg_buff_size_needed);

static struct kgni_smsg *kgni_smsg_new(const gni_smsg_attr_t *local, const gni_smsg_attr_t *remote,
				       u8 later)
{
	u32 credits = local->mbox_maxcredit;
	size_t bytes = sizeof(struct kgni_smsg) + credits * (sizeof(u64) + sizeof(u32));
	struct kgni_smsg *s = kzalloc(bytes, GFP_KERNEL);

	if (!s)
		return NULL;
	s->c.last = s->last;
	s->c.taken = (u32 *)(s->last + credits);
	gni_smsg_join(&s->c, local, remote,
		      GNI_CQ_EVENT_TYPE_SMSG << ARIES_EV_TYPE_SHIFT | ARIES_EV_LOCAL |
			      ARIES_EV_REMOTE | later);
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
	    gni_smsg_pair_fault(local_smsg_attr, remote_smsg_attr))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)ep_hndl);
	s = kgni_smsg_new(local_smsg_attr, remote_smsg_attr, ep_hndl->nic->later_bit);
	if (!s)
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, ENOMEM, local_smsg_attr->mbox_maxcredit);
	spin_lock_irqsave(&ep_hndl->lock, flags);
	free = ep_hndl->bound && !ep_hndl->smsg;
	if (free) {
		gni_smsg_open(&s->c, get_random_u32());
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
