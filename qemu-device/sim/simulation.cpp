// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulation.hpp"

#include <algorithm>

#include "chip/gemini.hpp"
#include "elite5_line.hpp"
#include "names.hpp"
#include "routes.hpp"
#include "switch_checks.hpp"

namespace aries::sim
{

namespace
{

using routing::Policy;
using topology::Machine;

constexpr uint32_t SLICE = 1000;          // cycles between two looks at what goes on
constexpr uint32_t STUCK_AFTER = 50000;   // cycles without a packet through a router
constexpr uint32_t LEAST_TIMEOUT = 10000; // cycles, if packets may be dropped: none is on one link for so long
constexpr double MIB = 1 << 20;

/* What only QsNetIII has. */
std::string check_groups(const Machine &machine, const Workload &workload)
{
	for (const Job &job : workload.jobs) {
		if (is_group(job) && &chip_of(machine) != &ELITE5_LINE)
			return std::string("traffic ") + name_of(job.traffic.pattern) +
			       " is QsNetIII's: " + chip_of(machine).name + " has no broadcast in the network";
	}
	return {};
}

/* A network whose ways are all minimal. */
struct MinimalNetwork {
	const char *who;
	const char *network;
	const char *modes;
};

/* What such a network has not: by name, so that nobody takes its absence for a result. */
std::string check_minimal(const RunShape &shape, const Workload &workload, const MinimalNetwork &of)
{
	const Policy usual = RunShape::default_policy();
	const std::string who = of.who;

	if (shape.policy.local_bias != usual.local_bias || shape.policy.global_bias != usual.global_bias)
		return who + " has no biases: all its ways are minimal";
	for (const Job &job : workload.jobs) {
		if (job.traffic.pattern == Pattern::Group)
			return std::string(of.network) + " has no groups: traffic group is for dragonflies";
		for (const RoutingMode mode : {job.traffic.request_mode, job.traffic.response_mode}) {
			if (mode.routing == Routing::NonminimalHash || mode.bias)
				return who + " has the modes " + of.modes + ", not " + name_of(mode);
		}
	}
	return {};
}

std::string check_clos(const RunShape &shape, const Workload &workload)
{
	return check_minimal(shape, workload,
			     {"a Clos", "a Clos", "in-order (static, by destination), minimal (by hash) and adaptive"});
}

std::string check_gemini(const RunShape &shape, const Workload &workload, uint32_t channels)
{
	std::string broken =
		check_minimal(shape, workload, {"Gemini", "a torus", "in-order, minimal (by hash) and adaptive"});

	if (!broken.empty())
		return broken;
	for (const Job &job : workload.jobs) {
		if (is_collective(job))
			return "Gemini has no collective engines: traffic allreduce is for Aries";
	}
	for (const Incident &incident : shape.incidents) {
		if (channels == 1 && (incident.victim == Victim::Links || incident.victim == Victim::Router))
			return "'" + incident.text +
			       "': bubble flow control needs whole rings of links; with --channels 2 (a dateline) "
			       "links and routers may fail";
	}
	if (shape.parameters.router_errors && shape.parameters.timeout_cycles < LEAST_TIMEOUT)
		return "a request is given up after " + std::to_string(shape.parameters.timeout_cycles) +
		       " cycles: at least " + std::to_string(LEAST_TIMEOUT) + " where routers err";
	return {};
}

/* What QsNetIII has not. */
std::string check_qsnet(const RunShape &shape, const Workload &workload)
{
	std::string broken = check_minimal(
		shape, workload, {"QsNetIII", "QsNetIII", "in-order (static), minimal (by hash) and adaptive"});

	if (!broken.empty())
		return broken;
	for (const Job &job : workload.jobs) {
		if (is_collective(job))
			return "QsNetIII has no collective engines: traffic allreduce is for Aries";
		if (job.traffic.operation == Operation::Raw && job.trace.messages.empty())
			return "QsNetIII answers each packet: there are no raw ones";
	}
	for (const Incident &incident : shape.incidents) {
		if (incident.victim == Victim::Lanes)
			return "'" + incident.text + "': links of QsNetIII have all their lanes, or fail";
	}
	return {};
}

/* Of what has been done once, if it may come again. */
uint64_t remembered_bytes(const Machine &machine, const RunShape &shape, const Workload &workload)
{
	const bool lossy = shape.parameters.bit_errors || !shape.incidents.empty();

	if (!lossy || &chip_of(machine) != &ELITE5_LINE || machine.nodes.empty())
		return 0;
	return estimate_remembered_bytes(machine, workload, shape.parameters,
					 uint64_t{shape.warmup} + shape.measure + shape.drain);
}

/* The first rule that is broken, by one line. What is laid out is so only if the rules before allow it. */
std::string broken_rule(const Machine &machine, const RunShape &shape, const Workload &workload, uint32_t channels)
{
	std::string broken = topology::validate(machine);

	if (broken.empty())
		broken = Routes::check(machine, shape.policy);
	if (broken.empty())
		broken = check_groups(machine, workload);
	if (broken.empty() && &chip_of(machine) == &chip::GEMINI)
		broken = check_gemini(shape, workload, channels);
	if (broken.empty() && machine.family == "clos")
		broken = check_clos(shape, workload);
	if (broken.empty() && &chip_of(machine) == &ELITE5_LINE)
		broken = check_qsnet(shape, workload);
	if (broken.empty())
		broken = check_machine(machine);
	if (broken.empty())
		broken = check_parameters(shape.parameters, chip_of(machine), channels * routing::CLASSES);
	if (!broken.empty())
		return broken;
	if (!shape.measure)
		return "a measurement takes at least one cycle";
	if (uint64_t{shape.warmup} + shape.measure + shape.drain > UINT32_MAX / 2)
		return "a run has at most 2,147,483,647 cycles";

	const Workers &workers = shape.workers;
	const uint64_t bytes = (estimate_bytes(machine, channels) + remembered_bytes(machine, shape, workload)) *
			       workers.on_this_host() / workers.processes();

	if (shape.memory_bytes && bytes > shape.memory_bytes)
		return std::to_string(machine.nodes.size()) + " nodes need about " +
		       std::to_string(static_cast<uint64_t>(static_cast<double>(bytes) / MIB)) +
		       " MiB of memory, and " +
		       std::to_string(static_cast<uint64_t>(static_cast<double>(shape.memory_bytes) / MIB)) +
		       " MiB may be used";

	const Layout layout(machine, shape.parameters, channels);

	broken = check_workload(workload, layout);
	if (broken.empty())
		broken = check_incidents(shape.incidents, machine, layout, shape.parameters,
					 shape.warmup + shape.measure);
	return broken.empty() ? check_workers(layout, workers) : broken;
}

/* Runs in slices; false if nothing moves any more. */
class Runner
{
public:
	Runner(Network &network, uint32_t end, const std::function<void(const Progress &)> &progress)
		: network_(network), end_(end), progress_(progress)
	{
	}

