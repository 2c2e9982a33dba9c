// SPDX-License-Identifier: GPL-2.0-or-later
/* aries-sim: simulates a machine under a traffic, prints JSON. Documentation/simulator.md. */
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <unistd.h>

#include "simulation.hpp"
#include "topo/yaml.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

constexpr double PROGRESS_SECONDS = 2;

struct Options {
	std::string machine = "canonical";
	std::vector<std::string> shape;
	std::string json, links;
	double load = 0.2;
	std::string mode = "adaptive";
	std::string pattern = "uniform";
	std::string operation = "put";
	std::vector<int32_t> bias;
	uint32_t channels = 0;
	uint64_t memory_mib = 0;
	bool quiet = false;
	bool list_machines = false;
	RunShape run;
};

double seconds(clockid_t clock)
{
	timespec now{};

	clock_gettime(clock, &now);
	return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

topology::Built machine_of(const Options &options)
{
	std::vector<topology::Parameter> parameters;
	const std::string &name = options.machine;

	if (name.ends_with(".yaml") || name.ends_with(".yml")) {
		if (!options.shape.empty())
			throw RunError("a machine from a file has no parameters");
		return topology::read_yaml(name);
	}
	for (const std::string &text : options.shape) {
		const size_t equals = text.find('=');

		if (equals == std::string::npos)
			throw RunError(text + " is not a parameter of a machine: NAME=VALUE");
		parameters.push_back({text.substr(0, equals), text.substr(equals + 1)});
	}
	return topology::build_named(name, parameters);
}

void add_machine_options(CLI::App &app, Options &options)
{
	app.add_option("machine", options.machine, "builder (aries, canonical) or a file .yaml");
	app.add_option("parameters", options.shape, "NAME=VALUE of the builder");
	app.add_flag("--machines", options.list_machines, "list builders and their parameters");
	app.add_option("--channels", options.channels, "virtual channels of a class; as many as the router has");
	app.add_option("--bias", options.bias, "flits that favour minimal ways, in modes adaptive0 to adaptive3")
		->expected(1, 4);
	app.add_option("--memory", options.memory_mib, "MiB that may be used; what is free");
}

void add_traffic_options(CLI::App &app, Options &options)
{
	TrafficShape &traffic = options.run.traffic;

	app.add_option("--traffic", options.pattern, "uniform, group (worst case), permutation, shift (all to all)");
	app.add_option("--operation", options.operation, "put, get, or raw: packets without responses");
	app.add_option("--bytes", traffic.bytes, "of a message, 8 to 262144");
	app.add_option("--flits", traffic.raw_flits, "of a raw packet, 1 to 14");
	app.add_option("--shift", traffic.shift, "groups from source to target, for group");
	app.add_option("--load", options.load, "share of what a node's processor tiles take");
	app.add_option("--mode", options.mode, "in-order, minimal, nonminimal, adaptive, adaptive1 to adaptive3");
}

void add_run_options(CLI::App &app, Options &options)
{
	Parameters &p = options.run.parameters;

	app.add_option("--seed", options.run.seed, "of all random choices");
	app.add_option("--warmup", options.run.warmup, "cycles");
	app.add_option("--measure", options.run.measure, "cycles");
	app.add_option("--drain", options.run.drain, "cycles, at most");
	app.add_option("--input-buffer", p.input_buffer, "flits of a network tile");
	app.add_option("--processor-buffer", p.processor_buffer, "flits of a processor tile");
	app.add_option("--subswitch-buffer", p.subswitch_buffer, "flits of an input and channel");
	app.add_option("--column-buffer", p.column_buffer, "flits of a row and channel");
	app.add_option("--load-interval", p.load_interval, "cycles between messages about load");
	app.add_option("--load-delay", p.load_delay, "cycles that these are older than they must be");
	app.add_option("--outstanding", p.outstanding, "requests of a NIC without response");
	app.add_option("--json", options.json, "file for the result; standard output");
	app.add_option("--links", options.links, "file for the load of each link, as CSV");
	app.add_flag("--quiet", options.quiet, "no progress");
}

/* The value of a name. */
template <typename Value>
Value choose(const char *what, const std::string &name, std::initializer_list<std::pair<const char *, Value>> choices)
{
	std::string known;

	for (const auto &[choice, value] : choices) {
		if (name == choice)
			return value;
		known += (known.empty() ? "" : ", ") + std::string(choice);
	}
	throw RunError(std::string("there is no ") + what + " " + name + ": " + known);
}

RoutingMode mode_of(const std::string &name)
{
	return choose<RoutingMode>("mode", name,
				   {{"in-order", {Routing::InOrder, 0}},
				    {"minimal", {Routing::MinimalHash, 0}},
				    {"nonminimal", {Routing::NonminimalHash, 0}},
				    {"adaptive", {Routing::Adaptive, 0}},
				    {"adaptive1", {Routing::Adaptive, 1}},
				    {"adaptive2", {Routing::Adaptive, 2}},
				    {"adaptive3", {Routing::Adaptive, 3}}});
}

void complete(Options &options)
{
	RunShape &shape = options.run;

	if (!(options.load > 0 && options.load <= 1))
		throw RunError("a load of " + std::to_string(options.load) + ": it is above 0 and at most 1");
	shape.traffic.load_ppm = static_cast<uint32_t>(std::lround(options.load * 1e6));
	shape.traffic.pattern = choose<Pattern>("traffic", options.pattern,
						{{"uniform", Pattern::Uniform},
						 {"group", Pattern::Group},
						 {"permutation", Pattern::Permutation},
						 {"shift", Pattern::Shift}});
	shape.traffic.operation =
		choose<Operation>("operation", options.operation,
				  {{"put", Operation::Put}, {"get", Operation::Get}, {"raw", Operation::Raw}});
	shape.traffic.request_mode = shape.traffic.response_mode = mode_of(options.mode);
	if (options.channels > routing::MAX_CHANNELS / routing::CLASSES)
		throw RunError(std::to_string(options.channels) + " channels of a class: at most " +
			       std::to_string(routing::MAX_CHANNELS / routing::CLASSES));
	shape.policy.channels = static_cast<uint8_t>(options.channels);
	for (size_t i = 0; i < options.bias.size(); i++)
		shape.policy.local_bias[i] = shape.policy.global_bias[i] = options.bias[i];
	shape.memory_bytes = options.memory_mib << 20;
	if (!shape.memory_bytes)
		shape.memory_bytes =
			static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
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

std::ofstream open_file(const std::string &path)
{
	std::ofstream file(path);

	if (!file)
		throw RunError(path + " cannot be written");
	return file;
}

int simulate(Options &options)
{
	complete(options);

	const topology::Built built = machine_of(options);
	std::ofstream json, links;

	for (const std::string &line : built.advice)
		std::cerr << "aries-sim: " << line << '\n';
	if (!options.json.empty())
		json = open_file(options.json);
	if (!options.links.empty())
		links = open_file(options.links);

	const double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
	const Result result = run(built.machine, options.run, reporter(options.quiet));
	const double used = seconds(CLOCK_PROCESS_CPUTIME_ID) - start;

	write_json(options.json.empty() ? std::cout : json, built.machine, options.run, result);
	if (!options.links.empty())
		write_links_csv(links, result);
	if (!options.quiet)
		std::cerr << result.statistics.hops << " packets through routers in " << used
			  << " s: " << static_cast<uint64_t>(static_cast<double>(result.statistics.hops) / used)
			  << " a CPU second\n";
	if (result.stuck)
		throw RunError("nothing moves any more: packets wait for each other, or have no way");
	return 0;
}

} // namespace

int main(int argc, char **argv)
try {
	CLI::App app{"Simulates an Aries network, or another dragonfly, flit by flit."};
	Options options;

	add_machine_options(app, options);
	add_traffic_options(app, options);
	add_run_options(app, options);
	CLI11_PARSE(app, argc, argv);
	if (options.list_machines) {
		std::cout << topology::describe_builders();
		return 0;
	}
	return simulate(options);
} catch (const std::exception &error) {
	std::fprintf(stderr, "aries-sim: %s\n", error.what());
	return 1;
}
