// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Where the transfers of a batch lie in a data region.
 */
#ifndef GNI_PERF_LAYOUT_H
#define GNI_PERF_LAYOUT_H

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/pattern.h"

namespace perf
{

/** Largest misalignment of a transfer within its slot. */
constexpr size_t align_span = 64;

/** @p count slots of equal stride; each holds guard, transfer, guard. Transfer n has the pattern of seed + n. */
struct Layout {
	uint64_t size = 0;
	uint64_t count = 0;
	uint64_t seed = 0;
	uint64_t align_first = 0; /* misalignment of transfer 0 */
	uint64_t align_step = 0;  /* added from one transfer to the next, modulo 64 */

	uint64_t stride() const { return (size + 2 * tools::guard_size + align_span + 63) / 64 * 64; }

	/** Offset of transfer @p n in the data region. */
	size_t at(uint64_t n) const
	{
		return n * stride() + tools::guard_size + (align_first + n * align_step) % align_span;
	}

	/** True when it fits into a region of @p bytes, and the numbers make sense. */
	bool fits(size_t bytes) const
	{
		constexpr size_t most = size_t(1) << 40;
		return bytes <= most && size <= bytes && count <= bytes && (!count || stride() <= bytes / count);
	}
};

/** Transfers of @p size bytes that fit into @p bytes, at least 1 and at most @p most. */
inline uint64_t batch_for(uint64_t size, size_t bytes, uint64_t most)
{
	Layout layout;
	layout.size = size;
	return std::clamp<uint64_t>(bytes / layout.stride(), 1, most);
}

} // namespace perf

#endif // GNI_PERF_LAYOUT_H
