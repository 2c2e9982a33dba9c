// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file alpslli, alpsutil and wlm_detect against variables as aprun gives them, and against wrong ones. */
#include "../../tests/cmocka_cpp.hpp"

#include "alps/alps_toolAssist.h"
#include "alps/libalpslli.h"
#include "alps/libalpsutil.h"
#include "wlm_detect.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static int set_up(void **)
{
	setenv("ALPS_APP_ID", "4711", 1);
	setenv("ALPS_APP_PE", "3", 1);
	setenv("ALPS_APP_DEPTH", "2", 1);
	setenv("PMI_GNI_PTAG", "3:4", 1);
	setenv("PMI_GNI_COOKIE", "100:4294967295", 1);
	setenv("PMI_GNI_DEV_ID", "0:0", 1);
	setenv("PMI_GNI_LOC_ADDR", "5:5", 1);
	setenv("OPENGNI_LAYOUT", "4x2,5x2,4x1", 1);
	unsetenv("SLURM_JOB_ID");
	return 0;
}

/** The answer to a request; empty with the status set where there is none. */
static std::vector<char> ask(int request, int expected)
{
	int status = -1;
	size_t bytes = 99;
	assert_int_equal(ALPS_APP_LLI_ALPS_STAT_OK, alps_app_lli_lock());
	assert_int_equal(expected, alps_app_lli_put_request(request, nullptr, 0));
	assert_int_equal(ALPS_APP_LLI_ALPS_STAT_OK, alps_app_lli_get_response(&status, &bytes));
	assert_int_equal(expected, status);
	std::vector<char> answer(bytes);
	char more;
	assert_int_equal(ALPS_APP_LLI_ALPS_STAT_OK, alps_app_lli_get_response_bytes(&more, 0));
	if (bytes)
		assert_int_equal(ALPS_APP_LLI_ALPS_STAT_OK, alps_app_lli_get_response_bytes(answer.data(), bytes));
	assert_int_equal(ALPS_APP_LLI_ALPS_STAT_BAD_REQ, alps_app_lli_get_response_bytes(&more, 1));
	assert_int_equal(ALPS_APP_LLI_ALPS_STAT_OK, alps_app_lli_unlock());
	return answer;
}

TEST_BETWEEN(requests, set_up, nullptr)
{
	uint64_t id = 0;
	std::vector<char> answer = ask(ALPS_APP_LLI_ALPS_REQ_APID, ALPS_APP_LLI_ALPS_STAT_OK);
	assert_int_equal(sizeof(id), answer.size());
	memcpy(&id, answer.data(), sizeof(id));
	assert_int_equal(4711, id);
	assert_int_equal(0, ask(ALPS_APP_LLI_ALPS_REQ_START, ALPS_APP_LLI_ALPS_STAT_OK).size());
	assert_int_equal(0, ask(ALPS_APP_LLI_ALPS_REQ_EXITING, ALPS_APP_LLI_ALPS_STAT_OK).size());
	assert_int_equal(0, ask(99, ALPS_APP_LLI_ALPS_STAT_BAD_REQ).size());

	answer = ask(ALPS_APP_LLI_ALPS_REQ_GNI, ALPS_APP_LLI_ALPS_STAT_OK);
	assert_true(answer.size() >= sizeof(alpsAppLLIGni_t));
	alignas(alpsAppLLIGni_t) char room[256];
	memcpy(room, answer.data(), answer.size());
	const auto *gni = reinterpret_cast<alpsAppLLIGni_t *>(room);
	const auto *list = reinterpret_cast<const alpsAppGni_t *>(gni->u.buf);
	assert_int_equal(2, gni->count);
	assert_int_equal(answer.size(), offsetof(alpsAppLLIGni_t, u) + 2 * sizeof(alpsAppGni_t));
	assert_int_equal(3, list[0].ptag);
	assert_int_equal(4, list[1].ptag);
	assert_int_equal(4294967295u, list[1].cookie);
	assert_int_equal(5, list[0].local_addr);
	assert_int_equal(0, list[1].device_id);
	/* of one domain: never shorter than the structure */
	for (const char *name : {"PMI_GNI_PTAG", "PMI_GNI_COOKIE", "PMI_GNI_DEV_ID", "PMI_GNI_LOC_ADDR"})
		setenv(name, "3", 1);
	assert_true(ask(ALPS_APP_LLI_ALPS_REQ_GNI, ALPS_APP_LLI_ALPS_STAT_OK).size() >= sizeof(alpsAppLLIGni_t));
}

