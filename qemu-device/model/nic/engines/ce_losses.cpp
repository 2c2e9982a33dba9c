/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes, processes and neighbours that a collective engine has lost. */
#include "nic/engines/ce_losses.hpp"
#include "nic/target/visit.hpp"

namespace aries
{

bool CeLosses::node_lost(uint32_t node, uint32_t generation, uint64_t now) noexcept
{
	return reachable(core_, node, now) != ARIES_ST_OK || core_.segment.node(node).generation.load() != generation;
}

/* Looks for the process that is child @index of an engine whose domain has @key, and remembers where it is. */
bool CeLosses::find_instance(CeSlot &ce, uint32_t index, uint32_t key) noexcept
{
	const uint64_t child = ce.child[index].load();
	const NodeSlot &node = core_.segment.node(ce_child_place(child).node);

	for (uint32_t i = 0; i < ARIES_CE_INSTANCES; i++) {
		const uint64_t word = node.ce_instance[i].load();

		if (!(word & ARIES_CE_INST_VALID_MASK) ||
		    field(word, ARIES_CE_INST_INST_MASK) != field(child, ARIES_CE_CHILD_INST_MASK))
			continue;
		const uint64_t its = ecc_shown(node.ptag_key[field(word, ARIES_CE_INST_PTAG_MASK)].load(), PTAG_ECC);

		if (!(its & ARIES_PTAG_KEY_VALID_MASK) || field(its, ARIES_PTAG_KEY_KEY_MASK) != key)
			continue;
		ce.place[index].store(i);
		ce.instance[index].store(word);
		return true;
	}
	return false;
}

/* One that has never been seen gets some time to come: processes are started one by one. */
bool CeLosses::instance_lost(CeSlot &ce, uint32_t index, uint32_t key, uint64_t now) noexcept
{
	const uint64_t seen = ce.instance[index].load();

	if (!seen)
		return !find_instance(ce, index, key) &&
		       now > ce.enabled_ns.load() + CE_ABSENT_LEASES * core_.members.lease_ns();
	const NodeSlot &node = core_.segment.node(ce_child_place(ce.child[index].load()).node);

	return node.ce_instance[ce.place[index].load() % ARIES_CE_INSTANCES].load() != seen;
}

bool CeLosses::lost(CePlace at, CeSlot &ce, uint64_t now) noexcept
{
	const uint64_t parent = ce.parent.load();
	const uint64_t ctl = ce.ctl.load();
	const uint64_t children = field(ctl, ARIES_CE_CTL_CHILDREN_MASK);
	/* Wrong bits are for contributions to find. */
	const uint64_t key =
		ecc_shown(core_.segment.node(at.node).ptag_key[field(ctl, ARIES_CE_CTL_PTAG_MASK)].load(), PTAG_ECC);
	/* While an outcome is on its way nobody waits: who has it may go. */
	const bool settled = !ce.owed.load() && !ce.delivering.load();

	if (target_state(core_, at.node, now) != ARIES_ST_OK)
		return true;
	for (uint32_t i = 0; i < children && i < ARIES_CE_CHILDREN; i++) {
		const uint64_t child = ce.child[i].load();

		if (node_lost(ce_child_place(child).node, ce.child_generation[i].load(), now))
			return true;
		if (settled && (child & ARIES_CE_CHILD_INST_VALID_MASK) &&
		    instance_lost(ce, i, uint32_t(field(key, ARIES_PTAG_KEY_KEY_MASK)), now))
			return true;
	}
	return ((parent & ARIES_CE_PARENT_VALID_MASK) &&
		node_lost(ce_parent_place(parent).node, ce.parent_generation.load(), now)) ||
	       edges_.neighbours_lost(at, ce, now);
}

} // namespace aries