	bool until(uint32_t cycle, bool when_idle)
	{
		while (network_.now() < cycle && !(when_idle && idle_)) {
			network_.run(std::min(cycle, network_.now() + SLICE));

			const Census census = network_.census();

			if (census.hops != hops_ || !census.live) {
				hops_ = census.hops;
				moved_ = network_.now();
			}
			idle_ = census.idle;
			most_ = std::max(most_, census.live);
			if (network_.now() - moved_ >= STUCK_AFTER)
				return false;
			if (progress_)
				progress_({network_.now(), end_, census.live});
		}
		return true;
	}

	bool idle() const noexcept { return idle_; }
	uint64_t most() const noexcept { return most_; } ///< packets at the end of a slice

private:
	Network &network_;
	uint32_t end_;
	const std::function<void(const Progress &)> &progress_;
	uint64_t hops_ = 0;
	uint32_t moved_ = 0;
	bool idle_ = false;
	uint64_t most_ = 0;
};

void add_links(const Machine &machine, const Layout &layout, const std::vector<LinkCount> &before,
	       const std::vector<LinkCount> &after, uint32_t cycles, Result &result)
{
	for (const topology::LinkClass &cls : machine.classes)
		result.classes.push_back({cls.name});
	result.classes.push_back({"processor"});
	for (uint32_t place = 0; place < layout.places(); place++) {
		const Lane &lane = layout.lanes[place];

		if (!lane.used)
			continue;

		ClassResult &cls =
			lane.link_class == PROCESSOR_CLASS ? result.classes.back() : result.classes[lane.link_class];
		const auto grown = [&before, &after, place](uint64_t LinkCount::*member) {
			return after[place].*member - before[place].*member;
		};
		const uint64_t flits = grown(&LinkCount::flits);
		const auto stalled = static_cast<uint32_t>(grown(&LinkCount::stalled));
		const auto row = static_cast<uint32_t>(grown(&LinkCount::row_stalled));
		const auto column = static_cast<uint32_t>(grown(&LinkCount::column_stalled));
		const double load =
			static_cast<double>(flits) * lane.flit_ticks / layout.chip.times.cycle_ticks / cycles;

		cls.links++;
		cls.mean_load += load;
		cls.most_load = std::max(cls.most_load, load);
		cls.stalled += static_cast<double>(stalled) / cycles;
		cls.row_stalled += static_cast<double>(row) / cycles;
		cls.column_stalled += static_cast<double>(column) / cycles / layout.rows;
		cls.replays += grown(&LinkCount::replays);
		if (lane.far != NO_PLACE)
			result.links.push_back({place / layout.tiles, place % layout.tiles, lane.far / layout.tiles,
						cls.name, flits, load, stalled, row, column,
						grown(&LinkCount::replays)});
	}
	for (ClassResult &cls : result.classes) {
		cls.mean_load /= static_cast<double>(std::max<uint64_t>(cls.links, 1));
		for (double *share : {&cls.stalled, &cls.row_stalled, &cls.column_stalled})
			*share /= static_cast<double>(std::max<uint64_t>(cls.links, 1));
	}
}

Rates rates_of(const Job &job, const Counts &counted, uint32_t cycles, const Layout &layout, double clock_mhz)
{
	const auto nodes = static_cast<double>(job.nodes.size());
	const double node_cycles = nodes * cycles;
	const bool get = job.traffic.operation == Operation::Get;
	const auto flits = static_cast<double>(get ? counted.window_response_flits : counted.window_request_flits);
	const double capacity = static_cast<double>(layout.inject_flits_per_100_cycles()) / 100;
	/* What begins when the last is done is no load, neither offered nor accepted. */
	const bool closed = is_collective(job) || is_group(job);

	return {job.nodes.size(), job.trace.messages.empty() && !closed ? job.traffic.load_ppm / 1e6 : 0,
		closed ? 0 : flits / node_cycles / capacity,
		static_cast<double>(counted.window_bytes) / node_cycles * clock_mhz / 1000};
}

/* Of several jobs the mean, by nodes; idle ones are not counted. */
void add_rates(const Workload &workload, uint32_t cycles, const Layout &layout, Result &result)
{
	const Statistics &counted = result.statistics;
	const bool several = workload.jobs.size() > 1;

	for (size_t i = 0; i < workload.jobs.size(); i++) {
		const Counts &counts = several ? counted.jobs[i] : counted;
		const Rates rates = rates_of(workload.jobs[i], counts, cycles, layout, result.clock_mhz);

		result.jobs.push_back(rates);
		result.nodes += rates.nodes;
	}
	for (const Rates &rates : result.jobs) {
		const double share = static_cast<double>(rates.nodes) / static_cast<double>(result.nodes);

		result.offered += rates.offered * share;
		result.accepted += rates.accepted * share;
		result.gbyte_per_s_per_node += rates.gbyte_per_s_per_node * share;
	}
	if (!several)
		result.jobs.clear();
}

void add_collectives(const Workload &workload, const RunShape &shape, Result &result)
{
	for (size_t i = 0; i < result.statistics.collectives.size(); i++) {
		const CollectiveCounts &counts = result.statistics.collectives[i];
		const auto nodes = static_cast<uint32_t>(workload.jobs[i].nodes.size());
		CollectiveResult collective{.begun = counts.operations.size(), .lost = counts.lost};

		if (is_collective(workload.jobs[i]) || is_group(workload.jobs[i]))
			collective.depth = Tree(nodes, workload.jobs[i].traffic.radix).depth();

		const bool of_first = workload.jobs[i].traffic.pattern == Pattern::Conditional;

		for (const OperationCount &operation : counts.operations) {
			if (operation.ended < (of_first ? 1 : nodes))
				continue;
			collective.ended++;
			if (operation.last_begin >= shape.warmup && operation.last_begin - shape.warmup < shape.measure)
				collective.latency.add(operation.last_end - operation.last_begin);
		}
		if (collective.lost)
			collective.given_up = collective.begun - collective.ended;
		result.collectives.push_back(std::move(collective));
	}
}

} // namespace

Policy RunShape::default_policy()
{
	Policy policy;

	policy.local_bias = {32, 64, 128, 512};
	policy.global_bias = policy.local_bias;
	return policy;
}

Result run(const Machine &machine, const RunShape &shape, const std::function<void(const Progress &)> &progress)
{
	const uint32_t channels = Routes::channels(machine, shape.policy);
	const Workload workload =
		shape.jobs.empty() ? Workload(shape.traffic, static_cast<uint32_t>(machine.nodes.size())) : shape.jobs;
	std::string broken = broken_rule(machine, shape, workload, channels);

	if (shape.workers.ranks)
		broken = shape.workers.ranks->first_of(broken);
	if (!broken.empty())
		throw RunError(broken);

	const Routes routes(machine, shape.policy);

	if (!routes.lost(machine).empty())
		throw RunError("the machine is cut: " + routes.lost(machine));

	Network network(machine, routes.tables(), channels, shape.parameters, workload, shape.seed, shape.workers,
			{shape.incidents, shape.policy});
	const Layout &layout = network.layout();
	const uint32_t end = shape.warmup + shape.measure;
	Runner runner(network, end, progress);
	Result result;

	network.measure(shape.warmup, end);
	network.stop_traffic(end);
	result.stuck = !runner.until(shape.warmup, false);

	const std::vector<LinkCount> before = network.link_counts();

	result.stuck = result.stuck || !runner.until(end, false);
	add_links(machine, layout, before, network.link_counts(), shape.measure, result);
	result.stuck = result.stuck || !runner.until(end + shape.drain, true);
	result.drained = runner.idle();
	result.clock_mhz = machine.router_type.clock_mhz;
	result.statistics = network.statistics();
	result.measured = result.statistics.latency.count();
	result.cycles = network.now();
	result.rebuilds = network.rebuilds();
	result.packets_at_once = runner.most();
	add_rates(workload, shape.measure, layout, result);
	add_collectives(workload, shape, result);
	return result;
}

} // namespace aries::sim
