// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Rates of the counters of a NIC.
 */
#ifndef GNI_INFO_WATCH_H
#define GNI_INFO_WATCH_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device.h"

namespace gniinfo
{

/** How a counter has changed. */
struct Rate {
	std::string name;
	std::optional<double> per_second; /* empty: it has gone back, the NIC was reset */
};

/** Counters that have changed, the fastest first. A value that is no count (the last latency) is left out. */
std::vector<Rate> rates(const Counters &before, const Counters &now, double seconds);

struct WatchPlan {
	double interval = 1; /* seconds */
	uint64_t count = 0;  /* reports; 0: until it is interrupted */
	bool router = false; /* counters of the router, too */
	bool json = false;   /* one object a line */
};

/** Prints reports until the plan is fulfilled. Throws Failure when the NIC goes or the output cannot be written. */
void watch(uint32_t device, const WatchPlan &plan);

} // namespace gniinfo

#endif // GNI_INFO_WATCH_H
