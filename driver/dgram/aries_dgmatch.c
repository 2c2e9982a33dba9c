// SPDX-License-Identifier: GPL-2.0-only
/*
 * Matching of datagrams. Two datagrams of one node complete at once. Between nodes it takes three
 * messages. The side whose datagram is directed asks (REQUEST). The other side chooses a match,
 * keeps the data and answers with its own (ACCEPT). The first side then agrees (CONFIRM), or
 * refuses because its datagram was cancelled meanwhile (REJECT). If two datagrams are directed at
 * each other, both sides ask. Then the request of the node with the lower address is the valid one.
 *
 * A request without a match is kept at the instance that it is for, if there is one
 * (aries_early.c). Otherwise the asking side asks again from time to time (aries_flow.c). All
 * messages may be repeated without harm.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "aries_dgram.h"

static struct aries_dgram *aries_dg_find(struct aries_chan *ch, u64 handle, u32 pe)
	__must_hold(&ch->lock)
{
	struct aries_dgram *dg;

	hash_for_each_possible(ch->by_handle, dg, hash, handle)
		if (dg->handle == handle)
			return dg->to_pe == pe ? dg : NULL;
	return NULL;
}

/* Answer a message without sending a datagram of ours. */
static bool aries_dg_reply(struct aries_chan *ch, struct aries_flow *flow, enum aries_msg_type type,
			   const struct aries_msg *msg, struct aries_spare *spare)
	__must_hold(&ch->lock)
{
	struct aries_note *note = aries_flow_note(ch, flow, &spare->note);

	if (!note)
		return false;
	note->type = type;
	note->cookie = le32_to_cpu(msg->cookie);
	note->src_inst = le32_to_cpu(msg->dst_inst);
	note->dst_inst = le32_to_cpu(msg->src_inst);
	note->src_handle = le64_to_cpu(msg->dst_handle);
	note->dst_handle = le64_to_cpu(msg->src_handle);
	return true;
}

/**
 * aries_dg_tell() - queue a message without data, if there is memory for it
 * @ch: channel
 * @flow: flow that it belongs to
 * @type: its type
 * @cookie: domain
 * @dst_handle: handle of the receiver's datagram
 * @src_handle: handle of our datagram
 *
 * Only for information that the other side would find out later by itself. Context: lock held.
 */
void aries_dg_tell(struct aries_chan *ch, struct aries_flow *flow, enum aries_msg_type type,
		   u32 cookie, u64 dst_handle, u64 src_handle)
	__must_hold(&ch->lock)
{
	struct aries_note *spare = kzalloc(sizeof(*spare), GFP_ATOMIC | __GFP_NOWARN), *note = NULL;

	if (spare)
		note = aries_flow_note(ch, flow, &spare);
	kfree(spare);
	if (!note)
		return;
	note->type = type;
	note->cookie = cookie;
	note->dst_handle = dst_handle;
	note->src_handle = src_handle;
}

static void aries_dg_take(struct aries_dgram *dg, u32 pe, u32 inst, const void *data, u16 len)
{
	dg->to_pe = pe;
	dg->to_inst = inst;
	dg->out_len = len;
	memcpy(dg->out, data, len);
}

static bool aries_dg_is(const struct aries_dgrams *dgs, u32 cookie, u32 inst)
{
	return dgs->cookie == cookie && dgs->inst_id == inst;
}

/* Hash key of datagrams from @inst to @to_inst on @to_pe. */
static u32 aries_route_key(const struct aries_chan *ch, u32 cookie, u32 inst, u32 to_pe,
			   u32 to_inst)
{
	return aries_dg_key(ch, cookie, inst, to_pe, to_inst);
}

static void aries_dg_add_route(struct aries_chan *ch, struct aries_dgram *dg)
	__must_hold(&ch->lock)
{
	const struct aries_dgrams *dgs = &dg->own->dg;

	hash_add(ch->by_route, &dg->route,
		 aries_route_key(ch, dgs->cookie, dgs->inst_id, dg->to_pe, dg->to_inst));
}

/*
 * Our datagram was matched with one of another node: answer with our data and wait for a CONFIRM.
 */
