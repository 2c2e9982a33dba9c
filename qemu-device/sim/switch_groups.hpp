// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * The tree of broadcasts of a QsNetIII machine, and the outputs of the group of each job that has some (Q26, Q32). When
 * what the tree is made of fails, another one takes its place.
 */
#ifndef ARIES_SIM_SWITCH_GROUPS_HPP
#define ARIES_SIM_SWITCH_GROUPS_HPP

#include <memory>
#include <vector>

#include "router/clos_tree.hpp"
#include "traffic.hpp"

namespace aries::sim
{

class SwitchGroups
{
public:
	/** @param nodes of each job, none for one without broadcasts */
	SwitchGroups(const topology::Machine &machine, const routing::Failures &failures,
		     const std::vector<std::vector<uint32_t>> &nodes);

	const routing::ClosTree &tree() const noexcept { return tree_; }

	/** The outputs of a job's group; null if it has none, or if not all of its nodes are below the tree's root. */
	const routing::ClosGroup *of(uint32_t job) const noexcept { return groups_[job].get(); }

	/** Nodes of jobs with broadcasts or barriers; empty if there is no such job. */
	static std::vector<std::vector<uint32_t>> nodes_of(const Workload &workload);

private:
	routing::ClosTree tree_;
	std::vector<std::unique_ptr<routing::ClosGroup>> groups_;
};

} // namespace aries::sim

#endif
