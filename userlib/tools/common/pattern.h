// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Contents of test buffers: every byte depends on a seed and on its position.
 */
#ifndef TOOLS_PATTERN_H
#define TOOLS_PATTERN_H

#include <cstddef>
#include <cstdint>

namespace tools
{

/** Byte around and behind transfers; no transfer may change it. */
constexpr uint8_t guard_byte = 0xa6;

/** Bytes of guard before and behind each transfer. */
constexpr size_t guard_size = 64;

/** First wrong byte of a buffer. */
struct Mismatch {
	bool found = false;
	int64_t offset = 0; /* from the start of the transfer; negative: in the guard before it */
	uint8_t expected = 0;
	uint8_t got = 0;
};

/** Fills @p size bytes with the pattern of @p seed. */
void pattern_fill(uint8_t *data, size_t size, uint64_t seed);

/** Compares @p size bytes with the pattern of @p seed. */
Mismatch pattern_check(const uint8_t *data, size_t size, uint64_t seed);

/** Fills with the guard byte. */
void guard_fill(uint8_t *data, size_t size);

/** Looks at the guards around [@p data, @p data + @p size). */
Mismatch guard_check(const uint8_t *data, size_t size);

} // namespace tools

#endif // TOOLS_PATTERN_H
