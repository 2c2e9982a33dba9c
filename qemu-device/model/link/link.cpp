// SPDX-License-Identifier: GPL-2.0-or-later
#include "link/link.hpp"

namespace aries
{

namespace
{

constexpr std::array<uint64_t, LANES + 1> factors(Medium medium)
{
	std::array<uint64_t, LANES + 1> out{};

	for (uint32_t lanes = 1; lanes <= LANES; lanes++)
		out[lanes] = flit_factor(medium, lanes);
	out[0] = out[1];
	return out;
}

constexpr std::array<std::array<uint64_t, LANES + 1>, 3> FACTORS{
	factors(Medium::Electrical),
	factors(Medium::Optical),
	factors(Medium::Processor),
};

} // namespace

uint64_t factor_of(Medium medium, uint32_t lanes) noexcept
{
	return FACTORS[static_cast<size_t>(medium)][std::min(lanes, LANES)];
}

const char *link_state_name(const TileState &tile) noexcept
{
	if (!link_up(tile))
		return "down";
	return link_lanes(tile) < LANES ? "degraded" : "up";
}

} // namespace aries
