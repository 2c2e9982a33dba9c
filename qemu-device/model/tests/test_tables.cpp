// SPDX-License-Identifier: GPL-2.0-or-later
/* Stored route tables: sizes, what is in them, and how they change with failures. */
#include <algorithm>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <string>

#include "route_walk.hpp"
#include "topology/build_aries.hpp"
#include "topology/build_canonical.hpp"

using namespace aries;
using namespace aries::routing;
using topology::AriesShape;
using topology::build_aries;
using topology::build_canonical;
using topology::Machine;

namespace
{

constexpr RoutingMode MODES[] = {
	{Routing::InOrder, 0}, {Routing::MinimalHash, 0}, {Routing::NonminimalHash, 0}, {Routing::Adaptive, 0}};

std::vector<uint8_t> tiles_of(const RouterTables &at, Ports entry)
{
	return {at.ports + entry.first, at.ports + entry.first + entry.count};
}

/* Some 2 KB a router, tens of MB for the largest machine; every router reaches every router and group (R07, T12). */
TEST(tables_of_the_largest_machine_R07_T12)
{
	const RoutedMachine net(build_aries({.groups = 241}));
	const Built &built = net.built;
	const Tables &tables = net.tables;
	const double each = static_cast<double>(tables.bytes()) / tables.routers();

	std::printf("%u routers: %.1f MiB, %.0f bytes each\n", tables.routers(),
		    static_cast<double>(tables.bytes()) / (1 << 20), each);
	assert_int_equal(tables.routers(), 23136);
	assert_true(built.whole() && built.far_groups.empty() && built.detoured.empty());
	assert_true(tables.common().all_linked);
	assert_int_equal(tables.common().roots.size(), 23136);
	assert_true(each > 1400 && each < 2600);
	for (uint32_t router = 0; router < tables.routers(); router++) {
		const RouterTables &at = tables.router(router);

		assert_int_equal(tables.router_at(at.here), router);
		for (uint32_t i = 0; i < 96; i++)
			assert_int_equal(at.local[i].count != 0, i != at.here.index);
		for (uint32_t g = 0; g < 241; g++)
			assert_int_equal(at.global[g].count != 0, g != at.here.group);
		assert_int_equal(at.root_count, 96);
	}
}

/* Classes of links ascend on every way inside a group, green before black before blue: no circle there (P13, R16). */
TEST(classes_ascend_P13_R16)
{
	const RoutedMachine net(build_aries({.groups = 241}));
	const auto check = [&](uint32_t router, Ports entry, auto next_entry) {
		for (const uint8_t tile : tiles_of(net.tables.router(router), entry)) {
			const RouterTables &far = net.tables.router(net.wiring.far_end(router, tile).router);
			const auto class_of = [&](uint8_t t) { return net.machine.router_type.tiles[t].link_class; };

			if (far.here.group != net.tables.address(router).group)
				continue;
			for (const uint8_t next : tiles_of(far, next_entry(far)))
				assert_true(class_of(next) > class_of(tile));
		}
	};

	for (uint32_t router = 0; router < net.routers(); router++) {
		const RouterTables &at = net.tables.router(router);

		for (uint32_t i = 0; i < 96; i++)
			check(router, at.local[i], [i](const RouterTables &far) { return far.local[i]; });
		for (uint32_t g = 0; g < 241; g++)
			check(router, at.global[g], [g](const RouterTables &far) { return far.global[g]; });
	}
}

/* What an entry holds, against the wiring: each tile leads to a router that is one hop nearer. */
TEST(entries_agree_with_the_wiring_R01_R05_R07)
{
	for (const AriesShape &shape : {AriesShape{.groups = 2}, AriesShape{.groups = 3, .last_group_chassis = 2},
					AriesShape{.groups = 5, .chassis = 3, .slots = 5, .cables_per_pair = 1}}) {
		const RoutedMachine net(build_aries(shape));

		for (uint32_t router = 0; router < net.routers(); router++) {
			const RouterTables &at = net.tables.router(router);

			for (uint32_t i = 0; i < net.tables.group_size(at.here.group); i++) {
				for (const uint8_t tile : tiles_of(at, at.local[i])) {
					const auto &far = net.tables.router(net.wiring.far_end(router, tile).router);

					assert_int_equal(far.here.group, at.here.group);
					assert_int_equal(far.local[i].hops + 1, at.local[i].hops);
				}
			}
			for (uint32_t g = 0; g < net.tables.groups(); g++) {
				for (const uint8_t tile : tiles_of(at, at.global[g])) {
					const auto &far = net.tables.router(net.wiring.far_end(router, tile).router);

					if (at.global[g].hops)
						assert_int_equal(far.global[g].hops + 1, at.global[g].hops);
					else
						assert_int_equal(far.here.group, g);
				}
			}
		}
	}
	/* Ten links of every router to the other of two groups. */
	const RoutedMachine two(build_aries({.groups = 2}));

	for (uint32_t router = 0; router < 192; router++)
		assert_int_equal(two.tables.router(router).global[router < 96].count, 10);
}

/* Links by class, of group 0 or between groups. */
std::vector<uint32_t> links_of(const Machine &machine, const char *name)
{
	std::vector<uint32_t> found;

	for (uint32_t i = 0; i < machine.links.size(); i++) {
		if (machine.classes[machine.links[i].link_class].name == name &&
		    machine.routers[machine.links[i].end[0].router].group == 0)
			found.push_back(i);
	}
	return found;
}

/* All pairs that are not out reach each other in all modes, without a link or router that is out. */
void check_detours(const Machine &machine, const Failures &failures)
{
	const RoutedMachine net(machine, {}, failures);
	const std::set<uint32_t> dead(failures.routers.begin(), failures.routers.end());
	const std::set<uint32_t> dead_links(failures.links.begin(), failures.links.end());

	assert_true(net.built.whole());
	for (uint32_t a = 0; a < net.routers(); a++) {
		for (uint32_t b = 0; b < net.routers(); b++) {
			const RoutingMode mode = MODES[(a + b) % 4];
			const Walk walk = walk_from(net, a, header_to(net, b, mode, a * b), quiet_link, a * 1000 + b);

			if (dead.contains(a) || dead.contains(b)) {
				assert_true(a == b || !walk.arrived);
				continue;
			}
			assert_true(walk.arrived && walk.steps.size() <= 14);
			for (const Step &step : walk.steps) {
				assert_false(dead.contains(step.router));
				assert_false(dead_links.contains(net.wiring.link_of(step.router, step.tile)));
			}
		}
	}
	for (const Address root : net.tables.common().roots)
		assert_false(dead.contains(net.tables.router_at(root)));
}

TEST(failures_leave_the_tables_R14)
{
	const Machine machine = build_aries({.groups = 3, .chassis = 3, .slots = 6});

	for (const char *name : {"green", "black", "blue"}) {
		const std::vector<uint32_t> links = links_of(machine, name);

		check_detours(machine, {{links[0]}, {}});
		check_detours(machine, {{links[1], links[2], links[links.size() / 2]}, {}});
	}
	check_detours(machine, {{}, {0}});
	check_detours(machine, {{}, {1, 8, 15, 20, 35}});
	check_detours(machine, {{links_of(machine, "black")[0], links_of(machine, "blue")[3]}, {2, 3, 30}});
	/* A whole chassis. */
	check_detours(machine, {{}, {6, 7, 8, 9, 10, 11}});
}

/* Of three black links the others carry on (R14). */
TEST(parallel_links_carry_on_R14)
{
	const Machine machine = build_aries({.groups = 1});
	const std::vector<uint32_t> black = links_of(machine, "black");
	const auto [from, to] = machine.links[black[0]].end;
	Failures failures;

	for (uint32_t left = 3; left > 0; left--) {
		const RoutedMachine net(machine, {}, failures);
		const RouterTables &at = net.tables.router(from.router);

		assert_int_equal(at.local[to.router].count, left);
		assert_int_equal(at.local[to.router].hops, 1);
		failures.links.push_back(net.wiring.link_of(from.router, at.ports[at.local[to.router].first]));
	}
	/* Without any: by another chassis, in two hops. */
	const RoutedMachine net(machine, {}, failures);

	assert_int_equal(net.tables.router(from.router).local[to.router].hops, 2);
}

/* A pair of groups without links: in every mode packets go by a third group, and no others do (R14). */
TEST(groups_without_links_use_a_third_R14)
{
	const Machine machine = build_canonical({.p = 2, .a = 4, .h = 2});
	Failures failures;

	for (uint32_t i = 0; i < machine.links.size(); i++) {
		const uint32_t a = machine.routers[machine.links[i].end[0].router].group;
		const uint32_t b = machine.routers[machine.links[i].end[1].router].group;

		if (std::min(a, b) == 2 && std::max(a, b) == 5)
			failures.links.push_back(i);
	}
	assert_int_equal(failures.links.size(), 1);

	for (const RootRule rule : {RootRule::Router, RootRule::Group}) {
		Policy policy;

		policy.roots = rule;

		const RoutedMachine net(machine, policy, failures);

		assert_true(net.built.whole());
		assert_int_equal(net.built.far_groups.size(), 1);
		assert_true(net.built.far_groups[0] == Built::GroupPair(2, 5));
		for (uint32_t i = 0; i < 4000; i++) {
			const uint32_t a = i % 36;
			const uint32_t b = i / 36 % 36;
			const RoutingMode mode = MODES[i / 1296 % 4];
			const Walk walk = walk_from(net, a, header_to(net, b, mode, i), quiet_link, i);
			const bool far = std::min(a, b) / 4 == 2 && std::max(a, b) / 4 == 5;

			assert_true(walk.arrived);
			if (far) {
				assert_int_equal(walk.hops(net, GLOBAL_HOP), 2);
				assert_true(walk.header.root.group != 2 && walk.header.root.group != 5);
			} else if (mode.routing != Routing::NonminimalHash) {
				assert_false(walk.nonminimal);
			}
			for (const Step &step : walk.steps)
				assert_in_range(step.channel, 0, 3);
		}
	}
}

/* What is cut off is named, and nothing else is lost (R14). */
TEST(what_is_cut_off_is_named_R14)
{
	const Machine machine = build_aries({.groups = 3, .chassis = 2, .slots = 3});
	Failures failures;

	/* Router 4 keeps its global links only; group 2 loses all of its global links. */
	for (uint32_t i = 0; i < machine.links.size(); i++) {
		const topology::Link &link = machine.links[i];
		const bool local = machine.classes[link.link_class].scope == topology::Scope::Local;

		if ((local && (link.end[0].router == 4 || link.end[1].router == 4)) ||
		    (!local && (link.end[0].router >= 12 || link.end[1].router >= 12)))
			failures.links.push_back(i);
	}

	const RoutedMachine net(machine, {}, failures);
	const std::vector<std::string> lines = net.built.lost(net.machine);

	assert_false(net.built.whole());
	assert_int_equal(lines.size(), 3);
	assert_string_equal(lines[0].c_str(),
			    "router 4 (group 0, chassis 1, slot 1) has no local link left to the rest "
			    "of its group");
	assert_string_equal(lines[1].c_str(),
			    "groups 0 and 2 have no link between them, and no group that has links to both");
	assert_string_equal(lines[2].c_str(),
			    "groups 1 and 2 have no link between them, and no group that has links to both");

	for (uint32_t a = 0; a < 18; a++) {
		for (uint32_t b = 0; b < 18; b++) {
			const bool cut = a != b && (a == 4 || b == 4 || (a < 12) != (b < 12));

			for (const RoutingMode mode : MODES)
				assert_int_equal(walk_from(net, a, header_to(net, b, mode), quiet_link, a).arrived,
						 !cut);
		}
	}
}

/* Tables change while a packet is on its way to a root that is out now: it goes on without (R14). */
TEST(lost_root_is_given_up_R14)
{
	const Machine machine = build_aries({.groups = 1, .chassis = 3, .slots = 4});
	const RoutedMachine before(machine);
	const RoutedMachine after(machine, {}, {{}, {5}});
	Header header = header_to(before, 10, {Routing::Adaptive, 0});

	header.root = before.tables.address(5);
	header.phase = Phase::Up;
	for (const RoutedMachine *net : {&before, &after}) {
		const Walk walk = walk_on(*net, 1, 0, header, quiet_link, 1);
		const auto visits = [&](uint32_t router) {
			return std::any_of(walk.steps.begin(), walk.steps.end(),
					   [&](const Step &step) { return step.router == router; });
		};

		assert_true(walk.arrived);
		assert_int_equal(visits(5), net == &before);
		assert_int_equal(walk.header.channel, 1);
	}
}

std::string refusal(const Machine &machine, const Policy &policy = {}, const Failures &failures = {})
{
	try {
		build_tables(machine, policy, failures);
	} catch (const std::invalid_argument &reason) {
		return reason.what();
	}
	return {};
}

TEST(bad_input_is_named)
{
	const Machine good = build_aries({.groups = 2, .chassis = 2, .slots = 2});
	Machine bad = good;
	Policy policy;

	assert_string_equal(refusal(good).c_str(), "");
	assert_string_equal(refusal(good, {}, {{99999}, {}}).c_str(),
			    ("link 99999 cannot fail: there are " + std::to_string(good.links.size())).c_str());
	assert_string_equal(refusal(good, {}, {{}, {8}}).c_str(), "router 8 cannot fail: there are 8");
	policy.channels = 9;
	assert_string_equal(refusal(good, policy).c_str(), "9 virtual channels of a class: the tables describe 1 to 8");
	bad.router_type.tiles.resize(65);
	assert_string_equal(refusal(bad).c_str(), "65 tiles: the tables describe routers of at most 64");
	bad = good;
	bad.classes[0].scope = topology::Scope::Global;
	assert_string_equal(refusal(bad).c_str(), "a link of class green is global but inside group 0");
}

} // namespace

TEST_MAIN("tables")
