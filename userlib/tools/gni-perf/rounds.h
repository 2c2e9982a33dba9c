// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Round trips, timed: what one message costs.
 */
#ifndef GNI_PERF_ROUNDS_H
#define GNI_PERF_ROUNDS_H

#include <cstdint>

#include "common/wait.h"
#include "samples.h"

namespace perf
{

/** Rounds that are not timed. */
constexpr uint64_t warm_rounds = 100;

/**
 * Half round trips in nanoseconds. Many rounds to one reading of the clock, which costs as much as a put.
 * @param rounds in all, the first warm_rounds of them among these
 * @param ping sends message n and waits for its return, for n from 1 to @p rounds
 */
template <class Ping> Samples time_rounds(uint64_t rounds, Ping ping)
{
	constexpr uint64_t together = 20;
	Samples samples;
	uint64_t round = 0;
	while (round < warm_rounds)
		ping(++round);
	while (round + together <= rounds) {
		uint64_t start = tools::now_ns();
		for (uint64_t n = 0; n < together; n++)
			ping(++round);
		samples.add((tools::now_ns() - start) / (2 * together));
	}
	while (round < rounds)
		ping(++round);
	return samples;
}

} // namespace perf

#endif // GNI_PERF_ROUNDS_H
