// SPDX-License-Identifier: GPL-2.0-or-later
/* aries-gateway: one process on each host, for fabrics whose nodes live on several hosts. */
#include <cerrno>
#include <cmath>
#include <csignal>
#include <functional>
#include <iostream>
#include <system_error>

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include "fabric/segment.hpp"
#include "gateway/control.hpp"
#include "gateway/joined.hpp"
#include "gateway/ping.hpp"
#include "net/find_fabric.hpp"
#include "net/watch.hpp"
#include "topo/program.hpp"

using namespace aries;
using namespace aries::gateway;
using program::between, program::Command, program::Option;

namespace
{

constexpr program::Check TIME = program::time_between(0.1, 3600, "s");
constexpr int RETRY_MS = 2; // for echoes that had no room

/* SIGTERM and SIGINT as a descriptor; blocked before there are threads. */
class Signals
{
public:
	Signals()
	{
		sigset_t set;

		sigemptyset(&set);
		sigaddset(&set, SIGTERM);
		sigaddset(&set, SIGINT);
		pthread_sigmask(SIG_BLOCK, &set, nullptr);
		fd_ = Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
	}

	int fd() const noexcept { return fd_.get(); }
	/* Whether a signal has come since the last call. */
	bool taken() const
	{
		signalfd_siginfo info;

		return read(fd_.get(), &info, sizeof(info)) > 0;
	}

private:
	Descriptor fd_;
};

/* Values of the options of all commands. */
struct Given {
	std::string hosts, self, key, provider = "tcp", shape;
	uint32_t spin_us = 0, window = 64;
	double timeout_s = 5;
	bool echo = false, json = false;
	FabricOptions fabric; // with path as it was given
	std::string to, file;
	PingOptions ping;

	WireOptions wire() const
	{
		WireOptions options;

		options.hosts = read_hosts(hosts);
		options.self = host_of(options.hosts, self);
		options.key_file = key;
		options.provider = provider;
		options.shape = shape.empty() && !fabric.path.empty() ? fabric.shape() : shape;
		options.timeout = std::chrono::nanoseconds(std::llround(timeout_s * 1e9));
		options.spin = std::chrono::microseconds(spin_us);
		options.window = window;
		return options;
	}
};

/* Writes a line for each event immediately. */
class Log
{
public:
	explicit Log(std::ostream &out) : out_(out) {}

	void tell(const std::string &text)
	{
		const std::lock_guard guard(mutex_);

		out_ << net::time_text(std::chrono::system_clock::now()) + " " + text << std::endl;
		if (!out_ && !complained_)
			std::cerr << "aries-gateway: the log cannot be written: lines are missing\n";
		complained_ = complained_ || !out_;
		out_.clear();
	}

private:
	std::ostream &out_;
	std::mutex mutex_;
	bool complained_ = false;
};

/* Callbacks that write the wire's events to the log. */
WireCallbacks logged(Log &log, const std::vector<Host> &hosts)
{
	WireCallbacks callbacks;
	const auto line = [&log, &hosts](uint32_t host, const std::string &text) {
		log.tell(hosts[host].name + ": " + text);
	};

	callbacks.on_up = [line](uint32_t host, const Identity &peer) {
		line(host, "up, nodes " + peer.host.nodes.text() + " at " + peer.host.where());
	};
	callbacks.on_down = [line](uint32_t host, const std::string &reason) { line(host, "down: " + reason); };
	callbacks.on_log = line;
	return callbacks;
}

/*
 * Guests keep the processors of their host busy, and an ordinary thread may wait for seconds: long enough for other
 * hosts to count this host as away. A gateway sleeps unless a guest has a request, so it may have a higher priority
 * than guests. A gateway that polls (--spin) would leave guests no time, so it keeps its priority. Threads that are
 * made later inherit the priority. Return: a line for the user, or empty
 */
std::string come_before_guests(const WireOptions &options)
{
	const sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_RR)};

	if (options.spin.count() || sched_setscheduler(0, SCHED_RR, &lowest) == 0)
		return {};
	return std::string("realtime priority is refused (") + std::generic_category().message(errno) +
	       "): while guests load this host, others may count it as away";
}

