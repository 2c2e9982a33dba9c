// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/kgniN: open, release and the table of ioctls.
 */
#include <generated/utsrelease.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/uaccess.h>

#include "aries_dgram_api.h"
#include "aries_user.h"
#include "aries_trace.h"

const char aries_build[KGNI_BUILD_STRING] =
	"OpenGNI aries " ARIES_DRIVER_VERSION_TEXT " for " UTS_RELEASE;

/* The largest argument. A caller may pass a larger structure if the rest of it is zero. */
union aries_arg {
	u32 argsz;
	struct kgni_query query;
	struct kgni_attach attach;
	struct kgni_cq_create cq_create;
	struct kgni_cq_destroy cq_destroy;
	struct kgni_cq_wait cq_wait;
	struct kgni_mem_register mem_register;
	struct kgni_mem_deregister mem_deregister;
	struct kgni_mem_segments mem_segments;
	struct kgni_mem_update mem_update;
	struct kgni_ntt ntt;
	struct kgni_ntt_info ntt_info;
	struct kgni_job_ntt job_ntt;
	struct kgni_bi bi;
	struct kgni_mdd_block mdd_block;
	struct kgni_job job;
	struct kgni_ptag ptag;
	struct kgni_res res;
	struct kgni_ce_alloc ce_alloc;
	struct kgni_ce_config ce_config;
	struct kgni_ce_free ce_free;
	struct kgni_dgram_post dgram_post;
	struct kgni_dgram_test dgram_test;
	struct kgni_dgram_probe dgram_probe;
	struct kgni_dgram_cancel dgram_cancel;
	struct kgni_clock clock;
	struct kgni_clock_wait clock_wait;
	struct kgni_err_subscribe err_subscribe;
	struct kgni_err_read err_read;
	struct kgni_err_control err_control;
	struct kgni_suspend suspend;
	struct kgni_recv_post recv_post;
	struct kgni_recv_test recv_test;
	struct kgni_recv_cancel recv_cancel;
};

static int aries_ioc_query(struct aries_ctx *ctx, union aries_arg *arg)
{
	struct aries_dev *ad = ctx->own.ad;
	struct kgni_query *q = &arg->query;
	unsigned int cpu;
	int rc;

	down_read(&ad->state_sem);
	rc = ad->state == ARIES_STATE_GONE ? -ENODEV : 0;
	up_read(&ad->state_sem);
	if (rc)
		return rc;
	cpu = cpumask_first(cpumask_of_pcibus(ad->pdev->bus));
	q->abi_version = KGNI_ABI_VERSION;
	q->driver_version = ARIES_DRIVER_VERSION;
	q->device_id = ad->id;
	q->device_type = ARIES_DEVICE_TYPE;
	q->pe = ad->pe;
	q->nodes = ad->nodes;
	q->cpu = cpu < nr_cpu_ids ? cpu : 0;
	q->bte_queue = ad->bte_queue;
	q->msix = ad->nvec;
	q->caps = ad->caps;
	memcpy(q->build, aries_build, sizeof(q->build));
	return 0;
}

static int aries_ioc_attach(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_ctx_attach(ctx, &arg->attach);
}

static int aries_ioc_cq_create(struct aries_ctx *ctx, union aries_arg *arg)
{
	int rc = aries_cq_create(&ctx->own, &arg->cq_create);

	if (!rc)
		arg->cq_create.mmap_offset = ARIES_MMAP_CQ_N(arg->cq_create.cq);
	return rc;
}

static int aries_ioc_cq_destroy(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_cq_destroy(&ctx->own, &arg->cq_destroy);
}

static int aries_ioc_cq_wait(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_cq_wait(&ctx->own, &arg->cq_wait);
}

static int aries_ioc_mem_register(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_mem_register(&ctx->own, &arg->mem_register);
}

static int aries_ioc_mem_deregister(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_mem_deregister(&ctx->own, &arg->mem_deregister);
}

static int aries_ioc_mem_segments(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_mem_segments(&ctx->own, &arg->mem_segments);
}

static int aries_ioc_mem_update(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_mem_update(&ctx->own, &arg->mem_update);
}

static int aries_ioc_ntt(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_ntt(&ctx->own, &arg->ntt);
}

static int aries_ioc_ntt_info(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_ntt_info(&ctx->own, &arg->ntt_info);
}

static int aries_ioc_job_ntt(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_ntt_job(&ctx->own, &arg->job_ntt);
}

static int aries_ioc_mdd_block(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_vmdh_block(&ctx->own, &arg->mdd_block);
}

static int aries_ioc_bi(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_bi(&ctx->own, &arg->bi);
}

static int aries_ioc_job(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_job(&ctx->own, &arg->job);
}

static int aries_ioc_ptag(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_job_ptag(&ctx->own, &arg->ptag);
}

