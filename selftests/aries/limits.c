// SPDX-License-Identifier: GPL-2.0-only
/*
 * When the NIC or a job has no more: a clear refusal, and everything back afterwards. Number 0 of
 * each kind is the kernel's.
 */
#include <sys/resource.h>

#include "dgram.h"
#include "raw.h"
#include "kselftest_harness.h"

static void raise_file_limit(void)
{
	struct rlimit limit = { 4096, 4096 };

	setrlimit(RLIMIT_NOFILE, &limit);
}

/* N06: 127 processes have a descriptor; the next one is refused. */
TEST(fma_descriptors)
{
	struct aries_use before = aries_use();
	long long left = ARIES_FMA_DESCRIPTORS - 1 - before.fma, n;
	int fds[ARIES_FMA_DESCRIPTORS];
	uint32_t cookie = aries_cookie();

	raise_file_limit();
	ASSERT_LT(0, left);
	for (n = 0; n < left; n++) {
		fds[n] = aries_attached(cookie, NULL);
		ASSERT_LE(0, fds[n]) {
			TH_LOG("attachment %lld of %lld", n + 1, left);
		}
	}
	EXPECT_EQ(-ENOSPC, aries_attached(cookie, NULL));
	/* one back, one more */
	close(fds[0]);
	fds[0] = aries_attached(cookie, NULL);
	EXPECT_LE(0, fds[0]);
	for (n = 0; n < left; n++)
		close(fds[n]);
	EXPECT_TRUE(aries_use_equal(before, aries_use()));
}

TEST(completion_queues)
{
	struct aries_use before = aries_use();
	long long left = ARIES_CQ_ENTRIES - 1 - before.cq, n;
	int fd = aries_attached(aries_cookie(), NULL);

	ASSERT_LE(0, fd);
	for (n = 0; n < left; n++) {
		ASSERT_EQ(0, aries_cq(fd, 1, 0, NULL)) {
			TH_LOG("queue %lld of %lld", n + 1, left);
		}
	}
	EXPECT_EQ(ENOSPC, aries_cq(fd, 1, 0, NULL));
	close(fd);
	EXPECT_TRUE(aries_use_equal(before, aries_use()));
}

TEST(memory_domains)
{
	struct aries_use before = aries_use();
	long long left = ARIES_MDD_ENTRIES - 1 - before.mdd, n;
	int fd = aries_attached(aries_cookie(), NULL);
	void *page = aries_pages(1);

	ASSERT_LE(0, fd);
	ASSERT_NE(NULL, page);
	for (n = 0; n < left; n++) {
		ASSERT_EQ(0, aries_register(fd, page, 8, 0, KGNI_NO_CQ, NULL)) {
			TH_LOG("registration %lld of %lld", n + 1, left);
		}
	}
	EXPECT_EQ(ENOSPC, aries_register(fd, page, 8, 0, KGNI_NO_CQ, NULL));
	close(fd);
	EXPECT_TRUE(aries_use_equal(before, aries_use()));
}

TEST(limits_of_a_job)
{
	uint32_t cookie = aries_cookie();
	struct kgni_job job = { .argsz = sizeof(job), .job_id = 5, .cookie = cookie,
				.ptag = ARIES_ANY_PTAG, .limit_mdd = 2, .limit_cq = 1, .limit_fma = 2 };
	int any = aries_open(), a, b;
	void *page = aries_pages(1);

	ASSERT_LE(0, any);
	ASSERT_NE(NULL, page);
	ASSERT_EQ(0, aries_ioctl(any, KGNI_IOC_JOB, &job));
	a = aries_attached(cookie, NULL);
	b = aries_attached(cookie, NULL);
	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	EXPECT_EQ(-ENOSPC, aries_attached(cookie, NULL));
	EXPECT_EQ(0, aries_cq(a, 1, 0, NULL));
	EXPECT_EQ(ENOSPC, aries_cq(b, 1, 0, NULL));
	EXPECT_EQ(0, aries_register(a, page, 8, 0, KGNI_NO_CQ, NULL));
	EXPECT_EQ(0, aries_register(b, page, 8, 0, KGNI_NO_CQ, NULL));
	EXPECT_EQ(ENOSPC, aries_register(a, page, 8, 0, KGNI_NO_CQ, NULL));
	close(b);
	EXPECT_EQ(0, aries_register(a, page, 8, 0, KGNI_NO_CQ, NULL));
	close(a);
	job.flags = KGNI_JOB_DESTROY;
	EXPECT_EQ(0, aries_ioctl(any, KGNI_IOC_JOB, &job));
	close(any);
}

