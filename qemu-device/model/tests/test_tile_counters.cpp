/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flits and stalls by tile, channel and direction: what routers count, what registers show, and what sites call it. */
#include <map>
#include <string>

#include "tests/machine.hpp"
#include "tests/pair.hpp"

using namespace aries_test;
using aries::Machine;
using aries::Network;
using aries::PacketClass;
using aries::TileCounters;

namespace
{

constexpr uint32_t CHANNELS = ARIES_VIRTUAL_CHANNELS;
constexpr uint64_t NOW = aries::NOW;

uint64_t sum(const TileCounters &values, uint32_t first, uint32_t count = CHANNELS)
{
	uint64_t all = 0;

	for (uint32_t i = first; i < first + count; i++)
		all += values[i];
	return all;
}

/* Element @which of all tiles of a kind of a router. */
uint64_t total(const Network &net, uint32_t router, bool processor, uint32_t which, uint32_t count = 1)
{
	uint64_t all = 0;

	for (uint32_t tile = 0; tile < aries::TILES; tile++) {
		if ((tile >= aries::FIRST_PROCESSOR) == processor)
			all += sum(net.tile_counters(router, tile), which, count);
	}
	return all;
}

/* P12: a put of one class through one router is seen once in each direction, on the first channel of its class. */
TEST(neighbours_count_at_processor_tiles_P12)
{
	for (uint32_t flits : {14u, 500u, 5000u}) {
		Machine m(aries::ONE_ROUTER);

		aries::book(m.net, 0, 2, PacketClass::Request, flits, 0, 0, NOW);
		aries::book(m.net, 2, 0, PacketClass::Response, 3 * flits, 0, 0, NOW);
		for (uint32_t vc = 0; vc < CHANNELS; vc++) {
			const uint64_t want = vc == 0 ? flits : vc == 4 ? 3 * flits : 0;

			assert_int_equal(total(m.net, 0, true, ARIES_RTR_IN_FLITS + vc), want);
			assert_int_equal(total(m.net, 0, true, ARIES_RTR_OUT_FLITS + vc), want);
		}
		assert_int_equal(total(m.net, 0, false, 0, ARIES_RTR_COUNT), 0);
		/* Requests go in where NIC 0 is, and out where NIC 2 is. */
		for (uint32_t i = 0; i < aries::PROCESSOR_TILES; i++) {
			const TileCounters values = m.net.tile_counters(0, aries::FIRST_PROCESSOR + i);

			assert_int_equal(sum(values, i < 4 ? ARIES_RTR_OUT_FLITS : ARIES_RTR_IN_FLITS, 4), 0);
		}
	}
}

/* What leaves a router by a link is what comes in at the other end of it, channel by channel. */
TEST(both_ends_of_a_link_agree)
{
	Machine m(aries::GROUPS);
	std::map<uint32_t, uint64_t> used; /* flits by channel */
	uint64_t sent = 0, hops = 0;

	for (uint32_t i = 0; i < 2000; i++) {
		const uint32_t src = i % 64, dst = (i * 29 + 5) % 64;
		const bool request = i % 3;

		if (src == dst)
			continue;
		const auto transit =
			aries::book(m.net, src, dst, request ? PacketClass::Request : PacketClass::Response, 8, 0, i,
				    NOW + 1000 * i);
		sent += 8;
		hops += 8 * transit.hops;
	}
	uint64_t in = 0, out = 0, links_in = 0, links_out = 0;

	for (uint32_t router = 0; router < m.net.topology().routers(); router++) {
		in += total(m.net, router, true, ARIES_RTR_IN_FLITS, CHANNELS);
		out += total(m.net, router, true, ARIES_RTR_OUT_FLITS, CHANNELS);
		for (uint32_t tile = 0; tile < aries::FIRST_PROCESSOR; tile++) {
			const TileCounters here = m.net.tile_counters(router, tile);
			const auto far = m.net.topology().far_end(router, tile);

			if (far.tile == aries::NO_TILE) {
				assert_int_equal(sum(here, 0, ARIES_RTR_COUNT), 0);
				continue;
			}
			const TileCounters there = m.net.tile_counters(far.router, far.tile);

			for (uint32_t vc = 0; vc < CHANNELS; vc++) {
				assert_int_equal(here[ARIES_RTR_OUT_FLITS + vc], there[ARIES_RTR_IN_FLITS + vc]);
				used[vc] += here[ARIES_RTR_OUT_FLITS + vc];
			}
			links_out += sum(here, ARIES_RTR_OUT_FLITS);
			links_in += sum(here, ARIES_RTR_IN_FLITS);
		}
	}
	assert_int_equal(in, sent);
	assert_int_equal(out, sent);
	assert_int_equal(links_in, hops);
	assert_int_equal(links_out, hops);
	/* Minimal ways begin on the first channel of their class; those of several hops go on to others (P13). */
	assert_true(used[0] > 0 && used[4] > 0 && used[0] + used[4] < links_out);
}

/* Time that heads wait is told at the tile where they wait and at the one that they wait for, in cycles of 875 MHz. */
TEST(stalls_are_time_that_heads_wait)
{
	constexpr uint32_t FLITS = 90;
	constexpr uint64_t WAIT = 80000; /* ns */
	Machine m(aries::CHASSIS);
	uint32_t link = aries::TILES;

	for (uint32_t tile = 0; tile < aries::FIRST_PROCESSOR; tile++) {
		if (m.net.topology().far_end(0, tile).router == 1 &&
		    m.net.topology().far_end(0, tile).tile != aries::NO_TILE) {
			link = tile;
			m.book_until(0, tile, NOW + WAIT);
		}
	}
	assert_int_not_equal(link, aries::TILES);
	aries::book(m.net, 0, 4, PacketClass::Response, FLITS, aries::DLV_IN_ORDER, 0, NOW);

	const uint64_t cycles = WAIT * 875 / 1000;
	const uint64_t out = total(m.net, 0, false, ARIES_RTR_OUT_STALL + 4),
		       in = total(m.net, 0, true, ARIES_RTR_IN_STALL + 4);

	assert_in_range(out, cycles - 50, cycles);
	assert_int_equal(in, out);
	assert_int_equal(total(m.net, 0, false, ARIES_RTR_IN_STALL, CHANNELS), 0);
	assert_int_equal(total(m.net, 0, true, ARIES_RTR_OUT_STALL, CHANNELS), 0);
	assert_int_equal(total(m.net, 0, false, ARIES_RTR_OUT_STALL, CHANNELS), out);
	assert_int_equal(total(m.net, 1, true, ARIES_RTR_OUT_FLITS + 4), FLITS);
}

/* Where there is nothing there are zeros. */
TEST(strangers_are_quiet)
{
	Machine m(aries::CHASSIS);

	m.put8(0, 4);
	assert_int_equal(sum(m.net.tile_counters(1 << 20, 0), 0, ARIES_RTR_COUNT), 0);
	assert_int_equal(sum(m.net.tile_counters(0, aries::TILES), 0, ARIES_RTR_COUNT), 0);
	assert_int_equal(sum(m.net.tile_counters(0, UINT32_MAX), 0, ARIES_RTR_COUNT), 0);
}

/* P09, P10: what the LCB does is counted at the sending side. */
TEST(replays_are_counted_P09)
{
	Machine m(aries::CHASSIS);

	for (uint32_t tile = 0; tile < aries::FIRST_PROCESSOR; tile++)
		(void)m.net.set_error_rate(0, tile, 1e-4F);
	aries::book(m.net, 0, 4, PacketClass::Request, 90000, aries::DLV_IN_ORDER, 0, NOW);
	assert_true(total(m.net, 0, false, ARIES_RTR_REPLAYS) > 0);
	assert_int_equal(total(m.net, 1, false, ARIES_RTR_REPLAYS), 0);
	for (uint32_t router : {0u, 1u})
		assert_int_equal(total(m.net, router, true, ARIES_RTR_REPLAYS, 2), 0);
}

/* Every name once, in the form that tools for XC systems take apart. */
TEST(names_are_those_of_sites)
{
	std::map<std::string, unsigned int> names;

	for (uint32_t tile = 0; tile < aries::TILES; tile++) {
		for (const aries::NamedCounter &counter : aries::named_counters(tile)) {
			names[aries::counter_prefix(tile) + counter.name]++;
			assert_true(counter.first + counter.count <= ARIES_RTR_COUNT);
		}
	}
	assert_int_equal(names.size(), 40 * 13 + 8 * 6);
	for (const char *name :
	     {"AR_RTR_0_0_INQ_PRF_INCOMING_FLIT_VC0", "AR_RTR_4_7_INQ_PRF_INCOMING_FLIT_VC7",
	      "AR_RTR_1_2_INQ_PRF_ROWBUS_STALL_CNT", "AR_RTR_PT_5_0_INQ_PRF_INCOMING_FLIT_VC0",
	      "AR_RTR_PT_5_7_INQ_PRF_INCOMING_FLIT_VC4", "AR_RTR_PT_5_3_INQ_PRF_REQ_ROWBUS_STALL_CNT"})
		assert_int_equal(names[name], 1);
	TileCounters values{};

	for (uint32_t i = 0; i < ARIES_RTR_COUNT; i++)
		values[i] = 1 << i % 8;
	assert_int_equal(aries::named_value({"", ARIES_RTR_IN_STALL, 8}, values), 255);
	assert_int_equal(aries::named_value({"", ARIES_RTR_OUT_STALL + 4, 4}, values), 0xf0);
}

uint64_t shown(FakeHost &host, uint32_t tile, uint32_t which)
{
	return host.read(ARIES_RTR_COUNTER_N(tile * ARIES_RTR_ELEMENTS + which), 8);
}

/* P03: a put of 64 bytes is 14 flits of request and one of response, as a driver sees it. */
TEST(registers_show_the_nics_own_router_P03)
{
	for (uint32_t place : {0u, 5u}) { /* on the same router, on the next one */
		Pair p({.machine_nodes = 8}, place);
		uint64_t requests[2] = {}, responses[2] = {}, links = 0;

		for (int i = 0; i < 10; i++)
			assert_int_equal(p.put(64), ARIES_ST_OK);
		for (uint32_t tile = 0; tile < ARIES_RTR_TILES; tile++) {
			for (uint32_t which : {ARIES_RTR_IN_FLITS, ARIES_RTR_OUT_FLITS}) {
				if (tile < aries::FIRST_PROCESSOR) {
					for (uint32_t vc = 0; vc < CHANNELS; vc++)
						links += shown(p.a, tile, which + vc);
					continue;
				}
				requests[which == ARIES_RTR_OUT_FLITS] += shown(p.a, tile, which);
				responses[which == ARIES_RTR_OUT_FLITS] += shown(p.a, tile, which + 4);
			}
			assert_int_equal(shown(p.a, tile, ARIES_RTR_ELEMENTS - 1), 0);
		}
		assert_int_equal(requests[0], 140);
		assert_int_equal(responses[1], 10);
		assert_int_equal(requests[1], place ? 0 : 140);
		assert_int_equal(responses[0], place ? 0 : 10);
		assert_int_equal(links, place ? 150 : 0);

		/* The other side has them go out to its NIC, on whatever router that is. */
		uint64_t there = 0;

		for (uint32_t tile = aries::FIRST_PROCESSOR; tile < ARIES_RTR_TILES; tile++)
			there += shown(p.b, tile, ARIES_RTR_OUT_FLITS);
		assert_int_equal(there, 140);
	}
}

} // namespace

TEST_MAIN("tile_counters")