static void aries_dg_accept(struct aries_chan *ch, struct aries_dgram *dg, u64 handle)
	__must_hold(&ch->lock)
{
	list_del_init(&dg->wild);
	dg->state = KGNI_DGRAM_REMOTE_DATA;
	dg->peer_handle = handle;
	if (dg->flags & KGNI_DGRAM_WILDCARD)
		aries_dg_add_route(ch, dg);
	hash_add(ch->by_partner, &dg->partner, aries_handle_key(ch, dg->to_pe, handle));
	aries_flow_due(ch, dg);
}

static bool aries_dg_directed(const struct aries_dgram *dg, u32 pe, u32 inst)
{
	return dg->state == KGNI_DGRAM_PENDING && !(dg->flags & KGNI_DGRAM_WILDCARD) &&
	       dg->to_pe == pe && dg->to_inst == inst;
}

static struct list_head *aries_callees(struct aries_chan *ch, u32 cookie, u32 to_inst)
{
	return &ch->by_callee[aries_dg_key(ch, cookie, to_inst, 0, 0) % ARRAY_SIZE(ch->by_callee)];
}

/* Let a directed datagram wait for its partner. */
static void aries_dg_await(struct aries_chan *ch, struct aries_dgram *dg)
	__must_hold(&ch->lock)
{
	dg->since = jiffies;
	aries_dg_add_route(ch, dg);
	if (dg->to_pe == ch->ad->pe)
		list_add_tail(&dg->wild, aries_callees(ch, dg->own->dg.cookie, dg->to_inst));
	else
		aries_flow_due(ch, dg);
}

/* Return: the older datagram; either may be NULL. */
static struct aries_dgram *aries_dg_older(struct aries_dgram *a, struct aries_dgram *b)
{
	return !b || (a && a->handle < b->handle) ? a : b;
}

static struct aries_dgram *aries_dg_wild(struct aries_chan *ch, u32 cookie, u32 inst)
	__must_hold(&ch->lock)
{
	u32 key = aries_dg_key(ch, cookie, inst, 0, 0);
	struct aries_dgram *oldest = NULL;
	struct aries_dgrams *dgs;

	hash_for_each_possible(ch->by_inst, dgs, hash, key)
		if (aries_dg_is(dgs, cookie, inst) && !list_empty(&dgs->wild))
			oldest = aries_dg_older(oldest, list_first_entry(&dgs->wild,
									 struct aries_dgram, wild));
	return oldest;
}

/* Return: the datagram of instance @inst that matches one of instance @from_inst on @from_pe. */
static struct aries_dgram *aries_dg_match(struct aries_chan *ch, u32 cookie, u32 inst, u32 from_pe,
					  u32 from_inst)
	__must_hold(&ch->lock)
{
	u32 key = aries_route_key(ch, cookie, inst, from_pe, from_inst);
	struct aries_dgram *dg, *oldest = NULL;

	hash_for_each_possible(ch->by_route, dg, route, key)
		if (aries_dg_is(&dg->own->dg, cookie, inst) &&
		    aries_dg_directed(dg, from_pe, from_inst))
			oldest = aries_dg_older(oldest, dg);
	return oldest ?: aries_dg_wild(ch, cookie, inst);
}

/* Return: the oldest directed datagram of this node that matches a wildcard of @dgs. */
static struct aries_dgram *aries_dg_caller(struct aries_chan *ch, const struct aries_dgrams *dgs)
	__must_hold(&ch->lock)
{
	struct list_head *callees = aries_callees(ch, dgs->cookie, dgs->inst_id);
	struct aries_dgram *dg;

	list_for_each_entry(dg, callees, wild)
		if (dg->own->dg.cookie == dgs->cookie && dg->to_inst == dgs->inst_id)
			return dg;
	return NULL;
}

/**
 * aries_dg_named_already() - does the attachment have another datagram to the same instance?
 * @ch: channel
 * @dg: datagram that was not added to its attachment yet
 *
 * Two datagrams to oneself are allowed: they match each other. Context: lock held.
 */
