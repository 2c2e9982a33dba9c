/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collectives that have lost a member: how the others come to know. */
#include "nic/engines/ce.hpp"
#include "nic/target/visit.hpp"

namespace aries
{

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
	const bool is_lost =
		!ce_enabled(ce) || ce_broken(ce) || (orphan && ce.sent.load()) || losses_.lost(at, ce, now);
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

	CeEdges::mark(ce, serial);
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
