/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all units of one NIC share, and helpers for fields of registers. */
#ifndef ARIES_NIC_CORE_HPP
#define ARIES_NIC_CORE_HPP

#include <bit>

#include "fabric/membership.hpp"
#include "fabric/peermap.hpp"
#include "fabric/wake.hpp"
#include "netlink/network.hpp"
#include "nic/core/host.hpp"
#include "packet/trace.hpp"
#include "ras/counters.hpp"
#include "ras/errors.hpp"
#include "ras/faults.hpp"

namespace aries
{

/** Nanoseconds since the fabric was made: the same number at the same moment in all members. */
inline uint64_t global_clock(const Segment &segment) noexcept
{
	const uint64_t now = now_ns(), origin = segment.origin_ns();

	return now > origin ? now - origin : 0;
}

inline constexpr uint64_t OFFSET_MASK = (uint64_t(1) << ARIES_OFFSET_BITS) - 1;

/** Value of the field that @mask selects. */
constexpr uint64_t field(uint64_t word, uint64_t mask)
{
	return (word & mask) >> std::countr_zero(mask);
}

/** @value in the place that @mask selects. */
constexpr uint64_t prep(uint64_t mask, uint64_t value)
{
	return (value << std::countr_zero(mask)) & mask;
}

struct Core {
	Host &host;
	const uint32_t node;
	Segment &segment;
	Membership &members;
	PeerMaps &maps;
	Wake &wake;
	Network &network;
	ErrorLog &errors;
	Faults &faults;
	PacketTrace &trace;
	CounterBlock &shared_counters; /* of what has no single writer: add_shared() only */

	/** Modelled time when the host's clock shows @host_ns. */
	uint64_t at(uint64_t host_ns) const noexcept { return network.clock().at(host_ns); }

	NodeSlot &own() const noexcept { return segment.node(node); }

	/** Asks for interrupts of a node; our own are raised by deliver_irqs(). Any lock may be held. */
	void request_irq(uint32_t target, uint32_t vectors) const noexcept
	{
		if (target == node)
			own().irq_vectors.fetch_or(vectors);
		else
			wake.raise(target, vectors);
	}

	/** Raises what was asked for; no lock of the model may be held. */
	void deliver_irqs() const noexcept
	{
		if (own().irq_vectors.load(std::memory_order_relaxed)) [[unlikely]]
			raise_all(own().irq_vectors.exchange(0));
	}
	void raise_all(uint32_t vectors) const noexcept
	{
		for (; vectors; vectors &= vectors - 1) {
			shared_counters.add_shared(ARIES_CNT_IRQS);
			host.irq(unsigned(std::countr_zero(vectors)));
		}
	}

	/** The guest broke the specification. */
	void guest_error() const noexcept { shared_counters.add_shared(ARIES_CNT_GUEST_ERRORS); }
};

} // namespace aries

#endif
