// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Wrong or missing variables, a service that does not answer, arguments out of range: code and line. */
#include "../../tests/cmocka_cpp.hpp"

#include "pmi.h"
#include "ranks.hpp"

#include <algorithm>
#include <cstring>

/** Init must fail with @p variables, say one line that holds @p word when debugging, and nothing otherwise. */
static void init_fails(Variables variables, const char *word)
{
	const auto body = [] {
		int spawned;
		CHECK(PMI_Init(&spawned) == PMI_FAIL);
		CHECK(PMI2_Initialized() == 0 && PMI_Barrier() == PMI_ERR_INIT);
		return 0;
	};
	std::string said;
	assert_int_equal(0, in_child(variables, body, &said));
	assert_string_equal("", said.c_str());
	for (const char *name : {"PMI_DEBUG", "UGNI_DEBUG"}) {
		Variables loud = variables;
		loud.emplace_back(name, "1");
		said.clear();
		assert_int_equal(0, in_child(loud, body, &said));
		assert_int_equal(1, std::count(said.begin(), said.end(), '\n'));
		if (said.find(word) == std::string::npos)
			print_error("'%s' is not in '%s'\n", word, said.c_str());
		assert_int_not_equal(std::string::npos, said.find(word));
	}
}

TEST(variables_that_make_no_sense)
{
	init_fails({{"PMI_RANK", "0"}}, "PMI_SIZE");
	init_fails({{"PMI_SIZE", "2"}}, "PMI_RANK");
	init_fails({{"PMI_RANK", "0"}, {"PMI_SIZE", "0"}}, "PMI_SIZE=0");
	init_fails({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}}, "PMI_RANK=2");
	init_fails({{"PMI_RANK", "-1"}, {"PMI_SIZE", "2"}}, "PMI_RANK=-1");
	init_fails({{"PMI_RANK", "0x"}, {"PMI_SIZE", "2"}}, "0x");
	init_fails({{"PMI_RANK", "99999999999999999999"}, {"PMI_SIZE", "2"}}, "PMI_RANK");
	init_fails({{"PMI_APPNUM", "x"}}, "PMI_APPNUM");
	init_fails({{"OPENGNI_RANK", "1"}, {"OPENGNI_RANKS", "1"}}, "OPENGNI_RANK=1");
	init_fails({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"OPENGNI_LAYOUT", "0x3"}}, "OPENGNI_LAYOUT");
}

TEST(services_that_are_none)
{
	init_fails({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}, "OPENGNI_KVS");
	init_fails({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"OPENGNI_KVS", "/nonexistent/kvs"}}, "/nonexistent/kvs");
	init_fails({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"OPENGNI_KVS", std::string(200, 'x')}}, "too long");
	FakeService service;
	init_fails({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"OPENGNI_KVS", service.path()}, {"OPENGNI_JOB", "a#name"}},
		   "refuses");
}

/* Rank 1 never comes: who was told how long to wait for it gives up. */
TEST(waits_end_where_told)
{
	FakeService service;
	Variables rank0 = {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"OPENGNI_KVS", service.path()}};
	for (const char *bad : {"0", "-1", "soon", "99999999999"}) {
		Variables all = rank0;
		all.emplace_back("OPENGNI_KVS_TIMEOUT", bad);
		init_fails(all, "OPENGNI_KVS_TIMEOUT");
	}
	rank0.emplace_back("OPENGNI_KVS_TIMEOUT", "1");
	assert_int_equal(0, in_child(rank0, [] {
				 int spawned;
				 char mine[4] = "abc", all[8];
				 alarm(60);
				 CHECK(PMI_Init(&spawned) == PMI_SUCCESS);
				 CHECK(PMI_Barrier() == PMI_FAIL);
				 CHECK(PMI_Allgather(mine, all, 4) == PMI_FAIL);
				 CHECK(PMI_Finalize() == PMI_SUCCESS);
				 return 0;
			 }));
}

TEST(the_service_goes_away)
{
	FakeService service;
	const Variables rank0 = {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"OPENGNI_KVS", service.path()}};
	service.hang_up();
	assert_int_equal(0, in_child(rank0, [] {
				 int spawned;
				 CHECK(PMI_Init(&spawned) == PMI_FAIL);
				 CHECK(PMI_Init(&spawned) == PMI_SUCCESS);
				 return 0;
			 }));
	service.answer_always("err out of order");
	assert_int_equal(0, in_child(rank0, [] {
				 int spawned;
				 CHECK(PMI_Init(&spawned) == PMI_FAIL);
				 return 0;
			 }));
	service.answer_always("ok nonsense");
	assert_int_equal(0, in_child(rank0, [] {
				 int spawned, length;
				 char value[64], all[8];
				 CHECK(PMI_Init(&spawned) == PMI_SUCCESS);
				 CHECK(PMI2_KVS_Get(nullptr, 0, "key", value, sizeof(value), &length) == PMI2_FAIL);
				 CHECK(PMI_Allgather(value, all, 4) == PMI_FAIL);
				 CHECK(PMI_Finalize() == PMI_SUCCESS);
				 return 0;
			 }));
}

