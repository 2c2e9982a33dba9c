// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs that are suspended and resumed: their processes wait where they touch the NIC, nothing is
 * lost, others notice nothing.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "raw.h"
#include "kselftest_harness.h"

#define FMA_SHARED 0x00020000u
#define JOB 4711

static int suspend(uint32_t cookie, uint32_t flags, uint64_t timeout_ms)
{
	struct kgni_suspend arg = { .argsz = sizeof(arg), .flags = flags, .job_id = JOB,
				    .cookie = cookie, .ptag = ARIES_ANY_PTAG,
				    .timeout_ms = timeout_ms };
	int fd = aries_open(), rc;

	rc = aries_ioctl(fd, KGNI_IOC_SUSPEND, &arg);
	close(fd);
	return rc;
}

FIXTURE(suspend)
{
	struct kgni_job job;
	uint32_t cookie;
	struct raw r;
	struct kgni_mem_register mem;
	uint8_t *page;
};

FIXTURE_VARIANT(suspend)
{
	uint32_t modes;
};

FIXTURE_VARIANT_ADD(suspend, dedicated)
{
	.modes = 0,
};

FIXTURE_VARIANT_ADD(suspend, shared)
{
	.modes = FMA_SHARED,
};

FIXTURE_SETUP(suspend)
{
	int fd = aries_open();

	self->cookie = aries_cookie();
	self->job = (struct kgni_job){ .argsz = sizeof(self->job), .job_id = JOB,
				       .cookie = self->cookie, .ptag = ARIES_ANY_PTAG,
				       .limit_mdd = -1, .limit_cq = -1, .limit_fma = -1 };
	ASSERT_EQ(0, aries_ioctl(fd, KGNI_IOC_JOB, &self->job));
	close(fd);
	self->page = aries_pages(1);
	ASSERT_EQ(0, raw_open_mode(&self->r, self->cookie, variant->modes));
	ASSERT_EQ(0, aries_register(self->r.fd, self->page, 8, 0, KGNI_NO_CQ, &self->mem));
	ASSERT_EQ(0, raw_put(&self->r, 0, self->mem.mdh, self->page, "abcd", 4, 0));
}

FIXTURE_TEARDOWN(suspend)
{
	int fd = aries_open();

	raw_close(&self->r);
	self->job.flags = KGNI_JOB_DESTROY;
	EXPECT_EQ(0, aries_ioctl(fd, KGNI_IOC_JOB, &self->job));
	close(fd);
}

struct worker {
	struct raw *r;
	uint32_t mdh, status;
	uint8_t *to;
	volatile int done;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	w->status = raw_put(w->r, 0, w->mdh, w->to, "efgh", 4, 0);
	w->done = 1;
	return NULL;
}

TEST_F(suspend, a_store_waits_and_is_not_lost)
{
	struct worker w = { &self->r, self->mem.mdh, 99, self->page };
	pthread_t thread;

	ASSERT_EQ(0, suspend(self->cookie, 0, 1000));
	ASSERT_EQ(0, pthread_create(&thread, NULL, work, &w));
	usleep(500000);
	EXPECT_EQ(0, w.done);
	EXPECT_EQ(0, memcmp(self->page, "abcd", 4));
	ASSERT_EQ(0, suspend(self->cookie, KGNI_SUSPEND_RESUME, 0));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, w.status);
	EXPECT_EQ(0, memcmp(self->page, "efgh", 4));
}

TEST_F(suspend, others_go_on)
{
	struct kgni_mem_register mem;
	struct raw other;

	ASSERT_EQ(0, raw_open_mode(&other, aries_cookie(), variant->modes));
	ASSERT_EQ(0, aries_register(other.fd, self->page, 8, 0, KGNI_NO_CQ, &mem));
	ASSERT_EQ(0, suspend(self->cookie, 0, 1000));
	EXPECT_EQ(0, raw_put(&other, 0, mem.mdh, self->page, "ijkl", 4, 0));
	EXPECT_EQ(0, memcmp(self->page, "ijkl", 4));
	ASSERT_EQ(0, suspend(self->cookie, KGNI_SUSPEND_RESUME, 0));
	raw_close(&other);
}

/* An attachment made meanwhile is suspended too. */
TEST_F(suspend, newcomers_wait)
{
	struct worker w = { .mdh = self->mem.mdh, .status = 99, .to = self->page };
	struct raw late;
	pthread_t thread;

	ASSERT_EQ(0, suspend(self->cookie, 0, 1000));
	ASSERT_EQ(0, raw_open_mode(&late, self->cookie, variant->modes));
	w.r = &late;
	ASSERT_EQ(0, pthread_create(&thread, NULL, work, &w));
	usleep(300000);
	EXPECT_EQ(0, w.done);
	ASSERT_EQ(0, suspend(self->cookie, KGNI_SUSPEND_RESUME, 0));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, w.status);
	raw_close(&late);
}

TEST_F(suspend, a_waiting_process_can_be_killed)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, suspend(self->cookie, 0, 1000));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct raw r;

		if (raw_open_mode(&r, self->cookie, 0))
			_exit(1);
		raw_put(&r, 0, 0, self->page, "abcd", 4, 0);
		_exit(2);
	}
	usleep(300000);
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	ASSERT_EQ(0, suspend(self->cookie, KGNI_SUSPEND_RESUME, 0));
}

TEST_F(suspend, states_and_names)
{
	struct kgni_suspend arg = { .argsz = sizeof(arg), .job_id = JOB, .cookie = self->cookie,
				    .ptag = ARIES_ANY_PTAG };
	int fd = aries_open();

	EXPECT_EQ(EALREADY, suspend(self->cookie, KGNI_SUSPEND_RESUME, 0));
	EXPECT_EQ(0, suspend(self->cookie, 0, 0));
	EXPECT_EQ(EALREADY, suspend(self->cookie, 0, 0));
	EXPECT_EQ(0, suspend(self->cookie, KGNI_SUSPEND_RESUME, 0));
	EXPECT_EQ(ENOENT, suspend(self->cookie + 1, 0, 0));
	arg.job_id++;
	EXPECT_EQ(ENOENT, aries_ioctl(fd, KGNI_IOC_SUSPEND, &arg));
	arg.job_id--;
	arg.ptag = self->r.at.ptag ^ 1;
	EXPECT_EQ(ENOENT, aries_ioctl(fd, KGNI_IOC_SUSPEND, &arg));
	arg.ptag = 0;
	EXPECT_EQ(EINVAL, aries_ioctl(fd, KGNI_IOC_SUSPEND, &arg));
	arg.ptag = ARIES_ANY_PTAG;
	arg.flags = 2;
	EXPECT_EQ(EINVAL, aries_ioctl(fd, KGNI_IOC_SUSPEND, &arg));
	arg.flags = 0;
	arg.reserved[2] = 1;
	EXPECT_EQ(EINVAL, aries_ioctl(fd, KGNI_IOC_SUSPEND, &arg));
	arg.reserved[2] = 0;
	ASSERT_EQ(0, setresuid(ARIES_NOBODY, ARIES_NOBODY, 0));
	EXPECT_EQ(EPERM, aries_ioctl(fd, KGNI_IOC_SUSPEND, &arg));
	ASSERT_EQ(0, setresuid(0, 0, 0));
	close(fd);
}

TEST_HARNESS_MAIN
