// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
#include "topology/hops.hpp"

#include <algorithm>
#include <deque>

namespace aries::topology
{

namespace
{

constexpr uint32_t FAR = UINT32_MAX;

/* Breadth first, with links that cost one or nothing: those that cost nothing go first. */
class Search
{
public:
	Search(const Wiring &wiring, const std::vector<bool> &costs, const std::vector<uint8_t> &class_of_tile)
		: wiring_(wiring), costs_(costs), class_of_tile_(class_of_tile), distance_(wiring.routers())
	{
	}

	const std::vector<uint32_t> &from(uint32_t source)
	{
		std::fill(distance_.begin(), distance_.end(), FAR);
		distance_[source] = 0;
		queue_.assign(1, {source, 0});
		while (!queue_.empty()) {
			const auto [router, at] = queue_.front();

			queue_.pop_front();
			if (at == distance_[router])
				look_around(router, at);
		}
		return distance_;
	}

private:
	struct Reached {
		uint32_t router;
		uint32_t at;
	};

	void look_around(uint32_t router, uint32_t at)
	{
		for (uint32_t tile = 0; tile < wiring_.tiles(); tile++) {
			const LinkEnd far = wiring_.far_end(router, tile);

			if (far.tile == NOT_CONNECTED)
				continue;

			const bool costs = costs_[class_of_tile_[tile]];

			if (at + costs >= distance_[far.router])
				continue;
			distance_[far.router] = at + costs;
			if (costs)
				queue_.push_back({far.router, at + 1});
			else
				queue_.push_front({far.router, at});
		}
	}

	const Wiring &wiring_;
	const std::vector<bool> &costs_;
	const std::vector<uint8_t> &class_of_tile_;
	std::vector<uint32_t> distance_;
	std::deque<Reached> queue_;
};

/* Pairs of nodes by distance of their routers; the pairs of a node with itself do not count. */
std::vector<double> histogram(const Wiring &wiring, const std::vector<uint32_t> &nodes, const std::vector<bool> &costs,
			      const std::vector<uint8_t> &class_of_tile, uint32_t sources)
{
	Search search(wiring, costs, class_of_tile);
	std::vector<double> pairs(1);

	for (uint32_t i = 0; i < sources; i++) {
		const auto source = static_cast<uint32_t>(uint64_t{i} * wiring.routers() / sources);
		const std::vector<uint32_t> &distance = search.from(source);

		for (uint32_t router = 0; router < wiring.routers() && nodes[source]; router++) {
			if (distance[router] >= pairs.size())
				pairs.resize(distance[router] + size_t{1});
			pairs[distance[router]] += static_cast<double>(nodes[source]) * nodes[router];
		}
		pairs[0] -= nodes[source];
	}
	while (pairs.size() > 1 && pairs.back() == 0)
		pairs.pop_back();
	return pairs;
}

double mean_of(std::vector<double> &pairs)
{
	double sum = 0;
	double weighted = 0;

	for (size_t hops = 0; hops < pairs.size(); hops++) {
		sum += pairs[hops];
		weighted += pairs[hops] * static_cast<double>(hops);
	}
	for (double &value : pairs)
		value /= sum > 0 ? sum : 1;
	return sum > 0 ? weighted / sum : 0;
}

} // namespace

Hops count_hops(const Machine &machine, const Wiring &wiring, uint32_t sources)
{
	const uint32_t from = sources ? std::min(sources, wiring.routers()) : wiring.routers();
	std::vector<uint32_t> nodes(wiring.routers());
	std::vector<uint8_t> class_of_tile;
	std::vector<bool> optical;
	Hops hops;

	for (const NodePlace &node : machine.nodes)
		nodes[node.router]++;
	for (const Tile &tile : machine.router_type.tiles)
		class_of_tile.push_back(tile.link_class);
	for (const LinkClass &cls : machine.classes)
		optical.push_back(cls.medium == Medium::Optical);

	const std::vector<bool> every(machine.classes.size(), true);
	std::vector<double> pairs = histogram(wiring, nodes, optical, class_of_tile, from);

	hops.mean_optical = mean_of(pairs);
	hops.most_optical = static_cast<uint32_t>(pairs.size() - 1);
	hops.share = histogram(wiring, nodes, every, class_of_tile, from);
	hops.mean = mean_of(hops.share);
	hops.most = static_cast<uint32_t>(hops.share.size() - 1);
	hops.sources = from;
	return hops;
}

} // namespace aries::topology
