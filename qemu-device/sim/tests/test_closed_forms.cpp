// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A second opinion on torus and fat tree, for which no other simulator is at hand: mean latency of a quiet network and
 * the load at which links are full, from formulas that know sizes, lengths and rates alone, and no route tables.
 * Packets have no responses, as other simulators send them. Both agree within 5 %.
 */
#include <array>
#include <cmath>

#include "chip/gemini.hpp"
#include "rig.hpp"
#include "topology/build_clos.hpp"
#include "topology/build_torus.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

constexpr double AGREES = 0.05;
constexpr double NOISE = 0.015; ///< of what arrives in a window

/* What the formulas say of a network and packets of some length. */
struct Expected {
	double latency;  ///< cycles, mean over all pairs of nodes
	double capacity; ///< flits a cycle that a node can send to all others
};

constexpr double OUTSIDE_LINKS = 62; ///< cycles of NICs, Netlink and one router (test quiet)
constexpr double ROUTER = 44;
constexpr double SERDES = 28;

/* A packet over a link to the next router, which looks at it in whole cycles. */
double hop_cycles(double length_m, double flit_cycles, double mhz)
{
	return ROUTER + std::ceil(SERDES + length_m * 5 * mhz / 1000 + flit_cycles);
}

/* Of uniform traffic on a ring of so many: hops to all, oneself included, by the shorter half. */
double mean_ring_hops(uint32_t size)
{
	return size % 2 ? (size * size - 1) / (4.0 * size) : size / 4.0;
}

/* A torus; sizes in routers, two nodes each. Links of all axes are as long and as fast: 24 bits, three lanes (G04). */
Expected torus(const std::array<uint32_t, 3> &routers, uint32_t flits)
{
	constexpr double PHIT = 24 / (3 * 3.125) * 0.8, LENGTH_M = 2; // cycles of 800 MHz
	constexpr std::array<uint32_t, 3> PARALLEL{8, 4, 8};          // tiles to each neighbour (G06)
	const double nodes = 2.0 * routers[0] * routers[1] * routers[2];
	const double others = nodes / (nodes - 1);
	double hops = 0, capacity = 4; // that tiles of a node take

	for (size_t axis = 0; axis < 3; axis++) {
		const double of_axis = mean_ring_hops(routers[axis]) * others;

		hops += of_axis;
		/* Two nodes fill the links both ways. */
		capacity = std::min(capacity, 2 * PARALLEL[axis] / PHIT / (2 * of_axis));
	}

	/* Those on the same router wait for its tiles alone. */
	const double away = (nodes - 2) / (nodes - 1);
	const double behind = (flits - 1) * (away * PHIT + (1 - away));

	return {OUTSIDE_LINKS + hops * hop_cycles(LENGTH_M, PHIT, 800) + behind, capacity};
}

/* A fat tree of three stages; links of three lanes at some rate, 20 m to the second stage and 1 m to the third. */
Expected fat_tree(uint32_t radix, double gbit, uint32_t flits)
{
	const double half = radix / 2.0, nodes = 2 * half * half * half;
	const double flit = 48 / (3 * gbit) * 0.875 * 10 / 9; // cycles, with the LCB's tenth one (P05)
	const double up = (nodes - half) / (nodes - 1), top = (nodes - half * half) / (nodes - 1);

	return {OUTSIDE_LINKS + 2 * up * hop_cycles(20, flit, 875) + 2 * top * hop_cycles(1, flit, 875) +
			(flits - 1) * (up * flit + (1 - up)),
		std::min(1.0, 1 / flit / up)};
}

struct Case {
	const char *name;
	topology::Machine machine;
	Expected expected;
	uint32_t flits;
	uint8_t channels;
	double node; ///< flits a cycle at a load of 1
};

std::vector<Case> cases()
{
	std::vector<Case> all;

	for (const uint32_t flits : {8u, 32u}) {
		for (const uint8_t channels : {1, 2}) {
			all.push_back({"torus of 4 x 2 x 12 routers", topology::build_torus({.x = 4, .y = 4, .z = 12}),
				       torus({4, 2, 12}, flits), flits, channels, 4});
			all.push_back({"torus of 5 x 6 x 4 routers", topology::build_torus({.x = 5, .y = 12, .z = 4}),
				       torus({5, 6, 4}, flits), flits, channels, 4});
		}
	}
	for (const uint32_t flits : {1u, 14u}) {
		for (const double gbit : {7.0, 3.5})
			all.push_back(
				{"fat tree of 128 nodes",
				 topology::build_clos({.radix = 8, .stages = 3, .lanes = 3, .gbit_per_lane = gbit}),
				 fat_tree(8, gbit, flits), flits, 1, 1});
	}
	return all;
}

Result run_at(const Case &of, double flits_a_cycle, uint32_t warmup, uint32_t measure)
{
	RunShape shape;

	shape.parameters = parameters_of(chip_of(of.machine));
	shape.parameters.host_mbytes = 0;
	/* Formulas know no queues: with room for two packets in those of a router, as Aries has it here, a fat tree has
	 * 0.92. */
	if (of.node == 1)
		shape.parameters.subswitch_buffer = shape.parameters.column_buffer = 112;
	shape.policy.channels = of.channels;
	shape.warmup = warmup;
	shape.measure = measure;
	shape.traffic = {.operation = Operation::Raw,
			 .raw_flits = of.flits,
			 .load_ppm = static_cast<uint32_t>(flits_a_cycle / of.node * 1e6)};
	return run(of.machine, shape);
}

TEST(quiet_networks_are_as_late_as_they_must_be)
{
	for (const Case &of : cases()) {
		const Result result = run_at(of, 0.01 * of.expected.capacity, 0, 20000 * std::max(of.flits / 7, 1u));
		const double is = result.statistics.network.mean();

		print_message("%s, %u flits, %u channels: %.1f cycles of %.1f\n", of.name, of.flits, of.channels, is,
			      of.expected.latency);
		assert_true(result.statistics.network.count() > 500);
		assert_true(std::abs(is - of.expected.latency) < AGREES * of.expected.latency);
	}
}

/*
 * What is accepted at 0.95 and at 1.05 of it: the former whole, or as much at the latter, which is never accepted
 * whole. Not of short packets with bubbles: each takes as much room behind a link as the longest, so that links wait
 * for room.
 */
TEST(networks_saturate_where_links_are_full)
{
	for (const Case &of : cases()) {
		if (of.channels == 1 && of.node > 1 && of.flits < 32)
			continue;

		const double capacity = of.expected.capacity / of.node;
		const double below = run_at(of, (1 - AGREES) * of.expected.capacity, 6000, 10000).accepted / capacity;
		const double above = run_at(of, (1 + AGREES) * of.expected.capacity, 6000, 10000).accepted / capacity;

		print_message("%s, %u flits, %u channels: %.3f of 0.95, %.3f of 1.05\n", of.name, of.flits, of.channels,
			      below, above);
		assert_true(std::max(below, above) > 1 - AGREES - NOISE);
		assert_true(std::max(below, above) < 1 + NOISE);
	}
}

} // namespace

TEST_MAIN("tests")
