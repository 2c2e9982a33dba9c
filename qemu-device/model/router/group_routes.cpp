// SPDX-License-Identifier: GPL-2.0-or-later
#include "router/group_routes.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "router/tables.hpp"

namespace aries::routing
{

namespace
{

constexpr uint64_t port_bit(uint8_t tile)
{
	return uint64_t{1} << tile;
}

Way no_way(size_t routers)
{
	return {std::vector<uint64_t>(routers), std::vector<uint8_t>(routers, NO_WAY)};
}

/* Hops to the nearest goal; returns the routers from near to far. */
std::vector<uint32_t> measure_hops(const LocalGraph &graph, const std::vector<uint32_t> &goals,
				   std::vector<uint8_t> &hops)
{
	std::vector<uint32_t> queue;

	queue.reserve(graph.size());
	for (const uint32_t goal : goals) {
		if (hops[goal] == NO_WAY) {
			hops[goal] = 0;
			queue.push_back(goal);
		}
	}
	for (size_t i = 0; i < queue.size(); i++) {
		for (const LocalLink &link : graph[queue[i]]) {
			if (hops[link.to] == NO_WAY) {
				hops[link.to] = hops[queue[i]] + 1;
				queue.push_back(link.to);
			}
		}
	}
	return queue;
}

/* Which directions of links (channels) wait for which. */
class Channels
{
public:
	explicit Channels(const LocalGraph &graph)
		: to_(graph.size() * MAX_TILES), waits_for_(to_.size()), seen_(to_.size())
	{
		for (size_t router = 0; router < graph.size(); router++) {
			for (const LocalLink &link : graph[router])
				to_[router * MAX_TILES + link.tile] = link.to;
		}
	}

	/* A packet that holds the link into a router waits for one of those by which it may go on. */
	void add(const Way &way)
	{
		for (size_t router = 0; router < way.ports.size(); router++) {
			for (uint64_t left = way.ports[router]; left; left &= left - 1) {
				const size_t channel = router * MAX_TILES + std::countr_zero(left);

				waits_for_[channel] |= way.ports[to_[channel]];
			}
		}
	}

	/* The same for one link, unless it closes a circle. */
	bool try_add(uint32_t router, const LocalLink &link, uint64_t next)
	{
		const size_t channel = size_t{router} * MAX_TILES + link.tile;

		if ((next & ~waits_for_[channel]) && leads_to(link.to, next & ~waits_for_[channel], channel))
			return false;
		waits_for_[channel] |= next;
		return true;
	}

private:
	/* Does one of these ports of a router wait, over others, for a channel? */
	bool leads_to(uint32_t router, uint64_t ports, size_t goal)
	{
		const auto visit = [this](size_t from, uint64_t left) {
			for (; left; left &= left - 1) {
				const size_t channel = from * MAX_TILES + std::countr_zero(left);

				if (seen_[channel] == round_)
					continue;
				seen_[channel] = round_;
				todo_.push_back(channel);
			}
		};

		round_++;
		todo_.clear();
		visit(router, ports);
		while (!todo_.empty()) {
			const size_t channel = todo_.back();

			if (channel == goal)
				return true;
			todo_.pop_back();
			visit(to_[channel], waits_for_[channel]);
		}
		return false;
	}

