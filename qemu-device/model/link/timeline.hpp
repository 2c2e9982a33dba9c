// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The time of whatever does one thing after the other: tiles, links, units of a NIC. The word lies in memory that
 * several processes share and is changed by one instruction, so whoever dies in between leaves a valid state.
 */
#ifndef ARIES_LINK_TIMELINE_HPP
#define ARIES_LINK_TIMELINE_HPP

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "link/rates.hpp"

namespace aries
{

/**
 * The furthest that a booking may be ahead, in ticks (68 s). What is further is not a booking but damage, and is
 * ignored: a broken clock in one process must not close a link to all.
 */
inline constexpr uint64_t BOOKING_LIMIT = uint64_t{1} << 42;

/** How far tick @p until is ahead of @p now; damage counts as nothing. */
constexpr uint64_t ticks_ahead(uint64_t until, uint64_t now) noexcept
{
	return until > now && until - now <= BOOKING_LIMIT ? until - now : 0;
}

/** How a reservation is stored. */
enum class Store : uint8_t {
	Exact, ///< by a locked instruction: nothing is forgotten. Links, which many NICs share, and large transfers
	Quick, ///< what is free is taken by a load and a store, what has load exactly. Few packets, on one tile
	Loose, ///< by a load and a store. Each of several tiles that share a transfer of middling length: by locked
	       ///< instructions eight of them would cost as much as the copy
};

/**
 * What something that does one thing at a time has to do. All zero: nothing.
 *
 * One word keeps no gaps: whoever reserves for later adds to what is to do from now on.
 */
struct Timeline {
	std::atomic<uint64_t> busy; ///< tick up to which it is booked

	/** Ticks that it is booked ahead of @p now. */
	uint64_t ahead(uint64_t now) const noexcept;

	/** Tick up to which it is booked. */
	uint64_t until() const noexcept { return busy.load(std::memory_order_relaxed); }

	/** Whether it has nothing to do from @p at on. */
	bool free_at(uint64_t at) const noexcept { return until() <= at; }

	/** Reserve @p length ticks from @p now on of what is free_at() then, by a store. */
	void take(uint64_t now, uint64_t length) noexcept { busy.store(now + length, std::memory_order_relaxed); }

	/**
	 * Reserve @p length ticks, at @p now, for what gets here at @p at, not before now. This does not close the time
	 * between both to others, who may be there first; so two that get here at once may both pass, but in the
	 * long run there are no more than can.
	 *
	 * Of two threads that store within the same few nanoseconds without a locked instruction one may be forgotten:
	 * the timeline then looks less loaded by that much. A locked instruction costs as much as a third of all other
	 * modelling of a packet.
	 * @return tick at which the reserved time begins
	 */
	uint64_t reserve(uint64_t now, uint64_t at, uint64_t length, Store store) noexcept;

	/** The same for what is here when it is reserved, or must not get past what has come before. */
	uint64_t reserve(uint64_t at, uint64_t length) noexcept;
};

inline uint64_t Timeline::ahead(uint64_t now) const noexcept
{
	return ticks_ahead(busy.load(std::memory_order_relaxed), now);
}

inline uint64_t Timeline::reserve(uint64_t now, uint64_t at, uint64_t length, Store store) noexcept
{
	uint64_t until = busy.load(std::memory_order_relaxed);
	uint64_t backlog = ticks_ahead(until, now);

	length = std::min(length, BOOKING_LIMIT / 2);
	if (store == Store::Loose || (store == Store::Quick && until <= now)) {
		busy.store(now + backlog + length, std::memory_order_relaxed);
	} else {
		/* A reservation by another thread means another try with the newer value; somebody gets on every time.
		 */
		while (!busy.compare_exchange_weak(until, now + backlog + length, std::memory_order_relaxed))
			backlog = ticks_ahead(until, now);
	}
	return std::max(at, now + backlog);
}

inline uint64_t Timeline::reserve(uint64_t at, uint64_t length) noexcept
{
	return reserve(at, at, length, Store::Exact);
}

} // namespace aries

#endif
