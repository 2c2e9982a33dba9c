// SPDX-License-Identifier: GPL-2.0-or-later
#include "router/clos.hpp"

#include <algorithm>
#include <stdexcept>

namespace aries::routing
{

namespace
{

using topology::LinkEnd;
using topology::Machine;

constexpr uint32_t FAR = UINT32_MAX;
constexpr uint32_t MOST_SPAN = 64; ///< bits of ClosWays

std::string number(uint64_t value)
{
	return std::to_string(value);
}

uint32_t stage_of(const Machine &machine, uint32_t router)
{
	return machine.routers[router].at[0];
}

std::string check_stages(const Machine &machine)
{
	std::vector<bool> has_up(machine.routers.size());

	if (machine.groups != 1 || machine.axes.empty() || machine.axes[0] != "stage")
		return "a Clos is one group whose first coordinate is the stage of a router";
	if (machine.router_type.tiles.size() > NO_OUTPUT)
		return "routers of " + number(machine.router_type.tiles.size()) + " tiles: ways have numbers up to " +
		       number(NO_OUTPUT - 1);
	for (size_t i = 0; i < machine.links.size(); i++) {
		const LinkEnd *const end = machine.links[i].end;
		const uint32_t a = stage_of(machine, end[0].router), b = stage_of(machine, end[1].router);

		if (a > b + 1 || b > a + 1)
			return "link " + number(i) + " leads from stage " + number(a) + " to stage " + number(b) +
			       ", not to the next";
		if (a != b)
			has_up[end[a > b].router] = true;
	}
	for (size_t i = 0; i < machine.links.size(); i++) {
		const LinkEnd *const end = machine.links[i].end;

		if (stage_of(machine, end[0].router) == stage_of(machine, end[1].router) &&
		    (has_up[end[0].router] || has_up[end[1].router]))
			return "link " + number(i) + " stays in a stage that is not the last";
	}
	return {};
}

std::string check_places(const Machine &machine)
{
	const auto told = [&machine](uint32_t node, uint32_t router) {
		return "node " + number(node) + " is at router " + number(router) + " of stage " +
		       number(stage_of(machine, router)) + ": those of a Clos are in stage 0";
	};

	if (machine.nodes.empty())
		return "a Clos without nodes has no ways";
	for (uint32_t node = 0; node < machine.nodes.size(); node++) {
		if (stage_of(machine, machine.nodes[node].router) != 0)
			return told(node, machine.nodes[node].router);
	}
	for (const topology::FurtherPlace &place : machine.further) {
		if (stage_of(machine, place.at.router) != 0)
			return told(place.node, place.at.router);
		if (place.at.nic != machine.nodes[place.node].nic)
			return "node " + number(place.node) + " is at NICs of different numbers: ways to it have one";
	}
	return {};
}

/* The routers of each node, in ascending order: which of its places comes first does not matter. */
std::vector<std::vector<uint32_t>> routers_of_nodes(const Machine &machine)
{
	std::vector<std::vector<uint32_t>> routers;

	routers.reserve(machine.nodes.size());
	for (const topology::NodePlace &node : machine.nodes)
		routers.push_back({node.router});
	for (const topology::FurtherPlace &place : machine.further)
		routers[place.node].push_back(place.at.router);
	for (auto &of_node : routers)
		std::sort(of_node.begin(), of_node.end());
	return routers;
}

/* Numbers are given in the order of nodes. */
struct Sites {
	std::vector<std::vector<uint32_t>> routers;
	std::vector<uint16_t> of_router; ///< NO_SITE without nodes
	std::string reason;              ///< why they cannot be told

