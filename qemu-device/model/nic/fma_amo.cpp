/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FMA: responses with data, and the atomics. */
#include "nic/amo_cache.hpp"
#include "nic/copy.hpp"
#include "nic/fma.hpp"
#include "nic/sequence.hpp"

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

/* The result may stay in the target's cache (N12). */
uint8_t Fma::run_lazily(FmaWork &work, const AmoCommand &command, Visit &target, uint8_t *word, bool &hit) noexcept
{
	const AmoRequest request = {command, target.mdh(),         work.desc.offset,
				    word,    work.desc.operand[0], work.desc.operand[1]};
	AmoResult result = {};

	if (!AmoCache(core_.segment.node(work.node).amo_cache).run(request, *target.ram(), core_.members, result))
		return ARIES_ST_TIMEOUT;
	work.fetched = result.old;
	hit = result.hit;
	return ARIES_ST_OK;
}

/* What the unit of the target does. */
inline uint8_t Fma::execute(FmaWork &work, const AmoCommand &command, Visit &target) noexcept
{
	FmaRuns word;
	bool hit = false;
	uint8_t status = target.admit(work.access(command.bytes, true));

	if (status == ARIES_ST_OK)
		status = target.find(work.desc.offset, command.bytes, true, word);
	/* The region's start decides whether an aligned offset is an aligned address. */
	if (status == ARIES_ST_OK &&
	    (word.count != 1 || (reinterpret_cast<uintptr_t>(word.run[0].host) & (command.bytes - 1u))))
		status = ARIES_ST_ALIGN;
	if (status != ARIES_ST_OK) {
		target.count_refused();
		return status;
	}
	target.count_requests(1);
	const bool lazy = target.lazy();
	uint8_t *const at = word.run[0].host;
	const auto run = [&](uint32_t) {
		if (lazy) [[unlikely]]
			status = run_lazily(work, command, target, at, hit);
		else
			work.fetched = amo_run(command, at, work.desc.operand[0], work.desc.operand[1]);
	};

	if (command.cached && !lazy)
		hit = AmoCache(core_.segment.node(work.node).amo_cache).use(target.mdh(), work.desc.offset);
	if (core_.faults.any()) [[unlikely]]
		arrive<1>(core_.faults, target, 1, run);
	else
		run(0);
	traffic_.serve_atomic(work.node, hit, target.walked(), command.fetch, work.passage);
	return status;
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
	const Train train = Train::of(command.fetch ? PacketKind::FetchAmo : PacketKind::Amo, work.desc.dlvr_mode,
				      work.node, amo_wire_bytes(command), header_hash(work));

	status = traffic_.request(train, work.now, work.fmad.counters, work.passage);
	if (status != ARIES_ST_OK)
		return status;
	work.fmad.counters.add(ARIES_CNT_FMA_AMOS);
	Visit target(core_, work.node);

	status = execute(work, command, target);
	traffic_.respond(train, work.now, work.fmad.counters, work.passage);
	work.unanswered = traffic_.unanswered(work.passage);
	if (work.unanswered) [[unlikely]] {
		count_latency(core_, work.fmad.counters, work.passage.depart_ns - work.now + RESPONSE_TIMEOUT_NS);
		work.passage.back_ns = 0;
		if (status == ARIES_ST_OK)
			remote_event(work, target);
		return ARIES_ST_TIMEOUT;
	}
	count_latency(core_, work.fmad.counters, work.passage.latency_ns);
	if (status != ARIES_ST_OK)
		return status;
	if (command.fetch) {
		/* Little endian: the low bytes come first. */
		scatter(place.data, reinterpret_cast<const uint8_t *>(&work.fetched));
		raise_flag(work, place);
	}
	remote_event(work, target);
	return ARIES_ST_OK;
}

} // namespace aries
