// SPDX-License-Identifier: GPL-2.0-or-later
/* Packets of a pair of nodes: in mode in-order none overtakes another (R12), in the adaptive one they do. */
#include "rig.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

uint64_t overtaken(Pattern pattern, Routing routing, Operation operation)
{
	const TrafficShape traffic{.pattern = pattern,
				   .operation = operation,
				   .bytes = 4096,
				   .load_ppm = 900000,
				   .request_mode = {routing, 0},
				   .response_mode = {routing, 0}};
	const Parameters parameters{.watch_order = 1};
	Rig rig(topology::build_aries({.groups = 3, .chassis = 2, .slots = 4}), traffic, parameters);

	rig.run_and_drain(4000);

	const Statistics seen = rig.network.statistics();

	assert_true(seen.received_packets > 10000);
	return seen.overtaken;
}

TEST(in_order_nobody_is_overtaken_R12)
{
	for (const Pattern pattern : {Pattern::Uniform, Pattern::Permutation, Pattern::Group, Pattern::AllToAll}) {
		for (const Operation operation : {Operation::Put, Operation::Get})
			assert_int_equal(overtaken(pattern, Routing::InOrder, operation), 0);
	}
}

TEST(adaptive_ones_are_overtaken_R12)
{
	for (const Pattern pattern : {Pattern::Permutation, Pattern::Group}) {
		const uint64_t count = overtaken(pattern, Routing::Adaptive, Operation::Put);

		print_message("%zu requests overtaken\n", static_cast<size_t>(count));
		assert_true(count > 1000);
	}
}

TEST(nobody_watches_without_being_asked)
{
	Rig rig(topology::build_aries({.groups = 1, .chassis = 2, .slots = 4}),
		{.pattern = Pattern::Permutation, .bytes = 4096, .load_ppm = 900000});

	rig.run_and_drain(2000);
	assert_int_equal(rig.network.statistics().overtaken, 0);
}

} // namespace

TEST_MAIN("tests")
