// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* Receiving short messages, and releasing their space. */
#include <linux/export.h>

#include "kgni_handle.h"
#include "kgni_smsg.h"

static gni_return_t kgni_smsg_break(struct kgni_smsg *s)
{
	s->broken = true;
	return kgni_refuse(GNI_RC_INVALID_STATE, EBADMSG, s->in.released, s->in.slot);
}

/* What was found in the next slot. */
enum kgni_look {
	KGNI_LOOK_MESSAGE,
	KGNI_LOOK_NOTHING,
	KGNI_LOOK_AGAIN, /* the sender has just become known */
	KGNI_LOOK_BROKEN,
};

/* The word in the slot has changed, but it is not a message of this connection. */
static enum kgni_look kgni_smsg_unexpected(struct gni_ep *ep, u64 word)
{
	struct kgni_smsg *s = ep->smsg;
	enum kgni_origin origin = KGNI_ORIGIN_DAMAGED;

	if (s->in.slot == 0 && (!s->in.known || s->in.found) && kgni_smsg_adopt(s, word))
		return KGNI_LOOK_AGAIN;
	/* A word of 0 is harmless: the owner may have cleared the mailbox. */
	if (word) {
		if (s->in.slot == 0 && !s->in.known)
			origin = kgni_smsg_origin(ep, word);
		if (origin == KGNI_ORIGIN_DAMAGED)
			return KGNI_LOOK_BROKEN;
		if (origin == KGNI_ORIGIN_UNKNOWN)
			return KGNI_LOOK_NOTHING;
	}
	s->last[s->in.slot] = word;
	return KGNI_LOOK_NOTHING;
}

static enum kgni_look kgni_smsg_look(struct gni_ep *ep)
{
	struct kgni_smsg *s = ep->smsg;
	struct kgni_receiver *in = &s->in;
	struct gni_smsg_place place;
	u64 word, credit;

	/* pairs with the NIC, which stores the header word after the data */
	word = smp_load_acquire(kgni_smsg_slot(s, in->slot));
	if (word == s->last[in->slot])
		return in->found && kgni_smsg_consider(ep) ? KGNI_LOOK_AGAIN : KGNI_LOOK_NOTHING;
	if (!gni_smsg_header_is(word, in->key, in->released) ||
	    gni_smsg_header_length(word) > in->box.most ||
	    gni_smsg_header_tag(word) == GNI_SMSG_ANY_TAG)
		return kgni_smsg_unexpected(ep, word);
	place = gni_smsg_place(in->position, in->box.ring_bytes, gni_smsg_header_length(word));
	credit = READ_ONCE(*(u64 *)kgni_smsg_ring(s, place.at));
	if (credit != s->out.credit_seen) {
		if (credit && !kgni_smsg_acknowledge(s, credit))
			return KGNI_LOOK_BROKEN;
		s->out.credit_seen = credit;
	}
	in->word = word;
	return KGNI_LOOK_MESSAGE;
}

static gni_return_t kgni_smsg_next(struct gni_ep *ep, void **header)
{
	struct kgni_smsg *s = ep->smsg;
	struct kgni_receiver *in = &s->in;
	enum kgni_look look = KGNI_LOOK_MESSAGE;

	if (s->broken)
		return kgni_smsg_break(s);
	/* A message that was read but not released is returned once more. */
	if (!in->word) {
		do
			look = kgni_smsg_look(ep);
		while (look == KGNI_LOOK_AGAIN);
	}
	if (look == KGNI_LOOK_BROKEN)
		return kgni_smsg_break(s);
	if (look == KGNI_LOOK_NOTHING)
		return GNI_RC_NOT_DONE;
	*header = kgni_smsg_ring(s, gni_smsg_place(in->position, in->box.ring_bytes,
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

/*
 * The peer is told at once when half of the credits or a quarter of the ring have been released
 * without telling it. What the peer knows to be free then always has space for the largest message.
 * Otherwise the credits go along with the next message.
 */
static void kgni_smsg_release(struct gni_ep *ep)
{
	struct kgni_smsg *s = ep->smsg;
	struct kgni_receiver *in = &s->in;
	struct gni_smsg_place place =
		gni_smsg_place(in->position, in->box.ring_bytes, gni_smsg_header_length(in->word));

	s->last[in->slot] = in->word;
	in->word = 0;
	in->released++;
	in->credit = gni_smsg_credit(in->key, in->released);
	/* This is the word that the peer reads when it has no space. */
	smp_store_release(kgni_smsg_own(s, GNI_SMSG_RELEASED), in->credit);
	in->slot = in->slot + 1 >= s->credits ? 0 : in->slot + 1;
	in->position = place.next;
	in->untold_bytes += place.taken;
	if ((in->released - in->told) * 2 >= s->credits ||
	    in->untold_bytes >= in->box.ring_bytes / GNI_SMSG_LARGEST)
		kgni_smsg_tell(ep);
}

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
	else if (!ep_hndl->smsg->in.word)
		rc = GNI_RC_NOT_DONE; /* none has been read since the last release */
	else
		kgni_smsg_release(ep_hndl);
	spin_unlock_irqrestore(&ep_hndl->lock, flags);
	return rc;
}
EXPORT_SYMBOL_GPL(gni_smsg_release);
