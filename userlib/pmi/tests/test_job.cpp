// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Jobs of several ranks over a service, and of one without. */
#include "../../tests/cmocka_cpp.hpp"

#include "pmi.h"
#include "ranks.hpp"

#include <cstring>
#include <pthread.h>
#include <thread>

static int begin()
{
	int spawned = 7;
	const int rc = PMI_Init(&spawned);
	return rc || spawned != 0 ? 1 : 0;
}

TEST(singleton)
{
	assert_int_equal(
		0, in_child({}, [] {
			int rank = -1, size = -1, value = -1;
			char text[64];
			PMI_BOOL there = -1;
			CHECK(PMI_Initialized(&there) == PMI_SUCCESS && there == PMI_FALSE && PMI2_Initialized() == 0);
			CHECK(begin() == 0);
			CHECK(PMI_Initialized(&there) == PMI_SUCCESS && there == PMI_TRUE && PMI2_Initialized() == 1);
			CHECK(PMI_Get_rank(&rank) == PMI_SUCCESS && rank == 0);
			CHECK(PMI_Get_size(&size) == PMI_SUCCESS && size == 1);
			CHECK(PMI_Get_appnum(&value) == PMI_SUCCESS && value == 0);
			CHECK(PMI_Get_clique_size(&value) == PMI_SUCCESS && value == 1);
			CHECK(PMI_Get_clique_ranks(&value, 1) == PMI_SUCCESS && value == 0);
			CHECK(PMI_Barrier() == PMI_SUCCESS);
			CHECK(PMI_KVS_Get_my_name(text, sizeof(text)) == PMI_SUCCESS);
			CHECK(PMI_KVS_Put(text, "a key", "a value\n") == PMI_SUCCESS);
			CHECK(PMI_KVS_Commit(text) == PMI_SUCCESS);
			char got[1024];
			CHECK(PMI_KVS_Get(text, "a key", got, sizeof(got)) == PMI_SUCCESS && !strcmp(got, "a value\n"));
			CHECK(PMI_KVS_Get(text, "other", got, sizeof(got)) == PMI_ERR_INVALID_KEY);
			CHECK(PMI_Finalize() == PMI_SUCCESS);
			CHECK(PMI_Finalize() == PMI_ERR_INIT);
			return 0;
		}));
}

TEST(every_rank_has_its_place)
{
	FakeService service;
	assert_true(run_ranks(
		service, 5,
		[](int rank) {
			int spawned, size, mine, appnum, n, nid, ranks[8];
			char text[200];
			CHECK(PMI2_Init(&spawned, &size, &mine, &appnum) == PMI2_SUCCESS);
			CHECK(size == 5 && mine == rank && appnum == 2);
			CHECK(PMI_Get_clique_size(&n) == PMI_SUCCESS && n == (rank < 4 ? 2 : 1));
			CHECK(PMI2_Info_GetSize(&n) == PMI2_SUCCESS && n == (rank < 4 ? 2 : 1));
			CHECK(PMI_Get_clique_ranks(ranks, 8) == PMI_SUCCESS && ranks[0] == rank / 2 * 2);
			CHECK(rank == 4 || PMI_Get_clique_ranks(ranks, 1) == PMI_ERR_INVALID_LENGTH);
			CHECK(PMI_Get_nid(4, &nid) == PMI_SUCCESS && nid == 7);
			CHECK(PMI_Get_nid(5, &nid) == PMI_ERR_INVALID_ARG &&
			      PMI_Get_nid(-1, &nid) == PMI_ERR_INVALID_ARG);
			void *list = nullptr;
			CHECK(PMI_Get_nidlist_ptr(&list) == PMI_SUCCESS);
			const int expected[] = {0, 0, 1, 1, 7};
			CHECK(!memcmp(list, expected, sizeof(expected)));
			CHECK(PMI2_Job_GetId(text, sizeof(text)) == PMI2_SUCCESS && !strcmp(text, "job-1"));
			CHECK(PMI2_Job_GetId(text, 5) == PMI2_ERR_INVALID_LENGTH);
			CHECK(PMI2_Info_GetJobAttr("PMI_process_mapping", text, sizeof(text), &n) == PMI2_SUCCESS && n);
			CHECK(!strcmp(text, "(vector,(0,2,2),(7,1,1))"));
			CHECK(PMI2_Info_GetJobAttr("universeSize", text, sizeof(text), &n) == PMI2_SUCCESS && n);
			CHECK(!strcmp(text, "5"));
			CHECK(PMI2_Info_GetJobAttr("other", text, sizeof(text), &n) == PMI2_SUCCESS && !n);
			CHECK(PMI2_Finalize() == PMI2_SUCCESS);
			return 0;
		},
		{{"OPENGNI_LAYOUT", "0x2,1x2,7x1"}, {"PMI_APPNUM", "2"}}));
}

