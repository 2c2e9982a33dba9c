// SPDX-License-Identifier: GPL-2.0-or-later
/* Short ways through one router: they come to what the longer ones would, in time, in bookings and in counters. */
#include <cstring>
#include <vector>

#include "cmocka_cpp.hpp"
#include "machine.hpp"

using namespace aries;

namespace
{

constexpr uint64_t TURN = 370; // ns at the target
constexpr uint32_t QUAD = 4;   // tiles of one

uint64_t ticks(uint64_t flits)
{
	return flit_ticks(flits, LINK_FACTORS[2][0]);
}

std::vector<unsigned char> state(Machine &m)
{
	const auto *from = static_cast<const unsigned char *>(m.memory());

	return {from, from + Network::shared_bytes(ONE_ROUTER)};
}

/* A packet and its response, booked at once or one after the other: the shared state is the same to the last bit. */
TEST(exchange_is_two_carries)
{
	for (uint32_t pair = 0; pair < 16; pair++) {
		const uint32_t src = pair / 4, dst = pair % 4;
		Machine at_once(ONE_ROUTER), apart(ONE_ROUTER);

		for (uint32_t i = 0; i < 6; i++) {
			const uint32_t lane = i % 3, there_flits = 4 + 2 * i, back_flits = 1 + 11 * (i % 2);
			const uint64_t now = NOW + 2000 * i;
			uint64_t there_ns = 0, back_ns = 0;

			assert_true(
				at_once.net.exchange({src, dst, PacketClass::Request, ADAPTIVE, there_flits, lane, i},
						     back_flits, now, TURN, there_ns, back_ns));
			const auto there =
				book(apart.net, src, dst, PacketClass::Request, there_flits, ADAPTIVE, i, now, 0, lane);
			const uint64_t turned = there.arrive_ns + TURN;
			const auto back = book(apart.net, dst, src, PacketClass::Response, back_flits, ADAPTIVE, i,
					       turned, turned - now, lane);

			assert_int_equal(there_ns, there.arrive_ns);
			assert_int_equal(back_ns, back.arrive_ns);
		}
		assert_true(state(at_once) == state(apart));
	}
}

/* Whatever is out of the ordinary is left to others, with nothing booked. */
TEST(exchange_books_both_or_nothing)
{
	uint64_t there_ns = 0, back_ns = 0;
	const Packets packets{0, 2, PacketClass::Request, ADAPTIVE, 5, 0, 0};
	uint32_t refused = 0;

	for (uint32_t tile = FIRST_PROCESSOR; tile < FIRST_INJECT + PROCESSOR_TILES; tile++) {
		Machine m(ONE_ROUTER);

		m.book_until(0, tile, NOW + 500);
		const auto before = state(m);

		if (!m.net.exchange(packets, 1, NOW, TURN, there_ns, back_ns)) {
			refused++;
			assert_true(state(m) == before);
		}
	}
	assert_int_equal(refused, 4);

	Machine m(CHASSIS);

	assert_false(m.net.exchange({0, 4, PacketClass::Request, ADAPTIVE, 5, 0, 0}, 1, NOW, TURN, there_ns, back_ns));
	assert_false(
		m.net.exchange({0, 2, PacketClass::Request, DLV_IN_ORDER, 5, 0, 0}, 1, NOW, TURN, there_ns, back_ns));
	m.net.set_nic_link(2, false);
	assert_false(m.net.exchange(packets, 1, NOW, TURN, there_ns, back_ns));
	m.net.set_nic_link(2, true);
	assert_true(m.net.exchange(packets, 1, NOW, TURN, there_ns, back_ns));
}

/* NICs of one quad: a response meets its own request's tiles, and waits for them only if it is there too early. */
TEST(responses_follow_requests_of_their_quad)
{
	constexpr uint32_t REQUEST = 64 * 14, RESPONSE = 64;

	for (const uint64_t after : {100ull, 432ull}) {
		Machine m(ONE_ROUTER);
		const uint64_t at = NOW + after;
		const uint64_t quiet = ticks_to_ns(ns_to_ticks(at + ROUTER_NS) + ticks(RESPONSE));
		uint64_t load = 0, flits = 0;

		book(m.net, 0, 1, PacketClass::Request, REQUEST, ADAPTIVE, 0, NOW);
		const auto back = book(m.net, 1, 0, PacketClass::Response, RESPONSE, ADAPTIVE, 0, at, after);

		assert_true(back.reachable);
		if (NOW + ticks(REQUEST / QUAD) / TICKS_PER_NS < at)
			assert_int_equal(back.arrive_ns, quiet);
		else
			assert_true(back.arrive_ns > quiet);
		for (uint32_t i = 0; i < QUAD; i++) {
			load += m.net.load_ns(0, FIRST_PROCESSOR + i, NOW);
			flits += m.net.tile_counters(0, FIRST_PROCESSOR + i)[ARIES_RTR_OUT_FLITS + 4];
		}
		assert_in_range(load, (ticks(REQUEST) + ticks(RESPONSE)) / TICKS_PER_NS - QUAD,
				(ticks(REQUEST) + ticks(RESPONSE)) / TICKS_PER_NS + QUAD);
		assert_int_equal(flits, RESPONSE);
	}
}

/* Four parts over tiles that are free, and over such as are booked until just then, take the same time. */
TEST(free_parts_are_as_booked_ones)
{
	for (const uint32_t flits : {113u, 448u, 1023u}) {
		Machine quiet(ONE_ROUTER), booked(ONE_ROUTER);

		for (uint32_t tile = FIRST_PROCESSOR; tile < FIRST_INJECT + PROCESSOR_TILES; tile++)
			booked.book_until(0, tile, NOW + 10);
		const auto free = book(quiet.net, 0, 2, PacketClass::Request, flits, ADAPTIVE, 0, NOW);
		const auto later = book(booked.net, 0, 2, PacketClass::Request, flits, ADAPTIVE, 0, NOW);

		assert_int_equal(free.head_ns + 10, later.head_ns);
		assert_int_equal(free.arrive_ns + 10, later.arrive_ns);
		for (uint32_t tile = FIRST_PROCESSOR; tile < TILES; tile++) {
			const TileCounters a = quiet.net.tile_counters(0, tile), b = booked.net.tile_counters(0, tile);

			assert_int_equal(a[ARIES_RTR_OUT_FLITS], b[ARIES_RTR_OUT_FLITS]);
			assert_int_equal(a[ARIES_RTR_IN_FLITS], b[ARIES_RTR_IN_FLITS]);
		}
	}
}

} // namespace

TEST_MAIN("crossing")
