/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
#include "nic/serve.hpp"

namespace aries
{

uint8_t serve_range(Core &core, const TargetRequest &request, Visit &target) noexcept
{
	FmaRuns data, flag;
	uint8_t status = ARIES_ST_OK;

	if (request.flagged)
		status = serve_check_flag(request.flag_offset, target);
	if (status == ARIES_ST_OK)
		status = target.runs(request.offset, request.bytes, true, data);
	if (status == ARIES_ST_OK && request.flagged)
		status = target.runs(request.flag_offset, 8, true, flag);
	if (status != ARIES_ST_OK)
		return status;
	if (core.faults.any()) [[unlikely]]
		arrive<ARIES_DESC_LINE_BYTES / ARIES_PACKET_BYTES>(
			core.faults, target, packets_of(request.bytes), [&](uint32_t packet) {
				const uint32_t at = packet * ARIES_PACKET_BYTES;

				scatter_part(data, at, request.data + at,
					     std::min(request.bytes - at, ARIES_PACKET_BYTES));
			});
	else
		scatter(data, request.data);
	if (request.flagged)
		scatter(flag, reinterpret_cast<const uint8_t *>(&request.flag_value));
	return ARIES_ST_OK;
}

uint8_t serve_lazily(Core &core, const TargetRequest &request, Visit &target, uint8_t *word, Served &served) noexcept
{
	const AmoRequest amo = {request.command,    target.mdh(),      request.offset, word,
				request.operand[0], request.operand[1]};
	AmoResult result = {};
	const uint8_t status = AmoCache(core, request.node).run(amo, *target.ram(), core.members, result);

	if (status != ARIES_ST_OK)
		return status;
	served.fetched = result.old;
	served.hit = result.hit;
	return ARIES_ST_OK;
}

/* The payload is the event; the offset has no meaning. */
Access serve_queue_access(Core &core, const TargetRequest &request) noexcept
{
	NodeSlot &slot = core.segment.node(request.node);
	const uint16_t mdh = Vmdh(core, request.node, slot).of_packet(request.mdh, request.key);

	return {request.node, mdh, request.key, mdd_load(slot, mdh).base, 0, false, true};
}

uint8_t serve_queue(Core &core, const TargetRequest &request, Visit &target, bool &overrun) noexcept
{
	const uint8_t status = target.admit(serve_queue_access(core, request));

	if (status != ARIES_ST_OK) {
		target.count_refused();
		return status;
	}
	target.count_requests(1);
	const uint64_t entry = (request.operand[0] & ARIES_CQE_WRITE_MASK) |
			       prep(ARIES_CQE_INFO_MASK, ARIES_INFO_REMOTE) |
			       prep(ARIES_CQE_SOURCE_MASK, ARIES_SRC_CQWRITE) | prep(ARIES_CQE_TYPE_MASK, request.type);
	CqResult result = CqResult::GONE;

	if (core.faults.any()) [[unlikely]]
		arrive<1>(core.faults, target, 1, [&](uint32_t) { result = target.post(entry); });
	else
		result = target.post(entry);
	overrun = result == CqResult::OVERRUN;
	return result == CqResult::GONE ? ARIES_ST_NO_CQ : ARIES_ST_OK;
}

} // namespace aries
