// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which datagram meets which. On one node both are complete at once. Between nodes it takes three
 * messages: the side whose datagram is directed asks (REQUEST), the other one chooses a match,
 * keeps the data and answers with its own (ACCEPT), and the first one agrees (CONFIRM) or was
 * cancelled meanwhile (REJECT). If the datagrams of both sides are directed at each other, both
 * ask; then the request of the lower node address is the one that counts.
 *
 * A request that finds no match is kept at the instance it is for, if there is one, within limits;
 * otherwise the asking side asks again now and then. All of it may be repeated without harm.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "aries_dgram.h"

#define ARIES_DG_IDLE (2 * HZ) /* asks again, or looks after the partner */
#define ARIES_DG_PAUSE_MIN 1
#define ARIES_DG_PAUSE_MAX (HZ / 2)
#define ARIES_EARLY_MAX 256 /* requests kept for one attachment */
#define ARIES_REPLY_MAX 512 /* replies that one peer may have us keep */

static struct aries_dgram *aries_dg_find(struct aries_chan *ch, u64 handle, u32 pe)
	__must_hold(&ch->lock)
{
	struct aries_dgram *dg;

	hash_for_each_possible(ch->by_handle, dg, hash, handle)
		if (dg->handle == handle)
			return dg->to_pe == pe ? dg : NULL;
	return NULL;
}

static void aries_dg_fill(struct aries_msg *msg, enum aries_msg_type type,
			  const struct aries_dgram *dg)
{
	memset(msg, 0, sizeof(*msg));
	msg->type = cpu_to_le16(type);
	msg->cookie = cpu_to_le32(dg->ctx->dg.cookie);
	msg->src_inst = cpu_to_le32(dg->ctx->dg.inst_id);
	msg->dst_inst = cpu_to_le32(dg->to_inst);
	msg->src_handle = cpu_to_le64(dg->handle);
	msg->dst_handle = cpu_to_le64(dg->peer_handle);
	if (type == ARIES_MSG_REQUEST || type == ARIES_MSG_ACCEPT) {
		msg->len = cpu_to_le16(dg->in_len);
		memcpy(msg->data, dg->in, dg->in_len);
	}
}

/* A reply without a datagram of ours behind it. */
static void aries_dg_fill_reply(struct aries_msg *reply, enum aries_msg_type type,
				const struct aries_msg *msg)
{
	memset(reply, 0, sizeof(*reply));
	reply->type = cpu_to_le16(type);
	reply->cookie = msg->cookie;
	reply->src_inst = msg->dst_inst;
	reply->dst_inst = msg->src_inst;
	reply->src_handle = msg->dst_handle;
	reply->dst_handle = msg->src_handle;
}

/*
 * What a peer has us keep is limited: it asks again. Whatever is left out here is repeated by the
 * other side sooner or later.
 */
static struct aries_msg *aries_dg_reply(struct aries_chan *ch, struct aries_peer *peer,
					struct aries_spare *spare)
	__must_hold(&ch->lock)
{
	struct aries_tx *tx = spare->tx;

	if (peer->ntx >= ARIES_REPLY_MAX)
		return NULL;
	spare->tx = NULL;
	aries_peer_queue(ch, peer, tx);
	return &tx->msg;
}

/**
 * aries_dg_tell() - send a message without data, if there is memory for it
 * @ch: channel
 * @pe: to whom
 * @type: what
 * @cookie: domain
 * @dst_handle: datagram of the receiver
 * @src_handle: datagram of ours
 *
 * For what the other side would find out by itself, later. Context: lock held.
 */
void aries_dg_tell(struct aries_chan *ch, u32 pe, enum aries_msg_type type, u32 cookie,
		   u64 dst_handle, u64 src_handle)
	__must_hold(&ch->lock)
{
	struct aries_peer *peer = aries_peer_find(ch, pe);
	struct aries_tx *tx;

	if (!peer || peer->ntx >= ARIES_REPLY_MAX)
		return;
	tx = kzalloc(sizeof(*tx), GFP_ATOMIC | __GFP_NOWARN);
	if (!tx)
		return;
	tx->msg.type = cpu_to_le16(type);
	tx->msg.cookie = cpu_to_le32(cookie);
	tx->msg.dst_handle = cpu_to_le64(dst_handle);
	tx->msg.src_handle = cpu_to_le64(src_handle);
	aries_peer_queue(ch, peer, tx);
}

static void aries_dg_take(struct aries_dgram *dg, u32 pe, u32 inst, const void *data, u16 len)
{
	dg->to_pe = pe;
	dg->to_inst = inst;
	dg->out_len = len;
	memcpy(dg->out, data, len);
}

