// SPDX-License-Identifier: GPL-2.0-only
/*
 * The border of every ioctl: sizes, reserved fields, flags, unknown numbers.
 */
#include <stddef.h>

#include "aries_test.h"
#include "kselftest_harness.h"

struct ioc {
	const char *name;
	unsigned long request;
	size_t size;
};

static const struct ioc iocs[] = {
	{ "query", KGNI_IOC_QUERY, sizeof(struct kgni_query) },
	{ "attach", KGNI_IOC_ATTACH, sizeof(struct kgni_attach) },
	{ "cq_create", KGNI_IOC_CQ_CREATE, sizeof(struct kgni_cq_create) },
	{ "cq_destroy", KGNI_IOC_CQ_DESTROY, sizeof(struct kgni_cq_destroy) },
	{ "cq_wait", KGNI_IOC_CQ_WAIT, sizeof(struct kgni_cq_wait) },
	{ "mem_register", KGNI_IOC_MEM_REGISTER, sizeof(struct kgni_mem_register) },
	{ "mem_deregister", KGNI_IOC_MEM_DEREGISTER, sizeof(struct kgni_mem_deregister) },
	{ "job", KGNI_IOC_JOB, offsetof(struct kgni_job, limit_ce) }, /* its first version */
	{ "ptag", KGNI_IOC_PTAG, sizeof(struct kgni_ptag) },
	{ "res", KGNI_IOC_RES, sizeof(struct kgni_res) },
	{ "clock", KGNI_IOC_CLOCK, sizeof(struct kgni_clock) },
	{ "clock_wait", KGNI_IOC_CLOCK_WAIT, sizeof(struct kgni_clock_wait) },
	{ "mem_segments", KGNI_IOC_MEM_SEGMENTS, offsetof(struct kgni_mem_segments, vmdh) },
	{ "recv_post", KGNI_IOC_RECV_POST, sizeof(struct kgni_recv_post) },
	{ "recv_test", KGNI_IOC_RECV_TEST, sizeof(struct kgni_recv_test) },
	{ "recv_cancel", KGNI_IOC_RECV_CANCEL, sizeof(struct kgni_recv_cancel) },
};

#define IOCS (sizeof(iocs) / sizeof(iocs[0]))

FIXTURE(abi)
{
	int fd;
	union {
		uint32_t argsz;
		uint8_t bytes[2 * ARIES_PAGE];
	} arg;
};

FIXTURE_SETUP(abi)
{
	memset(&self->arg, 0, sizeof(self->arg));
	self->fd = aries_attached(aries_cookie(), NULL);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(abi)
{
	close(self->fd);
}

TEST_F(abi, short_argument)
{
	size_t i;

	for (i = 0; i < IOCS; i++) {
		self->arg.argsz = (uint32_t)iocs[i].size - 1;
		EXPECT_EQ(EINVAL, aries_ioctl(self->fd, iocs[i].request, &self->arg)) {
			TH_LOG("%s", iocs[i].name);
		}
		self->arg.argsz = 0;
		EXPECT_EQ(EINVAL, aries_ioctl(self->fd, iocs[i].request, &self->arg)) {
			TH_LOG("%s", iocs[i].name);
		}
	}
}

TEST_F(abi, long_argument_with_a_tail_that_is_not_zero)
{
	size_t i;

	for (i = 0; i < IOCS; i++) {
		memset(&self->arg, 0, sizeof(self->arg));
		self->arg.argsz = (uint32_t)iocs[i].size + 64;
		self->arg.bytes[iocs[i].size + 63] = 1;
		EXPECT_EQ(E2BIG, aries_ioctl(self->fd, iocs[i].request, &self->arg)) {
			TH_LOG("%s", iocs[i].name);
		}
	}
}

TEST_F(abi, huge_argument)
{
	size_t i;

	for (i = 0; i < IOCS; i++) {
		memset(&self->arg, 0, sizeof(self->arg));
		self->arg.argsz = UINT32_MAX;
		EXPECT_EQ(E2BIG, aries_ioctl(self->fd, iocs[i].request, &self->arg)) {
			TH_LOG("%s", iocs[i].name);
		}
	}
}

TEST_F(abi, long_argument_with_zero_tail_works)
{
	struct kgni_query *q = (struct kgni_query *)&self->arg;

	memset(&self->arg, 0, sizeof(self->arg));
	q->argsz = sizeof(*q) + 64;
	EXPECT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_QUERY, q));
	EXPECT_EQ(KGNI_ABI_VERSION, q->abi_version);
	/* no more than the driver knows is written back */
	EXPECT_EQ(0, self->arg.bytes[sizeof(*q)]);
}

TEST_F(abi, bad_address)
{
	size_t i;

	for (i = 0; i < IOCS; i++)
		EXPECT_EQ(EFAULT, aries_ioctl(self->fd, iocs[i].request, (void *)8)) {
			TH_LOG("request %#lx", iocs[i].request);
		}
}

