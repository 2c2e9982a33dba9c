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

/* The far ends of links by router and tile, and back. */
class Channels
{
public:
	explicit Channels(const LocalGraph &graph) : to_(graph.size() * MAX_TILES), waits_for_(to_.size())
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

	/* Take away what waits for nobody, again and again: a circle is what cannot be taken away. */
	bool has_circle() const
	{
		std::vector<uint32_t> waiting(to_.size()); // how many wait for it
		std::vector<size_t> free;
		size_t left = to_.size();

		for (size_t channel = 0; channel < to_.size(); channel++)
			for_each_next(channel, [&](size_t next) { waiting[next]++; });
		for (size_t channel = 0; channel < to_.size(); channel++) {
			if (!waiting[channel])
				free.push_back(channel);
		}
		for (; !free.empty(); left--) {
			const size_t channel = free.back();

			free.pop_back();
			for_each_next(channel, [&](size_t next) {
				if (!--waiting[next])
					free.push_back(next);
			});
		}
		return left != 0;
	}

private:
	template <typename Call> void for_each_next(size_t channel, Call call) const
	{
		for (uint64_t left = waits_for_[channel]; left; left &= left - 1)
			call(to_[channel] * size_t{MAX_TILES} + std::countr_zero(left));
	}

	std::vector<uint32_t> to_;
	std::vector<uint64_t> waits_for_;
};

} // namespace

/*
 * Of the links that bring a packet nearer, those behind which only higher ranks follow; so in a grid of chassis and
 * slots green comes before black. Where there is none, as for a slot that is empty in the own chassis, the lowest rank.
 */
Way route_shortest(const LocalGraph &graph, const std::vector<uint32_t> &goals)
{
	Way way = no_way(graph.size());
	std::vector<uint8_t> lowest(graph.size(), UINT8_MAX); // rank by which a router is left

	for (const uint32_t router : measure_hops(graph, goals, way.hops)) {
		uint64_t ascending = 0;
		uint64_t others = 0;
		uint8_t ascending_rank = UINT8_MAX;
		uint8_t other_rank = UINT8_MAX;

		for (const LocalLink &link : graph[router]) {
			if (way.hops[router] == 0 || way.hops[link.to] != way.hops[router] - 1)
				continue;
			if (way.hops[link.to] == 0 || lowest[link.to] > link.rank) {
				ascending |= port_bit(link.tile);
				ascending_rank = std::min(ascending_rank, link.rank);
			} else if (link.rank <= other_rank) {
				others = (link.rank < other_rank ? 0 : others) | port_bit(link.tile);
				other_rank = link.rank;
			}
		}
		way.ports[router] = ascending ? ascending : others;
		lowest[router] = ascending ? ascending_rank : other_rank;
	}
	return way;
}

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
 * Links towards a smaller key go up. A router from which links down lead to a goal takes only these, so that a packet
 * never goes up after it went down; all others go up, and the middle has a way down to everybody.
 */
Way route_up_down(const LocalGraph &graph, const std::vector<uint32_t> &goals, const std::vector<uint32_t> &key)
{
	Way way = no_way(graph.size());
	std::vector<uint32_t> order(graph.size());
	std::vector<bool> down(graph.size());

	std::iota(order.begin(), order.end(), 0);
	std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key[a] > key[b]; });
	for (const uint32_t goal : goals)
		way.hops[goal] = 0;

	const auto relax = [&](uint32_t router, bool upwards) {
		uint8_t nearest = NO_WAY;

		for (const LocalLink &link : graph[router]) {
			const bool fits = upwards ? key[link.to] < key[router]
						  : key[link.to] > key[router] && (!way.hops[link.to] || down[link.to]);

			if (!fits || way.hops[link.to] == NO_WAY || way.hops[link.to] > nearest)
				continue;
			way.ports[router] = (way.hops[link.to] < nearest ? 0 : way.ports[router]) | port_bit(link.tile);
			nearest = way.hops[link.to];
		}
		if (nearest != NO_WAY)
			way.hops[router] = nearest + 1;
		return nearest != NO_WAY;
	};

	for (const uint32_t router : order) {
		if (way.hops[router] != 0)
			down[router] = relax(router, false);
	}
	std::reverse(order.begin(), order.end());
	for (const uint32_t router : order) {
		if (way.hops[router] == NO_WAY)
			relax(router, true);
	}
	return way;
}

bool has_circle(const LocalGraph &graph, const std::vector<Way> &ways)
{
	Channels channels(graph);

	for (const Way &way : ways)
		channels.add(way);
	return channels.has_circle();
}

GroupWays route_group(const LocalGraph &graph, const std::vector<std::vector<uint32_t>> &goals)
{
	GroupWays found{{}, true};

	for (const std::vector<uint32_t> &set : goals)
		found.ways.push_back(route_shortest(graph, set));
	if (!has_circle(graph, found.ways))
		return found;

	const std::vector<uint32_t> key = order_outwards(graph);

	found = {{}, false};
	for (const std::vector<uint32_t> &set : goals)
		found.ways.push_back(route_up_down(graph, set, key));
	return found;
}

} // namespace aries::routing
