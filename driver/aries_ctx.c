// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attachments. One open file is one attachment; whatever it holds goes away with its last
 * descriptor, or before that when the NIC is reset or removed.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "aries.h"
#include "aries_trace.h"

/* GNI_CDM_MODE_* bits that have a meaning */
#define ARIES_CDM_MODES 0x003fd3ffu
#define ARIES_CDM_USE_PCI_IOMMU 0x00000080u

/**
 * aries_ctx_new() - make the state of an open file
 * @ad: the device
 * @mapping: of the inode
 *
 * Context: may sleep. Return: it, with a reference to the device, or an error pointer: -ENODEV,
 * -ENOMEM.
 */
struct aries_ctx *aries_ctx_new(struct aries_dev *ad, struct address_space *mapping)
{
	struct aries_ctx *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);

	if (!ctx)
		return ERR_PTR(-ENOMEM);
	kref_init(&ctx->ref);
	ctx->ad = ad;
	ctx->mapping = mapping;
	ctx->pid = task_tgid_nr(current);
	get_task_comm(ctx->comm, current);
	mutex_init(&ctx->lock);
	xa_init(&ctx->cqs);
	xa_init(&ctx->mems);
	INIT_LIST_HEAD(&ctx->recvs);
	aries_dgram_init(ctx);
	down_read(&ad->state_sem);
	if (ad->state == ARIES_STATE_GONE) {
		up_read(&ad->state_sem);
		kfree(ctx);
		return ERR_PTR(-ENODEV);
	}
	mutex_lock(&ad->ctx_lock);
	ctx->id = ++ad->ctx_id;
	list_add_tail(&ctx->node, &ad->ctxs);
	mutex_unlock(&ad->ctx_lock);
	up_read(&ad->state_sem);
	get_device(&ad->dev);
	return ctx;
}

/* Revokes everything, without waiting; what somebody may still reach is in @gone then. */
static void aries_ctx_teardown(struct aries_ctx *ctx, struct list_head *gone)
	__must_hold(&ctx->lock)
{
	struct aries_dev *ad = ctx->ad;

	lockdep_assert_held(&ad->state_sem);
	lockdep_assert_held(&ctx->lock);
	aries_ees_stop(ctx);
	if (!ctx->dom)
		return;
	trace_aries_detach(ctx);
	aries_dgram_detach(ctx);
	aries_fmad_put(ctx);
	aries_ce_teardown(ctx, gone);
	aries_inst_del(ctx);
	aries_recv_teardown(ctx, gone);
	aries_mem_teardown(ctx, gone);
	aries_vmdh_leave(ctx, gone);
	aries_cq_teardown(ctx, gone);
	aries_pool_put(&ad->owners, ctx->owner, 0);
	aries_domain_leave(ad, ctx->dom);
	ctx->dom = NULL;
}

static void aries_ctx_release(struct kref *ref)
{
	struct aries_ctx *ctx = container_of(ref, struct aries_ctx, ref);
	struct aries_dev *ad = ctx->ad;

	xa_destroy(&ctx->cqs);
	xa_destroy(&ctx->mems);
	aries_ees_free(ctx);
	if (ctx->mm)
		mmdrop(ctx->mm);
	aries_ghosts_free(ctx);
	kfree(ctx);
	put_device(&ad->dev);
}

/** aries_ctx_put() - drop a reference. Context: sleeps. */
void aries_ctx_put(struct aries_ctx *ctx)
{
	kref_put(&ctx->ref, aries_ctx_release);
}

/**
 * aries_ctx_next() - the files that are open, one after another
 * @ad: the device
 * @last: the one before, NULL for the first; its reference is dropped
 *
 * No lock is held afterwards, so that one that is busy keeps nobody else from opening or closing.
 * Files that are opened meanwhile come at the end.
 *
 * Context: sleeps. Return: the next one with a reference, or NULL.
 */
struct aries_ctx *aries_ctx_next(struct aries_dev *ad, struct aries_ctx *last)
{
	u64 id = last ? last->id : 0;
	struct aries_ctx *ctx, *next = NULL;

	mutex_lock(&ad->ctx_lock);
	list_for_each_entry(ctx, &ad->ctxs, node)
		if (ctx->id > id) {
			kref_get(&ctx->ref);
			next = ctx;
			break;
		}
	mutex_unlock(&ad->ctx_lock);
	if (last)
		aries_ctx_put(last);
	return next;
}

/* A file is closed: what it has started may end, while it begins nothing any more. */
static void aries_ctx_settle(struct aries_ctx *ctx)
{
	unsigned int fmad = 0;

	mutex_lock(&ctx->lock);
	if (ctx->dom) {
		aries_fmad_stop(ctx);
		if (!ctx->share || ctx->drains)
			fmad = ctx->fmad;
	}
	mutex_unlock(&ctx->lock);
	if (fmad)
		aries_fmad_wait(ctx->ad, fmad);
}

