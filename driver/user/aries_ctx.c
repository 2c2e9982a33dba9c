// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attachments. One open file is one attachment: an owner with mappings, whose FMA descriptor a
 * process uses without the kernel. All its resources are released when the last file descriptor of
 * it is closed.
 */
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "aries_dgram_api.h"
#include "aries_user.h"

/* GNI_CDM_MODE_* bits that are defined */
#define ARIES_CDM_MODES 0x003fd3ffu
#define ARIES_CDM_USE_PCI_IOMMU 0x00000080u
#define ARIES_CDM_FMA_SHARED 0x00020000u

/* Removes the mappings of the descriptor. */
static void aries_ctx_unmap(struct aries_ctx *ctx)
	__must_hold(&ctx->own.lock)
{
	lockdep_assert_held(&ctx->own.lock);
	if (ctx->share)
		aries_share_take(ctx);
	else
		aries_ctx_zap(ctx, aries_ctx_place(ctx), ARIES_MMAP_PLACE_SIZE);
}

/*
 * Stops the descriptor: it accepts no new work, but transfers in progress continue. May be called
 * twice. Context: sleeps; state_sem held.
 */
static void aries_ctx_stop(struct aries_ctx *ctx)
	__must_hold(&ctx->own.lock)
{
	lockdep_assert_held(&ctx->own.lock);
	if (ctx->leaving)
		return;
	ctx->leaving = true;
	if (ctx->share)
		aries_share_stop(ctx);
	else
		aries_wr64(ctx->own.ad, ARIES_FMAD_CTL_N(ctx->own.fmad), 0);
}

/*
 * A polled descriptor area must not be shared: when the NIC polls it, the area may already hold the
 * words of another attachment. So attachments that share a descriptor have trapped doorbells only.
 */
static bool aries_ctx_polled(const struct aries_ctx *ctx)
{
	return ctx->own.ad->caps & ARIES_ID_CAPS_POLL_MASK && !ctx->share;
}

/*
 * Gives an attachment its FMA descriptor, or a share of one. The area is cleared first, so nothing
 * of its last user can be seen. Return: 0, -ENOSPC, -ENOMEM.
 */
static int aries_ctx_get_fmad(struct aries_ctx *ctx)
	__must_hold(&ctx->own.lock)
{
	struct aries_dev *ad = ctx->own.ad;
	int nr;

	lockdep_assert_held_read(&ad->state_sem);
	lockdep_assert_held(&ctx->own.lock);
	if (ctx->own.modes & ARIES_CDM_FMA_SHARED)
		return aries_share_get(ctx);
	nr = aries_fmad_take(&ctx->own);
	if (nr < 0)
		return nr;
	ctx->own.fmad = nr;
	memset_io(ad->desc + nr * ARIES_DESC_STRIDE, 0, ARIES_DESC_STRIDE);
	aries_fmad_enable(&ctx->own, nr,
			  aries_ctx_polled(ctx) ? ARIES_FMAD_CTL_POLL_MASK : 0);
	return 0;
}

static void aries_ctx_revoked(struct aries_owner *own)
{
	struct aries_ctx *ctx = container_of(own, struct aries_ctx, own);

	aries_ctx_zap(ctx, 0, 0);
}

static void aries_ctx_leave(struct aries_owner *own, struct list_head *gone)
	__must_hold(&own->lock)
{
	struct aries_ctx *ctx = container_of(own, struct aries_ctx, own);

	lockdep_assert_held(&own->lock);
	if (own->dom)
		aries_dgram_detach(own);
	aries_ees_stop(ctx);
	if (!own->dom)
		return;
	aries_ctx_stop(ctx);
	if (ctx->share)
		aries_share_put(ctx);
	else
		aries_fmad_give(own, own->fmad, own->nr);
	own->fmad = 0;
}

static void aries_ctx_queue_gone(struct aries_owner *own, struct aries_cq *cq)
{
	struct aries_ctx *ctx = container_of(own, struct aries_ctx, own);

	aries_ctx_zap(ctx, ARIES_MMAP_CQ_N(cq->nr), cq->size);
}

static void aries_ctx_suspend(struct aries_owner *own, bool suspend)
	__must_hold(&own->lock)
{
	if (suspend)
		aries_ctx_unmap(container_of(own, struct aries_ctx, own));
}

static void aries_ctx_release(struct aries_owner *own)
{
	struct aries_ctx *ctx = container_of(own, struct aries_ctx, own);

	aries_ees_free(ctx);
	if (ctx->mm)
		mmdrop(ctx->mm);
	aries_ghosts_free(ctx);
	kfree(ctx);
}

static const struct aries_owner_ops aries_ctx_ops = {
	.revoked = aries_ctx_revoked,
	.leave = aries_ctx_leave,
	.queue_gone = aries_ctx_queue_gone,
	.suspend = aries_ctx_suspend,
	.release = aries_ctx_release,
};

/** aries_ctx_of() - the open file of this owner, or NULL if it is a client in the kernel */
struct aries_ctx *aries_ctx_of(struct aries_owner *own)
{
	return own->ops == &aries_ctx_ops ? container_of(own, struct aries_ctx, own) : NULL;
}

/**
 * aries_ctx_new() - create the state of an open file
 * @ad: the device
 * @mapping: address space of the inode
 *
 * Context: may sleep. Return: the state, with a reference to the device, or an error pointer:
 * -ENODEV, -ENOMEM.
 */
