/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Edges between the engines of a tree: how they are made, how they break (N21 to N24). */
#ifndef ARIES_NIC_CE_EDGES_HPP
#define ARIES_NIC_CE_EDGES_HPP

#include "nic/engines/ce_state.hpp"

namespace aries
{

/** An edge names the configurations of the two engines at its ends. */
class CeEdges
{
public:
	explicit CeEdges(Core &core) noexcept : core_(core) {}

	/** Our engine has been enabled: makes the edges to the neighbours that are. */
	void make(uint32_t engine) noexcept;
	/** Whether an engine has lost its parent or one of its children that are engines. */
	bool neighbours_lost(CePlace at, const CeSlot &ce, uint64_t now) const noexcept;
	/** Our engine is about to leave its tree: what waits for the engine elsewhere is ended by the next sweep. */
	void mark_neighbours(uint32_t engine) noexcept;
	/** The tree of the configuration @serial is of no more use. Without the lock: a stopped member may have it. */
	static void mark(CeSlot &ce, uint32_t serial) noexcept;
	/** As mark() of a slot, for the present configuration of an engine that is enabled. */
	void mark(CePlace at) noexcept;

private:
	CeSlot &slot(CePlace at) const noexcept
	{
		return core_.segment.node(at.node).ce[at.engine % ARIES_CE_CHANNELS];
	}
	bool edge_lost(const CeSlot &ce, const CeSlot &neighbour, uint32_t edge) const noexcept;
	bool far_neighbour_lost(const CeSlot &ce, const CeSlot &neighbour, uint64_t now) const noexcept;

	Core &core_;
};

} // namespace aries

#endif
