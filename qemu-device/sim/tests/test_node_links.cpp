// SPDX-License-Identifier: GPL-2.0-or-later
/* Nodes of QsNetIII with two and four links, to one switch or to several: packets go by any of them (Q25). */
#include <algorithm>
#include <cmath>

#include "elite5_line.hpp"
#include "rig.hpp"
#include "topology/build_qsnet.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

constexpr uint32_t NODES = 64;
constexpr double LINK_GBYTE_PER_S = 2.496; // eight bytes a cycle of 312 MHz

constexpr topology::QsnetShape TWO{.nodes = NODES, .links = 2};
constexpr topology::QsnetShape TWO_SPREAD{.nodes = NODES, .links = 2, .spread = true};
constexpr topology::QsnetShape FOUR{.nodes = NODES, .links = 4};
constexpr topology::QsnetShape FOUR_SPREAD{.nodes = NODES, .links = 4, .spread = true};

/* To the node with the same place in another half: over three switches. */
RunShape shape_of(uint32_t load_ppm, uint32_t measure, RoutingMode mode = {Routing::Adaptive, 0})
{
	RunShape shape;

	shape.parameters = parameters_of(ELITE5_LINE);
	shape.traffic = {.pattern = Pattern::Offset,
			 .bytes = 1024,
			 .shift = NODES / 2,
			 .load_ppm = load_ppm,
			 .request_mode = mode,
			 .response_mode = mode};
	shape.warmup = 2000;
	shape.measure = measure;
	return shape;
}

const ClassResult &processor_links(const Result &result)
{
	return result.classes.back();
}

/* A load of 1 is all links of a node, and so much of it arrives, whatever their number and where they lead. */
TEST(a_node_has_the_rate_of_all_its_links_Q25)
{
	for (const topology::QsnetShape &of :
	     {topology::QsnetShape{.nodes = NODES}, TWO, TWO_SPREAD, FOUR, FOUR_SPREAD}) {
		const topology::Machine machine = topology::build_qsnet(of);
		const Result result = run(machine, shape_of(1'000'000, 8000));
		const ClassResult &links = processor_links(result);

		print_message("%u links%s: %.2f GB/s of a node, %.3f of its links\n", of.links,
			      of.spread ? " to as many switches" : "", result.gbyte_per_s_per_node, result.accepted);
		assert_true(result.accepted > 0.92 && result.accepted < 1);
		/* 133 words carry 128 of data. */
		assert_true(result.gbyte_per_s_per_node > 0.92 * 128 / 133 * of.links * LINK_GBYTE_PER_S);
		assert_string_equal(links.name.c_str(), "processor");
		assert_int_equal(links.links % (NODES * of.links), 0);
		assert_true(std::abs(links.mean_load - result.accepted) < 0.02);
		/* What begins at the end of the measurement goes on behind it. */
		assert_true(links.most_load < 1.01);
	}
}

