// SPDX-License-Identifier: GPL-2.0-only
/*
 * FMA descriptors that several attachments of a domain use in turn (GNI_CDM_MODE_FMA_SHARED).
 *
 * An attachment that may share gets a descriptor of its own as long as there are any. When there
 * are none left, or the domain has reached its limit, the next attachment joins a descriptor of its
 * domain. At any time one of the sharing attachments has the descriptor mapped. When another one
 * faults, the handler removes these mappings, saves the descriptor area and the state that the NIC
 * keeps between two stores, and restores those of the attachment that faulted, with its access
 * rights. So no attachment sees or uses what belongs to another. The data path needs neither system
 * calls nor locks. A process that is interrupted between two stores finds everything as it was.
 *
 * Block transfers keep the access rights of the doorbell that started them, and continue.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "aries_user.h"
#include "aries_trace.h"

/**
 * struct aries_fma_saved - saved descriptor state of an attachment that does not have it mapped
 * @area: descriptor area
 * @state: FMAD_STATE register
 * @launch: FMAD_LAUNCH register
 */
struct aries_fma_saved {
	u8 area[ARIES_DESC_STRIDE];
	u64 state;
	u64 launch;
};

/*
 * A process that has just got the descriptor keeps it for this many microseconds, so two processes
 * that want it at the same time both make progress.
 */
#define ARIES_SHARE_US 1000

/**
 * struct aries_share - one descriptor that attachments may share
 * @node: in aries_dev.shares
 * @dom: domain of all attachments, charged for one descriptor; with a reference
 * @nr: number of the descriptor
 * @owner: context number under which it was taken from the pool
 * @users: number of attachments (aries_dev.share_lock)
 * @lock: protects the rest, and the content of the descriptor
 * @current_ctx: attachment that has it mapped, or NULL
 * @since: time of the last page fault of @current_ctx
 * @draining: attachments that wait for its transfers; while not 0 no attachment may map it
 */
struct aries_share {
	struct list_head node;
	struct aries_domain *dom;
	u16 nr;
	u16 owner;
	unsigned int users;
	struct mutex lock; /* the rest */
	struct aries_ctx *current_ctx;
	ktime_t since;
	unsigned int draining;
};

static struct aries_share *aries_share_new(struct aries_ctx *ctx)
{
	struct aries_share *share = kzalloc(sizeof(*share), GFP_KERNEL_ACCOUNT);
	int nr;

	if (!share)
		return ERR_PTR(-ENOMEM);
	nr = aries_fmad_take(&ctx->own);
	if (nr < 0) {
		kfree(share);
		return ERR_PTR(nr);
	}
	share->dom = aries_domain_get(ctx->own.dom);
	share->nr = nr;
	share->owner = ctx->own.nr;
	mutex_init(&share->lock);
	list_add_tail(&share->node, &ctx->own.ad->shares);
	return share;
}

static struct aries_share *aries_share_find(struct aries_ctx *ctx)
{
	struct aries_share *share, *best = NULL;

	list_for_each_entry(share, &ctx->own.ad->shares, node)
		if (share->dom == ctx->own.dom && (!best || share->users < best->users))
			best = share;
	return best ? best : ERR_PTR(-ENOSPC);
}

/**
 * aries_share_get() - get a descriptor for an attachment that may share: its own or a share
 * @ctx: attachment; domain, context number and modes are set
 *
 * Context: may sleep; state_sem and ctx->own.lock held. Return: 0, -ENOSPC, -ENOMEM.
 */
int aries_share_get(struct aries_ctx *ctx)
	__must_hold(&ctx->own.lock)
{
	struct aries_dev *ad = ctx->own.ad;
	struct aries_share *share;

	lockdep_assert_held(&ctx->own.lock);
	ctx->saved = kvzalloc(sizeof(*ctx->saved), GFP_KERNEL_ACCOUNT);
	if (!ctx->saved)
		return -ENOMEM;
	mutex_lock(&ad->share_lock);
	share = aries_share_new(ctx);
	if (share == ERR_PTR(-ENOSPC))
		share = aries_share_find(ctx);
	if (!IS_ERR(share))
		share->users++;
	mutex_unlock(&ad->share_lock);
	if (IS_ERR(share)) {
		kvfree(ctx->saved);
		ctx->saved = NULL;
		return PTR_ERR(share);
	}
	ctx->share = share;
	ctx->own.fmad = share->nr;
	return 0;
}

static void aries_share_unmap(struct aries_share *share)
{
	struct aries_ctx *ctx = share->current_ctx;

	if (ctx)
		aries_ctx_zap(ctx, aries_ctx_place(ctx), ARIES_MMAP_PLACE_SIZE);
	share->current_ctx = NULL;
}

/*
 * Unmaps the descriptor from the process that has it mapped, and saves the state of that process.
 */
static void aries_share_save(struct aries_dev *ad, struct aries_share *share)
{
	struct aries_ctx *ctx = share->current_ctx;

	aries_share_unmap(share);
	if (!ctx)
		return;
	memcpy_fromio(ctx->saved->area, ad->desc + share->nr * ARIES_DESC_STRIDE,
		      ARIES_DESC_STRIDE);
	ctx->saved->state = aries_rd64(ad, ARIES_FMAD_STATE_N(share->nr));
	ctx->saved->launch = aries_rd64(ad, ARIES_FMAD_LAUNCH_N(share->nr));
}

