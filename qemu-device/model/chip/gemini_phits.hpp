// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What is where in the phits of Gemini's packets (G19 to G27), as the figure of the sources has it. Its copies are
 * poorly legible: where letters could not be read, what is decided here is told, and why, in Documentation/chips.md.
 * Nobody makes such packets yet; their lengths are in gemini.hpp.
 */
#ifndef ARIES_CHIP_GEMINI_PHITS_HPP
#define ARIES_CHIP_GEMINI_PHITS_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "chip/gemini.hpp"

namespace aries::chip
{

/** Bits @p high to @p low of a phit; where a value is spread over phits they are its bits from @p first on. */
struct PhitField {
	std::string_view name;
	uint8_t phit;
	uint8_t high;
	uint8_t low;
	uint8_t first = 0;

	constexpr uint32_t bits() const { return high - low + 1u; }
};

/** The lowest two bits of every phit are the link layer's (p and c, shaded in the figure). */
inline constexpr uint32_t PHIT_SIDE_BITS = 2;

/** The header of a request. Its first phit is that of all packets. */
inline constexpr std::array<PhitField, 26> REQUEST_HEADER{{
	{"vc", 0, 23, 23},
	{"destination", 0, 22, 7},
	{"h", 0, 6, 6},
	{"a", 0, 5, 5},
	{"r", 0, 4, 4},
	{"unread", 0, 3, 3},
	{"v", 0, 2, 2},
	{"address", 1, 23, 6, 6},
	{"flags", 1, 5, 2},
	{"ptag", 2, 23, 16},
	{"address", 2, 15, 2, 24},
	{"source", 3, 23, 8},
	{"destination nic", 3, 7, 6},
	{"source nic", 3, 5, 4},
	{"vm", 3, 3, 3},
	{"ra", 3, 2, 2},
	{"mdh", 4, 23, 12},
	{"dt", 4, 11, 11},
	{"pt", 4, 10, 10},
	{"reserved", 4, 9, 8},
	{"address", 4, 7, 2, 0},
	{"mask", 5, 23, 8},
	{"command", 5, 7, 2},
	{"bte vc", 6, 23, 22},
	{"ssid", 6, 21, 14},
	{"packet", 6, 13, 2},
}};

/** Eight bytes of data. */
inline constexpr std::array<PhitField, 4> DATA_BLOCK{{
	{"data", 0, 23, 4, 0},
	{"size", 0, 3, 2},
	{"data", 1, 23, 2, 20},
	{"data", 2, 23, 2, 42},
}};

/** The phit that ends a packet. */
inline constexpr std::array<PhitField, 4> LAST_PHIT{{
	{"crc", 0, 23, 8},
	{"reserved", 0, 7, 5},
	{"ok", 0, 4, 3},
	{"one", 0, 2, 2},
}};

/** Bits of a value, over all its parts. */
constexpr uint32_t bits_of(std::span<const PhitField> fields, std::string_view name)
{
	uint32_t bits = 0;

	for (const PhitField &field : fields)
		bits += field.name == name ? field.bits() : 0;
	return bits;
}

/** Fields fill so many phits, but for the link layer's bits, and none has a bit of another one. */
constexpr bool fill_phits(std::span<const PhitField> fields, uint32_t phits)
{
	for (uint32_t phit = 0; phit < phits; phit++) {
		uint32_t seen = (1u << PHIT_SIDE_BITS) - 1;

		for (const PhitField &field : fields) {
			const uint32_t mask = ((1u << field.bits()) - 1) << field.low;

			if (field.phit >= phits || field.high < field.low || (field.phit == phit && (seen & mask)))
				return false;
			seen |= field.phit == phit ? mask : 0;
		}
		if (seen != (1u << GEMINI.packets.unit_bits) - 1)
			return false;
	}
	return true;
}

} // namespace aries::chip

#endif
