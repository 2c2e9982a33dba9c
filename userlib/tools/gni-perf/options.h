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
	std::string csv;  /* the same */

	/* Between two processes that no launcher has started. */
	std::string host; /* who serves; empty: no client */
	bool server = false;
	bool once = false; /* the server ends with its first client */
	double connect_seconds = 10;
	uint32_t instance = 0x100; /* instance id of rank 0 */
	uint64_t least_data = 0;   /* bytes of the data region, at least */
	bool huge_pages = false;   /* the data region is made of them */

	/* Of streams of operations. */
	uint32_t window = 64; /* operations of a thread under way */
	uint32_t threads = 1;
	bool bidirectional = false;
	bool iterations_given = false;
	double seconds = 1; /* of each size */

	bool quiet = false;
	bool list = false;
	bool done = false; /* help or version was printed */

	/** True for a process that finds the other one by itself. */
	bool alone() const { return server || !host.empty(); }

	/** True when the test was named. */
	bool wants(const std::string &test) const;
};

/**
 * Reads environment and command line. Prints help when asked to. Throws UsageError.
 */
Options parse_options(int argc, char **argv);

} // namespace perf

#endif // GNI_PERF_OPTIONS_H
