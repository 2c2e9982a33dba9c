// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
#include "topology/build_torus.hpp"

#include <array>
#include <stdexcept>

namespace aries::topology
{

namespace
{

constexpr uint32_t ROWS = 6;
constexpr uint32_t COLUMNS = 8;
constexpr uint32_t NICS = 2;                           ///< (G01)
constexpr uint32_t NETWORK = 40;                       ///< tiles (G03)
constexpr uint32_t MOST_ROUTERS = 65536;               ///< 16 bits of an address name the router (G28)
constexpr unsigned LANES_OF_TILE = 3;                  ///< (G04)
constexpr double LANE_GBIT = 3.125;                    ///< (G04)
constexpr double MHZ = 800;                            ///< of the router (G37)
constexpr double LENGTH_M = 2;                         ///< our choice, no source has it
constexpr std::array<uint32_t, 3> TO_EACH = {8, 4, 8}; ///< tiles to each neighbour in x, y, z (G06)
constexpr std::array<uint32_t, 3> FIRST = {0, 16, 24}; ///< first tile of a dimension, those upwards before those down

RouterType gemini()
{
	RouterType type{"Gemini", ROWS, COLUMNS, {}, NICS, 1, 1, MHZ}; /* channels: G18 */

	for (uint8_t axis = 0; axis < 3; axis++)
		type.tiles.insert(type.tiles.end(), size_t{2} * TO_EACH[axis], {TileRole::Network, axis, 0});
	type.tiles.insert(type.tiles.end(), ROWS * COLUMNS - NETWORK, {TileRole::Processor, 0, 3});
	return type;
}

using Sizes = std::array<uint32_t, 3>;

uint32_t router_at(const Sizes &sizes, const Sizes &at)
{
	return (at[0] * sizes[1] + at[1]) * sizes[2] + at[2];
}

/* Links upwards in one dimension; with one router there is none, and a mesh has none across the seam. */
void add_links(Machine &machine, const Sizes &sizes, const Sizes &at, uint8_t axis, bool open)
{
	Sizes next = at;

	if (sizes[axis] == 1 || (open && at[axis] + 1 == sizes[axis]))
		return;
	next[axis] = (at[axis] + 1) % sizes[axis];
	for (uint32_t i = 0; i < TO_EACH[axis]; i++) {
		/* Twelve channels share a cable: the tile links of one torus link (G04). */
		const auto cable = static_cast<uint32_t>(machine.links.size() / TORUS_LINK_TILES);

		machine.links.push_back({{{router_at(sizes, at), FIRST[axis] + i},
					  {router_at(sizes, next), FIRST[axis] + TO_EACH[axis] + i}},
					 axis,
					 LANES_OF_TILE,
					 static_cast<float>(LENGTH_M),
					 cable});
	}
}

void add_router(Machine &machine, const Sizes &sizes, const Sizes &at, bool open_y)
{
	const auto router = static_cast<uint32_t>(machine.routers.size());

	machine.routers.push_back(
		{0, {static_cast<uint16_t>(at[0]), static_cast<uint16_t>(at[1]), static_cast<uint16_t>(at[2])}});
	for (uint32_t nic = 0; nic < NICS; nic++)
		machine.nodes.push_back({router, nic});
	for (uint8_t axis = 0; axis < 3; axis++)
		add_links(machine, sizes, at, axis, axis == 1 && open_y);
}

} // namespace

std::string check_torus(const TorusShape &shape)
{
	const auto number = [](uint64_t value) { return std::to_string(value); };
	const uint64_t plane = uint64_t{shape.x} * shape.z;

	if (shape.x == 0 || shape.y == 0 || shape.z == 0)
		return "a torus needs nodes in each dimension";
	if (shape.y % NICS)
		return number(shape.y) + " nodes in y: a router has two of them side by side (G54)";
	if (plane > MOST_ROUTERS || plane * (shape.y / NICS) > MOST_ROUTERS)
		return "a torus of " + number(shape.x) + " x " + number(shape.y) + " x " + number(shape.z) +
		       " nodes: there can be " + number(MOST_ROUTERS) + " routers (G28)";
	return {};
}

Machine build_torus(const TorusShape &shape)
{
	const std::string reason = check_torus(shape);

	if (!reason.empty())
		throw std::invalid_argument(reason);

	const Sizes sizes = {shape.x, shape.y / NICS, shape.z};
	Machine machine;

	machine.name =
		"torus " + std::to_string(shape.x) + " x " + std::to_string(shape.y) + " x " + std::to_string(shape.z);
	machine.family = "torus";
	machine.router_type = gemini();
	machine.axes = {"x", "y", "z"};
	for (const std::string &axis : machine.axes)
		machine.classes.push_back({axis, Scope::Local, Medium::Copper, LANES_OF_TILE, LANE_GBIT, LENGTH_M});
	machine.groups = 1;
	for (Sizes at{}; at[0] < sizes[0]; at[0]++) {
		for (at[1] = 0; at[1] < sizes[1]; at[1]++) {
			for (at[2] = 0; at[2] < sizes[2]; at[2]++)
				add_router(machine, sizes, at, shape.open_y);
		}
	}
	return machine;
}

} // namespace aries::topology
