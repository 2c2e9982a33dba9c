// SPDX-License-Identifier: GPL-2.0-or-later
/* The network as a NIC sees it: latency, load, ways, order, failures, sharing. */
#include "cmocka_cpp.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "link/timing.hpp"
#include "machine.hpp"

using namespace aries;

namespace
{

/* Modelled time of operations, put together as a NIC does it. */
uint64_t put_ns(Network &net, uint32_t src, uint32_t dst, uint32_t bytes, uint64_t at)
{
	const TransferFlits flits = transfer_flits(PacketKind::Put, bytes);

	return book(net, src, dst, PacketClass::Request, flits.request, 0, 0, at + SEND_NS).arrive_ns + RECEIVE_NS - at;
}

/* L04: 64 bytes cost 9 to 11 flits more, 128 bytes little. */
TEST(longer_puts_L04)
{
	Machine m(ONE_ROUTER);
	const uint64_t put8 = put_ns(m.net, 0, 1, 8, NOW);

	assert_in_range(put_ns(m.net, 0, 1, 64, 3 * NOW) - put8, 9, 14);
	assert_in_range(put_ns(m.net, 0, 1, 128, 4 * NOW) - put8, 20, 40);
}

TEST(hop_latency_L05_L06_L07)
{
	Machine m({256, 3, 2});
	const uint64_t none = m.put8(0, 1).arrive_ns - NOW;
	uint32_t longest = 0;
	uint64_t at = NOW;

	for (uint32_t pair = 0; pair < 256 * 64; pair++, at += NOW) {
		const uint32_t src = pair % 64 * 4;
		const uint32_t dst = pair / 64;
		const Network::Transit t = m.put8(src, dst, ADAPTIVE, pair, at);

		assert_true(t.reachable && !t.nonminimal);
		assert_in_range(t.arrive_ns - at, none + t.hops * HOP_NS, none + t.hops * HOP_NS + 3);
		longest = std::max(longest, t.hops);
		/* L07: under 2 us. */
		assert_true(put_ns(m.net, src, dst, 8, at + NOW / 2) < 2000);
	}
	/* L06: 500 ns for the longest minimal way. */
	assert_int_equal(longest * HOP_NS, 500);
}

/* T04, T05: a single NIC gets four processor tiles, so a router's own traffic exceeds the share of one. */
TEST(netlink_spreads_by_load_T04_T05)
{
	for (uint32_t nic = 0; nic < 4; nic++) {
		Machine m(ONE_ROUTER);
		std::set<uint32_t> used;
		uint32_t changes = 0;

		for (int i = 0; i < 16; i++)
			changes += book(m.net, nic, nic ^ 1, PacketClass::Request, 14, ADAPTIVE, 0, NOW).tile_changed;
		for (uint32_t i = 0; i < PROCESSOR_TILES; i++) {
			if (m.net.load_ns(0, FIRST_INJECT + i, NOW))
				used.insert(i / 4);
		}
		assert_int_equal(used.size(), 1);
		assert_int_equal(*used.begin(), nic / 2);
		assert_true(changes >= 3);
		/* 16 packets of 14 flits over four tiles: each as much. */
		for (uint32_t i = 0; i < 4; i++)
			assert_in_range(m.net.load_ns(0, FIRST_INJECT + nic / 2 * 4 + i, NOW), 63, 65);
	}
}

TEST(quiet_nic_stays_on_its_tile_T05)
{
	Machine m(ONE_ROUTER);

	for (uint64_t i = 0; i < 100; i++)
		assert_false(m.put8(0, 1, ADAPTIVE, i, NOW + i * 1000).tile_changed);
}

/* Long transfers exceed one processor tile and one link. */
TEST(block_transfers_are_spread_T05)
{
	Machine m(CHASSIS);
	const TransferFlits flits = transfer_flits(PacketKind::Put, 16 << 20);
	const uint64_t local = book(m.net, 0, 1, PacketClass::Request, flits.request, 0, 0, NOW).arrive_ns - NOW;
	const Network::Transit far = book(m.net, 0, 4, PacketClass::Request, flits.request, 0, 0, 1000 * NOW);
	const double one_tile = flits.request * 6 / 5.25;

	assert_true(static_cast<double>(local) < one_tile / 3.9);
	assert_true(static_cast<double>(far.arrive_ns - 1000 * NOW) < one_tile / 2);
	assert_true(far.nonminimal && far.reachable);
	assert_int_equal(far.hops, 1);
}

TEST(quiet_network_is_minimal_R11)
{
	for (uint16_t mode : {uint16_t{0}, DLV_ADAPTIVE1, DLV_ADAPTIVE2, DLV_ADAPTIVE3}) {
		Machine m(GROUPS);
		uint64_t at = NOW;

		for (uint32_t src = 0; src < 64; src += 3) {
			for (uint32_t dst = 0; dst < 64; dst++, at += 100000)
				assert_false(m.put8(src, dst, mode, dst, at).nonminimal);
		}
	}
}

/* Packets from one router to its neighbour until one takes another way. */
uint32_t packets_until_nonminimal(uint16_t mode)
{
	Machine m(CHASSIS);

	for (uint32_t i = 0; i < 100000; i++) {
		if (m.put8(0, 4, mode, i).nonminimal)
			return i;
	}
	return UINT32_MAX;
}

/* R10: the bias decides how much load a minimal way takes before packets go around. */
TEST(load_and_bias_decide_R06_R10)
{
	const uint32_t bias0 = packets_until_nonminimal(0);
	const uint32_t bias1 = packets_until_nonminimal(DLV_ADAPTIVE1);
	const uint32_t bias2 = packets_until_nonminimal(DLV_ADAPTIVE2);
	const uint32_t bias3 = packets_until_nonminimal(DLV_ADAPTIVE3);

	/* 5 flits take 6.35 ns of the one green link: 200 ns are 32 packets. */
	assert_in_range(bias0, 28, 40);
	assert_true(bias1 > bias0 && bias2 > bias1 && bias3 > bias2 && bias3 < UINT32_MAX);
	assert_int_equal(packets_until_nonminimal(DLV_MIN_HASH), UINT32_MAX);
	assert_int_equal(packets_until_nonminimal(DLV_IN_ORDER), UINT32_MAX);
	assert_int_equal(packets_until_nonminimal(DLV_NMIN_HASH), 0);
}

/* R06: of two minimal candidates the lighter one is taken, so one booked link of three delays nobody. */
TEST(lighter_of_two_minimal_ways_R06)
{
	for (uint64_t hash = 0; hash < 200; hash++) {
		Machine m({384, 0, 0});
		const uint64_t quiet = m.put8(0, 64, ADAPTIVE, hash).arrive_ns;
		Machine loaded({384, 0, 0});

		for (uint32_t i = 0; i < 20; i++)
			loaded.put8(2, 64 + 2, DLV_IN_ORDER);

		const Network::Transit t = loaded.put8(0, 64, ADAPTIVE, hash);

		assert_int_equal(t.hops, 1);
		assert_int_equal(t.arrive_ns, quiet);
	}
}

/*
 * R08: a router knows what its own outputs have to do, and of its neighbours what waits there and beyond: a link whose
 * far end is loaded is avoided although it is free itself.
 */
TEST(loads_of_neighbours_count_R08)
{
	const uint32_t green = Dragonfly::green_tile(0, 1);

	for (const bool told : {false, true}) {
		uint32_t away = 0;

		for (uint64_t hash = 0; hash < 64; hash++) {
			Machine m({384, 0, 0});
			auto *tiles = static_cast<TileState *>(m.memory());

			/* What node 4 is sent to wait for is far beyond the bias; the link to it is free. */
			for (uint32_t tile = 0; tile < PROCESSOR_TILES; tile++)
				m.book_until(1, FIRST_PROCESSOR + tile, NOW + 10000);
			if (told) {
				m.put8(0, 4, DLV_MIN_HASH);
				tiles[link_id(0, green)].busy = 0;
			}
			away += m.put8(0, 4, ADAPTIVE, hash, NOW + 1000).nonminimal;
		}
		assert_int_equal(away, told ? 64 : 0);
	}
	/* And so is one behind which packets wait a router further on. */
	Machine m({384, 0, 0});

	for (uint32_t tile = 0; tile < PROCESSOR_TILES; tile++)
		m.book_until(17, FIRST_PROCESSOR + tile, NOW + 10000);
	for (uint64_t n = 0; n < 64; n++)
		m.put8(0, 68, DLV_MIN_HASH, n);
	uint32_t known = 0;

	for (uint64_t n = 0; n < 64; n++)
		m.put8(0, 68, DLV_MIN_HASH, n, NOW + 500);
	for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
		const TileState &link = static_cast<TileState *>(m.memory())[link_id(0, tile)];

		known += known_load(link, ns_to_ticks(NOW + 1000)) > ns_to_ticks(8000);
	}
	assert_int_equal(known, 1);
}

