// SPDX-License-Identifier: GPL-2.0-only
/*
 * Communication domains as such: looking them up, references to them, and what is charged to them.
 * How they get and lose their tag is in aries_ptag.c.
 */
#include <linux/slab.h>

#include "aries_obj.h"
#include "aries_ptag.h"

/*
 * aries_ptag_by_cookie() - find the domain of a cookie, or return NULL. Context: ptag_lock held.
 */
struct aries_domain *aries_ptag_by_cookie(struct aries_dev *ad, u32 cookie)
	__must_hold(&ad->ptag_lock)
{
	unsigned int ptag;

	lockdep_assert_held(&ad->ptag_lock);
	for (ptag = 1; ptag < ARIES_PTAG_ANY; ptag++)
		if (ad->domain[ptag] && ad->domain[ptag]->cookie == cookie)
			return ad->domain[ptag];
	return NULL;
}

static void aries_domain_release(struct kref *ref)
{
	struct aries_domain *dom = container_of(ref, struct aries_domain, ref);

	WARN_ON(dom->attached || dom->block);
	kfree(dom);
}

/**
 * aries_domain_get() - take a reference to a domain; it may lose its tag meanwhile
 * @dom: domain that the caller has a reference to, or has found under ptag_lock
 *
 * Context: any. Return: @dom.
 */
struct aries_domain *aries_domain_get(struct aries_domain *dom)
{
	kref_get(&dom->ref);
	return dom;
}

/** aries_domain_put() - undo aries_domain_get(). Context: any. */
void aries_domain_put(struct aries_domain *dom)
{
	kref_put(&dom->ref, aries_domain_release);
}

/** aries_ptag_charge() - the same as aries_domain_charge(). Context: ptag_lock held. */
int aries_ptag_charge(struct aries_domain *dom, enum aries_res res, unsigned int count)
{
	if ((u64)dom->used[res] + count > dom->limit[res])
		return -ENOSPC;
	dom->used[res] += count;
	return 0;
}

/*
 * aries_domain_charge() - charge @count units; -ENOSPC if the limit would be exceeded. Context: may
 * sleep.
 */
int aries_domain_charge(struct aries_dev *ad, struct aries_domain *dom, enum aries_res res,
			unsigned int count)
{
	int rc;

	mutex_lock(&ad->ptag_lock);
	rc = aries_ptag_charge(dom, res, count);
	mutex_unlock(&ad->ptag_lock);
	return rc;
}

/** aries_domain_uncharge() - uncharge @count units. Context: may sleep. */
void aries_domain_uncharge(struct aries_dev *ad, struct aries_domain *dom, enum aries_res res,
			   unsigned int count)
{
	mutex_lock(&ad->ptag_lock);
	if (!WARN_ON(dom->used[res] < count))
		dom->used[res] -= count;
	mutex_unlock(&ad->ptag_lock);
}
