// SPDX-License-Identifier: GPL-2.0-only
/*
 * One datagram of a process: finding it by its endpoint, giving it a final state, freeing it. Who
 * its partner is does not matter here (aries_dgmatch.c).
 */
#include <linux/slab.h>

#include "aries_dgram.h"
#include "aries_trace.h"

#define ARIES_ORPHANS_MAX 64

/**
 * aries_dg_why() - replace -ENOTCONN by the reason why there are no datagrams
 * @own: owner
 * @rc: 0 or a negative errno
 *
 * State and owner are marked before the datagrams are freed, so no lock is needed. Context: any.
 * Return: the negative errno for the caller, or 0.
 */
int aries_dg_why(struct aries_owner *own, int rc)
{
	return rc == -ENOTCONN ? aries_owner_why(own) ?: rc : rc;
}

/** aries_dg_ep_key() - hash key of a datagram in aries_chan.by_ep */
u32 aries_dg_ep_key(const struct aries_chan *ch, const struct aries_owner *own, u64 ep)
{
	const u64 file = (uintptr_t)own;

	return aries_dg_key(ch, (u32)file, (u32)(file >> 32), (u32)ep, (u32)(ep >> 32));
}

/** aries_dg_by_ep() - find the datagram of an endpoint, or return NULL. Context: lock held. */
struct aries_dgram *aries_dg_by_ep(struct aries_owner *own, u64 ep)
{
	struct aries_chan *ch = own->ad->chan;
	u32 key = aries_dg_ep_key(ch, own, ep);
	struct aries_dgram *dg;

	hash_for_each_possible(ch->by_ep, dg, ep_hash, key)
		if (dg->own == own && dg->ep == ep && !dg->orphan)
			return dg;
	return NULL;
}

/**
 * aries_dg_named() - find the datagram that a request names
 * @own: owner
 * @flags: KGNI_DGRAM_ID if the request has an id
 * @ep: its endpoint
 * @id: its id
 *
 * Context: lock held. Return: the datagram, or NULL.
 */
struct aries_dgram *aries_dg_named(struct aries_owner *own, u32 flags, u64 ep, u64 id)
{
	struct aries_dgram *dg = aries_dg_by_ep(own, ep);

	if (dg && flags & KGNI_DGRAM_ID && (!(dg->flags & KGNI_DGRAM_ID) || dg->id != id))
		return NULL;
	return dg;
}

/** aries_dg_final() - has a datagram reached a final state? Context: lock held. */
bool aries_dg_final(const struct aries_dgram *dg)
{
	return dg->state != KGNI_DGRAM_PENDING && dg->state != KGNI_DGRAM_REMOTE_DATA;
}

/* Stop looking for a partner, and make the datagram impossible to find. */
static void aries_dg_unlink(struct aries_dgram *dg)
{
	aries_flow_leave(dg);
	list_del_init(&dg->wild);
	hash_del(&dg->hash);
	hash_del(&dg->route);
	hash_del(&dg->partner);
}

/** aries_dg_free() - free a datagram in whatever state. Context: lock held. */
void aries_dg_free(struct aries_dgram *dg)
{
	struct aries_dgrams *dgs = &dg->own->dg;

	aries_dg_unlink(dg);
	hash_del(&dg->ep_hash);
	list_del(&dg->node);
	dgs->count--;
	dg->own->dom->dgrams--;
	if (dg->orphan && aries_dg_final(dg))
		dgs->norphans--;
	kfree(dg);
}

/**
 * aries_dg_file() - move a datagram with a final state to the list from which it is reported
 * @dg: datagram, which may be freed if its endpoint was destroyed
 *
 * Context: lock held.
 */
void aries_dg_file(struct aries_dgram *dg)
{
	struct aries_dgrams *dgs = &dg->own->dg;

	if (!dg->orphan) {
		list_move_tail(&dg->node, &dgs->done[!!(dg->flags & KGNI_DGRAM_ID)]);
		return;
	}
	list_move_tail(&dg->node, &dgs->orphans);
	if (++dgs->norphans > ARIES_ORPHANS_MAX)
		aries_dg_free(list_first_entry(&dgs->orphans, struct aries_dgram, node));
}

/** aries_dg_finish() - give a datagram its final state and wake up waiters. Context: lock held. */
void aries_dg_finish(struct aries_chan *ch, struct aries_dgram *dg, u32 state)
	__must_hold(&ch->lock)
{
	struct aries_dgrams *dgs = &dg->own->dg;

	lockdep_assert_held(&ch->lock);
	dg->state = state;
	dg->ended = ++dgs->ended;
	trace_aries_dgram_end(dg->own, dg->ep, dg->to_pe, dg->to_inst, state);
	if (state != KGNI_DGRAM_COMPLETED)
		dg->out_len = 0;
	aries_dg_unlink(dg);
	aries_dg_file(dg);
	wake_up_all(&dgs->wq);
	if (dgs->ready)
		dgs->ready(dgs->ready_data);
}
