// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * The modelled time of a fabric: the host's clock, and by how much the network is ahead of it.
 *
 * A host is often faster than the machine that it models. A NIC that has as many packets outstanding as it may (N20)
 * would have to wait for modelled time to pass, which it does not do: it moves modelled time on, for all members. So
 * nothing waits, and yet no NIC sends faster than responses come back and no link is booked further ahead than what all
 * NICs can have outstanding.
 */
#ifndef ARIES_NETLINK_FABRIC_CLOCK_HPP
#define ARIES_NETLINK_FABRIC_CLOCK_HPP

#include <atomic>
#include <cstdint>

namespace aries
{

class FabricClock
{
public:
	/** @param ahead_ns shared by all members, zero when the fabric was created */
	explicit FabricClock(std::atomic<uint64_t> &ahead_ns) noexcept : ahead_(ahead_ns) {}

	/** Modelled time, in ns, when the host's clock shows @p host_ns. */
	uint64_t at(uint64_t host_ns) const noexcept
	{
		return host_ns + (ahead_.load(std::memory_order_relaxed) & AHEAD_MASK);
	}

	/** It is @p modelled_ns now, or later, although the host's clock shows @p host_ns. */
	void pass(uint64_t modelled_ns, uint64_t host_ns) noexcept
	{
		uint64_t ahead = ahead_.load(std::memory_order_relaxed);

		while (modelled_ns > host_ns + (ahead & AHEAD_MASK) &&
		       !ahead_.compare_exchange_weak(ahead, (modelled_ns - host_ns) & AHEAD_MASK,
						     std::memory_order_relaxed)) {
		}
	}

	/** By how much modelled time is ahead, in ns. */
	uint64_t ahead() const noexcept { return at(0); }

private:
	/* 52 days: what goes beyond, or is damage, must not let ticks overflow. Bookings survive a leap back. */
	static constexpr uint64_t AHEAD_MASK = (uint64_t{1} << 52) - 1;

	std::atomic<uint64_t> &ahead_;
};

} // namespace aries

#endif
