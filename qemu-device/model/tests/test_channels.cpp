// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Freedom from deadlock (P12, P13, R16): the graph of which channel of which link waits for which, of every way that
 * decide() can take, has no circle; with one channel fewer it has.
 */
#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

#include "route_walk.hpp"
#include "topology/build_aries.hpp"
#include "topology/build_canonical.hpp"

using namespace aries;
using namespace aries::routing;
using topology::build_aries;
using topology::build_canonical;

namespace
{

constexpr uint32_t CHANNELS = 8; // of a link, both classes
constexpr uint32_t NONE = UINT32_MAX;

/* The channels of all links, and which a packet in one may wait for. */
class Dependencies
{
public:
	explicit Dependencies(const RoutedMachine &net)
		: net_(net), tiles_(net.wiring.tiles()), waits_for_(size_t{net.routers()} * tiles_ * CHANNELS)
	{
	}

	/*
	 * Every way between any two routers, minimal and by every root, whatever ports are chosen: first all ways up to
	 * each root, from everywhere; then from all states in which a packet can be at that root, or at its source, all
	 * ways down to each destination.
	 */
	void add_all()
	{
		std::vector<std::vector<State>> at_root(net_.routers());
		std::vector<State> states;

		for (uint32_t root = 0; root < net_.routers(); root++)
			spread(root, Phase::Up, sources(root), at_root[root]);
		for (uint32_t to = 0; to < net_.routers(); to++) {
			states = sources(to);
			for (uint32_t root = 0; root < net_.routers(); root++) {
				if (root != to)
					states.insert(states.end(), at_root[root].begin(), at_root[root].end());
			}
			std::vector<State> arrived;

			spread(to, Phase::Down, states, arrived);
		}
	}

	size_t edges() const
	{
		size_t sum = 0;

		for (const auto &next : waits_for_)
			sum += next.size();
		return sum;
	}

	uint32_t highest() const { return highest_; }

	bool has(uint32_t from, uint32_t to) const
	{
		return std::find(waits_for_[from].begin(), waits_for_[from].end(), to) != waits_for_[from].end();
	}

	/* A circle, or nothing: depth first, without recursion. */
	std::vector<uint32_t> circle() const
	{
		enum : uint8_t { NEW, ON_WAY, DONE };
		std::vector<uint8_t> mark(waits_for_.size(), NEW);
		std::vector<size_t> next(waits_for_.size());

		for (uint32_t start = 0; start < waits_for_.size(); start++) {
			std::vector<uint32_t> way;

			if (mark[start] == NEW)
				way.push_back(start);
			while (!way.empty()) {
				const uint32_t at = way.back();

				mark[at] = ON_WAY;
				if (next[at] == waits_for_[at].size()) {
					mark[at] = DONE;
					way.pop_back();
					continue;
				}

				const uint32_t to = waits_for_[at][next[at]++];

				if (mark[to] == ON_WAY)
					return {std::find(way.begin(), way.end(), to), way.end()};
				if (mark[to] == NEW)
					way.push_back(to);
			}
		}
		return {};
	}

	uint32_t channel_of(uint32_t router, uint32_t tile, uint32_t channel) const
	{
		return (router * tiles_ + tile) * CHANNELS + channel;
	}

	std::string name(uint32_t channel) const
	{
		const uint32_t router = channel / CHANNELS / tiles_;
		const uint32_t tile = channel / CHANNELS % tiles_;

		return net_.machine.classes[net_.machine.router_type.tiles[tile].link_class].name + " " +
		       std::to_string(router) + "->" + std::to_string(net_.wiring.far_end(router, tile).router) +
		       " channel " + std::to_string(channel % CHANNELS);
	}

private:
	/* A packet in an input queue: of the link that it came by, or, at its source, none. */
	struct State {
		uint32_t router;
		uint32_t in;
		uint8_t channel;
		Phase phase;
		uint32_t held; // channel
	};

	std::vector<State> sources(uint32_t but) const
	{
		std::vector<State> states;

		for (uint32_t router = 0; router < net_.routers(); router++) {
			if (router != but)
				states.push_back({router, net_.inject, 0, Phase::Down, NONE});
		}
		return states;
	}

	void connect(uint32_t held, uint32_t next)
	{
		auto &list = waits_for_[held];

		if (std::find(list.begin(), list.end(), next) == list.end())
			list.push_back(next);
	}

