// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/dragonfly.hpp"

#include <algorithm>
#include <stdexcept>

namespace aries
{

namespace
{

constexpr uint32_t or_default(uint32_t value, uint32_t dflt)
{
	return value ? value : dflt;
}

constexpr uint32_t div_up(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

constexpr uint32_t PAIR_BUNDLES = 5; ///< cables of a pair of routers (T16)

std::string count(uint32_t n, const char *what)
{
	return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

} // namespace

const char *tile_kind_name(TileKind kind)
{
	switch (kind) {
	case TileKind::Green:
		return "green";
	case TileKind::Black:
		return "black";
	case TileKind::Blue:
		return "blue";
	default:
		return "processor";
	}
}

std::string Dragonfly::check(const DragonflyShape &shape)
{
	const uint32_t slots = or_default(shape.routers_per_chassis, MAX_ROUTERS_PER_CHASSIS);
	const uint32_t chassis = or_default(shape.chassis_per_group, MAX_CHASSIS_PER_GROUP);

	if (shape.nodes == 0)
		return "a network needs at least one node";
	if (slots > MAX_ROUTERS_PER_CHASSIS)
		return count(slots, "router") + " per chassis: a chassis holds at most 16";
	if (chassis > MAX_CHASSIS_PER_GROUP)
		return count(chassis, "chassis") + " per group: a group holds at most 6";

	const uint32_t per_group = slots * chassis;
	const uint64_t capacity = uint64_t{per_group} * NICS_PER_ROUTER;
	const uint64_t groups = (shape.nodes + capacity - 1) / capacity;
	const uint32_t bundles = bundles_of(per_group);

	if (groups <= bundles + 1 && groups <= MAX_GROUPS)
		return {};
	return count(shape.nodes, "node") + " need " + std::to_string(groups) + " groups of " +
	       count(per_group, "router") + ", but the " + count(bundles, "global cable") + " of a group reach only " +
	       std::to_string(std::min(bundles + 1, MAX_GROUPS)) + " groups, " +
	       std::to_string(std::min(bundles + 1, MAX_GROUPS) * capacity) +
	       " nodes: use fewer nodes or larger groups";
}

Dragonfly::Dragonfly(const DragonflyShape &shape)
	: nodes_(shape.nodes), slots_(or_default(shape.routers_per_chassis, MAX_ROUTERS_PER_CHASSIS)),
	  chassis_(or_default(shape.chassis_per_group, MAX_CHASSIS_PER_GROUP))
{
	const std::string reason = check(shape);

	if (!reason.empty())
		throw std::invalid_argument(reason);

	const uint32_t needed = div_up(nodes_, NICS_PER_ROUTER);
	const uint32_t full = slots_ * chassis_;

	groups_ = div_up(needed, full);
	group_routers_ = groups_ == 1 ? needed : full;
	routers_ = groups_ * group_routers_;
	bundles_between_ = groups_ == 1 ? 0 : bundles_of(full) / (groups_ - 1);
}

Place Dragonfly::router_place(uint32_t router) const noexcept
{
	const uint32_t in_group = router % group_routers_;

	return {router / group_routers_, in_group / slots_, in_group % slots_, 0};
}

Place Dragonfly::node_place(uint32_t node) const noexcept
{
	Place place = router_place(node / NICS_PER_ROUTER);

	place.nic = node % NICS_PER_ROUTER;
	return place;
}

uint32_t Dragonfly::router_at(uint32_t group, uint32_t chassis, uint32_t slot) const noexcept
{
	return group * group_routers_ + chassis * slots_ + slot;
}

uint32_t Dragonfly::node_at(const Place &place) const noexcept
{
	return router_at(place.group, place.chassis, place.slot) * NICS_PER_ROUTER + place.nic;
}

bool Dragonfly::router_exists(uint32_t group, uint32_t chassis, uint32_t slot) const noexcept
{
	return group < groups_ && slot < slots_ && chassis < chassis_ && chassis * slots_ + slot < group_routers_;
}

LinkEnd Dragonfly::far_green(uint32_t router, uint32_t port) const noexcept
{
	const Place at = router_place(router);
	const uint32_t slot = port < at.slot ? port : port + 1;

	if (!router_exists(at.group, at.chassis, slot))
		return {router, NO_TILE};
	return {router_at(at.group, at.chassis, slot), green_tile(slot, at.slot)};
}

LinkEnd Dragonfly::far_black(uint32_t router, uint32_t port) const noexcept
{
	const Place at = router_place(router);
	const uint32_t rank = port / BLACK_LINKS;
	const uint32_t chassis = rank < at.chassis ? rank : rank + 1;

	if (!router_exists(at.group, chassis, at.slot))
		return {router, NO_TILE};
	return {router_at(at.group, chassis, at.slot), black_tile(chassis, at.chassis, port % BLACK_LINKS)};
}

/*
 * Each pair of routers has five cables with two links of either; a last router without a partner has two cables of
 * its own. So a cable set that has one cable in each pair connects every router (T37).
 */
LinkEnd Dragonfly::bundle_end(uint32_t group, BundleLane at) const noexcept
{
	const uint32_t paired = group_routers_ / 2 * PAIR_BUNDLES;
	const uint32_t first = group * group_routers_;

	if (at.bundle >= paired) {
		const uint32_t port = (at.bundle - paired) * BUNDLE_LINKS + at.lane;

		return {first + group_routers_ - 1, FIRST_BLUE + port};
	}
	return {first + at.bundle / PAIR_BUNDLES * 2 + at.lane / 2,
		FIRST_BLUE + at.bundle % PAIR_BUNDLES * 2 + at.lane % 2};
}

bool Dragonfly::bundle_at(uint32_t router, uint32_t port, BundleLane &at) const noexcept
{
	const uint32_t in_group = router % group_routers_;

	if (in_group == group_routers_ - 1 && group_routers_ % 2) {
		at = {group_routers_ / 2 * PAIR_BUNDLES + port / BUNDLE_LINKS, port % BUNDLE_LINKS};
		return port / BUNDLE_LINKS < 2;
	}
	at = {in_group / 2 * PAIR_BUNDLES + port / 2, in_group % 2 * 2 + port % 2};
	return true;
}

/* Cables go round robin over the other groups, so that the links to one group are spread over all routers. */
LinkEnd Dragonfly::blue_link(uint32_t group, uint32_t peer, uint32_t link) const noexcept
{
	const uint32_t rank = peer < group ? peer : peer - 1;

	return bundle_end(group, {link / BUNDLE_LINKS * (groups_ - 1) + rank, link % BUNDLE_LINKS});
}

LinkEnd Dragonfly::far_blue(uint32_t router, uint32_t port) const noexcept
{
	BundleLane at{};

	if (groups_ == 1 || !bundle_at(router, port, at))
		return {router, NO_TILE};

	const uint32_t group = group_of(router);
	const uint32_t rank = at.bundle % (groups_ - 1);
	const uint32_t nth = at.bundle / (groups_ - 1);

	if (nth >= bundles_between_)
		return {router, NO_TILE};
	return blue_link(rank < group ? rank : rank + 1, group, nth * BUNDLE_LINKS + at.lane);
}

LinkEnd Dragonfly::far_end(uint32_t router, uint32_t tile) const noexcept
{
	if (router >= routers_ || tile >= NETWORK_TILES)
		return {router, NO_TILE};
	switch (tile_kind(tile)) {
	case TileKind::Green:
		return far_green(router, tile - FIRST_GREEN);
	case TileKind::Black:
		return far_black(router, tile - FIRST_BLACK);
	default:
		return far_blue(router, tile - FIRST_BLUE);
	}
}

} // namespace aries
