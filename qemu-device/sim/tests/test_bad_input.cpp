// SPDX-License-Identifier: GPL-2.0-or-later
/* What cannot be run is refused with one line that names the rule. */
#include <functional>

#include "chip/gemini.hpp"
#include "rig.hpp"
#include "sweep.hpp"
#include "topology/build_clos.hpp"
#include "topology/build_torus.hpp"
#include "topology/builders.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

void refused(const topology::Machine &machine, const std::function<void(RunShape &)> &change, const char *part)
{
	RunShape shape;

	change(shape);
	refused(machine, shape, part);
}

/* By what they are, whatever channels or tiles they are given. */
TEST(networks_that_have_no_routes)
{
	topology::Machine machine = topology::build_canonical({.p = 2, .a = 4, .h = 2});

	machine.family = "mesh";
	refused(
		machine, [](RunShape &) {}, "a machine of family 'mesh' cannot be simulated");
	machine.family = "torus";
	refused(
		machine, [](RunShape &) {}, "a torus is one group with three coordinates");
}

/* What Aries has and Gemini has not is named. */
TEST(what_gemini_has_not)
{
	const topology::Machine machine = topology::build_torus({.x = 3, .y = 4, .z = 3});
	const auto of_gemini = [&machine](const std::function<void(RunShape &)> &change, const char *part) {
		refused(
			machine,
			[&change](RunShape &shape) {
				shape.parameters = parameters_of(chip::GEMINI);
				change(shape);
			},
			part);
	};

	of_gemini([](RunShape &s) { s.policy.channels = 3; }, "a torus has 1, with bubble flow control, or 2");
	of_gemini([](RunShape &s) { s.policy.local_bias[0]++; }, "Gemini has no biases");
	of_gemini([](RunShape &s) { s.traffic.pattern = Pattern::Allreduce; }, "Gemini has no collective engines");
	of_gemini([](RunShape &s) { s.traffic.pattern = Pattern::Group; }, "a torus has no groups");
	of_gemini([](RunShape &s) { s.traffic.request_mode = {Routing::NonminimalHash, 0}; }, "not nonminimal");
	of_gemini([](RunShape &s) { s.traffic.response_mode = {Routing::Adaptive, 2}; }, "not adaptive2");
	of_gemini(
		[](RunShape &s) {
			s.traffic.operation = Operation::Raw;
			s.traffic.raw_flits = 33;
		},
		"1 to 32");
	of_gemini([](RunShape &s) { s.parameters.bubble = 0; }, "1 to 8");
	of_gemini([](RunShape &s) { s.parameters.bubble = 9; }, "1 to 8");
	of_gemini([](RunShape &s) { s.parameters.input_buffer = 128, s.parameters.bubble = 3; },
		  "no room for 3 packets of 32 in each of 2 channels");
	of_gemini([](RunShape &s) { s.parameters.host_mbytes = 99; }, "or 0 for no limit");
	of_gemini([](RunShape &s) { s.parameters.router_errors = 10'000'001; }, "at most 10000000");
	of_gemini(
		[&machine](RunShape &s) {
			s.warmup = 100;
			s.incidents = {parse_incident(Change::Fail, "50:router:1", machine)};
		},
		"with --channels 2 (a dateline) links and routers may fail");
}

/* What a Clos has not, and what is none. */
TEST(what_a_clos_has_not)
{
	topology::Machine machine = topology::build_clos({.radix = 4, .stages = 2});

	refused(
		machine, [](RunShape &s) { s.policy.channels = 2; }, "2 channels of a class: a Clos has 1");
	refused(
		machine, [](RunShape &s) { s.policy.global_bias[3]++; }, "a Clos has no biases");
	refused(
		machine, [](RunShape &s) { s.traffic.pattern = Pattern::Group; }, "a Clos has no groups");
	refused(
		machine,
		[](RunShape &s) {
			s.traffic.response_mode = {Routing::NonminimalHash, 0};
		},
		"a Clos has the modes in-order (static, by destination), minimal (by hash) and adaptive, not "
		"nonminimal");
	refused(
		machine,
		[](RunShape &s) {
			s.traffic.request_mode = {Routing::Adaptive, 1};
		},
		"not adaptive1");
	refused(
		machine, [](RunShape &s) { s.parameters.host_mbytes = 6980; }, "are Gemini's: Aries has none");
	refused(
		machine, [](RunShape &s) { s.memory_bytes = 1 << 10; }, "8 nodes need about");
	assert_string_equal(check_background(machine).c_str(),
			    "--background is for devices, which are of a dragonfly: not of a Clos");
	machine.nodes[0].router = 5;
	machine.nodes[0].nic = 0;
	refused(
		machine, [](RunShape &) {}, "node 0 is at router 5 of stage 1: those of a Clos are in stage 0");
	machine = topology::build_canonical({.p = 2, .a = 4, .h = 2});
	machine.family = "clos";
	refused(
		machine, [](RunShape &) {}, "a Clos is one group whose first coordinate is the stage");
}

