// SPDX-License-Identifier: GPL-2.0-or-later
#include "netlink/router_states.hpp"

#include <utility>

namespace aries
{

const TileState RouterStates::QUIET[TILE_SLOTS]{};

RouterStates::RouterStates(uint32_t routers, void *tiles, void *map, Reserve reserve)
	: tiles_(static_cast<TileState *>(tiles)), map_(static_cast<std::atomic<uint64_t> *>(map)),
	  known_(std::make_unique<std::atomic<bool>[]>(routers)),
	  refused_(std::make_unique<std::atomic<uint64_t>[]>((routers + 63) / 64)), reserve_(std::move(reserve))
{
	for (uint32_t router = 0; !reserve_ && router < routers; router++)
		known_[router] = true;
}

TileState &RouterStates::nowhere(uint32_t tile) noexcept
{
	static thread_local TileState tiles[TILE_SLOTS];

	tiles[tile].busy.store(0, std::memory_order_relaxed);
	tiles[tile].state.store(0, std::memory_order_relaxed);
	return tiles[tile];
}

/* Another process may have made the router's state. The page exists before its bit is set. */
bool RouterStates::find(uint32_t router) const noexcept
{
	if (!(map_[router / 64].load(std::memory_order_acquire) & bit(router)))
		return false;
	known_[router].store(true, std::memory_order_relaxed);
	return true;
}

/* Two processes that make the same page get the same page. */
bool RouterStates::make(uint32_t router) noexcept
{
	if (refused_[router / 64].load(std::memory_order_relaxed) & bit(router))
		return false;
	if (!reserve_(router)) {
		refused_[router / 64].fetch_or(bit(router), std::memory_order_relaxed);
		return false;
	}
	map_[router / 64].fetch_or(bit(router), std::memory_order_release);
	return find(router);
}

} // namespace aries
