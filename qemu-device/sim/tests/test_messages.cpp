// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Latencies of whole messages. In one router a packet of 14 flits is there 75 cycles after its message was ready, as
 * test_quiet.cpp works out, its response 162 later. A NIC of the canonical dragonfly has one processor
 * tile, which takes a packet in 14 cycles; so of a message with n packets the last byte is there 14 (n - 1) cycles
 * later.
 */
#include "messages.hpp"
#include "rig.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

topology::Machine one_router()
{
	return topology::build_aries({.groups = 1, .chassis = 1, .slots = 1});
}

void expect_all(const Histogram &histogram, uint32_t value)
{
	assert_int_not_equal(histogram.count(), 0);
	if (histogram.count_of(value) != histogram.count())
		fail_msg("%u to %u, mean %f, not %u", histogram.least(), histogram.most(), histogram.mean(), value);
}

TEST(message_of_one_packet_is_the_packet)
{
	Rig rig(one_router(), {.operation = Operation::Put, .bytes = 64, .load_ppm = 10});

	rig.run_and_drain(20'000'000);
	expect_all(rig.network.statistics().message, 75);
	expect_all(rig.network.statistics().message_round_trip, 75 + 100 + 62);
}

TEST(last_byte_of_sixteen_packets)
{
	Rig rig(topology::build_canonical({.p = 2, .a = 2, .h = 1}),
		{.operation = Operation::Put, .bytes = 1024, .load_ppm = 500});

	rig.run_and_drain(10'000'000);

	const Statistics &seen = rig.network.statistics();

	/* Inside a router it is exactly that; over links it takes longer. */
	assert_int_equal(seen.message.count() * 16, seen.latency.count());
	assert_int_not_equal(seen.hop_count[0], 0);
	assert_int_equal(seen.message.least(), 75 + 14 * 15);
	assert_int_equal(seen.message.count_of(75 + 14 * 15) * 16, seen.hop_count[0]);
	assert_int_equal(seen.message_round_trip.least(), 75 + 14 * 15 + 162);
	assert_int_equal(seen.message_round_trip.count_of(75 + 14 * 15 + 162) * 16, seen.hop_count[0]);
	assert_int_equal(seen.latency.least(), 75);
}

/* Data of gets come to where the message began, so its last byte is the last response. */
TEST(last_byte_of_a_get_is_its_last_response)
{
	Rig rig(topology::build_aries({.groups = 2, .chassis = 1, .slots = 2}),
		{.operation = Operation::Get, .bytes = 8192, .load_ppm = 100000});

	rig.run_and_drain(100'000);

	const Statistics &seen = rig.network.statistics();

	assert_int_equal(seen.message.count() * 128, seen.latency.count());
	assert_int_equal(seen.message.sum(), seen.message_round_trip.sum());
	assert_int_equal(seen.message.most(), seen.round_trip.most());
}

/* All messages end, from one packet to 4,096, and none before its last packet. */
TEST(every_message_ends)
{
	for (const uint32_t bytes : {8u, 64u, 65u, 4096u, 262144u}) {
		Rig rig(topology::build_aries({.groups = 3, .chassis = 1, .slots = 2}),
			{.operation = Operation::Put, .bytes = bytes, .load_ppm = 500000});
		const uint64_t packets = (bytes + 63) / 64;

		rig.run_and_drain(bytes == 262144 ? 300'000 : 20'000);

		const Statistics &seen = rig.network.statistics();

		assert_int_equal(seen.message.count() * packets, seen.latency.count());
		assert_int_equal(seen.message.count(), seen.message_round_trip.count());
		assert_true(seen.message.most() == seen.latency.most());
		assert_true(seen.message_round_trip.most() == seen.round_trip.most());
		assert_string_equal(rig.network.leftover().c_str(), "");
	}
}

/* Responses in any order: a message ends with its last, and is told of once. */
TEST(ends_in_any_order)
{
	OpenMessages open;

	open.open(10, 2);
	open.open(12, 1);
	open.open(13, 3);
	assert_int_equal(open.close(15, 100), 0);
	assert_int_equal(open.close(12, 50), 50);
	assert_int_equal(open.close(11, 70), 0);
	assert_int_equal(open.close(13, 20), 0);
	assert_int_equal(open.close(14, 30), 100);
	assert_false(open.empty());
	assert_int_equal(open.close(10, 60), 70);
	assert_true(open.empty());
	for (uint32_t i = 0; i < 1000; i++)
		open.open(100 + 2 * i, 2);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(open.close(100 + 2 * i, i + 1), 0);
		assert_int_equal(open.close(101 + 2 * i, i + 5), i + 5);
	}
	assert_true(open.empty());
}

} // namespace

TEST_MAIN("tests")
