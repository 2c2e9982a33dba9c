/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an operation means on the network: packets, flits, modelled time, lost packets. */
#ifndef ARIES_NIC_TRAFFIC_HPP
#define ARIES_NIC_TRAFFIC_HPP

#include <functional>
#include <utility>

#include "fabric/flight.hpp"
#include "link/timing.hpp"
#include "nic/core/core.hpp"
#include "nic/time/orb.hpp"
#include "packet/flits.hpp"

namespace aries
{

/** From the arrival of a request until its response with what host memory has leaves. */
inline constexpr uint64_t ANSWER_NS = RECEIVE_NS + HOST_READ_NS + NIC_PIPELINE_NS;

/** When packets of a transaction are where, in modelled time. */
struct Passage {
	uint64_t latency_ns; /* until the data is in memory (gets: until it has returned) */
	uint64_t depart_ns;  /* the first request leaves; 0: there is no way */
	uint64_t booked_ns;  /* the way there and the way back are booked */
	uint64_t first_ns;   /* its first packet is at the target */
	uint64_t turn_ns;    /* the last response leaves the target; 0: it does not */
	uint64_t served_ns;  /* what atomics of a launched transaction have waited for the unit of the target */
	uint64_t back_ns;    /* the last response arrives; 0: it does not */
	uint32_t hops;       /* of the first packet */
	uint32_t all_hops;   /* and of all together */
	bool unmatched;      /* a response came, and nobody knows to which request: no back_ns */
};

/** Requests from this NIC to one target, back to back, and their responses. */
struct Transaction {
	uint32_t target;
	uint16_t dlvr_mode;
	bool returns;      /* some responses have data or a value */
	bool launched;     /* small packets of several operations; else all are of one */
	uint32_t packets;  /* requests, and as many responses */
	uint32_t request;  /* flits of all requests */
	uint32_t response; /* flits of all responses */
	uint64_t hash;     /* of the header fields */

	/** Those of one operation with @bytes of payload; none is one packet. */
	static Transaction of(PacketKind kind, uint16_t dlvr_mode, uint32_t target, uint32_t bytes,
			      uint64_t hash) noexcept
	{
		if (bytes <= ARIES_PACKET_BYTES) [[likely]]
			return {target,
				dlvr_mode,
				returns_data(kind),
				false,
				1,
				request_flits(kind, bytes),
				response_flits(kind, bytes),
				hash};
		const TransferFlits flits = transfer_flits(kind, bytes);

		return {target,        dlvr_mode,     returns_data(kind), false,
			flits.packets, flits.request, flits.response,     hash};
	}
	/** From the arrival of a request until its response leaves. */
	uint64_t turn_ns() const noexcept { return returns ? ANSWER_NS : RECEIVE_NS; }
};

/** All times are modelled ones, see FabricClock, unless they are called the host's. */
class Traffic
{
public:
	/** @host_clock: ns; what @now was made of. Another one than now_ns() is for tests. */
	Traffic(uint32_t node, Network &network, Faults &faults, CounterBlock &shared, Orb &orb,
		uint64_t (*host_clock)() = now_ns) noexcept
		: node_(node), network_(network), faults_(faults), shared_(shared), orb_(orb), host_clock_(host_clock)
	{
	}

	/** Modelled time when the host's clock shows @host_ns. */
	uint64_t at(uint64_t host_ns) const noexcept { return network_.clock().at(host_ns); }

	/**
	 * Sends the requests of @transaction at time @now, or when the buffer of outstanding requests has room:
	 * modelled time then goes on to there. One of any length is booked at once. Injected faults hit it unless it is
	 * launched.
	 * @passage: gets the modelled times so far
	 * Return: ARIES_ST_OK, ARIES_ST_NO_NODE (no way), ARIES_ST_TIMEOUT (lost), ARIES_ST_CRC (damaged)
	 */
	uint8_t request(const Transaction &transaction, uint64_t now, CounterBlock &counters,
			Passage &passage) noexcept;
	/**
	 * Sends the responses to what request() has brought to the target, and counts both. Of a launched one fewer
	 * packets may be left than were asked for.
	 */
	void respond(const Transaction &transaction, uint64_t now, CounterBlock &counters, Passage &passage) noexcept;

	/** After respond(): no response comes back to what the target may have done all the same (N27). */
	static bool unanswered(const Passage &passage) noexcept { return !passage.back_ns; }
	/** What an operation ends with that has no response. */
	static uint8_t why_unanswered(const Passage &passage) noexcept
	{
		return passage.unmatched ? ARIES_ST_LOCAL_ECC : ARIES_ST_TIMEOUT;
	}
	/** @found is called for errors in entries of the buffer of outstanding requests. Before the first request. */
	void on_orb_error(std::function<void(uint32_t index, bool twice)> found) { orb_error_ = std::move(found); }
	/** Packets can get lost between neighbours or on the way: by an injected fault or by bit errors. */
	bool losing() const noexcept { return faults_.any() || network_.noisy(); }
	/** What the initiator has waited from @now on. */
	uint64_t waited(const Passage &passage, uint64_t now) const noexcept
	{
		return unanswered(passage) ? passage.depart_ns - now + RESPONSE_TIMEOUT_NS : passage.latency_ns;
	}

