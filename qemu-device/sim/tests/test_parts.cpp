// SPDX-License-Identifier: GPL-2.0-or-later
/* A machine in parts, and parts by threads, give the same result as one, byte by byte. */
#include <algorithm>
#include <cstring>
#include <sstream>

#include "rig.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

struct Case {
	const char *name;
	topology::Machine machine;
	TrafficShape traffic;
	std::vector<Job> jobs; ///< if any, instead of the traffic
};

/* Machines whose cuts lie between groups, and inside of them; one with nodes missing at the end. */
std::vector<Case> cases()
{
	const TrafficShape puts{.pattern = Pattern::Uniform, .bytes = 64, .load_ppm = 400000};
	const TrafficShape worst{.pattern = Pattern::Group, .bytes = 4096, .load_ppm = 1000000};
	const TrafficShape gets{.pattern = Pattern::Permutation,
				.operation = Operation::Get,
				.bytes = 1024,
				.load_ppm = 700000,
				.request_mode = {Routing::NonminimalHash, 0}};
	const TrafficShape raw{.pattern = Pattern::Shift,
			       .operation = Operation::Raw,
			       .raw_flits = 7,
			       .load_ppm = 900000,
			       .request_mode = {Routing::InOrder, 0}};
	const std::vector<Job> two{{"even", {0, 2, 4, 6, 40, 42, 44, 46}, worst},
				   {"odd", {1, 3, 5, 7, 9, 31, 33}, gets}};
	TrafficShape tree{.pattern = Pattern::Allreduce, .radix = 3, .processes = 4, .compute_ns = 200};

	tree.slow_rank = 2;
	tree.slow_ns = 500;

	const std::vector<Job> trees{{"tree", {0, 1, 8, 9, 16, 17, 24, 30, 31, 40, 44}, tree},
				     {"others", {2, 3, 10, 11, 18, 19, 26, 27, 32, 33}, puts},
				     {"pair", {4, 46}, {.pattern = Pattern::Allreduce}}};
	topology::Machine fewer = topology::build_aries({.groups = 3, .chassis = 2, .slots = 2});

	fewer.nodes.resize(fewer.nodes.size() - 5);
	return {
		{"Aries, five groups, puts", topology::build_aries({.groups = 5, .chassis = 2, .slots = 2}), puts, {}},
		{"Aries, three groups, worst case",
		 topology::build_aries({.groups = 3, .chassis = 2, .slots = 2}),
		 worst,
		 {}},
		{"Aries, one group, gets", topology::build_aries({.groups = 1, .chassis = 3, .slots = 4}), gets, {}},
		{"Aries, nodes missing, all to all", std::move(fewer), raw, {}},
		{"Aries, two jobs", topology::build_aries({.groups = 3, .chassis = 2, .slots = 2}), {}, two},
		{"Aries, collectives", topology::build_aries({.groups = 3, .chassis = 2, .slots = 2}), {}, trees},
		{"canonical, puts", topology::build_canonical({.p = 2, .a = 4, .h = 2}), puts, {}},
		{"canonical, worst case", topology::build_canonical({.p = 2, .a = 4, .h = 1}), worst, {}},
	};
}

std::string text_of(const Case &one, const Workers &workers)
{
	RunShape shape;
	std::ostringstream text;

	shape.traffic = one.traffic;
	shape.jobs = one.jobs;
	shape.warmup = 1500;
	shape.measure = 2500;
	shape.drain = 200000;
	shape.workers = workers;

	const Result result = run(one.machine, shape);

	assert_true(result.measured > 100);
	write_json(text, one.machine, shape, result);
	write_links_csv(text, result);
	return text.str();
}

void expect_same(const Case &one, const Workers &workers, const std::string &expected)
{
	const std::string text = text_of(one, workers);

	if (text == expected)
		return;

	const size_t at = static_cast<size_t>(
		std::mismatch(text.begin(), text.end(), expected.begin(), expected.end()).first - text.begin());

	fail_msg("%s, %u parts, %u threads: differs from one part at byte %zu: ...%s", one.name, workers.parts,
		 workers.threads, at, text.substr(at > 40 ? at - 40 : 0, 80).c_str());
}

TEST(parts_do_not_change_the_result)
{
	for (const Case &one : cases()) {
		const std::string expected = text_of(one, {});

		for (const uint32_t parts : {2u, 3u, 5u})
			expect_same(one, {.parts = parts}, expected);
		expect_same(one, {.parts = static_cast<uint32_t>(one.machine.routers.size())}, expected);
	}
}

TEST(threads_do_not_change_the_result)
{
	for (const Case &one : cases()) {
		const std::string expected = text_of(one, {});

		expect_same(one, {.threads = 2}, expected);
		expect_same(one, {.threads = 3, .parts = 5}, expected);
		/* More than there are parts. */
		expect_same(one, {.threads = 4, .parts = 2}, expected);
	}
}

/* Windows as short as they can be: links without any latency, loads told in each cycle. */
TEST(links_without_latency)
{
	auto machine = topology::build_canonical({.p = 2, .a = 4, .h = 2});
	RunShape shape;
	std::string first;

	for (topology::Link &link : machine.links)
		link.length_m = 0;
	shape.parameters.link_cycles = 0;
	shape.parameters.load_interval = 1;
	shape.traffic.load_ppm = 500000;
	shape.warmup = 500;
	shape.measure = 1000;
	for (const uint32_t parts : {1u, 2u, 7u}) {
		std::ostringstream text;

		shape.workers.parts = parts;
		write_json(text, machine, shape, run(machine, shape));
		if (first.empty())
			first = text.str();
		assert_string_equal(text.str().c_str(), first.c_str());
	}
}

/* Between groups if there are enough; the window is the shortest link between two parts, and one cycle. */
TEST(where_a_machine_is_cut)
{
	const auto machine = topology::build_aries({.groups = 4, .chassis = 2, .slots = 2});
	const Layout layout(machine, {}, 4);
	const Division whole(layout, 1), groups(layout, 3), routers(layout, 7);

	assert_int_equal(whole.parts(), 1);
	assert_int_equal(whole.window, UINT32_MAX);
	assert_int_equal(groups.parts(), 3);
	for (uint32_t part = 0; part < 3; part++)
		assert_int_equal(groups.first[part] % (layout.routers / 4), 0);
	/* 10 m of fibre: 43.75 cycles, and 28 of SerDes and LCB. */
	assert_int_equal(groups.window, 72);
	assert_int_equal(routers.parts(), 7);
	assert_in_range(routers.window, 28, 40);
	for (uint32_t part = 0; part < 7; part++)
		assert_true(routers.first[part] < routers.first[part + 1]);
}

TEST(too_many_parts)
{
	const Layout layout(topology::build_canonical({.p = 1, .a = 2, .h = 1}), {}, 4);

	assert_int_equal(layout.routers, 6);
	assert_string_equal(check_workers(layout, {.threads = 6}).c_str(), "");
	assert_string_equal(check_workers(layout, {.threads = 7}).c_str(),
			    "7 parts of 6 routers: each has at least one");
	assert_non_null(strstr(check_workers(layout, {.threads = 0}).c_str(), "1 to 256"));
	assert_non_null(strstr(check_workers(layout, {.parts = 513}).c_str(), "1 to 512"));
}

} // namespace

TEST_MAIN("tests")
