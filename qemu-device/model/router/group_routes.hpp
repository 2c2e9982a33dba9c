// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Ways inside one group, found on the graph of its local links, such that one virtual channel is enough for them.
 */
#ifndef ARIES_ROUTER_GROUP_ROUTES_HPP
#define ARIES_ROUTER_GROUP_ROUTES_HPP

#include <cstdint>
#include <vector>

namespace aries::routing
{

inline constexpr uint8_t NO_WAY = UINT8_MAX; ///< hops to what cannot be reached

/** One direction of a link inside a group. */
struct LocalLink {
	uint32_t to; ///< number of the router in the group
	uint8_t tile;
	uint8_t rank; ///< of its class: ways take lower ones first
};

/** The local links of each router of a group. */
using LocalGraph = std::vector<std::vector<LocalLink>>;

/** Ways of all routers of a group to the nearest of some of them, the goals. */
struct Way {
	std::vector<uint64_t> ports; ///< tiles to leave a router by; none at a goal, and where there is no way
	std::vector<uint8_t> hops;
};

/** The ways to several sets of goals. */
struct GroupWays {
	std::vector<Way> ways;
	bool shortest; ///< false if they are up-then-down ways
};

/**
 * The ways of a group, such that packets in one channel cannot wait for each other in a circle. Shortest ones, on which
 * the ranks of links ascend. Routers that have none, for a slot of the chassis is empty or a link is down, get all
 * shortest ways that close no circle; if that leaves a router without any, the group gets up-then-down ways instead:
 * first towards a middle of the group, then away from it.
 */
GroupWays route_group(const LocalGraph &graph, const std::vector<std::vector<uint32_t>> &goals);

} // namespace aries::routing

#endif
