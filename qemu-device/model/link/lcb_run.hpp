// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What bit errors do to a run of flits that pass a link one behind the other, without the sets themselves: as much as
 * LcbLink of tests/lcb would say, at a cost that goes with the errors and not with the flits.
 */
#ifndef ARIES_LINK_LCB_RUN_HPP
#define ARIES_LINK_LCB_RUN_HPP

#include <algorithm>
#include <array>
#include <cstdint>

#include "link/bit_errors.hpp"
#include "link/crc20.hpp"
#include "link/rates.hpp"

namespace aries
{

inline constexpr uint32_t LCB_FLITS = SET_FLITS; ///< of packets in a set

/** A set as it goes over the lanes: ten words of 48 bits. */
struct LcbBits {
	std::array<uint64_t, LCB_FLITS + 1> word;

	/** @param bit below SET_BITS */
	void flip(uint32_t bit) noexcept { word[bit / FLIT_BITS] ^= uint64_t{1} << (FLIT_BITS - 1 - bit % FLIT_BITS); }
};

/** The line that a run goes over. */
struct LcbLine {
	Medium medium = Medium::Electrical; ///< Electrical or Optical
	uint32_t lanes = LANES;             ///< working ones, 1 to 3
	uint64_t latency = 0;               ///< ticks of line and SerDes, one way
};

/** What became of a run. */
struct LcbRun {
	uint64_t sets;        ///< that its flits are
	uint64_t replays;     ///< times that the sender began again (P09)
	uint64_t undetected;  ///< sets with an error that the CRC misses (P10)
	uint64_t extra_ticks; ///< by which its end is later than without errors
};

/** Bits of a run that are wrong although the CRC of their set fits. */
struct LcbDamage {
	uint64_t first_flit;                   ///< of the run, from 0; the first one of the set
	std::array<uint64_t, LCB_FLITS> wrong; ///< of it and the eight behind it: bits to turn
};

/** Errors of a link for a run that begins at @p tick: the same for the same @p seed and tick. */
inline BitErrors lcb_errors(double rate, uint64_t seed, uint64_t tick) noexcept
{
	return BitErrors(rate, BitRandom(seed ^ BitRandom(tick).next()).next());
}

/** Ticks of a set, times 2^FLIT_SHIFT. */
constexpr uint64_t lcb_set_time(const LcbLine &line)
{
	return LCB_FLITS * flit_factor(line.medium, line.lanes);
}

/**
 * Sets from a damaged one to the same one again, for sides that send in step: it has to be there, the other side's
 * next set takes the word of it along, and it goes with the next one.
 */
constexpr uint64_t lcb_replay_sets(const LcbLine &line)
{
	const uint64_t set = lcb_set_time(line);

	return 2 + 2 * (((line.latency << FLIT_SHIFT) + set - 1) / set);
}

/** What remains of a set's errors, and whether the CRC finds them. */
class LcbSetErrors
{
public:
	/** Take the errors of the next set. */
	template <typename Errors> explicit LcbSetErrors(Errors &errors) noexcept
	{
		errors.take(SET_BITS, [this](uint64_t bit) {
			syndrome_ ^= CRC20_SYNDROMES[bit];
			bits_.flip(static_cast<uint32_t>(bit));
		});
	}

	bool any() const noexcept { return bits_.word != decltype(bits_.word){}; }

	/** By the CRC. */
	bool found() const noexcept { return syndrome_ != 0; }

	LcbDamage damage(uint64_t set) const noexcept
	{
		LcbDamage damage{set * LCB_FLITS, {}};

		std::copy_n(bits_.word.begin(), LCB_FLITS, damage.wrong.begin());
		return damage;
	}

private:
	uint32_t syndrome_ = 0;
	LcbBits bits_{};
};

/**
 * Send a set until it is through.
 * @param again lcb_replay_sets()
 * @param first its errors when it was sent for the first time; in the end those that it came with
 * @param replays is counted up
 * @return sets for which the line was used in vain
 */
template <typename Errors>
uint64_t lcb_send_again(uint64_t again, Errors &errors, LcbSetErrors &first, uint64_t &replays) noexcept
{
	uint64_t lost = 0;

	for (bool waiting = false; first.found(); waiting = true) {
		/* Damage to the first set of a round shows only when a whole one comes behind it. */
		for (bool shown = !waiting; !shown; lost++)
			shown = !LcbSetErrors(errors).found();
		/* From then on nothing is taken until the sender has begun again, whatever errors that has. */
		errors.take((again - 1) * SET_BITS, [](uint64_t) {});
		lost += again;
		replays++;
		first = LcbSetErrors(errors);
	}
	return lost;
}

/**
 * Let a run pass. Its sender has all flits at once and the line to itself; the other direction, which takes
 * acknowledgements back, has no errors: one there delays a replay by a set.
 * @param errors of the line, lcb_errors(), or what has clear(), pass() and take() as BitErrors
 * @param damaged called with an LcbDamage for each undetected error in the run; its packets are for their CRC-16 (P18)
 */
template <typename Errors, typename Damaged>
LcbRun lcb_run(const LcbLine &line, uint64_t flits, Errors &errors, Damaged &&damaged) noexcept
{
	const uint64_t again = lcb_replay_sets(line);
	LcbRun run{(flits + LCB_FLITS - 1) / LCB_FLITS, 0, 0, 0};
	uint64_t lost = 0;

	for (uint64_t at = 0; at < run.sets; at++) {
		const uint64_t whole = std::min(errors.clear() / SET_BITS, run.sets - at);

		errors.pass(whole * SET_BITS);
		at += whole;
		if (at == run.sets)
			break;

		LcbSetErrors set(errors);

		lost += lcb_send_again(again, errors, set, run.replays);
		if (!set.any())
			continue;
		run.undetected++;
		damaged(set.damage(at));
	}
	run.extra_ticks = (lost * lcb_set_time(line) + (1u << FLIT_SHIFT) - 1) >> FLIT_SHIFT;
	return run;
}

} // namespace aries

#endif
