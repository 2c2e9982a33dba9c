// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* Short messages: writing to the peer's mailbox, and reading from it. */
#include "gni_memhandle.h"
#include "kgni_fma.h"
#include "kgni_smsg.h"

/* Prepare an access to the peer's mailbox. */
static void kgni_smsg_begin(struct aries_fma *fma, const struct gni_ep *ep, u64 at, u32 msg_id)
{
	kgni_fma_begin(fma, ep, ep->smsg->out.box.mdh, at & GNI_OFFSET_MASK);
	fma->desc.dlvr_mode = ep->nic->smsg_delivery;
	fma->desc.local_event = msg_id;
}

/**
 * kgni_smsg_spot() - where the next message goes
 * @s: connection
 * @place: its place in the ring
 * @bytes: size of header and data
 *
 * Context: gni_ep.lock held. Return: where it goes.
 */
struct kgni_spot kgni_smsg_spot(const struct kgni_smsg *s, struct gni_smsg_place place, u32 bytes)
{
	return (struct kgni_spot){
		.place = place,
		.slot = s->out.slot,
		.header = gni_smsg_header(s->out.key, s->out.sent, bytes, 0, s->out.turn),
	};
}

/**
 * kgni_smsg_put_at() - put a message into the peer's mailbox
 * @ep: endpoint with a connection
 * @text: message
 * @spot: where it goes
 * @id: request that gets its local event, 0 for none
 *
 * A message that fits into one line together with its two-word prefix, that is one of up to 2,032
 * bytes, takes a single doorbell.
 *
 * Context: any; gni_ep.lock held. Return: what became of it.
 */
struct kgni_try kgni_smsg_put_at(struct gni_ep *ep, const struct kgni_text *text,
				 const struct kgni_spot *spot, u16 id)
{
	struct kgni_smsg *s = ep->smsg;
	u64 prefix[2] = { s->in.credit, s->out.identity };
	const struct kvec parts[] = { { prefix, GNI_SMSG_PREFIX }, text->part[0], text->part[1] };
	struct kgni_line line = { .parts = parts, .count = ARRAY_SIZE(parts) };
	u32 left = GNI_SMSG_PREFIX + text->bytes;
	u64 at = s->out.box.ring + spot->place.at;
	struct kgni_try t = {};
	struct aries_fma fma;

	kgni_smsg_begin(&fma, ep, at, text->msg_id);
	for (; left > ARIES_DESC_LINE_BYTES; left -= ARIES_DESC_LINE_BYTES) {
		line.bytes = ARIES_DESC_LINE_BYTES;
		t.status = kgni_fma(ep, &fma, &line, ARIES_FMA_PUT_LINE, line.bytes, 0, 0);
		if (t.status != ARIES_ST_OK)
			return t;
		line.from += ARIES_DESC_LINE_BYTES;
		at += ARIES_DESC_LINE_BYTES;
		fma.desc.offset = at & GNI_OFFSET_MASK;
	}
	line.bytes = left;
	fma.desc.sync_offset = (s->out.box.slots + (u64)spot->slot * GNI_SMSG_WORD) &
			       GNI_OFFSET_MASK;
	fma.desc.sync_value = spot->header;
	t.status = kgni_fma(ep, &fma, &line, ARIES_FMA_PUT_SYNC, left, id,
			    id ? s->events : s->events & ~ARIES_EV_LOCAL);
	t.whole = t.status != KGNI_ST_NOT_TAKEN;
	if (!t.whole)
		t.status = ARIES_ST_QUEUE_FULL;
	return t;
}

/*
 * kgni_smsg_put() - kgni_smsg_put_at() for the next message, at @place. Context, return: as there.
 */
struct kgni_try kgni_smsg_put(struct gni_ep *ep, const struct kgni_text *text,
			      struct gni_smsg_place place, u16 id)
{
	const struct kgni_spot spot = kgni_smsg_spot(ep->smsg, place, text->bytes);

	return kgni_smsg_put_at(ep, text, &spot, id);
}

/**
 * kgni_smsg_sent() - count a message, and the credit word that went with it, as sent
 * @s: connection
 * @place: place of the message
 *
 * Context: gni_ep.lock held.
 */
void kgni_smsg_sent(struct kgni_smsg *s, struct gni_smsg_place place)
{
	struct kgni_sender *out = &s->out;

	s->taken[out->slot] = place.taken;
	out->used += place.taken;
	out->position = place.next;
	if (++out->slot >= s->credits) {
		out->slot = 0;
		out->turn ^= GNI_SMSG_TURN;
	}
	out->sent++;
	s->in.told = s->in.released;
	s->in.untold_bytes = 0;
}

/**
 * kgni_smsg_read() - read a word of the peer's mailbox
 * @ep: endpoint with a connection
 * @offset: address of the word as the NIC takes it
 * @word: receives it
 *
 * Context: any; gni_ep.lock held. Return: ARIES_ST_*.
 */
u8 kgni_smsg_read(struct gni_ep *ep, u64 offset, u64 *word)
{
	struct kgni_smsg *s = ep->smsg;
	u64 *landing = kgni_smsg_own(s, GNI_SMSG_LANDING);
	struct aries_fma fma;
	u8 status;

	kgni_smsg_begin(&fma, ep, offset, 0);
	fma.desc.local_mdh = s->in.box.mdh;
	fma.desc.local_offset = ((uintptr_t)landing - s->origin) & GNI_OFFSET_MASK;
	status = kgni_fma(ep, &fma, NULL, ARIES_FMA_GET_OP, GNI_SMSG_WORD, 0, 0);
	/* pairs with the NIC, which stores the word before the status */
	*word = smp_load_acquire(landing);
	return status;
}

/**
 * kgni_smsg_tell() - tell the peer by a separate put how much is released
 * @ep: endpoint with a connection
 *
 * This raises no event: the peer looks when it wants to send. If this put is lost the next release
 * repeats the information, and a peer that waits for it asks. Context: any; gni_ep.lock held.
 */
void kgni_smsg_tell(struct gni_ep *ep)
{
	struct kgni_smsg *s = ep->smsg;
	struct aries_fma fma;

	kgni_smsg_begin(&fma, ep, s->out.box.control, 0);
	fma.desc.sync_offset = fma.desc.offset;
	fma.desc.sync_value = s->in.credit;
	if (kgni_fma(ep, &fma, NULL, ARIES_FMA_PUT_SYNC, 0, 0, 0) != ARIES_ST_OK)
		return;
	s->in.told = s->in.released;
	s->in.untold_bytes = 0;
}
