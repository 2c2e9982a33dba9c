// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether the device can be told of a machine: it knows regular dragonflies of Aries routers, by three numbers. */
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "topo/reports.hpp"
#include "topo/yaml.hpp"
#include "topology/dragonfly.hpp"
#include "topology/wiring.hpp"

namespace aries::topology
{

namespace
{

[[noreturn]] void differs(const std::string &what, const std::string &device)
{
	throw FileError("the device cannot be this machine: " + what + "; the device has " + device);
}

void same(const std::string &what, uint64_t machine, uint64_t device)
{
	if (machine != device)
		differs(what + " " + std::to_string(machine), std::to_string(device));
}

std::string rate(double gbit)
{
	std::string text = std::to_string(gbit);

	return text.substr(0, text.find('.') + 2) + " Gbit/s";
}

/* Lanes and rates of the classes (T06, T19, T20), and what each tile is for. */
void compare_router(const Machine &machine)
{
	const RouterType &type = machine.router_type;

	if (machine.family != "aries")
		differs("family '" + machine.family + "'", "'aries'");
	same("NICs of a router", type.nics, NICS_PER_ROUTER);
	same("tiles of a router", type.tiles.size(), TILES);
	same("classes of links", machine.classes.size(), 3);
	for (uint32_t tile = 0; tile < TILES; tile++) {
		const bool network = tile < NETWORK_TILES;
		const Tile &here = type.tiles[tile];

		if (here.role != (network ? TileRole::Network : TileRole::Processor) ||
		    (network && here.link_class != static_cast<uint8_t>(tile_kind(tile))))
			differs("tile " + std::to_string(tile) + " of another kind", tile_kind_name(tile_kind(tile)));
	}
	for (uint32_t cls = 0; cls < machine.classes.size(); cls++) {
		const LinkClass &here = machine.classes[cls];
		const auto medium = cls < 2 ? aries::Medium::Electrical : aries::Medium::Optical;
		const double gbit = static_cast<double>(raw_mbit_per_s(medium, 1)) / 1000;

		same("lanes of class " + here.name, here.lanes, LANES);
		if (here.gbit_per_lane != gbit)
			differs("lanes of class " + here.name + " with " + rate(here.gbit_per_lane), rate(gbit));
	}
}

DragonflyShape shape_of(const Machine &machine)
{
	DragonflyShape shape{static_cast<uint32_t>(machine.nodes.size()), 0, 0};

	if (machine.axes != std::vector<std::string>{"chassis", "slot"})
		differs("another order of routers inside a group", "axes chassis and slot");
	for (const RouterPlace &router : machine.routers) {
		shape.chassis_per_group = std::max<uint32_t>(shape.chassis_per_group, router.at[0] + 1);
		shape.routers_per_chassis = std::max<uint32_t>(shape.routers_per_chassis, router.at[1] + 1);
	}

	const std::string reason = Dragonfly::check(shape);

	if (!reason.empty())
		throw FileError("the device cannot be this machine: " + reason);
	return shape;
}

void compare_places(const Machine &machine, const Dragonfly &device)
{
	same("groups", machine.groups, device.groups());
	same("routers for " + std::to_string(machine.nodes.size()) + " nodes:", machine.routers.size(),
	     device.routers());
	for (uint32_t router = 0; router < device.routers(); router++) {
		const Place place = device.router_place(router);
		const RouterPlace &here = machine.routers[router];

		if (here.group != place.group || here.at[0] != place.chassis || here.at[1] != place.slot)
			differs("router " + std::to_string(router) + " at another place",
				"group " + std::to_string(place.group) + " chassis " + std::to_string(place.chassis) +
					" slot " + std::to_string(place.slot));
	}
	if (!machine.further.empty())
		differs("node " + std::to_string(machine.further[0].node) + " at several routers", "it at one");
	for (uint32_t node = 0; node < machine.nodes.size(); node++) {
		const NodePlace &here = machine.nodes[node];

		if (here.router != node / NICS_PER_ROUTER || here.nic != node % NICS_PER_ROUTER)
			differs("node " + std::to_string(node) + " at router " + std::to_string(here.router),
				"it at router " + std::to_string(node / NICS_PER_ROUTER));
	}
}

/*
 * Links inside groups one by one. Of those between groups their number: which connector a cable is plugged into, the
 * device decides by a rule of its own.
 */
void compare_links(const Machine &machine, const Dragonfly &device)
{
	const Wiring wiring(machine);
	std::map<std::pair<uint32_t, uint32_t>, uint32_t> between;

	for (uint32_t router = 0; router < device.routers(); router++) {
		for (uint32_t tile = 0; tile < FIRST_BLUE; tile++) {
			const aries::LinkEnd there = device.far_end(router, tile);
			const LinkEnd here = wiring.far_end(router, tile);

			if (here.tile != there.tile || (there.tile != NO_TILE && here.router != there.router))
				differs("another " + std::string(tile_kind_name(tile_kind(tile))) + " link at router " +
						std::to_string(router) + " tile " + std::to_string(tile),
					there.tile == NO_TILE ? "none" : "router " + std::to_string(there.router));
		}
	}
	for (const Link &link : machine.links) {
		if (link.lanes != machine.classes[link.link_class].lanes)
			differs("a link with " + std::to_string(link.lanes) + " lanes", "all lanes at the beginning");
		if (machine.gbit_of(link) != machine.classes[link.link_class].gbit_per_lane)
			differs("a link with lanes of " + rate(machine.gbit_of(link)), "all links of a class alike");

		const uint32_t a = machine.routers[link.end[0].router].group;
		const uint32_t b = machine.routers[link.end[1].router].group;

		if (a != b)
			between[{std::min(a, b), std::max(a, b)}]++;
	}
	for (uint32_t a = 0; a < device.groups(); a++) {
		for (uint32_t b = a + 1; b < device.groups(); b++)
			same("links between groups " + std::to_string(a) + " and " + std::to_string(b) + ":",
			     between[{a, b}], device.links_between_groups());
	}
}

} // namespace

Json report_device(const Machine &machine)
{
	compare_router(machine);

	const DragonflyShape shape = shape_of(machine);
	const Dragonfly device(shape);

	compare_places(machine, device);
	compare_links(machine, device);
	return {{"machine-nodes", shape.nodes},
		{"routers-per-chassis", shape.routers_per_chassis},
		{"chassis-per-group", shape.chassis_per_group},
		{"groups", device.groups()},
		{"routers", device.routers()}};
}

} // namespace aries::topology
