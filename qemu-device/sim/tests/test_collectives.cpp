// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Collectives on trees of engines. To the cycle, on one router, by hand:
 *
 * An operand is in its NIC 219 (host interface) + 105 (NIC) = 324 cycles after the host has begun. A packet of 6 flits
 * is at the next NIC 67 cycles later: 62 of a single flit (test_quiet.cpp) and 5 for the other flits. An engine takes 3
 * for each operand, and 105 when it has the last one; a result takes 105 of the NIC that it comes to. A host has it
 * 219 later, and 105 more if its NIC has an engine, which the result leaves as it would for another node.
 *
 * Two nodes: the leaf's operand is in the root's NIC after 324 + 67 = 391, where the root's own came in 324; the result
 * is there in 391 + 3 + 105 = 499, with the leaf's NIC in 566, with its host in 566 + 105 + 219 = 890. The root's host
 * has it in 499 + 105 + 219 = 823, and begins the next operation so much sooner; the leaf is the last of each.
 *
 * Four nodes with a radix of 2: rank 0 has 1 and 2, 2 has 3. Rank 3's operand is with rank 2 in 391, which sends its
 * sum in 391 + 3 + 105 = 499; it is with the root in 566, the result there in 566 + 108 = 674, with rank 2 in 674 + 67
 * + 105 = 846, with the NIC of rank 3 in 846 + 67 = 913, and with its host in 913 + 324 = 1237.
 */
#include <algorithm>
#include <cstring>
#include <sstream>

#include "jobs.hpp"
#include "names.hpp"
#include "rig.hpp"
#include "sweep_csv.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

topology::Machine one_router()
{
	return topology::build_aries({.groups = 1, .chassis = 1, .slots = 1});
}

topology::Machine three_groups()
{
	return topology::build_aries({.groups = 3, .chassis = 2, .slots = 2});
}

/* Two nodes of each of its routers, and its other ones. */
std::vector<Job> two_jobs(const topology::Machine &machine, const TrafficShape &tree, const TrafficShape &others)
{
	std::vector<Job> jobs{{"tree", {}, tree}, {"others", {}, others}};

	for (uint32_t node = 0; node < machine.nodes.size(); node++)
		jobs[node / 2 % 2].nodes.push_back(node);
	return jobs;
}

struct JobRig {
	JobRig(topology::Machine of, std::vector<Job> of_jobs, const Parameters &parameters = {})
		: machine(std::move(of)), built(routing::build_tables(machine, RunShape::default_policy())),
		  jobs(std::move(of_jobs)),
		  network(machine, &built.tables, machine.router_type.request_channels, parameters, Workload(jobs), 1)
	{
	}

	void drain(uint32_t cycles)
	{
		network.stop_traffic(cycles);
		network.run(cycles);
		for (uint32_t i = 0; i < 1000 && !network.idle(); i++)
			network.run(network.now() + 1000);
		assert_true(network.idle());
		network.run(network.now() + 10000);
		assert_string_equal(network.leftover().c_str(), "");
	}

	std::vector<OperationCount> operations() const { return network.statistics().collectives[0].operations; }

	topology::Machine machine;
	routing::Built built;
	std::vector<Job> jobs;
	Network network;
};

TrafficShape allreduce(uint32_t radix = MOST_RADIX)
{
	return {.pattern = Pattern::Allreduce, .radix = radix};
}

std::vector<Job> job_of(std::vector<uint32_t> nodes, const TrafficShape &traffic)
{
	return {{"tree", std::move(nodes), traffic}};
}

/* Ranks that a tree of so many levels below the root can have, at most. */
uint64_t room_for(uint64_t radix, uint32_t depth)
{
	uint64_t ranks = 1;

	for (uint32_t level = 0; level < depth; level++)
		ranks = 1 + radix * ranks;
	return ranks;
}

