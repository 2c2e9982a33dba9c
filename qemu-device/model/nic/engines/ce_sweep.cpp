/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collectives that have lost a member: how the others come to know. */
#include "nic/engines/ce.hpp"
#include "nic/target/visit.hpp"

namespace aries
{

bool Ce::node_lost(uint32_t node, uint32_t generation, uint64_t now) noexcept
{
	return reachable(core_, node, now) != ARIES_ST_OK || core_.segment.node(node).generation.load() != generation;
}

/* Looks for the process that is child @index of an engine whose domain has @key, and remembers where it is. */
bool Ce::find_instance(CeSlot &ce, uint32_t index, uint32_t key) noexcept
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
bool Ce::instance_lost(CeSlot &ce, uint32_t index, uint32_t key, uint64_t now) noexcept
{
	const uint64_t seen = ce.instance[index].load();

	if (!seen)
		return !find_instance(ce, index, key) &&
		       now > ce.enabled_ns.load() + CE_ABSENT_LEASES * core_.members.lease_ns();
	const NodeSlot &node = core_.segment.node(ce_child_place(ce.child[index].load()).node);

	return node.ce_instance[ce.place[index].load() % ARIES_CE_INSTANCES].load() != seen;
}

/* Whether an engine can no longer get what it waits for. */
bool Ce::lost(CePlace at, CeSlot &ce, uint64_t now) noexcept
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
	       neighbours_lost(at, ce, now);
}

/*
 * The member that brought the outcome down died, or is us; the lock is held. A
 * child that has contributed since knows its outcome. What happened of the
 * delivery that was under way is found out when it is made again.
 */
void Ce::take_over(CePlace at, CeSlot &ce, Step &step) noexcept
{
	const uint32_t which = ce.delivering.load();

	if (which && which != CE_OWN_EVENT)
		ce.owed.fetch_or((uint32_t(1) << (which - 1) % ARIES_CE_CHILDREN) & ~ce.arrived.load());
	/* Still ours from an earlier take-over that came no further? */
	if (which)
		ce.resumed.store(which);
	ce.delivering.store(which == CE_OWN_EVENT ? CE_OWN_EVENT : 0);
	ce.sequence++;
	ce.mover.store(core_.members.lock_word());
	step.kind = Step::DOWN;
	step.at = at;
	step.sequence = ce.sequence;
	step.outcome = ce.outcome;
}

void Ce::examine(CePlace at, uint64_t now) noexcept
{
	CeSlot &ce = slot(at);
	const uint32_t serial = ce.serial.load();
	const uint32_t mover = ce.mover.load();
	const bool orphan = mover && !core_.members.holder_alive(mover);
	const bool is_lost = !ce_enabled(ce) || ce_broken(ce) || (orphan && ce.sent.load()) || lost(at, ce, now);
	Step step;

	if (!is_lost && !orphan)
		return;
	{
		const CeLock lock(core_, at);

		if (!lock.held() || ce.serial.load() != serial)
			return;
		if (orphan && ce.mover.load() == mover && (ce.owed.load() || ce.delivering.load()))
			take_over(at, ce, step);
	}
	drive(step);
	if (is_lost) {
		Step down;

		fail(at, serial, ARIES_ST_TIMEOUT, down);
		drive(down);
	}
}

void Ce::sweep(uint64_t now) noexcept
{
	core_.segment.for_each_joined([&](uint32_t node) {
		/* Those of other hosts are swept there. */
		if (lives_elsewhere(core_, node))
			return;
		for (uint32_t engine = 0; engine < ARIES_CE_CHANNELS; engine++) {
			const CePlace at = {node, engine};

			/* One that is disabled may have been left with something pending. */
			if (ce_enabled(slot(at)) || ce_pending(slot(at)))
				examine(at, now);
		}
	});
}

bool Ce::abandon(uint32_t engine, uint8_t status, Patience patience) noexcept
{
	const CePlace at = {core_.node, engine};
	CeSlot &ce = slot(at);
	const uint32_t serial = ce.serial.load();
	Step rest, pending;

	mark(ce, serial);
	{
		const CeLock lock(core_, at, patience);

		if (lock.held() && (ce.owed.load() || ce.delivering.load()))
			take_over(at, ce, rest);
	}
	drive(rest);
	const bool ended = end_pending(at, serial, status, patience, pending);

	drive(pending);
	return ended && !ce.owed.load() && !ce.delivering.load();
}

} // namespace aries
