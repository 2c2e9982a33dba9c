// SPDX-License-Identifier: GPL-2.0-or-later
#include "topo/reports.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "chip/elite5.hpp"
#include "chip/gemini.hpp"
#include "topo/yaml.hpp"
#include "topology/closed_forms.hpp"
#include "topology/figures.hpp"
#include "topology/hops.hpp"

namespace aries::topology
{

namespace
{

/* Six digits are as many as a figure is worth. */
double rounded(double value)
{
	if (value == 0 || !std::isfinite(value))
		return value;

	const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::fabs(value))));

	return std::round(value * scale) / scale;
}

double per(double value, size_t count)
{
	return count ? rounded(value / static_cast<double>(count)) : 0;
}

Json cut_report(const Machine &machine, const Bisection &bisection)
{
	const Cut &cut = bisection.cut;
	Json report = {{"cut", bisection.how},
		       {"nodes", std::to_string(cut.nodes[0]) + " | " + std::to_string(cut.nodes[1])},
		       {"links", cut.total.links},
		       {"cables", cut.total.cables},
		       {"GB/s both ways", rounded(cut.both_ways())}};

	for (size_t cls = 0; cls < machine.classes.size(); cls++)
		report[machine.classes[cls].name + " links"] = cut.by_class[cls].links;
	return report;
}

/* Coordinates with the names of their axes: a file may call an axis as it likes. */
std::string place_text(const Machine &machine, size_t router)
{
	const RouterPlace &place = machine.routers[router];
	std::string text = machine.groups > 1 ? "group " + std::to_string(place.group) : "";

	for (size_t axis = 0; axis < machine.axes.size(); axis++)
		text += (text.empty() ? "" : " ") + machine.axes[axis] + " " + std::to_string(place.at[axis]);
	return text;
}

/* Links by class and rate of their lanes; nothing if all have that of their class. */
Json rates_of(const Machine &machine)
{
	std::map<std::pair<size_t, double>, uint64_t> counts;
	Json rows = Json::array();

	for (const Link &link : machine.links)
		counts[{link.link_class, machine.gbit_of(link)}]++;
	if (std::all_of(counts.begin(), counts.end(), [&machine](const auto &entry) {
		    return entry.first.second == machine.classes[entry.first.first].gbit_per_lane;
	    }))
		return rows;
	for (const auto &[kind, links] : counts) {
		const LinkClass &cls = machine.classes[kind.first];

		rows.push_back({{"class", cls.name},
				{"Gbit/s of a lane", kind.second},
				{"GB/s of a link", rounded(cls.lanes * kind.second / 8)},
				{"links", links}});
	}
	return rows;
}

} // namespace

Json report_machine(const Machine &machine)
{
	const RouterType &type = machine.router_type;
	const auto counts = count_classes(machine);
	const auto tiles = [&type](TileRole role) {
		return std::count_if(type.tiles.begin(), type.tiles.end(),
				     [role](const Tile &tile) { return tile.role == role; });
	};
	Json report = {{"name", machine.name},
		       {"family", machine.family},
		       {"groups", machine.groups},
		       {"routers", machine.routers.size()},
		       {"nodes", machine.nodes.size()},
		       {"links", machine.links.size()},
		       {"router", type.name},
		       {"tiles", std::to_string(type.rows) + " x " + std::to_string(type.columns)},
		       {"network tiles", tiles(TileRole::Network)},
		       {"processor tiles", tiles(TileRole::Processor)},
		       {"NICs of a router", type.nics},
		       {"request channels", type.request_channels},
		       {"response channels", type.response_channels},
		       {"clock MHz", type.clock_mhz},
		       {"classes", Json::array()}};

	for (size_t i = 0; i < machine.classes.size(); i++) {
		const LinkClass &cls = machine.classes[i];

		report["classes"].push_back({{"class", cls.name},
					     {"scope", cls.scope == Scope::Local ? "local" : "global"},
					     {"medium", medium_name(cls.medium)},
					     {"lanes", cls.lanes},
					     {"Gbit/s of a lane", cls.gbit_per_lane},
					     {"GB/s of a link", rounded(cls.gbyte_per_s(cls.lanes))},
					     {"links", counts[i].links},
					     {"cables", counts[i].cables}});
	}
	if (Json rates = rates_of(machine); !rates.empty())
		report["rates"] = std::move(rates);
	return report;
}

