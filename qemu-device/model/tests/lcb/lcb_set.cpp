// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lcb/lcb_set.hpp"

#include <algorithm>
#include <bit>

namespace aries
{

namespace
{

constexpr uint32_t CLOCK_AT = 0;
constexpr uint32_t LOAD_AT = CLOCK_AT + 1;
constexpr uint32_t ENDS_AT = LOAD_AT + LCB_LOAD_BITS;
constexpr uint32_t WANTED_AT = ENDS_AT + LCB_FLITS + 1;
constexpr uint32_t ROUND_AT = WANTED_AT + 1;
constexpr uint32_t ACKNOWLEDGED_AT = ROUND_AT + 1;
constexpr uint32_t SEQUENCE_AT = ACKNOWLEDGED_AT + LCB_SEQUENCE_BITS;

constexpr uint32_t SEQUENCE_MASK = LCB_SEQUENCES - 1;
constexpr uint32_t LOAD_MASK = (1u << LCB_LOAD_BITS) - 1;
constexpr uint32_t ENDS_MASK = (1u << (LCB_FLITS + 1)) - 1;

/* The one above the first flit's bit says how many there are. */
uint32_t ends_of(const LcbSet &set, uint32_t count)
{
	uint32_t ends = 1;

	for (uint32_t i = 0; i < count; i++)
		ends = ends << 1 | (set.flit[i] >> FLIT_BITS & 1);
	return ends;
}

} // namespace

LcbBits encode_set(const LcbSet &set) noexcept
{
	const uint32_t count = std::min<uint32_t>(set.count, LCB_FLITS);
	const uint32_t control = (set.sequence & SEQUENCE_MASK) << SEQUENCE_AT |
				 (set.acknowledged & SEQUENCE_MASK) << ACKNOWLEDGED_AT | set.round << ROUND_AT |
				 set.wanted << WANTED_AT | ends_of(set, count) << ENDS_AT |
				 (set.load & LOAD_MASK) << LOAD_AT | set.clock << CLOCK_AT;
	LcbBits bits{};

	for (uint32_t i = 0; i < count; i++)
		bits.word[i] = set.flit[i] & LCB_FLIT;

	const uint32_t crc = crc20(control, LCB_CONTROL_BITS, crc20({bits.word.data(), LCB_FLITS}));

	bits.word[LCB_FLITS] = uint64_t{control} << CRC20_BITS | crc;
	return bits;
}

bool decode_set(const LcbBits &bits, LcbSet &out) noexcept
{
	const uint64_t tenth = bits.word[LCB_FLITS];
	const auto control = static_cast<uint32_t>(tenth >> CRC20_BITS);
	const uint32_t ends = control >> ENDS_AT & ENDS_MASK;

	if (crc20(control, LCB_CONTROL_BITS, crc20({bits.word.data(), LCB_FLITS})) != (tenth & CRC20_MASK) || !ends)
		return false;

	const auto count = static_cast<uint32_t>(std::bit_width(ends)) - 1;

	for (uint32_t i = 0; i < LCB_FLITS; i++) {
		if (i >= count && bits.word[i])
			return false;
		out.flit[i] = bits.word[i];
		if (i < count && ends >> (count - 1 - i) & 1)
			out.flit[i] |= LCB_END;
	}
	out.count = static_cast<uint8_t>(count);
	out.sequence = control >> SEQUENCE_AT & SEQUENCE_MASK;
	out.acknowledged = control >> ACKNOWLEDGED_AT & SEQUENCE_MASK;
	out.round = control >> ROUND_AT & 1;
	out.wanted = control >> WANTED_AT & 1;
	out.load = control >> LOAD_AT & LOAD_MASK;
	out.clock = control >> CLOCK_AT & 1;
	return true;
}

} // namespace aries
