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
	bool shortest; ///< false if up-then-down had to be used, which makes detours
};

/**
 * The ways of a group. Shortest ones, ranks ascending where that is possible; if these could wait for each other in a
 * circle, up-then-down ways instead, which cannot.
 */
GroupWays route_group(const LocalGraph &graph, const std::vector<std::vector<uint32_t>> &goals);

/** Shortest ways, ranks ascending where that is possible. */
Way route_shortest(const LocalGraph &graph, const std::vector<uint32_t> &goals);

/** Up-then-down ways: first towards a middle of the group, then away from it. @p key tells the order of routers. */
Way route_up_down(const LocalGraph &graph, const std::vector<uint32_t> &goals, const std::vector<uint32_t> &key);

/** An order of routers from a middle outwards, for route_up_down(). */
std::vector<uint32_t> order_outwards(const LocalGraph &graph);

/** Can packets that go these ways, in one channel, wait for each other in a circle? */
bool has_circle(const LocalGraph &graph, const std::vector<Way> &ways);

} // namespace aries::routing

#endif