/* R09: neighbours speak every ten cycles, so what has happened since is not known. */
TEST(news_take_ten_cycles_R09)
{
	TileState link{};
	const uint64_t start = TELL_TICKS * 1000;

	tell_load(link, start, start + 5000, start + 70000);
	assert_int_equal(known_load(link, start), 0);
	assert_int_equal(known_load(link, start + TELL_TICKS - 1), 0);
	assert_int_equal(known_load(link, start + TELL_TICKS), 5000 + 70000 - 2 * TELL_TICKS);
	/* Two that speak in one interval: the later news count. */
	tell_load(link, start, start + 6000, start);
	assert_int_equal(known_load(link, start + TELL_TICKS), 6000 - TELL_TICKS);
	/* What was to be waited for is over. */
	assert_int_equal(known_load(link, start + 100000), 0);
	assert_in_range(TELL_TICKS, 10 * 64 * 1000 / 875 - 1, 10 * 64 * 1000 / 875 + 1);
}

/* The bit that there are any stays set for whoever is behind in modelled time, and goes with the next packet. */
TEST(old_news_are_forgotten_R09)
{
	TileState link{};
	const uint64_t start = TELL_TICKS * 1000, late = start + 90000 + ns_to_ticks(20'000);

	assert_false(has_news(link));
	tell_load(link, start, start + 5000, start + 90000);
	assert_true(has_news(link));
	forget_told(link, start + TELL_TICKS);
	forget_told(link, late);
	assert_int_equal(known_load(link, start + TELL_TICKS), 5000 + 90000 - 2 * TELL_TICKS);
	forget_told(link, late + 1);
	assert_false(has_news(link));
	assert_int_equal(known_load(link, start + TELL_TICKS), 0);
	assert_true(link_up(link));

	/* By packets: one waits at the far end of the link of another, long after which a third one passes. */
	Machine m(CHASSIS);
	const uint32_t green = link_id(0, Dragonfly::green_tile(0, 1)), far = link_id(1, FIRST_PROCESSOR);
	auto *const tiles = static_cast<TileState *>(m.memory());

	for (uint32_t tile = 0; tile < 2 * 4; tile++)
		m.book_until(1, FIRST_PROCESSOR + tile, NOW + 4000);
	m.put8(0, 4, DLV_MIN_HASH, 0, NOW);
	assert_true(has_news(tiles[green]));
	assert_false(has_news(tiles[far]));
	m.put8(0, 4, DLV_MIN_HASH, 0, NOW + 10000);
	assert_true(has_news(tiles[green]));
	m.put8(0, 4, DLV_MIN_HASH, 0, NOW + 30000);
	assert_false(has_news(tiles[green]));
}

/* R10: a way through a root must be lighter by the bias, not only lighter. */
TEST(small_gain_is_no_reason_R10)
{
	for (uint64_t hash = 0; hash < 100; hash++) {
		Machine m(CHASSIS);

		/* All links of router 0 are booked, the direct one a little longer. */
		for (uint32_t tile = 0; tile < 15; tile++)
			m.book_until(0, tile, NOW + 1000);
		m.book_until(0, Dragonfly::green_tile(0, 1), NOW + 1000 + BIAS_NS[0]);
		assert_false(m.put8(0, 4, ADAPTIVE, hash).nonminimal);
		m.book_until(0, Dragonfly::green_tile(0, 1), NOW + 1000 + BIAS_NS[0] + 50);
		assert_true(m.put8(0, 4, ADAPTIVE, hash).nonminimal);
	}
}

/* R06, R15: all of one group to one other group; adaptive routing beats minimal routing. */
TEST(worst_case_traffic_R15)
{
	uint64_t last[2] = {};

	for (int adaptive = 0; adaptive < 2; adaptive++) {
		Machine m({176, 2, 2});

		for (uint32_t i = 0; i < 4000; i++) {
			const Network::Transit t = book(m.net, i % 16, 16 + i * 7 % 16, PacketClass::Request, 14,
							adaptive ? ADAPTIVE : DLV_MIN_HASH, i, NOW);

			last[adaptive] = std::max(last[adaptive], t.arrive_ns - NOW);
		}
	}
	assert_true(last[1] * 2 < last[0]);
}

/* R12: packets with one header hash arrive in the order in which they left, under any load. */
TEST(hashed_modes_keep_order_R12)
{
	for (uint16_t mode : {DLV_IN_ORDER, DLV_MIN_HASH, DLV_NMIN_HASH}) {
		Machine m({176, 2, 2});
		uint64_t last = 0;
		uint32_t hops = 0;

		for (uint32_t i = 0; i < 2000; i++) {
			const Network::Transit t = m.put8(1, 170, mode, 77, NOW + i);

			m.put8(i % 176, (i * 31) % 176, ADAPTIVE, i, NOW + i);
			assert_true(t.reachable && t.arrive_ns > last);
			if (i)
				assert_int_equal(t.hops, hops);
			assert_int_equal(t.nonminimal, mode == DLV_NMIN_HASH);
			hops = t.hops;
			last = t.arrive_ns;
		}
	}
}

/* Output tiles of a router that are booked. */
std::set<uint32_t> booked(const Network &net, uint32_t router)
{
	std::set<uint32_t> tiles;

	for (uint32_t tile = 0; tile < TILE_SLOTS; tile++) {
		if (net.load_ns(router, tile, NOW))
			tiles.insert(tile);
	}
	return tiles;
}

/* IN_ORDER ignores the address, the hashed mode spreads addresses over the parallel links. */
TEST(hash_spreads_addresses_R12)
{
	Machine order({384, 0, 0});
	Machine hashed({384, 0, 0});

	for (uint64_t hash = 0; hash < 64; hash++) {
		order.put8(0, 64, DLV_IN_ORDER, hash);
		hashed.put8(0, 64, DLV_MIN_HASH, hash);
	}
	assert_int_equal(booked(order.net, 0).size(), 2);      /* one link, one processor tile */
	assert_int_equal(booked(hashed.net, 0).size(), 3 + 4); /* three black links, four processor tiles */
}

TEST(failed_links_are_avoided_R14)
{
	Machine m(CHASSIS);

	assert_true(m.net.set_link(0, Dragonfly::green_tile(0, 1), false));
	for (uint16_t mode : {ADAPTIVE, DLV_IN_ORDER, DLV_MIN_HASH, DLV_NMIN_HASH}) {
		for (uint64_t i = 0; i < 50; i++) {
			const Network::Transit t = m.put8(0, 4, mode, i, NOW * (i + 1));

			assert_true(t.reachable && t.nonminimal);
			assert_int_equal(t.hops, 2);
			/* Both directions are down. */
			assert_int_equal(m.put8(4, 0, mode, i, NOW * (i + 1)).hops, 2);
		}
	}
	assert_int_equal(m.net.load_ns(0, Dragonfly::green_tile(0, 1), NOW), 0);
	assert_true(m.net.set_link(0, Dragonfly::green_tile(0, 1), true));
	assert_int_equal(m.put8(0, 4).hops, 1);
}

/* R14: with one of three black links gone the other two carry on, minimally. */
TEST(parallel_links_replace_each_other_R14)
{
	Machine m({384, 0, 0});

	for (uint32_t link = 0; link < 2; link++) {
		assert_true(m.net.set_link(0, Dragonfly::black_tile(0, 1, link), false));
		for (uint64_t i = 0; i < 50; i++) {
			const Network::Transit t = m.put8(0, 64, DLV_MIN_HASH, i, NOW * (i + 1));

			assert_true(t.reachable && !t.nonminimal);
			assert_int_equal(t.hops, 1);
		}
	}
}

/* Lost connectivity is told, nothing is booked, nothing hangs. */
TEST(no_way_is_told_R14)
{
	Machine m({8, 0, 0});

	assert_true(m.net.set_link(0, Dragonfly::green_tile(0, 1), false));

	const Network::Transit t = m.put8(0, 4);

	assert_false(t.reachable);
	assert_int_equal(booked(m.net, 0).size(), 0);
	assert_false(m.put8(0, 4, DLV_NMIN_HASH).reachable);
	assert_true(m.put8(0, 1).reachable);

	Machine isolated(CHASSIS);

	for (uint32_t tile = 0; tile < NETWORK_TILES; tile++)
		isolated.net.set_link(3, tile, false);
	for (uint32_t src = 0; src < 64; src++)
		assert_int_equal(isolated.put8(src, 12).reachable, src / 4 == 3);
}

TEST(bad_arguments_are_refused)
{
	Machine m(CHASSIS);
	bool thrown = false;

	assert_false(m.put8(64, 0).reachable);
	assert_false(m.put8(0, UINT32_MAX).reachable);
	assert_false(m.net.set_link(0, FIRST_BLUE, false));
	assert_false(m.net.set_link(16, 0, false));
	assert_false(m.net.set_link(0, UINT32_MAX, false));
	assert_false(m.net.set_lanes(0, 0, 0));
	assert_false(m.net.set_lanes(0, 0, 4));
	m.net.set_nic_link(64, false);
	assert_false(m.net.nic_link(64));
	assert_int_equal(m.net.load_ns(99, 0, NOW), 0);
	assert_true(m.quiet());
	assert_int_equal(Network::shared_bytes({0, 0, 0}), 0);
	assert_false(Network::check({92545, 0, 0}).empty());
	try {
		Network net({0, 0, 0}, m.memory());
	} catch (const std::invalid_argument &) {
		thrown = true;
	}
	assert_true(thrown);
}

TEST(cut_off_nic)
{
	Machine m(CHASSIS);

	m.net.set_nic_link(5, false);
	assert_false(m.put8(0, 5).reachable);
	assert_false(m.put8(5, 0).reachable);
	assert_true(m.put8(0, 6).reachable);
	m.net.set_nic_link(5, true);
	assert_true(m.put8(0, 5).reachable);
}

/* P17: two lanes, one lane: 2/3 and 1/3 of the rate, in both directions. */
TEST(degraded_lanes_P17)
{
	uint64_t time[4] = {};

	for (uint32_t lanes = 1; lanes <= 3; lanes++) {
		Machine m(CHASSIS);

		assert_true(m.net.set_lanes(1, Dragonfly::green_tile(1, 0), lanes));
		time[lanes] = book(m.net, 0, 4, PacketClass::Request, 1000000, DLV_IN_ORDER, 0, NOW).arrive_ns - NOW;
	}
	assert_true(time[2] * 2 > time[3] * 299 / 100 && time[2] * 2 < time[3] * 301 / 100);
	assert_true(time[1] > time[3] * 299 / 100 && time[1] < time[3] * 301 / 100);
}

/* Processes share load, link state and NIC state through the memory alone. */
TEST(two_objects_share_one_network)
{
	Machine m(CHASSIS);
	Network other(CHASSIS, m.memory());

	for (int i = 0; i < 100; i++)
		m.put8(0, 4, DLV_IN_ORDER);
	assert_true(other.load_ns(0, Dragonfly::green_tile(0, 1), NOW) > 400);

	const uint64_t waited = book(other, 1, 5, PacketClass::Request, 5, DLV_IN_ORDER, 0, NOW).arrive_ns - NOW;

	assert_true(waited > 600);
	other.set_nic_link(4, false);
	assert_false(m.put8(0, 4).reachable);
}

/* Responses are booked when their requests are, and keep nobody waiting who gets to a link before them. */
TEST(responses_close_no_link)
{
	Machine quiet(CHASSIS), m(CHASSIS);
	const auto back = [](Network &net) {
		return book(net, 4, 0, PacketClass::Request, 5, DLV_IN_ORDER, 0, NOW).arrive_ns;
	};
	const uint64_t alone = back(quiet.net);

	for (uint32_t n = 0; n < 10; n++)
		assert_true(book(m.net, 4, 0, PacketClass::Response, 1, DLV_IN_ORDER, 0, NOW + 2000, 2000).arrive_ns >
			    NOW + 2000);
	assert_in_range(back(m.net), alone + 10, alone + 25);
	/* As many as a link passes in the meantime are on time, and what comes on top is late. */
	for (uint32_t n = 0; n < 1000; n++)
		book(m.net, 4, 0, PacketClass::Response, 1, DLV_IN_ORDER, 0, NOW + 2000, 2000);
	const uint64_t last = book(m.net, 4, 0, PacketClass::Response, 1, DLV_IN_ORDER, 0, NOW + 2000, 2000).arrive_ns;

	assert_in_range(last, NOW + 2000 + ROUTER_NS + HOP_NS, NOW + 2000 + ROUTER_NS + HOP_NS + 10);
	for (uint32_t n = 0; n < 2000; n++)
		book(m.net, 4, 0, PacketClass::Response, 1, DLV_IN_ORDER, 0, NOW + 2000, 2000);
	assert_true(book(m.net, 4, 0, PacketClass::Response, 1, DLV_IN_ORDER, 0, NOW + 2000, 2000).arrive_ns >
		    last + 1000);
}

/* A clock gone wrong in one process closes no link for the others. */
TEST(wild_times_do_no_harm)
{
	Machine m(CHASSIS);

	for (uint64_t at : {UINT64_MAX, UINT64_MAX / 64, UINT64_MAX / 2, uint64_t{0}}) {
		m.put8(0, 4, DLV_IN_ORDER, 0, at);
		book(m.net, 0, 4, PacketClass::Request, UINT32_MAX, 0, 0, at);
	}

	const Network::Transit t = m.put8(0, 4, DLV_IN_ORDER, 0, NOW * 1000);

	assert_true(t.reachable && t.arrive_ns >= NOW * 1000);
	/* The most that is believed is the booking limit, and the longest transfer. */
	assert_true(t.arrive_ns - NOW * 1000 < uint64_t{100} * 1000000000);
}

/* Threads on the same tiles: all packets are accounted for (run with the thread sanitizer). */
TEST(threads_share_the_network)
{
	constexpr uint32_t rounds = 5000;
	Machine m(GROUPS);
	std::vector<std::thread> running;

	for (uint32_t t = 0; t < 4; t++) {
		running.emplace_back([&m, t] {
			for (uint32_t i = 0; i < rounds; i++) {
				m.put8(t, 60, i % 2 ? ADAPTIVE : DLV_MIN_HASH, i, NOW);
				m.net.set_lanes(5, 0, 1 + i % 3);
			}
		});
	}
	for (std::thread &thread : running)
		thread.join();

	uint64_t in = 0;
	uint64_t out = 0;

	for (uint32_t i = 0; i < PROCESSOR_TILES; i++) {
		in += m.net.load_ns(0, FIRST_INJECT + i, NOW);
		out += m.net.load_ns(15, FIRST_PROCESSOR + i, NOW);
	}
	/*
	 * 20,000 packets of 5 flits at 875 MHz went in; the other side was booked for as long, somewhat later. The
	 * first ones may have found a tile free at the same instant, see book_short().
	 */
	assert_in_range(in, 4 * rounds * 5 * 1000 / 875 - 200, 4 * rounds * 5 * 1000 / 875 + 2000);
	assert_true(out + 200 >= in);
}

bool has(const std::string &text, const char *part)
{
	return text.find(part) != std::string::npos;
}

TEST(description_shows_links)
{
	Machine m(GROUPS);

	m.net.set_lanes(0, Dragonfly::green_tile(0, 1), 2);
	m.net.set_link(0, Dragonfly::black_tile(0, 1, 1), false);
	m.put8(0, 4, DLV_IN_ORDER);

	const std::string text = m.net.describe(1, NOW);

	assert_true(has(text, "64 nodes, 16 routers, 4 groups, 12 links between groups\n"));
	assert_true(has(text, "node 1: place 1, NIC 1 of router 0 (group 0 chassis 0 slot 0), connected\n"));
	assert_true(has(text, "tile 0 green to router 1 (group 0 chassis 0 slot 1) tile 0: degraded, 2 lanes, load "));
	assert_true(has(text, "tile 16 black to router 2 (group 0 chassis 1 slot 0) tile 16: down, 3 lanes, load 0"));
	assert_true(has(text, "processor of NIC 2/3: in load 0 ns, out load 0 ns"));
	assert_false(has(text, "green to router 1 (group 0 chassis 0 slot 1) tile 0: degraded, 2 lanes, load 0"));
	assert_true(has(m.net.describe(64, NOW), "64 nodes"));
}

/* R13: the way back is chosen for itself. */
TEST(responses_have_their_own_mode_R13)
{
	Machine m(CHASSIS);

	for (uint32_t i = 0; i < 1000; i++)
		m.put8(0, 4, DLV_IN_ORDER);
	/* NO_ADAPT is about requests, NO_RADAPT about responses. */
	assert_true(book(m.net, 0, 4, PacketClass::Response, 1, DLV_NO_ADAPT, 0, NOW).nonminimal);
	assert_false(book(m.net, 0, 4, PacketClass::Response, 1, DLV_NO_RADAPT, 0, NOW).nonminimal);
	assert_false(book(m.net, 0, 4, PacketClass::Request, 5, DLV_NO_ADAPT, 0, NOW).nonminimal);
}

} // namespace

TEST_MAIN("netlink")
