// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A torus of Gemini routers: packets and rates are those of the sources, rings do not fill up, what routers and links
 * do to packets is found, and the result is the same however the machine is cut.
 */
#include <cmath>
#include <cstdio>
#include <sstream>
#include <sys/resource.h>

#include "chip/gemini.hpp"
#include "rig.hpp"
#include "setup_gemini.hpp"
#include "topology/build_torus.hpp"
#include "topology/wiring.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

constexpr double LINK_GBYTE = 12 * 3.125 / 8;  // a link of the torus, each way (G04, G05)
constexpr double EFFICIENCY = 64 / (34 * 3.0); // of full puts with their responses (G14)
constexpr double CYCLE_NS = 1.25;
constexpr double TILES = 4.0 * 64 / 32 / CYCLE_NS; // GB/s of full puts that a node's share of tiles takes (G42)

routing::Policy with_channels(uint8_t channels)
{
	routing::Policy policy = RunShape::default_policy();

	policy.channels = channels;
	return policy;
}

struct TorusRig : Rig {
	TorusRig(const topology::TorusShape &shape, const TrafficShape &traffic,
		 const Parameters &parameters = parameters_of(chip::GEMINI), uint8_t channels = 1,
		 const Workers &workers = {}, FaultPlan faults = {})
		: Rig(topology::build_torus(shape), traffic, parameters, 1, with_channels(channels), workers,
		      std::move(faults))
	{
	}
};

RunShape shape_of(uint32_t warmup, uint32_t measure)
{
	RunShape shape;

	shape.parameters = parameters_of(chip::GEMINI);
	shape.warmup = warmup;
	shape.measure = measure;
	shape.drain = 0;
	return shape;
}

TEST(phits_of_puts_and_gets_G10_to_G14)
{
	const struct {
		Operation operation;
		uint32_t bytes, flits;
	} cases[] = {{Operation::Put, 8, 11 + 2}, {Operation::Put, 64, 32 + 2}, {Operation::Get, 64, 8 + 27}};

	for (const auto &[operation, bytes, flits] : cases) {
		TorusRig rig({.x = 3, .y = 4, .z = 3}, {.operation = operation, .bytes = bytes, .load_ppm = 100000});

		rig.run_and_drain(3000);

		const Statistics &seen = rig.network.statistics();

		assert_true(seen.latency.count() > 100);
		assert_int_equal(seen.injected_flits, seen.latency.count() * flits);
		assert_int_equal(seen.received_flits, seen.injected_flits);
		assert_string_equal(rig.network.leftover().c_str(), "");
	}
}

/* GB/s of each of two nodes that send to each other as much as they can, or of the first alone. */
double flow(const topology::TorusShape &torus, std::vector<uint32_t> nodes, bool back = true,
	    RoutingMode mode = {Routing::Adaptive, 0})
{
	RunShape shape = shape_of(3000, 10000);

	shape.jobs.resize(1);
	shape.jobs[0].nodes = std::move(nodes);
	shape.jobs[0].traffic.request_mode = mode;
	shape.jobs[0].trace.nodes = 2;
	for (uint32_t i = 0; i < 32; i++)
		shape.jobs[0].trace.messages.push_back(
			{0, back ? i % 2 : 0, back ? 1 - i % 2 : 1, 65536, Operation::Put});
	return run(topology::build_torus(torus), shape).gbyte_per_s_per_node * (back ? 1 : 2);
}

void near(const char *what, double is, double expected, double share)
{
	print_message("%s: %.3f GB/s of %.3f\n", what, is, expected);
	assert_true(std::abs(is - expected) <= share * expected);
}

/*
 * Two nodes with routers side by side: two torus links in x and z, one in y (G02, G06), of which data of puts are 62.7
 * % if both ways are used. A number of nodes is ((x * Y + y) * Z + z) * 2.
 */
