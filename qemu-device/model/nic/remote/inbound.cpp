/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/remote/inbound.hpp"

namespace aries
{

namespace
{

constexpr uint32_t NEVER_FULL = 1 << 20; /* packets */

bool has_packets(CarriedKind kind)
{
	return kind >= CarriedKind::Put && kind <= CarriedKind::BlockGet;
}

uint32_t bytes_of(const CarriedRequest &request, PacketKind kind)
{
	AmoCommand command = {};

	switch (kind) {
	case PacketKind::Amo:
	case PacketKind::FetchAmo:
		command.decode(request.amo);
		return amo_wire_bytes(command);
	case PacketKind::CqWrite:
		return CQWRITE_BYTES;
	default:
		return request.part;
	}
}

uint32_t short_ns(uint64_t from, uint64_t to)
{
	return uint32_t(std::min<uint64_t>(to - std::min(from, to), UINT32_MAX));
}

} // namespace

Inbound::Inbound(Core &core) : core_(core)
{
	orb_.set_limit(NEVER_FULL);
}

Inbound::Packets::Packets(Inbound &inbound, const CarriedRequest &request, PacketKind kind) noexcept
	: inbound_(inbound), depart_ns_(request.depart_ns), target_(request.target),
	  any_(has_packets(CarriedKind(request.kind))),
	  traffic_(request.source, inbound.core_.network, inbound.core_.faults, inbound.counters_, inbound.orb_)
{
	if (any_)
		transaction_ =
			Transaction::of(kind, request.dlvr_mode, request.target, bytes_of(request, kind), request.hash);
}

void Inbound::Packets::arrive() noexcept
{
	any_ = any_ &&
	       traffic_.request(transaction_, depart_ns_ - SEND_NS, inbound_.counters_, passage_) == ARIES_ST_OK;
}

void Inbound::Packets::serve_atomic(const CarriedResponse &response, bool fetch) noexcept
{
	if (any_ && response.flags & SERVED_RAN)
		traffic_.serve_atomic(target_, response.flags & SERVED_HIT, response.flags & SERVED_WALKED, fetch,
				      passage_);
}

void Inbound::Packets::leave() noexcept
{
	if (any_)
		traffic_.respond(transaction_, depart_ns_ - SEND_NS, inbound_.counters_, passage_);
}

void Inbound::Packets::tell(CarriedResponse &response) const noexcept
{
	if (!any_)
		return;
	response.turn_ns = short_ns(depart_ns_, passage_.turn_ns);
	response.back_ns = short_ns(depart_ns_, passage_.back_ns);
}

void later_turn(const CarriedResponse &response, uint64_t depart_ns, Passage &passage) noexcept
{
	const uint64_t turn = depart_ns + response.turn_ns;

	if (turn <= passage.turn_ns)
		return;
	passage.latency_ns += turn - passage.turn_ns;
	passage.turn_ns = turn;
}

void later_back(const CarriedResponse &response, uint64_t depart_ns, bool returns, Passage &passage) noexcept
{
	const uint64_t back = depart_ns + response.back_ns;

	if (!passage.back_ns || back <= passage.back_ns)
		return;
	if (returns)
		passage.latency_ns += back - passage.back_ns;
	passage.back_ns = back;
}

} // namespace aries
