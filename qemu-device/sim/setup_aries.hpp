// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What a TiledPart asks of a chip and of its routing strategy, for Aries. Each setup has the same members.
 */
#ifndef ARIES_SIM_SETUP_ARIES_HPP
#define ARIES_SIM_SETUP_ARIES_HPP

#include "chip/aries.hpp"
#include "router/decide.hpp"

namespace aries::sim
{

struct AriesSetup {
	static constexpr const chip::Chip &CHIP = chip::ARIES;
	static constexpr bool RINGS = false; ///< links make rings, which bubbles keep open if there is one channel
	static constexpr bool CHECKS_PACKETS = false; ///< each router does (G16); else the link layer checks sets
	static constexpr bool PACES_HOSTS = false;    ///< host interfaces may be slower than processor tiles

	using Header = routing::Header; ///< what packets carry for routers: with mode, nic, channel
	using Tables = routing::Tables;

	/** A packet begins its way to a router; its mode is set. */
	template <typename Packet> static void address(Packet &packet, const Tables &tables, uint32_t router) noexcept
	{
		Header &header = packet.header;

		header.destination = tables.address(router);
		header.root = routing::NO_ROOT;
		header.phase = routing::Phase::Down;
		header.hash = static_cast<uint32_t>(mix64(packet.name() * 2 + packet.response));
	}

	/**
	 * A router decides about a packet that came by tile @p in.
	 * @return the tile to leave by, or NO_OUTPUT; then the header is as it came, and it may be decided again
	 */
	template <typename Load>
	[[gnu::always_inline]] static uint8_t decide(const Tables &tables, uint32_t router, uint32_t in, Header &header,
						     const Load &load, uint64_t random) noexcept
	{
		const routing::Decision decision = routing::decide(tables.router(router), in, header, load, random);

		if (decision.tile != routing::NO_OUTPUT) [[likely]]
			routing::apply(decision, header);
		return decision.tile;
	}

	/** Whether a packet has gone another way than one of the shortest. */
	static bool nonminimal(const Header &header) noexcept { return header.root != routing::NO_ROOT; }
};

} // namespace aries::sim

#endif
