// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deferred freeing of memory that the NIC has used. It may be freed once it cannot be accessed any
 * more: either the NIC has confirmed that (an invalidation has ended), or the NIC cannot access
 * memory at all (aries_quiet.c). Until then it is kept.
 *
 * Code that ends objects revokes all of them under their lock, and collects them in a list
 * (aries_kept_take()). It waits and frees them after dropping the lock (aries_kept_release()). So
 * there is one wait for any number of objects, and no other thread is blocked by it. Until an
 * object is freed its number is not reused, and it stays charged to its domain.
 */
#include <linux/sched.h>

#include "aries_obj.h"

#define ARIES_KEPT_INTERVAL (HZ / 2) /* between two checks of objects that were put aside */

/* Free objects that can no longer be accessed. */
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
 * aries_kept_take() - collect a revoked object of an attachment
 * @own: attachment, whose domain stays charged until @free has been called
 * @gone: list for aries_kept_release()
 * @kept: represents the object
 * @free: frees the object, including @kept; may sleep, called with no lock but state_sem for
 *        reading
 *
 * Context: own->lock held. The number of the object must be held (aries_pool_hold()) from here on.
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
 * aries_kept_release() - free revoked objects, or put them aside until the NIC has released them
 * @ad: the device
 * @gone: list from aries_kept_take(), empty afterwards
 *
 * Context: sleeps, for a second at most; no lock held but state_sem for reading, so that no reset
 * can happen meanwhile.
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

/* Free objects that have been released by a NIC that is up. */
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
 * aries_kept_work() - free objects that were put aside and are not accessed any more
 * @work: kept_work
 *
 * While the NIC is up objects are freed one by one. Otherwise all are freed at once: a recovery may
 * have failed because of a stopped peer, and nothing else would free them when the peer continues.
 * state_sem is held so that the NIC does not come up meanwhile.
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
 * aries_kept_free() - free all objects that were put aside
 * @ad: the device, which cannot access memory or was reset
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
 * aries_kept_reset() - free all objects that were put aside, and all held numbers
 * @ad: the device, which was reset
 *
 * The lock is taken for writing because aries_kept_work() may just be freeing some of them, with
 * the lock held for reading: it would give back numbers that are free already, or another object's.
 *
 * Context: sleeps; state_sem is not held.
 */
void aries_kept_reset(struct aries_dev *ad)
{
	down_write(&ad->state_sem);
	aries_kept_free(ad);
	aries_pool_release_held(&ad->fmads);
	aries_pool_release_held(&ad->mdds);
	aries_pool_release_held(&ad->cqs);
	aries_pool_release_held(&ad->ces);
	aries_pool_release_held(&ad->recvs);
	up_write(&ad->state_sem);
}

/**
 * aries_kept_exit() - free objects that were put aside at removal, or leak them
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
	/* nothing else uses the list any more */
	list_for_each_entry_safe(kept, next, &ad->kept, node)
		if (kept->lose)
			kept->lose(ad, kept);
	dev_err(&ad->pdev->dev,
		"accesses may still be in flight, and the driver leaves: what they may reach is lost\n");
	return false;
}
