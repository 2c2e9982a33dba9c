// SPDX-License-Identifier: GPL-2.0-or-later
/* Claims that no other test is about: what routers know of loads (R08, R09), all-to-all exchanges (L21, L26). */
#include <algorithm>
#include <cmath>
#include <set>

#include "rig.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

constexpr size_t METRICS = 3;

/* A router that knows only some of the three: of its own flits, of the far buffer, of what the neighbour says. */
Parameters knowing(std::initializer_list<bool> metrics)
{
	uint32_t Parameters::*const weights[METRICS] = {&Parameters::near_weight, &Parameters::far_weight,
							&Parameters::down_weight};
	Parameters parameters;
	size_t i = 0;

	for (const bool metric : metrics)
		parameters.*weights[i++] = metric;
	return parameters;
}

/* Nine groups of eight nodes; all of a group send to the next one, more than their one link takes. */
RunShape worst_case(const Parameters &parameters)
{
	RunShape shape;

	shape.parameters = parameters;
	shape.traffic = {.pattern = Pattern::Group, .operation = Operation::Raw, .raw_flits = 14, .load_ppm = 300000};
	shape.policy.local_bias = shape.policy.global_bias = {0, 0, 0, 0};
	shape.warmup = 5000;
	shape.measure = 10000;
	shape.drain = 0;
	return shape;
}

topology::Machine nine_groups()
{
	return topology::build_canonical({.p = 2, .a = 4, .h = 2});
}

double share_by_roots(const Result &result)
{
	return static_cast<double>(result.statistics.nonminimal) / static_cast<double>(result.measured);
}

/* Each of the three metrics alone makes packets leave the way that is full; without any of them none does. */
TEST(each_metric_counts_R08)
{
	const double minimal_bound = 0.9 / 8;
	const Result blind = run(nine_groups(), worst_case(knowing({false, false, false})));

	assert_int_equal(blind.statistics.nonminimal, 0);
	assert_true(blind.accepted < minimal_bound * 1.005);
	for (size_t metric = 0; metric < METRICS; metric++) {
		const Result result = run(nine_groups(), worst_case(knowing({metric == 0, metric == 1, metric == 2})));

		print_message("metric %zu: %.3f by roots, accepted %.4f; without any %.4f\n", metric,
			      share_by_roots(result), result.accepted, blind.accepted);
		assert_true(share_by_roots(result) > 0.2);
		assert_true(result.accepted > 1.2 * blind.accepted);
	}
}

/* Requests that have gone by a root up to a cycle, if all that a router knows is what its neighbours say. */
uint64_t by_roots(uint32_t interval, uint32_t cycle)
{
	Parameters parameters = knowing({false, false, true});
	const RunShape shape = worst_case(parameters);

	parameters.load_interval = interval;

	Rig rig(nine_groups(), shape.traffic, parameters, 1, shape.policy);

	rig.network.run(cycle);
	assert_true(rig.network.statistics().latency.count() > 100);
	return rig.network.statistics().nonminimal;
}

/* Neighbours speak every ten cycles. When they do so seldom, nobody knows of any load until the message after. */
TEST(neighbours_speak_at_intervals_R09)
{
	constexpr uint32_t SELDOM = 4000, SOON = 2000;

	assert_int_equal(Parameters().load_interval, 10);
	assert_int_not_equal(by_roots(10, SOON), 0);
	/* The message of cycle 4,000 is known when it has come, in whole intervals: from 8,000 on. */
	assert_int_equal(by_roots(SELDOM, 2 * SELDOM), 0);
	assert_int_not_equal(by_roots(SELDOM, 2 * SELDOM + SOON), 0);
}

