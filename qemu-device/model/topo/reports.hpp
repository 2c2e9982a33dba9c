// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What aries-topo tells about a machine, as JSON; text_of() makes the same readable.
 */
#ifndef ARIES_TOPO_REPORTS_HPP
#define ARIES_TOPO_REPORTS_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "topology/machine.hpp"

namespace aries::topology
{

using Json = nlohmann::ordered_json;

Json report_machine(const Machine &machine);
Json report_cables(const Machine &machine);
Json report_bisection(const Machine &machine);
Json report_bandwidth(const Machine &machine);

/**
 * The properties of aries-nic that stand for a machine.
 * @throws FileError with the first thing in which the device differs; not the connectors of cables between groups,
 * which it gives out by a rule of its own
 */
Json report_device(const Machine &machine);

/** @param sources routers to count from; 0 for all */
Json report_hops(const Machine &machine, uint32_t sources);

/** Where routers are, what they are called, and which nodes they have. */
Json report_places(const Machine &machine);

/** Lines of "key: value", and a table for each list of objects. */
std::string text_of(const Json &report);

} // namespace aries::topology

#endif