TEST(trees_have_every_rank_once_N22)
{
	for (const uint32_t radix : {2u, 3u, 5u, 32u}) {
		for (const uint32_t ranks : {1u, 2u, 3u, 4u, 7u, 8u, 33u, 34u, 100u, 750u, 1057u, 1058u, 3000u}) {
			const Tree tree(ranks, radix);
			std::vector<uint32_t> level(ranks), seen(ranks);

			assert_int_equal(tree.parent(0), Tree::NO_PARENT);
			for (uint32_t rank = 0; rank < ranks; rank++) {
				assert_true(tree.children(rank).size() <= radix);
				for (const uint32_t child : tree.children(rank)) {
					assert_true(child > rank && child < ranks);
					assert_int_equal(tree.parent(child), rank);
					level[child] = level[rank] + 1;
					seen[child]++;
				}
				assert_int_equal(seen[rank], rank ? 1 : 0);
				assert_true(level[rank] <= tree.depth());
			}
			assert_true(ranks <= room_for(radix, tree.depth()));
			assert_true(!tree.depth() || ranks > room_for(radix, tree.depth() - 1));
		}
	}
	/* L19, N22. */
	assert_int_equal(Tree(750, 32).depth(), 2);
	assert_int_equal(Tree(33825, 32).depth(), 3);
	assert_int_equal(Tree(33826, 32).depth(), 4);
	assert_int_equal(Tree(92544, 32).depth(), 4);
}

/* Subtrees are runs of ranks, as equal as can be. */
TEST(trees_are_in_runs)
{
	const Tree tree(11, 3);
	const auto is = [&tree](uint32_t rank, const std::vector<uint32_t> &children) {
		const auto its = tree.children(rank);

		return std::vector<uint32_t>(its.begin(), its.end()) == children;
	};

	assert_true(is(0, {1, 4, 7}));
	assert_true(is(1, {2, 3}));
	assert_true(is(4, {5, 6}));
	assert_true(is(7, {8, 9, 10}));
	assert_int_equal(tree.depth(), 2);
}

void expect_each(const std::vector<OperationCount> &operations, uint32_t nodes, uint32_t period, uint32_t latency)
{
	assert_true(operations.size() > 10);
	for (size_t i = 0; i + 1 < operations.size(); i++) {
		assert_int_equal(operations[i].begun, nodes);
		assert_int_equal(operations[i].ended, nodes);
		if (i)
			assert_int_equal(operations[i].last_end - operations[i - 1].last_end, period);
		assert_int_equal(operations[i].last_end - operations[i].last_begin, latency);
	}
}

TEST(two_nodes_to_the_cycle)
{
	JobRig rig(one_router(), job_of({0, 1}, allreduce()));

	rig.drain(20000);
	assert_int_equal(rig.operations()[0].last_begin, 0);
	assert_int_equal(rig.operations()[0].last_end, 890);
	expect_each(rig.operations(), 2, 890, 890);
	assert_int_equal(rig.network.statistics().latency.count_of(67), rig.network.statistics().latency.count());
}

TEST(two_levels_to_the_cycle)
{
	JobRig rig(one_router(), job_of({0, 1, 2, 3}, allreduce(2)));

	rig.drain(20000);
	assert_int_equal(rig.operations()[0].last_end, 1237);
	expect_each(rig.operations(), 4, 1237, 1237);
}

/* 15 processes whose operands are added take 1,500 ns, 1,313 cycles; 1,000 ns of computing are 875. */
TEST(processes_and_computing)
{
	TrafficShape shape = allreduce();

	shape.processes = 16;

	JobRig processes(one_router(), job_of({0, 1}, shape));

	processes.drain(40000);
	expect_each(processes.operations(), 2, 890 + 1313, 890 + 1313);
	shape.processes = 1;
	shape.compute_ns = 1000;

	JobRig computing(one_router(), job_of({0, 1}, shape));

	computing.drain(40000);
	assert_int_equal(computing.operations()[0].last_begin, 875);
	expect_each(computing.operations(), 2, 890 + 875, 890);
}

