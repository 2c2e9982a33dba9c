// SPDX-License-Identifier: GPL-2.0-only
/*
 * FMA descriptors. The rights of one stand in FMAD_CTL, which only the kernel can reach; the area
 * and windows that a process maps hold none of them.
 */
#include <linux/io.h>
#include <linux/mm.h>

#include "aries.h"
#include "aries_trace.h"

/* A 4 GiB block transfer on a busy machine must be able to end. */
#define ARIES_FMAD_MS 120000

/* GNI_CDM_MODE_CACHED_AMO_ENABLED */
#define ARIES_CDM_CACHED_AMO 0x00040000u

/* GNI_CDM_MODE_FMA_SHARED */
#define ARIES_CDM_FMA_SHARED 0x00020000u

/**
 * aries_fmad_take() - take a free FMA descriptor on the account of a domain
 * @ctx: attachment; domain and context number are set
 *
 * Context: may sleep; ctx->lock held. Return: its number or -ENOSPC.
 */
int aries_fmad_take(struct aries_ctx *ctx)
{
	struct aries_dev *ad = ctx->ad;
	int nr, rc;

	rc = aries_domain_charge(ad, ctx->dom, ARIES_RES_FMA, 1);
	if (rc)
		return rc;
	nr = aries_pool_get(&ad->fmads, ctx->owner);
	if (nr < 0)
		aries_domain_uncharge(ad, ctx->dom, ARIES_RES_FMA, 1);
	else
		set_bit(nr, ctx->dom->fmads);
	return nr;
}

/** aries_fmad_enable() - give a descriptor the rights of an attachment */
void aries_fmad_enable(struct aries_ctx *ctx, unsigned int nr)
{
	struct aries_dev *ad = ctx->ad;

	aries_wr64(ad, ARIES_FMAD_CTL_N(nr),
		   FIELD_PREP(ARIES_FMAD_CTL_ENABLE_MASK, 1ull) |
			   FIELD_PREP(ARIES_FMAD_CTL_CACHED_AMO_MASK,
				      ctx->modes & ARIES_CDM_CACHED_AMO ? 1ull : 0ull) |
			   FIELD_PREP(ARIES_FMAD_CTL_NTT_MASK, ctx->dom->ntt_size ? 1ull : 0ull) |
			   FIELD_PREP(ARIES_FMAD_CTL_NTT_BASE_MASK, (u64)ctx->dom->ntt_base) |
			   FIELD_PREP(ARIES_FMAD_CTL_NTT_SIZE_MASK, (u64)ctx->dom->ntt_size) |
			   FIELD_PREP(ARIES_FMAD_CTL_PTAG_MASK, (u64)ctx->dom->ptag) |
			   FIELD_PREP(ARIES_FMAD_CTL_OWNER_MASK, (u64)ctx->owner));
	trace_aries_fmad_enable(ctx, nr);
}

/** aries_fmad_unmap() - take the mappings from an attachment; it may fault them in again */
void aries_fmad_unmap(struct aries_ctx *ctx)
	__must_hold(&ctx->lock)
{
	lockdep_assert_held(&ctx->lock);
	if (ctx->share)
		aries_share_take(ctx);
	else
		unmap_mapping_range(ctx->mapping, aries_ctx_place(ctx), ARIES_MMAP_PLACE_SIZE, 1);
}

/**
 * aries_fmad_stop() - the descriptor of an attachment takes no more work; what it has goes on
 * @ctx: attachment
 *
 * May be called twice. Context: sleeps; state_sem and ctx->lock held.
 */
void aries_fmad_stop(struct aries_ctx *ctx)
	__must_hold(&ctx->lock)
{
	lockdep_assert_held(&ctx->lock);
	if (ctx->leaving)
		return;
	ctx->leaving = true;
	if (ctx->share)
		aries_share_stop(ctx);
	else
		aries_wr64(ctx->ad, ARIES_FMAD_CTL_N(ctx->fmad), 0);
}

/**
 * aries_fmad_wait() - wait for the transfers of a descriptor
 * @ad: the device
 * @nr: number of a descriptor that takes no more work
 *
 * Context: sleeps; state_sem held for reading. Gives up when somebody wants to write, which is a
 * reset: that ends the transfers.
 */
