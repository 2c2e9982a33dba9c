// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Elite5, the switch of QsNetIII, with what is told of Elan5, the adapter at the ends of its links.
 */
#ifndef ARIES_CHIP_ELITE5_HPP
#define ARIES_CHIP_ELITE5_HPP

#include "chip/switch.hpp"

namespace aries::chip
{

/**
 * A pool of 16 buffers beside the 32 of the channels is 12,288 bytes, and not the "8K bytes in total" of the source
 * (Q16). What it lists is taken for right, and not its sum; ELITE5_WITHOUT_POOL has the sum.
 */
inline constexpr Switch ELITE5{
	.name = "Elite5",
	.adapter = "Elan5",
	.radix = 32, /* (Q03) */
	/* (Q12 to Q14); a put's payload begins with 64 bits of address (Q15). */
	.packets = {.segment_bytes = 256,
		    .first_header = 8,
		    .next_header = 4,
		    .trailer = 8,
		    .address_bytes = 8,
		    .most_payload = 4096,
		    .usual_payload = 1024,
		    .header_crc_bits = 16,
		    .trailer_crc_bits = 32},
	/* 25 Gb/s by 8b10b: 2.5 GB/s (Q18), which is eight bytes in each cycle of the switch (Q39). */
	.line = {.lanes = 4, .lane_mbit = 6250, .code_data = 8, .code_line = 10},
	/* (Q04, Q05, Q16) */
	.channels = {.channels = 32, .outstanding = 32, .buffer_bytes = 256, .pool_buffers = 16},
	/* (Q07, Q09, Q39) */
	.times =
		{.switch_mhz = 312, .adapter_mhz = 500, .crossing_ns = 40, .write_least_ns = 300, .write_most_ns = 400},
	.most_nodes = 16384, /* (Q34) */
};

constexpr Switch without_pool(Switch chip)
{
	chip.channels.pool_buffers = 0;
	return chip;
}

inline constexpr Switch ELITE5_WITHOUT_POOL = without_pool(ELITE5);

static_assert(holds_together(ELITE5));
static_assert(holds_together(ELITE5_WITHOUT_POOL));

} // namespace aries::chip

#endif