	/**
	 * Both, for a caller that has nothing to do in between.
	 * @host_ns: host time that @now was made of, to spare another look at the clock; 0: not known
	 */
	uint8_t send(const Transaction &transaction, uint64_t now, CounterBlock &counters, Passage &passage,
		     uint64_t host_ns = 0) noexcept;

	/**
	 * The unit of the target runs @count atomics of @transaction, @ticks for all of them, between request() and
	 * respond().
	 * @hits: all words were in the AMO cache
	 * Return: ns that they have waited for it in the end
	 */
	uint64_t serve_atomics(const Transaction &transaction, uint32_t count, uint64_t ticks, bool hits,
			       const Passage &passage) const noexcept;
	/** At most so many request packets are outstanding from now on, 0: as many as the buffer holds. */
	void limit_injection(uint32_t packets) noexcept { orb_.set_limit(packets ? packets : ARIES_ORB_ENTRIES); }
	/** Packets that may be outstanding. */
	uint32_t room() const noexcept { return orb_.limit(); }
	/** What was set, 0 for none. */
	uint32_t injection_limit() const noexcept { return orb_.limit() == ARIES_ORB_ENTRIES ? 0 : orb_.limit(); }
	/**
	 * The unit of @target runs an atomic whose request has arrived, before respond(): its time is added to
	 * @passage. To read host memory is part of the way of one that returns a value.
	 */
	void serve_atomic(uint32_t target, bool hit, bool walked, bool fetch, Passage &passage) const noexcept
	{
		const uint64_t served = fetch ? ANSWER_NS : RECEIVE_NS;
		const uint64_t cost = hit ? AMO_HIT_TICKS : walked ? AMO_WALK_TICKS : AMO_MISS_TICKS;
		const uint64_t more = ticks_to_ns(book_atomic(network_.pace(target), thread_lane(), cost,
							      ns_to_ticks(passage.turn_ns - served))) -
				      (hit && fetch ? HOST_READ_NS : 0);

		passage.latency_ns += more;
		passage.turn_ns += more;
	}
	/** Times that the buffer fills up with @packets. */
	uint64_t windows(uint64_t packets) const noexcept { return (packets + orb_.limit() - 1) / orb_.limit(); }

private:
	Network::Transit book(const Transaction &transaction, PacketClass cls, uint64_t now, uint64_t at) noexcept;
	uint64_t stream(uint32_t from, uint32_t to, uint32_t packets, uint64_t ticks, uint64_t at_ns, uint32_t hops,
			uint64_t &arrive_ns) noexcept;
	bool exchange(const Transaction &transaction, uint64_t now, CounterBlock &counters, Passage &passage) noexcept;
	uint8_t lose(const Transaction &transaction, uint8_t status, CounterBlock &counters) noexcept;
	void wait(uint64_t now, uint64_t host_ns, uint64_t open, CounterBlock &counters, Orb::Departure &room) noexcept;
	uint8_t suffer(const Transaction &transaction, CounterBlock &counters) noexcept;
	uint8_t issue(const Transaction &transaction, uint64_t now, uint64_t host_ns, CounterBlock &counters,
		      Passage &passage) noexcept;
	[[gnu::cold]] bool lose_match() noexcept;
	void answer(const Transaction &transaction, uint64_t now, CounterBlock &counters, Passage &passage) noexcept;

	const uint32_t node_;
	Network &network_;
	Faults &faults_;
	CounterBlock &shared_;
	Orb &orb_;
	uint64_t (*const host_clock_)();
	std::function<void(uint32_t, bool)> orb_error_;
};

/** Modelled time of a transfer to or from a node @hops away that takes no time to be sent. */
constexpr uint64_t quiet_ns(bool put, uint32_t hops) noexcept
{
	const uint64_t way = ROUTER_NS + hops * HOP_NS;

	return SEND_NS + way + (put ? RECEIVE_NS : ANSWER_NS + way + NIC_PIPELINE_NS);
}

/** Adds the modelled latency of one operation to the counters; @shared are those of the NIC. */
inline void count_latency(CounterBlock &shared, CounterBlock &counters, uint64_t latency) noexcept
{
	counters.add(ARIES_CNT_LATENCY_NS, latency);
	counters.add(ARIES_CNT_LATENCY_OPS);
	shared.set(ARIES_CNT_LATENCY_LAST_NS, latency);
}

inline void count_latency(Core &core, CounterBlock &counters, uint64_t latency) noexcept
{
	count_latency(core.shared_counters, counters, latency);
}

} // namespace aries

#endif
