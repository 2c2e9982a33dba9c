/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a collective engine can still get what it waits for. */
#ifndef ARIES_NIC_CE_LOSSES_HPP
#define ARIES_NIC_CE_LOSSES_HPP

#include "nic/engines/ce_edges.hpp"

namespace aries
{

/** Finds nodes, processes and neighbours that an engine has lost. */
class CeLosses
{
public:
	CeLosses(Core &core, const CeEdges &edges) noexcept : core_(core), edges_(edges) {}

	/** Whether an engine can no longer get what the engine waits for. */
	bool lost(CePlace at, CeSlot &ce, uint64_t now) noexcept;

private:
	bool instance_lost(CeSlot &ce, uint32_t index, uint32_t key, uint64_t now) noexcept;
	bool find_instance(CeSlot &ce, uint32_t index, uint32_t key) noexcept;
	bool node_lost(uint32_t node, uint32_t generation, uint64_t now) noexcept;

	Core &core_;
	const CeEdges &edges_;
};

} // namespace aries

#endif