	explicit Sites(const Machine &machine) : of_router(machine.routers.size(), NO_SITE)
	{
		for (const auto &at : routers_of_nodes(machine)) {
			const uint16_t site = of_router[at[0]];

			if (site != NO_SITE ? routers[site] != at : !add(at)) {
				reason = reason.empty() ? "nodes of router " + number(at[0]) +
								  " have links to different other routers"
							: reason;
				return;
			}
		}
	}

private:
	bool add(const std::vector<uint32_t> &at)
	{
		if (routers.size() == NO_SITE) {
			reason = "nodes at more than " + number(NO_SITE) + " routers";
			return false;
		}
		for (const uint32_t router : at) {
			if (of_router[router] != NO_SITE)
				return false;
			of_router[router] = static_cast<uint16_t>(routers.size());
		}
		routers.push_back(at);
		return true;
	}
};

/* Steps of more destinations than there can be are all the same. */
uint32_t times(uint32_t a, uint32_t b)
{
	return static_cast<uint32_t>(std::min<uint64_t>(uint64_t{a} * b, UINT32_MAX));
}

/* Adds a tile to a set. @return false if it is too far from the others */
bool add_tile(ClosWays &ways, uint32_t tile)
{
	if (!ways.bits)
		ways.first = static_cast<uint8_t>(tile);
	if (tile < ways.first) {
		const uint32_t by = ways.first - tile;

		if (by + std::bit_width(ways.bits) > MOST_SPAN)
			return false;
		ways.bits <<= by;
		ways.first = static_cast<uint8_t>(tile);
	}
	if (tile - ways.first >= MOST_SPAN)
		return false;
	ways.bits |= uint64_t{1} << (tile - ways.first);
	return true;
}

/* How far it is to one site from everywhere, and by which links. */
class Search
{
public:
	Search(const Machine &machine, const std::vector<bool> &links)
		: up_(machine.routers.size()), down_(machine.routers.size()), below_(machine.routers.size()),
		  distance_(machine.routers.size())
	{
		for (size_t i = 0; i < machine.links.size(); i++) {
			for (size_t side = 0; side < 2 && links[i]; side++) {
				const LinkEnd &near = machine.links[i].end[side], &far = machine.links[i].end[1 - side];
				const uint32_t here = stage_of(machine, near.router);
				const uint32_t there = stage_of(machine, far.router);

				(there < here ? down_ : up_)[near.router].push_back(
					{far.router, near.tile, there == here});
			}
		}
		for (uint32_t router = 0; router < machine.routers.size(); router++)
			order_.push_back(router);
		std::stable_sort(order_.begin(), order_.end(), [&machine](uint32_t a, uint32_t b) {
			return stage_of(machine, a) > stage_of(machine, b);
		});
	}

	void to(const std::vector<uint32_t> &site)
	{
		std::fill(below_.begin(), below_.end(), FAR);
		for (const uint32_t router : site)
			below_[router] = 0;
		/* From the lowest stage on: a way down by each link that leads to a router that has one. */
		std::vector<uint32_t> reached = site;

		for (size_t i = 0; i < reached.size(); i++) {
			for (const Neighbour &next : up_[reached[i]]) {
				if (next.across || below_[next.router] != FAR)
					continue;
				below_[next.router] = below_[reached[i]] + 1;
				reached.push_back(next.router);
			}
		}
		distance_ = below_;
		for (const uint32_t router : order_) {
			if (below_[router] != FAR)
				continue;
			for (const Neighbour &next : up_[router]) {
				const uint32_t behind = far(next);

				if (behind != FAR)
					distance_[router] = std::min(distance_[router], behind + 1);
			}
		}
	}

	uint32_t distance(uint32_t router) const { return distance_[router]; }

	/* The links by which it is shortest. @return false if their tiles are too far apart */
	bool ways(uint32_t router, const ClosWays &all_up, ClosWays &ways) const
	{
		const bool down = below_[router] != FAR;

		ways = {};
		if (distance_[router] == 0 || distance_[router] == FAR)
			return true;
		if (!down)
			ways = {0, all_up.first, true};
		for (const Neighbour &next : down ? down_[router] : up_[router]) {
			if ((down ? below_[next.router] : far(next)) != distance_[router] - 1)
				continue;
			if (down && !add_tile(ways, next.tile))
				return false;
			if (!down)
				ways.bits |= uint64_t{1} << (next.tile - all_up.first);
		}
		return true;
	}

	/* All links upwards. @return as above */
	bool all_up(uint32_t router, ClosWays &ways) const
	{
		ways = {0, 0, true};
		return std::all_of(up_[router].begin(), up_[router].end(),
				   [&ways](const Neighbour &next) { return add_tile(ways, next.tile); });
	}

	/* Different routers to which tiles lead. */
	uint32_t routers_behind(uint32_t router, const ClosWays &ways) const
	{
		std::vector<uint32_t> behind;

		for (const Neighbour &next : ways.up ? up_[router] : down_[router]) {
			if (ways.has(next.tile) && std::find(behind.begin(), behind.end(), next.router) == behind.end())
				behind.push_back(next.router);
		}
		return static_cast<uint32_t>(behind.size());
	}

private:
	struct Neighbour {
		uint32_t router;
		uint32_t tile;
		bool across; ///< in the same stage
	};