/* Serves until a signal comes. */
class Gateway
{
public:
	explicit Gateway(const Given &given)
		: options_(given.wire()), self_(options_.hosts[options_.self]), control_(self_.name), log_(std::cout),
		  retry_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
		  echo_([this](uint32_t host, Bytes message) { return wire_->send(host, {}, message); },
			[this] { eventfd_write(retry_.get(), 1); }),
		  wire_(std::make_unique<Wire>(options_))
	{
		WireCallbacks callbacks = logged(log_, options_.hosts);

		if (!retry_)
			throw Error("no more descriptors");
		if (const std::string refused = come_before_guests(options_); !refused.empty())
			log_.tell(self_.name + ": " + refused);
		log_.tell(self_.name + ": listens at " + self_.where() + " with " + wire_->status().provider);
		if (!given.fabric.path.empty()) {
			callbacks = join(given.fabric, std::move(callbacks));
			joined_->connect(wire_.get());
		} else if (given.echo) {
			add_echo(callbacks);
		}
		wire_->start(std::move(callbacks));
	}
	/* The carrier sends until it ends, and the wire calls back until it ends. */
	~Gateway()
	{
		if (joined_)
			joined_->connect(nullptr);
		wire_.reset();
	}

	int run()
	{
		while (!signals_.taken())
			turn();
		log_.tell(self_.name + ": ends");
		return program::DONE;
	}

private:
	WireCallbacks join(FabricOptions fabric, WireCallbacks callbacks)
	{
		fabric.path = net::path_of(fabric.path);
		joined_ = std::make_unique<Joined>(
			fabric, options_, [this](const std::string &line) { log_.tell(self_.name + ": " + line); });
		log_.tell(self_.name + ": carries for the nodes of " + fabric.path);
		return joined_->callbacks(std::move(callbacks));
	}

	void add_echo(WireCallbacks &callbacks)
	{
		callbacks.on_message = [this](uint32_t host, Bytes message) { echo_.take(host, message); };
		callbacks.on_down = [this, line = callbacks.on_down](uint32_t host, const std::string &reason) {
			echo_.forget(host);
			line(host, reason);
		};
	}

	Json report()
	{
		Json report = report_of(wire_->status(), self_);

		if (joined_) {
			const CarrierCounts figures = joined_->counts();

			report["carrier"] = {{"requests", figures.requests}, {"responses", figures.responses},
					     {"timeouts", figures.timeouts}, {"served", figures.served},
					     {"refused", figures.refused},   {"open", figures.open},
					     {"nodes", joined_->reachable()}};
		}
		return report;
	}

	void turn()
	{
		pollfd wanted[] = {{signals_.fd(), POLLIN, 0}, {control_.fd(), POLLIN, 0}, {retry_.get(), POLLIN, 0}};
		eventfd_t rung;

		poll(wanted, 3, retrying_ ? RETRY_MS : -1);
		if (wanted[1].revents)
			control_.answer(report());
		eventfd_read(retry_.get(), &rung);
		retrying_ = echo_.retry();
	}

	Signals signals_;
	WireOptions options_;
	Host self_;
	Control control_;
	Log log_;
	Descriptor retry_;
	Echo echo_;
	bool retrying_ = false;
	std::unique_ptr<Joined> joined_;
	std::unique_ptr<Wire> wire_; // ends first: its callbacks use the members above
};

Json json_of(const PingResult &result, const PingOptions &options)
{
	const double seconds = result.seconds, returned = double(result.returned);
	const double rounds = options.bursts ? returned / options.flight : returned / 1.0;

	return {{"size", options.size},
		{"in flight", options.flight},
		{"returned", result.returned},
		{"seconds", seconds},
		{"messages per s", seconds > 0 ? returned / seconds : 0},
		{"half round trip us", rounds > 0 ? seconds / rounds / 2 * 1e6 : 0},
		{"MB per s each way", seconds > 0 ? returned * double(options.size) / seconds / 1e6 : 0},
		{"sent", result.sent},
		{"lost", result.lost},
		{"wrong", result.wrong},
		{"ups", result.ups},
		{"downs", result.downs}};
}

