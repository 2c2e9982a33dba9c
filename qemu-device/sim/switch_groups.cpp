// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch_groups.hpp"

#include <algorithm>

namespace aries::sim
{

SwitchGroups::SwitchGroups(const topology::Machine &machine, const routing::Failures &failures,
			   const std::vector<std::vector<uint32_t>> &nodes, std::span<const topology::NodePlace> cut,
			   uint32_t version)
	: version_(version), tree_(machine, failures), groups_(nodes.size())
{
	std::vector<bool> below(machine.nodes.size());

	for (size_t node = 0; node < below.size(); node++)
		below[node] = tree_.has(machine.nodes[node].router);
	for (const topology::FurtherPlace &place : machine.further)
		below[place.node] = below[place.node] || tree_.has(place.at.router);
	for (size_t job = 0; job < nodes.size(); job++) {
		if (!nodes[job].empty() &&
		    std::all_of(nodes[job].begin(), nodes[job].end(), [&below](uint32_t node) { return below[node]; }))
			groups_[job] = std::make_unique<routing::ClosGroup>(machine, tree_, nodes[job], cut);
	}
}

std::vector<std::vector<uint32_t>> SwitchGroups::nodes_of(const Workload &workload)
{
	std::vector<std::vector<uint32_t>> nodes(workload.jobs.size());

	for (size_t job = 0; job < nodes.size(); job++) {
		if (is_group(workload.jobs[job]))
			nodes[job] = workload.jobs[job].nodes;
	}
	return std::any_of(nodes.begin(), nodes.end(), [](const auto &of_job) { return !of_job.empty(); })
		       ? nodes
		       : std::vector<std::vector<uint32_t>>();
}

} // namespace aries::sim