bool aries_dg_named_already(struct aries_chan *ch, const struct aries_dgram *dg)
	__must_hold(&ch->lock)
{
	const struct aries_dgrams *dgs = &dg->own->dg;
	const struct aries_dgram *other;
	u32 key;

	if (dg->flags & KGNI_DGRAM_WILDCARD)
		return false;
	if (dg->to_pe == ch->ad->pe && dg->to_inst == dgs->inst_id)
		return false;
	key = aries_route_key(ch, dgs->cookie, dgs->inst_id, dg->to_pe, dg->to_inst);
	hash_for_each_possible(ch->by_route, other, route, key)
		if (other->own == dg->own && other->to_pe == dg->to_pe &&
		    other->to_inst == dg->to_inst)
			return true;
	return false;
}

static void aries_dg_meet_here(struct aries_chan *ch, struct aries_dgram *dg,
			       struct aries_dgram *other)
	__must_hold(&ch->lock)
{
	aries_dg_take(dg, ch->ad->pe, other->own->dg.inst_id, other->in, other->in_len);
	aries_dg_take(other, ch->ad->pe, dg->own->dg.inst_id, dg->in, dg->in_len);
	aries_dg_finish(ch, dg, KGNI_DGRAM_COMPLETED);
	aries_dg_finish(ch, other, KGNI_DGRAM_COMPLETED);
}

static bool aries_dg_meet_early(struct aries_chan *ch, struct aries_dgram *dg,
				struct aries_spare *spare)
	__must_hold(&ch->lock)
{
	struct aries_early *early = aries_early_find(ch, &dg->own->dg, dg);
	struct aries_peer *peer = early ? aries_peer_find(ch, early->pe) : NULL;

	if (!peer || (!dg->flow && !aries_flow_bind(ch, dg, peer, &spare->flow)))
		return false;
	if (!(dg->flags & KGNI_DGRAM_WILDCARD))
		aries_dg_add_route(ch, dg);
	aries_dg_take(dg, early->pe, early->inst, early->data, early->len);
	aries_dg_accept(ch, dg, early->handle);
	aries_early_free(early);
	return true;
}

/**
 * aries_dg_meet() - look for the partner of a new datagram
 * @ch: channel
 * @dg: the datagram, already added to its attachment, and to its peer if it goes to another node
 * @spare: memory
 *
 * Context: lock held. Return: whether the work item has to run.
 */
bool aries_dg_meet(struct aries_chan *ch, struct aries_dgram *dg, struct aries_spare *spare)
	__must_hold(&ch->lock)
{
	struct aries_dgrams *dgs = &dg->own->dg;
	struct aries_dgram *other = NULL;
	bool wild = dg->flags & KGNI_DGRAM_WILDCARD;

	lockdep_assert_held(&ch->lock);
	if (wild)
		other = aries_dg_caller(ch, dgs);
	else if (dg->to_pe == ch->ad->pe)
		other = aries_dg_match(ch, dgs->cookie, dg->to_inst, ch->ad->pe, dgs->inst_id);
	if (other) {
		aries_dg_meet_here(ch, dg, other);
		return false;
	}
	if ((wild || dg->flow) && aries_dg_meet_early(ch, dg, spare))
		return true;
	if (wild)
		list_add_tail(&dg->wild, &dgs->wild);
	else
		aries_dg_await(ch, dg);
	return dg->flow;
}

/* Is this a repeated request whose answer is still in flight? */
static bool aries_dg_known(struct aries_chan *ch, u32 pe, u64 handle)
	__must_hold(&ch->lock)
{
	u32 key = aries_handle_key(ch, pe, handle);
	struct aries_dgram *dg;

	hash_for_each_possible(ch->by_partner, dg, partner, key)
		if (dg->to_pe == pe && dg->peer_handle == handle)
			return true;
	return false;
}

static struct aries_dgrams *aries_dg_instance(struct aries_chan *ch, u32 cookie, u32 inst)
	__must_hold(&ch->lock)
{
	u32 key = aries_dg_key(ch, cookie, inst, 0, 0);
	struct aries_dgrams *dgs;

	hash_for_each_possible(ch->by_inst, dgs, hash, key)
		if (aries_dg_is(dgs, cookie, inst))
			return dgs;
	return NULL;
}

