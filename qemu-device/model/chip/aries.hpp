// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Aries: the chip of the device. Headers from packet to simulator take their numbers from here.
 *
 * A request starts with 128 bits of header, a response with 32 bits. What carries data has 16 more header bits, the
 * data, and a CRC of 16 bits in the end of the last flit; what carries none has the CRC behind the header. That
 * gives the 14 + 1 flits of a 64-byte put and the 3 + 12 of a 64-byte get (P03, P04).
 */
#ifndef ARIES_CHIP_ARIES_HPP
#define ARIES_CHIP_ARIES_HPP

#include <array>

#include "chip/chip.hpp"

namespace aries::chip
{

/** Places in ARIES_LINKS; what is numbered by colour has these numbers. */
enum : uint8_t { ARIES_GREEN, ARIES_BLACK, ARIES_BLUE };

/** Inside a chassis, between chassis of a group, between groups (T08 to T10). Rates of blue links are optical (T19). */
inline constexpr std::array<LinkForm, 3> ARIES_LINKS{{
	{"green", 0, 15, 14000},
	{"black", 15, 15, 14000},
	{"blue", 30, 10, 12500},
}};

inline constexpr Chip ARIES{
	.name = "Aries",
	.unit = "flit",
	/* A flit of 48 bits (P02), 64 bytes of data (P01); a status takes one flit, as the third phit of Gemini (G12).
	 */
	.packets = {.unit_bits = 48,
		    .data_bytes = 64,
		    .request_header = 3,
		    .response_header = 1,
		    .block_bytes = 6,
		    .block_units = 1,
		    .tail_bytes = 2,
		    .end_units = 0,
		    .request_end = 0,
		    .error_units = 1},
	/* Three lanes (T06); nine flits of packets and one of the LCB (P05, P07). */
	.line = {.lanes = 3, .set_units = 9, .set_extra = 1},
	/* (T01 to T04) */
	.tiles = {.rows = 6, .columns = 8, .network = 40, .processor = 8, .nics = 4, .share_nics = 2, .share_tiles = 4},
	/* (P12, P13) */
	.channels = {.requests = 4, .responses = 4},
	/*
	 * Clocks of P02 and L08, of which five cycles take 64 bytes; a hop of L05. A cycle of 875 MHz is 8/7 ns; a flit
	 * behind the LCB takes 80/63 ns with three lanes of 14 Gb/s and 64/45 ns with three of 12.5. All of them, and
	 * those of degraded links (P17), are whole numbers of 1/45 cycle: 50 and 56 ticks.
	 */
	.times = {.router_mhz = 875, .nic_mhz = 800, .nic_packet_cycles = 5, .hop_ns = 100, .cycle_ticks = 45},
	.links = ARIES_LINKS,
	.most_nodes = 92544, /* (T12) */
};

static_assert(holds_together(ARIES));

} // namespace aries::chip

#endif