/* Everything that KGNI_JOB_LIMITS names, of a job of its own. */
FIXTURE(limit)
{
	struct kgni_job job;
	struct raw r;
	struct raw_cq q;
	uint8_t *pages;
};

#define LIMIT_PAGES 1024

FIXTURE_SETUP(limit)
{
	int fd = aries_open();

	self->job = (struct kgni_job){ .argsz = sizeof(self->job), .flags = KGNI_JOB_LIMITS,
				       .job_id = 77, .cookie = aries_cookie(),
				       .ptag = ARIES_ANY_PTAG, .limit_mdd = -1, .limit_cq = -1,
				       .limit_fma = -1, .limit_ce = -1, .limit_bte = -1,
				       .limit_iommu = -1, .limit_dgram = -1, .limit_recv = -1 };
	ASSERT_EQ(0, aries_ioctl(fd, KGNI_IOC_JOB, &self->job));
	close(fd);
	self->pages = aries_pages(LIMIT_PAGES);
	ASSERT_NE(NULL, self->pages);
	ASSERT_EQ(0, raw_open(&self->r, self->job.cookie));
	ASSERT_EQ(0, raw_cq(&self->r, &self->q, 60, 0));
}

FIXTURE_TEARDOWN(limit)
{
	int fd = aries_open();
	struct kgni_job job = { .argsz = sizeof(job), .flags = KGNI_JOB_DESTROY, .job_id = 77,
				.cookie = self->job.cookie, .ptag = ARIES_ANY_PTAG };

	raw_cq_unmap(&self->q);
	raw_close(&self->r);
	munmap(self->pages, LIMIT_PAGES * ARIES_PAGE);
	EXPECT_EQ(0, aries_ioctl(fd, KGNI_IOC_JOB, &job));
	close(fd);
}

static struct kgni_res use(struct raw *r, uint32_t kind)
{
	struct kgni_res res = { .argsz = sizeof(res), .kind = kind, .ptag = r->at.ptag };

	if (aries_ioctl(r->fd, KGNI_IOC_RES, &res))
		res.total = res.used = 999999;
	return res;
}

TEST_F(limit, collective_engines)
{
	struct kgni_ce_alloc a = { .argsz = sizeof(a) };
	struct kgni_ce_free f = { .argsz = sizeof(f) };

	EXPECT_EQ(ARIES_CE_CHANNELS, use(&self->r, 8).total);
	self->job.limit_ce = 1;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &self->job));
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_CE_ALLOC, &a));
	EXPECT_EQ(1, use(&self->r, 8).used);
	EXPECT_EQ(1, use(&self->r, 8).total);
	f.ce = a.ce;
	EXPECT_EQ(ENOSPC, aries_ioctl(self->r.fd, KGNI_IOC_CE_ALLOC, &a));
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_CE_FREE, &f));
	EXPECT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_CE_ALLOC, &a));
	self->job.limit_ce = 0;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &self->job));
	f.ce = a.ce;
	EXPECT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_CE_FREE, &f));
	EXPECT_EQ(ENOSPC, aries_ioctl(self->r.fd, KGNI_IOC_CE_ALLOC, &a));
}

