// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that are cancelled in libugni on the real driver, while they wait and on the data path.
 */
#include <sched.h>

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

/* Cancels a thread in that wait after @us; 0, or the step that failed. */
static int cancel_one(int kind, int type, unsigned int us)
{
	struct ugni_self u;
	struct waiter w = { .u = &u, .kind = kind, .type = type };
	void *result = NULL;
	pthread_t thread;

	if (ugni_begin_modes(&u, aries_cookie(), FORK_FULLCOPY) ||
	    GNI_CqCreate(u.nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &w.blocking) ||
	    GNI_SubscribeErrors(u.nic, 0, 1, 0, &w.errors))
		return 1;
	if (GNI_EpUnbind(u.ep) || GNI_EpBind(u.ep, u.pe, 99) ||
	    GNI_EpPostDataWId(u.ep, NULL, 0, NULL, 0, 7))
		return 2;
	if (pthread_create(&thread, NULL, waiting, &w))
		return 3;
	while (!__atomic_load_n(&w.ready, __ATOMIC_ACQUIRE))
		sched_yield();
	usleep(us);
	pthread_cancel(thread);
	if (!joined(thread, &result) || result != PTHREAD_CANCELED)
		return 4;
	if (GNI_EpPostDataCancel(u.ep))
		return 5;
	if (GNI_ReleaseErrors(w.errors) || GNI_CqDestroy(w.blocking))
		return 6;
	if (put_works(&u, us))
		return 7;
	ugni_end(&u);
	return 0;
}

static int cancel_kind(void *argument)
{
	int kind = *(int *)argument, rc = 0;
	unsigned int i;

	for (i = 0; i < 12 && !rc; i++)
		rc = cancel_one(kind, i % 2 ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED,
				i < 8 ? i * 37 : 20000);
	return rc;
}

FIXTURE(cancel)
{
	int kind;
};

FIXTURE_VARIANT(cancel)
{
	int kind;
};

#define CANCEL_VARIANT(name, number) FIXTURE_VARIANT_ADD(cancel, name) { .kind = (number) }
CANCEL_VARIANT(cq_wait_event, WAIT_EVENT);
CANCEL_VARIANT(cq_vector_wait_event, VECTOR_WAIT);
CANCEL_VARIANT(cq_vector_monitor, MONITOR);
CANCEL_VARIANT(probe_wait_by_id, PROBE);
CANCEL_VARIANT(post_data_wait, DATAGRAM);
CANCEL_VARIANT(post_data_wait_by_id, DATAGRAM_ID);
CANCEL_VARIANT(wait_error_events, ERRORS);

FIXTURE_SETUP(cancel)
{
	self->kind = variant->kind;
}

FIXTURE_TEARDOWN(cancel)
{
}

TEST_F_TIMEOUT(cancel, in_a_wait, PATIENCE)
{
	EXPECT_EQ(0, in_child(cancel_kind, &self->kind));
}

/*
 * A thread that reads is cancelled while events come; the next one goes on there. The queue holds
 * all events, since readers may be cancelled before they get to any.
 */
static void *reading(void *argument)
{
	struct waiter *w = argument;
	gni_cq_entry_t entry;
	gni_return_t rc;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	do {
		rc = GNI_CqWaitEvent(w->blocking, FOREVER, &entry);
	} while (!rc || rc == GNI_RC_NOT_DONE);
	w->rc = rc;
	return w;
}

static int cancel_readers(void *argument)
{
	struct ugni_self u;
	struct waiter w = { .u = &u };
	gni_post_descriptor_t d;
	gni_mem_handle_t mem;
	gni_cq_entry_t entry;
	unsigned int round, i;
	void *result;
	pthread_t thread;

	if (ugni_begin_modes(&u, aries_cookie(), FORK_FULLCOPY) ||
	    GNI_CqCreate(u.nic, 1024, 0, GNI_CQ_BLOCKING, NULL, NULL, &w.blocking) ||
	    GNI_MemRegister(u.nic, (uintptr_t)u.data, ARIES_PAGE, w.blocking, 0, -1, &mem))
		return 1;
	for (round = 0; round < 100; round++) {
		if (pthread_create(&thread, NULL, reading, &w))
			return 2;
		for (i = 0; i < 8; i++) {
			d = ugni_desc(&u, GNI_POST_CQWRITE, 0, 0, 0);
			d.remote_mem_hndl = mem;
			d.cqwrite_value = round * 8 + i;
			if (GNI_PostCqWrite(u.ep, &d) || ugni_reap(&u, &d))
				return 3;
		}
		pthread_cancel(thread);
		if (!joined(thread, &result))
			return 4;
		if (result != PTHREAD_CANCELED)
			return 10 + w.rc;
	}
	while (!GNI_CqGetEvent(w.blocking, &entry))
		;
	d = ugni_desc(&u, GNI_POST_CQWRITE, 0, 0, 0);
	d.remote_mem_hndl = mem;
	d.cqwrite_value = 4711;
	if (GNI_PostCqWrite(u.ep, &d) || ugni_reap(&u, &d))
		return 5;
	(void)argument;
	for (i = 0; i < 1000; i++) {
		if (!GNI_CqWaitEvent(w.blocking, 10000, &entry) && GNI_CQ_GET_DATA(entry) == 4711)
			return 0;
	}
	return 6;
}

