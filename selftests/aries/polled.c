// SPDX-License-Identifier: GPL-2.0-only
/*
 * Doorbells without a trap, on a NIC that takes them (doorbell=polled): what ATTACH tells, what
 * the driver owes a doorbell that lies in the area when its process ends, is killed or suspended,
 * and what it counts. The cluster's tests run this.
 */
#include <signal.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "raw.h"
#include "ugni_test.h"

#define PUTS 20000

/* That a child has in common with its parent. */
static void *shared_page(void)
{
	void *p = mmap(NULL, ARIES_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* A region of a file of its own, which outlives the one that rings. */
FIXTURE(polled)
{
	uint32_t cookie, mdh;
	struct raw keeper, ringer;
	volatile uint64_t *words;
	uint64_t phase;
};

FIXTURE_SETUP(polled)
{
	struct kgni_mem_register m;

	self->cookie = aries_cookie();
	self->phase = 0;
	ASSERT_EQ(0, raw_open(&self->keeper, self->cookie));
	ASSERT_EQ(0, raw_open(&self->ringer, self->cookie));
	self->words = shared_page();
	ASSERT_NE(NULL, self->words);
	ASSERT_EQ(0, aries_register(self->keeper.fd, (void *)self->words, ARIES_PAGE, 0,
				    KGNI_NO_CQ, &m));
	self->mdh = m.mdh;
}

FIXTURE_TEARDOWN(polled)
{
	raw_close(&self->keeper);
}

/* Stores a doorbell that adds 1 to the first word, and tells nobody. */
static void leave(struct raw *r, uint32_t mdh, const volatile void *to, uint64_t *phase)
{
	const uint64_t bell = raw_prepare_add(r, mdh, to, 0x108);

	*phase ^= ARIES_DB_PHASE;
	*(volatile uint64_t *)(r->area + r->at.poll_offset) = *phase | bell;
	__sync_synchronize();
}

static uint32_t awake(const struct raw *r)
{
	return *(volatile uint32_t *)(r->area + r->at.awake_offset);
}

TEST_F(polled, attach_tells_where)
{
	struct raw shared;

	EXPECT_EQ(ARIES_DESC_POLL, self->ringer.at.poll_offset);
	EXPECT_EQ(ARIES_DESC_AWAKE, self->ringer.at.awake_offset);
	EXPECT_EQ(0, awake(&self->ringer));
	/* an area that others get in turn has none */
	ASSERT_EQ(0, raw_open_mode(&shared, self->cookie, 0x00020000));
	EXPECT_EQ(0, shared.at.poll_offset);
	EXPECT_EQ(0, shared.at.awake_offset);
	*(volatile uint64_t *)(shared.area + ARIES_DESC_POLL) = ARIES_DB_PHASE;
	shared.bell[ARIES_DB_POLL / 8] = 0;
	EXPECT_EQ(ARIES_ST_DISABLED, raw_status(&shared));
	raw_close(&shared);
	raw_close(&self->ringer);
}

/* A library that knows nothing of this: its structure ends before. */
TEST_F(polled, older_callers_trap)
{
	struct kgni_attach at = aries_attach_arg(self->cookie);
	struct raw old = { .fd = aries_open() };

	at.argsz = offsetof(struct kgni_attach, poll_offset);
	at.poll_offset = 0x77; /* not the driver's to write, nor to read */
	ASSERT_LE(0, old.fd);
	ASSERT_EQ(0, aries_ioctl(old.fd, KGNI_IOC_ATTACH, &at));
	EXPECT_EQ(0x77, at.poll_offset);
	old.at = at;
	old.area = mmap(NULL, ARIES_DESC_STRIDE, PROT_READ | PROT_WRITE, MAP_SHARED, old.fd,
			(off_t)at.desc_offset);
	old.bell = mmap(NULL, ARIES_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, old.fd,
			(off_t)at.doorbell_offset);
	ASSERT_NE(MAP_FAILED, (void *)old.area);
	ASSERT_NE(MAP_FAILED, (void *)old.bell);
	EXPECT_EQ(0, raw_add(&old, self->mdh, self->words, 0x108));
	EXPECT_EQ(1, self->words[0]);
	raw_close(&old);
	raw_close(&self->ringer);
}

/* The store was made, so it counts: once, whatever becomes of the process. */
TEST_F(polled, what_was_stored_is_done_before_the_file_is_closed)
{
	leave(&self->ringer, self->mdh, self->words, &self->phase);
	raw_close(&self->ringer);
	EXPECT_EQ(1, self->words[0]);
}

TEST_F_TIMEOUT(polled, also_if_the_process_is_killed, 300)
{
	uint64_t done = 0;
	int i, status;
	pid_t pid;

	raw_close(&self->ringer);
	for (i = 0; i < 20; i++) {
		volatile uint64_t *stored = shared_page();

		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			struct raw r;
			uint64_t phase = 0, n;

			if (raw_open(&r, self->cookie))
				_exit(1);
			for (n = 0;; n++) {
				uint32_t before = *(volatile uint32_t *)(r.area + ARIES_DESC_STATUS);

				leave(&r, self->mdh, self->words, &phase);
				*stored = n + 1;
				if (n == (uint64_t)i * 7)
					kill(getpid(), SIGKILL);
				if (!awake(&r))
					r.bell[ARIES_DB_POLL / 8] = 0;
				while (*(volatile uint32_t *)(r.area + ARIES_DESC_STATUS) == before)
					;
			}
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_TRUE(WIFSIGNALED(status));
		done += *stored;
		EXPECT_EQ(done, self->words[0]);
		munmap((void *)stored, ARIES_PAGE);
	}
}

/* Nothing is sent by a job that is suspended, and nothing is lost. */
TEST_F_TIMEOUT(polled, suspended_jobs_are_quiet, 300)
{
	struct kgni_job job = { .argsz = sizeof(job), .job_id = 815, .cookie = self->cookie + 1,
				.ptag = ARIES_ANY_PTAG, .limit_mdd = 99, .limit_cq = 99,
				.limit_fma = 9 };
	struct kgni_suspend s = { .argsz = sizeof(s), .job_id = 815, .cookie = self->cookie + 1,
				  .ptag = ARIES_ANY_PTAG, .timeout_ms = 60000 };
	volatile uint64_t *stop = shared_page();
	struct kgni_mem_register m;
	struct raw keeper;
	uint64_t seen = 0;
	int i, status;
	pid_t pid;

	raw_close(&self->ringer);
	ASSERT_EQ(0, aries_ioctl(self->keeper.fd, KGNI_IOC_JOB, &job));
	ASSERT_EQ(0, raw_open(&keeper, job.cookie));
	ASSERT_EQ(0, aries_register(keeper.fd, (void *)self->words, ARIES_PAGE, 0, KGNI_NO_CQ, &m));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct raw r;
		uint64_t phase = 0;

		if (raw_open(&r, job.cookie))
			_exit(1);
		while (!stop[0]) {
			uint32_t before = *(volatile uint32_t *)(r.area + ARIES_DESC_STATUS);

			leave(&r, m.mdh, self->words, &phase);
			stop[1]++;
			if (!awake(&r))
				r.bell[ARIES_DB_POLL / 8] = 0;
			while (*(volatile uint32_t *)(r.area + ARIES_DESC_STATUS) == before)
				;
		}
		_exit(0);
	}
	for (i = 0; i < 10; i++) {
		time_t end = time(NULL) + 60;

		while (self->words[0] < seen + 100 && time(NULL) < end)
			usleep(1000);
		EXPECT_LE(seen + 100, self->words[0]);
		s.flags = 0;
		ASSERT_EQ(0, aries_ioctl(self->keeper.fd, KGNI_IOC_SUSPEND, &s));
		seen = self->words[0];
		usleep(30000);
		EXPECT_EQ(seen, self->words[0]);
		s.flags = KGNI_SUSPEND_RESUME;
		ASSERT_EQ(0, aries_ioctl(self->keeper.fd, KGNI_IOC_SUSPEND, &s));
	}
	stop[0] = 1;
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status) && !WEXITSTATUS(status));
	EXPECT_EQ(stop[1], self->words[0]);
	raw_close(&keeper);
	job.flags = KGNI_JOB_DESTROY;
	aries_ioctl(self->keeper.fd, KGNI_IOC_JOB, &job);
}