TEST(one_flow_takes_all_parallel_links_G15_G45)
{
	constexpr topology::TorusShape X{.x = 4, .y = 2, .z = 1}, Y{.x = 1, .y = 8, .z = 1}, Z{.x = 1, .y = 2, .z = 4};

	near("x", flow(X, {0, 2}), 2 * LINK_GBYTE * EFFICIENCY, 0.02);
	near("y", flow(Y, {0, 2}), LINK_GBYTE * EFFICIENCY, 0.02);
	near("z", flow(Z, {0, 2}), 2 * LINK_GBYTE * EFFICIENCY, 0.02);
	near("x, one way", flow(X, {0, 2}, false), 2 * LINK_GBYTE * 64 / 96, 0.02);
	near("x, by hash", flow(X, {0, 2}, true, {Routing::MinimalHash, 0}), 2 * LINK_GBYTE * EFFICIENCY, 0.1);
}

/*
 * On a blade lanes have twice the rate and on a backplane 1.6 times; there the host is slower than the links: with
 * 12 bytes of a read and 76 of a write for 64 of data it has 6.98 of 9.6 GB/s (G41).
 */
TEST(measured_rates_G41)
{
	const topology::TorusShape torus{
		.of = topology::TorusClass::Class1, .cabinets = 4, .rates = topology::TorusRates::Measured};
	const topology::Machine machine = topology::build_torus(torus);
	const double host = 9.6 * 64 / (12 + 76);
	const auto node_at = [&machine](const std::array<uint16_t, 3> &at) {
		for (uint32_t node = 0; node < machine.nodes.size(); node++) {
			if (machine.routers[machine.nodes[node].router].at == at)
				return node;
		}
		return UINT32_MAX;
	};
	const uint32_t here = node_at({0, 0, 0});

	near("x", flow(torus, {here, node_at({1, 0, 0})}), 2 * LINK_GBYTE * EFFICIENCY, 0.02);
	near("y on a blade", flow(torus, {here, node_at({0, 1, 0})}), 2 * LINK_GBYTE * EFFICIENCY, 0.02);
	near("y by a cable", flow(torus, {node_at({0, 1, 0}), node_at({0, 2, 0})}), LINK_GBYTE * EFFICIENCY, 0.02);
	near("z", flow(torus, {here, node_at({0, 0, 1})}), host, 0.02);
}

/* From router to router in a quiet network: 79 ns of a public model to 105 (G44), on average over cables of 2 m. */
TEST(nanoseconds_of_a_hop_G44)
{
	TorusRig rig({.x = 16, .y = 2, .z = 1}, {.bytes = 8, .load_ppm = 2000});

	rig.run_and_drain(60000);

	const Statistics &seen = rig.network.statistics();
	const auto cycles_of = [&seen](size_t hops) {
		return static_cast<double>(seen.hop_cycles[hops]) / static_cast<double>(seen.hop_count[hops]);
	};
	const double hop = (cycles_of(8) - cycles_of(1)) / 7 * CYCLE_NS;

	print_message("%.1f ns a hop\n", hop);
	assert_true(hop > 79 && hop < 105);
}

/*
 * A router passes the first phits on before the last have come, so that 21 phits more take their time once, on a link,
 * and not on each link of a way; but a packet holds what it crosses inside until its last phit has come from the link,
 * which is slower than a router's buses (G08).
 */
TEST(phits_follow_one_another_G08)
{
	const double longer = (32 - 11) * 24 / (3 * 3.125) / CYCLE_NS;
	double cycles[2][2] = {};

	for (const bool full : {false, true}) {
		TorusRig rig({.x = 16, .y = 2, .z = 1}, {.bytes = full ? 64u : 8u, .load_ppm = 2000});

		rig.run_and_drain(60000);

		const Statistics &seen = rig.network.statistics();

		for (const bool far : {false, true}) {
			const size_t hops = far ? 8 : 1;

			cycles[far][full] =
				static_cast<double>(seen.hop_cycles[hops]) / static_cast<double>(seen.hop_count[hops]);
		}
	}
	for (const bool far : {false, true}) {
		print_message("%.1f cycles more, %.1f expected\n", cycles[far][true] - cycles[far][false], longer);
		assert_true(std::abs(cycles[far][true] - cycles[far][false] - longer) < 3);
	}
}