/* The NIC refuses what is over the limit, at the doorbell and without an event. */
TEST_F(limit, block_transfers)
{
	const uint32_t half = LIMIT_PAGES / 2 * ARIES_PAGE;
	struct kgni_mem_register mem;
	unsigned int i, taken = 0;
	uint32_t status;

	ASSERT_EQ(0, aries_register(self->r.fd, self->pages, LIMIT_PAGES * ARIES_PAGE, 0,
				    KGNI_NO_CQ, &mem));
	EXPECT_LT(1000, use(&self->r, 7).total);
	self->job.limit_bte = 0;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &self->job));
	EXPECT_EQ(0, use(&self->r, 7).total);
	EXPECT_EQ(ARIES_ST_QUEUE_FULL,
		  raw_block(&self->r, self->q.c.cq, ARIES_BTE_PUT, mem.mdh, self->pages + half,
			    self->pages, 64));
	EXPECT_EQ(0, raw_poll(&self->q, 20));
	self->job.limit_bte = 2;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &self->job));
	EXPECT_EQ(2, use(&self->r, 7).total);
	for (i = 0; i < 40; i++) {
		status = raw_block(&self->r, self->q.c.cq, ARIES_BTE_PUT, mem.mdh,
				   self->pages + half, self->pages, half);
		EXPECT_TRUE(status == ARIES_ST_OK || status == ARIES_ST_QUEUE_FULL);
		taken += status == ARIES_ST_OK;
		EXPECT_GE(2, use(&self->r, 7).used);
	}
	EXPECT_LE(2, taken);
	while (taken--) {
		EXPECT_EQ(0, raw_entry_status(raw_poll(&self->q, 5000)));
	}
	EXPECT_EQ(0, raw_poll(&self->q, 20));
}

/* 2^N MiB of registrations, whole pages, reserved ranges included. */
TEST_F(limit, registered_memory)
{
	const uint32_t mib = 1u << 20;
	struct kgni_mem_register a, b;
	struct kgni_mem_deregister arg = { .argsz = sizeof(arg) };

	self->job.limit_iommu = 1;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &self->job));
	EXPECT_EQ(2 * mib, use(&self->r, 3).total);
	ASSERT_EQ(0, aries_register(self->r.fd, self->pages, mib, 0, KGNI_NO_CQ, &a));
	EXPECT_EQ(mib, use(&self->r, 3).used);
	EXPECT_EQ(ENOSPC, aries_register(self->r.fd, self->pages, mib + 1, 0, KGNI_NO_CQ, NULL));
	EXPECT_EQ(ENOSPC, aries_register(self->r.fd, self->pages, mib + 1, KGNI_MEM_RESERVE,
					 KGNI_NO_CQ, NULL));
	ASSERT_EQ(0, aries_register(self->r.fd, self->pages, mib, KGNI_MEM_RESERVE, KGNI_NO_CQ,
				    &b));
	EXPECT_EQ(2 * mib, use(&self->r, 3).used);
	EXPECT_EQ(ENOSPC, aries_register(self->r.fd, self->pages, 1, 0, KGNI_NO_CQ, NULL));
	arg.mdh = a.mdh;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_MEM_DEREGISTER, &arg));
	EXPECT_EQ(mib, use(&self->r, 3).used);
	EXPECT_EQ(0, aries_register(self->r.fd, self->pages, 1, 0, KGNI_NO_CQ, NULL));
	/* more than there is is no limit */
	self->job.limit_iommu = 255;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &self->job));
	EXPECT_EQ(0, aries_register(self->r.fd, self->pages, 2 * mib, 0, KGNI_NO_CQ, NULL));
}

TEST_F(limit, datagrams)
{
	int other = dgram_attached(self->job.cookie, 9, NULL);

	ASSERT_LE(0, other);
	self->job.limit_dgram = 3;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &self->job));
	ASSERT_EQ(0, dgram_wildcard(self->r.fd, 1, "x"));
	ASSERT_EQ(0, dgram_wildcard(self->r.fd, 2, "x"));
	ASSERT_EQ(0, dgram_wildcard(other, 1, "x"));
	EXPECT_EQ(3, use(&self->r, KGNI_RES_DGRAM).used);
	EXPECT_EQ(3, use(&self->r, KGNI_RES_DGRAM).total);
	EXPECT_EQ(ENOSPC, dgram_wildcard(other, 2, "x"));
	EXPECT_EQ(ENOSPC, dgram_wildcard(self->r.fd, 3, "x"));
	close(other);
	EXPECT_EQ(2, use(&self->r, KGNI_RES_DGRAM).used);
	EXPECT_EQ(0, dgram_wildcard(self->r.fd, 3, "x"));
}