TEST_BETWEEN(an_answer_may_be_read_in_pieces, set_up, nullptr)
{
	uint32_t half[2];
	uint64_t id;
	assert_int_equal(0, alps_app_lli_lock());
	assert_int_equal(0, alps_app_lli_put_request(ALPS_APP_LLI_ALPS_REQ_APID, nullptr, 0));
	assert_int_equal(0, alps_app_lli_get_response_bytes(&half[0], 4));
	assert_int_equal(0, alps_app_lli_get_response_bytes(&half[1], 4));
	memcpy(&id, half, sizeof(id));
	assert_int_equal(4711, id);
	assert_int_equal(0, alps_app_lli_unlock());
}

TEST_BETWEEN(without_an_application, set_up, nullptr)
{
	unsetenv("ALPS_APP_ID");
	for (int request = 1; request <= 4; request++)
		assert_int_equal(0, ask(request, ALPS_APP_LLI_ALPS_STAT_NO_APP).size());
	setenv("ALPS_APP_ID", "-1", 1);
	ask(ALPS_APP_LLI_ALPS_REQ_APID, ALPS_APP_LLI_ALPS_STAT_NO_APP);
	setenv("ALPS_APP_ID", "1", 1);
	const char *wrong[][2] = {{"PMI_GNI_PTAG", "256:1"},          {"PMI_GNI_PTAG", "3"},
				  {"PMI_GNI_COOKIE", "x:1"},          {"PMI_GNI_COOKIE", ""},
				  {"PMI_GNI_COOKIE", "1:4294967296"}, {"PMI_GNI_DEV_ID", "0:0:0"},
				  {"PMI_GNI_LOC_ADDR", "1:"}};
	for (const auto &[name, value] : wrong) {
		set_up(nullptr);
		setenv(name, value, 1);
		ask(ALPS_APP_LLI_ALPS_REQ_GNI, ALPS_APP_LLI_ALPS_STAT_NO_APP);
	}
}

TEST_BETWEEN(only_with_the_lock, set_up, nullptr)
{
	int status;
	size_t bytes;
	char c;
	assert_int_equal(ALPS_APP_LLI_ALPS_STAT_NOT_LOCKED, alps_app_lli_unlock());
	assert_int_equal(ALPS_APP_LLI_ALPS_STAT_NOT_LOCKED, alps_app_lli_put_request(1, nullptr, 0));
	assert_int_equal(ALPS_APP_LLI_ALPS_STAT_NOT_LOCKED, alps_app_lli_get_response(&status, &bytes));
	assert_int_equal(ALPS_APP_LLI_ALPS_STAT_NOT_LOCKED, alps_app_lli_get_response_bytes(&c, 0));
	assert_int_equal(0, alps_app_lli_lock());
	assert_int_equal(ALPS_APP_LLI_ALPS_STAT_BAD_REQ, alps_app_lli_get_response(nullptr, &bytes));
	/* another thread waits for its turn, and cannot end ours */
	int foreign = -1, order = 0;
	std::thread other([&] {
		foreign = alps_app_lli_unlock();
		alps_app_lli_lock();
		order = __atomic_load_n(&order, __ATOMIC_ACQUIRE) == 1 ? 2 : -1;
		alps_app_lli_unlock();
	});
	usleep(20000);
	__atomic_store_n(&order, 1, __ATOMIC_RELEASE);
	assert_int_equal(0, alps_app_lli_unlock());
	other.join();
	assert_int_equal(2, order);
	assert_int_equal(ALPS_APP_LLI_ALPS_STAT_NOT_LOCKED, foreign);
}

