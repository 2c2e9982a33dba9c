// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules that every machine keeps, whoever made it. Each check is a function; the first broken rule is told. */
#include "topology/machine.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace aries::topology
{

namespace
{

std::string number(uint64_t value)
{
	return std::to_string(value);
}

std::string end_name(const LinkEnd &end)
{
	return "tile " + number(end.tile) + " of router " + number(end.router);
}

std::string check_classes(const Machine &machine, Fault &at)
{
	if (machine.classes.size() > 255)
		return number(machine.classes.size()) + " link classes: there can be 255";
	for (size_t i = 0; i < machine.classes.size(); i++) {
		at = {Part::Class, i, {}};

		const LinkClass &cls = machine.classes[i];
		const auto same = [&cls](const LinkClass &other) { return other.name == cls.name; };

		if (cls.name.empty())
			return "link class " + number(i) + " has no name";
		if (std::count_if(machine.classes.begin(), machine.classes.end(), same) > 1)
			return "two link classes are named " + cls.name;
		if (cls.lanes == 0 || cls.lanes > 255)
			return "link class " + cls.name + " has " + number(cls.lanes) + " lanes: 1 to 255 can be";
		if (!std::isfinite(cls.gbit_per_lane) || cls.gbit_per_lane <= 0)
			return "link class " + cls.name + " needs a rate above 0";
		if (!std::isfinite(cls.default_length_m) || cls.default_length_m < 0)
			return "link class " + cls.name + " has a negative length";
	}
	return {};
}

std::string check_tile(const Machine &machine, size_t at)
{
	const Tile &tile = machine.router_type.tiles[at];
	const auto nics = static_cast<uint32_t>((uint64_t{1} << machine.router_type.nics) - 1);

	if (tile.role == TileRole::Network && tile.link_class >= machine.classes.size())
		return "tile " + number(at) + " has link class " + number(tile.link_class) + ", but there are " +
		       number(machine.classes.size());
	if (tile.role == TileRole::Processor && (tile.nic_mask == 0 || (tile.nic_mask & ~nics)))
		return "processor tile " + number(at) + " serves no NIC of the " + number(machine.router_type.nics) +
		       " that a router has";
	return {};
}

std::string check_router_type(const Machine &machine, Fault &at)
{
	const RouterType &type = machine.router_type;

	if (type.rows == 0 || type.columns == 0 || uint64_t{type.rows} * type.columns != type.tiles.size())
		return "a router of " + number(type.rows) + " x " + number(type.columns) + " tiles has " +
		       number(type.tiles.size()) + " tiles";
	if (type.tiles.size() > MAX_TILES)
		return number(type.tiles.size()) + " tiles of a router: there can be " + number(MAX_TILES);
	if (type.nics > MAX_NICS)
		return number(type.nics) + " NICs of a router: there can be " + number(MAX_NICS);
	if (type.request_channels == 0)
		return "a router needs at least one channel for requests";
	if (!std::isfinite(type.clock_mhz) || type.clock_mhz <= 0)
		return "a router needs a clock above 0";
	for (size_t tile = 0; tile < type.tiles.size(); tile++) {
		at = {Part::Tile, tile, {}};

		std::string reason = check_tile(machine, tile);

		if (!reason.empty())
			return reason;
	}
	return {};
}

std::string check_places(const Machine &machine, Fault &at)
{
	std::vector<uint32_t> order(machine.routers.size());
	std::vector<bool> used(machine.groups);

	if (machine.routers.empty())
		return "a machine needs at least one router";
	if (machine.groups > machine.routers.size())
		return number(machine.groups) + " groups of " + number(machine.routers.size()) + " routers";
	if (machine.axes.size() > MAX_AXES)
		return number(machine.axes.size()) + " axes: there can be " + number(MAX_AXES);
	for (size_t i = 0; i < machine.routers.size(); i++) {
		at = {Part::Router, i, {}};

		const RouterPlace &place = machine.routers[i];

		if (place.group >= machine.groups)
			return "router " + number(i) + " is in group " + number(place.group) + ", but there are " +
			       number(machine.groups);
		for (size_t axis = machine.axes.size(); axis < MAX_AXES; axis++) {
			if (place.at[axis])
				return "router " + number(i) + " has more coordinates than there are axes";
		}
		used[place.group] = true;
	}
	at = {};

	const auto unused = std::find(used.begin(), used.end(), false);

	if (unused != used.end())
		return "group " + number(unused - used.begin()) + " has no router";
	std::iota(order.begin(), order.end(), 0);
	std::sort(order.begin(), order.end(),
		  [&machine](uint32_t a, uint32_t b) { return machine.routers[a] < machine.routers[b]; });
	for (size_t i = 1; i < order.size(); i++) {
		at = {Part::Router, order[i], {}};
		if (machine.routers[order[i - 1]] == machine.routers[order[i]])
			return "routers " + number(std::min(order[i - 1], order[i])) + " and " +
			       number(std::max(order[i - 1], order[i])) + " are in the same place";
	}
	return {};
}

/* All routers have names, each its own, or none has. */
std::string check_names(const Machine &machine, Fault &at)
{
	std::vector<uint32_t> order(machine.names.size());

	if (machine.names.empty())
		return {};
	if (machine.names.size() != machine.routers.size())
		return number(machine.names.size()) + " names of " + number(machine.routers.size()) + " routers";
	std::iota(order.begin(), order.end(), 0);
	std::sort(order.begin(), order.end(),
		  [&machine](uint32_t a, uint32_t b) { return machine.names[a] < machine.names[b]; });
	for (size_t i = 0; i < order.size(); i++) {
		const std::string &name = machine.names[order[i]];

		at = {Part::Router, order[i], {}};
		if (name.empty())
			return "router " + number(order[i]) + " has no name, but others have";
		if (i > 0 && name == machine.names[order[i - 1]])
			return "two routers are named " + name;
	}
	return {};
}

std::string check_end(const Machine &machine, const Link &link, const LinkEnd &end)
{
	if (end.router >= machine.routers.size())
		return "router " + number(end.router) + " does not exist, there are " + number(machine.routers.size());
	if (end.tile >= machine.router_type.tiles.size())
		return "tile " + number(end.tile) + " does not exist, there are " +
		       number(machine.router_type.tiles.size());

	const Tile &tile = machine.router_type.tiles[end.tile];

	if (tile.role != TileRole::Network)
		return end_name(end) + " is not a network tile";
	if (tile.link_class != link.link_class)
		return end_name(end) + " is for class " + machine.classes[tile.link_class].name + ", not " +
		       machine.classes[link.link_class].name;
	return {};
}

std::string check_link(const Machine &machine, const Link &link)
{
	if (link.link_class >= machine.classes.size())
		return "class " + number(link.link_class) + " does not exist, there are " +
		       number(machine.classes.size());

	const LinkClass &cls = machine.classes[link.link_class];

	if (link.lanes == 0 || link.lanes > cls.lanes)
		return number(link.lanes) + " lanes: class " + cls.name + " has 1 to " + number(cls.lanes);
	if (!std::isfinite(link.length_m) || link.length_m < 0)
		return "the length is negative";
	if (!std::isfinite(link.gbit_per_lane) || link.gbit_per_lane < 0)
		return "the rate is negative";
	for (const LinkEnd &end : link.end) {
		std::string reason = check_end(machine, link, end);

		if (!reason.empty())
			return reason;
	}

	const bool local = machine.routers[link.end[0].router].group == machine.routers[link.end[1].router].group;

	if (link.end[0].router == link.end[1].router)
		return "both ends are at router " + number(link.end[0].router);
	if (local != (cls.scope == Scope::Local))
		return "class " + cls.name + (local ? " stays inside a group" : " leads to another group");
	return {};
}

std::string check_links(const Machine &machine, Fault &at)
{
	const size_t tiles = machine.router_type.tiles.size();
	std::vector<bool> used(machine.routers.size() * tiles);

	if (machine.links.size() >= UINT32_MAX)
		return "too many links";
	for (size_t i = 0; i < machine.links.size(); i++) {
		at = {Part::Link, i, {}};

		std::string reason = check_link(machine, machine.links[i]);

		if (!reason.empty())
			return "link " + number(i) + ": " + reason;
		for (const LinkEnd &end : machine.links[i].end) {
			if (used[end.router * tiles + end.tile])
				return "link " + number(i) + ": " + end_name(end) + " has a link already";
			used[end.router * tiles + end.tile] = true;
		}
	}
	return {};
}

std::string check_place(const Machine &machine, size_t node, const NodePlace &place, std::vector<bool> &used)
{
	const unsigned nics = machine.router_type.nics;

	if (place.router >= machine.routers.size())
		return "node " + number(node) + " is at router " + number(place.router) + ", but there are " +
		       number(machine.routers.size());
	if (place.nic >= nics)
		return "node " + number(node) + " is at NIC " + number(place.nic) + ", but a router has " +
		       number(nics);
	if (used[size_t{place.router} * nics + place.nic])
		return "node " + number(node) + " is at NIC " + number(place.nic) + " of router " +
		       number(place.router) + ", where another node is";
	used[size_t{place.router} * nics + place.nic] = true;
	return {};
}

std::string check_nodes(const Machine &machine, Fault &at)
{
	std::vector<bool> used(machine.routers.size() * machine.router_type.nics);

	for (size_t i = 0; i < machine.nodes.size(); i++) {
		at = {Part::Node, i, {}};

		std::string reason = check_place(machine, i, machine.nodes[i], used);

		if (!reason.empty())
			return reason;
	}
	for (size_t i = 0; i < machine.further.size(); i++) {
		at = {Part::Further, i, {}};

		const FurtherPlace &place = machine.further[i];

		if (place.node >= machine.nodes.size())
			return "node " + number(place.node) + " has a further place, but there are " +
			       number(machine.nodes.size());

		std::string reason = check_place(machine, place.node, place.at, used);

		if (!reason.empty())
			return reason;
	}
	return {};
}

/* Routers that links connect get the same root. */
std::string check_connected(const Machine &machine, Fault &at)
{
	std::vector<uint32_t> parent(machine.routers.size());
	const auto root = [&parent](uint32_t router) {
		while (parent[router] != router)
			router = parent[router] = parent[parent[router]];
		return router;
	};

	std::iota(parent.begin(), parent.end(), 0);
	for (const Link &link : machine.links)
		parent[root(link.end[0].router)] = root(link.end[1].router);
	for (uint32_t router = 1; router < parent.size(); router++) {
		at = {Part::Router, router, {}};
		if (root(router) != root(0))
			return "the machine is in pieces: no links lead from router 0 to router " + number(router);
	}
	return {};
}

} // namespace

Fault find_fault(const Machine &machine)
{
	for (const auto check :
	     {check_classes, check_router_type, check_places, check_names, check_links, check_nodes, check_connected}) {
		Fault fault;
		std::string rule = check(machine, fault);

		if (!rule.empty()) {
			fault.rule = std::move(rule);
			return fault;
		}
	}
	return {};
}

std::string validate(const Machine &machine)
{
	return find_fault(machine).rule;
}

} // namespace aries::topology
