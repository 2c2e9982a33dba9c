// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Handlers of queues that end by an exception or with their thread: nothing of the library's stays behind. */
#include "session.hpp"

#include <pthread.h>
#include <unistd.h>

namespace
{

enum class Way { returns, throws, ends, is_cancelled };

struct Handled {
	Way way = Way::returns;
	unsigned calls = 0;
	int cancellation = -1; /* as the handler finds it */
};

void handler(gni_cq_entry_t *, void *context)
{
	auto *h = static_cast<Handled *>(context);
	int unused = 0;

	h->calls++;
	(void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &h->cancellation);
	(void)pthread_setcancelstate(h->cancellation, &unused);
	if (h->way == Way::throws)
		throw 7;
	if (h->way == Way::ends)
		pthread_exit(h);
	if (h->way == Way::is_cancelled) {
		(void)pthread_cancel(pthread_self());
		pthread_testcancel();
	}
}

/** A session with a queue that has a handler. */
struct WithHandler : Session {
	Handled handled;
	gni_cq_handle_t called = nullptr;
	gni_ep_handle_t to = nullptr;
	gni_post_descriptor_t descriptor = {};

	WithHandler()
	{
		assert_rc(SUCCESS, GNI_CqCreate(nic, 16, 0, GNI_CQ_BLOCKING, handler, &handled, &called));
		assert_rc(SUCCESS, GNI_EpCreate(nic, called, &to));
		assert_rc(SUCCESS, GNI_EpBind(to, 6, 88));
	}
	/** An event is in the queue. */
	void event()
	{
		descriptor = post(GNI_POST_FMA_PUT);
		assert_rc(SUCCESS, GNI_PostFma(to, &descriptor));
	}
};

using Read = gni_return_t (*)(gni_cq_handle_t, gni_cq_entry_t *);

const struct {
	const char *name;
	Read read;
} readers[] = {
	{"GNI_CqGetEvent", GNI_CqGetEvent},
	{"GNI_CqWaitEvent", [](gni_cq_handle_t cq, gni_cq_entry_t *e) { return GNI_CqWaitEvent(cq, 1000, e); }},
	{"GNI_CqVectorWaitEvent",
	 [](gni_cq_handle_t cq, gni_cq_entry_t *e) {
		 uint32_t which = 0;
		 return GNI_CqVectorWaitEvent(&cq, 1, 1000, e, &which);
	 }},
};

int cancellation()
{
	int state = 0, unused = 0;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	(void)pthread_setcancelstate(state, &unused);
	return state;
}

TEST(exceptions_pass)
{
	for (const auto &reader : readers) {
		WithHandler s;
		gni_cq_entry_t e = 0;
		gni_post_descriptor_t *back = nullptr;
		int caught = 0;

		s.event();
		s.handled.way = Way::throws;
		try {
			(void)reader.read(s.called, &e);
		} catch (int n) {
			caught = n;
		}
		assert_int_equal(caught, 7);
		assert_int_equal(cancellation(), PTHREAD_CANCEL_ENABLE);
		/* a handler is called as the program calls the library */
		assert_int_equal(s.handled.cancellation, PTHREAD_CANCEL_ENABLE);
		/* the event was taken, and the queue goes on */
		assert_rc(SUCCESS, GNI_GetCompleted(s.called, e, &back));
		s.handled.way = Way::returns;
		s.event();
		assert_rc(SUCCESS, reader.read(s.called, &e));
		assert_int_equal(s.handled.calls, 2);
	}
}

struct Job {
	WithHandler *session;
	Read read;
};

void *read_one(void *argument)
{
	const auto *job = static_cast<Job *>(argument);
	gni_cq_entry_t e = 0;

	(void)job->read(job->session->called, &e);
	return nullptr;
}

TEST(threads_end_in_handlers)
{
	for (const Way way : {Way::ends, Way::is_cancelled}) {
		for (const auto &reader : readers) {
			WithHandler s;
			Job job = {&s, reader.read};
			pthread_t thread;
			void *result = nullptr;
			gni_cq_entry_t e = 0;

			s.event();
			s.handled.way = way;
			assert_int_equal(pthread_create(&thread, nullptr, read_one, &job), 0);
			assert_int_equal(pthread_join(thread, &result), 0);
			assert_ptr_equal(result, way == Way::ends ? static_cast<void *>(&s.handled) : PTHREAD_CANCELED);
			s.handled.way = Way::returns;
			s.event();
			assert_rc(SUCCESS, reader.read(s.called, &e));
			assert_int_equal(s.handled.calls, 2);
		}
	}
}

} // namespace

TEST_MAIN("handlers that do not return")
