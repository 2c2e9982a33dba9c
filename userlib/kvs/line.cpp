// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "line.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace kvs
{

namespace
{

/* A socket that is connected to @p path or bound to it. */
int unix_socket(const std::string &path, int flags, int (*act)(int, const sockaddr *, socklen_t))
{
	sockaddr_un address = {};
	address.sun_family = AF_UNIX;
	if (path.size() >= sizeof(address.sun_path))
		throw BadPlace(path.substr(0, 40) + "...: too long for a socket");
	memcpy(address.sun_path, path.data(), path.size());
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	int r = -1;
	while (fd >= 0 && (r = act(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address))) != 0 && errno == EINTR)
		;
	if (r == 0)
		return fd;
	const int cause = errno;
	if (fd >= 0)
		close(fd);
	throw Error("key-value service " + path + ": " + errno_text(cause));
}

} // namespace

std::string errno_text(int error)
{
	const char *text = strerrordesc_np(error);
	return text ? text : "unknown error";
}

long now_ms()
{
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

std::optional<std::string> LineBuffer::next()
{
	const size_t end = bytes_.find('\n');
	if (end == std::string::npos)
		return std::nullopt;
	std::string line = bytes_.substr(0, end);
	bytes_.erase(0, end + 1);
	return line;
}

Line &Line::operator=(Line &&other) noexcept
{
	std::swap(fd_, other.fd_);
	std::swap(buffer_, other.buffer_);
	return *this;
}

void Line::close()
{
	if (fd_ >= 0)
		::close(fd_);
	fd_ = -1;
	buffer_.clear();
}

void Line::abandon() const
{
	if (fd_ >= 0)
		::close(fd_);
}

bool Line::send(const std::string &line)
{
	const std::string text = line + "\n";
	for (size_t done = 0; done < text.size();) {
		const ssize_t n = ::send(fd_, text.data() + done, text.size() - done, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += static_cast<size_t>(n);
	}
	return true;
}

Line::Outcome Line::receive(std::string &line, long limit_ms)
{
	const long end = now_ms() + limit_ms;
	for (;;) {
		if (auto next = buffer_.next()) {
			line = std::move(*next);
			return Outcome::line;
		}
		if (fd_ < 0 || buffer_.too_long())
			return Outcome::gone;
		pollfd p = {fd_, POLLIN, 0};
		const long left = limit_ms < 0 ? -1 : std::clamp(end - now_ms(), 0L, 1L << 30);
		const int ready = poll(&p, 1, static_cast<int>(left));
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready == 0)
			return Outcome::late;
		char bytes[4096];
		const ssize_t n = recv(fd_, bytes, sizeof(bytes), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return Outcome::gone;
		buffer_.append({bytes, static_cast<size_t>(n)});
	}
}

int connect_unix(const std::string &path)
{
	return unix_socket(path, 0, connect);
}

int listen_unix(const std::string &path, bool nonblocking)
{
	const int fd = unix_socket(path, nonblocking ? SOCK_NONBLOCK : 0, bind);
	if (listen(fd, 64) == 0)
		return fd;
	const int cause = errno;
	close(fd);
	throw Error(path + ": " + errno_text(cause));
}

} // namespace kvs
