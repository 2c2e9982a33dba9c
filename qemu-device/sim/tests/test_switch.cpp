// SPDX-License-Identifier: GPL-2.0-or-later
/* Elite5 switches: packets hold channels until they are answered, go in segments, and are sent again if refused. */
#include <cmath>
#include <functional>
#include <numeric>

#include "elite5_line.hpp"
#include "options.hpp"
#include "rig.hpp"
#include "topology/build_qsnet.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

constexpr double CYCLE_NS = 1000.0 / chip::ELITE5.times.switch_mhz;
constexpr uint32_t HOP = 12;         // cycles of a switch: 38.5 of at most 40 ns (Q07)
constexpr uint32_t FULL_WORDS = 133; // of a packet with 1 KB of data

Parameters usual()
{
	return parameters_of(ELITE5_LINE);
}

/* The times that the source has are of switches alone. */
Parameters without_cables()
{
	Parameters parameters = usual();

	parameters.ps_per_m = 0;
	return parameters;
}

struct QsnetRig : Rig {
	QsnetRig(const topology::QsnetShape &shape, const TrafficShape &traffic, const Parameters &parameters = usual(),
		 const Workers &workers = {}, FaultPlan faults = {}, uint8_t channels = 0)
		: Rig(topology::build_qsnet(shape), traffic, parameters, 1, with_channels(channels), workers,
		      std::move(faults))
	{
	}

	static routing::Policy with_channels(uint8_t channels)
	{
		routing::Policy policy = RunShape::default_policy();

		policy.channels = channels;
		return policy;
	}
};

RunShape shape_of(const TrafficShape &traffic, uint32_t warmup, uint32_t measure,
		  const Parameters &parameters = usual())
{
	RunShape shape;

	shape.parameters = parameters;
	shape.traffic = traffic;
	shape.warmup = warmup;
	shape.measure = measure;
	return shape;
}

void expect_nothing_lost(QsnetRig &rig)
{
	const Statistics &seen = rig.network.statistics();

	assert_true(seen.injected_packets > 0);
	assert_int_equal(seen.injected_packets, seen.received_packets + seen.refused + seen.lost_on_links);
	assert_string_equal(rig.network.leftover().c_str(), "");
}

/* Full networks of one, two, three and four stages, two links of a node, without a pool and with few channels. */
TEST(full_networks_drain)
{
	const TrafficShape puts{.bytes = 3000, .load_ppm = 1000000};
	const TrafficShape small{.bytes = 8, .load_ppm = 1000000};
	const TrafficShape gets{.operation = Operation::Get, .bytes = 2048, .load_ppm = 1000000};
	Parameters poolless = usual();

	poolless.pool_buffers = 0;
	for (const topology::QsnetShape &shape :
	     {topology::QsnetShape{.nodes = 16}, topology::QsnetShape{.nodes = 128},
	      topology::QsnetShape{.nodes = 40, .blades = true}, topology::QsnetShape{.nodes = 256},
	      topology::QsnetShape{.nodes = 64, .links = 2}}) {
		for (const TrafficShape &traffic : {puts, small, gets}) {
			for (const Parameters &parameters : {usual(), poolless}) {
				for (const uint8_t channels : {uint8_t{0}, uint8_t{4}}) {
					QsnetRig rig(shape, traffic, parameters, {}, {}, channels);

					rig.run_and_drain(1500);
					expect_nothing_lost(rig);
					assert_int_equal(rig.network.statistics().refused, 0);
				}
			}
		}
	}
}

/* Also with errors, failures, gets, and choices by turn. */
TEST(any_number_of_parts_gives_the_same)
{
	const topology::Machine machine = topology::build_qsnet({.nodes = 300, .blades = true});
	std::vector<RunShape> shapes;
	Parameters noisy = usual();

	noisy.bit_errors = 3'000'000;
	noisy.order = 1;
	noisy.rebuild_cycles = 300;
	noisy.watch_order = 1;
	shapes.push_back(shape_of({.bytes = 64, .load_ppm = 600000}, 500, 1500));
	shapes.push_back(shape_of(
		{.pattern = Pattern::Permutation, .operation = Operation::Get, .bytes = 2500, .load_ppm = 800000}, 500,
		1500));
	shapes.push_back(shape_of({.bytes = 2500, .load_ppm = 700000}, 500, 1500, noisy));
	for (const char *text : {"600:link:0-20", "700:router:2", "800:node:100"})
		shapes.back().incidents.push_back(parse_incident(Change::Fail, text, machine));
	for (const char *text : {"1500:router:2", "1500:node:100", "1500:link:0-20"})
		shapes.back().incidents.push_back(parse_incident(Change::Repair, text, machine));
	for (const RunShape &shape : shapes) {
		const std::string expected = result_text(machine, shape, {});

		for (const uint32_t parts : {2u, 5u, static_cast<uint32_t>(machine.routers.size())})
			assert_string_equal(result_text(machine, shape, {.parts = parts}).c_str(), expected.c_str());
		assert_string_equal(result_text(machine, shape, {.threads = 2, .parts = 3}).c_str(), expected.c_str());
	}

	/* Two links of each node. */
	const topology::Machine of_two = topology::build_qsnet({.nodes = 64, .links = 2});
	const RunShape &gets = shapes[1];

	assert_string_equal(result_text(of_two, gets, {.parts = 5}).c_str(), result_text(of_two, gets, {}).c_str());
}

