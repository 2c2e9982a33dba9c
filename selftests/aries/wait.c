// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for events through libugni: time limits, wake-ups by posts and by
 * CQ writes, signals, several queues, and the order of destruction.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "ugni_test.h"
#include "kselftest_harness.h"

FIXTURE(wait)
{
	struct ugni_self u;
	gni_cq_handle_t blocking;
	gni_cq_handle_t second;
	gni_mem_handle_t mem; /* whose remote events go to blocking */
};

FIXTURE_SETUP(wait)
{
	struct ugni_self *u = &self->u;

	ASSERT_EQ(0, ugni_begin(u, aries_cookie()));
	ASSERT_EQ(GNI_RC_SUCCESS,
		  GNI_CqCreate(u->nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &self->blocking));
	ASSERT_EQ(GNI_RC_SUCCESS,
		  GNI_CqCreate(u->nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &self->second));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_MemRegister(u->nic, (uintptr_t)u->data, ARIES_PAGE,
						  self->blocking, 0, -1, &self->mem));
}

FIXTURE_TEARDOWN(wait)
{
	GNI_MemDeregister(self->u.nic, &self->mem);
	GNI_CqDestroy(self->blocking);
	GNI_CqDestroy(self->second);
	ugni_end(&self->u);
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Something for the queue behind @mem; 0 if it worked. */
static int write_value(struct ugni_self *u, gni_mem_handle_t mem, uint64_t value)
{
	gni_post_descriptor_t d = ugni_desc(u, GNI_POST_CQWRITE, 0, 0, 0);

	d.remote_mem_hndl = mem;
	d.cqwrite_value = value;
	return GNI_PostCqWrite(u->ep, &d) || ugni_reap(u, &d);
}

TEST_F(wait, limit)
{
	gni_cq_entry_t entry = 0;
	uint32_t which = 0;
	long begin = now_ms();

	EXPECT_EQ(GNI_RC_TIMEOUT, GNI_CqWaitEvent(self->blocking, 0, &entry));
	EXPECT_EQ(GNI_RC_TIMEOUT, GNI_CqWaitEvent(self->blocking, 200, &entry));
	EXPECT_EQ(GNI_RC_TIMEOUT, GNI_CqVectorMonitor(&self->blocking, 1, 100, &which));
	EXPECT_LE(300, now_ms() - begin);
	EXPECT_GT(10000, now_ms() - begin);
	EXPECT_EQ(GNI_RC_ERROR_RESOURCE, GNI_CqWaitEvent(self->u.cq, 100, &entry));
}

struct later {
	struct ugni_self *u;
	gni_mem_handle_t mem;
	int failed;
};

static void *write_later(void *argument)
{
	struct later *l = argument;

	usleep(100000);
	l->failed = write_value(l->u, l->mem, 0x123456789abc);
	return NULL;
}

TEST_F(wait, wake)
{
	struct later l = { &self->u, self->mem, 1 };
	gni_cq_entry_t entry = 0;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, write_later, &l));
	EXPECT_EQ(GNI_RC_SUCCESS, GNI_CqWaitEvent(self->blocking, 20000, &entry));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, l.failed);
	EXPECT_EQ(0x123456789abcULL, GNI_CQ_GET_DATA(entry));
}

TEST_F(wait, several)
{
	gni_cq_handle_t cqs[2] = { self->second, self->blocking };
	struct later l = { &self->u, self->mem, 1 };
	gni_cq_entry_t entry = 0;
	uint32_t which = 9;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, write_later, &l));
	EXPECT_EQ(GNI_RC_SUCCESS, GNI_CqVectorMonitor(cqs, 2, 20000, &which));
	pthread_join(thread, NULL);
	EXPECT_EQ(1, which);
	EXPECT_EQ(GNI_RC_NOT_DONE, GNI_CqTestEvent(self->second));
	EXPECT_EQ(GNI_RC_SUCCESS, GNI_CqTestEvent(self->blocking));
	EXPECT_EQ(GNI_RC_SUCCESS, GNI_CqVectorWaitEvent(cqs, 2, 20000, &entry, &which));
	EXPECT_EQ(0x123456789abcULL, GNI_CQ_GET_DATA(entry));
	EXPECT_EQ(GNI_RC_NOT_DONE, GNI_CqTestEvent(self->blocking));
}

static void nothing(int signal)
{
	(void)signal;
}

/* A signal does not end a wait, nor does it make it longer. */
TEST_F(wait, signals)
{
	struct sigaction action = { .sa_handler = nothing };
	struct itimerval timer = { { 0, 20000 }, { 0, 20000 } }, off = { 0 };
	gni_cq_entry_t entry = 0;
	long begin = now_ms();

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	EXPECT_EQ(GNI_RC_TIMEOUT, GNI_CqWaitEvent(self->blocking, 500, &entry));
	setitimer(ITIMER_REAL, &off, NULL);
	EXPECT_LE(490, now_ms() - begin);
	EXPECT_GT(5000, now_ms() - begin);
}

static void *wait_for_ever(void *argument)
{
	gni_cq_entry_t entry;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	GNI_CqWaitEvent(argument, ~0ULL, &entry);
	return NULL;
}

/* A thread cancelled while it waits leaves everything usable. */
TEST_F(wait, cancel)
{
	gni_cq_entry_t entry = 0;
	pthread_t thread;
	void *result = NULL;

	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_ever, self->blocking));
	usleep(100000);
	ASSERT_EQ(0, pthread_cancel(thread));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(PTHREAD_CANCELED, result);
	ASSERT_EQ(0, write_value(&self->u, self->mem, 5));
	EXPECT_EQ(GNI_RC_SUCCESS, GNI_CqWaitEvent(self->blocking, 5000, &entry));
}

/* Clients destroy a queue before the registrations that name it. */
TEST_F(wait, queue_before_registration)
{
	gni_cq_handle_t cq = NULL;
	gni_mem_handle_t mem;
	gni_post_descriptor_t d;

	ASSERT_EQ(GNI_RC_SUCCESS, GNI_CqCreate(self->u.nic, 64, 0, 0, NULL, NULL, &cq));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_MemRegister(self->u.nic, (uintptr_t)self->u.data, ARIES_PAGE,
						  cq, 0, -1, &mem));
	EXPECT_EQ(GNI_RC_SUCCESS, GNI_CqDestroy(cq));
	/* Events towards it go nowhere, and do no harm. */
	d = ugni_desc(&self->u, GNI_POST_FMA_PUT, ARIES_PAGE, 0, 8);
	d.remote_mem_hndl = mem;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
	EXPECT_EQ(GNI_RC_SUCCESS, ugni_fma(&self->u, &d));
	EXPECT_EQ(GNI_RC_INVALID_PARAM, GNI_CqDestroy(cq));
	EXPECT_EQ(GNI_RC_SUCCESS, GNI_MemDeregister(self->u.nic, &mem));
}

TEST_HARNESS_MAIN
