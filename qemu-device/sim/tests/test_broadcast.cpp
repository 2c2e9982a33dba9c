// SPDX-License-Identifier: GPL-2.0-or-later
/* Broadcasts, conditionals and barriers of QsNetIII: copies in switches, answers that are combined. */
#include <algorithm>
#include <cmath>
#include <sstream>

#include "bring_up.hpp"
#include "elite5_line.hpp"
#include "rig.hpp"
#include "topology/build_qsnet.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

constexpr uint32_t HOP = 12; // cycles of a switch, without cables

Parameters without_cables()
{
	Parameters parameters = parameters_of(ELITE5_LINE);

	parameters.ps_per_m = 0;
	return parameters;
}

RunShape shape_of(const TrafficShape &traffic, const Parameters &parameters = without_cables())
{
	RunShape shape;

	shape.parameters = parameters;
	shape.traffic = traffic;
	shape.warmup = 2000;
	shape.measure = 40000;
	return shape;
}

Result run_on(uint32_t nodes, const RunShape &shape)
{
	Result result = run(topology::build_qsnet({.nodes = nodes}), shape);

	assert_true(result.drained);
	assert_true(result.collectives[0].ended > 10);
	return result;
}

/*
 * From the first node's host to that of the last node: host and adapter, n switches and the words of the packet, 300 to
 * 400 ns to memory, the host. So it grows by switches alone, whatever the number of nodes (Q26).
 */
TEST(broadcasts_are_flat_in_size_Q26_Q27_Q31)
{
	const Parameters parameters = without_cables();
	const std::pair<uint32_t, uint32_t> machines[] = {{16, 1}, {128, 3}, {512, 5}, {1024, 5}};

	for (const auto &[bytes, words] : {std::pair{8u, 4u}, std::pair{1024u, 133u}}) {
		for (const auto &[nodes, switches] : machines) {
			const Result result = run_on(nodes, shape_of({.pattern = Pattern::Broadcast, .bytes = bytes}));
			const uint32_t expected = 2 * parameters.ce_host_cycles + parameters.ce_nic_cycles +
						  switches * HOP + words + parameters.write_most;
			const Histogram &latency = result.collectives[0].latency;

			print_message("%u nodes, %u bytes: %u to %u cycles, %u expected\n", nodes, bytes,
				      latency.least(), latency.most(), expected);
			/* The last of many nodes has nearly the longest time to memory; an adapter begins a cycle
			 * later. */
			assert_in_range(latency.most(), expected - 12, expected + 2);
			/* One packet of the first node, and one for each node at the other end (Q27). */
			assert_int_equal(result.statistics.received_packets,
					 result.statistics.injected_packets * nodes);
			/* With one address, whatever the number of nodes (Q31). */
			assert_int_equal(result.statistics.injected_flits, result.statistics.injected_packets * words);
		}
	}
}

/* Large ones go in packets, which follow one another. */
TEST(large_broadcasts_fill_the_link)
{
	RunShape shape = shape_of({.pattern = Pattern::Broadcast, .bytes = 65536});

	shape.measure = 150000;

	const Result result = run_on(64, shape);
	const double cycles = result.collectives[0].latency.mean();

	print_message("64 KB to 64 nodes in %.0f cycles\n", cycles);
	assert_true(cycles > 64 * 133 && cycles < 64 * 133 * 1.1);
}

/* Nobody leaves a barrier before all have come: no host is two operations ahead of another (Q28 to Q30). */
TEST(nobody_leaves_a_barrier_early_Q28_Q29_Q30)
{
	for (const Pattern pattern : {Pattern::Barrier, Pattern::TreeBarrier}) {
		const Result result = run_on(
			64,
			shape_of(
				{.pattern = pattern, .radix = 4, .compute_ns = 500, .slow_rank = 37, .slow_ns = 5000}));
		const CollectiveResult &barriers = result.collectives[0];
		const std::vector<OperationCount> &operations = result.statistics.collectives[0].operations;

		assert_in_range(barriers.begun - barriers.ended, 0, 1);
		for (size_t i = 0; i + 1 < operations.size(); i++) {
			assert_int_equal(operations[i].begun, 64);
			/* The slow one ends an operation and computes before it begins the next. */
			assert_true(operations[i + 1].begun < 64 ||
				    operations[i + 1].last_begin >= operations[i].last_begin + (5500 * 312) / 1000);
			assert_true(operations[i].last_end > operations[i].last_begin);
		}
		/* The conditional is asked until it is true; counters are not asked. */
		assert_int_equal(result.statistics.sent_again > barriers.ended, pattern == Pattern::Barrier);
	}
}