/**
 * aries_share_stop() - call before an attachment leaves its descriptor
 * @ctx: attachment
 *
 * If the descriptor has transfers in progress, no attachment may map it until aries_share_put(), so
 * that the transfers can drain. Transfers of other attachments delay this but are not lost. The
 * other attachments map the descriptor again when they fault.
 *
 * Context: sleeps; state_sem and ctx->own.lock held.
 */
void aries_share_stop(struct aries_ctx *ctx)
	__must_hold(&ctx->own.lock)
{
	struct aries_share *share = ctx->share;
	bool current_one;

	lockdep_assert_held(&ctx->own.lock);
	mutex_lock(&share->lock);
	current_one = share->current_ctx == ctx;
	ctx->drains = current_one || aries_fmad_busy(ctx->own.ad, share->nr);
	if (current_one)
		aries_share_unmap(share);
	else if (ctx->drains)
		aries_share_save(ctx->own.ad, share);
	share->draining += ctx->drains;
	mutex_unlock(&share->lock);
}

/**
 * aries_share_put() - leave a descriptor; the last attachment frees it
 * @ctx: attachment, after aries_share_stop()
 *
 * Context: sleeps; state_sem and ctx->own.lock held.
 */
void aries_share_put(struct aries_ctx *ctx)
	__must_hold(&ctx->own.lock)
{
	struct aries_dev *ad = ctx->own.ad;
	struct aries_share *share = ctx->share;
	bool last;

	lockdep_assert_held(&ctx->own.lock);
	mutex_lock(&share->lock);
	share->draining -= ctx->drains;
	ctx->drains = false;
	mutex_unlock(&share->lock);
	mutex_lock(&ad->share_lock);
	last = !--share->users;
	if (last)
		list_del(&share->node);
	mutex_unlock(&ad->share_lock);
	if (last) {
		aries_fmad_give(&ctx->own, share->nr, share->owner);
		aries_domain_put(share->dom);
		kfree(share);
	}
	kvfree(ctx->saved);
	ctx->saved = NULL;
	ctx->share = NULL;
}

static void aries_share_switch(struct aries_ctx *ctx, struct aries_share *share)
{
	struct aries_dev *ad = ctx->own.ad;
	s64 left;

	if (share->current_ctx) {
		left = ARIES_SHARE_US - ktime_us_delta(ktime_get(), share->since);
		if (left > 0)
			usleep_range(left, left + ARIES_SHARE_US / 10);
		aries_share_save(ad, share);
	}
	memcpy_toio(ad->desc + share->nr * ARIES_DESC_STRIDE, ctx->saved->area,
		    ARIES_DESC_STRIDE);
	/* must come before the state registers are written: enabling clears them */
	aries_fmad_enable(&ctx->own, share->nr, 0);
	aries_wr64(ad, ARIES_FMAD_STATE_N(share->nr), ctx->saved->state);
	aries_wr64(ad, ARIES_FMAD_LAUNCH_N(share->nr), ctx->saved->launch);
	share->current_ctx = ctx;
}

/**
 * aries_share_enter() - let an attachment map its descriptor, and block others until the exit
 * @ctx: attachment that may share
 *
 * Context: sleeps; ctx->own.lock held, in the page fault handler.
 * Return: true if it may map, to be followed by aries_share_exit(); false if the descriptor drains.
 */
bool aries_share_enter(struct aries_ctx *ctx)
{
	struct aries_share *share = ctx->share;

	mutex_lock(&share->lock);
	if (share->draining) {
		mutex_unlock(&share->lock);
		return false;
	}
	if (share->current_ctx != ctx)
		aries_share_switch(ctx, share);
	share->since = ktime_get();
	return true;
}

/** aries_share_exit() - end what aries_share_enter() began */
void aries_share_exit(struct aries_ctx *ctx)
{
	mutex_unlock(&ctx->share->lock);
}

/** aries_share_take() - unmap the descriptor from an attachment that may share. Context: sleeps. */
void aries_share_take(struct aries_ctx *ctx)
{
	struct aries_share *share = ctx->share;

	mutex_lock(&share->lock);
	if (share->current_ctx == ctx)
		aries_share_save(ctx->own.ad, share);
	mutex_unlock(&share->lock);
}

/** aries_share_users() - number of users of the same descriptor. Context: ctx->own.lock held. */
unsigned int aries_share_users(struct aries_ctx *ctx)
{
	return ctx->share ? READ_ONCE(ctx->share->users) : 1;
}

/**
 * aries_share_count() - count the attachments of a domain that may share
 * @ad: the device
 * @dom: domain
 *
 * Context: may sleep, but does not wait for an attachment. Return: their number.
 */
unsigned int aries_share_count(struct aries_dev *ad, const struct aries_domain *dom)
{
	struct aries_share *share;
	unsigned int sum = 0;

	mutex_lock(&ad->share_lock);
	list_for_each_entry(share, &ad->shares, node)
		if (share->dom == dom)
			sum += share->users;
	mutex_unlock(&ad->share_lock);
	return sum;
}
