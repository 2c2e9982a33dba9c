// SPDX-License-Identifier: GPL-2.0-or-later
#include "link/link.hpp"

namespace aries
{

const char *link_state_name(const TileState &tile) noexcept
{
	if (!link_up(tile))
		return "down";
	return link_lanes(tile) < LANES ? "degraded" : "up";
}

} // namespace aries
