// SPDX-License-Identifier: GPL-2.0-or-later
#include "faults.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <stdexcept>

#include "elite5_line.hpp"

namespace aries::sim
{

namespace
{

using topology::Link;
using topology::Machine;

[[noreturn]] void refuse(const std::string &text, const std::string &reason)
{
	throw std::invalid_argument("'" + text + "': " + reason);
}

uint32_t number_of(const std::string &text, const std::string &part)
{
	uint32_t value = 0;
	const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);

	if (part.empty() || error != std::errc() || end != part.data() + part.size())
		refuse(text, "'" + part + "' is not a number");
	return value;
}

uint32_t below(const std::string &text, const std::string &part, size_t count, const char *what)
{
	const uint32_t value = number_of(text, part);

	if (value >= count)
		refuse(text, "there is no " + std::string(what) + " " + part + ": " + std::to_string(count) +
				     " are numbered from 0");
	return value;
}

/* Links between two routers, or the one of a tile. */
std::vector<uint32_t> links_of(const std::string &text, const std::string &part, const Machine &machine)
{
	const size_t at = part.find_first_of("-.");

	if (at == std::string::npos)
		refuse(text, "a link is ROUTER-ROUTER or ROUTER.TILE");

	const bool tile = part[at] == '.';
	const uint32_t a = below(text, part.substr(0, at), machine.routers.size(), "router");
	const uint32_t b = tile ? below(text, part.substr(at + 1), machine.router_type.tiles.size(), "tile")
				: below(text, part.substr(at + 1), machine.routers.size(), "router");
	std::vector<uint32_t> found;

	for (uint32_t i = 0; i < machine.links.size(); i++) {
		const auto &[one, other] = machine.links[i].end;
		const topology::LinkEnd end{a, b};

		if (tile ? one == end || other == end
			 : (one.router == a && other.router == b) || (one.router == b && other.router == a))
			found.push_back(i);
	}
	if (found.empty())
		refuse(text,
		       tile ? "that tile has no link"
			    : "there is no link between routers " + std::to_string(a) + " and " + std::to_string(b));
	return found;
}

/* The place of a link to a node, if it is one that may fail alone: of QsNetIII ROUTER.TILE. */
std::optional<uint32_t> node_link_of(const std::string &text, const std::string &part, const Machine &machine)
{
	const size_t at = part.find('.');

	if (at == std::string::npos || &chip_of(machine) != &ELITE5_LINE)
		return {};

	const auto tiles = static_cast<uint32_t>(machine.router_type.tiles.size());
	const uint32_t router = below(text, part.substr(0, at), machine.routers.size(), "router");
	const uint32_t tile = below(text, part.substr(at + 1), tiles, "tile");
	const topology::Tile &of = machine.router_type.tiles[tile];
	const auto here = [router, &of](const topology::NodePlace &place) {
		return place.router == router && (of.nic_mask >> place.nic & 1);
	};

	if (of.role != topology::TileRole::Processor)
		return {};
	if (std::none_of(machine.nodes.begin(), machine.nodes.end(), here) &&
	    std::none_of(machine.further.begin(), machine.further.end(),
			 [&here](const topology::FurtherPlace &place) { return here(place.at); }))
		refuse(text, "no node has a link to that tile");
	return router * tiles + tile;
}

std::vector<std::string> split(const std::string &text)
{
	std::vector<std::string> parts;
	size_t from = 0;

	for (size_t at = text.find(':'); at != std::string::npos; at = text.find(':', from)) {
		parts.push_back(text.substr(from, at - from));
		from = at + 1;
	}
	parts.push_back(text.substr(from));
	return parts;
}

/* What has failed, and when. */
class Order
{
public:
	explicit Order(uint32_t least) : least_(least) {}

	std::string next(const Incident &incident)
	{
		if (incident.victim == Victim::Lanes)
			return {};
		if (incident.victim != Victim::Links)
			return one(incident, incident.number);
		for (const uint32_t link : incident.links) {
			const std::string broken = one(incident, link);

			if (!broken.empty())
				return broken;
		}
		return {};
	}

private:
	std::string one(const Incident &incident, uint32_t number)
	{
		const auto key = std::pair{incident.victim, number};
		const auto found = failed_.find(key);
		const std::string said = "'" + incident.text + "': ";

		if (!incident.up && found != failed_.end())
			return said + "it has failed already";
		if (incident.up && found == failed_.end())
			return said + "it has not failed before";
		if (incident.up && incident.cycle < found->second + least_)
			return said + "it failed in cycle " + std::to_string(found->second) +
			       ", and comes back after " + std::to_string(least_) + " cycles at the soonest";
		if (incident.up)
			failed_.erase(found);
		else
			failed_.emplace(key, incident.cycle);
		return {};
	}

	uint32_t least_;
	std::map<std::pair<Victim, uint32_t>, uint32_t> failed_;
};

} // namespace

Incident parse_incident(Change change, const std::string &text, const Machine &machine)
{
	const std::vector<std::string> parts = split(text);
	Incident incident;

	if (parts.size() != 3)
		refuse(text, change == Change::Lanes ? "lanes change by CYCLE:LINK:LANES"
						     : "what fails is CYCLE:link:LINK, CYCLE:router:R or CYCLE:node:N");
	incident.text = text;
	incident.cycle = number_of(text, parts[0]);
	incident.up = change == Change::Repair;
	if (change == Change::Lanes) {
		incident.victim = Victim::Lanes;
		incident.links = links_of(text, parts[1], machine);
		incident.lanes = number_of(text, parts[2]);
		for (const uint32_t link : incident.links) {
			const unsigned most = machine.classes[machine.links[link].link_class].lanes;

			if (!incident.lanes || incident.lanes > most)
				refuse(text, "such a link has 1 to " + std::to_string(most) + " lanes");
		}
	} else if (parts[1] == "link") {
		const std::optional<uint32_t> place = node_link_of(text, parts[2], machine);

		incident.victim = place ? Victim::NodeLink : Victim::Links;
		incident.number = place.value_or(0);
		if (!place)
			incident.links = links_of(text, parts[2], machine);
	} else if (parts[1] == "router") {
		incident.victim = Victim::Router;
		incident.number = below(text, parts[2], machine.routers.size(), "router");
	} else if (parts[1] == "node") {
		incident.victim = Victim::Node;
		incident.number = below(text, parts[2], machine.nodes.size(), "node");
	} else {
		refuse(text, "links, routers and nodes fail, not " + parts[1]);
	}
	return incident;
}