/*
 * All wait for the slow one, exactly as long as it is late. If that is the leaf, its way is the longest as ever; the
 * root's operand has no way to go, and the result is with the leaf in 324 + 3 + 105 + 67 + 324 = 823.
 */
TEST(a_slow_node_delays_all_by_its_delay)
{
	for (const uint32_t rank : {0u, 1u}) {
		TrafficShape shape = allreduce();
		const uint32_t latency = rank ? 890 : 823;

		shape.slow_rank = rank;
		shape.slow_ns = 10000;

		JobRig rig(one_router(), job_of({2, 3}, shape));

		rig.drain(200000);
		assert_int_equal(rig.operations()[0].last_begin, 8750);
		assert_int_equal(rig.operations()[0].last_end, 8750 + latency);
		/* The slow root has its own result in 432 + 105 + 219 = 756, and computes again. */
		expect_each(rig.operations(), 2, 8750 + (rank ? 890 : 756), latency);
	}
}

/* What has begun is brought to its end, however long hosts would compute then; nothing else begins. */
TEST(the_end_of_traffic)
{
	TrafficShape shape = allreduce();

	shape.compute_ns = 20'000;

	JobRig rig(one_router(), job_of({0, 1}, shape));

	/* Hosts begin in 17,500, and have the result in 18,390; operands have not left their NICs. */
	rig.network.stop_traffic(17600);
	rig.network.run(17600);
	assert_int_equal(rig.network.live(), 0);
	assert_false(rig.network.idle());
	rig.network.run(18389);
	assert_false(rig.network.idle());
	rig.network.run(18391);
	assert_true(rig.network.idle());
	rig.network.run(60000);
	assert_int_equal(rig.operations().size(), 1);
	assert_int_equal(rig.operations()[0].ended, 2);
	assert_int_equal(rig.operations()[0].last_end, 18390);
}

/* The root begins its second operation in 823, the leaf would in 890: it is cut off, not given up. */
TEST(the_end_of_traffic_between_two_begins)
{
	RunShape shape;

	shape.jobs = job_of({0, 1}, allreduce());
	shape.warmup = 0;
	shape.measure = 850;

	const Result result = run(one_router(), shape);

	assert_true(result.drained && !result.stuck);
	assert_int_equal(result.collectives[0].begun, 2);
	assert_int_equal(result.collectives[0].ended, 1);
	assert_int_equal(result.collectives[0].given_up, 0);
	assert_int_equal(result.collectives[0].latency.count_of(890), 1);
}

/* Nobody ends what another has not begun, nor begins before it has ended; all that is begun ends. */
TEST(order_of_operations)
{
	const topology::Machine machine = three_groups();
	JobRig rig(machine, two_jobs(machine, allreduce(3), {.load_ppm = 250000}));
	const auto nodes = static_cast<uint32_t>(rig.jobs[0].nodes.size());

	for (uint32_t cycle = 1; cycle < 12000; cycle += 3) {
		rig.network.run(cycle);

		const std::vector<OperationCount> operations = rig.operations();

		for (size_t i = 0; i < operations.size(); i++) {
			assert_true(operations[i].begun <= nodes && operations[i].ended <= operations[i].begun);
			assert_true(!operations[i].ended || operations[i].begun == nodes);
			assert_true(!i || operations[i].begun <= operations[i - 1].ended);
		}
	}
	rig.drain(50000);

	const Statistics seen = rig.network.statistics();
	const std::vector<OperationCount> operations = rig.operations();

	assert_true(operations.size() > 10);
	for (size_t i = 0; i + 1 < operations.size(); i++)
		assert_int_equal(operations[i].ended, nodes);
	assert_int_equal(seen.injected_packets, seen.received_packets);
	/* A packet up and one down for each node but the root; the last operation may be one that not all began. */
	const size_t packets = size_t{2} * (nodes - 1);

	assert_in_range(seen.jobs[0].latency.count(), packets * (operations.size() - 1), packets * operations.size());
	assert_int_equal(seen.collectives[0].lost, 0);
}

