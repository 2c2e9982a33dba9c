/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/engines/fma_ce.hpp"

#include "nic/engines/ce_carried.hpp"
#include "nic/engines/ce_math.hpp"

namespace aries
{

namespace
{

/* Fields of the descriptor that a contribution reads in its own way. */
uint8_t check_fields(const aries_fma_desc &desc, uint16_t code, uint8_t events)
{
	const uint64_t mode = field(desc.offset, ARIES_CE_MODE_MASK);
	CeCommand command;

	if ((desc.offset & ARIES_CE_RSVD_MASK) || desc.sync_value > UINT32_MAX || (events & ARIES_EV_REMOTE))
		return ARIES_ST_RESERVED;
	if (!command.decode(code) || ((mode & ARIES_CEMODE_TWO_OP) && command.indexed()))
		return ARIES_ST_BAD_OP;
	if ((mode & ARIES_CEMODE_FPE_MASK) && !command.floating())
		return ARIES_ST_RESERVED;
	return desc.local_offset & 7 ? ARIES_ST_LOCAL_ALIGN : ARIES_ST_OK;
}

/* The control word of the result block; what refuses it has been checked before, but for a page that is missing. */
uint8_t find_control(Visit &local, const aries_fma_desc &desc, uint8_t ptag, uint64_t *&control)
{
	RunList<1> run;
	uint8_t status = local.admit_local(desc.local_mdh, ptag, desc.local_offset, sizeof(aries_ce_result), true);

	if (status != ARIES_ST_OK)
		return status;
	status = local.runs(desc.local_offset & OFFSET_MASK, 8, true, run);
	if (status != ARIES_ST_OK)
		return local_status(status);
	control = reinterpret_cast<uint64_t *>(run.run[0].host);
	return reinterpret_cast<uintptr_t>(control) & 7 ? ARIES_ST_LOCAL_ALIGN : ARIES_ST_OK;
}

} // namespace

/*
 * To an engine of another host. What it finds wrong is told as an outcome is: by the result block and the events. The
 * request has no response before the outcome.
 */
uint8_t FmaCe::give_carried(CePlace engine, uint32_t index, const CeSender &sender, CeContribution what) noexcept
try {
	const uint64_t before = __atomic_load_n(sender.control, __ATOMIC_ACQUIRE);

	what.token = ce_.token(engine);
	__atomic_store_n(sender.control, what.token, __ATOMIC_RELEASE);
	const uint8_t status =
		carry_.send(ce_carried(core_, engine, index, sender, what), 0, {}, 0,
			    [this, engine, what](const CarriedResponse &response, std::span<const uint8_t>) {
				    ce_.bring_home(engine, what, ce_outcome(response, what.red_id, core_.at(now_ns())));
			    });

	if (status != ARIES_ST_OK)
		__atomic_store_n(sender.control, before, __ATOMIC_RELEASE);
	return status;
} catch (const std::bad_alloc &) {
	return ARIES_ST_QUEUE_FULL;
}

uint8_t FmaCe::contribute(FmaWork &work, bool carried) noexcept
{
	const aries_fma_desc &desc = work.desc;
	const uint64_t mode = field(desc.offset, ARIES_CE_MODE_MASK);
	uint8_t status = check_fields(desc, work.amo, work.mode);

	if (status == ARIES_ST_OK) {
		uint64_t *control = nullptr;
		Visit local(core_, core_.node);

		status = find_control(local, desc, work.rights.ptag(), control);
	}
	/* An engine of the same NIC is reached without the network. */
	if (status == ARIES_ST_OK && work.node != core_.node) {
		status = traffic_.send(work.transaction(PacketKind::Amo, 16), work.now, work.fmad.counters,
				       work.passage);
		if (status == ARIES_ST_OK)
			count_latency(core_, work.fmad.counters, traffic_.waited(work.passage, work.now));
	}
	if (status != ARIES_ST_OK)
		return status;
	const CeContribution what = {
		.operand = {desc.operand[0], desc.operand[1]},
		.arrive_ns = work.now + work.passage.latency_ns,
		.start_ns = work.now,
		.offset = desc.local_offset,
		.serial = ++contributions_,
		.token = 0,
		.cq_serial = work.cq_serial,
		.key = work.rights.key,
		.red_id = uint32_t(desc.sync_value),
		.local_event = desc.local_event,
		.mdh = desc.local_mdh,
		.cq = desc.cq,
		.tid = work.tid,
		.dlvr_mode = desc.dlvr_mode,
		.command = work.amo,
		.source = uint16_t(work.index),
		.ce_mode = uint8_t(mode & ARIES_CEMODE_TWO_OP),
		.fpe = uint8_t((mode & ARIES_CEMODE_FPE_MASK) >> ARIES_CEMODE_FPE_SHIFT),
		.status = ARIES_ST_OK,
		.events = work.mode,
		.level = 0,
	};
	const CePlace engine = {work.node, uint32_t(field(desc.offset, ARIES_CE_ENGINE_MASK))};
	const uint32_t index = uint32_t(field(desc.offset, ARIES_CE_CHILD_MASK));
	Ce::Step step;
	{
		CeSender sender = {CE_CHILD_ENDPOINT, {core_.node, 0}, work.rights.key};
		Visit local(core_, core_.node);

		status = find_control(local, desc, work.rights.ptag(), sender.control);
		if (status == ARIES_ST_OK)
			status = carried ? give_carried(engine, index, sender, what)
					 : ce_.give(engine, index, sender, what, step);
	}
	ce_.drive(step);
	if (status == ARIES_ST_OK) {
		work.cq_serial = 0;
		work.fmad.counters.add(ARIES_CNT_CE_OPS);
	}
	return status;
}

} // namespace aries
