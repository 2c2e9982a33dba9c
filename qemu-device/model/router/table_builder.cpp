// SPDX-License-Identifier: GPL-2.0-or-later
#include "router/table_builder.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "router/group_routes.hpp"

namespace aries::routing
{

namespace
{

using topology::Link;
using topology::Machine;
using topology::Scope;
using topology::Tile;
using topology::TileRole;

/* A global link as its near end sees it. */
struct Gateway {
	uint32_t peer; // group
	uint32_t far;  // router of that group, its number there
	uint32_t near; // and here
	uint8_t tile;
};

/* A group while its tables are made. */
struct Group {
	std::vector<uint32_t> routers; // numbers in the machine
	LocalGraph graph;
	std::vector<Gateway> gateways;
	std::vector<bool> alive; // part of what hangs together
};

class Builder
{
public:
	Builder(const Machine &machine, const Policy &policy, const Failures &failures)
		: machine_(machine), policy_(policy), failures_(failures), groups_(machine.groups),
		  index_(machine.routers.size()), out_(machine.routers.size())
	{
	}

	Built build();

private:
	void collect_routers();
	void collect_links();
	void keep_connected(uint32_t g);
	void drop_dead_gateways();
	void link_groups();
	void fill_common();
	GroupTables make_group(uint32_t g);
	void pack_router(const Group &group, uint32_t router, const std::vector<Way> &ways, GroupTables &tables) const;

	const Machine &machine_;
	const Policy &policy_;
	const Failures &failures_;
	std::vector<Group> groups_;
	std::vector<uint32_t> index_; // of a router in its group
	std::vector<bool> out_;
	std::unique_ptr<Common> common_ = std::make_unique<Common>();
	std::vector<uint32_t> cut_routers_;
	std::vector<Built::GroupPair> cut_groups_;
	std::vector<Built::GroupPair> far_groups_;
	std::vector<uint32_t> detoured_;
};

void Builder::collect_routers()
{
	for (const uint32_t router : failures_.routers) {
		if (router >= out_.size())
			throw std::invalid_argument("router " + std::to_string(router) + " cannot fail: there are " +
						    std::to_string(out_.size()));
		out_[router] = true;
	}
	for (uint32_t router = 0; router < out_.size(); router++) {
		Group &group = groups_[machine_.routers[router].group];

		index_[router] = static_cast<uint32_t>(group.routers.size());
		group.routers.push_back(router);
	}
	for (Group &group : groups_) {
		group.graph.resize(group.routers.size());
		group.alive.resize(group.routers.size());
	}
}

void Builder::collect_links()
{
	std::vector<bool> link_out(machine_.links.size());

	for (const uint32_t link : failures_.links) {
		if (link >= link_out.size())
			throw std::invalid_argument("link " + std::to_string(link) + " cannot fail: there are " +
						    std::to_string(link_out.size()));
		link_out[link] = true;
	}
	for (size_t i = 0; i < machine_.links.size(); i++) {
		const Link &link = machine_.links[i];

		if (link_out[i] || out_[link.end[0].router] || out_[link.end[1].router])
			continue;
		for (int side = 0; side < 2; side++) {
			const auto [near, tile] = link.end[side];
			const uint32_t far = link.end[1 - side].router;
			const uint32_t peer = machine_.routers[far].group;
			Group &group = groups_[machine_.routers[near].group];
			const auto port = static_cast<uint8_t>(tile);

			if (machine_.classes[link.link_class].scope == Scope::Local)
				group.graph[index_[near]].push_back({index_[far], port, link.link_class});
			else
				group.gateways.push_back({peer, index_[far], index_[near], port});
		}
	}
}

/* Of a group that fell apart the largest piece remains; the others are cut off. */
void Builder::keep_connected(uint32_t g)
{
	Group &group = groups_[g];
	std::vector<uint32_t> piece_of(group.routers.size(), UINT32_MAX);
	std::vector<uint32_t> sizes;
	std::vector<uint32_t> todo;

	for (uint32_t i = 0; i < group.routers.size(); i++) {
		if (out_[group.routers[i]] || piece_of[i] != UINT32_MAX)
			continue;
		sizes.push_back(0);
		piece_of[i] = static_cast<uint32_t>(sizes.size() - 1);
		for (todo.push_back(i); !todo.empty(); sizes.back()++) {
			const uint32_t router = todo.back();

			todo.pop_back();
			for (const LocalLink &link : group.graph[router]) {
				if (piece_of[link.to] == UINT32_MAX) {
					piece_of[link.to] = piece_of[i];
					todo.push_back(link.to);
				}
			}
		}
	}

	const auto largest = static_cast<uint32_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());

