// SPDX-License-Identifier: GPL-2.0-or-later
#include "netlink/detours.hpp"

#include <algorithm>

#include "router/routing_mode.hpp"

namespace aries
{

/* Breadth first and backwards, from the target: the first way that gets to a router is a shortest one. */
bool Detours::search(uint32_t from, uint32_t to, uint32_t random) noexcept
{
	const uint32_t turn = pick_of(random, NETWORK_TILES);
	uint32_t begin = 0, end = 0;

	std::fill(towards_.begin(), towards_.end(), NOT_SEEN);
	towards_[to] = 0;
	queue_[end++] = to;
	while (begin < end && towards_[from] == NOT_SEEN) {
		const uint32_t router = queue_[begin++];

		for (uint32_t i = 0; i < NETWORK_TILES; i++) {
			const topology::LinkEnd far = wiring_.far_end(router, (turn + i) % NETWORK_TILES);

			if (far.tile == topology::NOT_CONNECTED || towards_[far.router] != NOT_SEEN ||
			    !link_up(states_.look(link_id(far.router, far.tile))))
				continue;
			towards_[far.router] = link_id(far.router, far.tile);
			queue_[end++] = far.router;
		}
	}
	return towards_[from] != NOT_SEEN;
}

} // namespace aries
