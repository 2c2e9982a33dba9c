// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Lengths of shortest paths, counted over the links. These are bounds for any routing: minimal routing of a dragonfly
 * takes the direct way, which need not be the shortest.
 */
#ifndef ARIES_TOPOLOGY_HOPS_HPP
#define ARIES_TOPOLOGY_HOPS_HPP

#include <cstdint>
#include <vector>

#include "topology/machine.hpp"
#include "topology/wiring.hpp"

namespace aries::topology
{

struct Hops {
	std::vector<double> share; ///< of pairs of nodes at different NICs, by hops between their routers
	double mean = 0;
	uint32_t most = 0;
	uint32_t sources = 0;    ///< routers with nodes from which was counted
	double mean_optical = 0; ///< fewest links of an optical class between two nodes, on average
	uint32_t most_optical = 0;
};

/** @param sources routers with nodes to count from, evenly over the machine; 0 for all */
Hops count_hops(const Machine &machine, const Wiring &wiring, uint32_t sources = 0);

} // namespace aries::topology

#endif
