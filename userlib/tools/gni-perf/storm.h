// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Fetching additions of all ranks on one word.
 */
#ifndef GNI_PERF_STORM_H
#define GNI_PERF_STORM_H

#include "common/kvs.h"
#include "report.h"

namespace perf
{

class Job;

/**
 * To be called by all ranks. Each adds 1 to the atomic word of rank 0 as often as the options say, in turn with the
 * cached command and with the other. Throws Failure if a value that it fetches is not greater than the one before, or
 * if the word is not the number of additions in the end.
 * @return the same row on every rank but for the rate, which is its own
 */
Row storm(Job &job, tools::Exchange &kvs);

} // namespace perf

#endif // GNI_PERF_STORM_H
