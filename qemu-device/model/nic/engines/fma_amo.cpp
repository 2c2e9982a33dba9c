/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* FMA: responses with data, and the initiator's part of atomics. */
#include "nic/engines/fma.hpp"

namespace aries
{

uint8_t Fma::find_landing(const FmaWork &work, Visit &local, Landing &place) const noexcept
{
	const uint64_t flag_bytes = work.flagged() ? ARIES_FMA_FLAG_BYTES : 0;
	uint8_t status = local.admit_local(work.desc.local_mdh, work.rights.ptag(), work.desc.local_offset,
					   work.bytes + flag_bytes, true);

	if (status != ARIES_ST_OK)
		return status;
	status = local.runs(work.desc.local_offset, work.bytes, true, place.data);
	if (status == ARIES_ST_OK && flag_bytes)
		status = local.runs(work.desc.local_offset + work.bytes, flag_bytes, true, place.flag);
	return local_status(status);
}

void Fma::raise_flag(const FmaWork &work, const Landing &place) noexcept
{
	const uint32_t flag = ARIES_FMA_FLAG;

	if (work.flagged())
		scatter(place.flag, reinterpret_cast<const uint8_t *>(&flag));
}

/* Everything that the command alone decides. */
uint8_t Fma::check_atomic(const FmaWork &work, AmoCommand &command) noexcept
{
	if (!command.decode(work.amo) || (work.flagged() && !command.fetch))
		return ARIES_ST_BAD_OP;
	if (command.cached && !(work.rights.ctl & ARIES_FMAD_CTL_CACHED_AMO_MASK))
		return ARIES_ST_BAD_OP;
	if (work.bytes != command.bytes)
		return ARIES_ST_LENGTH;
	if (work.desc.offset & (command.bytes - 1u))
		return ARIES_ST_ALIGN;
	return command.fetch && (work.desc.local_offset & (command.bytes - 1u)) ? ARIES_ST_LOCAL_ALIGN : ARIES_ST_OK;
}

uint8_t Fma::atomic(FmaWork &work) noexcept
{
	AmoCommand command;
	Visit local(core_, core_.node);
	Landing place;
	uint8_t status = check_atomic(work, command);

	if (status == ARIES_ST_OK && command.fetch)
		status = find_landing(work, local, place);
	if (status != ARIES_ST_OK)
		return status;
	const auto request = [&] { return work.request(work.kind(command), command); };
	const Transaction transaction = Transaction::of(work.kind(command), work.desc.dlvr_mode, work.node,
							amo_wire_bytes(command), header_hash(work));

	status = traffic_.request(transaction, work.now, work.fmad.counters, work.passage);
	if (status != ARIES_ST_OK)
		return status;
	work.fmad.counters.add(ARIES_CNT_FMA_AMOS);
	Visit target(core_, work.node);
	Served served;

	status = serve_atomic(core_, request, target, served);
	if (served.ran)
		traffic_.serve_atomic(work.node, served.hit, served.walked, command.fetch, work.passage);
	work.fetched = served.fetched;
	traffic_.respond(transaction, work.now, work.fmad.counters, work.passage);
	work.unanswered = traffic_.unanswered(work.passage);
	if (work.unanswered) [[unlikely]] {
		count_latency(core_, work.fmad.counters, work.passage.depart_ns - work.now + RESPONSE_TIMEOUT_NS);
		work.passage.back_ns = 0;
		if (status == ARIES_ST_OK)
			serve_event(request, target, work.remote_overrun);
		return traffic_.why_unanswered(work.passage);
	}
	count_latency(core_, work.fmad.counters, work.passage.latency_ns);
	if (status != ARIES_ST_OK)
		return status;
	if (command.fetch) {
		/* Little endian: the low bytes come first. */
		scatter(place.data, reinterpret_cast<const uint8_t *>(&work.fetched));
		raise_flag(work, place);
	}
	serve_event(request, target, work.remote_overrun);
	return ARIES_ST_OK;
}

} // namespace aries
