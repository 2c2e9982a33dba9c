/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Register decode from the one table: which register is at an offset, and may it be accessed that way. */
#ifndef ARIES_NIC_REGS_HPP
#define ARIES_NIC_REGS_HPP

#include <cstdint>

#include "aries_regs.h"
#include "aries_regs_table.h"

namespace aries
{

enum class Reg : uint8_t {
#define ARIES_REG_ENUM(name, offset, width, access, count, stride, reset, mask, dump, text) name,
	ARIES_REGISTERS(ARIES_REG_ENUM)
#undef ARIES_REG_ENUM
		COUNT
};

enum class RegAccess : uint8_t { RO, RW, WO, W1C };

struct RegRow {
	const char *name;
	uint32_t offset;
	uint8_t width;
	RegAccess access;
	uint32_t count;
	uint32_t stride;
	uint64_t reset;
	uint64_t mask; /* bits outside are reserved */
};

const RegRow &reg_row(Reg reg) noexcept;

/** What is at an offset of the register BAR. */
struct RegPlace {
	Reg reg;        /* Reg::COUNT: nothing */
	uint32_t index; /* element of an array */
	bool upper;     /* upper half of a 64-bit register */
};

/** Decodes a 4-byte aligned offset. */
RegPlace reg_decode(uint64_t offset) noexcept;

/** Why an access is refused; nullptr if it is not. */
const char *reg_refuse_read(uint64_t offset, unsigned int size, const RegPlace &place) noexcept;
const char *reg_refuse_write(uint64_t offset, unsigned int size, uint64_t value, const RegPlace &place) noexcept;

} // namespace aries

#endif
