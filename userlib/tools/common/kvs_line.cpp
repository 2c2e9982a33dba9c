// SPDX-License-Identifier: BSD-2-Clause
#include "kvs_line.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "failure.h"

namespace tools
{

namespace
{

constexpr int answer_ms = 30000; /* for requests that are answered at once */
constexpr size_t line_max = 65536;

} // namespace

LineSocket::~LineSocket()
{
	if (fd_ >= 0)
		close(fd_);
}

bool LineSocket::send_line(const std::string &line)
{
	std::string text = line + "\n";
	for (size_t done = 0; done < text.size();) {
		ssize_t n = send(fd_, text.data() + done, text.size() - done, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += static_cast<size_t>(n);
	}
	return true;
}

bool LineSocket::receive_line(std::string &line, int timeout_ms)
{
	for (;;) {
		size_t end = rest_.find('\n');
		if (end != std::string::npos) {
			line = rest_.substr(0, end);
			rest_.erase(0, end + 1);
			return true;
		}
		if (rest_.size() > line_max)
			return false;
		pollfd p = {fd_, POLLIN, 0};
		int ready = poll(&p, 1, timeout_ms);
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return false;
		char buffer[4096];
		ssize_t n = recv(fd_, buffer, sizeof(buffer), 0);
		if (n <= 0)
			return false;
		rest_.append(buffer, static_cast<size_t>(n));
	}
}

LineSocket connect_unix(const std::string &path)
{
	sockaddr_un address = {};
	address.sun_family = AF_UNIX;
	if (path.size() >= sizeof(address.sun_path))
		throw UsageError(format("%s: path of a socket is too long", path.c_str()));
	memcpy(address.sun_path, path.data(), path.size());

	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)) != 0) {
		int error = errno;
		if (fd >= 0)
			close(fd);
		throw Failure(format("control channel %s: %s", path.c_str(), errno_text(error)));
	}
	return LineSocket(fd);
}

LineSocket connect_tcp(const std::string &address, const Deadline &deadline)
{
	size_t colon = address.rfind(':');
	if (colon == std::string::npos)
		throw UsageError(format("'%s' is not HOST:PORT", address.c_str()));
	std::string host = address.substr(0, colon), port = address.substr(colon + 1);

	addrinfo hints = {}, *list = nullptr;
	hints.ai_socktype = SOCK_STREAM;
	int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
	if (error)
		throw UsageError(format("%s: %s", address.c_str(), gai_strerror(error)));

	int fd = -1;
	auto connected = [&] {
		for (addrinfo *a = list; a; a = a->ai_next) {
			fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
			if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) == 0)
				return true;
			if (fd >= 0)
				close(fd);
		}
		usleep(20000);
		return false;
	};
	bool ok = poll_until(connected, deadline, Patience::Mild);
	freeaddrinfo(list);
	if (!ok)
		throw Failure(format("no rank 0 answers at %s", address.c_str()));
	return LineSocket(fd);
}

LineKvs::LineKvs(LineSocket socket, const std::string &job) : socket_(std::move(socket))
{
	if (!job.empty())
		ask("space " + job, answer_ms);
}

std::string LineKvs::ask(const std::string &request, int timeout_ms)
{
	std::string answer;
	const Deadline deadline(timeout_ms / 1000.0);
	if (!socket_.send_line(request))
		throw Failure(format("control channel: gone at '%.60s'", request.c_str()));
	/* The answer to a request that was given up comes first, and belongs to nobody. */
	for (owed_++; owed_; owed_--)
		if (!socket_.receive_line(answer, static_cast<int>(deadline.left_ms())))
			throw Failure(format("control channel: no answer to '%.60s'", request.c_str()));
	if (answer.rfind("ok", 0) != 0)
		throw Failure(format("control channel: '%.60s': %s", request.c_str(), answer.c_str()));
	return answer.size() > 3 ? answer.substr(3) : "";
}

void LineKvs::put(const std::string &key, const std::string &value)
{
	ask("put " + key + " " + value, answer_ms);
}

std::string LineKvs::get(const std::string &key, const Deadline &deadline)
{
	int ms = static_cast<int>(deadline.left_ms());
	return ask(format("get %s %d", key.c_str(), ms), ms + 1000);
}

} // namespace tools
