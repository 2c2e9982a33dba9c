// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * The library on a NIC that takes polled doorbells: what does not trap any more, and that nothing else is different.
 * Other tests over the model are run on such a NIC as well, see meson.build.
 */
#include "rank.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

namespace
{

using Clock = std::chrono::steady_clock;

constexpr size_t kPosts = 64;    /* under way at once, as far as the caller is concerned */
constexpr uint64_t kFound = 500; /* by the NIC; a busy host lets its thread find few of them */

uint64_t traps()
{
	return model::counter(0, ARIES_CNT_FMA_TRAPS);
}

uint64_t found()
{
	return model::counter(0, ARIES_CNT_FMA_POLLED);
}

/* Reaps @count posts, whose order is theirs. */
void reap(const Rank &r, gni_post_descriptor_t *first, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		gni_post_descriptor_t *back = nullptr;
		gni_cq_entry_t e = 0;
		assert_rc(SUCCESS, GNI_CqWaitEvent(r.source, 60000, &e));
		assert_rc(SUCCESS, GNI_GetCompleted(r.source, e, &back));
		assert_ptr_equal(back, first + i);
	}
}

/* Each post has its data and addresses, however far the NIC was with the one before when it was made. */
void posts_without_traps(void **)
{
	Pair p;
	const auto end = Clock::now() + std::chrono::seconds(100);
	std::vector<gni_post_descriptor_t> d(kPosts);
	uint64_t posted = 0;
	const uint64_t before = traps();

	for (uint64_t round = 1; found() < kFound && Clock::now() < end; round++) {
		for (size_t i = 0; i < kPosts; i++) {
			const uint64_t value = round << 8 | i;
			const size_t length = i % 3 ? 8 : 2000; /* the common post, and another one */
			for (size_t at = 0; at < length; at += 8)
				memcpy(p.a.bytes + at, &value, 8);
			d[i] = p.a.post(p.b, GNI_POST_FMA_PUT, length, 0, i % 32 * 2048);
			assert_rc(SUCCESS, GNI_PostFma(p.a.ep, &d[i]));
			posted++;
		}
		reap(p.a, d.data(), kPosts);
		for (size_t i = kPosts / 2; i < kPosts; i++) {
			const uint64_t value = round << 8 | i;
			assert_memory_equal(p.b.bytes + i % 32 * 2048, &value, 8);
			if (i % 3 == 0)
				assert_memory_equal(p.b.bytes + i % 32 * 2048 + 1992, &value, 8);
		}
	}
	assert_in_range(found(), kFound, posted);
	assert_in_range(traps() - before, 0, posted);
	assert_int_equal(traps() - before, model::counter(0, ARIES_CNT_FMA_WAKES));
	print_message("%llu posts, %llu traps\n", static_cast<unsigned long long>(posted),
		      static_cast<unsigned long long>(traps() - before));
}

/* A post that says nothing when it is done has done it when the call returns. */
void silent_posts_have_happened(void **)
{
	Pair p;

	for (uint64_t n = 1; n <= 3000; n++) {
		memcpy(p.a.bytes, &n, 8);
		gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_FMA_PUT, 8, 0, 64, 0);
		assert_rc(SUCCESS, GNI_PostFma(p.a.ep, &d));
		assert_memory_equal(p.b.bytes + 64, &n, 8);
		d = p.a.post(p.b, GNI_POST_FMA_GET, 8, 128, 64, 0);
		assert_rc(SUCCESS, GNI_PostFma(p.a.ep, &d));
		assert_memory_equal(p.a.bytes + 128, &n, 8);
		d = p.a.post(p.b, GNI_POST_FMA_GET, 8, 128, p.b.size + 4096, 0);
		assert_rc(SUCCESS, GNI_PostFma(p.a.ep, &d));
		assert_int_equal(d.status, GNI_RC_TRANSACTION_ERROR);
	}
}

/* Block transfers ring by a trap: behind what was rung before without one. */
void block_transfers_come_behind(void **)
{
	Pair p;
	gni_post_descriptor_t d[2];

	for (uint64_t n = 1; n <= 3000; n++) {
		memcpy(p.a.bytes, &n, 8);
		d[0] = p.a.post(p.b, GNI_POST_FMA_PUT, 8, 0, 64);
		d[1] = p.a.post(p.b, GNI_POST_RDMA_GET, 8, 128, 64);
		assert_rc(SUCCESS, GNI_PostFma(p.a.ep, &d[0]));
		assert_rc(SUCCESS, GNI_PostRdma(p.a.ep, &d[1]));
		reap(p.a, d, 2);
		assert_memory_equal(p.a.bytes + 128, &n, 8);
	}
}

