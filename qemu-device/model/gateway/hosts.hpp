// SPDX-License-Identifier: GPL-2.0-or-later
/** @file The hosts of a fabric, and which nodes live where: the file `hosts`. */
#ifndef ARIES_GATEWAY_HOSTS_HPP
#define ARIES_GATEWAY_HOSTS_HPP

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace aries::gateway
{

inline constexpr uint16_t GATEWAY_PORT = 7741; ///< for hosts whose entry has no port
inline constexpr size_t HOSTS_MOST = 1024, HOST_NAME_MOST = 63;
inline constexpr uint32_t NODE_MOST = 262143; ///< addresses of Aries have 18 bits

/** Addresses of nodes, both ends included. */
struct NodeRange {
	uint32_t first = 0, last = 0;

	bool operator==(const NodeRange &) const = default;
	bool overlaps(const NodeRange &other) const noexcept { return first <= other.last && other.first <= last; }
	/** "4-7", or "4" for a single node. */
	std::string text() const;
};

struct Host {
	std::string name;
	std::string address; ///< numeric, IPv4 or IPv6
	uint16_t port = GATEWAY_PORT;
	NodeRange nodes;

	/** "10.0.0.1:7741", "[fd00::1]:7741" */
	std::string where() const;
};

/**
 * One host a line: name, address or address:port or [address]:port, nodes as "4-7" or "4". '#' starts a comment. Hosts
 * are numbered in the order of lines.
 *
 * @param name of the file, for errors
 * @throws Error that names file, line and cause, also for names, addresses or nodes that appear twice
 */
std::vector<Host> parse_hosts(std::istream &in, const std::string &name);
std::vector<Host> read_hosts(const std::string &file);

/** Number of the host of this name. @throws Error if there is no such host */
uint32_t host_of(const std::vector<Host> &hosts, const std::string &name);

} // namespace aries::gateway

#endif
