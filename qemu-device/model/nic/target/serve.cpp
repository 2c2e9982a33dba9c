/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/target/serve.hpp"

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
	return result == CqResult::GONE ? uint8_t(ARIES_ST_NO_CQ) : target.settled();
}

uint8_t serve_bytes(Visit &target, const FmaRuns &from, uint32_t bytes, std::vector<uint8_t> &data) noexcept
try {
	data.resize(bytes);
	gather(from, data.data());
	return target.settled();
} catch (const std::bad_alloc &) {
	return ARIES_ST_TIMEOUT;
}

uint8_t serve_request(Core &core, const TargetRequest &request, Visit &target, Served &served,
		      std::vector<uint8_t> &data) noexcept
{
	return serve_request(core, as_it_is(request), target, served,
			     [&](const FmaRuns &from) { return serve_bytes(target, from, request.bytes, data); });
}

uint8_t serve_match(Core &core, const TargetRequest &request, uint32_t taker, Visit &target, RmtClaim &claim) noexcept
{
	const uint8_t status = rmt_take(core.segment.node(request.node), taker, uint32_t(request.offset), request.key,
					request.bytes, claim);

	if (claim.ecc) [[unlikely]]
		ecc_found(core, request.node, ARIES_RAS_RMT, claim.index, claim.ecc & ECC_TWO_BITS);
	if (status != ARIES_ST_OK)
		target.count_refused();
	return status;
}

uint8_t serve_message(Core &core, const TargetRequest &request, RmtClaim &claim, Visit &target, bool &overrun) noexcept
{
	NodeSlot &slot = core.segment.node(request.node);
	const uint8_t status = target.admit(request.access());

	if (status != ARIES_ST_OK)
		return status;
	if (!rmt_finish(slot, claim, request.bytes))
		return ARIES_ST_FLUSHED;
	const CqEntry entry = {.data = claim.event,
			       .tid = uint16_t(claim.index),
			       .status = ARIES_ST_OK,
			       .info = ARIES_INFO_REMOTE,
			       .source = ARIES_SRC_REMOTE,
			       .type = request.type,
			       .remote_overrun = false};

	if (target.mdd().has_cq())
		overrun = target.post(entry.word()) == CqResult::OVERRUN || target.lost();
	rmt_told(slot, claim);
	return ARIES_ST_OK;
}

void report_at_target(Core &core, const TargetRequest &request, uint32_t source, uint8_t status, uint32_t index,
		      uint8_t op) noexcept
{
	if (!target_records(status))
		return;
	/* Tags are names of a node: that of the domain which was hit, if there is one. */
	const uint64_t hit = core.segment.node(request.node).mdd[request.mdh % ARIES_MDD_ENTRIES].ctl.load();
	const uint8_t ptag = hit & ARIES_MDD_CTL_VALID_MASK ? uint8_t(field(hit, ARIES_MDD_CTL_PTAG_MASK)) : 0;

	core.errors.report(request.node, {status, ptag, source, request.mdh, request.offset & OFFSET_MASK,
					  request.bytes, uint16_t(index), op});
}

} // namespace aries
