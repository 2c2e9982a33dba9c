// SPDX-License-Identifier: GPL-2.0-or-later
/* aries-net: what goes on in the network of a running fabric, and faults of its parts. */
#include <functional>
#include <iostream>
#include <map>

#include "net/find_fabric.hpp"
#include "net/picture.hpp"
#include "net/serve.hpp"
#include "net/top.hpp"
#include "net/watch.hpp"
#include "topo/program.hpp"

using namespace aries;
using namespace aries::net;
using program::Command, program::Option;

namespace
{

/* As a command line has them. */
const program::Names &modes()
{
	static const program::Names names = [] {
		program::Names all;

		for (const auto &[name, bits] : delivery_modes())
			all[name] = std::to_string(bits);
		return all;
	}();

	return names;
}

const program::Names SWITCH{{"on", "true"}, {"off", "false"}};

/* What was given to the commands. */
struct Given {
	std::string fabric, link, kind, name, listen = "127.0.0.1:9418", token_file;
	std::string sort, filter;
	bool json = false, all = false, open = false, nodes = false, reversed = false;
	uint32_t tables = 0;
	double interval_s = 1;
	uint32_t router = 0, from = 0, to = 0, lanes = 0;
	std::optional<uint32_t> tile;
	float rate = 0;
	double quiet_ms = 0;
	std::optional<double> time_rate;
	std::optional<bool> hold;
	double seconds = 1e9;
	uint16_t mode = 0;