TEST_F_TIMEOUT(program, reader_cancelled_while_events_come, PATIENCE)
{
	EXPECT_EQ(0, in_child(cancel_readers, NULL));
}

/*
 * A thread that posts and reads without end, cancelled at any instruction: the data path has no
 * guard. What it was about to do may be lost; no lock is, the endpoint works on, and everything can
 * be taken down.
 */
struct poster {
	struct ugni_self u;
	gni_post_descriptor_t d[8];
	unsigned int rounds;
};

static void *posting(void *argument)
{
	static const gni_post_type_t types[] = {
		GNI_POST_FMA_PUT, GNI_POST_FMA_PUT, GNI_POST_RDMA_PUT, GNI_POST_FMA_GET,
	};
	struct poster *p = argument;
	gni_post_descriptor_t *done;
	gni_cq_entry_t entry;
	unsigned int n;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (n = 0;; n++) {
		gni_post_descriptor_t *d = &p->d[n % 8];

		*d = ugni_desc(&p->u, types[n % 4], 0, 4096, n % 3 ? 8 : 3000);
		if (d->type == GNI_POST_RDMA_PUT)
			GNI_PostRdma(p->u.ep, d);
		else
			GNI_PostFma(p->u.ep, d);
		if (!GNI_CqGetEvent(p->u.cq, &entry))
			GNI_GetCompleted(p->u.cq, entry, &done);
		__atomic_store_n(&p->rounds, n, __ATOMIC_RELAXED);
	}
	return NULL;
}

/*
 * Posts and reads until 50 puts have ended; 0, or what went wrong. Events may take their time, where completions
 * are held and the host is busy.
 */
static int goes_on(struct poster *p)
{
	const time_t end = time(NULL) + 30;
	gni_post_descriptor_t *done;
	gni_cq_entry_t entry;
	unsigned int ended = 0;
	gni_return_t rc;

	while (ended < 50 && time(NULL) < end) {
		rc = GNI_PostFma(p->u.ep, &p->d[0]);
		if (rc && rc != GNI_RC_ERROR_RESOURCE)
			return 100 + rc;
		rc = GNI_CqGetEvent(p->u.cq, &entry);
		if (rc && rc != GNI_RC_NOT_DONE)
			return 200 + rc;
		ended += !rc && !GNI_GetCompleted(p->u.cq, entry, &done);
	}
	return ended < 50;
}

static int cancel_poster(unsigned int round)
{
	static struct poster p;
	struct ugni_self next;
	void *result = NULL;
	pthread_t thread;
	int rc;

	p.rounds = 0;
	if (ugni_begin_modes(&p.u, aries_cookie(), FORK_FULLCOPY))
		return 1;
	if (pthread_create(&thread, NULL, posting, &p))
		return 2;
	while (__atomic_load_n(&p.rounds, __ATOMIC_RELAXED) < round)
		sched_yield();
	pthread_cancel(thread);
	if (!joined(thread, &result) || result != PTHREAD_CANCELED)
		return 3;
	p.d[0] = ugni_desc(&p.u, GNI_POST_FMA_PUT, 0, 64, 8);
	rc = goes_on(&p);
	if (rc)
		return rc + 10;
	if (GNI_EpDestroy(p.u.ep) || GNI_CqDestroy(p.u.cq) ||
	    GNI_MemDeregister(p.u.nic, &p.u.mem) || GNI_CdmDestroy(p.u.cdm))
		return 4;
	munmap(p.u.data, UGNI_PAGES * ARIES_PAGE);
	if (ugni_begin_modes(&next, aries_cookie(), FORK_FULLCOPY) || put_works(&next, round))
		return 5;
	ugni_end(&next);
	return 0;
}

static int cancel_posters(void *argument)
{
	unsigned int round;
	int rc = 0;

	(void)argument;
	for (round = 0; round < 100 && !rc; round++)
		rc = cancel_poster(round);
	return rc;
}

TEST_F_TIMEOUT(program, poster_cancelled_at_any_moment, PATIENCE)
{
	EXPECT_EQ(0, in_child(cancel_posters, NULL));
}

TEST_HARNESS_MAIN
