// SPDX-License-Identifier: GPL-2.0-or-later
#include "routes.hpp"

#include <algorithm>

#include "elite5_line.hpp"
#include "setup_clos.hpp"
#include "switch_records.hpp"

namespace aries::sim
{

namespace
{

using routing::ClosTables;
using routing::TorusTables;
using topology::Machine;

bool is_torus(const Machine &machine)
{
	return &chip_of(machine) == &chip::GEMINI;
}

/* Of Aries chips. */
bool is_clos(const Machine &machine)
{
	return machine.family == "clos";
}

/* Of Elite5 switches. */
bool is_qsnet(const Machine &machine)
{
	return &chip_of(machine) == &ELITE5_LINE;
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

Routes::Tables Routes::build(const Machine &machine, const routing::Policy &policy, const routing::Failures &failures)
{
	if (is_torus(machine))
		return TorusTables(machine, static_cast<uint8_t>(channels(machine, policy)), failures);
	if (is_clos(machine))
		return ClosTables(machine, ClosSetup::CHOICE, failures);
	if (is_qsnet(machine))
		return ClosTables(machine, {}, failures);
	return routing::build_tables(machine, policy, failures);
}

Routes::Routes(const Machine &machine, const routing::Policy &policy, const routing::Failures &failures)
	: built_(build(machine, policy, failures))
{
	if (const auto *torus = std::get_if<TorusTables>(&built_)) {
		if (torus->by_directions() || any_cut(*torus))
			count_cut(machine, failures,
				  [torus](uint32_t from, uint32_t to) { return torus->reaches(from, to); });
	} else if (const auto *clos = std::get_if<ClosTables>(&built_); clos && failures != routing::Failures{}) {
		count_cut(machine, failures,
			  [clos](uint32_t from, uint32_t to) { return clos->reaches(from, clos->router(to).here); });
	}
}

/* What routers with nodes do not reach, but for those that are out. */
template <typename Reaches>
void Routes::count_cut(const Machine &machine, const routing::Failures &failures, Reaches reaches)
{
	std::vector<bool> ends(machine.routers.size());

	for (const topology::NodePlace &node : machine.nodes)
		ends[node.router] = true;
	for (const uint32_t router : failures.routers)
		ends[router] = false;
	for (uint32_t to = 0; to < ends.size(); to++) {
		bool reached = false, others = false;

		for (uint32_t from = 0; from < ends.size() && ends[to]; from++) {
			if (from == to || !ends[from])
				continue;
			others = true;
			if (reaches(from, to))
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
	if (is_clos(machine)) {
		if (channels(machine, policy) > 1)
			return std::to_string(channels(machine, policy)) +
			       " channels of a class: a Clos has 1, for no packet goes up after it has gone down";
		return ClosTables::check(machine);
	}
	if (is_qsnet(machine)) {
		std::string broken = ClosTables::check(machine);

		return broken.empty() && channels(machine, policy) > LINK_CHANNELS
			       ? std::to_string(channels(machine, policy)) + " channels of a link: QsNetIII has 1 to " +
					 std::to_string(LINK_CHANNELS)
			       : broken;
	}
	if (!is_torus(machine))
		return "a machine of family '" + machine.family +
		       "' cannot be simulated: packets and routes are those of Aries (families aries, dragonfly and "
		       "clos), of Gemini (torus), or of QsNetIII (qsnet)";

	std::string broken = TorusTables::check(machine);

	if (broken.empty() && channels(machine, policy) > routing::TORUS_DATELINE_CHANNELS)
		return std::to_string(channels(machine, policy)) +
		       " channels of a class: a torus has 1, with bubble flow control, or 2, with a dateline";
	return broken;
}

uint32_t Routes::channels(const Machine &machine, const routing::Policy &policy) noexcept
{
	if (policy.channels)
		return policy.channels;
	return is_clos(machine) ? 1 : machine.router_type.request_channels;
}

TablesOf Routes::tables() const noexcept
{
	if (const auto *torus = std::get_if<TorusTables>(&built_))
		return torus;
	if (const auto *clos = std::get_if<ClosTables>(&built_))
		return clos;
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