	std::vector<uint32_t> to_; // router at the far end
	std::vector<uint64_t> waits_for_;
	std::vector<uint32_t> seen_; // in which round
	std::vector<size_t> todo_;
	uint32_t round_ = 0;
};

/* Ways to some goals while they are looked for. */
struct Search {
	Way way;
	std::vector<uint32_t> order; // routers from near to far
	std::vector<uint32_t> open;  // those of them without an ascending way
};

/*
 * Of the links that bring a packet nearer, those behind which only higher ranks follow: in a grid of chassis and slots
 * green comes before black.
 */
Search find_ascending(const LocalGraph &graph, const std::vector<uint32_t> &goals)
{
	Search search{no_way(graph.size()), {}, {}};
	Way &way = search.way;
	std::vector<uint8_t> lowest(graph.size(), 0); // rank by which a router is left

	search.order = measure_hops(graph, goals, way.hops);
	for (const uint32_t router : search.order) {
		uint8_t rank = UINT8_MAX;

		for (const LocalLink &link : graph[router]) {
			if (way.hops[router] != way.hops[link.to] + 1 ||
			    (way.hops[link.to] && lowest[link.to] <= link.rank))
				continue;
			way.ports[router] |= port_bit(link.tile);
			rank = std::min(rank, link.rank);
		}
		if (way.ports[router])
			lowest[router] = rank;
		else if (way.hops[router])
			search.open.push_back(router);
	}
	return search;
}

/*
 * Give a router all links that close no circle: those that bring a packet nearer, or else any to a router that has its
 * ways, which therefore do not lead back.
 */
void close_router(const LocalGraph &graph, uint32_t router, Way &way, Channels &channels)
{
	const uint8_t shortest = way.hops[router];
	uint64_t ports = 0;

	for (const bool detour : {false, true}) {
		for (const LocalLink &link : graph[router]) {
			const bool done = way.ports[link.to] || !way.hops[link.to];

			if (!done || ports >> link.tile & 1 || (!detour && way.hops[link.to] >= shortest) ||
			    !channels.try_add(router, link, way.ports[link.to]))
				continue;
			way.hops[router] = std::max<uint8_t>(ports ? way.hops[router] : 0, way.hops[link.to] + 1);
			ports |= port_bit(link.tile);
		}
		if (ports)
			break;
	}
	way.ports[router] = ports;
}

/* The same for all open routers, in turn as long as that helps. False if there is one without. */
bool close_open(const LocalGraph &graph, Search &search, Channels &channels)
{
	for (size_t before = SIZE_MAX; search.open.size() < before;) {
		before = search.open.size();
		std::erase_if(search.open, [&](uint32_t router) {
			close_router(graph, router, search.way, channels);
			return search.way.ports[router] != 0;
		});
	}
	return search.open.empty();
}

/* An order of routers from a middle outwards. */
std::vector<uint32_t> order_outwards(const LocalGraph &graph)
{
	const auto middle = std::max_element(graph.begin(), graph.end(),
					     [](const auto &a, const auto &b) { return a.size() < b.size(); });
	std::vector<uint8_t> hops(graph.size(), NO_WAY);
	std::vector<uint32_t> key(graph.size(), UINT32_MAX);
	uint32_t next = 0;

	if (middle != graph.end()) {
		for (const uint32_t router : measure_hops(graph, {static_cast<uint32_t>(middle - graph.begin())}, hops))
			key[router] = next++;
	}
	return key;
}

/*
 * Up-then-down ways: links towards a smaller key go up. A router from which links down lead to a goal takes only these,
 * so that a packet never goes up after it went down; all others go up, and the middle has a way down to everybody.
 */
Way route_up_down(const LocalGraph &graph, const std::vector<uint32_t> &goals, const std::vector<uint32_t> &key)
{
	Way way = no_way(graph.size());
	std::vector<uint32_t> order(graph.size());

	std::iota(order.begin(), order.end(), 0);
	std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key[a] > key[b]; });
	for (const uint32_t goal : goals)
		way.hops[goal] = 0;

	/* Go by the nearest of those neighbours, up or down, that have their ways. */
	const auto relax = [&](uint32_t router, bool up) {
		for (const LocalLink &link : graph[router]) {
			const uint8_t hops = way.hops[link.to];

			if ((key[link.to] < key[router]) != up || hops == NO_WAY || hops >= way.hops[router])
				continue;
			way.ports[router] = (hops + 1 < way.hops[router] ? 0 : way.ports[router]) | port_bit(link.tile);
			way.hops[router] = hops + 1;
		}
	};

	for (const uint32_t router : order)
		relax(router, false);
	std::reverse(order.begin(), order.end());
	for (const uint32_t router : order) {
		if (way.hops[router] == NO_WAY)
			relax(router, true);
	}
	return way;
}

} // namespace

GroupWays route_group(const LocalGraph &graph, const std::vector<std::vector<uint32_t>> &goals)
{
	std::vector<Search> searches;
	Channels channels(graph);
	GroupWays found{{}, true};

	for (const std::vector<uint32_t> &set : goals) {
		searches.push_back(find_ascending(graph, set));
		channels.add(searches.back().way);
	}
	for (Search &search : searches)
		found.shortest = found.shortest && close_open(graph, search, channels);

	const std::vector<uint32_t> key = found.shortest ? std::vector<uint32_t>{} : order_outwards(graph);

	for (size_t i = 0; i < goals.size(); i++)
		found.ways.push_back(found.shortest ? std::move(searches[i].way) : route_up_down(graph, goals[i], key));
	return found;
}

} // namespace aries::routing
