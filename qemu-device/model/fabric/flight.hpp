/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses in flight: what lets a node know that nobody uses a memory domain any more. */
#ifndef ARIES_FABRIC_FLIGHT_HPP
#define ARIES_FABRIC_FLIGHT_HPP

#include "fabric/segment.hpp"

namespace aries
{

/**
 * Marks this initiator as inside the memory of @target. Everything the target
 * published that was valid at entry or later stays usable until leave(): the
 * target invalidates first, then moves to the next epoch, then waits for the
 * entries of the old one. Short: at most one chunk of a copy.
 */
class FlightGuard
{
public:
	FlightGuard(Segment &segment, uint32_t target, uint32_t initiator) noexcept
		: flight_(segment.flight(target, initiator))
	{
		const std::atomic<uint64_t> &epoch = segment.node(target).epoch;

		for (;;) {
			const uint64_t before = epoch.load(std::memory_order_acquire);

			phase_ = before & 1;
			flight_.inflight[phase_].fetch_add(1, std::memory_order_seq_cst);
			if (epoch.load(std::memory_order_seq_cst) == before)
				return;
			flight_.inflight[phase_].fetch_sub(1, std::memory_order_release);
		}
	}
	~FlightGuard() { flight_.inflight[phase_].fetch_sub(1, std::memory_order_release); }
	FlightGuard(const FlightGuard &) = delete;
	FlightGuard &operator=(const FlightGuard &) = delete;

	/** The target's counters for this initiator. */
	Flight &counters() noexcept { return flight_; }

private:
	Flight &flight_;
	unsigned int phase_;
};

} // namespace aries

#endif
