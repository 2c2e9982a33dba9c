// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which message to another node is sent next, and when to ask again. The channel carries one
 * message at a time in each direction. So the domains that have messages for a peer take turns, one
 * message each, and the messages of a domain wait in its struct aries_flow. Refusals, which any
 * process can provoke, have a flow of their own.
 *
 * A datagram without a match asks again after a pause that grows with the time that it has waited.
 * Pauses are powers of two, with a list for each. The last element of a list is always the last to
 * be due, so no search is needed.
 */
#include <linux/bitops.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "aries_dgram.h"

#define ARIES_NOTES_MAX 256 /* per flow; if one is dropped the other side asks again */
#define ARIES_PAUSE_SHARE 8 /* a pause is the waiting time so far, divided by this */
#define ARIES_PAUSE_MAX (8 * HZ)
#define ARIES_PAUSE_QUIET (2 * HZ) /* minimum if the other side has not refused */

/** aries_dg_key() - hash key for four words that may be chosen by an attacker */
u32 aries_dg_key(const struct aries_chan *ch, u32 a, u32 b, u32 c, u32 d)
{
	const u32 words[] = { a, b, c, d };

	return jhash(words, sizeof(words), ch->seed);
}

/** aries_earlier() - return the earlier of two times */
unsigned long aries_earlier(unsigned long a, unsigned long b)
{
	return time_before(a, b) ? a : b;
}

/** aries_flow_init() - initialise an empty flow to @peer. Context: any. */
void aries_flow_init(struct aries_flow *flow, struct aries_peer *peer, u32 cookie)
{
	INIT_LIST_HEAD(&flow->node);
	INIT_LIST_HEAD(&flow->turn);
	INIT_LIST_HEAD(&flow->notes);
	INIT_LIST_HEAD(&flow->answers);
	INIT_LIST_HEAD(&flow->asks);
	flow->peer = peer;
	flow->cookie = cookie;
}

static u32 aries_flow_key(const struct aries_chan *ch, u32 pe, u32 cookie)
{
	return aries_dg_key(ch, pe, cookie, 0, 0);
}

static struct aries_flow *aries_flow_get(struct aries_chan *ch, struct aries_peer *peer, u32 cookie,
					 struct aries_flow **spare)
	__must_hold(&ch->lock)
{
	u32 key = aries_flow_key(ch, peer->pe, cookie);
	struct aries_flow *flow;

	hash_for_each_possible(ch->flows, flow, hash, key)
		if (flow->peer == peer && flow->cookie == cookie)
			return flow;
	flow = *spare;
	*spare = NULL;
	if (!flow)
		return NULL;
	aries_flow_init(flow, peer, cookie);
	hash_add(ch->flows, &flow->hash, key);
	list_add_tail(&flow->node, &peer->flows);
	return flow;
}

/* Free a flow that has neither datagrams nor notes, so that it has nothing to send either. */
static void aries_flow_put(struct aries_flow *flow)
{
	if (flow->users || flow->nnotes || flow == &flow->peer->nobody)
		return;
	list_del(&flow->turn);
	list_del(&flow->node);
	hash_del(&flow->hash);
	kfree(flow);
}

/**
 * aries_flow_bind() - associate a datagram with another node
 * @ch: channel
 * @dg: datagram
 * @peer: driver of the other node
 * @spare: memory for a flow, or a pointer to NULL; NULL afterwards if it was used
 *
 * Context: lock held. Return: false if there is no memory.
 */
bool aries_flow_bind(struct aries_chan *ch, struct aries_dgram *dg, struct aries_peer *peer,
		     struct aries_flow **spare)
	__must_hold(&ch->lock)
{
	struct aries_flow *flow = aries_flow_get(ch, peer, dg->own->dg.cookie, spare);

	lockdep_assert_held(&ch->lock);
	if (!flow)
		return false;
	flow->ptag = dg->own->dom->ptag;
	flow->users++;
	dg->flow = flow;
	list_add_tail(&dg->of_peer, &peer->dgrams);
	return true;
}

