// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Numbers of links: each output tile of each router, and each input of a processor tile, has a slot of its own in
 * shared memory.
 */
#ifndef ARIES_NETLINK_LINKS_HPP
#define ARIES_NETLINK_LINKS_HPP

#include <cstdint>

#include "topology/dragonfly.hpp"

namespace aries
{

/**
 * Slots of a cache line of a router in shared memory: 48 outputs, 8 inputs of processor tiles, a Netlink each NIC; the
 * counters of outputs and inputs; and what is still to come over outputs.
 */
inline constexpr uint32_t TILE_SLOTS = 256;
inline constexpr uint32_t FIRST_INJECT = TILES;
inline constexpr uint32_t FIRST_NETLINK = FIRST_INJECT + PROCESSOR_TILES;
inline constexpr uint32_t FIRST_COUNTERS = 64;
inline constexpr uint32_t COUNTER_SLOTS = 3; ///< of an output or input
inline constexpr uint32_t FIRST_STREAMS = FIRST_COUNTERS + COUNTER_SLOTS * FIRST_NETLINK;
inline constexpr uint32_t STREAM_SLOTS = TILES / 2; ///< two outputs each

/** Users number links router * LINK_TILES + tile. */
inline constexpr uint32_t LINK_TILES = 64;

static_assert(FIRST_STREAMS + STREAM_SLOTS <= TILE_SLOTS, "counters and streams have slots of their own");

/** The number of a router's output tile. */
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

} // namespace aries

#endif
