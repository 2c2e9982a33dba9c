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

} // namespace aries

#endif
