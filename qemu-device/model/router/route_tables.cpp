// SPDX-License-Identifier: GPL-2.0-or-later
#include "router/route_tables.hpp"

#include <algorithm>

#include "router/routing_mode.hpp"

namespace aries
{

namespace
{

/* Different routers begin with different entries, so that equal ways do not meet on one link. */
uint32_t spread(uint32_t router, uint32_t target)
{
	return static_cast<uint32_t>(mix64(uint64_t{router} << 32 | target) >> 40);
}

/* Uniform over 0 to size - 1 without two of them. */
uint32_t other_than(uint32_t a, uint32_t b, uint32_t size, uint32_t way)
{
	uint32_t pick = pick_of(way, size - 2);

	if (pick >= std::min(a, b))
		pick++;
	if (pick >= std::max(a, b))
		pick++;
	return pick;
}

} // namespace

uint32_t RouteTables::local_minimal(uint32_t router, uint32_t target, uint32_t way) const noexcept
{
	const Place from = topo_.router_place(router);
	const Place to = topo_.router_place(target);

	if (from.slot != to.slot &&
	    (from.chassis == to.chassis || topo_.router_exists(from.group, from.chassis, to.slot)))
		return Dragonfly::green_tile(from.slot, to.slot);
	if (from.chassis != to.chassis)
		return Dragonfly::black_tile(from.chassis, to.chassis, (way + spread(router, target)) % BLACK_LINKS);
	return NO_TILE;
}

uint32_t RouteTables::hops_inside(uint32_t from, uint32_t to) const noexcept
{
	const Place a = topo_.router_place(from);
	const Place b = topo_.router_place(to);

	return (a.slot != b.slot) + (a.chassis != b.chassis);
}

uint32_t RouteTables::global_minimal(uint32_t router, uint32_t group, uint32_t way) const noexcept
{
	const uint32_t here = topo_.group_of(router);
	const uint32_t links = topo_.links_between_groups();
	uint32_t nearest = UINT32_MAX;
	uint32_t equal = 0;

	for (uint32_t i = 0; i < links; i++) {
		const uint32_t hops = hops_inside(router, topo_.blue_link(here, group, i).router);

		if (hops < nearest) {
			nearest = hops;
			equal = 0;
		}
		equal += hops == nearest;
	}
	if (!equal)
		return NO_TILE;

	uint32_t nth = (way + spread(router, group)) % equal;

	for (uint32_t i = 0; i < links; i++) {
		const LinkEnd gateway = topo_.blue_link(here, group, i);

		if (hops_inside(router, gateway.router) != nearest || nth--)
			continue;
		return nearest ? local_minimal(router, gateway.router, way) : gateway.tile;
	}
	return NO_TILE;
}

uint32_t RouteTables::local_nonminimal(uint32_t router, uint32_t target, uint32_t way) const noexcept
{
	const uint32_t size = topo_.group_routers();
	const uint32_t first = topo_.group_of(router) * size;

	return size > 2 ? first + other_than(router - first, target - first, size, way) : router;
}

uint32_t RouteTables::global_nonminimal(uint32_t router, uint32_t target, uint32_t way) const noexcept
{
	const uint32_t size = topo_.routers();

	return size > 2 ? other_than(router, target, size, way) : router;
}

uint32_t RouteTables::root(uint32_t router, uint32_t target, uint32_t way) const noexcept
{
	return topo_.group_of(router) == topo_.group_of(target) ? local_nonminimal(router, target, way)
								: global_nonminimal(router, target, way);
}

uint32_t RouteTables::next_hop(uint32_t router, uint32_t target, uint32_t way) const noexcept
{
	const uint32_t group = topo_.group_of(target);

	return topo_.group_of(router) == group ? local_minimal(router, target, way)
					       : global_minimal(router, group, way);
}

void RouteTables::append_minimal(uint32_t router, uint32_t target, uint32_t way, Path &path) const noexcept
{
	for (uint32_t i = 0; i < MAX_MINIMAL_HOPS && router != target; i++) {
		const uint32_t tile = next_hop(router, target, way);

		path.link[path.hops++] = link_id(router, tile);
		router = topo_.far_end(router, tile).router;
	}
}

} // namespace aries
