// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "chip/aries.hpp"
#include "elite5_line.hpp"
#include "names.hpp"
#include "simulation.hpp"

namespace aries::sim
{

namespace
{

using Json = nlohmann::ordered_json;

Json cycles_of(const Histogram &histogram, double clock_mhz)
{
	const auto ns = [clock_mhz](double cycles) { return cycles * 1000 / clock_mhz; };

	return {{"count", histogram.count()},         {"unit", "ns"},
		{"least", ns(histogram.least())},     {"mean", ns(histogram.mean())},
		{"p50", ns(histogram.quantile(500))}, {"p99", ns(histogram.quantile(990))},
		{"max", ns(histogram.most())}};
}

/* Traffic on collective engines has no operation, size or load. */
Json allreduce_of(const TrafficShape &traffic)
{
	Json json{{"pattern", name_of(traffic.pattern)},
		  {"radix", traffic.radix},
		  {"processes", traffic.processes},
		  {"compute_ns", traffic.compute_ns}};

	if (traffic.slow_ns)
		json["slow"] = {{"rank", traffic.slow_rank}, {"ns", traffic.slow_ns}};
	json["mode"] = name_of(traffic.request_mode);
	return json;
}

Json group_of(const TrafficShape &traffic)
{
	Json json{{"pattern", name_of(traffic.pattern)}, {"compute_ns", traffic.compute_ns}};

	if (traffic.pattern == Pattern::Broadcast)
		json["bytes"] = traffic.bytes;
	if (traffic.pattern == Pattern::TreeBarrier)
		json["radix"] = traffic.radix;
	if (traffic.slow_ns)
		json["slow"] = {{"rank", traffic.slow_rank}, {"ns", traffic.slow_ns}};
	return json;
}

Json traffic_of(const TrafficShape &traffic)
{
	if (traffic.pattern == Pattern::Allreduce)
		return allreduce_of(traffic);
	if (is_group(traffic.pattern))
		return group_of(traffic);

	Json json{{"pattern", name_of(traffic.pattern)}, {"operation", name_of(traffic.operation)}};

	if (traffic.operation == Operation::Raw)
		json["flits"] = traffic.raw_flits;
	else
		json["bytes"] = traffic.bytes;
	if (traffic.pattern == Pattern::Group || traffic.pattern == Pattern::Offset)
		json["shift"] = traffic.shift;
	json["load"] = traffic.load_ppm / 1e6;
	json["mode"] = name_of(traffic.request_mode);
	json["response_mode"] = name_of(traffic.response_mode);
	return json;
}

/* What is the same for all and for one job. */
void add_counts(Json &json, const Rates &rates, const Counts &counted, double clock_mhz)
{
	const auto requests = static_cast<double>(std::max<uint64_t>(counted.latency.count(), 1));
	Json hops = Json::array();
	Json hop_latency = Json::array();
	size_t longest = 0;

	for (size_t i = 0; i <= MOST_HOPS; i++) {
		if (counted.hop_count[i])
			longest = i + 1;
	}
	for (size_t i = 0; i < longest; i++) {
		const auto count = static_cast<double>(std::max<uint64_t>(counted.hop_count[i], 1));

		hops.push_back(counted.hop_count[i]);
		hop_latency.push_back(static_cast<double>(counted.hop_cycles[i]) / count * 1000 / clock_mhz);
	}
	json["offered"] = rates.offered;
	json["accepted"] = rates.accepted;
	json["gbyte_per_s_per_node"] = rates.gbyte_per_s_per_node;
	json["latency"] = cycles_of(counted.latency, clock_mhz);
	json["network_latency"] = cycles_of(counted.network, clock_mhz);
	json["round_trip"] = cycles_of(counted.round_trip, clock_mhz);
	json["message_latency"] = cycles_of(counted.message, clock_mhz);
	json["message_round_trip"] = cycles_of(counted.message_round_trip, clock_mhz);
	json["hops"] = hops;
	json["hop_latency"] = hop_latency;
	json["minimal"] = 1 - static_cast<double>(counted.nonminimal) / requests;
}

/* Nothing if the job has none. */
void add_collective(Json &json, const Result &result, size_t job)
{
	if (result.collectives.empty() || !result.collectives[job].depth)
		return;

	const CollectiveResult &collective = result.collectives[job];

	json["collective"] = {
		{"depth", collective.depth}, {"begun", collective.begun},
		{"ended", collective.ended}, {"given_up", collective.given_up},
		{"lost", collective.lost},   {"latency", cycles_of(collective.latency, result.clock_mhz)}};
}

Json jobs_of(const RunShape &shape, const Result &result)
{
	Json jobs = Json::array();

	for (size_t i = 0; i < shape.jobs.size(); i++) {
		const bool several = !result.jobs.empty();
		Json json{{"name", shape.jobs[i].name},
			  {"nodes", shape.jobs[i].nodes.size()},
			  {"traffic", traffic_of(shape.jobs[i].traffic)}};

		if (!shape.jobs[i].trace.messages.empty())
			json["traffic"] = {{"traced", shape.jobs[i].trace.messages.size()}};

		add_counts(json, several ? result.jobs[i] : result,
			   several ? result.statistics.jobs[i] : result.statistics, result.clock_mhz);
		add_collective(json, result, i);
		jobs.push_back(json);
	}
	return jobs;
}

} // namespace

void write_json(std::ostream &out, const topology::Machine &machine, const RunShape &shape, const Result &result)
{
	const Statistics &counted = result.statistics;
	Json classes = Json::array();

	for (const ClassResult &cls : result.classes)
		classes.push_back({{"class", cls.name},
				   {"links", cls.links},
				   {"mean_load", cls.mean_load},
				   {"max_load", cls.most_load},
				   {"stalled", cls.stalled},
				   {"row_stalled", cls.row_stalled},
				   {"column_stalled", cls.column_stalled},
				   {"replays", cls.replays}});

	Json json{
		{"machine", machine.name},
		{"nodes", machine.nodes.size()},
		{"routers", machine.routers.size()},
		{"groups", machine.groups},
		{"seed", shape.seed},
	};

	if (shape.jobs.empty())
		json["traffic"] = traffic_of(shape.traffic);
	json["cycles"] = {{"warmup", shape.warmup}, {"measured", shape.measure}, {"all", result.cycles}};
	json["clock_mhz"] = result.clock_mhz;
	json["drained"] = result.drained;
	json["stuck"] = result.stuck;
	add_counts(json, result, counted, result.clock_mhz);
	if (shape.jobs.empty())
		add_collective(json, result, 0);
	else
		json["jobs"] = jobs_of(shape, result);
	json["links"] = classes;
	json["packets"] = counted.injected_packets;
	json["packet_hops"] = counted.hops;
	json["flits"] = counted.injected_flits;
	json["packets_at_once"] = result.packets_at_once;
	if (shape.parameters.watch_order)
		json["overtaken"] = counted.overtaken;
	if (!shape.incidents.empty()) {
		Json rebuilds = Json::array(), planned = Json::array();

		for (const Incident &incident : shape.incidents)
			planned.push_back({{"what", incident.text}, {"comes_back", incident.up}});
		for (const Rebuild &rebuild : result.rebuilds)
			rebuilds.push_back({{"cycle", rebuild.cycle},
					    {"cut_routers", rebuild.cut_routers},
					    {"cut_groups", rebuild.cut_groups}});
		json["failures"] = {{"planned", planned},
				    {"tables", rebuilds},
				    {"lost_on_links", counted.lost_on_links},
				    {"lost_without_way", counted.lost_without_way},
				    {"lost_at_nodes", counted.lost_at_nodes},
				    {"unanswered", counted.unanswered},
				    {"given_up", counted.given_up}};
	}
	if (shape.parameters.router_errors)
		json["marked"] = {{"dropped", counted.lost_bad}, {"given_up", counted.given_up}};
	if (&chip_of(machine) == &ELITE5_LINE)
		json["answers"] = {{"refused", counted.refused},
				   {"traps", counted.traps},
				   {"sent_again", counted.sent_again},
				   {"came_twice", counted.came_twice},
				   {"given_up", counted.given_up}};
	out << json.dump(2) << '\n';
}

void write_links_csv(std::ostream &out, const Result &result)
{
	out << "router,tile,far_router,class,flits,load,stalled_cycles,row_stalled,column_stalled,replays\n";
	for (const LinkResult &link : result.links)
		out << link.router << ',' << link.tile << ',' << link.far_router << ',' << link.name << ','
		    << link.flits << ',' << link.load << ',' << link.stalled << ',' << link.row_stalled << ','
		    << link.column_stalled << ',' << link.replays << '\n';
}

/* The file is for devices, which are of a dragonfly. */
std::string check_background(const topology::Machine &machine)
{
	const chip::Chip &chip = chip_of(machine);

	if (&chip != &chip::ARIES)
		return std::string("--background is for devices, which have Aries: not of a machine of ") +
		       (&chip == &chip::GEMINI ? "Gemini" : "QsNetIII");
	return machine.family == "clos" ? "--background is for devices, which are of a dragonfly: not of a Clos" : "";
}

void write_background(std::ostream &out, const topology::Machine &machine, const RunShape &shape, const Result &result)
{
	out << "# aries link loads 1\n# routers " << machine.routers.size() << " tiles "
	    << machine.router_type.tiles.size() << " links " << machine.links.size() << "\n# machine " << machine.name
	    << "\n# cycles " << shape.measure << " seed " << shape.seed << "\nrouter,tile,load,stalled\n";
	for (const LinkResult &link : result.links) {
		if (link.flits || link.stalled)
			out << link.router << ',' << link.tile << ',' << std::min(link.load, 1.0) << ','
			    << static_cast<double>(link.stalled) / shape.measure << '\n';
	}
}

} // namespace aries::sim
