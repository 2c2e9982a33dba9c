// SPDX-License-Identifier: GPL-2.0-only
/*
 * Results of datagrams: KGNI_IOC_DGRAM_TEST, KGNI_IOC_DGRAM_PROBE and poll(), with and without
 * waiting.
 */
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>

#include "aries_dgram.h"

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
