// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Command line of aries-info.
 */
#ifndef ARIES_INFO_OPTIONS_H
#define ARIES_INFO_OPTIONS_H

#include <string>
#include <vector>

namespace info
{

/** Exit status of the program. */
enum Exit { exit_ok = 0, exit_none = 1, exit_usage = 2, exit_access = 3 };

struct Options {
	std::string slot; /* empty: every NIC */
	bool registers = false;
	std::vector<std::string> names; /* registers or blocks; empty: all */
	bool all_elements = false;
	bool enable = false;
	bool json = false;
	bool list = false; /* names and meaning of the registers */
	bool done = false; /* help or version was printed */
};

/** Reads the command line; prints help or the version when asked to. Throws UsageError. */
Options parse_options(int argc, char **argv);

} // namespace info

#endif // ARIES_INFO_OPTIONS_H
