/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collective engines whose neighbours live on other hosts. */
#ifndef ARIES_GATEWAY_ENGINES_HPP
#define ARIES_GATEWAY_ENGINES_HPP

#include <mutex>
#include <vector>

#include "gateway/messages.hpp"
#include "nic/engines/ce.hpp"

namespace aries
{

/**
 * News of engines, and of the processes that collectives rely on, between hosts. The state of other hosts' engines is
 * kept in the slots of the carried nodes, where sweeps and members that enable engines find it.
 *
 * For two engines on two hosts, the parent's host decides whether there is an edge (CeEdges::make()), and the child's
 * host follows.
 */
class Engines
{
public:
	explicit Engines(Core &core);

	/** Adds to @news the changes of engines of our node @node that were not sent yet; with @all, the state of all
	 * its engines. */
	void look(uint32_t node, bool all, std::vector<EngineNews> &news);
	/** The same for its processes. */
	void look(uint32_t node, bool all, std::vector<InstanceNews> &news);
	/** Whether news of an existing node is valid. */
	bool sound(const EngineNews &news) const noexcept;
	static bool sound(const InstanceNews &news) noexcept;
	/** Stores news of a node that we carry and whose engines have neighbours here. One thread at a time. */
	void show(const EngineNews &news) noexcept;
	void show(const InstanceNews &news) noexcept;
	/** Breaks engines whose neighbour has disappeared without a successor. Called regularly, on any thread. */
	void sweep(uint64_t now) noexcept;

private:
	/* An edge of one of our engines that the other host did not know yet. */
	struct Cleared {
		CePlace above;
		uint32_t index, serial;
		uint64_t due;
	};

	void expect_successor(CePlace at, const EngineNews &news) noexcept;
	void clear_edge(CePlace at, uint32_t index, uint32_t serial, uint32_t edge) noexcept;
	CeSlot &slot(CePlace at) const noexcept { return core_.segment.node(at.node).ce[at.engine]; }
	CeSlot *ours(CePlace at) const noexcept;
	void end_parent_edge(CePlace at, const EngineNews &news) noexcept;
	void end_child_edges(CePlace at, const EngineNews &news) noexcept;
	void make_parent_edge(CePlace at, const EngineNews &news) noexcept;
	void make_child_edges(CePlace at, const EngineNews &news) noexcept;

	Core &core_;
	std::mutex mutex_; /* protects cleared_ */
	std::vector<Cleared> cleared_;
	std::vector<EngineNews> told_;        /* of all engines of all nodes */
	std::vector<InstanceNews> told_inst_; /* of all processes */
};

} // namespace aries

#endif
