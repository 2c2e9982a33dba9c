// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/wiring.hpp"

namespace aries::topology
{

Wiring::Wiring(const Machine &machine)
	: tiles_(static_cast<uint32_t>(machine.router_type.tiles.size())), nics_(machine.router_type.nics),
	  routers_(static_cast<uint32_t>(machine.routers.size())), far_(size_t{routers_} * tiles_),
	  link_(size_t{routers_} * tiles_, NO_LINK), group_routers_(routers_), group_first_(machine.groups + size_t{1}),
	  node_(size_t{routers_} * nics_, NO_NODE)
{
	group_of_.reserve(routers_);
	for (uint32_t router = 0; router < routers_; router++) {
		const uint32_t group = machine.routers[router].group;

		group_of_.push_back(group);
		group_first_[group + 1]++;
		for (uint32_t tile = 0; tile < tiles_; tile++)
			far_[index(router, tile)] = {router, NOT_CONNECTED};
	}
	for (size_t group = 1; group < group_first_.size(); group++)
		group_first_[group] += group_first_[group - 1];

	std::vector<uint32_t> next(group_first_.begin(), group_first_.end() - 1);

	for (uint32_t router = 0; router < routers_; router++)
		group_routers_[next[group_of_[router]]++] = router;

	for (uint32_t number = 0; number < machine.links.size(); number++) {
		for (int side = 0; side < 2; side++) {
			const LinkEnd near = machine.links[number].end[side];

			far_[index(near.router, near.tile)] = machine.links[number].end[1 - side];
			link_[index(near.router, near.tile)] = number;
		}
	}
	for (uint32_t node = 0; node < machine.nodes.size(); node++)
		node_[size_t{machine.nodes[node].router} * nics_ + machine.nodes[node].nic] = node;
	for (const FurtherPlace &place : machine.further)
		node_[size_t{place.at.router} * nics_ + place.at.nic] = place.node;
}

size_t Wiring::bytes() const noexcept
{
	return far_.capacity() * sizeof(LinkEnd) +
	       (link_.capacity() + group_of_.capacity() + group_routers_.capacity() + group_first_.capacity() +
		node_.capacity()) *
		       sizeof(uint32_t);
}

} // namespace aries::topology
