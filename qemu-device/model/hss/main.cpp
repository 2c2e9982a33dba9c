// SPDX-License-Identifier: GPL-2.0-or-later
/* aries-hss: the system manager of a running fabric. */
#include <cmath>
#include <csignal>
#include <functional>
#include <iostream>

#include "hss/manager.hpp"
#include "net/find_fabric.hpp"
#include "topo/program.hpp"

using namespace aries;
using namespace aries::hss;
using program::Command, program::Option;

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

/* What was given to the commands. */
struct Given {
	std::string fabric, log;
	bool json = false, step = false, back = false, force = false;
	double settle_ms = 200, quiesce_ms = 1000, patience_ms = 5000;
	std::vector<uint32_t> routers;
	uint32_t node = 0;
	std::string state;

	RerouteOptions options() const
	{
		const auto ns = [](double ms) { return static_cast<uint64_t>(std::ceil(ms * 1e6)); };

		return {ns(quiesce_ms), ns(patience_ms), step};
	}
};

std::vector<Option> reroute_options(Given &g)
{
	constexpr program::Check time = program::time_between(0.001, LONGEST_MS, "ms");

	return {{"--quiesce", &g.quiesce_ms, "the network is quiet for so many ms at most (1000)", {.check = time}},
		{"--patience", &g.patience_ms, "waits so many ms for members to load tables (5000)", {.check = time}},
		{"--log", &g.log, "add the lines to this file instead of printing them"},
		{"--json", &g.json, "a JSON object a line"},
		{"--step", &g.step, "begin each phase with a line on standard input: for tests and demonstrations"}};
}

/* A command that changes the network, with a journal. */
using Change = std::function<void(net::FabricView &, const std::string &path, Journal &, const Pause &)>;

Command change(Given &given, const char *name, const char *help, const std::vector<Option> &options, const Change &make)
{
	Command command = {name, help, reroute_options(given), [&given, make] {
				   const std::string path = net::path_of(given.fabric);
				   net::FabricView view(path, Observer::Access::Change);
				   Journal journal(given.log, given.json);
				   Signals signals;

				   make(view, path, journal,
					[&signals](std::chrono::milliseconds time) { return signals.pause(time); });
				   return program::DONE;
			   }};

	command.options.insert(command.options.end(), options.begin(), options.end());
	return command;
}

Command manager(Given &g)
{
	Command run =
		change(g, "run", "look after the network until SIGTERM comes or its last member leaves",
		       {{"--settle",
			 &g.settle_ms,
			 "makes tables when nothing has changed for so many ms (200)",
			 {.check = program::time_between(0, LONGEST_MS, "ms")}}},
		       [&g](net::FabricView &view, const std::string &path, Journal &journal, const Pause &pause) {
			       const std::chrono::milliseconds settle(std::llround(g.settle_ms));

			       Manager(view, path, journal, {settle, g.options()}, pause).run();
		       });

	run.alias = "watch";
	return run;
}

Command reroute(Given &g)
{
	return change(g, "reroute", "load tables for what is there now, and end", {},
		      [&g](net::FabricView &view, const std::string &path, Journal &journal, const Pause &pause) {
			      if (!reroute_once(view, path, journal, g.options(), pause))
				      journal.tell("tables", "they are for what is there now: nothing to do");
		      });
}

Command swap(Given &g)
{
	return change(g, "warm-swap", "take routers out of the network, or back into it",
		      {{"routers", &g.routers, "their numbers", {.required = true}},
		       {"--back", &g.back, "the new blades are there"},
		       {"--force", &g.force, "also if nodes run at them, which are cut off"}},
		      [&g](net::FabricView &view, const std::string &path, Journal &journal, const Pause &pause) {
			      warm_swap(view, path, journal, g.options(), pause, {g.routers.begin(), g.routers.end()},
					g.back, g.force);
		      });
}

int set_node(const Given &g)
{
	net::FabricView view(net::path_of(g.fabric), Observer::Access::Change);

	view.set_up({net::Part::Kind::Node, {0, 0}, g.node}, g.state == "up");
	return program::DONE;
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

int print_status(const Given &g)
{
	const std::string path = net::path_of(g.fabric);
	net::FabricView view(path, Observer::Access::Look);
	const Json report = hss::status(view, path);

	std::cout << (g.json ? report.dump(2) + "\n" : plain(report));
	return program::DONE;
}

int run(int argc, char **argv)
{
	Given g;

	return program::run(
		{"aries-hss",
		 "The system manager of a running fabric: route tables without what is missing.",
		 {{"-f,--fabric", &g.fabric, "name or path of the fabric (the only one that runs here)"},
		  program::VERSION},
		 {},
		 {manager(g),
		  reroute(g),
		  swap(g),
		  {"node",
		   "take a node off the network, or back",
		   {{"node", &g.node, "its address", {.required = true}},
		    {"state", &g.state, "down or up", {.required = true, .check = program::one_of("down,up")}}},
		   [&g] { return set_node(g); }},
		  {"status",
		   "which tables are in use, what is missing, the last quiesce",
		   {{"--json", &g.json, "the same as JSON"}},
		   [&g] { return print_status(g); }}}},
		argc, argv);
}

} // namespace

int main(int argc, char **argv)
{
	return program::guarded("aries-hss", [&] { return run(argc, argv); });
}
