// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "fake_service.hpp"

#include "client.hpp"
#include "server.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

/** The service with what a test asks for by lines that begin with '!'. */
[[noreturn]] void serve(int fd)
{
	std::atomic<bool> hang_up = false;
	std::atomic<kvs::Server *> self = nullptr;
	std::mutex lock;
	std::string always;
	const auto control = [&](const std::string &line) {
		if (line == "!keys")
			return "ok " + std::to_string(self.load()->keys());
		if (line == "!hang up")
			hang_up = true;
		else
			always = line.substr(1);
		return std::string("ok");
	};
	kvs::Server server(fd, [&](const std::string &line) -> std::optional<std::string> {
		const std::lock_guard guard(lock);
		if (line[0] == '!')
			return control(line);
		if (hang_up.exchange(false))
			return "";
		return always.empty() ? std::nullopt : std::optional(always);
	});
	self = &server;
	for (;;)
		pause();
}

} // namespace

FakeService::FakeService()
{
	char dir[] = "/tmp/pmi-test.XXXXXX";
	if (!mkdtemp(dir))
		abort();
	dir_ = dir;
	path_ = dir_ + "/kvs";
	const int fd = kvs::listen_unix(path_, false);
	pid_ = fork();
	if (pid_ == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(fd);
	}
	close(fd);
}

FakeService::~FakeService()
{
	kill(pid_, SIGKILL);
	waitpid(pid_, nullptr, 0);
	unlink(path_.c_str());
	rmdir(dir_.c_str());
}

std::string FakeService::control(const std::string &request)
{
	return kvs::Client(kvs::Line(kvs::connect_unix(path_)), "", 60000).ask(request, 0);
}

int FakeService::keys()
{
	return atoi(control("!keys").c_str());
}

void FakeService::answer_always(const std::string &line)
{
	control("!" + line);
}

void FakeService::hang_up()
{
	control("!hang up");
}
