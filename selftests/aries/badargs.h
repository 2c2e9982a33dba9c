/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every ioctl with an argument that is right, for tests that change one thing in it.
 */
#ifndef ARIES_BADARGS_H
#define ARIES_BADARGS_H

#include <stddef.h>

#include "aries_test.h"

/* Bits of a field that have a meaning; each other one is refused with EINVAL. */
struct field {
	const char *name;
	uint16_t at, bytes;
	uint64_t known;
};

#define FIELDS_MAX 9

struct call {
	const char *name;
	unsigned long request;
	size_t size, first; /* of the argument now, and in its first version */
	/* what the argument of fill() gets; an attachment is needed; so is CAP_SYS_ADMIN */
	int result, attached, privileged;
	struct field field[FIELDS_MAX];
};

#define ARG(name) KGNI_IOC_##name
#define FIELD(type, member, known)                                                              \
	{ #member, offsetof(struct kgni_##type, member),                                        \
	  sizeof(((struct kgni_##type *)0)->member), known }
#define CALL_GREW(name, type, last, result, attached, privileged, ...)                          \
	{ #type, KGNI_IOC_##name, sizeof(struct kgni_##type),                                   \
	  offsetof(struct kgni_##type, last) + sizeof(((struct kgni_##type *)0)->last),         \
	  result, attached, privileged, { __VA_ARGS__ } }
#define CALL(name, type, result, attached, privileged, ...)                                     \
	{ #type, KGNI_IOC_##name, sizeof(struct kgni_##type), sizeof(struct kgni_##type),       \
	  result, attached, privileged, { __VA_ARGS__ } }

/* In this order they can be called one after the other. */
static const struct call calls[] = {
	CALL(QUERY, query, 0, 0, 0),
	CALL_GREW(ATTACH, attach, get_offset, EBUSY, 0, 0, FIELD(attach, reserved, 0)),
	CALL(CQ_CREATE, cq_create, 0, 1, 0, FIELD(cq_create, flags, KGNI_CQ_BLOCKING),
	     FIELD(cq_create, reserved, 0)),
	CALL(CQ_DESTROY, cq_destroy, ENOENT, 1, 0),
	CALL(CQ_WAIT, cq_wait, ETIMEDOUT, 1, 0, FIELD(cq_wait, reserved, 0)),
	CALL(MEM_REGISTER, mem_register, 0, 1, 0,
	     FIELD(mem_register, flags, KGNI_MEM_READ_ONLY | KGNI_MEM_RESERVE | KGNI_MEM_VMDH),
	     FIELD(mem_register, vmdh, 0)), /* without its flag */
	CALL(MEM_DEREGISTER, mem_deregister, ENOENT, 1, 0),
	CALL_GREW(MEM_SEGMENTS, mem_segments, pages, 0, 1, 0,
		  FIELD(mem_segments, flags, KGNI_MEM_READ_ONLY | KGNI_MEM_VMDH),
		  FIELD(mem_segments, vmdh, 0), /* without its flag */
		  FIELD(mem_segments, reserved, 0)),
	CALL(MEM_UPDATE, mem_update, 0, 1, 0, FIELD(mem_update, flags, 0),
	     FIELD(mem_update, reserved, 0)),
	CALL_GREW(JOB, job, reserved2, ENOENT, 0, 1,
		  FIELD(job, flags, KGNI_JOB_DESTROY | KGNI_JOB_LIMITS), FIELD(job, reserved, 0),
		  FIELD(job, reserved2, 0), FIELD(job, reserved3, 0),
		  FIELD(job, limit_ce, 0), /* these without their flag */
		  FIELD(job, limit_bte, 0), FIELD(job, limit_iommu, 0), FIELD(job, limit_dgram, 0),
		  FIELD(job, limit_recv, 0)),
	CALL(PTAG, ptag, 0, 0, 0, FIELD(ptag, reserved, 0)),
	CALL(RES, res, 0, 0, 0, FIELD(res, reserved, 0)),
	CALL(CE_ALLOC, ce_alloc, 0, 1, 0),
	CALL(CE_CONFIG, ce_config, 0, 1, 0,
	     FIELD(ce_config, flags, KGNI_CE_PARENT | KGNI_CE_CQ_ONERR),
	     FIELD(ce_config, round, 3), FIELD(ce_config, route, 3),
	     FIELD(ce_config, reserved, 0)),
	CALL(CE_FREE, ce_free, ENOENT, 1, 0),
	CALL(DGRAM_POST, dgram_post, 0, 1, 0,
	     FIELD(dgram_post, flags, KGNI_DGRAM_WILDCARD | KGNI_DGRAM_ID),
	     FIELD(dgram_post, reserved, 0), FIELD(dgram_post, id, 0)), /* without its flag */
	CALL(DGRAM_TEST, dgram_test, ENOENT, 1, 0, FIELD(dgram_test, flags, KGNI_DGRAM_ID),
	     FIELD(dgram_test, reserved, 0)),
	CALL(DGRAM_PROBE, dgram_probe, ENOENT, 1, 0, FIELD(dgram_probe, flags, KGNI_DGRAM_ID),
	     FIELD(dgram_probe, reserved, 0)),
	CALL(DGRAM_CANCEL, dgram_cancel, ENOENT, 1, 0,
	     FIELD(dgram_cancel, flags, KGNI_DGRAM_ID | KGNI_DGRAM_RELEASE | KGNI_DGRAM_ALL),
	     FIELD(dgram_cancel, reserved, 0)),
	CALL(CLOCK, clock, 0, 0, 0, FIELD(clock, flags, 0), FIELD(clock, reserved, 0)),
	CALL(CLOCK_WAIT, clock_wait, 0, 0, 0, FIELD(clock_wait, flags, 0)),
	CALL(NTT, ntt, ENOENT, 0, 1, FIELD(ntt, flags, KGNI_NTT_CHANGE | KGNI_NTT_CLEAR),
	     FIELD(ntt, reserved, 0)),
	CALL(NTT_INFO, ntt_info, 0, 0, 0),
	CALL(JOB_NTT, job_ntt, ENOENT, 0, 1, FIELD(job_ntt, flags, KGNI_JOB_NTT_CLEANUP),
	     FIELD(job_ntt, reserved, 0)),
	CALL(BI, bi, 0, 0, 0, FIELD(bi, flags, KGNI_BI_SET), FIELD(bi, reserved, 0)),
	CALL(MDD_BLOCK, mdd_block, 0, 1, 0),
	CALL(ERR_SUBSCRIBE, err_subscribe, 0, 0, 0,
	     FIELD(err_subscribe, flags, KGNI_ERR_ALL), FIELD(err_subscribe, reserved, 0),
	     FIELD(err_subscribe, reserved2, 0)),
	CALL(ERR_READ, err_read, EAGAIN, 0, 0, FIELD(err_read, flags, 0)),
	CALL(ERR_CONTROL, err_control, 0, 0, 0,
	     FIELD(err_control, flags, KGNI_ERR_SET_MASK | KGNI_ERR_SET_PTAG),
	     FIELD(err_control, reserved, 0)),
	CALL(RECV_POST, recv_post, 0, 1, 0, FIELD(recv_post, flags, 0),
	     FIELD(recv_post, channel, 0xffff), FIELD(recv_post, reserved, 0)),
	CALL(RECV_TEST, recv_test, ENOENT, 1, 0, FIELD(recv_test, flags, 0),
	     FIELD(recv_test, reserved, 0)),
	CALL(RECV_CANCEL, recv_cancel, ENOENT, 1, 0, FIELD(recv_cancel, flags, 0),
	     FIELD(recv_cancel, reserved, 0)),
	CALL(SUSPEND, suspend, ENOENT, 0, 1, FIELD(suspend, flags, KGNI_SUSPEND_RESUME),
	     FIELD(suspend, reserved, 0)),
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

union argument {
	uint32_t argsz;
	struct kgni_attach attach;
	struct kgni_cq_create cq_create;
	struct kgni_cq_destroy cq_destroy;
	struct kgni_cq_wait cq_wait;
	struct kgni_mem_register mem_register;
	struct kgni_mem_deregister mem_deregister;
	struct kgni_mem_segments mem_segments;
	struct kgni_mem_update mem_update;
	struct kgni_job job;
	struct kgni_ptag ptag;
	struct kgni_res res;
	struct kgni_ce_config ce_config;
	struct kgni_ce_free ce_free;
	struct kgni_dgram_post dgram_post;
	struct kgni_dgram_test dgram_test;
	struct kgni_dgram_cancel dgram_cancel;
	struct kgni_ntt ntt;
	struct kgni_job_ntt job_ntt;
	struct kgni_mdd_block mdd_block;
	struct kgni_err_subscribe err_subscribe;
	struct kgni_err_read err_read;
	struct kgni_suspend suspend;
	struct kgni_recv_post recv_post;
	struct kgni_recv_test recv_test;
	struct kgni_recv_cancel recv_cancel;
	uint8_t bytes[2 * ARIES_PAGE];
};

/* What arguments point at or name. */
struct objects {
	uint32_t cookie, inst, cq, mdh, reserved_mdh, ce;
	uint8_t *pages;
	struct kgni_mem_segment segment;
	struct kgni_ce_child child;
	struct kgni_ntt_entry entry;
	struct kgni_err_event event;
};

/* Makes one of everything for @fd. */
static int make(int fd, const struct kgni_attach *attach, struct objects *o)
{
	struct kgni_cq_create cq;
	struct kgni_mem_register mem, reserved;
	struct kgni_ce_alloc ce = { .argsz = sizeof(ce) };

	o->cookie = attach->cookie;
	o->inst = attach->inst_id;
	o->pages = aries_pages(4);
	if (!o->pages || aries_cq(fd, 4, KGNI_CQ_BLOCKING, &cq) ||
	    aries_register(fd, o->pages, ARIES_PAGE, 0, KGNI_NO_CQ, &mem) ||
	    aries_register(fd, o->pages + 2 * ARIES_PAGE, ARIES_PAGE, KGNI_MEM_RESERVE,
			   KGNI_NO_CQ, &reserved) ||
	    aries_ioctl(fd, KGNI_IOC_CE_ALLOC, &ce))
		return -1;
	o->cq = cq.cq;
	o->mdh = mem.mdh;
	o->reserved_mdh = reserved.mdh;
	o->ce = ce.ce;
	o->segment.address = (uintptr_t)o->pages;
	o->segment.length = ARIES_PAGE;
	o->child.pe = attach->pe;
	o->child.inst_id = attach->inst_id;
	o->child.kind = KGNI_CE_ENDPOINT;
	return 0;
}

static void fill_memory(union argument *arg, unsigned long request, struct objects *o)
{
	switch (request) {
	case ARG(CQ_CREATE):
		arg->cq_create.entries = 1;
		break;
	case ARG(CQ_DESTROY):
		arg->cq_destroy.cq = UINT32_MAX;
		break;
	case ARG(CQ_WAIT):
		arg->cq_wait.count = 1;
		arg->cq_wait.cqs = (uintptr_t)&o->cq;
		break;
	case ARG(MEM_REGISTER):
		arg->mem_register.address = (uintptr_t)o->pages;
		arg->mem_register.length = 1;
		arg->mem_register.cq = KGNI_NO_CQ;
		break;
	case ARG(MEM_DEREGISTER):
		arg->mem_deregister.mdh = UINT32_MAX;
		break;
	case ARG(MEM_SEGMENTS):
		arg->mem_segments.segments = (uintptr_t)&o->segment;
		arg->mem_segments.count = 1;
		arg->mem_segments.cq = KGNI_NO_CQ;
		break;
	case ARG(MEM_UPDATE):
		arg->mem_update.mdh = o->reserved_mdh;
		arg->mem_update.address = (uintptr_t)o->pages + 2 * ARIES_PAGE;
		arg->mem_update.length = 1;
		break;
	case ARG(RECV_POST):
		arg->recv_post.address = (uintptr_t)o->pages;
		arg->recv_post.length = 1;
		arg->recv_post.mdh = o->mdh;
		arg->recv_post.cq = KGNI_NO_CQ;
		break;
	case ARG(RECV_TEST):
		arg->recv_test.receive = UINT32_MAX;
		break;
	case ARG(RECV_CANCEL):
		arg->recv_cancel.receive = UINT32_MAX;
		break;
	case ARG(MDD_BLOCK):
		arg->mdd_block.entries = 1;
		break;
	}
}

static void fill_jobs(union argument *arg, unsigned long request, struct objects *o)
{
	switch (request) {
	case ARG(ATTACH):
		arg->attach = aries_attach_arg(o->cookie);
		break;
	case ARG(JOB):
		arg->job.flags = KGNI_JOB_DESTROY;
		arg->job.cookie = o->cookie ^ 0x80000000;
		arg->job.ptag = ARIES_ANY_PTAG;
		break;
	case ARG(PTAG):
		arg->ptag.cookie = o->cookie;
		break;
	case ARG(RES):
		arg->res.kind = 1;
		break;
	case ARG(NTT):
		arg->ntt.flags = KGNI_NTT_CLEAR;
		arg->ntt.count = 1;
		arg->ntt.base = ARIES_NTT_ENTRIES - 1;
		break;
	case ARG(JOB_NTT):
		arg->job_ntt.cookie = o->cookie ^ 0x80000000;
		arg->job_ntt.size = 1;
		break;
	case ARG(SUSPEND):
		arg->suspend.cookie = o->cookie ^ 0x80000000;
		arg->suspend.ptag = ARIES_ANY_PTAG;
		break;
	case ARG(ERR_SUBSCRIBE):
		arg->err_subscribe.cookie = o->cookie;
		arg->err_subscribe.ptag = ARIES_ANY_PTAG;
		arg->err_subscribe.mask = 1;
		break;
	case ARG(ERR_READ):
		arg->err_read.events = (uintptr_t)&o->event;
		arg->err_read.count = 1;
		break;
	}
}

/* The argument of @call that ends as the table says. */
static void fill(union argument *arg, const struct call *call, struct objects *o)
{
	memset(arg, 0, sizeof(*arg));
	fill_memory(arg, call->request, o);
	fill_jobs(arg, call->request, o);
	switch (call->request) {
	case ARG(CE_CONFIG):
		arg->ce_config.ce = o->ce;
		arg->ce_config.count = 1;
		arg->ce_config.children = (uintptr_t)&o->child;
		arg->ce_config.cq = KGNI_NO_CQ;
		break;
	case ARG(CE_FREE):
		arg->ce_free.ce = UINT32_MAX;
		break;
	case ARG(DGRAM_POST):
		arg->dgram_post.flags = KGNI_DGRAM_WILDCARD;
		arg->dgram_post.ep = 5;
		break;
	case ARG(DGRAM_TEST):
		arg->dgram_test.ep = 6;
		break;
	case ARG(DGRAM_CANCEL):
		arg->dgram_cancel.ep = 6;
		break;
	}
	arg->argsz = (uint32_t)call->size;
}

static const struct call *find(unsigned long request)
{
	size_t i;

	for (i = 0; i < CALLS && calls[i].request != request; i++)
		;
	return i < CALLS ? &calls[i] : NULL;
}

#endif /* ARIES_BADARGS_H */
