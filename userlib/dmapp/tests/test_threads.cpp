// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Threads of one PE that call at once: nothing is lost, each has its own ids and attributes. */
#include "symmetric.hpp"

#include <atomic>
#include <thread>

namespace
{

constexpr int kThreads = 4;
constexpr int kRounds = 150;

int job_start_threads(void **)
{
	dmapp_rma_attrs_ext_t wanted{};

	setenv("XT_SYMMETRIC_HEAP_SIZE", "4m", 1);
	assert_dmapp(SUCCESS, dmapp_get_rma_attrs_ext(&wanted));
	wanted.max_concurrency = DMAPP_MAX_THREADS_UNLIMITED;
	job::start(2, &wanted);
	return 0;
}

template <typename F> void in_threads(F each)
{
	std::vector<std::thread> threads;

	for (int n = 0; n < kThreads; n++)
		threads.emplace_back(each, n);
	for (std::thread &thread : threads)
		thread.join();
}

/* Assertions of cmocka end the test's own thread only, so the others count. */
std::atomic<int> wrong;

void check(bool good)
{
	wrong += !good;
}

void transfers_at_once(void **)
{
	const Symmetric block(size_t{kThreads} * 8192);
	dmapp_seg_desc_t seg = *heap();

	wrong = 0;
	in_threads([&](int thread) {
		unsigned char *mine = block.at[0] + size_t{8192} * static_cast<size_t>(thread);
		std::vector<uint64_t> out(512), back(512);
		dmapp_syncid_handle_t id = 0;

		for (int round = 0; round < kRounds; round++) {
			for (size_t n = 0; n < out.size(); n++)
				out[n] = static_cast<uint64_t>(thread * 1000000 + round) + n;
			check(!dmapp_put_nb(mine, &seg, 1, out.data(), 511, DMAPP_QW, &id));
			check(!dmapp_put_nbi(mine + 511 * 8, &seg, 1, &out[511], 1, DMAPP_QW));
			check(!dmapp_syncid_wait(&id));
			check(!dmapp_gsync_wait());
			check(!dmapp_get(back.data(), mine, &seg, 1, 512, DMAPP_QW));
			check(out == back);
		}
	});
	assert_int_equal(wrong, 0);
}

void atomics_at_once(void **)
{
	const Symmetric block(64);
	dmapp_seg_desc_t seg = *heap();
	std::atomic<int64_t> tickets = 0;

	wrong = 0;
	in_threads([&](int) {
		int64_t old = 0;

		for (int round = 0; round < kRounds; round++) {
			check(!dmapp_aadd_qw_nbi(block.at[0], &seg, 1, 1));
			check(!dmapp_afadd_qw(&old, block.at[0] + 8, &seg, 1, 1));
			tickets += old;
		}
		check(!dmapp_gsync_wait());
	});
	const int64_t all = kThreads * kRounds;
	assert_int_equal(wrong, 0);
	assert_int_equal(block.word(1, 0), all);
	assert_int_equal(block.word(1, 1), all);
	assert_int_equal(tickets, all * (all - 1) / 2);
}

/* One thread waits for a lock that another one has, and others go on meanwhile. */
void locks_at_once(void **)
{
	const Symmetric block(64);
	dmapp_seg_desc_t seg = *heap();
	auto *lock = reinterpret_cast<dmapp_lock_desc_t *>(block.at[0]);

	wrong = 0;
	in_threads([&](int) {
		for (int round = 0; round < 20; round++) {
			dmapp_lock_handle_t handle = 0;
			uint64_t value = 0;

			check(!dmapp_lock_acquire(lock, &seg, 1, 0, &handle));
			check(!dmapp_get(&value, block.at[0] + 8, &seg, 1, 1, DMAPP_QW));
			value++;
			check(!dmapp_put(block.at[0] + 8, &seg, 1, &value, 1, DMAPP_QW));
			check(!dmapp_lock_release(handle, 0));
		}
	});
	assert_int_equal(wrong, 0);
	assert_int_equal(block.word(1, 1), kThreads * 20);
	assert_int_equal(block.word(1, 0), 0);
}

void attributes_of_each(void **)
{
	wrong = 0;
	in_threads([](int thread) {
		dmapp_rma_attrs_ext_t a{};

		check(!dmapp_get_rma_attrs_ext(&a) && a.offload_threshold == DMAPP_OFFLOAD_THRESHOLD);
		a.offload_threshold = 100 + static_cast<uint32_t>(thread);
		check(!dmapp_set_rma_attrs_ext(&a, nullptr));
		for (int n = 0; n < kRounds; n++)
			check(!dmapp_get_rma_attrs_ext(&a) &&
			      a.offload_threshold == 100 + static_cast<uint32_t>(thread));
	});
	assert_int_equal(wrong, 0);
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(transfers_at_once, job_start_threads, job_stop),
		cmocka_unit_test_setup_teardown(atomics_at_once, job_start_threads, job_stop),
		cmocka_unit_test_setup_teardown(locks_at_once, job_start_threads, job_stop),
		cmocka_unit_test_setup_teardown(attributes_of_each, job_start_threads, job_stop),
	};

	return cmocka_run_group_tests_name("threads of DMAPP", tests, nullptr, nullptr);
}
