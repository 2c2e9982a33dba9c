// SPDX-License-Identifier: GPL-2.0-or-later
#include "netlink/tile_counters.hpp"

#include <algorithm>
#include <numeric>

#include "aries_regs.h"
#include "topology/dragonfly.hpp"

namespace aries
{

namespace
{

#define ARIES_NAMED(name, first, count) {#name, first, count},
constexpr NamedCounter NETWORK_NAMES[] = {ARIES_RTR_NETWORK_NAMES(ARIES_NAMED)};
constexpr NamedCounter PROCESSOR_NAMES[] = {ARIES_RTR_PROCESSOR_NAMES(ARIES_NAMED)};
#undef ARIES_NAMED

constexpr uint32_t COLUMNS = TILE_COLUMNS;

static_assert(ARIES_RTR_TILES == TILES && ARIES_RTR_TILES * ARIES_RTR_ELEMENTS == ARIES_RTR_COUNTER_COUNT);

} // namespace

std::span<const NamedCounter> named_counters(uint32_t tile) noexcept
{
	if (tile < FIRST_PROCESSOR)
		return NETWORK_NAMES;
	return PROCESSOR_NAMES;
}

std::string counter_prefix(uint32_t tile)
{
	return (tile < FIRST_PROCESSOR ? "AR_RTR_" : "AR_RTR_PT_") + std::to_string(tile / COLUMNS) + "_" +
	       std::to_string(tile % COLUMNS) + "_";
}

uint64_t named_value(const NamedCounter &counter, const TileCounters &values) noexcept
{
	const auto first = values.begin() + counter.first;

	return std::accumulate(first, first + counter.count, uint64_t{0});
}

} // namespace aries
