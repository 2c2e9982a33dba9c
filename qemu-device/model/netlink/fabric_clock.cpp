// SPDX-License-Identifier: GPL-2.0-or-later
#include "netlink/fabric_clock.hpp"

#include <algorithm>
#include <cmath>

namespace aries
{

namespace
{

constexpr uint64_t ONE = uint64_t{1} << 32; // rate of the host's clock

// The furthest stretch that is multiplied out, in ns of either clock: as long as what the word can be ahead.
constexpr uint64_t STRETCH_LIMIT = uint64_t{1} << 52;

__extension__ using Wide = unsigned __int128;

} // namespace

/*
 * Without what the word is ahead. A stretch whose words are damaged, or are being written for the eighth change
 * from now, gives another time, and no more than that.
 */
uint64_t FabricClock::base(uint64_t host_ns, uint64_t word) const noexcept
{
	if (!(word & STRETCHED))
		return host_ns;
	const ClockState::Stretch &part = stretch(word);
	const uint64_t from = part.host_ns.load(std::memory_order_relaxed);
	/* A thread may have read the host's clock before the change. */
	const uint64_t went = host_ns > from ? host_ns - from : 0;
	const Wide modelled = Wide{went} * part.rate.load(std::memory_order_relaxed) >> RATE_BITS;

	return part.modelled_ns.load(std::memory_order_relaxed) +
	       static_cast<uint64_t>(std::min<Wide>(modelled, STRETCH_LIMIT));
}

void FabricClock::pass(uint64_t modelled_ns, uint64_t host_ns) noexcept
{
	uint64_t word = state_.word.load(std::memory_order_relaxed);

	for (;;) {
		const uint64_t now = base(host_ns, word);

		if (modelled_ns <= now + (word & AHEAD_MASK))
			return;
		if (state_.word.compare_exchange_weak(word, (word & ~AHEAD_MASK) | ((modelled_ns - now) & AHEAD_MASK),
						      std::memory_order_relaxed))
			return;
	}
}

void FabricClock::set_holds(bool on) noexcept
{
	if (on)
		state_.word.fetch_or(HOLDS, std::memory_order_relaxed);
	else
		state_.word.fetch_and(~HOLDS, std::memory_order_relaxed);
}

double FabricClock::rate() const noexcept
{
	const uint64_t word = state_.word.load(std::memory_order_acquire);

	if (!(word & STRETCHED))
		return 1;
	return std::ldexp(static_cast<double>(stretch(word).rate.load(std::memory_order_relaxed)), -int{RATE_BITS});
}

/* Each change has a stretch of its own; the word that names it is stored last. So a writer may die at any time. */
bool FabricClock::set_rate(double rate, uint64_t host_ns) noexcept
{
	if (!(rate >= RATE_MIN && rate <= RATE_MAX))
		return false;
	const uint64_t turn = state_.changes.fetch_add(1, std::memory_order_relaxed) % ClockState::STRETCHES;
	ClockState::Stretch &part = state_.stretch[turn];
	uint64_t word = state_.word.load(std::memory_order_acquire);

	do {
		part.host_ns.store(host_ns, std::memory_order_relaxed);
		part.modelled_ns.store(base(host_ns, word), std::memory_order_relaxed);
		part.rate.store(static_cast<uint64_t>(std::llround(std::ldexp(rate, RATE_BITS))),
				std::memory_order_relaxed);
	} while (!state_.word.compare_exchange_weak(word, (word & ~STRETCH_MASK) | turn << STRETCH_SHIFT | STRETCHED,
						    std::memory_order_acq_rel, std::memory_order_acquire));
	return true;
}

uint64_t FabricClock::host_until(uint64_t modelled_ns, uint64_t host_ns) const noexcept
{
	const uint64_t word = state_.word.load(std::memory_order_acquire);
	const uint64_t now = base(host_ns, word) + (word & AHEAD_MASK);

	if (modelled_ns <= now)
		return 0;
	const uint64_t rate =
		word & STRETCHED ? std::max<uint64_t>(stretch(word).rate.load(std::memory_order_relaxed), 1) : ONE;
	const Wide host = (Wide{modelled_ns - now} << RATE_BITS) / rate;

	return static_cast<uint64_t>(std::min<Wide>(host, STRETCH_LIMIT)) + 1;
}

} // namespace aries
