// SPDX-License-Identifier: GPL-2.0-only
/*
 * The work item that calls the functions that clients have set: one after the other, in process
 * context, without any lock.
 *
 * A NIC handle is freed only when no function that was called for it is running. The function
 * itself may free subscription and NIC handle: then the work item no longer touches the
 * subscription, and it frees the NIC handle as its last act.
 */
#include <linux/sched.h>
#include <linux/slab.h>

#include "kgni_err.h"
#include "kgni_tell.h"

/* Take the next call that is due. Return: whether there is one. */
static bool kgni_tell_next(struct gni_nic *nic, struct kgni_call *call)
{
	lockdep_assert_held(&nic->lock);
	*call = (struct kgni_call){};
	if (nic->closing)
		return false;
	if (kgni_err_due(nic, call))
		return true;
	if (!nic->quiet_due)
		return false;
	call->on_resume = nic->quiet_end;
	call->ms = nic->quiet_ms;
	nic->quiet_due = false;
	nic->quiet_ms = 0;
	return true;
}

static void kgni_tell_work(struct work_struct *work)
{
	struct gni_nic *nic = container_of(work, struct gni_nic, tell_work);
	struct kgni_call call;
	unsigned long flags;
	bool free;

	spin_lock_irqsave(&nic->lock, flags);
	WRITE_ONCE(nic->teller, current);
	while (kgni_tell_next(nic, &call)) {
		nic->calling = true;
		nic->called = call.err;
		spin_unlock_irqrestore(&nic->lock, flags);
		if (call.on_error)
			call.on_error(call.err);
		else
			call.on_resume(nic, call.ms);
		cond_resched();
		spin_lock_irqsave(&nic->lock, flags);
		nic->calling = false;
		nic->called = NULL;
		wake_up_all(&nic->tell_done);
	}
	WRITE_ONCE(nic->teller, NULL);
	/* nothing is reported any more; if this item was queued again its next run is the last */
	free = nic->closed && !work_pending(work);
	spin_unlock_irqrestore(&nic->lock, flags);
	if (free)
		kfree(nic);
}

/** kgni_tell_init() - initialise the work item of a NIC handle. Context: any. */
void kgni_tell_init(struct gni_nic *nic)
{
	INIT_WORK(&nic->tell_work, kgni_tell_work);
	init_waitqueue_head(&nic->tell_done);
}

/**
 * kgni_tell_stop() - the NIC handle is about to be destroyed: call no more functions
 * @nic: NIC handle
 *
 * Ends waits for errors, because a function may be waiting for one. Context: sleeps, until no
 * function is running, except the one that calls this.
 */
void kgni_tell_stop(struct gni_nic *nic)
{
	unsigned long flags;

	spin_lock_irqsave(&nic->lock, flags);
	WRITE_ONCE(nic->closing, true);
	kgni_err_wake(nic);
	spin_unlock_irqrestore(&nic->lock, flags);
	kgni_tell_wait(nic, NULL);
}

/**
 * kgni_tell_free() - free a NIC handle that was destroyed
 * @nic: NIC handle, about which nothing is reported any more
 *
 * Context: sleeps. If this is called by a function that kGNI has called, the work item frees it.
 */
void kgni_tell_free(struct gni_nic *nic)
{
	unsigned long flags;

	if (!kgni_tell_inside(nic)) {
		cancel_work_sync(&nic->tell_work);
		kfree(nic);
		return;
	}
	spin_lock_irqsave(&nic->lock, flags);
	nic->closed = true;
	spin_unlock_irqrestore(&nic->lock, flags);
}
