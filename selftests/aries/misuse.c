// SPDX-License-Identifier: GPL-2.0-only
/*
 * What programs must not do, through libugni on the real driver: fork() in each mode, signals,
 * handles used after their end or by several threads at once. The library refuses or goes on; it
 * does not crash, and nobody is stuck. Cancelled threads: cancel.c.
 */
#include <sched.h>
#include <stdbool.h>
#include <sys/time.h>

#include "child.h"
#include "kselftest_harness.h"

/* Tests that need nothing but a time limit of their own. */
FIXTURE(program)
{
	int unused;
};

FIXTURE_SETUP(program)
{
	self->unused = 0;
}

FIXTURE_TEARDOWN(program)
{
}

/* Who waits for ever when its domain goes is told. */
static int destroy_under_waiter(void *argument)
{
	struct ugni_self u;
	struct waiter w = { .u = &u, .kind = *(int *)argument };
	pthread_t thread;

	if (ugni_begin_modes(&u, aries_cookie(), FORK_FULLCOPY) ||
	    GNI_CqCreate(u.nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &w.blocking) ||
	    pthread_create(&thread, NULL, waiting, &w))
		return 1;
	usleep(100000);
	if (GNI_CdmDestroy(u.cdm) || !joined(thread, NULL))
		return 2;
	return w.rc == GNI_RC_INVALID_PARAM ? 0 : 10 + w.rc;
}

TEST_F_TIMEOUT(program, domain_destroyed_under_who_waits, 4 * LIMIT)
{
	int kinds[] = { WAIT_EVENT, VECTOR_WAIT, MONITOR, PROBE };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, in_child(destroy_under_waiter, &kinds[i])) TH_LOG("wait %d", kinds[i]);
	}
}

/* ---- fork ---- */

FIXTURE(fork)
{
	struct ugni_self u;
	uint8_t *data;
	gni_mem_handle_t mem;
};

FIXTURE_VARIANT(fork)
{
	uint32_t modes;
	const char *kept; /* a child has: c a copy, - nothing; for each page */
};

/* Registered: from the middle of page 1 to the middle of page 5. */
FIXTURE_VARIANT_ADD(fork, nocopy) { .modes = FORK_NOCOPY, .kept = "c-----cc" };
FIXTURE_VARIANT_ADD(fork, partcopy) { .modes = FORK_PARTCOPY, .kept = "cc---ccc" };
FIXTURE_VARIANT_ADD(fork, default) { .modes = 0, .kept = "cc---ccc" };
FIXTURE_VARIANT_ADD(fork, fullcopy) { .modes = FORK_FULLCOPY, .kept = "cccccccc" };

FIXTURE_SETUP(fork)
{
	ASSERT_EQ(0, ugni_begin_modes(&self->u, aries_cookie(), variant->modes));
	self->data = aries_pages(8);
	ASSERT_NE(NULL, self->data);
	memset(self->data, 'p', 8 * ARIES_PAGE);
	ASSERT_EQ(GNI_RC_SUCCESS,
		  GNI_MemRegister(self->u.nic, (uintptr_t)self->data + ARIES_PAGE + 100,
				  4 * ARIES_PAGE, NULL, 0, -1, &self->mem));
}

FIXTURE_TEARDOWN(fork)
{
	GNI_MemDeregister(self->u.nic, &self->mem);
	munmap(self->data, 8 * ARIES_PAGE);
	ugni_end(&self->u);
}

static int first_byte(void *page)
{
	signal(SIGSEGV, SIG_DFL);
	return *(volatile uint8_t *)page;
}

TEST_F_TIMEOUT(fork, pages_of_a_child, 2 * LIMIT)
{
	char found[9] = "";
	int i, rc;

	for (i = 0; i < 8; i++) {
		rc = in_child(first_byte, self->data + i * ARIES_PAGE);
		found[i] = rc == 'p' ? 'c' : rc == 1000 + SIGSEGV ? '-' : '?';
	}
	EXPECT_STREQ(variant->kept, found);
}

/* The parent and its NIC go on to see the same pages, whatever a child writes. */
static int scribble(void *argument)
{
	uint8_t *data = argument;

	signal(SIGSEGV, SIG_DFL);
	memset(data, 'x', ARIES_PAGE + 200);
	memset(data + 5 * ARIES_PAGE, 'x', 3 * ARIES_PAGE);
	pause();
	return 0;
}

