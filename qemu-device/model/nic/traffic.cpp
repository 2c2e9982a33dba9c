/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/traffic.hpp"

namespace aries
{

/* A lost or damaged packet: either way the requester gets no response to it (P18, N27). */
uint8_t Traffic::suffer(uint32_t packets) noexcept
{
	if (core_.faults.take_drops(packets))
		return ARIES_ST_TIMEOUT;
	return core_.faults.take_corrupt(packets) ? ARIES_ST_CRC : ARIES_ST_OK;
}

/*
 * What is more than a packet keeps to what the NICs at both ends can do, @ticks a packet (L08, L10). Times in ns.
 * @arrive_ns: of the last packet; becomes later if a NIC is slower than the network
 * Return: when the first packet leaves, not before @at_ns
 */
uint64_t Traffic::stream(uint32_t from, uint32_t to, uint32_t packets, uint64_t ticks, uint64_t at_ns, uint32_t hops,
			 uint64_t &arrive_ns) noexcept
{
	Network &network = core_.network;
	const Passing way = book_stream(network.pace(from), network.pace(to), packets, ticks, ns_to_ticks(at_ns));

	arrive_ns = std::max(arrive_ns, ticks_to_ns(way.tail) + ROUTER_NS + hops * HOP_NS);
	return ticks_to_ns(way.head);
}

/* The same for an exchange. Return: when the first request leaves */
uint64_t Traffic::pace(const Train &train, uint32_t packets, uint64_t depart, uint64_t turn,
		       Network::Exchange &way) noexcept
{
	if (returns_data(train.kind)) {
		/* The first response does not wait for the last request. */
		stream(train.target, core_.node, packets, INJECT_TICKS, depart + ROUTER_NS + turn, 0, way.back_ns);
	} else {
		depart = stream(core_.node, train.target, packets, INJECT_TICKS, depart, 0, way.arrive_ns);
		way.back_ns = std::max(way.back_ns, way.arrive_ns + turn + ROUTER_NS);
	}
	return depart;
}

/* To a neighbour and back in one step; false, without effect, in any other case. */
bool Traffic::exchange(const Train &train, uint64_t now, CounterBlock &counters, Passage &passage) noexcept
{
	const bool data = returns_data(train.kind);
	const bool single = train.bytes <= ARIES_PACKET_BYTES;
	uint64_t depart = now + SEND_NS;
	const uint64_t turn = data ? ANSWER_NS : RECEIVE_NS;
	const TransferFlits flits = single ? TransferFlits{1, request_flits(train.kind, train.bytes),
							   response_flits(train.kind, train.bytes)}
					   : transfer_flits(train.kind, train.bytes);
	Network::Exchange way;

	if (orb_.used() >= orb_.limit() || core_.faults.any())
		return false;
	const Orb::Use use(orb_, flits.packets);

	if (!core_.network.exchange(core_.node, train.target, flits.request, flits.response, train.dlvr_mode,
				    thread_lane(), depart, turn, way))
		return false;
	if (!single) [[unlikely]]
		depart = pace(train, flits.packets, depart, turn, way);
	passage = {.latency_ns = data ? way.back_ns + NIC_PIPELINE_NS - now : way.arrive_ns + RECEIVE_NS - now,
		   .depart_ns = depart,
		   .turn_ns = way.arrive_ns + turn,
		   .back_ns = way.back_ns,
		   .hops = 0};
	if (use.stalled())
		counters.add(ARIES_CNT_ORB_STALLS);
	counters.add(ARIES_CNT_REQ_PACKETS, flits.packets);
	counters.add(ARIES_CNT_REQ_FLITS, flits.request);
	counters.add(ARIES_CNT_RSP_PACKETS, flits.packets);
	counters.add(ARIES_CNT_RSP_FLITS, flits.response);
	return true;
}

uint8_t Traffic::request(const Train &train, uint64_t now, CounterBlock &counters, Passage &passage) noexcept
{
	const TransferFlits flits = transfer_flits(train.kind, train.bytes);
	const uint32_t packets = flits.packets;
	const Orb::Use use(orb_, packets);

	passage = {};
	if (use.stalled())
		counters.add(ARIES_CNT_ORB_STALLS);
	counters.add(ARIES_CNT_REQ_PACKETS, packets);
	counters.add(ARIES_CNT_REQ_FLITS, flits.request);

	const uint64_t depart = now + SEND_NS;
	auto out = core_.network.carry(core_.node, train.target, PacketClass::Request, flits.request, train.dlvr_mode,
				       train.hash, depart);

	if (!out.reachable)
		return ARIES_ST_NO_NODE;
	passage.depart_ns = depart;
	if (packets > 1 && !returns_data(train.kind))
		passage.depart_ns =
			stream(core_.node, train.target, packets, INJECT_TICKS, depart, out.hops, out.arrive_ns);
	passage.hops = out.hops;
	counters.add(ARIES_CNT_HOPS, uint64_t(out.hops) * packets);
	if (out.nonminimal)
		counters.add(ARIES_CNT_NONMINIMAL, packets);
	if (out.tile_changed)
		counters.add(ARIES_CNT_NETLINK_TILES);
	if (core_.faults.any()) [[unlikely]] {
		const uint8_t status = suffer(packets);

		if (status != ARIES_ST_OK) {
			count_latency(core_, counters, depart - now + RESPONSE_TIMEOUT_NS);
			return status;
		}
	}
	passage.latency_ns = out.arrive_ns + RECEIVE_NS - now + core_.faults.delay_ns();
	passage.turn_ns = out.arrive_ns + (returns_data(train.kind) ? ANSWER_NS : RECEIVE_NS);
	return ARIES_ST_OK;
}

void Traffic::respond(const Train &train, uint64_t now, CounterBlock &counters, Passage &passage) noexcept
{
	const TransferFlits flits = transfer_flits(train.kind, train.bytes);
	auto back =
		core_.network.carry(train.target, core_.node, PacketClass::Response, flits.response, train.dlvr_mode,
				    train.hash, passage.turn_ns, passage.turn_ns - passage.depart_ns);
	const uint64_t delay = core_.faults.delay_ns();

	if (back.reachable && flits.packets > 1 && returns_data(train.kind))
		stream(train.target, core_.node, flits.packets, INJECT_TICKS,
		       passage.depart_ns + ROUTER_NS + passage.hops * HOP_NS + ANSWER_NS, back.hops, back.arrive_ns);

	/* The response books its way in any case; only what returns data or a value is waited for by it. */
	const uint32_t lost = core_.faults.any() ? core_.faults.take_lost_responses(flits.packets) : 0;

	if (back.reachable && !lost) {
		passage.back_ns = back.arrive_ns + delay;
		if (returns_data(train.kind))
			passage.latency_ns = back.arrive_ns + NIC_PIPELINE_NS - now + delay;
	}
	counters.add(ARIES_CNT_RSP_PACKETS, flits.packets - lost);
	counters.add(ARIES_CNT_RSP_FLITS, uint64_t(flits.response / flits.packets) * (flits.packets - lost));
}

uint8_t Traffic::request(const Burst &burst, uint64_t now, CounterBlock &counters, Passage &passage) noexcept
{
	const Orb::Use use(orb_, burst.packets);
	const uint64_t depart = now + SEND_NS, turn = burst.returns ? ANSWER_NS : RECEIVE_NS;
	Network::Exchange way = {};

	passage = {};
	if (use.stalled())
		counters.add(ARIES_CNT_ORB_STALLS);
	if (!core_.network.exchange_launched(core_.node, burst.target, burst.request, burst.response, burst.dlvr_mode,
					     thread_lane(), depart, turn, way)) {
		const auto out = core_.network.carry(core_.node, burst.target, PacketClass::Request, burst.request,
						     burst.dlvr_mode, burst.hash, depart);

		if (!out.reachable)
			return ARIES_ST_NO_NODE;
		way.arrive_ns = out.arrive_ns;
		passage.hops = out.hops;
		if (out.nonminimal)
			counters.add(ARIES_CNT_NONMINIMAL, burst.packets);
		if (out.tile_changed)
			counters.add(ARIES_CNT_NETLINK_TILES);
	}
	passage.depart_ns = depart;
	if (burst.packets > 1)
		passage.depart_ns = stream(core_.node, burst.target, burst.packets, LAUNCH_TICKS, depart, passage.hops,
					   way.arrive_ns);
	passage.latency_ns = way.arrive_ns + RECEIVE_NS - now;
	passage.turn_ns = way.arrive_ns + turn;
	if (way.back_ns)
		passage.back_ns = std::max(way.back_ns, passage.turn_ns + ROUTER_NS);
	return ARIES_ST_OK;
}

void Traffic::respond(const Burst &burst, CounterBlock &counters, Passage &passage) noexcept
{
	if (!passage.back_ns) {
		const auto back = core_.network.carry(burst.target, core_.node, PacketClass::Response, burst.response,
						      burst.dlvr_mode, burst.hash, passage.turn_ns,
						      passage.turn_ns - passage.depart_ns);

		if (back.reachable)
			passage.back_ns = back.arrive_ns;
	}
	counters.add(ARIES_CNT_REQ_PACKETS, burst.packets);
	counters.add(ARIES_CNT_REQ_FLITS, burst.request);
	counters.add(ARIES_CNT_HOPS, uint64_t(passage.hops) * burst.packets);
	counters.add(ARIES_CNT_RSP_PACKETS, burst.packets);
	counters.add(ARIES_CNT_RSP_FLITS, burst.response);
}

/* Those that came before the last one are done when it comes, as far as the time between them was enough. */
uint64_t Traffic::serve_burst(const Burst &burst, uint32_t count, uint64_t ticks, bool hits,
			      const Passage &passage) const noexcept
{
	const uint64_t last = ns_to_ticks(passage.turn_ns - (burst.returns ? ANSWER_NS : RECEIVE_NS));
	const uint64_t ahead = std::min((burst.packets - 1) * LAUNCH_TICKS, ticks - ticks / count);
	const uint64_t waited = book_atomic(core_.network.pace(burst.target), thread_lane(), ticks, last - ahead);

	return ticks_to_ns(waited - ahead) - (hits && burst.returns ? HOST_READ_NS : 0);
}

} // namespace aries
