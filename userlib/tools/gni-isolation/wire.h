// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Plain structures as text for the key-value store.
 */
#ifndef GNI_ISOLATION_WIRE_H
#define GNI_ISOLATION_WIRE_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "common/failure.h"

namespace isolation
{

inline std::string to_hex(const void *data, size_t bytes)
{
	std::string text;
	for (size_t n = 0; n < bytes; n++)
		text += tools::format("%02x", static_cast<const uint8_t *>(data)[n]);
	return text;
}

/** Throws Failure when @p text is not exactly @p bytes long. */
inline void from_hex(const std::string &text, void *data, size_t bytes)
{
	if (text.size() != 2 * bytes)
		throw tools::Failure("the other rank is of another version");
	for (size_t n = 0; n < bytes; n++) {
		unsigned value;
		if (sscanf(text.c_str() + 2 * n, "%2x", &value) != 1)
			throw tools::Failure("the other rank published something unreadable");
		static_cast<uint8_t *>(data)[n] = static_cast<uint8_t>(value);
	}
}

} // namespace isolation

#endif // GNI_ISOLATION_WIRE_H
