// SPDX-License-Identifier: GPL-2.0-only
/* Short messages: what goes into the peer's mailbox, and what is read there. */
#include "kgni_fma.h"
#include "kgni_smsg.h"

/* The FMA descriptor of an access to the peer's mailbox. */
static struct aries_fma_desc kgni_smsg_desc(const struct gni_ep *ep, u32 msg_id)
{
	return (struct aries_fma_desc){
		.pe = ep->remote_address,
		.mdh = ep->smsg->out.box.mdh,
		.dlvr_mode = ep->nic->smsg_delivery,
		.cq = ep->cq->number,
		.local_event = msg_id,
		.remote_event = ep->remote_event,
	};
}

/**
 * kgni_smsg_put() - put a message into the peer's mailbox
 * @ep: endpoint with a connection
 * @text: message
 * @place: where it goes
 * @id: request for its event here, 0 for none
 *
 * A message that fits the line with the two words in front of it (2,032 bytes) is one doorbell.
 *
 * Context: any; gni_ep.lock held. Return: what became of it.
 */
struct kgni_try kgni_smsg_put(struct gni_ep *ep, const struct kgni_text *text,
			      struct gni_smsg_place place, u16 id)
{
	struct kgni_smsg *s = ep->smsg;
	u64 prefix[2] = { s->in.credit, s->out.identity };
	const struct kvec parts[] = { { prefix, GNI_SMSG_PREFIX }, text->part[0], text->part[1] };
	struct aries_fma_desc desc = kgni_smsg_desc(ep, text->msg_id);
	struct kgni_line line = { .parts = parts, .count = ARRAY_SIZE(parts) };
	u32 left = GNI_SMSG_PREFIX + text->bytes;
	u64 at = s->out.box.ring + place.at;
	struct kgni_try t = {};

	for (; left > ARIES_DESC_LINE_BYTES; left -= ARIES_DESC_LINE_BYTES) {
		desc.offset = at & KGNI_OFFSET_MASK;
		line.bytes = ARIES_DESC_LINE_BYTES;
		t.status = kgni_fma(ep, &desc, &line,
				    kgni_doorbell(0, line.bytes, ARIES_FMA_PUT_LINE, 0));
		if (t.status != ARIES_ST_OK)
			return t;
		line.from += ARIES_DESC_LINE_BYTES;
		at += ARIES_DESC_LINE_BYTES;
	}
	line.bytes = left;
	desc.offset = at & KGNI_OFFSET_MASK;
	desc.sync_offset = (s->out.box.slots + (u64)s->out.slot * GNI_SMSG_WORD) & KGNI_OFFSET_MASK;
	desc.sync_value = gni_smsg_header(s->out.key, s->out.sent, text->bytes, 0, s->out.turn);
	t.status = kgni_fma(ep, &desc, &line,
			    kgni_doorbell(id, left, ARIES_FMA_PUT_SYNC,
					  id ? s->events : s->events & ~ARIES_EV_LOCAL));
	t.whole = t.status != ARIES_ST_QUEUE_FULL;
	return t;
}

/**
 * kgni_smsg_sent() - the peer has a message, and with it our credit word
 * @s: connection
 * @place: of the message
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
 * @offset: address of the word, as the NIC is told
 * @word: gets it
 *
 * Context: any; gni_ep.lock held. Return: ARIES_ST_*.
 */
u8 kgni_smsg_read(struct gni_ep *ep, u64 offset, u64 *word)
{
	struct aries_fma_desc desc = kgni_smsg_desc(ep, 0);
	struct kgni_smsg *s = ep->smsg;
	u64 *landing = kgni_smsg_own(s, GNI_SMSG_LANDING);
	u8 status;

	desc.offset = offset & KGNI_OFFSET_MASK;
	desc.local_mdh = s->in.box.mdh;
	desc.local_offset = ((uintptr_t)landing - s->origin) & KGNI_OFFSET_MASK;
	status = kgni_fma(ep, &desc, NULL, kgni_doorbell(0, GNI_SMSG_WORD, ARIES_FMA_GET_OP, 0));
	/* the NIC has stored it before it told the status */
	*word = smp_load_acquire(landing);
	return status;
}

/**
 * kgni_smsg_tell() - tell the peer by a put of its own how much is released
 * @ep: endpoint with a connection
 *
 * No event: the peer looks when it wants to send. What gets lost here the next release tells
 * again, and a peer that waits for it asks. Context: any; gni_ep.lock held.
 */
void kgni_smsg_tell(struct gni_ep *ep)
{
	struct aries_fma_desc desc = kgni_smsg_desc(ep, 0);
	struct kgni_smsg *s = ep->smsg;

	desc.offset = s->out.box.control & KGNI_OFFSET_MASK;
	desc.sync_offset = desc.offset;
	desc.sync_value = s->in.credit;
	if (kgni_fma(ep, &desc, NULL, kgni_doorbell(0, 0, ARIES_FMA_PUT_SYNC, 0)) != ARIES_ST_OK)
		return;
	s->in.told = s->in.released;
	s->in.untold_bytes = 0;
}
