/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/traffic.hpp"

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

uint8_t Traffic::send(const Train &train, uint64_t now, CounterBlock &counters, Passage &passage) noexcept
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

		if (status != ARIES_ST_OK)
			return status;
	}
	/* The response books its way too; only what returns data or a value is waited for by it. */
	const bool returns = returns_data(train.kind);
	const uint64_t turn = out.arrive_ns + RECEIVE_NS + (returns ? HOST_READ_NS + NIC_PIPELINE_NS : 0);
	const auto back = core_.network.carry(train.target, core_.node, PacketClass::Response, flits.response, packets,
					      train.dlvr_mode, train.hash, turn);

	const uint64_t delay = core_.faults.delay_ns();

	passage.latency_ns =
		(returns && back.reachable ? back.arrive_ns + NIC_PIPELINE_NS : out.arrive_ns + RECEIVE_NS) - now +
		delay;
	passage.back_ns = back.reachable ? back.arrive_ns + delay : 0;
	counters.add(ARIES_CNT_RSP_PACKETS, packets);
	counters.add(ARIES_CNT_RSP_FLITS, flits.response);
	return ARIES_ST_OK;
}

} // namespace aries
