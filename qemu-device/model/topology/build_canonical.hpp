// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The dragonfly of the literature: groups of a routers with a link between each two, h global links and p nodes to a
 * router, and one link or more between each two groups.
 */
#ifndef ARIES_TOPOLOGY_BUILD_CANONICAL_HPP
#define ARIES_TOPOLOGY_BUILD_CANONICAL_HPP

#include <cstdint>
#include <string>

#include "topology/machine.hpp"

namespace aries::topology
{

struct CanonicalShape {
	uint32_t p = 4;      ///< nodes of a router
	uint32_t a = 8;      ///< routers of a group
	uint32_t h = 4;      ///< global links of a router
	uint32_t groups = 0; ///< a * h + 1, the most that can be
};

/** Empty if the shape can be built, else one line that names the broken rule. */
std::string check_canonical(const CanonicalShape &shape);

/** @throws std::invalid_argument with the text of check_canonical() */
Machine build_canonical(const CanonicalShape &shape);

} // namespace aries::topology

#endif
