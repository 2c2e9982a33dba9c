// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Threads that are cancelled, interrupted, or left without their objects while
 * they wait; and what several threads may do at once.
 */
#include "cmocka_cpp.hpp"
#include "gni_pub.h"
#include "guard.hpp"
#include "sleepy_kernel.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <initializer_list>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

struct World {
	gni_cdm_handle_t cdm = nullptr;
	gni_nic_handle_t nic = nullptr;
	gni_cq_handle_t cq = nullptr;
	gni_ep_handle_t ep = nullptr;
	gni_err_handle_t errors = nullptr;

	World()
	{
		uint32_t address = 0;

		sleepy::wake(false);
		sleepy::forget_sleepers();
		assert_rc(SUCCESS, GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, 1, GNI_CDM_MODE_FORK_FULLCOPY, &cdm));
		assert_rc(SUCCESS, GNI_CdmAttach(cdm, 0, &address, &nic));
		assert_rc(SUCCESS, GNI_CqCreate(nic, 64, 0, GNI_CQ_BLOCKING, nullptr, nullptr, &cq));
		assert_rc(SUCCESS, GNI_EpCreate(nic, cq, &ep));
		assert_rc(SUCCESS, GNI_EpBind(ep, 1, 2));
		assert_rc(SUCCESS, GNI_SubscribeErrors(nic, 0, 1, 0, &errors));
	}
	~World()
	{
		(void)GNI_ReleaseErrors(errors);
		(void)GNI_CdmDestroy(cdm);
	}
	World(const World &) = delete;
	World &operator=(const World &) = delete;
};

void pause_ms(long ms)
{
	const timespec t = {ms / 1000, ms % 1000 * 1000000};

	(void)nanosleep(&t, nullptr);
}

void wait_for_sleepers(uint32_t n)
{
	bool asleep = sleepy::sleepers() >= n;

	/* Looked at once a turn: who has slept may be awake again by the next look. */
	for (int i = 0; i < 20000 && !asleep; i++) {
		pause_ms(1);
		asleep = sleepy::sleepers() >= n;
	}
	assert_true(asleep);
}

/* One call that sleeps, in a thread. */
using Call = gni_return_t (*)(World &);

gni_return_t wait_event(World &w)
{
	gni_cq_entry_t e = 0;
	return GNI_CqWaitEvent(w.cq, ~uint64_t{0}, &e);
}

gni_return_t vector_wait(World &w)
{
	gni_cq_entry_t e = 0;
	uint32_t which = 0;
	return GNI_CqVectorWaitEvent(&w.cq, 1, ~uint64_t{0}, &e, &which);
}

gni_return_t monitor(World &w)
{
	uint32_t which = 0;
	return GNI_CqVectorMonitor(&w.cq, 1, ~uint64_t{0}, &which);
}

gni_return_t probe(World &w)
{
	uint64_t id = 0;
	return GNI_PostdataProbeWaitById(w.nic, ~0U, &id);
}

gni_return_t datagram(World &w)
{
	gni_post_state_t state = GNI_POST_ERROR;
	uint32_t address = 0, id = 0;
	return GNI_EpPostDataWait(w.ep, ~0U, &state, &address, &id);
}

gni_return_t datagram_by_id(World &w)
{
	gni_post_state_t state = GNI_POST_ERROR;
	uint32_t address = 0, id = 0;
	return GNI_EpPostDataWaitById(w.ep, 7, ~0U, &state, &address, &id);
}

gni_return_t error_events(World &w)
{
	gni_error_event_t events[2] = {};
	uint32_t n = 0;
	return GNI_WaitErrorEvents(w.errors, events, 2, 10, &n);
}

struct Thread {
	World *world;
	Call call;
	int type;
	std::atomic<bool> returned{false};
	gni_return_t rc = GNI_RC_SUCCESS;
	pthread_t id = {};

