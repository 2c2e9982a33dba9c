// SPDX-License-Identifier: GPL-2.0-or-later
#include "jobs.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include <yaml-cpp/yaml.h>

#include "names.hpp"
#include "trace.hpp"

namespace aries::sim
{

namespace
{

using topology::Machine;

constexpr uint64_t PLACES = 0x706c6163; // what random numbers are for
constexpr char RANDOM[] = "random:";

/* A message that says where it belongs. */
class PlacedError : public NameError
{
public:
	using NameError::NameError;
};

/* Where a job shall be, as the file says. */
struct Wish {
	Job job;
	int line = 0;
	bool listed = false; // each node is named
	bool rest = false;   // all nodes that other jobs leave
	bool random = false;
	uint32_t seed = 0;
	uint32_t count = 0;
	uint32_t groups = 0; // 0: wherever there is room
	uint32_t first_group = 0;
};

class Placer
{
public:
	Placer(std::string name, const Machine &machine, const TrafficShape &traffic)
		: name_(std::move(name)), machine_(machine), traffic_(traffic), owner_(machine.nodes.size(), FREE)
	{
	}

	std::vector<Job> place(const YAML::Node &root)
	{
		std::vector<Wish> wishes;
		std::vector<Job> jobs;

		if (root.IsMap()) {
			wishes.push_back(read(root, 0));
		} else if (root.IsSequence()) {
			wishes.reserve(root.size());
			for (const auto &node : root)
				wishes.push_back(read(node, wishes.size()));
		} else {
			bad(0, "jobs are a list of maps");
		}
		/* Those that name their nodes first, those that take the rest last. */
		for (const auto wanted : {&Placer::is_listed, &Placer::is_counted, &Placer::is_rest}) {
			for (size_t i = 0; i < wishes.size(); i++) {
				if (wanted(wishes[i]))
					settle(wishes, i);
			}
		}
		jobs.reserve(wishes.size());
		for (Wish &wish : wishes)
			jobs.push_back(std::move(wish.job));
		return jobs;
	}

