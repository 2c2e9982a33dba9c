// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * When memory that the NIC knew may be given back: once nobody reaches it. The NIC has said so (an
 * invalidation that ended), or it reaches no memory at all (aries_quiet.c). Until then it is kept.
 *
 * Whoever ends objects revokes all of them under the lock that protects them, collects them in a
 * list (aries_kept_take()), and waits and frees when it has left the lock (aries_kept_release()):
 * one wait however many there are, and nobody else waits with it. Until an object is freed its
 * number is nobody's and its domain pays for it.
 */
#include <linux/sched.h>

#include "aries_obj.h"

#define ARIES_KEPT_INTERVAL (HZ / 2) /* between two looks at what was put aside */

/* Nobody reaches any of these. */
static void aries_kept_free_list(struct aries_dev *ad, struct list_head *list)
{
	struct aries_kept *kept, *next;

	list_for_each_entry_safe(kept, next, list, node) {
		struct aries_domain *dom = kept->dom;

		kept->free(ad, kept);
		aries_domain_put(dom);
		cond_resched();
	}
	INIT_LIST_HEAD(list);
}

/**
 * aries_kept_take() - collect what was taken from an attachment and revoked
 * @own: attachment; its domain pays until @free has been called
 * @gone: list for aries_kept_release()
 * @kept: stands for it
 * @free: frees it, @kept included; may sleep, and holds no lock but state_sem for reading
 *
 * Context: own->lock held. Its number has to be with aries_pool_hold() from here on.
 */
void aries_kept_take(struct aries_owner *own, struct list_head *gone, struct aries_kept *kept,
		     void (*free)(struct aries_dev *ad, struct aries_kept *kept))
	__must_hold(&own->lock)
{
	lockdep_assert_held(&own->lock);
	kept->dom = aries_domain_get(own->dom);
	kept->free = free;
	list_add_tail(&kept->node, gone);
}

/**
 * aries_kept_release() - free what was revoked, or put it aside until the NIC reaches it no more
 * @ad: the device
 * @gone: list from aries_kept_take(), empty afterwards; for all of it there is one wait
 *
 * Context: sleeps, for a second at most; state_sem held for reading, so that a reset comes before
 * or after, and no other lock.
 */
void aries_kept_release(struct aries_dev *ad, struct list_head *gone)
{
	struct aries_kept *kept;
	u64 seq;

	lockdep_assert_held_read(&ad->state_sem);
	if (list_empty(gone))
		return;
	seq = aries_inv_seq(ad);
	if (!aries_inv_wait(ad, seq)) {
		aries_kept_free_list(ad, gone);
		return;
	}
	list_for_each_entry(kept, gone, node)
		kept->seq = seq;
	spin_lock(&ad->kept_lock);
	list_splice_init(gone, &ad->kept);
	spin_unlock(&ad->kept_lock);
	if (aries_quiet(ad))
		aries_kept_free(ad);
	else
		schedule_delayed_work(&ad->kept_work, ARIES_KEPT_INTERVAL);
}

/* Frees what a NIC that is up has let go of. */
static void aries_kept_look(struct aries_dev *ad)
{
	struct aries_kept *kept, *next;
	LIST_HEAD(list);

	spin_lock(&ad->kept_lock);
	list_for_each_entry_safe(kept, next, &ad->kept, node)
		if (!aries_inv_look(ad, kept->seq))
			list_move_tail(&kept->node, &list);
	spin_unlock(&ad->kept_lock);
	aries_kept_free_list(ad, &list);
}

/**
 * aries_kept_work() - free what was put aside and is not reached any more
 * @work: kept_work
 *
 * Object after object while the NIC is up. After that, all at once: a recovery may have failed
 * because of a peer that was stopped, and nobody comes again when the peer goes on. With state_sem,
 * nothing is put aside for a NIC that has come up meanwhile.
 */
void aries_kept_work(struct work_struct *work)
{
	struct aries_dev *ad = container_of(work, struct aries_dev, kept_work.work);
	bool more;

	down_read(&ad->state_sem);
	if (ad->state == ARIES_STATE_UP)
		aries_kept_look(ad);
	else if (aries_quiet_reached(ad, 0))
		aries_kept_free(ad);
	spin_lock(&ad->kept_lock);
	more = !list_empty(&ad->kept);
	spin_unlock(&ad->kept_lock);
	up_read(&ad->state_sem);
	if (more)
		schedule_delayed_work(&ad->kept_work, ARIES_KEPT_INTERVAL);
}

/**
 * aries_kept_free() - free what was put aside
 * @ad: the device, which reaches no memory or was reset
 *
 * Context: sleeps.
 */
void aries_kept_free(struct aries_dev *ad)
{
	LIST_HEAD(list);

	spin_lock(&ad->kept_lock);
	list_splice_init(&ad->kept, &list);
	spin_unlock(&ad->kept_lock);
	aries_kept_free_list(ad, &list);
}

/**
 * aries_kept_exit() - the driver leaves the device: free what was put aside, or leave it for ever
 * @ad: the device
 *
 * Context: sleeps. Return: whether the memory of the NIC may be freed.
 */
bool aries_kept_exit(struct aries_dev *ad)
{
	struct aries_kept *kept, *next;

	cancel_delayed_work_sync(&ad->kept_work);
	if (aries_quiet_begin(ad)) {
		aries_kept_free(ad);
		return true;
	}
	/* nobody else looks at them any more */
	list_for_each_entry_safe(kept, next, &ad->kept, node)
		if (kept->lose)
			kept->lose(ad, kept);
	dev_err(&ad->pdev->dev,
		"accesses may still be in flight, and the driver leaves: what they may reach is lost\n");
	return false;
}
