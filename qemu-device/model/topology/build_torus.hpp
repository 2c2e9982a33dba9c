// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Gemini's torus of three dimensions (G01 to G06). The sources count nodes: a router has two, side by side in y, so
 * sizes in y are even and there are half as many routers (G54). One group, classes x, y and z.
 *
 * A shape is sizes alone, or a machine of cabinets (gemini_places.hpp), whose sizes follow. Of that it is known which
 * links are on a blade or a backplane and which are cables, and how long these are.
 */
#ifndef ARIES_TOPOLOGY_BUILD_TORUS_HPP
#define ARIES_TOPOLOGY_BUILD_TORUS_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "chip/gemini.hpp"
#include "topology/gemini_places.hpp"
#include "topology/machine.hpp"

namespace aries::topology
{

/** How fast lanes are. */
enum class TorusRates : uint8_t {
	Paper,    ///< 3.125 Gbit/s everywhere (G04, G37)
	Measured, ///< 6.25 on a blade, 5 on a backplane, 3.125 in a cable, as a public program that watches these
		  ///< machines has it
};

/** Sizes in nodes, as in "10 x 16 x 24"; if there is a class they are as here, or what the class has. */
struct TorusShape {
	uint32_t x = 1;
	uint32_t y = 2;
	uint32_t z = 1;
	bool open_y = false; ///< a mesh in y (G56)
	TorusClass of = TorusClass::None;
	uint32_t cabinets = 0; ///< of a row
	uint32_t rows = 0;     ///< two in class 2; else one unless it is given
	uint32_t chassis = 0;  ///< of the only cabinet of an m machine; three
	TorusRates rates = TorusRates::Paper;
};

/** Tile links that make one torus link of the sources (G04). */
inline constexpr uint32_t TORUS_LINK_TILES = chip::GEMINI_TORUS_LINK;

/** Empty if the shape can be built, else one line that names the broken rule. */
std::string check_torus(const TorusShape &shape);

/** Lines about what can be built, but should not, of a shape that passes check_torus(). */
std::vector<std::string> advise_torus(const TorusShape &shape);

/** Routers have names if the shape has a class. @throws std::invalid_argument with the text of check_torus() */
Machine build_torus(const TorusShape &shape);

} // namespace aries::topology

#endif
