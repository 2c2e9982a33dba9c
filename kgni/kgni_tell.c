// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of the functions that clients have set for errors and for the end of a quiesce.
 *
 * The driver of the NIC reports both with locks held. A client that reacts creates endpoints and
 * queues, or releases what it has, so its function must be able to call all of kGNI. That is why
 * only a note is made of what is reported, and a work item of the NIC handle calls the functions
 * (kgni_tell_work.c).
 *
 * A subscription is freed only when no function that was called for it is running.
 */
#include <linux/sched.h>

#include "kgni_tell.h"

static struct workqueue_struct *kgni_tell_wq;

/** kgni_tell_start() - create the work queue. Context: sleeps. Return: 0 or -ENOMEM. */
int kgni_tell_start(void)
{
	kgni_tell_wq = alloc_workqueue("kgni", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return kgni_tell_wq ? 0 : -ENOMEM;
}

/** kgni_tell_end() - undo kgni_tell_start(), after the last work item. Context: sleeps. */
void kgni_tell_end(void)
{
	destroy_workqueue(kgni_tell_wq);
}

/**
 * kgni_tell() - a call is due
 * @nic: NIC handle
 *
 * Context: any; gni_nic.lock held.
 */
void kgni_tell(struct gni_nic *nic)
{
	lockdep_assert_held(&nic->lock);
	queue_work(kgni_tell_wq, &nic->tell_work);
}

/** kgni_tell_inside() - is this code called by a function that kGNI has called? Context: any. */
bool kgni_tell_inside(const struct gni_nic *nic)
{
	return READ_ONCE(nic->teller) == current;
}

/* Is a function being called, of @err if that is not NULL? */
static bool kgni_tell_calls(struct gni_nic *nic, const struct gni_err *err)
{
	unsigned long flags;
	bool calls;

	spin_lock_irqsave(&nic->lock, flags);
	calls = err ? nic->called == err : nic->calling;
	spin_unlock_irqrestore(&nic->lock, flags);
	return calls;
}

/**
 * kgni_tell_wait() - wait until no function of a subscription is running
 * @nic: NIC handle
 * @err: subscription that is in no list any more; NULL: wait for any function
 *
 * Does not wait for the function that calls this. Context: sleeps.
 */
void kgni_tell_wait(struct gni_nic *nic, const struct gni_err *err)
{
	if (!kgni_tell_inside(nic))
		wait_event(nic->tell_done, !kgni_tell_calls(nic, err));
}
