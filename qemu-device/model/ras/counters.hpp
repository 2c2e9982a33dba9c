/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event counters. */
#ifndef ARIES_RAS_COUNTERS_HPP
#define ARIES_RAS_COUNTERS_HPP

#include <array>
#include <atomic>

#include "aries_hw.h"

namespace aries
{

/**
 * Counters with one writer at a time, who needs no atomic read-modify-write:
 * the holder of a descriptor's lock, or a block transfer channel. Readers may
 * come at any time.
 */
class alignas(64) CounterBlock
{
public:
	void add(aries_counter which, uint64_t n = 1) noexcept
	{
		auto &word = values_[which];

		word.store(word.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
	}
	/** The line stays shared between processors while the value stays the same. */
	void set(aries_counter which, uint64_t n) noexcept
	{
		if (values_[which].load(std::memory_order_relaxed) != n)
			values_[which].store(n, std::memory_order_relaxed);
	}
	/** For blocks without a single writer. */
	void add_shared(aries_counter which, uint64_t n = 1) noexcept
	{
		values_[which].fetch_add(n, std::memory_order_relaxed);
	}
	uint64_t get(unsigned int which) const noexcept { return values_[which].load(std::memory_order_relaxed); }
	void clear() noexcept
	{
		for (auto &word : values_)
			word.store(0, std::memory_order_relaxed);
	}

private:
	std::array<std::atomic<uint64_t>, ARIES_CNT_COUNT> values_{};
};

} // namespace aries

#endif
