// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * A link of QsNetIII in the terms of chip.hpp, for what asks how long something is on a link. A unit is a word of eight
 * bytes, which a link carries in a cycle of the switch (Q18, Q39); packets are cut into segments, and what they have is
 * asked of chip::ELITE5.
 */
#ifndef ARIES_SIM_ELITE5_LINE_HPP
#define ARIES_SIM_ELITE5_LINE_HPP

#include <array>

#include "chip/chip.hpp"
#include "chip/elite5.hpp"

namespace aries::sim
{

inline constexpr uint32_t WORD_BYTES = 8;

inline constexpr std::array<chip::LinkForm, 1> ELITE5_LINKS{{
	{"link", 0, chip::ELITE5.radix / 2, chip::ELITE5.line.lane_mbit},
}};

inline constexpr chip::Chip ELITE5_LINE{
	.name = chip::ELITE5.name,
	.unit = "word",
	/* A segment. */
	.packets = {.unit_bits = WORD_BYTES * 8,
		    .data_bytes = chip::ELITE5.packets.segment_bytes - chip::ELITE5.packets.first_header,
		    .request_header = chip::ELITE5.packets.first_header / WORD_BYTES,
		    .response_header = 1,
		    .block_bytes = WORD_BYTES,
		    .block_units = 1,
		    .tail_bytes = 0,
		    .end_units = 0,
		    .request_end = 0,
		    .error_units = 0},
	/* The line code: four words in the time of five. */
	.line = {.lanes = chip::ELITE5.line.lanes, .set_units = 4, .set_extra = 1},
	.tiles = {.rows = 1,
		  .columns = chip::ELITE5.radix,
		  .network = chip::ELITE5.radix / 2,
		  .processor = chip::ELITE5.radix / 2,
		  .nics = chip::ELITE5.radix / 2,
		  .share_nics = 1,
		  .share_tiles = 1},
	.channels = {.requests = chip::ELITE5.channels.channels, .responses = 0},
	.times = {.router_mhz = chip::ELITE5.times.switch_mhz,
		  .nic_mhz = chip::ELITE5.times.adapter_mhz,
		  .nic_packet_cycles = 1,
		  .hop_ns = chip::ELITE5.times.crossing_ns,
		  .cycle_ticks = 1},
	.links = ELITE5_LINKS,
	.most_nodes = chip::ELITE5.most_nodes,
};

static_assert(holds_together(ELITE5_LINE));
static_assert(chip::ELITE5.line.code_data * 5 == chip::ELITE5.line.code_line * 4);
static_assert(chip::most_units(ELITE5_LINE.packets) * WORD_BYTES == chip::ELITE5.packets.segment_bytes);

/** Data of a packet of @p payload bytes is behind the address that says where to. */
constexpr uint32_t put_words(uint32_t bytes)
{
	return (chip::put_bytes(chip::ELITE5.packets, bytes) + WORD_BYTES - 1) / WORD_BYTES;
}

/** Words of all packets of a message. */
constexpr uint64_t words_of_message(uint32_t bytes, uint32_t packet_bytes)
{
	const uint32_t full = (bytes - 1) / packet_bytes;

	return uint64_t{full} * put_words(packet_bytes) + put_words(bytes - full * packet_bytes);
}

static_assert(put_words(8) * WORD_BYTES == 32); /* (Q15) */

} // namespace aries::sim

#endif
