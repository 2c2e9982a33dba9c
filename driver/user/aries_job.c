// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of launchers and monitoring tools: KGNI_IOC_JOB, KGNI_IOC_PTAG, KGNI_IOC_RES.
 * KGNI_IOC_JOB, KGNI_IOC_PTAG, KGNI_IOC_RES.
 */
#include <linux/capability.h>

#include "aries_user.h"
#include "aries_ptag.h"
#include "aries_trace.h"

/* gni_dev_res_t */
#define ARIES_DEV_RES_MDD 1
#define ARIES_DEV_RES_CQ 3
#define ARIES_DEV_RES_FMA 4
#define ARIES_DEV_RES_CE 5
#define ARIES_DEV_RES_LAST 7
/* gni_job_res_t */
#define ARIES_JOB_RES_MDD 1
#define ARIES_JOB_RES_IOMMU 3
#define ARIES_JOB_RES_CQ 5
#define ARIES_JOB_RES_FMA 6
#define ARIES_JOB_RES_RMDA 7
#define ARIES_JOB_RES_CE 8
#define ARIES_JOB_RES_SFMA 10
#define ARIES_JOB_RES_LAST 11

static int aries_job_destroy(struct aries_dev *ad, const struct kgni_job *arg)
{
	struct aries_domain *dom = aries_ptag_by_cookie(ad, arg->cookie);

	if (!dom || (arg->ptag != ARIES_PTAG_ANY && arg->ptag != dom->ptag))
		return -ENOENT;
	if (dom->job_id != arg->job_id)
		return -ENOENT;
	if (dom->attached)
		return -EBUSY;
	trace_aries_job_destroy(ad->id, dom);
	aries_ptag_remove(ad, dom);
	return 0;
}

static void aries_job_set(u32 *limit, s32 wanted)
{
	if (wanted >= 0)
		WRITE_ONCE(*limit, wanted);
}

/* 2^N MiB in pages, or U32_MAX if that is too large. */
static u32 aries_job_pages(s32 log2_mib)
{
	const int shift = log2_mib + 20 - PAGE_SHIFT;

	return shift < 32 ? 1u << shift : U32_MAX;
}

static void aries_job_limit(struct aries_dev *ad, struct aries_domain *dom,
			    const struct kgni_job *arg)
	__must_hold(&ad->ptag_lock)
{
	lockdep_assert_held(&ad->ptag_lock);
	aries_job_set(&dom->limit[ARIES_RES_MDD], arg->limit_mdd);
	aries_job_set(&dom->limit[ARIES_RES_CQ], arg->limit_cq);
	aries_job_set(&dom->limit[ARIES_RES_FMA], arg->limit_fma);
	if (!(arg->flags & KGNI_JOB_LIMITS))
		return;
	aries_job_set(&dom->limit[ARIES_RES_CE], arg->limit_ce);
	aries_job_set(&dom->limit[ARIES_RES_RECV], arg->limit_recv);
	aries_job_set(&dom->dgram_limit, arg->limit_dgram);
	if (arg->limit_iommu >= 0)
		dom->limit[ARIES_RES_PAGES] = aries_job_pages(arg->limit_iommu);
	if (arg->limit_bte >= 0) {
		dom->bte_limited = true;
		dom->bte_limit = min_t(u32, arg->limit_bte, ARIES_PTAG_BTE_LIMIT_MASK);
		aries_ptag_write_limit(ad, dom);
	}
}