double mean_latency(const topology::Machine &machine, const std::vector<Job> &jobs, RoutingMode mode)
{
	RunShape shape;

	shape.jobs = jobs;
	shape.jobs[0].traffic.request_mode = mode;
	shape.warmup = 5000;
	shape.measure = 30000;

	const Result result = run(machine, shape);

	assert_true(result.drained && !result.stuck);
	assert_true(result.collectives[0].latency.count() > 5);
	assert_int_equal(result.collectives[0].given_up, 0);
	return result.collectives[0].latency.mean();
}

TEST(a_busy_network_is_slower)
{
	const topology::Machine machine = three_groups();
	const std::vector<Job> busy = two_jobs(machine, allreduce(), {.bytes = 1024, .load_ppm = 250000});
	const std::vector<Job> quiet = job_of(busy[0].nodes, allreduce());

	for (const RoutingMode mode : {RoutingMode{Routing::InOrder, 0}, RoutingMode{Routing::MinimalHash, 0},
				       RoutingMode{Routing::NonminimalHash, 0}, RoutingMode{Routing::Adaptive, 0},
				       RoutingMode{Routing::Adaptive, 3}}) {
		const double of_quiet = mean_latency(machine, quiet, mode);
		const double of_busy = mean_latency(machine, busy, mode);

		print_message("mode %s: %.0f cycles, %.0f in a busy network\n", name_of(mode).c_str(), of_quiet,
			      of_busy);
		assert_true(of_busy > of_quiet * 1.02);
	}
}

struct Happening {
	Change change;
	const char *text;
};

std::string text_of(const std::vector<Job> &jobs, const std::vector<Happening> &happenings, const Workers &workers,
		    Result &result)
{
	const topology::Machine machine = three_groups();
	std::ostringstream text;
	RunShape shape;

	shape.jobs = jobs;
	shape.warmup = 2000;
	shape.measure = 78000;
	shape.workers = workers;
	for (const Happening &happening : happenings)
		shape.incidents.push_back(parse_incident(happening.change, happening.text, machine));
	result = run(machine, shape);
	assert_true(result.drained);
	assert_false(result.stuck);
	write_json(text, machine, shape, result);
	return text.str();
}

/* What begins when the last one is done has no load: the means of offered and accepted load are those of other jobs. */
TEST(allreduces_have_no_load)
{
	Result result;

	text_of(two_jobs(three_groups(), allreduce(4), {.load_ppm = 200000}), {}, {}, result);

	const double share = static_cast<double>(result.jobs[1].nodes) / static_cast<double>(result.nodes);

	assert_true(result.jobs[0].accepted == 0 && result.jobs[0].offered == 0);
	assert_true(result.jobs[0].gbyte_per_s_per_node > 0);
	assert_true(std::abs(result.offered - 0.2 * share) < 1e-6);
	assert_true(std::abs(result.accepted - result.jobs[1].accepted * share) < 1e-6);
}

/* A node of the tree fails: that is the end of its job's operations, also when it comes back, and of nothing else. */
TEST(a_node_of_the_tree_fails_R14)
{
	const topology::Machine machine = three_groups();
	const std::vector<Job> jobs = two_jobs(machine, allreduce(4), {.load_ppm = 200000});
	Result alone, with_others, another;

	/* Longer than anything may stand still that is not finished. */
	text_of(job_of(jobs[0].nodes, allreduce(4)), {{Change::Fail, "20000:node:5"}, {Change::Repair, "25000:node:5"}},
		{}, alone);
	assert_true(alone.collectives[0].lost >= 1);
	assert_in_range(alone.collectives[0].given_up, 1, 2);
	assert_in_range(alone.collectives[0].ended, 5, 20);
	assert_int_equal(alone.collectives[0].begun, alone.collectives[0].ended + alone.collectives[0].given_up);

	text_of(jobs, {{Change::Fail, "20000:node:5"}}, {}, with_others);
	assert_in_range(with_others.collectives[0].ended, 5, 20);
	assert_true(with_others.jobs[1].accepted > 0.19);

	text_of(jobs, {{Change::Fail, "20000:node:2"}}, {}, another);
	assert_int_equal(another.collectives[0].lost, 0);
	assert_int_equal(another.collectives[0].given_up, 0);
	assert_in_range(another.collectives[0].ended, 25, 60);
}

