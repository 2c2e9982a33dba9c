// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attachments: how an owner joins a domain and leaves it, and how all its objects are revoked. It
 * knows every kind of object; what an owner is without them is in aries_owner.c.
 */
#include "aries_obj.h"
#include "aries_trace.h"

/**
 * aries_owner_join() - attach an owner: give it a domain, a context number and a node address there
 * @own: owner that is not attached, with instance id and modes set
 * @ptag: tag or ARIES_PTAG_ANY
 * @cookie: cookie of the domain
 * @trusted: it may create domains and use those of the kernel, whatever process calls
 *
 * The caller then gives it FMA descriptors, enables datagrams, and calls aries_owner_start(). If
 * that fails it calls aries_owner_leave().
 *
 * Context: sleeps; state_sem and own->lock held. Return: 0; a negative errno as
 * aries_domain_join(); -ENOSPC; -ENXIO if its domain does not have this node.
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

/*
 * aries_owner_start() - complete the attachment of an owner. Context: sleeps; state_sem and
 * own->lock held.
 */
void aries_owner_start(struct aries_owner *own)
	__must_hold(&own->lock)
{
	lockdep_assert_held(&own->lock);
	/* a suspension that begins after this read finds us in the list */
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

/* Revoke all objects without waiting. Those that may still be accessed are added to @gone. */
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
 * aries_owner_end() - revoke all objects of an owner, and drop the caller's reference
 * @own: owner that starts no more operations
 *
 * Context: sleeps; state_sem held for reading, and released here.
 */
void aries_owner_end(struct aries_owner *own)
{
	LIST_HEAD(gone);

	mutex_lock(&own->lock);
	aries_owner_teardown(own, &gone);
	aries_owner_exit_free(own, &gone);
	aries_owner_put(own);
}

/**
 * aries_owner_revoke() - revoke all objects of an owner, which gets -EIO or -ENODEV from now on
 * @own: owner
 * @gone: list for aries_kept_release(): objects that may still be accessed
 *
 * Context: sleeps; state_sem held for reading.
 */
void aries_owner_revoke(struct aries_owner *own, struct list_head *gone)
{
	mutex_lock(&own->lock);
	/* Set this before revoked() is called, because later calls must see it. */
	WRITE_ONCE(own->dead, true);
	own->ops->revoked(own);
	wake_up_all(&own->ad->resume_wq);
	aries_owner_teardown(own, gone);
	mutex_unlock(&own->lock);
}
