// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Machines of Aries routers: groups of chassis of blades, by the configuration rules of the product (T07 to T12, T25,
 * T31 to T36). Routers, tiles and nodes have the numbers that the device gives them (dragonfly.hpp).
 *
 * The cable port that serves the k th cable to a peer depends on the rank of the peer, on k and on the plan, not on
 * the number of groups: a machine that grows within its plan keeps every cable (T33).
 */
#ifndef ARIES_TOPOLOGY_BUILD_ARIES_HPP
#define ARIES_TOPOLOGY_BUILD_ARIES_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "topology/machine.hpp"

namespace aries::topology
{

/** Air-cooled machines have groups of one chassis, no black links, and electrical global links (T36). */
enum class Cooling : uint8_t { Water, Air };

/**
 * How many cables a bundle may have. The sources ask for multiples of six up to 26 cabinets and of two up to 64, and
 * then show 34 in a table (T31). The multiples are what lets a group grow by chassis or by cabinets; so AsNeeded asks
 * for them where the last group is short, and Multiples asks for them always.
 */
enum class BundleRule : uint8_t { AsNeeded, Multiples };

/** What a machine is built from; 0 stands for the usual value. */
struct AriesShape {
	uint32_t groups = 1;
	uint32_t chassis = 0;            ///< of a group: 6, or 1 in an air-cooled machine
	uint32_t slots = 0;              ///< of a chassis: 16
	uint32_t last_group_chassis = 0; ///< all; 1 to 6 (T34)
	uint32_t last_chassis_slots = 0; ///< all; fewer in air-cooled machines, and where there is one group
	uint32_t cables_per_pair = 0;    ///< of groups; as many as the ports allow (T25)
	bool half_optics = false;        ///< use half of the ports at most
	uint32_t planned_groups = 0;     ///< the machine may grow to so many, and to full optics then, without rewiring
	Cooling cooling = Cooling::Water;
	BundleRule bundle_rule = BundleRule::AsNeeded;
	bool electrical_global = false; ///< copper cables between groups; always so in air-cooled machines
	double global_length_m = 0;     ///< of each cable between groups
	uint32_t nodes = 0;             ///< all; else the last ones are missing
};

/** Empty if the shape can be built, else one line that names the broken rule. */
std::string check_aries(const AriesShape &shape);

/** Lines about what can be built, but should not: less than a quarter of the ports is used (T32). */
std::vector<std::string> advise_aries(const AriesShape &shape);

/** Cables between two full groups, 0 if there is one; of a shape that passes check_aries(). */
uint32_t aries_cables_per_pair(const AriesShape &shape);

/** @throws std::invalid_argument with the text of check_aries() */
Machine build_aries(const AriesShape &shape);

} // namespace aries::topology

#endif