/* Of each round of a rotating shift every node gets one message, and after all rounds one of each other node. */
TEST(nobody_gets_two_of_a_round_L26)
{
	const auto machine = topology::build_aries({.groups = 3, .chassis = 2, .slots = 2});
	const Layout layout(machine, {}, 4);

	for (const Pattern pattern : {Pattern::Shift, Pattern::AllToAll}) {
		const Traffic traffic(Workload({.pattern = pattern}, layout.nodes), layout, 1);
		std::set<std::pair<uint32_t, uint32_t>> pairs;

		for (uint32_t round = 0; round + 1 < layout.nodes; round++) {
			std::set<uint32_t> targets;

			for (uint32_t node = 0; node < layout.nodes; node++) {
				const uint32_t target = traffic.target(node, round);

				assert_int_not_equal(target, node);
				targets.insert(target);
				pairs.insert({node, target});
			}
			assert_int_equal(targets.size(), layout.nodes);
		}
		assert_int_equal(pairs.size(), size_t{layout.nodes} * (layout.nodes - 1));
	}
}

/* As much as nodes can send; large messages begin at random times, so that all do so only after some of them. */
Result exchanged(Pattern pattern, Routing routing, uint32_t bytes, uint32_t warmup, uint32_t measure)
{
	RunShape shape;

	shape.traffic = {.pattern = pattern,
			 .operation = Operation::Put,
			 .bytes = bytes,
			 .shift = 37, /* four groups and a half */
			 .load_ppm = 1000000,
			 .request_mode = {routing, 0},
			 .response_mode = {routing, 0}};
	shape.warmup = warmup;
	shape.measure = measure;
	shape.drain = 0;
	return run(nine_groups(), shape);
}

double all_to_all(Routing routing, uint32_t bytes)
{
	return exchanged(Pattern::AllToAll, routing, bytes, 20000, 40000).accepted;
}

/*
 * Large messages keep a whole group sending to another one for long. Minimal ways are best for small ones and suffer
 * most; random roots suffer less and pass more of large ones; adaptive ways take the better of both, roughly.
 */
TEST(large_messages_and_minimal_ways_L21)
{
	constexpr uint32_t SMALL = 64, LARGE = 65536;
	const double minimal[] = {all_to_all(Routing::MinimalHash, SMALL), all_to_all(Routing::MinimalHash, LARGE)};
	const double by_root[] = {all_to_all(Routing::NonminimalHash, SMALL),
				  all_to_all(Routing::NonminimalHash, LARGE)};
	const double adaptive[] = {all_to_all(Routing::Adaptive, SMALL), all_to_all(Routing::Adaptive, LARGE)};

	print_message("64 B and 64 KiB: minimal %.4f %.4f, by roots %.4f %.4f, adaptive %.4f %.4f\n", minimal[0],
		      minimal[1], by_root[0], by_root[1], adaptive[0], adaptive[1]);
	assert_true(minimal[0] > std::max(by_root[0], adaptive[0]));
	assert_true(minimal[1] < 0.5 * minimal[0]);
	assert_true(by_root[1] / by_root[0] > 1.5 * minimal[1] / minimal[0] && by_root[1] > minimal[1]);
	assert_true(adaptive[1] > 1.1 * minimal[1]);
}

/*
 * Random roots make any pattern a random one: links inside groups, of which each way has the most, are full with
 * small messages to all, and the size does not matter while everybody keeps to one target. In an exchange large
 * messages pass less only because nodes get out of step, so that some send to the same target for long.
 */
TEST(random_roots_fill_links_L21)
{
	constexpr uint32_t WARMUP = 60000, MEASURE = 60000;
	const Routing routing = Routing::NonminimalHash;
	const Result all = exchanged(Pattern::AllToAll, routing, 64, WARMUP, MEASURE);
	const double small = exchanged(Pattern::Offset, routing, 64, WARMUP, MEASURE).accepted;
	const double large = exchanged(Pattern::Offset, routing, 65536, WARMUP, MEASURE).accepted;
	const auto inside = std::find_if(all.classes.begin(), all.classes.end(),
					 [](const ClassResult &cls) { return cls.name == "local"; });

	assert_true(inside != all.classes.end());
	print_message("links inside groups %.3f, accepted %.4f; to one target 64 B %.4f, 64 KiB %.4f\n",
		      inside->mean_load, all.accepted, small, large);
	assert_true(inside->mean_load > 0.9);
	assert_true(std::abs(large - small) < 0.05 * small);
}

} // namespace

TEST_MAIN("tests")
