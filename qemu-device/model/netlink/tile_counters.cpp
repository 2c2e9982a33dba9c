// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
#include "netlink/tile_counters.hpp"

#include <algorithm>
#include <numeric>

#include "aries_regs.h"
#include "netlink/network.hpp"

namespace aries
{

namespace
{

#define ARIES_NAMED(name, first, count) {#name, first, count},
constexpr NamedCounter NETWORK_NAMES[] = {ARIES_RTR_NETWORK_NAMES(ARIES_NAMED)};
constexpr NamedCounter PROCESSOR_NAMES[] = {ARIES_RTR_PROCESSOR_NAMES(ARIES_NAMED)};
#undef ARIES_NAMED

constexpr uint32_t COLUMNS = TILE_COLUMNS;
constexpr uint32_t FIRST_RESPONSE = ARIES_VIRTUAL_CHANNELS / 2;

static_assert(ARIES_RTR_TILES == TILES && ARIES_RTR_TILES * ARIES_RTR_ELEMENTS == ARIES_RTR_COUNTER_COUNT);

uint64_t load(const std::atomic<uint64_t> &word) noexcept
{
	return word.load(std::memory_order_relaxed);
}

void add_cycles(const LinkCounters::Channels &from, uint32_t to, TileCounters &values) noexcept
{
	for (uint32_t vc = 0; vc < ARIES_VIRTUAL_CHANNELS; vc++)
		values[to + vc] += load(from[vc]) / TICKS_PER_NS * chip::ARIES.times.router_mhz / 1000;
}

void add_flits(const TileState &tile, const LinkCounters &link, bool processor, uint32_t to,
	       TileCounters &values) noexcept
{
	if (processor) {
		values[to] += load(tile.events[0]);
		values[to + FIRST_RESPONSE] += load(tile.events[1]);
		return;
	}
	for (uint32_t vc = 0; vc < ARIES_VIRTUAL_CHANNELS; vc++)
		values[to + vc] += load(link.flits[vc]);
}

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

TileCounters Network::tile_counters(uint32_t router, uint32_t tile) const noexcept
{
	TileCounters values{};

	if (router >= topo_.routers() || tile >= TILES)
		return values;

	const bool processor = tile >= FIRST_PROCESSOR;
	const LinkEnd far =
		processor ? LinkEnd{router, FIRST_INJECT + tile - FIRST_PROCESSOR} : topo_.far_end(router, tile);

	if (tiles_.there(router)) {
		const uint32_t out = link_id(router, tile);

		add_flits(tiles_[out], tiles_.counters(out), processor, ARIES_RTR_OUT_FLITS, values);
		add_cycles(tiles_.counters(out).waited, ARIES_RTR_OUT_STALL, values);
		if (!processor) {
			values[ARIES_RTR_REPLAYS] = load(tiles_[out].events[TileState::REPLAYS]);
			values[ARIES_RTR_MISSED] = load(tiles_[out].events[TileState::MISSED]);
		}
	}
	if (far.tile != NO_TILE && tiles_.there(far.router)) {
		const uint32_t in = link_id(far.router, far.tile);

		add_flits(tiles_[in], tiles_.counters(in), processor, ARIES_RTR_IN_FLITS, values);
		add_cycles(tiles_.counters(in).held, ARIES_RTR_IN_STALL, values);
	}
	return values;
}

} // namespace aries
