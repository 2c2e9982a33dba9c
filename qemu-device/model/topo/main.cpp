// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/* aries-topo: what a machine is, costs and can carry, from a file or a builder. */
#include <functional>
#include <iostream>

#include <CLI/CLI.hpp>

#include "topo/program.hpp"
#include "topo/reports.hpp"
#include "topo/svg.hpp"
#include "topo/yaml.hpp"
#include "topology/builders.hpp"

using namespace aries::topology;

namespace
{

constexpr const char *MACHINE_HELP =
	"a file, or a builder and its parameters: aries:groups=6,cables_per_pair=12 ('aries-topo builders' lists them)";

/* "builder:name=value,name=value"; a file has no colon, or is written with a path. */
bool names_builder(const std::string &text)
{
	const size_t colon = text.find(':');

	return colon != std::string::npos && text.find_first_of("/.") > colon;
}

Built build_from(const std::string &text)
{
	std::vector<Parameter> parameters;
	size_t at = text.find(':');
	const std::string builder = text.substr(0, at);

	while (at < text.size() - 1) {
		const size_t end = std::min(text.find(',', at + 1), text.size());
		const std::string part = text.substr(at + 1, end - at - 1);
		const size_t equals = part.find('=');

		if (equals == std::string::npos)
			throw FileError("'" + part + "' is not a parameter: name=value");
		parameters.push_back({part.substr(0, equals), part.substr(equals + 1)});
		at = end;
	}
	return build_named(builder, parameters);
}

Built built_from(const std::string &text)
{
	Built built = names_builder(text) ? build_from(text) : read_yaml(text);

	for (const std::string &line : built.advice)
		std::cerr << "aries-topo: note: " << line << "\n";
	return built;
}

/* The subcommands, and what was given to them. */
struct Commands {
	std::string machine;
	bool json = false;
	uint32_t sources = 0;
	std::function<void()> chosen;

	void show(const Json &report) const
	{
		if (json)
			std::cout << report.dump(2) << "\n";
		else
			std::cout << text_of(report);
	}

	CLI::App *add(CLI::App &app, const char *name, const char *help,
		      const std::function<void(const Machine &)> &run)
	{
		CLI::App *command = app.add_subcommand(name, help);

		command->add_option("machine", machine, MACHINE_HELP)->required();
		command->callback([this, run] { chosen = [this, run] { run(built_from(machine).machine); }; });
		return command;
	}

	CLI::App *add_report(CLI::App &app, const char *name, const char *help,
			     const std::function<Json(const Machine &)> &report)
	{
		CLI::App *command = add(app, name, help, [this, report](const Machine &m) { show(report(m)); });

		command->add_flag("--json", json, "the same as JSON");
		return command;
	}
};

void add_commands(CLI::App &app, Commands &commands)
{
	commands.add_report(app, "print", "numbers of routers, tiles and links of each class", report_machine);
	commands.add(app, "validate", "say whether the machine keeps all rules", [](const Machine &machine) {
		const std::string rule = validate(machine);

		if (!rule.empty())
			throw FileError(rule);
		std::cout << machine.name << ": " << machine.nodes.size() << " nodes, " << machine.routers.size()
			  << " routers, " << machine.links.size() << " links, all rules kept\n";
	});
	commands.add_report(app, "device", "the properties of aries-nic that describe it, if there are any",
			    report_device);
	commands.add_report(app, "places", "where routers are, what they are called, which nodes they have",
			    report_places);
	commands.add(app, "svg", "draw it", [](const Machine &machine) { write_svg(std::cout, machine); });
	commands.add(app, "yaml", "write it in full", [](const Machine &machine) { write_yaml(std::cout, machine); });
	commands.add_report(app, "cables", "cables by class, of a group and of a node", report_cables);
	commands.add_report(app, "bisection", "the cut into halves that the fewest links cross", report_bisection);
	commands.add_report(app, "bandwidth", "global bandwidth, raw and of 64-byte puts", report_bandwidth);
	commands.add_report(app, "hops", "lengths of shortest paths",
			    [&commands](const Machine &machine) { return report_hops(machine, commands.sources); })
		->add_option("--sources", commands.sources,
			     "count only from this many routers, evenly over the machine");
	app.add_subcommand("builders", "list builders and their parameters")->callback([&commands] {
		commands.chosen = [] { std::cout << describe_builders(); };
	});
}

int run(int argc, char **argv)
{
	CLI::App app{"Shows what a machine is made of, what it costs and what it can carry.", "aries-topo"};
	Commands commands;

	add_commands(app, commands);
	return aries::program::run(app, argc, argv, [&commands] {
		commands.chosen();
		return int(aries::program::DONE);
	});
}

} // namespace

int main(int argc, char **argv)
{
	return aries::program::guarded("aries-topo", [&] { return run(argc, argv); });
}
