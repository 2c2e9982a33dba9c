// SPDX-License-Identifier: GPL-2.0-or-later
#include "division.hpp"

#include <algorithm>

namespace aries::sim
{

namespace
{

/* Routers that must be in the part of the router before them: a node has links to both, and a node is in one part. */
std::vector<bool> joined_to_last(const Layout &layout)
{
	std::vector<uint32_t> until(layout.routers);
	std::vector<bool> joined(layout.routers);
	uint32_t end = 0;

	for (uint32_t node = 0; node < layout.nodes && layout.homes > 1; node++) {
		uint32_t first = layout.home(node, 0), last = first;

		for (uint32_t nth = 1; nth < layout.homes; nth++) {
			first = std::min(first, layout.home(node, nth));
			last = std::max(last, layout.home(node, nth));
		}
		until[first] = std::max(until[first], last);
	}
	for (uint32_t router = 0; router < layout.routers; router++) {
		joined[router] = router && router <= end;
		end = std::max(end, until[router]);
	}
	return joined;
}

/* Routers at which a part can begin: the first of each group, or every router if there are fewer groups than parts. */
std::vector<uint32_t> places_to_cut(const Layout &layout, uint32_t parts)
{
	const std::vector<bool> joined = joined_to_last(layout);
	std::vector<uint32_t> cuts;

	for (uint32_t router = 0; router < layout.routers; router++) {
		if (!router || layout.group_of[router] != layout.group_of[router - 1])
			cuts.push_back(router);
	}
	if (cuts.size() < parts) {
		cuts.clear();
		for (uint32_t router = 0; router < layout.routers; router++) {
			if (!joined[router])
				cuts.push_back(router);
		}
	}
	return cuts;
}

} // namespace

std::string check_parts(const Layout &layout, uint32_t parts)
{
	if (!parts || parts > MOST_PARTS)
		return std::to_string(parts) + " parts: there are 1 to " + std::to_string(MOST_PARTS);
	if (parts > layout.routers)
		return std::to_string(parts) + " parts of " + std::to_string(layout.routers) +
		       " routers: each has at least one";

	const size_t most = places_to_cut(layout, parts).size();

	if (parts > most)
		return std::to_string(parts) +
		       " parts: switches to which a node has links are in one, so there are at most " +
		       std::to_string(most);
	return {};
}

Division::Division(const Layout &layout, uint32_t parts) : part_of(layout.routers)
{
	const std::vector<uint32_t> cuts = places_to_cut(layout, parts);

	for (uint32_t part = 0; part < parts; part++)
		first.push_back(cuts[cuts.size() * part / parts]);
	first.push_back(layout.routers);
	for (uint32_t part = 0; part < parts; part++)
		std::fill(part_of.begin() + first[part], part_of.begin() + first[part + 1],
			  static_cast<uint16_t>(part));
	for (uint32_t place = 0; place < layout.places(); place++) {
		const Lane &lane = layout.lanes[place];

		if (lane.far != NO_PLACE && part_of[place / layout.tiles] != part_of[lane.far / layout.tiles])
			window = std::min(window, lane.latency_ticks / layout.chip.times.cycle_ticks + 1);
	}
}

} // namespace aries::sim
