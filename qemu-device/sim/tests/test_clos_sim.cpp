// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A folded Clos of Aries chips: all ways up are used alike, latencies and rates are those of closed forms, nothing
 * blocks or is lost, and the result is the same however the machine is cut.
 */
#include <algorithm>
#include <cmath>
#include <sstream>

#include "rig.hpp"
#include "setup_clos.hpp"
#include "topology/build_clos.hpp"
#include "topology/wiring.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

constexpr topology::ClosShape TWO_STAGES{.radix = 8, .stages = 2, .lanes = 3};   // 32 nodes, 4 of a router
constexpr topology::ClosShape THREE_STAGES{.radix = 8, .stages = 3, .lanes = 3}; // 128
/* Links that carry less than a node sends: three lanes of 7 Gb/s, less the LCB's tenth flit (P05). */
constexpr double SLOW_GBIT = 7;
constexpr double SLOW_LINK = 3 * SLOW_GBIT / 48 / 0.875 * 0.9; // flits a cycle
constexpr double OF_BOUND =
	0.85; // at more load than there can be, when queues that wait for one link fill with packets for it

const RoutingMode STATIC{Routing::InOrder, 0}, HASH{Routing::MinimalHash, 0}, ADAPTIVE{Routing::Adaptive, 0};

topology::ClosShape slow(topology::ClosShape shape)
{
	shape.gbit_per_lane = SLOW_GBIT;
	return shape;
}

RunShape shape_of(const TrafficShape &traffic, uint32_t warmup = 5000, uint32_t measure = 20000)
{
	RunShape shape;

	shape.traffic = traffic;
	shape.warmup = warmup;
	shape.measure = measure;
	shape.drain = 0;
	return shape;
}

/*
 * Test quiet tells how a latency comes about: 62 cycles without a link, and with each 44 cycles of its router, 28 of
 * SerDes and LCB, 4.375 a metre, and a flit of 10/9, rounded up together: 161 for the 20 m of the first stage, 78 for
 * 1 m above. The last of 14 flits comes 13 cycles later, behind links 15.
 */
TEST(latencies_of_a_quiet_network)
{
	for (const RoutingMode mode : {STATIC, HASH, ADAPTIVE}) {
		for (const uint32_t flits : {1u, 14u}) {
			Rig rig(topology::build_clos(THREE_STAGES), {.operation = Operation::Raw,
								     .raw_flits = flits,
								     .load_ppm = flits,
								     .request_mode = mode});

			rig.run_and_drain(2'000'000);

			const Statistics &seen = rig.network.statistics();
			const uint32_t within = flits == 1 ? 0 : 13, behind = flits == 1 ? 0 : 15;

			assert_in_range(seen.latency.count(), 150, 350);
			assert_int_equal(seen.latency.count_of(62 + within), seen.hop_count[0]);
			assert_int_equal(seen.latency.count_of(62 + 2 * 161 + behind), seen.hop_count[2]);
			assert_int_equal(seen.latency.count_of(62 + 2 * 161 + 2 * 78 + behind), seen.hop_count[4]);
			assert_int_equal(seen.hop_count[0] + seen.hop_count[2] + seen.hop_count[4],
					 seen.latency.count());
			assert_true(seen.hop_count[0] > 0 && seen.hop_count[2] > 0 && seen.hop_count[4] > 0);
		}
	}
}

/* Single flits of uniform traffic are drawn one by one: what a link carries differs from the mean as counts do. */
TEST(all_ways_of_a_stage_carry_the_same)
{
	const topology::Machine machine = topology::build_clos(THREE_STAGES);
	const topology::Wiring wiring(machine);

	for (const RoutingMode mode : {STATIC, HASH, ADAPTIVE}) {
		Rig rig(machine,
			{.operation = Operation::Raw, .raw_flits = 1, .load_ppm = 400000, .request_mode = mode});

		rig.run_and_drain(10000);

		const Layout &layout = rig.network.layout();
		const std::vector<LinkCount> counts = rig.network.link_counts();
		uint32_t links = 0;

		for (size_t cls = 0; cls < machine.classes.size(); cls++) {
			for (const bool up : {true, false}) {
				std::vector<double> flits;

				for (const topology::Link &link : machine.links) {
					const topology::LinkEnd &from = link.end[up ? 0 : 1];

					if (link.link_class == cls)
						flits.push_back(static_cast<double>(
							counts[layout.place(from.router, from.tile)].flits));
				}

				double mean = 0;

				for (const double of_link : flits)
					mean += of_link / static_cast<double>(flits.size());
				assert_true(mean > 1000);
				for (const double of_link : flits)
					assert_true(std::abs(of_link - mean) < 5 * std::sqrt(mean));
				links += static_cast<uint32_t>(flits.size());
			}
		}
		assert_int_equal(links, 2 * 2 * 128);
	}
}

