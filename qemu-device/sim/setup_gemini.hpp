// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What a TiledPart asks of a chip and of its routing strategy, for Gemini.
 */
#ifndef ARIES_SIM_SETUP_GEMINI_HPP
#define ARIES_SIM_SETUP_GEMINI_HPP

#include "chip/gemini.hpp"
#include "router/torus.hpp"

namespace aries::sim
{

struct GeminiSetup {
	static constexpr const chip::Chip &CHIP = chip::GEMINI;
	static constexpr bool RINGS = true;
	static constexpr bool CHECKS_PACKETS = true;
	static constexpr bool PACES_HOSTS = true;

	struct Header : routing::TorusHeader {
		RoutingMode mode;
	};
	using Tables = routing::TorusTables;

	/**
	 * Packets that are not adaptive take equal links if their hash is equal: in order that is one of source and
	 * destination, else the remote address has a part in it (G29), which is another one for each packet here.
	 */
	template <typename Packet> static void address(Packet &packet, const Tables &tables, uint32_t router) noexcept
	{
		Header &header = packet.header;
		const bool ordered = header.mode.routing == Routing::InOrder;
		const uint64_t pair = uint64_t{packet.source} << 32 | packet.target;

		header.destination = tables.router(router).here;
		header.adaptive = header.mode.routing == Routing::Adaptive;
		header.hash = static_cast<uint32_t>(mix64(ordered ? pair : packet.name() * 2 + packet.response));
	}

	/** Channels of tables count inside a class, those of packets over both. */
	template <typename Load>
	static uint8_t decide(const Tables &tables, uint32_t router, uint32_t in, Header &header, const Load &load,
			      uint64_t random) noexcept
	{
		const routing::TorusRouter &at = tables.router(router);
		const auto first = static_cast<uint8_t>(header.channel >= at.channels ? at.channels : 0);
		routing::TorusHeader of_class = header;

		of_class.channel = static_cast<uint8_t>(header.channel - first);

		const routing::TorusDecision decision = choose(at, in, of_class, load, random);

		if (decision.tile != routing::NO_OUTPUT) [[likely]] {
			header.channel = static_cast<uint8_t>(first + decision.channel);
			header.via = decision.via;
		}
		return decision.tile;
	}

	static bool nonminimal(const Header &) noexcept { return false; }

	/** Whether a packet that goes from one tile to another stays on the ring of links on which it came. */
	static bool stays(uint32_t in, uint32_t out) noexcept
	{
		return in < CHIP.tiles.network && routing::torus_onward(in) == out;
	}

private:
	template <typename Load>
	static routing::TorusDecision choose(const routing::TorusRouter &at, uint32_t in,
					     const routing::TorusHeader &header, const Load &load,
					     uint64_t random) noexcept
	{
		using routing::TorusRouting;

		if (header.destination == at.here)
			return TorusRouting::eject(at, header, load, random);
		if (in >= CHIP.tiles.network)
			return TorusRouting::first(at, header, load, random);
		return TorusRouting::next(at, in, header, load, random);
	}
};

static_assert(sizeof(GeminiSetup::Header) <= 20, "a packet is one line of cache");

} // namespace aries::sim

#endif
