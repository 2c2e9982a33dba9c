// SPDX-License-Identifier: GPL-2.0-or-later
/* What machines cost and carry, counted from their links, against the tables and formulas of the sources. */
#include "cmocka_cpp.hpp"

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "topology/build_aries.hpp"
#include "topology/build_canonical.hpp"
#include "topology/build_clos.hpp"
#include "topology/build_torus.hpp"
#include "topology/closed_forms.hpp"
#include "topology/figures.hpp"
#include "topology/hops.hpp"

using namespace aries::topology;

namespace
{

enum { GREEN, BLACK, BLUE };

constexpr double CABLE_GBYTE_PER_S = 18.75; ///< of an optical cable, one direction (T23)

/* Equal to the digits that the sources print. */
void check_near(double value, double expected, double tolerance)
{
	if (std::fabs(value - expected) > tolerance)
		fail_msg("%g instead of %g", value, expected);
}

/* T13, T14, T15: Table 1, parts of a group and of a node with full global bandwidth. */
TEST(table_1_T13_T14_T15)
{
	for (const uint32_t groups : {2, 3, 4, 6}) {
		const Machine machine = build_aries({.groups = groups});
		const auto counts = count_classes(machine);
		const auto nodes = static_cast<double>(machine.nodes.size());

		check_near(static_cast<double>(machine.routers.size()) / nodes, 0.25, 0);
		assert_int_equal(counts[BLACK].cables, groups * 240);
		check_near(static_cast<double>(counts[BLACK].cables) / nodes, 0.625, 0);
		assert_int_equal(counts[BLUE].cables, groups * 120);
		check_near(static_cast<double>(counts[BLUE].cables) / nodes, 0.3125, 0);
		assert_int_equal(counts[GREEN].cables, 0);
		/* Three links of three lanes make a 9X cable, four a 12X. */
		assert_int_equal(counts[BLACK].lanes, counts[BLACK].cables * 9);
		assert_int_equal(counts[BLUE].lanes, counts[BLUE].cables * 12);
	}
}

/* T16: five connectors take all 20 global links of two blades. */
TEST(connectors_T16)
{
	const Machine machine = build_aries({.groups = 2});
	std::vector<bool> seen(count_classes(machine)[BLUE].cables + count_classes(machine)[BLACK].cables);
	uint32_t links = 0;
	uint32_t cables = 0;

	for (const Link &link : machine.links) {
		if (link.link_class != BLUE || link.end[0].router > 1)
			continue;
		links++;
		cables += !seen[link.cable];
		seen[link.cable] = true;
	}
	assert_int_equal(links, 20);
	assert_int_equal(cables, 5);
}

/* T17 to T20: lengths and rates. */
TEST(links_T17_T18_T19_T20_T23)
{
	const Machine machine = build_aries({.groups = 2});

	assert_true(machine.classes[BLACK].default_length_m <= 3);
	assert_true(machine.classes[BLUE].default_length_m <= 35);
	check_near(machine.classes[GREEN].gbyte_per_s(3), 5.25, 1e-9);
	check_near(machine.classes[BLACK].gbyte_per_s(3), 5.25, 1e-9);
	check_near(machine.classes[BLUE].gbyte_per_s(3), 4.6875, 1e-9);
	check_near(machine.classes[BLUE].gbyte_per_s(12), CABLE_GBYTE_PER_S, 1e-9);
	check_near(count_classes(machine)[BLUE].length_of_cables, 240.0 * 10, 0);
	check_near(count_classes(build_aries({.groups = 2, .global_length_m = 35}))[BLUE].length_of_cables, 240.0 * 35,
		   0);
}

/*
 * P16: ten optical links for what eight processor tiles pass, because light is slower than copper: together they
 * carry it, and what the NICs send, and eight of them would not.
 */
TEST(optical_links_of_a_router_P16)
{
	constexpr double FLIT_KBYTE = 6e-3;
	constexpr double NIC_GBYTE_PER_S = 10.24; // (L08)
	const Machine machine = build_aries({.groups = 2});
	const RouterType &type = machine.router_type;
	std::vector<double> optical(machine.routers.size());
	double tiles = 0;

	for (const Link &link : machine.links) {
		for (const LinkEnd &end : link.end) {
			if (link.link_class == BLUE)
				optical[end.router] += machine.classes[BLUE].gbyte_per_s(link.lanes);
		}
	}
	for (const Tile &tile : type.tiles)
		tiles += tile.role == TileRole::Processor ? type.clock_mhz * FLIT_KBYTE : 0;
	check_near(tiles, 42, 1e-9);
	for (const double all : optical) {
		check_near(all, 46.875, 1e-9);
		assert_true(all >= tiles);
		assert_true(all >= type.nics * NIC_GBYTE_PER_S);
		assert_true(all * 8 / 10 < tiles);
	}
}

/* T21, T22: a group, cut across either dimension. */
TEST(group_bisection_T21_T22)
{
	const Machine machine = build_aries({});
	const auto cuts = axis_bisections(machine);

	assert_int_equal(cuts.size(), 2);
	assert_string_equal(cuts[0].how.c_str(), "chassis");
	assert_int_equal(cuts[0].cut.by_class[BLACK].links, 432);
	assert_int_equal(cuts[0].cut.total.links, 432);
	assert_string_equal(cuts[1].how.c_str(), "slot");
	assert_int_equal(cuts[1].cut.by_class[GREEN].links, 384);
	assert_int_equal(cuts[1].cut.total.links, 384);
	assert_string_equal(bisection(machine).how.c_str(), "slot");
	check_near(bisection(machine).cut.both_ways(), 4032, 1e-6);
	assert_int_equal(cuts[1].cut.nodes[0], 192);
	assert_int_equal(cuts[1].cut.nodes[1], 192);
}

struct Row {
	uint32_t cabinets;
	uint32_t bundle;
	BundleRule rule;
	uint64_t cables;
	uint64_t crossing;
	double gbyte_per_s;
};

/* Tables 2 and 3 (T24, T26 to T30), with the row that the rule of six would give instead (T31). */
TEST(tables_2_and_3_T24_T26_T27_T28_T29_T30_T31)
{
	const Row rows[] = {
		{12, 12, BundleRule::AsNeeded, 180, 108, 4050},     /* T27, T29 */
		{16, 12, BundleRule::AsNeeded, 336, 192, 7200},     /* T28, T30 */
		{12, 0, BundleRule::AsNeeded, 720, 432, 16200},     /* T29 */
		{16, 0, BundleRule::AsNeeded, 952, 544, 20400},     /* T30 */
		{16, 0, BundleRule::Multiples, 840, 480, 18000},    /* T31 */
		{12, 0, BundleRule::Multiples, 720, 432, 16200},    /* T31 */
		{128, 0, BundleRule::AsNeeded, 6048, 3072, 115200}, /* beyond those whose halves are all tried */
	};

	for (const Row &row : rows) {
		const uint32_t groups = row.cabinets / 2;
		const AriesShape shape{.groups = groups, .cables_per_pair = row.bundle, .bundle_rule = row.rule};
		const Machine machine = build_aries(shape);
		const uint32_t bundle = aries_cables_per_pair(shape);
		const Cut cut = bisection(machine).cut;

		assert_int_equal(count_classes(machine)[BLUE].cables, row.cables);
		assert_int_equal(cables_of_machine(bundle, groups), row.cables);
		assert_int_equal(cut.total.cables, row.crossing);
		check_near(cut.both_ways(), row.gbyte_per_s, 1e-6);
		check_near(bisection_gbyte_per_s(groups, bundle * (groups - 1), CABLE_GBYTE_PER_S), row.gbyte_per_s,
			   1e-6);
	}
}

/* T25: as many cables to a bundle as fit. */
TEST(bundles_T25)
{
	for (uint32_t groups = 2; groups <= 241; groups++)
		assert_int_equal(aries_cables_per_pair({.groups = groups}), cables_of_bundle(240, groups));
}

/* T24, T42, L27: bisection and global bandwidth, counted, stand to each other as the formulas say. */
TEST(bisection_and_global_T24_T42_L27)
{
	double last = 2;

	for (const uint32_t groups : {2, 4, 6, 8, 10, 20, 60}) {
		const Machine machine = build_aries({.groups = groups});
		const uint32_t cables = aries_cables_per_pair({.groups = groups}) * (groups - 1);
		const Cut cut = bisection(machine).cut;
		const double global = global_gbyte_per_s(machine);
		const double of_node = cut.total.gbyte_per_s / static_cast<double>(cut.nodes[0]);
		const double ratio = of_node / global_gbyte_per_s_per_node(machine);

		check_near(cut.both_ways(), bisection_gbyte_per_s(groups, cables, CABLE_GBYTE_PER_S), 1e-6);
		check_near(global, 4.6875 * cables * 4 * groups, 1e-6);
		check_near(global / cut.both_ways(), 2.0 * (groups - 1) / groups, 1e-9);
		check_near(ratio, bisection_to_global(groups), 1e-9);
		assert_true(ratio < last && ratio > 0.5);
		last = ratio;
	}
	/* Near a half for many groups. */
	check_near(last, 0.5, 0.01);
}

/* With an odd number of groups, or a short last one, there is no formula: the worst halves are found. */
TEST(uneven_halves_T24)
{
	const Cut odd = bisection(build_aries({.groups = 5, .cables_per_pair = 12})).cut;
	const Bisection uneven = bisection(build_aries({.groups = 4, .last_group_chassis = 1, .cables_per_pair = 12}));

	assert_int_equal(odd.total.cables, 2 * 3 * 12);
	/* Of four groups one has two cables to each other; the halves have 2 + 2 groups wherever it is. */
	assert_int_equal(uneven.cut.total.cables, 2 * 12 + 2 * 2);
	assert_non_null(std::strstr(uneven.how.c_str(), "|"));
	/* Groups 0 and 2, and 1 and 3, keep their five links, all others one. */
	Machine thin = build_canonical({1, 5, 3, 4});
	std::vector<uint32_t> seen(16);

	std::erase_if(thin.links, [&](const Link &link) {
		const uint32_t a = thin.routers[link.end[0].router].group;
		const uint32_t b = thin.routers[link.end[1].router].group;

		return a % 2 != b % 2 && seen[a * 4 + b]++;
	});
	assert_int_equal(bisection(thin).cut.total.links, 4);
	assert_string_equal(bisection(thin).how.c_str(), "groups 1 3 | 0 2");
}

/* T32: cables of each group in the examples, and what part of the ports that is. */
TEST(populated_ports_T32)
{
	assert_int_equal(count_classes(build_aries({.groups = 6, .cables_per_pair = 12}))[BLUE].cables * 2 / 6, 60);
	assert_int_equal(count_classes(build_aries({.groups = 8, .cables_per_pair = 12}))[BLUE].cables * 2 / 8, 84);
}

/* T38: what stays at a router of uniform traffic over one dimension. */
TEST(share_that_stays_T38)
{
	const Machine machine = build_aries({});

	check_near(share_that_stays(machine, GREEN), 1.0 / 16, 1e-12);
	check_near(share_that_stays(machine, BLACK), 1.0 / 6, 1e-12);
}

/* T39, T40, T41, T43: bandwidth of a node in a full network. */
TEST(bandwidth_T39_T40_T41_T43)
{
	const Machine machine = build_aries({.groups = 6});

	check_near(local_to_global(machine), 3.36, 0.001);
	assert_true(local_to_global(machine) >= 2);
	check_near(global_gbyte_per_s_per_node(machine), 11.72, 0.005);
	check_near(payload_efficiency(), 0.64, 1e-9);
	check_near(global_gbyte_per_s_per_node(machine) * payload_efficiency(), 7.5, 1e-9);
	assert_int_equal(ports_for_injection(8.0 * 4, machine.classes[GREEN].gbyte_per_s(3)), 10);
	/* The largest machine has full bandwidth, too. */
	check_near(global_gbyte_per_s_per_node(build_aries({.groups = 241})), 11.72, 0.005);
}

/* T37: three hops where every router reaches every group, else up to five. */
TEST(minimal_hops_T37)
{
	const Machine six = build_aries({.groups = 6});
	const Machine eight = build_aries({.groups = 8, .cables_per_pair = 12});

	assert_int_equal(count_hops(six, Wiring(six)).most, 3);
	assert_true(count_hops(eight, Wiring(eight), 32).most > 3);
	assert_true(count_hops(eight, Wiring(eight), 32).most <= 5);
}

/* T44, T45, Q01: sizes of fat trees and of QsNetIII. */
TEST(fat_trees_T44_T45_Q01)
{
	const Machine tree = build_clos({});
	struct {
		uint32_t radix;
		uint32_t stages;
		uint64_t nodes;
	} const cases[] = {{36, 3, 11664}, {32, 1, 32}, {32, 2, 512}, {32, 3, 8192}, {8, 4, 512}, {2, 2, 2}};

	for (const auto &c : cases) {
		const Machine machine = build_clos({.radix = c.radix, .stages = c.stages});

		assert_string_equal(validate(machine).c_str(), "");
		assert_int_equal(machine.nodes.size(), c.nodes);
		assert_int_equal(nodes_of_fat_tree(c.radix, c.stages), c.nodes);
	}
	/* Bisection is constant: one link for each node of a half, in either direction (Q03). */
	assert_int_equal(bisection(tree).cut.total.links, 11664 / 2);
	assert_int_equal(count_hops(tree, Wiring(tree), 2).most, 4);
	/* T45: 18 links up from each chassis of 18 blades, to 18 switches of 108 ports; 2,000 nodes want larger ones.
	 */
	const Machine two_stages = build_clos({.radix = 36, .stages = 2, .top_radix = 108});

	assert_string_equal(validate(two_stages).c_str(), "");
	assert_int_equal(two_stages.nodes.size(), 1944);
	assert_int_equal(two_stages.routers.size(), 108 + 18);
	assert_true(build_clos({.radix = 36, .stages = 2, .top_radix = 144}).nodes.size() >= 2000);
}

/* T46, T47: optical links of a node, and how many a packet takes, beside Aries. */
TEST(optical_links_T46_T47)
{
	const Machine tree = build_clos({.radix = 12, .stages = 3});
	const Machine aries = build_aries({.groups = 6});
	const auto lanes = [](const Machine &machine, size_t cls) {
		return static_cast<double>(count_classes(machine)[cls].lanes) /
		       static_cast<double>(machine.nodes.size());
	};

	/* Two trees of 4X links have what Aries has in 0.3125 cables of 12X. */
	check_near(2 * lanes(tree, 0), 8, 1e-9);
	check_near(lanes(aries, BLUE), 0.3125 * 12, 1e-9);
	assert_true(lanes(aries, BLUE) <= lanes(tree, 0));
	assert_int_equal(count_hops(aries, Wiring(aries)).most_optical, 1);
	assert_int_equal(count_hops(tree, Wiring(tree)).most_optical, 2);
	/* Nearly all pairs are in different groups, or below different leaves. */
	check_near(count_hops(aries, Wiring(aries)).mean_optical, 5.0 / 6, 0.001);
	check_near(count_hops(tree, Wiring(tree)).mean_optical, 2 * (1 - 5.0 / 431), 0.001);
}

/* G01 to G06, G53, G54, G55: Gemini's torus; four links of tiles are one of the sources. */
TEST(torus_T48_G02_G53_G54_G55)
{
	const Machine machine = build_torus({10, 16, 24});
	const auto cuts = axis_bisections(machine);

	assert_string_equal(validate(machine).c_str(), "");
	assert_int_equal(machine.nodes.size(), 3840);
	assert_int_equal(cuts.size(), 3);
	assert_int_equal(cuts[0].cut.total.links, 768 * TORUS_LINK_TILES);
	assert_int_equal(cuts[0].cut.total.cables, 768);
	assert_int_equal(cuts[1].cut.total.links, 480 * TORUS_LINK_TILES);
	assert_int_equal(cuts[2].cut.total.links, 320 * TORUS_LINK_TILES);
	/* The sources cut 4.6875 GB/s off to 4.68, and so have 2995. */
	check_near(bisection(machine).cut.both_ways(), 320 * 2 * 4.6875, 1e-6);
	assert_int_equal(build_torus({25, 32, 24}).nodes.size(), 19200);
	/* An open y has half of the links across. */
	assert_int_equal(axis_bisections(build_torus({10, 16, 24, true}))[1].cut.total.cables, 240);
	/* T48: five times as much routing as injection bandwidth: 40 tiles to 8. */
	assert_int_equal(machine.links.size() * 2, machine.routers.size() * 40);
}

template <typename Shape, typename Build> std::string thrown_by(Build build, const Shape &shape)
{
	try {
		build(shape);
	} catch (const std::invalid_argument &error) {
		return error.what();
	}
	return "";
}

TEST(bad_input_of_torus_and_clos)
{
	const auto torus = [](const TorusShape &shape) { return thrown_by(build_torus, shape); };
	const auto clos = [](const ClosShape &shape) { return thrown_by(build_clos, shape); };

	assert_non_null(std::strstr(torus({0, 2, 2}).c_str(), "each dimension"));
	assert_non_null(std::strstr(torus({4, 3, 2}).c_str(), "side by side"));
	assert_non_null(std::strstr(torus({UINT32_MAX, 2, UINT32_MAX}).c_str(), "65536 routers"));
	assert_string_equal(validate(build_torus({2, 4, 1})).c_str(), "");
	assert_non_null(std::strstr(clos({.radix = 7}).c_str(), "must be even"));
	assert_non_null(std::strstr(clos({.stages = 0}).c_str(), "1 to 8"));
	assert_non_null(std::strstr(clos({.radix = 66}).c_str(), "at most 32"));
	assert_non_null(std::strstr(clos({.radix = 64, .stages = 5}).c_str(), "at most 65536"));
	assert_non_null(std::strstr(clos({.top_radix = 513}).c_str(), "at most 512"));
	assert_non_null(std::strstr(clos({.lanes = 0}).c_str(), "lanes"));
}

} // namespace

TEST_MAIN("figures")
