// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bad arguments of every ioctl, by table: sizes, reserved fields, unknown flags, numbers out of
 * range, pointers to nowhere, names of others and names of what is gone. A request that the driver
 * has and the table has not shows as a failure of unknown_requests.
 */
#include <limits.h>
#include <stddef.h>
#include <sys/wait.h>

#include "aries_test.h"
#include "kselftest_harness.h"

#define KERNEL_ADDRESS 0xffff888000000000ull
#define TAIL 64

/* Bits of a field that have a meaning; each other one is refused with EINVAL. */
struct field {
	const char *name;
	uint16_t at, bytes;
	uint64_t known;
};

struct call {
	const char *name;
	unsigned long request;
	size_t size;
	/* what the argument of fill() gets; an attachment is needed; so is CAP_SYS_ADMIN */
	int result, attached, privileged;
	struct field field[4];
};

#define ARG(name) KGNI_IOC_##name
#define FIELD(type, member, known)                                                              \
	{ #member, offsetof(struct kgni_##type, member),                                        \
	  sizeof(((struct kgni_##type *)0)->member), known }
#define CALL(name, type, result, attached, privileged, ...)                                     \
	{ #type, KGNI_IOC_##name, sizeof(struct kgni_##type), result, attached, privileged,     \
	  { __VA_ARGS__ } }

/* In this order they can be called one after the other. */
static const struct call calls[] = {
	CALL(QUERY, query, 0, 0, 0),
	CALL(ATTACH, attach, EBUSY, 0, 0, FIELD(attach, reserved, 0)),
	CALL(CQ_CREATE, cq_create, 0, 1, 0, FIELD(cq_create, flags, KGNI_CQ_BLOCKING),
	     FIELD(cq_create, reserved, 0)),
	CALL(CQ_DESTROY, cq_destroy, ENOENT, 1, 0),
	CALL(CQ_WAIT, cq_wait, ETIMEDOUT, 1, 0, FIELD(cq_wait, reserved, 0)),
	CALL(MEM_REGISTER, mem_register, 0, 1, 0,
	     FIELD(mem_register, flags, KGNI_MEM_READ_ONLY | KGNI_MEM_RESERVE | KGNI_MEM_VMDH),
	     FIELD(mem_register, vmdh, 0)), /* without its flag */
	CALL(MEM_DEREGISTER, mem_deregister, ENOENT, 1, 0),
	CALL(MEM_SEGMENTS, mem_segments, 0, 1, 0,
	     FIELD(mem_segments, flags, KGNI_MEM_READ_ONLY)),
	CALL(MEM_UPDATE, mem_update, 0, 1, 0, FIELD(mem_update, flags, 0),
	     FIELD(mem_update, reserved, 0)),
	CALL(JOB, job, ENOENT, 0, 1, FIELD(job, flags, KGNI_JOB_DESTROY), FIELD(job, reserved, 0),
	     FIELD(job, reserved2, 0)),
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
	uint8_t bytes[2 * ARIES_PAGE];
};

/* What arguments point at or name. */
struct objects {
	uint32_t cookie, inst, cq, reserved_mdh, ce;
	uint8_t *pages;
	struct kgni_mem_segment segment;
	struct kgni_ce_child child;
	struct kgni_ntt_entry entry;
	struct kgni_err_event event;
};

FIXTURE(badargs)
{
	int fd, other;
	union argument arg;
	struct objects own, foreign;
};

/* Makes one of everything for @fd. */
static int make(int fd, const struct kgni_attach *attach, struct objects *o)
{
	struct kgni_cq_create cq;
	struct kgni_mem_register mem;
	struct kgni_ce_alloc ce = { .argsz = sizeof(ce) };

	o->cookie = attach->cookie;
	o->inst = attach->inst_id;
	o->pages = aries_pages(4);
	if (!o->pages || aries_cq(fd, 4, KGNI_CQ_BLOCKING, &cq) ||
	    aries_register(fd, o->pages + 2 * ARIES_PAGE, ARIES_PAGE, KGNI_MEM_RESERVE,
			   KGNI_NO_CQ, &mem) ||
	    aries_ioctl(fd, KGNI_IOC_CE_ALLOC, &ce))
		return -1;
	o->cq = cq.cq;
	o->reserved_mdh = mem.mdh;
	o->ce = ce.ce;
	o->segment.address = (uintptr_t)o->pages;
	o->segment.length = ARIES_PAGE;
	o->child.pe = attach->pe;
	o->child.inst_id = attach->inst_id;
	o->child.kind = KGNI_CE_ENDPOINT;
	return 0;
}

FIXTURE_SETUP(badargs)
{
	struct kgni_attach attach;

	memset(&self->own, 0, sizeof(self->own));
	memset(&self->foreign, 0, sizeof(self->foreign));
	self->fd = aries_attached(aries_cookie(), &attach);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, make(self->fd, &attach, &self->own));
	self->other = aries_attached(aries_cookie(), &attach);
	ASSERT_LE(0, self->other);
	ASSERT_EQ(0, make(self->other, &attach, &self->foreign));
}

FIXTURE_TEARDOWN(badargs)
{
	close(self->other);
	close(self->fd);
	munmap(self->own.pages, 4 * ARIES_PAGE);
	munmap(self->foreign.pages, 4 * ARIES_PAGE);
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

/* What the refusals below would be without what is wrong. */
TEST_F(badargs, good_arguments)
{
	size_t i;

	for (i = 0; i < CALLS; i++) {
		fill(&self->arg, &calls[i], &self->own);
		EXPECT_EQ(calls[i].result, aries_ioctl(self->fd, calls[i].request, &self->arg)) {
			TH_LOG("%s", calls[i].name);
		}
	}
}

TEST_F(badargs, longer_with_zero_tail)
{
	size_t i, at;

	for (i = 0; i < CALLS; i++) {
		fill(&self->arg, &calls[i], &self->own);
		self->arg.argsz += TAIL;
		EXPECT_EQ(calls[i].result, aries_ioctl(self->fd, calls[i].request, &self->arg)) {
			TH_LOG("%s", calls[i].name);
		}
		/* no more than the driver knows is written back */
		for (at = calls[i].size; at < calls[i].size + TAIL; at++)
			EXPECT_EQ(0, self->arg.bytes[at]);
	}
}

TEST_F(badargs, longer_with_something_behind)
{
	size_t i, at;

	for (i = 0; i < CALLS; i++) {
		for (at = 0; at < TAIL; at++) {
			fill(&self->arg, &calls[i], &self->own);
			self->arg.argsz += TAIL;
			self->arg.bytes[calls[i].size + at] = 1;
			EXPECT_EQ(E2BIG, aries_ioctl(self->fd, calls[i].request, &self->arg)) {
				TH_LOG("%s, byte %zu", calls[i].name, at);
			}
		}
		fill(&self->arg, &calls[i], &self->own);
		self->arg.argsz = ARIES_PAGE + 1;
		EXPECT_EQ(E2BIG, aries_ioctl(self->fd, calls[i].request, &self->arg));
		self->arg.argsz = UINT32_MAX;
		EXPECT_EQ(E2BIG, aries_ioctl(self->fd, calls[i].request, &self->arg));
	}
}

TEST_F(badargs, shorter)
{
	uint32_t size;
	size_t i;

	for (i = 0; i < CALLS; i++) {
		for (size = 0; size < calls[i].size; size++) {
			fill(&self->arg, &calls[i], &self->own);
			self->arg.argsz = size;
			EXPECT_EQ(EINVAL, aries_ioctl(self->fd, calls[i].request, &self->arg)) {
				TH_LOG("%s of %u bytes", calls[i].name, size);
			}
		}
	}
}

TEST_F(badargs, no_memory_there)
{
	uint8_t *pages = aries_pages(2);
	uint32_t *last;
	size_t i;

	ASSERT_NE(NULL, pages);
	ASSERT_EQ(0, munmap(pages + ARIES_PAGE, ARIES_PAGE));
	last = (uint32_t *)(pages + ARIES_PAGE - 4);
	for (i = 0; i < CALLS; i++) {
		EXPECT_EQ(EFAULT, aries_ioctl(self->fd, calls[i].request, NULL));
		EXPECT_EQ(EFAULT, aries_ioctl(self->fd, calls[i].request, (void *)8));
		EXPECT_EQ(EFAULT,
			  aries_ioctl(self->fd, calls[i].request, (void *)KERNEL_ADDRESS));
		*last = (uint32_t)calls[i].size;
		EXPECT_EQ(EFAULT, aries_ioctl(self->fd, calls[i].request, last)) {
			TH_LOG("%s", calls[i].name);
		}
	}
	munmap(pages, ARIES_PAGE);
}

TEST_F(badargs, reserved_fields_and_unknown_flags)
{
	unsigned int bits = 0, bit;
	size_t i, n;

	for (i = 0; i < CALLS; i++) {
		for (n = 0; n < 4 && calls[i].field[n].name; n++) {
			const struct field *f = &calls[i].field[n];

			for (bit = 0; bit < 8u * f->bytes; bit++) {
				if (bit < 64 && f->known >> bit & 1)
					continue;
				bits++;
				fill(&self->arg, &calls[i], &self->own);
				self->arg.bytes[f->at + bit / 8] |= (uint8_t)(1u << bit % 8);
				EXPECT_EQ(EINVAL, aries_ioctl(self->fd, calls[i].request,
							      &self->arg)) {
					TH_LOG("bit %u of %s of %s", bit, f->name, calls[i].name);
				}
			}
		}
	}
	TH_LOG("%u bits", bits);
	EXPECT_LT(1300, bits);
}

/* Reserved fields of what arguments point at. */
TEST_F(badargs, reserved_fields_of_elements)
{
	struct objects *o = &self->own;
	unsigned int bit;

	for (bit = 0; bit < 32; bit++) {
		fill(&self->arg, find(KGNI_IOC_NTT), o);
		self->arg.ntt.flags = 0;
		self->arg.ntt.granularity = 1;
		self->arg.ntt.entries = (uintptr_t)&o->entry;
		o->entry.reserved = 1u << bit;
		EXPECT_EQ(EINVAL, aries_ioctl(self->fd, KGNI_IOC_NTT, &self->arg));
		o->entry.reserved = 0;
		if (bit > 1) {
			fill(&self->arg, find(KGNI_IOC_CE_CONFIG), o);
			o->child.kind ^= 1u << bit;
			EXPECT_EQ(EINVAL, aries_ioctl(self->fd, KGNI_IOC_CE_CONFIG, &self->arg));
			o->child.kind ^= 1u << bit;
		}
		fill(&self->arg, find(KGNI_IOC_CE_CONFIG), o);
		o->child.ce = 1u << bit; /* an endpoint is at no engine */
		EXPECT_EQ(EINVAL, aries_ioctl(self->fd, KGNI_IOC_CE_CONFIG, &self->arg));
		o->child.ce = 0;
	}
}

TEST_F(badargs, unknown_requests)
{
	unsigned int nr;

	memset(&self->arg, 0, sizeof(self->arg));
	for (nr = 0; nr < 256; nr++) {
		const unsigned long request = _IO(KGNI_IOC_MAGIC, nr);

		EXPECT_EQ(find(request) ? EINVAL : ENOTTY,
			  aries_ioctl(self->fd, request, &self->arg)) {
			TH_LOG("request %#x", nr);
		}
		/* the same number in other clothes */
		EXPECT_EQ(ENOTTY, aries_ioctl(self->fd, _IO('H', nr), &self->arg));
		EXPECT_EQ(ENOTTY, aries_ioctl(self->fd, _IOR(KGNI_IOC_MAGIC, nr, int),
					      &self->arg));
		EXPECT_EQ(ENOTTY, aries_ioctl(self->fd, _IOWR(KGNI_IOC_MAGIC, nr, int),
					      &self->arg));
	}
}

TEST_F(badargs, without_an_attachment)
{
	int fd = aries_open();
	size_t i;

	ASSERT_LE(0, fd);
	for (i = 0; i < CALLS; i++) {
		if (!calls[i].attached)
			continue;
		fill(&self->arg, &calls[i], &self->own);
		EXPECT_EQ(ENOTCONN, aries_ioctl(fd, calls[i].request, &self->arg)) {
			TH_LOG("%s", calls[i].name);
		}
	}
	close(fd);
}

/* The index of the first call that did not end with EPERM, plus one; 0: all did. */
static int first_allowed(int fd, union argument *arg, struct objects *o)
{
	size_t i;

	for (i = 0; i < CALLS; i++) {
		fill(arg, &calls[i], o);
		if (calls[i].privileged && aries_ioctl(fd, calls[i].request, arg) != EPERM)
			return (int)i + 1;
	}
	return 0;
}

TEST_F(badargs, without_privilege)
{
	pid_t child = fork();
	int status;

	ASSERT_LE(0, child);
	if (!child) {
		if (setgid(ARIES_NOBODY) || setuid(ARIES_NOBODY))
			_exit(255);
		_exit(first_allowed(self->fd, &self->arg, &self->own));
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
}

/* One field of an argument with a value that it must not have. */
struct value {
	unsigned long request;
	const char *name;
	uint16_t at, bytes;
	uint64_t value;
	int error;
};

#define VALUE(NAME, type, member, value, error)                                                 \
	{ KGNI_IOC_##NAME, #type "." #member, offsetof(struct kgni_##type, member),             \
	  sizeof(((struct kgni_##type *)0)->member), value, error }
#define BAD_POINTER(NAME, type, member)                                                         \
	VALUE(NAME, type, member, 0, EFAULT), VALUE(NAME, type, member, 8, EFAULT),             \
		VALUE(NAME, type, member, KERNEL_ADDRESS, EFAULT)

static const struct value values[] = {
	VALUE(ATTACH, attach, abi_version, KGNI_ABI_VERSION + 1, EPROTO),
	VALUE(ATTACH, attach, abi_version, 0, EPROTO),
	VALUE(ATTACH, attach, modes, 0x80000000, EINVAL),
	VALUE(CQ_CREATE, cq_create, entries, 0, EINVAL),
	VALUE(CQ_CREATE, cq_create, entries, 1u << 19, EFBIG),
	VALUE(CQ_CREATE, cq_create, entries, UINT32_MAX, EFBIG),
	VALUE(CQ_CREATE, cq_create, delay, 2, EINVAL), /* more than entries */
	VALUE(CQ_WAIT, cq_wait, count, 0, EINVAL),
	VALUE(CQ_WAIT, cq_wait, count, 65, EINVAL),
	VALUE(CQ_WAIT, cq_wait, count, UINT32_MAX, EINVAL),
	BAD_POINTER(CQ_WAIT, cq_wait, cqs),
	VALUE(MEM_REGISTER, mem_register, length, 0, EINVAL),
	VALUE(MEM_REGISTER, mem_register, length, UINT64_MAX, EFBIG),
	VALUE(MEM_REGISTER, mem_register, length, 1ull << 41, EFBIG),
	VALUE(MEM_REGISTER, mem_register, address, 8, EFAULT),
	VALUE(MEM_REGISTER, mem_register, address, KERNEL_ADDRESS, EINVAL),
	VALUE(MEM_SEGMENTS, mem_segments, count, 0, EINVAL),
	VALUE(MEM_SEGMENTS, mem_segments, count, KGNI_SEGMENTS_MAX + 1, EFBIG),
	VALUE(MEM_SEGMENTS, mem_segments, count, UINT32_MAX, EFBIG),
	BAD_POINTER(MEM_SEGMENTS, mem_segments, segments),
	VALUE(MEM_UPDATE, mem_update, length, 0, EINVAL),
	VALUE(MEM_UPDATE, mem_update, length, ARIES_PAGE + 1, EINVAL),
	VALUE(MEM_UPDATE, mem_update, length, UINT64_MAX, EFBIG),
	VALUE(MEM_UPDATE, mem_update, address, 8, EINVAL),
	VALUE(MEM_UPDATE, mem_update, address, UINT64_MAX, EINVAL),
	VALUE(RES, res, kind, 0, EINVAL),
	VALUE(RES, res, kind, UINT32_MAX, EINVAL),
	VALUE(RES, res, ptag, 200, ENOENT),
	VALUE(CE_CONFIG, ce_config, count, 0, EINVAL),
	VALUE(CE_CONFIG, ce_config, count, 33, EINVAL),
	VALUE(CE_CONFIG, ce_config, count, UINT32_MAX, EINVAL),
	VALUE(CE_CONFIG, ce_config, parent_pe, 1, EINVAL), /* the root's */
	VALUE(CE_CONFIG, ce_config, parent_ce, 1, EINVAL),
	VALUE(CE_CONFIG, ce_config, parent_index, 1, EINVAL),
	BAD_POINTER(CE_CONFIG, ce_config, children),
	VALUE(DGRAM_POST, dgram_post, length, KGNI_DGRAM_BYTES + 1, E2BIG),
	VALUE(DGRAM_POST, dgram_post, length, UINT32_MAX, E2BIG),
	VALUE(DGRAM_POST, dgram_post, pe, 1, EINVAL), /* a wildcard's */
	VALUE(DGRAM_POST, dgram_post, inst_id, 1, EINVAL),
	VALUE(NTT, ntt, count, 0, EINVAL),
	VALUE(NTT, ntt, entries, 8, EINVAL), /* of entries to be cleared */
	VALUE(NTT, ntt, base, ARIES_NTT_ENTRIES, ENOENT),
	VALUE(JOB_NTT, job_ntt, size, 0, EINVAL),
	VALUE(BI, bi, modes, 0x8000, EINVAL),
	VALUE(MDD_BLOCK, mdd_block, entries, 0, EINVAL),
	VALUE(MDD_BLOCK, mdd_block, entries, ARIES_MDD_ENTRIES + 1, ENOSPC),
	VALUE(MDD_BLOCK, mdd_block, entries, UINT32_MAX, ENOSPC),
	VALUE(ERR_SUBSCRIBE, err_subscribe, entries, KGNI_ERR_ENTRIES_MAX + 1, EINVAL),
	VALUE(ERR_SUBSCRIBE, err_subscribe, entries, UINT32_MAX, EINVAL),
	VALUE(ERR_READ, err_read, count, 0, EINVAL),
	VALUE(ERR_READ, err_read, count, KGNI_ERR_ENTRIES_MAX + 1, EINVAL),
};

TEST_F(badargs, values)
{
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const struct value *v = &values[i];

		fill(&self->arg, find(v->request), &self->own);
		if (v->request == KGNI_IOC_BI)
			((struct kgni_bi *)&self->arg)->flags = KGNI_BI_SET;
		memcpy(self->arg.bytes + v->at, &v->value, v->bytes);
		EXPECT_EQ(v->error, aries_ioctl(self->fd, v->request, &self->arg)) {
			TH_LOG("%s = %#llx", v->name, (unsigned long long)v->value);
		}
	}
}

/* Arguments that name a queue, a registration or an engine, where the name stands. */
static const struct name {
	unsigned long request;
	uint16_t at;
	char kind;
} names[] = {
	{ KGNI_IOC_CQ_DESTROY, offsetof(struct kgni_cq_destroy, cq), 'q' },
	{ KGNI_IOC_CQ_WAIT, 0, 'q' }, /* in an array */
	{ KGNI_IOC_MEM_REGISTER, offsetof(struct kgni_mem_register, cq), 'q' },
	{ KGNI_IOC_MEM_SEGMENTS, offsetof(struct kgni_mem_segments, cq), 'q' },
	{ KGNI_IOC_CE_CONFIG, offsetof(struct kgni_ce_config, cq), 'q' },
	{ KGNI_IOC_MEM_DEREGISTER, offsetof(struct kgni_mem_deregister, mdh), 'm' },
	{ KGNI_IOC_MEM_UPDATE, offsetof(struct kgni_mem_update, mdh), 'm' },
	{ KGNI_IOC_CE_FREE, offsetof(struct kgni_ce_free, ce), 'e' },
	{ KGNI_IOC_CE_CONFIG, offsetof(struct kgni_ce_config, ce), 'e' },
};

/* How a request ends that names @id. */
static int named(int fd, union argument *arg, struct objects *o, const struct name *name,
		 uint32_t id)
{
	struct objects changed = *o;

	fill(arg, find(name->request), &changed);
	if (name->request == KGNI_IOC_CQ_WAIT)
		changed.cq = id;
	else
		memcpy(arg->bytes + name->at, &id, sizeof(id));
	return aries_ioctl(fd, name->request, arg);
}

TEST_F(badargs, names_of_others_and_of_nobody)
{
	size_t i, n;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct name *name = &names[i];
		const uint32_t queues[] = { self->foreign.cq, 0, ARIES_CQ_ENTRIES,
					    UINT32_MAX - 1, INT32_MAX };
		const uint32_t domains[] = { self->foreign.reserved_mdh, 0, ARIES_MDD_ENTRIES,
					     UINT32_MAX, INT32_MAX };
		const uint32_t engines[] = { self->foreign.ce, ARIES_CE_CHANNELS, UINT32_MAX,
					     INT32_MAX, ARIES_CE_CHANNELS + 1 };
		const uint32_t *ids = name->kind == 'q' ? queues :
				      name->kind == 'm' ? domains : engines;

		for (n = 0; n < 5; n++) {
			EXPECT_EQ(ENOENT, named(self->fd, &self->arg, &self->own, name, ids[n])) {
				TH_LOG("%s, %c %u", find(name->request)->name, name->kind, ids[n]);
			}
		}
	}
	/* and nothing has happened to what they name */
	EXPECT_EQ(ETIMEDOUT, named(self->other, &self->arg, &self->foreign, &names[1],
				   self->foreign.cq));
	EXPECT_EQ(0, named(self->other, &self->arg, &self->foreign, &names[8], self->foreign.ce));
	EXPECT_EQ(0, named(self->other, &self->arg, &self->foreign, &names[6],
			   self->foreign.reserved_mdh));
}

TEST_F(badargs, names_of_what_is_gone)
{
	struct kgni_cq_destroy cq = { .argsz = sizeof(cq), .cq = self->own.cq };
	struct kgni_mem_deregister mem = { .argsz = sizeof(mem), .mdh = self->own.reserved_mdh };
	struct kgni_ce_free ce = { .argsz = sizeof(ce), .ce = self->own.ce };
	size_t i;

	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_CQ_DESTROY, &cq));
	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_MEM_DEREGISTER, &mem));
	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_CE_FREE, &ce));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const uint32_t id = names[i].kind == 'q' ? cq.cq :
				    names[i].kind == 'm' ? mem.mdh : ce.ce;

		EXPECT_EQ(ENOENT, named(self->fd, &self->arg, &self->own, &names[i], id)) {
			TH_LOG("%s, %c", find(names[i].request)->name, names[i].kind);
		}
	}
}

