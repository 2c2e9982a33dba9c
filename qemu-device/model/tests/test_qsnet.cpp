// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Machines of QsNetIII: sizes and parts as the source has them (Q01 to Q04, Q33 to Q38), shared top switches (Q24),
 * nodes with several links (Q25), bisection and hops by closed forms, what cannot be built.
 */
#include "cmocka_cpp.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>

#include "chip/elite5.hpp"
#include "topology/build_clos.hpp"
#include "topology/build_qsnet.hpp"
#include "topology/closed_forms.hpp"
#include "topology/figures.hpp"
#include "topology/hops.hpp"

using namespace aries;
using namespace aries::topology;

namespace
{

uint32_t cables_between_switches(const Machine &machine)
{
	std::set<uint32_t> cables;

	for (const Link &link : machine.links) {
		if (link.cable != NO_CABLE)
			cables.insert(link.cable);
	}
	return static_cast<uint32_t>(cables.size());
}

/* Different chassis of some stages. */
uint32_t chassis_in(const Machine &machine, uint32_t first, uint32_t last)
{
	std::set<uint32_t> chassis;

	for (const RouterPlace &place : machine.routers) {
		if (place.at[0] >= first && place.at[0] <= last)
			chassis.insert(place.at[1]);
	}
	return static_cast<uint32_t>(chassis.size());
}

/* A switch has as many links as Elite5, and eight or sixteen cards with no more ports than are in front of them. */
void check_switches(const Machine &machine)
{
	std::vector<uint32_t> links(machine.routers.size()), places(machine.routers.size());

	assert_string_equal(validate(machine).c_str(), "");
	for (const Link &link : machine.links) {
		for (const LinkEnd &end : link.end)
			links[end.router]++;
	}
	for (const NodePlace &node : machine.nodes)
		places[node.router]++;
	for (const FurtherPlace &place : machine.further)
		places[place.at.router]++;
	for (size_t router = 0; router < links.size(); router++) {
		const uint32_t node_links = places[router] * 16 / machine.router_type.nics;

		assert_true(links[router] > 0 || machine.routers.size() == 1);
		assert_true(links[router] + node_links <= 32);
		assert_true(machine.routers[router].at[2] < 8);
	}
}

/* Table I: nodes, node switch chassis, cables, top switch chassis. */
TEST(table_1_Q33_Q34_Q35)
{
	struct {
		uint32_t nodes, node_chassis, cables, top_chassis, stages;
	} const rows[] = {
		{128, 1, 128, 0, 2},        {256, 2, 384, 0, 2},    {512, 4, 1024, 2, 3},   {640, 5, 1280, 3, 3},
		{1024, 8, 2048, 4, 3},      {1280, 10, 2560, 6, 3}, {2048, 16, 4096, 8, 3}, {4096, 32, 8192, 16, 3},
		{8192, 64, 16384, 64, 4}, /* the source has 32,576 cables next, against its own rule */
		{16384, 128, 32768, 128, 4}};

	for (const auto &row : rows) {
		const QsnetShape shape{.nodes = row.nodes};
		const QsnetParts parts = parts_of(shape);
		const Machine machine = build_qsnet(shape);

		assert_int_equal(parts.node_switches, row.node_chassis);
		assert_int_equal(parts.cables, row.cables);
		assert_int_equal(parts.top_chassis, row.top_chassis);
		assert_int_equal(parts.stages, row.stages);
		/* The same, counted. */
		check_switches(machine);
		assert_int_equal(machine.nodes.size(), row.nodes);
		assert_int_equal(machine.nodes.size() + cables_between_switches(machine), row.cables);
		assert_int_equal(chassis_in(machine, 0, 1), row.node_chassis);
		assert_int_equal(chassis_in(machine, 2, 3), row.top_chassis);
		for (const uint32_t number : {row.node_chassis, row.cables, row.top_chassis})
			assert_non_null(
				std::strstr(machine.name.c_str(), (" " + std::to_string(number) + " ").c_str()));
		assert_int_equal(machine.names.size(), machine.routers.size());
	}
	assert_string_equal(build_qsnet({.nodes = 1024}).names[9].c_str(), "node switch 1 card 1");
	assert_string_equal(build_qsnet({.nodes = 1024}).names[64 + 9].c_str(), "node switch 1 card 9");
	assert_string_equal(build_qsnet({.nodes = 1024}).names[128 + 9].c_str(), "top switch 1 card 1");
	assert_string_equal(build_qsnet({.nodes = 48, .blades = true}).names[2].c_str(), "blades 2");
}

/* Ports in front of the first chassis: those for nodes, and ends of cables. */
uint32_t ports_of_first(const Machine &machine)
{
	uint32_t ports = 0;

	for (const RouterPlace &place : machine.routers) {
		for (const Tile &tile : machine.router_type.tiles)
			ports += place.at[0] == 0 && place.at[1] == 0 && tile.role == TileRole::Processor;
	}
	for (const Link &link : machine.links) {
		for (const LinkEnd &end : link.end)
			ports += link.cable != NO_CABLE && machine.routers[end.router].at[0] == 1 &&
				 machine.routers[end.router].at[1] == 0;
	}
	return ports;
}

/* Every size builds, with 128 nodes more and with one less than that. */
TEST(every_number_of_chassis_Q36_Q37)
{
	for (uint32_t switches = 1; switches <= 128; switches++) {
		const Machine machine = build_qsnet({.nodes = switches * 128 - 1});

		check_switches(machine);
		assert_int_equal(chassis_in(machine, 0, 0), switches);
		/* Sixteen cards, of which half have ports to nodes and half ports upwards: 256 of a chassis. */
		assert_int_equal(std::count_if(machine.routers.begin(), machine.routers.end(),
					       [](const RouterPlace &router) { return router.at[0] < 2; }),
				 switches * 16);
		assert_int_equal(ports_of_first(machine), switches > 1 ? 256 : 128);
		/* Rule of the source: every node switch has a link to every top switch, 128 of them. */
		if (switches > 2)
			assert_int_equal(cables_between_switches(machine), switches * 128);
	}
}

/* Q01, Q02: three stages for 2,048 nodes, where switches of 8 links need five. */
TEST(stages_Q01_Q02)
{
	assert_int_equal(parts_of({.nodes = 2048}).stages, 3);
	assert_int_equal(nodes_of_fat_tree(8, 5), 2048);
	assert_int_equal(nodes_of_fat_tree(8, 4), 512);
	for (uint32_t stages = 1; stages <= 3; stages++)
		assert_int_equal(build_clos({.radix = 32, .stages = stages}).nodes.size(), 32u << 4 * (stages - 1));
	assert_int_equal(chip::ELITE5.radix, 32);
}

/* Links of each top switch card to each node switch: as many as it has top switches. */
TEST(shared_top_switches_Q24_Q35)
{
	struct {
		uint32_t nodes, shared, cards;
	} const cases[] = {{512, 8, 16}, {640, 6, 22}, {1024, 4, 32}, {1280, 3, 43}, {2048, 2, 64}, {4096, 1, 128}};

	for (const auto &c : cases) {
		const Machine machine = build_qsnet({.nodes = c.nodes});
		std::map<std::pair<uint32_t, uint32_t>, uint32_t> links; // card and node switch
		std::set<uint32_t> cards;
		uint32_t fewer = 0;

		for (const Link &link : machine.links) {
			const RouterPlace &lower = machine.routers[link.end[0].router];

			if (machine.routers[link.end[1].router].at[0] != 2)
				continue;
			cards.insert(link.end[1].router);
			links[{link.end[1].router, lower.at[1]}]++;
		}
		assert_int_equal(parts_of({.nodes = c.nodes}).shared, c.shared);
		assert_int_equal(cards.size(), c.cards);
		assert_int_equal(links.size(), c.cards * c.nodes / 128);
		for (const auto &[ends, count] : links) {
			assert_true(count <= c.shared);
			fewer += count < c.shared;
		}
		/* The last card may have fewer top switches than the others. */
		assert_int_equal(fewer, 128 % c.shared ? c.nodes / 128 : 0);
	}
}

/* Q38: blades. Cables are those to top switches alone, one for each node. */
TEST(blades_Q38)
{
	const Machine machine = build_qsnet({.nodes = 2048, .blades = true});
	const QsnetParts parts = parts_of({.nodes = 2048, .blades = true});

	check_switches(machine);
	assert_int_equal(parts.node_switches, 128);
	assert_int_equal(parts.top_switches, 16);
	assert_int_equal(parts.top_chassis, 16);
	assert_int_equal(parts.cables, 2048);
	assert_int_equal(cables_between_switches(machine), 2048);
	assert_int_equal(parts.stages, 3);
	/* A top switch of 128 links is a chassis of two stages. */
	assert_int_equal(chassis_in(machine, 1, 1), 16);
	assert_int_equal(chassis_in(machine, 2, 2), 16);
	for (uint32_t chassis = 1; chassis <= 128; chassis++)
		check_switches(build_qsnet({.nodes = chassis * 16, .blades = true}));
}

/* Q04: a link has 32 channels; answers take none of them. */
TEST(channels_of_a_link_Q04)
{
	const Machine machine = build_qsnet({.nodes = 32});

	assert_int_equal(machine.router_type.request_channels, 32);
	assert_int_equal(machine.router_type.response_channels, 0);
}

/* Half of the nodes can send to the other half, each at its full rate, in any machine with all top switches. */
TEST(bisection_Q03_Q18_Q36)
{
	for (const uint32_t nodes : {128, 256, 512, 1024, 2048, 4096, 8192, 16384}) {
		const Bisection cut = bisection(build_qsnet({.nodes = nodes}));

		assert_int_equal(cut.cut.total.links, nodes / 2);
		assert_int_equal(cut.cut.nodes[0], nodes / 2);
		assert_true(std::fabs(cut.cut.total.gbyte_per_s - nodes / 2 * 3.125) < 1e-6);
	}
	assert_int_equal(bisection(build_qsnet({.nodes = 2048, .blades = true})).cut.total.links, 1024);
	/* What all can send: as much as by a link of each, also where halves are uneven, or two chassis are joined. */
	for (const uint32_t nodes : {128, 256, 640, 16384})
		assert_true(std::fabs(stages_gbyte_per_s(build_qsnet({.nodes = nodes})) - nodes * 3.125) < 1e-6);
	assert_true(std::fabs(stages_gbyte_per_s(build_qsnet({.nodes = 640, .top_switches = 32})) - 500) < 1e-6);
	assert_true(stages_gbyte_per_s(build_qsnet({.nodes = 16, .blades = true})) == 0);
	/* Fewer top switches, less of it (Q36). */
	assert_int_equal(bisection(build_qsnet({.nodes = 1024, .top_switches = 64})).cut.total.links, 256);
}

/* Diameter and mean, counted over the links, as the closed form has them. */
TEST(hops_Q08)
{
	const auto check = [](const Machine &machine, std::vector<uint64_t> below, uint32_t most) {
		const Hops hops = count_hops(machine, Wiring(machine), 16);

		assert_true(std::fabs(hops.mean - mean_hops_of_clos(below)) < 1e-9);
		assert_int_equal(hops.most, most);
	};

	check(build_qsnet({.nodes = 128}), {16, 128}, 2);
	check(build_qsnet({.nodes = 512}), {16, 128, 512}, 4);
	check(build_qsnet({.nodes = 640}), {16, 128, 640}, 4);
	/* One switch to five for 32 to 2,048 nodes. */
	check(build_qsnet({.nodes = 2048}), {16, 128, 2048}, 4);
	/* A card of a top switch has sixteen cables, of as many node switches or, where two share it, of half as many.
	 */
	check(build_qsnet({.nodes = 16384}), {16, 128, 16 * 128, 16384}, 6);
	check(build_qsnet({.nodes = 8192}), {16, 128, 8 * 128, 8192}, 6);
	check(build_qsnet({.nodes = 2048, .blades = true}), {16, 256, 2048}, 4);
	check(build_clos({.radix = 8, .stages = 4}), {4, 16, 64, 512}, 6);
	check(build_clos({.radix = 36, .stages = 3}), {18, 324, 11664}, 4);

	/* Two chassis that are joined directly: three hops, not four. */
	const Machine two = build_qsnet({.nodes = 256});
	const Hops hops = count_hops(two, Wiring(two));

	assert_int_equal(hops.most, 3);
	assert_true(std::fabs(hops.mean - (112 * 2 + 128 * 3) / 255.0) < 1e-9);
}

/* Q25: two or four links at one router, or each at another chassis. */
TEST(several_links_of_a_node_Q25)
{
	for (const uint32_t links : {1, 2, 4}) {
		const Machine one = build_qsnet({.nodes = 256, .links = links});
		uint32_t tiles = 0;

		check_switches(one);
		assert_int_equal(one.nodes.size(), 256);
		assert_int_equal(one.further.size(), 0);
		assert_int_equal(chassis_in(one, 0, 0), 2 * links);
		for (const Tile &tile : one.router_type.tiles)
			tiles += tile.role == TileRole::Processor && tile.nic_mask == 1;
		assert_int_equal(tiles, links);
		if (links == 1)
			continue;

		const Machine several = build_qsnet({.nodes = 256, .links = links, .spread = true});
		const Wiring wiring(several);
		std::vector<std::set<uint32_t>> chassis(256);

		check_switches(several);
		assert_int_equal(several.further.size(), 256 * (links - 1));
		assert_int_equal(chassis_in(several, 0, 0), 2 * links);
		for (uint32_t node = 0; node < 256; node++)
			chassis[node].insert(several.routers[several.nodes[node].router].at[1]);
		for (const FurtherPlace &place : several.further) {
			chassis[place.node].insert(several.routers[place.at.router].at[1]);
			assert_int_equal(wiring.node_at(place.at.router, place.at.nic), place.node);
			assert_int_equal(place.at.nic, several.nodes[place.node].nic);
		}
		for (const auto &of_node : chassis)
			assert_int_equal(of_node.size(), links);
		/* What is below the same chassis, at any of its links, is near; none of its places comes first. */
		const Hops hops = count_hops(several, wiring);
		Machine turned = several;

		for (uint32_t node = 0; node < 256; node += 3)
			std::swap(turned.nodes[node], turned.further[node * (links - 1)].at);
		assert_true(std::fabs(hops.mean - (112 * 2 + 128 * 4) / 255.0) < 1e-9);
		assert_true(std::fabs(count_hops(turned, Wiring(turned)).mean - hops.mean) < 1e-9);
	}
}

/* Q19: errors of all links in both directions, of a machine with two rails, at one in 10^15 bits: about one a second.
 */
TEST(errors_Q19)
{
	const Machine machine = build_qsnet({.nodes = 2048});
	const double links = static_cast<double>(machine.links.size() + machine.nodes.size());
	const double errors = 2 * 2 * links * static_cast<double>(chip::raw_mbit(chip::ELITE5.line)) * 1e6 * 1e-15;

	assert_true(std::fabs(errors - 0.6144) < 1e-9);
}

void refused(const char *word, const QsnetShape &shape)
{
	const std::string reason = check_qsnet(shape);

	if (!std::strstr(reason.c_str(), word) || std::strchr(reason.c_str(), '\n'))
		fail_msg("'%s' and not '%s'", reason.c_str(), word);
	try {
		build_qsnet(shape);
		fail_msg("it is built: %s", word);
	} catch (const std::invalid_argument &error) {
		assert_string_equal(error.what(), reason.c_str());
	}
}

TEST(bad_input_Q25_Q34_Q36_Q38)
{
	refused("needs nodes", {.nodes = 0});
	refused("16384 links to nodes (Q34)", {.nodes = 16385});
	refused("16384 links to nodes (Q34)", {.nodes = UINT32_MAX, .links = 4});
	refused("8193 nodes with 2 links", {.nodes = 8193, .links = 2});
	refused("a larger top switch", {.nodes = 2049, .blades = true});
	refused("3 links of a node", {.links = 3});
	refused("0 links of a node", {.links = 0});
	refused("at several chassis", {.spread = true});
	refused("in its own chassis", {.links = 2, .spread = true, .blades = true});
	refused("129 top switches: a node switch has 128", {.nodes = 512, .top_switches = 129});
	refused("17 top switches: a node switch has 16", {.nodes = 512, .blades = true, .top_switches = 17});
	refused("2 node switches need none", {.nodes = 256, .top_switches = 2});
	refused("1 node switch needs none", {.nodes = 1, .top_switches = 2});
	assert_string_equal(check_qsnet({.nodes = 8192, .links = 2}).c_str(), "");
	assert_string_equal(check_qsnet({.nodes = 4096, .links = 4, .spread = true}).c_str(), "");
	assert_string_equal(validate(build_qsnet({.nodes = 1})).c_str(), "");
	assert_string_equal(validate(build_qsnet({.nodes = 16, .blades = true})).c_str(), "");
}

/* A node's further place has the rules of its first one. */
TEST(further_places_that_cannot_be)
{
	const Machine machine = build_qsnet({.nodes = 128, .links = 2, .spread = true});
	const auto told = [&](const FurtherPlace &place) {
		Machine other = machine;

		other.further.back() = place;
		assert_true(find_fault(other).part == Part::Further);
		assert_int_equal(find_fault(other).index, machine.further.size() - 1);
		return validate(other);
	};

	assert_non_null(std::strstr(told({128, {0, 0}}).c_str(), "there are 128"));
	assert_non_null(std::strstr(told({127, {UINT32_MAX, 0}}).c_str(), "is at router"));
	assert_non_null(std::strstr(told({127, {0, 16}}).c_str(), "a router has 16"));
	assert_non_null(std::strstr(told({127, {0, 0}}).c_str(), "where another node is"));
}

} // namespace

TEST_MAIN("qsnet")