static int aries_job_create(struct aries_dev *ad, struct kgni_job *arg)
	__must_hold(&ad->ptag_lock)
{
	struct aries_domain *dom = aries_ptag_by_cookie(ad, arg->cookie);

	lockdep_assert_held(&ad->ptag_lock);
	if (aries_ptag_reserved(arg->ptag, arg->cookie))
		return -EEXIST;
	if (dom) {
		if (arg->ptag != ARIES_PTAG_ANY && arg->ptag != dom->ptag)
			return -EEXIST;
		if (dom->job && dom->job_id != arg->job_id)
			return -EEXIST;
	} else {
		if (arg->ptag != ARIES_PTAG_ANY && ad->domain[arg->ptag])
			return -EEXIST;
		dom = aries_ptag_create(ad, arg->ptag, arg->cookie);
		if (IS_ERR(dom))
			return PTR_ERR(dom);
	}
	dom->job = true;
	dom->job_id = arg->job_id;
	aries_job_limit(ad, dom, arg);
	arg->ptag = dom->ptag;
	trace_aries_job_create(ad->id, dom);
	return 0;
}

static int aries_job_check(const struct kgni_job *arg)
{
	const s32 basic[] = { arg->limit_mdd, arg->limit_cq, arg->limit_fma };
	const s32 more[] = { arg->limit_ce, arg->limit_bte, arg->limit_iommu, arg->limit_dgram,
			     arg->limit_recv };
	const s32 least = arg->flags & KGNI_JOB_LIMITS ? -1 : 0;
	unsigned int i;

	if (arg->flags & ~(KGNI_JOB_DESTROY | KGNI_JOB_LIMITS) || arg->reserved2 ||
	    arg->reserved3 || memchr_inv(arg->reserved, 0, sizeof(arg->reserved)))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(basic); i++)
		if (basic[i] < -1)
			return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(more); i++)
		if (more[i] < least || (!least && more[i]))
			return -EINVAL;
	return arg->limit_iommu > U8_MAX ? -EINVAL : aries_ptag_check(arg->ptag);
}

/** aries_job() - KGNI_IOC_JOB: create, change or destroy a domain. Context: sleeps. */
int aries_job(struct aries_owner *own, struct kgni_job *arg)
{
	struct aries_dev *ad = own->ad;
	int rc;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	rc = aries_job_check(arg);
	if (rc)
		return rc;
	rc = aries_owner_enter(own, false);
	if (rc)
		return rc;
	mutex_lock(&ad->ptag_lock);
	rc = arg->flags & KGNI_JOB_DESTROY ? aries_job_destroy(ad, arg) : aries_job_create(ad, arg);
	mutex_unlock(&ad->ptag_lock);
	aries_owner_exit(own);
	return rc;
}

static int aries_job_find(struct aries_dev *ad, struct kgni_ptag *arg)
{
	struct aries_domain *dom;

	mutex_lock(&ad->ptag_lock);
	dom = aries_ptag_by_cookie(ad, arg->cookie);
	if (dom)
		arg->ptag = dom->ptag;
	mutex_unlock(&ad->ptag_lock);
	return dom ? 0 : -ENOENT;
}

/** aries_job_ptag() - KGNI_IOC_PTAG: find the tag of a cookie. Context: sleeps. */
int aries_job_ptag(struct aries_owner *own, struct kgni_ptag *arg)
{
	struct aries_guess guess;
	int rc;

	if (memchr_inv(arg->reserved, 0, sizeof(arg->reserved)))
		return -EINVAL;
	rc = aries_guess_begin(&guess, arg->cookie);
	if (rc)
		return rc;
	rc = aries_job_find(own->ad, arg);
	aries_guess_end(&guess, rc);
	return rc;
}

static int aries_res_device(struct aries_dev *ad, struct kgni_res *arg)
{
	struct aries_pool *pool;

	if (!arg->kind || (arg->kind >= ARIES_DEV_RES_LAST && arg->kind != KGNI_RES_RECV))
		return -EINVAL;
	switch (arg->kind) {
	case KGNI_RES_RECV:
		pool = &ad->recvs;
		break;
	case ARIES_DEV_RES_MDD:
		pool = &ad->mdds;
		break;
	case ARIES_DEV_RES_CQ:
		pool = &ad->cqs;
		break;
	case ARIES_DEV_RES_FMA:
		pool = &ad->fmads;
		break;
	case ARIES_DEV_RES_CE:
		pool = &ad->ces;
		break;
	default:
		return -EOPNOTSUPP;
	}
	spin_lock(&pool->lock);
	arg->total = pool->size;
	arg->used = pool->used - pool->held;
	arg->reserved_units = pool->first;
	arg->held = pool->held;
	spin_unlock(&pool->lock);
	return 0;
}

