// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Collectives of all ranks through the collective engines of their NICs.
 */
#ifndef GNI_PERF_BARRIER_H
#define GNI_PERF_BARRIER_H

#include "common/kvs.h"
#include "report.h"

namespace perf
{

class Job;

/**
 * To be called by all ranks. Makes a tree of two engines, checks a sum, a minimum with its index and an exchange
 * of exceptions, then times barriers. Throws Failure.
 * @return the same row on every rank but for the latencies, which are its own; traps and interrupts are those of
 *         all nodes together for one barrier
 */
Row barrier(Job &job, tools::Exchange &kvs);

} // namespace perf

#endif // GNI_PERF_BARRIER_H
