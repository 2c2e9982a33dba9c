// SPDX-License-Identifier: GPL-2.0-or-later
#include "net/metrics.hpp"

#include <charconv>
#include <functional>

namespace aries::net
{

namespace
{

/* The shortest text that is read back as the same number; 1e5 as 100000, as the format's readers take both. */
std::string text_of(double value)
{
	char text[32];
	const auto [end, error] = std::to_chars(std::begin(text), std::end(text), value);

	return {text, error == std::errc() ? end : text};
}

/* Backslash, quote and end of line have to be written in another way within a label's value. */
std::string label_value(const std::string &value)
{
	std::string text;

	for (const char c : value) {
		if (c == '\n') {
			text += "\\n";
			continue;
		}
		if (c == '\\' || c == '"')
			text += '\\';
		text += c;
	}
	return text;
}

std::string label(const char *name, const std::string &value)
{
	return std::string(name) + "=\"" + label_value(value) + "\"";
}

enum class Type : uint8_t { Counter, Gauge };

/* A metric's lines: what it is, then its values. */
class Lines
{
public:
	void begin(const char *name, Type type, const char *help)
	{
		name_ = name;
		text_ += std::string("# HELP ") + name + " " + help + "\n# TYPE " + name +
			 (type == Type::Counter ? " counter\n" : " gauge\n");
	}
	void value(const std::string &labels, double value)
	{
		text_ += name_ + (labels.empty() ? "" : "{" + labels + "}") + " " + text_of(value) + "\n";
	}
	void single(const char *name, Type type, const char *help, double number)
	{
		begin(name, type, help);
		value("", number);
	}
	std::string take() { return std::move(text_); }

private:
	std::string name_, text_;
};

struct TileMetric {
	const char *name;
	Type type;
	const char *help;
	bool links; ///< of links only
	double (*value)(const TileSample &tile);
};

double sum(const TileSample &tile, uint32_t first)
{
	return static_cast<double>(sum_of(tile.counters, first));
}

double bytes(const TileSample &tile, uint32_t first)
{
	return sum(tile, first) * flit_bytes(tile);
}

constexpr TileMetric TILE_METRICS[] = {
	{"aries_tile_data_received_bytes_total", Type::Counter,
	 "Flits that came in over the link or from NICs, in bytes: 60 for nine on a link, where each tenth is the "
	 "link's own; six each from NICs.",
	 false, [](const TileSample &tile) { return bytes(tile, ARIES_RTR_IN_FLITS); }},
	{"aries_tile_data_transmitted_bytes_total", Type::Counter,
	 "Flits that the tile sent, in bytes, as received ones.", false,
	 [](const TileSample &tile) { return bytes(tile, ARIES_RTR_OUT_FLITS); }},
	{"aries_tile_flits_received_total", Type::Counter, "Flits that came in over the link or from NICs.", false,
	 [](const TileSample &tile) { return sum(tile, ARIES_RTR_IN_FLITS); }},
	{"aries_tile_flits_transmitted_total", Type::Counter, "Flits that the tile sent.", false,
	 [](const TileSample &tile) { return sum(tile, ARIES_RTR_OUT_FLITS); }},
	{"aries_tile_receive_wait_seconds_total", Type::Counter,
	 "Modelled time for which heads of packets waited at the input for the way to the next tile.", false,
	 [](const TileSample &tile) { return sum(tile, ARIES_RTR_IN_STALL) / ROUTER_HZ; }},
	{"aries_tile_transmit_wait_seconds_total", Type::Counter,
	 "Modelled time for which heads of packets waited for this output.", false,
	 [](const TileSample &tile) { return sum(tile, ARIES_RTR_OUT_STALL) / ROUTER_HZ; }},
	{"aries_tile_replays_total", Type::Counter, "Retransmissions by the link control block of the outgoing link.",
	 true, [](const TileSample &tile) { return static_cast<double>(tile.link.replays); }},
	{"aries_tile_errors_missed_total", Type::Counter,
	 "Sets with bit errors that the check of the link did not detect.", true,
	 [](const TileSample &tile) { return static_cast<double>(tile.link.missed); }},
	{"aries_tile_link_up", Type::Gauge, "1 if the link is up, 0 if it is down.", true,
	 [](const TileSample &tile) { return tile.link.up ? 1.0 : 0.0; }},
	{"aries_tile_link_lanes", Type::Gauge, "Lanes of the link that work, of 3.", true,
	 [](const TileSample &tile) { return static_cast<double>(tile.link.lanes); }},
	{"aries_tile_link_bit_error_ratio", Type::Gauge, "Bit errors that the link is given, of a bit.", true,
	 [](const TileSample &tile) { return static_cast<double>(tile.link.error_rate); }},
	{"aries_tile_booked_seconds", Type::Gauge, "Modelled time for which the output is booked ahead.", true,
	 [](const TileSample &tile) { return static_cast<double>(tile.link.load_ns) / 1e9; }},
};

void add_fabric(Lines &lines, const Sample &sample)
{
	lines.single("aries_fabric_nodes", Type::Gauge, "Places for nodes in the machine.", sample.nodes);
	lines.single("aries_fabric_routers", Type::Gauge, "Routers of the machine.", sample.routers);
	lines.single("aries_fabric_groups", Type::Gauge, "Groups of the machine.", sample.groups);
	lines.single("aries_fabric_modelled_ahead_seconds", Type::Gauge, "Modelled time ahead of the host's clock.",
		     sample.modelled_ahead_s);
	lines.single("aries_fabric_modelled_rate", Type::Gauge, "Modelled seconds in a second of the host.",
		     sample.modelled_rate);
	lines.single("aries_fabric_quiesces_total", Type::Counter, "Quiesces since the fabric was made.",
		     sample.quiesce.count);
	lines.single("aries_fabric_quiesced", Type::Gauge, "1 while no NIC injects requests.",
		     sample.quiesce.left_ns ? 1 : 0);
	lines.single("aries_fabric_route_tables_generation", Type::Gauge, "Generation of the route tables in use.",
		     sample.tables);
}

void add_nodes(Lines &lines, const Sample &sample)
{
	const auto labels = [](const NodeSample &node) {
		return label("node", std::to_string(node.node)) + "," + label("cname", node.cname);
	};

	lines.begin("aries_node_state_info", Type::Gauge, "1 for the state in which a member is.");
	for (const NodeSample &node : sample.members)
		lines.value(labels(node) + "," + label("state", node.state), 1);
	lines.begin("aries_node_up", Type::Gauge, "1 if the member lives.");
	for (const NodeSample &node : sample.members)
		lines.value(labels(node), node.state == "alive" ? 1 : 0);
	lines.begin("aries_node_link_up", Type::Gauge, "1 if the link between NIC and router is up.");
	for (const NodeSample &node : sample.members)
		lines.value(labels(node), node.connected ? 1 : 0);
}

} // namespace

std::string metrics_of(const Sample &sample)
{
	Lines lines;

	add_fabric(lines, sample);
	add_nodes(lines, sample);
	for (const TileMetric &metric : TILE_METRICS) {
		lines.begin(metric.name, metric.type, metric.help);
		for (const TileSample &tile : sample.tiles) {
			if (metric.links && !tile.connected)
				continue;
			lines.value(label("router", tile.router) + "," + label("tile", std::to_string(tile.name.tile)) +
					    "," + label("kind", tile.kind),
				    metric.value(tile));
		}
	}
	return lines.take();
}

} // namespace aries::net
