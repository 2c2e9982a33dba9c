// SPDX-License-Identifier: GPL-2.0-only
/*
 * Protection tags of communication domains. On a node each cookie belongs to exactly one tag, and
 * each tag to one cookie. So no process can join a domain by guessing its tag. Creating a domain is
 * privileged, and joining one requires its cookie.
 */
#include <linux/capability.h>
#include <linux/slab.h>

#include "aries_obj.h"
#include "aries_ptag.h"

/*
 * Default limits, unless KGNI_IOC_JOB sets others: a domain must not use up all receives and
 * memory.
 */
#define ARIES_RECV_PER_DOMAIN (ARIES_RMT_ENTRIES / 2)
#define ARIES_DGRAM_PER_DOMAIN 65536

static void aries_ptag_write_key(struct aries_dev *ad, const struct aries_domain *dom)
{
	aries_wr64(ad, ARIES_PTAG_KEY_N(dom->ptag),
		   FIELD_PREP(ARIES_PTAG_KEY_KEY_MASK, (u64)dom->cookie) |
			   FIELD_PREP(ARIES_PTAG_KEY_VALID_MASK, 1ull));
}

static int aries_ptag_pick(struct aries_dev *ad)
{
	unsigned int ptag;

	for (ptag = ARIES_PTAG_USER_FIRST; ptag <= ARIES_PTAG_USER_LAST; ptag++)
		if (!ad->domain[ptag])
			return ptag;
	return -ENOSPC;
}

/**
 * aries_ptag_create() - create a domain
 * @ad: the device
 * @ptag: its tag, or ARIES_PTAG_ANY
 * @cookie: its cookie
 *
 * The caller has checked that neither is taken. Context: ptag_lock held, may sleep.
 * Return: the domain or an error pointer: -ENOSPC, -ENOMEM.
 */
struct aries_domain *aries_ptag_create(struct aries_dev *ad, u8 ptag, u32 cookie)
	__must_hold(&ad->ptag_lock)
{
	struct aries_domain *dom;

	lockdep_assert_held(&ad->ptag_lock);
	if (ptag == ARIES_PTAG_ANY) {
		int pick = aries_ptag_pick(ad);

		if (pick < 0)
			return ERR_PTR(pick);
		ptag = pick;
	}
	dom = kzalloc(sizeof(*dom), GFP_KERNEL_ACCOUNT);
	if (!dom)
		return ERR_PTR(-ENOMEM);
	kref_init(&dom->ref); /* reference of the table */
	dom->ptag = ptag;
	dom->cookie = cookie;
	dom->limit[ARIES_RES_MDD] = aries_pool_total(&ad->mdds);
	dom->limit[ARIES_RES_CQ] = aries_pool_total(&ad->cqs);
	dom->limit[ARIES_RES_FMA] = aries_pool_total(&ad->fmads);
	dom->limit[ARIES_RES_CE] = aries_pool_total(&ad->ces);
	dom->limit[ARIES_RES_PAGES] = U32_MAX;
	dom->limit[ARIES_RES_RECV] = ARIES_RECV_PER_DOMAIN;
	dom->dgram_limit = ARIES_DGRAM_PER_DOMAIN;
	ad->domain[ptag] = dom;
	aries_ptag_write_key(ad, dom);
	return dom;
}

/**
 * aries_ptag_remove() - take the tag away from a domain
 * @ad: the device
 * @dom: domain that has a tag
 *
 * The domain is freed with its last reference. Context: ptag_lock held.
 */
void aries_ptag_remove(struct aries_dev *ad, struct aries_domain *dom)
	__must_hold(&ad->ptag_lock)
{
	lockdep_assert_held(&ad->ptag_lock);
	aries_wr64(ad, ARIES_PTAG_KEY_N(dom->ptag), 0);
	aries_wr32(ad, ARIES_PTAG_BTE_N(dom->ptag), 0);
	aries_ntt_release(ad, dom);
	ad->domain[dom->ptag] = NULL;
	aries_domain_put(dom);
}

/**
 * aries_ptag_check() - may the caller use this tag?
 * @ptag: protection tag
 *
 * Return: 0; -EINVAL for tag 0, and for a tag of the kernel without CAP_SYS_ADMIN.
 */
int aries_ptag_check(u8 ptag)
{
	if (!ptag)
		return -EINVAL;
	if (ptag < ARIES_PTAG_USER_FIRST || ptag == ARIES_PTAG_BOOT)
		return capable(CAP_SYS_ADMIN) ? 0 : -EINVAL;
	return 0;
}

static struct aries_domain *aries_ptag_join(struct aries_dev *ad, u8 ptag, u32 cookie, bool trusted)
{
	struct aries_domain *dom = aries_ptag_by_cookie(ad, cookie);