/* A conditional, and a broadcast: there and back, and there, when all are ready at the same time (Q29). */
TEST(barriers_by_closed_form_Q29)
{
	const Parameters p = without_cables();
	const uint32_t trip = 3 * HOP + 4;
	const Result result = run_on(64, shape_of({.pattern = Pattern::Barrier}));
	const uint32_t expected = p.ce_host_cycles + p.ce_nic_cycles + trip + 3 * HOP + p.ce_nic_cycles + trip +
				  p.write_most + p.ce_host_cycles;

	print_message("a barrier of 64 nodes: %.0f cycles, %u expected\n", result.collectives[0].latency.mean(),
		      expected);
	assert_true(result.collectives[0].latency.mean() < expected + p.retry_cycles);
	assert_true(result.collectives[0].latency.mean() > expected - 40);
}

/*
 * With hosts and adapters as slow as those of the first QsNet, of which measurements are published: about 6 us by the
 * network and 15 us by a tree of adapters, with 64 nodes. 1.3 and 1.4 us are chosen for that: they are two numbers for
 * two.
 */
TEST(barriers_with_hosts_of_qsnet)
{
	Parameters slow = without_cables();

	slow.ce_host_cycles = 400;
	slow.ce_nic_cycles = 430;

	double us[2] = {};

	for (const Pattern pattern : {Pattern::Barrier, Pattern::TreeBarrier}) {
		RunShape shape = shape_of({.pattern = pattern, .radix = 2}, slow);

		shape.measure = 100000;
		us[pattern == Pattern::TreeBarrier] = run_on(64, shape).collectives[0].latency.mean() / 312;
	}
	print_message("64 nodes: %.1f us by conditionals, %.1f us by counters\n", us[0], us[1]);
	assert_true(us[0] > 5.4 && us[0] < 6.6);
	assert_true(us[1] > 13.5 && us[1] < 16.5);
}

std::string text_of(const topology::Machine &machine, RunShape shape, const Workers &workers)
{
	std::ostringstream text;

	shape.workers = workers;
	write_json(text, machine, shape, run(machine, shape));
	return text.str();
}

std::vector<uint32_t> every(uint32_t first, uint32_t step, uint32_t end)
{
	std::vector<uint32_t> nodes;

	for (uint32_t node = first; node < end; node += step)
		nodes.push_back(node);
	return nodes;
}

/* Beside other traffic, with errors and failures: the same for any number of parts. */
TEST(jobs_beside_others_in_parts)
{
	const topology::Machine machine = topology::build_qsnet({.nodes = 300, .blades = true});
	Parameters noisy = parameters_of(ELITE5_LINE);

	noisy.bit_errors = 1'000'000;
	noisy.rebuild_cycles = 500;

	RunShape shape = shape_of({}, noisy);

	shape.measure = 8000;
	shape.jobs = {{"barrier", every(0, 5, 300), {.pattern = Pattern::Barrier}, {}},
		      {"tree", every(1, 5, 300), {.pattern = Pattern::TreeBarrier, .radix = 3, .compute_ns = 300}, {}},
		      {"broadcast", every(2, 5, 300), {.pattern = Pattern::Broadcast, .bytes = 5000}, {}},
		      {"puts", every(3, 5, 300), {.bytes = 3000, .load_ppm = 500000}, {}},
		      {"conditional",
		       every(4, 5, 300),
		       {.pattern = Pattern::Conditional, .slow_rank = 7, .slow_ns = 2000},
		       {}}};
	/* The tree's root, which is the first router of the last stage. */
	for (const auto &[change, text] :
	     {std::pair{Change::Fail, "3000:router:19"}, std::pair{Change::Repair, "7000:router:19"}})
		shape.incidents.push_back(parse_incident(change, text, machine));

	const std::string expected = text_of(machine, shape, {});

	for (const uint32_t parts : {3u, static_cast<uint32_t>(machine.routers.size())})
		assert_string_equal(text_of(machine, shape, {.parts = parts}).c_str(), expected.c_str());
	assert_string_equal(text_of(machine, shape, {.threads = 2, .parts = 4}).c_str(), expected.c_str());
}

