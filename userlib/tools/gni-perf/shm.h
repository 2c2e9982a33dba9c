// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Memory that two virtual machines share through an ivshmem-plain device: what a message costs without any NIC.
 */
#ifndef GNI_PERF_SHM_H
#define GNI_PERF_SHM_H

#include <cstddef>
#include <cstdint>

#include "common/wait.h"

namespace perf
{

/** BAR 2 of the first ivshmem device, mapped. */
class SharedBar
{
public:
	/** Throws Failure when there is no such device or it cannot be mapped. */
	SharedBar();
	SharedBar(const SharedBar &) = delete;
	SharedBar &operator=(const SharedBar &) = delete;
	~SharedBar();

	/** Word @p n of a cache line of its own. */
	volatile uint64_t *word(size_t n) const { return static_cast<volatile uint64_t *>(map_) + 16 * n; }

private:
	void *map_ = nullptr;
	size_t size_ = 0;
};

/** Serving side: returns message 1 to @p rounds. Throws Failure at the deadline. */
void shm_echo(uint64_t rounds, const tools::Deadline &deadline);

/** Measuring side: one round trip. Throws Failure at the deadline. */
void shm_ping(const SharedBar &bar, uint64_t round, const tools::Deadline &deadline);

} // namespace perf

#endif // GNI_PERF_SHM_H