	/* From behind a link upwards; behind one across a packet can only go down. */
	uint32_t far(const Neighbour &next) const { return next.across ? below_[next.router] : distance_[next.router]; }

	std::vector<std::vector<Neighbour>> up_, down_;
	std::vector<uint32_t> order_; ///< routers from the last stage to the first
	std::vector<uint32_t> below_; ///< hops, if it is below
	std::vector<uint32_t> distance_;
};

std::vector<ClosWays> eject_ways(const topology::RouterType &type, bool &fits)
{
	std::vector<ClosWays> ways(type.nics);

	fits = true;
	for (uint32_t tile = 0; tile < type.tiles.size(); tile++) {
		for (uint32_t nic = 0; nic < type.nics && type.tiles[tile].role == topology::TileRole::Processor;
		     nic++) {
			if (type.tiles[tile].nic_mask >> nic & 1)
				fits = fits && add_tile(ways[nic], tile);
		}
	}
	return ways;
}

std::string check_ways(const Machine &machine, const Sites &sites)
{
	Search search(machine, std::vector<bool>(machine.links.size(), true));
	std::vector<ClosWays> up(machine.routers.size());
	ClosWays ways;
	bool fits;

	eject_ways(machine.router_type, fits);
	for (uint32_t router = 0; router < up.size(); router++)
		fits = fits && search.all_up(router, up[router]);
	for (const auto &site : sites.routers) {
		search.to(site);
		for (uint32_t router = 0; router < up.size(); router++) {
			if (sites.of_router[router] != NO_SITE && search.distance(router) == FAR)
				return "no way up and then down leads from router " + number(router) + " to router " +
				       number(site[0]);
			fits = fits && search.ways(router, up[router], ways);
		}
	}
	return fits ? "" : "tiles that lead to the same place are more than " + number(MOST_SPAN) + " apart";
}

} // namespace

std::vector<bool> links_left(const Machine &machine, const Failures &failures)
{
	std::vector<bool> left(machine.links.size(), true), router_out(machine.routers.size());

	for (const uint32_t link : failures.links) {
		if (link >= left.size())
			throw std::invalid_argument("link " + number(link) + " cannot fail: there are " +
						    number(left.size()));
		left[link] = false;
	}
	for (const uint32_t router : failures.routers) {
		if (router >= router_out.size())
			throw std::invalid_argument("router " + number(router) + " cannot fail: there are " +
						    number(router_out.size()));
		router_out[router] = true;
	}
	for (size_t i = 0; i < left.size(); i++) {
		if (router_out[machine.links[i].end[0].router] || router_out[machine.links[i].end[1].router])
			left[i] = false;
	}
	return left;
}

std::string ClosTables::check(const Machine &machine)
{
	std::string reason = check_stages(machine);

	if (reason.empty())
		reason = check_places(machine);
	if (!reason.empty())
		return reason;

	const Sites sites(machine);

	if (!sites.reason.empty())
		return sites.reason;
	if (machine.routers.size() * sites.routers.size() * sizeof(uint16_t) > CLOS_MOST_BYTES)
		return number(machine.routers.size()) + " routers with ways to " + number(sites.routers.size()) +
		       " others: tables would take more than " + number(CLOS_MOST_BYTES >> 20) + " MiB";
	return check_ways(machine, sites);
}

std::string ClosTables::check_choice(const Machine &machine, const ClosChoice &choice)
{
	if (choice.order == ClosOrder::Lighter)
		return {};
	if (choice.threshold == 0)
		return "a threshold of 0 packets: no link is ever below it";
	if (choice.threshold > machine.router_type.request_channels)
		return "a threshold of " + number(choice.threshold) + " packets: a link has " +
		       number(machine.router_type.request_channels) + " channels";
	return {};
}

/* Fills tables site by site. */
class ClosTables::Maker
{
public:
	Maker(const Machine &machine, const Failures &failures, ClosTables &tables)
		: machine_(machine), sites_(machine), tables_(tables), different_(machine.routers.size()),
		  search_(machine, links_left(machine, failures))
	{
	}

