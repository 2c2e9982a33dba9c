// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of other nodes that no datagram matched yet. They are kept at the instance that they are
 * for, up to a limit.
 */
#include <linux/slab.h>

#include "aries_dgram.h"

#define ARIES_EARLY_MAX 256 /* requests kept for one attachment */

/** aries_handle_key() - hash key of a datagram of another node, by its handle there */
u32 aries_handle_key(const struct aries_chan *ch, u32 pe, u64 handle)
{
	return aries_dg_key(ch, pe, (u32)handle, (u32)(handle >> 32), 0);
}

static u32 aries_caller_key(const struct aries_chan *ch, const struct aries_dgrams *dgs, u32 pe,
			    u32 inst)
{
	return aries_dg_key(ch, dgs->cookie, dgs->inst_id, pe, inst);
}

/**
 * aries_early_find() - find the oldest request that a new datagram matches
 * @ch: channel
 * @dgs: attachment of the datagram, at which requests are kept
 * @dg: the datagram
 *
 * Context: lock held. Return: the request, or NULL.
 */
struct aries_early *aries_early_find(struct aries_chan *ch, const struct aries_dgrams *dgs,
				     const struct aries_dgram *dg)
	__must_hold(&ch->lock)
{
	u32 key = aries_caller_key(ch, dgs, dg->to_pe, dg->to_inst);
	struct aries_early *early;

	if (list_empty(&dgs->early))
		return NULL;
	if (dg->flags & KGNI_DGRAM_WILDCARD)
		return list_first_entry(&dgs->early, struct aries_early, node);
	hash_for_each_possible(ch->by_caller, early, caller, key)
		if (early->dgs == dgs && early->pe == dg->to_pe && early->inst == dg->to_inst)
			return early;
	return NULL;
}

/** aries_early_of() - find the request of a datagram there, or return NULL. Context: lock held. */
struct aries_early *aries_early_of(struct aries_chan *ch, u32 pe, u64 handle)
	__must_hold(&ch->lock)
{
	u32 key = aries_handle_key(ch, pe, handle);
	struct aries_early *early;

	hash_for_each_possible(ch->by_request, early, request, key)
		if (early->pe == pe && early->handle == handle)
			return early;
	return NULL;
}

/**
 * aries_early_keep() - keep a request
 * @ch: channel
 * @dgs: attachment to keep it at
 * @peer: sender
 * @msg: the request
 * @spare: memory
 *
 * Context: lock held. Return: whether there was room.
 */
bool aries_early_keep(struct aries_chan *ch, struct aries_dgrams *dgs, struct aries_peer *peer,
		      const struct aries_msg *msg, struct aries_spare *spare)
	__must_hold(&ch->lock)
{
	struct aries_early *early = spare->early;

	if (dgs->nearly >= ARIES_EARLY_MAX)
		return false;
	spare->early = NULL;
	early->dgs = dgs;
	early->pe = peer->pe;
	early->inst = le32_to_cpu(msg->src_inst);
	early->handle = le64_to_cpu(msg->src_handle);
	early->len = le16_to_cpu(msg->len);
	memcpy(early->data, msg->data, early->len);
	list_add_tail(&early->node, &dgs->early);
	list_add_tail(&early->of_peer, &peer->earlies);
	hash_add(ch->by_request, &early->request,
		 aries_handle_key(ch, peer->pe, early->handle));
	hash_add(ch->by_caller, &early->caller,
		 aries_caller_key(ch, dgs, early->pe, early->inst));
	dgs->nearly++;
	return true;
}

/** aries_early_free() - free a request that was kept. Context: lock held. */
void aries_early_free(struct aries_early *early)
{
	list_del(&early->node);
	list_del(&early->of_peer);
	hash_del(&early->request);
	hash_del(&early->caller);
	early->dgs->nearly--;
	kfree(early);
}
