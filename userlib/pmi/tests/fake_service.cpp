// SPDX-License-Identifier: BSD-2-Clause
#include "fake_service.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace
{

/** A thread for each client. */
class Server
{
public:
	explicit Server(int fd) : fd_(fd) {}
	[[noreturn]] void accept_loop();

private:
	struct Barrier {
		int waiting = 0;
		unsigned long round = 0;
	};

	void serve(int fd);
	std::string answer(const std::string &line, std::string &space);
	std::string control(const std::string &line);
	std::string get(const std::string &key, long timeout_ms);
	std::string barrier(const std::string &name, int count);

	int fd_;
	std::atomic<bool> hang_up_ = false;
	std::string always_;
	std::mutex lock_;
	std::condition_variable changed_;
	std::map<std::string, std::string> values_;
	std::map<std::string, Barrier> barriers_;
};

void Server::accept_loop()
{
	for (;;) {
		const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
		if (fd >= 0)
			std::thread([this, fd] { serve(fd); }).detach();
	}
}

void Server::serve(int fd)
{
	std::string rest, space = "default";
	char buffer[4096];
	ssize_t n;
	while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
		rest.append(buffer, static_cast<size_t>(n));
		const size_t end = rest.find('\n');
		if (end == std::string::npos)
			continue;
		const std::string line = rest.substr(0, end);
		rest.erase(0, end + 1);
		if (line[0] != '!' && hang_up_.exchange(false))
			break;
		const std::string reply = answer(line, space) + "\n";
		if (send(fd, reply.data(), reply.size(), MSG_NOSIGNAL) < 0)
			break;
	}
	close(fd);
}

std::string Server::answer(const std::string &line, std::string &space)
{
	if (line[0] == '!')
		return control(line);
	std::istringstream words(line);
	std::string verb, key;
	words >> verb >> key;
	if (line.size() > 65535 || key.empty() || key.size() > 128)
		return "err size";
	if (key.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/-") != key.npos)
		return "err name";
	if (verb == "space")
		space = key;
	const std::string full = space + " " + key;
	long number = 0;
	if (verb == "get") {
		words >> number;
		return get(full, number);
	}
	if (verb == "barrier") {
		words >> number;
		return barrier(full, static_cast<int>(number));
	}
	const std::lock_guard guard(lock_);
	if (!always_.empty())
		return always_;
	if (verb == "put")
		values_[full] = line.substr(5 + key.size());
	if (verb == "del")
		values_.erase(full);
	changed_.notify_all();
	if (verb != "add")
		return "ok";
	words >> number;
	return "ok " + (values_[full] = std::to_string(number + strtol(values_[full].c_str(), nullptr, 10)));
}

/* What the test asks for. */
std::string Server::control(const std::string &line)
{
	const std::lock_guard guard(lock_);
	if (line == "!keys")
		return std::to_string(values_.size());
	if (line == "!hang up")
		hang_up_ = true;
	else
		always_ = line.substr(1);
	return "";
}

std::string Server::get(const std::string &key, long timeout_ms)
{
	std::unique_lock guard(lock_);
	if (!always_.empty())
		return always_;
	const auto there = [&] { return values_.count(key) != 0; };
	if (!changed_.wait_for(guard, std::chrono::milliseconds(timeout_ms), there))
		return "err timeout";
	return "ok " + values_[key];
}

std::string Server::barrier(const std::string &name, int count)
{
	std::unique_lock guard(lock_);
	if (!always_.empty())
		return always_;
	Barrier &barrier = barriers_[name];
	const unsigned long round = barrier.round;
	if (++barrier.waiting == count) {
		barrier.waiting = 0;
		barrier.round++;
		changed_.notify_all();
		return "ok";
	}
	changed_.wait(guard, [&] { return barrier.round != round; });
	return "ok";
}

int open_socket(const std::string &path, bool listening)
{
	sockaddr_un address = {};
	address.sun_family = AF_UNIX;
	memcpy(address.sun_path, path.data(), path.size());
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const auto *where = reinterpret_cast<sockaddr *>(&address);
	if (listening ? bind(fd, where, sizeof(address)) || listen(fd, 64) : connect(fd, where, sizeof(address)))
		abort();
	return fd;
}

} // namespace

FakeService::FakeService()
{
	char dir[] = "/tmp/pmi-test.XXXXXX";
	if (!mkdtemp(dir))
		abort();
	dir_ = dir;
	path_ = dir_ + "/kvs";
	const int fd = open_socket(path_, true);
	pid_ = fork();
	if (pid_ == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		Server(fd).accept_loop();
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
	const int fd = open_socket(path_, false);
	const std::string line = request + "\n";
	char buffer[256];
	ssize_t n = -1;
	if (write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size()))
		n = read(fd, buffer, sizeof(buffer));
	close(fd);
	return n > 0 ? std::string(buffer, static_cast<size_t>(n) - 1) : "";
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
