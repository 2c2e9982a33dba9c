// SPDX-License-Identifier: GPL-2.0-or-later
#include <nlohmann/json.hpp>
#include <ostream>

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

const char *name_of(Pattern pattern)
{
	switch (pattern) {
	case Pattern::Uniform:
		return "uniform";
	case Pattern::Group:
		return "group";
	case Pattern::Permutation:
		return "permutation";
	default:
		return "shift";
	}
}

const char *name_of(Operation operation)
{
	switch (operation) {
	case Operation::Put:
		return "put";
	case Operation::Get:
		return "get";
	default:
		return "raw";
	}
}

Json traffic_of(const TrafficShape &traffic)
{
	Json json{{"pattern", name_of(traffic.pattern)}, {"operation", name_of(traffic.operation)}};

	if (traffic.operation == Operation::Raw)
		json["flits"] = traffic.raw_flits;
	else
		json["bytes"] = traffic.bytes;
	if (traffic.pattern == Pattern::Group)
		json["shift"] = traffic.shift;
	json["load"] = traffic.load_ppm / 1e6;
	return json;
}

} // namespace

void write_json(std::ostream &out, const topology::Machine &machine, const RunShape &shape, const Result &result)
{
	const Statistics &counted = result.statistics;
	Json hops = Json::array();
	Json classes = Json::array();
	const double requests = result.measured ? static_cast<double>(result.measured) : 1;
	size_t longest = 0;

	for (size_t i = 0; i <= MOST_HOPS; i++) {
		if (counted.hop_count[i])
			longest = i + 1;
	}
	for (size_t i = 0; i < longest; i++)
		hops.push_back(counted.hop_count[i]);
	for (const ClassResult &cls : result.classes)
		classes.push_back({{"class", cls.name},
				   {"links", cls.links},
				   {"mean_load", cls.mean_load},
				   {"max_load", cls.most_load},
				   {"stalled", cls.stalled}});

	const Json json{
		{"machine", machine.name},
		{"nodes", machine.nodes.size()},
		{"routers", machine.routers.size()},
		{"groups", machine.groups},
		{"seed", shape.seed},
		{"traffic", traffic_of(shape.traffic)},
		{"cycles", {{"warmup", shape.warmup}, {"measured", shape.measure}, {"all", result.cycles}}},
		{"clock_mhz", result.clock_mhz},
		{"drained", result.drained},
		{"stuck", result.stuck},
		{"offered", result.offered},
		{"accepted", result.accepted},
		{"gbyte_per_s_per_node", result.gbyte_per_s_per_node},
		{"latency", cycles_of(counted.latency, result.clock_mhz)},
		{"network_latency", cycles_of(counted.network, result.clock_mhz)},
		{"round_trip", cycles_of(counted.round_trip, result.clock_mhz)},
		{"hops", hops},
		{"minimal", 1 - static_cast<double>(counted.nonminimal) / requests},
		{"links", classes},
		{"packets", counted.injected_packets},
		{"packet_hops", counted.hops},
		{"flits", counted.injected_flits},
		{"checks", counted.checks},
		{"packets_at_once", result.packets_at_once},
	};

	out << json.dump(2) << '\n';
}

void write_links_csv(std::ostream &out, const Result &result)
{
	out << "router,tile,far_router,class,flits,load,stalled_cycles\n";
	for (const LinkResult &link : result.links)
		out << link.router << ',' << link.tile << ',' << link.far_router << ',' << link.name << ','
		    << link.flits << ',' << link.load << ',' << link.stalled << '\n';
}

} // namespace aries::sim
