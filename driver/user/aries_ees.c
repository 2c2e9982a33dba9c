// SPDX-License-Identifier: GPL-2.0-only
/*
 * Subscriptions to error events. Each open file may have one: a bounded queue, which the interrupt
 * thread fills with the events of one tag that match a mask of categories. Only a privileged
 * process gets events of other tags, or events without a tag.
 */
#include <linux/capability.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "aries_user.h"
#include "aries_ptag.h"

#define ARIES_EES_DEFAULT 64

/**
 * struct aries_ees - one subscription; aries_dev.ees_lock protects what is not constant
 * @node: in aries_dev.ees
 * @dom: domain joined so that its tag is not reused, NULL for privileged ones (owner.lock)
 * @dead: the NIC was reset or removed
 * @mask: wanted categories
 * @ptag: wanted tag, 0 for all
 * @size: number of elements of @ring
 * @head: index of the oldest event
 * @count: number of events in @ring
 * @serial: number of the last event that matched; a gap shows that events were lost
 * @lost: number of events dropped because @ring was full
 * @wq: wait queue of the readers
 * @ring: events
 */
struct aries_ees {
	struct list_head node;
	struct aries_domain *dom;
	bool dead;
	u8 mask;
	u8 ptag;
	u32 size;
	u32 head;
	u32 count;
	u32 serial;
	u64 lost;
	wait_queue_head_t wq;
	struct kgni_err_event ring[];
};

static void aries_ees_put(struct aries_ees *ees, const struct kgni_err_event *event)
{
	struct kgni_err_event *slot;

	ees->serial++;
	if (ees->count == ees->size) {
		ees->lost++;
		return;
	}
	slot = &ees->ring[(ees->head + ees->count) % ees->size];
	*slot = *event;
	/* The number that the NIC gives would reveal errors of others. */
	slot->serial = ees->serial;
	ees->count++;
}

/**
 * aries_ees_post() - deliver an error event to its subscribers
 * @ad: the device
 * @event: the event
 *
 * Context: may not sleep for long; process context.
 */
void aries_ees_post(struct aries_dev *ad, const struct kgni_err_event *event)
{
	struct aries_ees *ees;

	spin_lock(&ad->ees_lock);
	list_for_each_entry(ees, &ad->ees, node) {
		if (!(ees->mask & event->category) || (ees->ptag && ees->ptag != event->ptag))
			continue;
		aries_ees_put(ees, event);
		wake_up_interruptible(&ees->wq);
	}
	spin_unlock(&ad->ees_lock);
}

static struct aries_ees *aries_ees_new(const struct kgni_err_subscribe *arg)
{
	struct aries_ees *ees = kvzalloc(struct_size(ees, ring, arg->entries), GFP_KERNEL_ACCOUNT);

	if (!ees)
		return NULL;
	ees->size = arg->entries;
	ees->mask = arg->mask;
	init_waitqueue_head(&ees->wq);
	return ees;
}

/* Sets the tag: any tag for a privileged caller that asks for it, else the tag of the cookie. */
static int aries_ees_authorize(struct aries_dev *ad, struct aries_ees *ees,
			       struct kgni_err_subscribe *arg)
{
	struct aries_domain *dom;

	if (arg->flags & KGNI_ERR_ALL) {
		ees->ptag = arg->ptag;
		return 0;
	}
	dom = aries_domain_enter(ad, arg->ptag, arg->cookie);
	if (IS_ERR(dom))
		return PTR_ERR(dom);
	ees->dom = dom;
	ees->ptag = dom->ptag;
	return 0;
}

static int aries_ees_add(struct aries_ctx *ctx, struct aries_ees *ees,
			 struct kgni_err_subscribe *arg)
{
	struct aries_dev *ad = ctx->own.ad;
	int rc = aries_owner_enter(&ctx->own, false);

	if (rc)
		return rc;
	rc = ctx->ees ? -EBUSY : aries_ees_authorize(ad, ees, arg);
	if (!rc) {
		arg->ptag = ees->ptag;
		spin_lock(&ad->ees_lock);
		list_add_tail(&ees->node, &ad->ees);
		spin_unlock(&ad->ees_lock);
		/* pairs with aries_ees_poll(), which takes no lock for the pointer */
		smp_store_release(&ctx->ees, ees);
	}
	aries_owner_exit(&ctx->own);
	return rc;
}