/* With one channel a packet goes straight on, whatever is lighter; not if that link is out. With two it may change. */
TEST(packets_keep_to_their_ring_of_links)
{
	const topology::Machine machine = topology::build_torus({.x = 8, .y = 2, .z = 1});
	const routing::TorusHeader header{
		.destination = {4, 0, 0}, .hash = 0, .nic = 0, .channel = 0, .adaptive = true};
	const auto lightest = [](uint32_t tile) { return tile == 3 ? 0u : 100u; };
	uint32_t fewer = 0;

	while (machine.links[fewer].end[0].router != 1 || machine.links[fewer].end[0].tile != 5)
		fewer++;

	const routing::TorusTables whole(machine, 1), two(machine, 2), cut(machine, 1, {{fewer}, {}});
	bool changed = false;

	for (uint64_t random = 0; random < 64; random++) {
		const auto tile_by = [&](const routing::TorusTables &tables) {
			return routing::TorusRouting::next(tables.router(1), 8 + 5, header, lightest, mix64(random))
				.tile;
		};

		assert_int_equal(tile_by(whole), 5);
		assert_true(tile_by(cut) < 8 && tile_by(cut) != 5);
		changed |= tile_by(two) == 3;
	}
	assert_true(changed);
}

constexpr topology::TorusShape SHAPES[] = {{.x = 1, .y = 2, .z = 8},  {.x = 4, .y = 4, .z = 4},
					   {.x = 2, .y = 4, .z = 2},  {.x = 3, .y = 2, .z = 5},
					   {.x = 1, .y = 16, .z = 1}, {.x = 4, .y = 6, .z = 3, .open_y = true}};

/* A ring where all send three or four steps on, all the way round: it is full, if anything can fill it. */
Result round_a_ring(uint32_t bubble, uint8_t channels, uint32_t shift)
{
	RunShape shape = shape_of(1000, 20000);

	shape.parameters.bubble = bubble;
	shape.parameters.input_buffer = 256;
	shape.policy.channels = channels;
	shape.drain = 400000;
	shape.traffic = {.pattern = Pattern::Offset, .shift = shift, .load_ppm = 300000};
	return run(topology::build_torus({.x = 1, .y = 2, .z = 8}), shape);
}

/* A bubble in each ring, or a dateline, is what keeps packets from waiting for each other in a circle. */
TEST(bubbles_keep_rings_open)
{
	for (const uint32_t shift : {6u, 8u}) {
		const Result bubbles = round_a_ring(2, 1, shift), dateline = round_a_ring(2, 2, shift);

		assert_false(bubbles.stuck || dateline.stuck);
		assert_true(bubbles.drained && dateline.drained);
		assert_true(bubbles.classes[chip::GEMINI_Z].mean_load > 0.4);
	}
	assert_true(round_a_ring(1, 1, 6).stuck);
}

/* With the least buffers and more traffic than goes through: everything arrives, all room comes back. */
TEST(full_networks_drain)
{
	const TrafficShape traffics[] = {
		{.operation = Operation::Put, .bytes = 64, .load_ppm = 1000000},
		{.operation = Operation::Get, .bytes = 200, .load_ppm = 1000000},
		{.pattern = Pattern::Shift,
		 .operation = Operation::Put,
		 .bytes = 72,
		 .load_ppm = 600000,
		 .request_mode = {Routing::MinimalHash, 0}},
		{.operation = Operation::Raw, .raw_flits = 5, .load_ppm = 500000},
	};
	Parameters least = parameters_of(chip::GEMINI);

	least.input_buffer = 256;
	least.processor_buffer = 256;
	least.subswitch_buffer = least.column_buffer = 32;
	for (const topology::TorusShape &shape : SHAPES) {
		for (const uint8_t channels : {1, 2}) {
			const TrafficShape &traffic = traffics[(&shape - SHAPES + channels) % std::size(traffics)];
			TorusRig rig(shape, traffic, least, channels);

			if (channels == 1)
				rig.run_and_drain(slow_tests() ? 20000 : 1500);
			else
				rig.run_and_drain(1000);

			const Statistics &seen = rig.network.statistics();

			assert_int_equal(seen.injected_packets, seen.received_packets);
			assert_string_equal(rig.network.leftover().c_str(), "");
		}
	}
}

