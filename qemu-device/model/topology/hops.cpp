// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/hops.hpp"

#include <algorithm>
#include <deque>
#include <map>

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

	const std::vector<uint32_t> &from(const std::vector<uint32_t> &sources)
	{
		std::fill(distance_.begin(), distance_.end(), FAR);
		for (const uint32_t source : sources) {
			distance_[source] = 0;
			queue_.push_back({source, 0});
		}
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

/* Nodes that are at the same routers: at one, but for nodes with links to several. */
struct Site {
	std::vector<uint32_t> routers;
	uint32_t nodes;
};

std::vector<Site> sites_of(const Machine &machine)
{
	std::vector<std::vector<uint32_t>> routers(machine.nodes.size());
	std::map<std::vector<uint32_t>, uint32_t> nodes;
	std::vector<Site> sites;

	for (size_t node = 0; node < machine.nodes.size(); node++)
		routers[node] = {machine.nodes[node].router};
	for (const FurtherPlace &place : machine.further)
		routers[place.node].push_back(place.at.router);
	for (const auto &of_node : routers)
		nodes[of_node]++;
	sites.reserve(nodes.size());
	for (const auto &[at, count] : nodes)
		sites.push_back({at, count});
	return sites;
}

/* Pairs of nodes by distance of their routers; the pairs of a node with itself do not count. */
std::vector<double> histogram(const Wiring &wiring, const std::vector<Site> &sites, const std::vector<bool> &costs,
			      const std::vector<uint8_t> &class_of_tile, uint32_t sources)
{
	Search search(wiring, costs, class_of_tile);
	std::vector<double> pairs(1);

	for (uint32_t i = 0; i < sources; i++) {
		const Site &source = sites[uint64_t{i} * sites.size() / sources];
		const std::vector<uint32_t> &distance = search.from(source.routers);

		for (const Site &site : sites) {
			uint32_t least = FAR;

			for (const uint32_t router : site.routers)
				least = std::min(least, distance[router]);
			if (least >= pairs.size())
				pairs.resize(least + size_t{1});
			pairs[least] += static_cast<double>(source.nodes) * site.nodes;
		}
		pairs[0] -= source.nodes;
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
	const std::vector<Site> sites = sites_of(machine);
	const auto all = static_cast<uint32_t>(sites.size());
	const uint32_t from = sources ? std::min(sources, all) : all;
	std::vector<uint8_t> class_of_tile;
	std::vector<bool> optical;
	Hops hops;

	for (const Tile &tile : machine.router_type.tiles)
		class_of_tile.push_back(tile.link_class);
	for (const LinkClass &cls : machine.classes)
		optical.push_back(cls.medium == Medium::Optical);

	const std::vector<bool> every(machine.classes.size(), true);
	std::vector<double> pairs = histogram(wiring, sites, optical, class_of_tile, from);

	hops.mean_optical = mean_of(pairs);
	hops.most_optical = static_cast<uint32_t>(pairs.size() - 1);
	hops.share = histogram(wiring, sites, every, class_of_tile, from);
	hops.mean = mean_of(hops.share);
	hops.most = static_cast<uint32_t>(hops.share.size() - 1);
	hops.sources = from;
	return hops;
}

} // namespace aries::topology
