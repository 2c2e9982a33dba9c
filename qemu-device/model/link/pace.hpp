// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What a NIC itself can do in a time, whatever the network lets through: data that it sends, data that it moves in
 * both directions, atomics. Each is a timeline, as a tile is (link.hpp).
 *
 * Long streams book exactly, those of up to 64 packets as parts of larger transfers do. Operations of a single packet
 * do not book: a processor cannot issue as many as would fill the NIC (L14), and every one would pay for the shared
 * word.
 */
#ifndef ARIES_LINK_PACE_HPP
#define ARIES_LINK_PACE_HPP

#include "link/link.hpp"

namespace aries
{

/** 64 bytes in five cycles of 800 MHz: 10.24 GB/s (L08). */
inline constexpr uint64_t INJECT_TICKS =
	chip::ARIES.times.nic_packet_cycles * 1000ull * TICKS_PER_NS / chip::ARIES.times.nic_mhz;
/** 64 bytes of either direction at 15 GB/s: what is left of a host interface that both use (L10). */
inline constexpr uint64_t DATA_TICKS = 64 * TICKS_PER_NS / 15;
/** A launched put: 120 million in a second (L12). */
inline constexpr uint64_t LAUNCH_TICKS = 1000 * TICKS_PER_NS / 120;

/** An atomic on a word in the AMO cache: two cycles of 800 MHz (L15). */
inline constexpr uint64_t AMO_HIT_TICKS = 2 * 1000 * TICKS_PER_NS / chip::ARIES.times.nic_mhz;
/** Host memory is read: 120 million in a second (L16). */
inline constexpr uint64_t AMO_MISS_TICKS = 1000 * TICKS_PER_NS / 120;
/** And a translation table, too: 50 million (L16). */
inline constexpr uint64_t AMO_WALK_TICKS = 1000 * TICKS_PER_NS / 50;

inline constexpr uint32_t AMO_LANES = 4;

/** Packets of a long stream are more. */
inline constexpr uint64_t LONG_PACKETS = 64;

/** One NIC. All zero: nothing to do. */
struct NicPace {
	TileState inject; ///< data that it sends
	TileState data;   ///< data that it sends or receives
	TileState amo;    ///< atomics, as far as a lane has found itself busy
	TileState amo_lane[AMO_LANES];
	TileState reserved;
};

/**
 * Book @p packets that leave @p from for @p to, one in @p ticks, as soon after tick @p at as both are free. Only
 * streams with data (INJECT_TICKS) that are long book what both directions share.
 * @return tick at which the first one passes
 */
inline uint64_t book_stream(NicPace &from, NicPace &to, uint64_t packets, uint64_t ticks, uint64_t at) noexcept
{
	if (packets <= LONG_PACKETS)
		return from.inject.reserve(at, at, packets * ticks, Store::Loose);
	if (ticks != INJECT_TICKS)
		return from.inject.reserve(at, at, packets * ticks, Store::Quick);

	uint64_t head = from.inject.reserve(at, packets * ticks);

	head = from.data.reserve(head, packets * DATA_TICKS);
	return &from == &to ? head : to.data.reserve(head, packets * DATA_TICKS);
}

/**
 * Book an atomic at the unit of a NIC. Threads with different lanes share no word while nothing waits; an atomic that
 * finds its lane busy takes its turn among those of all lanes.
 * @return ticks from @p at until it is done
 */
inline uint64_t book_atomic(NicPace &nic, uint32_t lane, uint64_t ticks, uint64_t at) noexcept
{
	TileState &mine = nic.amo_lane[lane % AMO_LANES];

	if (mine.free_at(at) && nic.amo.free_at(at)) [[likely]] {
		mine.reserve(at, at, ticks, Store::Quick);
		return ticks;
	}
	return nic.amo.reserve(std::max(at, mine.busy.load(std::memory_order_relaxed)), ticks) + ticks - at;
}

} // namespace aries

#endif
