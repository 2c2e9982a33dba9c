// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Owners: whom objects of the NIC belong to. An open file is one, and so is a client in the kernel.
 * Whatever an owner holds goes away with it, or before that when the NIC is reset or removed.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "aries_obj.h"
#include "aries_trace.h"

/**
 * aries_owner_init() - prepare an owner, and put it into the list of its device
 * @own: owner, zero but for what its kind has set
 * @ad: the device
 * @ops: its kind
 *
 * Context: may sleep. Return: 0 with a reference to the device, or -ENODEV the NIC is gone.
 */
int aries_owner_init(struct aries_owner *own, struct aries_dev *ad,
		     const struct aries_owner_ops *ops)
{
	kref_init(&own->ref);
	own->ad = ad;
	own->ops = ops;
	own->inst = -1;
	mutex_init(&own->lock);
	xa_init(&own->cqs);
	xa_init(&own->mems);
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
 * aries_owner_next() - the owners that there are, one after another
 * @ad: the device
 * @last: the one before, NULL for the first; its reference is dropped
 *
 * No lock is held afterwards, so that one that is busy keeps nobody else from coming or going.
 * Those that come meanwhile are at the end.
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

/**
 * aries_owner_join() - attach an owner: give it its domain, its context number and its name there
 * @own: owner that is not attached; what it calls itself and its modes are set
 * @ptag: tag or ARIES_PTAG_ANY
 * @cookie: cookie of the domain
 * @trusted: it may make domains and have those of the kernel, whoever calls
 *
 * Its kind then gives it FMA descriptors, lets it have datagrams, and calls aries_owner_start(); or
 * aries_owner_leave().
 *
 * Context: sleeps; state_sem and own->lock held. Return: 0 or a negative errno as
 * aries_domain_join(), -ENOSPC, -ENXIO its domain does not have this node.
 */
int aries_owner_join(struct aries_owner *own, u8 ptag, u32 cookie, bool trusted)
	__must_hold(&own->lock)
{
	struct aries_dev *ad = own->ad;
	int rc;

	lockdep_assert_held(&own->lock);
	own->dom = aries_domain_join(ad, ptag, cookie, trusted);
	if (IS_ERR(own->dom)) {
		rc = PTR_ERR(own->dom);
		goto err_dom;
	}
	rc = aries_pool_get(&ad->owners, 0);
	if (rc < 0)
		goto err_leave;
	own->nr = rc;
	rc = aries_ntt_virtual(ad, own->dom, ad->pe, &own->pe);
	if (!rc)
		return 0;
	aries_pool_put(&ad->owners, own->nr, 0);
err_leave:
	aries_domain_leave(ad, own->dom);
err_dom:
	own->dom = NULL;
	return rc;
}

/** aries_owner_start() - an owner is attached. Context: sleeps; state_sem and own->lock held. */
void aries_owner_start(struct aries_owner *own)
	__must_hold(&own->lock)
{
	lockdep_assert_held(&own->lock);
	/* a suspension that begins after this look finds us in the list */
	WRITE_ONCE(own->suspended, READ_ONCE(own->dom->suspended));
	aries_inst_add(own);
	trace_aries_attach(own);
}

/** aries_owner_leave() - undo aries_owner_join() */
void aries_owner_leave(struct aries_owner *own)
	__must_hold(&own->lock)
{
	lockdep_assert_held(&own->lock);
	aries_pool_put(&own->ad->owners, own->nr, 0);
	aries_domain_leave(own->ad, own->dom);
	own->dom = NULL;
}

/* Revokes everything, without waiting; what somebody may still reach is in @gone then. */
static void aries_owner_teardown(struct aries_owner *own, struct list_head *gone)
	__must_hold(&own->lock)
{
	lockdep_assert_held(&own->ad->state_sem);
	lockdep_assert_held(&own->lock);
	if (own->dom)
		trace_aries_detach(own);
	own->ops->leave(own, gone);
	if (!own->dom)
		return;
	aries_ce_teardown(own, gone);
	aries_inst_del(own);
	aries_recv_teardown(own, gone);
	aries_region_teardown(own, gone);
	aries_vmdh_leave(own, gone);
	aries_cq_teardown(own, gone);
	aries_owner_leave(own);
}

/**
 * aries_owner_end() - undo everything that an owner has done, and drop the reference of its kind
 * @own: owner; it begins nothing any more
 *
 * Context: sleeps; state_sem held for reading, which is let go of.
 */
void aries_owner_end(struct aries_owner *own)
{
	LIST_HEAD(gone);

	mutex_lock(&own->lock);
	aries_owner_teardown(own, &gone);
	aries_owner_exit_free(own, &gone);
	aries_owner_put(own);
}

/** aries_owner_unlist() - nobody finds an owner any more. Context: sleeps; state_sem held. */
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
 * Return: 0, -ENODEV the NIC is gone or does not answer, -EIO it was reset.
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
 * aries_owner_why() - why an owner may not use the NIC, once it is known that it may not
 * @own: owner
 *
 * What aries_owner_status() says, but without a promise. Context: any.
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
 * aries_owner_enter() - begin to work for an owner: takes state_sem for reading and own->lock
 * @own: owner
 * @attached: refuse one that is not attached
 *
 * Context: sleeps. Return: 0, or with nothing locked -ENODEV, -EIO, -ENOTCONN.
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

/** aries_owner_exit() - end what aries_owner_enter() began */
void aries_owner_exit(struct aries_owner *own)
{
	mutex_unlock(&own->lock);
	up_read(&own->ad->state_sem);
}

/**
 * aries_owner_exit_free() - end what aries_owner_enter() began, and free what was revoked meanwhile
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

/**
 * aries_owner_node() - physical address of a node that an owner names
 * @own: owner; one that is not attached names physical nodes
 * @pe: as it says
 * @node: gets it
 *
 * Context: sleeps. Return: 0 or -EINVAL: the domain has no such node.
 */
int aries_owner_node(struct aries_owner *own, u32 pe, u32 *node)
{
	int rc = 0;

	*node = pe;
	mutex_lock(&own->lock);
	if (own->dom && own->dom->ntt_size && aries_ntt_physical(own->ad, own->dom, pe, node))
		rc = -EINVAL;
	mutex_unlock(&own->lock);
	return rc;
}

/** aries_owner_pe() - what an owner calls a node, or KGNI_NO_PE. Context: sleeps. */
u32 aries_owner_pe(struct aries_owner *own, u32 node)
{
	u32 pe = node;

	mutex_lock(&own->lock);
	if (own->dom && aries_ntt_virtual(own->ad, own->dom, node, &pe))
		pe = KGNI_NO_PE;
	mutex_unlock(&own->lock);
	return pe;
}

/**
 * aries_owner_revoke() - take everything from an owner, which gets -EIO or -ENODEV from now on
 * @own: owner
 * @gone: list for aries_kept_release(): what somebody may still reach
 *
 * Context: sleeps; state_sem held for reading.
 */
void aries_owner_revoke(struct aries_owner *own, struct list_head *gone)
{
	mutex_lock(&own->lock);
	/* Before its kind hears of it: whoever comes later must find it. */
	WRITE_ONCE(own->dead, true);
	own->ops->revoked(own);
	wake_up_all(&own->ad->resume_wq);
	aries_owner_teardown(own, gone);
	mutex_unlock(&own->lock);
}
