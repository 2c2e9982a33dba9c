// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Datagrams of processes: KGNI_IOC_DGRAM_*. They belong to the open file, not to the endpoint. So
 * the result of a datagram outlives its endpoint, and all datagrams end with the file.
 */
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "aries_dgram.h"
#include "aries_trace.h"

#define ARIES_ORPHANS_MAX 64
#define ARIES_DG_LISTS 4
#define ARIES_CDM_FAST_DATAGRAM_POLL 0x00000020u /* GNI_CDM_MODE_FAST_DATAGRAM_POLL */

static struct list_head *aries_dg_list(struct aries_dgrams *dgs, unsigned int nr)
{
	return nr < 2 ? &dgs->done[nr] : nr == 2 ? &dgs->pending : &dgs->orphans;
}

/** aries_dgram_init() - prepare an open file. Context: any. */
void aries_dgram_init(struct aries_owner *own)
{
	struct aries_dgrams *dgs = &own->dg;
	unsigned int i;

	for (i = 0; i < ARIES_DG_LISTS; i++)
		INIT_LIST_HEAD(aries_dg_list(dgs, i));
	INIT_LIST_HEAD(&dgs->wild);
	INIT_LIST_HEAD(&dgs->early);
	init_waitqueue_head(&dgs->wq);
}

/*
 * aries_dgram_attach() - enable datagrams after the file has joined its domain. Context: own->lock
 * held.
 */
void aries_dgram_attach(struct aries_owner *own)
{
	struct aries_chan *ch = own->ad->chan;
	struct aries_dgrams *dgs = &own->dg;

	spin_lock_irq(&ch->lock);
	dgs->cookie = own->dom->cookie;
	dgs->inst_id = own->inst_id;
	dgs->fast = own->modes & ARIES_CDM_FAST_DATAGRAM_POLL;
	dgs->on = true;
	hash_add(ch->by_inst, &dgs->hash, aries_dg_key(ch, dgs->cookie, dgs->inst_id, 0, 0));
	spin_unlock_irq(&ch->lock);
}

static bool aries_dg_final(const struct aries_dgram *dg)
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

static void aries_dg_free(struct aries_dgram *dg)
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

/* Move a datagram with a final state to the list from which it is reported. */
static void aries_dg_file(struct aries_dgram *dg)
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

/* Cancel the request of a datagram that is ending, if the other node may have kept it. */
static void aries_dg_withdraw(struct aries_chan *ch, struct aries_dgram *dg)
	__must_hold(&ch->lock)
{
	if (dg->state == KGNI_DGRAM_PENDING && dg->kept)
		aries_dg_tell(ch, dg->flow, ARIES_MSG_CANCEL, dg->own->dg.cookie, 0, dg->handle);
}

/* Cancel a datagram that has no final state. Return: whether it was freed. */
static bool aries_dg_cancel(struct aries_chan *ch, struct aries_dgram *dg)
	__must_hold(&ch->lock)
{
	trace_aries_dgram_cancel(dg->own, dg->ep, dg->to_pe, dg->to_inst, dg->state);
	dg->cancelled = true;
	if (dg->state == KGNI_DGRAM_REMOTE_DATA)
		return false;
	if (dg->flags & KGNI_DGRAM_WILDCARD) {
		aries_dg_free(dg);
		return true;
	}
	aries_dg_withdraw(ch, dg);
	aries_dg_finish(ch, dg, KGNI_DGRAM_TERMINATED);
	return false;
}

/* Return: any datagram, or NULL. */
static struct aries_dgram *aries_dg_any(struct aries_dgrams *dgs)
{
	unsigned int i;

	for (i = 0; i < ARIES_DG_LISTS; i++)
		if (!list_empty(aries_dg_list(dgs, i)))
			return list_first_entry(aries_dg_list(dgs, i), struct aries_dgram, node);
	return NULL;
}

