// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The sending side of a link: load, lanes, up and down. The words lie in memory that several processes
 * share; each is changed by one instruction, so whoever dies in between leaves a valid state.
 */
#ifndef ARIES_LINK_LINK_HPP
#define ARIES_LINK_LINK_HPP

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "link/rates.hpp"
#include "link/timeline.hpp"

namespace aries
{

/**
 * One direction of a link or processor tile. All zero: quiet, up, all lanes. A cache line each: processors that book
 * neighbours at once do not wait for one another.
 */
struct alignas(64) TileState : Timeline {
	std::atomic<uint32_t> state;     ///< LINK_* bits
	std::atomic<uint32_t> noise;     ///< bit error rate, as the bits of a float
	std::atomic<uint64_t> far[2];    ///< see tell_load()
	std::atomic<uint64_t> beyond[2]; ///< see tell_load()
	std::atomic<uint64_t> events[2]; ///< of a link REPLAYS and MISSED, of a processor tile flits by PacketClass

	static constexpr uint32_t REPLAYS = 0; ///< times that the LCB began again (P09)
	static constexpr uint32_t MISSED = 1;  ///< sets with errors that its CRC did not see (P10)
};

static_assert(sizeof(TileState) == 64 && std::atomic<uint64_t>::is_always_lock_free &&
		      std::atomic<uint32_t>::is_always_lock_free,
	      "tiles are shared between processes");

/** One NIC of the fabric. All zero: connected, and at the place that has the number of the NIC. */
struct NicState {
	std::atomic<uint32_t> state; ///< LINK_DOWN
	std::atomic<uint32_t> place; ///< 1 + number of the machine's node; 0: its node address
	std::atomic<uint32_t> taken; ///< generation of the route tables that it uses
};

/** Netlink's side of one place for a NIC. All zero: on its first tile. It has the size of a tile, among which it is. */
struct alignas(64) NetlinkState {
	std::atomic<uint32_t> tile; ///< processor tile of its quad that it used last
};

static_assert(sizeof(NetlinkState) == sizeof(TileState), "it lies in a slot of its router's tiles");

static_assert(sizeof(NicState) == 12, "NICs are shared between processes");

inline constexpr uint32_t LINK_DEAD_LANES = 0x3; ///< lanes that do not work, 0 to 2
static_assert(LANES - 1 <= LINK_DEAD_LANES, "one lane always works");
inline constexpr uint32_t LINK_DOWN = 0x4;
inline constexpr uint32_t LINK_TOLD = 0x10; ///< the far end has told of a load. A hint: it may stay set for longer

/** Ticks between two messages about loads to a neighbour: 10 cycles of the router (R09). */
inline constexpr uint64_t TELL_TICKS = 10 * 1000 * TICKS_PER_NS / chip::ARIES.times.router_mhz;

/**
 * What the far end of a link lets the near end know (R08): until tick @p far what came over the link waits there, and
 * until tick @p beyond what has gone on from there waits at the router behind. Told at tick @p now; the near end
 * learns it with the next message (R09).
 */
inline void tell_load(TileState &tile, uint64_t now, uint64_t far, uint64_t beyond) noexcept
{
	const uint64_t turn = now / TELL_TICKS & 1;

	tile.far[turn].store(far, std::memory_order_relaxed);
	tile.beyond[turn].store(beyond, std::memory_order_relaxed);
	if (!(tile.state.load(std::memory_order_relaxed) & LINK_TOLD))
		tile.state.fetch_or(LINK_TOLD, std::memory_order_relaxed);
}

/** Tick until which packets wait at the far end, as the near end knows it at @p now; 0 if that is long past. */
inline uint64_t told_far(const TileState &tile, uint64_t now) noexcept
{
	if (!(tile.state.load(std::memory_order_relaxed) & LINK_TOLD)) [[likely]]
		return 0;
	return tile.far[~(now / TELL_TICKS) & 1].load(std::memory_order_relaxed);
}

/** What the near end knows of the load of the far end and behind. */
inline uint64_t told_load(const TileState &tile, uint64_t now) noexcept
{
	if (!(tile.state.load(std::memory_order_relaxed) & LINK_TOLD)) [[likely]]
		return 0;
	const uint64_t turn = ~(now / TELL_TICKS) & 1;

	return ticks_ahead(tile.far[turn].load(std::memory_order_relaxed), now) +
	       ticks_ahead(tile.beyond[turn].load(std::memory_order_relaxed), now);
}

/**
 * Takes LINK_TOLD back once all that was told is long past: packets are not booked in the order of modelled time, and
 * who is behind others still wants to know. Who tells meanwhile may be overheard, as if it had told a message later.
 */
[[gnu::noinline]] inline void forget_told(TileState &tile, uint64_t now) noexcept
{
	constexpr uint64_t LONG = ns_to_ticks(20'000);
	uint64_t last = 0;

	for (uint32_t turn = 0; turn < 2; turn++) {
		last = std::max(last, tile.far[turn].load(std::memory_order_relaxed));
		last = std::max(last, tile.beyond[turn].load(std::memory_order_relaxed));
	}
	if (last < now && now - last > LONG)
		tile.state.fetch_and(~LINK_TOLD, std::memory_order_relaxed);
}

/** The load of an output as its router knows it: near end, far end and downstream, combined to one number (R08). */
inline uint64_t known_load(const TileState &tile, uint64_t now) noexcept
{
	return ticks_ahead(tile.until(), now) + told_load(tile, now);
}

/**
 * Count flits of a processor tile without a locked instruction: of two threads that count the same class on the same
 * tile within a few nanoseconds one may be forgotten. See Timeline::take(), which books them in the same line.
 */
inline void count_quickly(TileState &tile, uint32_t cls, uint64_t flits) noexcept
{
	std::atomic<uint64_t> &word = tile.events[cls];

	word.store(word.load(std::memory_order_relaxed) + flits, std::memory_order_relaxed);
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

/** Bit errors by bits, from 0. */
inline float link_error_rate(const TileState &tile) noexcept
{
	return std::bit_cast<float>(tile.noise.load(std::memory_order_relaxed));
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