	for (uint32_t i = 0; i < group.routers.size(); i++) {
		group.alive[i] = !sizes.empty() && piece_of[i] == largest;
		if (group.alive[i])
			common_->roots.push_back({static_cast<uint16_t>(g), static_cast<uint16_t>(i)});
		else if (!out_[group.routers[i]])
			cut_routers_.push_back(group.routers[i]);
	}
}

void Builder::drop_dead_gateways()
{
	for (Group &group : groups_) {
		std::erase_if(group.gateways, [&](const Gateway &gateway) {
			return !group.alive[gateway.near] || !groups_[gateway.peer].alive[gateway.far];
		});
		std::sort(group.gateways.begin(), group.gateways.end(),
			  [](const Gateway &a, const Gateway &b) { return a.peer < b.peer; });
	}
}

/* Which groups have links between them, and which pairs without have a third one that has to both. */
void Builder::link_groups()
{
	const size_t words = (groups_.size() + 63) / 64;
	std::vector<uint64_t> rows(groups_.size() * words);
	const auto is_gone = [&](uint32_t g) {
		return std::find(groups_[g].alive.begin(), groups_[g].alive.end(), true) == groups_[g].alive.end();
	};

	common_->groups = machine_.groups;
	common_->linked_bits.resize((groups_.size() * groups_.size() + 63) / 64);
	for (uint32_t g = 0; g < groups_.size(); g++) {
		for (const Gateway &gateway : groups_[g].gateways) {
			const size_t bit = size_t{g} * groups_.size() + gateway.peer;

			common_->linked_bits[bit / 64] |= uint64_t{1} << bit % 64;
			rows[g * words + gateway.peer / 64] |= uint64_t{1} << gateway.peer % 64;
		}
	}
	for (uint32_t a = 0; a < groups_.size(); a++) {
		for (uint32_t b = a + 1; b < groups_.size(); b++) {
			bool by_third = false;

			if (common_->linked(a, b) || is_gone(a) || is_gone(b))
				continue;
			for (size_t word = 0; word < words; word++)
				by_third = by_third || (rows[a * words + word] & rows[b * words + word]);
			(by_third ? far_groups_ : cut_groups_).emplace_back(a, b);
		}
	}
	common_->all_linked = far_groups_.empty() && cut_groups_.empty();
}

PortKind kind_of(const Machine &machine, const Tile &tile)
{
	if (tile.role == TileRole::Processor)
		return PortKind::Processor;
	if (tile.role == TileRole::Unused)
		return PortKind::Unused;
	return machine.classes[tile.link_class].scope == Scope::Global ? PortKind::Global : PortKind::Local;
}

uint8_t channels_of(const Machine &machine, const Policy &policy)
{
	return static_cast<uint8_t>(policy.channels ? policy.channels : machine.router_type.request_channels);
}

void Builder::fill_common()
{
	const std::vector<Tile> &tiles = machine_.router_type.tiles;
	Policy policy = policy_;

	policy.channels = channels_of(machine_, policy_);
	for (size_t tile = 0; tile < tiles.size(); tile++)
		common_->kind[tile] = kind_of(machine_, tiles[tile]);
	common_->bias = {policy.local_bias, policy.global_bias};
	common_->root_rule = policy.roots;
	fill_channels(policy, *common_);
}

/* Processor tiles that serve a NIC (T04). */
uint64_t eject_tiles(const Machine &machine, uint32_t nic)
{
	const std::vector<Tile> &tiles = machine.router_type.tiles;
	uint64_t mask = 0;

	for (size_t tile = 0; tile < tiles.size(); tile++) {
		if (tiles[tile].role == TileRole::Processor && tiles[tile].nic_mask >> nic & 1)
			mask |= uint64_t{1} << tile;
	}
	return mask;
}

/* Equal lists of tiles are stored once for a router: most entries share one of some dozens. */
void Builder::pack_router(const Group &group, uint32_t router, const std::vector<Way> &ways, GroupTables &tables) const
{
	const uint32_t nics = machine_.router_type.nics;
	std::vector<std::pair<uint64_t, uint8_t>> masks; // and hops
	std::vector<uint64_t> lists;

	masks.reserve(ways.size() + nics);
	lists.reserve(ways.size() + nics);
	for (const Way &way : ways)
		masks.emplace_back(way.ports[router], way.hops[router]);
	for (const Gateway &gateway : group.gateways) {
		if (gateway.near == router)
			masks[group.routers.size() + gateway.peer].first |= uint64_t{1} << gateway.tile;
	}
	for (uint32_t nic = 0; nic < nics; nic++)
		masks.emplace_back(eject_tiles(machine_, nic), 0);

	for (const auto &[mask, hops] : masks)
		lists.push_back(mask);
	std::sort(lists.begin(), lists.end());
	lists.erase(std::unique(lists.begin(), lists.end()), lists.end());

	std::vector<size_t> firsts;

	tables.first.push_back(static_cast<uint32_t>(tables.ports.size()));
	for (const uint64_t list : lists) {
		firsts.push_back(tables.ports.size() - tables.first.back());
		for (uint64_t left = list; left; left &= left - 1)
			tables.ports.push_back(static_cast<uint8_t>(std::countr_zero(left)));
	}
	if (firsts.back() > UINT16_MAX)
		throw std::invalid_argument("the route tables of a router with so many different ways are too long");
	for (const auto &[mask, hops] : masks) {
		const size_t nth = std::lower_bound(lists.begin(), lists.end(), mask) - lists.begin();

		tables.entries.push_back(
			{static_cast<uint16_t>(firsts[nth]), static_cast<uint8_t>(std::popcount(mask)), hops});
	}
}

GroupTables Builder::make_group(uint32_t g)
{
	const Group &group = groups_[g];
	std::vector<std::vector<uint32_t>> goals(group.routers.size() + machine_.groups);
	GroupTables tables;

	tables.routers = group.routers;
	for (uint32_t i = 0; i < group.routers.size(); i++) {
		if (!group.alive[i])
			continue;
		goals[i].push_back(i);
		tables.roots.push_back(static_cast<uint16_t>(i));
	}
	for (const Gateway &gateway : group.gateways)
		goals[group.routers.size() + gateway.peer].push_back(gateway.near);

	const GroupWays found = route_group(group.graph, goals);

	if (!found.shortest)
		detoured_.push_back(g);
	for (uint32_t i = 0; i < group.routers.size(); i++)
		pack_router(group, i, found.ways, tables);
	tables.ports.shrink_to_fit();
	tables.entries.shrink_to_fit();
	return tables;
}

Built Builder::build()
{
	std::vector<GroupTables> made;

	collect_routers();
	collect_links();
	for (uint32_t g = 0; g < machine_.groups; g++)
		keep_connected(g);
	drop_dead_gateways();
	link_groups();
	fill_common();
	for (uint32_t g = 0; g < machine_.groups; g++)
		made.push_back(make_group(g));
	return {Tables(std::move(common_), std::move(made), static_cast<uint32_t>(index_.size()),
		       machine_.router_type.nics),
		std::move(cut_routers_), std::move(cut_groups_), std::move(far_groups_), std::move(detoured_)};
}

std::string name_router(const Machine &machine, uint32_t router)
{
	const topology::RouterPlace &place = machine.routers[router];
	std::string text = "router " + std::to_string(router) + " (group " + std::to_string(place.group);

	for (size_t axis = 0; axis < machine.axes.size(); axis++)
		text += ", " + machine.axes[axis] + " " + std::to_string(place.at[axis]);
	return text + ")";
}

} // namespace

