/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Injected faults. */
#ifndef ARIES_RAS_FAULTS_HPP
#define ARIES_RAS_FAULTS_HPP

#include <atomic>
#include <cstdint>
#include <string_view>

namespace aries
{

/**
 * What the next packets of this NIC suffer. Set by the host at any time, used
 * up by operations; without faults an operation reads one word.
 */
class Faults
{
public:
	/** False for an unknown name; throws Error for a value out of range. "link" is only remembered here. */
	bool set(std::string_view name, uint64_t value);
	bool get(std::string_view name, uint64_t &value) const noexcept;

	bool any() const noexcept { return armed_.load(std::memory_order_relaxed); }
	/** Takes up to @packets from the packets to lose (or damage); returns how many. */
	uint32_t take_drops(uint32_t packets) noexcept { return take(drop_, packets); }
	uint32_t take_corrupt(uint32_t packets) noexcept { return take(corrupt_, packets); }
	/** The same of responses to lose. */
	uint32_t take_lost_responses(uint32_t packets) noexcept { return take(drop_response_, packets); }
	/** Takes up to @packets from the packets that are to come twice; returns how many. */
	uint32_t take_duplicates(uint32_t packets) noexcept { return take(duplicate_, packets); }
	/**
	 * Entry @index of the buffer of outstanding requests gets an error of one bit, or @twice of two: that of the
	 * next request. One at a time, the last one counts.
	 */
	void hit_orb(uint32_t index, bool twice) noexcept;
	/** Takes it; false if there is none. */
	bool take_orb(uint32_t &index, bool &twice) noexcept;
	/** For choices that the faults leave open: the same numbers in each run. */
	uint64_t random() noexcept;
	uint64_t delay_ns() const noexcept { return delay_ns_.load(std::memory_order_relaxed); }
	/** At a step in the delivery of a collective's outcome: the process dies here if it is the one chosen. */
	void carrier_step() noexcept;
	bool reorder() const noexcept { return reorder_.load(std::memory_order_relaxed) != 0; }
	bool link_up() const noexcept { return link_.load(std::memory_order_relaxed) != 0; }

private:
	std::atomic<uint64_t> *word(std::string_view name) noexcept;
	static uint32_t take(std::atomic<uint64_t> &from, uint32_t packets) noexcept;
	void rearm() noexcept;

	static constexpr uint64_t ORB_HIT = uint64_t(1) << 63, ORB_TWICE = uint64_t(1) << 62;
	std::atomic<bool> armed_{false};
	std::atomic<uint64_t> drop_{0};
	std::atomic<uint64_t> drop_response_{0};
	std::atomic<uint64_t> corrupt_{0};
	std::atomic<uint64_t> delay_ns_{0};
	std::atomic<uint64_t> reorder_{0};
	std::atomic<uint64_t> duplicate_{0};
	std::atomic<uint64_t> link_{1};
	std::atomic<uint64_t> random_{0};
	std::atomic<uint64_t> carrier_{0};
	std::atomic<uint64_t> orb_{0}; /* ORB_HIT, ORB_TWICE, entry */
};

} // namespace aries

#endif
