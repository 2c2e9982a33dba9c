// SPDX-License-Identifier: BSD-2-Clause
#include "place.h"

#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "failure.h"

namespace tools
{

uint64_t parse_number(const char *text, const char *what, uint64_t max)
{
	char *end = nullptr;
	errno = 0;
	uint64_t value = strtoull(text, &end, 0);
	uint64_t scale = 1;
	if (*end == 'K' || *end == 'k')
		scale = 1024, end++;
	else if (*end == 'M' || *end == 'm')
		scale = 1u << 20, end++;
	else if (*end == 'G' || *end == 'g')
		scale = 1u << 30, end++;
	if (end == text || *end || errno || text[0] == '-' || value > max / scale)
		throw UsageError(format("%s: '%s' is not a number up to %llu", what, text,
					static_cast<unsigned long long>(max)));
	return value * scale;
}

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
	place.rank = static_cast<int>(number("OPENGNI_RANK", 0, INT_MAX));
	place.ranks = static_cast<int>(number("OPENGNI_RANKS", 1, INT_MAX));
	place.cookie = static_cast<uint32_t>(number("OPENGNI_COOKIE", 0, UINT32_MAX));
	if (const char *path = variable("OPENGNI_KVS"))
		place.kvs = std::string("unix:") + path;
	if (const char *job = variable("OPENGNI_JOB"))
		place.job = job;
	return place;
}

std::vector<option> rank_options(std::initializer_list<option> own)
{
	std::vector<option> all = {
		{"local", required_argument, nullptr, 'l'},  {"rank", required_argument, nullptr, 'r'},
		{"ranks", required_argument, nullptr, 'n'},  {"kvs", required_argument, nullptr, 'k'},
		{"cookie", required_argument, nullptr, 'c'}, {"job", required_argument, nullptr, 'j'},
		{"device", required_argument, nullptr, 'd'}, {"help", no_argument, nullptr, 'h'},
		{"version", no_argument, nullptr, 'V'}};
	all.insert(all.end(), own);
	all.push_back({nullptr, 0, nullptr, 0});
	return all;
}

int next_option(int argc, char **argv, const char *letters, const option *table)
{
	const std::string quiet = std::string(":") + letters;
	opterr = 0;
	const int c = getopt_long(argc, argv, quiet.c_str(), table, nullptr); // NOLINT(concurrency-mt-unsafe)
	if (c != ':' && c != '?')
		return c;
	/* Of a long option all of the word is in argv; letters may stand together. */
	const char *word = argv[optind - 1];
	const bool spelled = word[0] == '-' && word[1] == '-';
	const std::string name = spelled ? word : format("-%c", optopt);
	if (c == ':')
		throw UsageError(name + " needs a value; see --help");
	if (spelled && optopt)
		throw UsageError(name + ": this option takes no value; see --help");
	throw UsageError("'" + name + "' is not an option; see --help");
}

bool place_option(Place &place, int option, const char *argument)
{
	switch (option) {
	case 'r':
		place.rank = static_cast<int>(parse_number(argument, "--rank", INT_MAX));
		return true;
	case 'n':
		place.ranks = static_cast<int>(parse_number(argument, "--ranks", INT_MAX));
		return true;
	case 'c':
		place.cookie = static_cast<uint32_t>(parse_number(argument, "--cookie", UINT32_MAX));
		return true;
	case 'd':
		place.device = static_cast<uint32_t>(parse_number(argument, "--device", UINT32_MAX));
		return true;
	case 'k':
		place.kvs = argument;
		return true;
	case 'j':
		place.job = argument;
		return true;
	}
	return false;
}

void check_place(const Place &place)
{
	if (place.ranks < 2 || place.ranks % 2)
		throw UsageError("an even number of ranks is needed: start it with the cluster tool, with --local=2, "
				 "or with --ranks, --rank and --kvs");
	if (place.rank >= place.ranks)
		throw UsageError(format("rank %d of %d", place.rank, place.ranks));
	if (place.kvs.empty())
		throw UsageError("ranks need --kvs to find each other");
	if (!place.cookie)
		throw UsageError("ranks need a common --cookie that is not 0");
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
