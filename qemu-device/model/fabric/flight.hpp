/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses in flight: by these counters a node knows that a memory domain is no longer used. */
#ifndef ARIES_FABRIC_FLIGHT_HPP
#define ARIES_FABRIC_FLIGHT_HPP

#include "fabric/bus_guard.hpp"
#include "fabric/segment.hpp"

namespace aries
{

inline constexpr uint32_t LANE_UNKNOWN = UINT32_MAX;
inline constinit thread_local uint32_t lane_of_thread = LANE_UNKNOWN;

/** A small number that few threads of this process share. Called by threads that are about to visit a peer's memory. */
inline uint32_t thread_lane() noexcept
{
	static std::atomic<uint32_t> next{0};

	if (lane_of_thread == LANE_UNKNOWN) [[unlikely]] {
		admit_bus_errors();
		lane_of_thread = next.fetch_add(1, std::memory_order_relaxed) % FLIGHT_LANES;
	}
	return lane_of_thread;
}

/**
 * Gives the calling thread, number @n of its kind, a lane from the other end. For threads with few and long visits:
 * then the first processors have different lanes, whenever they make their first visit.
 */
inline void take_back_lane(uint32_t n) noexcept
{
	admit_bus_errors();
	lane_of_thread = FLIGHT_LANES - 1 - n % FLIGHT_LANES;
}

/** Whether @initiator has visits under way at @target that began in @phase. */
inline bool in_flight(const Segment &segment, uint32_t target, uint32_t initiator, unsigned int phase) noexcept
{
	for (const Flight &flight : segment.flights(target, initiator)) {
		if (flight.inflight[phase & 1].load())
			return true;
	}
	return false;
}

/**
 * Marks this initiator as inside the memory of @target. Objects of the target that are valid when the guard is made, or
 * later, stay usable until it is destroyed: the target invalidates first, then moves to the next epoch, and then waits
 * for the guards of the old epoch. To be held for one chunk of a copy at most.
 */
class FlightGuard
{
public:
	FlightGuard(Segment &segment, uint32_t target, uint32_t initiator) noexcept
		: flight_(segment.flights(target, initiator)[thread_lane()])
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
