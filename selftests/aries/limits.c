// SPDX-License-Identifier: GPL-2.0-only
/*
 * When the NIC or a job has no more: a clear refusal, and everything back afterwards. Number 0 of
 * each kind is the kernel's.
 */
#include <sys/resource.h>

#include "aries_test.h"
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
	for (n = 0; n < left; n++)
		ASSERT_EQ(0, aries_cq(fd, 1, 0, NULL)) {
			TH_LOG("queue %lld of %lld", n + 1, left);
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
	for (n = 0; n < left; n++)
		ASSERT_EQ(0, aries_register(fd, page, 8, 0, KGNI_NO_CQ, NULL)) {
			TH_LOG("registration %lld of %lld", n + 1, left);
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