std::vector<std::string> Built::lost(const Machine &machine) const
{
	std::vector<std::string> lines;

	for (const uint32_t router : cut_routers)
		lines.push_back(name_router(machine, router) + " has no local link left to the rest of its group");
	for (const auto &[a, b] : cut_groups)
		lines.push_back("groups " + std::to_string(a) + " and " + std::to_string(b) +
				" have no link between them, and no group that has links to both");
	return lines;
}

std::string check_tables(const Machine &machine, const Policy &policy)
{
	const topology::RouterType &type = machine.router_type;
	const uint32_t channels = channels_of(machine, policy);

	if (type.tiles.size() > MAX_TILES)
		return std::to_string(type.tiles.size()) + " tiles: the tables describe routers of at most " +
		       std::to_string(MAX_TILES);
	if (machine.groups >= UINT16_MAX || machine.routers.size() / std::max(machine.groups, 1u) >= UINT16_MAX)
		return "the tables number at most 65,534 groups and as many routers in each";
	if (!channels || channels * CLASSES > MAX_CHANNELS)
		return std::to_string(channels) + " virtual channels of a class: the tables describe 1 to " +
		       std::to_string(MAX_CHANNELS / CLASSES);
	for (const Link &link : machine.links) {
		const bool inside =
			machine.routers[link.end[0].router].group == machine.routers[link.end[1].router].group;

		if (inside != (machine.classes[link.link_class].scope == Scope::Local))
			return "a link of class " + machine.classes[link.link_class].name +
			       (inside ? " is global but inside" : " is local but leaves") + " group " +
			       std::to_string(machine.routers[link.end[0].router].group);
	}
	return {};
}

Built build_tables(const Machine &machine, const Policy &policy, const Failures &failures)
{
	const std::string reason = check_tables(machine, policy);

	if (!reason.empty())
		throw std::invalid_argument(reason);
	return Builder(machine, policy, failures).build();
}

/* The groups of a way: its source, the one of the root before and behind it, its destination. */
uint32_t channels_needed(const Policy &policy, uint32_t groups) noexcept
{
	const uint32_t crossings = groups > 2 ? 2 : groups - 1;

	return 1 + crossings * policy.global_step + policy.root_step;
}

} // namespace aries::routing
