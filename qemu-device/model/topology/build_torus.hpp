// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Gemini's torus of three dimensions (G01 to G06). The sources count nodes: a router has two, side by side in y, so
 * sizes in y are even and there are half as many routers (G54). One group, classes x, y and z.
 */
#ifndef ARIES_TOPOLOGY_BUILD_TORUS_HPP
#define ARIES_TOPOLOGY_BUILD_TORUS_HPP

#include <cstdint>
#include <string>

#include "topology/machine.hpp"

namespace aries::topology
{

/** Sizes in nodes, as in "10 x 16 x 24". */
struct TorusShape {
	uint32_t x = 1;
	uint32_t y = 2;
	uint32_t z = 1;
	bool open_y = false; ///< a mesh in y (G56)
};

/** Tile links that make one torus link of the sources (G04). */
inline constexpr uint32_t TORUS_LINK_TILES = 4;

/** Empty if the shape can be built, else one line that names the broken rule. */
std::string check_torus(const TorusShape &shape);

/** @throws std::invalid_argument with the text of check_torus() */
Machine build_torus(const TorusShape &shape);

} // namespace aries::topology

#endif
