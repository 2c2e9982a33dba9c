// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "host.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <memory>
#include <sstream>

#include "failure.h"
#include "wait.h"

namespace tools
{

namespace
{

constexpr const char *neighbours = "/proc/net/arp";
constexpr double patience_seconds = 2;
constexpr uint16_t discard_port = 9;

std::optional<uint32_t> number(const std::string &text, int base)
{
	uint32_t value = 0;
	const char *end = text.data() + text.size();
	const auto [stop, error] = std::from_chars(text.data(), end, value, base);
	if (error != std::errc() || stop != end)
		return std::nullopt;
	return value;
}

std::string line_of(uint32_t device, const char *name)
{
	std::ifstream file(format("/sys/class/gni/kgni%u/%s", device, name));
	std::string line;
	std::getline(file, line);
	return line;
}

in_addr resolve(const std::string &host)
{
	addrinfo hints = {}, *list = nullptr;
	hints.ai_family = AF_INET;
	hints.ai_socktype = SOCK_DGRAM;
	const int error = getaddrinfo(host.c_str(), nullptr, &hints, &list);
	if (error)
		throw Failure(format("'%s' is neither a NIC address nor the name of a host: %s", host.c_str(),
				     gai_strerror(error)));
	const in_addr found = reinterpret_cast<const sockaddr_in *>(list->ai_addr)->sin_addr;
	freeaddrinfo(list);
	return found;
}

bool is_local(in_addr ip)
{
	ifaddrs *all = nullptr;
	if ((ntohl(ip.s_addr) >> 24) == IN_LOOPBACKNET)
		return true;
	if (getifaddrs(&all) != 0)
		return false;
	bool local = false;
	for (const ifaddrs *i = all; i; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET)
			local |= reinterpret_cast<const sockaddr_in *>(i->ifa_addr)->sin_addr.s_addr == ip.s_addr;
	freeifaddrs(all);
	return local;
}

/* Has the kernel ask for the neighbour's hardware address. */
void knock(in_addr ip)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	sockaddr_in to = {};
	to.sin_family = AF_INET;
	to.sin_addr = ip;
	to.sin_port = htons(discard_port);
	if (fd < 0)
		return;
	(void)sendto(fd, "", 0, 0, reinterpret_cast<const sockaddr *>(&to), sizeof(to));
	close(fd);
}

} // namespace

std::optional<uint32_t> address_of_word(const std::string &word)
{
	if (word.rfind("0x", 0) == 0)
		return number(word.substr(2), 16);
	if (word.rfind("nid", 0) == 0)
		return number(word.substr(3), 10);
	return number(word, 10);
}

std::optional<uint32_t> address_of_neighbour(std::istream &table, const std::string &ip)
{
	for (std::string line; std::getline(table, line);) {
		std::istringstream words(line);
		std::string address, type, flags, hardware;
		unsigned prefix[3], bytes[3];
		char end;
		if (!(words >> address >> type >> flags >> hardware) || address != ip || flags == "0x0")
			continue;
		if (sscanf(hardware.c_str(), "%2x:%2x:%2x:%2x:%2x:%2x%c", &prefix[0], &prefix[1], &prefix[2], &bytes[0],
			   &bytes[1], &bytes[2], &end) == 6 &&
		    prefix[0] == 0 && prefix[1] == 1 && prefix[2] == 1)
			return bytes[0] << 16 | bytes[1] << 8 | bytes[2];
	}
	return std::nullopt;
}

uint32_t nic_address(const std::string &host, uint32_t device)
{
	if (const auto address = address_of_word(host))
		return *address;
	const in_addr ip = resolve(host);
	if (is_local(ip)) {
		const auto own = address_of_word(line_of(device, "address"));
		if (!own)
			throw Failure(format("%s is this node, and kgni%u tells no address", host.c_str(), device));
		return *own;
	}
	char text[INET_ADDRSTRLEN] = "";
	(void)inet_ntop(AF_INET, &ip, text, sizeof(text));
	std::optional<uint32_t> found;
	knock(ip);
	const Deadline deadline(patience_seconds);
	while (!found && !deadline.passed()) {
		std::ifstream table(neighbours);
		found = address_of_neighbour(table, text);
		if (!found)
			usleep(50000);
	}
	if (!found)
		throw Failure(format("%s (%s) is no neighbour in IP over the fabric (see ipogif); give its NIC address",
				     host.c_str(), text));
	return *found;
}

bool in_list(const std::string &list, uint32_t wanted)
{
	std::istringstream parts(list);
	for (std::string part; std::getline(parts, part, ',');) {
		const size_t dash = part.find('-');
		const auto first = number(part.substr(0, dash), 10);
		const auto last = dash == std::string::npos ? first : number(part.substr(dash + 1), 10);
		if (first && last && *first <= wanted && wanted <= *last)
			return true;
	}
	return false;
}

void check_node(uint32_t address, uint32_t device)
{
	const auto nodes = address_of_word(line_of(device, "nodes"));
	const std::string up = line_of(device, "nodes_up");
	if (nodes && address >= *nodes)
		throw Failure(format("there is no node %u: the fabric has %u", address, *nodes));
	if (nodes && !in_list(up, address))
		throw Failure(format("node %u is down (up are %s)", address, up.empty() ? "none" : up.c_str()));
}

} // namespace tools
