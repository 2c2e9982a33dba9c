// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests and responses between neighbours: the straight way through the router of both. */
#include "cmocka_cpp.hpp"

#include "link/timing.hpp"
#include "machine.hpp"

using namespace aries;

namespace
{

/* When a request is at its target, and when its response is back. */
struct Exchange {
	uint64_t arrive_ns;
	uint64_t back_ns;
};

/* Requests and their responses, which leave when the target has had its time, all booked at once. */
Exchange exchange(Network &net, uint32_t src, uint32_t dst, uint32_t request_flits, uint32_t response_flits,
		  uint16_t mode = ADAPTIVE, uint32_t lane = 0, uint64_t at = NOW)
{
	const auto there = book(net, src, dst, PacketClass::Request, request_flits, mode, 0, at, 0, lane);
	const uint64_t turn = there.arrive_ns + RECEIVE_NS;
	const auto back = book(net, dst, src, PacketClass::Response, response_flits, mode, 0, turn, turn - at, lane);

	assert_true(there.reachable && back.reachable);
	return {there.arrive_ns, back.arrive_ns};
}

/* Of a put, or what else, of @bytes between the two NICs. */
Exchange exchange(Network &net, uint32_t src, uint32_t dst, uint32_t bytes, uint16_t mode = ADAPTIVE, uint32_t lane = 0,
		  uint64_t at = NOW, PacketKind kind = PacketKind::Put)
{
	const TransferFlits flits = transfer_flits(kind, bytes);

	return exchange(net, src, dst, flits.request, flits.response, mode, lane, at);
}

/* On a quiet network the straight way costs what a routed one does, packet by packet and all at once. */
TEST(same_times)
{
	for (uint32_t bytes : {0u, 1u, 8u, 64u, 65u, 512u, 513u, 4096u, 65536u}) {
		Machine routed(ONE_ROUTER), straight(ONE_ROUTER);
		const Exchange by = exchange(routed.net, 0, 2, bytes, DLV_MIN_HASH);
		const Exchange way = exchange(straight.net, 0, 2, bytes);

		assert_int_equal(way.arrive_ns, by.arrive_ns);
		assert_int_equal(way.back_ns, by.back_ns);
	}
}

/* Each of the four tiles of a short way may be booked: another is taken (T05). */
TEST(booked_tiles)
{
	constexpr uint32_t TILES_USED[] = {FIRST_INJECT, FIRST_PROCESSOR + 4, FIRST_INJECT + 4 + 2,
					   FIRST_PROCESSOR + 2};
	Machine quiet(ONE_ROUTER);
	const Exchange want = exchange(quiet.net, 0, 2, 8);

	for (uint32_t tile : TILES_USED) {
		Machine m(ONE_ROUTER);

		m.book_until(0, tile, NOW + 100000);
		const Exchange way = exchange(m.net, 0, 2, 8);

		assert_int_equal(way.arrive_ns, want.arrive_ns);
		assert_int_equal(way.back_ns, want.back_ns);
	}
	/* With all of them booked there is nothing but to wait. */
	Machine m(ONE_ROUTER);

	for (uint32_t tile = 0; tile < PROCESSOR_TILES; tile++)
		m.book_until(0, FIRST_INJECT + tile, NOW + 1000);
	assert_int_equal(exchange(m.net, 0, 2, 8).arrive_ns, want.arrive_ns + 1000);
}

/* Threads of other lanes book other tiles, so the tiles of one do not keep another waiting. */
TEST(lanes)
{
	Machine m(ONE_ROUTER);

	for (uint32_t lane = 0; lane < 2; lane++) {
		exchange(m.net, 0, 2, 8, ADAPTIVE, lane);
		assert_true(m.net.load_ns(0, FIRST_INJECT + lane, NOW) > 0);
		assert_true(m.net.load_ns(0, FIRST_INJECT + 4 + 2 + lane, NOW) > 0);
	}
}

/* No request finds a response of anybody in its way, wherever Netlink has moved the NICs of a quad. */
TEST(responses_in_nobodys_way)
{
	for (uint32_t moved = 0; moved < 4; moved++) {
		Machine m(ONE_ROUTER);

		for (uint32_t tile = 0; tile < moved; tile++)
			m.book_until(0, FIRST_INJECT + tile, NOW + 1000);
		assert_int_equal(book(m.net, 1, 2, PacketClass::Request, 1, ADAPTIVE, 0, NOW).tile_changed, moved > 0);
		for (uint32_t n = 0; n < 16; n++) {
			/* Each while the responses to those before are on their way. */
			const uint32_t src = n % 2;
			const uint64_t at = NOW + 100000 + n * 20;
			const Exchange way = exchange(m.net, src, 1 - src, 8, ADAPTIVE, n / 2 % 4, at);

			assert_int_equal(way.arrive_ns - at, ROUTER_NS + 6);
			assert_true(way.back_ns > NOW + 100000 + 16 * 20);
		}
	}
}

/* Launched packets of several operations are booked as one transaction. */
TEST(launched)
{
	const uint32_t one = request_flits(PacketKind::Put, 8);

	for (uint32_t packets : {1u, 16u, 128u}) {
		Machine m(ONE_ROUTER);
		const uint64_t took = ticks_to_ns(flit_ticks(uint64_t{packets} * one, LINK_FACTORS[2][0]));
		const Exchange way = exchange(m.net, 0, 2, packets * one, packets);
		const Exchange again = exchange(m.net, 0, 2, packets * one, packets);

		if (packets * one <= 112)
			assert_in_range(way.arrive_ns, NOW + ROUTER_NS + took - 1, NOW + ROUTER_NS + took);
		else
			assert_in_range(way.arrive_ns, NOW + ROUTER_NS + took / 4 - 1, NOW + ROUTER_NS + took / 4 + 2);
		assert_true(again.arrive_ns >= way.arrive_ns && again.arrive_ns <= way.arrive_ns + took);
		/* Requests of its own do not wait for the responses of a lane. */
		assert_in_range(exchange(m.net, 2, 0, packets * one, packets).arrive_ns, way.arrive_ns,
				way.arrive_ns + packets);
	}
}

/* A long train waits for what is booked, on every tile; one of middling length does, too. */
TEST(long_trains_wait)
{
	for (uint32_t bytes : {4096u, 65536u}) {
		Machine m(ONE_ROUTER);
		const Exchange first = exchange(m.net, 0, 2, bytes), second = exchange(m.net, 0, 2, bytes);
		const uint64_t taken = first.arrive_ns - NOW - ROUTER_NS;

		assert_in_range(second.arrive_ns, first.arrive_ns + taken * 9 / 10, first.arrive_ns + taken * 11 / 10);
		assert_true(second.back_ns > first.back_ns);
	}
}

/*
 * Responses come back through the tiles by which NICs of a quad send their requests. They are booked with the request,
 * for later, and do not close the tiles until then.
 */
TEST(responses_close_no_tile)
{
	const struct {
		PacketKind kind;
		uint32_t bytes;
	} cases[] = {{PacketKind::Put, 4096}, {PacketKind::Put, 65536}, {PacketKind::Get, 65536}};

	for (const auto &[kind, bytes] : cases) {
		Machine quad(ONE_ROUTER), router(ONE_ROUTER);
		Exchange near{}, far{};

		for (uint32_t n = 0; n < 20; n++) {
			near = exchange(quad.net, 0, 1, bytes, ADAPTIVE, 0, NOW, kind);
			far = exchange(router.net, 0, 2, bytes, ADAPTIVE, 0, NOW, kind);
		}
		/*
		 * They do take their part: 64 flits on one tile, where 4 KiB of requests take 224 on each of four; and
		 * requests for data wait for the data of those before.
		 */
		if (kind == PacketKind::Put)
			assert_in_range(near.arrive_ns - NOW, far.arrive_ns - NOW,
					(far.arrive_ns - NOW) * 13 / 10 + 200);
		assert_in_range(near.back_ns - NOW, far.back_ns - NOW, (far.back_ns - NOW) * 13 / 10 + 200);
	}
}

} // namespace

TEST_MAIN("exchange between neighbours")
