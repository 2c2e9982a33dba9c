// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What a chip of a network is made of, as constants: packets, line, clocks, tiles, channels, links.
 *
 * A description is constexpr and used as such: what asks one is compiled with its numbers. Nothing in it is called for
 * a packet. Sizes on the wire are in units: what a link carries as a whole, a flit of Aries or a phit of Gemini. How
 * packets find their way is the other half of a chip, a routing strategy, as in router/decide.hpp.
 */
#ifndef ARIES_CHIP_CHIP_HPP
#define ARIES_CHIP_CHIP_HPP

#include <cstdint>
#include <span>

namespace aries::chip
{

/** How long packets are. Data are carried in blocks, the last of which may be filled in part. */
struct PacketForm {
	uint32_t unit_bits;
	uint32_t data_bytes;      ///< in a packet, at most
	uint32_t request_header;  ///< units
	uint32_t response_header; ///< units
	uint32_t block_bytes;     ///< of data
	uint32_t block_units;     ///< that a block takes
	uint32_t tail_bytes;      ///< of a packet's end that follow data in their last block
	uint32_t end_units;       ///< of a packet's end behind the blocks
	uint32_t request_end;     ///< units of the end of a request that carries no data
	uint32_t error_units;     ///< by which a response that reports an error is longer than one without data
};

/** A link of one tile, in one direction. */
struct LineForm {
	uint32_t lanes;
	uint32_t set_units; ///< of packets that the link layer sends as one
	uint32_t set_extra; ///< units of its own with each set
};

/** A router's tiles. Some NICs share some of the processor tiles: a share is as many of both. */
struct TileForm {
	uint32_t rows;
	uint32_t columns;
	uint32_t network; ///< tiles, the first ones
	uint32_t processor;
	uint32_t nics; ///< of a router
	uint32_t share_nics;
	uint32_t share_tiles;
};

/** Virtual channels of a link. */
struct ChannelForm {
	uint32_t requests;
	uint32_t responses;
};

/** Clocks, and times of a quiet network. */
struct TimeForm {
	uint32_t router_mhz;
	uint32_t nic_mhz;
	uint32_t nic_packet_cycles; ///< of the NIC's clock that a full packet takes it
	uint32_t hop_ns;            ///< from a router to the next
	uint32_t cycle_ticks; ///< parts of a router cycle of which the time of a unit on each link is a whole number
};

/** Links of one colour or dimension: tiles that follow one another. */
struct LinkForm {
	const char *name;
	uint32_t first_tile;
	uint32_t tiles;
	uint32_t lane_mbit; ///< per second, raw, of each lane
};

struct Chip {
	const char *name;
	const char *unit; ///< its name
	PacketForm packets;
	LineForm line;
	TileForm tiles;
	ChannelForm channels;
	TimeForm times;
	std::span<const LinkForm> links; ///< network tiles, all of them
	uint32_t most_nodes;             ///< of a machine
};

/** Units of @p bytes of data, at most those of a packet, and what ends a packet with data. */
constexpr uint32_t data_units(const PacketForm &form, uint32_t bytes)
{
	return (bytes + form.tail_bytes + form.block_bytes - 1) / form.block_bytes * form.block_units + form.end_units;
}

/** Units of a request packet. @p bytes is ignored if it carries no @p data. */
constexpr uint32_t request_units(const PacketForm &form, bool data, uint32_t bytes)
{
	return form.request_header + (data ? data_units(form, bytes) : form.request_end);
}

/** Units of a response packet. @p bytes is ignored if it carries no @p data. */
constexpr uint32_t response_units(const PacketForm &form, bool data, uint32_t bytes)
{
	return form.response_header + (data ? data_units(form, bytes) : 0);
}

/** Units of the longest packet: a request with all the data that it may have. */
constexpr uint32_t most_units(const PacketForm &form)
{
	return request_units(form, true, form.data_bytes);
}

/** Share of what a link carries raw that are data of full puts, packets of both directions counted, sets too. */
constexpr double put_efficiency(const Chip &chip)
{
	const PacketForm &form = chip.packets;
	const double bits = static_cast<double>(form.unit_bits) * (most_units(form) + response_units(form, false, 0));

	return form.data_bytes * 8 / bits * chip.line.set_units / (chip.line.set_units + chip.line.set_extra);
}

/** A description that contradicts itself has no place in a program: for a static_assert beside each chip. */
constexpr bool holds_together(const Chip &chip)
{
	const TileForm &tiles = chip.tiles;
	uint32_t next = 0;

	for (const LinkForm &link : chip.links) {
		if (link.first_tile != next || !link.tiles || !link.lane_mbit)
			return false;
		next += link.tiles;
	}
	return next == tiles.network && tiles.network + tiles.processor == tiles.rows * tiles.columns &&
	       tiles.share_nics && tiles.nics % tiles.share_nics == 0 &&
	       tiles.nics / tiles.share_nics * tiles.share_tiles == tiles.processor && chip.line.lanes &&
	       chip.line.set_units && chip.channels.requests && chip.packets.block_bytes && chip.packets.unit_bits &&
	       chip.times.router_mhz && chip.times.nic_mhz && chip.times.cycle_ticks;
}

} // namespace aries::chip

#endif
