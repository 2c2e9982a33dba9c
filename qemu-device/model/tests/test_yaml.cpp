// SPDX-License-Identifier: GPL-2.0-or-later
/* Machines in files: what is written is read again, and what cannot be is named with its line. */
#include "cmocka_cpp.hpp"

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "topo/yaml.hpp"
#include "topology/build_aries.hpp"
#include "topology/build_canonical.hpp"
#include "topology/build_clos.hpp"
#include "topology/build_qsnet.hpp"
#include "topology/build_torus.hpp"

using namespace aries::topology;

namespace
{

std::string text_of(const Machine &machine)
{
	std::ostringstream out;

	write_yaml(out, machine);
	return out.str();
}

std::string error_of(const std::string &text)
{
	try {
		parse_yaml(text, "m.yaml");
	} catch (const FileError &error) {
		return error.what();
	}
	return "no error";
}

/* A message begins with the file and the line, and is one line. */
void check_error(const std::string &text, const std::string &begin, const std::string &word)
{
	const std::string error = error_of(text);

	if (!error.starts_with("m.yaml:" + begin + ": ") || error.find(word) == std::string::npos ||
	    error.find('\n') != std::string::npos)
		fail_msg("line %s with '%s' wanted, not: %s", begin.c_str(), word.c_str(), error.c_str());
}

TEST(what_is_written_is_read_again)
{
	Machine odd = build_canonical({2, 3, 1, 3});

	odd.name = "a \"name\": with \\ # all\n\tsorts";
	odd.links[0].length_m = 0.1f;
	odd.links[1].lanes = 2;
	odd.links[2].cable = NO_CABLE;
	odd.links[2].gbit_per_lane = 0.1f;
	odd.links[3].gbit_per_lane = 6.25f;
	odd.nodes.clear();
	for (size_t router = 0; router < odd.routers.size(); router++)
		odd.names.push_back("\"" + std::to_string(router) + "\\\n");
	for (const Machine &machine :
	     {build_aries({}), build_aries({.groups = 3, .last_group_chassis = 2, .cables_per_pair = 6}),
	      build_aries({.groups = 3, .last_chassis_slots = 5, .cooling = Cooling::Air}),
	      build_canonical({4, 8, 4, 0}), build_torus({4, 4, 3}),
	      build_torus({.of = TorusClass::Class0, .cabinets = 1, .rates = TorusRates::Measured}),
	      build_clos({.radix = 8}), build_clos({.radix = 4, .stages = 1}),
	      build_qsnet({.nodes = 256, .links = 2, .spread = true}), odd})
		assert_true(parse_yaml(text_of(machine), "m").machine == machine);
}

TEST(short_form)
{
	const Built built = parse_yaml("# twelve cabinets\nbuilder: aries\ngroups: 6\ncables_per_pair: 11\n", "m");

	assert_true(built.machine == build_aries({.groups = 6, .cables_per_pair = 11}));
	assert_int_equal(built.advice.size(), 1);
	assert_true(parse_yaml("{builder: aries, groups: 3, cooling: air, half_optics: true}", "m").machine ==
		    build_aries({.groups = 3, .half_optics = true, .cooling = Cooling::Air}));
	assert_true(parse_yaml("{builder: canonical, p: 2, a: 4, h: 2}", "m").machine == build_canonical({2, 4, 2, 0}));
	assert_true(parse_yaml("{builder: torus, x: 4, y: 4, z: 2, open_y: true}", "m").machine ==
		    build_torus({4, 4, 2, true}));
	assert_true(parse_yaml("{builder: clos, radix: 8, stages: 2, gbit_per_lane: 6.25}", "m").machine ==
		    build_clos({.radix = 8, .stages = 2, .gbit_per_lane = 6.25}));
}

/* Further places have rules of their own, and a line each. */
TEST(further_places)
{
	const Machine machine = build_qsnet({.nodes = 4, .links = 2, .spread = true});
	const std::string text = text_of(machine);
	const size_t at = text.find("  - [0, ", text.find("further:"));
	const auto line =
		std::to_string(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1);

	assert_int_equal(machine.further.size(), 4);
	check_error(text.substr(0, at) + "  - [4, 0, 0]\n", line, "there are 4");
	check_error(text.substr(0, at) + "  - [0, 0, 0]\n", line, "where another node is");
	check_error(text.substr(0, at) + "  - [0, 0]\n", line, "[node, router, NIC]");
	check_error(text.substr(0, at) + "  - [0, many, 0]\n", line, "'many'");
	check_error(text.substr(0, at), line, "'further' is a list");
}

TEST(bad_parameters_have_a_line)
{
	check_error("builder: aries\ngroups: 242\n", "1", "at most 241");
	check_error("groups: 7\nbuilder: aries\ncables_per_pair: 41\n", "2", "at most 40");
	check_error("builder: aries\n\ngroups: many\n", "3", "'many' is not a number");
	check_error("builder: aries\ngroups: -1\n", "2", "'-1' is not a number");
	check_error("builder: aries\ngroups: 4294967296\n", "2", "not a number");
	check_error("builder: aries\ngroups: 2.5\n", "2", "not a number");
	check_error("builder: aries\ngroups: \n", "2", "one value");
	check_error("builder: aries\ngroups: [1, 2]\n", "2", "one value");
	check_error("builder: aries\ngrups: 2\n", "2", "no parameter grups");
	check_error("builder: aries\ngroups: 2\ngroups: 3\n", "3", "twice");
	check_error("builder: aries\ncooling: oil\n", "2", "none of water, air");
	check_error("builder: aries\nhalf_optics: maybe\n", "2", "none of true, false");
	check_error("builder: aries\nglobal_length_m: nan\n", "2", "not a number");
	check_error("builder: aries\n\"a\\nb\": 1\n", "2", "a?b");
	check_error("builder: ring\n", "1", "no builder ring");
}

TEST(bad_files_have_a_line)
{
	check_error("", "1", "no document");
	check_error(", : {a\nb: c\n", "1", "");
	check_error("builder: aries\n---\nbuilder: aries\n", "1", "more than one document");
	check_error("- builder\n", "1", "a machine is a map");
	check_error("builder: aries\n  groups: [\n", "2", "");
	check_error("name: {", "1", "");
	check_error("name: x\nfamly: y\n", "2", "no 'famly'");
	check_error("name: x\nname: y\n", "2", "comes twice");
	check_error("name: x\n", "1", "needs 'family'");
	check_error(std::string(100000, '['), "1", "");
}

/* The text of a good machine with one part of it replaced. */
void check_changed(const std::string &from, const std::string &to, const std::string &word)
{
	std::string text = text_of(build_canonical({2, 2, 1, 2}));
	const size_t at = text.find(from);

	assert_true(at != std::string::npos);
	text.replace(at, from.size(), to);

	const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;

	check_error(text, std::to_string(line), word);
}

TEST(bad_parts_have_a_line)
{
	check_changed("scope: global", "scope: globe", "neither local nor global");
	check_changed("medium: optical", "medium: glass", "none of backplane");
	check_changed("lanes: 3", "lanes: 0", "0 lanes");
	check_changed("rows: 1", "rows: 0", "0 tiles");
	check_changed("rows: 1", "rows: 4000000000", "there can be 1 to 1024");
	check_changed("class: \"local\"", "class: \"red\"", "no class 'red'");
	check_changed("at: [0, 0]", "at: [0, 9]", "0 to 3");
	check_changed("at: [1, 1]", "at: [0, 1]", "tile 0 is named twice");
	check_changed("at: [0, 0]", "at: [0]", "first and the last");
	check_changed("nics: [0]", "nics: [77]", "at most 32");
	check_changed("nics: [0]", "nics: [2]", "serves no NIC");
	check_changed("  - [0, 0, 1, 0, \"local\"", "  - [9, 0, 1, 0, \"local\"", "router 9 does not exist");
	check_changed("  - [0, 0, 1, 0, \"local\"", "  - [0, 1, 1, 0, \"local\"", "is for class global");
	check_changed("  - [0, 0, 1, 0, \"local\", 3", "  - [0, 0, 1, 0, \"local\", 300", "not a number");
	check_changed("\"local\", 3, 2, 0]", "\"local\", 3, 2, some]", "'some' is not a number");
	check_changed("\"local\", 3, 2, 0]", "\"local\", 3, 2, none, -3]", "rate is negative");
	check_changed("\"local\", 3, 2, 0]", "\"local\", 3, 2, none, 3, 4, 5]", "last four");
	check_changed("  - [1, 1]\n#", "  - [1, 7, 7, 7]\n#", "a coordinate for each axis");
	check_changed("  - [1, 1]\n#", "  - [1, 1, [7]]\n#", "a name");
	check_changed("  - [1, 1]\n#", "  - [1, 0]\n#", "same place");
	check_changed("  - [3, 1]\n", "  - [3, 2]\n", "NIC 2");
	check_changed("  - [3, 1]\n", "  - [3]\n", "[router, NIC]");
	check_changed("  - [3, 1]\n", "  - [4, 1]\n", "router 4");
}

/* Whatever a file holds: a machine that keeps all rules, or one line with file and line. */
TEST(changed_bytes_are_a_machine_or_an_error)
{
	const std::string texts[] = {text_of(build_canonical({2, 2, 1, 2})),
				     "builder: aries\ngroups: 2\nslots: 2\nchassis: 1\ncooling: air\n"};
	const std::string bytes = "0123456789-[]{}:,\"'\n\t &*!|>%@#a\\\xff\x01";
	uint32_t good = 0;
	std::mt19937 random(1);

	for (uint32_t round = 0; round < 4000; round++) {
		std::string text = texts[round % 2];

		for (uint32_t change = random() % 4; change < 4; change++)
			text[random() % text.size()] = bytes[random() % bytes.size()];
		if (round % 16 == 0)
			text.resize(random() % text.size());
		try {
			assert_string_equal(validate(parse_yaml(text, "m.yaml").machine).c_str(), "");
			good++;
		} catch (const FileError &error) {
			const std::string what = error.what();

			assert_true(what.starts_with("m.yaml:") && what.find('\n') == std::string::npos);
		}
	}
	assert_in_range(good, 1, 3999);
}

TEST(a_missing_file_is_named)
{
	for (const char *path : {"/nonexistent/m.yaml", "/"}) {
		std::string error;

		try {
			read_yaml(path);
		} catch (const FileError &caught) {
			error = caught.what();
		}
		assert_true(error.starts_with(path));
		assert_true(error.find("cannot be read") != std::string::npos);
	}
}

} // namespace

TEST_MAIN("yaml")
