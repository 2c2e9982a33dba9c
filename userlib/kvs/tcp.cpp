// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "line.hpp"

#include <cerrno>
#include <ctime>
#include <memory>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kvs
{

namespace
{

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses resolve(const std::string &address, int flags)
{
	const size_t colon = address.rfind(':');
	if (colon == std::string::npos)
		throw BadPlace("'" + address + "' is not HOST:PORT");
	addrinfo hints = {}, *list = nullptr;
	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = flags;
	const std::string host = address.substr(0, colon), port = address.substr(colon + 1);
	if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &list))
		throw BadPlace(address + ": " + gai_strerror(error));
	return {list, freeaddrinfo};
}

int try_connect(const addrinfo *list)
{
	for (const addrinfo *a = list; a; a = a->ai_next) {
		const int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) == 0)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

} // namespace

int connect_tcp(const std::string &address, long limit_ms)
{
	const Addresses list = resolve(address, 0);
	const long start = now_ms();
	for (;;) {
		const int fd = try_connect(list.get());
		if (fd >= 0)
			return fd;
		if (limit_ms >= 0 && now_ms() - start >= limit_ms)
			throw Error("no rank 0 answers at " + address);
		const timespec pause = {0, 20000000};
		nanosleep(&pause, nullptr);
	}
}

int listen_tcp(const std::string &address)
{
	const Addresses list = resolve(address, AI_PASSIVE);
	const int fd = socket(list->ai_family, list->ai_socktype | SOCK_CLOEXEC, list->ai_protocol);
	const int one = 1;
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
	    bind(fd, list->ai_addr, list->ai_addrlen) == 0 && listen(fd, 64) == 0)
		return fd;
	const int cause = errno;
	if (fd >= 0)
		close(fd);
	throw Error("cannot listen at " + address + ": " + errno_text(cause));
}

} // namespace kvs