/* Our datagram has met one of another node: answer with our data and wait for its agreement. */
static void aries_dg_accept(struct aries_chan *ch, struct aries_dgram *dg, u64 handle,
			    struct aries_msg *reply)
	__must_hold(&ch->lock)
{
	dg->state = KGNI_DGRAM_REMOTE_DATA;
	dg->peer_handle = handle;
	dg->next = jiffies + ARIES_DG_IDLE;
	if (list_empty(&dg->remote))
		list_add_tail(&dg->remote, &ch->remote);
	aries_dg_fill(reply, ARIES_MSG_ACCEPT, dg);
}

static bool aries_dg_directed(const struct aries_dgram *dg, u32 pe, u32 inst)
{
	return dg->state == KGNI_DGRAM_PENDING && !(dg->flags & KGNI_DGRAM_WILDCARD) &&
	       dg->to_pe == pe && dg->to_inst == inst;
}

static bool aries_dg_wild(const struct aries_dgram *dg)
{
	return dg->state == KGNI_DGRAM_PENDING && dg->flags & KGNI_DGRAM_WILDCARD;
}

static bool aries_dg_is(const struct aries_dgrams *dgs, u32 cookie, u32 inst)
{
	return dgs->cookie == cookie && dgs->inst_id == inst;
}

/* The datagram of instance @inst that one of instance @from_inst on @from_pe meets. */
static struct aries_dgram *aries_dg_match(struct aries_chan *ch, u32 cookie, u32 inst, u32 from_pe,
					  u32 from_inst, const struct aries_dgram *self)
	__must_hold(&ch->lock)
{
	struct aries_dgram *dg, *wild = NULL;
	struct aries_dgrams *dgs;

	list_for_each_entry(dgs, &ch->ctxs, node) {
		if (!aries_dg_is(dgs, cookie, inst))
			continue;
		list_for_each_entry(dg, &dgs->pending, node) {
			if (dg == self)
				continue;
			if (aries_dg_directed(dg, from_pe, from_inst))
				return dg;
			if (!wild && aries_dg_wild(dg))
				wild = dg;
		}
	}
	return wild;
}

/* The oldest directed datagram of this node that a wildcard of @dgs meets. */
static struct aries_dgram *aries_dg_caller(struct aries_chan *ch, const struct aries_dgrams *dgs)
	__must_hold(&ch->lock)
{
	struct aries_dgram *dg, *oldest = NULL;
	struct aries_dgrams *other;

	list_for_each_entry(other, &ch->ctxs, node) {
		if (other->cookie != dgs->cookie)
			continue;
		list_for_each_entry(dg, &other->pending, node) {
			if (aries_dg_directed(dg, ch->ad->pe, dgs->inst_id) &&
			    (!oldest || dg->handle < oldest->handle))
				oldest = dg;
		}
	}
	return oldest;
}

static void aries_dg_meet_here(struct aries_chan *ch, struct aries_dgram *dg,
			       struct aries_dgram *other)
	__must_hold(&ch->lock)
{
	aries_dg_take(dg, ch->ad->pe, other->ctx->dg.inst_id, other->in, other->in_len);
	aries_dg_take(other, ch->ad->pe, dg->ctx->dg.inst_id, dg->in, dg->in_len);
	aries_dg_finish(ch, dg, KGNI_DGRAM_COMPLETED);
	aries_dg_finish(ch, other, KGNI_DGRAM_COMPLETED);
}

static struct aries_early *aries_early_find(const struct aries_dgrams *dgs,
					    const struct aries_dgram *dg)
{
	struct aries_early *early;

	list_for_each_entry(early, &dgs->early, node)
		if (dg->flags & KGNI_DGRAM_WILDCARD ||
		    (early->pe == dg->to_pe && early->inst == dg->to_inst))
			return early;
	return NULL;
}

static void aries_early_free(struct aries_dgrams *dgs, struct aries_early *early)
{
	list_del(&early->node);
	dgs->nearly--;
	kfree(early);
}

static bool aries_dg_meet_early(struct aries_chan *ch, struct aries_dgram *dg,
				struct aries_spare *spare)
	__must_hold(&ch->lock)
{
	struct aries_dgrams *dgs = &dg->ctx->dg;
	struct aries_early *early = aries_early_find(dgs, dg);
	struct aries_peer *peer = early ? aries_peer_find(ch, early->pe) : NULL;
	struct aries_tx *tx;

	if (!peer)
		return false;
	tx = spare->tx;
	spare->tx = NULL;
	aries_dg_take(dg, early->pe, early->inst, early->data, early->len);
	aries_dg_accept(ch, dg, early->handle, &tx->msg);
	aries_peer_queue(ch, peer, tx);
	aries_early_free(dgs, early);
	return true;
}

/**
 * aries_dg_meet() - look for the partner of a new datagram
 * @ch: channel
 * @dg: it, already among those of its attachment
 * @spare: memory for a message
 *
 * Context: lock held. Return: whether the work item has something to do.
 */