	/* Follow packets in these states to a router; collect in what states they get there. */
	void spread(uint32_t target, Phase phase, std::vector<State> todo, std::vector<State> &arrived)
	{
		std::vector<bool> seen(waits_for_.size());
		const Address goal = net_.tables.address(target);

		while (!todo.empty()) {
			const State at = todo.back();
			const RouterTables &tables = net_.tables.router(at.router);

			todo.pop_back();
			if (tables.here == goal) {
				/* decide() will see that this is the root. */
				arrived.push_back({at.router, at.in, at.channel, Phase::Up, at.held});
				continue;
			}

			const uint32_t choices = minimal_entry(tables, goal).count;
			std::set<uint8_t> taken;

			for (uint32_t nth = 0; nth < choices; nth++) {
				const Decision d = take(at, goal, phase, nth, choices);

				if (!taken.insert(d.tile).second)
					continue;
				go(at, d, phase, seen, todo);
			}
			assert_int_equal(taken.size(), choices);
		}
	}

	/* The decision with random bits that name the nth port. */
	Decision take(const State &at, Address goal, Phase phase, uint32_t nth, uint32_t choices) const
	{
		const uint64_t random = (nth * 65536 + choices - 1) / choices;
		Header header{goal, NO_ROOT, 0, {Routing::Adaptive, 0}, 0, at.channel, Phase::Down};

		if (phase == Phase::Up) {
			/* Some destination elsewhere; decide() sees it at the root alone. */
			header.root = goal;
			header.phase = Phase::Up;
			header.destination = {goal.group, UINT16_MAX};
			if (at.in == net_.inject)
				return {goal, port(at, goal, nth), 0, Phase::Up};
		} else if (at.phase == Phase::Up) {
			/* At the root. */
			header.root = net_.tables.address(at.router);
			header.phase = Phase::Up;
			/* Its source was the root itself: that does not happen. */
			assert_int_not_equal(at.in, net_.inject);
		}
		return decide(net_.tables.router(at.router), at.in, header, Quiet{}, random);
	}

	/* What the first router does with a root is in test_decide: any port of its entry, in the first channel. */
	uint8_t port(const State &at, Address goal, uint32_t nth) const
	{
		const RouterTables &tables = net_.tables.router(at.router);

		return tables.ports[minimal_entry(tables, goal).first + nth];
	}

	void go(const State &at, const Decision &d, Phase phase, std::vector<bool> &seen, std::vector<State> &todo)
	{
		const auto far = net_.wiring.far_end(at.router, d.tile);
		const uint32_t channel = channel_of(at.router, d.tile, d.channel);

		assert_true(d.phase == phase && far.tile != topology::NOT_CONNECTED);
		highest_ = std::max(highest_, uint32_t{d.channel});
		if (at.held != NONE)
			connect(at.held, channel);
		if (seen[channel])
			return;
		seen[channel] = true;
		todo.push_back({far.router, far.tile, d.channel, Phase::Down, channel});
	}

	const RoutedMachine &net_;
	uint32_t tiles_;
	uint32_t highest_ = 0;
	std::vector<std::vector<uint32_t>> waits_for_;
};

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

void four_channels_are_enough_three_are_not_P13_R16(void **)
{
	for (const Case &c : small_machines())
		check_case(c);
}

/* Three full groups: all that can be different between full groups of a machine, see the documentation. */
void full_groups_P13_R16(void **)
{
	check_case({"3 full groups", build_aries({.groups = 3, .cables_per_pair = 6}), 4});
}

/* Each of the three steps up is needed: without the one behind global links, or the one at roots, there is a circle. */
void every_step_is_needed_P13(void **)
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
void damaged_machines_R14_P13(void **)
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
void rings_need_detours_P13(void **)
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
void walks_keep_to_the_graph_P12_R16(void **)
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

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(four_channels_are_enough_three_are_not_P13_R16),
		cmocka_unit_test(full_groups_P13_R16),
		cmocka_unit_test(every_step_is_needed_P13),
		cmocka_unit_test(damaged_machines_R14_P13),
		cmocka_unit_test(rings_need_detours_P13),
		cmocka_unit_test(walks_keep_to_the_graph_P12_R16),
	};

	return cmocka_run_group_tests_name("channels", tests, nullptr, nullptr);
}
