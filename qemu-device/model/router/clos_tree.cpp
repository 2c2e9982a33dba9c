// SPDX-License-Identifier: GPL-2.0-or-later
#include "router/clos_tree.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "router/clos.hpp"

namespace aries::routing
{

namespace
{

using topology::LinkEnd;
using topology::Machine;

/* A link that works, from its upper end. */
struct Below {
	LinkEnd lower;
	uint8_t tile;
	bool across; ///< in the same stage: from the root alone, for behind it a packet may not go across again
};

/* What is below each router, tile by tile. */
std::vector<std::vector<Below>> links_down(const Machine &machine, const std::vector<bool> &left)
{
	std::vector<std::vector<Below>> below(machine.routers.size());

	for (size_t i = 0; i < machine.links.size(); i++) {
		for (size_t side = 0; side < 2 && left[i]; side++) {
			const LinkEnd &near = machine.links[i].end[side], &far = machine.links[i].end[1 - side];
			const uint16_t here = machine.routers[near.router].at[0];
			const uint16_t there = machine.routers[far.router].at[0];

			if (there <= here)
				below[near.router].push_back({far, static_cast<uint8_t>(near.tile), there == here});
		}
	}
	for (auto &links : below)
		std::sort(links.begin(), links.end(), [](const Below &a, const Below &b) { return a.tile < b.tile; });
	return below;
}

/* The tree below a router. */
void grow(const std::vector<std::vector<Below>> &below, uint32_t root, std::vector<TreePlace> &places,
	  std::vector<uint32_t> &order)
{
	places.assign(below.size(), {});
	order.assign(1, root);
	for (size_t i = 0; i < order.size(); i++) {
		for (const Below &link : below[order[i]]) {
			TreePlace &place = places[link.lower.router];

			if (link.lower.router == root || place.parent != NO_ROUTER || (link.across && order[i] != root))
				continue;
			place = {order[i], static_cast<uint8_t>(link.lower.tile), link.tile};
			order.push_back(link.lower.router);
		}
	}
}

} // namespace

ClosTree::ClosTree(const Machine &machine, const Failures &failures)
{
	const std::string reason = ClosTables::check(machine);

	if (!reason.empty())
		throw std::invalid_argument(reason);

	const auto below = links_down(machine, links_left(machine, failures));
	std::vector<uint32_t> candidates;
	std::vector<bool> with_nodes(machine.routers.size()), out(machine.routers.size());
	size_t wanted = 0, most = 0;

	for (const uint32_t router : failures.routers)
		out[router] = true;
	for (const topology::NodePlace &node : machine.nodes)
		with_nodes[node.router] = !out[node.router];
	for (const topology::FurtherPlace &place : machine.further)
		with_nodes[place.at.router] = !out[place.at.router];
	wanted = static_cast<size_t>(std::count(with_nodes.begin(), with_nodes.end(), true));
	for (uint32_t router = 0; router < out.size(); router++) {
		if (!out[router])
			candidates.push_back(router);
	}
	std::stable_sort(candidates.begin(), candidates.end(), [&machine](uint32_t a, uint32_t b) {
		return machine.routers[a].at[0] > machine.routers[b].at[0];
	});
	places_.resize(machine.routers.size());
	for (const uint32_t router : candidates) {
		std::vector<TreePlace> places;
		std::vector<uint32_t> order;

		grow(below, router, places, order);

		const auto reached = static_cast<size_t>(std::count_if(
			order.begin(), order.end(), [&with_nodes](uint32_t at) { return with_nodes[at]; }));

		if (root_ == NO_ROUTER || reached > most) {
			root_ = router;
			most = reached;
			places_ = std::move(places);
			order_ = std::move(order);
		}
		if (most == wanted)
			break;
	}
}

ClosGroup::ClosGroup(const Machine &machine, const ClosTree &tree, std::span<const uint32_t> nodes,
		     std::span<const topology::NodePlace> cut)
	: ways_(machine.routers.size())
{
	std::vector<std::vector<topology::NodePlace>> places(machine.nodes.size());
	std::vector<uint32_t> members(machine.routers.size()); // here and below
	std::vector<bool> seen(machine.nodes.size());

	if (nodes.empty())
		throw std::invalid_argument("a group without members");
	for (size_t node = 0; node < places.size(); node++)
		places[node] = {machine.nodes[node]};
	for (const topology::FurtherPlace &place : machine.further)
		places[place.node].push_back(place.at);
	for (auto &of_node : places) {
		std::stable_partition(of_node.begin(), of_node.end(), [cut](const topology::NodePlace &at) {
			return std::none_of(cut.begin(), cut.end(), [&at](const topology::NodePlace &place) {
				return at.router == place.router && at.nic == place.nic;
			});
		});
	}
	for (const uint32_t node : nodes) {
		if (node >= places.size())
			throw std::invalid_argument("node " + std::to_string(node) + " of a group: there are " +
						    std::to_string(places.size()));
		if (seen[node])
			throw std::invalid_argument("node " + std::to_string(node) + " is twice in a group");
		seen[node] = true;

		const auto at =
			std::find_if(places[node].begin(), places[node].end(),
				     [&tree](const topology::NodePlace &place) { return tree.has(place.router); });

		if (at == places[node].end())
			throw std::invalid_argument("node " + std::to_string(node) +
						    " of a group is not below the root of the tree");
		ways_[at->router].nics |= uint32_t{1} << at->nic;
		members[at->router]++;
	}
	for (auto router = tree.order().rbegin(); router != tree.order().rend(); router++) {
		const TreePlace &place = tree.place(*router);

		ways_[*router].spans = members[*router] == nodes.size();
		if (place.parent == NO_ROUTER || members[*router] == 0)
			continue;
		members[place.parent] += members[*router];
		ways_[place.parent].tiles.push_back(place.parent_down);
	}
}

} // namespace aries::routing