TEST(barrier_holds_all_back)
{
	FakeService service;
	int fds[2];
	assert_int_equal(0, pipe(fds));
	assert_true(run_ranks(service, 4, [&](int rank) {
		CHECK(begin() == 0);
		for (char round = 0; round < 20; round++) {
			if (rank == round % 4) {
				usleep(2000);
				CHECK(write(fds[1], &round, 1) == 1);
			}
			CHECK(PMI_Barrier() == PMI_SUCCESS);
			char seen = -1;
			if (rank == 3) {
				CHECK(read(fds[0], &seen, 1) == 1 && seen == round);
			}
			CHECK(PMI_Barrier() == PMI_SUCCESS);
		}
		return 0;
	}));
	close(fds[0]);
	close(fds[1]);
}

TEST(keys_reach_all)
{
	FakeService service;
	assert_true(run_ranks(service, 4, [](int rank) {
		char name[256], key[PMI2_MAX_KEYLEN], value[PMI2_MAX_VALLEN], other[256];
		CHECK(begin() == 0);
		CHECK(PMI_KVS_Get_my_name(name, sizeof(name)) == PMI_SUCCESS);
		snprintf(key, sizeof(key), "of rank %d", rank);
		memset(value, 'a' + rank, sizeof(value));
		value[sizeof(value) - 1] = '\0';
		CHECK(PMI_KVS_Put(name, key, value) == PMI_SUCCESS);
		CHECK(PMI_KVS_Commit(name) == PMI_SUCCESS && PMI_Barrier() == PMI_SUCCESS);
		for (int peer = 0; peer < 4; peer++) {
			snprintf(key, sizeof(key), "of rank %d", peer);
			CHECK(PMI_KVS_Get(name, key, value, sizeof(value)) == PMI_SUCCESS);
			CHECK(strlen(value) == sizeof(value) - 1 && value[5] == 'a' + peer);
			int length = 0;
			CHECK(PMI2_KVS_Get(nullptr, peer, key, value, 10, &length) == PMI2_SUCCESS);
			CHECK(length == -1023 && strlen(value) == 9);
			CHECK(PMI_KVS_Get(name, key, value, 1023) == PMI_ERR_INVALID_LENGTH);
		}
		CHECK(PMI2_KVS_Fence() == PMI2_SUCCESS);
		/* a space of one's own */
		CHECK(PMI_KVS_Create(other, sizeof(other)) == PMI_SUCCESS && strcmp(other, name));
		CHECK(PMI_KVS_Put(other, "x", rank ? "later" : "first") == PMI_SUCCESS);
		CHECK(PMI_KVS_Get(name, "x", value, sizeof(value)) == PMI_ERR_INVALID_KEY);
		CHECK(PMI_KVS_Get(other, "x", value, sizeof(value)) == PMI_SUCCESS);
		CHECK(!strcmp(value, rank ? "later" : "first"));
		return 0;
	}));
}

TEST(gathers_of_all_lengths)
{
	FakeService service;
	assert_true(run_ranks(service, 3, [](int rank) {
		CHECK(begin() == 0);
		for (const size_t length : {0u, 1u, 7u, 4096u, 45000u, 45001u, 100003u}) {
			std::string mine(length, static_cast<char>('0' + rank)), all(3 * length, '?');
			CHECK(PMI_Allgather(mine.data(), all.data(), static_cast<int>(length)) == PMI_SUCCESS);
			for (size_t peer = 0; peer < 3; peer++)
				CHECK(all.compare(peer * length, length,
						  std::string(length, static_cast<char>('0' + peer))) == 0);
			std::string text = rank ? std::string(length, '-') : mine;
			CHECK(PMI_Bcast(text.data(), static_cast<int>(length)) == PMI_SUCCESS);
			CHECK(text == std::string(length, '0'));
		}
		int lengths[3] = {3, 0, 50000};
		std::string mine(static_cast<size_t>(lengths[rank]), static_cast<char>('a' + rank)), all(50003, '?');
		CHECK(PMI_Allgatherv(mine.data(), lengths[rank], all.data(), lengths) == PMI_SUCCESS);
		CHECK(all == "aaa" + std::string(50000, 'c'));
		return 0;
	}));
	/* nothing but the last rounds is left at the service */
	assert_true(service.keys() < 20);
}