/* Keep a request that nothing matches yet, or refuse it. */
static void aries_dg_keep(struct aries_chan *ch, struct aries_peer *peer,
			  const struct aries_msg *msg, struct aries_spare *spare)
	__must_hold(&ch->lock)
{
	struct aries_dgrams *dgs = aries_dg_instance(ch, le32_to_cpu(msg->cookie),
						     le32_to_cpu(msg->dst_inst));
	struct aries_early *early = aries_early_of(ch, peer->pe, le64_to_cpu(msg->src_handle));

	if (early && early->dgs == dgs)
		return;
	if (early)
		aries_early_free(early);
	if (!dgs || !aries_early_keep(ch, dgs, peer, msg, spare))
		aries_dg_reply(ch, &peer->nobody, ARIES_MSG_NAK, msg, spare);
}

static void aries_dg_request(struct aries_chan *ch, struct aries_peer *peer,
			     const struct aries_msg *msg, struct aries_spare *spare)
	__must_hold(&ch->lock)
{
	u32 cookie = le32_to_cpu(msg->cookie), inst = le32_to_cpu(msg->dst_inst);
	u32 from = le32_to_cpu(msg->src_inst);
	u64 handle = le64_to_cpu(msg->src_handle);
	struct aries_early *early;
	struct aries_dgram *dg;

	if (aries_dg_known(ch, peer->pe, handle))
		return;
	dg = aries_dg_match(ch, cookie, inst, peer->pe, from);
	if (!dg) {
		aries_dg_keep(ch, peer, msg, spare);
		return;
	}
	if (!(dg->flags & KGNI_DGRAM_WILDCARD) && ch->ad->pe < peer->pe) {
		/*
		 * both sides ask and our request is the valid one: repeat it now, as the other side
		 * is ready
		 */
		dg->since = jiffies;
		if (peer->flying != dg)
			aries_flow_due(ch, dg);
		return;
	}
	if (!dg->flow && !aries_flow_bind(ch, dg, peer, &spare->flow))
		return;
	early = aries_early_of(ch, peer->pe, handle);
	if (early) /* kept by another attachment of that instance */
		aries_early_free(early);
	aries_dg_take(dg, peer->pe, from, msg->data, le16_to_cpu(msg->len));
	aries_dg_accept(ch, dg, handle);
}

static void aries_dg_accepted(struct aries_chan *ch, struct aries_peer *peer,
			      const struct aries_msg *msg, struct aries_spare *spare)
	__must_hold(&ch->lock)
{
	struct aries_dgram *dg = aries_dg_find(ch, le64_to_cpu(msg->dst_handle), peer->pe);
	u32 inst = le32_to_cpu(msg->src_inst);
	bool ours = dg && aries_dg_directed(dg, peer->pe, inst) &&
		    aries_dg_is(&dg->own->dg, le32_to_cpu(msg->cookie), le32_to_cpu(msg->dst_inst));

	if (!ours) {
		aries_dg_reply(ch, &peer->nobody, ARIES_MSG_REJECT, msg, spare);
		return;
	}
	if (!aries_dg_reply(ch, dg->flow, ARIES_MSG_CONFIRM, msg, spare))
		return;
	aries_dg_take(dg, peer->pe, inst, msg->data, le16_to_cpu(msg->len));
	aries_dg_finish(ch, dg, KGNI_DGRAM_COMPLETED);
}

static void aries_dg_rejected(struct aries_chan *ch, struct aries_dgram *dg)
	__must_hold(&ch->lock)
{
	if (dg->cancelled || dg->flags & KGNI_DGRAM_WILDCARD) {
		aries_dg_finish(ch, dg, KGNI_DGRAM_TERMINATED);
		return;
	}
	/* the other side may post another datagram */
	hash_del(&dg->partner);
	dg->state = KGNI_DGRAM_PENDING;
	dg->peer_handle = 0;
	dg->since = jiffies;
	aries_flow_due(ch, dg);
}

static void aries_dg_answered(struct aries_chan *ch, struct aries_peer *peer,
			      const struct aries_msg *msg, bool confirmed)
	__must_hold(&ch->lock)
{
	struct aries_dgram *dg = aries_dg_find(ch, le64_to_cpu(msg->dst_handle), peer->pe);

	if (!dg || dg->state != KGNI_DGRAM_REMOTE_DATA ||
	    dg->peer_handle != le64_to_cpu(msg->src_handle))
		return;
	if (!confirmed)
		aries_dg_rejected(ch, dg);
	else
		aries_dg_finish(ch, dg,
				dg->cancelled ? KGNI_DGRAM_TERMINATED : KGNI_DGRAM_COMPLETED);
}

