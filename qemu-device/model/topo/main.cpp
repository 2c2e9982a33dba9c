// SPDX-License-Identifier: GPL-2.0-or-later
/* aries-topo: what a machine is, costs and can carry, from a file or a builder. */
#include <functional>
#include <iostream>

#include "topo/program.hpp"
#include "topo/reports.hpp"
#include "topo/svg.hpp"
#include "topo/yaml.hpp"
#include "topology/builders.hpp"

using namespace aries::topology;
using aries::program::Command, aries::program::Option;

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

/* What was given to the commands. */
struct Given {
	std::string machine;
	bool json = false;
	uint32_t sources = 0;

	void show(const Json &report) const
	{
		if (json)
			std::cout << report.dump(2) << "\n";
		else
			std::cout << text_of(report);
	}
};

Command command(Given &given, const char *name, const char *help, const std::function<void(const Machine &)> &what,
		const std::vector<Option> &options = {})
{
	Command made = {name, help, {{"machine", &given.machine, MACHINE_HELP, {.required = true}}}, [&given, what] {
				what(built_from(given.machine).machine);
				return aries::program::DONE;
			}};

	made.options.insert(made.options.end(), options.begin(), options.end());
	return made;
}

Command report(Given &given, const char *name, const char *help, const std::function<Json(const Machine &)> &tell,
	       std::vector<Option> options = {})
{
	options.insert(options.begin(), {"--json", &given.json, "the same as JSON"});
	return command(
		given, name, help, [&given, tell](const Machine &m) { given.show(tell(m)); }, options);
}

void print_validity(const Machine &machine)
{
	const std::string rule = validate(machine);

	if (!rule.empty())
		throw FileError(rule);
	std::cout << machine.name << ": " << machine.nodes.size() << " nodes, " << machine.routers.size()
		  << " routers, " << machine.links.size() << " links, all rules kept\n";
}

std::vector<Command> commands(Given &given)
{
	return {
		report(given, "print", "numbers of routers, tiles and links of each class", report_machine),
		command(given, "validate", "say whether the machine keeps all rules", print_validity),
		report(given, "device", "the properties of aries-nic that describe it, if there are any",
		       report_device),
		report(given, "places", "where routers are, what they are called, which nodes they have",
		       report_places),
		command(given, "svg", "draw it", [](const Machine &machine) { write_svg(std::cout, machine); }),
		command(given, "yaml", "write it in full",
			[](const Machine &machine) { write_yaml(std::cout, machine); }),
		report(given, "cables", "cables by class, of a group and of a node", report_cables),
		report(given, "bisection", "the cut into halves that the fewest links cross", report_bisection),
		report(given, "bandwidth", "global bandwidth, raw and of 64-byte puts", report_bandwidth),
		report(given, "hops", "lengths of shortest paths",
		       [&given](const Machine &machine) { return report_hops(machine, given.sources); },
		       {{"--sources", &given.sources, "count only from this many routers, evenly over the machine"}}),
		{"builders",
		 "list builders and their parameters",
		 {},
		 [] {
			 std::cout << describe_builders();
			 return aries::program::DONE;
		 }},
	};
}

int run(int argc, char **argv)
{
	Given given;

	return aries::program::run({"aries-topo",
				    "Shows what a machine is made of, what it costs and what it can carry.",
				    {aries::program::VERSION},
				    {},
				    commands(given)},
				   argc, argv);
}

} // namespace

int main(int argc, char **argv)
{
	return aries::program::guarded("aries-topo", [&] { return run(argc, argv); });
}
