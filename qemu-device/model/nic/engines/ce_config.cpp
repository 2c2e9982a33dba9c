/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers of the collective engines. */
#include <unistd.h>

#include "nic/engines/ce.hpp"
#include "nic/tables/fmad.hpp"

namespace aries
{

namespace
{

constexpr uint64_t INSTANCE_MASK = ARIES_CE_INST_INST_MASK | ARIES_CE_INST_PTAG_MASK | ARIES_CE_INST_VALID_MASK;
constexpr uint64_t INSTANCE_COUNT = uint64_t(1) << 40;
constexpr uint64_t INSTANCE_COUNT_MASK = 0x7fffffull << 40;

static_assert(!(INSTANCE_MASK & INSTANCE_COUNT_MASK));

constexpr unsigned int FINISH_STEPS = 200; /* of 500 us, for an outcome on its way down */

/* The engine's lock is held, and nobody waits. Who still carries an outcome of before finds another sequence. */
void forget_operation(CeSlot &ce)
{
	ce.sequence++;
	ce.resumed.store(0);
	ce.sent.store(0);
	ce.mover.store(0);
	ce.parent_edge.store(0);
	for (auto &edge : ce.child_edge)
		edge.store(0);
}

} // namespace

bool CeTable::configure(uint32_t engine, uint64_t ctl) noexcept
{
	core_.host.trace("ce_control", engine, ctl);
	if (ctl & ARIES_CE_CTL_ENABLE_MASK)
		return enable(engine, ctl);
	if (enabled(engine))
		disable(engine, ARIES_ST_FLUSHED);
	core_.own().ce[engine].ctl.store(ctl);
	return true;
}

bool CeTable::enable(uint32_t engine, uint64_t ctl) noexcept
{
	NodeSlot &own = core_.own();
	CeSlot &ce = own.ce[engine];
	const uint64_t children = field(ctl, ARIES_CE_CTL_CHILDREN_MASK);
	const uint64_t parent = ce.parent.load();
	uint32_t cq_serial = 0;

	if (enabled(engine) || !leaving_.gone(engine, drain_) || children < 1 || children > ARIES_CE_CHILDREN)
		return false;
	for (uint32_t i = 0; i < children; i++) {
		const uint64_t kind = field(ce.child[i].load(), ARIES_CE_CHILD_KIND_MASK);

		if (kind != CE_CHILD_ENGINE && kind != CE_CHILD_ENDPOINT)
			return false;
	}
	if (ctl & ARIES_CE_CTL_CQ_VALID_MASK) {
		cq_serial = cq_claim(own, uint16_t(field(ctl, ARIES_CE_CTL_CQ_MASK)),
				     uint16_t(field(ctl, ARIES_CE_CTL_OWNER_MASK)));
		if (!cq_serial &&
		    cq_claim_again(core_, uint16_t(field(ctl, ARIES_CE_CTL_CQ_MASK)),
				   uint16_t(field(ctl, ARIES_CE_CTL_OWNER_MASK)), cq_serial) != ARIES_ST_OK)
			return false;
	}
	const CeLock lock(core_, {core_.node, engine});

	if (!lock.held() || ce_pending(ce))
		return false;
	forget_operation(ce);
	ce.cq_serial.store(cq_serial);
	ce.ecc_hit.store(0);
	ce.ecc_twice.store(0);
	for (uint32_t i = 0; i < children; i++) {
		const uint32_t node = uint32_t(field(ce.child[i].load(), ARIES_CE_CHILD_PE_MASK));

		ce.child_generation[i].store(core_.segment.node(node).generation.load());
	}
	for (CeContribution &given : ce.given)
		given.serial = 0;
	for (auto &instance : ce.instance)
		instance.store(0);
	ce.enabled_ns.store(now_ns());
	if (parent & ARIES_CE_PARENT_VALID_MASK)
		ce.parent_generation.store(
			core_.segment.node(uint32_t(field(parent, ARIES_CE_PARENT_PE_MASK))).generation.load());
	ce.serial.fetch_add(1);
	ce.ctl.store(ctl);
	edges_.make(engine);
	return true;
}

/* An outcome that is on its way down gets there first: its operation has succeeded. */
void CeTable::disable(uint32_t engine, uint8_t status) noexcept
{
	CeSlot &ce = core_.own().ce[engine];

	for (unsigned int i = 0; (ce.owed.load() || ce.delivering.load()) && i < FINISH_STEPS &&
				 core_.members.holder_alive(ce.mover.load());
	     i++)
		usleep(500);
	(void)ce_.abandon(engine, status, Patience::LONG);
	edges_.mark_neighbours(engine);
	/* Without the lock: a peer that is stopped may hold it. What it leaves then is ended with the drain. */
	ce.ctl.store(0, std::memory_order_seq_cst);
	ce.serial.fetch_add(1);
	leaving_.leave(engine, drain_.begin());
}

bool CeTable::settle() noexcept
{
	for (uint32_t engine = 0; engine < ARIES_CE_CHANNELS; engine++) {
		if (leaving_.ends(engine, drain_) && !ce_.abandon(engine, ARIES_ST_FLUSHED, Patience::NONE))
			return false;
	}
	return true;
}

bool CeTable::set_parent(uint32_t engine, uint64_t value) noexcept
{
	if (enabled(engine) || field(value, ARIES_CE_PARENT_PE_MASK) >= core_.segment.nodes())
		return false;
	core_.own().ce[engine].parent.store(value);
	return true;
}

bool CeTable::set_child(uint32_t element, uint64_t value) noexcept
{
	const uint32_t engine = element / ARIES_CE_CHILDREN;

	if (enabled(engine) || field(value, ARIES_CE_CHILD_PE_MASK) >= core_.segment.nodes() ||
	    field(value, ARIES_CE_CHILD_KIND_MASK) > CE_CHILD_ENDPOINT)
		return false;
	core_.own().ce[engine].child[element % ARIES_CE_CHILDREN].store(value);
	return true;
}

/* The count tells a process from another of the same name that came later. */
void CeTable::set_instance(uint32_t element, uint64_t value) noexcept
{
	auto &word = core_.own().ce_instance[element % ARIES_CE_INSTANCES];

	word.store((value & INSTANCE_MASK) | ((word.load() + INSTANCE_COUNT) & INSTANCE_COUNT_MASK));
}

uint64_t CeTable::read_instance(uint32_t element) const noexcept
{
	return core_.own().ce_instance[element % ARIES_CE_INSTANCES].load() & INSTANCE_MASK;
}

uint64_t CeTable::status(uint32_t engine) const noexcept
{
	const CeSlot &ce = core_.own().ce[engine];

	if (!enabled(engine))
		return 0;
	return prep(ARIES_CE_STATUS_ARRIVED_MASK, ce.arrived.load()) |
	       (ce.sent.load() ? ARIES_CE_STATUS_SENT_MASK : 0) | (ce_broken(ce) ? ARIES_CE_STATUS_BROKEN_MASK : 0);
}

void CeTable::reset(uint8_t status) noexcept
{
	for (uint32_t engine = 0; engine < ARIES_CE_CHANNELS; engine++) {
		CeSlot &ce = core_.own().ce[engine];

		if (enabled(engine))
			disable(engine, status);
		ce.ctl.store(0);
		ce.parent.store(0);
		for (auto &child : ce.child)
			child.store(0);
	}
	for (uint32_t i = 0; i < ARIES_CE_INSTANCES; i++)
		set_instance(i, 0);
}

} // namespace aries