TEST_F(abi, argument_that_ends_in_nowhere)
{
	uint8_t *pages = aries_pages(2);
	size_t i;

	ASSERT_NE(NULL, pages);
	ASSERT_EQ(0, munmap(pages + ARIES_PAGE, ARIES_PAGE));
	for (i = 0; i < IOCS; i++) {
		uint32_t *arg = (uint32_t *)(pages + ARIES_PAGE - 4);

		*arg = (uint32_t)iocs[i].size;
		EXPECT_EQ(EFAULT, aries_ioctl(self->fd, iocs[i].request, arg)) {
			TH_LOG("%s", iocs[i].name);
		}
	}
	munmap(pages, ARIES_PAGE);
}

TEST_F(abi, unknown_requests)
{
	EXPECT_EQ(ENOTTY, aries_ioctl(self->fd, _IO(KGNI_IOC_MAGIC, 0x0a), &self->arg));
	EXPECT_EQ(ENOTTY, aries_ioctl(self->fd, _IO(KGNI_IOC_MAGIC, 0x2f), &self->arg));
	EXPECT_EQ(ENOTTY, aries_ioctl(self->fd, _IO(KGNI_IOC_MAGIC, 0x32), &self->arg));
	EXPECT_EQ(ENOTTY, aries_ioctl(self->fd, _IO(KGNI_IOC_MAGIC, 0x3f), &self->arg));
	EXPECT_EQ(ENOTTY, aries_ioctl(self->fd, _IO(KGNI_IOC_MAGIC, 0x4f), &self->arg));
	EXPECT_EQ(ENOTTY, aries_ioctl(self->fd, _IO(KGNI_IOC_MAGIC, 0xff), &self->arg));
	EXPECT_EQ(ENOTTY, aries_ioctl(self->fd, _IO('H', 0), &self->arg));
	EXPECT_EQ(ENOTTY, aries_ioctl(self->fd, _IOR(KGNI_IOC_MAGIC, 0, int), &self->arg));
}