/* What comes to a node comes over all of its links, about as much over each. */
TEST(packets_come_by_all_links_of_a_node_Q25)
{
	for (const topology::QsnetShape &of : {TWO, TWO_SPREAD, FOUR_SPREAD}) {
		const RunShape shape = shape_of(700'000, 0);
		Rig rig(topology::build_qsnet(of), shape.traffic, shape.parameters);

		rig.run_and_drain(20000);
		assert_string_equal(rig.network.leftover().c_str(), "");

		const Layout &layout = rig.network.layout();
		const std::vector<LinkCount> counts = rig.network.link_counts();

		for (uint32_t node = 0; node < NODES; node++) {
			uint64_t least = UINT64_MAX, most = 0;

			for (uint32_t nth = 0; nth < layout.homes; nth++) {
				for (const uint8_t tile : layout.nic_tiles[layout.node_nic[node]]) {
					const uint64_t flits = counts[layout.place(layout.home(node, nth), tile)].flits;

					least = std::min(least, flits);
					most = std::max(most, flits);
				}
			}
			assert_true(least > most / 2);
		}
	}
}

Result run_with(const topology::Machine &machine, RunShape shape, const std::vector<const char *> &failures,
		const std::vector<const char *> &repairs = {})
{
	shape.parameters.rebuild_cycles = 500;
	for (const char *text : failures)
		shape.incidents.push_back(parse_incident(Change::Fail, text, machine));
	for (const char *text : repairs)
		shape.incidents.push_back(parse_incident(Change::Repair, text, machine));
	std::stable_sort(shape.incidents.begin(), shape.incidents.end());
	return run(machine, shape);
}

/*
 * When a link of a node fails it has the others: all messages arrive, by static ways, too. A switch at which it was the
 * only one refuses what it cannot give it, and that goes another way (Q20, Q23).
 */
TEST(a_link_that_fails_leaves_the_others_Q25)
{
	for (const topology::QsnetShape &of : {TWO, TWO_SPREAD, FOUR_SPREAD}) {
		const topology::Machine machine = topology::build_qsnet(of);

		for (const Routing routing : {Routing::Adaptive, Routing::MinimalHash, Routing::InOrder}) {
			/* To another switch, and to the neighbour. */
			for (const uint32_t shift : {NODES / 2, 1u}) {
				RunShape shape = shape_of(shift > 1 ? 200'000 : 10'000, 20000, {routing, 0});

				shape.traffic.shift = shift;

				const Result result = run_with(machine, shape, {"4000:link:0.3"}, {"18000:link:0.3"});

				assert_true(result.drained);
				assert_int_equal(result.statistics.given_up, 0);
				assert_int_equal(result.statistics.traps > 0, of.spread);
				assert_true(std::abs(result.accepted - result.offered) < 0.02);
				/* Nothing waits until the link is back. */
				assert_true(result.statistics.round_trip.most() < 10000);
			}
		}
	}

	/* At full load the node has the rate of one of two, and others have theirs. Of two at one switch nothing is
	 * refused. */
	for (const topology::QsnetShape &of : {TWO, TWO_SPREAD}) {
		RunShape shape = shape_of(1'000'000, 30000);

		shape.drain = 0;
		for (const uint32_t node : {0u, 1u})
			shape.jobs.push_back({"pair" + std::to_string(node), {node, node + 32}, shape.traffic, {}});
		shape.jobs[0].traffic.shift = shape.jobs[1].traffic.shift = 1;

		const Result result = run_with(topology::build_qsnet(of), shape, {"1000:link:0.0"});

		print_message("%.3f of all links with one of two, %.3f with both\n", result.jobs[0].accepted,
			      result.jobs[1].accepted);
		assert_true(result.jobs[0].accepted > 0.42 && result.jobs[0].accepted < 0.52);
		assert_true(result.jobs[1].accepted > 0.9);
	}
}

/* A node at two switches is there until both have failed, and again when one is back. */
TEST(a_switch_that_fails_leaves_the_others_Q25)
{
	const topology::Machine machine = topology::build_qsnet(TWO_SPREAD);
	RunShape shape = shape_of(200'000, 30000);

	/* So that what is for nodes that are out does not wait for long. */
	shape.parameters.timeout_cycles = 2000;

	const Result one = run_with(machine, shape, {"4000:router:0"}, {"9000:router:0"});
	const Result both = run_with(machine, shape, {"4000:router:0", "5000:router:8"}, {"9000:router:0"});
	const Result cut = run_with(machine, shape, {"4000:router:0", "5000:link:8.3"});

	assert_true(one.drained && both.drained && cut.drained);
	assert_int_equal(one.statistics.given_up, 0);
	assert_true(std::abs(one.accepted - one.offered) < 0.02);
	/* 16 nodes are away for 4,000 of 30,000 cycles, and nobody gets through to them. */
	assert_true(both.statistics.given_up > 0);
	assert_true(both.accepted < both.offered - 0.005);
	/* One node has no link any more: it is out, and what is for it is given up. */
	assert_true(cut.statistics.given_up > 0);
	assert_true(std::abs(cut.accepted - cut.offered * 62 / 64) < 0.02);
}

/* All members of a broadcast get it over links that work. */
TEST(broadcasts_reach_nodes_over_links_that_work_Q25_Q26)
{
	for (const topology::QsnetShape &of : {TWO, TWO_SPREAD}) {
		const topology::Machine machine = topology::build_qsnet(of);

		for (const Pattern pattern : {Pattern::Broadcast, Pattern::Barrier, Pattern::TreeBarrier}) {
			RunShape shape = shape_of(1, 30000);

			shape.traffic = {.pattern = pattern, .bytes = 4096};

			const Result result = run_with(machine, shape, {"6000:link:0.3"});
			const std::vector<OperationCount> &operations = result.statistics.collectives[0].operations;

			assert_true(result.drained);
			assert_int_equal(result.collectives[0].lost, 0);
			assert_int_equal(result.collectives[0].begun, result.collectives[0].ended);
			assert_true(operations.back().last_begin > 31000);
		}
	}
}

/* The switches of a node are in one part, so there may be fewer of these; the result is the same. */
TEST(parts_hold_all_switches_of_a_node)
{
	const topology::Machine machine = topology::build_qsnet({.nodes = 200, .links = 2, .spread = true});
	RunShape shape = shape_of(600'000, 4000);

	shape.traffic.operation = Operation::Get;
	shape.traffic.bytes = 2500;
	shape.parameters.bit_errors = 3'000'000;
	shape.parameters.rebuild_cycles = 500;
	for (const char *text : {"2500:link:0.3", "2600:router:9"})
		shape.incidents.push_back(parse_incident(Change::Fail, text, machine));

	const std::string expected = result_text(machine, shape, {});

	/* Two pairs of eight switches with nodes, 32 cards above them, 32 of top switches. */
	for (const uint32_t parts : {2u, 3u, 30u})
		assert_string_equal(result_text(machine, shape, {.parts = parts}).c_str(), expected.c_str());
	assert_string_equal(result_text(machine, shape, {.threads = 2, .parts = 3}).c_str(), expected.c_str());
	shape.workers.parts = static_cast<uint32_t>(machine.routers.size());
	refused(machine, shape, "parts: switches to which a node has links are in one, so there are at most ");
}

TEST(order_of_events_does_not_matter)
{
	const RunShape shape = shape_of(900'000, 0);
	Rig one(topology::build_qsnet(TWO_SPREAD), shape.traffic, shape.parameters);
	Rig other(topology::build_qsnet(TWO_SPREAD), shape.traffic, shape.parameters);

	other.network.reverse_events();
	for (Rig *rig : {&one, &other})
		rig->run_and_drain(5000);

	const Statistics &a = one.network.statistics(), &b = other.network.statistics();

	assert_int_equal(a.hops, b.hops);
	assert_int_equal(a.latency.sum(), b.latency.sum());
	assert_int_equal(a.round_trip.sum(), b.round_trip.sum());
}

std::string complaint_about(const topology::Machine &machine, const char *text)
{
	try {
		parse_incident(Change::Fail, text, machine);
	} catch (const std::invalid_argument &error) {
		return error.what();
	}
	return {};
}

TEST(bad_input)
{
	topology::Machine machine = topology::build_qsnet(TWO_SPREAD);
	const RunShape shape = shape_of(100'000, 1000);

	assert_string_equal(complaint_about(machine, "9:link:0.3").c_str(), "");
	assert_string_equal(complaint_about(machine, "9:link:16.3").c_str(),
			    "'9:link:16.3': no node has a link to that tile");
	/* Tile 40 is a processor tile of Aries. */
	assert_string_equal(complaint_about(topology::build_aries({.groups = 1}), "9:link:0.40").c_str(),
			    "'9:link:0.40': that tile has no link");

	RunShape twice = shape;

	for (const char *text : {"100:link:0.3", "200:link:0.3"})
		twice.incidents.push_back(parse_incident(Change::Fail, text, machine));
	refused(machine, twice, "it has failed already");
	/* Links of more nodes take more memory. */
	assert_true(estimate_bytes(machine, 32) > estimate_bytes(topology::build_qsnet({.nodes = NODES}), 32));
	machine.further.erase(machine.further.begin() + 48, machine.further.end());
	refused(machine, shape, "node 48 has links to 1 switches and node 0 to 2: all have equally many");
}

} // namespace

TEST_MAIN("tests")