std::string text_of(uint8_t channels, const Workers &workers)
{
	const auto machine = topology::build_torus({.x = 3, .y = 4, .z = 4});
	RunShape shape = shape_of(500, 1500);
	std::ostringstream text;

	shape.traffic = {.bytes = 200, .load_ppm = 400000};
	shape.parameters.bit_errors = 1000000;
	shape.parameters.router_errors = 5000000;
	shape.policy.channels = channels;
	shape.drain = 100000;
	shape.workers = workers;

	const Result result = run(machine, shape);

	assert_true(result.drained);
	assert_true(result.statistics.lost_bad > 0);
	write_json(text, machine, shape, result);
	write_links_csv(text, result);
	return text.str();
}

TEST(any_number_of_parts_gives_the_same)
{
	for (const uint8_t channels : {1, 2}) {
		const std::string whole = text_of(channels, {});

		for (const uint32_t parts : {2u, 5u, 24u})
			assert_string_equal(whole.c_str(), text_of(channels, {.threads = 2, .parts = parts}).c_str());
	}
}

TEST(order_of_events_does_not_matter)
{
	TorusRig one({.x = 3, .y = 4, .z = 4}, {.load_ppm = 500000});
	TorusRig other({.x = 3, .y = 4, .z = 4}, {.load_ppm = 500000});

	other.network.reverse_events();
	one.network.run(2500);
	other.network.run(2500);
	assert_int_equal(one.network.statistics().hops, other.network.statistics().hops);
	assert_int_equal(one.network.statistics().latency.sum(), other.network.statistics().latency.sum());
	assert_int_equal(one.network.statistics().round_trip.sum(), other.network.statistics().round_trip.sum());
}

/* Requests of a pair keep their order if links are chosen by the pair alone (G29). */
TEST(order_of_a_pair)
{
	Parameters watched = parameters_of(chip::GEMINI);

	watched.watch_order = 1;
	for (const Routing routing : {Routing::InOrder, Routing::Adaptive}) {
		TorusRig rig({.x = 3, .y = 4, .z = 3},
			     {.pattern = Pattern::Permutation,
			      .bytes = 4096,
			      .load_ppm = 600000,
			      .request_mode = {routing, 0}},
			     watched);

		rig.run_and_drain(3000);
		assert_int_equal(rig.network.statistics().overtaken == 0, routing == Routing::InOrder);
	}
}

/* What routers do to packets is found, and these are dropped at their ends; who waits for them gives up (G16). */
TEST(marked_packets_are_dropped_G16)
{
	Parameters noisy = parameters_of(chip::GEMINI);

	noisy.router_errors = 10'000'000;

	TorusRig rig({.x = 4, .y = 2, .z = 1}, {.load_ppm = 200000}, noisy);

	rig.run_and_drain(60000);

	const Statistics &seen = rig.network.statistics();
	double expected = 0;

	/* Each request goes through a router more than it has hops. Responses are a sixteenth of it. */
	for (size_t hops = 0; hops <= 2; hops++)
		expected += static_cast<double>(seen.hop_count[hops]) * static_cast<double>(hops + 1);
	expected *= 34 * 24e-5;
	print_message("%u packets dropped, %.0f expected\n", static_cast<unsigned>(seen.lost_bad), expected);
	assert_true(std::abs(static_cast<double>(seen.lost_bad) - expected) < 5 * std::sqrt(expected));
	assert_int_equal(seen.injected_packets, seen.received_packets + seen.lost_bad);
	assert_int_equal(seen.given_up, seen.lost_bad);
	assert_string_equal(rig.network.leftover().c_str(), "");
}