static int aries_ioc_res(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_job_res(&ctx->own, &arg->res);
}

static int aries_ioc_ce_alloc(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_ce_alloc(&ctx->own, &arg->ce_alloc);
}

static int aries_ioc_ce_config(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_ce_config(&ctx->own, &arg->ce_config);
}

static int aries_ioc_ce_free(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_ce_free(&ctx->own, &arg->ce_free);
}

static int aries_ioc_dgram_post(struct aries_ctx *ctx, union aries_arg *arg)
{
	struct kgni_dgram_post *post = &arg->dgram_post;
	u32 pe = post->pe;
	int rc = 0;

	if (!(post->flags & KGNI_DGRAM_WILDCARD))
		rc = aries_owner_node(&ctx->own, pe, &post->pe);
	if (!rc)
		rc = aries_dgram_post(&ctx->own, post);
	post->pe = pe;
	return rc;
}

static int aries_ioc_dgram_test(struct aries_ctx *ctx, union aries_arg *arg)
{
	int rc = aries_dgram_test(&ctx->own, &arg->dgram_test);

	if (!rc && arg->dgram_test.state == KGNI_DGRAM_COMPLETED)
		arg->dgram_test.pe = aries_owner_pe(&ctx->own, arg->dgram_test.pe);
	return rc;
}

static int aries_ioc_dgram_probe(struct aries_ctx *ctx, union aries_arg *arg)
{
	int rc = aries_dgram_probe(&ctx->own, &arg->dgram_probe);

	if (!rc)
		arg->dgram_probe.pe = aries_owner_pe(&ctx->own, arg->dgram_probe.pe);
	return rc;
}

static int aries_ioc_dgram_cancel(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_dgram_cancel(&ctx->own, &arg->dgram_cancel);
}

static int aries_ioc_clock(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_clock(&ctx->own, &arg->clock);
}

static int aries_ioc_clock_wait(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_clock_wait(&ctx->own, &arg->clock_wait);
}

static int aries_ioc_err_subscribe(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_ees_subscribe(ctx, &arg->err_subscribe);
}

static int aries_ioc_err_read(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_ees_read(ctx, &arg->err_read);
}

static int aries_ioc_err_control(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_ees_control(ctx, &arg->err_control);
}

static int aries_ioc_suspend(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_suspend(&ctx->own, &arg->suspend);
}

static int aries_ioc_recv_post(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_recv_post(&ctx->own, &arg->recv_post);
}

static int aries_ioc_recv_test(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_recv_test(&ctx->own, &arg->recv_test);
}

static int aries_ioc_recv_cancel(struct aries_ctx *ctx, union aries_arg *arg)
{
	return aries_recv_cancel(&ctx->own, &arg->recv_cancel);
}

/**
 * struct aries_ioc - one ioctl
 * @handler: called with the structure in kernel memory; NULL for an unused number
 * @minsz: size of its first version
 * @size: size of the version that this driver knows
 */
struct aries_ioc {
	int (*handler)(struct aries_ctx *ctx, union aries_arg *arg);
	u32 minsz;
	u32 size;
};