TEST(order_of_events_does_not_matter)
{
	const TrafficShape traffic{.operation = Operation::Get, .bytes = 1500, .load_ppm = 900000};
	const topology::QsnetShape shape{.nodes = 64, .links = 2};
	Parameters noisy = usual();

	noisy.bit_errors = 3'000'000;

	QsnetRig one(shape, traffic, noisy), other(shape, traffic, noisy);

	other.network.reverse_events();
	for (Rig *rig : {static_cast<Rig *>(&one), static_cast<Rig *>(&other)})
		rig->run_and_drain(3000);

	const Statistics &a = one.network.statistics(), &b = other.network.statistics();

	assert_int_equal(a.injected_packets, b.injected_packets);
	assert_int_equal(a.hops, b.hops);
	assert_int_equal(a.came_twice, b.came_twice);
	assert_int_equal(a.latency.sum(), b.latency.sum());
	assert_int_equal(a.round_trip.sum(), b.round_trip.sum());
}

/* Cycles of the first of a few packets in a quiet network. */
Statistics quiet(const topology::QsnetShape &shape, uint32_t offset, uint32_t bytes, const Parameters &parameters)
{
	/* A message of a node in 20,000 cycles. */
	const auto ppm = static_cast<uint32_t>(50 * words_of_message(bytes, parameters.packet_bytes));
	QsnetRig rig(shape, {.pattern = Pattern::Offset, .bytes = bytes, .shift = offset, .load_ppm = ppm}, parameters);

	rig.run_and_drain(200000);
	assert_true(rig.network.statistics().latency.count() > 10);
	return rig.network.statistics();
}

/*
 * n switches are crossed in 12 n cycles, below 40 ns each, and behind them come the words of the packet: 32 bytes of a
 * small put (Q15), 422 ns of 1 KB. Up to five switches are 200 ns (Q08).
 */
TEST(a_quiet_network_takes_40_ns_a_switch_Q07_Q08)
{
	const struct {
		topology::QsnetShape shape;
		uint32_t offset, switches;
	} ways[] = {{{.nodes = 16}, 1, 1}, {{.nodes = 128}, 16, 3}, {{.nodes = 512}, 128, 5}};

	for (const auto &way : ways) {
		for (const auto &[bytes, words] : {std::pair{8u, 4u}, std::pair{1024u, FULL_WORDS}}) {
			const Statistics seen = quiet(way.shape, way.offset, bytes, without_cables());

			assert_int_equal(seen.network.least(), HOP * way.switches + words);
			assert_true(HOP * way.switches * CYCLE_NS < 40.0 * way.switches);
			assert_int_equal(seen.hop_count[way.switches - 1] > 0, 1);
		}
	}
}

/* Data are in memory 300 to 400 ns after they are there; the answer to the last packet waits for it (Q09, Q10). */
TEST(answers_wait_for_memory_behind_the_last_packet_Q09_Q10)
{
	const Statistics seen = quiet({.nodes = 16}, 1, 8, without_cables());
	const uint32_t there = HOP + 4, back = HOP;

	assert_in_range(seen.message.least(), there + 94, there + 97);
	assert_in_range(seen.message.most(), there + 122, there + 125 + 4);
	assert_in_range(seen.round_trip.least(), there + 94 + back, there + 97 + back);

	/* Of four packets three are answered at once: a mean of their round trips tells. */
	Parameters late = without_cables();

	late.early_answers = 0;

	const double early = quiet({.nodes = 16}, 1, 4096, without_cables()).round_trip.mean();
	const double waiting = quiet({.nodes = 16}, 1, 4096, late).round_trip.mean();

	print_message("round trips of %.0f cycles, all late %.0f\n", early, waiting);
	assert_true(waiting - early > 0.75 * 105 && waiting - early < 0.75 * 115);
}

