// SPDX-License-Identifier: GPL-2.0-or-later
#include "gateway/hosts.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <sstream>

#include <arpa/inet.h>

#include "fabric/segment.hpp"

namespace aries::gateway
{

namespace
{

constexpr size_t LONGEST_LINE = 512;

/* Digits and nothing else, at most @most. */
bool number(std::string_view text, uint32_t most, uint32_t &value)
{
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);

	return error == std::errc() && end == text.data() + text.size() && value <= most;
}

bool good_name(const std::string &name)
{
	return name.size() <= HOST_NAME_MOST && isalnum(static_cast<unsigned char>(name[0])) &&
	       std::all_of(name.begin(), name.end(),
			   [](unsigned char c) { return c < 128 && (isalnum(c) || c == '-' || c == '.' || c == '_'); });
}

/* An address as inet_ntop() writes it, so that equal addresses have equal texts; empty if @text is no address. */
std::string canonical(const std::string &text)
{
	char out[INET6_ADDRSTRLEN];
	unsigned char address[sizeof(in6_addr)];

	for (const int family : {AF_INET, AF_INET6})
		if (inet_pton(family, text.c_str(), address) == 1 && inet_ntop(family, address, out, sizeof(out)))
			return out;
	return {};
}

/* Throws Error with the fault, without file and line. */
void take_address(const std::string &text, Host &host)
{
	const std::string form =
		"'" + text + "' is no address: write 10.0.0.1, 10.0.0.1:7741, fd00::1 or [fd00::1]:7741";
	std::string address = text, port;

	if (text.starts_with('[')) {
		const size_t end = text.find(']');

		if (end == std::string::npos || (end + 1 < text.size() && text[end + 1] != ':'))
			throw Error(form);
		address = text.substr(1, end - 1);
		port = text.substr(std::min(end + 2, text.size()));
		if (end + 2 == text.size())
			throw Error(form);
	} else if (std::count(text.begin(), text.end(), ':') == 1) {
		address = text.substr(0, text.find(':'));
		port = text.substr(text.find(':') + 1);
		if (port.empty())
			throw Error(form);
	}
	host.address = canonical(address);
	if (host.address.empty())
		throw Error(form);
	if (host.address == "0.0.0.0" || host.address == "::")
		throw Error("'" + text + "' is every address: give that of the host which the others reach");

	uint32_t value = GATEWAY_PORT;

	if (!port.empty() && (!number(port, 65535, value) || value == 0))
		throw Error("'" + port + "' is no port: give 1 to 65535");
	host.port = uint16_t(value);
}

void take_nodes(const std::string &text, NodeRange &nodes)
{
	const size_t dash = text.find('-');
	const std::string_view all = text;

	if (!number(all.substr(0, dash), NODE_MOST, nodes.first) ||
	    !number(dash == std::string::npos ? all : all.substr(dash + 1), NODE_MOST, nodes.last))
		throw Error("'" + text + "' are no nodes: write 4-7 or 4, up to " + std::to_string(NODE_MOST));
	if (nodes.first > nodes.last)
		throw Error("'" + text + "' ends before it begins");
}

Host host_in(const std::vector<std::string> &words)
{
	Host host;

	if (words.size() != 3)
		throw Error("a host has a name, an address and nodes (alpha 10.0.0.1:7741 0-3), not " +
			    std::to_string(words.size()) + (words.size() == 1 ? " word" : " words"));
	host.name = words[0];
	if (!good_name(host.name))
		throw Error("'" + host.name + "' is no name: letters, digits, '-', '.', '_', at most " +
			    std::to_string(HOST_NAME_MOST));
	take_address(words[1], host);
	take_nodes(words[2], host.nodes);
	return host;
}

/* Throws Error if two hosts have the same name, address or node. */
void compare(const Host &host, const Host &other)
{
	if (host.name == other.name)
		throw Error("host " + host.name + " is there twice");
	if (host.address == other.address && host.port == other.port)
		throw Error(host.where() + " is the address of " + other.name + ", too");
	if (host.nodes.overlaps(other.nodes))
		throw Error("nodes " +
			    NodeRange{std::max(host.nodes.first, other.nodes.first),
				      std::min(host.nodes.last, other.nodes.last)}
				    .text() +
			    " are at " + other.name + ", too");
}

} // namespace

std::string NodeRange::text() const
{
	return std::to_string(first) + (first == last ? "" : "-" + std::to_string(last));
}

std::string Host::where() const
{
	const bool six = address.find(':') != std::string::npos;

	return (six ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

std::vector<Host> parse_hosts(std::istream &in, const std::string &name)
{
	std::vector<Host> hosts;
	std::string line;

	for (unsigned int at = 1; std::getline(in, line); at++) {
		std::vector<std::string> words;

		try {
			if (line.size() > LONGEST_LINE)
				throw Error("the line is longer than " + std::to_string(LONGEST_LINE) + " bytes");
			if (line.find('\0') != std::string::npos)
				throw Error("the line has a zero byte: this is no text");
			std::istringstream text(line.substr(0, line.find('#')));

			for (std::string word; text >> word;)
				words.push_back(word);
			if (words.empty())
				continue;
			const Host host = host_in(words);

			for (const Host &other : hosts)
				compare(host, other);
			if (hosts.size() == HOSTS_MOST)
				throw Error("there can be " + std::to_string(HOSTS_MOST) + " hosts");
			hosts.push_back(host);
		} catch (const Error &error) {
			throw Error(name + ":" + std::to_string(at) + ": " + error.what());
		}
	}
	if (in.bad())
		throw Error("cannot read " + name);
	if (hosts.empty())
		throw Error(name + " names no host");
	return hosts;
}

std::vector<Host> read_hosts(const std::string &file)
{
	std::ifstream in(file);

	if (!in)
		throw Error("cannot read the hosts file " + file);
	return parse_hosts(in, file);
}

uint32_t host_of(const std::vector<Host> &hosts, const std::string &name)
{
	const auto found =
		std::find_if(hosts.begin(), hosts.end(), [&name](const Host &host) { return host.name == name; });

	if (found == hosts.end())
		throw Error("the hosts file has no host " + name);
	return uint32_t(found - hosts.begin());
}

} // namespace aries::gateway