/* What a post needs is there until it is done, also if nobody waits for it. */
void what_ends_waits_for_posts(void **)
{
	Pair p;

	for (uint64_t n = 1; n <= 1000; n++) {
		gni_cq_handle_t queue = nullptr;
		gni_ep_handle_t ep = nullptr;
		gni_mem_handle_t local;
		assert_rc(SUCCESS, GNI_CqCreate(p.a.nic, 8, 0, 0, nullptr, nullptr, &queue));
		assert_rc(SUCCESS, GNI_EpCreate(p.a.nic, queue, &ep));
		assert_rc(SUCCESS, GNI_EpBind(ep, p.b.address, 1001));
		assert_rc(SUCCESS, GNI_MemRegister(p.a.nic, p.a.at(0), 4096, nullptr, 0, ~0U, &local));
		memcpy(p.b.bytes, &n, 8);
		gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_FMA_GET, 8, 256, 0);
		d.local_mem_hndl = local;
		assert_rc(SUCCESS, GNI_PostFma(ep, &d));
		assert_rc(SUCCESS, GNI_MemDeregister(p.a.nic, &local));
		assert_memory_equal(p.a.bytes + 256, &n, 8);
		gni_post_descriptor_t put = p.a.post(p.b, GNI_POST_FMA_PUT, 8, 256, 512);
		assert_rc(SUCCESS, GNI_PostFma(ep, &put));
		assert_rc(SUCCESS, GNI_EpDestroy(ep));
		assert_rc(SUCCESS, GNI_CqDestroy(queue));
		assert_memory_equal(p.b.bytes + 512, &n, 8);
	}
	/* The domain as well. */
	auto last = std::make_unique<Rank>(0, 1002, 4096);
	last->bind(p.b, 1001);
	memcpy(last->bytes, "the last", 8);
	for (int i = 0; i < 50; i++) {
		gni_post_descriptor_t d = last->post(p.b, GNI_POST_FMA_PUT, 8, 0, 1024 + 8 * static_cast<size_t>(i));
		assert_rc(SUCCESS, GNI_PostFma(last->ep, &d));
	}
	last.reset();
	for (size_t i = 0; i < 50; i++)
		assert_memory_equal(p.b.bytes + 1024 + 8 * i, "the last", 8);
}

/* A descriptor that others may get in turn has trapped doorbells only. */
void shared_descriptors_trap(void **)
{
	Pair p(65536, GNI_CDM_MODE_FMA_SHARED);
	const uint64_t before = traps();

	for (int n = 0; n < 1000; n++) {
		gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_FMA_PUT, 8);
		assert_int_equal(p.a.run(&d), 0);
	}
	assert_int_equal(traps() - before, 1000);
	assert_int_equal(found(), 0);
	assert_int_equal(model::counter(0, ARIES_CNT_FMA_WAKES), 0);
}

/* Two threads with a NIC handle each, one poller for both. */
void two_at_once(void **)
{
	Pair p;
	Rank c(0, 1002, 65536);

	c.bind(p.b, 1001);
	const auto work = [&](const Rank &r, size_t to) {
		for (uint64_t n = 1; n <= 20000; n++) {
			memcpy(r.bytes, &n, 8);
			gni_post_descriptor_t d = r.post(p.b, GNI_POST_FMA_PUT, 8, 0, to);
			gni_post_descriptor_t *back = nullptr;
			gni_cq_entry_t e = 0;
			if (GNI_PostFma(r.ep, &d))
				return false;
			while (GNI_CqGetEvent(r.source, &e) == GNI_RC_NOT_DONE)
				std::this_thread::yield();
			if (GNI_GetCompleted(r.source, e, &back) || back != &d || memcmp(p.b.bytes + to, &n, 8))
				return false;
		}
		return true;
	};
	bool other = false;
	std::thread thread([&] { other = work(c, 4096); });
	const bool own = work(p.a, 0);
	thread.join();
	assert_true(own);
	assert_true(other);
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		model_test(posts_without_traps),         model_test(silent_posts_have_happened),
		model_test(block_transfers_come_behind), model_test(what_ends_waits_for_posts),
		model_test(shared_descriptors_trap),     model_test(two_at_once),
	};

	setenv("UGNI_TEST_DOORBELL", "polled", 1); // NOLINT(concurrency-mt-unsafe)
	return cmocka_run_group_tests_name("polled doorbells", tests, nullptr, nullptr);
}
