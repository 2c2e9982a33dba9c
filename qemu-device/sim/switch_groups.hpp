// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The tree of broadcasts of a QsNetIII machine, and the outputs of the group of each job that has some (Q26, Q32). When
 * a router or link of the tree fails, another tree takes its place.
 */
#ifndef ARIES_SIM_SWITCH_GROUPS_HPP
#define ARIES_SIM_SWITCH_GROUPS_HPP

#include <memory>
#include <span>
#include <vector>

#include "router/clos_tree.hpp"
#include "traffic.hpp"

namespace aries::sim
{

class SwitchGroups
{
public:
	/**
	 * @param nodes of each job, none for one without broadcasts
	 * @param cut places of nodes that have another one, to which no link works
	 * @param version another one for each tree
	 */
	SwitchGroups(const topology::Machine &machine, const routing::Failures &failures,
		     const std::vector<std::vector<uint32_t>> &nodes, std::span<const topology::NodePlace> cut,
		     uint32_t version);

	const routing::ClosTree &tree() const noexcept { return tree_; }

	/**
	 * The bits of the version that a packet carries. A packet that some routers send on by another tree could miss
	 * a member and still be answered; so routers refuse a packet of another version.
	 */
	uint8_t mark() const noexcept { return version_ & 15; }
	uint32_t version() const noexcept { return version_; }

	/** The outputs of a job's group; null if it has none, or if not all of its nodes are below the tree's root. */
	const routing::ClosGroup *of(uint32_t job) const noexcept { return groups_[job].get(); }

	/** Nodes of jobs with broadcasts or barriers; empty if there is no such job. */
	static std::vector<std::vector<uint32_t>> nodes_of(const Workload &workload);

private:
	uint32_t version_;
	routing::ClosTree tree_;
	std::vector<std::unique_ptr<routing::ClosGroup>> groups_;
};

} // namespace aries::sim

#endif
