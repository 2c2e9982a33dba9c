// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What each of several flows gets of a link that they share. Arbiters share max-min, in flits: who asks for less than
 * an equal part gets all of it, whatever the size of its packets and of those of others.
 */
#include "elite5_line.hpp"
#include "packet/flits.hpp"
#include "rig.hpp"
#include "simulation.hpp"
#include "topology/build_qsnet.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

/* So long that what waits at the end, as in a queue that is 0.9 busy, is little of it. */
constexpr uint32_t WARMUP = 10000;
constexpr uint32_t MEASURE = 40000;
constexpr double LINK = 0.9;   // flits in a cycle (P05)
constexpr double MODEST = 0.9; // of an equal part
constexpr double TOLERANCE = 0.05;
constexpr uint32_t FULL = 1000000; // ppm

struct Kind {
	const char *name;
	Operation operation;
	uint32_t size; // bytes, or flits of a raw packet
};

constexpr Kind KINDS_OF_FLOWS[] = {
	{"raw packets of 1 flit", Operation::Raw, 1}, {"raw packets of 14 flits", Operation::Raw, 14},
	{"puts of 8 B", Operation::Put, 8},           {"puts of 64 B", Operation::Put, 64},
	{"gets of 8 B", Operation::Get, 8},           {"gets of 64 B", Operation::Get, 64},
};

/* Nodes that send in pairs, each to its other one. */
struct Flow {
	Kind kind;
	std::vector<uint32_t> nodes;
	uint32_t load_ppm;
};

/* The load with which requests and responses together are so many flits in a cycle, in each direction. */
uint32_t load_of(const Kind &kind, double flits, double tile_flits)
{
	const PacketKind packet = kind.operation == Operation::Get ? PacketKind::Get : PacketKind::Put;
	const bool raw = kind.operation == Operation::Raw;
	const double request = raw ? kind.size : request_flits(packet, kind.size);
	const double response = raw ? 0 : response_flits(packet, kind.size);
	const double counted = kind.operation == Operation::Get ? response : request;

	return static_cast<uint32_t>(flits * counted / (request + response) / tile_flits * FULL);
}

/* Flits of requests of each flow that arrived. */
std::vector<double> shares(const topology::Machine &machine, const std::vector<Flow> &flows, Routing routing)
{
	RunShape shape;

	shape.warmup = WARMUP;
	shape.measure = MEASURE;
	shape.drain = 0;
	/* Arbiters are asked about, not targets: where responses wait for each other, requests would stand in the way.
	 */
	shape.parameters.response_queue = shape.parameters.outstanding;
	for (const Flow &flow : flows) {
		Job job;

		job.name = flow.kind.name;
		job.nodes = flow.nodes;
		job.traffic.pattern = Pattern::Offset;
		job.traffic.operation = flow.kind.operation;
		job.traffic.load_ppm = flow.load_ppm;
		job.traffic.request_mode = job.traffic.response_mode = {routing, 0};
		(flow.kind.operation == Operation::Raw ? job.traffic.raw_flits : job.traffic.bytes) = flow.kind.size;
		shape.jobs.push_back(job);
	}

	const Result result = run(machine, shape);
	std::vector<double> got;

	if (flows.size() == 1)
		got.push_back(static_cast<double>(result.statistics.window_request_flits));
	else
		for (const auto &counts : result.statistics.jobs)
			got.push_back(static_cast<double>(counts.window_request_flits));
	return got;
}

/*
 * A modest flow beside another one that asks for all there is: it gets what it gets alone. Requests and responses of
 * gets are two that ask for much, in a channel each.
 */
void check_modest(const topology::Machine &machine, double tile_flits, const std::vector<uint32_t> &mine,
		  const std::vector<uint32_t> &others, Routing routing)
{
	for (const Kind &kind : KINDS_OF_FLOWS) {
		for (const Kind &other : KINDS_OF_FLOWS) {
			const double part = LINK / (other.operation == Operation::Get ? 4 : 2);
			const Flow flow{kind, mine, load_of(kind, MODEST * part, tile_flits)};
			const double alone = shares(machine, {flow}, routing)[0];
			const double got = shares(machine, {flow, {other, others, FULL}}, routing)[0];

			if (got < alone * (1 - TOLERANCE))
				fail_msg("%s get %.3f of what they ask for beside %s", kind.name, got / alone,
					 other.name);
		}
	}
}

/* Nodes 0 to 3 and 4 to 7 on two routers with one link; NICs 0 and 1 share processor tiles, 2 and 3 others. */
topology::Machine two_routers()
{
	return topology::build_aries({.groups = 1, .chassis = 1, .slots = 2});
}