/* Free all current datagrams without reporting them. The lock is dropped from time to time. */
static void aries_dg_clear(struct aries_chan *ch, struct aries_dgrams *dgs)
	__must_hold(&ch->lock)
{
	unsigned int left = dgs->count;
	struct aries_dgram *dg;

	while (left-- && (dg = aries_dg_any(dgs))) {
		aries_dg_withdraw(ch, dg);
		aries_dg_free(dg);
		if (left % ARIES_DG_BATCH)
			continue;
		aries_chan_kick(ch);
		spin_unlock_irq(&ch->lock);
		cond_resched();
		spin_lock_irq(&ch->lock);
	}
	dgs->round++;
	wake_up_all(&dgs->wq);
}

/*
 * aries_dgram_detach() - end all datagrams when the file leaves its domain. Context: own->lock
 * held, sleeps.
 */
void aries_dgram_detach(struct aries_owner *own)
{
	struct aries_chan *ch = own->ad->chan;
	struct aries_dgrams *dgs = &own->dg;

	spin_lock_irq(&ch->lock);
	dgs->on = false; /* no new ones from now on */
	hash_del(&dgs->hash);
	aries_dg_clear(ch, dgs);
	while (!list_empty(&dgs->early)) {
		struct aries_early *early =
			list_first_entry(&dgs->early, struct aries_early, node);
		struct aries_peer *peer = aries_peer_find(ch, early->pe);

		/* the other side asks again until another attachment answers */
		if (peer)
			aries_dg_tell(ch, &peer->nobody, ARIES_MSG_NAK, dgs->cookie,
				      early->handle, 0);
		aries_early_free(early);
	}
	aries_chan_kick(ch);
	spin_unlock_irq(&ch->lock);
}

/*
 * Replace -ENOTCONN by the reason why there are no datagrams. State and owner are marked before the
 * datagrams are freed, so no lock is needed, and this may be called in any context.
 */
static int aries_dg_why(struct aries_owner *own, int rc)
{
	return rc == -ENOTCONN ? aries_owner_why(own) ?: rc : rc;
}

static u32 aries_dg_ep_key(const struct aries_chan *ch, const struct aries_owner *own, u64 ep)
{
	const u64 file = (uintptr_t)own;

	return aries_dg_key(ch, (u32)file, (u32)(file >> 32), (u32)ep, (u32)(ep >> 32));
}

static struct aries_dgram *aries_dg_by_ep(struct aries_owner *own, u64 ep)
{
	struct aries_chan *ch = own->ad->chan;
	u32 key = aries_dg_ep_key(ch, own, ep);
	struct aries_dgram *dg;

	hash_for_each_possible(ch->by_ep, dg, ep_hash, key)
		if (dg->own == own && dg->ep == ep && !dg->orphan)
			return dg;
	return NULL;
}

static struct aries_dgram *aries_dg_named(struct aries_owner *own, u32 flags, u64 ep, u64 id)
{
	struct aries_dgram *dg = aries_dg_by_ep(own, ep);

	if (dg && flags & KGNI_DGRAM_ID && (!(dg->flags & KGNI_DGRAM_ID) || dg->id != id))
		return NULL;
	return dg;
}

static int aries_dg_add(struct aries_chan *ch, struct aries_dgram *dg, struct aries_spare *spare,
			bool *work)
	__must_hold(&ch->lock)
{
	struct aries_dgrams *dgs = &dg->own->dg;
	struct aries_domain *dom = dg->own->dom; /* valid while the file has datagrams */
	bool remote = !(dg->flags & KGNI_DGRAM_WILDCARD) && dg->to_pe != ch->ad->pe;
	struct aries_peer *peer = remote ? aries_peer_find(ch, dg->to_pe) : NULL;

	if (dgs->count >= KGNI_DGRAM_LIMIT || dom->dgrams >= READ_ONCE(dom->dgram_limit))
		return -ENOSPC;
	if (aries_dg_by_ep(dg->own, dg->ep) || aries_dg_named_already(ch, dg))
		return -EBUSY;
	if (remote && (!peer || !aries_flow_bind(ch, dg, peer, &spare->flow)))
		return -ENOMEM;
	dg->handle = ++ch->handle;
	hash_add(ch->by_handle, &dg->hash, dg->handle);
	hash_add(ch->by_ep, &dg->ep_hash, aries_dg_ep_key(ch, dg->own, dg->ep));
	list_add_tail(&dg->node, &dgs->pending);
	dgs->count++;
	dom->dgrams++;
	trace_aries_dgram_post(dg->own, dg->ep, dg->to_pe, dg->to_inst, dg->state);
	*work = aries_dg_meet(ch, dg, spare);
	return 0;
}

