// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The formulas of the sources about dragonflies, tori and fat trees, as they are printed. Figures that are counted from
 * the links of a machine (figures.hpp) are compared with these.
 */
#ifndef ARIES_TOPOLOGY_CLOSED_FORMS_HPP
#define ARIES_TOPOLOGY_CLOSED_FORMS_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "chip/aries.hpp"

namespace aries::topology
{

/** Cables that a bundle has at most (T25). */
constexpr uint32_t cables_of_bundle(uint32_t ports_of_group, uint32_t groups)
{
	return groups > 1 ? ports_of_group / (groups - 1) : 0;
}

/** Cables between all groups (T26). */
constexpr uint64_t cables_of_machine(uint64_t bundle, uint64_t groups)
{
	return bundle * (groups - 1) * groups / 2;
}

/** Bisection in GB/s, of both directions (T24). */
constexpr double bisection_gbyte_per_s(uint32_t groups, double cables_per_group, double cable_gbyte_per_s)
{
	return groups > 1 ? groups / (2.0 * (groups - 1)) * cable_gbyte_per_s * cables_per_group * groups : 0;
}

/** Bisection of a node, by what it has of the global bandwidth (L27). */
constexpr double bisection_to_global(uint32_t groups)
{
	return groups / (2.0 * (groups - 1));
}

/** Links of the torus across its worst middle, by its sizes in nodes (G53). */
constexpr uint64_t torus_links_across(uint64_t x, uint64_t y, uint64_t z, bool open_y)
{
	return std::min({x * y * 2, x * z * (open_y ? 1 : 2), y * z * 2});
}

/** Mean steps between two places of a ring by the shorter way, or of a row that does not close. A place and itself
 * count. */
constexpr double mean_steps(uint32_t places, bool closed)
{
	const double n = places, odd = places % 2;

	return closed ? (n * n - odd) / (4 * n) : (n * n - 1) / (3 * n);
}

/** Share of the raw bandwidth of a link that data of full puts have (T41): packets, then nine flits of ten by the LCB.
 */
constexpr double payload_efficiency()
{
	return chip::put_efficiency(chip::ARIES);
}

/** Network ports that a router needs for what its nodes inject, in GB/s of data (T43). */
inline uint32_t ports_for_injection(double data_gbyte_per_s, double link_gbyte_per_s)
{
	return static_cast<uint32_t>(std::ceil(data_gbyte_per_s / payload_efficiency() / link_gbyte_per_s));
}

/** Nodes of a fat tree of @p stages of routers with @p radix ports (T44). */
constexpr uint64_t nodes_of_fat_tree(uint32_t radix, uint32_t stages)
{
	uint64_t nodes = 2;

	for (uint32_t stage = 0; stage < stages; stage++)
		nodes *= radix / 2;
	return nodes;
}

/**
 * Hops between two different nodes of a folded Clos, on average. @p below are the nodes below a switch of each stage,
 * the lowest first, and all of them last; two nodes first have one in common in the stage where they turn.
 */
constexpr double mean_hops_of_clos(std::span<const uint64_t> below)
{
	double sum = 0;

	for (size_t stage = 1; stage < below.size(); stage++)
		sum += 2.0 * static_cast<double>(stage) * static_cast<double>(below[stage] - below[stage - 1]);
	return sum / static_cast<double>(below.back() - 1);
}

} // namespace aries::topology

#endif
