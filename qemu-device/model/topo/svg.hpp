// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * A machine as a picture: groups, routers by their coordinates, links by the colour of their class.
 */
#ifndef ARIES_TOPO_SVG_HPP
#define ARIES_TOPO_SVG_HPP

#include <iosfwd>

#include "topology/machine.hpp"

namespace aries::topology
{

/**
 * Parallel links are one line, between routers inside a group and between groups else; its title has the numbers.
 * Of a machine with more than 16 groups only the first shows what is inside.
 */
void write_svg(std::ostream &out, const Machine &machine);

} // namespace aries::topology

#endif
