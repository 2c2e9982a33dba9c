// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The sending side of a link: booking, load, lanes, up and down. The words lie in memory that several processes
 * share; each is changed by one instruction, so whoever dies in between leaves a valid state.
 */
#ifndef ARIES_LINK_LINK_HPP
#define ARIES_LINK_LINK_HPP

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "link/rates.hpp"

namespace aries
{

/**
 * One direction of a link or processor tile. All zero: quiet, up, all lanes. A cache line each: processors that book
 * neighbours at once do not wait for one another.
 */
struct alignas(64) TileState {
	std::atomic<uint64_t> busy;  ///< ticks up to which it is booked
	std::atomic<uint32_t> state; ///< LINK_* bits
	uint32_t reserved;
};

static_assert(sizeof(TileState) == 64 && std::atomic<uint64_t>::is_always_lock_free &&
		      std::atomic<uint32_t>::is_always_lock_free,
	      "tiles are shared between processes");

/** One NIC of the fabric. All zero: connected, and at the place that has the number of the NIC. */
struct NicState {
	std::atomic<uint32_t> state; ///< LINK_DOWN
	std::atomic<uint32_t> place; ///< 1 + number of the machine's node; 0: its node address
};

/** Netlink's side of one place for a NIC. All zero: on its first tile. It has the size of a tile, among which it is. */
struct alignas(64) NetlinkState {
	std::atomic<uint32_t> tile; ///< processor tile of its quad that it used last
};

static_assert(sizeof(NetlinkState) == sizeof(TileState), "it lies in a slot of its router's tiles");

static_assert(sizeof(NicState) == 8, "NICs are shared between processes");

inline constexpr uint32_t LINK_DEAD_LANES = 0x3; ///< lanes that do not work, 0 to 2
inline constexpr uint32_t LINK_DOWN = 0x4;

/**
 * The furthest that a booking may be ahead, in ticks (68 s). What is further is not a booking but damage, and is
 * ignored: a broken clock in one process must not close a link to all.
 */
inline constexpr uint64_t BOOKING_LIMIT = uint64_t{1} << 42;

/**
 * Short and middling trains book a tile no further ahead of the time at which they are issued, in ticks (100 us: what
 * 16 NICs can have outstanding at one, N20, L08), and wait no longer. In hardware whoever issues more is held up; a
 * guest is not, and where the host is faster than the modelled links it would close a tile to all that come later for
 * as long as it has been at it. Nor does a small packet wait for a whole long transfer there, whose packets it mixes
 * with.
 */
inline constexpr uint64_t BACKLOG_LIMIT = ns_to_ticks(100'000);

/** Ticks that a tile is booked ahead of @p now: the near-end load (R08). */
inline uint64_t booked_ahead(const TileState &tile, uint64_t now) noexcept
{
	const uint64_t busy = tile.busy.load(std::memory_order_relaxed);

	return busy > now && busy - now <= BOOKING_LIMIT ? busy - now : 0;
}

/**
 * Book a tile for @p length ticks, as soon after @p at as it is free.
 *
 * A booking by another thread in between means another try with the newer value; somebody gets on every time.
 * One word keeps no gaps: a booking made for later also closes the time before it. So a packet that is handled
 * after another one, but gets to the tile before it, waits up to the time by which the other one was ahead.
 * @return tick at which the booked time begins
 */
inline uint64_t book(TileState &tile, uint64_t at, uint64_t length) noexcept
{
	uint64_t busy = tile.busy.load(std::memory_order_relaxed);
	uint64_t start;

	length = std::min(length, BOOKING_LIMIT / 2);
	do {
		start = busy > at && busy - at <= BOOKING_LIMIT ? busy : at;
	} while (!tile.busy.compare_exchange_weak(busy, start + length, std::memory_order_relaxed));
	return start;
}

/** Whether a tile has nothing to do from @p at on. */
inline bool free_at(const TileState &tile, uint64_t at) noexcept
{
	return tile.busy.load(std::memory_order_relaxed) <= at;
}

/** Book a tile that free_at() @p at for a short train. */
inline void take_free(TileState &tile, uint64_t at, uint64_t length) noexcept
{
	tile.busy.store(at + std::min(length, BOOKING_LIMIT / 2), std::memory_order_relaxed);
}

/**
 * Book at @p now for a train that gets to the tile at @p at, not before now: the tile has @p length ticks more to do
 * from now on. Unlike book() this does not close the time between both to others, who may be there first; so a tile may
 * pass two that get there at once, but in the long run no more than it can.
 * @param limit ticks that it waits at most; to a longer backlog it adds nothing
 * @return tick at which the train's time begins
 */
inline uint64_t book_later(TileState &tile, uint64_t now, uint64_t at, uint64_t length, uint64_t limit) noexcept
{
	const uint64_t ahead = booked_ahead(tile, now);

	return std::max(at, ahead > limit ? now + limit : book(tile, now, length));
}

/**
 * As book_later(), for a short train: a tile that is free is taken with a load and a store instead of a locked
 * instruction (each costs as much as a third of all other modelling of a packet). Of two threads that find one tile
 * free within the same few nanoseconds one may be forgotten: the tile then looks less loaded by its flits. A tile that
 * has load is booked exactly.
 */
inline uint64_t book_short(TileState &tile, uint64_t now, uint64_t at, uint64_t length, uint64_t limit) noexcept
{
	if (!free_at(tile, now))
		return book_later(tile, now, at, length, limit);
	take_free(tile, now, length);
	return at;
}

/**
 * As book_later() with BACKLOG_LIMIT, for one of several tiles that share a train of middling length. A load and a
 * store: of two threads that book one tile within the same nanosecond one may be forgotten, and the tile looks less
 * loaded by that part of its train. With locked instructions eight tiles would cost as much as copying the train's
 * data.
 */
inline uint64_t book_part(TileState &tile, uint64_t now, uint64_t at, uint64_t length) noexcept
{
	const uint64_t ahead = booked_ahead(tile, now);

	if (ahead <= BACKLOG_LIMIT) [[likely]]
		take_free(tile, now + ahead, length);
	return std::max(at, now + std::min(ahead, BACKLOG_LIMIT));
}

/** As book_later() without a limit, for a tile's part of a long train. */
inline uint64_t book_exact(TileState &tile, uint64_t now, uint64_t at, uint64_t length) noexcept
{
	return book_later(tile, now, at, length, BOOKING_LIMIT);
}

inline bool link_up(const TileState &tile) noexcept
{
	return !(tile.state.load(std::memory_order_relaxed) & LINK_DOWN);
}

/** Working lanes, 1 to 3. */
inline uint32_t link_lanes(const TileState &tile) noexcept
{
	const uint32_t dead = tile.state.load(std::memory_order_relaxed) & LINK_DEAD_LANES;

	return LANES - std::min(dead, LANES - 1);
}

inline void set_link_up(TileState &tile, bool up) noexcept
{
	if (up)
		tile.state.fetch_and(~LINK_DOWN, std::memory_order_relaxed);
	else
		tile.state.fetch_or(LINK_DOWN, std::memory_order_relaxed);
}

/** @param lanes 1 to LANES */
inline void set_link_lanes(TileState &tile, uint32_t lanes) noexcept
{
	uint32_t old = tile.state.load(std::memory_order_relaxed);

	while (!tile.state.compare_exchange_weak(old, (old & ~LINK_DEAD_LANES) | (LANES - lanes),
						 std::memory_order_relaxed)) {
	}
}

/** Factors for flit_ticks() by medium and dead lanes; the fourth column is the third, for damaged words. */
inline constexpr std::array<std::array<uint64_t, LINK_DEAD_LANES + 1>, 3> LINK_FACTORS{{
	{flit_factor(Medium::Electrical, 3), flit_factor(Medium::Electrical, 2), flit_factor(Medium::Electrical, 1),
	 flit_factor(Medium::Electrical, 1)},
	{flit_factor(Medium::Optical, 3), flit_factor(Medium::Optical, 2), flit_factor(Medium::Optical, 1),
	 flit_factor(Medium::Optical, 1)},
	{flit_factor(Medium::Processor, 3), flit_factor(Medium::Processor, 3), flit_factor(Medium::Processor, 3),
	 flit_factor(Medium::Processor, 3)},
}};

/** Ticks that @p flits take on a tile as it is now. */
inline uint64_t link_ticks(const TileState &tile, Medium medium, uint64_t flits) noexcept
{
	const uint32_t dead = tile.state.load(std::memory_order_relaxed) & LINK_DEAD_LANES;

	return flit_ticks(flits, LINK_FACTORS[static_cast<uint32_t>(medium)][dead]);
}

/** One word for people: "up", "degraded" or "down". */
const char *link_state_name(const TileState &tile) noexcept;

} // namespace aries

#endif
