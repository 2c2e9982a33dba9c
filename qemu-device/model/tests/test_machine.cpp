// SPDX-License-Identifier: GPL-2.0-or-later
/* Machines as data: the rules that each has to keep, the wiring, and the canonical dragonfly. */
#include "cmocka_cpp.hpp"

#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "topology/build_aries.hpp"
#include "topology/build_canonical.hpp"
#include "topology/wiring.hpp"

using namespace aries::topology;

namespace
{

/* Two groups of two routers of two nodes. */
Machine small_machine()
{
	return build_canonical({2, 2, 1, 2});
}

struct Broken {
	const char *word;
	std::function<void(Machine &)> how;
};

/* Each rule is broken alone, and the message names it in one line. */
void check_all(const std::vector<Broken> &cases)
{
	for (const Broken &broken : cases) {
		Machine machine = small_machine();

		assert_string_equal(validate(machine).c_str(), "");
		broken.how(machine);

		const std::string reason = validate(machine);

		if (reason.find(broken.word) == std::string::npos || reason.find('\n') != std::string::npos)
			fail_msg("no '%s' in '%s'", broken.word, reason.c_str());
	}
}

TEST(a_broken_router_type_is_named)
{
	check_all({
		{"0 x", [](Machine &m) { m.router_type.rows = 0; }},
		{"has 4 tiles", [](Machine &m) { m.router_type.columns = 9; }},
		{"33 NICs", [](Machine &m) { m.router_type.nics = 33; }},
		{"channel", [](Machine &m) { m.router_type.request_channels = 0; }},
		{"clock", [](Machine &m) { m.router_type.clock_mhz = 0; }},
		{"link class 7", [](Machine &m) { m.router_type.tiles[0].link_class = 7; }},
		{"serves no NIC", [](Machine &m) { m.router_type.tiles[3].nic_mask = 0; }},
		{"serves no NIC", [](Machine &m) { m.router_type.tiles[3].nic_mask = 4; }},
		{"no name", [](Machine &m) { m.classes[0].name = ""; }},
		{"two link classes", [](Machine &m) { m.classes[0].name = m.classes[1].name; }},
		{"0 lanes", [](Machine &m) { m.classes[1].lanes = 0; }},
		{"rate", [](Machine &m) { m.classes[1].gbit_per_lane = -1; }},
		{"negative length", [](Machine &m) { m.classes[1].default_length_m = -1; }},
	});
}

TEST(a_broken_place_is_named)
{
	check_all({
		{"at least one router", [](Machine &m) { m.routers.clear(); }},
		{"router 3 is in group 2", [](Machine &m) { m.routers[3].group = 2; }},
		{"group 2 has no router", [](Machine &m) { m.groups = 3; }},
		{"5 groups of 4 routers", [](Machine &m) { m.groups = 5; }},
		{"routers 0 and 1 are in the same place", [](Machine &m) { m.routers[1] = m.routers[0]; }},
		{"more coordinates", [](Machine &m) { m.routers[1].at[2] = 1; }},
		{"4 axes",
		 [](Machine &m) {
			 m.axes = {"a", "b", "c", "d"};
		 }},
		{"node 5 is at router 4", [](Machine &m) { m.nodes[5].router = 4; }},
		{"node 5 is at NIC 2", [](Machine &m) { m.nodes[5].nic = 2; }},
		{"where another node is", [](Machine &m) { m.nodes[5] = m.nodes[1]; }},
	});
}

TEST(a_broken_name_is_named)
{
	check_all({
		{"3 names of 4 routers",
		 [](Machine &m) {
			 m.names = {"a", "b", "c"};
		 }},
		{"router 2 has no name",
		 [](Machine &m) {
			 m.names = {"a", "b", "", "c"};
		 }},
		{"two routers are named b",
		 [](Machine &m) {
			 m.names = {"b", "a", "c", "b"};
		 }},
	});
}

TEST(a_broken_link_is_named)
{
	check_all({
		{"link 0: router 4 does not exist", [](Machine &m) { m.links[0].end[1].router = 4; }},
		{"tile 4 does not exist", [](Machine &m) { m.links[0].end[1].tile = 4; }},
		{"not a network tile", [](Machine &m) { m.links[0].end[1].tile = 3; }},
		{"is for class global, not local", [](Machine &m) { m.links[0].end[1].tile = 1; }},
		{"has a link already", [](Machine &m) { m.links.push_back(m.links[0]); }},
		{"0 lanes", [](Machine &m) { m.links[2].lanes = 0; }},
		{"4 lanes", [](Machine &m) { m.links[2].lanes = 4; }},
		{"length", [](Machine &m) { m.links[2].length_m = -1; }},
		{"rate is negative", [](Machine &m) { m.links[2].gbit_per_lane = -1; }},
		{"class 2 does not exist", [](Machine &m) { m.links[2].link_class = 2; }},
		{"both ends", [](Machine &m) { m.links[0].end[1] = m.links[0].end[0]; }},
		{"leads to another group", [](Machine &m) { m.classes[1].scope = Scope::Local; }},
		{"stays inside", [](Machine &m) { m.classes[0].scope = Scope::Global; }},
		{"in pieces", [](Machine &m) { m.links.resize(2); }},
	});
}

TEST(wiring_agrees_with_the_links)
{
	const Machine machine = build_aries({.groups = 3, .chassis = 2, .slots = 4, .nodes = 90});
	const Wiring wiring(machine);
	size_t ends = 0;

	assert_string_equal(validate(machine).c_str(), "");
	assert_int_equal(wiring.routers(), machine.routers.size());
	for (uint32_t router = 0; router < wiring.routers(); router++) {
		for (uint32_t tile = 0; tile < wiring.tiles(); tile++) {
			const uint32_t link = wiring.link_of(router, tile);
			const LinkEnd far = wiring.far_end(router, tile);

			assert_int_equal(link == NO_LINK, far.tile == NOT_CONNECTED);
			if (link == NO_LINK)
				continue;
			ends++;

			const Link &data = machine.links[link];
			const int side = data.end[0] == LinkEnd{router, tile} ? 0 : 1;

			assert_true((data.end[side] == LinkEnd{router, tile}));
			assert_true(data.end[1 - side] == far);
		}
	}
	assert_int_equal(ends, machine.links.size() * 2);
}

TEST(wiring_knows_groups_and_nodes)
{
	Machine machine = small_machine();

	machine.nodes.erase(machine.nodes.begin() + 2);

	const Wiring wiring(machine);

	assert_int_equal(wiring.groups(), 2);
	assert_int_equal(wiring.routers_of(1).size(), 2);
	assert_int_equal(wiring.routers_of(1)[0], 2);
	assert_int_equal(wiring.group_of(3), 1);
	assert_int_equal(wiring.node_at(0, 1), 1);
	assert_int_equal(wiring.node_at(1, 0), NO_NODE);
	assert_int_equal(wiring.nodes_of(1)[1], 2);
	assert_int_equal(wiring.nodes_of(3).size(), 2);
}

/* The canonical machine of 1,056 nodes: each router sees a - 1 others, each group each other group once. */
TEST(canonical_1056)
{
	const Machine machine = build_canonical({4, 8, 4, 0});
	const Wiring wiring(machine);

	assert_string_equal(validate(machine).c_str(), "");
	assert_int_equal(machine.nodes.size(), 1056);
	assert_int_equal(machine.groups, 33);
	for (uint32_t group = 0; group < 33; group++) {
		std::vector<uint32_t> to(33);

		for (const uint32_t router : wiring.routers_of(group)) {
			for (uint32_t tile = 0; tile < 11; tile++)
				to[wiring.group_of(wiring.far_end(router, tile).router)]++;
		}
		for (uint32_t peer = 0; peer < 33; peer++)
			assert_int_equal(to[peer], peer == group ? 56 : 1);
	}
}

TEST(canonical_bad_input)
{
	struct {
		CanonicalShape shape;
		const char *word;
	} const cases[] = {
		{{0, 8, 4, 0}, "at least one"},        {{4, 0, 4, 0}, "at least one"},
		{{33, 8, 4, 0}, "at most 32"},         {{4, 1017, 4, 0}, "1024 tiles"},
		{{4, UINT32_MAX, 4, 0}, "1024 tiles"}, {{4, 500, 500, 0}, "at most 16777216"},
		{{4, 8, 4, 34}, "reach only 33"},
	};

	for (const auto &c : cases) {
		std::string thrown;

		try {
			build_canonical(c.shape);
		} catch (const std::invalid_argument &error) {
			thrown = error.what();
		}
		assert_string_equal(thrown.c_str(), check_canonical(c.shape).c_str());
		assert_non_null(std::strstr(thrown.c_str(), c.word));
	}
	/* Fewer groups than can be share the links: two to each of two peers. */
	const Machine few = build_canonical({1, 2, 2, 3});

	assert_string_equal(validate(few).c_str(), "");
	assert_int_equal(few.links.size(), 3 * 1 + 3 * 2);
}

} // namespace

TEST_MAIN("machine")
