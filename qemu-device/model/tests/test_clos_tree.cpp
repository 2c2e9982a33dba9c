// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Broadcasts on a folded Clos: any group of nodes gets a packet once, from wherever it is sent, by the way up and then
 * down (Q26); the tree's root and its move (Q32).
 */
#include "cmocka_cpp.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>

#include "router/clos.hpp"
#include "router/clos_tree.hpp"
#include "topology/build_canonical.hpp"
#include "topology/build_clos.hpp"
#include "topology/build_qsnet.hpp"
#include "topology/wiring.hpp"

using namespace aries;
using namespace aries::routing;
using topology::build_clos;
using topology::build_qsnet;
using topology::LinkEnd;
using topology::Machine;
using topology::Wiring;

namespace
{

std::vector<Machine> machines()
{
	return {build_qsnet({.nodes = 128}),
		build_qsnet({.nodes = 256}),
		build_qsnet({.nodes = 640}),
		build_qsnet({.nodes = 128, .links = 4, .spread = true}),
		build_qsnet({.nodes = 16, .blades = true}),
		build_qsnet({.nodes = 560, .blades = true}),
		build_clos({.radix = 4, .stages = 4})};
}

/* Links that a packet takes from a node's router to all of a group, and the nodes that get it. */
struct Delivery {
	std::map<uint32_t, uint32_t> nodes; ///< how often each
	uint32_t turned = NO_ROUTER;
	uint32_t up = 0, links = 0;
};

Delivery broadcast(const Wiring &wiring, const ClosTree &tree, const ClosGroup &group, uint32_t from)
{
	Delivery result;
	std::vector<uint32_t> unvisited;

	for (result.turned = from; group.goes_up(result.turned); result.up++) {
		const LinkEnd above = wiring.far_end(result.turned, tree.place(result.turned).up);

		assert_int_equal(above.router, tree.place(result.turned).parent);
		assert_int_equal(above.tile, tree.place(result.turned).parent_down);
		result.turned = above.router;
	}
	result.links = result.up;
	unvisited.push_back(result.turned);
	while (!unvisited.empty()) {
		const uint32_t at = unvisited.back();
		const GroupWays &ways = group.ways(at);

		unvisited.pop_back();
		assert_int_equal(ways.copies(), ways.tiles.size() + std::popcount(ways.nics));
		assert_true(ways.copies() > 0);
		for (const uint8_t tile : ways.tiles) {
			unvisited.push_back(wiring.far_end(at, tile).router);
			result.links++;
		}
		for (uint32_t nic = 0; nic < 32; nic++) {
			if (ways.nics >> nic & 1)
				result.nodes[wiring.node_at(at, nic)]++;
		}
	}
	return result;
}

/* Each member once, and nobody else; from a member and from others; with the fewest links that its tree has. */
TEST(any_group_gets_a_packet_once_Q26)
{
	std::mt19937 random(1);

	for (const Machine &machine : machines()) {
		const Wiring wiring(machine);
		const ClosTree tree(machine);
		std::vector<uint32_t> all(machine.nodes.size());

		std::iota(all.begin(), all.end(), 0);
		for (uint32_t i = 0; i < 24; i++) {
			const size_t size = i == 0 ? all.size() : i == 1 ? 1 : 1 + random() % all.size();

			std::shuffle(all.begin(), all.end(), random);

			const std::vector<uint32_t> members(all.begin(),
							    all.begin() + static_cast<std::ptrdiff_t>(size));
			const ClosGroup group(machine, tree, members);
			const uint32_t from = machine.nodes[random() % machine.nodes.size()].router;
			const Delivery got = broadcast(wiring, tree, group, from);

			assert_int_equal(got.nodes.size(), members.size());
			for (const uint32_t node : members)
				assert_int_equal(got.nodes.at(node), 1);
			/* It turned at the first router that has all below it. */
			for (const uint8_t tile : group.ways(got.turned).tiles)
				assert_true(group.ways(wiring.far_end(got.turned, tile).router).copies() > 0);
			for (uint32_t at = from; at != got.turned; at = tree.place(at).parent)
				assert_false(group.ways(at).spans);
			/* Below it, a link to each router that has a member or leads to one. */
			uint32_t routers = 0;

			for (uint32_t router = 0; router < machine.routers.size(); router++) {
				uint32_t at = router;

				while (at != NO_ROUTER && at != got.turned)
					at = tree.place(at).parent;
				routers += at == got.turned && router != at && group.ways(router).copies() > 0;
			}
			assert_int_equal(got.links - got.up, routers);
		}
	}
}

/* Up no further than needed, and the same number of links one way as a packet to one node takes. */
TEST(no_higher_than_needed_Q26)
{
	const Machine machine = build_qsnet({.nodes = 1024});
	const Wiring wiring(machine);
	const ClosTree tree(machine);
	const auto turned = [&](std::vector<uint32_t> nodes, uint32_t from) {
		const Delivery got = broadcast(wiring, tree, ClosGroup(machine, tree, nodes), from);

		return std::pair{machine.routers[got.turned].at[0], got.links};
	};

	/* At the card of the nodes, in their chassis, at the top: nodes have numbers by cards of 16, chassis of 128. */
	assert_true(turned({0, 3, 15}, 0) == (std::pair<uint16_t, uint32_t>{0, 0}));
	assert_true(turned({0, 16}, 0) == (std::pair<uint16_t, uint32_t>{1, 3}));
	assert_true(turned({0, 127}, 3) == (std::pair<uint16_t, uint32_t>{1, 3}));
	assert_true(turned({0, 1023}, 0) == (std::pair<uint16_t, uint32_t>{2, 2 + 4}));
	/* Not only ranges: the first node of each chassis takes two links from the top to each. */
	assert_true(turned({0, 128, 256, 384, 512, 640, 768, 896}, 5) == (std::pair<uint16_t, uint32_t>{2, 2 + 16}));
	/* From elsewhere to one chassis: up to the top, down to its card, and to the cards of its nodes. */
	assert_true(turned({900, 1000}, 0) == (std::pair<uint16_t, uint32_t>{2, 2 + 3}));
}

TEST(the_root_moves_Q32)
{
	const Machine machine = build_qsnet({.nodes = 1024});
	const uint32_t top = 128; // behind two stages of 64
	Failures failures;

	assert_int_equal(machine.routers[top].at[0], 2);
	assert_int_equal(ClosTree(machine).root(), top);
	failures.routers = {top};
	assert_int_equal(ClosTree(machine, failures).root(), top + 1);
	failures.routers = {top + 1, 0};
	assert_int_equal(ClosTree(machine, failures).root(), top);
	failures.routers = {top, top + 1, top + 2};
	assert_int_equal(ClosTree(machine, failures).root(), top + 3);

	/* In the highest stage also where a router below it would do. */
	assert_int_equal(ClosTree(build_qsnet({.nodes = 10})).root(), 8);

	/* A root whose links to a chassis are out is none; the next that reaches all is. */
	failures = {};
	for (uint32_t i = 0; i < machine.links.size(); i++) {
		const topology::Link &link = machine.links[i];

		if (link.end[1].router == top && machine.routers[link.end[0].router].at[1] == 5)
			failures.links.push_back(i);
	}
	assert_int_equal(failures.links.size(), 4);

	const ClosTree moved(machine, failures);

	assert_int_equal(moved.root(), top + 1);
	assert_false(moved.has(top));
	assert_true(moved.has(0));
	/* With all tops out one chassis is reached, the first one's; with everything out none is. */
	failures = {};
	for (uint32_t router = top; router < machine.routers.size(); router++)
		failures.routers.push_back(router);
	assert_int_equal(ClosTree(machine, failures).root(), 64);
	for (uint32_t router = 0; router < top; router++)
		failures.routers.push_back(router);
	assert_int_equal(ClosTree(machine, failures).root(), NO_ROUTER);
	assert_false(ClosTree(machine, failures).has(0));
}

template <typename Make> void refused(const char *word, Make make)
{
	try {
		make();
		fail_msg("no error: %s", word);
	} catch (const std::invalid_argument &error) {
		if (!std::strstr(error.what(), word))
			fail_msg("'%s' and not '%s'", error.what(), word);
	}
}

TEST(what_is_no_group)
{
	const Machine machine = build_qsnet({.nodes = 256});
	const ClosTree tree(machine), broken(machine, {{}, {0}});
	const auto group = [&machine](const ClosTree &of, std::vector<uint32_t> nodes) {
		return [&machine, &of, nodes] { ClosGroup(machine, of, nodes); };
	};

	refused("without members", group(tree, {}));
	refused("there are 256", group(tree, {1, 256}));
	refused("node 7 is twice", group(tree, {7, 3, 7}));
	refused("node 5 of a group is not below the root", group(broken, {5}));
	refused("cannot fail", [&] { ClosTree(machine, {{}, {UINT32_MAX}}); });
	refused("first coordinate", [] { ClosTree(topology::build_canonical({2, 4, 2, 0})); });

	/* A node with links to several chassis has another place. */
	const Machine spread = build_qsnet({.nodes = 128, .links = 2, .spread = true});
	const ClosTree half(spread, {{}, {0}});
	const ClosGroup both(spread, half, std::vector<uint32_t>{5, 20});

	assert_int_equal(both.ways(spread.further[5].at.router).nics, 1u << 5);
}

} // namespace

TEST_MAIN("clos_tree")
