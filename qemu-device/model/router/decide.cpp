// SPDX-License-Identifier: GPL-2.0-or-later
/* The rare part of a decision: roots in a damaged machine, in a small group, or under RootRule::Group. */
#include "router/decide.hpp"

namespace aries::routing
{

namespace
{

constexpr uint32_t DRAWS = 16; // then in turn, which is not quite uniform

/* The nth entry of the non-minimal table, local or global, as the rule reads it. */
Address nth_root(const RouterTables &at, Address to, bool third_group, uint32_t nth) noexcept
{
	if (to.group == at.here.group)
		return {to.group, at.roots[nth]};

	const Address root = at.common->roots[nth];

	return third_group ? Address{root.group, ANY_ROUTER} : root;
}

} // namespace

bool root_serves(const RouterTables &at, Address to, Address root) noexcept
{
	const bool is_here = is_root(at.here, root);
	const bool is_there = is_root(to, root);

	if (is_here || is_there || !minimal_entry(at, root).count)
		return false;
	return root.group == to.group || at.common->linked(root.group, to.group);
}

Address search_root(const RouterTables &at, Address to, Address other, uint32_t random) noexcept
{
	const Common &net = *at.common;
	const bool inside = to.group == at.here.group;
	const bool third_group = net.root_rule == RootRule::Group && net.groups > 2 && !inside;
	const auto count = inside ? at.root_count : static_cast<uint32_t>(net.roots.size());

	for (uint32_t draw = 0; count && draw < DRAWS; draw++) {
		const Address root = nth_root(at, to, third_group, pick_of(random, count));

		if (root != other && root_serves(at, to, root))
			return root;
		random = static_cast<uint32_t>(mix64(random + (uint64_t{draw + 1} << 32)));
	}
	for (uint32_t i = 0, first = pick_of(random, count); i < count; i++) {
		const Address root = nth_root(at, to, third_group, (first + i) % count);

		if (root != other && root_serves(at, to, root))
			return root;
	}
	return NO_ROOT;
}

} // namespace aries::routing
