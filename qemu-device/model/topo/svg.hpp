// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * A machine as a picture: groups, routers by their coordinates, links by the colour of their class.
 */
#ifndef ARIES_TOPO_SVG_HPP
#define ARIES_TOPO_SVG_HPP

#include <iosfwd>
#include <map>
#include <string>

#include "topology/machine.hpp"

namespace aries::topology
{

/** What a picture tells beside the machine itself. */
struct Marks {
	enum class Link : uint8_t { Degraded, Down };

	std::map<size_t, Link> links;            ///< by their number in Machine::links
	std::map<uint32_t, std::string> routers; ///< those that stand out, and what their title says of them
};

/**
 * Parallel links are one line, between routers inside a group and between groups else; its title has the numbers.
 * Of a machine with more than 16 groups only the first shows what is inside, and those in which something is marked.
 * Over the line of links of which some are degraded or down another one is drawn, amber or red.
 */
void write_svg(std::ostream &out, const Machine &machine, const Marks &marks = {});

} // namespace aries::topology

#endif
