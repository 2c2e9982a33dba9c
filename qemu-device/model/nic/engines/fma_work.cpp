/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/engines/fma_work.hpp"

namespace aries
{

uint8_t FmaWork::check_atomic(AmoCommand &command) const noexcept
{
	if (!command.decode(amo) || (flagged() && !command.fetch))
		return ARIES_ST_BAD_OP;
	if (command.cached && !(rights.ctl & ARIES_FMAD_CTL_CACHED_AMO_MASK))
		return ARIES_ST_BAD_OP;
	if (bytes != command.bytes)
		return ARIES_ST_LENGTH;
	if (desc.offset & (command.bytes - 1u))
		return ARIES_ST_ALIGN;
	return command.fetch && (desc.local_offset & (command.bytes - 1u)) ? ARIES_ST_LOCAL_ALIGN : ARIES_ST_OK;
}

uint8_t Landing::find(const FmaWork &work, Visit &local) noexcept
{
	const uint64_t flag_bytes = work.flagged() ? ARIES_FMA_FLAG_BYTES : 0;
	uint8_t status = local.admit_local(work.desc.local_mdh, work.rights.ptag(), work.desc.local_offset,
					   work.bytes + flag_bytes, true);

	if (status != ARIES_ST_OK)
		return status;
	status = local.runs(work.desc.local_offset, work.bytes, true, data);
	if (status == ARIES_ST_OK && flag_bytes)
		status = local.runs(work.desc.local_offset + work.bytes, flag_bytes, true, flag);
	return local_status(status);
}

void Landing::raise_flag(const FmaWork &work) const noexcept
{
	const uint32_t value = ARIES_FMA_FLAG;

	if (work.flagged())
		scatter(flag, reinterpret_cast<const uint8_t *>(&value));
}

void Landing::store(const FmaWork &work, const uint8_t *bytes) const noexcept
{
	/* Little endian: of a fetched value the low bytes come first. */
	scatter(data, work.is_get() ? bytes : reinterpret_cast<const uint8_t *>(&work.fetched));
	raise_flag(work);
}

void report_failure(Core &core, CounterBlock &counters, uint8_t status, uint8_t ptag, uint32_t index, uint8_t op,
		    const TargetRequest &request) noexcept
{
	const ErrorEvent event = {
		status,          ptag, request.node, request.mdh, request.offset & OFFSET_MASK, request.bytes,
		uint16_t(index), op};

	counters.add(ARIES_CNT_ERRORS);
	if (status == ARIES_ST_TIMEOUT || status == ARIES_ST_CRC)
		counters.add(ARIES_CNT_TIMEOUTS);
	core.errors.report(core.node, event);
	/* One on another host was told there. */
	if (target_records(status) && !core.segment.node(request.node).carrier.load())
		report_at_target(core, request, core.node, status, index, op);
	core.host.trace("fma_failed", status, request.node, request.offset);
}

void FmaDescriptors::source_events(FmaWork &work, uint8_t status) const noexcept
{
	const CqEntry entry = {.data = work.desc.local_event,
			       .tid = work.tid,
			       .status = status,
			       .info = ARIES_INFO_LOCAL,
			       .source = ARIES_SRC_FMA,
			       .type = uint8_t(field(work.mode, ARIES_EV_TYPE_MASK)),
			       .remote_overrun = work.remote_overrun};

	cq_tell(core_, work.desc.cq, work.mode, entry, work.cq_serial);
}

void FmaDescriptors::finish(FmaWork &work, uint8_t status) const noexcept
{
	if (status != ARIES_ST_OK) [[unlikely]] {
		if (status == ARIES_ST_CE_BUSY) /* not a failure: the same doorbell is to be rung again */
			return;
		work.fmad.last.store(status, std::memory_order_relaxed);
		if (!work.reported)
			report_failure(core_, work.fmad.counters, status, work.rights.ptag(), work.index, work.op,
				       work.request(PacketKind::Get));
	}
	if (work.cq_serial)
		source_events(work, status);
}

} // namespace aries
