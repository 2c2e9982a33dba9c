// SPDX-License-Identifier: GPL-2.0-or-later
/* Machines as the device has them: every shape has tables, and packets go the minimal ways of the wiring. */
#include "cmocka_cpp.hpp"

#include "machine.hpp"
#include "router/routing_mode.hpp"
#include "router/table_builder.hpp"
#include "topology/dragonfly_machine.hpp"

using namespace aries;

namespace
{

/* Whatever shape Dragonfly::check() lets through is a machine with tables for every pair, wired as Dragonfly says. */
TEST(every_shape_has_tables)
{
	uint32_t shapes = 0;

	for (uint32_t slots = 1; slots <= 16; slots += slots < 5 ? 1 : 11) {
		for (uint32_t chassis = 1; chassis <= 6; chassis++) {
			for (uint32_t nodes = 1; nodes <= 1024; nodes += nodes < 40 ? 1 : 61) {
				const DragonflyShape shape{nodes, slots, chassis};

				if (!Network::check(shape).empty())
					continue;
				const Dragonfly topo(shape);
				const topology::Machine machine = topology::machine_of(topo);

				assert_string_equal(topology::validate(machine).c_str(), "");
				assert_string_equal(routing::check_tables(machine, {}).c_str(), "");
				assert_true(routing::build_tables(machine).whole());
				shapes++;
			}
		}
	}
	assert_true(shapes > 1000);
}

TEST(wired_as_it_says)
{
	for (const DragonflyShape shape : {DragonflyShape{176, 2, 2}, {256, 3, 2}, {150, 16, 6}, {768, 16, 6}}) {
		const Dragonfly topo(shape);
		const topology::Wiring wiring(topology::machine_of(topo));

		for (uint32_t router = 0; router < topo.routers(); router++) {
			for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
				const LinkEnd far = topo.far_end(router, tile);
				const topology::LinkEnd end = wiring.far_end(router, tile);

				assert_true((far.tile == NO_TILE) == (end.tile == topology::NOT_CONNECTED));
				if (far.tile != NO_TILE)
					assert_true(far.router == end.router && far.tile == end.tile);
			}
		}
		for (uint32_t node = 0; node < topo.nodes(); node++)
			assert_int_equal(wiring.node_at(node / NICS_PER_ROUTER, node % NICS_PER_ROUTER), node);
	}
}

/* The longest way of a quiet machine; all pairs of routers are reached, and minimally. */
uint32_t longest_way(const DragonflyShape &shape, uint16_t mode, bool nonminimal)
{
	Machine m(shape);
	uint32_t longest = 0;

	for (uint32_t a = 0; a < shape.nodes; a += NICS_PER_ROUTER) {
		for (uint32_t b = 0; b < shape.nodes; b += NICS_PER_ROUTER) {
			if (a == b)
				continue;
			const auto t = m.put8(a, b, mode, a * 31 + b, NOW * (a * shape.nodes + b + 1));

			assert_true(t.reachable);
			assert_int_equal(t.nonminimal, nonminimal);
			longest = std::max(longest, t.hops);
		}
	}
	return longest;
}

TEST(minimal_ways_R01_R02)
{
	for (uint16_t mode : {ADAPTIVE, DLV_MIN_HASH, DLV_IN_ORDER}) {
		assert_int_equal(longest_way({384, 0, 0}, mode, false), 2);
		assert_int_equal(longest_way({12, 1, 1}, mode, false), 1);
		assert_int_equal(longest_way({64, 2, 2}, mode, false), 3);
		assert_int_equal(longest_way({176, 2, 2}, mode, false), 4);
		assert_int_equal(longest_way({256, 3, 2}, mode, false), 5);
	}
}

TEST(nonminimal_ways_R03_R04)
{
	assert_in_range(longest_way({384, 0, 0}, DLV_NMIN_HASH, true), 3, 4);
	assert_in_range(longest_way({256, 3, 2}, DLV_NMIN_HASH, true), 6, 10);
}

bool is(RoutingMode mode, Routing routing, uint8_t bias = 0)
{
	return mode.routing == routing && mode.bias == bias;
}

TEST(delivery_modes_R10_R12)
{
	assert_true(is(routing_mode(0, false), Routing::Adaptive, 0));
	assert_true(is(routing_mode(DLV_ADAPTIVE1, false), Routing::Adaptive, 1));
	assert_true(is(routing_mode(DLV_ADAPTIVE2, false), Routing::Adaptive, 2));
	assert_true(is(routing_mode(DLV_ADAPTIVE3, true), Routing::Adaptive, 3));
	assert_true(is(routing_mode(DLV_IN_ORDER, false), Routing::InOrder));
	assert_true(is(routing_mode(DLV_IN_ORDER, true), Routing::InOrder));
	assert_true(is(routing_mode(DLV_MIN_HASH, false), Routing::MinimalHash));
	assert_true(is(routing_mode(DLV_NMIN_HASH, false), Routing::NonminimalHash));
	/* Requests and responses have a bit each. */
	assert_true(is(routing_mode(DLV_NO_ADAPT, false), Routing::MinimalHash));
	assert_true(is(routing_mode(DLV_NO_ADAPT, true), Routing::Adaptive, 0));
	assert_true(is(routing_mode(DLV_NO_RADAPT, true), Routing::MinimalHash));
	assert_true(is(routing_mode(DLV_NO_RADAPT | DLV_NO_HASH, true), Routing::InOrder));
	assert_true(is(routing_mode(DLV_NO_RADAPT, false), Routing::Adaptive, 0));
	/* The modifier for the tail changes nothing for the packets themselves. */
	assert_true(is(routing_mode(0x100, false), Routing::Adaptive, 0));
	for (uint32_t i = 1; i < BIAS_NS.size(); i++)
		assert_true(BIAS_NS[i] > BIAS_NS[i - 1]);
}

} // namespace

TEST_MAIN("routes of the device")
