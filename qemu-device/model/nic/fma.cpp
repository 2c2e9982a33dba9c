/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
#include "nic/fma.hpp"

#include <cstring>

#include "nic/ecc.hpp"
#include "nic/launch.hpp"
#include "nic/sequence.hpp"

namespace aries
{

namespace
{

constexpr uint32_t GET_MAX = 65532;

} // namespace

void report_failure(Core &core, CounterBlock &counters, uint8_t status, uint8_t ptag, uint32_t index, uint8_t op,
		    const Access &access) noexcept
{
	ErrorEvent event = {status,          ptag, access.node, access.mdh, access.offset & OFFSET_MASK, access.bytes,
			    uint16_t(index), op};

	counters.add(ARIES_CNT_ERRORS);
	if (status == ARIES_ST_TIMEOUT || status == ARIES_ST_CRC)
		counters.add(ARIES_CNT_TIMEOUTS);
	core.errors.report(core.node, event);
	if (target_records(status)) {
		event.pe = core.node;
		/* Tags are names of a node: that of the domain which was hit, if there is one. */
		const uint64_t hit = core.segment.node(access.node).mdd[access.mdh % ARIES_MDD_ENTRIES].ctl.load();

		event.ptag = hit & ARIES_MDD_CTL_VALID_MASK ? uint8_t(field(hit, ARIES_MDD_CTL_PTAG_MASK)) : 0;
		core.errors.report(access.node, event);
	}
	core.host.trace("fma_failed", status, access.node, access.offset);
}

void Fma::publish_status(uint32_t index, uint8_t status) noexcept
{
	static_assert(offsetof(aries_fma_status, status) == 4 && sizeof(aries_fma_status) == 8);
	auto *word = reinterpret_cast<uint64_t *>(area(index) + ARIES_DESC_STATUS);

	__atomic_store_n(word, ++fmads_[index].sequence | uint64_t(status) << 32, __ATOMIC_RELEASE);
}

void Fma::doorbell(uint32_t index, uint64_t value) noexcept
{
	FmaWork work = begin(index);
	uint8_t status = ARIES_ST_RESERVED;

	work.tid = uint16_t(field(value, ARIES_DB_TID_MASK));
	work.bytes = uint32_t(field(value, ARIES_DB_LEN_MASK));
	work.op = uint8_t(field(value, ARIES_DB_OP_MASK));
	work.mode = uint8_t(field(value, ARIES_DB_MODE_MASK));
	work.amo = uint16_t(field(value, ARIES_DB_AMO_MASK));
	work.data = area(index) + ARIES_DESC_LINE;
	work.awaited = !work.event_bits() && (work.op == ARIES_FMA_GET_OP || work.op == ARIES_FMA_AMO_OP);
	if (!(value & ARIES_DB_RSVD_MASK) && !(work.mode & ARIES_EV_RSVD_MASK))
		status = run(work);
	if (core_.trace.on() && !work.held) [[unlikely]]
		capture(work, status, nullptr);
	if (work.op != ARIES_FMA_CLOSE || !work.fmad.window_open)
		work.fmad.counters.add(ARIES_CNT_SSIDS);
	if (work.op == ARIES_FMA_CLOSE) {
		/* Events of a transaction tell its first failure, which was reported when it happened. */
		if (status == ARIES_ST_OK && !work.held) {
			status = work.fmad.window_status;
			work.reported = true;
		}
		work.fmad.window_open = false;
		work.fmad.window_status = ARIES_ST_OK;
	}
	ended(work, status);
	if (!work.held || !work.awaited) [[likely]]
		publish_status(index, status);
}

void Fma::put_window(uint32_t index, uint32_t at, unsigned int size, uint64_t value) noexcept
{
	FmaWork work = begin(index);
	uint8_t data[8];

	memcpy(data, &value, sizeof(data));
	work.op = ARIES_FMA_PUT_LINE;
	work.bytes = size;
	work.data = data;
	const uint8_t status = window_place(window(index), at, size, work.desc);

	window_done(work, status == ARIES_ST_OK ? run(work) : status);
}

void Fma::get_window(uint32_t index, uint32_t at, uint64_t word) noexcept
{
	FmaWork work = begin(index);

	work.amo = uint16_t(field(word, ARIES_GETW_AMO_MASK));
	work.op = work.amo ? ARIES_FMA_AMO_OP : ARIES_FMA_GET_OP;
	work.bytes = uint32_t(field(word, ARIES_GETW_LEN_MASK)) + 1;
	if (AmoCommand command; work.amo)
		work.bytes = command.decode(work.amo) ? command.bytes : 8;
	work.desc.local_offset = field(word, ARIES_GETW_LOCAL_MASK);
	uint8_t status;

	if (word & ARIES_GETW_RSVD_MASK)
		status = ARIES_ST_RESERVED;
	else if (work.bytes > ARIES_PACKET_BYTES)
		status = ARIES_ST_LENGTH;
	else
		status = window_place(window(index), at, work.bytes, work.desc);
	window_done(work, status == ARIES_ST_OK ? run(work) : status);
}

/* A window store has no status of its own and no event: CLOSE tells. */
void Fma::window_done(FmaWork &work, uint8_t status) noexcept
{
	if (core_.trace.on() && !work.held) [[unlikely]]
		capture(work, status, nullptr);
	if (!work.fmad.window_open)
		work.fmad.counters.add(ARIES_CNT_SSIDS);
	work.fmad.window_open = true;
	if (status != ARIES_ST_OK && work.fmad.window_status == ARIES_ST_OK)
		work.fmad.window_status = status;
	ended(work, status);
}

uint8_t Fma::check_length(const FmaWork &work) const noexcept
{
	switch (work.op) {
	case ARIES_FMA_PUT_LINE:
	case ARIES_FMA_PUT_SYNC:
	case ARIES_FMA_PUT_SCATTER:
		return work.bytes <= ARIES_DESC_LINE_BYTES ? ARIES_ST_OK : ARIES_ST_LENGTH;
	case ARIES_FMA_GET_OP:
	case ARIES_FMA_GET_FLAG:
		if (work.bytes < 1 || work.bytes > GET_MAX)
			return ARIES_ST_LENGTH;
		if ((work.bytes | work.desc.offset) & 3)
			return ARIES_ST_ALIGN;
		/* A flag that somebody polls arrives in one piece. */
		return uint8_t(work.flagged() && (work.desc.local_offset & 3) ? ARIES_ST_LOCAL_ALIGN : ARIES_ST_OK);
	case ARIES_FMA_AMO_OP:
	case ARIES_FMA_AMO_FLAG:
		return work.bytes == 8 || work.bytes == 4 ? ARIES_ST_OK : ARIES_ST_LENGTH;
	case ARIES_FMA_LAUNCH:
		return work.bytes && work.bytes <= ARIES_LAUNCH_LINE ? ARIES_ST_OK : ARIES_ST_LENGTH;
	case ARIES_FMA_LAUNCH_RING:
		return work.bytes && work.bytes <= ARIES_LAUNCH_MAX ? ARIES_ST_OK : ARIES_ST_LENGTH;
	case ARIES_FMA_CQWRITE:
	case ARIES_FMA_CLOSE:
	case ARIES_FMA_CE:
		return work.bytes ? ARIES_ST_LENGTH : ARIES_ST_OK;
	default:
		return ARIES_ST_BAD_OP;
	}
}

/* What the source NIC can tell without the network. */
uint8_t Fma::check(FmaWork &work) noexcept
{
	const NodeSlot &own = core_.own();

	if (!(work.rights.ctl & ARIES_FMAD_CTL_ENABLE_MASK) &&
	    ecc_look(core_, core_.node, ARIES_RAS_FMAD, work.index, work.fmad.ctl, FMAD_ECC, work.rights.ctl) !=
		    ARIES_ST_OK)
		return ARIES_ST_LOCAL_ECC;
	if (!(work.rights.ctl & ARIES_FMAD_CTL_ENABLE_MASK) || own.online.load(std::memory_order_relaxed) != ONLINE_ALL)
		return ARIES_ST_DISABLED;
	if (work.event_bits()) {
		work.cq_serial = cq_claim(own, work.desc.cq, work.rights.owner());
		if (!work.cq_serial) [[unlikely]] {
			const uint8_t why = cq_claim_again(core_, work.desc.cq, work.rights.owner(), work.cq_serial);

			if (why != ARIES_ST_OK)
				return why;
		}
	}
	const bool fetches = work.is_get() || work.is_atomic() || work.op == ARIES_FMA_CE;

	if (work.desc.reserved || (work.desc.dlvr_mode & ARIES_DLV_RSVD_MASK) || !mdh_sound(work.desc.mdh) ||
	    work.desc.offset >> ARIES_OFFSET_BITS || (fetches && work.desc.local_offset >> ARIES_OFFSET_BITS))
		return ARIES_ST_RESERVED;
	uint8_t status = check_length(work);

	return status == ARIES_ST_OK ? work.rights.load(core_, own, work.rights.ctl) : status;
}

uint8_t Fma::run(FmaWork &work) noexcept
{
	work.node = work.desc.pe;
	uint8_t status = check(work);

	if (work.is_batch()) [[unlikely]]
		return batch(work, status);
	if (status == ARIES_ST_OK)
		status = ntt_.resolve(work.rights.ctl, work.desc.pe, work.node);
	if (status != ARIES_ST_OK)
		return status;
	const uint64_t host = now_ns();

	work.now = core_.at(host);
	status = target_state(core_, work.node, host);
	if (status != ARIES_ST_OK)
		return status;
	if (holds(work.fmad) && work.op != ARIES_FMA_CE) [[unlikely]]
		return hold_back(work);
	switch (work.op) {
	case ARIES_FMA_GET_OP:
	case ARIES_FMA_GET_FLAG:
		return get(work);
	case ARIES_FMA_AMO_OP:
	case ARIES_FMA_AMO_FLAG:
		return atomic(work);
	case ARIES_FMA_CQWRITE:
		return cq_write(work);
	case ARIES_FMA_CE:
		return collective(work);
	default:
		return put(work);
	}
}

uint8_t Fma::send(FmaWork &work, PacketKind kind, uint32_t bytes) noexcept
{
	const Train train = Train::of(kind, work.desc.dlvr_mode, work.node, bytes, header_hash(work));
	const uint8_t status = traffic_.send(train, work.now, work.fmad.counters, work.passage);

	if (status == ARIES_ST_OK)
		count_latency(core_, work.fmad.counters, traffic_.waited(work.passage, work.now));
	work.unanswered = traffic_.unanswered(work.passage);
	return status;
}

void Fma::remote_event(FmaWork &work, Visit &target) noexcept
{
	if (!(work.mode & ARIES_EV_REMOTE))
		return;
	const CqEntry entry = {.data = work.desc.remote_event,
			       .tid = 0,
			       .status = ARIES_ST_OK,
			       .info = ARIES_INFO_REMOTE,
			       .source = ARIES_SRC_REMOTE,
			       .type = uint8_t(field(work.mode, ARIES_EV_TYPE_MASK)),
			       .remote_overrun = false};

	work.remote_overrun = target.post(entry.word()) == CqResult::OVERRUN;
}

/*
 * What can wait until the data is there for a peer to see does wait. Between neighbours that is the booking, too: on
 * their way only an injected fault can lose a packet.
 */
uint8_t Fma::put(FmaWork &work) noexcept
{
	const Train train = Train::of(PacketKind::Put, work.desc.dlvr_mode, work.node, work.bytes, header_hash(work));
	const bool sure = core_.network.adjacent(core_.node, work.node) && !core_.faults.any();
	uint8_t status;

	if (sure) [[likely]] {
		status = deliver(work);
		traffic_.send(train, work.now, work.fmad.counters, work.passage);
	} else {
		status = traffic_.request(train, work.now, work.fmad.counters, work.passage);
		if (status != ARIES_ST_OK)
			return status;
		status = deliver(work);
		traffic_.respond(train, work.now, work.fmad.counters, work.passage);
		work.passage.latency_ns = traffic_.waited(work.passage, work.now);
		if (traffic_.unanswered(work.passage)) [[unlikely]]
			status = traffic_.why_unanswered(work.passage);
	}
	count_latency(core_, work.fmad.counters, work.passage.latency_ns);
	work.fmad.counters.add(ARIES_CNT_FMA_PUTS, (work.bytes + ARIES_PACKET_BYTES - 1) / ARIES_PACKET_BYTES +
							   (work.op == ARIES_FMA_PUT_SYNC));
	return status;
}

/* A put at its target. */
uint8_t Fma::deliver(FmaWork &work) noexcept
{
	Visit target(core_, work.node);
	uint8_t *place = nullptr;
	uint8_t *flag = nullptr;
	uint8_t status = target.admit(work.access(work.bytes, true));

	if (status == ARIES_ST_OK && !core_.faults.any() && !target.lazy()) [[likely]] {
		if (work.op == ARIES_FMA_PUT_LINE) [[likely]]
			status = target.spot(work.desc.offset, work.bytes, true, place);
		else if (work.op == ARIES_FMA_PUT_SYNC)
			status = flagged_spots(work, target, place, flag);
	}
	if (place) [[likely]] {
		store_bytes(place, work.data, work.bytes);
		if (flag)
			store_bytes(flag, reinterpret_cast<const uint8_t *>(&work.desc.sync_value), 8);
	} else if (status == ARIES_ST_OK) {
		status = deliver_runs(work, target);
	}
	if (status != ARIES_ST_OK) {
		target.count_refused();
		return status;
	}
	remote_event(work, target);
	target.count_requests((work.bytes + ARIES_PACKET_BYTES - 1) / ARIES_PACKET_BYTES);
	return ARIES_ST_OK;
}

/* Whether the flag of a put with one may be stored where it says. */
uint8_t Fma::check_flag(const FmaWork &work, Visit &target) noexcept
{
	if (work.desc.sync_offset & 7)
		return ARIES_ST_ALIGN;
	if (work.desc.sync_offset >> ARIES_OFFSET_BITS || !target.mdd().contains(work.desc.sync_offset, 8))
		return ARIES_ST_BOUNDS;
	return ARIES_ST_OK;
}

/* Data within a page, and the flag: short messages. Both or none of @place and @flag; none for any other range. */
uint8_t Fma::flagged_spots(const FmaWork &work, Visit &target, uint8_t *&place, uint8_t *&flag) noexcept
{
	uint8_t status = check_flag(work, target);

	if (status == ARIES_ST_OK)
		status = target.spot(work.desc.offset, work.bytes, true, place);
	if (place)
		status = target.spot(work.desc.sync_offset, 8, true, flag);
	if (!flag)
		place = nullptr;
	return status;
}

/* Any range, and the flag behind it. */
uint8_t Fma::deliver_runs(const FmaWork &work, Visit &target) noexcept
{
	const bool sync = work.op == ARIES_FMA_PUT_SYNC;
	FmaRuns data, flag;
	uint8_t status = ARIES_ST_OK;

	if (sync)
		status = check_flag(work, target);
	if (status == ARIES_ST_OK)
		status = target.runs(work.desc.offset, work.bytes, true, data);
	if (status == ARIES_ST_OK && sync)
		status = target.runs(work.desc.sync_offset, 8, true, flag);
	if (status != ARIES_ST_OK)
		return status;
	if (core_.faults.any()) [[unlikely]]
		arrive<ARIES_DESC_LINE_BYTES / ARIES_PACKET_BYTES>(
			core_.faults, target, packets_of(work.bytes), [&](uint32_t packet) {
				const uint32_t at = packet * ARIES_PACKET_BYTES;

				scatter_part(data, at, work.data + at, std::min(work.bytes - at, ARIES_PACKET_BYTES));
			});
	else
		scatter(data, work.data);
	if (sync)
		scatter(flag, reinterpret_cast<const uint8_t *>(&work.desc.sync_value));
	return ARIES_ST_OK;
}

uint8_t Fma::get(FmaWork &work) noexcept
{
	Visit local(core_, core_.node);
	Landing place;
	FmaRuns from;
	uint8_t status = find_landing(work, local, place);

	if (status == ARIES_ST_OK)
		status = send(work, PacketKind::Get, work.bytes);
	if (status != ARIES_ST_OK)
		return status;
	work.fmad.counters.add(ARIES_CNT_FMA_GETS, (work.bytes + ARIES_PACKET_BYTES - 1) / ARIES_PACKET_BYTES);
	Visit target(core_, work.node);

	status = target.admit(work.access(work.bytes, false));
	if (status == ARIES_ST_OK)
		status = target.runs(work.desc.offset, work.bytes, false, from);
	if (status != ARIES_ST_OK) {
		target.count_refused();
		return status;
	}
	target.count_requests((work.bytes + ARIES_PACKET_BYTES - 1) / ARIES_PACKET_BYTES);
	if (work.unanswered) [[unlikely]] {
		remote_event(work, target);
		return traffic_.why_unanswered(work.passage);
	}
	if (core_.faults.any()) [[unlikely]]
		arrive<(GET_MAX + ARIES_PACKET_BYTES - 1) / ARIES_PACKET_BYTES>(
			core_.faults, target, packets_of(work.bytes), [&](uint32_t packet) {
				const uint32_t at = packet * ARIES_PACKET_BYTES;

				copy_part(place.data, from, at, std::min(work.bytes - at, ARIES_PACKET_BYTES));
			});
	else
		copy_runs(place.data, from);
	raise_flag(work, place);
	remote_event(work, target);
	if (core_.trace.on()) [[unlikely]]
		capture(work, ARIES_ST_OK, &place.data);
	return ARIES_ST_OK;
}

uint8_t Fma::cq_write(FmaWork &work) noexcept
{
	uint8_t status = send(work, PacketKind::CqWrite, CQWRITE_BYTES);

	if (status != ARIES_ST_OK)
		return status;
	status = write_queue(work);
	return status == ARIES_ST_OK && work.unanswered ? traffic_.why_unanswered(work.passage) : status;
}

/* The payload is the event; the offset has no meaning. */
Access Fma::cq_access(const FmaWork &work) const noexcept
{
	NodeSlot &slot = core_.segment.node(work.node);
	Access access = work.access(0, false);

	access.remote_event = true;
	access.mdh = Vmdh(core_, work.node, slot).of_packet(work.desc.mdh, access.key);
	access.offset = mdd_load(slot, access.mdh).base;
	return access;
}

/* An entry for a queue of the target. */
uint8_t Fma::write_queue(FmaWork &work) noexcept
{
	Visit target(core_, work.node);
	const uint8_t status = target.admit(cq_access(work));

	if (status != ARIES_ST_OK) {
		target.count_refused();
		return status;
	}
	target.count_requests(1);
	const uint64_t entry = (work.desc.operand[0] & ARIES_CQE_WRITE_MASK) |
			       prep(ARIES_CQE_INFO_MASK, ARIES_INFO_REMOTE) |
			       prep(ARIES_CQE_SOURCE_MASK, ARIES_SRC_CQWRITE) |
			       prep(ARIES_CQE_TYPE_MASK, field(work.mode, ARIES_EV_TYPE_MASK));
	CqResult result = CqResult::GONE;

	if (core_.faults.any()) [[unlikely]]
		arrive<1>(core_.faults, target, 1, [&](uint32_t) { result = target.post(entry); });
	else
		result = target.post(entry);
	work.remote_overrun = result == CqResult::OVERRUN;
	return result == CqResult::GONE ? ARIES_ST_NO_CQ : ARIES_ST_OK;
}

void Fma::source_events(FmaWork &work, uint8_t status) noexcept
{
	CqEntry entry = {.data = work.desc.local_event,
			 .tid = work.tid,
			 .status = status,
			 .info = ARIES_INFO_LOCAL,
			 .source = ARIES_SRC_FMA,
			 .type = uint8_t(field(work.mode, ARIES_EV_TYPE_MASK)),
			 .remote_overrun = work.remote_overrun};

	if (work.mode & ARIES_EV_LOCAL)
		cq_post(core_, core_.node, nullptr, work.desc.cq, entry.word(), work.cq_serial);
	if (work.mode & ARIES_EV_GLOBAL) {
		entry.info = ARIES_INFO_GLOBAL;
		cq_post(core_, core_.node, nullptr, work.desc.cq, entry.word(), work.cq_serial);
	}
}

void Fma::finish(FmaWork &work, uint8_t status) noexcept
{
	if (status != ARIES_ST_OK) [[unlikely]] {
		if (status == ARIES_ST_CE_BUSY) /* not a failure: the same doorbell is to be rung again */
			return;
		work.fmad.last.store(status, std::memory_order_relaxed);
		if (!work.reported)
			report_failure(core_, work.fmad.counters, status, work.rights.ptag(), work.index, work.op,
				       work.access(work.bytes, false));
	}
	if (work.cq_serial)
		source_events(work, status);
}

} // namespace aries