TEST_F_TIMEOUT(fork, parent_keeps_its_pages, LIMIT)
{
	gni_post_descriptor_t d;
	struct ugni_self *u = &self->u;
	pid_t pid = fork();
	unsigned int i;

	ASSERT_LE(0, pid);
	if (!pid)
		_exit(scribble(self->data));
	usleep(200000);
	for (i = 0; i < 4; i++) {
		uint8_t *to = self->data + ARIES_PAGE + 100 + i * (ARIES_PAGE - 8);

		d = ugni_desc(u, GNI_POST_FMA_PUT, 0, 0, 8);
		memset(u->data, '0' + i, 8);
		d.remote_addr = (uintptr_t)to;
		d.remote_mem_hndl = self->mem;
		EXPECT_EQ(GNI_RC_SUCCESS, ugni_fma(u, &d));
		EXPECT_EQ(0, memcmp(to, u->data, 8));
	}
	EXPECT_EQ('p', self->data[0]);
	EXPECT_EQ('p', self->data[6 * ARIES_PAGE]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* In a child the parent's handles are none; it may have a domain of its own. */
static int child_uses_handles(void *argument)
{
	struct ugni_self *u = argument, mine;
	gni_post_descriptor_t d = ugni_desc(u, GNI_POST_FMA_PUT, 0, 64, 8), *done;
	gni_cq_entry_t entry;
	gni_mem_handle_t mem;
	gni_ep_handle_t ep;
	uint32_t pe;
	gni_nic_handle_t nic;

	if (GNI_PostFma(u->ep, &d) != GNI_RC_INVALID_PARAM ||
	    GNI_PostRdma(u->ep, &d) != GNI_RC_INVALID_PARAM ||
	    GNI_CqGetEvent(u->cq, &entry) != GNI_RC_INVALID_PARAM ||
	    GNI_GetCompleted(u->cq, 0, &done) != GNI_RC_INVALID_PARAM ||
	    GNI_EpDestroy(u->ep) != GNI_RC_INVALID_PARAM ||
	    GNI_CqDestroy(u->cq) != GNI_RC_INVALID_PARAM ||
	    GNI_EpCreate(u->nic, NULL, &ep) != GNI_RC_INVALID_PARAM ||
	    GNI_MemRegister(u->nic, (uintptr_t)&mine, 8, NULL, 0, -1, &mem) != GNI_RC_INVALID_PARAM ||
	    GNI_CdmAttach(u->cdm, 0, &pe, &nic) != GNI_RC_INVALID_PARAM ||
	    GNI_CdmDestroy(u->cdm) != GNI_RC_INVALID_PARAM)
		return 1;
	if (ugni_begin_modes(&mine, aries_cookie(), FORK_FULLCOPY))
		return 2;
	if (mine.ep == u->ep || mine.cq == u->cq || mine.cdm == u->cdm)
		return 3;
	if (put_works(&mine, 1))
		return 4;
	ugni_end(&mine);
	return 0;
}

TEST_F_TIMEOUT(fork, handles_of_a_child, 2 * LIMIT)
{
	gni_post_descriptor_t d = ugni_desc(&self->u, GNI_POST_FMA_PUT, 0, 64, 8);

	/* with an event in the queue */
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_PostFma(self->u.ep, &d));
	EXPECT_EQ(0, in_child(child_uses_handles, &self->u));
	EXPECT_EQ(GNI_RC_SUCCESS, ugni_reap(&self->u, &d));
	EXPECT_EQ(0, put_works(&self->u, 2));
}

/* A child that lives on does not keep the attachment of its parent. */
static int parent_of_orphan(void *argument)
{
	struct ugni_self u;
	int *tell = argument;
	pid_t pid;

	if (ugni_begin_modes(&u, (uint32_t)tell[2], FORK_FULLCOPY))
		return 1;
	pid = fork();
	if (!pid) {
		alarm(LIMIT);
		pause();
		_exit(0);
	}
	return write(tell[1], &pid, sizeof(pid)) == sizeof(pid) ? 0 : 2;
}

TEST_F_TIMEOUT(program, child_that_outlives_its_parent, 2 * LIMIT)
{
	int tell[3], i;
	gni_job_res_desc_t use = { .used = 1 };
	uint8_t ptag = 0;
	pid_t orphan = 0;

	tell[2] = (int)aries_cookie();
	ASSERT_EQ(0, pipe(tell));
	ASSERT_EQ(0, in_child(parent_of_orphan, tell));
	ASSERT_EQ((ssize_t)sizeof(orphan), read(tell[0], &orphan, sizeof(orphan)));
	ASSERT_LT(0, orphan);
	EXPECT_EQ(0, kill(orphan, 0));
	/* the domain was made by that process, and goes with its last attachment */
	for (i = 0; i < 100; i++) {
		if (GNI_GetPtag(0, (uint32_t)tell[2], &ptag) ||
		    GNI_GetJobResInfo(0, ptag, GNI_JOB_RES_FMA, &use) || !use.used)
			break;
		usleep(50000);
	}
	EXPECT_LT(i, 100);
	kill(orphan, SIGKILL);
	close(tell[0]);
	close(tell[1]);
}

/* ---- signals ---- */

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

static int under_signals(void *argument)
{
	struct itimerval often = { { 0, 3000 }, { 0, 3000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction act = { .sa_handler = count_signal };
	struct ugni_self u;
	gni_cq_handle_t blocking;
	gni_cq_entry_t entry;
	struct timespec a, b;
	gni_mem_handle_t mem;
	uint64_t id;
	unsigned int i;
	long ms;

	(void)argument;
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; i < 20; i++) {
		if (ugni_begin_modes(&u, aries_cookie(), 0))
			return 1;
		if (GNI_CqCreate(u.nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &blocking) ||
		    GNI_MemRegister(u.nic, (uintptr_t)u.data, ARIES_PAGE, blocking, 0, -1, &mem) ||
		    GNI_MemDeregister(u.nic, &mem))
			return 2;
		if (put_works(&u, i))
			return 3;
		clock_gettime(CLOCK_MONOTONIC, &a);
		if (GNI_CqWaitEvent(blocking, 50, &entry) != GNI_RC_TIMEOUT ||
		    GNI_PostdataProbeWaitById(u.nic, 50, &id) != GNI_RC_TIMEOUT)
			return 4;
		clock_gettime(CLOCK_MONOTONIC, &b);
		ms = (b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000;
		/* clocks count in milliseconds, the kernel in ticks */
		if (ms < 90)
			return 5;
		if (GNI_CqDestroy(blocking))
			return 6;
		ugni_end(&u);
		child_step();
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return signals > 20 ? 0 : 7;
}

TEST_F_TIMEOUT(program, signals_all_the_time, PATIENCE)
{
	EXPECT_EQ(0, in_child(under_signals, NULL));
}

/* ---- handles after their end, and several threads ---- */

struct late {
	struct ugni_self *u;
	unsigned int rounds;
	int bad;
};

static void *use_for_ever(void *argument)
{
	struct late *l = argument;
	gni_post_descriptor_t d, *done;
	gni_cq_entry_t entry;
	gni_return_t rc, got;

	for (;;) {
		d = ugni_desc(l->u, GNI_POST_FMA_PUT, 0, 256, l->rounds % 3 ? 8 : 3000);
		d.cq_mode = l->rounds % 2 ? GNI_CQMODE_GLOBAL_EVENT : GNI_CQMODE_SILENT;
		__atomic_fetch_add(&l->rounds, 1, __ATOMIC_RELAXED);
		rc = GNI_PostFma(l->u->ep, &d);
		if (rc && rc != GNI_RC_ERROR_RESOURCE && rc != GNI_RC_INVALID_PARAM)
			l->bad = rc;
		got = GNI_CqGetEvent(l->u->cq, &entry);
		if (!got)
			GNI_GetCompleted(l->u->cq, entry, &done);
		if (rc == GNI_RC_INVALID_PARAM && got == GNI_RC_INVALID_PARAM)
			return NULL;
	}
}

static int destroy_in_use(void *argument)
{
	unsigned int round, i;

	(void)argument;
	for (round = 0; round < 30; round++) {
		struct ugni_self u, next;
		struct late l = { .u = &u };
		pthread_t threads[2];

		if (ugni_begin_modes(&u, aries_cookie(), FORK_FULLCOPY))
			return 1;
		for (i = 0; i < 2; i++)
			if (pthread_create(&threads[i], NULL, use_for_ever, &l))
				return 2;
		while (__atomic_load_n(&l.rounds, __ATOMIC_RELAXED) < round)
			sched_yield();
		if (GNI_CdmDestroy(u.cdm))
			return 3;
		if (ugni_begin_modes(&next, aries_cookie(), FORK_FULLCOPY))
			return 4;
		for (i = 0; i < 2; i++)
			if (!joined(threads[i], NULL))
				return 5;
		if (l.bad)
			return 20 + l.bad;
		if (put_works(&next, round))
			return 6;
		ugni_end(&next);
		munmap(u.data, UGNI_PAGES * ARIES_PAGE);
	}
	return 0;
}

TEST_F_TIMEOUT(program, destroyed_while_threads_use_it, PATIENCE)
{
	EXPECT_EQ(0, in_child(destroy_in_use, NULL));
}

static void *post_many(void *argument)
{
	struct late *l = argument;
	gni_post_descriptor_t d[8], *done;
	gni_cq_entry_t entry;
	unsigned int n;

	for (n = 0; n < 3000; n++) {
		gni_return_t rc;

		d[n % 8] = ugni_desc(l->u, n % 4 ? GNI_POST_FMA_PUT : GNI_POST_RDMA_PUT, 0, 4096, 8);
		rc = n % 4 ? GNI_PostFma(l->u->ep, &d[n % 8]) : GNI_PostRdma(l->u->ep, &d[n % 8]);
		if (rc && rc != GNI_RC_ERROR_RESOURCE)
			l->bad = rc;
		rc = GNI_CqGetEvent(l->u->cq, &entry);
		if (!rc || rc == GNI_RC_TRANSACTION_ERROR)
			GNI_GetCompleted(l->u->cq, entry, &done);
		rc = GNI_CqGetEvent(l->u->cq, &entry);
		if (!rc || rc == GNI_RC_TRANSACTION_ERROR)
			GNI_GetCompleted(l->u->cq, entry, &done);
	}
	return NULL;
}

static int several_threads(void *argument)
{
	gni_post_descriptor_t *done;
	gni_cq_entry_t entry;
	struct ugni_self u;
	struct late l = { .u = &u };
	gni_post_descriptor_t late;
	pthread_t threads[3];
	unsigned int i;
	int rc;

	(void)argument;
	if (ugni_begin_modes(&u, aries_cookie(), FORK_FULLCOPY))
		return 1;
	late = ugni_desc(&u, GNI_POST_FMA_PUT, 0, 64, 8);
	for (i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, post_many, &l))
			return 2;
	for (i = 0; i < 3; i++)
		if (!joined(threads[i], NULL))
			return 3;
	if (l.bad)
		return 20 + l.bad;
	/* What is left is read; the endpoint may be spoilt for good, but every call returns. */
	for (i = 0; i < 100000; i++) {
		rc = GNI_CqGetEvent(u.cq, &entry);
		if (!rc || rc == GNI_RC_TRANSACTION_ERROR)
			GNI_GetCompleted(u.cq, entry, &done);
	}
	late = ugni_desc(&u, GNI_POST_FMA_PUT, 0, 64, 8);
	for (i = 0; i < 1000; i++) {
		GNI_PostFma(u.ep, &late);
		if (!GNI_CqGetEvent(u.cq, &entry))
			GNI_GetCompleted(u.cq, entry, &done);
	}
	/* A new endpoint with a new queue works, on the same NIC handle and on the next. */
	GNI_EpUnbind(u.ep);
	if (GNI_EpDestroy(u.ep) || GNI_CqDestroy(u.cq) ||
	    GNI_CqCreate(u.nic, 64, 0, GNI_CQ_NOBLOCK, NULL, NULL, &u.cq) ||
	    GNI_EpCreate(u.nic, u.cq, &u.ep) || GNI_EpBind(u.ep, u.pe, 1))
		return 4;
	for (i = 0; i < 300; i++)
		if (put_works(&u, i))
			return 5;
	ugni_end(&u);
	if (ugni_begin_modes(&u, aries_cookie(), FORK_FULLCOPY) || put_works(&u, 4711))
		return 6;
	ugni_end(&u);
	return 0;
}

TEST_F_TIMEOUT(program, several_threads_on_one_endpoint, PATIENCE)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, in_child(several_threads, NULL));
	}
}

