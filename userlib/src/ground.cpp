// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "ground.hpp"
#include "guard.hpp"
#include "wiped.hpp"

#include <cstdint>
#include <sys/mman.h>

namespace ugni
{

namespace
{

constexpr uint32_t kRanges = 1024;
/* Not used again before so many others have been left, so that a late thread does not meet somebody else's. */
constexpr uint32_t kQuarantine = 16;

struct Range {
	void *address;
	size_t bytes;
};

/* Oldest first. The list is not in the ranges: late threads may write there. */
struct Ranges {
	Range range[kRanges];
	uint32_t count;

	Range take(uint32_t index)
	{
		const Range r = range[index];

		count--;
		for (; index < count; index++)
			range[index] = range[index + 1];
		return r;
	}
};

constinit Wiped<Ranges> ranges;

bool bury(void *address, size_t bytes)
{
	return mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		    0) == address;
}

} // namespace

void *ground_take(size_t bytes)
{
	const Locked lock(Subject::ground);
	Ranges *all = ranges.get();

	for (uint32_t i = 0; all && i + kQuarantine < all->count; i++) {
		if (all->range[i].bytes != bytes)
			continue;
		void *address = all->take(i).address;
		(void)madvise(address, bytes, MADV_DONTNEED);
		return address;
	}
	return nullptr;
}

void *ground_new(size_t bytes)
{
	void *p = ground_take(bytes);

	if (p)
		return p;
	p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return nullptr;
	keep_sparse(p, bytes);
	return p;
}

void ground_keep(void *address, size_t bytes)
{
	if (bury(address, bytes))
		ground_leave(address, bytes);
	else
		(void)munmap(address, bytes);
}

void ground_leave(void *address, size_t bytes)
{
	const Locked lock(Subject::ground);
	Ranges *all = ranges.get();

	if (!all)
		return;
	if (all->count == kRanges) {
		const Range oldest = all->take(0);
		(void)munmap(oldest.address, oldest.bytes);
	}
	all->range[all->count++] = {address, bytes};
}

} // namespace ugni
