// SPDX-License-Identifier: GPL-2.0-only
/* Receiving short messages, and releasing their space. */
#include <linux/export.h>

#include "kgni_handle.h"
#include "kgni_smsg.h"

static gni_return_t kgni_smsg_break(struct gni_smsg_conn *c)
{
	c->obstacles |= GNI_SMSG_BROKEN;
	return kgni_refuse(GNI_RC_INVALID_STATE, EBADMSG, c->in.released, c->in.slot);
}

/* Look into the next slot. in.word is set if there is a message. */
static enum gni_smsg_finding kgni_smsg_look(struct gni_ep *ep)
{
	struct gni_smsg_conn *c = &ep->smsg->c;
	struct gni_smsg_receiver *in = &c->in;
	struct gni_smsg_place place;
	u64 word, credit;

	/* pairs with the NIC, which stores the header word after the data */
	word = smp_load_acquire(gni_smsg_slot(c, in->slot));
	if (word == c->last[in->slot])
		return in->found && gni_smsg_consider(ep, c) ? GNI_SMSG_AGAIN : GNI_SMSG_NOTHING;
	if (!gni_smsg_is_next(c, word))
		return gni_smsg_unexpected(ep, c, word);
	place = gni_smsg_place(in->position, in->box.ring_bytes, gni_smsg_header_length(word));
	credit = READ_ONCE(*(u64 *)gni_smsg_ring(c, place.at));
	if (credit != c->out.credit_seen) {
		if (credit && !gni_smsg_acknowledge(c, credit))
			return GNI_SMSG_DAMAGED;
		c->out.credit_seen = credit;
	}
	in->word = word;
	return GNI_SMSG_NOTHING;
}

static gni_return_t kgni_smsg_next(struct gni_ep *ep, void **header)
{
	struct gni_smsg_conn *c = &ep->smsg->c;
	struct gni_smsg_receiver *in = &c->in;
	enum gni_smsg_finding finding = GNI_SMSG_NOTHING;

	if (c->obstacles & GNI_SMSG_BROKEN)
		return kgni_smsg_break(c);
	/* A message that was read but not released is returned once more. */
	if (!in->word) {
		do
			finding = kgni_smsg_look(ep);
		while (finding == GNI_SMSG_AGAIN);
	}
	if (finding == GNI_SMSG_DAMAGED)
		return kgni_smsg_break(c);
	if (!in->word)
		return GNI_RC_NOT_DONE;
	*header = gni_smsg_ring(c, gni_smsg_place(in->position, in->box.ring_bytes,
						  gni_smsg_header_length(in->word))
					   .at) +
		  GNI_SMSG_PREFIX;
	return GNI_RC_SUCCESS;
}

/*
 * gni_smsg_getnext() - the next message, see gni_pub.h
 *
 * The message stays where it is until gni_smsg_release(). Context: any.
 */
gni_return_t gni_smsg_getnext(gni_ep_handle_t ep_hndl, void **header)
{
	unsigned long flags;
	gni_return_t rc;

	if (!kgni_ep_valid(ep_hndl) || !header)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)ep_hndl);
	spin_lock_irqsave(&ep_hndl->lock, flags);
	rc = ep_hndl->smsg ? kgni_smsg_next(ep_hndl, header)
			   : kgni_refuse(GNI_RC_INVALID_PARAM, ENOTCONN);
	spin_unlock_irqrestore(&ep_hndl->lock, flags);
	return rc;
}
EXPORT_SYMBOL_GPL(gni_smsg_getnext);

/* gni_smsg_release() - release the space of the current message, see gni_pub.h. Context: any. */
gni_return_t gni_smsg_release(gni_ep_handle_t ep_hndl)
{
	gni_return_t rc = GNI_RC_SUCCESS;
	unsigned long flags;

	if (!kgni_ep_valid(ep_hndl))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)ep_hndl);
	spin_lock_irqsave(&ep_hndl->lock, flags);
	if (!ep_hndl->smsg)
		rc = kgni_refuse(GNI_RC_INVALID_PARAM, ENOTCONN);
	else if (!ep_hndl->smsg->c.in.word)
		rc = GNI_RC_NOT_DONE; /* none has been read since the last release */
	else if (gni_smsg_released(&ep_hndl->smsg->c))
		kgni_smsg_tell(ep_hndl);
	spin_unlock_irqrestore(&ep_hndl->lock, flags);
	return rc;
}
EXPORT_SYMBOL_GPL(gni_smsg_release);
