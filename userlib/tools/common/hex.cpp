// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "hex.h"

#include <charconv>
#include <cstdint>

#include "failure.h"

namespace tools
{

std::string hex_of_bytes(const void *bytes, size_t size)
{
	std::string text;
	for (size_t i = 0; i < size; i++)
		text += format("%02x", static_cast<const uint8_t *>(bytes)[i]);
	return text;
}

bool bytes_of_hex(const std::string &text, void *bytes, size_t size)
{
	if (text.size() != 2 * size)
		return false;
	for (size_t i = 0; i < size; i++) {
		const char *digits = text.data() + 2 * i;
		if (std::from_chars(digits, digits + 2, static_cast<uint8_t *>(bytes)[i], 16).ptr != digits + 2)
			return false;
	}
	return true;
}

} // namespace tools
