// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Collective engines (N21 to N24), as in the device: hosts contribute operands, an engine combines the operands of its
 * host and children and sends the result to its parent's engine, and the root's engine sends the final result down. A
 * node without children uses no engine: its host contributes to the parent's engine. Nothing here depends on the order
 * of events in a cycle, as operands are only counted.
 */
#ifndef ARIES_SIM_TILED_CE_HPP
#define ARIES_SIM_TILED_CE_HPP

#include "tiled_part.hpp"

namespace aries::sim
{

template <typename Setup> void TiledPart<Setup>::begin_collectives()
{
	if (!traffic_.collectives())
		return;
	engines_.resize(nics_.size());
	statistics_.collectives.resize(traffic_.jobs());
	for (uint32_t slot = 0; slot < nics_.size(); slot++) {
		if (nics_[slot].node != NO_PLACE && traffic_.collective_of(nics_[slot].node))
			plan_operation(slot);
	}
}

template <typename Setup> CollectiveCounts &TiledPart<Setup>::collective_counts(uint32_t node)
{
	return statistics_.collectives[traffic_.job_of(node)];
}

template <typename Setup> void TiledPart<Setup>::plan(uint32_t slot, Step step, uint32_t cycles)
{
	plans_.push({now_ + cycles, slot, step});
	unfinished_plans_ += step != Step::Begin;
}

/* The host computes, then begins. */
template <typename Setup> void TiledPart<Setup>::plan_operation(uint32_t slot)
{
	const uint32_t node = nics_[slot].node;
	const Traffic::Collective &collective = *traffic_.collective_of(node);

	plan(slot, Step::Begin,
	     collective.compute + (traffic_.rank_of(node) == collective.slow_rank ? collective.slow : 0));
}

/* What hosts and engines have planned for this cycle. */
template <typename Setup> void TiledPart<Setup>::take_plans()
{
	while (!plans_.empty() && plans_.top().cycle <= now_) {
		const Plan plan = plans_.top();

		plans_.pop();
		unfinished_plans_ -= plan.step != Step::Begin;
		if (!engines_[plan.slot].gone)
			carry_out(plan);
	}
}

template <typename Setup> void TiledPart<Setup>::carry_out(const Plan &of)
{
	Engine &engine = engines_[of.slot];
	const uint32_t node = nics_[of.slot].node;
	const Traffic::Collective &collective = *traffic_.collective_of(node);
	const bool leaf = collective.tree.children(traffic_.rank_of(node)).empty();

	switch (of.step) {
	case Step::Begin:
		if (now_ >= end_due_)
			return;
		engine.began = now_;
		collective_counts(node).begin(engine.operation, now_);
		plan(of.slot, Step::Operand,
		     layout_.cycles_of(uint64_t{collective.processes - 1} * parameters_.ce_process_ns) +
			     parameters_.ce_host_cycles + parameters_.ce_nic_cycles);
		return;
	case Step::Operand:
		if (leaf)
			send_up(of.slot);
		else
			take_operand(of.slot);
		return;
	case Step::Combined:
		if (traffic_.rank_of(node))
			send_up(of.slot);
		else
			send_down(of.slot);
		return;
	case Step::Result:
		send_down(of.slot);
		return;
	case Step::End:
		collective_counts(node).end(engine.operation, now_);
		engine.operation++;
		plan_operation(of.slot);
		return;
	}
}

/* An operand of the host or of a child. Operands are added in the order of arrival, one at a time. */
template <typename Setup> void TiledPart<Setup>::take_operand(uint32_t slot)
{
	Engine &engine = engines_[slot];
	const uint32_t node = nics_[slot].node;
	const size_t children = traffic_.collective_of(node)->tree.children(traffic_.rank_of(node)).size();

	engine.free = std::max(engine.free, now_) + parameters_.ce_operand_cycles;
	if (++engine.arrived <= children)
		return;
	engine.arrived = 0;
	plan(slot, Step::Combined, engine.free - now_ + parameters_.ce_nic_cycles);
}

template <typename Setup> void TiledPart<Setup>::send_up(uint32_t slot)
{
	engines_[slot].up = true;
	send_of_engine(slot);
}

/* The result is known in this NIC. The host gets it some time later; the children get one packet after the other. */
template <typename Setup> void TiledPart<Setup>::send_down(uint32_t slot)
{
	const uint32_t node = nics_[slot].node;
	const size_t children = traffic_.collective_of(node)->tree.children(traffic_.rank_of(node)).size();

	plan(slot, Step::End, parameters_.ce_host_cycles + (children ? parameters_.ce_nic_cycles : 0));
	engines_[slot].owed = static_cast<uint8_t>(children);
	if (children)
		send_of_engine(slot);
}

/* An engine has nothing else to send: results have gone to all children before one of them contributes again. */
template <typename Setup> void TiledPart<Setup>::send_of_engine(uint32_t slot)
{
	const uint32_t router = slot / layout_.nics;

	engines_[slot].ready = now_;
	next_of_engine(nics_[slot]);
	list(nic_check_[router], list_nic_, router);
}

/* A packet of the tree has come to its NIC. */
template <typename Setup> void TiledPart<Setup>::reach_engine(const Packet &packet, uint32_t slot)
{
	if (packet.operation == Operation::Contribute)
		take_operand(slot);
	else
		plan(slot, Step::Result, parameters_.ce_nic_cycles);
}

/*
 * The next message that the NIC sends for its engine. It may be sent once the host's operation is due, which is before
 * the end of traffic; an operation that has begun is still completed after it.
 */
template <typename Setup> bool TiledPart<Setup>::next_of_engine(Nic &nic)
{
	const Traffic::Collective *const collective = nic.node == NO_PLACE ? nullptr : traffic_.collective_of(nic.node);

	if (!collective)
		return false;

	Engine &engine = engines_[static_cast<size_t>(&nic - nics_.data())];
	const uint32_t rank = traffic_.rank_of(nic.node);
	const auto children = collective->tree.children(rank);

	nic.left = nic.packets = 1;
	nic.bytes = COLLECTIVE_BYTES;
	if (!engine.up && !engine.owed) {
		nic.due = UINT32_MAX;
		nic.clock = Traffic::NEVER;
		return true;
	}
	nic.due = engine.began;
	nic.clock = uint64_t{engine.ready} << Traffic::FRACTION;
	if (engine.up) {
		engine.up = false;
		nic.operation = Operation::Contribute;
		nic.target = traffic_.node_of(nic.node, collective->tree.parent(rank));
	} else {
		nic.operation = Operation::Result;
		nic.target = traffic_.node_of(nic.node, children[children.size() - engine.owed]);
		engine.owed--;
	}
	return true;
}

/* A node has failed. It does not come back to its job's tree, and no operation of the job can end. */
template <typename Setup> void TiledPart<Setup>::leave_tree(uint32_t slot)
{
	Engine &engine = engines_[slot];

	if (engine.gone)
		return;
	engine.gone = true;
	engine.up = false;
	engine.owed = 0;
	collective_counts(nics_[slot].node).lost++;
}

/* Hosts that would begin behind the end of traffic do not count. */
template <typename Setup> bool TiledPart<Setup>::engines_idle() const noexcept
{
	return plans_.empty() || (!unfinished_plans_ && plans_.top().cycle >= end_due_);
}

} // namespace aries::sim

#endif
