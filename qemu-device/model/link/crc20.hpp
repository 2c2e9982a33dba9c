// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * CRC-20 of the sets of a network link: 20 bits over 60 bytes, themselves included (P07, P08). Most significant bit
 * first, from a start of ones, so that neither a line of zeros nor one of ones is a set.
 *
 * The sources do not name the polynomial. P10's years between undetected errors are those of a code of distance 4 in
 * which one of 2^20 errors of four bits escapes; a factor x + 1 would find all odd errors and let twice as many even
 * ones through. So the polynomial is primitive, no error of one to three bits in a set escapes it, and of all 24,000
 * primitive ones of degree 20 it has the most words of weight 4 with which the machine of P10 (30 links of 14 Gb/s and
 * 10 of 12.5 Gb/s at each router) still has less than one undetected error in 7,250 years: 2,053. Four do; this is the
 * first.
 */
#ifndef ARIES_LINK_CRC20_HPP
#define ARIES_LINK_CRC20_HPP

#include <array>
#include <cstdint>
#include <span>

namespace aries
{

inline constexpr uint32_t CRC20_BITS = 20;
inline constexpr uint32_t CRC20_MASK = (1u << CRC20_BITS) - 1;
inline constexpr uint32_t CRC20_POLYNOMIAL = 0x0f07d; ///< without x^20
inline constexpr uint32_t CRC20_START = CRC20_MASK;

inline constexpr uint32_t SET_BITS = 480; ///< ten flits of 48 bits (P07)

namespace detail
{

/** One bit more behind what @p crc is of. */
constexpr uint32_t crc20_shift(uint32_t crc)
{
	return (crc << 1 & CRC20_MASK) ^ (crc >> (CRC20_BITS - 1) ? CRC20_POLYNOMIAL : 0);
}

constexpr std::array<uint32_t, 256> crc20_table()
{
	std::array<uint32_t, 256> table{};

	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte << (CRC20_BITS - 8);

		for (int bit = 0; bit < 8; bit++)
			crc = crc20_shift(crc);
		table[byte] = crc;
	}
	return table;
}

inline constexpr std::array<uint32_t, 256> CRC20_TABLE = crc20_table();

constexpr std::array<uint32_t, SET_BITS> crc20_syndromes()
{
	std::array<uint32_t, SET_BITS> of{};
	uint32_t crc = 1;

	for (uint32_t bit = SET_BITS; bit-- > 0; crc = crc20_shift(crc))
		of[bit] = crc;
	return of;
}

} // namespace detail

/** CRC of the low @p bits of @p value, a multiple of 4 up to 64, going on from @p crc. */
constexpr uint32_t crc20(uint64_t value, uint32_t bits, uint32_t crc)
{
	if (bits % 8) {
		bits -= 4;

		const auto nibble = static_cast<uint32_t>(value >> bits & 0xf);

		/* A nibble is a byte whose upper half does not meet the CRC. */
		crc = (crc << 4 & CRC20_MASK) ^ detail::CRC20_TABLE[(crc >> (CRC20_BITS - 4) ^ nibble) & 0xf];
	}
	while (bits) {
		bits -= 8;
		crc = (crc << 8 & CRC20_MASK) ^ detail::CRC20_TABLE[(crc >> (CRC20_BITS - 8) ^ value >> bits) & 0xff];
	}
	return crc;
}

/** CRC of @p flits of 48 bits, in the low bits of a word each, going on from @p crc. */
constexpr uint32_t crc20(std::span<const uint64_t> flits, uint32_t crc = CRC20_START)
{
	for (const uint64_t flit : flits)
		crc = crc20(flit, 48, crc);
	return crc;
}

/**
 * By how much the CRC is wrong if this bit of a set is; bit 0 goes over the link first. Syndromes of several bits add
 * up (exclusive or), whatever the set holds: an error is missed if and only if they add up to 0.
 */
inline constexpr std::array<uint32_t, SET_BITS> CRC20_SYNDROMES = detail::crc20_syndromes();

} // namespace aries

#endif
