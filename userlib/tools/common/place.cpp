// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "place.h"

#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "command_line.h"
#include "failure.h"

namespace tools
{

namespace
{

/* Nothing of these programs changes the environment. */
const char *variable(const char *name)
{
	return getenv(name); // NOLINT(concurrency-mt-unsafe)
}

} // namespace

Place place_from_environment()
{
	auto number = [](const char *name, uint64_t fallback, uint64_t max) {
		const char *text = variable(name);
		return text ? parse_number(text, name, max) : fallback;
	};
	Place place;
	const bool by_pmi = variable("PMI_RANK") && variable("PMI_SIZE"); /* as libpmi takes them */
	place.rank = static_cast<int>(number(by_pmi ? "PMI_RANK" : "OPENGNI_RANK", 0, INT_MAX));
	place.ranks = static_cast<int>(number(by_pmi ? "PMI_SIZE" : "OPENGNI_RANKS", 1, INT_MAX));
	place.cookie = static_cast<uint32_t>(number("OPENGNI_COOKIE", 0, UINT32_MAX));
	if (const char *path = variable("OPENGNI_KVS"))
		place.kvs = path;
	if (const char *job = variable("OPENGNI_JOB"))
		place.job = job;
	return place;
}

void add_place_options(CommandLine &line, Place &place, int &local, unsigned most)
{
	line.number({"-l,--local", "N", "starts N ranks in this node"}, local, most);
	line.number({"-r,--rank", "R", "by hand, once per rank: number of this rank"}, place.rank, INT_MAX);
	line.number({"-n,--ranks", "N", "how many there are"}, place.ranks, INT_MAX);
	line.text({"-k,--kvs", "STORE",
		   "where they meet: dir:PATH (all ranks see it), tcp:HOST:PORT (rank 0 serves) or unix:PATH"},
		  place.kvs);
	line.number({"-c,--cookie", "C", "their communication domain"}, place.cookie, UINT32_MAX);
	line.text({"-j,--job", "WORD", "name space of the keys in STORE"}, place.job);
	line.number({"-d,--device", "N", "N of /dev/kgniN (default 0)"}, place.device, UINT32_MAX);
}

void check_place(const Place &place, bool options)
{
	const char *const how =
		options ? "start it with the cluster tool, with --local=2, or with --ranks, --rank and --kvs"
			: "start it with the cluster tool, or set OPENGNI_RANKS, OPENGNI_RANK, OPENGNI_KVS and "
			  "OPENGNI_COOKIE";
	if (place.ranks < 2 || place.ranks % 2)
		throw UsageError(format("an even number of ranks is needed: %s", how));
	if (place.rank >= place.ranks)
		throw UsageError(format("rank %d of %d", place.rank, place.ranks));
	if (place.kvs.empty())
		throw UsageError(format("ranks need %s to find each other", options ? "--kvs" : "OPENGNI_KVS"));
	if (!place.cookie)
		throw UsageError(
			format("ranks need a common %s that is not 0", options ? "--cookie" : "OPENGNI_COOKIE"));
}

void exit_after(unsigned seconds)
{
	fflush(nullptr);
	signal(SIGALRM, [](int) { _exit(1); });
	alarm(seconds);
}

namespace
{

uint32_t random_cookie()
{
	uint32_t cookie = 0;
	while (!cookie)
		if (getrandom(&cookie, sizeof(cookie), 0) != sizeof(cookie))
			throw Failure("no random number for a cookie");
	return cookie;
}

int child(const char *program, const Place &place, const std::function<int(const Place &)> &rank)
{
	try {
		return rank(place);
	} catch (const std::exception &error) {
		fprintf(stderr, "%s: rank %d: %s\n", program, place.rank, error.what());
		return 1;
	}
}

} // namespace

int run_local(const char *program, Place place, int ranks, const std::function<int(const Place &)> &rank)
{
	char dir[] = "/tmp/gni-ranks.XXXXXX";
	if (!mkdtemp(dir))
		throw Failure("cannot make a directory under /tmp");
	place.ranks = ranks;
	place.kvs = std::string("dir:") + dir;
	place.job.clear();
	if (!place.cookie)
		place.cookie = random_cookie();

	int worst = 0, status;
	fflush(nullptr);
	for (place.rank = 0; place.rank < ranks; place.rank++) {
		pid_t pid = fork();
		if (pid == 0) {
			status = child(program, place, rank);
			fflush(nullptr);
			_exit(status);
		}
		if (pid < 0) {
			fprintf(stderr, "%s: cannot start rank %d\n", program, place.rank);
			worst = 1;
		}
	}
	while (wait(&status) > 0)
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			worst = 1;
	std::error_code ignored;
	std::filesystem::remove_all(dir, ignored);
	return worst;
}

} // namespace tools
