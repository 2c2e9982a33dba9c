/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/traffic.hpp"

#include "fabric/flight.hpp"

#include "netlink/timing.hpp"

namespace aries
{

/* A lost or damaged packet: either way the requester gets no response to it (P18, N27). */
uint8_t Traffic::suffer(uint32_t packets) noexcept
{
	if (core_.faults.take_drops(packets))
		return ARIES_ST_TIMEOUT;
	return core_.faults.take_corrupt(packets) ? ARIES_ST_CRC : ARIES_ST_OK;
}

/* To a neighbour and back in one step; false, without effect, in any other case. */
bool Traffic::exchange(const Train &train, uint64_t now, CounterBlock &counters, Passage &passage) noexcept
{
	const bool data = returns_data(train.kind);
	const bool single = train.bytes <= ARIES_PACKET_BYTES;
	const uint64_t depart = now + SEND_NS;
	const uint64_t turn = RECEIVE_NS + (data ? HOST_READ_NS + NIC_PIPELINE_NS : 0);
	const TransferFlits flits = single ? TransferFlits{1, request_flits(train.kind, train.bytes),
							   response_flits(train.kind, train.bytes)}
					   : transfer_flits(train.kind, train.bytes);
	Network::Exchange way;

	if (orb_.used() >= orb_.limit() || core_.faults.any())
		return false;
	const Orb::Use use(orb_, flits.packets);

	if (!core_.network.exchange(core_.node, train.target, flits.request, flits.response, flits.packets,
				    train.dlvr_mode, thread_lane(), depart, turn, way))
		return false;
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
	const auto out = core_.network.carry(core_.node, train.target, PacketClass::Request, flits.request, packets,
					     train.dlvr_mode, train.hash, depart);

	if (!out.reachable)
		return ARIES_ST_NO_NODE;
	passage.depart_ns = depart;
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
	passage.turn_ns = out.arrive_ns + RECEIVE_NS + (returns_data(train.kind) ? HOST_READ_NS + NIC_PIPELINE_NS : 0);
	return ARIES_ST_OK;
}

void Traffic::respond(const Train &train, uint64_t now, CounterBlock &counters, Passage &passage) noexcept
{
	const TransferFlits flits = transfer_flits(train.kind, train.bytes);
	const auto back = core_.network.carry(train.target, core_.node, PacketClass::Response, flits.response,
					      flits.packets, train.dlvr_mode, train.hash, passage.turn_ns);
	const uint64_t delay = core_.faults.delay_ns();

	/* The response books its way in any case; only what returns data or a value is waited for by it. */
	if (back.reachable) {
		passage.back_ns = back.arrive_ns + delay;
		if (returns_data(train.kind))
			passage.latency_ns = back.arrive_ns + NIC_PIPELINE_NS - now + delay;
	}
	counters.add(ARIES_CNT_RSP_PACKETS, flits.packets);
	counters.add(ARIES_CNT_RSP_FLITS, flits.response);
}

uint8_t Traffic::request(const Burst &burst, uint64_t now, CounterBlock &counters, Passage &passage) noexcept
{
	const Orb::Use use(orb_, burst.packets);
	const uint64_t depart = now + SEND_NS;

	passage = {};
	if (use.stalled())
		counters.add(ARIES_CNT_ORB_STALLS);
	counters.add(ARIES_CNT_REQ_PACKETS, burst.packets);
	counters.add(ARIES_CNT_REQ_FLITS, burst.flits);
	const auto out = core_.network.carry(core_.node, burst.target, PacketClass::Request, burst.flits, burst.packets,
					     burst.dlvr_mode, burst.hash, depart);

	if (!out.reachable)
		return ARIES_ST_NO_NODE;
	passage.depart_ns = depart;
	passage.hops = out.hops;
	counters.add(ARIES_CNT_HOPS, uint64_t(out.hops) * burst.packets);
	if (out.nonminimal)
		counters.add(ARIES_CNT_NONMINIMAL, burst.packets);
	if (out.tile_changed)
		counters.add(ARIES_CNT_NETLINK_TILES);
	passage.latency_ns = out.arrive_ns + RECEIVE_NS - now;
	passage.turn_ns = out.arrive_ns + RECEIVE_NS;
	return ARIES_ST_OK;
}

void Traffic::respond(const Burst &burst, CounterBlock &counters, Passage &passage) noexcept
{
	const uint32_t flits = burst.packets * RESPONSE_HEADER_FLITS;
	const auto back = core_.network.carry(burst.target, core_.node, PacketClass::Response, flits, burst.packets,
					      burst.dlvr_mode, burst.hash, passage.turn_ns);

	if (back.reachable)
		passage.back_ns = back.arrive_ns;
	counters.add(ARIES_CNT_RSP_PACKETS, burst.packets);
	counters.add(ARIES_CNT_RSP_FLITS, flits);
}

} // namespace aries