int ping(Given &given)
{
	const Signals signals;
	const WireOptions options = given.wire();
	PingOptions &wanted = given.ping;
	Log log(std::cerr);

	wanted.to = host_of(options.hosts, given.to);
	if (wanted.to == options.self)
		throw Error(given.to + " is this host: name another");
	const Control control(given.self);
	Wire *way = nullptr;
	Ping ping(wanted, [&](Bytes message) { return way->send(wanted.to, {}, message); });
	Wire wire(options); // ends before the objects that its callbacks use
	WireCallbacks callbacks = logged(log, options.hosts);

	callbacks.on_message = [&](uint32_t host, Bytes message) {
		if (host == wanted.to)
			ping.take(message);
	};
	callbacks.on_up = [&, line = callbacks.on_up](uint32_t host, const Identity &peer) {
		line(host, peer);
		if (host == wanted.to)
			ping.up();
	};
	callbacks.on_down = [&, line = callbacks.on_down](uint32_t host, const std::string &reason) {
		line(host, reason);
		if (host == wanted.to)
			ping.down(reason);
	};
	way = &wire;
	wire.start(std::move(callbacks));

	const PingResult result = ping.run([&signals] { return signals.taken(); });
	const Json report = json_of(result, wanted);

	std::cout << (given.json ? report.dump(2) + "\n" : topology::text_of(report));
	if (!result.gave_up.empty())
		throw Error(given.to + ": " + result.gave_up);
	return result.wrong ? program::FAILED : program::DONE;
}

/* Names and values of an object, in one line. */
std::string line_of(const Json &object)
{
	std::string line;

	for (const auto &[name, value] : object.items()) {
		line += (line.empty() ? "" : ", ") + name;
		if (value.is_array())
			for (const Json &element : value)
				line += " " + element.dump();
		else
			line += " " + value.dump();
	}
	return line;
}

/* The report with the most important columns of peers only. */
Json brief(Json report)
{
	static const char *const COLUMNS[] = {"host",          "state",         "nodes",
					      "round trip us", "offset us",     "offset within us",
					      "drift ppm",     "messages sent", "messages received",
					      "replays",       "reconnects",    "reason"};
	Json peers = Json::array();

	for (const Json &peer : report["peers"]) {
		Json line;

		for (const char *column : COLUMNS) {
			const Json &value = peer[column];
			char text[32];

			if (value.is_number_float())
				snprintf(text, sizeof(text), "%.1f", value.get<double>());
			line[column] = value.is_number_float() ? Json(text) : value;
		}
		peers.push_back(line);
	}
	report["peers"] = peers;
	if (report.contains("carrier"))
		report["carrier"] = line_of(report["carrier"]);
	return report;
}

int status(const Given &given)
{
	const Json report = ask(given.self);

	std::cout << (given.json ? report.dump(2) + "\n" : topology::text_of(brief(report)));
	return program::DONE;
}

std::vector<Option> wire_options(Given &g)
{
	return {{"--hosts", &g.hosts, "the file that names hosts, addresses and nodes", {.required = true}},
		{"--self", &g.self, "which of them this host is", {.required = true}},
		{"--key", &g.key, "file with the fabric's key, see keygen", {.required = true}},
		{"--provider", &g.provider, "provider of libfabric, as fi_info names it (tcp)"},
		{"--shape", &g.shape, "text that describes the fabric; gateways with another are refused"},
		{"--spin",
		 &g.spin_us,
		 "microseconds that it polls before it sleeps (0)",
		 {.check = between(0, 1'000'000)}},
		{"--timeout",
		 &g.timeout_s,
		 "seconds without a sign of life after which a host counts as away (5)",
		 {.check = TIME}},
		{"--window",
		 &g.window,
		 "frames of up to 64 KiB that may wait for a host (64)",
		 {.check = between(2, 4096)}}};
}