/*
 * The share of a link's rate that one flow has with so many channels. All packets are the last ones of their messages,
 * whose answers wait for 109 cycles, 350 ns, to memory.
 */
double share_of_rate(const topology::QsnetShape &shape, uint32_t to, uint32_t bytes, uint8_t channels,
		     const Parameters &parameters)
{
	RunShape run_shape = shape_of({}, 3000, 20000, parameters);
	Job flow{"flow", {0, to}, {}, {}};

	flow.trace.nodes = 2;
	for (uint32_t i = 0; i < 23000 / put_words(bytes) + 100; i++)
		flow.trace.messages.push_back({0, 0, 1, bytes, Operation::Put});
	run_shape.jobs.push_back(flow);
	run_shape.policy.channels = channels;
	run_shape.parameters.write_least = run_shape.parameters.write_most = 109;
	run_shape.parameters.threshold = std::min<uint32_t>(run_shape.parameters.threshold, channels ? channels : 32);
	/* One of two nodes sends. */
	return 2 * run(topology::build_qsnet(shape), run_shape).accepted;
}

/* A channel is free again after the packet's words, the switches there and back, and what the answer waits for. */
TEST(channels_for_line_rate_Q04_Q11)
{
	const double trip = FULL_WORDS + 2.0 * HOP + 109;

	for (const uint8_t channels : {uint8_t{1}, uint8_t{2}, uint8_t{3}}) {
		const double expected = std::min(1.0, channels * FULL_WORDS / trip);
		const double got = share_of_rate({.nodes = 16}, 1, 1024, channels, without_cables());

		print_message("%u channels: %.3f of the line rate, %.3f expected\n", channels, got, expected);
		assert_true(std::abs(got - expected) < 0.02);
	}
	/* Over five switches two are not enough if all answers wait for memory, and three are (Q11). */
	assert_true(share_of_rate({.nodes = 512}, 128, 1024, 2, without_cables()) < 0.9);
	assert_true(share_of_rate({.nodes = 512}, 128, 1024, 3, without_cables()) > 0.97);
	/* Small packets need more; 32 are enough with cables, too. */
	assert_true(share_of_rate({.nodes = 16}, 1, 64, 8, without_cables()) < 0.7);
	assert_true(share_of_rate({.nodes = 512}, 128, 1024, 0, usual()) > 0.97);
}

/*
 * Over a cable of 20 m, 31 cycles, a buffer is free again 84 cycles after its segment began to leave: 37 there, 6 in
 * the switch, 37 and 4 back. Without a pool the five segments of 1 KB begin 84 cycles apart, with a buffer of it in
 * pairs, with two as fast as the link takes them (Q16).
 */
TEST(a_pool_lets_one_packet_flow_Q16)
{
	/* Four switches, two backplanes of a cycle, the cable. */
	constexpr uint32_t WAY = 4 * HOP + 2 + 31, LAST = FULL_WORDS - 4 * 32;
	const std::pair<uint32_t, uint32_t> expected[] = {{0, 4 * 84}, {1, 2 * 84}, {2, 4 * 32}, {16, 4 * 32}};

	for (const auto &[buffers, begin] : expected) {
		Parameters parameters = usual();

		parameters.pool_buffers = buffers;
		assert_int_equal(quiet({.nodes = 256}, 128, 1024, parameters).network.least(), WAY + begin + LAST);
	}
}

