// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Memory for transfers, in pages of either size.
 */
#ifndef TOOLS_MEMORY_H
#define TOOLS_MEMORY_H

#include <cstddef>
#include <cstdint>

namespace tools
{

/** Which pages memory is made of. */
enum class Pages { Usual, Huge };

/** Memory of this process, populated. It begins with a page, and a huge one if it is made of those. */
class Memory
{
public:
	/**
	 * @param bytes with huge pages rounded up to whole ones of 2 MiB
	 * Throws Failure if there is not so much memory, or fewer huge pages where they are asked for.
	 */
	explicit Memory(size_t bytes, Pages pages = Pages::Usual);
	Memory(const Memory &) = delete;
	Memory &operator=(const Memory &) = delete;
	~Memory();

	uint8_t *data() const { return data_; }
	size_t size() const { return size_; }

private:
	void populate_huge();

	uint8_t *data_ = nullptr;
	size_t size_;
	void *map_;
	size_t map_size_;
};

} // namespace tools

#endif // TOOLS_MEMORY_H
