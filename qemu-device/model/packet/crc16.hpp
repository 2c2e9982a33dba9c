// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * CRC-16 of packets, checked from end to end (P18). The sources do not name the polynomial; this is
 * x^16 + x^12 + x^5 + 1, most significant bit first.
 */
#ifndef ARIES_PACKET_CRC16_HPP
#define ARIES_PACKET_CRC16_HPP

#include <array>
#include <cstddef>
#include <cstdint>

namespace aries
{

inline constexpr uint16_t CRC16_POLYNOMIAL = 0x1021;
inline constexpr uint16_t CRC16_START = 0xffff;

namespace detail
{

constexpr std::array<uint16_t, 256> crc16_table()
{
	std::array<uint16_t, 256> table{};

	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte << 8;

		for (int bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc & 0x8000 ? CRC16_POLYNOMIAL : 0);
		table[byte] = static_cast<uint16_t>(crc);
	}
	return table;
}

inline constexpr std::array<uint16_t, 256> CRC16_TABLE = crc16_table();

} // namespace detail

/** CRC of @p length bytes, going on from @p crc. */
constexpr uint16_t crc16(const uint8_t *data, size_t length, uint16_t crc = CRC16_START)
{
	for (size_t i = 0; i < length; i++)
		crc = static_cast<uint16_t>(crc << 8 ^ detail::CRC16_TABLE[(crc >> 8 ^ data[i]) & 0xff]);
	return crc;
}

} // namespace aries

#endif
