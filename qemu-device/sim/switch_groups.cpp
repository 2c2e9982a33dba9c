// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
#include "switch_groups.hpp"

#include <algorithm>

namespace aries::sim
{

SwitchGroups::SwitchGroups(const topology::Machine &machine, const routing::Failures &failures,
			   const std::vector<std::vector<uint32_t>> &nodes)
	: tree_(machine, failures), groups_(nodes.size())
{
	for (size_t job = 0; job < nodes.size(); job++) {
		const auto below = [this, &machine](uint32_t node) { return tree_.has(machine.nodes[node].router); };

		if (!nodes[job].empty() && std::all_of(nodes[job].begin(), nodes[job].end(), below))
			groups_[job] = std::make_unique<routing::ClosGroup>(machine, tree_, nodes[job]);
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
