// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Ways by directions on a torus with failures: who reaches whom, and where the usual way does not lead. For the tables
 * of torus.hpp, which tells what directions are; Documentation/routing.md tells why such ways close no circle.
 */
#ifndef ARIES_ROUTER_TORUS_DIRECTIONS_HPP
#define ARIES_ROUTER_TORUS_DIRECTIONS_HPP

#include <array>
#include <cstdint>
#include <vector>

#include "router/torus.hpp"

namespace aries::routing
{

/** A torus as the search wants it. */
struct TorusGrid {
	std::array<uint32_t, TORUS_AXES> sizes;
	std::vector<const TorusRouter *> routers; ///< by place: turns as if nothing had failed, links that work
};

/** What tables by directions have beside turns and links, place after place. */
struct TorusDirections {
	uint8_t early_down = 0; ///< as in TorusRouter
	std::vector<TorusDetour> detours;
	std::vector<uint16_t> lost;
	std::vector<size_t> detour_ends; ///< of each place, in detours
	std::vector<size_t> lost_ends;
	uint64_t lost_pairs = 0; ///< of routers that have links
};

/**
 * Shortest ways by directions from every router to every other that the usual way does not reach. Takes as many steps
 * as there are pairs, and for each router with such a destination twelve for each router.
 */
TorusDirections find_directions(const TorusGrid &grid, uint8_t early_down);

} // namespace aries::routing

#endif