	[[noreturn]] void bad(int line, const std::string &rule) const
	{
		std::string text = name_ + ":" + std::to_string(std::max(line, 0) + 1) + ": " + rule;

		std::replace_if(
			text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
		throw PlacedError(text);
	}

private:
	static constexpr size_t FREE = SIZE_MAX;

	static bool is_listed(const Wish &wish) { return wish.listed; }
	static bool is_counted(const Wish &wish) { return !wish.listed && !wish.rest; }
	static bool is_rest(const Wish &wish) { return wish.rest; }

	std::string word(const YAML::Node &node, const std::string &what) const
	{
		if (!node.IsScalar())
			bad(node.Mark().line, what + " is one value");
		return node.Scalar();
	}

	Wish read(const YAML::Node &map, size_t number) const
	{
		std::set<std::string> seen;
		Wish wish;

		wish.line = map.Mark().line;
		if (!map.IsMap())
			bad(wish.line, "a job is a map");
		wish.job.name = "job" + std::to_string(number);
		wish.job.traffic = traffic_;
		for (const auto &entry : map) {
			const std::string key = word(entry.first, "a key");
			const int line = entry.first.Mark().line;

			if (!seen.insert(key).second)
				bad(line, "'" + key + "' comes twice");
			try {
				set(wish, key, entry.second);
			} catch (const PlacedError &) {
				throw;
			} catch (const NameError &error) {
				bad(line, error.what());
			}
		}
		if (!seen.contains("nodes"))
			bad(wish.line, "job " + wish.job.name + " needs 'nodes'");
		return wish;
	}

	void set(Wish &wish, const std::string &key, const YAML::Node &node) const
	{
		if (key == "nodes")
			set_nodes(wish, node);
		else if (key == "name")
			wish.job.name = word(node, key);
		else if (key == "place")
			set_place(wish, word(node, key));
		else if (key == "groups")
			wish.groups = whole_of(key, word(node, key));
		else if (key == "first_group")
			wish.first_group = whole_of(key, word(node, key));
		else if (key == "trace")
			wish.job.trace = read_trace(word(node, key), machine_.router_type.clock_mhz);
		else if (!set_traffic(wish.job.traffic, key, word(node, key)))
			throw NameError("a job has no '" + key + "'");
	}

	static void set_place(Wish &wish, const std::string &text)
	{
		if (text.starts_with(RANDOM)) {
			wish.random = true;
			wish.seed = whole_of("seed", text.substr(sizeof(RANDOM) - 1));
		} else if (text != "contiguous") {
			throw NameError("there is no place '" + text + "': contiguous, random:SEED");
		}
	}

	void set_nodes(Wish &wish, const YAML::Node &node) const
	{
		if (node.IsScalar()) {
			wish.rest = node.Scalar() == "rest";
			if (!wish.rest)
				wish.count = whole_of("nodes", node.Scalar());
			return;
		}
		if (!node.IsSequence())
			throw NameError("nodes are a number, a list, or 'rest'");
		wish.listed = true;
		for (const auto &item : node) {
			const std::string text = word(item, "a node");
			const size_t dash = text.find('-');
			const uint32_t first = whole_of("node", text.substr(0, dash));
			const uint32_t last =
				dash == std::string::npos ? first : whole_of("node", text.substr(dash + 1));

			if (last < first)
				throw NameError("nodes " + text + ": the first is not above the last");
			if (last >= machine_.nodes.size())
				throw NameError("node " + std::to_string(last) +
						" does not exist: the machine has 0 to " +
						std::to_string(machine_.nodes.size() - 1));
			for (uint32_t number = first; number <= last; number++)
				wish.job.nodes.push_back(number);
		}
	}

	uint32_t group_of(uint32_t node) const { return machine_.routers[machine_.nodes[node].router].group; }

	std::vector<uint32_t> free_nodes(uint32_t first_group, uint32_t groups) const
	{
		std::vector<uint32_t> nodes;

		for (uint32_t node = 0; node < owner_.size(); node++) {
			const uint32_t group = group_of(node);

			if (owner_[node] == FREE && group >= first_group && group - first_group < groups)
				nodes.push_back(node);
		}
		return nodes;
	}

	/* As many of the free nodes of some groups. */
	void take(Wish &wish, uint32_t first_group, uint32_t groups, uint32_t count) const
	{
		std::vector<uint32_t> nodes = free_nodes(first_group, groups);
		const std::string where =
			groups == 1 ? "group " + std::to_string(first_group) : std::to_string(groups) + " groups";

		if (nodes.size() < count)
			bad(wish.line, "job " + wish.job.name + " needs " + std::to_string(count) + " nodes in " +
					       where + ", which has " + std::to_string(nodes.size()) + " free ones");
		for (uint32_t i = 0; wish.random && i < count; i++) {
			const uint64_t random = random_of(wish.seed, PLACES + first_group, i);

			std::swap(nodes[i], nodes[i + random % (nodes.size() - i)]);
		}
		wish.job.nodes.insert(wish.job.nodes.end(), nodes.begin(), nodes.begin() + count);
	}

	void settle(std::vector<Wish> &wishes, size_t number)
	{
		Wish &wish = wishes[number];
		const uint32_t groups =
			wish.groups ? wish.groups : machine_.groups - std::min(machine_.groups, wish.first_group);

		if (uint64_t{wish.first_group} + groups > machine_.groups || !groups)
			bad(wish.line, "job " + wish.job.name + " on groups " + std::to_string(wish.first_group) +
					       " to " + std::to_string(uint64_t{wish.first_group} + groups - 1) +
					       ": the machine has 0 to " + std::to_string(machine_.groups - 1));
		if (wish.rest)
			wish.job.nodes = free_nodes(wish.first_group, groups);
		else if (!wish.listed && !wish.groups)
			take(wish, wish.first_group, groups, wish.count);
		else if (!wish.listed)
			for (uint32_t i = 0; i < groups; i++)
				take(wish, wish.first_group + i, 1, wish.count / groups + (i < wish.count % groups));
		if (!wish.listed)
			std::sort(wish.job.nodes.begin(), wish.job.nodes.end());
		for (const uint32_t node : wish.job.nodes) {
			if (owner_[node] != FREE)
				bad(wish.line, "node " + std::to_string(node) + " is in job " +
						       wishes[owner_[node]].job.name + " and again in job " +
						       wish.job.name + ": a node has one job, once");
			owner_[node] = number;
		}
	}

	std::string name_;
	const Machine &machine_;
	TrafficShape traffic_;
	std::vector<size_t> owner_; // by node
};

} // namespace

std::vector<Job> parse_jobs(const std::string &text, const std::string &name, const Machine &machine,
			    const TrafficShape &traffic)
{
	Placer placer(name, machine, traffic);

	try {
		return placer.place(YAML::Load(text));
	} catch (const YAML::Exception &error) {
		placer.bad(error.mark.line, error.msg);
	}
}

std::vector<Job> read_jobs(const std::string &path, const Machine &machine, const TrafficShape &traffic)
{
	std::ifstream file(path);
	std::ostringstream text;

	if (!(file && text << file.rdbuf()))
		throw NameError(path + " cannot be read");
	return parse_jobs(text.str(), path, machine, traffic);
}

} // namespace aries::sim
