// SPDX-License-Identifier: GPL-2.0-or-later
#include "hss/assess.hpp"

#include <algorithm>

namespace aries::hss
{

namespace
{

using routing::Failures;

/* Calls @visit with number and tile of each link of a router. */
template <typename Visit> void for_each_link(const Network &network, uint32_t router, Visit &&visit)
{
	for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
		const uint32_t link = network.wiring().link_of(router, tile);

		if (link != topology::NO_LINK)
			visit(link, tile);
	}
}

bool is_in(const std::vector<uint32_t> &sorted, uint32_t number)
{
	return std::binary_search(sorted.begin(), sorted.end(), number);
}

uint64_t mask_of(const routing::RouterTables &router, const routing::Ports &entry)
{
	uint64_t mask = 0;

	for (uint32_t i = 0; i < entry.count; i++)
		mask |= uint64_t{1} << router.ports[entry.first + i];
	return mask;
}

/* Destinations to which a router has ways in its tables, all of which are down. */
uint32_t lost_entries(const routing::Tables &tables, const routing::RouterTables &router, uint64_t down)
{
	const routing::GroupTables &group = tables.group(router.here.group);
	uint32_t lost = 0;
	const auto count = [&](const routing::Ports &entry) {
		lost += entry.count && !(mask_of(router, entry) & ~down);
	};

	for (size_t i = 0; i < group.routers.size(); i++)
		count(router.local[i]);
	for (uint32_t g = 0; g < tables.groups(); g++)
		count(router.global[g]);
	return lost;
}

} // namespace

std::set<uint32_t> links_down(const Network &network)
{
	std::set<uint32_t> links;

	for (uint32_t router = 0; router < network.topology().routers(); router++) {
		if (!network.touched(router))
			continue;
		for_each_link(network, router, [&](uint32_t link, uint32_t tile) {
			if (!network.link_view(router, tile, 0).up)
				links.insert(link);
		});
	}
	return links;
}

Failures failures_of(const Network &network, const std::set<uint32_t> &links)
{
	const uint32_t routers = network.topology().routers();
	Failures failures{{links.begin(), links.end()}, {}};

	for (uint32_t router = 0; !links.empty() && router < routers; router++) {
		uint32_t there = 0, left = 0;

		for_each_link(network, router, [&](uint32_t link, uint32_t) {
			there++;
			left += !links.contains(link);
		});
		if (there && !left)
			failures.routers.push_back(router);
	}
	if (failures.routers.size() == routers)
		failures.routers.clear();
	return failures;
}

Failures out_now(const Network &network)
{
	return failures_of(network, links_down(network));
}

std::string why_anew(const Network &network, const routing::Tables &tables, const Failures &made_without,
		     const Failures &now)
{
	const auto back = std::count_if(made_without.links.begin(), made_without.links.end(),
					[&](uint32_t link) { return !is_in(now.links, link); });
	uint32_t routers = 0, entries = 0;

	if (back)
		return std::to_string(back) + (back == 1 ? " link is" : " links are") + " back";
	if (now == made_without)
		return {};
	for (uint32_t router = 0; router < network.topology().routers(); router++) {
		uint64_t down = 0;

		for_each_link(network, router,
			      [&](uint32_t link, uint32_t tile) { down |= uint64_t{is_in(now.links, link)} << tile; });
		const uint32_t lost = down ? lost_entries(tables, tables.router(router), down) : 0;

		routers += lost != 0;
		entries += lost;
	}
	if (!entries)
		return {};
	return std::to_string(routers) + (routers == 1 ? " router has" : " routers have") + " no way left to " +
	       std::to_string(entries) + (entries == 1 ? " destination" : " destinations");
}

} // namespace aries::hss