TEST(different_lengths_are_refused)
{
	FakeService service;
	assert_true(run_ranks(service, 2, [](int rank) {
		char mine[8] = "", all[16] = "........";
		CHECK(begin() == 0);
		CHECK(PMI_Allgather(mine, all, 4 + rank) == PMI_FAIL && all[0] == '.');
		CHECK(PMI_Bcast(all, 4 + rank) == (rank ? PMI_FAIL : PMI_SUCCESS) && all[0] == '.');
		return 0;
	}));
}

TEST(node_attributes_stay_on_their_node)
{
	FakeService service;
	assert_true(run_ranks(
		service, 4,
		[](int rank) {
			char value[64], text[16];
			int found = -1;
			CHECK(begin() == 0);
			CHECK(PMI2_Info_GetNodeAttr("none", value, sizeof(value), &found, 0) == PMI2_SUCCESS &&
			      found == 0);
			if (rank % 2 == 0) {
				usleep(3000);
				snprintf(text, sizeof(text), "by %d", rank);
				CHECK(PMI2_Info_PutNodeAttr("who", text) == PMI2_SUCCESS);
			}
			CHECK(PMI2_Info_GetNodeAttr("who", value, sizeof(value), &found, 1) == PMI2_SUCCESS &&
			      found == 1);
			CHECK(!strcmp(value, rank < 2 ? "by 0" : "by 2"));
			return 0;
		},
		{{"OPENGNI_LAYOUT", "4x2,5x2"}}));
}

TEST(names)
{
	FakeService service;
	assert_true(run_ranks(service, 2, [](int rank) {
		char port[PMI2_MAX_VALLEN];
		CHECK(begin() == 0);
		CHECK(PMI_Lookup_name("svc", port) == PMI_FAIL && PMI_Barrier() == PMI_SUCCESS);
		CHECK(rank || PMI_Publish_name("svc", "tcp://x y") == PMI_SUCCESS);
		CHECK(PMI_Barrier() == PMI_SUCCESS);
		CHECK(PMI_Lookup_name("svc", port) == PMI_SUCCESS && !strcmp(port, "tcp://x y"));
		CHECK(PMI2_Nameserv_lookup("svc", nullptr, port, 4) == PMI2_ERR_INVALID_LENGTH);
		CHECK(PMI_Barrier() == PMI_SUCCESS);
		CHECK(rank || PMI_Unpublish_name("svc") == PMI_SUCCESS);
		CHECK(PMI_Barrier() == PMI_SUCCESS && PMI_Lookup_name("svc", port) == PMI_FAIL);
		return 0;
	}));
}

TEST(init_counts)
{
	assert_int_equal(0, in_child({}, [] {
				 int rank, value;
				 CHECK(begin() == 0 && PMI2_Init(&value, &value, &rank, &value) == 0);
				 CHECK(PMI2_Finalize() == 0 && PMI_Get_rank(&rank) == PMI_SUCCESS);
				 CHECK(PMI2_KVS_Put("key", "of the first time") == PMI2_SUCCESS);
				 CHECK(PMI_Finalize() == 0 && PMI_Get_rank(&rank) == PMI_ERR_INIT);
				 CHECK(begin() == 0 && PMI_Get_rank(&rank) == PMI_SUCCESS);
				 char text[64];
				 CHECK(PMI2_KVS_Get(nullptr, 0, "key", text, sizeof(text), &value) ==
				       PMI2_ERR_INVALID_KEY);
				 return 0;
			 }));
}

/* The connection lasts as long as anybody uses it. */
TEST(the_last_finalize_ends_it)
{
	FakeService service;
	assert_true(run_ranks(service, 2, [](int) {
		CHECK(begin() == 0 && begin() == 0 && PMI_Finalize() == PMI_SUCCESS);
		CHECK(PMI_Barrier() == PMI_SUCCESS);
		CHECK(PMI_Finalize() == PMI_SUCCESS && PMI_Barrier() == PMI_ERR_INIT);
		return 0;
	}));
}

