// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/* What cannot be run is refused with one line that names the rule. */
#include <functional>

#include "rig.hpp"
#include "topology/builders.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

void refused(const topology::Machine &machine, const std::function<void(RunShape &)> &change, const char *part)
{
	RunShape shape;
	std::string said;

	change(shape);
	try {
		run(machine, shape);
	} catch (const RunError &error) {
		said = error.what();
	}
	if (said.find(part) == std::string::npos || said.find('\n') != std::string::npos)
		fail_msg("said \"%s\", not \"%s\"", said.c_str(), part);
}

/* By what they are, whatever channels or tiles they are given. */
void networks_that_are_no_dragonfly(void **)
{
	for (const char *builder : {"torus", "clos"}) {
		topology::Machine machine = topology::build_named(builder, {}).machine;

		for (uint32_t channels : {1, 4}) {
			machine.router_type.request_channels = machine.router_type.response_channels = channels;
			refused(
				machine, [](RunShape &) {},
				(std::string("a machine of family '") + builder + "' cannot be simulated").c_str());
		}
	}
}

void shapes_that_cannot_be(void **)
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

void machines_that_cannot_be(void **)
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
	machine.classes[0].gbit_per_lane /= 100;
	refused(
		machine, [](RunShape &) {}, "64 times slower than its router");
	machine = topology::build_canonical({.p = 1, .a = 2, .h = 1});
	machine.links.clear();
	refused(
		machine, [](RunShape &) {}, "in pieces");
}

/* Told before it is allocated: 24,576 nodes in 100 MiB. */
void too_large_for_the_memory(void **)
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

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(networks_that_are_no_dragonfly),
		cmocka_unit_test(shapes_that_cannot_be),
		cmocka_unit_test(machines_that_cannot_be),
		cmocka_unit_test(too_large_for_the_memory),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
