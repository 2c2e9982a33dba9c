// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * What gni-info prints.
 */
#ifndef GNI_INFO_REPORT_H
#define GNI_INFO_REPORT_H

#include <string>
#include <vector>

#include "device.h"

namespace gniinfo
{

/** Everything about devices, and what is the same for all of them. */
struct Report {
	uint32_t library_version = 0; /* packed */
	std::string library_build, driver_build;
	uint32_t abi = 0; /* that this program was built for */
	std::vector<Device> devices;
};

/** Asks the library for its part. Throws Failure. */
Report begin_report();

/** A packed version as "0.92.0". */
std::string version_text(uint32_t packed);

/** @p all: counters that are 0, too. */
void print_text(const Report &report, bool all);
void print_json(const Report &report);

/** The table of environment variables, with the values that the caller has. */
void print_environment(bool json);

} // namespace gniinfo

#endif // GNI_INFO_REPORT_H
