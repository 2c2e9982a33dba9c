// SPDX-License-Identifier: GPL-2.0-only
/* Jobs that are suspended and resumed. */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "conformance.h"

#define NO_DEVICE 15u
#define JOB 8001u
#define WAIT_MS 5000u

/* ---- GNI_SuspendJob, GNI_ResumeJob ---- */

FIXTURE(suspend)
{
	struct side s; /* a process of the job, bound to itself */
	uint32_t cookie;
};

FIXTURE_SETUP(suspend)
{
	self->cookie = conf_job(JOB, NULL);
	ASSERT_NE(0, self->cookie);
	ASSERT_EQ(0, side_open(&self->s, self->cookie, 1));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_EpBind(self->s.ep, self->s.pe, self->s.id));
}

FIXTURE_TEARDOWN(suspend)
{
	GNI_ResumeJob(CONF_DEVICE, JOB, GNI_FIND_ALLOC_PTAG, self->cookie);
	side_close(&self->s);
}

#define SUSPEND(ms) GNI_SuspendJob(CONF_DEVICE, JOB, GNI_FIND_ALLOC_PTAG, self->cookie, ms)
#define RESUME() GNI_ResumeJob(CONF_DEVICE, JOB, GNI_FIND_ALLOC_PTAG, self->cookie)

struct poster {
	struct side *s;
	volatile int done;
	gni_return_t rc;
};

static void *post_a_put(void *arg)
{
	struct poster *p = arg;
	gni_post_descriptor_t d = conf_post(p->s, side_name(p->s), GNI_POST_FMA_PUT, 0, 64, 8);

	p->rc = conf_fma(p->s, &d);
	p->done = 1;
	return NULL;
}

TEST_F(suspend, GNI_SuspendJob__SUCCESS__posts_wait)
{
	struct poster poster = { &self->s, 0, 99 };
	pthread_t thread;

	RC(SUCCESS, SUSPEND(WAIT_MS));
	ASSERT_EQ(0, pthread_create(&thread, NULL, post_a_put, &poster));
	usleep(100000);
	EXPECT_EQ(0, poster.done);
	MUST(RESUME());
	pthread_join(thread, NULL);
	EXPECT_EQ(GNI_RC_SUCCESS, poster.rc);
}

TEST_F(suspend, GNI_SuspendJob__INVALID_PARAM__device_job_tag_cookie)
{
	RC(INVALID_PARAM, GNI_SuspendJob(NO_DEVICE, JOB, GNI_FIND_ALLOC_PTAG, self->cookie, WAIT_MS));
	RC(INVALID_PARAM, GNI_SuspendJob(CONF_DEVICE, JOB + 1, GNI_FIND_ALLOC_PTAG, self->cookie, WAIT_MS));
	RC(INVALID_PARAM, GNI_SuspendJob(CONF_DEVICE, JOB, 0, self->cookie, WAIT_MS));
	RC(INVALID_PARAM, GNI_SuspendJob(CONF_DEVICE, JOB, GNI_FIND_ALLOC_PTAG, conf_cookie(), WAIT_MS));
}

TEST_F(suspend, GNI_SuspendJob__PERMISSION_ERROR__not_root)
{
	RC(PERMISSION_ERROR, CONF_NOBODY_RC(SUSPEND(WAIT_MS)));
}

TEST_F(suspend, GNI_SuspendJob__ERROR_RESOURCE__no_more_files)
{
	RC(ERROR_RESOURCE, CONF_APART(conf_no_files(), SUSPEND(WAIT_MS)));
}

TEST_F(suspend, GNI_SuspendJob__INVALID_STATE__suspended_already)
{
	MUST(SUSPEND(WAIT_MS));
	RC(INVALID_STATE, SUSPEND(WAIT_MS));
}

TEST_F(suspend, GNI_ResumeJob__SUCCESS__all_works_again)
{
	gni_post_descriptor_t d = conf_post(&self->s, side_name(&self->s), GNI_POST_FMA_PUT, 0, 64, 8);

	MUST(SUSPEND(WAIT_MS));
	RC(SUCCESS, RESUME());
	EXPECT_EQ(GNI_RC_SUCCESS, conf_fma(&self->s, &d));
}

