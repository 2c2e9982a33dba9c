// SPDX-License-Identifier: GPL-2.0-or-later
/* aries-sim: simulates a machine under a traffic, prints JSON. Documentation/simulator.md. */
#include <cstdio>
#include <ctime>
#include <iostream>

#include "chip/aries.hpp"
#include "chip/gemini.hpp"
#include "elite5_line.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "sweep.hpp"
#include "topo/program.hpp"

using namespace aries;
using namespace aries::sim;
using program::Option;

namespace
{

constexpr double PROGRESS_SECONDS = 2;

struct Output {
	std::string json, links, background;
	bool quiet = false;
	bool list_machines = false;
	bool list_parameters = false;
};

double seconds(clockid_t clock)
{
	timespec now{};

	clock_gettime(clock, &now);
	return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

constexpr program::Rules REPEATED = {.repeated = true};

std::vector<Option> machine_options(Options &options, Output &output)
{
	return {
		program::VERSION,
		{"machine", &options.machine, "builder (aries, canonical, torus, clos, qsnet) or a file .yaml"},
		{"parameters", &options.shape, "NAME=VALUE of the builder"},
		{"--machines", &output.list_machines, "list builders and their parameters"},
		{"--channels", &options.channels,
		 "virtual channels of each class (default: as many as the router has); of a torus 1, bubbles, or 2, a "
		 "dateline; of a Clos 1, of a link of qsnet 1 to 32"},
		{"--bias",
		 &options.bias,
		 "flits that favour minimal ways, in modes adaptive0 to adaptive3",
		 {.values = 4}},
		{"--memory", &options.memory_mib, "MiB that may be used (default: what is free)"},
	};
}

std::vector<Option> traffic_options(Options &options)
{
	TrafficShape &traffic = options.run.traffic;

	return {
		{"--traffic", &options.traffic,
		 "uniform, group (worst case), permutation, shift, offset, all-to-all, allreduce; of qsnet broadcast, "
		 "conditional, barrier, tree-barrier"},
		{"--operation", &options.operation, "put, get, or raw: packets without responses"},
		{"--bytes", &traffic.bytes, "bytes of a message, 8 to 262144"},
		{"--flits", &traffic.raw_flits, "flits of a raw packet, 1 to 14, on a torus 32"},
		{"--shift", &traffic.shift, "distance from source to target: in groups for group, in nodes for offset"},
		{"--load", &options.load, "share of what a node's processor tiles take"},
		{"--mode", &options.mode,
		 "in-order, minimal, nonminimal, adaptive, adaptive1 to adaptive3; of a Clos in-order (static, by "
		 "destination), minimal (by hash), adaptive"},
		{"--response-mode", &options.response_mode, "mode of responses (default: that of requests)"},
		{"--radix", &traffic.radix, "radix of a tree of collective engines, or of a tree-barrier, 2 to 32"},
		{"--node-processes", &traffic.processes, "processes of a node, whose operands its host adds first"},
		{"--compute", &traffic.compute_ns,
		 "ns that a node computes before each allreduce, conditional or barrier"},
		{"--slow", &options.slow,
		 "RANK:NS: this rank computes longer by NS, or is what a conditional asks for so much later"},
		{"--jobs", &options.jobs, "file with jobs, as YAML"},
		{"--job", &options.job, "a job: 'nodes: 384, groups: 3, place: random:1, bytes: 4096'", REPEATED},
	};
}

std::vector<Option> run_options(Options &options, Output &output)
{
	RunShape &run = options.run;

	return {
		{"--seed", &run.seed, "seed of all random choices"},
		{"--warmup", &run.warmup, "cycles before anything is measured"},
		{"--measure", &run.measure, "cycles that are measured"},
		{"--drain", &run.drain, "cycles, at most, until all that was measured has arrived"},
		{"--fail", &options.fail,
		 "CYCLE:link:A-B, CYCLE:link:A.TILE (of qsnet also to a node), CYCLE:router:A or CYCLE:node:N fails",
		 REPEATED},
		{"--repair", &options.repair, "in the same form: the part works again", REPEATED},
		{"--lanes", &options.lanes, "CYCLE:A-B:LANES: number of lanes that work from then on", REPEATED},
		{"--threads", &run.workers.threads, "threads that share the work"},
		{"--parts", &run.workers.parts, "parts into which the machine is cut (default: one for each thread)"},
		{"--set", &options.set, "NAME=VALUE of a parameter of routers and NICs", REPEATED},
		{"--parameters", &output.list_parameters, "list the parameters for --set with their values"},
		{"--json", &output.json, "file for the result (default: standard output)"},
		{"--links", &output.links, "file for the load of each link, as CSV"},
		{"--background", &output.background, "file for the loads of links that carry something, for a device"},
		{"--quiet", &output.quiet, "no progress"},
		{"--config", program::OptionFile{}, "file with options: NAME = VALUE"},
	};
}

std::vector<Option> sweep_options(SweepShape &shape)
{
	return {
		{"--over", &shape.over, "NAME=VALUE,VALUE or NAME=FROM:TO:STEP; the last changes fastest", REPEATED},
		{"--out", &shape.out, "results: .json and .csv behind it", {.required = true}},
		{"-j,--processes", &shape.processes, "runs beside each other; one for each processor"},
		{"--until-saturated", &shape.until_saturated, "a curve ends at the first load that is not accepted"},
	};
}

/* With the values that they have for the machine that was named. */
void list_parameters(const Options &options)
{
	const Parameters defaults = parameters_of(options.machine == "torus"   ? chip::GEMINI
						  : options.machine == "qsnet" ? ELITE5_LINE
									       : chip::ARIES);

	for (const ParameterInfo &info : parameter_table())
		std::cout << info.name << '=' << defaults.*info.value << '\t' << info.meaning << '\n';
}

/* A line now and then on the terminal, with the time that is left. */
std::function<void(const Progress &)> reporter(bool quiet)
{
	const double start = seconds(CLOCK_MONOTONIC);

	if (quiet)
		return {};
	return [start, last = start](const Progress &progress) mutable {
		const double now = seconds(CLOCK_MONOTONIC);

		if (now - last < PROGRESS_SECONDS)
			return;
		last = now;

		std::cerr << "cycle " << progress.cycle << " of " << progress.until << ", " << progress.live
			  << " packets in the network";
		if (progress.cycle < progress.until)
			std::cerr << ", "
				  << static_cast<uint64_t>((now - start) * (progress.until - progress.cycle) /
							   progress.cycle)
				  << " s left";
		else
			std::cerr << ", draining";
		std::cerr << '\n';
	};
}

/* A full disk shows when the last of it is written. */
void check_printed()
{
	if (!std::cout.flush())
		throw RunError("standard output cannot be written");
}

/* Only the first of several processes says something. */
void be_silent()
{
	std::cout.setstate(std::ios::failbit);
	std::cerr.setstate(std::ios::failbit);
}

/* What can go wrong in one process alone goes wrong in all. */
Prepared prepare_together(const Options &options, const Output &output)
{
	Ranks *ranks = options.run.workers.ranks;
	Prepared prepared;
	std::string broken;

	try {
		prepared = prepare(options);
		if (!output.background.empty())
			broken = check_background(prepared.built.machine);
		for (const std::string *path : {&output.json, &output.links, &output.background}) {
			if (!path->empty() && options.run.workers.rank() == 0)
				check_writable(*path);
		}
	} catch (const std::exception &error) {
		broken = error.what();
	}
	if (ranks)
		broken = ranks->first_of(broken);
	if (!broken.empty())
		throw RunError(broken);
	return prepared;
}

void write_results(const Output &output, const topology::Machine &machine, const RunShape &shape, const Result &result)
{
	if (shape.workers.rank())
		return;
	if (output.json.empty()) {
		write_json(std::cout, machine, shape, result);
		check_printed();
	} else {
		replace_file(output.json, [&](std::ostream &file) { write_json(file, machine, shape, result); });
	}
	if (!output.links.empty())
		replace_file(output.links, [&](std::ostream &file) { write_links_csv(file, result); });
	if (!output.background.empty())
		replace_file(output.background,
			     [&](std::ostream &file) { write_background(file, machine, shape, result); });
}

int simulate(const Options &options, const Output &output)
{
	const Prepared prepared = prepare_together(options, output);
	const topology::Machine &machine = prepared.built.machine;

	for (const std::string &line : prepared.built.advice)
		std::cerr << "aries-sim: " << line << '\n';

	const double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
	const Result result = run(machine, prepared.run, reporter(output.quiet));
	const double used = seconds(CLOCK_PROCESS_CPUTIME_ID) - start;

	write_results(output, machine, prepared.run, result);
	if (!output.quiet)
		std::cerr << result.statistics.hops << " packets through routers in " << used
			  << " s: " << static_cast<uint64_t>(static_cast<double>(result.statistics.hops) / used)
			  << " a CPU second\n";
	if (result.stuck)
		throw RunError("nothing moves any more: packets wait for each other, or have no way");
	return 0;
}

/* Lists what was asked for; whether something was. */
bool listed(const Options &options, const Output &output)
{
	if (output.list_parameters)
		list_parameters(options);
	else if (output.list_machines)
		std::cout << topology::describe_routed();
	return output.list_parameters || output.list_machines;
}

int sweep_alone(const Options &options, SweepShape shape, const Output &output)
{
	if (options.run.workers.ranks)
		throw RunError("a sweep starts processes of its own, and is for aries-sim alone");
	shape.quiet = output.quiet;
	return sweep(options, shape) != 0;
}

int parse_and_run(int argc, char **argv, Ranks *ranks)
{
	Options options;
	Output output;
	SweepShape shape;

	options.run.workers.ranks = ranks;

	program::Command sim = {
		"aries-sim",
		"Simulates a network of Aries, another dragonfly, a Clos, a torus of Gemini, or QsNetIII, flit by "
		"flit.",
		machine_options(options, output),
		[&] { return listed(options, output) ? 0 : simulate(options, output); },
		{{.name = "sweep",
		  .help = "a run for each combination of values; goes on with what is there",
		  .options = sweep_options(shape),
		  .action = [&] { return listed(options, output) ? 0 : sweep_alone(options, shape, output); },
		  .program_options = true}}};

	for (const std::vector<Option> &more : {traffic_options(options), run_options(options, output)})
		sim.options.insert(sim.options.end(), more.begin(), more.end());
	/* Other processes than the first print nothing (be_silent()). */
	return program::run(sim, argc, argv, [ranks] {
		if (!ranks || ranks->rank() == 0)
			check_printed();
	});
}

} // namespace

int main(int argc, char **argv)
try {
	const std::unique_ptr<Ranks> ranks = join_ranks(argc, argv);

	try {
		if (ranks && ranks->rank())
			be_silent();
		return parse_and_run(argc, argv, ranks.get());
	} catch (const RunError &error) {
		std::cerr << "aries-sim: " << error.what() << '\n';
		return 1;
	} catch (const std::exception &error) {
		std::fprintf(stderr, "aries-sim: %s\n", error.what());
		if (ranks)
			ranks->abort();
		return 1;
	}
} catch (const std::exception &error) {
	std::fprintf(stderr, "aries-sim: %s\n", error.what());
	return 1;
}