static void aries_dg_withdrawn(struct aries_chan *ch, struct aries_peer *peer,
			       const struct aries_msg *msg)
	__must_hold(&ch->lock)
{
	struct aries_early *early = aries_early_of(ch, peer->pe, le64_to_cpu(msg->src_handle));

	/* if it was matched already, the other side answers our ACCEPT by a REJECT */
	if (early)
		aries_early_free(early);
}

static void aries_dg_refused(struct aries_chan *ch, struct aries_peer *peer,
			     const struct aries_msg *msg)
	__must_hold(&ch->lock)
{
	struct aries_dgram *dg = aries_dg_find(ch, le64_to_cpu(msg->dst_handle), peer->pe);

	if (dg && dg->state == KGNI_DGRAM_PENDING)
		aries_flow_refused(ch, dg);
}

/**
 * aries_dg_message() - handle a message of another node
 * @ch: channel
 * @peer: driver of that node
 * @msg: our copy, of which only the format was checked
 * @spare: memory; members that are used are set to NULL
 *
 * Context: lock held.
 */
void aries_dg_message(struct aries_chan *ch, struct aries_peer *peer, const struct aries_msg *msg,
		      struct aries_spare *spare)
	__must_hold(&ch->lock)
{
	lockdep_assert_held(&ch->lock);
	switch (le16_to_cpu(msg->type)) {
	case ARIES_MSG_REQUEST:
		aries_dg_request(ch, peer, msg, spare);
		break;
	case ARIES_MSG_ACCEPT:
		aries_dg_accepted(ch, peer, msg, spare);
		break;
	case ARIES_MSG_CONFIRM:
		aries_dg_answered(ch, peer, msg, true);
		break;
	case ARIES_MSG_REJECT:
		aries_dg_answered(ch, peer, msg, false);
		break;
	case ARIES_MSG_CANCEL:
		aries_dg_withdrawn(ch, peer, msg);
		break;
	case ARIES_MSG_NAK:
		aries_dg_refused(ch, peer, msg);
		break;
	}
}

static void aries_dg_partner_gone(struct aries_chan *ch, struct aries_dgram *dg, bool lost)
	__must_hold(&ch->lock)
{
	if (dg->state == KGNI_DGRAM_REMOTE_DATA)
		aries_dg_finish(ch, dg,
				dg->cancelled ? KGNI_DGRAM_TERMINATED : KGNI_DGRAM_TIMEOUT);
	else if (lost)
		aries_dg_finish(ch, dg, KGNI_DGRAM_TIMEOUT);
	else
		aries_flow_due(ch, dg);
}

/* Return: false when nothing from before the restart is left. */
static bool aries_dg_settle_one(struct aries_chan *ch, struct aries_peer *peer)
	__must_hold(&ch->lock)
{
	if (!list_empty(&peer->old_earlies)) {
		aries_early_free(list_first_entry(&peer->old_earlies, struct aries_early,
						  of_peer));
	} else if (!list_empty(&peer->old_notes)) {
		struct aries_note *note =
			list_first_entry(&peer->old_notes, struct aries_note, node);

		list_del(&note->node);
		kfree(note);
	} else if (!list_empty(&peer->old_dgrams)) {
		struct aries_dgram *dg =
			list_first_entry(&peer->old_dgrams, struct aries_dgram, of_peer);

		list_move_tail(&dg->of_peer, &peer->dgrams);
		aries_dg_partner_gone(ch, dg, peer->lost);
	} else {
		peer->restarted = false;
	}
	return peer->restarted;
}

/**
 * aries_dg_settle() - clean up after the driver of a node has restarted or was lost
 * @ch: channel
 * @peer: that driver
 *
 * Context: the work item, or nothing else uses the peer. No message that the peer has sent since is
 * handled before this is done.
 */
void aries_dg_settle(struct aries_chan *ch, struct aries_peer *peer)
{
	bool more = peer->restarted;
	unsigned int n;

	while (more) {
		spin_lock_irq(&ch->lock);
		for (n = 0; more && n < ARIES_DG_BATCH; n++)
			more = aries_dg_settle_one(ch, peer);
		spin_unlock_irq(&ch->lock);
		cond_resched();
	}
}
