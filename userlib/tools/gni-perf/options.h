// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Command line of gni-perf.
 */
#ifndef GNI_PERF_OPTIONS_H
#define GNI_PERF_OPTIONS_H

#include <cstdint>
#include <string>
#include <vector>

#include "common/place.h"

namespace perf
{

struct Options {
	std::vector<std::string> tests; /* empty: the standard ones */
	std::vector<uint64_t> sizes;    /* empty: the defaults of each test */
	uint64_t max_size = 64u << 20;  /* default sizes above this are left out */
	uint32_t iterations = 200;
	double size_seconds = 5;      /* per size and test */
	double timeout_seconds = 120; /* for each wait */
	int local = 0;                /* ranks to start in this node */
	uint16_t delivery = 0;        /* GNI_DLVMODE_* of the transfers */
	tools::Place place;
	std::string json; /* file, "-" for standard output */
	bool quiet = false;
	bool list = false;
	bool done = false; /* help was printed */

	/** True when the test was named. */
	bool wants(const std::string &test) const;
};

/**
 * Reads environment and command line. Prints help when asked to. Throws UsageError.
 */
Options parse_options(int argc, char **argv);

} // namespace perf

#endif // GNI_PERF_OPTIONS_H
