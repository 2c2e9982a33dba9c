// SPDX-License-Identifier: GPL-2.0-or-later
/* Jobs: where they are placed, that they keep to themselves, what each got; those that cannot be are refused. */
#include <algorithm>
#include <sstream>

#include "jobs.hpp"
#include "names.hpp"
#include "rig.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

constexpr uint32_t GROUP = 64; // nodes of a group of the machine below

topology::Machine machine_of_three_groups()
{
	return topology::build_aries({.groups = 3, .chassis = 2, .slots = 8});
}

std::vector<Job> place(const std::string &text)
{
	return parse_jobs(text, "jobs", machine_of_three_groups(), {});
}

TEST(placements)
{
	const std::vector<Job> jobs =
		place("- {name: a, nodes: 10, groups: 2, first_group: 1, bytes: 4096, load: 0.5}\n"
		      "- {name: b, nodes: rest, operation: get, mode: minimal}\n"
		      "- {name: c, nodes: [0, 3-5]}\n"
		      "- {name: d, nodes: 20, place: 'random:7'}\n");

	assert_int_equal(jobs.size(), 4);
	assert_true(jobs[0].nodes == (std::vector<uint32_t>{64, 65, 66, 67, 68, 128, 129, 130, 131, 132}));
	assert_int_equal(jobs[0].traffic.bytes, 4096);
	assert_int_equal(jobs[0].traffic.load_ppm, 500000);
	assert_true(jobs[1].traffic.operation == Operation::Get);
	assert_true(jobs[1].traffic.response_mode.routing == Routing::MinimalHash);
	assert_true(jobs[2].nodes == (std::vector<uint32_t>{0, 3, 4, 5}));
	assert_int_equal(jobs[3].nodes.size(), 20);
	assert_int_equal(jobs[1].nodes.size(), 3 * GROUP - 10 - 4 - 20);

	std::vector<uint32_t> all;

	for (const Job &job : jobs)
		all.insert(all.end(), job.nodes.begin(), job.nodes.end());
	std::sort(all.begin(), all.end());
	for (uint32_t node = 0; node < 3 * GROUP; node++)
		assert_int_equal(all[node], node);
}

TEST(random_places_are_spread_and_by_seed)
{
	const auto nodes = [](const char *seed) {
		return place(std::string("{nodes: 30, groups: 3, place: 'random:") + seed + "'}")[0].nodes;
	};
	const std::vector<uint32_t> one = nodes("1");

	assert_true(one == nodes("1"));
	assert_true(one != nodes("2"));
	for (uint32_t group = 0; group < 3; group++)
		assert_int_equal(
			std::count_if(one.begin(), one.end(), [group](uint32_t node) { return node / GROUP == group; }),
			10);
	assert_true(one[9] - one[0] > 20);
}

void refused(const std::string &text, const char *part)
{
	std::string said;

	try {
		const auto machine = machine_of_three_groups();
		const std::vector<Job> jobs = parse_jobs(text, "jobs", machine, {});

		said = check_workload(jobs, Layout(machine, {}, 4));
	} catch (const NameError &error) {
		said = error.what();
	}
	if (said.find(part) == std::string::npos || said.find('\n') != std::string::npos)
		fail_msg("%s: said \"%s\", not \"%s\"", text.c_str(), said.c_str(), part);
}

TEST(jobs_that_cannot_be)
{
	refused("{nodes: 10, groups: 4}", "jobs:1: job job0 on groups 0 to 3: the machine has 0 to 2");
	refused("{nodes: 10, first_group: 3}", "the machine has 0 to 2");
	refused("{nodes: 10, groups: 4294967295, first_group: 4294967295}", "the machine has 0 to 2");
	refused("{nodes: 65, groups: 1}", "needs 65 nodes in group 0, which has 64 free ones");
	refused("{nodes: 193}", "needs 193 nodes in 3 groups, which has 192 free ones");
	refused("{nodes: [192]}", "node 192 does not exist: the machine has 0 to 191");
	refused("{nodes: [5-4]}", "the first is not above the last");
	refused("\n- {nodes: [0-9]}\n- {nodes: [9-20]}", "jobs:3: node 9 is in job job0 and again in job job1");
	refused("{nodes: [1, 1]}", "node 1 is in job job0 and again in job job0");
	refused("{nodes: 1}", "at least two nodes");
	refused("[{nodes: 192}, {name: b, nodes: rest}]", "job b: traffic needs at least two nodes");
	refused("{nodes: 10, groups: 1, traffic: group}", "traffic would stay in its group");
	refused("{nodes: 10, traffic: offset, shift: 20}", "each would send to itself");
	refused("{nodes: 10, bytes: 4}", "8 to 262,144");
	refused("{nodes: 10, load: 0}", "above 0 and at most 1");
	refused("{nodes: 10, mode: fast}", "there is no mode 'fast': in-order");
	refused("{nodes: 10, place: 'random:'}", "no whole number");
	refused("{nodes: 10, place: here}", "contiguous, random:SEED");
	refused("{nodes: 10, colour: red}", "a job has no 'colour'");
	refused("{nodes: 10, nodes: 11}", "'nodes' comes twice");
	refused("{name: x}", "job x needs 'nodes'");
	refused("{nodes: [[1]]}", "a node is one value");
	refused("nodes: 10\n- x", "jobs:2:");
	refused("[", "jobs:1:");
	refused("", "jobs are a list of maps");
	refused("[]", "there is no job");
}