/* -1 leaves a limit alone, and so does a caller that does not know it. */
TEST_F(limit, unchanged)
{
	struct kgni_job old = self->job;

	self->job.limit_ce = 2;
	self->job.limit_bte = 5;
	self->job.limit_iommu = 0;
	self->job.limit_dgram = 6;
	self->job.limit_recv = 7;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &self->job));
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &old));
	old.flags = 0;
	old.argsz = offsetof(struct kgni_job, limit_ce);
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &old));
	EXPECT_EQ(2, use(&self->r, 8).total);
	EXPECT_EQ(5, use(&self->r, 7).total);
	EXPECT_EQ(1u << 20, use(&self->r, 3).total);
	EXPECT_EQ(6, use(&self->r, KGNI_RES_DGRAM).total);
	EXPECT_EQ(7, use(&self->r, KGNI_RES_RECV).total);
}

TEST_F(limit, refused)
{
	struct kgni_job bad;

#define REFUSED(field, value)                                                   \
	do {                                                                    \
		bad = self->job;                                                \
		bad.field = value;                                              \
		EXPECT_EQ(EINVAL, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &bad)) { \
			TH_LOG(#field " " #value);                              \
		}                                                               \
	} while (0)
	REFUSED(limit_ce, -2);
	REFUSED(limit_bte, -2);
	REFUSED(limit_iommu, -2);
	REFUSED(limit_iommu, 256);
	REFUSED(limit_dgram, -2);
	REFUSED(limit_recv, INT32_MIN);
	REFUSED(reserved3, 1);
	REFUSED(flags, KGNI_JOB_LIMITS | 4);
	REFUSED(flags, 0); /* the limits are not zero */
	/* of a tag that is not its own: without privileges nobody changes anything */
	ASSERT_EQ(0, setresuid(ARIES_NOBODY, ARIES_NOBODY, 0));
	EXPECT_EQ(EPERM, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &self->job));
	ASSERT_EQ(0, setresuid(0, 0, 0));
}

/* A domain lives as long as somebody is attached; 251 tags are left for processes. */
TEST(protection_tags)
{
	int fds[256];
	int count = 0, last, n;

	raise_file_limit();
	/* descriptors run out before tags do, so configure jobs instead of attaching */
	for (n = 0; n < 256; n++) {
		struct kgni_job job = { .argsz = sizeof(job), .job_id = 900, .ptag = ARIES_ANY_PTAG,
					.cookie = 0x70000000u + (uint32_t)n, .limit_mdd = -1,
					.limit_cq = -1, .limit_fma = -1 };

		fds[n] = aries_open();
		ASSERT_LE(0, fds[n]);
		last = aries_ioctl(fds[n], KGNI_IOC_JOB, &job);
		close(fds[n]);
		if (last)
			break;
		count++;
	}
	EXPECT_EQ(ENOSPC, last);
	EXPECT_LE(200, count);
	EXPECT_GE(253, count);
	n = aries_open();
	while (count-- > 0) {
		struct kgni_job job = { .argsz = sizeof(job), .job_id = 900, .ptag = ARIES_ANY_PTAG,
					.cookie = 0x70000000u + (uint32_t)count, .limit_mdd = -1,
					.limit_cq = -1, .limit_fma = -1, .flags = KGNI_JOB_DESTROY };

		EXPECT_EQ(0, aries_ioctl(n, KGNI_IOC_JOB, &job));
	}
	close(n);
}

TEST_HARNESS_MAIN
