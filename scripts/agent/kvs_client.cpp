// SPDX-License-Identifier: GPL-2.0-or-later
/** @file gni-kvs: the key-value service of the cluster, from a shell in the guest. */
#include "kvs.hpp"

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

} // namespace

int kvs_main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: gni-kvs put KEY VALUE | get KEY [MS] | add KEY N | "
				"barrier NAME COUNT [MS] | del KEY\n");
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