static struct aries_dgram *aries_dg_new(struct aries_owner *own, const struct kgni_dgram_post *arg)
{
	struct aries_dgram *dg = kzalloc(sizeof(*dg), GFP_KERNEL_ACCOUNT);

	if (!dg)
		return NULL;
	INIT_LIST_HEAD(&dg->queue);
	INIT_LIST_HEAD(&dg->of_peer);
	INIT_LIST_HEAD(&dg->wild);
	dg->own = own;
	dg->ep = arg->ep;
	dg->id = arg->id;
	dg->flags = arg->flags;
	dg->to_pe = arg->pe;
	dg->to_inst = arg->inst_id;
	dg->in_len = arg->length;
	memcpy(dg->in, arg->data, arg->length);
	return dg;
}

/* Allocate the peer structure of the other node's driver. */
static int aries_dg_prepare(struct aries_owner *own, const struct kgni_dgram_post *arg)
{
	if (arg->flags & KGNI_DGRAM_WILDCARD || arg->pe == own->ad->pe)
		return 0;
	return aries_peer_get(own->ad->chan, arg->pe) ? 0 : -ENOMEM;
}

static int aries_dg_check_post(struct aries_owner *own, const struct kgni_dgram_post *arg)
{
	const u32 known = KGNI_DGRAM_WILDCARD | KGNI_DGRAM_ID;

	if (arg->flags & ~known || arg->reserved)
		return -EINVAL;
	if (arg->flags & KGNI_DGRAM_ID ? arg->id == ~0ull : arg->id != 0)
		return -EINVAL;
	if (arg->flags & KGNI_DGRAM_WILDCARD ? arg->pe || arg->inst_id : arg->pe >= own->ad->nodes)
		return -EINVAL;
	return arg->length > KGNI_DGRAM_BYTES ? -E2BIG : 0;
}

/** aries_dgram_post() - KGNI_IOC_DGRAM_POST. Context: sleeps. */
int aries_dgram_post(struct aries_owner *own, struct kgni_dgram_post *arg)
{
	struct aries_chan *ch = own->ad->chan;
	struct aries_spare spare = {};
	struct aries_dgram *dg;
	bool work = false;
	int rc = aries_dg_check_post(own, arg);

	if (rc)
		return rc;
	dg = aries_dg_new(own, arg);
	spare.flow = kzalloc(sizeof(*spare.flow), GFP_KERNEL_ACCOUNT);
	rc = dg && spare.flow && READ_ONCE(own->dg.on) ? aries_dg_prepare(own, arg) : -ENOMEM;
	spin_lock_irq(&ch->lock);
	if (!own->dg.on)
		rc = -ENOTCONN;
	else if (!rc)
		rc = aries_dg_add(ch, dg, &spare, &work);
	if (!rc)
		dg = NULL; /* it is linked now */
	if (work)
		aries_chan_kick(ch);
	spin_unlock_irq(&ch->lock);
	kfree(dg);
	kfree(spare.flow);
	return aries_dg_why(own, rc);
}

