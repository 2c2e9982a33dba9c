// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Counts of cycles: exact up to 8,192, then in steps of less than 1/4,096 of the value.
 */
#ifndef ARIES_SIM_HISTOGRAM_HPP
#define ARIES_SIM_HISTOGRAM_HPP

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace aries::sim
{

class Histogram
{
public:
	void add(uint32_t value)
	{
		const uint32_t at = bucket(value);

		if (at >= counts_.size())
			counts_.resize(at + 1);
		counts_[at]++;
		count_++;
		sum_ += value;
		most_ = std::max(most_, value);
		least_ = std::min(least_, value);
	}

	void add(const Histogram &other)
	{
		if (other.counts_.size() > counts_.size())
			counts_.resize(other.counts_.size());
		for (size_t at = 0; at < other.counts_.size(); at++)
			counts_[at] += other.counts_[at];
		count_ += other.count_;
		sum_ += other.sum_;
		most_ = std::max(most_, other.most_);
		least_ = std::min(least_, other.least_);
	}

	/** As words, and from them: how many they are is the first. */
	void save(std::vector<uint64_t> &words) const
	{
		words.insert(words.end(), {counts_.size(), count_, sum_, most_, least_});
		words.insert(words.end(), counts_.begin(), counts_.end());
	}

	void load(const uint64_t *&word)
	{
		counts_.resize(*word++);
		count_ = *word++;
		sum_ = *word++;
		most_ = static_cast<uint32_t>(*word++);
		least_ = static_cast<uint32_t>(*word++);
		for (uint64_t &count : counts_)
			count = *word++;
	}

	/** How many had about this value; exactly this one up to 8,192. */
	uint64_t count_of(uint32_t value) const noexcept
	{
		const uint32_t at = bucket(value);

		return at < counts_.size() ? counts_[at] : 0;
	}

	uint64_t count() const noexcept { return count_; }
	uint64_t sum() const noexcept { return sum_; }
	uint32_t most() const noexcept { return most_; }
	uint32_t least() const noexcept { return count_ ? least_ : 0; }
	double mean() const noexcept { return count_ ? static_cast<double>(sum_) / static_cast<double>(count_) : 0; }

	/** The least value that @p per_thousand of all are not above. */
	uint32_t quantile(uint32_t per_thousand) const noexcept
	{
		const uint64_t rank = (count_ * per_thousand + 999) / 1000;
		uint64_t below = 0;

		for (uint32_t at = 0; at < counts_.size(); at++) {
			below += counts_[at];
			if (below >= rank && below)
				return std::min(value_of(at), most_);
		}
		return most_;
	}

private:
	static constexpr uint32_t BITS = 12;
	static constexpr uint32_t STEPS = 1 << BITS; // of each power of two

	static uint32_t bucket(uint32_t value) noexcept
	{
		if (value < 2 * STEPS)
			return value;

		const auto shift = static_cast<uint32_t>(std::bit_width(value)) - BITS - 1;

		return (shift + 1) * STEPS + (value >> shift) - STEPS;
	}

	/* The highest value of a bucket. */
	static uint32_t value_of(uint32_t at) noexcept
	{
		if (at < 2 * STEPS)
			return at;

		const uint32_t shift = at / STEPS - 1;

		return ((at % STEPS + STEPS + 1) << shift) - 1;
	}

	std::vector<uint64_t> counts_;
	uint64_t count_ = 0;
	uint64_t sum_ = 0;
	uint32_t most_ = 0;
	uint32_t least_ = UINT32_MAX;
};

} // namespace aries::sim

#endif