/* Each byte of a reserved field, one at a time. */
#define EXPECT_RESERVED(request, good, field)                                                   \
	do {                                                                                    \
		__typeof__(good) bad;                                                           \
		size_t at;                                                                      \
		for (at = 0; at < sizeof(bad.field); at++) {                                    \
			bad = good;                                                             \
			((uint8_t *)&bad.field)[at] = 1;                                        \
			EXPECT_EQ(EINVAL, aries_ioctl(self->fd, request, &bad)) {               \
				TH_LOG("byte %zu of " #field " of " #request, at);              \
			}                                                                       \
		}                                                                               \
	} while (0)

TEST_F(abi, reserved_fields)
{
	struct kgni_attach attach = aries_attach_arg(aries_cookie());
	struct kgni_cq_create create = { .argsz = sizeof(create), .entries = 1 };
	struct kgni_cq_wait wait = { .argsz = sizeof(wait), .count = 1 };
	struct kgni_mem_register mem = { .argsz = sizeof(mem), .length = 1, .cq = KGNI_NO_CQ };
	struct kgni_job job = { .argsz = sizeof(job), .cookie = 1, .ptag = ARIES_ANY_PTAG,
				.limit_mdd = -1, .limit_cq = -1, .limit_fma = -1 };
	struct kgni_ptag ptag = { .argsz = sizeof(ptag) };
	struct kgni_res res = { .argsz = sizeof(res), .kind = 1 };
	struct kgni_clock clock = { .argsz = sizeof(clock) };
	struct kgni_mem_segment piece = { (uintptr_t)&mem, 1 };
	struct kgni_mem_segments segments = { .argsz = sizeof(segments), .count = 1,
					      .cq = KGNI_NO_CQ, .segments = (uintptr_t)&piece };
	struct kgni_recv_test test = { .argsz = sizeof(test) };
	struct kgni_recv_cancel cancel = { .argsz = sizeof(cancel) };

	mem.address = (uintptr_t)&mem;
	EXPECT_RESERVED(KGNI_IOC_ATTACH, attach, reserved);
	EXPECT_RESERVED(KGNI_IOC_CQ_CREATE, create, reserved);
	EXPECT_RESERVED(KGNI_IOC_CQ_WAIT, wait, reserved);
	EXPECT_RESERVED(KGNI_IOC_MEM_REGISTER, mem, vmdh); /* without its flag */
	EXPECT_RESERVED(KGNI_IOC_JOB, job, reserved);
	EXPECT_RESERVED(KGNI_IOC_JOB, job, reserved2);
	EXPECT_RESERVED(KGNI_IOC_JOB, job, limit_ce); /* these without their flag */
	EXPECT_RESERVED(KGNI_IOC_JOB, job, limit_recv);
	EXPECT_RESERVED(KGNI_IOC_JOB, job, reserved3);
	EXPECT_RESERVED(KGNI_IOC_MEM_SEGMENTS, segments, vmdh);
	EXPECT_RESERVED(KGNI_IOC_MEM_SEGMENTS, segments, reserved);
	EXPECT_RESERVED(KGNI_IOC_RECV_TEST, test, reserved);
	EXPECT_RESERVED(KGNI_IOC_RECV_CANCEL, cancel, reserved);
	EXPECT_RESERVED(KGNI_IOC_PTAG, ptag, reserved);
	EXPECT_RESERVED(KGNI_IOC_RES, res, reserved);
	EXPECT_RESERVED(KGNI_IOC_CLOCK, clock, reserved);
}

/* Every bit that has no meaning, one at a time. */
#define EXPECT_FLAGS(request, good, field, known)                                               \
	do {                                                                                    \
		__typeof__(good) bad;                                                           \
		unsigned int bit;                                                               \
		for (bit = 0; bit < 32; bit++) {                                                \
			if ((known) & 1u << bit)                                                \
				continue;                                                       \
			bad = good;                                                             \
			bad.field = 1u << bit;                                                  \
			EXPECT_EQ(EINVAL, aries_ioctl(self->fd, request, &bad)) {               \
				TH_LOG("bit %u of " #field " of " #request, bit);               \
			}                                                                       \
		}                                                                               \
	} while (0)

TEST_F(abi, unknown_flags)
{
	struct kgni_cq_create create = { .argsz = sizeof(create), .entries = 1 };
	struct kgni_mem_register mem = { .argsz = sizeof(mem), .length = 1, .cq = KGNI_NO_CQ };
	struct kgni_job job = { .argsz = sizeof(job), .cookie = 1, .ptag = ARIES_ANY_PTAG,
				.limit_mdd = -1, .limit_cq = -1, .limit_fma = -1 };
	struct kgni_clock clock = { .argsz = sizeof(clock) };
	struct kgni_clock_wait wait = { .argsz = sizeof(wait) };
	struct kgni_recv_test test = { .argsz = sizeof(test) };
	struct kgni_recv_cancel cancel = { .argsz = sizeof(cancel) };

	mem.address = (uintptr_t)&mem;
	EXPECT_FLAGS(KGNI_IOC_CLOCK, clock, flags, 0);
	EXPECT_FLAGS(KGNI_IOC_CLOCK_WAIT, wait, flags, 0);
	EXPECT_FLAGS(KGNI_IOC_CQ_CREATE, create, flags, KGNI_CQ_BLOCKING);
	EXPECT_FLAGS(KGNI_IOC_MEM_REGISTER, mem, flags,
		     KGNI_MEM_READ_ONLY | KGNI_MEM_RESERVE | KGNI_MEM_VMDH);
	EXPECT_FLAGS(KGNI_IOC_JOB, job, flags, KGNI_JOB_DESTROY | KGNI_JOB_LIMITS);
	EXPECT_FLAGS(KGNI_IOC_RECV_TEST, test, flags, 0);
	EXPECT_FLAGS(KGNI_IOC_RECV_CANCEL, cancel, flags, 0);
}

TEST_F(abi, unknown_modes)
{
	/* private and undefined GNI_CDM_MODE_* bits */
	static const uint32_t bad[] = { 0x00000400, 0x00000800, 0x00002000, 0x00400000,
					0x08000000, 0x10000000, 0x80000000 };
	struct kgni_attach attach;
	size_t i;
	int fd = aries_open();

	ASSERT_LE(0, fd);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		attach = aries_attach_arg(aries_cookie());
		attach.modes = bad[i];
		EXPECT_EQ(EINVAL, aries_ioctl(fd, KGNI_IOC_ATTACH, &attach)) {
			TH_LOG("mode %#x", bad[i]);
		}
	}
	close(fd);
}

TEST_F(abi, resources)
{
	struct kgni_res res = { .argsz = sizeof(res) };

	res.kind = 0;
	EXPECT_EQ(EINVAL, aries_ioctl(self->fd, KGNI_IOC_RES, &res));
	res.kind = 7;
	EXPECT_EQ(EINVAL, aries_ioctl(self->fd, KGNI_IOC_RES, &res));
	res.kind = 2; /* MRT: a Gemini's */
	EXPECT_EQ(EOPNOTSUPP, aries_ioctl(self->fd, KGNI_IOC_RES, &res));
	res.kind = 4; /* FMA descriptors */
	EXPECT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_RES, &res));
	EXPECT_LE(1, res.used);
	EXPECT_EQ(ARIES_FMA_DESCRIPTORS, res.total);
	EXPECT_EQ(1, res.reserved_units);
	EXPECT_EQ(0, res.held);
	res.kind = 1;
	res.ptag = 200;
	EXPECT_EQ(ENOENT, aries_ioctl(self->fd, KGNI_IOC_RES, &res));
}

TEST_HARNESS_MAIN
