// SPDX-License-Identifier: GPL-2.0-or-later
/* The short way of Network::exchange(): what it answers is what carry() answers, and where it may not be taken. */
#include "cmocka_cpp.hpp"

#include "machine.hpp"
#include "netlink/timing.hpp"

using namespace aries;

namespace
{

/* An exchange of a put, or what else, of @bytes between the two NICs. */
bool exchange(Network &net, uint32_t src, uint32_t dst, uint32_t bytes, Network::Exchange &out,
	      uint16_t mode = ADAPTIVE, uint32_t lane = 0, uint64_t at = NOW, PacketKind kind = PacketKind::Put)
{
	const TransferFlits flits = transfer_flits(kind, bytes);

	return net.exchange(src, dst, flits.request, flits.response, mode, lane, at, RECEIVE_NS, out);
}

/* On a quiet network both ways cost the same, packet by packet and as a train. */
void same_times(void **)
{
	for (uint32_t bytes : {0u, 1u, 8u, 64u, 65u, 512u, 513u, 4096u, 65536u}) {
		const TransferFlits flits = transfer_flits(PacketKind::Put, bytes);
		Machine general(ONE_ROUTER), direct(ONE_ROUTER);
		Network::Exchange way{};

		assert_true(exchange(direct.net, 0, 2, bytes, way));
		const auto there = general.net.carry(0, 2, PacketClass::Request, flits.request, ADAPTIVE, 0, NOW);
		const auto back = general.net.carry(2, 0, PacketClass::Response, flits.response, ADAPTIVE, 0,
						    there.arrive_ns + RECEIVE_NS);

		assert_int_equal(way.arrive_ns, there.arrive_ns);
		assert_int_equal(way.back_ns, back.arrive_ns);
	}
}

/* Bits that fix the way, NICs of other routers, and those cut off go through carry(); nothing is booked. */
void other_cases(void **)
{
	Machine m(CHASSIS);
	Network::Exchange way{};

	for (uint16_t mode : {DLV_NO_ADAPT, DLV_NO_RADAPT, DLV_MIN_HASH, DLV_NMIN_HASH, DLV_IN_ORDER})
		assert_false(exchange(m.net, 0, 1, 8, way, mode));
	assert_false(exchange(m.net, 0, 4, 8, way));
	assert_false(exchange(m.net, 0, 64, 8, way));
	assert_false(exchange(m.net, 0, 4, 65536, way));
	assert_true(m.quiet());
	m.net.set_nic_link(1, false);
	assert_false(exchange(m.net, 0, 1, 8, way));
	assert_false(exchange(m.net, 1, 0, 8, way));
	m.net.set_nic_link(1, true);
	assert_true(exchange(m.net, 0, 1, 8, way, DLV_ADAPTIVE2));
	assert_false(m.quiet());
}

/* Each of the four tiles of a short way must be free: a booked one is waited for, or avoided, by carry(). */
void booked_tiles(void **)
{
	constexpr uint32_t TILES_USED[] = {FIRST_INJECT, FIRST_PROCESSOR + 4, FIRST_INJECT + 4 + 2,
					   FIRST_PROCESSOR + 2};

	for (uint32_t tile : TILES_USED) {
		Machine m(ONE_ROUTER);
		Network::Exchange way{};

		m.book_until(0, tile, NOW + 100000);
		assert_false(exchange(m.net, 0, 2, 8, way));
		assert_true(exchange(m.net, 0, 2, 8, way, ADAPTIVE, 0, NOW + 100000));
	}
}

/* Threads of other lanes book other tiles, so the tiles of one do not keep another waiting. */
void lanes(void **)
{
	Machine m(ONE_ROUTER);
	Network::Exchange way{};

	assert_true(exchange(m.net, 0, 2, 8, way));
	assert_false(exchange(m.net, 0, 2, 8, way));
	assert_true(exchange(m.net, 0, 2, 8, way, ADAPTIVE, 1));
	assert_false(exchange(m.net, 0, 2, 8, way, ADAPTIVE, 1));
}

/* No request finds a response of anybody in its way, wherever Netlink has moved the NICs of a quad. */
void responses_in_nobodys_way(void **)
{
	for (uint32_t moved = 0; moved < 4; moved++) {
		Machine m(ONE_ROUTER);
		Network::Exchange way{};

		for (uint32_t tile = 0; tile < moved; tile++)
			m.book_until(0, FIRST_INJECT + tile, NOW + 1000);
		assert_int_equal(m.net.carry(1, 2, PacketClass::Request, 1, ADAPTIVE, 0, NOW).tile_changed, moved > 0);
		for (uint32_t n = 0; n < 16; n++) {
			/* Each while the responses to those before are on their way. */
			const uint32_t src = n % 2;

			assert_true(exchange(m.net, src, 1 - src, 8, way, ADAPTIVE, n / 2 % 4, NOW + 100000 + n * 20));
			assert_true(way.back_ns > NOW + 100000 + 16 * 20);
		}
	}
}

/* Launched packets of one thread queue on the tiles of its lane; those of another lane do not wait for them. */
void launched(void **)
{
	const uint32_t one = request_flits(PacketKind::Put, 8);
	const auto launch = [](Network &net, uint32_t packets, uint32_t lane, uint64_t at, Network::Exchange &out,
			       uint32_t dst = 2, uint16_t mode = ADAPTIVE) {
		return net.exchange_launched(0, dst, packets * request_flits(PacketKind::Put, 8), packets, mode, lane,
					     at, RECEIVE_NS, out);
	};

	for (uint32_t packets : {1u, 16u, 128u}) {
		Machine m(ONE_ROUTER), plain(ONE_ROUTER);
		Network::Exchange way{}, again{}, other{}, small{};
		const uint64_t took = ticks_to_ns(flit_ticks(uint64_t{packets} * one, LINK_FACTORS[2][0]));

		assert_true(launch(m.net, packets, 0, NOW, way));
		assert_in_range(way.arrive_ns, NOW + ROUTER_NS + took - 1, NOW + ROUTER_NS + took);
		assert_in_range(way.back_ns, way.arrive_ns + RECEIVE_NS + ROUTER_NS + packets,
				way.arrive_ns + RECEIVE_NS + ROUTER_NS + packets * 2);
		if (packets == 1) {
			assert_true(exchange(plain.net, 0, 2, 8, small));
			assert_int_equal(way.arrive_ns, small.arrive_ns);
			assert_int_equal(way.back_ns, small.back_ns);
		}
		assert_true(launch(m.net, packets, 1, NOW, other));
		assert_int_equal(other.arrive_ns, way.arrive_ns);
		assert_int_equal(other.back_ns, way.back_ns);
		assert_true(launch(m.net, packets, 0, NOW, again));
		assert_in_range(again.arrive_ns, way.arrive_ns + took - 1, way.arrive_ns + took + 1);
		assert_true(again.back_ns > way.back_ns);
		/* Requests of its own do not wait for the responses of a lane. */
		assert_true(m.net.exchange_launched(2, 0, packets * one, packets, ADAPTIVE, 0, NOW, RECEIVE_NS, other));
		assert_int_equal(other.arrive_ns, way.arrive_ns);
	}
	Machine m(CHASSIS);
	Network::Exchange way{};

	for (uint16_t mode : {DLV_NO_ADAPT, DLV_NO_RADAPT, DLV_MIN_HASH, DLV_NMIN_HASH, DLV_IN_ORDER})
		assert_false(launch(m.net, 8, 0, NOW, way, 1, mode));
	assert_false(launch(m.net, 8, 0, NOW, way, 4));
	assert_false(launch(m.net, 8, 0, NOW, way, 64));
	m.net.set_nic_link(1, false);
	assert_false(launch(m.net, 8, 0, NOW, way, 1));
	assert_true(way.arrive_ns == 0 && way.back_ns == 0);
}

/* A long train waits for what is booked, on every tile; one of middling length does, too. */
void long_trains_wait(void **)
{
	for (uint32_t bytes : {4096u, 65536u}) {
		Machine m(ONE_ROUTER);
		Network::Exchange first{}, second{};

		assert_true(exchange(m.net, 0, 2, bytes, first));
		assert_true(exchange(m.net, 0, 2, bytes, second));
		const uint64_t taken = first.arrive_ns - NOW - ROUTER_NS;

		assert_in_range(second.arrive_ns, first.arrive_ns + taken * 9 / 10, first.arrive_ns + taken * 11 / 10);
		assert_true(second.back_ns > first.back_ns);
	}
}

/*
 * Responses come back through the tiles by which NICs of a quad send their requests. They are booked with the request,
 * for later, and do not close the tiles until then.
 */
void responses_close_no_tile(void **)
{
	const struct {
		PacketKind kind;
		uint32_t bytes;
	} cases[] = {{PacketKind::Put, 4096}, {PacketKind::Put, 65536}, {PacketKind::Get, 65536}};

	for (const auto &[kind, bytes] : cases) {
		Machine quad(ONE_ROUTER), router(ONE_ROUTER);
		Network::Exchange near{}, far{};

		for (uint32_t n = 0; n < 20; n++) {
			assert_true(exchange(quad.net, 0, 1, bytes, near, ADAPTIVE, 0, NOW, kind));
			assert_true(exchange(router.net, 0, 2, bytes, far, ADAPTIVE, 0, NOW, kind));
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

/* Trains that the host carries faster than the links do leave the way free for others soon after the last one. */
void trains_leave_the_way_free(void **)
{
	Machine m(ONE_ROUTER);
	Network::Exchange way{};

	for (uint32_t n = 0; n < 100000; n++)
		assert_true(exchange(m.net, 0, n % 2 + 1, 4096, way, ADAPTIVE, 0, NOW + n * 200));
	const uint64_t end = NOW + 100000 * 200;

	assert_false(exchange(m.net, 0, 1, 8, way, ADAPTIVE, 0, end));
	assert_true(exchange(m.net, 0, 1, 8, way, ADAPTIVE, 0, end + ticks_to_ns(BACKLOG_LIMIT) + 1000));
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(same_times),
		cmocka_unit_test(other_cases),
		cmocka_unit_test(booked_tiles),
		cmocka_unit_test(lanes),
		cmocka_unit_test(launched),
		cmocka_unit_test(long_trains_wait),
		cmocka_unit_test(responses_close_no_tile),
		cmocka_unit_test(trains_leave_the_way_free),
		cmocka_unit_test(responses_in_nobodys_way),
	};

	return cmocka_run_group_tests_name("exchange between neighbours", tests, nullptr, nullptr);
}
