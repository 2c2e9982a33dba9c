// SPDX-License-Identifier: GPL-2.0-or-later
#include "sweep_csv.hpp"

#include <algorithm>
#include <cstdint>
#include <sstream>

namespace aries::sim
{

namespace
{

using Json = nlohmann::ordered_json;

constexpr const char *RATES[] = {"offered", "accepted", "gbyte_per_s_per_node", "minimal"};
constexpr const char *TIMES[] = {"latency", "network_latency", "round_trip", "message_latency", "message_round_trip"};
constexpr const char *OF_TIME[] = {"mean", "p50", "p99", "max"};

double mean_hops(const Json &hops)
{
	double sum = 0;
	double count = 0;

	for (size_t i = 0; i < hops.size(); i++) {
		sum += static_cast<double>(i) * hops[i].get<double>();
		count += hops[i].get<double>();
	}
	return count > 0 ? sum / count : 0;
}

void add_names(std::ostream &out, const std::string &before)
{
	for (const char *rate : RATES)
		out << ',' << before << rate;
	for (const char *time : TIMES) {
		for (const char *of : OF_TIME)
			out << ',' << before << time << '_' << of;
	}
	for (const char *of : OF_TIME)
		out << ',' << before << "collective_" << of;
	out << ',' << before << "mean_hops";
}

void add_values(std::ostream &out, const Json &result)
{
	for (const char *rate : RATES)
		out << ',' << result[rate].get<double>();
	for (const char *time : TIMES) {
		for (const char *of : OF_TIME)
			out << ',' << result[time][of].get<double>();
	}
	/* A sweep may go over traffics; the others have none, and 0 would be a latency. */
	for (const char *of : OF_TIME) {
		out << ',';
		if (result.contains("collective"))
			out << result["collective"]["latency"][of].get<double>();
	}
	out << ',' << mean_hops(result["hops"]);
}

/* Packets that did not arrive, and requests whose initiators waited in vain; none of either where nothing fails. */
void add_losses(std::ostream &out, const Json &result)
{
	const Json failures = result.value("failures", Json::object());
	uint64_t lost = 0;

	for (const char *where : {"lost_on_links", "lost_without_way", "lost_at_nodes", "unanswered"})
		lost += failures.value(where, uint64_t{0});
	out << ',' << lost << ',' << failures.value("given_up", uint64_t{0});
}

/* A value with a comma or a quote is put into quotes. */
std::string quoted(const std::string &text)
{
	std::string to;

	if (text.find_first_of(",\"\n") == std::string::npos)
		return text;
	for (const char c : text)
		to += c == '"' ? "\"\"" : std::string(1, c);
	return "\"" + to + "\"";
}

} // namespace

std::string sweep_csv(const std::vector<std::string> &axes, const std::vector<SweepRow> &rows)
{
	std::ostringstream out;
	const bool jobs = !rows.empty() && rows[0].result.contains("jobs");
	const bool failures = std::any_of(rows.begin(), rows.end(),
					  [](const SweepRow &row) { return row.result.contains("failures"); });

	out.precision(9);
	for (size_t i = 0; i < axes.size(); i++)
		out << (i ? "," : "") << quoted(axes[i]);
	add_names(out, "");
	if (jobs) {
		for (const Json &job : rows[0].result["jobs"])
			add_names(out, quoted(job["name"].get<std::string>()) + ".");
	}
	out << (failures ? ",lost,given_up" : "") << ",drained,stuck,seconds\n";
	for (const SweepRow &row : rows) {
		for (size_t i = 0; i < axes.size(); i++)
			out << (i ? "," : "") << quoted(row.values[i]);
		add_values(out, row.result);
		if (jobs) {
			for (const Json &job : row.result["jobs"])
				add_values(out, job);
		}
		if (failures)
			add_losses(out, row.result);
		out << ',' << row.result["drained"].get<bool>() << ',' << row.result["stuck"].get<bool>() << ','
		    << row.result.value("seconds", 0.0) << '\n';
	}
	return out.str();
}

} // namespace aries::sim
