// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Ends: of the library while threads call it, of threads in its calls, and of the thread that it has itself. */
#include "symmetric.hpp"

#include <atomic>
#include <cerrno>
#include <pthread.h>
#include <sched.h>
#include <thread>

namespace
{

constexpr int kRounds = 100;

bool no_threads;

int set_size(void **)
{
	setenv("XT_SYMMETRIC_HEAP_SIZE", "2m", 1);
	return 0;
}

} // namespace

/* The linker gives these the library's calls, and their own (--wrap). */
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

extern "C" int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
				     void *argument)
{
	return no_threads ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}
// NOLINTEND(bugprone-reserved-identifier)

/* A process that may have no thread more: words do not wait for company that nobody ends. */
TEST_BETWEEN(no_helper, set_size, nullptr)
{
	uint64_t value = 5;

	job::start(1);
	no_threads = true;
	const dmapp_return_t rc = dmapp_put_nbi(heap()->addr, heap(), 0, &value, 1, DMAPP_QW);
	no_threads = false;
	assert_int_equal(rc, DMAPP_RC_SUCCESS);
	assert_memory_equal(heap()->addr, &value, sizeof(value));
	job::stop();
}

/* The helper has just begun, or rings the word, when it is told to end. */
TEST_BETWEEN(end_of_the_helper, set_size, nullptr)
{
	for (int round = 0; round < kRounds; round++) {
		uint64_t value = 1;

		job::start(1);
		assert_dmapp(SUCCESS, dmapp_put_nbi(heap()->addr, heap(), 0, &value, 1, DMAPP_QW));
		for (int n = 0; n < round % 8; n++)
			sched_yield();
		job::stop();
	}
}

/* Whoever calls while another thread ends the library is served or told that there is none. */
TEST_BETWEEN(end_while_others_call, set_size, nullptr)
{
	std::atomic<int> wrong = 0;

	for (int round = 0; round < kRounds / 2; round++) {
		std::vector<std::thread> threads;
		std::atomic<int> calling = 0;

		job::start(1);
		const dmapp_seg_desc_t seg = *heap();
		for (int n = 0; n < 3; n++) {
			threads.emplace_back([&, n] {
				dmapp_seg_desc_t mine = seg;
				auto *at = static_cast<uint64_t *>(seg.addr) + n;
				uint64_t value = 1;
				dmapp_return_t rc = DMAPP_RC_SUCCESS;
				int there = 1;

				while (rc == DMAPP_RC_SUCCESS) {
					rc = dmapp_put(at, &mine, 0, &value, 1, DMAPP_QW);
					calling |= 1 << n;
				}
				wrong += rc != DMAPP_RC_RESOURCE_ERROR;
				wrong += dmapp_initialized(&there) != DMAPP_RC_SUCCESS || there;
			});
		}
		while (calling != 7)
			sched_yield();
		job::end(0);
		for (std::thread &thread : threads)
			thread.join();
		job::stop();
	}
	assert_int_equal(wrong, 0);
}

/* A thread that is to end does so behind the call. */
TEST_BETWEEN(cancelled_while_it_ends_the_library, set_size, nullptr)
{
	pthread_t thread{};
	void *result = nullptr;
	static std::atomic<bool> ended;

	job::start(1);
	ended = false;
	assert_int_equal(0, pthread_create(
				    &thread, nullptr,
				    [](void *) -> void * {
					    uint64_t value = 1;

					    (void)dmapp_put_nbi(heap()->addr, heap(), 0, &value, 1, DMAPP_QW);
					    (void)pthread_cancel(pthread_self());
					    ended = dmapp_finalize() == DMAPP_RC_SUCCESS;
					    pthread_testcancel();
					    return nullptr;
				    },
				    nullptr));
	assert_int_equal(0, pthread_join(thread, &result));
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_true(ended);
	job::ended(0);
	job::stop();
}

TEST_MAIN("ends of DMAPP")