	if (aries_ptag_reserved(ptag, cookie))
		return ERR_PTR(-EACCES);
	if (dom) {
		if (ptag != ARIES_PTAG_ANY && ptag != dom->ptag)
			return ERR_PTR(-EACCES);
		/* a kernel tag cannot be obtained by its cookie either */
		if (!trusted && aries_ptag_check(dom->ptag))
			return ERR_PTR(-EACCES);
		return dom;
	}
	if (ptag != ARIES_PTAG_ANY && ad->domain[ptag])
		return ERR_PTR(-EACCES);
	if (!trusted && !capable(CAP_SYS_ADMIN))
		return ERR_PTR(-EPERM);
	return aries_ptag_create(ad, ptag, cookie);
}

/**
 * aries_ptag_hold() - hold a domain and its tag, like an attachment
 * @dom: domain
 *
 * Context: ptag_lock held. Undone by aries_domain_leave().
 */
void aries_ptag_hold(struct aries_domain *dom)
{
	dom->attached++;
	aries_domain_get(dom);
}

/**
 * aries_domain_join() - join a domain; a privileged caller creates it if there is none
 * @ad: the device
 * @ptag: its tag or ARIES_PTAG_ANY
 * @cookie: its cookie
 * @trusted: called for the kernel itself, which is privileged whatever process calls
 *
 * Context: may sleep; state_sem held. Return: the domain with one more attachment, or an error
 * pointer: -EINVAL, -EACCES, -EPERM, -ENOSPC, -ENOMEM.
 */
struct aries_domain *aries_domain_join(struct aries_dev *ad, u8 ptag, u32 cookie, bool trusted)
{
	struct aries_domain *dom;
	int rc = 0;

	if (!ptag)
		rc = -EINVAL;
	else if (!trusted)
		rc = aries_ptag_check(ptag);
	if (rc)
		return ERR_PTR(rc);
	mutex_lock(&ad->ptag_lock);
	dom = aries_ptag_join(ad, ptag, cookie, trusted);
	if (!IS_ERR(dom))
		aries_ptag_hold(dom);
	mutex_unlock(&ad->ptag_lock);
	return dom;
}

/**
 * aries_domain_enter() - join an existing domain
 * @ad: the device
 * @ptag: its tag or ARIES_PTAG_ANY
 * @cookie: its cookie
 *
 * Context: may sleep; state_sem held. Return: the domain with one more attachment, or an error
 * pointer: -EINVAL, -EACCES, -ENOENT.
 */
struct aries_domain *aries_domain_enter(struct aries_dev *ad, u8 ptag, u32 cookie)
{
	struct aries_domain *dom;
	int rc = aries_ptag_check(ptag);

	if (rc)
		return ERR_PTR(rc);
	mutex_lock(&ad->ptag_lock);
	dom = aries_ptag_by_cookie(ad, cookie) ? aries_ptag_join(ad, ptag, cookie, false) :
						 ERR_PTR(-ENOENT);
	if (!IS_ERR(dom))
		aries_ptag_hold(dom);
	mutex_unlock(&ad->ptag_lock);
	return dom;
}

/**
 * aries_domain_leave() - undo join, enter or aries_ptag_hold()
 * @ad: the device
 * @dom: domain, not to be used afterwards
 *
 * The last call removes a domain without a job. Context: may sleep; state_sem held. The NIC may
 * have been removed meanwhile.
 */
void aries_domain_leave(struct aries_dev *ad, struct aries_domain *dom)
{
	mutex_lock(&ad->ptag_lock);
	if (!--dom->attached && !dom->job && ad->domain[dom->ptag] == dom)
		aries_ptag_remove(ad, dom);
	mutex_unlock(&ad->ptag_lock);
	aries_domain_put(dom);
}

/** aries_ptag_write_limit() - write a domain's limit of outstanding block transfers to the NIC */
void aries_ptag_write_limit(struct aries_dev *ad, const struct aries_domain *dom)
{
	aries_wr32(ad, ARIES_PTAG_BTE_N(dom->ptag),
		   FIELD_PREP(ARIES_PTAG_BTE_LIMITED_MASK, dom->bte_limited) |
			   FIELD_PREP(ARIES_PTAG_BTE_LIMIT_MASK, dom->bte_limit));
}

/** aries_domain_restore() - write keys and limits of all domains again after a reset */
void aries_domain_restore(struct aries_dev *ad)
{
	unsigned int ptag;

	mutex_lock(&ad->ptag_lock);
	for (ptag = 1; ptag < ARIES_PTAG_ANY; ptag++) {
		if (!ad->domain[ptag])
			continue;
		aries_ptag_write_key(ad, ad->domain[ptag]);
		aries_ptag_write_limit(ad, ad->domain[ptag]);
	}
	mutex_unlock(&ad->ptag_lock);
}

/*
 * aries_domain_free_all() - remove all domains; there are no attachments, but calls may hold some
 */
void aries_domain_free_all(struct aries_dev *ad)
{
	unsigned int ptag;

	mutex_lock(&ad->ptag_lock);
	for (ptag = 1; ptag < ARIES_PTAG_ANY; ptag++)
		if (ad->domain[ptag])
			aries_ptag_remove(ad, ad->domain[ptag]);
	mutex_unlock(&ad->ptag_lock);
}