	void make()
	{
		const Search whole(machine_, std::vector<bool>(machine_.links.size(), true));
		const auto routers = static_cast<uint32_t>(machine_.routers.size());

		tables_.sites_ = static_cast<uint32_t>(sites_.routers.size());
		tables_.routers_.resize(routers);
		tables_.way_.resize(size_t{routers} * tables_.sites_);
		for (uint32_t router = 0; router < routers; router++) {
			ClosRouter &here = tables_.routers_[router];

			here.here = sites_.of_router[router];
			here.router = router;
			here.common = tables_.common_.data();
			here.way = tables_.way_.data() + size_t{router} * tables_.sites_;
			whole.all_up(router, here.up);
			different_[router].push_back({});
		}
		for (uint32_t site = 0; site < tables_.sites_; site++)
			add_site(site);
		join();
		take_steps(whole);
	}

private:
	void add_site(uint32_t site)
	{
		search_.to(sites_.routers[site]);
		for (uint32_t router = 0; router < different_.size(); router++) {
			std::vector<ClosWays> &known = different_[router];
			ClosWays ways;

			search_.ways(router, tables_.routers_[router].up, ways);

			/* Most often those of the site before. */
			uint16_t *const way = &tables_.way_[size_t{router} * tables_.sites_ + site];
			const uint16_t before = site ? way[-1] : 0;

			if (known[before] == ways) {
				*way = before;
				continue;
			}

			const auto found = std::find(known.begin(), known.end(), ways);

			*way = static_cast<uint16_t>(found - known.begin());
			if (found == known.end())
				known.push_back(ways);
		}
	}

	void join()
	{
		size_t sum = 0;

		for (const auto &known : different_)
			sum += known.size();
		tables_.ways_.reserve(sum);
		for (uint32_t router = 0; router < different_.size(); router++) {
			tables_.routers_[router].ways = tables_.ways_.data() + tables_.ways_.size();
			tables_.ways_.insert(tables_.ways_.end(), different_[router].begin(), different_[router].end());
		}
	}

	/*
	 * Static routing takes digits of a destination's number: each stage on the way up the next, to the base of the
	 * routers above one, so that parallel links take what follows. Down again it takes the same digits: of parallel
	 * links that of the stage below, of links to different routers that by which a packet gets to one of these.
	 */
	void take_steps(const Search &whole)
	{
		struct Stage {
			uint32_t above = 1; ///< routers above each
			uint32_t step = 1;
			bool parallel = false;
		};
		std::vector<Stage> stages;

		for (uint32_t router = 0; router < different_.size(); router++) {
			stages.resize(std::max<size_t>(stages.size(), stage_of(machine_, router) + size_t{1}));

			Stage &stage = stages[stage_of(machine_, router)];

			stage.above = std::max(stage.above, whole.routers_behind(router, tables_.routers_[router].up));
			for (const ClosWays &ways : different_[router])
				stage.parallel |= !ways.up && std::popcount(ways.bits) > 1 &&
						  whole.routers_behind(router, ways) == 1;
		}
		for (size_t stage = 1; stage < stages.size(); stage++)
			stages[stage].step = times(stages[stage - 1].step, stages[stage - 1].above);
		for (uint32_t router = 0; router < different_.size(); router++) {
			const size_t stage = stage_of(machine_, router);

			tables_.routers_[router].up_step = stages[stage].step;
			tables_.routers_[router].down_step =
				stages[stages[stage].parallel ? stage : stage - std::min<size_t>(stage, 2)].step;
		}
	}

	const Machine &machine_;
	const Sites sites_;
	ClosTables &tables_;
	std::vector<std::vector<ClosWays>> different_; ///< router by router; the first is none
	Search search_;
};

ClosTables::ClosTables(const Machine &machine, const ClosChoice &choice, const Failures &failures) : common_(1)
{
	std::string reason = check(machine);
	bool fits;

	if (reason.empty())
		reason = check_choice(machine, choice);
	if (!reason.empty())
		throw std::invalid_argument(reason);
	common_[0] = {choice, machine.router_type.nics, eject_ways(machine.router_type, fits)};
	Maker(machine, failures, *this).make();
}

size_t ClosTables::bytes() const noexcept
{
	return common_[0].eject.size() * sizeof(ClosWays) + ways_.size() * sizeof(ways_[0]) +
	       way_.size() * sizeof(way_[0]) + routers_.size() * sizeof(routers_[0]);
}

} // namespace aries::routing
