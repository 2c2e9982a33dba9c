// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Jobs in YAML: which nodes each has, and what they do (Documentation/simulator.md has the format).
 */
#ifndef ARIES_SIM_JOBS_HPP
#define ARIES_SIM_JOBS_HPP

#include <string>
#include <vector>

#include "topology/machine.hpp"
#include "traffic.hpp"

namespace aries::sim
{

/**
 * Places jobs on a machine.
 * @param text a list of maps, or one map
 * @param name of the file or option, for messages
 * @param traffic of jobs that do not say otherwise
 * @throws NameError "name:line: rule"
 */
std::vector<Job> parse_jobs(const std::string &text, const std::string &name, const topology::Machine &machine,
			    const TrafficShape &traffic);

/** The same from a file. @throws NameError */
std::vector<Job> read_jobs(const std::string &path, const topology::Machine &machine, const TrafficShape &traffic);

} // namespace aries::sim

#endif
