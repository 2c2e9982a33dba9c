// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Latencies of single packets in an empty network, to the cycle. The numbers are worked out by hand:
 *
 * A flit needs 1 cycle from the NIC, 8 in Netlink, 20 in the input, 12 for the row, 12 for the column, 1 to leave the
 * last router, 8 in Netlink: 62 without a link. A link adds 44 cycles of its router, 28 of SerDes and LCB, the cable's
 * 4.375 cycles a metre and a flit of 10/9 cycles (12.5 Gb/s a lane: 56/45), rounded up together: 82 for 2 m, 117 for
 * 10 m, 76 for 0.5 m, 84 for 2.3 m; 117 for 10 m of fibre.
 *
 * The last of 14 flits comes 13 cycles later; behind links, that spread them, 15 (2 m, 10 m) or 14 (0.5 m, 2.3 m), and
 * 17 behind a fibre.
 */
#include "rig.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

/* A packet of each node in a million cycles or so: they do not meet. */
TrafficShape rare(uint32_t flits)
{
	return {.operation = Operation::Raw, .raw_flits = flits, .load_ppm = flits};
}

void expect_only(const Statistics &seen, std::initializer_list<uint32_t> latencies)
{
	uint64_t sum = 0;

	for (const uint32_t latency : latencies) {
		assert_int_not_equal(seen.latency.count_of(latency), 0);
		sum += seen.latency.count_of(latency);
	}
	assert_int_equal(sum, seen.latency.count());
	assert_int_equal(seen.nonminimal, 0);
}

TEST(canonical_single_flits_L05)
{
	Rig rig(topology::build_canonical({.p = 2, .a = 4, .h = 2}), rare(1));

	rig.run_and_drain(20'000'000);

	const Statistics &seen = rig.network.statistics();

	assert_in_range(seen.latency.count(), 1000, 2000);
	expect_only(seen, {62, 62 + 82, 62 + 117, 62 + 82 + 117, 62 + 82 + 117 + 82});
	assert_int_equal(seen.latency.count_of(62), seen.hop_count[0]);
	assert_int_equal(seen.latency.count_of(144) + seen.latency.count_of(179), seen.hop_count[1]);
	assert_int_equal(seen.latency.count_of(261), seen.hop_count[2]);
	assert_int_equal(seen.latency.count_of(343), seen.hop_count[3]);
}

TEST(canonical_full_packets)
{
	Rig rig(topology::build_canonical({.p = 2, .a = 4, .h = 2}), rare(14));

	rig.run_and_drain(20'000'000);
	expect_only(rig.network.statistics(), {62 + 13, 144 + 15, 179 + 15, 261 + 15, 343 + 15});
}

TEST(aries_group_full_packets)
{
	Rig rig(topology::build_aries({.groups = 1, .chassis = 2, .slots = 4}), rare(14));

	rig.run_and_drain(20'000'000);
	expect_only(rig.network.statistics(), {62 + 13, 62 + 76 + 14, 62 + 84 + 14, 62 + 76 + 84 + 14});
}

/* Two blades in two groups: fibres only. */
TEST(fibre_full_packets_T19)
{
	Rig rig(topology::build_aries({.groups = 2, .chassis = 1, .slots = 1}), rare(14));

	rig.run_and_drain(20'000'000);
	expect_only(rig.network.statistics(), {62 + 13, 62 + 117 + 17});
}

/* A put in one router: the request's 75 cycles, 100 at the target, the response's 62. */
TEST(put_and_get_with_responses_P03_P04)
{
	const auto machine = topology::build_aries({.groups = 1, .chassis = 1, .slots = 1});
	Rig put(machine, {.operation = Operation::Put, .bytes = 64, .load_ppm = 10});
	Rig get(machine, {.operation = Operation::Get, .bytes = 64, .load_ppm = 10});

	put.run_and_drain(20'000'000);
	assert_int_not_equal(put.network.statistics().round_trip.count(), 0);
	assert_int_equal(put.network.statistics().round_trip.count_of(75 + 100 + 62),
			 put.network.statistics().round_trip.count());
	get.run_and_drain(20'000'000);
	assert_int_not_equal(get.network.statistics().round_trip.count(), 0);
	assert_int_equal(get.network.statistics().round_trip.count_of(62 + 2 + 100 + 62 + 11),
			 get.network.statistics().round_trip.count());
}

/* 10/9 cycles a flit with 14 Gb/s, 56/45 with 12.5; two lanes 3/2 of it, one 3 times (P05, P17). */
TEST(flit_times_are_whole_ticks)
{
	assert_int_equal(flit_ticks(chip::ARIES, 14, 3, 875), 50);
	assert_int_equal(flit_ticks(chip::ARIES, 12.5, 3, 875), 56);
	assert_int_equal(flit_ticks(chip::ARIES, 14, 2, 875), 75);
	assert_int_equal(flit_ticks(chip::ARIES, 12.5, 2, 875), 84);
	assert_int_equal(flit_ticks(chip::ARIES, 14, 1, 875), 150);
	assert_int_equal(flit_ticks(chip::ARIES, 12.5, 1, 875), 168);
}

} // namespace

TEST_MAIN("tests")
