// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "handle.h"

namespace isolation
{

namespace
{

constexpr unsigned mdh_first_shift = 52;  /* in qword1, first format */
constexpr unsigned mdh_second_shift = 42; /* in qword2, second format */
constexpr unsigned flags_shift = 34;      /* in qword2 */
constexpr unsigned crc_shift = 56;        /* in qword2 */
constexpr uint64_t mdh_mask = 0xfff;
constexpr uint64_t pages_mask = (1ull << 28) - 1;
constexpr uint64_t address_mask = (1ull << 52) - 1;
constexpr uint64_t flag_read_only = 0x01;
constexpr uint64_t flag_second_format = 0x80;

bool second_format(const gni_mem_handle_t &handle)
{
	return handle.qword2 >> flags_shift & flag_second_format;
}

/* CRC-8, reflected polynomial 0x8c, over the other 15 bytes, least significant byte first. */
uint8_t crc_of(const gni_mem_handle_t &handle)
{
	uint8_t crc = 0;
	for (unsigned n = 0; n < 15; n++) {
		uint64_t word = n < 8 ? handle.qword1 >> 8 * n : handle.qword2 >> 8 * (n - 8);
		crc ^= static_cast<uint8_t>(word);
		for (unsigned bit = 0; bit < 8; bit++)
			crc = static_cast<uint8_t>(crc & 1 ? crc >> 1 ^ 0x8c : crc >> 1);
	}
	return crc;
}

gni_mem_handle_t sealed(gni_mem_handle_t handle)
{
	handle.qword2 &= (1ull << crc_shift) - 1;
	handle.qword2 |= static_cast<uint64_t>(crc_of(handle)) << crc_shift;
	return handle;
}

} // namespace

uint32_t handle_mdh(const gni_mem_handle_t &handle)
{
	uint64_t word = second_format(handle) ? handle.qword2 >> mdh_second_shift : handle.qword1 >> mdh_first_shift;
	return static_cast<uint32_t>(word & mdh_mask);
}

gni_mem_handle_t with_mdh(gni_mem_handle_t handle, uint32_t mdh)
{
	unsigned shift = second_format(handle) ? mdh_second_shift : mdh_first_shift;
	uint64_t &word = second_format(handle) ? handle.qword2 : handle.qword1;
	word &= ~(mdh_mask << shift);
	word |= (mdh & mdh_mask) << shift;
	return sealed(handle);
}

gni_mem_handle_t with_range(gni_mem_handle_t handle, uint64_t address, uint64_t pages)
{
	handle.qword1 = (handle.qword1 & ~address_mask) | (address >> 12 & address_mask);
	handle.qword2 = (handle.qword2 & ~pages_mask) | (pages & pages_mask);
	return sealed(handle);
}

gni_mem_handle_t without_read_only(gni_mem_handle_t handle)
{
	handle.qword2 &= ~(flag_read_only << flags_shift);
	return sealed(handle);
}

gni_mem_handle_t with_bad_crc(gni_mem_handle_t handle)
{
	handle.qword2 ^= 1ull << crc_shift;
	return handle;
}

} // namespace isolation