/* Nor has one that is made without the handlers of pthread_atfork(). */
TEST(a_forked_child_has_no_place)
{
	FakeService service;
	assert_true(run_ranks(service, 2, [](int) {
		CHECK(begin() == 0);
		for (const auto make_child : {fork, _Fork}) {
			const pid_t pid = make_child();
			if (pid == 0) {
				int rank;
				_exit(PMI_Get_rank(&rank) == PMI_ERR_INIT && PMI_Barrier() == PMI_ERR_INIT ? 0 : 1);
			}
			int status = -1;
			CHECK(waitpid(pid, &status, 0) == pid && status == 0);
		}
		CHECK(PMI_Barrier() == PMI_SUCCESS);
		return 0;
	}));
}

static void *barrier(void *rc)
{
	*static_cast<int *>(rc) = PMI_Barrier();
	pthread_testcancel();
	return nullptr;
}

/* A thread that waits is not cancelled before it is through, and is told as cancelled then. */
TEST(a_waiting_thread_is_cancelled)
{
	FakeService service;
	for (const int type : {PTHREAD_CANCEL_DEFERRED, PTHREAD_CANCEL_ASYNCHRONOUS})
		assert_true(run_ranks(service, 2, [&](int rank) {
			CHECK(begin() == 0);
			if (rank == 0) {
				struct Waiter {
					int type, rc;
				} waiter = {type, -7};
				pthread_t thread;
				void *result = nullptr;
				const auto body = [](void *data) -> void * {
					auto *w = static_cast<Waiter *>(data);
					pthread_setcanceltype(w->type, nullptr);
					return barrier(&w->rc);
				};
				CHECK(!pthread_create(&thread, nullptr, body, &waiter));
				usleep(100000);
				CHECK(!pthread_cancel(thread));
				CHECK(!pthread_join(thread, &result));
				/* an asynchronous request is answered where the function ends */
				CHECK(result == PTHREAD_CANCELED);
				CHECK(type == PTHREAD_CANCEL_ASYNCHRONOUS || waiter.rc == PMI_SUCCESS);
			} else {
				usleep(300000);
				CHECK(PMI_Barrier() == PMI_SUCCESS);
			}
			CHECK(PMI_Barrier() == PMI_SUCCESS);
			return 0;
		}));
}

/* The child of one thread while another waits in a barrier. */
TEST(a_child_meets_no_lock_of_its_parent)
{
	FakeService service;
	assert_true(run_ranks(service, 2, [](int rank) {
		CHECK(begin() == 0);
		if (rank == 1)
			usleep(400000);
		int rc = -1, status = -1;
		pthread_t thread;
		CHECK(!pthread_create(&thread, nullptr, barrier, &rc));
		usleep(100000);
		const pid_t pid = rank == 0 ? fork() : -1;
		if (pid == 0) {
			int mine = 0;
			alarm(20);
			/* and what is not open cannot keep the parent's connection */
			_exit(PMI_Get_rank(&mine) == PMI_ERR_INIT && PMI2_Initialized() == 0 &&
					      PMI_Finalize() == PMI_ERR_INIT && begin() == 0 &&
					      PMI_Get_rank(&mine) == PMI_SUCCESS && mine == 0
				      ? 0
				      : 1);
		}
		CHECK(rank == 1 || (waitpid(pid, &status, 0) == pid && status == 0));
		CHECK(!pthread_join(thread, nullptr) && rc == PMI_SUCCESS);
		CHECK(PMI_Barrier() == PMI_SUCCESS);
		return 0;
	}));
}

TEST(threads_take_turns)
{
	FakeService service;
	assert_true(run_ranks(service, 2, [](int rank) {
		CHECK(begin() == 0);
		std::vector<std::thread> threads;
		int bad = 0;
		for (int t = 0; t < 4; t++)
			threads.emplace_back([&, t] {
				char key[32], value[32];
				for (int i = 0; i < 50; i++) {
					snprintf(key, sizeof(key), "%d-%d-%d", rank, t, i);
					int length;
					if (PMI2_KVS_Put(key, key) ||
					    PMI2_KVS_Get(nullptr, rank, key, value, sizeof(value), &length) ||
					    strcmp(key, value))
						__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
				}
			});
		for (std::thread &thread : threads)
			thread.join();
		CHECK(bad == 0 && PMI_Barrier() == PMI_SUCCESS);
		return 0;
	}));
}

TEST_MAIN("tests")