std::string check_incidents(const std::vector<Incident> &incidents, const Machine &machine, const Layout &layout,
			    const Parameters &parameters, uint32_t cycles)
{
	/* So long no packet is under way between two routers. */
	Order order(layout.horizon);

	for (const Incident &incident : incidents) {
		if (incident.cycle >= cycles)
			return "'" + incident.text + "': traffic ends in cycle " + std::to_string(cycles);

		const std::string broken = order.next(incident);

		if (!broken.empty())
			return broken;
		for (const uint32_t link : incident.links) {
			const double gbit = machine.gbit_of(machine.links[link]);

			if (incident.lanes &&
			    flit_ticks(layout.chip, gbit, incident.lanes, machine.router_type.clock_mhz) >
				    MOST_FLIT_CYCLES * layout.chip.times.cycle_ticks)
				return "'" + incident.text +
				       "': the link would be more than 64 times slower than its router";
		}
	}
	if (!incidents.empty() && parameters.timeout_cycles < layout.horizon)
		return "a request is given up after " + std::to_string(parameters.timeout_cycles) +
		       " cycles: at least " + std::to_string(layout.horizon) + " on this machine";
	return {};
}

FaultState::FaultState(const Machine &machine, const Layout &layout)
	: machine_(machine), layout_(layout), links_(machine.links.size()), ports_(layout.places()),
	  routers_(machine.routers.size()), nodes_(machine.nodes.size()), cut_(machine.nodes.size())
{
}

/* One reason more or less; does that change whether it is in use? */
bool FaultState::count(uint8_t &reasons, bool up) const noexcept
{
	const bool before = reasons != 0;

	reasons = static_cast<uint8_t>(up ? reasons - 1 : reasons + 1);
	return before != (reasons != 0);
}

FaultState::Changed FaultState::apply(const Incident &incident)
{
	Changed changed;

	for (uint32_t link = 0; incident.victim == Victim::Router && link < links_.size(); link++) {
		for (const topology::LinkEnd &end : machine_.links[link].end) {
			if (end.router == incident.number && count(links_[link], incident.up))
				changed.links.push_back(link);
		}
	}
	for (const uint32_t link : incident.links) {
		if (incident.victim == Victim::Links && count(links_[link], incident.up))
			changed.links.push_back(link);
	}
	if (incident.victim == Victim::Router)
		routers_[incident.number] = !incident.up;
	apply_to_ports(incident, changed);
	apply_to_nodes(incident, changed);
	return changed;
}

void FaultState::apply_to_ports(const Incident &incident, Changed &changed)
{
	std::vector<uint32_t> ports;

	if (incident.victim == Victim::NodeLink)
		ports.push_back(incident.number);
	for (const uint8_t tile : layout_.processor_tiles) {
		if (incident.victim == Victim::Router)
			ports.push_back(layout_.place(incident.number, tile));
	}
	for (const uint32_t place : ports) {
		if (count(ports_[place], incident.up))
			changed.ports.push_back(place);
	}
}

void FaultState::apply_to_nodes(const Incident &incident, Changed &changed)
{
	if (incident.victim == Victim::Node && count(nodes_[incident.number], incident.up))
		changed.nodes.push_back(incident.number);
	for (uint32_t node = 0; node < nodes_.size() && !changed.ports.empty(); node++) {
		if (cut_[node] == is_cut(node))
			continue;
		cut_[node] = !cut_[node];
		if (count(nodes_[node], incident.up))
			changed.nodes.push_back(node);
	}
}

bool FaultState::is_cut(uint32_t node, uint32_t router) const noexcept
{
	const std::vector<uint8_t> &tiles = layout_.nic_tiles[layout_.node_nic[node]];

	return std::all_of(tiles.begin(), tiles.end(),
			   [this, router](uint8_t tile) { return ports_[layout_.place(router, tile)] != 0; });
}

bool FaultState::is_cut(uint32_t node) const noexcept
{
	for (uint32_t nth = 0; nth < layout_.homes; nth++) {
		if (!is_cut(node, layout_.home(node, nth)))
			return false;
	}
	return true;
}

std::vector<topology::NodePlace> FaultState::cut_places() const
{
	std::vector<topology::NodePlace> places;

	for (uint32_t node = 0; node < nodes_.size(); node++) {
		for (uint32_t nth = 0; nth < layout_.homes && !cut_[node]; nth++) {
			if (is_cut(node, layout_.home(node, nth)))
				places.push_back({layout_.home(node, nth), layout_.node_nic[node]});
		}
	}
	return places;
}

routing::Failures FaultState::failures() const
{
	routing::Failures failures;

	for (uint32_t link = 0; link < links_.size(); link++) {
		if (links_[link])
			failures.links.push_back(link);
	}
	for (uint32_t router = 0; router < routers_.size(); router++) {
		if (routers_[router])
			failures.routers.push_back(router);
	}
	return failures;
}

} // namespace aries::sim