/** aries_flow_leave() - end the association of a datagram with another node; lock held */
void aries_flow_leave(struct aries_dgram *dg)
{
	struct aries_flow *flow = dg->flow;

	list_del_init(&dg->queue);
	list_del_init(&dg->of_peer);
	dg->due = false;
	dg->flow = NULL;
	if (!flow)
		return;
	if (flow->peer->flying == dg)
		flow->peer->flying = NULL;
	flow->users--;
	aries_flow_put(flow);
}

static void aries_flow_wake(struct aries_chan *ch, struct aries_flow *flow)
	__must_hold(&ch->lock)
{
	if (list_empty(&flow->turn))
		list_add_tail(&flow->turn, &flow->peer->turn);
	if (list_empty(&flow->peer->active))
		list_add_tail(&flow->peer->active, &ch->active);
}

/** aries_flow_due() - queue the request or the answer of a datagram. Context: lock held. */
void aries_flow_due(struct aries_chan *ch, struct aries_dgram *dg)
	__must_hold(&ch->lock)
{
	struct aries_flow *flow = dg->flow;

	lockdep_assert_held(&ch->lock);
	dg->due = true;
	list_move_tail(&dg->queue,
		       dg->state == KGNI_DGRAM_PENDING ? &flow->asks : &flow->answers);
	aries_flow_wake(ch, flow);
}

/* The message of a datagram was sent. Set the time of the next one, in case there is no answer. */
static void aries_flow_wait(struct aries_chan *ch, struct aries_dgram *dg)
	__must_hold(&ch->lock)
{
	unsigned long pause = ARIES_PAUSE_QUIET;
	unsigned int level;

	if (dg->state == KGNI_DGRAM_PENDING) {
		unsigned long share = (jiffies - dg->since) / ARIES_PAUSE_SHARE;

		pause = clamp(share, dg->refused ? 1ul : pause, (unsigned long)ARIES_PAUSE_MAX);
	}
	dg->refused = false;
	level = fls_long(pause - 1);
	dg->next = jiffies + (1ul << level);
	list_move_tail(&dg->queue, &ch->pause[level]);
}

/** aries_flow_refused() - the other node has no match for a datagram. Context: lock held. */
void aries_flow_refused(struct aries_chan *ch, struct aries_dgram *dg)
	__must_hold(&ch->lock)
{
	dg->refused = true;
	dg->kept = false;
	if (!dg->due && dg->flow->peer->flying != dg)
		aries_flow_wait(ch, dg);
}

/**
 * aries_flow_note() - queue a message without data
 * @ch: channel
 * @flow: flow that it belongs to
 * @spare: memory; NULL afterwards if it was used
 *
 * Context: lock held. Return: the note, to be filled in by the caller; NULL if there are too many.
 */
struct aries_note *aries_flow_note(struct aries_chan *ch, struct aries_flow *flow,
				   struct aries_note **spare)
	__must_hold(&ch->lock)
{
	struct aries_note *note = *spare;

	lockdep_assert_held(&ch->lock);
	if (flow->nnotes >= ARIES_NOTES_MAX)
		return NULL;
	*spare = NULL;
	flow->nnotes++;
	list_add_tail(&note->node, &flow->notes);
	aries_flow_wake(ch, flow);
	return note;
}

static void aries_flow_fill_note(struct aries_msg *msg, const struct aries_note *note)
{
	msg->type = cpu_to_le16(note->type);
	msg->cookie = cpu_to_le32(note->cookie);
	msg->src_inst = cpu_to_le32(note->src_inst);
	msg->dst_inst = cpu_to_le32(note->dst_inst);
	msg->src_handle = cpu_to_le64(note->src_handle);
	msg->dst_handle = cpu_to_le64(note->dst_handle);
}

static void aries_flow_fill_dgram(struct aries_msg *msg, const struct aries_dgram *dg)
{
	bool asks = dg->state == KGNI_DGRAM_PENDING;

	msg->type = cpu_to_le16(asks ? ARIES_MSG_REQUEST : ARIES_MSG_ACCEPT);
	msg->cookie = cpu_to_le32(dg->own->dg.cookie);
	msg->src_inst = cpu_to_le32(dg->own->dg.inst_id);
	msg->dst_inst = cpu_to_le32(dg->to_inst);
	msg->src_handle = cpu_to_le64(dg->handle);
	msg->dst_handle = cpu_to_le64(dg->peer_handle);
	msg->len = cpu_to_le16(dg->in_len);
	memcpy(msg->data, dg->in, dg->in_len);
}

