// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What can be said on the command line about one run.
 */
#ifndef ARIES_SIM_OPTIONS_HPP
#define ARIES_SIM_OPTIONS_HPP

#include <string>
#include <vector>

#include "simulation.hpp"
#include "topology/builders.hpp"

namespace aries::sim
{

struct Options {
	std::string machine = "canonical";
	std::vector<std::string> shape;
	std::string jobs;             ///< file
	std::vector<std::string> job; ///< YAML
	std::vector<std::string> set; ///< NAME=VALUE of Parameters
	std::string traffic = "uniform", operation = "put", load = "0.2", mode = "adaptive", response_mode, slow;
	std::vector<int32_t> bias;
	std::vector<std::string> fail, repair, lanes; ///< in mid-run
	uint32_t channels = 0;
	uint64_t memory_mib = 0;
	RunShape run;
};

/** A run that can begin. */
struct Prepared {
	topology::Built built;
	RunShape run;
};

/** @throws std::runtime_error with one line that names the broken rule */
Prepared prepare(const Options &options);

} // namespace aries::sim

#endif