#define ARIES_IOC_SIZES(NR, name, min)                                                  \
	[_IOC_NR(NR)] = {                                                               \
		.handler = aries_ioc_##name,                                            \
		.minsz = (min),                                                         \
		.size = sizeof(struct kgni_##name),                                     \
	}
#define ARIES_IOC(NR, name) ARIES_IOC_SIZES(NR, name, sizeof(struct kgni_##name))
/* @last: last member of the first version */
#define ARIES_IOC_GREW(NR, name, last) \
	ARIES_IOC_SIZES(NR, name, offsetofend(struct kgni_##name, last))

static const struct aries_ioc aries_iocs[] = {
	ARIES_IOC(KGNI_IOC_QUERY, query),
	ARIES_IOC_GREW(KGNI_IOC_ATTACH, attach, get_offset),
	ARIES_IOC(KGNI_IOC_CQ_CREATE, cq_create),
	ARIES_IOC(KGNI_IOC_CQ_DESTROY, cq_destroy),
	ARIES_IOC(KGNI_IOC_CQ_WAIT, cq_wait),
	ARIES_IOC(KGNI_IOC_MEM_REGISTER, mem_register),
	ARIES_IOC(KGNI_IOC_MEM_DEREGISTER, mem_deregister),
	ARIES_IOC_GREW(KGNI_IOC_JOB, job, reserved2),
	ARIES_IOC(KGNI_IOC_PTAG, ptag),
	ARIES_IOC(KGNI_IOC_RES, res),
	ARIES_IOC(KGNI_IOC_CE_ALLOC, ce_alloc),
	ARIES_IOC(KGNI_IOC_CE_CONFIG, ce_config),
	ARIES_IOC(KGNI_IOC_CE_FREE, ce_free),
	ARIES_IOC(KGNI_IOC_DGRAM_POST, dgram_post),
	ARIES_IOC(KGNI_IOC_DGRAM_TEST, dgram_test),
	ARIES_IOC(KGNI_IOC_DGRAM_PROBE, dgram_probe),
	ARIES_IOC(KGNI_IOC_DGRAM_CANCEL, dgram_cancel),
	ARIES_IOC(KGNI_IOC_CLOCK, clock),
	ARIES_IOC(KGNI_IOC_CLOCK_WAIT, clock_wait),
	ARIES_IOC_GREW(KGNI_IOC_MEM_SEGMENTS, mem_segments, pages),
	ARIES_IOC(KGNI_IOC_MEM_UPDATE, mem_update),
	ARIES_IOC(KGNI_IOC_NTT, ntt),
	ARIES_IOC(KGNI_IOC_NTT_INFO, ntt_info),
	ARIES_IOC(KGNI_IOC_JOB_NTT, job_ntt),
	ARIES_IOC(KGNI_IOC_BI, bi),
	ARIES_IOC(KGNI_IOC_MDD_BLOCK, mdd_block),
	ARIES_IOC(KGNI_IOC_ERR_SUBSCRIBE, err_subscribe),
	ARIES_IOC(KGNI_IOC_ERR_READ, err_read),
	ARIES_IOC(KGNI_IOC_ERR_CONTROL, err_control),
	ARIES_IOC(KGNI_IOC_SUSPEND, suspend),
	ARIES_IOC(KGNI_IOC_RECV_POST, recv_post),
	ARIES_IOC(KGNI_IOC_RECV_TEST, recv_test),
	ARIES_IOC(KGNI_IOC_RECV_CANCEL, recv_cancel),
};

static long aries_ioctl(struct file *file, unsigned int cmd, unsigned long uarg)
{
	struct aries_ctx *ctx = file->private_data;
	void __user *user = (void __user *)uarg;
	const struct aries_ioc *ioc;
	union aries_arg arg = {};
	u32 argsz;
	int rc;

	if (_IOC_TYPE(cmd) != KGNI_IOC_MAGIC || _IOC_NR(cmd) >= ARRAY_SIZE(aries_iocs) ||
	    cmd != _IO(KGNI_IOC_MAGIC, _IOC_NR(cmd)))
		return -ENOTTY;
	ioc = &aries_iocs[array_index_nospec(_IOC_NR(cmd), ARRAY_SIZE(aries_iocs))];
	if (!ioc->handler)
		return -ENOTTY;
	if (get_user(argsz, (u32 __user *)user))
		return -EFAULT;
	if (argsz < ioc->minsz)
		return -EINVAL;
	if (argsz > PAGE_SIZE)
		return -E2BIG;
	rc = copy_struct_from_user(&arg, ioc->size, user, argsz);
	if (rc)
		return rc;
	arg.argsz = argsz; /* it may have changed between the two reads */
	rc = ioc->handler(ctx, &arg);
	trace_aries_ioctl(ctx->own.ad->id, ctx->own.nr, _IOC_NR(cmd), rc);
	if (!rc && copy_to_user(user, &arg, min(argsz, ioc->size)))
		rc = -EFAULT;
	return rc;
}

static int aries_open(struct inode *inode, struct file *file)
{
	struct aries_dev *ad = container_of(inode->i_cdev, struct aries_dev, cdev);
	struct aries_ctx *ctx = aries_ctx_new(ad, file->f_mapping);

	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	file->private_data = ctx;
	return nonseekable_open(inode, file);
}

static int aries_release(struct inode *inode, struct file *file)
{
	aries_ctx_free(file->private_data);
	return 0;
}

static __poll_t aries_poll(struct file *file, struct poll_table_struct *wait)
{
	struct aries_ctx *ctx = file->private_data;

	return aries_dgram_poll(&ctx->own, file, wait) | aries_ees_poll(ctx, file, wait);
}

static const struct file_operations aries_fops = {
	.owner = THIS_MODULE,
	.open = aries_open,
	.release = aries_release,
	.unlocked_ioctl = aries_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = aries_mmap,
	.poll = aries_poll,
};

/** aries_chrdev_add() - create /dev/kgniN. Return: 0 or a negative errno. */
int aries_chrdev_add(struct aries_dev *ad)
{
	cdev_init(&ad->cdev, &aries_fops);
	ad->cdev.owner = THIS_MODULE;
	return cdev_device_add(&ad->cdev, &ad->dev);
}

/** aries_chrdev_del() - remove /dev/kgniN; open files stay open */
void aries_chrdev_del(struct aries_dev *ad)
{
	cdev_device_del(&ad->cdev, &ad->dev);
}
