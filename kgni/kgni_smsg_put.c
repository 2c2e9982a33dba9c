// SPDX-License-Identifier: GPL-2.0-only
/* Short messages: writing to the peer's mailbox, and reading from it. */
#include "gni_memhandle.h"
#include "kgni_fma.h"
#include "kgni_smsg.h"

/* The first time a peer that does not answer is asked more than once. */
#define KGNI_FIRST_TRIES 5

/* Prepare an access to the peer's mailbox. */
static void kgni_smsg_begin(struct aries_fma *fma, const struct gni_ep *ep, u64 at, u32 msg_id)
{
	kgni_fma_begin(fma, ep, ep->smsg->c.out.box.mdh, at & GNI_OFFSET_MASK);
	fma->desc.dlvr_mode = ep->nic->smsg_delivery;
	fma->desc.local_event = msg_id;
}

/*
 * A message that fits into one line together with its two-word prefix, that is one of up to 2,032
 * bytes, takes a single doorbell. @message: struct kgni_text. Context: any; gni_ep.lock held.
 */
struct gni_smsg_try gni_env_smsg_put(gni_ep_handle_t ep, const struct gni_smsg_conn *c,
				     const void *message, const struct gni_smsg_spot *spot, u32 id)
{
	const struct kgni_text *text = message;
	u64 prefix[2] = { c->in.credit, c->out.identity };
	const struct kvec parts[] = { { prefix, GNI_SMSG_PREFIX }, text->part[0], text->part[1] };
	struct kgni_line line = { .parts = parts, .count = ARRAY_SIZE(parts) };
	u32 left = GNI_SMSG_PREFIX + text->bytes;
	u64 at = c->out.box.ring + spot->place.at;
	struct gni_smsg_try t = {};
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
	fma.desc.sync_offset = (c->out.box.slots + (u64)spot->slot * GNI_SMSG_WORD) &
			       GNI_OFFSET_MASK;
	fma.desc.sync_value = spot->header;
	t.status = kgni_fma(ep, &fma, &line, ARIES_FMA_PUT_SYNC, left, id,
			    id ? c->events : c->events & ~ARIES_EV_LOCAL);
	t.whole = t.status != KGNI_ST_NOT_TAKEN;
	if (!t.whole)
		t.status = ARIES_ST_QUEUE_FULL;
	return t;
}

/* Context: any; gni_ep.lock held. */
u32 gni_env_smsg_read(gni_ep_handle_t ep, const struct gni_smsg_conn *c, u64 offset, u64 *word)
{
	u64 *landing = gni_smsg_own(c, GNI_SMSG_LANDING);
	struct aries_fma fma;
	u32 status;

	kgni_smsg_begin(&fma, ep, offset, 0);
	fma.desc.local_mdh = c->in.box.mdh;
	fma.desc.local_offset = ((uintptr_t)landing - c->origin) & GNI_OFFSET_MASK;
	status = kgni_fma(ep, &fma, NULL, ARIES_FMA_GET_OP, GNI_SMSG_WORD, 0, 0);
	/* pairs with the NIC, which stores the word before the status */
	*word = smp_load_acquire(landing);
	return status;
}

/* Each try may take the doorbell's 100 ms, and the caller may be in an interrupt. */
bool gni_env_smsg_ask(gni_ep_handle_t ep, const struct gni_smsg_conn *c, u64 offset, u64 *word,
		      bool first)
{
	unsigned int tries = first ? KGNI_FIRST_TRIES : 1;
	u32 status;

	do {
		status = gni_env_smsg_read(ep, c, offset, word);
		if (status == ARIES_ST_OK)
			return true;
	} while (status == ARIES_ST_TIMEOUT && --tries);
	return false;
}

bool gni_env_status_unknown(u32 status)
{
	return status == ARIES_ST_TIMEOUT || status == ARIES_ST_FLUSHED;
}

u64 gni_env_now(void)
{
	return jiffies;
}

u32 gni_env_time(u32 ms)
{
	return msecs_to_jiffies(ms);
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
	struct gni_smsg_conn *c = &ep->smsg->c;
	struct aries_fma fma;

	kgni_smsg_begin(&fma, ep, c->out.box.control, 0);
	fma.desc.sync_offset = fma.desc.offset;
	fma.desc.sync_value = c->in.credit;
	if (kgni_fma(ep, &fma, NULL, ARIES_FMA_PUT_SYNC, 0, 0, 0) != ARIES_ST_OK)
		return;
	c->in.told = c->in.released;
	c->in.untold_bytes = 0;
}
