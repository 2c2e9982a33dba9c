// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * State of the tiles of all routers, in memory that all processes of a fabric share. A router has four pages of it,
 * which cost memory of the host once a packet has touched the router: until then they are a hole in the file, and a bit
 * per router tells that they are none any more. A hole is neither written nor read, because both would make its pages,
 * and where there is no room for them end the process. What has no pages is quiet.
 */
#ifndef ARIES_NETLINK_ROUTER_STATES_HPP
#define ARIES_NETLINK_ROUTER_STATES_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "aries_regs.h"
#include "link/link.hpp"
#include "link/stream.hpp"
#include "netlink/links.hpp"

namespace aries
{

inline constexpr size_t ROUTER_BYTES = size_t{TILE_SLOTS} * sizeof(TileState);

static_assert(ROUTER_BYTES % 4096 == 0, "pages of a file can be had by themselves");

/**
 * What has passed one direction of a link or processor tile, by virtual channel (P12). All zero: nothing. Added to by
 * locked instructions. Times in ticks.
 */
struct alignas(64) LinkCounters {
	using Channels = std::atomic<uint64_t>[ARIES_VIRTUAL_CHANNELS];

	Channels flits;  ///< sent over it; of processor tiles see TileState::events
	Channels waited; ///< time for which heads of packets waited to go over it
	Channels held;   ///< time for which they waited at its far end to go on
};

static_assert(sizeof(Stream) * TILES == STREAM_SLOTS * sizeof(TileState), "two lie in a slot of their router");
static_assert(sizeof(LinkCounters) == COUNTER_SLOTS * sizeof(TileState), "it lies in slots of its router");

/** Threads: everything from any number of threads and processes at once; only the first touch of a router may sleep. */
class RouterStates
{
public:
	/** Makes room for the state of a router; false if there is none. Any thread; must not throw. */
	using Reserve = std::function<bool(uint32_t router)>;

	/** Bytes of the bits that tell which routers have a page, a multiple of 64. */
	static constexpr size_t map_bytes(uint32_t routers) { return (size_t{routers} + 511) / 512 * 64; }

	/**
	 * @param tiles ROUTER_BYTES for each router, zero when the fabric was made
	 * @param map map_bytes(), zero when the fabric was made
	 * @param reserve empty: all pages are there from the beginning
	 */
	RouterStates(uint32_t routers, void *tiles, void *map, Reserve reserve);

	/** Whether a router has state. */
	bool there(uint32_t router) const noexcept
	{
		return known_[router].load(std::memory_order_relaxed) || find(router);
	}

	/** Makes a router's state if there is none; if true, operator[] may be used for the router from then on. */
	bool ready(uint32_t router) noexcept { return there(router) || make(router); }

	/** A tile of a router that is ready(). */
	TileState &operator[](uint32_t link) const noexcept { return tiles_[link]; }

	/** Counters of a tile of a router that is ready(). */
	LinkCounters &counters(uint32_t link) const noexcept { return counters_of(tiles_[link], link_tile(link)); }

	/** The same, by the tile. */
	static LinkCounters &counters_of(TileState &state, uint32_t tile) noexcept
	{
		return reinterpret_cast<LinkCounters &>(
			*(&state + (FIRST_COUNTERS + (COUNTER_SLOTS - 1) * size_t{tile})));
	}

	/** What is to come over an output of a router that is ready(). */
	Stream &stream(uint32_t link) const noexcept
	{
		return stream_of(&tiles_[link_id(link_router(link), 0)], link_tile(link));
	}

	/** The same, by the first tile of the router. */
	static Stream &stream_of(const TileState *tiles, uint32_t tile) noexcept
	{
		return reinterpret_cast<Stream *>(const_cast<TileState *>(tiles) + FIRST_STREAMS)[tile];
	}

	/** The tiles of a router, to be read: quiet tiles if the router has no state. */
	const TileState *look_at(uint32_t router) const noexcept
	{
		return there(router) ? &tiles_[link_id(router, 0)] : QUIET;
	}

	/** A tile to be read. */
	const TileState &look(uint32_t link) const noexcept { return look_at(link_router(link))[link_tile(link)]; }

	/**
	 * A tile to be booked. If there is no room for the router's state, a tile that only this thread sees,
	 * quiet at first, whose counters are never read.
	 */
	TileState &take(uint32_t link) noexcept
	{
		return ready(link_router(link)) ? tiles_[link] : nowhere(link_tile(link));
	}

private:
	using Words = std::unique_ptr<std::atomic<uint64_t>[]>;
	using Flags = std::unique_ptr<std::atomic<bool>[]>;

	static constexpr uint64_t bit(uint32_t router) { return uint64_t{1} << router % 64; }

	static TileState &nowhere(uint32_t tile) noexcept;
	bool find(uint32_t router) const noexcept;
	bool make(uint32_t router) noexcept;

	static const TileState QUIET[TILE_SLOTS];

	TileState *tiles_;           // shared
	std::atomic<uint64_t> *map_; // shared
	Flags known_;                // what this process has seen in the map; a byte each, which takes one instruction
	Words refused_;              // where there was no room: not asked for again by this process
	Reserve reserve_;
};

} // namespace aries

#endif