/* An exit for each put, until somebody looks: then none. */
TEST_F_TIMEOUT(polled, puts_need_no_exit, 300)
{
	long long before[3], after[3];
	static const char *const names[] = { "stats/fma_traps", "stats/fma_polled",
					     "stats/fma_wakes" };
	struct ugni_self u;
	int i;

	raw_close(&self->ringer);
	ASSERT_EQ(0, ugni_begin(&u, aries_cookie()));
	for (i = 0; i < 3; i++)
		before[i] = aries_number(names[i]);
	for (i = 0; i < PUTS; i++) {
		gni_post_descriptor_t d = ugni_desc(&u, GNI_POST_FMA_PUT, 0, 2048, 8);

		*(volatile int *)u.data = i;
		ASSERT_EQ(GNI_RC_SUCCESS, ugni_fma(&u, &d));
		ASSERT_EQ(i, *(volatile int *)(u.data + 2048));
	}
	for (i = 0; i < 3; i++)
		after[i] = aries_number(names[i]) - before[i];
	TH_LOG("%d puts: %lld exits, %lld found without one", PUTS, after[0], after[1]);
	EXPECT_LT(0, after[1]);
	EXPECT_GT(PUTS, after[0]);
	EXPECT_LE(PUTS, after[1] + after[0]);
	EXPECT_EQ(after[0], after[2]);
	ugni_end(&u);
}

TEST_HARNESS_MAIN