/* All share the links of one tree: none waits for another for ever. */
TEST(many_large_broadcasts_at_once)
{
	RunShape shape = shape_of({});

	shape.measure = 60000;
	for (uint32_t job = 0; job < 8; job++)
		shape.jobs.push_back({"job" + std::to_string(job),
				      every(job, 8, 128),
				      {.pattern = Pattern::Broadcast, .bytes = 40000},
				      {}});

	const Result result = run(topology::build_qsnet({.nodes = 128}), shape);

	assert_true(result.drained && !result.stuck);
	for (const CollectiveResult &broadcasts : result.collectives) {
		assert_true(broadcasts.ended > 0);
		assert_int_equal(broadcasts.begun, broadcasts.ended);
	}
}

/*
 * A conditional alone: there over three switches, back over them, host and adapter at both ends, whatever the number of
 * nodes. All words are as they are asked for, so nothing is asked twice (Q27, Q28).
 */
TEST(conditionals_by_closed_form_Q28)
{
	const Parameters p = without_cables();

	for (const auto &[nodes, switches] : {std::pair{16u, 1u}, std::pair{128u, 3u}, std::pair{512u, 5u}}) {
		const Result result = run_on(nodes, shape_of({.pattern = Pattern::Conditional}));
		const Histogram &latency = result.collectives[0].latency;
		const uint32_t expected = 2 * (p.ce_host_cycles + p.ce_nic_cycles) + 2 * switches * HOP + 4;

		print_message("a conditional of %u nodes: %u to %u cycles, %u expected\n", nodes, latency.least(),
			      latency.most(), expected);
		assert_in_range(latency.least(), expected, expected + 2);
		assert_in_range(latency.most(), expected, expected + 2);
		assert_int_equal(result.statistics.received_packets, result.statistics.injected_packets * nodes);
		assert_int_equal(result.statistics.sent_again, 0);
		assert_int_equal(result.collectives[0].begun, result.collectives[0].ended);
	}
}

/* One node at which the word is not yet what it is asked for makes a NACK of all; that is no failure (Q27, Q28). */
TEST(conditionals_wait_for_a_slow_node_Q28)
{
	const Parameters p = without_cables();
	constexpr uint32_t SLOW_NS = 5000, SLOW = SLOW_NS * 312 / 1000;

	for (const uint32_t rank : {0u, 37u}) {
		const Result result =
			run_on(64, shape_of({.pattern = Pattern::Conditional, .slow_rank = rank, .slow_ns = SLOW_NS}));
		const CollectiveResult &asked = result.collectives[0];

		assert_true(asked.latency.least() > SLOW + 2 * (p.ce_host_cycles + p.ce_nic_cycles));
		assert_true(asked.latency.most() < SLOW + 2 * (p.ce_host_cycles + p.ce_nic_cycles) + 400);
		/* It comes again after its way and the time that it waits. */
		assert_true(result.statistics.sent_again > 5 * asked.ended);
		assert_int_equal(asked.given_up + asked.lost + result.statistics.given_up, 0);
		assert_int_equal(result.statistics.refused, 0);
	}
}

/* A host that does not come before traffic ends has not failed. */
TEST(a_slow_node_is_no_failure_Q29)
{
	for (const Pattern pattern : {Pattern::Conditional, Pattern::Barrier, Pattern::TreeBarrier}) {
		const Result result =
			run(topology::build_qsnet({.nodes = 64}),
			    shape_of({.pattern = pattern, .radix = 4, .slow_rank = 5, .slow_ns = 100'000'000}));

		assert_true(result.drained && !result.stuck);
		assert_int_equal(result.collectives[0].begun, 1);
		assert_int_equal(result.collectives[0].ended, 0);
		assert_int_equal(result.collectives[0].lost, 0);
		assert_int_equal(result.collectives[0].given_up, 0);
		assert_int_equal(result.statistics.given_up, 0);
	}
}