/* A small packet waits for the segment that is on a link, 102 ns, and not for the packet (Q17). */
TEST(small_packets_overtake_Q17)
{
	const topology::Machine machine = topology::build_qsnet({.nodes = 16});
	uint32_t most[2] = {};

	for (const bool overtakes : {false, true}) {
		RunShape shape = shape_of({}, 2000, 40000, without_cables());

		shape.parameters.packet_bytes = 4000;
		shape.parameters.urgent_bytes = overtakes ? 256 : 0;
		shape.jobs.push_back(
			{"bulk", {0, 1}, {.pattern = Pattern::Offset, .bytes = 64000, .load_ppm = 990000}, {}});
		shape.jobs.push_back({"small", {2, 3}, {.pattern = Pattern::Offset, .bytes = 8, .load_ppm = 1000}, {}});
		/* The small ones go to where the large ones go: by a trace, from a node of another job. */
		shape.jobs.pop_back();
		shape.jobs[0].nodes = {0, 1, 2};
		shape.jobs[0].trace.nodes = 3;
		for (uint32_t i = 0; i < 120; i++)
			shape.jobs[0].trace.messages.push_back({i * 300, 0, 1, 64000, Operation::Put});
		for (uint32_t i = 0; i < 100; i++)
			shape.jobs[0].trace.messages.push_back({2000 + i * 331, 2, 1, 8, Operation::Put});
		std::stable_sort(shape.jobs[0].trace.messages.begin(), shape.jobs[0].trace.messages.end(),
				 [](const TracedMessage &a, const TracedMessage &b) { return a.cycle < b.cycle; });

		const Result result = run(machine, shape);

		/* The shortest hundred are the small ones. */
		most[overtakes] = result.statistics.network.quantile(1);
		for (uint32_t rank = 1; rank < 1000; rank++) {
			if (result.statistics.network.quantile(rank) < 500)
				most[overtakes] = result.statistics.network.quantile(rank);
		}
	}
	print_message("small packets take %u cycles, without overtaking %u\n", most[1], most[0]);
	assert_true(most[1] <= HOP + 4 + chip::overtaking_ns(chip::ELITE5) / CYCLE_NS + 1);
	assert_true(most[0] > most[1]);
}

/*
 * Packets of a large put take different ways, and arrive in any order (Q22): of those that are sent more than twice as
 * many are late as if all of a pair went by one way, where channels of a link alone let some pass others.
 */
TEST(packets_arrive_in_any_order_Q22)
{
	Parameters watched = usual();
	uint64_t late[2] = {};

	watched.watch_order = 1;
	for (const bool adaptive : {false, true}) {
		QsnetRig rig({.nodes = 256},
			     {.pattern = Pattern::Permutation,
			      .bytes = 65536,
			      .load_ppm = 900000,
			      .request_mode = {adaptive ? Routing::Adaptive : Routing::MinimalHash, 0}},
			     watched);

		rig.run_and_drain(20000);
		expect_nothing_lost(rig);
		late[adaptive] = rig.network.statistics().overtaken;
		assert_true(rig.network.statistics().message.count() > 100);
	}
	print_message("%u packets are late, %u by one way\n", static_cast<unsigned>(late[true]),
		      static_cast<unsigned>(late[false]));
	assert_true(late[true] > 2 * late[false]);
}

/* Nodes in a random order. */
std::vector<uint32_t> shuffled(uint32_t count)
{
	std::vector<uint32_t> order(count);

	std::iota(order.begin(), order.end(), 0);
	for (uint32_t i = count - 1; i > 0; i--)
		std::swap(order[i], order[mix64(i) % (i + 1)]);
	return order;
}

/*
 * Random pairs of nodes that all send at once: by route tables some of them share links. The source's ratios are of two
 * systems whose links are not equally fast: 1.4 for the mean and 2.6 for the worst (Q40).
 */
TEST(static_ways_beside_adaptive_ones_Q40)
{
	constexpr uint32_t NODES = 256;
	const topology::Machine machine = topology::build_qsnet({.nodes = NODES});
	const std::vector<uint32_t> order = shuffled(NODES);
	double mean[2] = {}, worst[2] = {};

	for (const Routing routing : {Routing::Adaptive, Routing::InOrder}) {
		RunShape shape = shape_of({}, 10000, 30000);
		const bool fixed = routing == Routing::InOrder;

		shape.drain = 0;
		for (uint32_t at = 0; at < NODES; at += 2)
			shape.jobs.push_back({"pair" + std::to_string(at),
					      {order[at], order[at + 1]},
					      {.pattern = Pattern::Offset,
					       .bytes = 1024,
					       .load_ppm = 1000000,
					       .request_mode = {routing, 0}},
					      {}});

		const Result result = run(machine, shape);

		mean[fixed] = result.accepted;
		worst[fixed] = 1;
		for (const Rates &rates : result.jobs)
			worst[fixed] = std::min(worst[fixed], rates.accepted);
	}
	print_message("pairs: mean %.3f and worst %.3f, static %.3f and %.3f: %.2f and %.2f times\n", mean[0], worst[0],
		      mean[1], worst[1], mean[0] / mean[1], worst[0] / worst[1]);
	assert_true(mean[0] > 0.85 && mean[0] > 1.3 * mean[1]);
	assert_true(worst[0] > 2 * worst[1]);
}

