// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/build_canonical.hpp"

#include <stdexcept>

#include "chip/aries.hpp"

namespace aries::topology
{

namespace
{

enum : uint8_t { LOCAL, GLOBAL };

constexpr uint64_t MOST_TILES = MAX_TILES;
/* Routers of the literature have what Aries has; all links are as fast as those inside its groups. */
constexpr const chip::Chip &CHIP = chip::ARIES;
constexpr double LANE_GBIT = CHIP.links[chip::ARIES_GREEN].lane_mbit / 1000.0;
constexpr unsigned LANES_OF_LINK = CHIP.line.lanes;
constexpr double LOCAL_M = 2;
constexpr double GLOBAL_M = 10;

uint32_t groups_of(const CanonicalShape &shape)
{
	return shape.groups ? shape.groups : shape.a * shape.h + 1;
}

/* Tiles of a router: first those to the other routers of the group, then the global ones, then one for each node. */
RouterType router_of(const CanonicalShape &shape)
{
	const uint32_t tiles = shape.a - 1 + shape.h + shape.p;
	RouterType type{"canonical",
			1,
			tiles,
			{},
			shape.p,
			CHIP.channels.requests,
			CHIP.channels.responses,
			static_cast<double>(CHIP.times.router_mhz)};

	type.tiles.insert(type.tiles.end(), shape.a - 1, {TileRole::Network, LOCAL, 0});
	type.tiles.insert(type.tiles.end(), shape.h, {TileRole::Network, GLOBAL, 0});
	for (uint32_t nic = 0; nic < shape.p; nic++)
		type.tiles.push_back({TileRole::Processor, 0, 1u << nic});
	return type;
}

void add_local(Machine &machine, const CanonicalShape &shape)
{
	for (uint32_t group = 0; group < machine.groups; group++) {
		for (uint32_t i = 0; i < shape.a; i++) {
			for (uint32_t j = i + 1; j < shape.a; j++)
				machine.links.push_back({{{group * shape.a + i, j - 1}, {group * shape.a + j, i}},
							 LOCAL,
							 LANES_OF_LINK,
							 LOCAL_M,
							 static_cast<uint32_t>(machine.links.size())});
		}
	}
}

/* The global link of number n of a group leads to the peer of rank n modulo the number of peers. */
void add_global(Machine &machine, const CanonicalShape &shape)
{
	const uint32_t peers = machine.groups - 1;
	const uint32_t between = peers ? shape.a * shape.h / peers : 0;
	const auto end = [&shape, peers](uint32_t group, uint32_t peer, uint32_t nth) {
		const uint32_t n = nth * peers + (peer < group ? peer : peer - 1);

		return LinkEnd{group * shape.a + n / shape.h, shape.a - 1 + n % shape.h};
	};

	for (uint32_t i = 0; i < machine.groups; i++) {
		for (uint32_t j = i + 1; j < machine.groups; j++) {
			for (uint32_t nth = 0; nth < between; nth++)
				machine.links.push_back({{end(i, j, nth), end(j, i, nth)},
							 GLOBAL,
							 LANES_OF_LINK,
							 GLOBAL_M,
							 static_cast<uint32_t>(machine.links.size())});
		}
	}
}

} // namespace

std::string check_canonical(const CanonicalShape &shape)
{
	const auto number = [](uint64_t value) { return std::to_string(value); };

	if (shape.a == 0 || shape.p == 0)
		return "a dragonfly needs at least one router in a group and one node at a router";
	if (shape.p > MAX_NICS)
		return "p = " + number(shape.p) + ": a router has at most " + number(MAX_NICS) + " nodes";
	if (uint64_t{shape.a} + shape.h + shape.p > MOST_TILES)
		return "a + h + p = " + number(uint64_t{shape.a} + shape.h + shape.p) + ": a router has at most " +
		       number(MOST_TILES) + " tiles";

	const uint64_t global = uint64_t{shape.a} * shape.h;

	if (groups_of(shape) > global + 1)
		return number(groups_of(shape)) + " groups: a * h = " + number(global) + " global links reach only " +
		       number(global + 1);

	const uint64_t links = (uint64_t{shape.a} * (shape.a - 1) + global) / 2 * groups_of(shape);

	if (links > MAX_LINKS)
		return number(links) + " links: a machine has at most " + number(MAX_LINKS);
	return {};
}

Machine build_canonical(const CanonicalShape &shape)
{
	const std::string reason = check_canonical(shape);

	if (!reason.empty())
		throw std::invalid_argument(reason);

	Machine machine;

	machine.name = "dragonfly p=" + std::to_string(shape.p) + " a=" + std::to_string(shape.a) +
		       " h=" + std::to_string(shape.h);
	machine.family = "dragonfly";
	machine.router_type = router_of(shape);
	machine.classes = {{"local", Scope::Local, Medium::Copper, LANES_OF_LINK, LANE_GBIT, LOCAL_M},
			   {"global", Scope::Global, Medium::Optical, LANES_OF_LINK, LANE_GBIT, GLOBAL_M}};
	machine.axes = {"router"};
	machine.groups = groups_of(shape);
	for (uint32_t group = 0; group < machine.groups; group++) {
		for (uint32_t router = 0; router < shape.a; router++) {
			for (uint32_t nic = 0; nic < shape.p; nic++)
				machine.nodes.push_back({static_cast<uint32_t>(machine.routers.size()), nic});
			machine.routers.push_back({group, {static_cast<uint16_t>(router), 0, 0}});
		}
	}
	add_local(machine, shape);
	add_global(machine, shape);
	return machine;
}

} // namespace aries::topology
