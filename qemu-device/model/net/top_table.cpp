// SPDX-License-Identifier: GPL-2.0-or-later
#include "net/top_table.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace aries::net
{

namespace
{

const std::vector<TopColumn> LINK_COLUMNS = {
	{"LINK", 9, false},      {"FROM", 10, false},   {"KIND", 6, false},     {"TO", 9, false},
	{"STATE", 9, false},     {"LANES", 5, true},    {"OUT MB/s", 10, true}, {"IN MB/s", 10, true},
	{"WAIT us/s", 10, true}, {"AHEAD us", 9, true}, {"REPLAYS/s", 9, true},
};
const std::vector<TopColumn> NODE_COLUMNS = {
	{"NODE", 6, true},  {"CNAME", 14, false},   {"STATE", 9, false},
	{"LINK", 9, false}, {"OUT MB/s", 10, true}, {"IN MB/s", 10, true},
};

std::string text_of(const char *format, double value)
{
	std::array<char, 32> text{};

	std::snprintf(text.data(), text.size(), format, value);
	return text.data();
}

std::string rate_text(double value)
{
	return text_of(value > 0 && value < 10 ? "%.3f" : "%.1f", value);
}

/* Counters of before; of a tile that had none then they are zero. */
class Before
{
public:
	explicit Before(const Sample &sample)
	{
		for (const TileSample &tile : sample.tiles)
			tiles_[{tile.name.router, tile.name.tile}] = &tile;
	}
	double more(const TileSample &now, uint32_t first) const
	{
		const TileSample *was = find(now);
		const uint64_t is = sum_of(now.counters, first);
		const uint64_t then = was ? sum_of(was->counters, first) : 0;

		/* A fabric that was made anew has begun at zero. */
		return static_cast<double>(is >= then ? is - then : is);
	}
	double replays(const TileSample &now) const
	{
		const TileSample *was = find(now);
		const uint64_t then = was ? was->link.replays : 0;

		return static_cast<double>(now.link.replays >= then ? now.link.replays - then : now.link.replays);
	}

private:
	const TileSample *find(const TileSample &now) const
	{
		const auto found = tiles_.find({now.name.router, now.name.tile});

		return found == tiles_.end() ? nullptr : found->second;
	}

	std::map<std::pair<uint32_t, uint32_t>, const TileSample *> tiles_;
};

std::string end_text(uint32_t router, uint32_t tile)
{
	return std::to_string(router) + ":" + std::to_string(tile);
}

void add_links(TopView &view, const Sample &now, const Before &before, double seconds)
{
	for (const TileSample &tile : now.tiles) {
		if (!tile.connected)
			continue;
		const double megabytes = flit_bytes(tile) / 1e6 / seconds;
		const double waited = before.more(tile, ARIES_RTR_IN_STALL) + before.more(tile, ARIES_RTR_OUT_STALL);

		view.rows.push_back({end_text(tile.name.router, tile.name.tile), tile.router, tile.kind,
				     end_text(tile.link.far.router, tile.link.far.tile), state_name(tile.link),
				     std::to_string(tile.link.lanes),
				     rate_text(before.more(tile, ARIES_RTR_OUT_FLITS) * megabytes),
				     rate_text(before.more(tile, ARIES_RTR_IN_FLITS) * megabytes),
				     rate_text(waited / ROUTER_HZ * 1e6 / seconds),
				     rate_text(static_cast<double>(tile.link.load_ns) / 1e3),
				     rate_text(before.replays(tile) / seconds)});
		view.wrong.push_back(is_wrong(tile.link));
	}
}

/* Bytes. Neighbours share their tiles, so a node has what passes those of its router's quad. */
double at_nics(const Sample &now, const Before &before, const NodeSample &node, uint32_t first)
{
	constexpr uint32_t SHARE = chip::ARIES.tiles.share_tiles;
	const uint32_t begin = FIRST_PROCESSOR + node.place % NICS_PER_ROUTER / chip::ARIES.tiles.share_nics * SHARE;
	double bytes = 0;

	for (const TileSample &tile : now.tiles) {
		if (tile.name.router == node.place / NICS_PER_ROUTER && tile.name.tile >= begin &&
		    tile.name.tile < begin + SHARE)
			bytes += before.more(tile, first) * flit_bytes(tile);
	}
	return bytes;
}

void add_nodes(TopView &view, const Sample &now, const Before &before, double seconds)
{
	const double megabytes = 1 / 1e6 / seconds;

	for (const NodeSample &node : now.members) {
		view.rows.push_back({std::to_string(node.node), node.cname, node.state,
				     node.connected ? "up" : "cut off",
				     rate_text(at_nics(now, before, node, ARIES_RTR_IN_FLITS) * megabytes),
				     rate_text(at_nics(now, before, node, ARIES_RTR_OUT_FLITS) * megabytes)});
		view.wrong.push_back(node.state != "alive" || !node.connected);
	}
}

std::string lower(const std::string &text)
{
	std::string small = text;

	std::transform(small.begin(), small.end(), small.begin(),
		       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
	return small;
}

bool matches(const TopRow &row, const std::string &filter)
{
	return std::any_of(row.begin(), row.end(),
			   [&](const std::string &text) { return lower(text).find(filter) != std::string::npos; });
}

/* "9:2" before "10:0", which the order of letters would not have. */
bool earlier(const std::string &a, const std::string &b)
{
	return strverscmp(a.c_str(), b.c_str()) < 0;
}

void arrange(TopView &view, const TopChoice &choice)
{
	const size_t column = std::min(choice.column, view.columns.size() - 1);
	const std::string filter = lower(choice.filter);
	std::vector<size_t> order;

	for (size_t row = 0; row < view.rows.size(); row++) {
		if (filter.empty() || matches(view.rows[row], filter))
			order.push_back(row);
	}
	/* A node's number is a name. */
	const bool number = view.columns[column].number && column > 0;

	std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
		const std::string &one = view.rows[a][column], &other = view.rows[b][column];
		const bool first = number ? std::strtod(one.c_str(), nullptr) > std::strtod(other.c_str(), nullptr)
					  : earlier(one, other);
		const bool last = number ? std::strtod(other.c_str(), nullptr) > std::strtod(one.c_str(), nullptr)
					 : earlier(other, one);

		return choice.reversed ? last : first;
	});

	std::vector<TopRow> rows;
	std::vector<bool> wrong;

	for (const size_t row : order) {
		rows.push_back(std::move(view.rows[row]));
		wrong.push_back(view.wrong[row]);
	}
	view.rows = std::move(rows);
	view.wrong = std::move(wrong);
}

std::vector<std::string> head_of(const Sample &now, const std::string &name)
{
	const auto count = [&](auto &&list, auto &&which) { return std::count_if(list.begin(), list.end(), which); };
	const auto alive = count(now.members, [](const NodeSample &node) { return node.state == "alive"; });
	const auto links = count(now.tiles, [](const TileSample &tile) { return tile.connected; });
	const auto down = count(now.tiles, [](const TileSample &tile) { return tile.connected && !tile.link.up; });
	const auto worse = count(now.tiles, [](const TileSample &tile) {
		return tile.connected && tile.link.up && is_wrong(tile.link);
	});

	return {"fabric " + name + ": " + std::to_string(now.nodes) + " nodes, " + std::to_string(now.routers) +
			" routers, " + std::to_string(now.groups) + " groups; modelled time " +
			text_of("%.3f", now.modelled_ahead_s) + " s ahead" + (now.quiesce.left_ns ? "; QUIESCED" : ""),
		"members: " + std::to_string(alive) + " of " + std::to_string(now.members.size()) +
			" alive; ends of links at routers in use: " + std::to_string(links) + ", " +
			std::to_string(down) + " down, " + std::to_string(worse) + " degraded or with bit errors"};
}

} // namespace

const std::vector<TopColumn> &columns_of(TopTable table)
{
	return table == TopTable::Links ? LINK_COLUMNS : NODE_COLUMNS;
}

TopView top_view(const Sample &before, const Sample &now, double seconds, const std::string &name,
		 const TopChoice &choice)
{
	const Before was(before);
	TopView view{head_of(now, name), columns_of(choice.table), {}, {}};

	if (choice.table == TopTable::Links)
		add_links(view, now, was, seconds);
	else
		add_nodes(view, now, was, seconds);
	arrange(view, choice);
	return view;
}

std::string top_line(const std::vector<TopColumn> &columns, const TopRow &row)
{
	std::string line;

	for (size_t column = 0; column < columns.size(); column++) {
		const std::string &text = row[column];
		const size_t width = columns[column].width;
		const std::string space(text.size() < width ? width - text.size() : 0, ' ');

		line += (column ? " " : "") + (columns[column].number ? space + text : text + space);
	}
	return line.substr(0, line.find_last_not_of(' ') + 1);
}

} // namespace aries::net