/** aries_ctx_free() - undo everything an open file has done. Context: sleeps. */
void aries_ctx_free(struct aries_ctx *ctx)
{
	struct aries_dev *ad = ctx->ad;
	LIST_HEAD(gone);

	down_read(&ad->state_sem);
	mutex_lock(&ad->ctx_lock);
	list_del(&ctx->node);
	mutex_unlock(&ad->ctx_lock);
	aries_ctx_settle(ctx);
	mutex_lock(&ctx->lock);
	aries_ctx_teardown(ctx, &gone);
	aries_ctx_exit_free(ctx, &gone);
	aries_ctx_put(ctx);
}

/**
 * aries_ctx_status() - may this file still use the NIC?
 * @ctx: attachment
 *
 * Context: state_sem held.
 * Return: 0, -ENODEV the NIC is gone or does not answer, -EIO it was reset.
 */
int aries_ctx_status(struct aries_ctx *ctx)
{
	lockdep_assert_held(&ctx->ad->state_sem);
	if (ctx->ad->state == ARIES_STATE_GONE)
		return -ENODEV;
	if (ctx->dead || ctx->ad->state == ARIES_STATE_RESET)
		return -EIO;
	return READ_ONCE(ctx->ad->hw_ok) ? 0 : -ENODEV;
}

/**
 * aries_ctx_own() - is the caller the process that attached?
 * @ctx: attachment
 *
 * Only its pages may be registered. Those of a process that has the file from it, by fork() or
 * otherwise, would stay pinned when that process is gone and nobody can unmap or account them.
 *
 * Context: ctx->lock held. Return: 0 or -EBADF.
 */
int aries_ctx_own(struct aries_ctx *ctx)
	__must_hold(&ctx->lock)
{
	lockdep_assert_held(&ctx->lock);
	if (ctx->mm == current->mm)
		return 0;
	dev_dbg_ratelimited(&ctx->ad->dev, "%s[%d] registers memory through the file of %s[%d]; it must open and attach one of its own\n",
			    current->comm, task_tgid_nr(current), ctx->comm, ctx->pid);
	return -EBADF;
}

/**
 * aries_ctx_enter() - begin to work on an open file: takes state_sem for reading and ctx->lock
 * @ctx: attachment
 * @attached: refuse files without attachment
 *
 * Context: sleeps. Return: 0, or with nothing locked -ENODEV, -EIO, -ENOTCONN.
 */
int aries_ctx_enter(struct aries_ctx *ctx, bool attached)
{
	int rc;

	down_read(&ctx->ad->state_sem);
	mutex_lock(&ctx->lock);
	rc = aries_ctx_status(ctx);
	if (!rc && attached && !ctx->dom)
		rc = -ENOTCONN;
	if (rc)
		aries_ctx_exit(ctx);
	return rc;
}

/** aries_ctx_exit() - end what aries_ctx_enter() began */
void aries_ctx_exit(struct aries_ctx *ctx)
{
	mutex_unlock(&ctx->lock);
	up_read(&ctx->ad->state_sem);
}

/**
 * aries_ctx_exit_free() - end what aries_ctx_enter() began, and free what was revoked meanwhile
 * @ctx: attachment
 * @gone: list from aries_quiet_take(), empty afterwards
 *
 * Context: sleeps; others may use the file while this waits.
 */
void aries_ctx_exit_free(struct aries_ctx *ctx, struct list_head *gone)
{
	mutex_unlock(&ctx->lock);
	aries_quiet_release(ctx->ad, gone);
	up_read(&ctx->ad->state_sem);
}

/**
 * aries_ctx_node() - physical address of a node that a process names
 * @ctx: attachment; a file that is none names physical nodes
 * @pe: as the process says
 * @node: gets it
 *
 * Context: sleeps. Return: 0 or -EINVAL: the domain has no such node.
 */
int aries_ctx_node(struct aries_ctx *ctx, u32 pe, u32 *node)
{
	int rc = 0;

	*node = pe;
	mutex_lock(&ctx->lock);
	if (ctx->dom && ctx->dom->ntt_size && aries_ntt_physical(ctx->ad, ctx->dom, pe, node))
		rc = -EINVAL;
	mutex_unlock(&ctx->lock);
	return rc;
}

/** aries_ctx_pe() - what the process calls a node, or KGNI_NO_PE. Context: sleeps. */
u32 aries_ctx_pe(struct aries_ctx *ctx, u32 node)
{
	u32 pe = node;

	mutex_lock(&ctx->lock);
	if (ctx->dom && aries_ntt_virtual(ctx->ad, ctx->dom, node, &pe))
		pe = KGNI_NO_PE;
	mutex_unlock(&ctx->lock);
	return pe;
}

