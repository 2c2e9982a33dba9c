// SPDX-License-Identifier: GPL-2.0-or-later
/** @file gni-kvs: the key-value service of the cluster, from a shell in the guest. */
#include "kvs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace agent
{

namespace
{

int connect_to(const char *path)
{
	sockaddr_un addr{};
	addr.sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(addr.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(addr.sun_path, path);
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, reinterpret_cast<sockaddr *>(&addr), sizeof(addr)) == 0)
		return fd;
	const int cause = errno;
	close(fd);
	errno = cause;
	return -1;
}

bool ask(int fd, const std::string &line, std::string &answer)
{
	const std::string text = line + "\n";
	if (write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
		return false;
	answer.clear();
	char c;
	while (read(fd, &c, 1) == 1) {
		if (c == '\n')
			return true;
		answer.push_back(c);
	}
	return false;
}

constexpr char help_text[] = R"(usage: gni-kvs REQUEST

A request to the key-value service of the cluster, from a shell in the guest; its answer is printed.

  put KEY VALUE              sets a key; the value may have blanks
  get KEY [MS]               prints its value; waits so many milliseconds for one (default 60000)
  add KEY N                  adds to a number, from 0, and prints the sum
  barrier NAME COUNT [MS]    returns when COUNT callers are in
  del KEY                    forgets a key
  -h, --help                 this text
  -V, --version              prints the version

Keys and barriers have names of 1 to 128 letters, digits and ._:/- and belong to the job that OPENGNI_JOB names;
OPENGNI_KVS is the path of the socket.

Exit status: 0 done, 1 refused, timed out, or no service; 2 the command line is wrong.
)";

struct Verb {
	const char *name;
	int least, most; /* words after it */
};

constexpr Verb verbs[] = {{"put", 2, 1 << 20}, {"get", 1, 2}, {"add", 2, 2}, {"barrier", 2, 3}, {"del", 1, 1}};

bool complete(const std::string &verb, int words)
{
	return std::any_of(std::begin(verbs), std::end(verbs),
			   [&](const Verb &v) { return verb == v.name && words >= v.least && words <= v.most; });
}

} // namespace

int kvs_main(int argc, char **argv)
{
	const std::string word = argc > 1 ? argv[1] : "";
	if (word == "-h" || word == "--help") {
		fputs(help_text, stdout);
		return 0;
	}
	if (word == "-V" || word == "--version") {
		puts("gni-kvs (OpenGNI) " OPENGNI_VERSION);
		return 0;
	}
	if (!complete(word, argc - 2)) {
		fprintf(stderr, "gni-kvs: '%s' with %d words is not a request; see --help\n", word.c_str(),
			std::max(argc - 2, 0));
		return 2;
	}
	const char *path = getenv("OPENGNI_KVS");
	const char *job = getenv("OPENGNI_JOB");
	const int fd = connect_to(path ? path : "/run/opengni/kvs.sock");
	if (fd < 0) {
		fprintf(stderr, "gni-kvs: %s: %s (is the agent running?)\n", path ? path : "/run/opengni/kvs.sock",
			strerror(errno));
		return 1;
	}
	std::string line(argv[1]), answer;
	for (int i = 2; i < argc; i++)
		line.append(" ").append(argv[i]);
	bool ok = true;
	if (job)
		ok = ask(fd, std::string("space ") + job, answer) && answer == "ok";
	ok = ok && ask(fd, line, answer);
	close(fd);
	if (ok && answer.rfind("ok", 0) == 0) {
		if (answer.size() > 3)
			printf("%s\n", answer.c_str() + 3);
		return 0;
	}
	fprintf(stderr, "gni-kvs: %s\n", answer.empty() ? "the host has gone" : answer.c_str());
	return 1;
}

} // namespace agent
