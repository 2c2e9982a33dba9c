// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The modelled time of a fabric: the host's clock, by how much the network is ahead of it, and how fast it goes.
 *
 * A host is often faster than the machine that it models. A NIC that has as many packets outstanding as it may (N20)
 * would have to wait for modelled time to pass, which it does not do: it moves modelled time on, for all members. So
 * nothing waits, and yet no NIC sends faster than responses come back and no link is booked further ahead than what all
 * NICs can have outstanding.
 *
 * Who wants to feel modelled time asks for the other way: completions are held until modelled time has come, and then
 * nobody moves it on. Modelled time may also go slower or faster than the host's, so that what an emulated processor
 * does and what the network does are in proportion.
 */
#ifndef ARIES_NETLINK_FABRIC_CLOCK_HPP
#define ARIES_NETLINK_FABRIC_CLOCK_HPP

#include <array>
#include <atomic>
#include <cstdint>

namespace aries
{

/** What members share of the clock, in words of their segment. All zero: as the host's clock, nothing is held. */
struct ClockState {
	/** From a host time on modelled time has gone at another rate. */
	struct Stretch {
		std::atomic<uint64_t> host_ns;
		std::atomic<uint64_t> modelled_ns;
		std::atomic<uint64_t> rate; ///< modelled ns in a ns of the host, times 2^32
	};
	static constexpr uint32_t STRETCHES = 8;

	std::atomic<uint64_t> word;    ///< how far ahead, the stretch in use, and what else FabricClock keeps there
	std::atomic<uint32_t> changes; ///< of the rate, ever
	std::array<Stretch, STRETCHES> stretch;
};

class FabricClock
{
public:
	/** Slowest and fastest rate. */
	static constexpr double RATE_MIN = 1e-6, RATE_MAX = 1e3;

	/** @param state shared by all members, zero when the fabric was created */
	explicit FabricClock(ClockState &state) noexcept : state_(state) {}

	/** Modelled time, in ns, when the host's clock shows @p host_ns. */
	uint64_t at(uint64_t host_ns) const noexcept
	{
		const uint64_t word = state_.word.load(std::memory_order_relaxed);

		/* Without a rate of its own and without holding the word is a number of ns and nothing else. */
		if (word > AHEAD_MASK) [[unlikely]]
			return base(host_ns, word) + (word & AHEAD_MASK);
		return host_ns + word;
	}

	/** It is @p modelled_ns now, or later, although the host's clock shows @p host_ns. */
	void pass(uint64_t modelled_ns, uint64_t host_ns) noexcept;

	/** By how much modelled time was moved on, in ns. */
	uint64_t ahead() const noexcept { return state_.word.load(std::memory_order_relaxed) & AHEAD_MASK; }

	/** Completions wait until modelled time has come. One load. */
	bool holds() const noexcept { return state_.word.load(std::memory_order_relaxed) & HOLDS; }
	void set_holds(bool on) noexcept;

	/** Modelled ns in a ns of the host. */
	double rate() const noexcept;
	/**
	 * From the moment on at which the host's clock shows @p host_ns modelled time goes at another rate; it makes no
	 * leap.
	 * @return false if the rate is none from RATE_MIN to RATE_MAX
	 */
	bool set_rate(double rate, uint64_t host_ns) noexcept;

	/** Ns of the host until it is @p modelled_ns, if nobody moves modelled time on; 0 if it is that late. */
	uint64_t host_until(uint64_t modelled_ns, uint64_t host_ns) const noexcept;

private:
	/* 52 days: what goes beyond, or is damage, must not let ticks overflow. Bookings survive a leap back. */
	static constexpr unsigned int AHEAD_BITS = 52;
	static constexpr uint64_t AHEAD_MASK = (uint64_t{1} << AHEAD_BITS) - 1;
	/* Bits of the word above. */
	static constexpr uint64_t STRETCH_SHIFT = AHEAD_BITS,
				  STRETCH_MASK = uint64_t{ClockState::STRETCHES - 1} << STRETCH_SHIFT;
	static constexpr uint64_t STRETCHED = uint64_t{1} << 55; // the rate is not 1, or was not at some time
	static constexpr uint64_t HOLDS = uint64_t{1} << 56;
	static constexpr unsigned int RATE_BITS = 32;

	const ClockState::Stretch &stretch(uint64_t word) const noexcept
	{
		return state_.stretch[(word & STRETCH_MASK) >> STRETCH_SHIFT];
	}
	[[gnu::cold]] uint64_t base(uint64_t host_ns, uint64_t word) const noexcept;

	ClockState &state_;
};

} // namespace aries

#endif