TEST_F(suspend, GNI_ResumeJob__INVALID_PARAM__device_job_tag_cookie)
{
	RC(INVALID_PARAM, GNI_ResumeJob(NO_DEVICE, JOB, GNI_FIND_ALLOC_PTAG, self->cookie));
	RC(INVALID_PARAM, GNI_ResumeJob(CONF_DEVICE, JOB + 1, GNI_FIND_ALLOC_PTAG, self->cookie));
	RC(INVALID_PARAM, GNI_ResumeJob(CONF_DEVICE, JOB, 0, self->cookie));
	RC(INVALID_PARAM, GNI_ResumeJob(CONF_DEVICE, JOB, GNI_FIND_ALLOC_PTAG, conf_cookie()));
}

TEST_F(suspend, GNI_ResumeJob__PERMISSION_ERROR__not_root)
{
	MUST(SUSPEND(WAIT_MS));
	RC(PERMISSION_ERROR, CONF_NOBODY_RC(RESUME()));
}

TEST_F(suspend, GNI_ResumeJob__INVALID_STATE__not_suspended)
{
	RC(INVALID_STATE, RESUME());
}

/* ---- Transfers that take a while ---- */

#define LARGE (128ul << 20)
#define LARGE_POSTS 8
#define ATTEMPTS 50

static void nothing(int signal)
{
	(void)signal;
}

struct load {
	uint8_t *data;
	gni_mem_handle_t mem;
	gni_post_descriptor_t d[LARGE_POSTS];
	int busy[LARGE_POSTS];
};

static int load_begin(struct side *s, struct load *l)
{
	memset(l, 0, sizeof(*l));
	l->data = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (l->data == MAP_FAILED)
		return 1;
	return GNI_MemRegister(s->nic, (uintptr_t)l->data, LARGE, NULL, GNI_MEM_READWRITE, CONF_NO_VMDH, &l->mem);
}

/* Reaps what is there, and posts block transfers of half the memory until all are under way. */
static void load_more(struct side *s, struct load *l)
{
	gni_post_descriptor_t *d;
	gni_cq_entry_t entry;
	int i;

	while (GNI_CqGetEvent(s->cq, &entry) == GNI_RC_SUCCESS) {
		if (GNI_GetCompleted(s->cq, entry, &d) == GNI_RC_SUCCESS)
			l->busy[d - l->d] = 0;
	}
	for (i = 0; i < LARGE_POSTS; i++) {
		if (l->busy[i])
			continue;
		d = &l->d[i];
		*d = conf_post(s, side_name(s), GNI_POST_RDMA_PUT, 0, 0, LARGE / 2);
		d->local_addr = (uintptr_t)l->data;
		d->local_mem_hndl = l->mem;
		d->remote_addr = (uintptr_t)l->data + LARGE / 2;
		d->remote_mem_hndl = l->mem;
		l->busy[i] = GNI_PostRdma(s->ep, d) == GNI_RC_SUCCESS;
	}
}

/* The transfers may be done before the call looks: then once more. */
#define WHILE_BUSY(code, call)                                                                       \
	({                                                                                           \
		gni_return_t busy_rc;                                                                \
		int busy_n = 0;                                                                      \
		do {                                                                                 \
			load_more(&self->s, &load);                                                  \
			busy_rc = (call);                                                            \
			if (busy_rc == GNI_RC_SUCCESS)                                               \
				RESUME();                                                            \
		} while (busy_rc == GNI_RC_SUCCESS && ++busy_n < ATTEMPTS);                          \
		busy_rc;                                                                             \
	})

TEST_F(suspend, GNI_SuspendJob__TIMEOUT__block_transfers_are_under_way)
{
	struct load load;

	ASSERT_EQ(0, load_begin(&self->s, &load));
	RC(TIMEOUT, WHILE_BUSY(TIMEOUT, SUSPEND(1)));
	/* the job is as it was */
	RC(SUCCESS, SUSPEND(30000));
	MUST(RESUME());
}

TEST_F(suspend, GNI_SuspendJob__NOT_DONE__a_signal_came)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, off = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = nothing };
	struct load load;

	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, load_begin(&self->s, &load));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	RC(NOT_DONE, WHILE_BUSY(NOT_DONE, SUSPEND(30000)));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &off, NULL));
	/* and once more succeeds */
	RC(SUCCESS, SUSPEND(30000));
}

TEST_HARNESS_MAIN
