// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Many runs: a point for each combination of values, in processes beside each other, results in one file that a later
 * call goes on with.
 */
#ifndef ARIES_SIM_SWEEP_HPP
#define ARIES_SIM_SWEEP_HPP

#include <string>
#include <vector>

#include "options.hpp"

namespace aries::sim
{

struct SweepShape {
	std::vector<std::string> over; ///< NAME=VALUE,VALUE,... or NAME=FROM:TO:STEP; the last one changes fastest
	std::string out;               ///< .json and .csv are put behind it
	uint32_t processes = 0;        ///< 0: one for each processor
	bool until_saturated = false;  ///< loads go up in each curve until one is not accepted
	bool quiet = false;
};

struct Axis {
	std::string name;
	std::vector<std::string> values;
};

/** @throws RunError */
Axis parse_axis(const std::string &text);

/** Sets what an axis is called: of traffic, run, parameters, or else of the machine. @throws std::runtime_error */
void set_option(Options &options, const std::string &name, const std::string &value);

/** @return the number of points that could not be run; a line about each is on standard error. @throws RunError */
size_t sweep(const Options &options, const SweepShape &shape);

} // namespace aries::sim

#endif