/* It computes while it fails and comes back, and nothing is sent to it meanwhile: it is out of its tree all the same.
 */
TEST(a_node_that_computes_fails_R14)
{
	TrafficShape shape = allreduce();
	Result result;

	shape.compute_ns = 20'000;
	text_of(job_of({0, 1}, shape), {{Change::Fail, "20000:node:1"}, {Change::Repair, "30000:node:1"}}, {}, result);
	assert_int_equal(result.collectives[0].lost, 1);
	assert_int_equal(result.collectives[0].ended, 1);
	assert_int_equal(result.collectives[0].begun, 2);
	assert_int_equal(result.collectives[0].given_up, 1);
}

/* A router away from the tree: requests are held until tables have changed, and then operations go on. */
TEST(operations_wait_for_tables_R14)
{
	const topology::Machine machine = three_groups();
	Result result, undisturbed;

	text_of(job_of({0, 1, 4, 5}, allreduce(2)), {}, {}, undisturbed);
	text_of(job_of({0, 1, 4, 5}, allreduce(2)), {{Change::Fail, "10000:router:11"}}, {}, result);
	assert_int_equal(result.rebuilds.size(), 1);
	assert_int_equal(result.collectives[0].lost, 0);
	assert_true(result.collectives[0].ended + 1 >= undisturbed.collectives[0].ended);
}

/* Links between two routers with a tree, at any time of an operation: if it takes a packet along, no other ends. */
TEST(a_link_of_the_tree_fails_R14)
{
	const std::vector<Job> jobs = job_of({0, 1, 4, 5}, allreduce(2));
	uint32_t lost = 0, kept = 0;
	Result undisturbed;

	text_of(jobs, {}, {}, undisturbed);
	for (uint32_t cycle = 20000; cycle < 21400; cycle += 30) {
		const std::string text = std::to_string(cycle) + ":link:0-1";
		Result result;

		text_of(jobs, {{Change::Fail, text.c_str()}}, {}, result);

		const CollectiveResult &collective = result.collectives[0];

		if (collective.lost) {
			assert_in_range(collective.ended, 13, 16);
			assert_in_range(collective.given_up, 1, 2);
			lost++;
		} else {
			/* By ways that are longer than the link was. */
			assert_true(4 * collective.ended > 3 * undisturbed.collectives[0].ended);
			assert_int_equal(collective.given_up, 0);
			kept++;
		}
	}
	print_message("%u of %u took a packet along\n", lost, lost + kept);
	assert_true(lost > 2 && kept > 10);
}

TEST(parts_do_not_change_what_is_lost)
{
	const topology::Machine machine = three_groups();
	const std::vector<Job> jobs = two_jobs(machine, allreduce(3), {.bytes = 512, .load_ppm = 250000});

	for (const std::vector<Happening> &happenings :
	     {std::vector<Happening>{}, std::vector<Happening>{{Change::Fail, "9000:router:5"}}}) {
		Result result;
		const std::string one = text_of(jobs, happenings, {}, result);

		assert_int_equal(result.collectives[0].lost > 0, !happenings.empty());
		assert_non_null(strstr(one.c_str(), "\"collective\""));
		for (const Workers &workers : {Workers{.parts = 3}, Workers{.threads = 2, .parts = 5}})
			assert_string_equal(text_of(jobs, happenings, workers, result).c_str(), one.c_str());
	}
}