/* Return: whether the flow had a message. */
static bool aries_flow_take(struct aries_peer *peer, struct aries_flow *flow)
{
	struct list_head *from = list_empty(&flow->answers) ? &flow->asks : &flow->answers;

	memset(&peer->msg, 0, sizeof(peer->msg));
	peer->flying = NULL;
	if (!list_empty(&flow->notes)) {
		struct aries_note *note = list_first_entry(&flow->notes, struct aries_note, node);

		aries_flow_fill_note(&peer->msg, note);
		list_del(&note->node);
		flow->nnotes--;
		kfree(note);
	} else if (!list_empty(from)) {
		struct aries_dgram *dg = list_first_entry(from, struct aries_dgram, queue);

		aries_flow_fill_dgram(&peer->msg, dg);
		dg->kept = true;
		list_del_init(&dg->queue);
		dg->due = false;
		peer->flying = dg;
	} else {
		return false;
	}
	flow->sent++;
	return true;
}

/**
 * aries_flow_next() - move the next message to aries_peer.msg
 * @peer: receiver
 *
 * Context: lock held. Return: false if there is none.
 */
bool aries_flow_next(struct aries_peer *peer)
{
	struct aries_flow *flow;
	bool taken = false;

	while (!taken && !list_empty(&peer->turn)) {
		flow = list_first_entry(&peer->turn, struct aries_flow, turn);
		taken = aries_flow_take(peer, flow);
		/* a flow that has nothing left is removed when its turn comes again */
		if (taken)
			list_move_tail(&flow->turn, &peer->turn);
		else
			list_del_init(&flow->turn);
		aries_flow_put(flow);
	}
	return taken;
}

/** aries_flow_landed() - the message in flight has ended, delivered or not. Context: lock held. */
void aries_flow_landed(struct aries_chan *ch, struct aries_peer *peer)
	__must_hold(&ch->lock)
{
	struct aries_dgram *dg = peer->flying;

	lockdep_assert_held(&ch->lock);
	peer->flying = NULL;
	if (dg && !dg->due)
		aries_flow_wait(ch, dg);
}

static void aries_flow_forget_notes(struct aries_peer *peer, struct aries_flow *flow)
{
	list_splice_tail_init(&flow->notes, &peer->old_notes);
	flow->nnotes = 0;
	aries_flow_put(flow);
}

/** aries_flow_forget() - drop all messages to a peer that has restarted. Lock held. */
void aries_flow_forget(struct aries_peer *peer)
{
	struct aries_flow *flow, *next;

	aries_flow_forget_notes(peer, &peer->nobody);
	list_for_each_entry_safe(flow, next, &peer->flows, node)
		aries_flow_forget_notes(peer, flow);
}

/* Return: whether there are more datagrams whose time has come. */
static bool aries_flow_expire(struct aries_chan *ch, unsigned long *next)
	__must_hold(&ch->lock)
{
	unsigned int level, n = 0;
	struct aries_dgram *dg;

	for (level = 0; level < ARIES_PAUSES; level++) {
		while (!list_empty(&ch->pause[level])) {
			dg = list_first_entry(&ch->pause[level], struct aries_dgram, queue);
			if (time_before(jiffies, dg->next)) {
				*next = aries_earlier(*next, dg->next);
				break;
			}
			if (n++ == ARIES_DG_BATCH)
				return true;
			aries_flow_due(ch, dg);
		}
	}
	return false;
}

/**
 * aries_flow_run() - queue the requests of datagrams whose pause is over
 * @ch: channel
 * @next: when the work item is to run again at the latest
 *
 * Context: the work item. Return: the same, or earlier.
 */
unsigned long aries_flow_run(struct aries_chan *ch, unsigned long next)
{
	bool more;

	do {
		spin_lock_irq(&ch->lock);
		more = aries_flow_expire(ch, &next);
		spin_unlock_irq(&ch->lock);
		cond_resched();
	} while (more);
	return next;
}