	void print(const Json &report) const
	{
		if (json)
			std::cout << report.dump(2) << "\n";
		else
			std::cout << topology::text_of(report);
	}
};

Command report(Given &given, const char *name, const char *help, std::vector<Option> options,
	       const std::function<Json(FabricView &)> &tell)
{
	options.insert(options.begin(), {"--json", &given.json, "the same as JSON"});
	return {name, help, std::move(options), [&given, tell] {
			FabricView view(path_of(given.fabric), Observer::Access::Look);

			given.print(tell(view));
			return program::DONE;
		}};
}

Command change(const Given &given, const char *name, const char *help, std::vector<Option> options,
	       const std::function<void(FabricView &)> &make)
{
	return {name, help, std::move(options), [&given, make] {
			FabricView view(path_of(given.fabric), Observer::Access::Change);

			make(view);
			return program::DONE;
		}};
}

std::vector<Command> reports(Given &g)
{
	const Option router = {"router", &g.router, "number of the router", {.required = true}};

	return {
		report(g, "show", "the machine and its members", {}, [](FabricView &v) { return v.show(); }),
		report(g, "links", "links that are not as good as new",
		       {{"--all", &g.all, "every link of the machine"}},
		       [&g](FabricView &v) { return v.links(g.all); }),
		report(g, "tiles", "where the links of a router lead to, and their state", {router},
		       [&g](FabricView &v) { return v.tiles(g.router); }),
		report(g, "counters", "counters of a router under the names that sites know",
		       {router, {"tile", &g.tile, "only of this tile"}},
		       [&g](FabricView &v) { return v.counters(g.router, g.tile); }),
		report(g, "route", "ways of packets from a node to another as routers decide now",
		       {{"from", &g.from, "node address", {.required = true}},
			{"to", &g.to, "node address", {.required = true}},
			{"--mode",
			 &g.mode,
			 "adaptive, minimal, nonminimal or ordered",
			 {.check = program::named(modes())}}},
		       [&g](FabricView &v) { return v.route(g.from, g.to, g.mode); }),
	};
}

Command picture(const Given &g)
{
	return {"svg", "draw the machine, its members, and what is degraded or down", {}, [&g] {
			draw(std::cout, FabricView(path_of(g.fabric), Observer::Access::Look));
			return program::DONE;
		}};
}

/* Prints events as they come, each at once: a reader may wait for them. */
int print_events(const Given &g)
{
	const FabricView view(path_of(g.fabric), Observer::Access::Look);
	const auto tell = [&g](const Event &event) {
		std::cout << (g.json ? event.json().dump() : event.text()) << std::endl;
		return bool(std::cout);
	};
	const auto time = std::chrono::nanoseconds(static_cast<int64_t>(g.seconds * 1e9));

	if (!watch(view, time, tell))
		std::cerr << "aries-net: the last member has left\n";
	return program::DONE;
}

Command events(Given &g)
{
	return {"events",
		"tell what changes of links, NICs and members, from now on",
		{{"--json", &g.json, "a JSON object a line"},
		 {"--seconds",
		  &g.seconds,
		  "time after which it ends (default: when it is interrupted or the last member has left)",
		  {.check = program::between(0.0, 1e9)}}},
		[&g] { return print_events(g); }};
}

int serve_fabric(const Given &g)
{
	const Listen listen = listen_of(g.listen);

	if (g.open && !is_local(listen.host))
		throw Error("--open is for addresses of this host alone, as 127.0.0.1");
	serve(path_of(g.fabric), listen,
	      g.open                 ? ""
	      : g.token_file.empty() ? random_token()
				     : token_of_file(g.token_file));
	return program::DONE;
}

Command serve_command(Given &g)
{
	return {"serve",
		"answer by HTTP: metrics for Prometheus, the reports as JSON",
		{{"--listen", &g.listen, "ADDRESS:PORT (default 127.0.0.1:9418; port 0: a free one)"},
		 {"--token-file", &g.token_file,
		  "file with the token that requests must have (default: a random one, which is printed)"},
		 {"--open",
		  &g.open,
		  "answer whoever asks on this host, without a token",
		  {.excludes = "--token-file"}}},
		[&g] { return serve_fabric(g); }};
}

int show_top(const Given &g)
{
	TopOptions options{
		g.interval_s, g.tables, {g.nodes ? TopTable::Nodes : TopTable::Links, 0, g.reversed, g.filter}};

	if (!g.sort.empty())
		options.choice.column = column_of(options.choice.table, g.sort);
	top(path_of(g.fabric), options);
	return program::DONE;
}

Command top_command(Given &g)
{
	return {"top",
		"links and nodes with their traffic in a terminal",
		{{"--nodes", &g.nodes, "begin with the table of nodes"},
		 {"--sort", &g.sort, "name of a column, as out or wait; numbers from the highest"},
		 {"--reverse", &g.reversed, "the other way round"},
		 {"--filter", &g.filter, "only rows that have this in one of their words"},
		 {"--interval",
		  &g.interval_s,
		  "seconds between two looks (default 1)",
		  {.check = program::between(0.05, 3600.0)}},
		 {"--tables",
		  &g.tables,
		  "print so many tables, without a terminal",
		  {.check = program::between(1U, 1000000U)}}},
		[&g] { return show_top(g); }};
}

Command fault(Given &g, bool up)
{
	return change(g, up ? "restore" : "fail", up ? "take a part up again" : "take a part down, for all members",
		      {{"kind", &g.kind, "link, router or node", {.required = true}},
		       {"name", &g.name, "ROUTER:TILE, number of a router, node address", {.required = true}}},
		      [&g, up](FabricView &v) { v.set_up(part_of(g.kind, g.name), up); });
}

std::vector<Command> changes(Given &g)
{
	const Option link = {"link", &g.link, "ROUTER:TILE of either end", {.required = true}};

	return {
		fault(g, false),
		fault(g, true),
		change(g, "lanes", "set how many lanes of a link work",
		       {link, {"lanes", &g.lanes, "1 to 3", {.required = true}}},
		       [&g](FabricView &v) { v.set_lanes(link_name(g.link), g.lanes); }),
		change(g, "ber", "give a link bit errors",
		       {link, {"rate", &g.rate, "errors per bit, such as 1e-6; 0: none", {.required = true}}},
		       [&g](FabricView &v) { v.set_error_rate(link_name(g.link), g.rate); }),
		change(g, "quiesce", "let no NIC inject requests for a time",
		       {{"ms", &g.quiet_ms, "milliseconds of modelled time, at most 60,000", {.required = true}}},
		       [&g](FabricView &v) { v.quiesce(g.quiet_ms); }),
	};
}

Command pace(Given &g)
{
	Command command = change(g, "time", "how fast modelled time goes, and whether completions wait for it",
				 {{"--rate", &g.time_rate, "modelled ns in a ns of the host, 1e-6 to 1000"},
				  {"--hold",
				   &g.hold,
				   "on: data and events are held back until their modelled time; off: they come as "
				   "soon as they are there",
				   {.check = program::named(SWITCH)}}},
				 [&g](FabricView &v) { v.set_time(g.time_rate, g.hold); });

	command.least = 1;
	command.most = 2;
	return command;
}

int run(int argc, char **argv)
{
	Given given;
	Command net = {"aries-net",
		       "Shows what goes on in the network of a running fabric, and makes its parts fail.",
		       {{"-f,--fabric", &given.fabric, "name or path of the fabric (the only one that runs here)"},
			program::VERSION},
		       {},
		       reports(given)};

	net.commands.push_back(picture(given));
	net.commands.push_back(events(given));
	net.commands.push_back(top_command(given));
	net.commands.push_back(serve_command(given));
	for (const Command &each : changes(given))
		net.commands.push_back(each);
	net.commands.push_back(pace(given));
	return program::run(net, argc, argv);
}

} // namespace

int main(int argc, char **argv)
{
	return program::guarded("aries-net", [&] { return run(argc, argv); });
}
