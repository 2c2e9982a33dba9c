// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Gemini, whose routers make a torus of three dimensions. Its topology is built and its packets are counted; no packet
 * is sent over it yet.
 */
#ifndef ARIES_CHIP_GEMINI_HPP
#define ARIES_CHIP_GEMINI_HPP

#include <array>

#include "chip/chip.hpp"

namespace aries::chip
{

/** Places in GEMINI_LINKS: the dimensions. */
enum : uint8_t { GEMINI_X, GEMINI_Y, GEMINI_Z };

inline constexpr uint32_t GEMINI_TORUS_LINK = 4; ///< links of tiles in one link of the torus, and in one cable (G04)

/**
 * By dimension: tiles of the links upwards, then as many of those down. Eight links to each neighbour in x and z, that
 * is two of the torus, and four in y (G02, G06).
 */
inline constexpr std::array<LinkForm, 3> GEMINI_LINKS{{
	{"x", 0, 16, 3125},
	{"y", 16, 8, 3125},
	{"z", 24, 16, 3125},
}};

inline constexpr Chip GEMINI{
	.name = "Gemini",
	.unit = "phit",
	/*
	 * Phits of 24 bits (G09). Seven of header, three for each eight bytes, one that ends what has data or asks for
	 * something: 32 and 2 for a put of 64 bytes, 8 and 27 for a get, three in place of 2 for an error (G10 to G13).
	 */
	.packets = {.unit_bits = 24,
		    .data_bytes = 64,
		    .request_header = 7,
		    .response_header = 2,
		    .block_bytes = 8,
		    .block_units = 3,
		    .tail_bytes = 0,
		    .end_units = 1,
		    .request_end = 1,
		    .error_units = 1},
	/* (G04); the link layer's window (G17) takes nothing from packets that a source tells. */
	.line = {.lanes = 3, .set_units = 1, .set_extra = 0},
	/* 40 network tiles, 8 processor tiles that both NICs share (G01, G03, G07). */
	.tiles = {.rows = 6, .columns = 8, .network = 40, .processor = 8, .nics = 2, .share_nics = 2, .share_tiles = 8},
	/* (G18) */
	.channels = {.requests = 1, .responses = 1},
	/* Clocks of G37, five cycles for 64 bytes of G38, a hop of G44; a phit takes 256 of 125 parts of a cycle. */
	.times = {.router_mhz = 800, .nic_mhz = 650, .nic_packet_cycles = 5, .hop_ns = 105, .cycle_ticks = 125},
	.links = GEMINI_LINKS,
	.most_nodes = 2u << 16, /* 16 bits name a router (G28) */
};

static_assert(holds_together(GEMINI));

} // namespace aries::chip

#endif