bool aries_dg_meet(struct aries_chan *ch, struct aries_dgram *dg, struct aries_spare *spare)
	__must_hold(&ch->lock)
{
	struct aries_dgrams *dgs = &dg->ctx->dg;
	struct aries_dgram *other = NULL;
	bool wild = dg->flags & KGNI_DGRAM_WILDCARD;
	bool here = !wild && dg->to_pe == ch->ad->pe;

	lockdep_assert_held(&ch->lock);
	if (wild)
		other = aries_dg_caller(ch, dgs);
	else if (here)
		other = aries_dg_match(ch, dgs->cookie, dg->to_inst, ch->ad->pe, dgs->inst_id, dg);
	if (other) {
		aries_dg_meet_here(ch, dg, other);
		return false;
	}
	if (here)
		return false;
	if (aries_dg_meet_early(ch, dg, spare))
		return true;
	if (wild)
		return false;
	dg->next = jiffies;
	dg->pause = ARIES_DG_PAUSE_MIN;
	list_add_tail(&dg->remote, &ch->remote);
	return true;
}

/* A request once more, whose answer is still under way? */
static bool aries_dg_known(struct aries_chan *ch, u32 pe, u64 handle)
	__must_hold(&ch->lock)
{
	struct aries_dgram *dg;

	list_for_each_entry(dg, &ch->remote, remote)
		if (dg->state == KGNI_DGRAM_REMOTE_DATA && dg->to_pe == pe &&
		    dg->peer_handle == handle)
			return true;
	return false;
}

static struct aries_dgrams *aries_dg_instance(struct aries_chan *ch, u32 cookie, u32 inst)
	__must_hold(&ch->lock)
{
	struct aries_dgrams *dgs;

	list_for_each_entry(dgs, &ch->ctxs, node)
		if (aries_dg_is(dgs, cookie, inst))
			return dgs;
	return NULL;
}

static bool aries_early_keep(struct aries_dgrams *dgs, u32 pe, const struct aries_msg *msg,
			     struct aries_spare *spare)
{
	u64 handle = le64_to_cpu(msg->src_handle);
	struct aries_early *early;

	list_for_each_entry(early, &dgs->early, node)
		if (early->pe == pe && early->handle == handle)
			return true;
	if (dgs->nearly >= ARIES_EARLY_MAX)
		return false;
	early = spare->early;
	spare->early = NULL;
	early->pe = pe;
	early->inst = le32_to_cpu(msg->src_inst);
	early->handle = handle;
	early->len = le16_to_cpu(msg->len);
	memcpy(early->data, msg->data, early->len);
	list_add_tail(&early->node, &dgs->early);
	dgs->nearly++;
	return true;
}

static void aries_dg_request(struct aries_chan *ch, struct aries_peer *peer,
			     const struct aries_msg *msg, struct aries_spare *spare)
	__must_hold(&ch->lock)
{
	u32 cookie = le32_to_cpu(msg->cookie), inst = le32_to_cpu(msg->dst_inst);
	u32 from = le32_to_cpu(msg->src_inst);
	u64 handle = le64_to_cpu(msg->src_handle);
	struct aries_dgrams *dgs;
	struct aries_msg *reply;
	struct aries_dgram *dg;

	if (aries_dg_known(ch, peer->pe, handle))
		return;
	dg = aries_dg_match(ch, cookie, inst, peer->pe, from, NULL);
	if (dg && !(dg->flags & KGNI_DGRAM_WILDCARD) && ch->ad->pe < peer->pe) {
		/* both ask, and ours counts: they are there now */
		dg->next = jiffies;
		dg->pause = ARIES_DG_PAUSE_MIN;
		return;
	}
	if (dg) {
		reply = aries_dg_reply(ch, peer, spare);
		if (!reply)
			return;
		aries_dg_take(dg, peer->pe, from, msg->data, le16_to_cpu(msg->len));
		aries_dg_accept(ch, dg, handle, reply);
		return;
	}
	dgs = aries_dg_instance(ch, cookie, inst);
	if (dgs && aries_early_keep(dgs, peer->pe, msg, spare))
		return;
	reply = aries_dg_reply(ch, peer, spare);
	if (reply)
		aries_dg_fill_reply(reply, ARIES_MSG_NAK, msg);
}

