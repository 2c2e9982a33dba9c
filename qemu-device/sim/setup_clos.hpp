// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What a TiledPart asks of a chip and of its routing strategy, for a folded Clos of Aries chips: a study, for there
 * was no such machine. Packets, flits, clocks and queues are Aries's, ways those of router/clos.hpp.
 */
#ifndef ARIES_SIM_SETUP_CLOS_HPP
#define ARIES_SIM_SETUP_CLOS_HPP

#include "chip/aries.hpp"
#include "router/clos.hpp"

namespace aries::sim
{

struct ClosSetup {
	static constexpr const chip::Chip &CHIP = chip::ARIES;
	static constexpr bool RINGS = false;
	static constexpr bool CHECKS_PACKETS = false;
	static constexpr bool PACES_HOSTS = false;

	/** Of equal links an adaptive packet takes the lighter of two random ones, as on Aries. */
	static constexpr routing::ClosChoice CHOICE{.order = routing::ClosOrder::Lighter};

	struct Header : routing::ClosHeader {
		RoutingMode mode; ///< of the packet; the strategy's mode follows from it
	};
	using Tables = routing::ClosTables;

	/** The strategy's mode for a packet's mode. Packets in the order of their pair of nodes go static ways. */
	static constexpr routing::ClosMode strategy_of(Routing routing) noexcept
	{
		if (routing == Routing::InOrder)
			return routing::ClosMode::Static;
		return routing == Routing::Adaptive ? routing::ClosMode::Adaptive : routing::ClosMode::Hash;
	}

	template <typename Packet> static void address(Packet &packet, const Tables &tables, uint32_t router) noexcept
	{
		Header &header = packet.header;

		header.destination = tables.router(router).here;
		header.ClosHeader::mode = strategy_of(header.mode.routing);
		header.hash = static_cast<uint32_t>(mix64(packet.name() * 2 + packet.response));
	}

	/** A packet that comes from a NIC is as one from below: its tile is none of the links upwards. */
	template <typename Load>
	static uint8_t decide(const Tables &tables, uint32_t router, uint32_t in, const Header &header,
			      const Load &load, uint64_t random) noexcept
	{
		const routing::ClosRouter &at = tables.router(router);

		if (header.destination == at.here)
			return routing::ClosRouting::eject(at, header, load, random).tile;
		return routing::ClosRouting::next(at, in, header, load, random).tile;
	}

	static bool nonminimal(const Header &) noexcept { return false; }
};

static_assert(sizeof(ClosSetup::Header) <= 20, "a packet is one line of cache");

} // namespace aries::sim

#endif