TEST(whoever_asks_for_less_gets_it_by_minimal_ways)
{
	check_modest(two_routers(), 2, {0, 4}, {1, 5}, Routing::MinimalHash);
}

TEST(whoever_asks_for_less_gets_it_in_order)
{
	check_modest(two_routers(), 2, {0, 4}, {1, 5}, Routing::InOrder);
}

TEST(whoever_asks_for_less_gets_it_beside_three)
{
	const topology::Machine machine = two_routers();
	const Kind few = KINDS_OF_FLOWS[2], many = KINDS_OF_FLOWS[3];

	for (const auto &[mine, theirs] : {std::pair{few, many}, std::pair{many, few}}) {
		const Flow flow{mine, {0, 4}, load_of(mine, MODEST * LINK / 4, 2)};
		std::vector<Flow> flows{flow};

		for (uint32_t node = 1; node < 4; node++)
			flows.push_back({theirs, {node, node + 4}, FULL});
		assert_true(shares(machine, flows, Routing::MinimalHash)[0] >
			    shares(machine, {flow}, Routing::MinimalHash)[0] * (1 - TOLERANCE));
	}
}

/* The first flow begins at the link, in the first channel; the other comes over a link between groups, in the next. */
TEST(whoever_asks_for_less_gets_it_in_another_channel)
{
	const topology::Machine machine = topology::build_canonical({.p = 2, .a = 4, .h = 2});
	std::vector<uint32_t> far;

	for (const topology::Link &link : machine.links) {
		for (int end = 0; end < 2; end++) {
			if (link.end[end].router == 0 && machine.routers[link.end[!end].router].group)
				far.push_back(link.end[!end].router * 2);
		}
	}
	assert_int_equal(far.size(), 2);
	check_modest(machine, 1, {0, 2}, {far[0], 3}, Routing::MinimalHash);
}

/*
 * Gets over a cable that could be filled by several times the room behind it: of more than are answered, requests stand
 * still before their targets and have what channels share, and take each piece of it that becomes free. It is for
 * responses, which have less of it and wait: they move.
 */
TEST(what_channels_share_goes_to_who_has_less_of_it)
{
	const auto machine = topology::build_canonical({.p = 2, .a = 1, .h = 1});
	RunShape shape;

	shape.traffic = {.pattern = Pattern::Offset, .operation = Operation::Get, .shift = 2, .load_ppm = FULL};
	shape.warmup = WARMUP;
	shape.measure = MEASURE;
	shape.drain = 0;
	shape.parameters.ps_per_m = 20000;

	/* By reserves alone. */
	shape.parameters.input_buffer =
		Routes::channels(machine, shape.policy) * routing::CLASSES * shape.parameters.channel_reserve;

	const double reserved = run(machine, shape).accepted;

	shape.parameters.input_buffer += 4 * shape.parameters.channel_reserve;

	const double shared = run(machine, shape).accepted;

	print_message("gets with what is shared: %.4f, without: %.4f\n", shared, reserved);
	assert_true(shared > 3 * reserved);
}

/* All ask for more: parts are equal in flits, not in packets. */
TEST(equal_parts_of_unequal_packets)
{
	const topology::Machine machine = two_routers();

	for (uint32_t first = 1; first <= MAX_PACKET_FLITS; first += 3) {
		for (const uint32_t second : {1, 3, 8, 13, 14}) {
			const std::vector<double> got = shares(machine,
							       {{{"", Operation::Raw, first}, {0, 4}, FULL},
								{{"", Operation::Raw, second}, {1, 5}, FULL}},
							       Routing::MinimalHash);
			const double part = got[0] / (got[0] + got[1]);

			if (part < 0.5 - TOLERANCE / 2 || part > 0.5 + TOLERANCE / 2)
				fail_msg("packets of %u flits get %.3f beside those of %u", first, part, second);
		}
	}
}

/*
 * An adapter of QsNetIII sends data that others asked for and asks for some itself in turn. By data first, many of
 * which come at once to some, these would ask for nothing meanwhile, and all others would wait.
 */
TEST(adapters_ask_while_they_are_asked)
{
	RunShape shape;

	shape.parameters = parameters_of(ELITE5_LINE);
	shape.traffic = {.operation = Operation::Get, .load_ppm = FULL};
	shape.drain = 0;

	const double accepted = run(topology::build_qsnet({.nodes = 64}), shape).accepted;

	print_message("gets of 64 nodes at full load: %.3f\n", accepted);
	assert_true(accepted > 0.5);
}

} // namespace

TEST_MAIN("shares")