/* A cookie is needed unless all events are requested. */
static int aries_ees_try(struct aries_ctx *ctx, struct aries_ees *ees,
			 struct kgni_err_subscribe *arg)
{
	struct aries_guess guess;
	int rc;

	if (arg->flags & KGNI_ERR_ALL)
		return aries_ees_add(ctx, ees, arg);
	rc = aries_guess_begin(&guess, arg->cookie);
	if (rc)
		return rc;
	rc = aries_ees_add(ctx, ees, arg);
	aries_guess_end(&guess, rc);
	return rc;
}

/** aries_ees_subscribe() - KGNI_IOC_ERR_SUBSCRIBE. Context: sleeps. */
int aries_ees_subscribe(struct aries_ctx *ctx, struct kgni_err_subscribe *arg)
{
	struct aries_ees *ees;
	int rc;

	if (arg->flags & ~KGNI_ERR_ALL || arg->reserved || arg->reserved2)
		return -EINVAL;
	if (arg->entries > KGNI_ERR_ENTRIES_MAX)
		return -EINVAL;
	if (arg->flags & KGNI_ERR_ALL) {
		if (arg->cookie)
			return -EINVAL;
		if (!capable(CAP_SYS_ADMIN))
			return -EPERM;
	}
	if (!arg->entries)
		arg->entries = ARIES_EES_DEFAULT;
	ees = aries_ees_new(arg);
	if (!ees)
		return -ENOMEM;
	rc = aries_ees_try(ctx, ees, arg);
	if (rc)
		kvfree(ees);
	return rc;
}

/**
 * aries_ees_stop() - end the subscription of a file and wake its readers
 * @ctx: the file
 *
 * Context: sleeps; state_sem and ctx->own.lock held.
 */
void aries_ees_stop(struct aries_ctx *ctx)
	__must_hold(&ctx->own.lock)
{
	struct aries_dev *ad = ctx->own.ad;
	struct aries_ees *ees = ctx->ees;

	lockdep_assert_held(&ctx->own.lock);
	if (!ees || ees->dead)
		return;
	spin_lock(&ad->ees_lock);
	WRITE_ONCE(ees->dead, true);
	list_del(&ees->node);
	spin_unlock(&ad->ees_lock);
	wake_up_interruptible(&ees->wq);
	if (ees->dom)
		aries_domain_leave(ad, ees->dom);
	ees->dom = NULL;
}

/** aries_ees_free() - free the subscription of a file that is being closed. Context: sleeps. */
void aries_ees_free(struct aries_ctx *ctx)
{
	kvfree(ctx->ees);
}

static struct aries_ees *aries_ees_enter(struct aries_ctx *ctx)
{
	struct aries_ees *ees;
	int rc = aries_owner_enter(&ctx->own, false);

	if (rc)
		return ERR_PTR(rc);
	ees = ctx->ees;
	aries_owner_exit(&ctx->own);
	/* the subscription lives as long as the file */
	return ees ? ees : ERR_PTR(-ENOTCONN);
}

static u32 aries_ees_take(struct aries_dev *ad, struct aries_ees *ees, struct kgni_err_event *out,
			  u32 max, u64 *lost)
{
	u32 n;

	spin_lock(&ad->ees_lock);
	for (n = 0; n < max && ees->count; n++) {
		out[n] = ees->ring[ees->head];
		ees->head = (ees->head + 1) % ees->size;
		ees->count--;
	}
	*lost = ees->lost;
	spin_unlock(&ad->ees_lock);
	return n;
}

static bool aries_ees_ready(const struct aries_ees *ees, u32 wanted)
{
	return READ_ONCE(ees->count) >= wanted || READ_ONCE(ees->dead);
}

static long aries_ees_jiffies(u64 ms)
{
	return ms < INT_MAX ? msecs_to_jiffies(ms) : MAX_SCHEDULE_TIMEOUT;
}

/* Waits for a first event, and then for a short time for more. */
static int aries_ees_wait(struct aries_ees *ees, const struct kgni_err_read *arg)
{
	long rc;

	if (!arg->timeout_ms)
		return aries_ees_ready(ees, 1) ? 0 : -EAGAIN;
	rc = wait_event_interruptible_timeout(ees->wq, aries_ees_ready(ees, 1),
					      aries_ees_jiffies(arg->timeout_ms));
	if (rc < 0)
		return -EINTR;
	if (!rc)
		return -ETIMEDOUT;
	if (arg->batch_ms)
		wait_event_interruptible_timeout(ees->wq,
						 aries_ees_ready(ees, min(arg->count, ees->size)),
						 aries_ees_jiffies(arg->batch_ms));
	return 0;
}