Command with_wire(Given &given, const char *name, const char *help, const std::vector<Option> &options,
		  std::function<int()> action)
{
	Command command = {name, help, wire_options(given), std::move(action)};

	command.options.insert(command.options.end(), options.begin(), options.end());
	return command;
}

Command ping_command(Given &g)
{
	return with_wire(
		g, "ping", "be a gateway for a while, and measure messages to another that runs with --echo",
		{{"--to", &g.to, "host to send to", {.required = true}},
		 {"--size", &g.ping.size, "bytes of a message (8)", {.check = between(size_t(8), MESSAGE_MAX)}},
		 {"--flight", &g.ping.flight, "messages on their way at once (1)", {.check = between(1, 1'000'000)}},
		 {"--bursts", &g.ping.bursts, "sends the next --flight messages only when all of the last are back"},
		 {"--count", &g.ping.count, "messages to measure (1000)", {.check = program::positive()}},
		 {"--warm-up", &g.ping.warm_up, "messages before those that are measured (0)"},
		 {"--seconds", &g.ping.seconds, "time to measure, instead of --count", {.check = TIME}},
		 {"--patience",
		  &g.ping.patience,
		  "seconds after which it gives up when no message comes back (30)",
		  {.check = TIME}},
		 {"--json", &g.json, "the result as JSON"}},
		[&g] { return ping(g); });
}

Command run_command(Given &g)
{
	FabricOptions &fabric = g.fabric;

	return with_wire(g, "run", "carry messages until SIGTERM comes",
			 {{"--echo", &g.echo, "send back what comes: for ping"},
			  {"--fabric",
			   &fabric.path,
			   "carry for the nodes of this fabric: a name as aries-nic has it, or the path of its segment",
			   {.needs = "--nodes", .excludes = "--echo"}},
			  {"--nodes",
			   &fabric.nodes,
			   "addresses in the fabric, as `nodes` of aries-nic",
			   {.check = between(2u, MEMBERS_MAX), .needs = "--fabric"}},
			  {"--address",
			   &fabric.address,
			   "address of the gateways: one that no node on any host has (the last)",
			   {.check = between(0u, MEMBERS_MAX - 1), .needs = "--fabric"}},
			  {"--place",
			   &fabric.place,
			   "place of this gateway in the machine: one that no node on any host has (the address)",
			   {.check = between(0u, NODE_MOST), .needs = "--fabric"}},
			  {"--machine-nodes",
			   &fabric.machine_nodes,
			   "as `machine-nodes` of aries-nic (as many as --nodes)",
			   {.needs = "--fabric"}},
			  {"--routers-per-chassis",
			   &fabric.routers_per_chassis,
			   "as `routers-per-chassis` of aries-nic (16)",
			   {.check = between(1u, 16u), .needs = "--fabric"}},
			  {"--chassis-per-group",
			   &fabric.chassis_per_group,
			   "as `chassis-per-group` of aries-nic (6)",
			   {.check = between(1u, 6u), .needs = "--fabric"}}},
			 [&g] {
				 g.fabric.complete();
				 return Gateway(g).run();
			 });
}

int run(int argc, char **argv)
{
	Given g;

	return program::run({"aries-gateway",
			     "Carries a fabric's messages between hosts: one gateway runs on each.",
			     {program::VERSION},
			     {},
			     {run_command(g),
			      {"status",
			       "how the gateway of this host is doing",
			       {{"--self", &g.self, "its host (the only one that runs here)"},
				{"--json", &g.json, "all of it, as JSON"}},
			       [&g] { return status(g); }},
			      ping_command(g),
			      {"keygen",
			       "make a key for a fabric; copy it to all hosts, and show it to nobody",
			       {{"file", &g.file, "a file that is not there yet", {.required = true}}},
			       [&g] {
				       FabricKey::make(g.file);
				       return program::DONE;
			       }}}},
			    argc, argv);
}

} // namespace

int main(int argc, char **argv)
{
	return program::guarded("aries-gateway", [&] { return run(argc, argv); });
}
