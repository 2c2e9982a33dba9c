/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of requests from other hosts in this host's network: they meet what its own nodes send. */
#ifndef ARIES_NIC_INBOUND_HPP
#define ARIES_NIC_INBOUND_HPP

#include "fabric/carry_area.hpp"
#include "nic/target/serve.hpp"
#include "nic/time/traffic.hpp"

namespace aries
{

/**
 * Books what comes for this host's nodes. The initiator's host has booked the same way in its own network; whichever of
 * the two is busier says when a packet is where. What gets lost the initiator's host alone decides: it keeps back a
 * flag whose data are lost, which the target's host could not. One thread.
 */
class Inbound
{
public:
	explicit Inbound(Core &core);

	/** One request, from its departure until its response is back. */
	class Packets
	{
	public:
		/** @request: of which @kind are the packets; those that only look for a receive, or give one back, have
		 * none */
		Packets(Inbound &inbound, const CarriedRequest &request, PacketKind kind) noexcept;

		void arrive() noexcept;
		/** The atomic unit of the target has run it. */
		void serve_atomic(const CarriedResponse &response, bool fetch) noexcept;
		void leave() noexcept;
		/** Modelled times of what arrive(), serve_atomic() and leave() have booked, into @response. */
		void tell(CarriedResponse &response) const noexcept;

	private:
		Inbound &inbound_;
		const uint64_t depart_ns_;
		const uint32_t target_;
		bool any_; /* that are booked */
		Traffic traffic_;
		Transaction transaction_ = {};
		Passage passage_ = {};
	};

private:
	Core &core_;
	CounterBlock counters_; /* of nobody: the initiator's NIC counts its packets */
	Orb orb_;               /* never full: the initiator's has let them go */
};

/** When packets are where, by the initiator's own booking and by what the target's host has said; modelled ns. */
void later_turn(const CarriedResponse &response, uint64_t depart_ns, Passage &passage) noexcept;
void later_back(const CarriedResponse &response, uint64_t depart_ns, bool returns, Passage &passage) noexcept;

} // namespace aries

#endif
