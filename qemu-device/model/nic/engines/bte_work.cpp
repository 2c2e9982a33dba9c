/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/engines/bte_work.hpp"

namespace aries
{

uint8_t BteWork::check(Core &core, Ntt &ntt) noexcept
{
	const NodeSlot &own = core.own();
	const bool events = desc.mode & (ARIES_EV_LOCAL | ARIES_EV_GLOBAL);

	if (!(rights.ctl & ARIES_FMAD_CTL_ENABLE_MASK) &&
	    ecc_look(core, core.node, ARIES_RAS_FMAD, index, fmad->ctl, FMAD_ECC, rights.ctl) != ARIES_ST_OK)
		return ARIES_ST_LOCAL_ECC;
	if (!(rights.ctl & ARIES_FMAD_CTL_ENABLE_MASK) || own.online.load(std::memory_order_relaxed) != ONLINE_ALL)
		return ARIES_ST_DISABLED;
	cq_serial = events ? cq_claim(own, desc.cq, rights.owner()) : 0;
	if (events && !cq_serial) [[unlikely]] {
		const uint8_t why = cq_claim_again(core, desc.cq, rights.owner(), cq_serial);

		if (why != ARIES_ST_OK)
			return why;
	}
	for (uint16_t word : desc.reserved) {
		if (word)
			return ARIES_ST_RESERVED;
	}
	if ((desc.mode & ARIES_EV_RSVD_MASK) || (desc.flags & ~(ARIES_BTE_FENCE | ARIES_BTE_PHYS)) ||
	    (desc.dlvr_mode & ARIES_DLV_RSVD_MASK) || !mdh_sound(desc.mdh) || desc.offset >> ARIES_OFFSET_BITS ||
	    (!physical() && desc.local_offset >> ARIES_OFFSET_BITS))
		return ARIES_ST_RESERVED;
	if (desc.op != ARIES_BTE_PUT && desc.op != ARIES_BTE_GET && desc.op != ARIES_BTE_SEND)
		return ARIES_ST_BAD_OP;
	if (send() && (desc.mdh || desc.offset > UINT16_MAX))
		return ARIES_ST_RESERVED;
	if (physical() && !rights.kernel())
		return ARIES_ST_LOCAL_ACCESS;
	if (!desc.length)
		return ARIES_ST_LENGTH;
	if (!put() && ((desc.offset | desc.length) & 3))
		return ARIES_ST_ALIGN;
	const uint8_t status = rights.load(core, own, rights.ctl);

	return status == ARIES_ST_OK ? ntt.resolve(rights.ctl, desc.pe, node) : status;
}

uint8_t BteWork::runs(uint64_t at, uint64_t bytes, Visit &local, BteRuns &list) const noexcept
{
	uint8_t status;

	if (physical()) {
		status = local.admit_physical();
		if (status != ARIES_ST_OK)
			return status;
		status = physical_runs(*local.ram(), desc.local_offset + at, bytes, list);
		if (status == ARIES_ST_OK && local.lazy()) [[unlikely]]
			status = local.settle(list.run, list.count, !put());
	} else {
		status = local.admit_local(desc.local_mdh, rights.ptag(), desc.local_offset, desc.length, !put());
		if (status != ARIES_ST_OK)
			return status;
		status = local.runs((desc.local_offset + at) & OFFSET_MASK, bytes, !put(), list);
	}
	return local_status(status);
}

void BteWork::complete(Core &core, uint8_t status, bool overrun) const noexcept
{
	const CqEntry entry = {.data = desc.local_event,
			       .tid = desc.tid,
			       .status = status,
			       .info = ARIES_INFO_LOCAL,
			       .source = ARIES_SRC_BTE,
			       .type = uint8_t(field(desc.mode, ARIES_EV_TYPE_MASK)),
			       .remote_overrun = overrun};

	if (cq_serial)
		cq_tell(core, desc.cq, desc.mode, entry, cq_serial);
}

} // namespace aries