/*
 * Of what a node sends, (N - B) / (N - 1) goes to nodes that are not below its router, which has a link up for each
 * of its B nodes. No stage above has less.
 */
TEST(uniform_traffic_saturates_where_links_do)
{
	const struct {
		topology::ClosShape shape;
		double nodes;
	} cases[] = {{TWO_STAGES, 32}, {THREE_STAGES, 128}};

	for (const auto &[shape, nodes] : cases) {
		const topology::Machine machine = topology::build_clos(slow(shape));
		const double bound = SLOW_LINK * (nodes - 1) / (nodes - 4);

		for (const RoutingMode mode : {STATIC, HASH, ADAPTIVE}) {
			const auto accepted = [&machine, mode](double load) {
				return run(machine, shape_of({.operation = Operation::Raw,
							      .raw_flits = 14,
							      .load_ppm = static_cast<uint32_t>(load * 1e6),
							      .request_mode = mode}))
					.accepted;
			};
			const double below = accepted(0.9 * bound), above = accepted(1);

			print_message("%.0f nodes, %s: bound %.4f, accepted %.4f of %.4f, %.4f of 1\n", nodes,
				      mode.routing == Routing::InOrder       ? "static"
				      : mode.routing == Routing::MinimalHash ? "hash"
									     : "adaptive",
				      bound, below, 0.9 * bound, above);
			assert_true(std::abs(below - 0.9 * bound) < 0.02 * bound);
			assert_true(above <= 1.005 * bound);
			assert_true(above >= OF_BOUND * bound);
		}
	}
}

/* All nodes send to the next router's: with static ways no two packets of a shift meet, with a hash some do. */
TEST(a_shift_has_a_link_of_its_own_by_static_ways)
{
	const topology::Machine machine = topology::build_clos(slow(THREE_STAGES));
	const auto accepted = [&machine](RoutingMode mode) {
		return run(machine, shape_of({.pattern = Pattern::Offset,
					      .operation = Operation::Raw,
					      .raw_flits = 14,
					      .shift = 20,
					      .load_ppm = 1000000,
					      .request_mode = mode}))
			.accepted;
	};
	const double fixed = accepted(STATIC), adaptive = accepted(ADAPTIVE);

	print_message("a shift: static %.4f, adaptive %.4f of %.4f\n", fixed, adaptive, SLOW_LINK);
	assert_true(fixed > 0.99 * SLOW_LINK && fixed <= 1.005 * SLOW_LINK);
	assert_true(adaptive > 0.85 * SLOW_LINK && adaptive <= 1.005 * SLOW_LINK);
}

/*
 * The four nodes of router 0 and the first nodes of four others send to each other. Static ways take the link up by the
 * number of the destination, which is the same one for these: they have a quarter of what there is.
 */
TEST(static_ways_meet_where_others_do_not)
{
	const topology::Machine machine = topology::build_clos(slow(TWO_STAGES));
	const auto accepted = [&machine](RoutingMode mode) {
		RunShape shape = shape_of({});
		/* Rank k sends to rank k + 4, and that one back. */
		shape.jobs = {{.name = "pairs",
			       .nodes = {0, 1, 2, 3, 4, 8, 12, 16},
			       .traffic = {.pattern = Pattern::Offset,
					   .operation = Operation::Raw,
					   .raw_flits = 14,
					   .shift = 4,
					   .load_ppm = 1000000,
					   .request_mode = mode},
			       .trace = {}}};
		return run(machine, shape).accepted;
	};
	const double fixed = accepted(STATIC), adaptive = accepted(ADAPTIVE);

	/* Half of the nodes share a link, the others have one of their own. */
	print_message("pairs: static %.4f, adaptive %.4f of %.4f\n", fixed, adaptive, SLOW_LINK);
	assert_true(std::abs(fixed - SLOW_LINK * (0.25 + 1) / 2) < 0.02 * SLOW_LINK);
	assert_true(adaptive > 0.9 * SLOW_LINK);
}