static void aries_dg_accepted(struct aries_chan *ch, struct aries_peer *peer,
			      const struct aries_msg *msg, struct aries_spare *spare)
	__must_hold(&ch->lock)
{
	struct aries_dgram *dg = aries_dg_find(ch, le64_to_cpu(msg->dst_handle), peer->pe);
	u32 inst = le32_to_cpu(msg->src_inst);
	bool ours = dg && aries_dg_directed(dg, peer->pe, inst) &&
		    aries_dg_is(&dg->ctx->dg, le32_to_cpu(msg->cookie), le32_to_cpu(msg->dst_inst));
	struct aries_msg *reply = aries_dg_reply(ch, peer, spare);

	if (!reply)
		return;
	aries_dg_fill_reply(reply, ours ? ARIES_MSG_CONFIRM : ARIES_MSG_REJECT, msg);
	if (!ours)
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
	/* the other side may post another one */
	dg->state = KGNI_DGRAM_PENDING;
	dg->peer_handle = 0;
	dg->next = jiffies;
	dg->pause = ARIES_DG_PAUSE_MIN;
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
	u64 handle = le64_to_cpu(msg->src_handle);
	struct aries_early *early, *next;
	struct aries_dgrams *dgs;

	/* one that has met its partner already is rejected by the answer to our ACCEPT */
	list_for_each_entry(dgs, &ch->ctxs, node)
		list_for_each_entry_safe(early, next, &dgs->early, node)
			if (early->pe == peer->pe && early->handle == handle)
				aries_early_free(dgs, early);
}

static void aries_dg_refused(struct aries_chan *ch, struct aries_peer *peer,
			     const struct aries_msg *msg)
	__must_hold(&ch->lock)
{
	struct aries_dgram *dg = aries_dg_find(ch, le64_to_cpu(msg->dst_handle), peer->pe);

	if (!dg || dg->state != KGNI_DGRAM_PENDING)
		return;
	dg->next = jiffies + dg->pause;
	dg->pause = min(2 * dg->pause, (unsigned long)ARIES_DG_PAUSE_MAX);
}

/**
 * aries_dg_message() - a message of another node
 * @ch: channel
 * @peer: its driver
 * @msg: our copy, its form is checked and nothing else
 * @spare: memory; what is used is set to NULL
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
		dg->next = jiffies;
}

/**
 * aries_dg_peer_restarted() - the driver of a node has forgotten everything
 * @ch: channel
 * @pe: node
 * @lost: it is not there any more
 *
 * Context: lock held.
 */
void aries_dg_peer_restarted(struct aries_chan *ch, u32 pe, bool lost)
	__must_hold(&ch->lock)
{
	struct aries_early *early, *enext;
	struct aries_dgram *dg, *next;
	struct aries_dgrams *dgs;

	list_for_each_entry_safe(dg, next, &ch->remote, remote)
		if (dg->to_pe == pe)
			aries_dg_partner_gone(ch, dg, lost);
	list_for_each_entry(dgs, &ch->ctxs, node)
		list_for_each_entry_safe(early, enext, &dgs->early, node)
			if (early->pe == pe)
				aries_early_free(dgs, early);
}

/** aries_dg_sent() - a message has left the queue, delivered or not. Context: lock held. */
void aries_dg_sent(struct aries_chan *ch, const struct aries_msg *msg)
	__must_hold(&ch->lock)
{
	u64 handle = le64_to_cpu(msg->src_handle);
	u16 type = le16_to_cpu(msg->type);
	struct aries_dgram *dg;

	if (type != ARIES_MSG_REQUEST && type != ARIES_MSG_ACCEPT)
		return;
	hash_for_each_possible(ch->by_handle, dg, hash, handle)
		if (dg->handle == handle)
			dg->asking = false;
}

/* Asks the other node, or repeats our answer to it so that its death does not go unnoticed. */
static void aries_dg_ask(struct aries_chan *ch, struct aries_dgram *dg)
	__must_hold(&ch->lock)
{
	struct aries_peer *peer = aries_peer_find(ch, dg->to_pe);
	struct aries_tx *tx;

	dg->next = jiffies + ARIES_DG_IDLE;
	if (!peer || dg->asking)
		return;
	tx = kzalloc(sizeof(*tx), GFP_ATOMIC | __GFP_NOWARN);
	if (!tx)
		return;
	aries_dg_fill(&tx->msg,
		      dg->state == KGNI_DGRAM_PENDING ? ARIES_MSG_REQUEST : ARIES_MSG_ACCEPT, dg);
	dg->asking = true;
	aries_peer_queue(ch, peer, tx);
}

/**
 * aries_dg_run() - ask for those datagrams whose time has come
 * @ch: channel
 * @next: when the work item is to run again at the latest
 *
 * Context: the work item. Return: the same, or earlier.
 */
unsigned long aries_dg_run(struct aries_chan *ch, unsigned long next)
{
	struct aries_dgram *dg;

	spin_lock(&ch->lock);
	list_for_each_entry(dg, &ch->remote, remote) {
		if (time_after_eq(jiffies, dg->next))
			aries_dg_ask(ch, dg);
		next = aries_earlier(next, dg->next);
	}
	spin_unlock(&ch->lock);
	return next;
}
