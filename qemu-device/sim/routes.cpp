// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
#include "routes.hpp"

#include <algorithm>

namespace aries::sim
{

namespace
{

using routing::TorusTables;
using topology::Machine;

bool is_torus(const Machine &machine)
{
	return &chip_of(machine) == &chip::GEMINI;
}

std::variant<routing::Built, TorusTables> build(const Machine &machine, const routing::Policy &policy,
						const routing::Failures &failures)
{
	if (is_torus(machine))
		return TorusTables(machine, static_cast<uint8_t>(Routes::channels(machine, policy)), failures);
	return routing::build_tables(machine, policy, failures);
}

/* Whether any way round a ring is cut; if none is, dimension order reaches every router. */
bool any_cut(const TorusTables &tables)
{
	for (uint32_t router = 0; router < tables.routers(); router++) {
		const routing::TorusRouter &at = tables.router(router);

		for (size_t axis = 0; axis < routing::TORUS_AXES; axis++) {
			for (uint32_t to = 0; to <= at.last[axis]; to++) {
				if (at.turn(axis, to) == routing::Turn::Cut)
					return true;
			}
		}
	}
	return false;
}

} // namespace

Routes::Routes(const Machine &machine, const routing::Policy &policy, const routing::Failures &failures)
	: built_(build(machine, policy, failures))
{
	const auto *torus = std::get_if<TorusTables>(&built_);

	if (!torus || (!torus->by_directions() && !any_cut(*torus)))
		return;

	std::vector<bool> out(torus->routers());

	for (const uint32_t router : failures.routers)
		out[router] = true;
	for (uint32_t from = 0; from < torus->routers(); from++) {
		bool reached = false, others = false;

		for (uint32_t to = 0; to < torus->routers() && !out[from]; to++) {
			if (to == from || out[to])
				continue;
			others = true;
			if (torus->reaches(to, from))
				reached = true;
			else
				cut_pairs_++;
		}
		cut_routers_ += others && !reached;
	}
}

std::string Routes::check(const Machine &machine, const routing::Policy &policy)
{
	if (machine.family == "aries" || machine.family == "dragonfly")
		return routing::check_tables(machine, policy);
	if (!is_torus(machine))
		return "a machine of family '" + machine.family +
		       "' cannot be simulated: packets and routes are those of Aries (families aries and dragonfly) "
		       "and of Gemini (torus)";

	const std::string broken = TorusTables::check(machine);

	if (broken.empty() && channels(machine, policy) > routing::TORUS_DATELINE_CHANNELS)
		return std::to_string(channels(machine, policy)) +
		       " channels of a class: a torus has 1, with bubble flow control, or 2, with a dateline";
	return broken;
}

uint32_t Routes::channels(const Machine &machine, const routing::Policy &policy) noexcept
{
	return policy.channels ? policy.channels : machine.router_type.request_channels;
}

TablesOf Routes::tables() const noexcept
{
	if (const auto *torus = std::get_if<TorusTables>(&built_))
		return torus;
	return &std::get<routing::Built>(built_).tables;
}

std::string Routes::lost(const Machine &machine) const
{
	if (const auto *built = std::get_if<routing::Built>(&built_))
		return built->whole() ? std::string() : built->lost(machine).front();
	if (!cut_pairs_)
		return {};
	return std::to_string(cut_pairs_) + " pairs of routers have no way";
}

size_t Routes::cut_routers() const noexcept
{
	const auto *built = std::get_if<routing::Built>(&built_);

	return built ? built->cut_routers.size() : cut_routers_;
}

size_t Routes::cut_groups() const noexcept
{
	const auto *built = std::get_if<routing::Built>(&built_);

	return built ? built->cut_groups.size() : cut_pairs_;
}

} // namespace aries::sim
