// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The four route tables of a router (R07), looked up hop by hop: local minimal and non-minimal for the way inside
 * a group, global minimal and non-minimal for the way between groups. The entries are computed from the wiring.
 */
#ifndef ARIES_ROUTER_ROUTE_TABLES_HPP
#define ARIES_ROUTER_ROUTE_TABLES_HPP

#include <array>
#include <cstdint>

#include "topology/dragonfly.hpp"

namespace aries
{

inline constexpr uint32_t MAX_MINIMAL_HOPS = 5; ///< (R02, L06)
inline constexpr uint32_t MAX_HOPS = 10;        ///< (R04)
inline constexpr uint32_t REQUEST_VCS = 4;      ///< request channels 0 to 3, response channels 4 to 7 (P12)

/** Slots for tile states of a router in shared memory: 48 outputs, 8 inputs of processor tiles, a Netlink each NIC. */
inline constexpr uint32_t TILE_SLOTS = 64;
inline constexpr uint32_t FIRST_INJECT = TILES;
inline constexpr uint32_t FIRST_NETLINK = FIRST_INJECT + PROCESSOR_TILES;

/** One output tile of one router. */
constexpr uint32_t link_id(uint32_t router, uint32_t tile)
{
	return router * TILE_SLOTS + tile;
}

constexpr uint32_t link_router(uint32_t id)
{
	return id / TILE_SLOTS;
}

constexpr uint32_t link_tile(uint32_t id)
{
	return id % TILE_SLOTS;
}

/** A way from router to router: the output tiles in order. */
struct Path {
	uint32_t hops;
	std::array<uint32_t, MAX_HOPS> link;
};

/**
 * Route tables of all routers of a dragonfly.
 *
 * @p way selects among equal entries: parallel black links, parallel global links, roots. Equal ways give equal
 * answers. Inside a group the green hop comes before the black one, so that the channels of one virtual channel
 * cannot wait for each other in a circle; routers of a partly filled last chassis may need the black one first.
 */
class RouteTables
{
public:
	explicit RouteTables(const Dragonfly &topo) noexcept : topo_(topo) {}

	/** Output tile at @p router towards another router of its group: at most one green and one black hop (R01). */
	uint32_t local_minimal(uint32_t router, uint32_t target, uint32_t way) const noexcept;

	/** Output tile at @p router towards another group, by the nearest of its global links (R02, R05). */
	uint32_t global_minimal(uint32_t router, uint32_t group, uint32_t way) const noexcept;

	/** Root in the group of @p router: uniform without the two ends; @p router if there are no others (R03). */
	uint32_t local_nonminimal(uint32_t router, uint32_t target, uint32_t way) const noexcept;

	/** Root anywhere, the same for all routers of the system (R04). */
	uint32_t global_nonminimal(uint32_t router, uint32_t target, uint32_t way) const noexcept;

	/** Output tile at @p router towards @p target: one of the minimal tables; NO_TILE if that is here. */
	uint32_t next_hop(uint32_t router, uint32_t target, uint32_t way) const noexcept;

	/** Append the minimal way to a path, hop by hop. */
	void append_minimal(uint32_t router, uint32_t target, uint32_t way, Path &path) const noexcept;

	/** Root for a non-minimal way: one of the non-minimal tables. */
	uint32_t root(uint32_t router, uint32_t target, uint32_t way) const noexcept;

	/** Virtual channel behind a global link or a root: one up (P13, R16). */
	static constexpr uint32_t next_vc(uint32_t vc, bool crosses_blue, bool leaves_root)
	{
		return vc + (crosses_blue ? 1 : 0) + (leaves_root ? 1 : 0);
	}

private:
	uint32_t hops_inside(uint32_t from, uint32_t to) const noexcept;

	const Dragonfly &topo_;
};

} // namespace aries

#endif