/* What begins when the last one is answered has no load: it is in none of both means. */
TEST(groups_have_no_load)
{
	RunShape shape = shape_of({});

	shape.measure = 20000;
	shape.jobs = {{"broadcast", every(0, 2, 64), {.pattern = Pattern::Broadcast, .bytes = 65536}, {}},
		      {"puts", every(1, 2, 64), {.bytes = 1024, .load_ppm = 300000}, {}}};

	const Result result = run(topology::build_qsnet({.nodes = 64}), shape);

	assert_true(result.jobs[0].accepted == 0 && result.jobs[0].offered == 0);
	/* Bytes are counted for the job and for all. */
	assert_true(result.jobs[0].gbyte_per_s_per_node > 1);
	assert_true(std::abs(result.offered - 0.15) < 1e-6);
	assert_true(std::abs(result.accepted - 0.15) < 0.02);
}

/*
 * A node without which nothing goes on fails: its job's operations end no more, also when it is back, and that is told.
 * The run drains. Of others than the first node of a broadcast or conditional this one waits for the answer.
 */
TEST(a_node_that_fails_ends_what_it_takes_part_in_Q29)
{
	const topology::Machine machine = topology::build_qsnet({.nodes = 64});

	for (const Pattern pattern :
	     {Pattern::Broadcast, Pattern::Conditional, Pattern::Barrier, Pattern::TreeBarrier}) {
		const bool of_first = pattern == Pattern::Broadcast || pattern == Pattern::Conditional;

		for (const char *node : {"node:0", "node:9"}) {
			RunShape shape = shape_of({.pattern = pattern, .bytes = 8192});
			const bool first = node[5] == '0', goes_on = of_first && !first;

			shape.incidents = {parse_incident(Change::Fail, "10000:" + std::string(node), machine),
					   parse_incident(Change::Repair, "14000:" + std::string(node), machine)};

			const Result result = run(machine, shape);
			const CollectiveResult &group = result.collectives[0];
			const OperationCount &last = result.statistics.collectives[0].operations.back();

			assert_true(result.drained && !result.stuck);
			assert_int_equal(group.lost > 0, !goes_on);
			assert_int_equal(group.given_up, goes_on ? 0 : group.begun - group.ended);
			assert_int_equal(last.last_begin > 40000, goes_on);
			/* The node may not know of the last one that ended, and the others may have begun the next. */
			assert_true(group.ended > 5 && group.begun - group.ended <= 2);
		}
	}
}

/* When the root of the tree fails another router takes its place, and barriers go on (Q32). */
TEST(the_tree_moves_Q32)
{
	const topology::Machine machine = topology::build_qsnet({.nodes = 64});
	Parameters quick = without_cables();

	quick.rebuild_cycles = 1000;

	for (const Pattern pattern :
	     {Pattern::Broadcast, Pattern::Conditional, Pattern::Barrier, Pattern::TreeBarrier}) {
		RunShape shape = shape_of({.pattern = pattern}, quick);
		uint32_t longest = 0;

		shape.incidents.push_back(parse_incident(Change::Fail, "20000:router:8", machine));

		const Result result = run(machine, shape);
		const std::vector<OperationCount> &operations = result.statistics.collectives[0].operations;

		for (size_t i = 0; i + 1 < operations.size(); i++) {
			assert_int_equal(operations[i].ended, pattern == Pattern::Conditional ? 1 : 64);
			longest = std::max(longest, operations[i].last_end - operations[i].last_begin);
		}
		/* One waits for the new tree. */
		assert_true(operations.back().last_begin > 40000);
		assert_in_range(longest, 1000, 2500);
		assert_int_equal(result.statistics.given_up, 0);
	}
}