/* A packet that a link spoils is sent again whole: its time, there and back (G17). */
TEST(spoiled_packets_are_sent_again_G17)
{
	constexpr uint32_t FROM = 5000, UNTIL = 45000;
	Parameters noisy = parameters_of(chip::GEMINI);
	uint64_t flits = 0, replays = 0, links = 0;

	noisy.bit_errors = 10'000'000;
	noisy.host_mbytes = 0;

	TorusRig rig({.x = 4, .y = 2, .z = 1}, {.pattern = Pattern::Offset, .shift = 2, .load_ppm = 1000000}, noisy);
	const auto count = [&](int sign) {
		const std::vector<LinkCount> counts = rig.network.link_counts();

		links = 0;
		for (uint32_t router = 0; router < 4; router++) {
			for (uint32_t tile = 0; tile < 8; tile++) {
				const LinkCount &link = counts[rig.network.layout().place(router, tile)];

				flits += sign < 0 ? -link.flits : link.flits;
				replays += sign < 0 ? -link.replays : link.replays;
				links++;
			}
		}
	};

	rig.network.run(FROM);
	count(-1);
	rig.network.run(UNTIL);
	count(1);

	const Lane &lane = rig.network.layout().lanes[0];
	const double all =
		static_cast<double>(links) * (UNTIL - FROM) * chip::GEMINI.times.cycle_ticks / lane.flit_ticks;
	const double expected = static_cast<double>(flits) * 24e-5;
	const double lost = static_cast<double>(replays) * replay_ticks(lane, 32) / lane.flit_ticks;

	print_message("%.0f replays of %.0f; %.0f phits of %.0f\n", static_cast<double>(replays), expected,
		      static_cast<double>(flits), all - lost);
	assert_true(std::abs(static_cast<double>(replays) - expected) < 5 * std::sqrt(expected));
	/* So exactly that a packet of which one phit is sent again, in place of all 32, would be noticed. */
	assert_true(std::abs(static_cast<double>(flits) - (all - lost)) < 0.25 * 32 * static_cast<double>(replays));
}

/* Links and routers fail and come back; packets go another way, or are counted (G57). */
TEST(failures_G57)
{
	const topology::Machine machine = topology::build_torus({.x = 4, .y = 8, .z = 4});
	Parameters quick = parameters_of(chip::GEMINI);
	FaultPlan plan{{}, with_channels(2)};

	quick.rebuild_cycles = 500;
	for (const char *text : {"1000:link:0.0", "1500:link:0-4", "2500:router:9"})
		plan.incidents.push_back(parse_incident(Change::Fail, text, machine));
	plan.incidents.push_back(parse_incident(Change::Repair, "9000:router:9", machine));

	TorusRig rig({.x = 4, .y = 8, .z = 4}, {.load_ppm = 150000}, quick, 2, {}, plan);

	rig.run_and_drain(12000);

	const Statistics &seen = rig.network.statistics();

	assert_true(rig.network.rebuilds().size() >= 2);
	/* Also while the router is out all others reach each other: ways go by directions. */
	for (const Rebuild &rebuild : rig.network.rebuilds())
		assert_int_equal(rebuild.cut_groups, 0);
	assert_true(seen.lost_on_links + seen.lost_at_nodes > 0);
	assert_int_equal(seen.injected_packets,
			 seen.received_packets + seen.lost_on_links + seen.lost_without_way + seen.lost_at_nodes);
	assert_string_equal(rig.network.leftover().c_str(), "");
}

/* While a router is out the header keeps what the first router writes: the way round it is followed to its end (G57).
 */
