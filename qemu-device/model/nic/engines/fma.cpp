/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/engines/fma.hpp"

#include <cstring>
#include <optional>

#include "nic/core/ecc.hpp"
#include "nic/engines/launch.hpp"

namespace aries
{

void Fma::doorbell(uint32_t index, uint64_t value) noexcept
{
	FmaWork work = descriptors_.begin(index);
	uint8_t status = ARIES_ST_RESERVED;

	work.tid = uint16_t(field(value, ARIES_DB_TID_MASK));
	work.bytes = uint32_t(field(value, ARIES_DB_LEN_MASK));
	work.op = uint8_t(field(value, ARIES_DB_OP_MASK));
	work.mode = uint8_t(field(value, ARIES_DB_MODE_MASK));
	work.amo = uint16_t(field(value, ARIES_DB_AMO_MASK));
	work.data = descriptors_.area(index) + ARIES_DESC_LINE;
	work.awaited = !work.event_bits() && (work.op == ARIES_FMA_GET_OP || work.op == ARIES_FMA_AMO_OP);
	if (!(value & ARIES_DB_RSVD_MASK) && !(work.mode & ARIES_EV_RSVD_MASK & ~ARIES_DB_LATER))
		status = run(work);
	if (core_.trace.on() && !work.held) [[unlikely]]
		capture_fma(core_, work, status, nullptr);
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
	if (work.held && (work.mode & ARIES_DB_LATER)) [[unlikely]]
		status = ARIES_ST_LATER;
	if (!work.held || !work.awaited) [[likely]]
		descriptors_.publish_status(index, status);
}

void Fma::put_window(uint32_t index, uint32_t at, unsigned int size, uint64_t value) noexcept
{
	FmaWork work = descriptors_.begin(index);
	uint8_t data[8];

	memcpy(data, &value, sizeof(data));
	work.op = ARIES_FMA_PUT_LINE;
	work.bytes = size;
	work.data = data;
	const uint8_t status = window_place(descriptors_.window(index), at, size, work.desc);

	window_done(work, status == ARIES_ST_OK ? run(work) : status);
}

void Fma::get_window(uint32_t index, uint32_t at, uint64_t word) noexcept
{
	FmaWork work = descriptors_.begin(index);

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
		status = window_place(descriptors_.window(index), at, work.bytes, work.desc);
	window_done(work, status == ARIES_ST_OK ? run(work) : status);
}

/* A window store has no status of its own and no event: CLOSE tells. */
void Fma::window_done(FmaWork &work, uint8_t status) noexcept
{
	if (core_.trace.on() && !work.held) [[unlikely]]
		capture_fma(core_, work, status, nullptr);
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

/*
 * What can wait until the data is there for a peer to see does wait. Between neighbours that is the booking, too: on
 * their way only an injected fault can lose a packet.
 */
uint8_t Fma::put(FmaWork &work) noexcept
{
	const Transaction transaction = work.transaction(PacketKind::Put, work.bytes);
	const bool sure = core_.network.adjacent(core_.node, work.node) && !core_.faults.any();
	uint8_t status;

	if (sure) [[likely]] {
		status = deliver(work);
		traffic_.send(transaction, work.now, work.fmad.counters, work.passage);
	} else {
		status = traffic_.request(transaction, work.now, work.fmad.counters, work.passage);
		if (status != ARIES_ST_OK)
			return status;
		status = deliver(work);
		traffic_.respond(transaction, work.now, work.fmad.counters, work.passage);
		work.passage.latency_ns = traffic_.waited(work.passage, work.now);
		if (traffic_.unanswered(work.passage)) [[unlikely]]
			status = traffic_.why_unanswered(work.passage);
	}
	count_latency(core_, work.fmad.counters, work.passage.latency_ns);
	work.count_put();
	return status;
}

/* A put at its target. */
uint8_t Fma::deliver(FmaWork &work) noexcept
{
	Visit target(core_, work.node);

	return serve_put(
		core_, [&work] { return work.request(PacketKind::Put); }, target, work.remote_overrun);
}

/* What a get has found, to where it is wanted. */
[[gnu::always_inline]] inline uint8_t Fma::bring(const FmaWork &work, const FmaRuns &from, Visit &target,
						 const Landing &place) noexcept
{
	if (work.unanswered) [[unlikely]]
		return ARIES_ST_OK;
	if (core_.faults.any()) [[unlikely]]
		arrive<(GET_MAX + ARIES_PACKET_BYTES - 1) / ARIES_PACKET_BYTES>(
			core_.faults, target, packets_of(work.bytes), [&](uint32_t packet) {
				const uint32_t at = packet * ARIES_PACKET_BYTES;

				copy_part(place.data, from, at, std::min(work.bytes - at, ARIES_PACKET_BYTES));
			});
	else
		copy_runs(place.data, from);
	const uint8_t status = target.settled();

	if (status == ARIES_ST_OK) [[likely]]
		place.raise_flag(work);
	return status;
}

/*
 * A get, an atomic (@KIND is Amo, whether it fetches or not) or a queue write. The response to an atomic is booked when
 * the target's unit has run it, that to all else together with the request.
 */
template <PacketKind KIND> uint8_t Fma::ask(FmaWork &work) noexcept
{
	constexpr bool ATOMIC = KIND == PacketKind::Amo;
	AmoCommand command = {};
	std::optional<Visit> local;
	Landing place;
	uint8_t status = ATOMIC ? work.check_atomic(command) : uint8_t(ARIES_ST_OK);
	const bool lands = KIND == PacketKind::Get || (ATOMIC && command.fetch);

	if (status == ARIES_ST_OK && lands)
		status = place.find(work, local.emplace(core_, core_.node));
	if (status != ARIES_ST_OK)
		return status;
	const PacketKind kind = ATOMIC && lands ? PacketKind::FetchAmo : KIND;
	const Transaction transaction = work.transaction(kind, work.wire_bytes(kind, command));

	status = ATOMIC ? traffic_.request(transaction, work.now, work.fmad.counters, work.passage)
			: traffic_.send(transaction, work.now, work.fmad.counters, work.passage);
	if (status != ARIES_ST_OK)
		return status;
	work.count(kind);
	work.unanswered = !ATOMIC && traffic_.unanswered(work.passage);
	const auto request = [&] { return work.request(kind, command); };
	Visit target(core_, work.node);
	Served served;

	status = serve_request(core_, request, target, served,
			       [&](const FmaRuns &from) { return bring(work, from, target, place); });
	work.remote_overrun = served.overrun;
	if (ATOMIC) {
		work.fetched = served.fetched;
		if (served.ran)
			traffic_.serve_atomic(work.node, served.hit, served.walked, lands, work.passage);
		traffic_.respond(transaction, work.now, work.fmad.counters, work.passage);
		work.unanswered = traffic_.unanswered(work.passage);
	}
	count_latency(core_, work.fmad.counters, traffic_.waited(work.passage, work.now));
	/* Nobody here knows that an atomic was refused if its response is lost. */
	if (work.unanswered && (ATOMIC || status == ARIES_ST_OK)) [[unlikely]]
		return traffic_.why_unanswered(work.passage);
	if (status == ARIES_ST_OK && ATOMIC && lands)
		place.store(work, nullptr);
	if (status == ARIES_ST_OK && KIND == PacketKind::Get && core_.trace.on()) [[unlikely]]
		capture_fma(core_, work, ARIES_ST_OK, &place.data);
	return status;
}

/* To a node of another host. */
uint8_t Fma::carry(FmaWork &work) noexcept
{
	return work.op == ARIES_FMA_CE ? ce_.contribute(work, true) : hold_.begin(work, true);
}

uint8_t Fma::run(FmaWork &work) noexcept
{
	work.node = work.desc.pe;
	uint8_t status = check(work);

	if (work.is_batch()) [[unlikely]]
		return batch_.run(work, status);
	if (status == ARIES_ST_OK)
		status = ntt_.resolve(work.rights.ctl, work.desc.pe, work.node);
	if (status != ARIES_ST_OK)
		return status;
	const uint64_t host = now_ns();

	work.now = core_.at(host);
	status = target_state(core_, work.node, host);
	if (status != ARIES_ST_OK)
		return status == ARIES_ST_TIMEOUT && is_carried(core_, work.node) ? carry(work) : status;
	if (hold_.on(work.fmad) && work.op != ARIES_FMA_CE) [[unlikely]]
		return hold_.begin(work);
	switch (work.op) {
	case ARIES_FMA_GET_OP:
	case ARIES_FMA_GET_FLAG:
		return ask<PacketKind::Get>(work);
	case ARIES_FMA_AMO_OP:
	case ARIES_FMA_AMO_FLAG:
		return ask<PacketKind::Amo>(work);
	case ARIES_FMA_CQWRITE:
		return ask<PacketKind::CqWrite>(work);
	case ARIES_FMA_CE:
		return ce_.contribute(work);
	default:
		return put(work);
	}
}

/* A 16-byte store, as its upper half arrives. It has no status of its own: CLOSE tells. */
void Fma::launch_store(uint32_t index, uint64_t value) noexcept
{
	FmaWork work = descriptors_.begin(index);
	const aries_launch_entry entry = {work.fmad.launch_low, value};

	work.fmad.launch_low = 0;
	work.op = ARIES_FMA_LAUNCH;
	work.bytes = 1;
	uint8_t status = check(work);

	if (status == ARIES_ST_OK)
		status = batch_.launch_one(work, entry, 0);
	window_done(work, status);
}

} // namespace aries
