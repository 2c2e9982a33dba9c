// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Begin and end, attributes, the heap, locks, and what is said of functions that are not there. */
#include "model_kernel.hpp"
#include "symmetric.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace
{

constexpr size_t kMostLocks = 128; /* without DMAPP_MAX_LOCKS */

void before_init(void **)
{
	dmapp_rma_attrs_ext_t all{};
	dmapp_rma_attrs_t some{};
	dmapp_jobinfo_t info{};
	dmapp_seg_desc_t seg{};
	dmapp_syncid_handle_t id = 1;
	dmapp_lock_desc_t lock{};
	int flag = 7;
	uint64_t value = 0;

	assert_dmapp(SUCCESS, dmapp_initialized(&flag));
	assert_int_equal(flag, 0);
	assert_dmapp(INVALID_PARAM, dmapp_initialized(nullptr));
	/* These give the defaults. */
	assert_dmapp(SUCCESS, dmapp_get_rma_attrs_ext(&all));
	assert_int_equal(all.max_outstanding_nb, DMAPP_DEF_OUTSTANDING_NB);
	assert_int_equal(all.offload_threshold, DMAPP_OFFLOAD_THRESHOLD);
	assert_int_equal(all.put_relaxed_ordering, DMAPP_ROUTING_ADAPTIVE);
	assert_int_equal(all.max_concurrency, 1);
	assert_dmapp(SUCCESS, dmapp_get_rma_attrs(&some));
	assert_int_equal(some.max_outstanding_nb, DMAPP_DEF_OUTSTANDING_NB);
	assert_dmapp(INVALID_PARAM, dmapp_get_rma_attrs(nullptr));
	assert_dmapp(INVALID_PARAM, dmapp_get_rma_attrs_ext(nullptr));

	assert_dmapp(RESOURCE_ERROR, dmapp_set_rma_attrs_ext(&all, &all));
	assert_dmapp(RESOURCE_ERROR, dmapp_finalize());
	assert_dmapp(RESOURCE_ERROR, dmapp_get_jobinfo(&info));
	assert_dmapp(RESOURCE_ERROR, dmapp_put(&value, &seg, 0, &value, 1, DMAPP_QW));
	assert_dmapp(RESOURCE_ERROR, dmapp_get(&value, &value, &seg, 0, 1, DMAPP_QW));
	assert_dmapp(RESOURCE_ERROR, dmapp_put_nb(&value, &seg, 0, &value, 1, DMAPP_QW, &id));
	assert_dmapp(RESOURCE_ERROR, dmapp_iput(&value, &seg, 0, &value, 1, 1, 1, DMAPP_QW));
	assert_dmapp(RESOURCE_ERROR, dmapp_aadd_qw(&value, &seg, 0, 1));
	assert_dmapp(RESOURCE_ERROR, dmapp_syncid_wait(&id));
	assert_dmapp(RESOURCE_ERROR, dmapp_gsync_wait());
	assert_dmapp(RESOURCE_ERROR, dmapp_gsync_test(&flag));
	assert_dmapp(RESOURCE_ERROR, dmapp_progress());
	assert_dmapp(RESOURCE_ERROR, dmapp_mem_register(&value, 8, &seg));
	assert_dmapp(RESOURCE_ERROR, dmapp_mem_unregister(&seg));
	assert_dmapp(RESOURCE_ERROR, dmapp_lock_acquire(&lock, &seg, 0, 0, &id));
	assert_dmapp(RESOURCE_ERROR, dmapp_lock_release(id, 0));
	assert_null(dmapp_sheap_malloc(8));
	dmapp_sheap_free(&value);
}

void begin_and_end(void **)
{
	int flag = 0;

	job::start(2);
	assert_dmapp(SUCCESS, dmapp_initialized(&flag));
	assert_int_equal(flag, 1);
	assert_dmapp(BUSY, dmapp_init(nullptr, nullptr));
	for (int pe : {0, 1}) {
		job::choose(pe);
		assert_dmapp(SUCCESS, dmapp_finalize());
		assert_dmapp(SUCCESS, dmapp_initialized(&flag));
		assert_int_equal(flag, 0);
		assert_dmapp(RESOURCE_ERROR, dmapp_gsync_wait());
		job::ended(pe);
	}
	job::stop();
}

void cannot_begin(void **)
{
	dmapp_rma_attrs_ext_t wanted{};

	job::prepare(1);
	job::choose(0);
	for (auto [why, rc] : {std::pair{job::Trouble::no_launcher, DMAPP_RC_RESOURCE_ERROR},
			       std::pair{job::Trouble::no_heap, DMAPP_RC_NO_SPACE},
			       std::pair{job::Trouble::other_fails, DMAPP_RC_NO_SPACE}}) {
		job::trouble(why);
		assert_int_equal(dmapp_init(nullptr, nullptr), rc);
	}
	job::trouble(job::Trouble::none);
	setenv("XT_SYMMETRIC_HEAP_SIZE", "much", 1);
	assert_dmapp(INVALID_PARAM, dmapp_init(nullptr, nullptr));
	setenv("XT_SYMMETRIC_HEAP_SIZE", "4m", 1);
	assert_dmapp(SUCCESS, dmapp_get_rma_attrs_ext(&wanted));
	wanted.max_outstanding_nb = DMAPP_MIN_OUTSTANDING_NB - 1;
	assert_dmapp(INVALID_PARAM, dmapp_init_ext(&wanted, nullptr));
	wanted.max_outstanding_nb = DMAPP_MAX_OUTSTANDING_NB + 1;
	assert_dmapp(INVALID_PARAM, dmapp_init_ext(&wanted, nullptr));
	wanted.max_outstanding_nb = DMAPP_MIN_OUTSTANDING_NB;
	wanted.put_relaxed_ordering = DMAPP_ROUTING_ADAPTIVE_3 + 1;
	assert_dmapp(INVALID_PARAM, dmapp_init_ext(&wanted, nullptr));
	wanted.put_relaxed_ordering = DMAPP_ROUTING_ADAPTIVE_3;
	wanted.max_concurrency = 0;
	assert_dmapp(INVALID_PARAM, dmapp_init_ext(&wanted, nullptr));
	wanted.max_concurrency = 1;
	wanted.PI_ordering = DMAPP_PI_ORDERING_RELAXED + 1;
	assert_dmapp(INVALID_PARAM, dmapp_init_ext(&wanted, nullptr));
	job::stop();
}

/* What one PE refuses it tells the others: they do not wait for it. */
void one_cannot_begin(void **)
{
	dmapp_rma_attrs_ext_t wanted{};

	assert_dmapp(SUCCESS, dmapp_get_rma_attrs_ext(&wanted));
	wanted.max_concurrency = 0;
	job::prepare(2);
	job::choose(0);
	assert_dmapp(INVALID_PARAM, dmapp_init_ext(&wanted, nullptr));
	job::choose(1);
	assert_dmapp(INVALID_PARAM, dmapp_init_ext(nullptr, nullptr));
	job::stop();
}

/* What was asked for is what is in force; what a call may change is changed. */
void attributes(void **)
{
	dmapp_rma_attrs_ext_t wanted{}, got{};
	dmapp_rma_attrs_t some{};

	wanted.max_outstanding_nb = 1024;
	wanted.offload_threshold = 2048;
	wanted.put_relaxed_ordering = DMAPP_ROUTING_DETERMINISTIC;
	wanted.get_relaxed_ordering = DMAPP_ROUTING_ADAPTIVE_2;
	wanted.max_concurrency = DMAPP_MAX_THREADS_UNLIMITED;
	wanted.PI_ordering = DMAPP_PI_ORDERING_STRICT;
	wanted.queue_depth = 128;
	wanted.queue_nelems = 0xffffffff;
	wanted.queue_flags = ~uint64_t{0};
	job::start(1, &wanted);
	assert_dmapp(SUCCESS, dmapp_get_rma_attrs_ext(&got));
	assert_int_equal(got.max_outstanding_nb, 1024);
	assert_int_equal(got.offload_threshold, 2048);
	assert_int_equal(got.put_relaxed_ordering, DMAPP_ROUTING_DETERMINISTIC);
	assert_int_equal(got.get_relaxed_ordering, DMAPP_ROUTING_ADAPTIVE_2);
	assert_int_equal(got.max_concurrency, DMAPP_MAX_THREADS_UNLIMITED);
	assert_int_equal(got.PI_ordering, DMAPP_PI_ORDERING_STRICT);
	assert_int_equal(got.queue_depth, 128);
	assert_int_equal(got.queue_nelems, 0xffffffff);

	got.offload_threshold = 128;
	got.get_relaxed_ordering = DMAPP_ROUTING_IN_ORDER;
	got.max_outstanding_nb = 77;
	assert_dmapp(SUCCESS, dmapp_set_rma_attrs_ext(&got, &got));
	assert_int_equal(got.offload_threshold, 128);
	assert_int_equal(got.get_relaxed_ordering, DMAPP_ROUTING_IN_ORDER);
	assert_int_equal(got.max_outstanding_nb, 1024);
	assert_dmapp(SUCCESS, dmapp_get_rma_attrs(&some));
	assert_int_equal(some.offload_threshold, 128);
	some.put_relaxed_ordering = 99;
	assert_dmapp(INVALID_PARAM, dmapp_set_rma_attrs(&some, nullptr));
	assert_dmapp(INVALID_PARAM, dmapp_set_rma_attrs(nullptr, &some));
	some.put_relaxed_ordering = DMAPP_ROUTING_ADAPTIVE_1;
	assert_dmapp(SUCCESS, dmapp_set_rma_attrs(&some, &some));
	assert_int_equal(some.put_relaxed_ordering, DMAPP_ROUTING_ADAPTIVE_1);
	job::stop();
}

void heap_places(void **)
{
	std::vector<unsigned char *> blocks;
	void *first = nullptr;

	setenv("XT_SYMMETRIC_HEAP_SIZE", "4m", 1);
	job::start(1);
	first = dmapp_sheap_malloc(1);
	assert_non_null(first);
	assert_int_equal(reinterpret_cast<uintptr_t>(first) % 64, 0);
	assert_null(dmapp_sheap_malloc(4 << 20));
	assert_null(dmapp_sheap_malloc(SIZE_MAX));
	while (auto *block = static_cast<unsigned char *>(dmapp_sheap_malloc(100000)))
		blocks.push_back(block);
	assert_int_equal(blocks.size(), (4 << 20) / 100032);
	/* What is given back comes together again, whatever the order. */
	for (size_t n = 0; n < blocks.size(); n += 2)
		dmapp_sheap_free(blocks[n]);
	for (size_t n = 1; n < blocks.size(); n += 2)
		dmapp_sheap_free(blocks[n]);
	dmapp_sheap_free(first);
	first = dmapp_sheap_malloc(4 << 20);
	assert_non_null(first);
	dmapp_sheap_free(first);
	/* None of these is a block. */
	dmapp_sheap_free(first);
	dmapp_sheap_free(static_cast<char *>(first) + 64);
	dmapp_sheap_free(nullptr);
	dmapp_sheap_free(&first);
	assert_ptr_equal(dmapp_sheap_malloc(4 << 20), first);
	job::stop();
}

void heap_sizes(void **)
{
	const std::pair<const char *, size_t> sizes[] = {
		{"2m", 2 << 20}, {"3M", 4 << 20}, {"5000K", 6 << 20}, {"4194304", 4 << 20}, {"1k", 2 << 20}};

	for (const auto &[text, bytes] : sizes) {
		setenv("XT_SYMMETRIC_HEAP_SIZE", text, 1);
		job::start(1);
		assert_int_equal(heap()->len, bytes);
		job::stop();
	}
	setenv("XT_SYMMETRIC_HEAP_SIZE", "4m", 1);
}

void locks(void **)
{
	const Symmetric block(64);
	auto *lock = reinterpret_cast<dmapp_lock_desc_t *>(block.at[0]);
	auto *same = reinterpret_cast<dmapp_lock_desc_t *>(block.at[1]);
	dmapp_lock_handle_t mine = 0, theirs = 0;

	assert_dmapp(SUCCESS, dmapp_lock_acquire(lock, heap(), 1, 0, &mine));
	assert_int_equal(block.word(1, 0), 1);
	/* The same word of another PE is another lock. */
	assert_dmapp(SUCCESS, dmapp_lock_try(lock, heap(), 0, 0, &theirs));
	assert_dmapp(SUCCESS, dmapp_lock_release(theirs, 0));
	assert_dmapp(INVALID_PARAM, dmapp_lock_release(theirs, 0));
	/* The only thread that could give it back does not wait for itself. */
	assert_dmapp(BUSY, dmapp_lock_acquire(lock, heap(), 1, 0, &theirs));
	job::choose(1);
	assert_dmapp(BUSY, dmapp_lock_try(same, heap(1), 1, 0, &theirs));
	assert_dmapp(INVALID_PARAM, dmapp_lock_release(mine, 0));
	assert_dmapp(NOT_FOUND, dmapp_lock_release_addr(same, 1, 0));
	job::choose(0);
	assert_dmapp(SUCCESS, dmapp_lock_release_addr(lock, 1, 0));
	assert_dmapp(NOT_FOUND, dmapp_lock_release_addr(lock, 1, 0));
	assert_int_equal(block.word(1, 0), 0);
	job::choose(1);
	assert_dmapp(SUCCESS, dmapp_lock_try(same, heap(1), 1, 0, &theirs));
	assert_int_equal(block.word(1, 0), 2);
	/* A holder that is gone is told, not waited for. */
	job::choose(0);
	job::end(1);
	job::choose(0);
	block.word(0, 1) = 2;
	assert_dmapp(TRANSACTION_ERROR, dmapp_lock_acquire(lock + 1, heap(), 0, 0, &mine));
}

/* A lock that could not be given back is held, and an implicit operation that failed is gsync's to tell. */
void lock_that_stays(void **)
{
	const Symmetric block(64);
	auto *lock = reinterpret_cast<dmapp_lock_desc_t *>(block.at[0]);
	dmapp_lock_handle_t handle = 0;
	uint64_t value = 1;

	assert_dmapp(SUCCESS, dmapp_lock_acquire(lock, heap(), 1, 0, &handle));
	model::fault(0, "drop", 100000);
	assert_dmapp(TRANSACTION_ERROR, dmapp_lock_release(handle, 0));
	assert_dmapp(TRANSACTION_ERROR, dmapp_lock_release_addr(lock, 1, 0));
	assert_dmapp(SUCCESS, dmapp_put_nbi(block.at[0] + 8, heap(), 1, &value, 1, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_progress());
	model::fault(0, "drop", 0);
	assert_int_equal(block.word(1, 0), 1);
	assert_dmapp(SUCCESS, dmapp_lock_release(handle, 0));
	assert_int_equal(block.word(1, 0), 0);
	assert_dmapp(TRANSACTION_ERROR, dmapp_gsync_wait());
	assert_dmapp(SUCCESS, dmapp_gsync_wait());
}

void locks_refused(void **)
{
	const Symmetric block((kMostLocks + 1) * 8);
	auto *lock = reinterpret_cast<dmapp_lock_desc_t *>(block.at[0]);
	std::vector<dmapp_lock_handle_t> handles(kMostLocks);
	dmapp_lock_handle_t handle = 0;

	assert_dmapp(INVALID_PARAM, dmapp_lock_acquire(lock, heap(), 2, 0, &handle));
	assert_dmapp(INVALID_PARAM, dmapp_lock_acquire(lock, nullptr, 1, 0, &handle));
	assert_dmapp(INVALID_PARAM, dmapp_lock_acquire(lock, heap(), 1, 0, nullptr));
	assert_dmapp(NOT_SUPPORTED, dmapp_lock_acquire(lock, heap(), 1, 1, &handle));
	assert_dmapp(ALIGNMENT_ERROR,
		     dmapp_lock_try(reinterpret_cast<dmapp_lock_desc_t *>(block.at[0] + 4), heap(), 1, 0, &handle));
	assert_dmapp(INVALID_PARAM, dmapp_lock_release(0, 0));
	assert_dmapp(NOT_SUPPORTED, dmapp_lock_release(1, 1));
	for (size_t n = 0; n < handles.size(); n++)
		assert_dmapp(SUCCESS, dmapp_lock_acquire(lock + n, heap(), 1, 0, &handles[n]));
	assert_dmapp(RESOURCE_ERROR, dmapp_lock_acquire(lock + kMostLocks, heap(), 1, 0, &handle));
	for (dmapp_lock_handle_t h : handles)
		assert_dmapp(SUCCESS, dmapp_lock_release(h, 0));
	/* A word that no lock has left there. */
	block.word(1, 0) = 1000;
	assert_dmapp(INVALID_PARAM, dmapp_lock_acquire(lock, heap(), 1, 0, &handle));
}

/* A child has no library that was initialised, and harms nothing of the parent's. */
void fork_after_init(void **)
{
	const Symmetric block(64);
	uint64_t value = 5;
	const pid_t child = fork();

	if (child == 0) {
		int flag = 1;
		const bool good = dmapp_initialized(&flag) == DMAPP_RC_SUCCESS && !flag &&
				  dmapp_put(block.at[0], heap(), 1, &value, 1, DMAPP_QW) == DMAPP_RC_RESOURCE_ERROR &&
				  dmapp_finalize() == DMAPP_RC_RESOURCE_ERROR;
		_exit(good ? 0 : 1);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_dmapp(SUCCESS, dmapp_put(block.at[0], heap(), 1, &value, 1, DMAPP_QW));
	assert_int_equal(block.word(1, 0), 5);
}

void not_there(void **)
{
	const char *text = nullptr;

	dmapp_queue_handle_t queue = 0;
	dmapp_syncid_handle_t id = 0;
	dmapp_seg_desc_t seg{};

	assert_dmapp(NOT_SUPPORTED, dmapp_sheap_stats(nullptr));
	assert_dmapp(NOT_SUPPORTED, dmapp_checkpoint());
	assert_dmapp(NOT_SUPPORTED, dmapp_restart(0));
	assert_dmapp(NOT_SUPPORTED, dmapp_mem_reserve(&seg, 8, 0, &seg));
	assert_dmapp(NOT_SUPPORTED, dmapp_mem_update(&seg, 8, 0, &seg));
	assert_dmapp(NOT_SUPPORTED, dmapp_get_flag_nbi(&id, &id, &seg, 0, 1, DMAPP_QW));
	assert_dmapp(NOT_SUPPORTED, dmapp_amo_put(nullptr, nullptr, 0, nullptr));
	assert_dmapp(NOT_SUPPORTED, dmapp_amo_put_nb(nullptr, nullptr, 0, nullptr, &id));
	assert_dmapp(NOT_SUPPORTED, dmapp_amo_put_nbi(nullptr, nullptr, 0, nullptr));
	assert_dmapp(NOT_SUPPORTED, dmapp_amo_get(nullptr, nullptr, nullptr, 0, nullptr));
	assert_dmapp(NOT_SUPPORTED, dmapp_amo_get_nb(nullptr, nullptr, nullptr, 0, nullptr, &id));
	assert_dmapp(NOT_SUPPORTED, dmapp_amo_get_nbi(nullptr, nullptr, nullptr, 0, nullptr));
	assert_dmapp(NOT_SUPPORTED, dmapp_amo_flush(0, 0));
	assert_dmapp(NOT_SUPPORTED, dmapp_queue_attach(nullptr, nullptr, 0, &queue));
	assert_dmapp(NOT_SUPPORTED, dmapp_queue_detach(queue, 0));
	assert_dmapp(NOT_SUPPORTED, dmapp_queue_put(queue, nullptr, 0, DMAPP_QW, 0, 0));
	assert_dmapp(NOT_SUPPORTED, dmapp_c_pset_cancel_op(0));
	for (int rc = DMAPP_RC_SUCCESS; rc <= DMAPP_RC_NOT_USED; rc++) {
		assert_dmapp(SUCCESS, dmapp_explain_error(static_cast<dmapp_return_t>(rc), &text));
		assert_true(text && *text);
	}
	assert_dmapp(INVALID_PARAM, dmapp_explain_error(static_cast<dmapp_return_t>(99), &text));
	assert_non_null(text);
	assert_dmapp(INVALID_PARAM, dmapp_explain_error(DMAPP_RC_SUCCESS, nullptr));
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(before_init),
		cmocka_unit_test(begin_and_end),
		cmocka_unit_test(cannot_begin),
		cmocka_unit_test(one_cannot_begin),
		cmocka_unit_test(attributes),
		cmocka_unit_test(heap_places),
		cmocka_unit_test(heap_sizes),
		cmocka_unit_test_setup_teardown(locks, job_start, job_stop),
		cmocka_unit_test_setup_teardown(lock_that_stays, job_start, job_stop),
		cmocka_unit_test_setup_teardown(locks_refused, job_start, job_stop),
		cmocka_unit_test_setup_teardown(fork_after_init, job_start, job_stop),
		cmocka_unit_test(not_there),
	};

	return cmocka_run_group_tests_name("job, heap and locks of DMAPP", tests, nullptr, nullptr);
}