static int aries_res_of_job(u32 kind)
{
	if (!kind || (kind >= ARIES_JOB_RES_LAST && kind != KGNI_RES_RECV &&
		      kind != KGNI_RES_DGRAM))
		return -EINVAL;
	switch (kind) {
	case KGNI_RES_RECV:
		return ARIES_RES_RECV;
	case ARIES_JOB_RES_IOMMU:
		return ARIES_RES_PAGES;
	case ARIES_JOB_RES_MDD:
		return ARIES_RES_MDD;
	case ARIES_JOB_RES_CQ:
		return ARIES_RES_CQ;
	case ARIES_JOB_RES_FMA:
	case ARIES_JOB_RES_RMDA:
	case ARIES_JOB_RES_SFMA:
	case KGNI_RES_DGRAM: /* these three are counted separately */
		return ARIES_RES_FMA;
	case ARIES_JOB_RES_CE:
		return ARIES_RES_CE;
	default:
		return -EOPNOTSUPP;
	}
}

/* Use and limit from the account of the domain. */
static void aries_res_account(struct aries_dev *ad, const struct aries_domain *dom,
			      enum aries_res res, struct kgni_res *arg)
	__must_hold(&ad->ptag_lock)
{
	lockdep_assert_held(&ad->ptag_lock);
	arg->total = dom->limit[res];
	arg->used = dom->used[res];
	arg->reserved_units = 0;
	arg->held = 0;
	switch (arg->kind) {
	case ARIES_JOB_RES_RMDA: /* by default a queue for each descriptor */
		arg->total = dom->bte_limited ? dom->bte_limit : arg->total * ad->bte_queue;
		break;
	case ARIES_JOB_RES_IOMMU:
		arg->total <<= PAGE_SHIFT;
		arg->used <<= PAGE_SHIFT;
		break;
	case KGNI_RES_DGRAM:
		arg->total = dom->dgram_limit;
		arg->used = READ_ONCE(dom->dgrams);
		break;
	}
}

static int aries_res_domain(struct aries_dev *ad, struct kgni_res *arg)
{
	int res = aries_res_of_job(arg->kind);
	struct aries_domain *dom;

	if (res < 0)
		return res;
	mutex_lock(&ad->ptag_lock);
	dom = ad->domain[arg->ptag];
	if (dom) {
		aries_domain_get(dom);
		aries_res_account(ad, dom, res, arg);
	}
	mutex_unlock(&ad->ptag_lock);
	if (!dom)
		return -ENOENT;
	if (arg->kind == ARIES_JOB_RES_RMDA)
		arg->used = aries_fmad_transfers(ad, dom);
	if (arg->kind == ARIES_JOB_RES_SFMA) {
		arg->total = aries_pool_total(&ad->owners);
		arg->used = aries_share_count(ad, dom);
	}
	aries_domain_put(dom);
	return 0;
}

/** aries_job_res() - KGNI_IOC_RES: use of a resource by the device or a domain. Context: sleeps. */
int aries_job_res(struct aries_owner *own, struct kgni_res *arg)
{
	struct aries_dev *ad = own->ad;
	int rc;

	if (memchr_inv(arg->reserved, 0, sizeof(arg->reserved)))
		return -EINVAL;
	down_read(&ad->state_sem);
	rc = aries_owner_status(own);
	if (!rc)
		rc = arg->ptag ? aries_res_domain(ad, arg) : aries_res_device(ad, arg);
	up_read(&ad->state_sem);
	return rc;
}
