// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file that waits for the NIC holds up nobody else: not who opens the device, not who asks what a
 * domain uses, not who suspends or resumes its job.
 */
#include <pthread.h>
#include <sched.h>

#include "raw.h"
#include "kselftest_harness.h"

#define FMA_SHARED 0x00020000u
#define JOB 815
#define HALF (16ul << 20)
#define TRANSFERS 600 /* a second of work on a fast machine */
#define ROUNDS 3
#define RES_TRANSFERS 7
#define RES_SHARED 10

/*
 * Two attachments that share the one descriptor of their job. The first has transfers under way and
 * is closed; the second touches the descriptor and waits, in its page fault, until they have ended.
 */
FIXTURE(busy)
{
	struct kgni_job job;
	struct raw first, second;
	uint8_t *pages;
	struct kgni_mem_register mem;
	pthread_t closer, toucher;
	volatile int closed, touched;
};

static int job(struct kgni_job *arg, uint32_t flags)
{
	int fd = aries_open(), rc;

	arg->flags = flags;
	rc = aries_ioctl(fd, KGNI_IOC_JOB, arg);
	close(fd);
	return rc;
}

FIXTURE_SETUP(busy)
{
	self->job = (struct kgni_job){ .argsz = sizeof(self->job), .job_id = JOB,
				       .cookie = aries_cookie(), .ptag = ARIES_ANY_PTAG,
				       .limit_mdd = -1, .limit_cq = -1, .limit_fma = 1 };
	ASSERT_EQ(0, job(&self->job, 0));
	self->pages = aries_pages(2 * HALF / ARIES_PAGE);
	ASSERT_NE(NULL, self->pages);
	ASSERT_EQ(0, raw_open_mode(&self->first, self->job.cookie, FMA_SHARED));
	ASSERT_EQ(0, raw_open_mode(&self->second, self->job.cookie, FMA_SHARED));
	ASSERT_EQ(self->first.at.fmad, self->second.at.fmad);
	ASSERT_EQ(0, aries_register(self->first.fd, self->pages, 2 * HALF, 0, KGNI_NO_CQ,
				    &self->mem));
}

FIXTURE_TEARDOWN(busy)
{
	raw_close(&self->second);
	munmap(self->pages, 2 * HALF);
	EXPECT_EQ(0, job(&self->job, KGNI_JOB_DESTROY));
}

static void *close_first(void *arg)
{
	FIXTURE_DATA(busy) *self = arg;

	raw_close(&self->first);
	self->closed = 1;
	return NULL;
}

static void *touch_second(void *arg)
{
	FIXTURE_DATA(busy) *self = arg;

	raw_status(&self->second);
	self->touched = 1;
	return NULL;
}

static struct kgni_res use(int fd, uint32_t kind, uint8_t ptag)
{
	struct kgni_res res = { .argsz = sizeof(res), .kind = kind, .ptag = ptag };

	if (aries_ioctl(fd, KGNI_IOC_RES, &res))
		res.used = ~0ull;
	return res;
}

static int suspend(struct kgni_job *j, uint32_t flags, uint64_t timeout_ms)
{
	struct kgni_suspend arg = { .argsz = sizeof(arg), .flags = flags, .job_id = j->job_id,
				    .cookie = j->cookie, .ptag = ARIES_ANY_PTAG,
				    .timeout_ms = timeout_ms };
	int fd = aries_open(), rc;

	rc = aries_ioctl(fd, KGNI_IOC_SUSPEND, &arg);
	close(fd);
	return rc;
}

struct asker {
	uint8_t ptag;
	volatile int go, stop;
};

/* Anybody may ask, and does so all the time. */
static void *ask(void *arg)
{
	struct asker *a = arg;
	int fd = aries_open();

	while (!a->go)
		usleep(1000);
	while (!a->stop) {
		use(fd, RES_SHARED, a->ptag);
		use(fd, RES_TRANSFERS, a->ptag);
	}
	close(fd);
	return NULL;
}

TEST_F_TIMEOUT(busy, who_asks_or_opens_does_not_wait, 120)
{
	struct asker asker = { .ptag = self->first.at.ptag };
	int any = aries_open(), i, fd;
	pthread_t thread;

	ASSERT_LE(0, any);
	ASSERT_LT(100, raw_keep_busy(&self->first, self->mem.mdh, self->pages, HALF, TRANSFERS));
	EXPECT_LT(0, use(any, RES_TRANSFERS, self->first.at.ptag).used);
	EXPECT_EQ(2, use(any, RES_SHARED, self->first.at.ptag).used);
	ASSERT_EQ(0, pthread_create(&thread, NULL, ask, &asker));
	ASSERT_EQ(0, pthread_create(&self->closer, NULL, close_first, self));
	usleep(100000); /* the first waits now */
	/* from its page fault on nothing can be mapped in this process */
	ASSERT_EQ(0, pthread_create(&self->toucher, NULL, touch_second, self));
	usleep(100000); /* the second, too */
	ASSERT_FALSE(self->closed || self->touched) {
		TH_LOG("the transfers ended before anything could be tried");
	}
	asker.go = 1;
	for (i = 0; i < ROUNDS && !self->touched; i++) {
		EXPECT_NE(~0ull, use(any, RES_SHARED, self->second.at.ptag).used);
		EXPECT_NE(~0ull, use(any, RES_TRANSFERS, self->second.at.ptag).used);
		fd = aries_open();
		EXPECT_LE(0, fd);
		close(fd);
	}
	/* all of that while the file was still waiting */
	EXPECT_EQ(ROUNDS, i);
	asker.stop = 1;
	pthread_join(thread, NULL);
	pthread_join(self->closer, NULL);
	pthread_join(self->toucher, NULL);
	close(any);
}

struct suspender {
	struct kgni_job *job;
	volatile int rc;
};

static void *suspend_it(void *arg)
{
	struct suspender *s = arg;

	s->rc = suspend(s->job, 0, 600000);
	return NULL;
}

/* Suspending waits for transfers; who resumes the job meanwhile wins, and both are told so. */
TEST_F_TIMEOUT(busy, resumed_while_it_is_suspended, 120)
{
	struct suspender s = { .job = &self->job, .rc = -1 };
	pthread_t thread;
	int i, rc = EALREADY;

	ASSERT_LT(100, raw_keep_busy(&self->first, self->mem.mdh, self->pages, HALF, TRANSFERS));
	ASSERT_EQ(0, pthread_create(&thread, NULL, suspend_it, &s));
	/* that it has not begun yet is the only other answer */
	for (i = 0; i < 10000 && rc == EALREADY; i++) {
		usleep(1000);
		rc = suspend(&self->job, KGNI_SUSPEND_RESUME, 0);
	}
	EXPECT_EQ(0, rc);
	pthread_join(thread, NULL);
	EXPECT_EQ(ECANCELED, s.rc);
	EXPECT_EQ(EALREADY, suspend(&self->job, KGNI_SUSPEND_RESUME, 0));
	raw_status(&self->second);
	raw_close(&self->first);
}

TEST_HARNESS_MAIN
