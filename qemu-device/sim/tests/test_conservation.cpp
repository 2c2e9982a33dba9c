// SPDX-License-Identifier: GPL-2.0-or-later
/* What goes in comes out, credits come back, and the same seed gives the same result. */
#include <cstdio>
#include <sstream>

#include "rig.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

const TrafficShape TRAFFICS[] = {
	{.pattern = Pattern::Uniform, .operation = Operation::Put, .bytes = 8, .load_ppm = 300000},
	{.pattern = Pattern::Group, .operation = Operation::Put, .bytes = 64, .load_ppm = 1000000},
	{.pattern = Pattern::Permutation, .operation = Operation::Get, .bytes = 4096, .load_ppm = 700000},
	{.pattern = Pattern::Shift, .operation = Operation::Put, .bytes = 262144, .load_ppm = 500000},
	{.pattern = Pattern::Uniform, .operation = Operation::Raw, .raw_flits = 7, .load_ppm = 900000},
};

TEST(all_that_went_in_comes_out)
{
	for (const TrafficShape &traffic : TRAFFICS) {
		Rig rig(topology::build_aries({.groups = 3, .chassis = 2, .slots = 2}), traffic);

		rig.run_and_drain(5000);

		const Statistics &seen = rig.network.statistics();

		assert_true(seen.injected_packets > 100);
		assert_int_equal(seen.injected_packets, seen.received_packets);
		assert_string_equal(rig.network.leftover().c_str(), "");
		if (traffic.operation != Operation::Raw) {
			assert_int_equal(seen.latency.count() * 2, seen.injected_packets);
			assert_int_equal(seen.latency.count(), seen.round_trip.count());
		}
		if (traffic.operation == Operation::Raw || traffic.bytes == 8)
			assert_int_equal(seen.injected_flits, seen.received_flits);
	}
}

/* 64-byte packets: 14 flits there and one back (P03), three and twelve for gets (P04). */
TEST(flits_of_puts_and_gets_P03_P04)
{
	for (const Operation operation : {Operation::Put, Operation::Get}) {
		Rig rig(topology::build_canonical({.p = 2, .a = 4, .h = 2}),
			{.operation = operation, .bytes = 1024, .load_ppm = 200000});

		rig.run_and_drain(5000);
		assert_int_equal(rig.network.statistics().injected_flits,
				 rig.network.statistics().latency.count() * 15);
		assert_int_equal(rig.network.statistics().received_flits,
				 rig.network.statistics().latency.count() * 15);
	}
}

std::string text_of(uint64_t seed, const TrafficShape &traffic)
{
	const auto machine = topology::build_aries({.groups = 2, .chassis = 2, .slots = 2});
	RunShape shape;
	std::ostringstream text;

	shape.seed = seed;
	shape.traffic = traffic;
	shape.warmup = 1000;
	shape.measure = 3000;
	shape.drain = 100000;

	const Result result = run(machine, shape);

	write_json(text, machine, shape, result);
	write_links_csv(text, result);
	return text.str();
}

TEST(same_seed_same_bytes)
{
	for (const TrafficShape &traffic : TRAFFICS) {
		const std::string first = text_of(7, traffic);

		assert_string_equal(first.c_str(), text_of(7, traffic).c_str());
		assert_string_not_equal(first.c_str(), text_of(8, traffic).c_str());
	}
}

/* The file for others has every link that carried something, with the machine's size. */
TEST(background_has_the_loads_of_links)
{
	const auto machine = topology::build_aries({.groups = 2, .chassis = 2, .slots = 2});
	RunShape shape;
	std::ostringstream text;
	std::string line;
	double sum = 0;
	size_t lines = 0;

	shape.warmup = 1000;
	shape.measure = 4000;

	const Result result = run(machine, shape);

	write_background(text, machine, shape, result);

	std::istringstream in(text.str());

	std::getline(in, line);
	assert_string_equal(line.c_str(), "# aries link loads 1");
	std::getline(in, line);
	assert_string_equal(line.c_str(),
			    ("# routers 8 tiles 48 links " + std::to_string(machine.links.size())).c_str());
	while (std::getline(in, line) && line[0] == '#')
		continue;
	assert_string_equal(line.c_str(), "router,tile,load,stalled");
	while (std::getline(in, line)) {
		unsigned router = 0, tile = 0;
		double load = 0, stalled = 0;

		assert_int_equal(std::sscanf(line.c_str(), "%u,%u,%lf,%lf", &router, &tile, &load, &stalled), 4);
		assert_true(router < 8 && tile < 40 && load >= 0 && load <= 1 && stalled >= 0 && stalled <= 1);
		sum += load;
		lines++;
	}
	assert_true(lines > 10 && lines <= result.links.size());

	double all = 0;

	for (const LinkResult &link : result.links)
		all += link.load;
	assert_true(sum > 0.99 * all && sum < 1.01 * all);
}

/* The order of the events of a cycle does not matter: that is what lets a machine be cut into parts. */
TEST(order_of_events_does_not_matter)
{
	for (const TrafficShape &traffic : TRAFFICS) {
		Rig one(topology::build_aries({.groups = 3, .chassis = 2, .slots = 2}), traffic);
		Rig other(topology::build_aries({.groups = 3, .chassis = 2, .slots = 2}), traffic);

		other.network.reverse_events();
		one.network.run(6000);
		other.network.run(6000);

		const Statistics &a = one.network.statistics();
		const Statistics &b = other.network.statistics();

		assert_int_equal(a.hops, b.hops);
		assert_int_equal(a.latency.sum(), b.latency.sum());
		assert_int_equal(a.round_trip.sum(), b.round_trip.sum());
		assert_int_equal(a.nonminimal, b.nonminimal);
		for (uint32_t place = 0; place < one.network.layout().places(); place++) {
			assert_int_equal(one.network.port(place).flits, other.network.port(place).flits);
			assert_int_equal(one.network.port(place).stalled, other.network.port(place).stalled);
			assert_int_equal(one.network.port(place).free_tick, other.network.port(place).free_tick);
		}
	}
}

} // namespace

TEST_MAIN("tests")
