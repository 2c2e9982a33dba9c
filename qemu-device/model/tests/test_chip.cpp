// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A chip as data. One that is no chip of this project, written after Documentation/chips.md alone, gets its lengths of
 * packets and its efficiency from the same functions; what asks Aries has the numbers that the sources tell.
 */
#include "cmocka_cpp.hpp"

#include <cmath>

#include "chip/aries.hpp"
#include "packet/flits.hpp"

using namespace aries;
using namespace aries::chip;

namespace
{

constexpr LinkForm TOY_LINKS[] = {{"ring", 0, 2, 1000}, {"bridge", 2, 1, 500}};

/* Packets of bytes: four in front, data in pairs of which each has a byte for parity, two behind them. */
constexpr Chip TOY{
	.name = "Toy",
	.unit = "byte",
	.packets = {.unit_bits = 8,
		    .data_bytes = 16,
		    .request_header = 4,
		    .response_header = 2,
		    .block_bytes = 2,
		    .block_units = 3,
		    .tail_bytes = 0,
		    .end_units = 2,
		    .request_end = 1,
		    .error_units = 1},
	.line = {.lanes = 1, .set_units = 3, .set_extra = 1},
	.tiles = {.rows = 1, .columns = 5, .network = 3, .processor = 2, .nics = 2, .share_nics = 1, .share_tiles = 1},
	.channels = {.requests = 1, .responses = 1},
	.times = {.router_mhz = 100, .nic_mhz = 50, .nic_packet_cycles = 4, .hop_ns = 80, .cycle_ticks = 4},
	.links = TOY_LINKS,
	.most_nodes = 64,
};

static_assert(holds_together(TOY));

constexpr Chip with_network_tiles(uint32_t tiles)
{
	Chip chip = TOY;

	chip.tiles.network = tiles;
	return chip;
}

TEST(packets_of_another_chip)
{
	const PacketForm &form = TOY.packets;

	assert_int_equal(request_units(form, true, 0), 4 + 2);
	assert_int_equal(request_units(form, true, 3), 4 + 6 + 2);
	assert_int_equal(most_units(form), 4 + 24 + 2);
	assert_int_equal(request_units(form, false, 16), 4 + 1);
	assert_int_equal(response_units(form, false, 16), 2);
	assert_int_equal(response_units(form, true, 16), 2 + 24 + 2);
	/* 128 bits of data in (30 + 2) x 8, three bytes of four. */
	assert_true(std::fabs(put_efficiency(TOY) - 0.375) < 1e-12);
}

/* Tiles that no link or NIC has, or that two have, are no chip. */
TEST(what_does_not_hold_together)
{
	Chip chip = TOY;

	assert_true(holds_together(chip));
	assert_false(holds_together(with_network_tiles(2)));
	chip.tiles.rows = 2;
	assert_false(holds_together(chip));
	chip = TOY;
	chip.tiles.share_tiles = 2;
	assert_false(holds_together(chip));
	chip = TOY;
	chip.times.cycle_ticks = 0;
	assert_false(holds_together(chip));
}

/* P02 to P06, T01 to T06, T12, T19, L05, L08: the device asks the chip, and has what the sources tell. */
TEST(aries_is_what_the_sources_tell)
{
	assert_int_equal(FLIT_BYTES, 6);
	assert_int_equal(PACKET_BYTES, 64);
	assert_int_equal(MAX_PACKET_FLITS, 14);
	for (uint32_t bytes = 0; bytes <= PACKET_BYTES; bytes++) {
		const uint32_t data = (bytes + 2 + 5) / 6;

		assert_int_equal(data_flits(bytes), data);
		assert_int_equal(request_flits(PacketKind::Put, bytes), 3 + data);
		assert_int_equal(response_flits(PacketKind::Get, bytes), 1 + data);
	}
	assert_int_equal(request_flits(PacketKind::Get, 64), 3);
	assert_int_equal(response_flits(PacketKind::Put, 64), 1);
	assert_int_equal(response_flits(PacketKind::FetchAmo, 16), response_flits(PacketKind::FetchAmo, 8));
	assert_int_equal(ERROR_RESPONSE_FLITS, 2);
	assert_true(std::fabs(put_efficiency(ARIES) - 0.64) < 1e-12);
	assert_int_equal(ARIES.tiles.nics, 4);
	assert_int_equal(ARIES.tiles.network, 40);
	assert_int_equal(ARIES.tiles.processor, 8);
	assert_int_equal(ARIES.channels.requests, 4);
	assert_int_equal(ARIES.line.lanes, 3);
	assert_int_equal(ARIES.times.router_mhz, 875);
	assert_int_equal(ARIES.times.nic_mhz, 800);
	assert_int_equal(ARIES.times.hop_ns, 100);
	assert_int_equal(ARIES.most_nodes, 92544);
}

/* A set's flits take a whole number of ticks on each of its links, or rounding would add up in the simulator. */
TEST(units_take_whole_ticks)
{
	for (const LinkForm &link : ARIES.links) {
		for (uint32_t lanes = 1; lanes <= ARIES.line.lanes; lanes++) {
			const uint64_t num = uint64_t{ARIES.packets.unit_bits} * ARIES.times.router_mhz *
					     ARIES.times.cycle_ticks * (ARIES.line.set_units + ARIES.line.set_extra);
			const uint64_t den = uint64_t{link.lane_mbit} * lanes * ARIES.line.set_units;

			assert_int_equal(num % den, 0);
		}
	}
}

} // namespace

TEST_MAIN("chip")
