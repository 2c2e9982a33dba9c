// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Results of many runs as a table.
 */
#ifndef ARIES_SIM_SWEEP_CSV_HPP
#define ARIES_SIM_SWEEP_CSV_HPP

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace aries::sim
{

struct SweepRow {
	std::vector<std::string> values; ///< by axis
	nlohmann::ordered_json result;   ///< as write_json() has it
};

/** A line with names, then one for each row; jobs have columns of their own. */
std::string sweep_csv(const std::vector<std::string> &axes, const std::vector<SweepRow> &rows);

} // namespace aries::sim

#endif