/* Two jobs: each gets what it alone sends, and their counts add up to those of all. */
TEST(results_by_job)
{
	const auto machine = machine_of_three_groups();
	RunShape shape;

	shape.jobs = parse_jobs("- {name: a, nodes: 64, groups: 1, load: 0.1, bytes: 1024, mode: minimal}\n"
				"- {name: b, nodes: 30, groups: 2, first_group: 1, load: 0.3, operation: get}\n",
				"jobs", machine, {});
	shape.warmup = 2000;
	shape.measure = 20000;

	const Result result = run(machine, shape);
	const Counts &a = result.statistics.jobs[0];
	const Counts &b = result.statistics.jobs[1];

	assert_true(result.drained);
	assert_int_equal(result.nodes, 94);
	assert_int_equal(result.jobs.size(), 2);
	assert_int_equal(a.latency.count() + b.latency.count(), result.statistics.latency.count());
	assert_int_equal(a.message.sum() + b.message.sum(), result.statistics.message.sum());
	assert_int_equal(a.message.count() * 16, a.latency.count());
	for (size_t job = 0; job < 2; job++) {
		const double of = result.jobs[job].accepted / result.jobs[job].offered;

		if (of < 0.95 || of > 1.05)
			fail_msg("job %zu got %f of its load", job, of);
	}
	/* Minimal ways inside a group have two links at most; those between groups more. */
	assert_int_equal(a.hop_count[0] + a.hop_count[1] + a.hop_count[2], a.latency.count());
	assert_true(b.hop_count[0] + b.hop_count[1] + b.hop_count[2] < b.latency.count());
}

/* What idle nodes do to others is nothing: a job alone in its group is as in a machine of that group. */
TEST(idle_nodes_send_nothing)
{
	const auto machine = machine_of_three_groups();
	RunShape shape;

	shape.jobs = parse_jobs("{nodes: [10, 20]}", "jobs", machine, {});
	shape.warmup = 0;
	shape.measure = 20000;

	const Result result = run(machine, shape);

	assert_true(result.drained);
	assert_int_equal(result.statistics.injected_packets, 2 * result.statistics.latency.count());
	assert_true(result.statistics.latency.count() > 100);
	assert_true(result.jobs.empty());
}

/* Every traffic stays in its job. */
TEST(targets_are_of_the_job)
{
	const auto machine = machine_of_three_groups();
	const Layout layout(machine, {}, 4);

	for (const char *pattern : {"uniform", "group", "permutation", "shift", "offset", "all-to-all"}) {
		const std::vector<Job> jobs =
			parse_jobs(std::string("- {nodes: 33, groups: 3, place: 'random:3', traffic: ") + pattern +
					   "}\n- {nodes: rest}",
				   "jobs", machine, {});
		const Traffic traffic(jobs, layout, 5);

		assert_string_equal(check_workload(jobs, layout).c_str(), "");
		for (uint32_t node = 0; node < layout.nodes; node++) {
			for (uint32_t i = 0; i < 50; i++) {
				const uint32_t target = traffic.target(node, i);

				assert_int_not_equal(target, node);
				assert_int_equal(traffic.job_of(target), traffic.job_of(node));
				if (traffic.job_of(node) == 0 && pattern == std::string("group"))
					assert_int_equal(target / GROUP, (node / GROUP + 1) % 3);
			}
		}
	}
}

TEST(parameters_by_name)
{
	Parameters parameters;

	assert_string_equal(set_parameter(parameters, "outstanding=7").c_str(), "");
	assert_int_equal(parameters.outstanding, 7);
	for (const ParameterInfo &info : parameter_table()) {
		parameters = {};
		assert_string_equal(set_parameter(parameters, std::string(info.name) + "=1001").c_str(), "");
		assert_int_equal(parameters.*info.value, 1001);
		assert_int_not_equal(Parameters().*info.value, 1001);
	}
	for (const char *text : {"outstanding=", "outstanding=-1", "outstanding=1x", "outstanding=4294967296",
				 "outstanding", "nothing=1", "="}) {
		const std::string said = set_parameter(parameters, text);

		assert_true(!said.empty() && said.find('\n') == std::string::npos);
	}
}

} // namespace

TEST_MAIN("tests")
