// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * A machine cut into parts of routers that follow each other in number, between groups if there are enough of them.
 */
#ifndef ARIES_SIM_DIVISION_HPP
#define ARIES_SIM_DIVISION_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "layout.hpp"

namespace aries::sim
{

inline constexpr uint32_t MOST_PARTS = 512;

struct Division {
	Division(const Layout &layout, uint32_t parts);

	std::vector<uint32_t> first;   ///< router of each part, and one behind the last
	std::vector<uint16_t> part_of; ///< by router
	/**
	 * Cycles that a part can run alone: what it sends in them arrives in another part after them. Credits and loads
	 * take at least a link's latency and a cycle, so the shortest link between two parts decides.
	 */
	uint32_t window = UINT32_MAX;

	uint32_t parts() const noexcept { return static_cast<uint32_t>(first.size() - 1); }
};

/** Empty if a machine can be cut into so many parts, else one line that names the broken rule. */
std::string check_parts(const Layout &layout, uint32_t parts);

} // namespace aries::sim

#endif
