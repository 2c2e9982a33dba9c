// SPDX-License-Identifier: GPL-2.0-or-later
/* Waiting times and throughputs that formulas know. */
#include <cmath>

#include "rig.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

constexpr size_t BLUE = 2;         // class of links
constexpr double LINK_FLITS = 0.9; // a cycle: nine flits in the time of ten (P05)

/* Messages of Poisson, a NIC that serves each in 14 cycles: it waits rho D / 2 (1 - rho) in the mean. */
TEST(nic_is_an_M_D_1_queue)
{
	for (const uint32_t percent : {30u, 50u, 70u}) {
		Rig rig(topology::build_canonical({.p = 1, .a = 4, .h = 1}),
			{.operation = Operation::Raw, .raw_flits = 14, .load_ppm = percent * 10000});
		const double rho = percent / 100.0;
		const double expected = rho * 14 / (2 * (1 - rho));

		rig.run_and_drain(200000);

		const Statistics &seen = rig.network.statistics();
		const double waited = seen.latency.mean() - seen.network.mean();

		print_message("load %u %%: waited %.2f cycles of %.2f\n", percent, waited, expected);
		assert_true(std::abs(waited - expected) < 0.05 * expected + 0.5);
	}
}

RunShape flood(double load)
{
	RunShape shape;

	shape.traffic = {.operation = Operation::Raw,
			 .raw_flits = 14,
			 .load_ppm = static_cast<uint32_t>(load * 1e6),
			 .request_mode = {Routing::MinimalHash, 0}};
	shape.warmup = 20000;
	shape.measure = 40000;
	shape.drain = 0;
	return shape;
}

/*
 * p = 2, a = 4, h = 1: five groups of eight nodes, one link between each two. Of what a node sends 8/39 go over the
 * link to each other group, for eight nodes: 64/39 of a node's flits, and 0.9 fit.
 */
TEST(uniform_saturates_at_the_global_links)
{
	const auto machine = topology::build_canonical({.p = 2, .a = 4, .h = 1});
	const double bound = LINK_FLITS * 39 / 64;
	const double below = run(machine, flood(0.95 * bound)).accepted;
	const double above = run(machine, flood(1)).accepted;

	print_message("bound %.4f: accepted %.4f below it, %.4f above\n", bound, below, above);
	assert_true(std::abs(below - 0.95 * bound) < 0.02 * bound);
	assert_true(above <= 1.005 * bound);
	assert_true(above >= 0.85 * bound);
}

/* The worst case by minimal ways: one link for the eight nodes of a group (R15). */
TEST(worst_case_minimal_R15)
{
	const auto machine = topology::build_canonical({.p = 2, .a = 4, .h = 2});
	RunShape shape = flood(1);

	shape.traffic.pattern = Pattern::Group;

	const double accepted = run(machine, shape).accepted;

	print_message("accepted %.4f of %.4f\n", accepted, LINK_FLITS / 8);
	assert_true(accepted <= LINK_FLITS / 8 * 1.005);
	assert_true(accepted >= LINK_FLITS / 8 * 0.85);

	/* Adaptive routing finds the other groups. */
	shape.traffic.request_mode = {Routing::Adaptive, 0};

	const Result spread = run(machine, shape);

	print_message("adaptive: accepted %.4f\n", spread.accepted);
	assert_true(spread.accepted > 2 * accepted);
}

/* One channel alone reaches the full rate over 35 m (T18, P14). */
TEST(one_channel_fills_a_long_cable_P14)
{
	const auto machine = topology::build_aries(
		{.groups = 2, .chassis = 1, .slots = 1, .cables_per_pair = 1, .global_length_m = 35});
	RunShape shape = flood(1);

	shape.traffic.pattern = Pattern::Group;

	const ClassResult full = run(machine, shape).classes[BLUE];

	print_message("35 m: load %.4f, without room %.4f of the time\n", full.most_load, full.stalled);
	assert_string_equal(full.name.c_str(), "blue");
	/* What is missing to 1 is that sometimes no packet wants this link. */
	assert_true(full.most_load > 0.95);
	assert_true(full.stalled < 0.001);

	/* With room for half of the round trip it does not. */
	shape.parameters.input_buffer = 28 * 8 + 120;

	const ClassResult half = run(machine, shape).classes[BLUE];

	assert_true(half.most_load < 0.7);
	assert_true(half.stalled > 0.3);
}

/* A NIC that holds so many responses, each for as long as it serves a request, answers no more than those in that time.
 */
TEST(responses_that_a_nic_holds)
{
	for (const uint32_t held : {1U, 3U}) {
		constexpr uint32_t SERVE = 2000, TIMES = 20;
		Parameters slow;
		TrafficShape gets{
			.pattern = Pattern::Offset, .operation = Operation::Get, .bytes = 8, .load_ppm = 1000000};

		slow.serve_cycles = SERVE;
		slow.response_queue = held;

		Rig rig(topology::build_aries({.groups = 1, .chassis = 1, .slots = 2}), gets, slow);
		const size_t nodes = rig.machine.nodes.size();

		rig.network.run(SERVE * TIMES);

		const Histogram &round_trip = rig.network.statistics().round_trip;
		const double answers = static_cast<double>(round_trip.count()) / static_cast<double>(nodes);

		print_message("%u held: %.1f answers of %u\n", held, answers, held * TIMES);
		assert_true(answers <= held * TIMES);
		assert_true(answers >= 0.85 * held * TIMES);
	}
}

} // namespace

TEST_MAIN("tests")
