/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/registers/regs.hpp"

#include <array>
#include <cstddef>
#include <iterator>

namespace aries
{

namespace
{

constexpr RegRow ROWS[] = {
#define ARIES_REG_ROW(name, offset, width, access, count, stride, reset, mask, dump, text)                             \
	{#name, offset, width, RegAccess::access, count, stride, reset, mask},
	ARIES_REGISTERS(ARIES_REG_ROW)
#undef ARIES_REG_ROW
};

constexpr uint8_t NOTHING = uint8_t(Reg::COUNT);

static_assert(std::size(ROWS) == std::size_t(Reg::COUNT) && std::size(ROWS) < 255);

/** One byte for each 4 of the BAR. */
using RegMap = std::array<uint8_t, ARIES_BAR_REGS_SIZE / 4>;

RegMap build_map() noexcept
{
	RegMap map;

	map.fill(NOTHING);
	for (std::size_t reg = 0; reg < std::size(ROWS); reg++) {
		const RegRow &row = ROWS[reg];

		for (uint32_t i = 0; i < row.count; i++) {
			for (uint32_t byte = 0; byte < row.width / 8u; byte += 4)
				map[(row.offset + i * row.stride + byte) / 4] = uint8_t(reg);
		}
	}
	return map;
}

} // namespace

const RegRow &reg_row(Reg reg) noexcept
{
	return ROWS[std::size_t(reg)];
}

RegPlace reg_decode(uint64_t offset) noexcept
{
	static const RegMap map = build_map();

	if (offset >= ARIES_BAR_REGS_SIZE || map[offset / 4] == NOTHING)
		return {Reg::COUNT, 0, false};
	const Reg reg = Reg(map[offset / 4]);
	const RegRow &row = reg_row(reg);
	const uint32_t from = uint32_t(offset) - row.offset;

	return {reg, from / row.stride, row.width == 64 && (from % row.stride) >= 4};
}

const char *reg_refuse_read(uint64_t offset, unsigned int size, const RegPlace &place) noexcept
{
	if (place.reg == Reg::COUNT)
		return "no register";
	const RegRow &row = reg_row(place.reg);

	if (size * 8 == row.width && offset % size == 0)
		return nullptr;
	return size == 4 && offset % 4 == 0 ? nullptr : "access size";
}

const char *reg_refuse_write(uint64_t offset, unsigned int size, uint64_t value, const RegPlace &place) noexcept
{
	if (place.reg == Reg::COUNT)
		return "no register";
	const RegRow &row = reg_row(place.reg);

	if (size * 8 != row.width || offset % size != 0)
		return "access size";
	if (row.access == RegAccess::RO)
		return "read only";
	return value & ~row.mask ? "reserved bits" : nullptr;
}

} // namespace aries
