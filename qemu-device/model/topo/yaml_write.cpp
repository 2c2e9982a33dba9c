// SPDX-License-Identifier: GPL-2.0-or-later
#include "topo/yaml.hpp"

#include <array>
#include <charconv>
#include <ostream>

namespace aries::topology
{

namespace
{

/* As few digits as give the same number again. */
template <typename Real> std::string real(Real value)
{
	std::array<char, 32> text{};
	const auto result = std::to_chars(text.data(), text.data() + text.size(), value);

	return {text.data(), result.ptr};
}

/* In double quotes, where any text can be. */
std::string quoted(const std::string &text)
{
	static constexpr const char *DIGITS = "0123456789abcdef";
	std::string result = "\"";

	for (const char c : text) {
		const auto byte = static_cast<unsigned char>(c);

		if (byte < 0x20 || byte == 0x7f)
			result += std::string("\\x") + DIGITS[byte >> 4] + DIGITS[byte & 15];
		else
			result += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
	}
	return result + "\"";
}

void write_classes(std::ostream &out, const Machine &machine)
{
	out << "classes:" << (machine.classes.empty() ? " []\n" : "\n");
	for (const LinkClass &cls : machine.classes)
		out << "  - {name: " << quoted(cls.name)
		    << ", scope: " << (cls.scope == Scope::Local ? "local" : "global")
		    << ", medium: " << medium_name(cls.medium) << ", lanes: " << cls.lanes
		    << ", gbit_per_lane: " << real(cls.gbit_per_lane) << ", length_m: " << real(cls.default_length_m)
		    << "}\n";
}

void write_tiles(std::ostream &out, const Machine &machine)
{
	const std::vector<Tile> &tiles = machine.router_type.tiles;
	bool any = false;

	out << "  tiles:";
	for (size_t first = 0, last = 0; first < tiles.size(); first = last + 1) {
		for (last = first; last + 1 < tiles.size() && tiles[last + 1] == tiles[first];)
			last++;
		if (tiles[first].role == TileRole::Unused)
			continue;
		any = true;
		out << "\n    - {at: [" << first << ", " << last << "], ";
		if (tiles[first].role == TileRole::Network) {
			out << "class: " << quoted(machine.classes[tiles[first].link_class].name) << "}";
			continue;
		}
		out << "nics: [";
		for (uint32_t nic = 0, named = 0; nic < MAX_NICS; nic++) {
			if (tiles[first].nic_mask >> nic & 1)
				out << (named++ ? ", " : "") << nic;
		}
		out << "]}";
	}
	out << (any ? "\n" : " []\n");
}

void write_router(std::ostream &out, const Machine &machine)
{
	const RouterType &type = machine.router_type;

	out << "router:\n  name: " << quoted(type.name) << "\n  rows: " << type.rows << "\n  columns: " << type.columns
	    << "\n  nics: " << type.nics << "\n  request_channels: " << type.request_channels
	    << "\n  response_channels: " << type.response_channels << "\n  clock_mhz: " << real(type.clock_mhz) << "\n";
	write_tiles(out, machine);
}

void write_places(std::ostream &out, const Machine &machine)
{
	out << "# group, a coordinate for each axis, name\nrouters:" << (machine.routers.empty() ? " []\n" : "\n");
	for (size_t router = 0; router < machine.routers.size(); router++) {
		out << "  - [" << machine.routers[router].group;
		for (size_t axis = 0; axis < machine.axes.size(); axis++)
			out << ", " << machine.routers[router].at[axis];
		if (!machine.names.empty())
			out << ", " << quoted(machine.names[router]);
		out << "]\n";
	}
}

void write_links(std::ostream &out, const Machine &machine)
{
	out << "# router, tile, router, tile, class, lanes, length in metres, cable, Gbit/s of a lane\nlinks:"
	    << (machine.links.empty() ? " []\n" : "\n");
	for (const Link &link : machine.links) {
		out << "  - [" << link.end[0].router << ", " << link.end[0].tile << ", " << link.end[1].router << ", "
		    << link.end[1].tile << ", " << quoted(machine.classes[link.link_class].name) << ", "
		    << unsigned{link.lanes} << ", " << real(link.length_m);
		if (link.cable != NO_CABLE)
			out << ", " << link.cable;
		else if (link.gbit_per_lane > 0)
			out << ", " << NO_CABLE_WORD;
		if (link.gbit_per_lane > 0)
			out << ", " << real(link.gbit_per_lane);
		out << "]\n";
	}
}

} // namespace

const char *medium_name(Medium medium)
{
	switch (medium) {
	case Medium::Backplane:
		return "backplane";
	case Medium::Copper:
		return "copper";
	default:
		return "optical";
	}
}

void write_yaml(std::ostream &out, const Machine &machine)
{
	out << "name: " << quoted(machine.name) << "\nfamily: " << quoted(machine.family)
	    << "\ngroups: " << machine.groups << "\naxes: [";
	for (size_t axis = 0; axis < machine.axes.size(); axis++)
		out << (axis ? ", " : "") << quoted(machine.axes[axis]);
	out << "]\n";
	write_classes(out, machine);
	write_router(out, machine);
	write_places(out, machine);
	write_links(out, machine);
	out << "# router, NIC\nnodes:" << (machine.nodes.empty() ? " []\n" : "\n");
	for (const NodePlace &node : machine.nodes)
		out << "  - [" << node.router << ", " << node.nic << "]\n";
	if (machine.further.empty())
		return;
	out << "# further places of nodes: node, router, NIC\nfurther:\n";
	for (const FurtherPlace &place : machine.further)
		out << "  - [" << place.node << ", " << place.at.router << ", " << place.at.nic << "]\n";
}

} // namespace aries::topology
