/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The register table as a list, for tests of all registers. */
#ifndef ARIES_TESTS_REGISTER_ROWS_HPP
#define ARIES_TESTS_REGISTER_ROWS_HPP

#include <cstdint>
#include <cstring>

#include "aries_regs_table.h"

namespace aries_test
{

enum RegisterAccess { RO, RW, WO, W1C };

struct RegisterRow {
	const char *name;
	uint64_t offset;
	unsigned int width;
	RegisterAccess access;
	uint64_t count, stride, reset, mask;

	/** Offset of an element of an array. */
	uint64_t at(uint64_t element) const { return offset + element * stride; }
	unsigned int bytes() const { return width / 8; }
	uint64_t all() const { return UINT64_MAX >> (64 - width); }
	bool is(const char *other) const { return strcmp(name, other) == 0; }
	bool starts(const char *prefix) const { return strncmp(name, prefix, strlen(prefix)) == 0; }
};

inline constexpr RegisterRow REGISTER_ROWS[] = {
#define ROW(name, offset, width, access, count, stride, reset, mask, dump, text)                                       \
	{#name, offset, width, access, count, stride, reset, mask},
	ARIES_REGISTERS(ROW)
#undef ROW
};

} // namespace aries_test

#endif
