// SPDX-License-Identifier: BSD-2-Clause
#include "local.h"

#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "common/failure.h"

namespace perf
{

namespace
{

uint32_t random_cookie()
{
	uint32_t cookie = 0;
	while (!cookie)
		if (getrandom(&cookie, sizeof(cookie), 0) != sizeof(cookie))
			throw tools::Failure("no random number for a cookie");
	return cookie;
}

int child(const Options &options, int (*rank)(const Options &))
{
	try {
		return rank(options);
	} catch (const std::exception &error) {
		fprintf(stderr, "gni-perf: rank %d: %s\n", options.rank, error.what());
		return 1;
	}
}

} // namespace

int run_local(const Options &options, int (*rank)(const Options &))
{
	char dir[] = "/tmp/gni-perf.XXXXXX";
	if (!mkdtemp(dir))
		throw tools::Failure("cannot make a directory under /tmp");
	Options own = options;
	own.ranks = options.local;
	own.kvs = std::string("dir:") + dir;
	own.job.clear();
	if (!own.cookie)
		own.cookie = random_cookie();

	for (own.rank = 0; own.rank < own.ranks; own.rank++) {
		pid_t pid = fork();
		if (pid == 0) {
			int status = child(own, rank);
			fflush(nullptr);
			_exit(status);
		}
		if (pid < 0)
			fprintf(stderr, "gni-perf: cannot start rank %d\n", own.rank);
	}
	int worst = 0, status;
	while (wait(&status) > 0)
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			worst = 1;
	std::error_code ignored;
	std::filesystem::remove_all(dir, ignored);
	return worst;
}

} // namespace perf
