// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * A network link: two LCBs and the lanes between them, in modelled time. Each side sends one set behind the other, of
 * packets or empty, and what it sends is there after the time of the set and the latency of the line. Bits are coded
 * only where one of them is wrong: elsewhere the CRC would fit.
 */
#ifndef ARIES_TESTS_LCB_LINK_HPP
#define ARIES_TESTS_LCB_LINK_HPP

#include "link/bit_errors.hpp"
#include "tests/lcb/lcb.hpp"

namespace aries
{

inline constexpr uint32_t ALL_LANES = (1u << LANES) - 1;

struct LcbLinkShape {
	Medium medium = Medium::Electrical; ///< Electrical or Optical
	uint64_t latency = 0;               ///< ticks of line and SerDes, one way; more than LCB_LATENCY_LIMIT is that
	std::array<double, 2> error_rate = {}; ///< probability of a bit to be wrong that side 0, 1 sends
	uint64_t seed = 1;                     ///< of the errors
	bool code_all = false;                 ///< code and check every set, also those without an error
};

/** Flits that came at a side, in order. */
struct LcbArrival {
	uint32_t side;                   ///< 0 or 1
	uint64_t tick;                   ///< at which the set was there
	std::span<const uint64_t> flits; ///< with LCB_END; until the next call of advance()
	uint8_t load;                    ///< of the other side
	bool clock;                      ///< the other side's pulse
};

/** In ticks: 1,000 ns. */
inline constexpr uint64_t LCB_LATENCY_LIMIT = ns_to_ticks(1000);

class LcbLink
{
public:
	explicit LcbLink(const LcbLinkShape &shape) noexcept;

	/** A side, 0 or 1, to push flits into and to read counters of. */
	LcbEnd &end(uint32_t side) noexcept { return sides_[side].end; }
	const LcbEnd &end(uint32_t side) const noexcept { return sides_[side].end; }

	/**
	 * Go on up to the next arrival of flits.
	 * @param until tick, not before that of earlier calls
	 * @return false if nothing comes any more before that tick; all until then has been done
	 */
	bool advance(uint64_t until, LcbArrival &arrival) noexcept;

	/**
	 * Use other lanes for what @p side sends, from its next set on (P17).
	 * @param mask of lanes 0 to 2; without any it stays as it is
	 */
	void set_lanes(uint32_t side, uint32_t mask) noexcept;

	/**
	 * A lane of what @p side sends carries noise from @p tick on, in the middle of a set or not, until it is
	 * repaired. Both LCBs go on using it until set_lanes(): how they find out takes a time that is the caller's.
	 * @param tick up to which advance() has been
	 */
	void fail_lane(uint32_t side, uint32_t lane, uint64_t tick) noexcept;

	/** The lane carries bits again, from the next set on. */
	void repair_lane(uint32_t side, uint32_t lane) noexcept;

	/** Sets that @p side got with errors that the CRC has missed. Only a model knows. */
	uint64_t undetected(uint32_t side) const noexcept { return sides_[side].undetected; }

private:
	/* Under way. Times of this class are in ticks / 2^FLIT_SHIFT, so that sets are not rounded. */
	struct Slot {
		LcbSet set;
		LcbBits bits; ///< only if it is coded
		uint64_t begin;
		uint64_t length;
		uint32_t mask;
		bool coded;
	};

	/* Sets of three fast lanes that the longest line holds, and the one that is being sent. */
	static constexpr uint32_t SLOTS = 128;
	static_assert((LCB_LATENCY_LIMIT << FLIT_SHIFT) / (LCB_FLITS * flit_factor(Medium::Electrical, LANES)) + 2 <
		      SLOTS);

	struct Side {
		explicit Side(double rate, uint64_t seed) noexcept : errors(rate, seed) {}

		LcbEnd end;
		BitErrors errors;             ///< of what it sends
		std::array<Slot, SLOTS> line; ///< what it has sent, by number
		uint32_t sent = 0;
		uint32_t arrived = 0;
		uint64_t next = 0; ///< time at which it sends a set
		uint32_t mask = ALL_LANES;
		uint32_t dead = 0; ///< lanes that carry noise
		uint64_t undetected = 0;
	};

	uint64_t set_time(const Side &side) const noexcept;
	uint64_t arrival_time(const Side &side) const noexcept;
	void send(Side &side) noexcept;
	bool arrive(uint32_t to, LcbArrival &arrival) noexcept;
	static void code(Slot &slot) noexcept;
	static void noise(Side &side, Slot &slot, uint32_t lane, uint64_t from) noexcept;

	LcbLinkShape shape_;
	std::array<Side, 2> sides_;
	LcbSet got_{};
};

} // namespace aries

#endif
