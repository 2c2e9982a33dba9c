// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Fetching additions from both sides of a pair on one word.
 */
#ifndef GNI_PERF_CONTEND_H
#define GNI_PERF_CONTEND_H

#include <cstddef>
#include <cstdint>

namespace perf
{

class Job;

/**
 * Adds 1 to the atomic word of rank @p owner @p count times and keeps the fetched values, in order, at
 * contend_values of the data region. Throws Failure when a value does not grow.
 */
void contend(Job &job, int owner, uint64_t count);

/** Offset of the fetched values in the data region. */
constexpr size_t contend_values = 4096;

/** Most additions of one side. */
constexpr uint64_t contend_max = 65536;

} // namespace perf

#endif // GNI_PERF_CONTEND_H
