// SPDX-License-Identifier: GPL-2.0-or-later
#include "layout.hpp"

#include <algorithm>
#include <cmath>

#include "chip/aries.hpp"
#include "chip/gemini.hpp"
#include "elite5_line.hpp"
#include "part.hpp"
#include "switch_checks.hpp"
#include "topology/wiring.hpp"

namespace aries::sim
{

namespace
{

using topology::Machine;
using topology::TileRole;

constexpr double MOST_LENGTH_M = 2000;
constexpr uint64_t PACKETS_OF_NODE = 256;  // in the network at a high load, of 64 bytes of data
constexpr uint64_t PACKETS_OF_TORUS = 512; // the same of a torus, which more load than it takes fills to the last queue

uint32_t latency_ticks(const Machine &machine, const topology::Link &link, const Parameters &parameters, uint32_t cycle)
{
	/* ps per m x mm x cycles per second, in whole numbers: a length has no fractions below 1 mm. */
	const auto mm = static_cast<uint64_t>(std::lround(static_cast<double>(link.length_m) * 1000));
	const auto khz = static_cast<uint64_t>(std::lround(machine.router_type.clock_mhz * 1000));
	const uint64_t ticks = (mm * parameters.ps_per_m * khz / 1000 * cycle + 500'000'000) / 1'000'000'000;

	return static_cast<uint32_t>(ticks) + parameters.link_cycles * cycle;
}

void lay_lanes(const Machine &machine, const Parameters &parameters, Layout &layout)
{
	const topology::Wiring wiring(machine);
	const uint32_t cycle = layout.chip.times.cycle_ticks;

	/* Routers above the first stage of a Clos have processor tiles that nobody uses. */
	std::vector<bool> has_nodes(layout.routers, machine.family != "clos" && machine.family != "qsnet");

	for (const topology::NodePlace &node : machine.nodes)
		has_nodes[node.router] = true;
	for (const topology::FurtherPlace &place : machine.further)
		has_nodes[place.at.router] = true;
	layout.lanes.resize(layout.places());
	for (uint32_t router = 0; router < layout.routers; router++) {
		for (uint32_t tile = 0; tile < layout.tiles; tile++) {
			Lane &lane = layout.lanes[layout.place(router, tile)];
			const uint32_t number = wiring.link_of(router, tile);

			lane.flit_ticks = static_cast<uint16_t>(cycle);
			if (machine.router_type.tiles[tile].role == TileRole::Processor) {
				lane.latency_ticks = parameters.netlink_cycles * cycle;
				lane.used = has_nodes[router];
			}
			if (number == topology::NO_LINK)
				continue;

			const topology::Link &link = machine.links[number];
			const topology::LinkEnd far = wiring.far_end(router, tile);

			lane.far = layout.place(far.router, far.tile);
			lane.used = true;
			lane.link_class = link.link_class;
			lane.flit_ticks = static_cast<uint16_t>(flit_ticks(layout.chip, machine.gbit_of(link),
									   link.lanes, machine.router_type.clock_mhz));
			lane.latency_ticks = latency_ticks(machine, link, parameters, cycle);
			layout.network_links[router]++;
		}
	}
}

std::vector<topology::FurtherPlace> by_node(std::vector<topology::FurtherPlace> places)
{
	std::stable_sort(places.begin(), places.end(), [](const auto &a, const auto &b) { return a.node < b.node; });
	return places;
}

/* Nodes with links to several routers: adapters of QsNetIII alone have them, all of a machine equally many. */
std::string check_further(const Machine &machine)
{
	std::vector<size_t> links(machine.nodes.size(), 1);

	if (machine.further.empty())
		return {};
	if (&chip_of(machine) != &ELITE5_LINE)
		return "node " + std::to_string(machine.further[0].node) +
		       " has links to several routers: only nodes of QsNetIII do";
	for (const topology::FurtherPlace &place : machine.further)
		links[place.node]++;
	for (size_t node = 1; node < links.size(); node++) {
		if (links[node] != links[0])
			return "node " + std::to_string(node) + " has links to " + std::to_string(links[node]) +
			       " switches and node 0 to " + std::to_string(links[0]) + ": all have equally many";
	}
	return {};
}

void lay_nodes(const Machine &machine, Layout &layout)
{
	layout.node_at.assign(size_t{layout.routers} * layout.nics, NO_PLACE);
	for (uint32_t node = 0; node < layout.nodes; node++) {
		const auto [router, nic] = machine.nodes[node];

		layout.node_router.push_back(router);
		layout.node_nic.push_back(static_cast<uint8_t>(nic));
		layout.node_at[size_t{router} * layout.nics + nic] = node;
	}
	layout.homes = 1 + static_cast<uint32_t>(machine.further.size() / std::max<size_t>(machine.nodes.size(), 1));
	layout.further.reserve(machine.further.size());
	for (const topology::FurtherPlace &place : by_node(machine.further))
		layout.further.push_back(place.at.router);
	layout.nic_tiles.resize(layout.nics);
	layout.nic_users.resize(layout.tiles);
	for (uint32_t tile = 0; tile < layout.tiles; tile++) {
		if (machine.router_type.tiles[tile].role != TileRole::Processor)
			continue;
		layout.processor_tiles.push_back(static_cast<uint8_t>(tile));
		for (uint32_t nic = 0; nic < layout.nics; nic++) {
			if (!(machine.router_type.tiles[tile].nic_mask >> nic & 1))
				continue;
			layout.nic_tiles[nic].push_back(static_cast<uint8_t>(tile));
			layout.nic_users[tile] |= uint64_t{3} << 2 * nic;
		}
	}
}

} // namespace

const chip::Chip &chip_of(const Machine &machine) noexcept
{
	return machine.family == "torus" ? chip::GEMINI : machine.family == "qsnet" ? ELITE5_LINE : chip::ARIES;
}

uint32_t flit_ticks(const chip::Chip &chip, double gbit_per_lane, unsigned lanes, double clock_mhz)
{
	const chip::LineForm &line = chip.line;
	const double cycles = chip.packets.unit_bits / (gbit_per_lane * lanes) * clock_mhz / 1000;
	const double ticks = cycles * chip.times.cycle_ticks * (line.set_units + line.set_extra) / line.set_units;

	/* Less a millionth of a tick, which is rounding. */
	return static_cast<uint32_t>(std::ceil(ticks - 1e-6));
}

Layout::Layout(const Machine &machine, const Parameters &parameters, uint32_t of_class)
	: chip(chip_of(machine)), routers(static_cast<uint32_t>(machine.routers.size())),
	  tiles(static_cast<uint32_t>(machine.router_type.tiles.size())), rows(machine.router_type.rows),
	  columns(machine.router_type.columns), channels(of_class * routing::CLASSES), class_channels(of_class),
	  nics(machine.router_type.nics), nodes(static_cast<uint32_t>(machine.nodes.size())), groups(machine.groups),
	  clock_mhz(machine.router_type.clock_mhz), packet_bytes(parameters.packet_bytes), network_links(routers)
{
	for (uint32_t tile = 0; tile < tiles; tile++) {
		row_of.push_back(static_cast<uint8_t>(tile / columns));
		column_of.push_back(static_cast<uint8_t>(tile % columns));
	}
	for (const topology::RouterPlace &place_of : machine.routers)
		group_of.push_back(place_of.group);
	lay_lanes(machine, parameters, *this);
	lay_nodes(machine, *this);

	for (uint32_t at = 0; at < places(); at++)
		set_flit_ticks(at, lanes[at].flit_ticks, parameters);
}

uint32_t Layout::cycles_of(uint64_t ns) const noexcept
{
	const auto khz = static_cast<uint64_t>(std::lround(clock_mhz * 1000));

	return static_cast<uint32_t>((ns * khz + 500'000) / 1'000'000);
}

void Layout::set_flit_ticks(uint32_t at, uint32_t ticks, const Parameters &parameters)
{
	Lane &lane = lanes[at];
	const uint32_t cycle = chip.times.cycle_ticks;
	const uint32_t longest = chip::most_units(chip.packets);
	const uint32_t loop = 2 * lane.latency_ticks + (parameters.input_cycles + parameters.credit_cycles) * cycle;
	uint32_t link = lane.latency_ticks + 2 * longest * ticks;

	lane.flit_ticks = static_cast<uint16_t>(ticks);
	if (parameters.bit_errors)
		link += replay_ticks(lane, &chip == &chip::GEMINI ? longest : chip.line.set_units);
	lane.loop_flits = loop / ticks + longest;
	horizon = std::max(horizon, link / cycle + parameters.input_cycles + parameters.row_cycles +
					    parameters.column_cycles + parameters.credit_cycles +
					    parameters.netlink_cycles + parameters.serve_cycles +
					    parameters.write_most + 4 * longest);
}

uint64_t Layout::inject_flits_per_100_cycles() const noexcept
{
	return uint64_t{100} * processor_tiles.size() * homes / nics;
}

std::string check_machine(const Machine &machine)
{
	const topology::RouterType &type = machine.router_type;
	const chip::Chip &chip = chip_of(machine);
	const std::string further = check_further(machine);

	if (!further.empty())
		return further;
	if (uint64_t{type.rows} * type.columns != type.tiles.size())
		return std::to_string(type.tiles.size()) + " tiles are no " + std::to_string(type.rows) + " rows of " +
		       std::to_string(type.columns);
	if (&chip == &ELITE5_LINE && (type.tiles.size() > SWITCH_TILES || type.nics > MOST_ADAPTERS))
		return "a switch of " + std::to_string(type.tiles.size()) + " tiles and " + std::to_string(type.nics) +
		       " nodes: at most " + std::to_string(SWITCH_TILES) + " and " + std::to_string(MOST_ADAPTERS);
	for (const topology::Link &link : machine.links) {
		if (link.length_m > MOST_LENGTH_M)
			return "a link of " + std::to_string(link.length_m) + " m: at most 2,000 m";
		if (flit_ticks(chip, machine.gbit_of(link), link.lanes, type.clock_mhz) >
		    MOST_FLIT_CYCLES * chip.times.cycle_ticks)
			return "a link of class " + machine.classes[link.link_class].name +
			       " is more than 64 times slower than its router";
	}
	for (uint32_t nic = 0; nic < type.nics; nic++) {
		const auto serves = [nic](const topology::Tile &tile) {
			return tile.role == TileRole::Processor && (tile.nic_mask >> nic & 1);
		};

		if (std::none_of(type.tiles.begin(), type.tiles.end(), serves))
			return "NIC " + std::to_string(nic) + " has no processor tile";
	}
	return {};
}

uint64_t estimate_bytes(const Machine &machine, uint32_t class_channels)
{
	if (&chip_of(machine) == &ELITE5_LINE)
		return estimate_switch_bytes(machine);

	const uint64_t channels = uint64_t{class_channels} * routing::CLASSES;
	const uint64_t rows = machine.router_type.rows;
	const uint64_t columns = machine.router_type.columns;
	const uint64_t words = (columns * channels + 63) / 64 * rows + (rows * channels + 63) / 64;
	const uint64_t queues = channels + (columns + rows) * channels;
	const uint64_t tile = queues * sizeof(Buffer) + words * 8 + (rows + 2) * sizeof(Resource) +
			      (rows + 1) * sizeof(Stall) + sizeof(Lane) + 2 * sizeof(Port) + (4 + rows) * channels * 2 +
			      64;
	const uint64_t places = machine.routers.size() * machine.router_type.tiles.size();
	/* Tables: of each router of a group and of each group, or of each coordinate of a torus, or of each site. */
	const bool groups = &chip_of(machine) == &chip::ARIES;
	const uint64_t entries = machine.family == "clos" ? machine.routers.size() / 4 + 64
				 : groups ? machine.routers.size() / std::max(machine.groups, 1u) + machine.groups
					  : 64;
	const uint64_t router = 8 * entries + 256;
	const uint64_t packets = &chip_of(machine) == &chip::GEMINI ? PACKETS_OF_TORUS : PACKETS_OF_NODE;

	return places * tile + machine.routers.size() * router +
	       machine.nodes.size() * (sizeof(Nic) + packets * (CACHE_LINE + 16));
}

} // namespace aries::sim
