/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/time/traffic.hpp"

namespace aries
{

namespace
{

/* Modelled time may be so far behind: the clock is read less often, and a NIC that finds no room again moves it on
 * then. */
constexpr uint64_t BEHIND_NS = 250;

} // namespace

/*
 * What is more than a packet keeps to what the NICs at both ends can do, @ticks a packet (L08, L10, L12). Times in ns.
 * @arrive_ns: of the last packet; becomes later if a NIC is slower than the network
 * Return: when the first packet leaves, not before @at_ns
 */
uint64_t Traffic::stream(uint32_t from, uint32_t to, uint32_t packets, uint64_t ticks, uint64_t at_ns, uint32_t hops,
			 uint64_t &arrive_ns) noexcept
{
	const uint64_t head = book_stream(network_.pace(from), network_.pace(to), packets, ticks, ns_to_ticks(at_ns));

	arrive_ns = std::max(arrive_ns, ticks_to_ns(head + packets * ticks) + ROUTER_NS + hops * HOP_NS);
	return ticks_to_ns(head);
}

/* The packets of one direction, booked at @now for @at. */
[[gnu::always_inline]] inline Network::Transit Traffic::book(const Transaction &transaction, PacketClass cls,
							     uint64_t now, uint64_t at) noexcept
{
	const bool out = cls == PacketClass::Request;

	return network_.book({out ? node_ : transaction.target, out ? transaction.target : node_, cls,
			      transaction.dlvr_mode, out ? transaction.request : transaction.response, thread_lane(),
			      transaction.hash, transaction.packets},
			     now, at);
}

inline void count_requests(const Transaction &transaction, CounterBlock &counters)
{
	counters.add(ARIES_CNT_REQ_PACKETS, transaction.packets);
	counters.add(ARIES_CNT_REQ_FLITS, transaction.request);
}

/* A packet that is lost or damaged: either way the requester gets no response to it (P18, N27). */
uint8_t Traffic::lose(const Transaction &transaction, uint8_t status, CounterBlock &counters) noexcept
{
	count_requests(transaction, counters);
	count_latency(shared_, counters, SEND_NS + RESPONSE_TIMEOUT_NS);
	return status;
}

/* Injected faults. */
uint8_t Traffic::suffer(const Transaction &transaction, CounterBlock &counters) noexcept
{
	if (faults_.take_drops(transaction.packets))
		return lose(transaction, ARIES_ST_TIMEOUT, counters);
	return faults_.take_corrupt(transaction.packets) ? lose(transaction, ARIES_ST_CRC, counters)
							 : uint8_t(ARIES_ST_OK);
}

/* Requests do not leave at once: there is no room for all, or the network is quiet until @open. */
void Traffic::wait(uint64_t now, uint64_t host_ns, uint64_t open, CounterBlock &counters, Orb::Departure &room) noexcept
{
	if (room.last > now)
		counters.add(ARIES_CNT_ORB_STALLS);
	if (open > room.first) {
		counters.add(ARIES_CNT_QUIESCE_STALLS);
		room = {open, std::max(open, room.last)};
	}
	/* Where completions are held whoever issues waits for modelled time, see Hold::throttle(). */
	if (room.first > now + BEHIND_NS && !network_.clock().holds())
		network_.clock().pass(room.first, host_ns ? host_ns : host_clock_());
}

/* Issue and travel: the requests leave and get to the target. */
inline uint8_t Traffic::issue(const Transaction &transaction, uint64_t now, uint64_t host_ns, CounterBlock &counters,
			      Passage &passage) noexcept
{
	Orb::Departure room = orb_.admit(transaction.packets, now);
	const uint64_t open = network_.injects_at(room.first);

	if (std::max(open, room.last) > now) [[unlikely]]
		wait(now, host_ns, open, counters, room);
	const uint64_t depart = room.first + SEND_NS;
	Network::Transit out = book(transaction, PacketClass::Request, depart, depart);

	passage = {};
	if (!out.reachable) [[unlikely]]
		return ARIES_ST_NO_NODE;
	passage.depart_ns = passage.booked_ns = depart;
	if (transaction.packets > 1) {
		const uint64_t way = ROUTER_NS + out.hops * HOP_NS;

		if (transaction.launched || !transaction.returns) {
			passage.depart_ns = stream(node_, transaction.target, transaction.packets,
						   transaction.launched ? LAUNCH_TICKS : INJECT_TICKS, depart, out.hops,
						   out.arrive_ns);
			out.head_ns = std::max(out.head_ns, passage.depart_ns + way);
		}
		out.arrive_ns = std::max(out.arrive_ns, room.last + SEND_NS + way);
		passage.first_ns = out.head_ns;
	}
	if (out.hops) {
		passage.hops = out.hops;
		passage.all_hops = out.all_hops;
		if (out.nonminimal)
			counters.add(ARIES_CNT_NONMINIMAL, out.nonminimal);
	}
	if (out.tile_changed) [[unlikely]]
		counters.add(ARIES_CNT_NETLINK_TILES);
	passage.latency_ns = out.arrive_ns + RECEIVE_NS - now;
	passage.turn_ns = out.arrive_ns + transaction.turn_ns();
	if (out.damaged) [[unlikely]]
		return lose(transaction, ARIES_ST_CRC, counters);
	if (faults_.any()) [[unlikely]] {
		passage.latency_ns += faults_.delay_ns();
		if (!transaction.launched)
			return suffer(transaction, counters);
	}
	return ARIES_ST_OK;
}

/* An error in the entry of this request. With two wrong bits it does not tell any more whose the response is. */
bool Traffic::lose_match() noexcept
{
	uint32_t index;
	bool twice;

	if (!faults_.take_orb(index, twice))
		return false;
	if (orb_error_)
		orb_error_(index, twice);
	return twice;
}

/* Return and complete: the target has served, the responses leave and get back. */
inline void Traffic::answer(const Transaction &transaction, uint64_t now, CounterBlock &counters,
			    Passage &passage) noexcept
{
	/* The first response does not wait for the last request. */
	const uint64_t reply = transaction.packets > 1 ? passage.first_ns + transaction.turn_ns() : passage.turn_ns;
	Network::Transit back = book(transaction, PacketClass::Response, passage.booked_ns, reply);
	uint64_t delay = 0;
	uint32_t lost = 0;

	if (transaction.packets > 1 && back.reachable) {
		const uint64_t way = ROUTER_NS + back.hops * HOP_NS;

		if (transaction.returns && !transaction.launched)
			back.head_ns =
				std::max(back.head_ns, way + stream(transaction.target, node_, transaction.packets,
								    INJECT_TICKS, reply, back.hops, back.arrive_ns));
		back.arrive_ns = std::max(back.arrive_ns, passage.turn_ns + way);
	} else {
		back.head_ns = back.arrive_ns;
	}
	/* The response books its way in any case; only what returns data or a value is waited for by it. */
	if (faults_.any() && !transaction.launched) [[unlikely]] {
		lost = faults_.take_lost_responses(transaction.packets);
		passage.unmatched = lose_match();
		lost = std::max<uint32_t>(lost, passage.unmatched);
		delay = faults_.delay_ns();
	}
	if (back.damaged) [[unlikely]]
		lost = std::max(lost, 1u);
	if (back.reachable && !lost) [[likely]] {
		passage.back_ns = back.arrive_ns + delay;
		if (transaction.returns && !transaction.launched)
			passage.latency_ns = passage.back_ns + NIC_PIPELINE_NS - now;
		orb_.enter(thread_lane(), transaction.packets, now, back.head_ns, back.arrive_ns + passage.served_ns);
	}
	count_requests(transaction, counters);
	if (passage.hops)
		counters.add(ARIES_CNT_HOPS, passage.all_hops);
	counters.add(ARIES_CNT_RSP_PACKETS, transaction.packets - lost);
	counters.add(ARIES_CNT_RSP_FLITS,
		     lost ? uint64_t(transaction.response / transaction.packets) * (transaction.packets - lost)
			  : transaction.response);
}

uint8_t Traffic::request(const Transaction &transaction, uint64_t now, CounterBlock &counters,
			 Passage &passage) noexcept
{
	return issue(transaction, now, 0, counters, passage);
}

void Traffic::respond(const Transaction &transaction, uint64_t now, CounterBlock &counters, Passage &passage) noexcept
{
	answer(transaction, now, counters, passage);
}

/*
 * What issue() and answer() come to for one packet to a neighbour when nothing is out of the ordinary: no fault is
 * injected, nothing outstanding has to be counted, the network is not quiet, all tiles are free.
 */
inline bool Traffic::exchange(const Transaction &transaction, uint64_t now, CounterBlock &counters,
			      Passage &passage) noexcept
{
	uint64_t there_ns, back_ns;
	const uint64_t depart = now + SEND_NS;
	const uint32_t lane = thread_lane();

	if (transaction.launched || orb_.entered() || network_.injects_at(now) != now || faults_.any() ||
	    !network_.exchange({node_, transaction.target, PacketClass::Request, transaction.dlvr_mode,
				transaction.request, lane, transaction.hash},
			       transaction.response, depart, transaction.turn_ns(), there_ns, back_ns)) [[unlikely]]
		return false;
	passage = {.latency_ns = (transaction.returns ? back_ns + NIC_PIPELINE_NS : there_ns + RECEIVE_NS) - now,
		   .depart_ns = depart,
		   .booked_ns = depart,
		   .first_ns = 0,
		   .turn_ns = there_ns + transaction.turn_ns(),
		   .served_ns = 0,
		   .back_ns = back_ns,
		   .hops = 0,
		   .unmatched = false};
	orb_.enter(lane, 1, now, back_ns, back_ns);
	counters.add(ARIES_CNT_REQ_PACKETS);
	counters.add(ARIES_CNT_REQ_FLITS, transaction.request);
	counters.add(ARIES_CNT_RSP_PACKETS);
	counters.add(ARIES_CNT_RSP_FLITS, transaction.response);
	return true;
}

uint8_t Traffic::send(const Transaction &transaction, uint64_t now, CounterBlock &counters, Passage &passage,
		      uint64_t host_ns) noexcept
{
	if (transaction.packets == 1 && exchange(transaction, now, counters, passage)) [[likely]]
		return ARIES_ST_OK;
	const uint8_t status = issue(transaction, now, host_ns, counters, passage);

	if (status == ARIES_ST_OK) [[likely]]
		answer(transaction, now, counters, passage);
	return status;
}

/* Those that came before the last one are done when it comes, as far as the time between them was enough. */
uint64_t Traffic::serve_atomics(const Transaction &transaction, uint32_t count, uint64_t ticks, bool hits,
				const Passage &passage) const noexcept
{
	const uint64_t last = ns_to_ticks(passage.turn_ns - transaction.turn_ns());
	const uint64_t ahead = std::min((transaction.packets - 1) * LAUNCH_TICKS, ticks - ticks / count);
	const uint64_t waited = book_atomic(network_.pace(transaction.target), thread_lane(), ticks, last - ahead);

	return ticks_to_ns(waited - ahead) - (hits && transaction.returns ? HOST_READ_NS : 0);
}

} // namespace aries
