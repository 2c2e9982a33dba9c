// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Sets of ten flits, in which a link sends (P05, P07). Nine are of packets; the tenth has, most significant bit first:
 * sequence 6, acknowledged 6, round 1, wanted 1, ends 10, load 3, clock 1, CRC 20. The sources name the CRC, and clock
 * and load for the 28 bits before it; how these are divided is ours.
 *
 * Ends is a one, and a bit for each flit of the nine that is there, 1 if it ends a packet; those that are not there
 * are zeros. A one alone is a set that carries nothing. Packets do not tell their own length everywhere (64 and 0 bytes
 * share a header), so it has to be told beside them.
 *
 * Bit 0 of a set is the most significant one of its first flit; with n lanes bit i goes over the working lane i % n
 * (P08, P17).
 */
#ifndef ARIES_TESTS_LCB_SET_HPP
#define ARIES_TESTS_LCB_SET_HPP

#include <span>

#include "link/lcb_run.hpp"

namespace aries
{

inline constexpr uint32_t LCB_SEQUENCE_BITS = 6;
inline constexpr uint32_t LCB_SEQUENCES = 1u << LCB_SEQUENCE_BITS;
inline constexpr uint32_t LCB_LOAD_BITS = 3;
inline constexpr uint32_t LCB_CONTROL_BITS = FLIT_BITS - CRC20_BITS; ///< of the tenth flit: 28 (P07)

inline constexpr uint64_t LCB_FLIT = (uint64_t{1} << FLIT_BITS) - 1;
inline constexpr uint64_t LCB_END = uint64_t{1} << FLIT_BITS; ///< beside the 48 bits of a flit: it ends a packet

static_assert((LCB_FLITS + 1) * FLIT_BITS == SET_BITS && SET_BITS == 60 * 8, "P07, P08");
static_assert(2 * LCB_SEQUENCE_BITS + 2 + LCB_FLITS + 1 + LCB_LOAD_BITS + 1 == LCB_CONTROL_BITS, "tenth flit");

/** A set as an LCB has it. */
struct LcbSet {
	std::array<uint64_t, LCB_FLITS> flit; ///< the first @ref count are there, with LCB_END
	uint8_t count;
	uint8_t sequence;     ///< of this set; of the next one if it carries nothing
	uint8_t acknowledged; ///< the set that is expected from the other side: all before it have come
	bool round;           ///< changes whenever the sender begins again
	bool wanted;          ///< the round that is expected from the other side; another than its own: begin again
	uint8_t load;         ///< for the neighbour's routing, 3 bits (R09)
	bool clock;           ///< pulse of the global clock

	std::span<const uint64_t> flits() const noexcept { return {flit.data(), count}; }
};

/** The working lane that bit @p bit of a set goes over. */
constexpr uint32_t lane_of(uint32_t bit, uint32_t lanes)
{
	return bit % lanes;
}

/** The bit that working lane @p lane carries at bit time @p time, from 0 to SET_BITS / lanes - 1. */
constexpr uint32_t bit_of(uint32_t lane, uint32_t time, uint32_t lanes)
{
	return time * lanes + lane;
}

/** Fields wider than in the set are cut; a count of more than nine is nine. */
LcbBits encode_set(const LcbSet &set) noexcept;

/**
 * @return false if the CRC is wrong, or right by chance on what no LCB sends: no one in ends, or something in a flit
 * that is not there. @p out is undefined then
 */
bool decode_set(const LcbBits &bits, LcbSet &out) noexcept;

} // namespace aries

#endif
