// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Ranks of a job as forked processes, and what they say on stderr. */
#pragma once

#include "fake_service.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

/** Says which check of a rank did not hold. */
#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                \
			return 1;                                                                                      \
		}                                                                                                      \
	} while (0)

using Variables = std::vector<std::pair<std::string, std::string>>;

inline void set_environment(const Variables &variables)
{
	for (const char *name :
	     {"PMI_RANK", "PMI_SIZE", "PMI_APPNUM", "PMI_DEBUG", "UGNI_DEBUG", "OPENGNI_RANK", "OPENGNI_RANKS",
	      "OPENGNI_JOB", "OPENGNI_KVS", "OPENGNI_KVS_TIMEOUT", "OPENGNI_LAYOUT", "OPENGNI_NODE", "OPENGNI_COOKIE",
	      "PMI_GNI_COOKIE", "PMI_GNI_PTAG", "PMI_GNI_DEV_ID", "PMI_GNI_LOC_ADDR"})
		unsetenv(name);
	for (const auto &[name, value] : variables)
		setenv(name.c_str(), value.c_str(), 1);
}

/** Runs @p body in a child with these variables; its return value as exit status, -1 for a signal; its stderr. */
inline int in_child(const Variables &variables, const std::function<int()> &body, std::string *said = nullptr)
{
	int fds[2];
	if (pipe(fds))
		return -1;
	fflush(nullptr);
	const pid_t pid = fork();
	if (pid == 0) {
		set_environment(variables);
		if (said)
			dup2(fds[1], 2);
		close(fds[0]);
		close(fds[1]);
		const int status = body();
		fflush(nullptr);
		_exit(status);
	}
	close(fds[1]);
	char buffer[1024];
	ssize_t n;
	while ((n = read(fds[0], buffer, sizeof(buffer))) > 0)
		if (said)
			said->append(buffer, static_cast<size_t>(n));
	close(fds[0]);
	int status = 0;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/** Runs a job of @p size ranks over a service; true when every rank returned 0. */
inline bool run_ranks(FakeService &service, int size, const std::function<int(int rank)> &body, Variables more = {})
{
	std::vector<pid_t> children;
	fflush(nullptr);
	for (int rank = 0; rank < size; rank++) {
		const pid_t pid = fork();
		if (pid == 0) {
			Variables all = {{"PMI_RANK", std::to_string(rank)},
					 {"PMI_SIZE", std::to_string(size)},
					 {"OPENGNI_JOB", "job-1"},
					 {"OPENGNI_KVS", service.path()}};
			all.insert(all.end(), more.begin(), more.end());
			set_environment(all);
			alarm(60);
			const int status = body(rank);
			fflush(nullptr);
			_exit(status);
		}
		children.push_back(pid);
	}
	bool good = true;
	for (const pid_t pid : children) {
		int status = 0;
		waitpid(pid, &status, 0);
		good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	return good;
}