static void aries_dg_report(struct aries_dgram *dg, struct kgni_dgram_test *arg)
{
	const struct aries_dgrams *dgs = &dg->own->dg;

	arg->state = dg->state;
	arg->pe = 0;
	arg->inst_id = 0;
	arg->length = 0;
	memset(arg->data, 0, sizeof(arg->data));
	if (dg->state == KGNI_DGRAM_REMOTE_DATA && (dgs->fast || dg->cancelled))
		arg->state = KGNI_DGRAM_PENDING;
	if (dg->state == KGNI_DGRAM_COMPLETED) {
		arg->pe = dg->to_pe;
		arg->inst_id = dg->to_inst;
		arg->length = dg->out_len;
		memcpy(arg->data, dg->out, dg->out_len);
	}
	if (aries_dg_final(dg))
		aries_dg_free(dg);
}

/*
 * Return: 1 if a state was stored (with @wait only a final one), 0 if the caller has to wait, or an
 * error. Does not sleep.
 */
static int aries_dg_test(struct aries_owner *own, struct kgni_dgram_test *arg, bool wait)
{
	struct aries_chan *ch = own->ad->chan;
	unsigned long flags;
	struct aries_dgram *dg;
	int rc = 1;

	spin_lock_irqsave(&ch->lock, flags);
	dg = aries_dg_named(own, arg->flags, arg->ep, arg->id);
	if (!own->dg.on)
		rc = -ENOTCONN;
	else if (!dg)
		rc = -ENOENT;
	else if (wait && !aries_dg_final(dg))
		rc = 0;
	else
		aries_dg_report(dg, arg);
	spin_unlock_irqrestore(&ch->lock, flags);
	return rc;
}

static long aries_dg_timeout(u64 ms)
{
	return ms < INT_MAX ? (long)msecs_to_jiffies(ms) : MAX_SCHEDULE_TIMEOUT;
}

/* Call @step until it returns something other than 0, or until the timeout. */
static int aries_dg_wait(struct aries_owner *own, u64 timeout_ms,
			 int (*step)(struct aries_owner *own, void *arg), void *arg)
{
	struct aries_dgrams *dgs = &own->dg;
	unsigned int round = READ_ONCE(dgs->round);
	int rc = 0;
	long left;

	left = wait_event_interruptible_timeout(dgs->wq,
						READ_ONCE(dgs->round) != round ||
							(rc = step(own, arg)) != 0,
						aries_dg_timeout(timeout_ms));
	if (rc)
		return rc;
	if (READ_ONCE(dgs->round) == round)
		return left < 0 ? -EINTR : -ETIMEDOUT;
	/*
	 * aries_dgram_detach() wakes us before it is done. Take the lock to find out whether it was
	 * that or a cancellation.
	 */
	spin_lock_irq(&own->ad->chan->lock);
	rc = dgs->on ? -ECANCELED : -ENOTCONN;
	spin_unlock_irq(&own->ad->chan->lock);
	return rc;
}

static int aries_dg_test_step(struct aries_owner *own, void *arg)
{
	return aries_dg_test(own, arg, true);
}

/** aries_dgram_test() - KGNI_IOC_DGRAM_TEST. Context: any; with a timeout it sleeps. */
int aries_dgram_test(struct aries_owner *own, struct kgni_dgram_test *arg)
{
	int rc;

	if (arg->flags & ~KGNI_DGRAM_ID || arg->reserved)
		return -EINVAL;
	if (!arg->timeout_ms)
		rc = aries_dg_test(own, arg, false);
	else
		rc = aries_dg_wait(own, arg->timeout_ms, aries_dg_test_step, arg);
	return rc > 0 ? 0 : aries_dg_why(own, rc);
}

static void aries_dg_earliest(struct aries_dgram **first, struct aries_dgram *dg)
{
	if (!*first || dg->ended < (*first)->ended)
		*first = dg;
}

/* Return: the datagram for a probe: of those that match, the one that has finished first. */
static struct aries_dgram *aries_dg_news(struct aries_dgrams *dgs, u32 flags, bool wait)
{
	struct aries_dgram *first = NULL, *dg;
	unsigned int id;

