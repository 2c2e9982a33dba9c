// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/* aries-sim: simulates a machine under a traffic, prints JSON. Documentation/simulator.md. */
#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <iostream>

#include "chip/aries.hpp"
#include "chip/gemini.hpp"
#include "elite5_line.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "sweep.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

constexpr double PROGRESS_SECONDS = 2;
constexpr int WRONG_USAGE = 2;

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

/* May come several times, with a value each: what follows the value, or a comma in it, is not another one. */
void repeated(CLI::Option *option)
{
	option->expected(1)
		->allow_extra_args(false)
		->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
		->delimiter('\0');
}

void add_machine_options(CLI::App &app, Options &options, Output &output)
{
	app.add_option("machine", options.machine, "builder (aries, canonical, torus, clos, qsnet) or a file .yaml");
	app.add_option("parameters", options.shape, "NAME=VALUE of the builder");
	app.add_flag("--machines", output.list_machines, "list builders and their parameters");
	app.add_option(
		"--channels", options.channels,
		"virtual channels of each class (default: as many as the router has); of a torus 1, bubbles, or 2, a "
		"dateline; of a Clos 1, of a link of qsnet 1 to 32");
	app.add_option("--bias", options.bias, "flits that favour minimal ways, in modes adaptive0 to adaptive3")
		->expected(1, 4);
	app.add_option("--memory", options.memory_mib, "MiB that may be used (default: what is free)");
}

void add_traffic_options(CLI::App &app, Options &options)
{
	TrafficShape &traffic = options.run.traffic;

	app.add_option(
		"--traffic", options.traffic,
		"uniform, group (worst case), permutation, shift, offset, all-to-all, allreduce; of qsnet broadcast, "
		"barrier, tree-barrier");
	app.add_option("--operation", options.operation, "put, get, or raw: packets without responses");
	app.add_option("--bytes", traffic.bytes, "bytes of a message, 8 to 262144");
	app.add_option("--flits", traffic.raw_flits, "flits of a raw packet, 1 to 14, on a torus 32");
	app.add_option("--shift", traffic.shift,
		       "distance from source to target: in groups for group, in nodes for offset");
	app.add_option("--load", options.load, "share of what a node's processor tiles take");
	app.add_option(
		"--mode", options.mode,
		"in-order, minimal, nonminimal, adaptive, adaptive1 to adaptive3; of a Clos in-order (static, by "
		"destination), minimal (by hash), adaptive");
	app.add_option("--response-mode", options.response_mode, "mode of responses (default: that of requests)");
	app.add_option("--radix", traffic.radix,
		       "radix of a tree of collective engines, or of a tree-barrier, 2 to 32");
	app.add_option("--node-processes", traffic.processes,
		       "processes of a node, whose operands its host adds first");
	app.add_option("--compute", traffic.compute_ns, "ns that a node computes before each allreduce or barrier");
	app.add_option("--slow", options.slow, "RANK:NS: this rank computes longer by NS");
	app.add_option("--jobs", options.jobs, "file with jobs, as YAML");
	repeated(app.add_option("--job", options.job, "a job: 'nodes: 384, groups: 3, place: random:1, bytes: 4096'"));
}

void add_run_options(CLI::App &app, Options &options, Output &output)
{
	app.add_option("--seed", options.run.seed, "seed of all random choices");
	app.add_option("--warmup", options.run.warmup, "cycles before anything is measured");
	app.add_option("--measure", options.run.measure, "cycles that are measured");
	app.add_option("--drain", options.run.drain, "cycles, at most, until all that was measured has arrived");
	repeated(app.add_option("--fail", options.fail,
				"CYCLE:link:A-B, CYCLE:link:A.TILE, CYCLE:router:A or CYCLE:node:N fails"));
	repeated(app.add_option("--repair", options.repair, "in the same form: the part works again"));
	repeated(app.add_option("--lanes", options.lanes, "CYCLE:A-B:LANES: number of lanes that work from then on"));
	app.add_option("--threads", options.run.workers.threads, "threads that share the work");
	app.add_option("--parts", options.run.workers.parts,
		       "parts into which the machine is cut (default: one for each thread)");
	repeated(app.add_option("--set", options.set, "NAME=VALUE of a parameter of routers and NICs"));
	app.add_flag("--parameters", output.list_parameters, "list the parameters for --set with their values");
	app.add_option("--json", output.json, "file for the result (default: standard output)");
	app.add_option("--links", output.links, "file for the load of each link, as CSV");
	app.add_option("--background", output.background,
		       "file for the loads of links that carry something, for a device");
	app.add_flag("--quiet", output.quiet, "no progress");
	app.set_config("--config", "", "file with options: NAME = VALUE");
	app.allow_config_extras(CLI::config_extras_mode::error);
	app.failure_message([](const CLI::App *, const CLI::Error &error) {
		return std::string("aries-sim: ") + error.what() + "; see aries-sim --help\n";
	});
}

CLI::App *add_sweep(CLI::App &app, SweepShape &shape)
{
	CLI::App *sub = app.add_subcommand("sweep", "a run for each combination of values; goes on with what is there");

	sub->fallthrough();
	repeated(sub->add_option("--over", shape.over,
				 "NAME=VALUE,VALUE or NAME=FROM:TO:STEP; the last changes fastest"));
	sub->add_option("--out", shape.out, "results: .json and .csv behind it")->required();
	sub->add_option("-j,--processes", shape.processes, "runs beside each other; one for each processor");
	sub->add_flag("--until-saturated", shape.until_saturated,
		      "a curve ends at the first load that is not accepted");
	return sub;
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

/* What was printed is there; other processes than the first print nothing (be_silent()). */
int told(const Ranks *ranks)
{
	if (!ranks || ranks->rank() == 0)
		check_printed();
	return 0;
}

int parse_and_run(int argc, char **argv, Ranks *ranks)
{
	CLI::App app{"Simulates a network of Aries, another dragonfly, a Clos, a torus of Gemini, or QsNetIII, flit by "
		     "flit.",
		     "aries-sim"};
	Options options;
	Output output;
	SweepShape sweep_shape;

	options.run.workers.ranks = ranks;
	app.set_version_flag("-V,--version", "aries-sim (OpenGNI) " OPENGNI_VERSION);
	add_machine_options(app, options, output);
	add_traffic_options(app, options);
	add_run_options(app, options, output);
	const CLI::App *sub = add_sweep(app, sweep_shape);

	try {
		app.parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		if (app.exit(error))
			return WRONG_USAGE;
		return told(ranks);
	}
	if (output.list_parameters || output.list_machines) {
		if (output.list_parameters)
			list_parameters(options);
		else
			std::cout << topology::describe_routed();
		return told(ranks);
	}
	if (sub->parsed()) {
		if (ranks)
			throw RunError("a sweep starts processes of its own, and is for aries-sim alone");
		sweep_shape.quiet = output.quiet;
		return sweep(options, sweep_shape) != 0;
	}
	return simulate(options, output);
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