Json report_cables(const Machine &machine)
{
	const auto counts = count_classes(machine);
	Json report = {{"routers of a node", per(static_cast<double>(machine.routers.size()), machine.nodes.size())},
		       {"classes", Json::array()}};

	for (size_t i = 0; i < counts.size(); i++) {
		const auto cables = static_cast<double>(counts[i].cables);

		report["classes"].push_back(
			{{"class", machine.classes[i].name},
			 {"medium", medium_name(machine.classes[i].medium)},
			 {"links", counts[i].links},
			 {"cables", counts[i].cables},
			 {"of a group", per(cables, machine.groups)},
			 {"of a node", per(cables, machine.nodes.size())},
			 {"lanes of a node", per(static_cast<double>(counts[i].lanes), machine.nodes.size())},
			 {"metres", rounded(counts[i].length_of_cables)}});
	}
	return report;
}

Json report_bisection(const Machine &machine)
{
	const Bisection worst = bisection(machine);
	const double of_node = per(worst.cut.total.gbyte_per_s, std::min(worst.cut.nodes[0], worst.cut.nodes[1]));
	Json report = cut_report(machine, worst);

	report["GB/s of a node"] = of_node;
	if (machine.groups > 1) {
		report["by global bandwidth"] = rounded(of_node / global_gbyte_per_s_per_node(machine));
		return report;
	}
	report["cuts"] = Json::array();
	for (const Bisection &cut : axis_bisections(machine))
		report["cuts"].push_back(cut_report(machine, cut));
	return report;
}

Json report_bandwidth(const Machine &machine)
{
	const bool torus = machine.family == "torus", qsnet = machine.family == "qsnet";
	const bool clos = qsnet || machine.family == "clos";
	/* Of uniform traffic half crosses the middle of a torus: its global bandwidth is twice its bisection (G54). */
	const double global = torus  ? 2 * bisection(machine).cut.both_ways()
			      : clos ? stages_gbyte_per_s(machine)
				     : global_gbyte_per_s(machine);
	const double of_node = machine.nodes.empty() ? 0 : global / static_cast<double>(machine.nodes.size());
	Json report = {{"global GB/s", rounded(global)}, {"global GB/s of a node", rounded(of_node)}};

	if (machine.family == "aries" || torus) {
		const double efficiency = torus ? chip::put_efficiency(chip::GEMINI) : payload_efficiency();

		report["global GB/s of a node, 64-byte puts"] = rounded(of_node * efficiency);
		report["payload efficiency"] = rounded(efficiency);
	}
	if (qsnet) {
		const double share = chip::payload_share(chip::ELITE5, chip::ELITE5.packets.usual_payload);

		report["global GB/s of a node, packets of 1 KB"] = rounded(of_node * share);
		report["payload efficiency"] = rounded(share);
	}
	if (machine.groups > 1)
		report["local by global bandwidth"] = rounded(local_to_global(machine));
	report["classes"] = Json::array();
	for (size_t i = 0; i < machine.classes.size(); i++)
		report["classes"].push_back(
			{{"class", machine.classes[i].name},
			 {"GB/s of a link", rounded(machine.classes[i].gbyte_per_s(machine.classes[i].lanes))},
			 {"uniform traffic that stays", rounded(share_that_stays(machine, i))}});
	return report;
}

Json report_places(const Machine &machine)
{
	std::vector<std::string> nodes(machine.routers.size());
	Json report = {{"routers", Json::array()}};

	const auto add = [&nodes](size_t node, const NodePlace &at) {
		std::string &list = nodes[at.router];

		list += (list.empty() ? "" : " ") + std::to_string(node);
	};

	for (size_t node = 0; node < machine.nodes.size(); node++)
		add(node, machine.nodes[node]);
	for (const FurtherPlace &place : machine.further)
		add(place.node, place.at);
	for (size_t router = 0; router < machine.routers.size(); router++) {
		Json line = {{"router", router}};

		if (!machine.names.empty())
			line["name"] = machine.names[router];
		line["place"] = place_text(machine, router);
		line["nodes"] = nodes[router];
		report["routers"].push_back(std::move(line));
	}
	return report;
}

Json report_hops(const Machine &machine, uint32_t sources)
{
	const Hops hops = count_hops(machine, Wiring(machine), sources);
	Json report = {{"counted from routers", hops.sources},
		       {"mean hops", rounded(hops.mean)},
		       {"most hops", hops.most},
		       {"mean optical hops", rounded(hops.mean_optical)},
		       {"most optical hops", hops.most_optical},
		       {"histogram", Json::array()}};

	for (size_t i = 0; i < hops.share.size(); i++)
		report["histogram"].push_back({{"hops", i}, {"share of pairs", rounded(hops.share[i])}});
	return report;
}

} // namespace aries::topology