/* Above what goes through, with the least buffers: everything arrives, all room comes back, nothing is stuck. */
TEST(full_networks_drain)
{
	const TrafficShape traffics[] = {
		{.operation = Operation::Put, .bytes = 64},
		{.operation = Operation::Get, .bytes = 200},
		{.pattern = Pattern::Shift, .operation = Operation::Put, .bytes = 72},
		{.pattern = Pattern::Permutation, .operation = Operation::Raw, .raw_flits = 5},
	};
	Parameters least;

	least.channel_reserve = 14;
	least.input_buffer = least.processor_buffer = 28;
	least.subswitch_buffer = least.column_buffer = 14;
	for (TrafficShape traffic : traffics) {
		for (const RoutingMode mode : {STATIC, HASH, ADAPTIVE}) {
			traffic.load_ppm = 1000000;
			traffic.request_mode = traffic.response_mode = mode;

			RunShape shape = shape_of(traffic, 100, 60000);
			Rig rig(topology::build_clos(slow(THREE_STAGES)), traffic, least);

			rig.run_and_drain(2000);

			const Statistics &seen = rig.network.statistics();

			assert_true(seen.injected_packets > 1000);
			assert_int_equal(seen.injected_packets, seen.received_packets);
			assert_string_equal(rig.network.leftover().c_str(), "");
			if (!slow_tests() && mode.routing != Routing::Adaptive)
				continue;
			shape.parameters = least;
			assert_false(run(topology::build_clos(slow(TWO_STAGES)), shape).stuck);
		}
	}
}

/* Ways by destination alone keep the order of a pair of nodes (R12), others do not. */
TEST(order_of_a_pair)
{
	Parameters watched;

	watched.watch_order = 1;
	for (const RoutingMode mode : {STATIC, HASH, ADAPTIVE}) {
		Rig rig(topology::build_clos(slow(THREE_STAGES)),
			{.pattern = Pattern::Permutation, .bytes = 4096, .load_ppm = 400000, .request_mode = mode},
			watched);

		rig.run_and_drain(5000);
		assert_int_equal(rig.network.statistics().overtaken == 0, mode.routing == Routing::InOrder);
	}
}

/* Some thousand cycles apart, so that new tables are there, and traffic again, before the next one. */
const char *const TROUBLE[] = {"1000:link:0-32", "1200:link:40-68", "4000:router:70", "8000:router:5",
			       "8000:router:40"};

FaultPlan trouble(const topology::Machine &machine)
{
	FaultPlan plan{{}, RunShape::default_policy()};

	for (const char *text : TROUBLE)
		plan.incidents.push_back(parse_incident(Change::Fail, text, machine));
	plan.incidents.push_back(parse_incident(Change::Lanes, "8500:1-32:1", machine));
	for (const char *text : {"13000:router:70", "13000:router:5", "16000:link:0-32"})
		plan.incidents.push_back(parse_incident(Change::Repair, text, machine));
	std::stable_sort(plan.incidents.begin(), plan.incidents.end());
	return plan;
}

/* Links and routers of each stage fail and come back; all others still reach each other, what is lost is counted. */
TEST(failures_R14)
{
	const topology::Machine machine = topology::build_clos(THREE_STAGES);
	Parameters quick;

	quick.rebuild_cycles = 500;
	for (const RoutingMode mode : {STATIC, HASH, ADAPTIVE}) {
		Rig rig(machine, {.bytes = 256, .load_ppm = 300000, .request_mode = mode}, quick, 1,
			RunShape::default_policy(), {}, trouble(machine));

		rig.run_and_drain(20000);

		const Statistics &seen = rig.network.statistics();

		assert_true(rig.network.rebuilds().size() >= 3);
		for (const Rebuild &rebuild : rig.network.rebuilds())
			assert_int_equal(rebuild.cut_routers + rebuild.cut_groups, 0);
		assert_true(seen.lost_on_links > 0 && seen.lost_at_nodes > 0);
		assert_int_equal(seen.injected_packets, seen.received_packets + seen.lost_on_links +
								seen.lost_without_way + seen.lost_at_nodes);
		assert_string_equal(rig.network.leftover().c_str(), "");
	}
}