/* Datagrams are named by endpoint and file; domains by tag and cookie, which belong together. */
TEST_F(badargs, datagrams_and_domains_of_others)
{
	struct objects *own = &self->own, *foreign = &self->foreign;
	struct kgni_ptag tag = { .argsz = sizeof(tag), .cookie = foreign->cookie };
	int fd = aries_open();

	ASSERT_LE(0, fd);
	fill(&self->arg, find(KGNI_IOC_DGRAM_POST), foreign);
	self->arg.dgram_post.ep = 6;
	ASSERT_EQ(0, aries_ioctl(self->other, KGNI_IOC_DGRAM_POST, &self->arg));
	fill(&self->arg, find(KGNI_IOC_DGRAM_TEST), own);
	EXPECT_EQ(ENOENT, aries_ioctl(self->fd, KGNI_IOC_DGRAM_TEST, &self->arg));
	fill(&self->arg, find(KGNI_IOC_DGRAM_CANCEL), own);
	EXPECT_EQ(ENOENT, aries_ioctl(self->fd, KGNI_IOC_DGRAM_CANCEL, &self->arg));
	fill(&self->arg, find(KGNI_IOC_DGRAM_CANCEL), foreign);
	EXPECT_EQ(0, aries_ioctl(self->other, KGNI_IOC_DGRAM_CANCEL, &self->arg));

	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_PTAG, &tag));
	fill(&self->arg, find(KGNI_IOC_ATTACH), own);
	self->arg.attach.ptag = tag.ptag;
	EXPECT_EQ(EACCES, aries_ioctl(fd, KGNI_IOC_ATTACH, &self->arg));
	fill(&self->arg, find(KGNI_IOC_ERR_SUBSCRIBE), own);
	self->arg.err_subscribe.ptag = tag.ptag;
	EXPECT_EQ(EACCES, aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &self->arg));
	fill(&self->arg, find(KGNI_IOC_PTAG), own);
	self->arg.ptag.cookie ^= 0x80000000;
	EXPECT_EQ(ENOENT, aries_ioctl(fd, KGNI_IOC_PTAG, &self->arg));
	close(fd);
}

TEST_HARNESS_MAIN