static int aries_ees_fetch(struct aries_ctx *ctx, struct aries_ees *ees,
			   struct kgni_err_event *buffer, struct kgni_err_read *arg)
{
	u32 n;
	int rc;

	do {
		rc = aries_ees_wait(ees, arg);
		if (rc)
			return rc;
		if (READ_ONCE(ees->dead))
			return -EIO;
		/* another reader may have taken the events */
		n = aries_ees_take(ctx->own.ad, ees, buffer, arg->count, &arg->lost);
	} while (!n);
	arg->count = n;
	if (copy_to_user(u64_to_user_ptr(arg->events), buffer, n * sizeof(*buffer)))
		return -EFAULT;
	return 0;
}

/** aries_ees_read() - KGNI_IOC_ERR_READ. Context: sleeps, interruptibly. */
int aries_ees_read(struct aries_ctx *ctx, struct kgni_err_read *arg)
{
	struct kgni_err_event *buffer;
	struct aries_ees *ees;
	int rc;

	if (arg->flags || !arg->count || arg->count > KGNI_ERR_ENTRIES_MAX)
		return -EINVAL;
	ees = aries_ees_enter(ctx);
	if (IS_ERR(ees))
		return PTR_ERR(ees);
	buffer = kvmalloc_array(arg->count, sizeof(*buffer), GFP_KERNEL_ACCOUNT);
	if (!buffer)
		return -ENOMEM;
	rc = aries_ees_fetch(ctx, ees, buffer, arg);
	kvfree(buffer);
	return rc;
}

/** aries_ees_control() - KGNI_IOC_ERR_CONTROL. Context: sleeps. */
int aries_ees_control(struct aries_ctx *ctx, struct kgni_err_control *arg)
{
	struct kgni_err_control old = *arg;
	struct aries_ees *ees;

	if (arg->flags & ~(KGNI_ERR_SET_MASK | KGNI_ERR_SET_PTAG) || arg->reserved)
		return -EINVAL;
	if (arg->flags & KGNI_ERR_SET_PTAG && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	ees = aries_ees_enter(ctx);
	if (IS_ERR(ees))
		return PTR_ERR(ees);
	spin_lock(&ctx->own.ad->ees_lock);
	old.mask = ees->mask;
	old.ptag = ees->ptag;
	if (arg->flags & KGNI_ERR_SET_MASK)
		ees->mask = arg->mask;
	if (arg->flags & KGNI_ERR_SET_PTAG)
		ees->ptag = arg->ptag;
	spin_unlock(&ctx->own.ad->ees_lock);
	*arg = old;
	return 0;
}

/** aries_ees_poll() - readable while there are events */
__poll_t aries_ees_poll(struct aries_ctx *ctx, struct file *file, struct poll_table_struct *wait)
{
	/* pairs with aries_ees_add() */
	struct aries_ees *ees = smp_load_acquire(&ctx->ees);
	__poll_t mask = 0;

	if (!ees)
		return 0;
	poll_wait(file, &ees->wq, wait);
	if (READ_ONCE(ees->dead))
		mask |= EPOLLERR | EPOLLHUP;
	if (READ_ONCE(ees->count))
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}

/** aries_ees_show() - debugfs line of a subscription. Context: ctx->own.lock held. */
void aries_ees_show(struct seq_file *m, struct aries_ctx *ctx)
{
	struct aries_ees *ees = ctx->ees;

	if (!ees)
		return;
	spin_lock(&ctx->own.ad->ees_lock);
	seq_printf(m, "pid %d ptag %u mask %#x entries %u queued %u matched %u lost %llu state %s comm \"%*pE\"\n",
		   ctx->own.pid, ees->ptag, ees->mask, ees->size, ees->count, ees->serial,
		   ees->lost,
		   ees->dead ? "revoked" : "active", (int)strlen(ctx->own.comm), ctx->own.comm);
	spin_unlock(&ctx->own.ad->ees_lock);
}
