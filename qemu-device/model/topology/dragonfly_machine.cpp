// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/dragonfly_machine.hpp"

#include "topology/build_aries.hpp"

namespace aries::topology
{

Machine machine_of(const Dragonfly &dragonfly)
{
	/* Of the smallest machine there is only what all machines of Aries routers have in common. */
	Machine machine = build_aries({.groups = 1, .chassis = 1, .slots = 1});

	machine.name = "dragonfly";
	machine.groups = dragonfly.groups();
	machine.routers.clear();
	machine.links.clear();
	machine.nodes.clear();
	for (uint32_t router = 0; router < dragonfly.routers(); router++) {
		const Place at = dragonfly.router_place(router);

		machine.routers.push_back(
			{at.group, {static_cast<uint16_t>(at.chassis), static_cast<uint16_t>(at.slot), 0}});
		for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
			const aries::LinkEnd far = dragonfly.far_end(router, tile);

			if (far.tile == NO_TILE || far.router < router || (far.router == router && far.tile <= tile))
				continue;
			const auto kind = static_cast<uint8_t>(tile_kind(tile));

			machine.links.push_back({{{router, tile}, {far.router, far.tile}},
						 kind,
						 LANES,
						 static_cast<float>(machine.classes[kind].default_length_m),
						 NO_CABLE});
		}
	}
	for (uint32_t node = 0; node < dragonfly.nodes(); node++)
		machine.nodes.push_back({node / NICS_PER_ROUTER, node % NICS_PER_ROUTER});
	return machine;
}

} // namespace aries::topology
