// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Freedom from deadlock (P12, P13, R16): the graph of which channel of which link waits for which, of every way that
 * decide() can take, has no circle; with one channel fewer it has.
 */
#include <cstdio>
#include <set>

#include "dependencies.hpp"
#include "topology/build_aries.hpp"
#include "topology/build_canonical.hpp"

using namespace aries;
using namespace aries::routing;
using topology::build_aries;
using topology::build_canonical;

namespace
{

struct Case {
	const char *name;
	topology::Machine machine;
	uint32_t channels; // that are enough
};

std::vector<Case> small_machines()
{
	return {
		{"one group of 6 chassis", build_aries({.groups = 1}), 2},
		{"partly filled chassis", build_aries({.groups = 1, .last_group_chassis = 4, .last_chassis_slots = 5}),
		 2},
		{"2 groups of 3 x 4", build_aries({.groups = 2, .chassis = 3, .slots = 4}), 3},
		{"11 groups of 2 x 2", build_aries({.groups = 11, .chassis = 2, .slots = 2}), 4},
		{"5 groups of 3 x 5", build_aries({.groups = 5, .chassis = 3, .slots = 5, .cables_per_pair = 1}), 4},
		{"last group short", build_aries({.groups = 3, .last_group_chassis = 2, .cables_per_pair = 6}), 4},
		{"canonical 2, 4, 2", build_canonical({.p = 2, .a = 4, .h = 2}), 4},
	};
}

/* No circle with as many channels as are needed; a circle with one fewer, which is printed. */
void check_case(const Case &c)
{
	Policy policy;

	assert_int_equal(channels_needed(policy, c.machine.groups), c.channels);
	for (const uint32_t fewer : {0u, 1u}) {
		policy.channels = static_cast<uint8_t>(c.channels - fewer);

		const RoutedMachine net(c.machine, policy);
		Dependencies graph(net);

		graph.add_all();

		const std::vector<uint32_t> circle = graph.circle();

		std::printf("%s, %u channels: %zu dependencies, %s\n", c.name, policy.channels, graph.edges(),
			    circle.empty() ? "no circle" : "a circle:");
		for (const uint32_t channel : circle)
			std::printf("    %s\n", graph.name(channel).c_str());
		assert_int_equal(circle.empty(), fewer == 0);
		assert_int_equal(graph.highest(), policy.channels - 1);
	}
}

TEST(four_channels_are_enough_three_are_not_P13_R16)
{
	for (const Case &c : small_machines())
		check_case(c);
}

/* Three full groups: all that can be different between full groups of a machine, see the documentation. */
TEST(full_groups_P13_R16)
{
	check_case({"3 full groups", build_aries({.groups = 3, .cables_per_pair = 6}), 4});
}

/* Each of the three steps up is needed: without the one behind global links, or the one at roots, there is a circle. */
TEST(every_step_is_needed_P13)
{
	/* Where every router had links to every group, no local link would follow another in the first group. */
	const topology::Machine machine = build_aries({.groups = 5, .chassis = 3, .slots = 5, .cables_per_pair = 1});

	for (const bool at_root : {false, true}) {
		Policy policy;

		(at_root ? policy.root_step : policy.global_step) = 0;

		const RoutedMachine net(machine, policy);
		Dependencies graph(net);

		graph.add_all();
		assert_false(graph.circle().empty());
	}
}

/* Neither are there circles in damaged machines, whose ways inside a group are not so regular (R14). */
TEST(damaged_machines_R14_P13)
{
	const topology::Machine machine = build_aries({.groups = 5, .chassis = 3, .slots = 5, .cables_per_pair = 2});
	uint32_t detoured = 0;

	for (uint32_t seed = 1; seed <= 12; seed++) {
		Failures failures;

		/* One link in 24 to one in two. */
		for (uint32_t link = 0; link < machine.links.size(); link++) {
			if (mix64(uint64_t{seed} << 32 | link) % 240 < uint64_t{seed} * 10)
				failures.links.push_back(link);
		}
		failures.routers.push_back(seed);

		const RoutedMachine net(machine, {}, failures);
		Dependencies graph(net);

		graph.add_all();
		detoured += static_cast<uint32_t>(net.built.detoured.size());
		assert_true(graph.circle().empty());
		assert_true(graph.edges() > 1000);
	}
	/* Both kinds of ways were there. */
	assert_in_range(detoured, 1, 12 * 5 - 20);
}

/* Groups that are rings of five: shortest ways around close a circle, so there must be others. */
TEST(rings_need_detours_P13)
{
	const topology::Machine machine = build_canonical({.p = 1, .a = 5, .h = 1});
	Failures failures;

	for (uint32_t link = 0; link < machine.links.size(); link++) {
		const uint32_t a = machine.links[link].end[0].router;
		const uint32_t b = machine.links[link].end[1].router;
		const uint32_t apart = a < b ? b - a : a - b;

		if (a / 5 == b / 5 && apart != 1 && apart != 4)
			failures.links.push_back(link);
	}

	const RoutedMachine net(machine, {}, failures);
	Dependencies graph(net);

	graph.add_all();
	assert_int_equal(net.built.detoured.size(), net.machine.groups);
	assert_true(graph.circle().empty());
	for (uint32_t a = 0; a < net.routers(); a++) {
		for (uint32_t b = 0; b < net.routers(); b++)
			assert_true(walk_from(net, a, header_to(net, b, {}), quiet_link, a).arrived);
	}
}

/* Walks of all modes under random load keep to the graph, requests and responses to their own channels (P12). */
TEST(walks_keep_to_the_graph_P12_R16)
{
	const RoutedMachine net(build_aries({.groups = 5, .chassis = 3, .slots = 5, .cables_per_pair = 1}));
	Dependencies graph(net);
	std::set<uint32_t> used;

	graph.add_all();
	for (uint32_t i = 0; i < 60000; i++) {
		const RoutingMode mode{static_cast<Routing>(i % 4), static_cast<uint8_t>(i / 4 % 4)};
		const auto a = pick_of(static_cast<uint32_t>(mix64(i)), net.routers());
		const auto b = pick_of(static_cast<uint32_t>(mix64(i) >> 32), net.routers());
		const auto load = [&](uint32_t router, uint32_t tile) {
			return static_cast<uint32_t>(mix64(i + uint64_t{router} * 64 + tile) % 9000);
		};
		Header header = header_to(net, b, mode, i);
		const uint8_t lowest = i % 2 * 4;

		header.channel = lowest;

		const Walk walk = walk_from(net, a, header, load, i);

		assert_true(walk.arrived);
		for (size_t hop = 0; hop < walk.steps.size(); hop++) {
			const Step &step = walk.steps[hop];

			assert_in_range(step.channel, lowest, lowest + 3);
			used.insert(step.channel);
			if (!hop)
				continue;

			const Step &before = walk.steps[hop - 1];

			assert_true(graph.has(graph.channel_of(before.router, before.tile, before.channel - lowest),
					      graph.channel_of(step.router, step.tile, step.channel - lowest)));
		}
	}
	assert_int_equal(used.size(), CHANNELS);
}

} // namespace

TEST_MAIN("channels")