/* A router of the first stage without a link upwards is told, and what it sends is dropped with the new tables. */
TEST(a_router_that_is_cut_off_R14)
{
	const topology::Machine machine = topology::build_clos(TWO_STAGES);
	FaultPlan plan{{}, RunShape::default_policy()};
	Parameters quick;

	quick.rebuild_cycles = 500;
	for (const char *text : {"1000:link:0-8", "1000:link:0-9", "1000:link:0-10", "1000:link:0-11"})
		plan.incidents.push_back(parse_incident(Change::Fail, text, machine));

	Rig rig(machine, {.load_ppm = 100000}, quick, 1, RunShape::default_policy(), {}, plan);

	rig.run_and_drain(8000);

	const Statistics &seen = rig.network.statistics();

	assert_int_equal(rig.network.rebuilds().size(), 1);
	assert_int_equal(rig.network.rebuilds()[0].cut_routers, 1);
	/* From and to each of the other seven. */
	assert_int_equal(rig.network.rebuilds()[0].cut_groups, 14);
	assert_true(seen.lost_without_way > 0);
	assert_int_equal(seen.injected_packets, seen.received_packets + seen.lost_on_links + seen.lost_without_way);
	assert_string_equal(rig.network.leftover().c_str(), "");
}

std::string text_of(const topology::Machine &machine, bool fails, const Workers &workers)
{
	RunShape shape = shape_of({.bytes = 200, .load_ppm = 500000}, 500, 19000);
	std::ostringstream text;

	shape.parameters.bit_errors = 1000000;
	shape.parameters.rebuild_cycles = 500;
	shape.drain = 100000;
	shape.workers = workers;
	if (fails)
		shape.incidents = trouble(machine).incidents;

	const Result result = run(machine, shape);

	assert_true(result.drained);
	write_json(text, machine, shape, result);
	write_links_csv(text, result);
	return text.str();
}

TEST(any_number_of_parts_gives_the_same)
{
	const topology::Machine machine = topology::build_clos(THREE_STAGES);

	for (const bool fails : {false, true}) {
		const std::string whole = text_of(machine, fails, {});

		for (const uint32_t parts : {2u, 5u, 80u})
			assert_string_equal(whole.c_str(),
					    text_of(machine, fails, {.threads = 2, .parts = parts}).c_str());
	}
}

TEST(order_of_events_does_not_matter)
{
	Rig one(topology::build_clos(THREE_STAGES), {.load_ppm = 700000});
	Rig other(topology::build_clos(THREE_STAGES), {.load_ppm = 700000});

	other.network.reverse_events();
	one.network.run(2500);
	other.network.run(2500);
	assert_int_equal(one.network.statistics().hops, other.network.statistics().hops);
	assert_int_equal(one.network.statistics().latency.sum(), other.network.statistics().latency.sum());
	assert_int_equal(one.network.statistics().round_trip.sum(), other.network.statistics().round_trip.sum());
}

/* Aries's engines, whatever the network. */
TEST(allreduces)
{
	const Result result =
		run(topology::build_clos(THREE_STAGES), shape_of({.pattern = Pattern::Allreduce}, 1000, 20000));

	assert_int_equal(result.collectives[0].depth, 2);
	assert_true(result.collectives[0].ended > 5);
	assert_int_equal(result.collectives[0].lost, 0);
}

/* Processor tiles of routers without nodes are none of the machine's: a load of 0.3 is 0.3 on average. */
TEST(loads_of_links_by_class)
{
	const topology::Machine machine = topology::build_clos(THREE_STAGES);
	const Result result = run(machine, shape_of({.operation = Operation::Raw, .load_ppm = 300000}));

	assert_int_equal(result.classes.size(), 3);
	assert_string_equal(result.classes[0].name.c_str(), "level0");
	assert_string_equal(result.classes[2].name.c_str(), "processor");
	assert_int_equal(result.classes[0].links, 2 * 128);
	assert_int_equal(result.classes[2].links, 128);
	assert_true(std::abs(result.classes[2].mean_load - 0.3) < 0.01);
	/* 124 of 127 go up and down, and a link at 14 Gb/s takes 10/9 cycles for a flit. */
	assert_true(std::abs(result.classes[0].mean_load - 0.3 * 124 / 127 * 10 / 9) < 0.01);
}

} // namespace

TEST_MAIN("tests")
