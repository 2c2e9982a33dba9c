// SPDX-License-Identifier: GPL-2.0-only
/*
 * Owners of objects of the NIC. An open file is an owner, and so is a client in the kernel. All
 * objects of an owner are freed with it, or are revoked earlier when the NIC is reset or removed
 * (aries_attach.c).
 */
#include "aries_obj.h"

/**
 * aries_owner_init() - initialise an owner, and add it to the list of its device
 * @own: owner, all zero except for what its kind has set
 * @ad: the device
 * @ops: operations of its kind
 *
 * Context: may sleep. Return: 0 with a reference to the device, or -ENODEV if the NIC is gone.
 */
int aries_owner_init(struct aries_owner *own, struct aries_dev *ad,
		     const struct aries_owner_ops *ops)
{
	kref_init(&own->ref);
	own->ad = ad;
	own->ops = ops;
	own->inst = -1;
	mutex_init(&own->lock);
	/* charged to the memory cgroup of who creates the objects */
	xa_init_flags(&own->cqs, XA_FLAGS_ACCOUNT);
	xa_init_flags(&own->mems, XA_FLAGS_ACCOUNT);
	INIT_LIST_HEAD(&own->recvs);
	down_read(&ad->state_sem);
	if (ad->state == ARIES_STATE_GONE) {
		up_read(&ad->state_sem);
		return -ENODEV;
	}
	mutex_lock(&ad->owner_lock);
	own->id = ++ad->owner_id;
	list_add_tail(&own->node, &ad->owner_list);
	mutex_unlock(&ad->owner_lock);
	up_read(&ad->state_sem);
	get_device(&ad->dev);
	return 0;
}

static void aries_owner_release(struct kref *ref)
{
	struct aries_owner *own = container_of(ref, struct aries_owner, ref);
	struct aries_dev *ad = own->ad;

	xa_destroy(&own->cqs);
	xa_destroy(&own->mems);
	own->ops->release(own);
	put_device(&ad->dev);
}

/** aries_owner_put() - drop a reference. Context: sleeps. */
void aries_owner_put(struct aries_owner *own)
{
	kref_put(&own->ref, aries_owner_release);
}

/**
 * aries_owner_next() - iterate over all owners
 * @ad: the device
 * @last: the previous one, whose reference is dropped; NULL to get the first one
 *
 * No lock is held afterwards, so that a busy owner does not keep others from being created or
 * destroyed. Owners that are created meanwhile are at the end.
 *
 * Context: sleeps. Return: the next one with a reference, or NULL.
 */
struct aries_owner *aries_owner_next(struct aries_dev *ad, struct aries_owner *last)
{
	u64 id = last ? last->id : 0;
	struct aries_owner *own, *next = NULL;

	mutex_lock(&ad->owner_lock);
	list_for_each_entry(own, &ad->owner_list, node)
		if (own->id > id) {
			kref_get(&own->ref);
			next = own;
			break;
		}
	mutex_unlock(&ad->owner_lock);
	if (last)
		aries_owner_put(last);
	return next;
}

/** aries_owner_unlist() - remove an owner from the list. Context: sleeps; state_sem held. */
void aries_owner_unlist(struct aries_owner *own)
{
	mutex_lock(&own->ad->owner_lock);
	list_del(&own->node);
	mutex_unlock(&own->ad->owner_lock);
}

/**
 * aries_owner_status() - may this owner still use the NIC?
 * @own: owner
 *
 * Context: state_sem held.
 * Return: 0; -ENODEV if the NIC is gone or does not answer; -EIO if it was reset.
 */
int aries_owner_status(struct aries_owner *own)
{
	lockdep_assert_held(&own->ad->state_sem);
	if (own->ad->state == ARIES_STATE_GONE)
		return -ENODEV;
	if (own->dead || own->ad->state == ARIES_STATE_RESET)
		return -EIO;
	return READ_ONCE(own->ad->hw_ok) ? 0 : -ENODEV;
}

/**
 * aries_owner_why() - tell why an owner may not use the NIC
 * @own: owner
 *
 * Like aries_owner_status(), but the state may change at any time. Context: any.
 * Return: 0, -ENODEV, -EIO.
 */
int aries_owner_why(const struct aries_owner *own)
{
	const enum aries_state state = READ_ONCE(own->ad->state);

	if (state == ARIES_STATE_GONE)
		return -ENODEV;
	return READ_ONCE(own->dead) || state == ARIES_STATE_RESET ? -EIO : 0;
}

/**
 * aries_owner_enter() - begin an operation of an owner: takes state_sem for reading and own->lock
 * @own: owner
 * @attached: fail if the owner is not attached
 *
 * Context: sleeps. Return: 0; -ENODEV, -EIO or -ENOTCONN with nothing locked.
 */
int aries_owner_enter(struct aries_owner *own, bool attached)
{
	int rc;

	down_read(&own->ad->state_sem);
	mutex_lock(&own->lock);
	rc = aries_owner_status(own);
	if (!rc && attached && !own->dom)
		rc = -ENOTCONN;
	if (rc)
		aries_owner_exit(own);
	return rc;
}

/** aries_owner_exit() - end what aries_owner_enter() has begun */
void aries_owner_exit(struct aries_owner *own)
{
	mutex_unlock(&own->lock);
	up_read(&own->ad->state_sem);
}

/**
 * aries_owner_exit_free() - the same as aries_owner_exit(), and free what was revoked meanwhile
 * @own: owner
 * @gone: list from aries_kept_take(), empty afterwards
 *
 * Context: sleeps; others may use the owner while this waits.
 */
void aries_owner_exit_free(struct aries_owner *own, struct list_head *gone)
{
	mutex_unlock(&own->lock);
	aries_kept_release(own->ad, gone);
	up_read(&own->ad->state_sem);
}
