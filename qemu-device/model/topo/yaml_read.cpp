// SPDX-License-Identifier: GPL-2.0-or-later
#include "topo/yaml.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace aries::topology
{

namespace
{

/* A message is one line, whatever was in the file. */
FileError error_at(const std::string &name, int line, const std::string &rule)
{
	std::string text = name + ":" + std::to_string(std::max(line, 0) + 1) + ": " + rule;

	std::replace_if(
		text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
	return FileError(text);
}

/* Looks at a document and keeps nothing. */
class Unseen : public YAML::EventHandler
{
public:
	void OnDocumentStart(const YAML::Mark &) override {}
	void OnDocumentEnd() override {}
	void OnNull(const YAML::Mark &, YAML::anchor_t) override {}
	void OnAlias(const YAML::Mark &, YAML::anchor_t) override {}
	void OnScalar(const YAML::Mark &, const std::string &, YAML::anchor_t, const std::string &) override {}
	void OnSequenceStart(const YAML::Mark &, const std::string &, YAML::anchor_t,
			     YAML::EmitterStyle::value) override
	{
	}
	void OnSequenceEnd() override {}
	void OnMapStart(const YAML::Mark &, const std::string &, YAML::anchor_t, YAML::EmitterStyle::value) override {}
	void OnMapEnd() override {}
};

/* 0, 1 or 2 for more. LoadAll() cannot be used: of a text that begins with a comma it makes documents without end. */
uint32_t count_documents(const std::string &text)
{
	std::istringstream stream(text);
	YAML::Parser parser(stream);
	Unseen handler;
	uint32_t count = 0;

	while (count < 2 && parser.HandleNextDocument(handler))
		count++;
	return count;
}

/* Reads one document; knows the lines of what a machine is made of. */
class Reader
{
public:
	explicit Reader(const std::string &name) : name_(name) {}

	Built read(const std::string &text)
	{
		try {
			const uint32_t documents = count_documents(text);

			if (documents != 1)
				throw error_at(name_, 0,
					       documents ? "there is more than one document" : "there is no document");

			const YAML::Node root = YAML::Load(text);

			if (!root.IsMap())
				bad(root, "a machine is a map: 'builder' and parameters, or 'router', 'links' "
					  "and so on");
			if (root["builder"])
				return short_form(root);
			return {full_form(root), {}};
		} catch (const YAML::Exception &error) {
			throw error_at(name_, error.mark.line, error.msg);
		}
	}

private:
	using Lines = std::vector<int>;

	[[noreturn]] void bad_line(int line, const std::string &rule) const { throw error_at(name_, line, rule); }

	[[noreturn]] void bad(const YAML::Node &node, const std::string &rule) const
	{
		bad_line(node.Mark().line, rule);
	}

	std::string word(const YAML::Node &node, const std::string &what) const
	{
		if (!node.IsScalar())
			bad(node, what + " is one value");
		return node.Scalar();
	}

	template <typename Number> Number number(const YAML::Node &node, const std::string &what) const
	{
		const std::string text = word(node, what);
		Number value{};
		const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);

		if (error != std::errc{} || end != text.data() + text.size())
			bad(node, what + ": '" + text + "' is not a number that can be");
		return value;
	}

	/* Every key is known, and comes once. */
	void check_keys(const YAML::Node &map, const std::set<std::string> &known, const std::string &what) const
	{
		std::set<std::string> seen;

		if (!map.IsMap())
			bad(map, what + " is a map");
		for (const auto &entry : map) {
			const std::string key = word(entry.first, "a key");

			if (!known.contains(key))
				bad(entry.first, std::string(what).append(" has no '").append(key).append("'"));
			if (!seen.insert(key).second)
				bad(entry.first, "'" + key + "' comes twice");
		}
	}

	YAML::Node need(const YAML::Node &map, const char *key, const std::string &what) const
	{
		const YAML::Node node = map[key];

		if (!node)
			bad(map, what + " needs '" + key + "'");
		return node;
	}

	YAML::Node need_list(const YAML::Node &map, const char *key, const std::string &what) const
	{
		const YAML::Node node = need(map, key, what);

		if (!node.IsSequence())
			bad(node, std::string("'") + key + "' is a list");
		return node;
	}

	Built short_form(const YAML::Node &root) const
	{
		std::vector<Parameter> parameters;
		Lines lines;
		std::string builder;
		int builder_line = 0;

		for (const auto &entry : root) {
			const std::string key = word(entry.first, "a key");

			if (!entry.second.IsScalar())
				bad(entry.first, key + " is one value");

			const std::string value = entry.second.Scalar();

			if (key == "builder") {
				builder = value;
				builder_line = entry.first.Mark().line;
				continue;
			}
			parameters.push_back({key, value});
			lines.push_back(entry.first.Mark().line);
		}
		try {
			return build_named(builder, parameters);
		} catch (const ParameterError &error) {
			bad_line(error.index() == ParameterError::SHAPE ? builder_line : lines[error.index()],
				 error.what());
		}
	}

	Machine full_form(const YAML::Node &root)
	{
		Machine machine;

		check_keys(root,
			   {"name", "family", "groups", "axes", "router", "classes", "routers", "links", "nodes",
			    "further"},
			   "a machine");
		machine.name = word(need(root, "name", "a machine"), "name");
		machine.family = word(need(root, "family", "a machine"), "family");
		machine.groups = number<uint32_t>(need(root, "groups", "a machine"), "groups");
		for (const auto &axis : need_list(root, "axes", "a machine"))
			machine.axes.push_back(word(axis, "an axis"));
		if (machine.axes.size() > MAX_AXES)
			bad(root["axes"],
			    std::to_string(machine.axes.size()) + " axes: there can be " + std::to_string(MAX_AXES));
		for (const auto &node : need_list(root, "classes", "a machine"))
			add_class(machine, node);
		read_router(machine, need(root, "router", "a machine"));
		for (const auto &node : need_list(root, "routers", "a machine"))
			add_router(machine, node);
		if (!machine.names.empty())
			machine.names.resize(machine.routers.size());
		for (const auto &node : need_list(root, "links", "a machine"))
			add_link(machine, node);
		for (const auto &node : need_list(root, "nodes", "a machine"))
			add_node(machine, node);
		if (root["further"]) {
			for (const auto &node : need_list(root, "further", "a machine"))
				add_further(machine, node);
		}
		check(machine, root);
		return machine;
	}

	void add_class(Machine &machine, const YAML::Node &node)
	{
		static const std::string what = "a class";
		LinkClass cls;

		check_keys(node, {"name", "scope", "medium", "lanes", "gbit_per_lane", "length_m"}, what);

		const std::string scope = word(need(node, "scope", what), "scope");
		const std::string medium = word(need(node, "medium", what), "medium");

		if (scope != "local" && scope != "global")
			bad(node["scope"], "scope '" + scope + "' is neither local nor global");
		if (medium != "backplane" && medium != "copper" && medium != "optical")
			bad(node["medium"], "medium '" + medium + "' is none of backplane, copper, optical");
		cls.name = word(need(node, "name", what), "name");
		cls.scope = scope == "local" ? Scope::Local : Scope::Global;
		cls.medium = medium == "backplane" ? Medium::Backplane
			     : medium == "copper"  ? Medium::Copper
						   : Medium::Optical;
		cls.lanes = number<unsigned>(need(node, "lanes", what), "lanes");
		cls.gbit_per_lane = number<double>(need(node, "gbit_per_lane", what), "gbit_per_lane");
		cls.default_length_m = number<double>(need(node, "length_m", what), "length_m");
		machine.classes.push_back(std::move(cls));
		classes_.push_back(node.Mark().line);
	}

	void read_router(Machine &machine, const YAML::Node &node)
	{
		static const std::string what = "a router";
		RouterType &type = machine.router_type;

		check_keys(node,
			   {"name", "rows", "columns", "nics", "request_channels", "response_channels", "clock_mhz",
			    "tiles"},
			   what);
		type.name = word(need(node, "name", what), "name");
		type.rows = number<unsigned>(need(node, "rows", what), "rows");
		type.columns = number<unsigned>(need(node, "columns", what), "columns");
		type.nics = number<unsigned>(need(node, "nics", what), "nics");
		type.request_channels = number<unsigned>(need(node, "request_channels", what), "request_channels");
		type.response_channels = number<unsigned>(need(node, "response_channels", what), "response_channels");
		type.clock_mhz = number<double>(need(node, "clock_mhz", what), "clock_mhz");

		const uint64_t tiles = uint64_t{type.rows} * type.columns;

		if (tiles == 0 || tiles > MAX_TILES)
			bad(node["rows"], std::to_string(tiles) + " tiles of a router: there can be 1 to " +
						  std::to_string(MAX_TILES));
		type.tiles.resize(tiles);
		tiles_.assign(tiles, node.Mark().line);
		for (const auto &range : need_list(node, "tiles", what))
			add_tiles(machine, range);
	}

	/* {at: [first, last], class: name} or {at: [first, last], nics: [0, 1]}; tiles that are not named are unused.
	 */
	void add_tiles(Machine &machine, const YAML::Node &node)
	{
		check_keys(node, {"at", "class", "nics"}, "tiles");

		const YAML::Node at = need_list(node, "at", "tiles");
		Tile tile;

		if (at.size() != 2)
			bad(at, "'at' is the first and the last tile");
		if (!node["class"] == !node["nics"])
			bad(node, "tiles have either a 'class' or 'nics'");
		if (node["class"]) {
			tile = {TileRole::Network, class_of(machine, node["class"]), 0};
		} else {
			tile.role = TileRole::Processor;
			for (const auto &nic : need_list(node, "nics", "tiles"))
				tile.nic_mask |= 1u << nic_number(nic);
		}

		const auto first = number<uint32_t>(at[0], "a tile");
		const auto last = number<uint32_t>(at[1], "a tile");

		if (first > last || last >= machine.router_type.tiles.size())
			bad(at, "tiles " + std::to_string(first) + " to " + std::to_string(last) +
					": a router has 0 to " + std::to_string(machine.router_type.tiles.size() - 1));
		for (uint32_t i = first; i <= last; i++) {
			if (machine.router_type.tiles[i].role != TileRole::Unused)
				bad(at, "tile " + std::to_string(i) + " is named twice");
			machine.router_type.tiles[i] = tile;
			tiles_[i] = node.Mark().line;
		}
	}

	uint32_t nic_number(const YAML::Node &node) const
	{
		const auto nic = number<uint32_t>(node, "a NIC");

		if (nic >= MAX_NICS)
			bad(node, "NIC " + std::to_string(nic) + ": a router has at most " + std::to_string(MAX_NICS));
		return nic;
	}

	uint8_t class_of(const Machine &machine, const YAML::Node &node) const
	{
		const std::string name = word(node, "a class");

		for (size_t i = 0; i < machine.classes.size() && i <= UINT8_MAX; i++) {
			if (machine.classes[i].name == name)
				return static_cast<uint8_t>(i);
		}
		bad(node, "there is no class '" + name + "'");
	}

	void check_size(const YAML::Node &node, size_t least, size_t most, const char *form) const
	{
		if (!node.IsSequence() || node.size() < least || node.size() > most)
			bad(node, std::string("this is written ") + form);
	}

	void add_router(Machine &machine, const YAML::Node &node)
	{
		RouterPlace place;

		check_size(node, machine.axes.size() + 1, machine.axes.size() + 2,
			   "[group, a coordinate for each axis, a name], the last if wanted");
		place.group = number<uint32_t>(node[0], "group");
		for (size_t axis = 0; axis < machine.axes.size(); axis++)
			place.at[axis] = number<uint16_t>(node[axis + 1], machine.axes[axis]);
		machine.routers.push_back(place);
		if (node.size() > machine.axes.size() + 1) {
			machine.names.resize(machine.routers.size());
			machine.names.back() = word(node[machine.axes.size() + 1], "a name");
		}
		routers_.push_back(node.Mark().line);
	}

	void add_link(Machine &machine, const YAML::Node &node)
	{
		Link link;

		check_size(node, 5, 9,
			   "[router, tile, router, tile, class, lanes, length, cable, Gbit/s of a lane], the last four "
			   "if wanted");
		for (size_t side = 0; side < 2; side++)
			link.end[side] = {number<uint32_t>(node[side * 2], "router"),
					  number<uint32_t>(node[side * 2 + 1], "tile")};
		link.link_class = class_of(machine, node[4]);

		const LinkClass &cls = machine.classes[link.link_class];

		link.lanes = node.size() > 5 ? number<uint8_t>(node[5], "lanes") : static_cast<uint8_t>(cls.lanes);
		link.length_m =
			node.size() > 6 ? number<float>(node[6], "length") : static_cast<float>(cls.default_length_m);
		if (node.size() > 7 && word(node[7], "cable") != NO_CABLE_WORD)
			link.cable = number<uint32_t>(node[7], "cable");
		if (node.size() > 8)
			link.gbit_per_lane = number<float>(node[8], "Gbit/s of a lane");
		machine.links.push_back(link);
		links_.push_back(node.Mark().line);
	}

	void add_node(Machine &machine, const YAML::Node &node)
	{
		check_size(node, 2, 2, "[router, NIC]");
		machine.nodes.push_back({number<uint32_t>(node[0], "router"), number<uint32_t>(node[1], "NIC")});
		nodes_.push_back(node.Mark().line);
	}

	void add_further(Machine &machine, const YAML::Node &node)
	{
		check_size(node, 3, 3, "[node, router, NIC]");
		machine.further.push_back({number<uint32_t>(node[0], "node"),
					   {number<uint32_t>(node[1], "router"), number<uint32_t>(node[2], "NIC")}});
		further_.push_back(node.Mark().line);
	}

	void check(const Machine &machine, const YAML::Node &root) const
	{
		const Fault fault = find_fault(machine);
		const Lines *lines[] = {nullptr, &classes_, &tiles_, &routers_, &links_, &nodes_, &further_};
		const Lines *of = lines[static_cast<size_t>(fault.part)];

		if (!fault.rule.empty())
			bad_line(of && fault.index < of->size() ? (*of)[fault.index] : root.Mark().line, fault.rule);
	}

	std::string name_;
	Lines classes_;
	Lines tiles_;
	Lines routers_;
	Lines links_;
	Lines nodes_;
	Lines further_;
};

} // namespace

Built parse_yaml(const std::string &text, const std::string &name)
{
	return Reader(name).read(text);
}

Built read_yaml(const std::string &path)
{
	std::ostringstream text;

	errno = 0;

	std::ifstream file(path, std::ios::binary);

	if (!file || !(text << file.rdbuf()) || file.bad())
		throw FileError(path + ": cannot be read" + (errno ? ": " + std::string(strerrordesc_np(errno)) : ""));
	return parse_yaml(text.str(), path);
}

} // namespace aries::topology
