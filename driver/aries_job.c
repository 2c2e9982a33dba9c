// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of launchers and of the curious: KGNI_IOC_JOB, KGNI_IOC_PTAG, KGNI_IOC_RES.
 */
#include <linux/capability.h>

#include "aries.h"
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
	aries_ptag_destroy(ad, dom);
	return 0;
}

static int aries_job_create(struct aries_dev *ad, struct kgni_job *arg)
{
	const s32 limit[ARIES_RES_COUNT] = { [ARIES_RES_MDD] = arg->limit_mdd,
					     [ARIES_RES_CQ] = arg->limit_cq,
					     [ARIES_RES_FMA] = arg->limit_fma,
					     [ARIES_RES_CE] = -1 };
	struct aries_domain *dom = aries_ptag_by_cookie(ad, arg->cookie);
	unsigned int i;

	if (aries_chan_reserved(arg->ptag, arg->cookie))
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
	for (i = 0; i < ARIES_RES_COUNT; i++)
		if (limit[i] >= 0)
			dom->limit[i] = limit[i];
	arg->ptag = dom->ptag;
	trace_aries_job_create(ad->id, dom);
	return 0;
}

/** aries_job() - KGNI_IOC_JOB: create, change or destroy a domain. Context: sleeps. */
int aries_job(struct aries_ctx *ctx, struct kgni_job *arg)
{
	struct aries_dev *ad = ctx->ad;
	int rc;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (arg->flags & ~KGNI_JOB_DESTROY || arg->reserved2 ||
	    memchr_inv(arg->reserved, 0, sizeof(arg->reserved)))
		return -EINVAL;
	if (arg->limit_mdd < -1 || arg->limit_cq < -1 || arg->limit_fma < -1)
		return -EINVAL;
	rc = aries_ptag_check(arg->ptag);
	if (rc)
		return rc;
	rc = aries_ctx_enter(ctx, false);
	if (rc)
		return rc;
	mutex_lock(&ad->ptag_lock);
	rc = arg->flags & KGNI_JOB_DESTROY ? aries_job_destroy(ad, arg) : aries_job_create(ad, arg);
	mutex_unlock(&ad->ptag_lock);
	aries_ctx_exit(ctx);
	return rc;
}

/** aries_job_ptag() - KGNI_IOC_PTAG: tag of a cookie. Context: sleeps. */
int aries_job_ptag(struct aries_ctx *ctx, struct kgni_ptag *arg)
{
	struct aries_dev *ad = ctx->ad;
	struct aries_domain *dom;
	int rc = -ENOENT;

	if (memchr_inv(arg->reserved, 0, sizeof(arg->reserved)))
		return -EINVAL;
	mutex_lock(&ad->ptag_lock);
	dom = aries_ptag_by_cookie(ad, arg->cookie);
	if (dom) {
		arg->ptag = dom->ptag;
		rc = 0;
	}
	mutex_unlock(&ad->ptag_lock);
	return rc;
}

static int aries_res_device(struct aries_dev *ad, struct kgni_res *arg)
{
	struct aries_pool *pool;

	if (!arg->kind || arg->kind >= ARIES_DEV_RES_LAST)
		return -EINVAL;
	switch (arg->kind) {
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
	arg->total = aries_pool_total(pool);
	arg->used = aries_pool_used(pool);
	arg->reserved_units = pool->first;
	arg->held = READ_ONCE(pool->held);
	return 0;
}

/** aries_res_transfers() - block transfers of a domain that have not ended. Context: state_sem. */
u64 aries_res_transfers(struct aries_dev *ad, u8 ptag)
{
	DECLARE_BITMAP(seen, ARIES_FMA_DESCRIPTORS) = {}; /* several may share one */
	struct aries_ctx *ctx;
	u64 sum = 0;

	lockdep_assert_held_read(&ad->state_sem);
	mutex_lock(&ad->ctx_lock);
	list_for_each_entry(ctx, &ad->ctxs, node) {
		mutex_lock(&ctx->lock);
		if (ctx->dom && ctx->dom->ptag == ptag && !__test_and_set_bit(ctx->fmad, seen))
			sum += aries_fmad_busy(ad, ctx->fmad);
		mutex_unlock(&ctx->lock);
	}
	mutex_unlock(&ad->ctx_lock);
	return sum;
}

static u64 aries_res_sharing(struct aries_dev *ad, u8 ptag)
{
	struct aries_ctx *ctx;
	u64 sum = 0;

	mutex_lock(&ad->ctx_lock);
	list_for_each_entry(ctx, &ad->ctxs, node) {
		mutex_lock(&ctx->lock);
		sum += ctx->dom && ctx->dom->ptag == ptag && ctx->share;
		mutex_unlock(&ctx->lock);
	}
	mutex_unlock(&ad->ctx_lock);
	return sum;
}

static int aries_res_of_job(u32 kind)
{
	if (!kind || kind >= ARIES_JOB_RES_LAST)
		return -EINVAL;
	switch (kind) {
	case ARIES_JOB_RES_MDD:
		return ARIES_RES_MDD;
	case ARIES_JOB_RES_CQ:
		return ARIES_RES_CQ;
	case ARIES_JOB_RES_FMA:
	case ARIES_JOB_RES_RMDA:
	case ARIES_JOB_RES_SFMA:
		return ARIES_RES_FMA;
	case ARIES_JOB_RES_CE:
		return ARIES_RES_CE;
	default:
		return -EOPNOTSUPP;
	}
}

static int aries_res_domain(struct aries_dev *ad, struct kgni_res *arg)
{
	int res = aries_res_of_job(arg->kind);
	struct aries_domain *dom;
	int rc = -ENOENT;

	if (res < 0)
		return res;
	mutex_lock(&ad->ptag_lock);
	dom = ad->domain[arg->ptag];
	if (dom) {
		arg->total = dom->limit[res];
		arg->used = dom->used[res];
		arg->reserved_units = 0;
		arg->held = 0;
		rc = 0;
	}
	mutex_unlock(&ad->ptag_lock);
	if (!rc && arg->kind == ARIES_JOB_RES_RMDA) {
		/* each FMA descriptor of the domain has a queue of its own */
		arg->total *= ad->bte_queue;
		arg->used = aries_res_transfers(ad, arg->ptag);
	}
	if (!rc && arg->kind == ARIES_JOB_RES_SFMA) {
		arg->total = aries_pool_total(&ad->owners);
		arg->used = aries_res_sharing(ad, arg->ptag);
	}
	return rc;
}

/** aries_job_res() - KGNI_IOC_RES: use of a resource by the device or a domain. Context: sleeps. */
int aries_job_res(struct aries_ctx *ctx, struct kgni_res *arg)
{
	struct aries_dev *ad = ctx->ad;
	int rc;

	if (memchr_inv(arg->reserved, 0, sizeof(arg->reserved)))
		return -EINVAL;
	down_read(&ad->state_sem);
	rc = aries_ctx_status(ctx);
	if (!rc)
		rc = arg->ptag ? aries_res_domain(ad, arg) : aries_res_device(ad, arg);
	up_read(&ad->state_sem);
	return rc;
}
