// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Rates of links and processor tiles. Modelled time inside the network counts in ticks of 1/64 ns, so that single
 * flits do not drown in rounding; 64 bits of ticks last nine years.
 */
#ifndef ARIES_LINK_RATES_HPP
#define ARIES_LINK_RATES_HPP

#include <array>
#include <cstdint>

#include "chip/aries.hpp"

namespace aries
{

inline constexpr uint32_t TICKS_PER_NS = 64;

constexpr uint64_t ns_to_ticks(uint64_t ns)
{
	return ns * TICKS_PER_NS;
}

/** Rounded up: nothing arrives early. */
constexpr uint64_t ticks_to_ns(uint64_t ticks)
{
	return (ticks + TICKS_PER_NS - 1) / TICKS_PER_NS;
}

/** From one router to the next, quiet (L05). Five of them make the 500 ns of L06. */
inline constexpr uint64_t HOP_NS = chip::ARIES.times.hop_ns;

/** From NIC to NIC through one router, without serialisation: Netlink, processor tiles, switch. */
inline constexpr uint64_t ROUTER_NS = 50;

inline constexpr uint32_t LANES = chip::ARIES.line.lanes; ///< of each link and direction
inline constexpr uint32_t FLIT_BITS = chip::ARIES.packets.unit_bits;
inline constexpr uint32_t SET_FLITS = chip::ARIES.line.set_units; ///< of packets, that the LCB sends as one
inline constexpr uint32_t SET_ALL_FLITS = SET_FLITS + chip::ARIES.line.set_extra;

/** What a tile drives. */
enum class Medium : uint8_t { Electrical, Optical, Processor };

/**
 * Rates in Mb/s: 3 lanes x 14 Gb/s, 3 x 12.5 Gb/s (T19, T20), one flit a cycle of 875 MHz (P02). In bits, of which all
 * are whole numbers.
 */
constexpr uint64_t raw_mbit_per_s(Medium medium, uint32_t lanes = LANES)
{
	switch (medium) {
	case Medium::Electrical:
		return uint64_t{chip::ARIES_LINKS[chip::ARIES_GREEN].lane_mbit} * lanes;
	case Medium::Optical:
		return uint64_t{chip::ARIES_LINKS[chip::ARIES_BLUE].lane_mbit} * lanes;
	default:
		return uint64_t{chip::ARIES.times.router_mhz} * FLIT_BITS;
	}
}

/** Times of flits are products of a count and a factor with this many binary places. */
inline constexpr uint32_t FLIT_SHIFT = 10;

/**
 * Ticks of one flit, as a factor for flit_ticks(). The LCB sends nine flits in the time of ten (P05); processor
 * tiles have no LCB. A degraded link has 2/3 or 1/3 of the rate (P17).
 */
constexpr uint64_t flit_factor(Medium medium, uint32_t lanes)
{
	const uint64_t lcb = medium == Medium::Processor ? SET_FLITS : SET_ALL_FLITS;
	const uint64_t num = FLIT_BITS * 1000ull * TICKS_PER_NS * lcb << FLIT_SHIFT;
	const uint64_t den = raw_mbit_per_s(medium, lanes) * SET_FLITS;

	return (num + den / 2) / den;
}

/** Ticks that @p flits take at @p factor, rounded up. */
constexpr uint64_t flit_ticks(uint64_t flits, uint64_t factor)
{
	return (flits * factor + (1u << FLIT_SHIFT) - 1) >> FLIT_SHIFT;
}

} // namespace aries

#endif
