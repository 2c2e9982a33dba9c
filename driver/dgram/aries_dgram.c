// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datagrams of processes: KGNI_IOC_DGRAM_POST and KGNI_IOC_DGRAM_CANCEL. They belong to the open
 * file, not to the endpoint. So the result of a datagram outlives its endpoint, and all datagrams
 * end with the file. How a process gets the result is in aries_dgtest.c.
 */
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "aries_dgram.h"
#include "aries_trace.h"

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