TEST(ways_round_a_router_are_followed_G57)
{
	constexpr uint32_t OUT = 9;
	const topology::Machine machine = topology::build_torus({.x = 4, .y = 8, .z = 4});
	const topology::Wiring wiring(machine);
	const auto quiet = [](uint32_t) { return 0u; };

	for (const uint8_t channels : {uint8_t{1}, uint8_t{2}}) {
		const routing::TorusTables tables(machine, channels, {{}, {OUT}});

		assert_true(tables.by_directions() && tables.lost() == 0);
		for (uint32_t pair = 0; pair < 64 * 64; pair++) {
			uint32_t at = pair / 64, in = chip::GEMINI.tiles.network, hops = 0;
			const uint32_t to = pair % 64;
			GeminiSetup::Header header{};

			header.destination = tables.router(to).here;
			header.channel = pair % 2 ? channels : 0;
			while (at != to && at != OUT && to != OUT) {
				const uint8_t tile = GeminiSetup::decide(tables, at, in, header, quiet, pair);

				assert_true(tile < chip::GEMINI.tiles.network && hops++ < 9);
				in = wiring.far_end(at, tile).tile;
				at = wiring.far_end(at, tile).router;
				assert_int_not_equal(at, OUT);
			}
		}
	}
}

/* Of uniform traffic half crosses the middle of z, by both halves of each ring (G53, G54): raw GB/s of all nodes. */
double bound_by_z(const topology::TorusShape &torus)
{
	return torus.x * torus.y * 2 * LINK_GBYTE * 2 * 2;
}

/* The same of what arrives, if nodes send as much as the bound. */
double saturated(const topology::TorusShape &torus, uint32_t warmup, uint32_t measure, uint8_t channels)
{
	RunShape shape = shape_of(warmup, measure);
	const auto machine = topology::build_torus(torus);

	shape.policy.channels = channels;
	const auto nodes = static_cast<double>(machine.nodes.size());

	shape.traffic.load_ppm = static_cast<uint32_t>(bound_by_z(torus) / nodes * EFFICIENCY / TILES * 1e6);
	shape.workers.threads = 2;

	const Result result = run(machine, shape);

	return result.gbyte_per_s_per_node * nodes / EFFICIENCY;
}

void fills_z(const topology::TorusShape &torus, uint32_t warmup, uint8_t channels)
{
	const double bound = bound_by_z(torus), got = saturated(torus, warmup, 4000, channels);

	print_message("%u x %u x %u, %u channels: %.0f GB/s of %.0f\n", torus.x, torus.y, torus.z, channels, got,
		      bound);
	assert_true(got > 0.9 * bound && got < 1.02 * bound);
}

TEST(uniform_traffic_fills_z_G54)
{
	fills_z({.x = 4, .y = 4, .z = 12}, 4000, 1);
	fills_z({.x = 4, .y = 4, .z = 12}, 4000, 2);
}

TEST(uniform_traffic_on_ten_by_sixteen_by_twentyfour_G54)
{
	assert_int_equal(std::lround(bound_by_z({.x = 10, .y = 16, .z = 24})), 6000);
	if (slow_tests())
		fills_z({.x = 10, .y = 16, .z = 24}, 8000, 1);
}

/* The most memory that this process had up to now, in MiB. */
long peak_mib()
{
	rusage usage{};

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss >> 10;
}

/* 25 x 32 x 24 nodes (G55) in 2 GiB, also when all of them send as much as they can. */
TEST(the_largest_machine_fits_G55)
{
	const auto machine = topology::build_torus({.x = 25, .y = 32, .z = 24});

	assert_int_equal(machine.nodes.size(), 19200);
	print_message("19,200 nodes: %zu MiB\n", static_cast<size_t>(estimate_bytes(machine, 1) >> 20));
	assert_in_range(estimate_bytes(machine, 1) >> 20, 200, 2048);
	if (!slow_tests())
		return;

	RunShape shape = shape_of(1000, 3000);

	shape.traffic.load_ppm = 1000000;

	const Result result = run(machine, shape);

	print_message("%llu packets at once, peak %ld MiB\n", static_cast<unsigned long long>(result.packets_at_once),
		      peak_mib());
	assert_false(result.stuck);
	assert_true(result.packets_at_once > 1000000);
	assert_in_range(peak_mib(), 200, estimate_bytes(machine, 1) >> 20);
}

} // namespace

TEST_MAIN("tests")