/*
 * All to all by many nodes: adaptive ways, and beside them those by a hash, which do not look at loads (Q40). Static
 * ways by destination are as good as adaptive ones here: the nodes of a shift do not meet on them.
 */
void all_to_all(uint32_t nodes, uint32_t cycles)
{
	const topology::Machine machine = topology::build_qsnet({.nodes = nodes});
	std::vector<double> accepted;

	for (const Routing routing : {Routing::Adaptive, Routing::MinimalHash, Routing::InOrder}) {
		RunShape shape = shape_of({.pattern = Pattern::AllToAll,
					   .bytes = 1024,
					   .load_ppm = 1000000,
					   .request_mode = {routing, 0}},
					  cycles / 2, cycles);

		shape.drain = 0;
		shape.workers.threads = 2;
		accepted.push_back(run(machine, shape).accepted);
	}
	print_message("%u nodes, all to all: %.3f of the adapter, by hash %.3f, static %.3f\n", nodes, accepted[0],
		      accepted[1], accepted[2]);
	assert_true(accepted[0] > 0.85);
	assert_true(accepted[0] > accepted[1] + 0.02);
}

TEST(all_to_all_on_256_nodes_Q40)
{
	all_to_all(256, 6000);
}

TEST(all_to_all_on_1024_nodes_Q40)
{
	if (slow_tests())
		all_to_all(1024, 12000);
}

/* Damage is found by CRCs: in headers by switches, else by the destination; all is sent again, and nothing done twice.
 */
TEST(damaged_packets_are_sent_again_Q19_Q20_Q21)
{
	Parameters noisy = usual();

	noisy.bit_errors = 10'000'000;

	QsnetRig rig({.nodes = 128}, {.bytes = 3000, .load_ppm = 300000}, noisy);

	rig.run_and_drain(20000);
	expect_nothing_lost(rig);

	const Statistics &seen = rig.network.statistics();
	const double words = static_cast<double>(seen.injected_flits) / static_cast<double>(seen.injected_packets);
	const auto spoiled = [words](uint32_t links) { return 1 - std::exp(-words * links * 80e-5); };
	/* 15 of 127 other nodes are at the same switch, the others behind three. */
	const double expected = static_cast<double>(seen.injected_packets) * (15 * spoiled(2) + 112 * spoiled(4)) / 127;

	print_message("%u refused, about %.0f expected; %u again, %u came twice\n", static_cast<unsigned>(seen.refused),
		      expected, static_cast<unsigned>(seen.sent_again), static_cast<unsigned>(seen.came_twice));
	assert_true(std::abs(static_cast<double>(seen.refused) - expected) < 0.1 * expected);
	/* Also answers are damaged, and then what they answer comes twice. */
	assert_true(seen.came_twice > 0);
	assert_true(seen.sent_again > seen.refused);
	assert_int_equal(seen.given_up, 0);
	assert_int_equal(seen.message.count(), seen.message_round_trip.count());
}

/* Links, switches and nodes fail and come back: ways round them, and what was lost is sent again (Q20 to Q23). */
TEST(failures_Q23)
{
	const topology::QsnetShape shape{.nodes = 128};
	const topology::Machine machine = topology::build_qsnet(shape);
	Parameters quick = usual();
	FaultPlan plan{{}, RunShape::default_policy()};

	quick.rebuild_cycles = 1500;
	for (const char *text : {"1000:link:0-8", "1500:router:9", "2500:node:20"})
		plan.incidents.push_back(parse_incident(Change::Fail, text, machine));
	for (const char *text : {"6000:router:9", "6500:link:0-8", "9000:node:20"})
		plan.incidents.push_back(parse_incident(Change::Repair, text, machine));

	QsnetRig rig(shape, {.bytes = 3000, .load_ppm = 600000}, quick, {}, plan);

	rig.run_and_drain(12000);

	const Statistics &seen = rig.network.statistics();

	print_message("%u traps, %u refused, %u lost, %u again, %u twice, %u given up\n",
		      static_cast<unsigned>(seen.traps), static_cast<unsigned>(seen.refused),
		      static_cast<unsigned>(seen.lost_on_links), static_cast<unsigned>(seen.sent_again),
		      static_cast<unsigned>(seen.came_twice), static_cast<unsigned>(seen.given_up));
	expect_nothing_lost(rig);
	assert_true(rig.network.rebuilds().size() >= 2);
	for (const Rebuild &rebuild : rig.network.rebuilds())
		assert_int_equal(rebuild.cut_groups, 0);
	/* Packets that came down by the links that are out; none any more when tables are new. */
	assert_true(seen.traps > 0);
	assert_true(seen.lost_on_links > 0 && seen.came_twice > 0);
}

