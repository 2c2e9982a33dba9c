/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/remote/serve_carried.hpp"

namespace aries
{

namespace
{

/* One on its way through this host. */
struct Arrival {
	Core &core;
	const CarriedRequest &request;
	std::span<const uint8_t> payload;
	std::vector<uint8_t> &data;
	CarriedResponse response = {};
};

bool of_block(CarriedKind kind)
{
	return kind == CarriedKind::BlockPut || kind == CarriedKind::BlockGet || kind == CarriedKind::BlockEvent;
}

/** The whole range, of which a piece of a block transfer is a part. */
TargetRequest target_request(const CarriedRequest &from, const uint8_t *data)
{
	using enum CarriedKind;

	TargetRequest request = {};
	AmoCommand command = {};

	switch (CarriedKind(from.kind)) {
	case Get:
	case BlockGet:
		request.kind = PacketKind::Get;
		break;
	case Amo:
		request.kind = PacketKind::Amo;
		break;
	case FetchAmo:
		request.kind = PacketKind::FetchAmo;
		break;
	case CqWrite:
		request.kind = PacketKind::CqWrite;
		break;
	default:
		request.kind = PacketKind::Put;
	}
	command.decode(from.amo);
	request.flagged = from.flags & CARRIED_FLAGGED;
	request.remote_event = from.flags & CARRIED_EVENT;
	request.type = from.type;
	request.mdh = from.mdh;
	request.command = command;
	request.node = from.target;
	request.key = from.key;
	request.bytes = from.bytes;
	request.event = from.event;
	request.offset = from.offset;
	request.flag_offset = from.flag_offset;
	request.flag_value = from.flag_value;
	request.operand[0] = from.operand[0];
	request.operand[1] = from.operand[1];
	request.data = data;
	return request;
}

uint8_t serve_fma(Arrival &arrival, Visit &target)
{
	Served served;
	const uint8_t status = serve_request(arrival.core, target_request(arrival.request, arrival.payload.data()),
					     target, served, arrival.data);

	arrival.response.fetched = served.fetched;
	arrival.response.flags = uint8_t((served.overrun ? SERVED_OVERRUN : 0) | (served.hit ? SERVED_HIT : 0) |
					 (served.walked ? SERVED_WALKED : 0) | (served.ran ? SERVED_RAN : 0));
	return status;
}

RmtClaim claim_of(const CarriedClaim &from)
{
	return {from.index, from.state, from.mdh, from.offset, from.event, from.ecc};
}

/* A piece of a block transfer, or the event behind the last one: the whole range is checked each time. */
uint8_t serve_block(Arrival &arrival, Visit &target)
{
	const CarriedRequest &from = arrival.request;
	const TargetRequest request = target_request(from, arrival.payload.data());
	const bool put = request.writes();
	const uint64_t at = (from.offset + from.at) & OFFSET_MASK;
	FmaRuns runs;
	uint8_t status = target.admit(request.access());

	if (status == ARIES_ST_OK && from.claim.state &&
	    !rmt_held(arrival.core.segment.node(from.target), claim_of(from.claim)))
		status = ARIES_ST_FLUSHED;
	if (status == ARIES_ST_OK && CarriedKind(from.kind) != CarriedKind::BlockEvent)
		status = target.runs(at, from.part, put, runs);
	if (status != ARIES_ST_OK) {
		target.count_refused();
		return status;
	}
	if (CarriedKind(from.kind) == CarriedKind::BlockEvent) {
		bool overrun = false;

		serve_event(as_it_is(request), target, overrun);
		arrival.response.flags = overrun ? SERVED_OVERRUN : 0;
		return ARIES_ST_OK;
	}
	target.count_requests(packets_of(from.part));
	if (!put)
		return serve_bytes(target, runs, from.part, arrival.data);
	scatter(runs, request.data);
	return target.settled();
}

/* The owner of a taken receive is named by its slot here, which exists as long as its host can be reached. */
uint32_t taker(const Core &core, uint32_t source)
{
	const uint64_t member = core.segment.node(source).member.load();

	return (source + 1) | uint32_t(member >> 32 << 16);
}

uint8_t serve_send(Arrival &arrival, Visit &target)
{
	const CarriedRequest &from = arrival.request;
	const TargetRequest request = target_request(from, nullptr);
	RmtClaim claim = claim_of(from.claim);
	bool overrun = false;

	if (CarriedKind(from.kind) == CarriedKind::Finish) {
		const uint8_t status = serve_message(arrival.core, request, claim, target, overrun);

		arrival.response.flags = overrun ? SERVED_OVERRUN : 0;
		return status;
	}
	const uint8_t status = serve_match(arrival.core, request, taker(arrival.core, from.source), target, claim);

	arrival.response.claim = {claim.state, claim.offset, claim.index, claim.event, claim.ecc, claim.mdh, 0};
	return status;
}

/* Whether it arrives. */
uint8_t come(Arrival &arrival, Inbound::Packets &packets)
{
	const CarriedRequest &request = arrival.request;
	const uint64_t now = now_ns();
	const uint8_t status = target_state(arrival.core, request.target, now);

	/* Its host has gone meanwhile, so nobody would release the receive. */
	if (arrival.core.members.presence(request.source, now) != Presence::ALIVE)
		return ARIES_ST_TIMEOUT;
	if (status == ARIES_ST_OK)
		packets.arrive();
	return status;
}

uint8_t serve(Arrival &arrival)
{
	using enum CarriedKind;

	const CarriedRequest &request = arrival.request;
	Visit target(arrival.core, request.target);

	switch (CarriedKind(request.kind)) {
	case BlockPut:
	case BlockGet:
	case BlockEvent:
		return serve_block(arrival, target);
	case Match:
	case Finish:
		return serve_send(arrival, target);
	case Return:
		rmt_return(arrival.core.segment.node(request.target), claim_of(request.claim));
		return ARIES_ST_OK;
	default:
		return serve_fma(arrival, target);
	}
}

bool payload_sound(const CarriedRequest &request, size_t payload)
{
	using enum CarriedKind;

	switch (CarriedKind(request.kind)) {
	case Put:
		return request.bytes <= ARIES_DESC_LINE_BYTES && request.part == request.bytes &&
		       payload == request.part;
	case BlockPut:
		return request.part && payload == request.part;
	case Get:
		return request.bytes && request.bytes <= GET_MAX && request.part == request.bytes && !payload;
	case BlockGet:
		return request.part && !payload;
	default:
		return !request.part && !payload;
	}
}

} // namespace

bool carried_sound(const CarriedRequest &request, size_t payload, uint32_t nodes) noexcept
{
	using enum CarriedKind;

	const CarriedKind kind = CarriedKind(request.kind);
	AmoCommand command = {};

	if (request.kind < uint8_t(Put) || request.kind > uint8_t(Outcome) ||
	    (request.flags & ~(CARRIED_FLAGGED | CARRIED_EVENT)) || request.type > 3 || request.source >= nodes ||
	    request.target >= nodes || !mdh_sound(request.mdh) || request.offset >> ARIES_OFFSET_BITS ||
	    request.claim.index >= ARIES_RMT_ENTRIES || request.part > CARRY_PAYLOAD || request.reserved)
		return false;
	if (kind >= Contribute)
		return !payload;
	if (of_block(kind) && (request.at > request.bytes || request.part > request.bytes - request.at))
		return false;
	/* Only a send that has taken a receive names one. */
	if (kind == Finish || kind == Return ? !request.claim.state : kind != BlockPut && request.claim.state)
		return false;
	if ((kind == Amo || kind == FetchAmo) &&
	    (!command.decode(request.amo) || command.fetch != (kind == FetchAmo) || request.bytes != command.bytes ||
	     (request.offset & (command.bytes - 1u))))
		return false;
	return payload_sound(request, payload);
}

CarriedResponse serve_carried(Core &core, Inbound &inbound, const CarriedRequest &request,
			      std::span<const uint8_t> payload, std::vector<uint8_t> &data) noexcept
{
	Arrival arrival = {core, request, payload, data};
	CarriedResponse &response = arrival.response;
	const TargetRequest asked = target_request(request, nullptr);
	Inbound::Packets packets(inbound, request, asked.kind);

	response.status = come(arrival, packets);
	if (response.status == ARIES_ST_OK)
		response.status = serve(arrival);
	report_at_target(core, asked, request.source, response.status, request.index, request.op);
	if (response.status == ARIES_ST_OK) {
		packets.serve_atomic(response, asked.command.fetch);
		packets.leave();
		packets.tell(response);
	}
	if (response.status != ARIES_ST_OK)
		data.clear();
	response.bytes = uint32_t(data.size());
	return response;
}

} // namespace aries