/* ---- bad input from outside ---- */

static int bad_domain(void *argument)
{
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	uint32_t pe, cookie = aries_cookie();
	struct ugni_self u;
	uint8_t ptag;

	(void)argument;
	if (ugni_begin(&u, cookie))
		return 1;
	/* a tag that belongs to another domain, as a wrong PMI_GNI_PTAG gives it */
	if (GNI_GetPtag(0, cookie, &ptag) || GNI_CdmCreate(2, ptag + 1, cookie, 0, &cdm) ||
	    GNI_CdmAttach(cdm, 0, &pe, &nic) != GNI_RC_PERMISSION_ERROR)
		return 2;
	GNI_CdmDestroy(cdm);
	/* without privilege a cookie that nobody has made, as from a wrong PMI_GNI_COOKIE */
	if (setresuid(ARIES_NOBODY, ARIES_NOBODY, 0))
		return 3;
	if (GNI_CdmCreate(2, GNI_FIND_ALLOC_PTAG, cookie + 0x10000, 0, &cdm) ||
	    GNI_CdmAttach(cdm, 0, &pe, &nic) != GNI_RC_PERMISSION_ERROR)
		return 4;
	GNI_CdmDestroy(cdm);
	/* PMI_GNI_DEV_ID */
	if (GNI_CdmCreate(2, GNI_FIND_ALLOC_PTAG, cookie, 0, &cdm) ||
	    GNI_CdmAttach(cdm, 15, &pe, &nic) != GNI_RC_NO_MATCH ||
	    GNI_CdmAttach(cdm, 123456, &pe, &nic) != GNI_RC_NO_MATCH)
		return 5;
	return 0;
}

TEST_F_TIMEOUT(program, domain_from_wrong_variables, LIMIT)
{
	EXPECT_EQ(0, in_child(bad_domain, NULL));
}

TEST_HARNESS_MAIN
