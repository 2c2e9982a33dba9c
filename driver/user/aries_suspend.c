// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspending a job: its processes can no longer start operations, and those in progress complete.
 *
 * The mappings of descriptor areas, doorbells and windows are removed. A thread that touches them
 * waits in the page fault until the job is resumed, a signal arrives or the NIC is reset. Nothing
 * is lost. Registrations and queues stay, and peers may continue to use them. Receives for channel
 * sends are revoked and later posted again.
 */
#include <linux/capability.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "aries_user.h"
#include "aries_ptag.h"
#include "aries_trace.h"

#define ARIES_SUSPEND_POLL_MS 10
/* A page fault holds locks of its address space, so it waits only this long and is then retried. */
#define ARIES_FAULT_MS 100

/**
 * aries_suspend_wait() - wait in a page fault while the job is suspended
 * @own: attachment
 *
 * Context: sleeps; own->lock not held.
 * Return: true if the job is not suspended; false if the fault must be retried.
 */
bool aries_suspend_wait(struct aries_owner *own)
{
	if (likely(!READ_ONCE(own->suspended)))
		return true;
	return wait_event_killable_timeout(own->ad->resume_wq,
					   !READ_ONCE(own->suspended) || READ_ONCE(own->dead),
					   msecs_to_jiffies(ARIES_FAULT_MS)) > 0;
}

/**
 * struct aries_suspension - one call that suspends or resumes a job
 * @dom: the domain, held so that its tag is not reused
 * @change: number of this change; if the domain has another one, a later call has overtaken it
 * @seq: invalidation sequence number of the revoked receives
 */
struct aries_suspension {
	struct aries_domain *dom;
	unsigned int change;
	u64 seq;
};

static void aries_suspend_change(struct aries_dev *ad, struct aries_suspension *s, bool suspend)
	__must_hold(&ad->ptag_lock)
{
	lockdep_assert_held(&ad->ptag_lock);
	WRITE_ONCE(s->dom->suspended, suspend);
	s->change = s->dom->changes + 1;
	WRITE_ONCE(s->dom->changes, s->change);
}

static int aries_suspend_begin(struct aries_dev *ad, const struct kgni_suspend *arg,
			       struct aries_suspension *s)
{
	const bool suspend = !(arg->flags & KGNI_SUSPEND_RESUME);
	struct aries_domain *dom;
	int rc = 0;

	mutex_lock(&ad->ptag_lock);
	dom = aries_ptag_by_cookie(ad, arg->cookie);
	if (!dom || dom->job_id != arg->job_id ||
	    (arg->ptag != ARIES_PTAG_ANY && arg->ptag != dom->ptag)) {
		rc = -ENOENT;
	} else if (dom->suspended == suspend) {
		rc = -EALREADY;
	} else {
		s->dom = dom;
		aries_ptag_hold(dom);
		aries_suspend_change(ad, s, suspend);
	}
	mutex_unlock(&ad->ptag_lock);
	return rc;
}

/*
 * Applies the state of the domain to every attachment, and notes what was revoked. If two calls
 * race, the later change wins for all of them, because each call reads the state of the domain
 * again under the lock of the attachment.
 */
static void aries_suspend_apply(struct aries_dev *ad, struct aries_suspension *s)
{
	struct aries_domain *dom = s->dom;
	struct aries_owner *own = NULL;

	while ((own = aries_owner_next(ad, own))) {
		/*
		 * state_sem: a reset revokes all attachments, and no register may be accessed after
		 * that
		 */
		down_read(&ad->state_sem);
		mutex_lock(&own->lock);
		if (own->dom == dom) {
			bool suspend = READ_ONCE(dom->suspended);

			WRITE_ONCE(own->suspended, suspend);
			own->ops->suspend(own, suspend);
			if (suspend)
				aries_recv_park(own);
			else
				aries_recv_unpark(own);
		}
		mutex_unlock(&own->lock);
		up_read(&ad->state_sem);
	}
	down_read(&ad->state_sem);
	/* in any other state there is nothing to wait for, and a removal may unmap the registers */
	if (ad->state == ARIES_STATE_UP)
		s->seq = aries_inv_seq(ad);
	up_read(&ad->state_sem);
	wake_up_all(&ad->resume_wq);
	if (READ_ONCE(dom->suspended))
		trace_aries_job_suspend(ad->id, dom);
	else
		trace_aries_job_resume(ad->id, dom);
}

static int aries_suspend_drained(struct aries_owner *own, const struct aries_suspension *s)
{
	struct aries_dev *ad = own->ad;
	int rc;

	down_read(&ad->state_sem);
	rc = aries_owner_status(own);
	if (!rc && READ_ONCE(s->dom->changes) != s->change)
		rc = -ECANCELED;
	if (!rc && (aries_fmad_transfers(ad, s->dom) || aries_inv_look(ad, s->seq) == -EAGAIN))
		rc = -EAGAIN;
	up_read(&ad->state_sem);
	return rc;
}

static int aries_suspend_drain(struct aries_owner *own, const struct aries_suspension *s,
			       u64 timeout_ms)
{
	u64 waited = 0;
	int rc;

	for (;;) {
		rc = aries_suspend_drained(own, s);
		if (rc != -EAGAIN)
			return rc;
		if (waited >= timeout_ms)
			return -ETIMEDOUT;
		if (msleep_interruptible(ARIES_SUSPEND_POLL_MS))
			return -EINTR;
		waited += ARIES_SUSPEND_POLL_MS;
	}
}

/* Resumes the job, unless another call has changed it in the meantime. */
static void aries_suspend_undo(struct aries_dev *ad, struct aries_suspension *s)
{
	bool ours;

	mutex_lock(&ad->ptag_lock);
	ours = s->dom->changes == s->change;
	if (ours)
		aries_suspend_change(ad, s, false);
	mutex_unlock(&ad->ptag_lock);
	if (ours)
		aries_suspend_apply(ad, s);
}

/** aries_suspend() - KGNI_IOC_SUSPEND. Context: sleeps, interruptibly. */
int aries_suspend(struct aries_owner *own, struct kgni_suspend *arg)
{
	struct aries_dev *ad = own->ad;
	struct aries_suspension s = {};
	int rc;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (arg->flags & ~KGNI_SUSPEND_RESUME || !arg->ptag ||
	    memchr_inv(arg->reserved, 0, sizeof(arg->reserved)))
		return -EINVAL;
	rc = aries_owner_enter(own, false);
	if (rc)
		return rc;
	rc = aries_suspend_begin(ad, arg, &s);
	aries_owner_exit(own);
	if (rc)
		return rc;
	aries_suspend_apply(ad, &s);
	if (!(arg->flags & KGNI_SUSPEND_RESUME)) {
		rc = aries_suspend_drain(own, &s, arg->timeout_ms);
		if (rc)
			aries_suspend_undo(ad, &s);
	}
	down_read(&ad->state_sem);
	aries_domain_leave(ad, s.dom);
	up_read(&ad->state_sem);
	return rc;
}
