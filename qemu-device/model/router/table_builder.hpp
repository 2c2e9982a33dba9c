// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Makes the route tables of a machine from its graph (R07), also of one with links and routers out (R14).
 */
#ifndef ARIES_ROUTER_TABLE_BUILDER_HPP
#define ARIES_ROUTER_TABLE_BUILDER_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "router/tables.hpp"
#include "topology/machine.hpp"

namespace aries::routing
{

/** What is out of use. */
struct Failures {
	std::vector<uint32_t> links;   ///< indices into Machine::links; both directions
	std::vector<uint32_t> routers; ///< with all their links

	bool operator==(const Failures &) const = default;
};

/** Tables, and what they cannot do. */
struct Built {
	using GroupPair = std::pair<uint32_t, uint32_t>;

	Tables tables;
	std::vector<uint32_t> cut_routers; ///< not out, but no local link leads to the rest of their group
	std::vector<GroupPair> cut_groups; ///< no way, minimal or by a third group
	std::vector<GroupPair> far_groups; ///< no link between them: all packets go by a third group
	std::vector<uint32_t> detoured;    ///< groups whose ways are not all the shortest, for they would deadlock

	bool whole() const noexcept { return cut_routers.empty() && cut_groups.empty(); }

	/** One line for each router and each pair of groups that is cut off; empty if all is connected. */
	std::vector<std::string> lost(const topology::Machine &machine) const;
};

/** Empty if tables can be made for the machine with this policy, else one line that names the cause. */
std::string check_tables(const topology::Machine &machine, const Policy &policy);

/**
 * Make the tables of a machine that topology::validate() and check_tables() accept.
 *
 * Ports lead to the nearest gateway of a group (R05), or of several equally near to any of them; all parallel links
 * are there. Links and routers that are out are in no table; neither are routers that are cut off.
 * @throws std::invalid_argument with the text of check_tables(), or for a failure that the machine does not have
 */
Built build_tables(const topology::Machine &machine, const Policy &policy = {}, const Failures &failures = {});

/** Channels of a class without which packets of such a machine might wait for each other in a circle (P13). */
uint32_t channels_needed(const Policy &policy, uint32_t groups) noexcept;

} // namespace aries::routing

#endif
