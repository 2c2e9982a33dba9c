// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "memhandle.hpp"

#include <array>

namespace ugni
{

namespace
{

constexpr uint64_t kAddressMask = 0x000fffffffffffff;
constexpr uint64_t kPagesMask = 0x0fffffff;

/* Reflected polynomial 0x8c, start 0. */
constexpr std::array<uint8_t, 256> crc_table()
{
	std::array<uint8_t, 256> table{};

	for (unsigned i = 0; i < table.size(); i++) {
		unsigned crc = i;
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x8c : crc >> 1;
		table[i] = static_cast<uint8_t>(crc);
	}
	return table;
}

constexpr std::array<uint8_t, 256> kCrc = crc_table();

} // namespace

uint8_t mem_crc(const gni_mem_handle_t &h)
{
	uint8_t crc = 0;

	for (unsigned shift = 0; shift < 64; shift += 8)
		crc = kCrc[crc ^ (h.qword1 >> shift & 0xff)];
	for (unsigned shift = 0; shift < 56; shift += 8)
		crc = kCrc[crc ^ (h.qword2 >> shift & 0xff)];
	return crc;
}

bool mem_intact(const gni_mem_handle_t &h)
{
	return !mem_none(h) && h.qword2 >> 56 == mem_crc(h);
}

gni_mem_handle_t mem_encode(const MemHandle &m)
{
	gni_mem_handle_t h;

	h.qword1 = (m.address >> kPageShift & kAddressMask) | static_cast<uint64_t>(m.mdh & 0xfff) << 52;
	h.qword2 = (m.pages & kPagesMask) | static_cast<uint64_t>(m.page_shift & 0x3f) << 28 |
		   static_cast<uint64_t>(m.flags) << 34;
	h.qword2 |= static_cast<uint64_t>(mem_crc(h)) << 56;
	return h;
}

MemHandle mem_decode(const gni_mem_handle_t &h)
{
	MemHandle m{};

	m.address = (h.qword1 & kAddressMask) << kPageShift;
	m.pages = h.qword2 & kPagesMask;
	m.mdh = mem_mdh(h);
	m.page_shift = static_cast<uint8_t>(h.qword2 >> 28 & 0x3f);
	m.flags = mem_flags(h);
	return m;
}

} // namespace ugni
