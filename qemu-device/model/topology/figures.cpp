// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/figures.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>

namespace aries::topology
{

namespace
{

constexpr uint32_t MOST_GROUPS_TRIED = 16;

/* Counts links one by one; a cable counts once, when its number is seen first. */
class Counter
{
public:
	explicit Counter(const Machine &machine) : machine_(machine)
	{
		uint32_t most = 0;

		for (const Link &link : machine.links) {
			if (link.cable != NO_CABLE)
				most = std::max(most, link.cable + 1);
		}
		seen_.resize(most);
	}

	void add(ClassCount &count, const Link &link)
	{
		count.links++;
		count.lanes += link.lanes;
		count.gbyte_per_s += machine_.gbyte_per_s(link);
		if (link.cable == NO_CABLE || seen_[link.cable])
			return;
		seen_[link.cable] = true;
		count.cables++;
		count.length_of_cables += link.length_m;
	}

private:
	const Machine &machine_;
	std::vector<bool> seen_;
};

std::vector<bool> side_of_groups(const Machine &machine, const std::vector<bool> &chosen)
{
	std::vector<bool> side;

	side.reserve(machine.routers.size());
	for (const RouterPlace &place : machine.routers)
		side.push_back(chosen[place.group]);
	return side;
}

/* GB/s between each two groups, row by row. */
std::vector<double> between_groups(const Machine &machine)
{
	std::vector<double> matrix(size_t{machine.groups} * machine.groups);

	for (const Link &link : machine.links) {
		const uint32_t a = machine.routers[link.end[0].router].group;
		const uint32_t b = machine.routers[link.end[1].router].group;
		const double rate = machine.gbyte_per_s(link);

		if (a == b)
			continue;
		matrix[size_t{a} * machine.groups + b] += rate;
		matrix[size_t{b} * machine.groups + a] += rate;
	}
	return matrix;
}

double crossing(const std::vector<double> &matrix, const std::vector<bool> &chosen)
{
	double sum = 0;

	for (size_t a = 0; a < chosen.size(); a++) {
		for (size_t b = 0; b < chosen.size(); b++)
			sum += chosen[a] && !chosen[b] ? matrix[a * chosen.size() + b] : 0;
	}
	return sum;
}

/* Calls @p with each half that is tried. */
template <typename Function> void each_half(uint32_t groups, Function with)
{
	std::vector<bool> chosen(groups);

	if (groups > MOST_GROUPS_TRIED) {
		for (uint32_t group = 0; group < groups; group++)
			chosen[group] = group >= (groups + 1) / 2;
		with(chosen);
		return;
	}
	for (uint32_t bits = 0; bits < 1u << groups; bits++) {
		if (static_cast<uint32_t>(std::popcount(bits)) != groups / 2)
			continue;
		for (uint32_t group = 0; group < groups; group++)
			chosen[group] = bits >> group & 1;
		with(chosen);
	}
}

std::string names(const std::vector<bool> &chosen)
{
	std::string text = "groups";

	for (const bool side : {false, true}) {
		for (size_t group = 0; group < chosen.size(); group++)
			text += chosen[group] == side ? " " + std::to_string(group) : "";
		text += side ? "" : " |";
	}
	return text;
}

Bisection bisection_of_groups(const Machine &machine)
{
	const std::vector<double> matrix = between_groups(machine);
	double least = std::numeric_limits<double>::infinity();
	std::vector<bool> worst;

	each_half(machine.groups, [&](const std::vector<bool> &chosen) {
		const double sum = crossing(matrix, chosen);

		if (sum < least) {
			least = sum;
			worst = chosen;
		}
	});
	return {cut_between(machine, side_of_groups(machine, worst)), names(worst)};
}

} // namespace

std::vector<ClassCount> count_classes(const Machine &machine)
{
	std::vector<ClassCount> counts(machine.classes.size());
	Counter counter(machine);

	for (const Link &link : machine.links)
		counter.add(counts[link.link_class], link);
	return counts;
}

Cut cut_between(const Machine &machine, const std::vector<bool> &side)
{
	Cut cut;
	Counter all(machine);
	Counter one(machine);

	cut.by_class.resize(machine.classes.size());
	for (const Link &link : machine.links) {
		if (side[link.end[0].router] == side[link.end[1].router])
			continue;
		all.add(cut.total, link);
		one.add(cut.by_class[link.link_class], link);
	}
	for (const NodePlace &node : machine.nodes)
		cut.nodes[side[node.router]]++;
	return cut;
}

std::vector<bool> upper_half(const Machine &machine, size_t axis)
{
	std::vector<bool> side;
	uint32_t most = 0;

	for (const RouterPlace &place : machine.routers)
		most = std::max<uint32_t>(most, place.at[axis]);
	side.reserve(machine.routers.size());
	for (const RouterPlace &place : machine.routers)
		side.push_back(place.at[axis] >= (most + 2) / 2);
	return side;
}

std::vector<Bisection> axis_bisections(const Machine &machine)
{
	std::vector<Bisection> result;

	for (size_t axis = 0; axis < machine.axes.size(); axis++) {
		Cut cut = cut_between(machine, upper_half(machine, axis));

		if (cut.nodes[0] && cut.nodes[1])
			result.push_back({std::move(cut), machine.axes[axis]});
	}
	return result;
}

Bisection bisection(const Machine &machine)
{
	if (machine.groups > 1)
		return bisection_of_groups(machine);

	std::vector<Bisection> cuts = axis_bisections(machine);

	if (cuts.empty())
		return {cut_between(machine, std::vector<bool>(machine.routers.size())), "nothing to cut"};
	return *std::min_element(cuts.begin(), cuts.end(), [](const Bisection &a, const Bisection &b) {
		return a.cut.total.gbyte_per_s < b.cut.total.gbyte_per_s;
	});
}

double global_gbyte_per_s(const Machine &machine)
{
	double sum = 0;

	for (const Link &link : machine.links) {
		const LinkClass &cls = machine.classes[link.link_class];

		sum += cls.scope == Scope::Global ? machine.gbyte_per_s(link) * 2 : 0;
	}
	return sum;
}

double stages_gbyte_per_s(const Machine &machine)
{
	std::vector<double> up;

	for (const Link &link : machine.links) {
		const uint16_t a = machine.routers[link.end[0].router].at[0];
		const uint16_t b = machine.routers[link.end[1].router].at[0];
		const size_t stage = std::min(a, b);

		up.resize(std::max(up.size(), stage + 1));
		up[stage] += machine.gbyte_per_s(link) * (a == b ? 2 : 1);
	}
	return up.empty() ? 0 : *std::min_element(up.begin(), up.end());
}

double global_gbyte_per_s_per_node(const Machine &machine)
{
	return machine.nodes.empty() ? 0 : global_gbyte_per_s(machine) / static_cast<double>(machine.nodes.size());
}

double local_to_global(const Machine &machine)
{
	double local = 0;
	double global = 0;

	for (const Link &link : machine.links) {
		const LinkClass &cls = machine.classes[link.link_class];

		(cls.scope == Scope::Local ? local : global) += machine.gbyte_per_s(link);
	}
	return global > 0 ? local / global : std::numeric_limits<double>::infinity();
}

double share_that_stays(const Machine &machine, size_t link_class)
{
	std::set<std::pair<uint32_t, uint32_t>> neighbours;

	for (const Link &link : machine.links) {
		if (link.link_class != link_class)
			continue;
		neighbours.insert({link.end[0].router, link.end[1].router});
		neighbours.insert({link.end[1].router, link.end[0].router});
	}

	const auto routers = static_cast<double>(machine.routers.size());

	return routers / (routers + static_cast<double>(neighbours.size()));
}

} // namespace aries::topology