	for (id = flags & KGNI_DGRAM_ID ? 1 : 0; id < ARRAY_SIZE(dgs->done); id++)
		if (!list_empty(&dgs->done[id]))
			aries_dg_earliest(&first, list_first_entry(&dgs->done[id],
								   struct aries_dgram, node));
	/* datagrams of a destroyed endpoint are for waiting probes, if there are any */
	if (!wait && dgs->probers)
		return first;
	list_for_each_entry(dg, &dgs->orphans, node)
		if (!(flags & ~dg->flags & KGNI_DGRAM_ID))
			aries_dg_earliest(&first, dg);
	return first;
}

/* Return: as aries_dg_test(). */
static int aries_dg_probe(struct aries_owner *own, struct kgni_dgram_probe *arg, bool wait)
{
	struct aries_chan *ch = own->ad->chan;
	unsigned long flags;
	struct aries_dgram *dg = NULL;
	int rc = 0;

	spin_lock_irqsave(&ch->lock, flags);
	if (!own->dg.on)
		rc = -ENOTCONN;
	else
		dg = aries_dg_news(&own->dg, arg->flags, wait);
	if (dg) {
		arg->id = dg->id;
		arg->pe = dg->to_pe;
		arg->inst_id = dg->to_inst;
		arg->state = dg->state;
		if (dg->orphan)
			aries_dg_free(dg);
		rc = 1;
	}
	spin_unlock_irqrestore(&ch->lock, flags);
	return rc;
}

static int aries_dg_probe_step(struct aries_owner *own, void *arg)
{
	return aries_dg_probe(own, arg, true);
}

static void aries_dg_probers(struct aries_owner *own, int change)
{
	spin_lock_irq(&own->ad->chan->lock);
	own->dg.probers += change;
	spin_unlock_irq(&own->ad->chan->lock);
}

/** aries_dgram_probe() - KGNI_IOC_DGRAM_PROBE. Context: any; with a timeout it sleeps. */
int aries_dgram_probe(struct aries_owner *own, struct kgni_dgram_probe *arg)
{
	int rc;

	if (arg->flags & ~KGNI_DGRAM_ID || arg->reserved)
		return -EINVAL;
	if (!arg->timeout_ms) {
		rc = aries_dg_probe(own, arg, false);
		return rc > 0 ? 0 : aries_dg_why(own, rc ?: -ENOENT);
	}
	aries_dg_probers(own, 1);
	rc = aries_dg_wait(own, arg->timeout_ms, aries_dg_probe_step, arg);
	aries_dg_probers(own, -1);
	return rc > 0 ? 0 : aries_dg_why(own, rc);
}

static int aries_dg_cancel_one(struct aries_chan *ch, struct aries_owner *own,
			       struct kgni_dgram_cancel *arg)
	__must_hold(&ch->lock)
{
	struct aries_dgram *dg = aries_dg_named(own, arg->flags, arg->ep, arg->id);
	bool release = arg->flags & KGNI_DGRAM_RELEASE;

	/*
	 * A datagram that has finished before it could be cancelled can still be tested, so that is
	 * no error.
	 */
	if (!dg || (aries_dg_final(dg) && dg->cancelled && !release))
		return -ENOENT;
	dg->orphan = release;
	arg->gone = release;
	if (!aries_dg_final(dg))
		arg->gone |= aries_dg_cancel(ch, dg);
	else if (release)
		aries_dg_file(dg);
	return 0;
}

static int aries_dg_cancel_all(struct aries_chan *ch, struct aries_owner *own)
{
	int rc = 0;

	spin_lock_irq(&ch->lock);
	if (own->dg.on)
		aries_dg_clear(ch, &own->dg);
	else
		rc = -ENOTCONN;
	aries_chan_kick(ch);
	spin_unlock_irq(&ch->lock);
	return rc;
}

