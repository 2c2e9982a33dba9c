// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * Messages that two ranks send to and fro, polling on memory.
 */
#ifndef GNI_PERF_ECHO_H
#define GNI_PERF_ECHO_H

#include <cstddef>
#include <cstdint>

namespace perf
{

class Job;

/** Serving side: waits for message 1 to @p rounds and sends each back. Throws Failure. */
void echo(Job &job, size_t size, uint64_t rounds);

/** Measuring side: one round trip with message @p round; every word that returns is checked. Throws Failure. */
void ping(Job &job, size_t size, uint64_t round);

/** Largest message: whole words, since the last word tells that it has arrived. */
constexpr size_t ping_max = 8192;

} // namespace perf

#endif // GNI_PERF_ECHO_H
