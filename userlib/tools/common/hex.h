// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Plain structures as one word of text, which is what a Kvs takes.
 */
#ifndef TOOLS_HEX_H
#define TOOLS_HEX_H

#include <cstddef>
#include <string>
#include <type_traits>

namespace tools
{

std::string hex_of_bytes(const void *bytes, size_t size);

/** False if @p text is anything but @p size bytes. */
bool bytes_of_hex(const std::string &text, void *bytes, size_t size);

template <class T> std::string to_hex(const T &value)
{
	static_assert(std::has_unique_object_representations_v<T>, "padding would be published");
	return hex_of_bytes(&value, sizeof(value));
}

/** False, with nothing of use in @p value, if @p text is no T. */
template <class T> bool from_hex(const std::string &text, T &value)
{
	static_assert(std::has_unique_object_representations_v<T>);
	return bytes_of_hex(text, &value, sizeof(value));
}

} // namespace tools

#endif // TOOLS_HEX_H
