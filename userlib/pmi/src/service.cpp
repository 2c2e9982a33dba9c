// SPDX-License-Identifier: BSD-2-Clause
#include "service.hpp"

#include "debug.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace pmi
{

namespace
{

constexpr size_t line_max = 65536;
/* "Without limit" for the service: eleven days. The launcher ends ranks whose peers have died. */
constexpr const char *forever_ms = " 1000000000";

const char *reason(int error)
{
	const char *text = strerrordesc_np(error);
	return text ? text : "unknown error";
}

} // namespace

bool Service::open(const std::string &path, const std::string &job)
{
	sockaddr_un address = {};
	address.sun_family = AF_UNIX;
	if (path.size() >= sizeof(address.sun_path)) {
		debug("OPENGNI_KVS=%.40s...: too long for a socket", path.c_str());
		return false;
	}
	memcpy(address.sun_path, path.data(), path.size());
	fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int r = -1;
	while (fd_ >= 0 && (r = connect(fd_, reinterpret_cast<sockaddr *>(&address), sizeof(address))) != 0 &&
	       errno == EINTR)
		;
	if (r != 0) {
		debug("key-value service %s: %s", path.c_str(), reason(errno));
		close();
		return false;
	}
	if (ask("space " + job))
		return true;
	close();
	return false;
}

void Service::close()
{
	if (fd_ >= 0)
		::close(fd_);
	fd_ = -1;
	rest_.clear();
}

std::optional<std::string> Service::wait(const std::string &key)
{
	return ask("get " + key + forever_ms);
}

std::optional<std::string> Service::get(const std::string &key, bool &failed)
{
	std::string answer;
	const Outcome outcome = exchange("get " + key + " 0", answer);
	failed = outcome == Outcome::lost;
	if (outcome == Outcome::ok)
		return answer;
	return std::nullopt;
}

bool Service::barrier(const std::string &name, int count)
{
	return ask("barrier " + name + " " + std::to_string(count) + forever_ms).has_value();
}

std::optional<long> Service::add(const std::string &key, int n)
{
	const auto answer = ask("add " + key + " " + std::to_string(n));
	if (!answer)
		return std::nullopt;
	return strtol(answer->c_str(), nullptr, 10);
}

std::optional<std::string> Service::ask(const std::string &request)
{
	std::string answer;
	const Outcome outcome = exchange(request, answer);
	if (outcome == Outcome::ok)
		return answer;
	if (outcome == Outcome::refused)
		debug("key-value service refuses '%.60s': %.80s", request.c_str(), answer.c_str());
	return std::nullopt;
}

Service::Outcome Service::exchange(const std::string &request, std::string &answer)
{
	if (fd_ < 0 || !send(request) || !receive(answer)) {
		debug("key-value service: no answer to '%.60s'", request.c_str());
		/* An answer that comes later would be taken for that of the next request. */
		close();
		return Outcome::lost;
	}
	const bool ok = answer == "ok" || answer.rfind("ok ", 0) == 0;
	if (ok)
		answer.erase(0, 3);
	return ok ? Outcome::ok : Outcome::refused;
}

bool Service::send(const std::string &line)
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

bool Service::receive(std::string &line)
{
	for (;;) {
		const size_t end = rest_.find('\n');
		if (end != std::string::npos) {
			line = rest_.substr(0, end);
			rest_.erase(0, end + 1);
			return true;
		}
		if (rest_.size() > line_max)
			return false;
		char buffer[4096];
		const ssize_t n = recv(fd_, buffer, sizeof(buffer), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		rest_.append(buffer, static_cast<size_t>(n));
	}
}

} // namespace pmi
