// SPDX-License-Identifier: GPL-2.0-only
/*
 * KGNI_IOC_CQ_WAIT: sleep until one of several queues has an entry.
 *
 * No wake-up is lost. The thread is on the wait lists of the queues before it arms them. If an
 * entry is there when a queue is armed, the NIC raises the interrupt at once. And the thread checks
 * the slots once more between arming and sleeping.
 */
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "aries_user.h"
#include "aries_trace.h"

#define ARIES_WAIT_MAX 64

/**
 * struct aries_wait - one call of KGNI_IOC_CQ_WAIT
 * @count: number of queues
 * @nr: their numbers, as passed by the caller
 * @cq: the queues, each with a reference
 * @entry: our entries in their wait lists
 */
struct aries_wait {
	unsigned int count;
	u32 nr[ARIES_WAIT_MAX];
	struct aries_cq *cq[ARIES_WAIT_MAX];
	struct wait_queue_entry entry[ARIES_WAIT_MAX];
};

/*
 * The process can write to header and slots, so each is read once, and is used for nothing but the
 * decision to wake up.
 */
static bool aries_wait_cq_ready(struct aries_cq *cq)
{
	unsigned long flags;
	bool ready = false;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->mem) {
		const struct aries_cq_header *header = cq->mem;
		const u64 *slots = cq->mem + ARIES_CQ_HEADER_BYTES;
		u64 consumed = READ_ONCE(header->consumed);

		ready = READ_ONCE(slots[consumed & ((1ull << cq->log2) - 1)]);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return ready;
}

static int aries_wait_ready(struct aries_wait *w)
{
	unsigned int i;

	for (i = 0; i < w->count; i++)
		if (aries_wait_cq_ready(w->cq[i]))
			return i;
	return -ENOENT;
}

static int aries_wait_begin(struct aries_owner *own, struct aries_wait *w)
{
	unsigned int i;
	int rc = aries_owner_enter(own, true);

	if (rc)
		return rc;
	for (i = 0; i < w->count && !rc; i++) {
		w->cq[i] = aries_cq_find(own, w->nr[i]);
		if (!w->cq[i])
			rc = -ENOENT;
		else if (!(w->cq[i]->flags & KGNI_CQ_BLOCKING))
			rc = -EOPNOTSUPP;
	}
	for (i = 0; i < w->count && !rc; i++) {
		kref_get(&w->cq[i]->ref);
		w->cq[i]->waiters++;
		init_waitqueue_entry(&w->entry[i], current);
		add_wait_queue(&w->cq[i]->wq, &w->entry[i]);
	}
	aries_owner_exit(own);
	return rc;
}

static void aries_wait_end(struct aries_owner *own, struct aries_wait *w)
{
	struct aries_dev *ad = own->ad;
	unsigned int i;

	down_read(&ad->state_sem);
	mutex_lock(&own->lock);
	for (i = 0; i < w->count; i++) {
		struct aries_cq *cq = w->cq[i];

		remove_wait_queue(&cq->wq, &w->entry[i]);
		if (!--cq->waiters && !aries_owner_status(own))
			aries_wr32(ad, ARIES_CQI_DISARM,
				   FIELD_PREP(ARIES_CQI_DISARM_CQ_MASK, cq->nr));
		aries_cq_put(cq);
	}
	mutex_unlock(&own->lock);
	up_read(&ad->state_sem);
}

static int aries_wait_arm(struct aries_owner *own, struct aries_wait *w)
{
	struct aries_dev *ad = own->ad;
	unsigned int i;
	int rc;

	down_read(&ad->state_sem);
	rc = aries_owner_status(own);
	/* waiters prevents that the queues are destroyed, and state_sem that they are revoked */
	for (i = 0; i < w->count && !rc; i++)
		aries_wr32(ad, ARIES_CQI_ARM, FIELD_PREP(ARIES_CQI_ARM_CQ_MASK, w->cq[i]->nr));
	up_read(&ad->state_sem);
	return rc;
}

static int aries_wait_loop(struct aries_owner *own, struct aries_wait *w, long left)
{
	for (;;) {
		int rc = aries_wait_ready(w);

		if (rc >= 0)
			return rc;
		if (!left)
			return -ETIMEDOUT;
		rc = aries_wait_arm(own, w);
		if (rc)
			return rc;
		set_current_state(TASK_INTERRUPTIBLE);
		rc = aries_wait_ready(w);
		if (rc < 0 && signal_pending(current))
			rc = -EINTR;
		/* a reset sets dead before it wakes us, so we see it here or are woken */
		if (rc == -ENOENT && !READ_ONCE(own->dead))
			left = schedule_timeout(left);
		__set_current_state(TASK_RUNNING);
		if (rc >= 0 || rc == -EINTR)
			return rc;
	}
}

/** aries_cq_wait() - KGNI_IOC_CQ_WAIT. Context: sleeps, interruptibly. */
int aries_cq_wait(struct aries_owner *own, struct kgni_cq_wait *arg)
{
	long left = MAX_SCHEDULE_TIMEOUT;
	struct aries_wait *w;
	int rc;

	if (!arg->count || arg->count > ARIES_WAIT_MAX || arg->reserved)
		return -EINVAL;
	if (arg->timeout_ms < INT_MAX)
		left = msecs_to_jiffies(arg->timeout_ms);
	w = kzalloc(sizeof(*w), GFP_KERNEL_ACCOUNT);
	if (!w)
		return -ENOMEM;
	w->count = arg->count;
	if (copy_from_user(w->nr, u64_to_user_ptr(arg->cqs), w->count * sizeof(w->nr[0]))) {
		rc = -EFAULT;
		goto out;
	}
	rc = aries_wait_begin(own, w);
	if (rc)
		goto out;
	rc = aries_wait_loop(own, w, left);
	trace_aries_cq_wait(own, w->count, rc < 0 ? -1 : w->nr[rc], min(rc, 0));
	aries_wait_end(own, w);
	if (rc >= 0) {
		arg->which = rc;
		rc = 0;
	}
out:
	kfree(w);
	return rc;
}
