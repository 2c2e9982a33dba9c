// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "pattern.h"

#include <cstring>

namespace tools
{

namespace
{

/* One multiplication a word: the pattern must not cost more than the transfer that it checks. */
uint64_t word_at(uint64_t seed, uint64_t index)
{
	uint64_t x = (index + 1 + (seed << 32)) * 0x9e3779b97f4a7c15u;
	return x ^ (x >> 29);
}

Mismatch find_byte(const uint8_t *data, const uint8_t *expected, size_t size, size_t offset)
{
	for (size_t i = 0; i < size; i++)
		if (data[i] != expected[i])
			return {true, static_cast<int64_t>(offset + i), expected[i], data[i]};
	return {};
}

Mismatch find_other(const uint8_t *data, size_t size, uint8_t value, int64_t offset)
{
	for (size_t i = 0; i < size; i++)
		if (data[i] != value)
			return {true, offset + static_cast<int64_t>(i), value, data[i]};
	return {};
}

} // namespace

void pattern_fill(uint8_t *data, size_t size, uint64_t seed)
{
	for (size_t at = 0; at < size; at += 8) {
		uint64_t word = word_at(seed, at / 8);
		memcpy(data + at, &word, size - at < 8 ? size - at : 8);
	}
}

Mismatch pattern_check(const uint8_t *data, size_t size, uint64_t seed)
{
	for (size_t at = 0; at < size; at += 8) {
		uint64_t word = word_at(seed, at / 8);
		size_t part = size - at < 8 ? size - at : 8;
		if (memcmp(data + at, &word, part) != 0)
			return find_byte(data + at, reinterpret_cast<uint8_t *>(&word), part, at);
	}
	return {};
}

void guard_fill(uint8_t *data, size_t size)
{
	memset(data, guard_byte, size);
}

Mismatch guard_check(const uint8_t *data, size_t size)
{
	Mismatch before = find_other(data - guard_size, guard_size, guard_byte, -static_cast<int64_t>(guard_size));
	if (before.found)
		return before;
	return find_other(data + size, guard_size, guard_byte, static_cast<int64_t>(size));
}

} // namespace tools