/* A link that is repaired comes into use by three steps, or not at all (Q41). */
TEST(links_come_up_in_three_steps_Q41)
{
	BringUp link(7, 100, 50);

	assert_int_equal(link.until(), 150);
	assert_false(link.end_step({false, 9}));
	assert_true(link.step() == LinkStep::Connect);
	/* Wrong cable: from the beginning. */
	assert_false(link.end_step({false, 0}));
	assert_true(link.step() == LinkStep::Negotiate);
	assert_false(link.end_step({true, 0}));
	assert_false(link.end_step({true, 0}));
	assert_true(link.step() == LinkStep::Test);
	assert_false(link.end_step({true, BringUp::MOST_ERRORS + 1}));
	assert_true(link.step() == LinkStep::Negotiate);
	assert_false(link.end_step({true, 0}));
	assert_false(link.end_step({true, 0}));
	assert_true(link.end_step({true, BringUp::MOST_ERRORS}));

	/* In a machine: tables are new behind the three steps; a link with too many errors gets none. */
	const topology::Machine machine = topology::build_qsnet({.nodes = 32});

	for (const uint32_t errors : {0u, 10'000'000u}) {
		Parameters parameters = without_cables();

		parameters.rebuild_cycles = 100;
		parameters.bring_up_cycles = errors ? 5000 : 1000;
		parameters.bit_errors = errors;

		RunShape shape = shape_of({.load_ppm = 50000}, parameters);

		shape.measure = 30000;
		shape.incidents.push_back(parse_incident(Change::Fail, "3000:link:0.16", machine));
		shape.incidents.push_back(parse_incident(Change::Repair, "5000:link:0.16", machine));

		const Result result = run(machine, shape);

		assert_int_equal(result.rebuilds[0].cycle, 3100);
		assert_int_equal(result.rebuilds.size(), errors ? 1 : 2);
		if (!errors)
			assert_int_equal(result.rebuilds[1].cycle, 8000);
	}
}

/*
 * A link that works again before tables have followed its failure, but is not in use yet: they leave it out, and take
 * it in when it has passed its steps (Q41).
 */
TEST(tables_without_rising_link_Q41)
{
	const topology::Machine machine = topology::build_qsnet({.nodes = 32});
	Parameters parameters = without_cables();

	parameters.rebuild_cycles = 1500;

	RunShape shape = shape_of({.load_ppm = 50000}, parameters);

	shape.measure = 10000;
	shape.incidents.push_back(parse_incident(Change::Fail, "3000:link:0.16", machine));
	shape.incidents.push_back(parse_incident(Change::Repair, "4000:link:0.16", machine));

	const Result result = run(machine, shape);

	assert_int_equal(result.rebuilds.size(), 2);
	assert_int_equal(result.rebuilds[0].cycle, 4500);
	assert_int_equal(result.rebuilds[1].cycle, 7000);
}

/* What comes to a member a second time, since the answer of another one was a NACK, is counted once (Q21, Q27). */
TEST(repeated_broadcasts_count_once_Q27)
{
	Parameters noisy = without_cables();

	noisy.bit_errors = 1'000'000;

	RunShape shape = shape_of({.pattern = Pattern::Broadcast, .bytes = 4096}, noisy);

	shape.warmup = 1;

	const Result result = run_on(32, shape);

	assert_true(result.statistics.came_twice > 0);
	assert_true(result.statistics.window_bytes <= uint64_t{result.collectives[0].begun} * 4096 * 32);
}

TEST(bad_input)
{
	const topology::Machine machine = topology::build_qsnet({.nodes = 32});
	const topology::Machine aries = topology::build_canonical({.p = 2, .a = 4, .h = 2});
	RunShape of_aries, alone = shape_of({});

	of_aries.traffic.pattern = Pattern::Broadcast;
	refused(aries, of_aries, "traffic broadcast is QsNetIII's");
	of_aries.traffic.pattern = Pattern::TreeBarrier;
	refused(aries, of_aries, "traffic tree-barrier is QsNetIII's");
	of_aries.traffic.pattern = Pattern::Conditional;
	refused(aries, of_aries, "traffic conditional is QsNetIII's");
	alone.jobs = {{"alone", {3}, {.pattern = Pattern::Barrier}, {}}};
	refused(machine, alone, "traffic needs at least two nodes");
	refused(machine, shape_of({.pattern = Pattern::TreeBarrier, .radix = 1}), "a tree of radix 1");
	refused(machine, shape_of({.pattern = Pattern::Barrier, .slow_rank = 32, .slow_ns = 1}), "rank 32 is slow");

	/* Answers that wait for memory must not find another packet in their channel. */
	RunShape slow = shape_of({});

	slow.parameters.write_least = slow.parameters.write_most = 5000;
	slow.incidents.push_back(parse_incident(Change::Fail, "3000:router:0", machine));
	slow.incidents.push_back(parse_incident(Change::Repair, "7000:router:0", machine));
	refused(machine, slow, "it failed in cycle 3000, and comes back after 5");
}

} // namespace

TEST_MAIN("tests")
