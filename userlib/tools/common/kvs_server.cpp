// SPDX-License-Identifier: BSD-2-Clause
#include "kvs_server.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <sstream>

#include "failure.h"

namespace tools
{

namespace
{

int listen_at(const std::string &address)
{
	size_t colon = address.rfind(':');
	if (colon == std::string::npos)
		throw UsageError(format("'%s' is not HOST:PORT", address.c_str()));
	addrinfo hints = {}, *list = nullptr;
	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = AI_PASSIVE;
	std::string host = address.substr(0, colon), port = address.substr(colon + 1);
	int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
	if (error)
		throw UsageError(format("%s: %s", address.c_str(), gai_strerror(error)));

	int fd = socket(list->ai_family, list->ai_socktype | SOCK_CLOEXEC, list->ai_protocol);
	int one = 1;
	bool ok = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
		  bind(fd, list->ai_addr, list->ai_addrlen) == 0 && listen(fd, 64) == 0;
	int reason = errno;
	freeaddrinfo(list);
	if (ok)
		return fd;
	if (fd >= 0)
		close(fd);
	throw Failure(format("cannot listen at %s: %s", address.c_str(), errno_text(reason)));
}

} // namespace

KvsServer::KvsServer(const std::string &address) : listen_fd_(listen_at(address))
{
	acceptor_ = std::thread([this] { accept_loop(); });
}

KvsServer::~KvsServer()
{
	{
		std::lock_guard guard(lock_);
		stop_ = true;
		shutdown(listen_fd_, SHUT_RDWR);
	}
	acceptor_.join();
	/* Clients leave when they are done: what they still ask for is answered first. */
	for (std::thread &thread : threads_)
		thread.join();
	close(listen_fd_);
}

void KvsServer::accept_loop()
{
	for (;;) {
		int fd = accept4(listen_fd_, nullptr, nullptr, SOCK_CLOEXEC);
		std::lock_guard guard(lock_);
		if (stop_ || fd < 0) {
			if (fd >= 0)
				close(fd);
			if (stop_)
				return;
			continue;
		}
		threads_.emplace_back([this, fd] { serve(fd); });
	}
}

void KvsServer::serve(int fd)
{
	LineSocket socket(fd);
	std::string line, space;
	while (socket.receive_line(line, 600000) && socket.send_line(answer(line, space)))
		;
}

std::string KvsServer::answer(const std::string &request, std::string &space)
{
	std::istringstream words(request);
	std::string verb, key, value;
	words >> verb >> key;
	if (verb == "space") {
		space = key + "/";
		return "ok";
	}
	if (verb == "put") {
		std::getline(words >> std::ws, value);
		std::lock_guard guard(lock_);
		values_[space + key] = value;
		changed_.notify_all();
		return "ok";
	}
	if (verb == "get") {
		long timeout_ms = 60000;
		words >> timeout_ms;
		return wait_for(space + key, timeout_ms);
	}
	return "err unknown request";
}

std::string KvsServer::wait_for(const std::string &key, long timeout_ms)
{
	std::unique_lock guard(lock_);
	auto there = [&] { return values_.count(key) != 0; };
	if (!changed_.wait_for(guard, std::chrono::milliseconds(timeout_ms), there))
		return "err timeout";
	return "ok " + values_[key];
}

} // namespace tools
