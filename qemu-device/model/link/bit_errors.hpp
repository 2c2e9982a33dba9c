// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Bit errors of a link, from a seed. What is drawn is the distance to the next wrong bit, so a link of one error in
 * 10^12 bits (P11) costs no more than a subtraction for each set.
 */
#ifndef ARIES_LINK_BIT_ERRORS_HPP
#define ARIES_LINK_BIT_ERRORS_HPP

#include <cmath>
#include <cstdint>

namespace aries
{

/** Random numbers that are the same on every host: a counter, mixed. */
class BitRandom
{
public:
	explicit BitRandom(uint64_t seed) noexcept : state_(seed) {}

	uint64_t next() noexcept
	{
		uint64_t mixed = state_ += 0x9e3779b97f4a7c15;

		mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
		mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
		return mixed ^ mixed >> 31;
	}

	/** Above 0, up to 1. */
	double unit() noexcept { return static_cast<double>((next() >> 11) + 1) * 0x1p-53; }

	/** Below @p limit, which is above 0 and no more than 2^32. */
	uint32_t below(uint64_t limit) noexcept { return static_cast<uint32_t>((next() >> 32) * limit >> 32); }

private:
	uint64_t state_;
};

/** The wrong ones of an endless row of bits, each wrong with the same probability, whatever the others are. */
class BitErrors
{
public:
	/** @param rate probability of a bit; 0 or less: no error ever; 1 or more: all are wrong */
	BitErrors(double rate, uint64_t seed) noexcept
		: random_(seed), scale_(rate > 0 && rate < 1 ? 1 / std::log1p(-rate) : 0), none_(!(rate > 0))
	{
		draw();
	}

	/** Bits before the next wrong one. */
	uint64_t clear() const noexcept { return clear_; }

	/** Whether the next @p bits are all right. They have passed then. */
	bool pass(uint64_t bits) noexcept
	{
		if (clear_ < bits) [[unlikely]]
			return false;
		if (!none_)
			clear_ -= bits;
		return true;
	}

	/** Let @p bits pass and call @p wrong with the place of each wrong one among them, from 0. */
	template <typename Wrong> void take(uint64_t bits, Wrong &&wrong) noexcept
	{
		uint64_t at = 0;

		while (!pass(bits - at)) {
			at += clear_;
			wrong(at);
			at++;
			draw();
		}
	}

	/** For what is to be random beside the errors. */
	BitRandom &random() noexcept { return random_; }

private:
	void draw() noexcept
	{
		constexpr double MOST = 0x1p62;
		const double distance = none_ ? MOST : std::log(random_.unit()) * scale_;

		clear_ = distance < MOST ? static_cast<uint64_t>(distance) : uint64_t{1} << 62;
	}

	BitRandom random_;
	double scale_; ///< 1 / ln(1 - rate); 0: every bit is wrong
	bool none_;
	uint64_t clear_ = 0;
};

} // namespace aries

#endif