static int aries_ctx_join(struct aries_ctx *ctx, const struct kgni_attach *arg)
	__must_hold(&ctx->lock)
{
	struct aries_dev *ad = ctx->ad;
	int rc;

	lockdep_assert_held(&ctx->lock);
	ctx->dom = aries_domain_join(ad, arg->ptag, arg->cookie);
	if (IS_ERR(ctx->dom)) {
		rc = PTR_ERR(ctx->dom);
		goto err_dom;
	}
	rc = aries_pool_get(&ad->owners, 0);
	if (rc < 0)
		goto err_leave;
	ctx->owner = rc;
	rc = aries_ntt_virtual(ad, ctx->dom, ad->pe, &ctx->pe);
	if (rc)
		goto err_owner;
	ctx->modes = arg->modes;
	ctx->leaving = false;
	rc = aries_fmad_get(ctx);
	if (rc)
		goto err_owner;
	ctx->inst_id = arg->inst_id;
	if (!ctx->mm) {
		ctx->mm = current->mm;
		mmgrab(ctx->mm);
	}
	aries_dgram_attach(ctx);
	/* a suspension that begins after this look finds us in the list */
	WRITE_ONCE(ctx->suspended, READ_ONCE(ctx->dom->suspended));
	aries_inst_add(ctx);
	trace_aries_attach(ctx);
	return 0;

err_owner:
	aries_pool_put(&ad->owners, ctx->owner, 0);
err_leave:
	aries_domain_leave(ad, ctx->dom);
err_dom:
	ctx->dom = NULL;
	return rc;
}

static int aries_ctx_check_attach(struct aries_ctx *ctx, const struct kgni_attach *arg)
{
	if (arg->abi_version != KGNI_ABI_VERSION)
		return -EPROTO;
	if (arg->modes & ~ARIES_CDM_MODES || memchr_inv(arg->reserved, 0, sizeof(arg->reserved)))
		return -EINVAL;
	/* asked for translation by the root complex where there is none */
	if (arg->modes & ARIES_CDM_USE_PCI_IOMMU && !device_iommu_mapped(&ctx->ad->pdev->dev))
		return -EOPNOTSUPP;
	return 0;
}

static int aries_ctx_do_attach(struct aries_ctx *ctx, struct kgni_attach *arg)
{
	int rc = aries_ctx_enter(ctx, false);

	if (rc)
		return rc;
	rc = ctx->dom ? -EBUSY : aries_ctx_join(ctx, arg);
	if (!rc) {
		arg->ptag = ctx->dom->ptag;
		arg->owner = ctx->owner;
		arg->pe = ctx->pe;
		arg->fmad = ctx->fmad;
		arg->put_size = aries_ctx_window(ctx);
		arg->desc_offset = aries_ctx_place(ctx) + ARIES_MMAP_DESC;
		arg->doorbell_offset = aries_ctx_place(ctx) + ARIES_MMAP_DOORBELL;
		arg->put_offset = aries_ctx_place(ctx) + ARIES_MMAP_PUT;
		arg->get_offset = aries_ctx_place(ctx) + ARIES_MMAP_GET;
	}
	aries_ctx_exit(ctx);
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

static void aries_ctx_revoke(struct aries_ctx *ctx, struct list_head *gone)
{
	mutex_lock(&ctx->lock);
	/* Before the mappings go: a page fault that comes later must find it. */
	WRITE_ONCE(ctx->dead, true);
	unmap_mapping_range(ctx->mapping, 0, 0, 1);
	wake_up_all(&ctx->ad->resume_wq);
	aries_ctx_teardown(ctx, gone);
	mutex_unlock(&ctx->lock);
}

/**
 * aries_ctx_revoke_all() - take everything from every open file
 * @ad: the device
 * @state: the device's state from now on
 *
 * Mappings lead nowhere: they read as ones; sleepers wake up; memory is unpinned. Open files stay
 * what they are and get -EIO or -ENODEV. Those that are opened meanwhile are not touched.
 *
 * Context: sleeps. When it returns no attachment is left, and nobody is about to end one.
 */
void aries_ctx_revoke_all(struct aries_dev *ad, enum aries_state state)
{
	struct aries_ctx *ctx = NULL;
	LIST_HEAD(gone);
	u64 last;

	down_write(&ad->state_sem);
	ad->state = state;
	trace_aries_reset(ad->id, state, READ_ONCE(ad->hw_ok));
	last = ad->ctx_id;
	/* from here on nobody begins anything; who asks is told so and does not wait */
	downgrade_write(&ad->state_sem);
	while ((ctx = aries_ctx_next(ad, ctx))) {
		if (ctx->id > last) {
			aries_ctx_put(ctx);
			break;
		}
		aries_ctx_revoke(ctx, &gone);
	}
	aries_quiet_release(ad, &gone);
	up_read(&ad->state_sem);
	aries_clock_wake(ad);
	/* files that were being closed meanwhile have given everything back after this */
	down_write(&ad->state_sem);
	up_write(&ad->state_sem);
}
