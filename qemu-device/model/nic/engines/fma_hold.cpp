/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * FMA where completions are held: a doorbell checks the operation and sends its request; what the request does at the
 * target happens when it gets there in modelled time, and what the response does here when that is back.
 *
 * The descriptor area is free again when the doorbell's store is over, as always: a put takes its data along. What can
 * be refused at once is; what fails later, because the target has changed its mind meanwhile, is told by the
 * operation's event, or by the next one of the descriptor if it has none of its own.
 *
 * To a node of another host all goes the same way, but the target's part is done by the carrier of that node. What
 * comes back is brought home by the thread of Carry.
 */
#include "nic/engines/fma_hold.hpp"

#include "nic/remote/inbound.hpp"

namespace aries
{

HeldFma::HeldFma(const FmaWork &from, std::shared_ptr<HoldGroup> of, Hold &in)
	: hold(in), work(from), group(std::move(of))
{
	if (work.is_put())
		payload.assign(work.data, work.data + work.bytes);
	work.data = payload.data();
	work.fmad.busy.fetch_add(1);
	work.fmad.held.fetch_add(1);
}

HeldFma::~HeldFma()
{
	hold.arrive(transaction.packets);
	work.fmad.held.fetch_sub(1);
	work.fmad.busy.fetch_sub(1);
}

/* What the target would refuse now, and which life of its memory domain it would not. */
uint8_t FmaHold::probe(const FmaWork &work, const AmoCommand &command, uint32_t &life) noexcept
{
	Visit target(core_, work.node);
	const TargetRequest request = work.request(work.kind(command), command);
	const uint8_t status = target.admit(request.kind == PacketKind::CqWrite ? serve_queue_access(core_, request)
										: request.access());

	if (status != ARIES_ST_OK)
		target.count_refused();
	life = core_.segment.node(work.node).mdd[target.mdh()].life.load();
	return status;
}

/* The memory domain that data come back to. */
uint8_t FmaHold::probe_landing(const FmaWork &work, uint32_t &life) noexcept
{
	Visit local(core_, core_.node);
	Landing place;
	const uint8_t status = place.find(work, local);

	life = core_.own().mdd[local.mdh()].life.load();
	return status;
}

/* What can be refused at once is; of a target on another host only what is wrong on this side. */
uint8_t FmaHold::prepare(HeldFma &held, bool carried) noexcept
{
	const FmaWork &work = held.work;
	uint8_t status = work.is_atomic() ? work.check_atomic(held.command) : uint8_t(ARIES_ST_OK);

	if (status == ARIES_ST_OK && !carried)
		status = probe(work, held.command, held.far_life);
	held.lands = work.lands(held.command);
	if (status == ARIES_ST_OK && held.lands)
		status = probe_landing(work, held.near_life);
	if (status == ARIES_ST_OK) {
		const PacketKind kind = work.kind(held.command);

		held.transaction = work.transaction(kind, work.wire_bytes(kind, held.command));
	}
	return status;
}

/*
 * A sync flag says that all data before it are there: those of its own put, and what the descriptor has put without an
 * event since the last flag. If a packet of these is lost the flag is not stored, as with one of its own.
 */
void FmaHold::commit(HeldFma &held) noexcept
{
	uint8_t &torn = held.group->torn;

	if (held.work.op == ARIES_FMA_PUT_SYNC) {
		if (held.status == ARIES_ST_OK)
			held.status = torn;
		torn = ARIES_ST_OK;
	} else if (held.work.is_put() && torn == ARIES_ST_OK) {
		torn = held.status;
	}
}

uint8_t FmaHold::send_carried(const std::shared_ptr<HeldFma> &op) noexcept
{
	HeldFma &held = *op;
	const FmaWork &work = held.work;
	const TargetRequest request = work.request(work.kind(held.command), held.command);
	CarriedRequest carried = carried_request(core_, request, work.is_atomic() ? work.amo : uint16_t(0));
	const uint32_t payload = request.kind == PacketKind::Put ? request.bytes : 0;

	carried.index = work.index;
	carried.op = work.op;
	carried.depart_ns = work.passage.depart_ns;
	carried.dlvr_mode = work.desc.dlvr_mode;
	carried.hash = uint32_t(work.header_hash());
	return carry_.send(
		carried, payload, [&](uint8_t *to) { memcpy(to, request.data, payload); },
		request.kind == PacketKind::Get ? request.bytes : 0,
		[this, op](const CarriedResponse &response, std::span<const uint8_t> data) {
			answered(op, response, data);
		});
}

/* What the target has found, as if it had been served here. */
void FmaHold::bring_back(HeldFma &held, const CarriedResponse &response, std::span<const uint8_t> data) noexcept
try {
	const FmaWork &work = held.work;

	held.status = response.status;
	held.beyond = response;
	held.served = {response.fetched, (response.flags & SERVED_OVERRUN) != 0, (response.flags & SERVED_HIT) != 0,
		       (response.flags & SERVED_WALKED) != 0, (response.flags & SERVED_RAN) != 0};
	if (held.status != ARIES_ST_OK || !work.is_get())
		return;
	if (data.size() != work.bytes)
		held.status = ARIES_ST_TIMEOUT;
	else
		held.payload.assign(data.begin(), data.end());
} catch (const std::bad_alloc &) {
	held.status = ARIES_ST_TIMEOUT;
}

/* On the thread of Carry. */
void FmaHold::answered(const std::shared_ptr<HeldFma> &op, const CarriedResponse &response,
		       std::span<const uint8_t> data) noexcept
{
	HeldFma &held = *op;
	std::unique_lock guard(held.work.fmad.lock);

	bring_back(held, response, data);
	respond(op, guard);
}

/* Sends the request. What becomes of it is up to the action that is added for it, or to the carrier. */
uint8_t FmaHold::depart(const std::shared_ptr<HeldFma> &op, bool carried) noexcept
{
	HeldFma &held = *op;
	FmaWork &mine = held.work;

	hold_.depart(held.transaction.packets);
	if (hold_.packets() > traffic_.room())
		mine.fmad.counters.add(ARIES_CNT_ORB_STALLS);
	held.status = traffic_.request(held.transaction, mine.now, mine.fmad.counters, mine.passage);
	if (held.status == ARIES_ST_NO_NODE)
		return held.status;
	commit(held);
	const bool lost = held.status != ARIES_ST_OK;

	if (carried && !lost)
		return send_carried(op);
	const uint64_t due = lost ? mine.passage.depart_ns + RESPONSE_TIMEOUT_NS : in_order(mine, arrives_at(held));

	if (!hold_.add(due, mine.index, [this, op] { op->status == ARIES_ST_OK ? serve(op) : end(op); }))
		return ARIES_ST_QUEUE_FULL;
	return ARIES_ST_OK;
}

uint8_t FmaHold::begin(FmaWork &work, bool carried) noexcept
try {
	std::shared_ptr<HoldGroup> &group = work.fmad.group;

	if (!group)
		group = std::make_shared<HoldGroup>();
	auto op = std::make_shared<HeldFma>(work, group, hold_);
	HeldFma &held = *op;
	uint8_t status = prepare(held, carried);

	if (status == ARIES_ST_OK)
		status = depart(op, carried);
	if (status != ARIES_ST_OK)
		return status;
	FmaWork &mine = held.work;

	held.closes = work.event_bits();
	/* What the window's stores were refused at once is told together with what is on its way. */
	if (work.op == ARIES_FMA_CLOSE && group->status == ARIES_ST_OK)
		group->status = mine.fmad.window_status;
	if (held.closes)
		group.reset();
	else
		held.group->open++;
	mine.count(mine.kind(held.command));
	work.held = true;
	/* An atomic that brings nothing back is as a put. */
	work.awaited = work.awaited && held.lands;
	if (work.awaited)
		mine.fmad.awaited = op;
	work.passage = mine.passage;
	return ARIES_ST_OK;
} catch (const std::bad_alloc &) {
	return ARIES_ST_QUEUE_FULL;
}

/* When the target takes the request: a put is in its memory then, what it reads is read. */
uint64_t FmaHold::arrives_at(const HeldFma &held) noexcept
{
	const FmaWork &work = held.work;

	return held.transaction.returns ? work.passage.turn_ns - NIC_PIPELINE_NS : work.now + work.passage.latency_ns;
}

/*
 * What tells the target that something is there (a flag, an event) comes behind what this NIC has sent it before
 * without an event of its own: parts of the same message, which a receive message table would commit as one transaction
 * (N19).
 */
uint64_t FmaHold::in_order(const FmaWork &work, uint64_t due_ns) noexcept
{
	std::atomic<uint64_t> &silent = silent_until_[work.node % MEMBERS_MAX];
	uint64_t before = silent.load(std::memory_order_relaxed);

	if (work.op == ARIES_FMA_PUT_SYNC || work.op == ARIES_FMA_CQWRITE || (work.mode & ARIES_EV_REMOTE))
		return std::max(due_ns, before);
	if (!work.event_bits()) {
		while (due_ns > before && !silent.compare_exchange_weak(before, due_ns, std::memory_order_relaxed)) {
		}
	}
	return due_ns;
}

/* The request is at its target. */
void FmaHold::serve(const std::shared_ptr<HeldFma> &op) noexcept
{
	HeldFma &held = *op;
	FmaWork &work = held.work;
	std::unique_lock guard(work.fmad.lock);

	held.status = target_state(core_, work.node, now_ns());
	if (held.status == ARIES_ST_OK)
		held.status = at_target(held);
	respond(op, guard);
}

/* The target has done its part: the response leaves. The descriptor's lock is held, and given back. */
void FmaHold::respond(const std::shared_ptr<HeldFma> &op, std::unique_lock<SpinLock> &guard) noexcept
{
	HeldFma &held = *op;
	FmaWork &work = held.work;

	work.fetched = held.served.fetched;
	work.remote_overrun = held.served.overrun;
	if (held.served.ran)
		traffic_.serve_atomic(work.node, held.served.hit, held.served.walked, held.command.fetch, work.passage);
	later_turn(held.beyond, work.passage.depart_ns, work.passage);
	traffic_.respond(held.transaction, work.now, work.fmad.counters, work.passage);
	later_back(held.beyond, work.passage.depart_ns, held.transaction.returns, work.passage);
	if (traffic_.unanswered(work.passage) && held.status == ARIES_ST_OK)
		held.status = traffic_.why_unanswered(work.passage);
	count_latency(core_, work.fmad.counters, traffic_.waited(work.passage, work.now));
	const uint32_t index = work.index;
	const uint64_t due = traffic_.unanswered(work.passage) ? work.passage.depart_ns + RESPONSE_TIMEOUT_NS
							       : work.passage.back_ns + NIC_PIPELINE_NS;

	guard.unlock();
	if (!hold_.add(due, index, [this, op] { end(op); }))
		end(op);
}

/* What it does there. The memory domain must be the one that was found when it left. */
uint8_t FmaHold::at_target(HeldFma &held) noexcept
{
	const FmaWork &work = held.work;

	/* Seen by an invalidation as long as it lasts: what is found now stays until it was used. */
	Visit target(core_, work.node);
	uint32_t life;
	uint8_t status = probe(work, held.command, life);

	if (status == ARIES_ST_OK && life != held.far_life)
		status = ARIES_ST_MDD;
	if (status != ARIES_ST_OK)
		return status;
	return serve_request(core_, work.request(work.kind(held.command), held.command), target, held.served,
			     held.payload);
}

/* The response is back with data, or nobody waits for it any more. */
void FmaHold::end(const std::shared_ptr<HeldFma> &op) noexcept
{
	HeldFma &held = *op;
	FmaWork &work = held.work;
	const std::lock_guard guard(work.fmad.lock);

	if (held.status == ARIES_ST_OK && held.lands && !held.told)
		held.status = land(held);
	if (core_.trace.on()) [[unlikely]]
		capture_fma(core_, work, held.status, nullptr);
	if (!held.closes) {
		end_silent(held);
		held.done.store(true, std::memory_order_release);
		return;
	}
	/* Its event tells of those without one that came before it, so they come first. */
	if (held.group->open) {
		std::shared_ptr<HoldGroup> group = std::move(held.group);

		group->parked = op;
		return;
	}
	finish(held, held.group->status);
}

void FmaHold::await(uint32_t index) noexcept
{
	Fmad &fmad = descriptors_[index];
	std::shared_ptr<HeldFma> op;
	{
		const std::lock_guard guard(fmad.lock);

		op.swap(fmad.awaited);
	}
	if (!op)
		return;
	const auto done = [&op] { return op->done.load(std::memory_order_acquire); };

	if (!hold_.wait(done)) {
		hold_.expedite(index, true);
		hold_.wait(done);
	}
	const std::lock_guard guard(fmad.lock);

	/* One that was disabled meanwhile goes on to wait for nothing. */
	if (fmad.ctl.load(std::memory_order_relaxed) & ARIES_FMAD_CTL_ENABLE_MASK)
		hold_.expedite(index, false);

	/* The memory is its owner's again: what comes back later must not be written there. */
	op->told = !done();
	descriptors_.publish_status(index, op->told ? uint8_t(ARIES_ST_TIMEOUT) : op->status);
}

uint8_t FmaHold::land(HeldFma &held) noexcept
{
	FmaWork &work = held.work;
	Visit local(core_, core_.node);
	Landing place;
	uint8_t status = place.find(work, local);

	if (status == ARIES_ST_OK && core_.own().mdd[local.mdh()].life.load() != held.near_life)
		status = ARIES_ST_LOCAL_MDD;
	if (status != ARIES_ST_OK)
		return status;
	if (work.is_get() && core_.trace.on()) [[unlikely]]
		capture_fma(core_, work, ARIES_ST_OK, &place.data);
	place.store(work, held.payload.data());
	return ARIES_ST_OK;
}

/* An operation without an event: its failure is the group's. */
void FmaHold::end_silent(HeldFma &held) noexcept
{
	HoldGroup &group = *held.group;

	if (held.status != ARIES_ST_OK) {
		descriptors_.finish(held.work, held.status);
		if (group.status == ARIES_ST_OK && !held.told)
			group.status = held.status;
	}
	if (--group.open || !group.parked)
		return;
	const std::shared_ptr<HeldFma> last = std::move(group.parked);

	finish(*last, group.status);
}

/* The descriptor's lock is held. @before: of what came before and had no event */
void FmaHold::finish(HeldFma &held, uint8_t before) noexcept
{
	if (held.status == ARIES_ST_OK && before != ARIES_ST_OK) {
		held.status = before;
		held.work.reported = true;
	}
	descriptors_.finish(held.work, held.status);
}

void FmaHold::end_group(FmaWork &work, uint8_t status) noexcept
{
	std::shared_ptr<HoldGroup> group;

	if (work.event_bits())
		group.swap(work.fmad.group);
	if (!group) {
		descriptors_.finish(work, status);
		return;
	}
	if (group->open) {
		try {
			group->parked = std::make_shared<HeldFma>(work, nullptr, hold_);
			group->parked->status = status;
			return;
		} catch (const std::bad_alloc &) {
			/* Rather early than never. */
		}
	}
	if (status == ARIES_ST_OK && group->status != ARIES_ST_OK) {
		status = group->status;
		work.reported = true;
	}
	descriptors_.finish(work, status);
}

} // namespace aries