/* What Gemini has and Aries has not. */
TEST(what_aries_has_not)
{
	const auto machine = topology::build_canonical({.p = 2, .a = 4, .h = 2});

	for (uint32_t Parameters::*const value :
	     {&Parameters::bubble, &Parameters::router_errors, &Parameters::host_mbytes})
		refused(
			machine, [value](RunShape &s) { s.parameters.*value = 1000; }, "are Gemini's: Aries has none");
}

/* One machine, one chip: results of two are no curve. */
TEST(sweeps_over_two_chips)
{
	Options options;

	try {
		set_option(options, "machine", "torus");
	} catch (const RunError &error) {
		assert_string_equal(error.what(), "'machine' is no axis: a sweep is of one machine, and of one chip");
		return;
	}
	fail_msg("a sweep over machines");
}

TEST(shapes_that_cannot_be)
{
	const auto machine = topology::build_canonical({.p = 2, .a = 4, .h = 2});

	refused(
		machine, [](RunShape &s) { s.traffic.load_ppm = 0; }, "above 0 and at most 1");
	refused(
		machine, [](RunShape &s) { s.traffic.load_ppm = 1000001; }, "above 0 and at most 1");
	refused(
		machine, [](RunShape &s) { s.traffic.bytes = 7; }, "8 to 262,144");
	refused(
		machine, [](RunShape &s) { s.traffic.bytes = 262145; }, "8 to 262,144");
	refused(
		machine,
		[](RunShape &s) {
			s.traffic.operation = Operation::Raw;
			s.traffic.raw_flits = 15;
		},
		"1 to 14");
	refused(
		machine,
		[](RunShape &s) {
			s.traffic.pattern = Pattern::Group;
			s.traffic.shift = 9;
		},
		"stay in its group");
	refused(
		machine, [](RunShape &s) { s.measure = 0; }, "at least one cycle");
	refused(
		machine, [](RunShape &s) { s.drain = UINT32_MAX; }, "2,147,483,647");
	refused(
		machine, [](RunShape &s) { s.parameters.input_buffer = 100; }, "no room for 8 reserves");
	refused(
		machine, [](RunShape &s) { s.parameters.channel_reserve = 13; }, "room for a packet");
	refused(
		machine, [](RunShape &s) { s.parameters.column_buffer = 13; }, "room for a packet");
	refused(
		machine, [](RunShape &s) { s.parameters.row_cycles = 0; }, "at least one cycle");
	refused(
		machine, [](RunShape &s) { s.parameters.load_interval = 0; }, "at least 1");
	refused(
		machine, [](RunShape &s) { s.parameters.outstanding = 65536; }, "65,535");
	refused(
		machine, [](RunShape &s) { s.policy.channels = 9; }, "virtual channels");
}

TEST(machines_that_cannot_be)
{
	auto machine = topology::build_canonical({.p = 1, .a = 2, .h = 1});

	machine.links[0].length_m = 3000;
	refused(
		machine, [](RunShape &) {}, "at most 2,000 m");
	machine = topology::build_canonical({.p = 1, .a = 2, .h = 1});
	machine.nodes.resize(1);
	refused(
		machine, [](RunShape &) {}, "at least two nodes");
	machine = topology::build_canonical({.p = 1, .a = 2, .h = 1});
	machine.further.push_back({1, machine.nodes.back()});
	machine.nodes.pop_back();
	refused(
		machine, [](RunShape &) {}, "node 1 has links to several routers");
	machine = topology::build_canonical({.p = 1, .a = 2, .h = 1});
	machine.classes[0].gbit_per_lane /= 100;
	refused(
		machine, [](RunShape &) {}, "64 times slower than its router");
	machine = topology::build_canonical({.p = 1, .a = 2, .h = 1});
	machine.links.clear();
	refused(
		machine, [](RunShape &) {}, "in pieces");
}

/* Told before it is allocated: 24,576 nodes in 100 MiB. */
TEST(too_large_for_the_memory)
{
	const auto machine = topology::build_aries({.groups = 64});
	const uint64_t bytes = estimate_bytes(machine, 4);

	assert_int_equal(machine.nodes.size(), 24576);
	refused(
		machine, [](RunShape &s) { s.memory_bytes = 100 << 20; }, "24576 nodes need about");
	print_message("24,576 nodes: %zu MiB\n", static_cast<size_t>(bytes >> 20));
	assert_in_range(bytes >> 20, 500, 20000);
}

} // namespace

TEST_MAIN("tests")
