// SPDX-License-Identifier: GPL-2.0-or-later
/* Gemini as data: its packets (G09 to G15), and machines of cabinets (G46 to G56). */
#include "cmocka_cpp.hpp"

#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>

#include "chip/gemini.hpp"
#include "chip/gemini_phits.hpp"
#include "topology/build_torus.hpp"
#include "topology/builders.hpp"
#include "topology/closed_forms.hpp"
#include "topology/figures.hpp"

using namespace aries;
using namespace aries::chip;
using namespace aries::topology;

namespace
{

TEST(packets_G09_G10_G11_G12_G13)
{
	const PacketForm &form = GEMINI.packets;

	assert_int_equal(form.unit_bits, 24);
	assert_int_equal(request_units(form, true, 8), 11);
	assert_int_equal(request_units(form, true, 64), 32);
	assert_int_equal(most_units(form) * form.unit_bits, 768);
	assert_int_equal(response_units(form, false, 0), 2);
	assert_int_equal(response_units(form, false, 0) + form.error_units, 3);
	assert_int_equal(request_units(form, false, 64), 8);
	assert_int_equal(response_units(form, true, 64), 27);
}

TEST(share_of_data_G14)
{
	assert_true(std::fabs(put_efficiency(GEMINI) - 64 / 102.0) < 1e-9);
}

/* Of a torus link, 4.6875 GB/s, the sources cut 2.94 off to 2.9. */
TEST(rate_of_a_torus_link_G05_G15)
{
	const double raw = GEMINI_TORUS_LINK * GEMINI.line.lanes * GEMINI_LINKS[GEMINI_X].lane_mbit / 8000.0;

	assert_true(std::fabs(raw - 4.6875) < 1e-9);
	assert_true(std::fabs(raw * put_efficiency(GEMINI) - 2.94) < 0.005);
}

/*
 * G19 to G28: fields fill the phits of the figure to the bit; and what their widths allow. Of an offset all 38 bits are
 * there, the lowest six in the phit that is hard to read.
 */
TEST(fields_of_phits_G19_G20_G21_G22_G23_G24_G25_G26_G27_G28)
{
	const struct {
		const char *name;
		uint32_t bits;
	} widths[] = {{"destination", 16},
		      {"ptag", 8},
		      {"source", 16},
		      {"destination nic", 2},
		      {"source nic", 2},
		      {"mdh", 12},
		      {"mask", 16},
		      {"command", 6},
		      {"bte vc", 2},
		      {"ssid", 8},
		      {"packet", 12},
		      {"address", 38},
		      {"h", 1},
		      {"a", 1},
		      {"r", 1}};
	uint64_t offset = 0, data = 0;

	assert_true(fill_phits(REQUEST_HEADER, GEMINI.packets.request_header));
	assert_true(fill_phits(DATA_BLOCK, GEMINI.packets.block_units));
	assert_true(fill_phits(LAST_PHIT, GEMINI.packets.end_units));
	for (const auto &width : widths)
		assert_int_equal(bits_of(REQUEST_HEADER, width.name), width.bits);
	for (const PhitField &field : REQUEST_HEADER)
		offset |= field.name == "address" ? ((uint64_t{1} << field.bits()) - 1) << field.first : 0;
	for (const PhitField &field : DATA_BLOCK)
		data |= field.name == "data" ? ((uint64_t{1} << field.bits()) - 1) << field.first : 0;
	assert_true(offset == (uint64_t{1} << 38) - 1 && data == UINT64_MAX);
	assert_int_equal(bits_of(DATA_BLOCK, "data"), 64);
	assert_int_equal(bits_of(LAST_PHIT, "crc"), 16);
	/* 18 bits name a node. */
	assert_int_equal(bits_of(REQUEST_HEADER, "destination") + bits_of(REQUEST_HEADER, "destination nic"), 18);
	assert_true(uint64_t{1} << bits_of(REQUEST_HEADER, "destination") == GEMINI.most_nodes / GEMINI.tiles.nics);
	/* The check itself sees what overlaps, and what is left out. */
	assert_false(fill_phits(std::span(DATA_BLOCK).first(3), 3));
	assert_false(fill_phits(std::array<PhitField, 3>{{{"a", 0, 23, 8}, {"b", 0, 8, 4}, {"c", 0, 3, 2}}}, 1));
}

/* The sources' 58 bits are a node and 40 bits; as the figure has it a node, a handle and an offset take 68. */
TEST(address_of_the_network_G30)
{
	const uint32_t node = bits_of(REQUEST_HEADER, "destination") + bits_of(REQUEST_HEADER, "destination nic");

	assert_int_equal(node + bits_of(REQUEST_HEADER, "mdh") + bits_of(REQUEST_HEADER, "address"), 68);
}

/* Closed forms of what tiles and links carry (G42, G45). */
TEST(rates_of_tiles_and_neighbours_G42_G45)
{
	/* A processor tile takes a phit a cycle each way: a put in 32 cycles, eight tiles 12.8 GB/s of data. */
	const double tile = GEMINI.packets.data_bytes * GEMINI.times.router_mhz / 1000.0 / most_units(GEMINI.packets);
	/* To a neighbour in x or z there are eight links, over which one transfer may be spread. */
	const double link = GEMINI.line.lanes * GEMINI_LINKS[GEMINI_X].lane_mbit / 8000.0 * put_efficiency(GEMINI);

	assert_int_equal(most_units(GEMINI.packets), 32);
	assert_true(std::fabs(tile * GEMINI.tiles.processor - 12.8) < 1e-9);
	assert_true(std::fabs(GEMINI_LINKS[GEMINI_X].tiles / 2 * link - 5.88) < 0.01);
	assert_true(GEMINI_LINKS[GEMINI_Y].tiles / 2 * link < 5);
}

/* G01 to G04, G06, G07, G18, G28, G37, G38, G44; a phit takes a whole number of ticks with any number of lanes. */
TEST(chip_G01_G02_G03_G04_G06_G07_G18_G28_G37_G38_G44)
{
	const uint32_t torus_links[] = {4, 2, 4};

	assert_int_equal(GEMINI.tiles.nics, 2);
	assert_int_equal(GEMINI.tiles.network, 40);
	assert_int_equal(GEMINI.tiles.processor, 8);
	for (size_t axis = 0; axis < 3; axis++)
		assert_int_equal(GEMINI_LINKS[axis].tiles, torus_links[axis] * GEMINI_TORUS_LINK);
	assert_int_equal(GEMINI.channels.requests + GEMINI.channels.responses, 2);
	assert_int_equal(GEMINI.most_nodes, 131072);
	/* Six row buses and eight outputs of a column at each tile's switch. */
	assert_int_equal(GEMINI.tiles.rows, 6);
	assert_int_equal(GEMINI.tiles.columns, 8);
	assert_int_equal(GEMINI.times.router_mhz, 800);
	assert_int_equal(GEMINI.times.nic_mhz, 650);
	/* 64 bytes in five cycles: 8.32 GB/s. */
	assert_true(64 * GEMINI.times.nic_mhz / GEMINI.times.nic_packet_cycles == 8320);
	assert_int_equal(GEMINI.times.hop_ns, 105);
	for (uint32_t lanes = 1; lanes <= GEMINI.line.lanes; lanes++)
		assert_int_equal(24 * 800 * uint64_t{GEMINI.times.cycle_ticks} % (3125 * lanes), 0);
}

/*
 * A machine is built of what the chip tells (G01, G03, G06): two nodes at each router, eight tiles for them and ten
 * times four for the network, and so many links to each neighbour. In rings of three these are all different routers.
 */
TEST(routers_of_a_machine_G01_G03_G06)
{
	const Machine machine = build_torus({3, 6, 3});
	const uint32_t to_each[] = {8, 4, 8};
	std::vector<uint32_t> nodes(machine.routers.size());
	std::map<std::array<uint32_t, 3>, uint32_t> links; // by both routers and the axis
	uint32_t network = 0, processor = 0;

	for (const NodePlace &node : machine.nodes)
		nodes[node.router]++;
	for (const uint32_t count : nodes)
		assert_int_equal(count, 2);
	for (const Tile &tile : machine.router_type.tiles)
		(tile.role == TileRole::Network ? network : processor)++;
	assert_int_equal(network, 10 * 4);
	assert_int_equal(processor, 8);
	for (const Link &link : machine.links)
		links[{link.end[0].router, link.end[1].router, link.link_class}]++;
	assert_int_equal(links.size(), machine.routers.size() * 3);
	for (const auto &[ends, count] : links)
		assert_int_equal(count, to_each[ends[2]]);
}

struct Case {
	TorusShape shape;
	uint32_t x, y, z; ///< nodes
	uint32_t cabinets;
};

const std::vector<Case> &cases()
{
	static const std::vector<Case> list = {
		{{.of = TorusClass::Class0, .cabinets = 1}, 3, 4, 8, 1},
		{{.of = TorusClass::Class0, .cabinets = 3}, 9, 4, 8, 3},
		{{.of = TorusClass::Class1, .cabinets = 4}, 4, 12, 8, 4},
		{{.of = TorusClass::Class1, .cabinets = 16}, 16, 12, 8, 16},
		{{.of = TorusClass::Class2, .cabinets = 8}, 8, 12, 16, 16},
		{{.of = TorusClass::Class2, .cabinets = 24, .rows = 2}, 24, 12, 16, 48},
		{{.of = TorusClass::Class3, .cabinets = 10, .rows = 4}, 10, 16, 24, 40},
		{{.of = TorusClass::Class3, .cabinets = 25, .rows = 8}, 25, 32, 24, 200},
		{{.of = TorusClass::M, .cabinets = 2}, 1, 8, 24, 2},
		{{.of = TorusClass::M, .cabinets = 6}, 1, 24, 24, 6},
		{{.of = TorusClass::M, .cabinets = 1}, 1, 12, 8, 1},
	};

	return list;
}

/* Table 1 of the sources: sizes, 96 nodes in each cabinet, all rules kept; a place for every router, and its own. */
TEST(classes_G46_G48_G49_G50_G51_G52_G55)
{
	for (const Case &c : cases()) {
		const Machine machine = build_torus(c.shape);
		const TorusShape same{c.x, c.y, c.z};
		const auto &names = machine.names;

		assert_string_equal(validate(machine).c_str(), "");
		assert_int_equal(machine.nodes.size(), c.cabinets * 96);
		assert_int_equal(machine.nodes.size(), uint64_t{c.x} * c.y * c.z);
		assert_string_equal(machine.name.c_str(), build_torus(same).name.c_str());
		assert_true(machine.routers == build_torus(same).routers);
		assert_int_equal(names.size(), machine.routers.size());
		assert_int_equal(std::set<std::string>(names.begin(), names.end()).size(), names.size());
	}
	for (uint32_t chassis = 1; chassis <= 3; chassis++) {
		const Machine machine = build_torus({.of = TorusClass::M, .cabinets = 1, .chassis = chassis});

		assert_int_equal(machine.nodes.size(), 4 * chassis * 8);
	}
	/* Jaguar (G55). */
	assert_int_equal(build_torus({.of = TorusClass::Class3, .cabinets = 25, .rows = 8}).nodes.size(), 19200);
}

/* A chassis is 1 x 4 x 8 nodes wherever it is, and blades are 1 x 4 x 1: the second router is the next in y (G46). */
TEST(chassis_are_blocks_G46)
{
	for (const Case &c : cases()) {
		const Machine machine = build_torus(c.shape);
		const auto &names = machine.names;
		std::map<std::string, std::vector<RouterPlace>> chassis, blades;

		for (size_t router = 0; router < names.size(); router++) {
			const std::string &name = names[router];

			chassis[name.substr(0, name.find('s'))].push_back(machine.routers[router]);
			blades[name.substr(0, name.find('g'))].push_back(machine.routers[router]);
		}
		assert_int_equal(chassis.size(), c.cabinets * 3);
		for (const auto &[name, routers] : chassis) {
			assert_int_equal(routers.size(), 16);
			for (const RouterPlace &place : routers) {
				assert_int_equal(place.at[0], routers[0].at[0]);
				assert_int_equal(place.at[1] / 2, routers[0].at[1] / 2);
				assert_int_equal(place.at[2] / 8, routers[0].at[2] / 8);
			}
		}
		for (const auto &[name, routers] : blades) {
			assert_int_equal(routers.size(), 2);
			assert_int_equal(routers[0].at[1] + 1, routers[1].at[1]);
			assert_int_equal(routers[0].at[2], routers[1].at[2]);
		}
	}
}

/*
 * G47: 88 links of the torus leave each chassis by a connector, 64 in x, 16 in y, 8 in z, whatever the class; the
 * others are on blades and backplanes. In an m machine there is no x.
 */
TEST(links_that_leave_a_chassis_G47)
{
	for (const Case &c : cases()) {
		const Machine machine = build_torus(c.shape);
		const auto &names = machine.names;
		std::map<std::string, std::array<uint32_t, 3>> ends;

		for (const Link &link : machine.links) {
			for (const LinkEnd &end : link.end) {
				const std::string &name = names[end.router];

				ends[name.substr(0, name.find('s'))][link.link_class] += link.cable != NO_CABLE;
			}
		}
		for (const auto &[chassis, by_axis] : ends) {
			const uint32_t x = c.x == 1 ? 0 : 64;

			assert_int_equal(by_axis[0], x * TORUS_LINK_TILES);
			assert_int_equal(by_axis[1], 16 * TORUS_LINK_TILES);
			assert_int_equal(by_axis[2], 8 * TORUS_LINK_TILES);
		}
	}
}

/* Numbers behind the letters of a name: c0-1c2s3g4. */
std::array<int, 5> numbers_of(const std::string &name)
{
	std::array<int, 5> at{};

	assert_int_equal(std::sscanf(name.c_str(), "c%d-%dc%ds%dg%d", &at[0], &at[1], &at[2], &at[3], &at[4]), 5);
	return at;
}

/* G56: cables reach to the next cabinet but one, in x and between rows; lengths say so; cables have four links each. */
TEST(folded_cables_G56)
{
	for (const Case &c : cases()) {
		const Machine machine = build_torus(c.shape);
		const auto &names = machine.names;
		std::map<uint32_t, uint32_t> links_of_cable;

		for (const Link &link : machine.links) {
			const auto a = numbers_of(names[link.end[0].router]), b = numbers_of(names[link.end[1].router]);
			const int columns = std::abs(a[0] - b[0]), rows = std::abs(a[1] - b[1]);

			assert_true(columns <= 2 && rows <= 2 && (columns == 0 || rows == 0));
			if (link.cable == NO_CABLE) {
				assert_true(columns + rows == 0 && a[2] == b[2] && link.length_m < 1);
				continue;
			}
			assert_true(std::fabs(link.length_m - (1.5 + 0.6 * columns + 2.5 * rows)) < 1e-5);
			links_of_cable[link.cable]++;
		}
		for (const auto &[cable, links] : links_of_cable)
			assert_int_equal(links, TORUS_LINK_TILES);
	}
	/* A ring of any size: each step, and the one that closes it, at most two places on; every place once. */
	for (uint32_t size = 1; size < 30; size++) {
		std::set<uint32_t> seen;

		for (uint32_t step = 0; step < size; step++) {
			const auto here = static_cast<int>(folded(step, size));

			seen.insert(folded(step, size));
			assert_true(std::abs(here - static_cast<int>(folded((step + 1) % size, size))) <= 2);
		}
		assert_int_equal(seen.size(), size);
		assert_true(*seen.rbegin() == size - 1);
	}
}

/*
 * What was measured: lanes of 6.25 Gbit/s on blades, 5 on backplanes, 3.125 in cables; figures count with that. The
 * paper's rates are everywhere alike.
 */
TEST(rates_of_links_G04_G05_G37)
{
	for (const Case &c : cases()) {
		TorusShape shape = c.shape;

		shape.rates = TorusRates::Measured;

		const Machine machine = build_torus(shape), paper = build_torus(c.shape);
		std::map<double, uint32_t> links;

		assert_string_equal(validate(machine).c_str(), "");
		for (const Link &link : machine.links) {
			const bool blade = link.link_class == GEMINI_Y;

			assert_true(machine.gbit_of(link) == (link.cable != NO_CABLE ? 3.125 : blade ? 6.25 : 5.0));
			links[machine.gbit_of(link)]++;
		}
		for (const Link &link : paper.links)
			assert_true(paper.gbit_of(link) == 3.125 &&
				    paper.gbyte_per_s(link) * TORUS_LINK_TILES == 4.6875);
		/* A torus link on each blade; two from each slot but the last to the next, of either router. */
		assert_int_equal(links[6.25], c.cabinets * 3 * 8 * TORUS_LINK_TILES);
		assert_int_equal(links[5.0], c.cabinets * 3 * 7 * 2 * 2 * TORUS_LINK_TILES);
	}

	/* Across z of 40 cabinets one half of the links is on backplanes. */
	const Bisection worst = bisection(
		build_torus({.of = TorusClass::Class3, .cabinets = 10, .rows = 4, .rates = TorusRates::Measured}));

	assert_string_equal(worst.how.c_str(), "z");
	assert_true(std::fabs(worst.cut.both_ways() - 2 * (160 * 4.6875 + 160 * 7.5)) < 1e-6);
}

/* G53, G54: the formula of the sources for every class, y closed and open; the example of 40 cabinets. */
TEST(bisection_G53_G54)
{
	for (const Case &c : cases()) {
		for (const bool open : {false, true}) {
			TorusShape shape = c.shape;

			shape.open_y = open;

			const uint32_t links[] = {c.y * c.z * 2, c.x * c.z * (open ? 1 : 2), c.x * c.y * 2};
			const uint32_t sizes[] = {c.x, c.y, c.z};

			/* A dimension of one router has no middle, which the formula does not know. */
			if (c.x > 1)
				assert_int_equal(bisection(build_torus(shape)).cut.total.links,
						 torus_links_across(c.x, c.y, c.z, open) * TORUS_LINK_TILES);
			for (const Bisection &cut : axis_bisections(build_torus(shape))) {
				const size_t axis = cut.how == "x" ? 0 : cut.how == "y" ? 1 : 2;

				assert_true(sizes[axis] > 1);
				assert_int_equal(cut.cut.total.links, links[axis] * TORUS_LINK_TILES);
			}
		}
	}

	const Bisection worst = bisection(build_torus({.of = TorusClass::Class3, .cabinets = 10, .rows = 4}));

	assert_string_equal(worst.how.c_str(), "z");
	assert_int_equal(worst.cut.total.links, 320 * TORUS_LINK_TILES);
	/* 2995 and 5990 GB/s with 4.68 GB/s a link, as the sources have them; 4.6875 is what a link carries. */
	assert_int_equal(static_cast<int>(worst.cut.both_ways() * 4.68 / 4.6875), 2995);
	assert_int_equal(static_cast<int>(worst.cut.both_ways() * 4.68 / 4.6875 * 2), 5990);
}

/* Halves may begin anywhere in a ring: none is worse than those that are counted, also where rates differ (G53). */
TEST(no_other_halves_are_worse_G53)
{
	for (const TorusClass of :
	     {TorusClass::Class0, TorusClass::Class1, TorusClass::Class2, TorusClass::Class3, TorusClass::M}) {
		const bool rows = of == TorusClass::Class3;
		const Machine machine = build_torus({.of = of,
						     .cabinets = of == TorusClass::Class0 ? 2u
								 : rows                   ? 3u
								 : of == TorusClass::M    ? 5u
											  : 8u,
						     .rows = rows ? 4u : 0,
						     .rates = TorusRates::Measured});

		for (const Bisection &counted : axis_bisections(machine)) {
			const size_t axis = counted.how == "x" ? 0 : counted.how == "y" ? 1 : 2;
			const uint32_t size = machine.routers.back().at[axis] + 1u;

			for (uint32_t start = 0; start < size; start++) {
				std::vector<bool> side;

				for (const RouterPlace &place : machine.routers)
					side.push_back((place.at[axis] + start) % size >= (size + 1) / 2);
				assert_true(cut_between(machine, side).total.gbyte_per_s >=
					    counted.cut.total.gbyte_per_s - 1e-9);
			}
		}
	}
}

void refused(const char *word, const std::vector<Parameter> &parameters)
{
	try {
		build_named("torus", parameters);
		fail_msg("built, not '%s'", word);
	} catch (const ParameterError &error) {
		if (!std::strstr(error.what(), word) || std::strchr(error.what(), '\n'))
			fail_msg("'%s' and not '%s'", error.what(), word);
	}
}

TEST(machines_that_cannot_be_G48_G49_G50_G51_G52)
{
	refused("none of 0, 1, 2, 3, m", {{"class", "4"}});
	refused("needs cabinets and rows", {{"class", "0"}});
	refused("1 to 3 cabinets, not 4 (G48)", {{"class", "0"}, {"cabinets", "4"}});
	refused("one row of cabinets, not 2 (G48)", {{"class", "0"}, {"cabinets", "1"}, {"rows", "2"}});
	refused("4 to 16 cabinets, not 17 (G49)", {{"class", "1"}, {"cabinets", "17"}});
	refused("16 to 48 cabinets, not 14 (G50)", {{"class", "2"}, {"cabinets", "7"}});
	refused("two rows of cabinets, not 3 (G50)", {{"class", "2"}, {"cabinets", "8"}, {"rows", "3"}});
	refused("2 of 10 are class 2 (G51)", {{"class", "3"}, {"cabinets", "10"}, {"rows", "2"}});
	refused("at least 2 x 2 (G51)", {{"class", "3"}, {"cabinets", "1"}, {"rows", "4"}});
	refused("1 to 6 cabinets, not 7 (G52)", {{"class", "m"}, {"cabinets", "7"}});
	refused("only in an m machine", {{"class", "0"}, {"cabinets", "1"}, {"chassis", "2"}});
	refused("only in an m machine", {{"class", "m"}, {"cabinets", "2"}, {"chassis", "2"}});
	refused("1 to 3 (G46)", {{"class", "m"}, {"cabinets", "1"}, {"chassis", "4"}});
	refused("65536 routers (G28)", {{"class", "3"}, {"cabinets", "4294967295"}, {"rows", "4294967295"}});
	refused("none of paper, measured", {{"rates", "guessed"}});
	refused("which links are cables", {{"x", "4"}, {"rates", "measured"}});
	refused("are of a machine with a class", {{"x", "4"}, {"cabinets", "2"}});
	refused("these cabinets are one of 10 x 16 x 24",
		{{"class", "3"}, {"cabinets", "10"}, {"rows", "4"}, {"x", "10"}, {"y", "16"}, {"z", "12"}});
	build_named("torus",
		    {{"class", "3"}, {"cabinets", "10"}, {"rows", "4"}, {"x", "10"}, {"y", "16"}, {"z", "24"}});
}

/* What should not be is told: an odd number of rows; class 3 with as few cabinets as the sources' example (G51, G56).
 */
TEST(advice_G51_G56)
{
	const auto advice = [](const char *cabinets, const char *rows) {
		return build_named("torus", {{"class", "3"}, {"cabinets", cabinets}, {"rows", rows}}).advice;
	};

	assert_int_equal(advice("20", "4").size(), 0);
	assert_int_equal(advice("10", "4").size(), 1);
	assert_non_null(std::strstr(advice("10", "4")[0].c_str(), "example has 40"));
	assert_int_equal(advice("20", "5").size(), 1);
	assert_non_null(std::strstr(advice("20", "5")[0].c_str(), "even number"));
	assert_true(build_named("torus", {}).machine.names.empty());
	/* What is a torus of fewer dimensions, or has rings of two, may be wanted, or a slip. */
	const auto small = build_named("torus", {{"x", "1"}, {"y", "4"}, {"z", "3"}}).advice;

	assert_int_equal(small.size(), 2);
	assert_non_null(std::strstr(small[0].c_str(), "x has one router"));
	assert_non_null(std::strstr(small[1].c_str(), "y has two routers"));
	assert_int_equal(build_named("torus", {{"x", "3"}, {"y", "6"}, {"z", "3"}}).advice.size(), 0);
	assert_int_equal(build_named("torus", {{"class", "0"}, {"cabinets", "1"}}).machine.names.size(), 48);
}

} // namespace

TEST_MAIN("gemini")
