// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The counters of a tile as registers, the driver and tools show them, and the names that sites know them by.
 */
#ifndef ARIES_NETLINK_TILE_COUNTERS_HPP
#define ARIES_NETLINK_TILE_COUNTERS_HPP

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "aries_hw.h"

namespace aries
{

/** By enum aries_rtr_counter. Stalls in cycles of the router's 875 MHz (P02). */
using TileCounters = std::array<uint64_t, ARIES_RTR_COUNT>;

/** A counter as monitoring tools of XC systems name it: the sum of some elements of TileCounters. */
struct NamedCounter {
	const char *name; ///< without what names the tile
	uint32_t first;
	uint32_t count;
};

/** What a tile of this number has, 0 to 47. */
std::span<const NamedCounter> named_counters(uint32_t tile) noexcept;

/** "AR_RTR_r_c_" of a network tile, "AR_RTR_PT_5_c_" of a processor tile. */
std::string counter_prefix(uint32_t tile);

uint64_t named_value(const NamedCounter &counter, const TileCounters &values) noexcept;

} // namespace aries

#endif