/** aries_dgram_cancel() - KGNI_IOC_DGRAM_CANCEL. Context: any; with KGNI_DGRAM_ALL it sleeps. */
int aries_dgram_cancel(struct aries_owner *own, struct kgni_dgram_cancel *arg)
{
	const u32 known = KGNI_DGRAM_ID | KGNI_DGRAM_RELEASE | KGNI_DGRAM_ALL;
	struct aries_chan *ch = own->ad->chan;
	unsigned long flags;
	int rc;

	if (arg->flags & ~known || arg->reserved)
		return -EINVAL;
	if (arg->flags & KGNI_DGRAM_ALL && arg->flags != KGNI_DGRAM_ALL)
		return -EINVAL;
	arg->gone = 1;
	if (arg->flags & KGNI_DGRAM_ALL)
		return aries_dg_why(own, aries_dg_cancel_all(ch, own));
	spin_lock_irqsave(&ch->lock, flags);
	rc = own->dg.on ? aries_dg_cancel_one(ch, own, arg) : -ENOTCONN;
	aries_chan_kick(ch);
	spin_unlock_irqrestore(&ch->lock, flags);
	return aries_dg_why(own, rc);
}

/** aries_dgram_poll() - poll() on the file: readable while a datagram has a final state */
__poll_t aries_dgram_poll(struct aries_owner *own, struct file *file,
			  struct poll_table_struct *wait)
{
	struct aries_chan *ch = own->ad->chan;
	__poll_t mask = 0;

	poll_wait(file, &own->dg.wq, wait);
	spin_lock_irq(&ch->lock);
	if (aries_dg_news(&own->dg, 0, true))
		mask = EPOLLIN | EPOLLRDNORM;
	spin_unlock_irq(&ch->lock);
	if (READ_ONCE(own->dead))
		mask |= EPOLLERR | EPOLLHUP;
	return mask;
}

static void aries_dg_show(struct seq_file *m, const struct aries_dgram *dg)
{
	static const char *const states[] = {
		[KGNI_DGRAM_PENDING] = "PENDING",
		[KGNI_DGRAM_COMPLETED] = "COMPLETED",
		[KGNI_DGRAM_ERROR] = "ERROR",
		[KGNI_DGRAM_TIMEOUT] = "TIMEOUT",
		[KGNI_DGRAM_TERMINATED] = "TERMINATED",
		[KGNI_DGRAM_REMOTE_DATA] = "REMOTE_DATA",
	};

	seq_printf(m, "datagram %llu owner %u inst %u ep %#llx id ", dg->handle, dg->own->nr,
		   dg->own->dg.inst_id, dg->ep);
	/* clients in the kernel take addresses of their structures as ids */
	if (dg->own->pid)
		seq_printf(m, "%#llx", dg->id);
	else
		seq_printf(m, "0x%p", (void *)(uintptr_t)dg->id);
	seq_printf(m, " state %s %s node %u peer %u in %u out %u%s%s\n",
		   states[dg->state], dg->flags & KGNI_DGRAM_WILDCARD ? "wildcard" : "directed",
		   dg->to_pe, dg->to_inst, dg->in_len, dg->out_len,
		   dg->cancelled ? " cancelled" : "", dg->orphan ? " orphan" : "");
}

/** aries_dgram_show() - print a file's datagrams in debugfs. Context: own->lock held. */
void aries_dgram_show(struct seq_file *m, struct aries_owner *own)
{
	struct aries_chan *ch = own->ad->chan;
	const struct aries_early *early;
	const struct aries_dgram *dg;
	unsigned int i;

	spin_lock_irq(&ch->lock);
	for (i = 0; i < ARIES_DG_LISTS; i++)
		list_for_each_entry(dg, aries_dg_list(&own->dg, i), node)
			aries_dg_show(m, dg);
	list_for_each_entry(early, &own->dg.early, node)
		seq_printf(m, "request %llu owner %u inst %u node %u peer %u in %u\n",
			   early->handle, own->nr, own->dg.inst_id, early->pe, early->inst,
			   early->len);
	spin_unlock_irq(&ch->lock);
}