TEST(null_pointers_and_lengths)
{
	assert_int_equal(0, in_child({}, [] {
				 int n;
				 void *list;
				 char text[PMI2_MAX_VALLEN + 16], name[256];
				 CHECK(PMI_Init(nullptr) == PMI_ERR_INVALID_ARG && PMI_Get_rank(&n) == PMI_ERR_INIT);
				 CHECK(PMI2_Init(&n, &n, &n, nullptr) == PMI2_ERR_INVALID_ARG);
				 CHECK(PMI_Init(&n) == PMI_SUCCESS);
				 CHECK(PMI_Initialized(nullptr) == PMI_ERR_INVALID_ARG &&
				       PMI_Get_size(nullptr) == PMI_ERR_INVALID_ARG);
				 CHECK(PMI_Get_clique_ranks(nullptr, 4) == PMI_ERR_INVALID_ARG);
				 CHECK(PMI_Get_clique_ranks(&n, -1) == PMI_ERR_INVALID_LENGTH);
				 CHECK(PMI_Get_id(name, 0) == PMI_ERR_INVALID_LENGTH &&
				       PMI_Get_id(name, -5) == PMI_ERR_INVALID_LENGTH);
				 CHECK(PMI_Allgather(nullptr, text, 1) == PMI_ERR_INVALID_ARG);
				 CHECK(PMI_Allgather(text, text, -1) == PMI_ERR_INVALID_LENGTH);
				 CHECK(PMI_Allgatherv(text, 1, text, nullptr) == PMI_ERR_INVALID_ARG);
				 CHECK(PMI_Bcast(nullptr, 1) == PMI_ERR_INVALID_ARG);
				 CHECK(PMI_Get_nid(0, &n) == PMI_FAIL);
				 CHECK(PMI_Get_nidlist_ptr(&list) == PMI_FAIL);
				 CHECK(PMI_Get_nidlist_ptr(nullptr) == PMI_ERR_INVALID_ARG);
				 CHECK(PMI_KVS_Get_my_name(name, sizeof(name)) == PMI_SUCCESS);
				 CHECK(PMI_KVS_Put(nullptr, "k", "v") == PMI_ERR_INVALID_ARG);
				 CHECK(PMI_KVS_Put("elsewhere", "k", "v") == PMI_ERR_INVALID_ARG);
				 CHECK(PMI_KVS_Put("singleton+", "k", "v") == PMI_ERR_INVALID_ARG);
				 CHECK(PMI_KVS_Put("singleton+1/2", "k", "v") == PMI_ERR_INVALID_ARG);
				 CHECK(PMI_KVS_Put("singleton12", "k", "v") == PMI_ERR_INVALID_ARG);
				 CHECK(PMI_KVS_Put(name, nullptr, "v") == PMI_ERR_INVALID_KEY);
				 CHECK(PMI_KVS_Put(name, "", "v") == PMI_ERR_INVALID_KEY);
				 memset(text, 'k', sizeof(text));
				 text[64] = '\0';
				 CHECK(PMI_KVS_Put(name, text, "v") == PMI_ERR_INVALID_KEY_LENGTH);
				 text[63] = '\0';
				 CHECK(PMI_KVS_Put(name, text, "v") == PMI_SUCCESS);
				 text[63] = text[64] = 'k';
				 text[1024] = '\0';
				 CHECK(PMI_KVS_Put(name, "k", text) == PMI_ERR_INVALID_VAL_LENGTH);
				 CHECK(PMI_KVS_Put(name, "k", nullptr) == PMI_ERR_INVALID_VAL);
				 CHECK(PMI_KVS_Get(name, "k", nullptr, 5) == PMI_ERR_INVALID_VAL);
				 CHECK(PMI2_KVS_Get("elsewhere", 0, "k", text, 5, &n) == PMI2_ERR_INVALID_ARG);
				 CHECK(PMI2_KVS_Get(nullptr, 0, "k", text, 0, &n) == PMI2_ERR_INVALID_LENGTH);
				 CHECK(PMI_Spawn_multiple(1, nullptr, nullptr, nullptr, nullptr, nullptr, 0, nullptr,
							  nullptr) == PMI_FAIL);
				 return 0;
			 }));
}