/* With fewer channels than the usual threshold, that is as many; what is asked for is not changed. */
TEST(threshold_of_few_channels)
{
	Options options;

	options.machine = "qsnet";
	options.shape = {"nodes=16"};
	for (const uint32_t channels : {1u, 2u, 32u}) {
		options.channels = channels;
		assert_int_equal(prepare(options).run.parameters.threshold, std::min(channels, usual().threshold));
	}
}

void refused(const topology::Machine &machine, const std::function<void(RunShape &)> &change, const char *part)
{
	RunShape shape;

	shape.parameters = usual();
	change(shape);
	refused(machine, shape, part);
}

/* What others have and QsNetIII has not is named, and what is too much or too little. */
TEST(what_qsnet_has_not)
{
	const topology::Machine machine = topology::build_qsnet({.nodes = 32});
	const auto says = [&machine](const std::function<void(RunShape &)> &change, const char *part) {
		refused(machine, change, part);
	};

	says([](RunShape &s) { s.traffic.pattern = Pattern::Allreduce; }, "QsNetIII has no collective engines");
	says([](RunShape &s) { s.traffic.pattern = Pattern::Group; }, "QsNetIII has no groups");
	says([](RunShape &s) { s.traffic.operation = Operation::Raw; }, "there are no raw ones");
	says([](RunShape &s) { s.traffic.request_mode = {Routing::NonminimalHash, 0}; }, "not nonminimal");
	says([](RunShape &s) { s.traffic.response_mode = {Routing::Adaptive, 1}; }, "not adaptive1");
	says([](RunShape &s) { s.policy.local_bias[0]++; }, "QsNetIII has no biases");
	says([](RunShape &s) { s.policy.channels = 33; }, "33 channels of a link: QsNetIII has 1 to 32");
	says([](RunShape &s) { s.parameters.row_cycles++; }, "row_cycles is none of QsNetIII's parameters");
	says([](RunShape &s) { s.parameters.threshold = 33; }, "a threshold of 33 packets: 1 to 32");
	says([](RunShape &s) { s.parameters.threshold = 0; }, "a threshold of 0 packets");
	says([](RunShape &s) { s.parameters.order = 4; }, "order is 0 (first)");
	says([](RunShape &s) { s.parameters.packet_bytes = 4089; }, "packets of 4089 bytes of data");
	says([](RunShape &s) { s.parameters.packet_bytes = 7; }, "packets of 7 bytes of data");
	says([](RunShape &s) { s.parameters.urgent_bytes = 257; }, "257 bytes overtake");
	says([](RunShape &s) { s.parameters.pool_buffers = 256; }, "a pool of 256 buffers");
	says([](RunShape &s) { s.parameters.write_least = 126; }, "the first is not above the second");
	says([](RunShape &s) { s.parameters.credit_cycles = 7; }, "a credit takes 7 cycles");
	says([](RunShape &s) { s.parameters.input_cycles = 0; }, "a latency of 0 cycles");
	says([](RunShape &s) { s.parameters.early_answers = 2; }, "are 0 or 1");
	says([](RunShape &s) { s.parameters.timeout_cycles = 999; }, "given up after 999 cycles");
	says([](RunShape &s) { s.parameters.bit_errors = 10'000'001; }, "errors in 10^12 bits");
	says([&machine](RunShape &s) { s.incidents.push_back(parse_incident(Change::Lanes, "100:0.16:2", machine)); },
	     "links of QsNetIII have all their lanes");
	refused(
		topology::build_canonical({.p = 2, .a = 4, .h = 2}),
		[](RunShape &s) {
			s.parameters = {};
			s.parameters.retry_cycles = 1;
		},
		"retry_cycles is QsNetIII's: Aries has none");
}

/* 16,384 nodes in 2 GiB. */
TEST(the_largest_machine_fits)
{
	const topology::Machine machine = topology::build_qsnet({.nodes = 16384});

	print_message("16,384 nodes: %zu MiB\n", static_cast<size_t>(estimate_bytes(machine, 32) >> 20));
	assert_in_range(estimate_bytes(machine, 32) >> 20, 200, 2048);
}

} // namespace

TEST_MAIN("tests")