TEST(counts_as_words)
{
	JobRig rig(one_router(), job_of({0, 1, 2}, allreduce()));
	Statistics loaded, both;
	std::vector<uint64_t> words, again;

	rig.network.run(5100);
	rig.network.statistics().save(words);
	loaded.load(words);
	loaded.save(again);
	assert_true(words == again);
	assert_true(loaded.collectives[0].operations.size() > 4);
	both.add(loaded);
	both.add(loaded);
	for (size_t i = 0; i < both.collectives[0].operations.size(); i++) {
		const OperationCount &one = loaded.collectives[0].operations[i];
		const OperationCount &sum = both.collectives[0].operations[i];

		assert_int_equal(sum.begun, 2 * one.begun);
		assert_int_equal(sum.ended, 2 * one.ended);
		assert_int_equal(sum.last_begin, one.last_begin);
		assert_int_equal(sum.last_end, one.last_end);
	}
}

/* Columns are those of all traffics, whichever comes first; a traffic without operations has no number there. */
TEST(sweeps_have_latencies_of_operations)
{
	const topology::Machine machine = one_router();
	std::vector<SweepRow> rows;

	for (const Pattern pattern : {Pattern::Uniform, Pattern::Allreduce}) {
		std::ostringstream text;
		RunShape shape;

		shape.traffic.pattern = pattern;
		write_json(text, machine, shape, run(machine, shape));
		rows.push_back({{"x"}, nlohmann::ordered_json::parse(text.str())});
	}

	std::istringstream csv(sweep_csv({"traffic"}, rows));
	std::string line, value;
	std::vector<std::vector<std::string>> values;

	while (std::getline(csv, line)) {
		std::istringstream cells(line);

		values.emplace_back();
		while (std::getline(cells, value, ','))
			values.back().push_back(value);
	}

	const auto at = static_cast<size_t>(std::find(values[0].begin(), values[0].end(), "collective_mean") -
					    values[0].begin());

	assert_true(at < values[0].size());
	assert_int_equal(values[1].size(), values[0].size());
	assert_int_equal(values[2].size(), values[0].size());
	assert_string_equal(values[1][at].c_str(), "");
	assert_true(std::stod(values[2][at]) > 1000);
}

void refused(const std::string &text, const char *part)
{
	const topology::Machine machine = three_groups();
	std::string said;

	try {
		said = check_workload(parse_jobs(text, "jobs", machine, {}), Layout(machine, {}, 4));
	} catch (const NameError &error) {
		said = error.what();
	}
	if (said.find(part) == std::string::npos || said.find('\n') != std::string::npos)
		fail_msg("%s: said \"%s\", not \"%s\"", text.c_str(), said.c_str(), part);
}

TEST(trees_that_cannot_be)
{
	for (const char *radix : {"0", "1", "33"})
		refused(std::string("{nodes: 10, traffic: allreduce, radix: ") + radix + "}",
			"an engine has 2 to 32 children");
	refused("{nodes: 1, traffic: allreduce}", "at least two nodes");
	refused("{nodes: 10, traffic: allreduce, processes: 0}", "1 to 1024");
	refused("{nodes: 10, traffic: allreduce, processes: 1025}", "1 to 1024");
	refused("{nodes: 10, traffic: allreduce, compute: 100000001}", "at most 100000000");
	refused("{nodes: 10, traffic: allreduce, slow: '10:5'}", "rank 10 is slow: the job has 0 to 9");
	refused("{nodes: 10, traffic: allreduce, slow: '5'}", "is not RANK:NS");
	refused("{nodes: 10, traffic: allreduce, slow: 'x:5'}", "no whole number");
	refused("{nodes: 10, traffic: allreduce, radius: 3}", "a job has no 'radius'");

	Parameters parameters;

	parameters.ce_nic_cycles = 0;
	assert_string_equal(check_parameters(parameters, chip::ARIES, 8).c_str(), "an engine takes at least one cycle");
	parameters = {};
	parameters.ce_process_ns = 100001;
	assert_non_null(strstr(check_parameters(parameters, chip::ARIES, 8).c_str(), "ns for a process"));
}

} // namespace

TEST_MAIN("tests")