TEST_BETWEEN(placement, set_up, nullptr)
{
	alpsAppLayout_t layout;
	placementList_t *places;
	int *nids, *pes, *lengths, *starts, *totals, *on_node, *cpus;
	struct in_addr *ips;
	assert_int_equal(1, alps_get_placement_info(4711, &layout, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
						    nullptr, nullptr, nullptr));
	assert_int_equal(2, layout.firstPe);
	assert_int_equal(2, layout.numPesHere);
	assert_int_equal(5, layout.numPes);
	assert_int_equal(2, layout.numNodes);
	assert_int_equal(2, layout.depth);
	setenv("ALPS_APP_PE", "4", 1);
	assert_int_equal(1, alps_get_placement_info(4711, &layout, &places, &nids, &pes, &lengths, &ips, &starts,
						    &totals, &on_node, &cpus));
	assert_int_equal(0, layout.firstPe);
	assert_int_equal(3, layout.numPesHere);
	const int node[] = {4, 4, 5, 5, 4};
	for (int rank = 0; rank < 5; rank++) {
		assert_int_equal(node[rank], nids[rank]);
		assert_int_equal(node[rank], places[rank].nid);
		assert_int_equal(rank, pes[rank]);
	}
	const int first[] = {0, 2, 4}, count[] = {2, 2, 1}, there[] = {3, 2, 3};
	for (int i = 0; i < 3; i++) {
		assert_int_equal(first[i], starts[i]);
		assert_int_equal(count[i], totals[i]);
		assert_int_equal(there[i], on_node[i]);
		assert_int_equal(2, cpus[i]);
	}
	assert_null(lengths);
	assert_null(ips);
	free(places);
	for (int *array : {nids, pes, starts, totals, on_node, cpus})
		free(array);
}

TEST_BETWEEN(no_placement, set_up, nullptr)
{
	int *nids = reinterpret_cast<int *>(8);
	auto refused = [&](uint64_t id, int error) {
		errno = 0;
		assert_int_equal(-1, alps_get_placement_info(id, nullptr, nullptr, &nids, nullptr, nullptr, nullptr,
							     nullptr, nullptr, nullptr, nullptr));
		assert_int_equal(error, errno);
		assert_null(nids);
	};
	refused(4712, ESRCH);
	setenv("ALPS_APP_ID", "4711x", 1);
	refused(4711, ESRCH);
	setenv("ALPS_APP_ID", "4711", 1);
	for (const char *bad : {"", "4", "4x", "4x0", "x2", "4x2,", "4x2;5x2", "4x9999999", "4x2,5x0,4x3",
				"4x2,5x2;,4x1", "4x2,5 x2,4x1"}) {
		setenv("OPENGNI_LAYOUT", bad, 1);
		refused(4711, EINVAL);
	}
	set_up(nullptr);
	setenv("ALPS_APP_PE", "5", 1);
	refused(4711, EINVAL);
	unsetenv("ALPS_APP_PE");
	refused(4711, EINVAL);
	unsetenv("ALPS_APP_ID");
	refused(4711, ESRCH);
}

TEST_BETWEEN(workload_manager, set_up, nullptr)
{
	auto active = [] {
		char *name = wlm_detect_get_active();
		const std::string text = name ? name : "-";
		free(name);
		return text;
	};
	assert_string_equal("ALPS", wlm_detect_get_default());
	assert_string_equal("ALPS", active().c_str());
	setenv("SLURM_JOB_ID", "7", 1);
	assert_string_equal("SLURM", active().c_str());
	setenv("SLURM_JOB_ID", "", 1);
	assert_string_equal("ALPS", active().c_str());
	unsetenv("SLURM_JOB_ID");
	unsetenv("ALPS_APP_ID");
	assert_string_equal("-", active().c_str());
}

TEST_MAIN("tests")
