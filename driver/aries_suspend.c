// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspending a job: its processes lose their way to the NIC, and what they have started ends.
 *
 * The mappings of descriptor areas, doorbells and windows are taken away. Who touches them waits in
 * the page fault until the job is resumed, a signal comes or the NIC is reset; nothing is lost.
 * Registrations and queues stay, and peers may go on using them. Receives for channel sends are
 * taken back and posted again.
 */
#include <linux/capability.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "aries.h"
#include "aries_ptag.h"
#include "aries_trace.h"

#define ARIES_SUSPEND_POLL_MS 10
/* A fault holds locks of its process's memory: it looks again so often. */
#define ARIES_FAULT_MS 100

/**
 * aries_suspend_wait() - wait in a page fault while the job is suspended
 * @ctx: attachment
 *
 * Context: sleeps; ctx->lock not held.
 * Return: false if it is still suspended: the fault is to be taken again.
 */
bool aries_suspend_wait(struct aries_ctx *ctx)
{
	if (likely(!READ_ONCE(ctx->suspended)))
		return true;
	return wait_event_killable_timeout(ctx->ad->resume_wq,
					   !READ_ONCE(ctx->suspended) || READ_ONCE(ctx->dead),
					   msecs_to_jiffies(ARIES_FAULT_MS)) > 0;
}

/* The domain of a job, with one more attachment so that it stays. */
static struct aries_domain *aries_suspend_find(struct aries_dev *ad,
					       const struct kgni_suspend *arg)
{
	const bool suspend = !(arg->flags & KGNI_SUSPEND_RESUME);
	struct aries_domain *dom;

	mutex_lock(&ad->ptag_lock);
	dom = aries_ptag_by_cookie(ad, arg->cookie);
	if (!dom || dom->job_id != arg->job_id ||
	    (arg->ptag != ARIES_PTAG_ANY && arg->ptag != dom->ptag)) {
		dom = ERR_PTR(-ENOENT);
	} else if (dom->suspended == suspend) {
		dom = ERR_PTR(-EALREADY);
	} else {
		dom->suspended = suspend;
		dom->attached++;
	}
	mutex_unlock(&ad->ptag_lock);
	return dom;
}

static void aries_suspend_set(struct aries_dev *ad, struct aries_domain *dom, bool suspend)
{
	struct aries_ctx *ctx;

	mutex_lock(&ad->ptag_lock);
	WRITE_ONCE(dom->suspended, suspend);
	mutex_unlock(&ad->ptag_lock);
	/* no attachment is left after a reset, and none begins to use registers that are gone */
	down_read(&ad->state_sem);
	mutex_lock(&ad->ctx_lock);
	list_for_each_entry(ctx, &ad->ctxs, node) {
		mutex_lock(&ctx->lock);
		if (ctx->dom == dom) {
			WRITE_ONCE(ctx->suspended, suspend);
			if (suspend)
				aries_fmad_unmap(ctx);
			aries_recv_suspend(ctx, suspend);
		}
		mutex_unlock(&ctx->lock);
	}
	mutex_unlock(&ad->ctx_lock);
	up_read(&ad->state_sem);
	wake_up_all(&ad->resume_wq);
	if (suspend)
		trace_aries_job_suspend(ad->id, dom);
	else
		trace_aries_job_resume(ad->id, dom);
}

static int aries_suspend_drained(struct aries_ctx *ctx, struct aries_domain *dom)
{
	struct aries_dev *ad = ctx->ad;
	int rc;

	down_read(&ad->state_sem);
	rc = aries_ctx_status(ctx);
	if (!rc && aries_res_transfers(ad, dom->ptag))
		rc = -EAGAIN;
	up_read(&ad->state_sem);
	return rc;
}

static int aries_suspend_drain(struct aries_ctx *ctx, struct aries_domain *dom, u64 timeout_ms)
{
	u64 waited = 0;
	int rc;

	for (;;) {
		rc = aries_suspend_drained(ctx, dom);
		if (rc != -EAGAIN)
			return rc;
		if (waited >= timeout_ms)
			return -ETIMEDOUT;
		if (msleep_interruptible(ARIES_SUSPEND_POLL_MS))
			return -EINTR;
		waited += ARIES_SUSPEND_POLL_MS;
	}
}

/** aries_suspend() - KGNI_IOC_SUSPEND. Context: sleeps, interruptibly. */
int aries_suspend(struct aries_ctx *ctx, struct kgni_suspend *arg)
{
	struct aries_dev *ad = ctx->ad;
	struct aries_domain *dom;
	int rc;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (arg->flags & ~KGNI_SUSPEND_RESUME || !arg->ptag ||
	    memchr_inv(arg->reserved, 0, sizeof(arg->reserved)))
		return -EINVAL;
	rc = aries_ctx_enter(ctx, false);
	if (rc)
		return rc;
	aries_ctx_exit(ctx);
	dom = aries_suspend_find(ad, arg);
	if (IS_ERR(dom))
		return PTR_ERR(dom);
	aries_suspend_set(ad, dom, !(arg->flags & KGNI_SUSPEND_RESUME));
	if (!(arg->flags & KGNI_SUSPEND_RESUME)) {
		rc = aries_suspend_drain(ctx, dom, arg->timeout_ms);
		if (rc)
			aries_suspend_set(ad, dom, false);
	}
	aries_domain_leave(ad, dom);
	return rc;
}
