// SPDX-License-Identifier: GPL-2.0-or-later
#include "gateway/sever.hpp"

#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace aries::gateway
{

namespace
{

/* An IPv6 address; an IPv4 address is mapped, as sockets for both families report it. */
std::optional<in6_addr> parse(const std::string &text)
{
	in6_addr address = {};
	in_addr old = {};

	if (inet_pton(AF_INET6, text.c_str(), &address) == 1)
		return address;
	if (inet_pton(AF_INET, text.c_str(), &old) != 1)
		return std::nullopt;
	address.s6_addr[10] = address.s6_addr[11] = 0xff;
	std::memcpy(&address.s6_addr[12], &old, sizeof(old));
	return address;
}

/* Address of the other end of a socket; empty if @fd is no socket, or not connected. */
std::optional<in6_addr> other_end(int fd)
{
	sockaddr_storage name = {};
	socklen_t bytes = sizeof(name);
	in6_addr address = {};

	if (getpeername(fd, reinterpret_cast<sockaddr *>(&name), &bytes))
		return std::nullopt;
	if (name.ss_family == AF_INET6)
		return reinterpret_cast<const sockaddr_in6 &>(name).sin6_addr;
	if (name.ss_family != AF_INET)
		return std::nullopt;
	address.s6_addr[10] = address.s6_addr[11] = 0xff;
	std::memcpy(&address.s6_addr[12], &reinterpret_cast<const sockaddr_in &>(name).sin_addr, sizeof(in_addr));
	return address;
}

/* Whether TCP has retransmitted data without an answer yet. A connection that was made since is not stuck. */
bool is_stuck(int fd)
{
	tcp_info info = {};
	socklen_t bytes = sizeof(info);

	return !getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) && info.tcpi_retransmits;
}

unsigned int sever_all(const in6_addr &wanted)
{
	unsigned int ended = 0;

	for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
		const std::string name = entry.path().filename();
		int fd = -1;

		if (std::from_chars(name.data(), name.data() + name.size(), fd).ec != std::errc())
			continue;
		const std::optional<in6_addr> address = other_end(fd);

		if (address && !std::memcmp(&*address, &wanted, sizeof(wanted)) && is_stuck(fd))
			ended += shutdown(fd, SHUT_RDWR) == 0;
	}
	return ended;
}

} // namespace

unsigned int sever(const std::string &address) noexcept
try {
	const std::optional<in6_addr> wanted = parse(address);

	return wanted ? sever_all(*wanted) : 0;
} catch (const std::exception &) {
	return 0; /* no memory, or no /proc: the connection may recover */
}

} // namespace aries::gateway