struct aries_ctx *aries_ctx_new(struct aries_dev *ad, struct address_space *mapping)
{
	struct aries_ctx *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);
	int rc;

	if (!ctx)
		return ERR_PTR(-ENOMEM);
	ctx->mapping = mapping;
	ctx->own.pid = task_tgid_nr(current);
	get_task_comm(ctx->own.comm, current);
	aries_dgram_init(&ctx->own);
	rc = aries_owner_init(&ctx->own, ad, &aries_ctx_ops);
	if (!rc)
		return ctx;
	kfree(ctx);
	return ERR_PTR(rc);
}

/*
 * When a file is closed its transfers in progress may complete, but no new ones begin. Its inode is
 * not used from here on, except by another attachment that shares the descriptor and unmaps it
 * meanwhile: aries_ctx_stop() waits for that one.
 */
static void aries_ctx_settle(struct aries_ctx *ctx)
{
	unsigned int fmad = 0;

	mutex_lock(&ctx->own.lock);
	WRITE_ONCE(ctx->mapping, NULL);
	if (ctx->own.dom) {
		aries_ctx_stop(ctx);
		if (!ctx->share || ctx->drains)
			fmad = ctx->own.fmad;
	}
	mutex_unlock(&ctx->own.lock);
	if (fmad)
		aries_fmad_wait(ctx->own.ad, fmad);
}

/** aries_ctx_free() - release everything that an open file holds. Context: sleeps. */
void aries_ctx_free(struct aries_ctx *ctx)
{
	down_read(&ctx->own.ad->state_sem);
	aries_owner_unlist(&ctx->own);
	aries_ctx_settle(ctx);
	aries_owner_end(&ctx->own);
}

/**
 * aries_ctx_own() - check that the caller is the process that attached
 * @ctx: attachment
 *
 * Only pages of that process may be registered. Another process may have the file too, by fork() or
 * by passing the descriptor. Its pages would stay pinned after its death, and nobody could unmap or
 * unaccount them.
 *
 * Context: ctx->own.lock held. Return: 0 or -EBADF.
 */
int aries_ctx_own(struct aries_ctx *ctx)
	__must_hold(&ctx->own.lock)
{
	lockdep_assert_held(&ctx->own.lock);
	if (ctx->mm == current->mm)
		return 0;
	dev_dbg_ratelimited(&ctx->own.ad->dev, "%s[%d] registers memory through the file of %s[%d]; it must open and attach one of its own\n",
			    current->comm, task_tgid_nr(current), ctx->own.comm, ctx->own.pid);
	return -EBADF;
}

static int aries_ctx_join(struct aries_ctx *ctx, const struct kgni_attach *arg)
	__must_hold(&ctx->own.lock)
{
	struct aries_owner *own = &ctx->own;
	int rc;

	lockdep_assert_held(&own->lock);
	own->modes = arg->modes;
	own->inst_id = arg->inst_id;
	rc = aries_owner_join(own, arg->ptag, arg->cookie, false);
	if (rc)
		return rc;
	ctx->leaving = false;
	rc = aries_ctx_get_fmad(ctx);
	if (rc) {
		aries_owner_leave(own);
		return rc;
	}
	if (!ctx->mm) {
		ctx->mm = current->mm;
		mmgrab(ctx->mm);
	}
	aries_dgram_attach(own);
	aries_owner_start(own);
	return 0;
}

static int aries_ctx_check_attach(struct aries_ctx *ctx, const struct kgni_attach *arg)
{
	if (arg->abi_version != KGNI_ABI_VERSION)
		return -EPROTO;
	if (arg->modes & ~ARIES_CDM_MODES || memchr_inv(arg->reserved, 0, sizeof(arg->reserved)))
		return -EINVAL;
	/* the caller asks for an IOMMU where there is none */
	if (arg->modes & ARIES_CDM_USE_PCI_IOMMU &&
	    !device_iommu_mapped(&ctx->own.ad->pdev->dev))
		return -EOPNOTSUPP;
	return 0;
}

static int aries_ctx_do_attach(struct aries_ctx *ctx, struct kgni_attach *arg)
{
	int rc = aries_owner_enter(&ctx->own, false);

	if (rc)
		return rc;
	rc = ctx->own.dom ? -EBUSY : aries_ctx_join(ctx, arg);
	if (!rc) {
		arg->ptag = ctx->own.dom->ptag;
		arg->owner = ctx->own.nr;
		arg->pe = ctx->own.pe;
		arg->fmad = ctx->own.fmad;
		arg->put_size = aries_ctx_window(ctx);
		arg->desc_offset = aries_ctx_place(ctx) + ARIES_MMAP_DESC;
		arg->doorbell_offset = aries_ctx_place(ctx) + ARIES_MMAP_DOORBELL;
		arg->put_offset = aries_ctx_place(ctx) + ARIES_MMAP_PUT;
		arg->get_offset = aries_ctx_place(ctx) + ARIES_MMAP_GET;
		arg->poll_offset = aries_ctx_polled(ctx) ? ARIES_DESC_POLL : 0;
		arg->awake_offset = aries_ctx_polled(ctx) ? ARIES_DESC_AWAKE : 0;
	}
	aries_owner_exit(&ctx->own);
	return rc;
}

/** aries_ctx_attach() - KGNI_IOC_ATTACH. Context: sleeps. */
int aries_ctx_attach(struct aries_ctx *ctx, struct kgni_attach *arg)
{
	struct aries_guess guess;
	int rc = aries_ctx_check_attach(ctx, arg);

	if (!rc)
		rc = aries_guess_begin(&guess, arg->cookie);
	if (rc)
		return rc;
	rc = aries_ctx_do_attach(ctx, arg);
	aries_guess_end(&guess, rc);
	return rc;
}
