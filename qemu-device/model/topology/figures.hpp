// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What a machine costs and what it can carry, counted from its links: cables, bisection, global bandwidth. The closed
 * forms of the sources are in closed_forms.hpp, so that tests can compare both.
 */
#ifndef ARIES_TOPOLOGY_FIGURES_HPP
#define ARIES_TOPOLOGY_FIGURES_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "topology/machine.hpp"

namespace aries::topology
{

/** Links of one class. */
struct ClassCount {
	uint64_t links = 0;
	uint64_t cables = 0;
	uint64_t lanes = 0;          ///< of one direction, of all links
	double gbyte_per_s = 0;      ///< of one direction, of all links
	double length_of_cables = 0; ///< metres, all cables together
};

/** One entry for each class of the machine. */
std::vector<ClassCount> count_classes(const Machine &machine);

/** What leads from one part of a machine to the other. */
struct Cut {
	ClassCount total;
	std::vector<ClassCount> by_class;
	uint64_t nodes[2] = {}; ///< of the parts

	/** GB/s of both directions together, as the sources count (T22, T24). */
	double both_ways() const { return total.gbyte_per_s * 2; }
};

/** The cut between routers with @p side false and those with true. */
Cut cut_between(const Machine &machine, const std::vector<bool> &side);

/** Routers of the upper half of a coordinate, in each group. */
std::vector<bool> upper_half(const Machine &machine, size_t axis);

struct Bisection {
	Cut cut;
	std::string how; ///< the halves: "groups 0 1 2 | 3 4 5", "chassis"
};

/**
 * The worst cut of a machine into halves. A machine of several groups is cut between groups: with up to 16 all halves
 * are tried, with more those whose groups follow each other, which are the worst if all bundles are equal. With an odd
 * number of groups one half has a group more. A machine of one group is cut across each of its axes.
 */
Bisection bisection(const Machine &machine);

/** The one group of a machine, cut across each axis (T21). */
std::vector<Bisection> axis_bisections(const Machine &machine);

/** Bandwidth of all links between groups, each direction once (T42). */
double global_gbyte_per_s(const Machine &machine);

/**
 * What all nodes of a folded Clos can send at once, wherever to: what goes up from a stage, of that from which the
 * least does. The first coordinate of a router is its stage; of links that stay in one both directions count (Q03,
 * Q36).
 */
double stages_gbyte_per_s(const Machine &machine);

/** The same that a node has of its group's, one direction (T40). */
double global_gbyte_per_s_per_node(const Machine &machine);

/** Raw bandwidth of the links of a router that stay in the group, by that of those that leave it (T39). */
double local_to_global(const Machine &machine);

/** Share of uniform traffic over the dimension of a class that stays at its router (T38). */
double share_that_stays(const Machine &machine, size_t link_class);

} // namespace aries::topology

#endif
