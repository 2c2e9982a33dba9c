// SPDX-License-Identifier: GPL-2.0-or-later
/* Ways of packets over the network are those that decide() takes, router by router, whatever is down. */
#include "cmocka_cpp.hpp"
#include "machine.hpp"

using namespace aries;

namespace
{

constexpr uint32_t FLITS = 5;

/* What a network makes of the header of a packet, as a walk by decide() wants it. */
struct Given {
	uint32_t src, dst;
	uint16_t mode;
	uint64_t hash;

	/* See routed_packets(): of the bits of a request at NOW. */
	uint64_t random() const
	{
		const Routing routing = routing_mode(mode, false).routing;
		uint64_t seed = uint64_t{src} << 32 | dst;

		if (routing != Routing::InOrder)
			seed ^= hash << 7 ^ hash >> 57;
		return mix64(routing == Routing::Adaptive ? seed + (NOW << 18) : seed);
	}
};

struct Hop {
	LinkEnd output;
	uint8_t channel;
};

/* The way by decide() alone. Empty: a router has no output. */
std::vector<Hop> walk(const Network &net, const Given &given)
{
	const routing::Tables &tables = net.tables();
	const uint32_t to = given.dst / NICS_PER_ROUTER;
	uint64_t random = given.random();
	routing::Header header{tables.address(to),
			       routing::NO_ROOT,
			       static_cast<uint32_t>(random >> 16),
			       routing_mode(given.mode, false),
			       static_cast<uint8_t>(given.dst % NICS_PER_ROUTER),
			       0,
			       routing::Phase::Down};
	uint32_t router = given.src / NICS_PER_ROUTER, in = FIRST_PROCESSOR;
	std::vector<Hop> hops;

	for (;;) {
		const auto load = [&](uint32_t tile) {
			const bool down = tile < NETWORK_TILES && !net.link_view(router, tile, NOW).up;

			return down ? routing::LOAD_DOWN : 0;
		};
		const routing::Decision decision = routing::decide(tables.router(router), in, header, load, random);

		if (decision.tile == routing::NO_OUTPUT)
			return {};
		hops.push_back({{router, decision.tile}, decision.channel});
		if (router == to)
			return hops;
		routing::apply(decision, header);

		const topology::LinkEnd far = net.wiring().far_end(router, decision.tile);

		router = far.router;
		in = far.tile;
		random = mix64(random);
	}
}

/* Compares ways of many pairs. Return: how many packets went by a root, and how many found no way so. */
std::array<uint32_t, 2> compare(Network &net, uint16_t mode)
{
	std::array<uint32_t, 2> seen{};

	for (uint32_t i = 0; i < 3000; i++) {
		const uint64_t draw = mix64(i + 1);
		const uint32_t nodes = net.topology().nodes();
		const Given given{static_cast<uint32_t>(draw) % nodes, static_cast<uint32_t>(draw >> 32) % nodes, mode,
				  mix64(draw)};
		const std::vector<Hop> hops = walk(net, given);
		const Network::WayView way = net.way_view(given.src, given.dst, mode, given.hash, NOW);

		if (hops.empty()) {
			seen[1]++; /* another choice may be tried */
			continue;
		}
		assert_true(way.reachable);
		assert_int_equal(way.outputs.size(), hops.size());
		for (size_t hop = 0; hop < hops.size(); hop++) {
			assert_int_equal(way.outputs[hop].router, hops[hop].output.router);
			assert_int_equal(way.outputs[hop].tile, hops[hop].output.tile);
		}
		seen[0] += way.nonminimal;
	}
	return seen;
}

constexpr uint16_t MODES[] = {ADAPTIVE, DLV_IN_ORDER, DLV_MIN_HASH, DLV_NMIN_HASH};
constexpr DragonflyShape SHAPES[] = {CHASSIS, GROUPS, {256, 3, 2}};

TEST(ways_are_those_of_decide_R07)
{
	for (const DragonflyShape &shape : SHAPES) {
		Machine machine(shape);

		for (const uint16_t mode : MODES) {
			const auto [by_root, none] = compare(machine.net, mode);

			assert_int_equal(none, 0);
			assert_true((by_root > 1000) == (mode == DLV_NMIN_HASH));
		}
	}
}

/* Every third link is down: most packets meet one on their way. */
TEST(ways_around_links_that_are_down_R14)
{
	for (const DragonflyShape &shape : SHAPES) {
		Machine machine(shape);

		for (uint32_t router = 0; router < shape.nodes / NICS_PER_ROUTER; router++) {
			for (uint32_t tile = router % 3; tile < NETWORK_TILES; tile += 3)
				(void)machine.net.set_link(router, tile, false);
		}
		for (const uint16_t mode : MODES)
			assert_true(compare(machine.net, mode)[1] < 2900);
	}
}

/*
 * A router knows the loads of when the packet gets there (R08): what is over by then is quiet, and what is not makes it
 * take another tile.
 */
TEST(loads_are_of_when_it_gets_there_R08)
{
	Machine machine({256, 3, 2});
	uint32_t moved = 0, pairs = 0;

	for (uint32_t i = 0; i < 300; i++) {
		const uint64_t draw = mix64(i + 5);
		const uint32_t src = static_cast<uint32_t>(draw) % 256, dst = static_cast<uint32_t>(draw >> 32) % 256;
		const auto outputs = [&] { return machine.net.way_view(src, dst, ADAPTIVE, draw, NOW).outputs; };
		const auto same = [](const LinkEnd &a, const LinkEnd &b) {
			return a.router == b.router && a.tile == b.tile;
		};
		const std::vector<LinkEnd> quiet = outputs();
		const LinkEnd last = quiet.back();
		const uint64_t there = NOW + ROUTER_NS / 2 + (quiet.size() - 1) * HOP_NS;

		machine.book_until(last.router, last.tile, there);
		const std::vector<LinkEnd> before = outputs();

		assert_int_equal(before.size(), quiet.size());
		for (size_t hop = 0; hop < quiet.size(); hop++)
			assert_true(same(before[hop], quiet[hop]));
		machine.book_until(last.router, last.tile, there + 1);
		moved += !same(outputs().back(), last);
		pairs++;
		machine.book_until(last.router, last.tile, 0);
	}
	assert_int_equal(moved, pairs);
}

/* Flits are counted in the channels that decide() gives (P12, P13). */
TEST(channels_are_those_of_decide_P13)
{
	Machine machine({256, 3, 2});
	uint64_t highest = 0;

	for (const uint16_t mode : {DLV_MIN_HASH, DLV_NMIN_HASH}) {
		for (uint32_t i = 0; i < 500; i++) {
			const uint64_t draw = mix64(i + 77);
			const Given given{static_cast<uint32_t>(draw) % 256, static_cast<uint32_t>(draw >> 32) % 256,
					  mode, draw};
			std::vector<uint64_t> before;
			const std::vector<Hop> hops = walk(machine.net, given);
			const auto sent = [&](const Hop &hop) {
				return machine.net.tile_counters(hop.output.router,
								 hop.output.tile)[ARIES_RTR_OUT_FLITS + hop.channel];
			};

			before.reserve(hops.size());
			for (const Hop &hop : hops)
				before.push_back(hop.output.tile < NETWORK_TILES ? sent(hop) : 0);
			book(machine.net, given.src, given.dst, PacketClass::Request, FLITS, mode, given.hash, NOW);
			for (size_t k = 0; k + 1 < hops.size(); k++) {
				assert_int_equal(sent(hops[k]), before[k] + FLITS);
				highest = std::max<uint64_t>(highest, hops[k].channel);
			}
		}
	}
	assert_true(highest >= 2);
}

/* Where there is no memory for routers packets still pass, in the same time, and nobody else's state is written. */
TEST(routers_without_state)
{
	constexpr DragonflyShape shape{256, 3, 2};
	Machine whole(shape), without(shape);
	const auto refuse = [](uint32_t) { return false; };
	Network net(shape, without.memory(), 0, refuse);

	for (uint32_t dst = 8; dst < 256; dst += 5) {
		const auto there =
			book(whole.net, 0, dst, PacketClass::Request, FLITS, DLV_MIN_HASH, dst, NOW + dst * 1000);
		const auto here = book(net, 0, dst, PacketClass::Request, FLITS, DLV_MIN_HASH, dst, NOW + dst * 1000);

		assert_true(here.reachable);
		assert_int_equal(here.hops, there.hops);
		assert_int_equal(here.arrive_ns, there.arrive_ns);
		/* Nothing is booked either. */
		const auto again = book(net, 0, dst, PacketClass::Request, FLITS, DLV_MIN_HASH, dst, NOW + dst * 1000);

		assert_int_equal(again.arrive_ns, here.arrive_ns);
	}
	assert_true(without.quiet());
}

} // namespace

TEST_MAIN("tests")
