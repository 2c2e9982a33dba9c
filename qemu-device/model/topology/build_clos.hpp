// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Folded Clos networks of full bandwidth, or fat trees: half of the ports of a router lead up, in the last stage all
 * lead down. The fat tree that the sources compare Aries with (T44), and QsNetIII with radix 32 (Q01).
 *
 * A machine has one type of router. Here it is the union of those of all stages: nodes, then the links of each level.
 * A router of a stage uses the tiles of the level below it and of that above, and no others.
 */
#ifndef ARIES_TOPOLOGY_BUILD_CLOS_HPP
#define ARIES_TOPOLOGY_BUILD_CLOS_HPP

#include <cstdint>
#include <string>

#include "topology/machine.hpp"

namespace aries::topology
{

struct ClosShape {
	uint32_t radix = 36;
	uint32_t stages = 3;
	uint32_t top_radix = 0;     ///< of the last stage, whose ports all lead down; that of the others
	uint32_t lanes = 4;         ///< of a link
	double gbit_per_lane = 14;  ///< raw
	bool optical_leaves = true; ///< links of the first stage are long; those above stay inside a large switch
};

/** Empty if the shape can be built, else one line that names the broken rule. */
std::string check_clos(const ClosShape &shape);

/** @throws std::invalid_argument with the text of check_clos() */
Machine build_clos(const ClosShape &shape);

} // namespace aries::topology

#endif
