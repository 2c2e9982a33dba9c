// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/* aries-hss: the system manager of a running fabric. */
#include <cmath>
#include <csignal>
#include <functional>
#include <iostream>

#include <CLI/CLI.hpp>

#include "hss/manager.hpp"
#include "net/find_fabric.hpp"
#include "topo/program.hpp"

using namespace aries;
using namespace aries::hss;

namespace
{

constexpr double LONGEST_MS = 60'000; // of all that is given in milliseconds

/* SIGTERM and SIGINT end a wait, and are taken nowhere else: what has begun is done first. */
class Signals
{
public:
	Signals()
	{
		sigemptyset(&set_);
		sigaddset(&set_, SIGTERM);
		sigaddset(&set_, SIGINT);
		pthread_sigmask(SIG_BLOCK, &set_, nullptr);
	}

	/* False once the process is to end. */
	bool pause(std::chrono::milliseconds time)
	{
		const timespec limit{time.count() / 1000, time.count() % 1000 * 1'000'000};

		ended_ = ended_ || sigtimedwait(&set_, nullptr, &limit) > 0;
		return !ended_;
	}

private:
	sigset_t set_;
	bool ended_ = false;
};

/* The subcommands, and what was given to them. */
struct Commands {
	std::string fabric, log;
	bool json = false, step = false, back = false, force = false;
	double settle_ms = 200, quiesce_ms = 1000, patience_ms = 5000;
	std::vector<uint32_t> routers;
	uint32_t node = 0;
	std::string state;
	std::function<void()> chosen;

	RerouteOptions options() const
	{
		const auto ns = [](double ms) { return static_cast<uint64_t>(std::ceil(ms * 1e6)); };

		return {ns(quiesce_ms), ns(patience_ms), step};
	}
};

CLI::App *add(CLI::App &app, Commands &c, const char *name, const char *help, std::function<void()> what)
{
	CLI::App *sub = app.add_subcommand(name, help);

	sub->callback([&c, what = std::move(what)] { c.chosen = what; });
	return sub;
}

/* CLI::Range lets through what is no number. */
void add_ms(CLI::App &sub, const char *name, double &value, double least, const char *help)
{
	const auto check = [least](const std::string &text) -> std::string {
		double ms = 0;

		if (CLI::detail::lexical_cast(text, ms) && ms >= least && ms <= LONGEST_MS)
			return {};
		return "a time of up to 60000 ms, not " + text;
	};

	sub.add_option(name, value, help)->check(CLI::Validator(check, "MS"));
}

void add_reroute_options(CLI::App &sub, Commands &c)
{
	add_ms(sub, "--quiesce", c.quiesce_ms, 0.001, "the network is quiet for so many ms at most (1000)");
	add_ms(sub, "--patience", c.patience_ms, 0.001, "waits so many ms for members to load tables (5000)");
	sub.add_option("--log", c.log, "add the lines to this file instead of printing them");
	sub.add_flag("--json", c.json, "a JSON object a line");
	sub.add_flag("--step", c.step, "begin each phase with a line on standard input: for tests and demonstrations");
}

/* A command that changes the network, with a journal. */
using Change = std::function<void(net::FabricView &, const std::string &path, Journal &, const Pause &)>;

CLI::App *add_change(CLI::App &app, Commands &c, const char *name, const char *help, const Change &change)
{
	CLI::App *sub = add(app, c, name, help, [&c, change] {
		const std::string path = net::path_of(c.fabric);
		net::FabricView view(path, Observer::Access::Change);
		Journal journal(c.log, c.json);
		Signals signals;

		change(view, path, journal, [&signals](std::chrono::milliseconds time) { return signals.pause(time); });
	});

	add_reroute_options(*sub, c);
	return sub;
}

void add_manager(CLI::App &app, Commands &c)
{
	CLI::App *run =
		add_change(app, c, "run", "look after the network until SIGTERM comes or its last member leaves",
			   [&c](net::FabricView &view, const std::string &path, Journal &journal, const Pause &pause) {
				   const std::chrono::milliseconds settle(std::llround(c.settle_ms));

				   Manager(view, path, journal, {settle, c.options()}, pause).run();
			   });

	run->alias("watch");
	add_ms(*run, "--settle", c.settle_ms, 0, "makes tables when nothing has changed for so many ms (200)");
}

void add_once(CLI::App &app, Commands &c)
{
	add_change(app, c, "reroute", "load tables for what is there now, and end",
		   [&c](net::FabricView &view, const std::string &path, Journal &journal, const Pause &pause) {
			   if (!reroute_once(view, path, journal, c.options(), pause))
				   journal.tell("tables", "they are for what is there now: nothing to do");
		   });

	CLI::App *swap =
		add_change(app, c, "warm-swap", "take routers out of the network, or back into it",
			   [&c](net::FabricView &view, const std::string &path, Journal &journal, const Pause &pause) {
				   warm_swap(view, path, journal, c.options(), pause,
					     {c.routers.begin(), c.routers.end()}, c.back, c.force);
			   });

	swap->add_option("routers", c.routers, "their numbers")->required();
	swap->add_flag("--back", c.back, "the new blades are there");
	swap->add_flag("--force", c.force, "also if nodes run at them, which are cut off");
}

void set_node(const Commands &c)
{
	net::FabricView view(net::path_of(c.fabric), Observer::Access::Change);

	view.set_up({net::Part::Kind::Node, {0, 0}, c.node}, c.state == "up");
}

/* Lists of numbers or names in one line; tables as text_of() makes them. */
std::string plain(Json report)
{
	for (auto &[key, value] : report.items()) {
		std::string list;

		if (!value.is_array() || (!value.empty() && value[0].is_object()))
			continue;
		for (const Json &one : value)
			list += (list.empty() ? "" : " ") + (one.is_string() ? one.get<std::string>() : one.dump());
		value = list.empty() ? "none" : list;
	}
	return topology::text_of(report);
}

void add_others(CLI::App &app, Commands &c)
{
	CLI::App *node = add(app, c, "node", "take a node off the network, or back", [&c] { set_node(c); });

	node->add_option("node", c.node, "its address")->required();
	node->add_option("state", c.state, "down or up")->required()->check(CLI::IsMember({"down", "up"}));

	CLI::App *status = add(app, c, "status", "which tables are in use, what is missing, the last quiesce", [&c] {
		const std::string path = net::path_of(c.fabric);
		net::FabricView view(path, Observer::Access::Look);
		const Json report = hss::status(view, path);

		std::cout << (c.json ? report.dump(2) + "\n" : plain(report));
	});

	status->add_flag("--json", c.json, "the same as JSON");
}

int run(int argc, char **argv)
{
	CLI::App app{"The system manager of a running fabric: route tables without what is missing.", "aries-hss"};
	Commands commands;

	app.add_option("-f,--fabric", commands.fabric, "name or path of the fabric (the only one that runs here)");
	add_manager(app, commands);
	add_once(app, commands);
	add_others(app, commands);
	return program::run(app, argc, argv, [&commands] {
		commands.chosen();
		return int(program::DONE);
	});
}

} // namespace

int main(int argc, char **argv)
{
	return program::guarded("aries-hss", [&] { return run(argc, argv); });
}
