// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/* aries-net: what goes on in the network of a running fabric, and faults of its parts. */
#include <functional>
#include <iostream>
#include <map>

#include <CLI/CLI.hpp>

#include "net/find_fabric.hpp"
#include "net/picture.hpp"
#include "net/watch.hpp"
#include "router/routing_mode.hpp"
#include "topo/program.hpp"

using namespace aries;
using namespace aries::net;

namespace
{

const std::map<std::string, uint16_t> MODES{
	{"adaptive", uint16_t(0)}, {"minimal", DLV_MIN_HASH}, {"nonminimal", DLV_NMIN_HASH}, {"ordered", DLV_IN_ORDER}};

/* The subcommands, and what was given to them. */
struct Commands {
	std::string fabric, link, kind, name;
	bool json = false, all = false;
	uint32_t router = 0, from = 0, to = 0, lanes = 0;
	std::optional<uint32_t> tile;
	float rate = 0;
	double quiet_ms = 0;
	std::optional<double> time_rate;
	std::optional<bool> hold;
	double seconds = 1e9;
	uint16_t mode = 0;
	std::function<void()> chosen;

	void print(const Json &report) const
	{
		if (json)
			std::cout << report.dump(2) << "\n";
		else
			std::cout << topology::text_of(report);
	}

	CLI::App *add_report(CLI::App &app, const char *command, const char *help,
			     const std::function<Json(FabricView &)> &report)
	{
		CLI::App *sub = app.add_subcommand(command, help);

		sub->add_flag("--json", json, "the same as JSON");
		sub->callback([this, report] {
			chosen = [this, report] {
				FabricView view(path_of(fabric), Observer::Access::Look);

				print(report(view));
			};
		});
		return sub;
	}

	CLI::App *add_change(CLI::App &app, const char *command, const char *help,
			     const std::function<void(FabricView &)> &change)
	{
		CLI::App *sub = app.add_subcommand(command, help);

		sub->callback([this, change] {
			chosen = [this, change] {
				FabricView view(path_of(fabric), Observer::Access::Change);

				change(view);
			};
		});
		return sub;
	}
};

void add_reports(CLI::App &app, Commands &c)
{
	c.add_report(app, "show", "the machine and its members", [](FabricView &v) { return v.show(); });
	c.add_report(app, "links", "links that are not as good as new", [&c](FabricView &v) {
		 return v.links(c.all);
	 })->add_flag("--all", c.all, "every link of the machine");
	c.add_report(app, "tiles", "where the links of a router lead to, and their state",
		     [&c](FabricView &v) { return v.tiles(c.router); })
		->add_option("router", c.router, "number of the router")
		->required();

	CLI::App *counters = c.add_report(app, "counters", "counters of a router under the names that sites know",
					  [&c](FabricView &v) { return v.counters(c.router, c.tile); });

	counters->add_option("router", c.router, "number of the router")->required();
	counters->add_option("tile", c.tile, "only of this tile");

	CLI::App *route = c.add_report(app, "route", "ways of packets from a node to another as routers decide now",
				       [&c](FabricView &v) { return v.route(c.from, c.to, c.mode); });

	route->add_option("from", c.from, "node address")->required();
	route->add_option("to", c.to, "node address")->required();
	route->add_option("--mode", c.mode, "adaptive, minimal, nonminimal or ordered")
		->transform(CLI::CheckedTransformer(MODES));
}

void add_picture(CLI::App &app, Commands &c)
{
	app.add_subcommand("svg", "draw the machine, its members, and what is degraded or down")->callback([&c] {
		c.chosen = [&c] { draw(std::cout, FabricView(path_of(c.fabric), Observer::Access::Look)); };
	});
}

/* Prints events as they come, each at once: a reader may wait for them. */
void print_events(const Commands &c)
{
	const FabricView view(path_of(c.fabric), Observer::Access::Look);
	const auto tell = [&c](const Event &event) {
		std::cout << (c.json ? event.json().dump() : event.text()) << std::endl;
		return bool(std::cout);
	};
	const auto time = std::chrono::nanoseconds(static_cast<int64_t>(c.seconds * 1e9));

	if (!watch(view, time, tell))
		std::cerr << "aries-net: the last member has left\n";
}

void add_events(CLI::App &app, Commands &c)
{
	CLI::App *sub = app.add_subcommand("events", "tell what changes of links, NICs and members, from now on");

	sub->add_flag("--json", c.json, "a JSON object a line");
	sub->add_option("--seconds", c.seconds,
			"time after which it ends (default: when it is interrupted or the last member has left)")
		->check(CLI::Range(0.0, 1e9));
	sub->callback([&c] { c.chosen = [&c] { print_events(c); }; });
}

void add_time(CLI::App &app, Commands &c)
{
	CLI::App *sub = c.add_change(app, "time", "how fast modelled time goes, and whether completions wait for it",
				     [&c](FabricView &v) { v.set_time(c.time_rate, c.hold); });

	sub->add_option("--rate", c.time_rate, "modelled ns in a ns of the host, 1e-6 to 1000");
	sub->add_option("--hold", c.hold,
			"on: data and events are held back until their modelled time; off: they come as soon as they "
			"are there")
		->transform(
			CLI::CheckedTransformer(std::map<std::string, std::string>{{"on", "true"}, {"off", "false"}}));
	sub->require_option(1, 2);
}

void add_changes(CLI::App &app, Commands &c)
{
	for (const bool up : {false, true}) {
		CLI::App *sub = c.add_change(app, up ? "restore" : "fail",
					     up ? "take a part up again" : "take a part down, for all members",
					     [&c, up](FabricView &v) { v.set_up(part_of(c.kind, c.name), up); });

		sub->add_option("kind", c.kind, "link, router or node")->required();
		sub->add_option("name", c.name, "ROUTER:TILE, number of a router, node address")->required();
	}

	CLI::App *lanes = c.add_change(app, "lanes", "set how many lanes of a link work",
				       [&c](FabricView &v) { v.set_lanes(link_name(c.link), c.lanes); });

	lanes->add_option("link", c.link, "ROUTER:TILE of either end")->required();
	lanes->add_option("lanes", c.lanes, "1 to 3")->required();

	CLI::App *ber = c.add_change(app, "ber", "give a link bit errors",
				     [&c](FabricView &v) { v.set_error_rate(link_name(c.link), c.rate); });

	ber->add_option("link", c.link, "ROUTER:TILE of either end")->required();
	c.add_change(app, "quiesce", "let no NIC inject requests for a time",
		     [&c](FabricView &v) { v.quiesce(c.quiet_ms); })
		->add_option("ms", c.quiet_ms, "milliseconds of modelled time, at most 60,000")
		->required();
	ber->add_option("rate", c.rate, "errors per bit, such as 1e-6; 0: none")->required();
}

int run(int argc, char **argv)
{
	CLI::App app{"Shows what goes on in the network of a running fabric, and makes its parts fail.", "aries-net"};
	Commands commands;

	app.add_option("-f,--fabric", commands.fabric, "name or path of the fabric (the only one that runs here)");
	add_reports(app, commands);
	add_picture(app, commands);
	add_events(app, commands);
	add_changes(app, commands);
	add_time(app, commands);
	return program::run(app, argc, argv, [&commands] {
		commands.chosen();
		return int(program::DONE);
	});
}

} // namespace

int main(int argc, char **argv)
{
	return program::guarded("aries-net", [&] { return run(argc, argv); });
}