void aries_fmad_wait(struct aries_dev *ad, unsigned int nr)
{
	int rc = aries_hw_poll64(ad, ARIES_FMAD_STATUS_N(nr), ARIES_FMAD_STATUS_BUSY_MASK,
				 ARIES_FMAD_MS);

	if (rc == -ETIMEDOUT)
		dev_err(&ad->dev, "FMA descriptor %u busy after %u s, kept back until a reset\n",
			nr, ARIES_FMAD_MS / 1000);
}

/**
 * aries_fmad_give() - give a descriptor back
 * @ctx: attachment that leaves it
 * @nr: its number
 * @owner: context number that it was taken with
 *
 * A descriptor that is still busy is kept back until the next reset. Its memory is safe all the
 * same: what revokes the memory domains waits for accesses on its own.
 *
 * Context: sleeps; state_sem and ctx->lock held.
 */
void aries_fmad_give(struct aries_ctx *ctx, unsigned int nr, u16 owner)
{
	struct aries_dev *ad = ctx->ad;

	aries_wr64(ad, ARIES_FMAD_CTL_N(nr), 0);
	trace_aries_fmad_disable(ctx, nr);
	clear_bit(nr, ctx->dom->fmads);
	if (aries_fmad_busy(ad, nr))
		aries_pool_hold(&ad->fmads, nr, owner);
	else
		aries_pool_put(&ad->fmads, nr, owner);
	aries_domain_uncharge(ad, ctx->dom, ARIES_RES_FMA, 1);
}

/**
 * aries_fmad_get() - give an attachment its FMA descriptor, or a share of one
 * @ctx: attachment; domain, context number and modes are set
 *
 * The area is cleared before: nothing of its last user may be seen.
 *
 * Context: may sleep; state_sem and ctx->lock held. Return: 0, -ENOSPC, -ENOMEM.
 */
int aries_fmad_get(struct aries_ctx *ctx)
	__must_hold(&ctx->lock)
{
	struct aries_dev *ad = ctx->ad;
	int nr;

	lockdep_assert_held_read(&ad->state_sem);
	lockdep_assert_held(&ctx->lock);
	if (ctx->modes & ARIES_CDM_FMA_SHARED)
		return aries_share_get(ctx);
	nr = aries_fmad_take(ctx);
	if (nr < 0)
		return nr;
	ctx->fmad = nr;
	memset_io(ad->desc + nr * ARIES_DESC_STRIDE, 0, ARIES_DESC_STRIDE);
	aries_fmad_enable(ctx, nr);
	return 0;
}

/**
 * aries_fmad_put() - take the FMA descriptor from an attachment
 * @ctx: attachment
 *
 * Context: sleeps; state_sem and ctx->lock held.
 */
void aries_fmad_put(struct aries_ctx *ctx)
	__must_hold(&ctx->lock)
{
	lockdep_assert_held(&ctx->lock);
	aries_fmad_stop(ctx);
	if (ctx->share)
		aries_share_put(ctx);
	else
		aries_fmad_give(ctx, ctx->fmad, ctx->owner);
	ctx->fmad = 0;
}

/** aries_fmad_busy() - block transfers that a descriptor has queued or in progress */
unsigned int aries_fmad_busy(struct aries_dev *ad, unsigned int fmad)
{
	u64 status = aries_rd64(ad, ARIES_FMAD_STATUS_N(fmad));

	return status == ~0ull ? 0 : FIELD_GET(ARIES_FMAD_STATUS_BUSY_MASK, status);
}

/**
 * aries_fmad_transfers() - block transfers of a domain that have not ended
 * @ad: the device
 * @dom: domain, with a reference
 *
 * Asks the NIC and nobody else: an attachment that waits for its own does not hold this up.
 *
 * Context: state_sem held. Return: how many.
 */
u64 aries_fmad_transfers(struct aries_dev *ad, const struct aries_domain *dom)
{
	unsigned int nr;
	u64 sum = 0;

	lockdep_assert_held(&ad->state_sem);
	for_each_set_bit(nr, dom->fmads, ARIES_FMA_DESCRIPTORS)
		sum += aries_fmad_busy(ad, nr);
	return sum;
}