TEST(abort_ends_the_process)
{
	std::string said;
	const auto with = [&](int code) {
		said.clear();
		return in_child(
			{}, [code] { return PMI_Abort(code, "lost"), 99; }, &said);
	};
	assert_int_equal(5, with(5));
	assert_non_null(strstr(said.c_str(), "lost"));
	assert_int_equal(1, with(0));
	assert_int_equal(1, with(256));
	assert_int_equal(1, in_child(
				    {}, [] { return PMI2_Abort(1, nullptr), 99; }, &said));
}

TEST(gni_variables)
{
	assert_int_equal(
		0, in_child({{"OPENGNI_COOKIE", "0x10"}, {"OPENGNI_NODE", "3"}}, [] {
			int spawned;
			CHECK(PMI_Init(&spawned) == PMI_SUCCESS);
			CHECK(!strcmp(getenv("PMI_GNI_COOKIE"), "16") && !strcmp(getenv("PMI_GNI_PTAG"), "255"));
			CHECK(!strcmp(getenv("PMI_GNI_DEV_ID"), "0") && !strcmp(getenv("PMI_GNI_LOC_ADDR"), "3"));
			return 0;
		}));
	assert_int_equal(
		0, in_child({{"OPENGNI_COOKIE", "0x10"}, {"PMI_GNI_COOKIE", "7:8"}, {"PMI_GNI_PTAG", "9:10"}}, [] {
			int spawned;
			CHECK(PMI_Init(&spawned) == PMI_SUCCESS);
			CHECK(!strcmp(getenv("PMI_GNI_COOKIE"), "7:8") && !strcmp(getenv("PMI_GNI_PTAG"), "9:10"));
			return 0;
		}));
	for (const char *bad : {"0", "x", "0x1ffffffff", "-"})
		assert_int_equal(0, in_child({{"OPENGNI_COOKIE", bad}}, [] {
					 int spawned;
					 CHECK(PMI_Init(&spawned) == PMI_SUCCESS && !getenv("PMI_GNI_COOKIE"));
					 return 0;
				 }));
}

/* PMI_Init() succeeds, and says on demand what clients will stumble over; silent otherwise. */
static void init_says(const Variables &variables, const char *word)
{
	const auto body = [] {
		int spawned;
		return PMI_Init(&spawned) == PMI_SUCCESS ? 0 : 1;
	};
	std::string said;
	assert_int_equal(0, in_child(variables, body, &said));
	assert_string_equal("", said.c_str());
	Variables loud = variables;
	loud.emplace_back("UGNI_DEBUG", "1");
	assert_int_equal(0, in_child(loud, body, &said));
	if (!word) {
		assert_string_equal("", said.c_str());
		return;
	}
	assert_int_equal(1, std::count(said.begin(), said.end(), '\n'));
	assert_int_not_equal(std::string::npos, said.find(word));
}

TEST(gni_variables_that_make_no_sense)
{
	init_says({{"OPENGNI_COOKIE", "0x10"}}, nullptr);
	init_says({{"PMI_GNI_COOKIE", "7:8"}, {"PMI_GNI_PTAG", "9:10"}, {"PMI_GNI_LOC_ADDR", "0:262143"}}, nullptr);
	init_says({}, "no domain");
	init_says({{"OPENGNI_COOKIE", "none"}}, "OPENGNI_COOKIE=none");
	init_says({{"PMI_GNI_PTAG", "9"}}, "PMI_GNI_COOKIE is not");
	init_says({{"PMI_GNI_COOKIE", "9"}}, "PMI_GNI_PTAG is not");
	init_says({{"PMI_GNI_COOKIE", "x"}, {"PMI_GNI_PTAG", "9"}}, "PMI_GNI_COOKIE=x");
	init_says({{"PMI_GNI_COOKIE", "4294967296"}, {"PMI_GNI_PTAG", "9"}}, "PMI_GNI_COOKIE=4294967296");
	init_says({{"PMI_GNI_COOKIE", "1"}, {"PMI_GNI_PTAG", "9:"}}, "PMI_GNI_PTAG=9:");
	init_says({{"PMI_GNI_COOKIE", "1"}, {"PMI_GNI_PTAG", "256"}}, "PMI_GNI_PTAG=256");
	init_says({{"PMI_GNI_COOKIE", "1"}, {"PMI_GNI_PTAG", "9"}, {"PMI_GNI_DEV_ID", "-1"}}, "PMI_GNI_DEV_ID=-1");
	init_says({{"PMI_GNI_COOKIE", "1"}, {"PMI_GNI_PTAG", "9"}, {"PMI_GNI_LOC_ADDR", "262144"}}, "PMI_GNI_LOC_ADDR");
}

TEST_MAIN("tests")
