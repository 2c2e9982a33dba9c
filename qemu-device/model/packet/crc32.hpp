// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The CRC of 32 bits of Ethernet: polynomial 0x04c11db7, bits reversed, starts with and is inverted by all ones.
 */
#ifndef ARIES_PACKET_CRC32_HPP
#define ARIES_PACKET_CRC32_HPP

#include <array>
#include <cstddef>
#include <cstdint>

namespace aries
{

inline constexpr uint32_t CRC32_POLYNOMIAL = 0xedb88320;

namespace detail
{

constexpr std::array<uint32_t, 256> crc32_table()
{
	std::array<uint32_t, 256> table{};

	for (uint32_t i = 0; i < table.size(); i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? CRC32_POLYNOMIAL : 0);
		table[i] = crc;
	}
	return table;
}

inline constexpr std::array<uint32_t, 256> CRC32_TABLE = crc32_table();

} // namespace detail

/** CRC of bytes; @p before is that of those in front of them. */
constexpr uint32_t crc32(const uint8_t *data, size_t length, uint32_t before = 0)
{
	uint32_t crc = ~before;

	for (size_t i = 0; i < length; i++)
		crc = crc >> 8 ^ detail::CRC32_TABLE[(crc ^ data[i]) & 0xff];
	return ~crc;
}

} // namespace aries

#endif