	Thread(World &w, Call c, int t = PTHREAD_CANCEL_ASYNCHRONOUS) : world(&w), call(c), type(t)
	{
		assert_int_equal(pthread_create(&id, nullptr, run, this), 0);
	}
	static void *run(void *argument)
	{
		auto *t = static_cast<Thread *>(argument);

		(void)pthread_setcanceltype(t->type, nullptr);
		t->rc = t->call(*t->world);
		(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
		t->returned = true;
		return nullptr;
	}
	/* Return: whether the thread was cancelled. */
	bool join() const
	{
		void *result = nullptr;
		timespec end = {};

		(void)clock_gettime(CLOCK_REALTIME, &end);
		end.tv_sec += 30;
		assert_int_equal(pthread_timedjoin_np(id, &result, &end), 0);
		return result == PTHREAD_CANCELED;
	}
	bool cancel() const
	{
		assert_int_equal(pthread_cancel(id), 0);
		return join();
	}
};

/* Everything still works: no lock is held, nothing is half done. */
void works(World &w)
{
	gni_cq_entry_t e = 0;
	gni_ep_handle_t ep = nullptr;
	gni_mem_handle_t h = {};
	gni_post_state_t state = GNI_POST_ERROR;
	uint32_t address = 0, id = 0;
	alignas(4096) static unsigned char memory[8192];

	while (sleepy::produced() != sleepy::consumed())
		assert_rc(SUCCESS, GNI_CqWaitEvent(w.cq, 10000, &e));
	assert_rc(NOT_DONE, GNI_CqGetEvent(w.cq, &e));
	assert_true(sleepy::put(42));
	assert_rc(SUCCESS, GNI_CqWaitEvent(w.cq, 10000, &e));
	assert_int_equal(GNI_CQ_GET_DATA(e), 42);
	assert_rc(SUCCESS,
		  GNI_MemRegister(w.nic, reinterpret_cast<uintptr_t>(memory), sizeof(memory), nullptr, 0, ~0U, &h));
	assert_rc(SUCCESS, GNI_MemDeregister(w.nic, &h));
	assert_rc(SUCCESS, GNI_EpCreate(w.nic, w.cq, &ep));
	assert_rc(SUCCESS, GNI_EpBind(ep, 1, 2));
	assert_rc(SUCCESS, GNI_EpPostData(ep, nullptr, 0, nullptr, 0));
	sleepy::wake(true);
	assert_rc(SUCCESS, GNI_EpPostDataWait(ep, 10000, &state, &address, &id));
	sleepy::wake(false);
	assert_rc(SUCCESS, GNI_EpUnbind(ep));
	assert_rc(SUCCESS, GNI_EpDestroy(ep));
}

constexpr Call kCalls[] = {wait_event, vector_wait, monitor, probe, datagram, datagram_by_id, error_events};

void cancelled_asleep(void **)
{
	for (int type : {PTHREAD_CANCEL_ASYNCHRONOUS, PTHREAD_CANCEL_DEFERRED}) {
		for (Call call : kCalls) {
			World w;

			assert_rc(SUCCESS, GNI_EpPostDataWId(w.ep, nullptr, 0, nullptr, 0, 7));
			Thread t(w, call, type);
			wait_for_sleepers(1);
			assert_true(t.cancel());
			sleepy::wake(false);
			works(w);
			/* A subscription that nobody uses any more can be ended. */
			assert_rc(SUCCESS, GNI_ReleaseErrors(w.errors));
		}
	}
}

gni_return_t without_cancellation(World &w)
{
	gni_cq_entry_t e = 0;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
	return GNI_CqWaitEvent(w.cq, ~uint64_t{0}, &e);
}

/* Who has disabled cancellation is not cancelled here either. */
void cancellation_disabled(void **)
{
	World w;
	Thread t(w, without_cancellation);

	wait_for_sleepers(1);
	assert_int_equal(pthread_cancel(t.id), 0);
	pause_ms(50);
	assert_false(t.returned);
	assert_true(sleepy::put(1));
	assert_false(t.join());
	assert_rc(SUCCESS, t.rc);
	works(w);
}

gni_return_t keeps_cancellation(World &w)
{
	gni_cq_entry_t e = 0;
	int state = -1, type = -1;

	(void)GNI_CqWaitEvent(w.cq, ~uint64_t{0}, &e);
	(void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	(void)pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
	return state == PTHREAD_CANCEL_ENABLE && type == PTHREAD_CANCEL_DEFERRED ? GNI_RC_SUCCESS : GNI_RC_ILLEGAL_OP;
}

void cancellation_as_before(void **)
{
	World w;
	Thread t(w, keeps_cancellation, PTHREAD_CANCEL_DEFERRED);

	assert_true(sleepy::put(1));
	assert_false(t.join());
	assert_rc(SUCCESS, t.rc);
}

std::atomic<uint64_t> reader_took;

gni_return_t read_for_ever(World &w)
{
	gni_cq_entry_t e = 0;

	for (;;) {
		gni_return_t rc = GNI_CqWaitEvent(w.cq, ~uint64_t{0}, &e);
		if (rc != GNI_RC_SUCCESS)
			return rc;
		/* Not in the middle of an atomic operation: the thread sanitizer has a lock there. */
		const ugni::Uncancelled whole;
		reader_took++;
	}
}

/* The C library's signal of a cancellation that was sent just before the thread disabled it. */
std::atomic<bool> went_on;

gni_return_t signalled_within(World &)
{
	constexpr int kSignal = 32; /* SIGCANCEL: the first of those that programs do not have */
	const ugni::Uncancelled whole;

	(void)syscall(SYS_tgkill, getpid(), gettid(), kSignal);
	went_on = true;
	return GNI_RC_SUCCESS;
}

void cancellation_under_way(void **)
{
	World w;

	went_on = false;
	Thread t(w, signalled_within);
	(void)t.join();
	assert_true(went_on);
	works(w);
}

/* A request that came meanwhile is answered after the guard, or by the first sleep; who joins the thread is told. */
gni_return_t cancelled_within(World &)
{
	const ugni::Uncancelled whole;
	return pthread_cancel(pthread_self()) ? GNI_RC_ILLEGAL_OP : GNI_RC_SUCCESS;
}

gni_return_t cancelled_before_sleep(World &w)
{
	const ugni::Uncancelled whole;
	(void)cancelled_within(w);
	const ugni::Sleep sleep(whole);
	return GNI_RC_SUCCESS;
}

gni_return_t signalled_asleep_but_disabled(World &w)
{
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
	const ugni::Uncancelled whole;
	const ugni::Sleep sleep(whole);
	return signalled_within(w);
}

void cancellation_told(void **)
{
	World w;

	assert_true(Thread(w, cancelled_within).join());
	assert_true(Thread(w, cancelled_before_sleep, PTHREAD_CANCEL_DEFERRED).join());
	assert_false(Thread(w, signalled_asleep_but_disabled).join());
}

/* At any moment, while events come: the queue goes on where the thread has left it. */
void cancelled_while_reading(void **)
{
	World w;
	reader_took = 0;
	for (unsigned round = 0; round < 300; round++) {
		sleepy::forget_sleepers();
		Thread t(w, read_for_ever);
		for (unsigned i = 0; i < round % 40; i++)
			(void)sleepy::put(i + 1);
		if (round % 3 == 0)
			wait_for_sleepers(1);
		else
			pause_ms(round % 3);
		assert_true(t.cancel());
	}
	works(w);
	/* The event in its hands may go with a thread, no other: works() has read the rest. */
	assert_int_equal(sleepy::produced(), sleepy::consumed());
	assert_true(reader_took > 0 && reader_took <= sleepy::produced());
}

/* The driver has told the final state, once, and the thread is gone: the endpoint is not busy for ever. */
void cancelled_with_an_answer(void **)
{
	for (int round = 0; round < 20; round++) {
		World w;

		assert_rc(SUCCESS, GNI_EpPostDataWId(w.ep, nullptr, 0, nullptr, 0, 7));
		assert_rc(NOT_DONE, GNI_EpUnbind(w.ep));
		Thread t(w, datagram_by_id);
		wait_for_sleepers(1);
		sleepy::wake(true);
		pause_ms(round % 4);
		if (t.cancel() && GNI_EpIdle(w.ep) == GNI_RC_NOT_DONE) {
			/* Cancelled before the answer: the datagram is still there to be asked for. */
			assert_rc(SUCCESS, datagram_by_id(w));
		}
		assert_rc(SUCCESS, GNI_EpUnbind(w.ep));
	}
}

/* Who waits when its objects go gets INVALID_PARAM, soon. */
void destroyed_while_waiting(void **)
{
	for (Call call : {wait_event, vector_wait, monitor, Call{datagram}, Call{probe}}) {
		World w;

		assert_rc(SUCCESS, GNI_EpPostDataWId(w.ep, nullptr, 0, nullptr, 0, 7));
		Thread t(w, call);
		wait_for_sleepers(1);
		assert_rc(SUCCESS, GNI_CdmDestroy(w.cdm));
		/* What the driver does: datagrams are cancelled, and their waits end. */
		if (call == datagram || call == probe)
			sleepy::interrupt(1);
		assert_false(t.join());
		assert_rc(INVALID_PARAM, t.rc);
	}
}

std::atomic<unsigned> signals;

void count_signal(int)
{
	signals++;
}

/* A wait goes on after a signal, to its end in time. */
void interrupted(void **)
{
	World w;
	gni_cq_entry_t e = 0;
	gni_post_state_t state = GNI_POST_ERROR;
	uint32_t address = 0, id = 0, which = 0;
	uint64_t number = 0;
	struct sigaction act = {}, old = {};
	const itimerval often = {{0, 2000}, {0, 2000}}, never = {};
	timespec begin = {}, end = {};

	act.sa_handler = count_signal;
	assert_int_equal(sigaction(SIGALRM, &act, &old), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, nullptr), 0);
	assert_rc(SUCCESS, GNI_EpPostDataWId(w.ep, nullptr, 0, nullptr, 0, 7));
	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	sleepy::interrupt(20);
	assert_rc(TIMEOUT, GNI_CqWaitEvent(w.cq, 60, &e));
	sleepy::interrupt(20);
	assert_rc(TIMEOUT, GNI_CqVectorMonitor(&w.cq, 1, 60, &which));
	sleepy::interrupt(20);
	assert_rc(TIMEOUT, GNI_PostdataProbeWaitById(w.nic, 60, &number));
	sleepy::interrupt(20);
	assert_rc(TIMEOUT, GNI_EpPostDataWait(w.ep, 60, &state, &address, &id));
	sleepy::interrupt(0);
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	assert_int_equal(setitimer(ITIMER_REAL, &never, nullptr), 0);
	assert_int_equal(sigaction(SIGALRM, &old, nullptr), 0);
	long ms = (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000;
	assert_true(signals > 20);
	assert_true(ms >= 230);
	works(w);
}

/* ---- several threads ---- */

struct Crowd {
	World *world;
	std::atomic<bool> stop{false};
	std::atomic<unsigned> wrong{0};
};

/* Makes and destroys what a NIC handle has; the others do the same. */
void *churn(void *argument)
{
	auto *c = static_cast<Crowd *>(argument);
	alignas(4096) unsigned char memory[8192];

	while (!c->stop) {
		gni_ep_handle_t ep = nullptr;
		gni_cq_handle_t cq = nullptr;
		gni_mem_handle_t h = {};
		gni_smsg_attr_t a = {};
		a.msg_type = GNI_SMSG_TYPE_MBOX;
		a.msg_buffer = memory;
		a.buff_size = sizeof(memory);
		a.mbox_maxcredit = 4;
		a.msg_maxsize = 64;
		a.mem_hndl = {1, 1};
		const gni_return_t answers[] = {
			GNI_CqCreate(c->world->nic, 8, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &cq),
			GNI_EpCreate(c->world->nic, c->world->cq, &ep),
			GNI_EpBind(ep, 1, 2),
			GNI_SmsgInit(ep, &a, &a),
			GNI_MemRegister(c->world->nic, reinterpret_cast<uintptr_t>(memory), sizeof(memory), cq, 0, ~0U,
					&h),
			GNI_MemDeregister(c->world->nic, &h),
			GNI_EpUnbind(ep),
			GNI_EpDestroy(ep),
			GNI_CqDestroy(cq),
		};
		unsigned step = 1;
		for (gni_return_t rc : answers) {
			if (rc != GNI_RC_SUCCESS)
				c->wrong = step * 100 + rc;
			step++;
		}
	}
	return nullptr;
}

void crowd_of_makers(void **)
{
	World w;
	Crowd c{&w};
	pthread_t threads[3];

	for (auto &t : threads)
		assert_int_equal(pthread_create(&t, nullptr, churn, &c), 0);
	pause_ms(300);
	c.stop = true;
	for (auto &t : threads)
		assert_int_equal(pthread_join(t, nullptr), 0);
	assert_int_equal(c.wrong, 0);
	works(w);
	assert_rc(SUCCESS, GNI_EpDestroy(w.ep));
	assert_rc(SUCCESS, GNI_CqDestroy(w.cq));
}

/* Two threads end the same thing: one of them gets to do it. */
struct Race {
	gni_cdm_handle_t cdm;
	gni_ep_handle_t ep;
	pthread_barrier_t *barrier;
	std::atomic<unsigned> *ended;
};

void *end_all(void *argument)
{
	auto *r = static_cast<Race *>(argument);

	(void)pthread_barrier_wait(r->barrier);
	if (r->ep)
		*r->ended += GNI_EpDestroy(r->ep) == GNI_RC_SUCCESS;
	*r->ended += GNI_CdmDestroy(r->cdm) == GNI_RC_SUCCESS;
	return nullptr;
}

void ended_by_two(void **)
{
	uint32_t files = sleepy::files();
	pthread_barrier_t barrier;

	assert_int_equal(pthread_barrier_init(&barrier, nullptr, 2), 0);
	for (int round = 0; round < 200; round++) {
		gni_cdm_handle_t cdm = nullptr;
		gni_nic_handle_t nic = nullptr;
		gni_ep_handle_t ep = nullptr;
		uint32_t address = 0;
		std::atomic<unsigned> ended{0};
		pthread_t threads[2];

		assert_rc(SUCCESS, GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, 1, 0, &cdm));
		assert_rc(SUCCESS, GNI_CdmAttach(cdm, 0, &address, &nic));
		assert_rc(SUCCESS, GNI_EpCreate(nic, nullptr, &ep));
		Race race = {cdm, round % 2 ? ep : nullptr, &barrier, &ended};
		for (auto &t : threads)
			assert_int_equal(pthread_create(&t, nullptr, end_all, &race), 0);
		for (auto &t : threads)
			assert_int_equal(pthread_join(t, nullptr), 0);
		/* The domain ends once; the endpoint on its own, or with it. */
		assert_true(ended == 1 || (round % 2 && ended == 2));
		assert_int_equal(sleepy::files(), files);
	}
	(void)pthread_barrier_destroy(&barrier);
}

/* While other threads hold every lock there is. */
void forked_among_threads(void **)
{
	World w;
	Crowd c{&w};
	pthread_t threads[2];

	for (auto &t : threads)
		assert_int_equal(pthread_create(&t, nullptr, churn, &c), 0);
	for (int i = 0; i < 60; i++) {
		int status = 0;
		pid_t pid = fork();
		if (pid == 0) {
			gni_cdm_handle_t cdm = nullptr;
			gni_nic_handle_t nic = nullptr;
			gni_ep_handle_t ep = nullptr;
			uint32_t address = 0;
			alarm(20);
			if (GNI_EpCreate(w.nic, nullptr, &ep) != GNI_RC_INVALID_PARAM)
				_exit(1);
			if (GNI_CdmCreate(2, GNI_FIND_ALLOC_PTAG, 1, 0, &cdm))
				_exit(2);
			if (GNI_CdmAttach(cdm, 0, &address, &nic))
				_exit(3);
			if (GNI_EpCreate(nic, nullptr, &ep))
				_exit(4);
			_exit(GNI_EpDestroy(ep) || GNI_CdmDestroy(cdm) ? 5 : 0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : status, 0);
	}
	c.stop = true;
	for (auto &t : threads)
		assert_int_equal(pthread_join(t, nullptr), 0);
	assert_int_equal(c.wrong, 0);
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(cancelled_asleep),
		cmocka_unit_test(cancellation_disabled),
		cmocka_unit_test(cancellation_as_before),
		cmocka_unit_test(cancellation_under_way),
		cmocka_unit_test(cancellation_told),
		cmocka_unit_test(cancelled_while_reading),
		cmocka_unit_test(cancelled_with_an_answer),
		cmocka_unit_test(destroyed_while_waiting),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(crowd_of_makers),
		cmocka_unit_test(ended_by_two),
		cmocka_unit_test(forked_among_threads),
	};
	alarm(400);
	return cmocka_run_group_tests_name("threads that wait and threads that meddle", tests, nullptr, nullptr);
}
