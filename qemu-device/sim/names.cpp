// SPDX-License-Identifier: GPL-2.0-or-later
#include "names.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace aries::sim
{

namespace
{

template <typename Value> struct Named {
	const char *name;
	Value value;
};

constexpr Named<Pattern> PATTERNS[] = {
	{"uniform", Pattern::Uniform},         {"group", Pattern::Group},
	{"permutation", Pattern::Permutation}, {"shift", Pattern::Shift},
	{"offset", Pattern::Offset},           {"all-to-all", Pattern::AllToAll},
	{"broadcast", Pattern::Broadcast},     {"conditional", Pattern::Conditional},
	{"barrier", Pattern::Barrier},         {"tree-barrier", Pattern::TreeBarrier},
	{"allreduce", Pattern::Allreduce},
};

constexpr Named<Operation> OPERATIONS[] = {
	{"put", Operation::Put},
	{"get", Operation::Get},
	{"raw", Operation::Raw},
};

constexpr Named<RoutingMode> MODES[] = {
	{"in-order", {Routing::InOrder, 0}},          {"minimal", {Routing::MinimalHash, 0}},
	{"nonminimal", {Routing::NonminimalHash, 0}}, {"adaptive", {Routing::Adaptive, 0}},
	{"adaptive1", {Routing::Adaptive, 1}},        {"adaptive2", {Routing::Adaptive, 2}},
	{"adaptive3", {Routing::Adaptive, 3}},
};

template <typename Value, size_t Count>
Value choose(const char *what, const std::string &name, const Named<Value> (&choices)[Count])
{
	std::string known;

	for (const Named<Value> &choice : choices) {
		if (name == choice.name)
			return choice.value;
		known += (known.empty() ? "" : ", ") + std::string(choice.name);
	}
	throw NameError("there is no " + std::string(what) + " '" + name + "': " + known);
}

} // namespace

Pattern pattern_of(const std::string &name)
{
	return choose("traffic", name, PATTERNS);
}

Operation operation_of(const std::string &name)
{
	return choose("operation", name, OPERATIONS);
}

RoutingMode mode_of(const std::string &name)
{
	return choose("mode", name, MODES);
}

uint32_t load_of(const std::string &text)
{
	double load = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), load);

	if (error != std::errc{} || end != text.data() + text.size() || !(load > 0 && load <= 1))
		throw NameError("a load of '" + text + "': it is above 0 and at most 1");
	return static_cast<uint32_t>(std::max(std::lround(load * 1e6), 1L));
}

uint32_t whole_of(const std::string &what, const std::string &text)
{
	uint32_t value = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);

	if (error != std::errc{} || end != text.data() + text.size())
		throw NameError(what + ": '" + text + "' is no whole number from 0 to 4,294,967,295");
	return value;
}

const char *name_of(Pattern pattern)
{
	return std::find_if(std::begin(PATTERNS), std::end(PATTERNS),
			    [pattern](const Named<Pattern> &named) { return named.value == pattern; })
		->name;
}

const char *name_of(Operation operation)
{
	return OPERATIONS[static_cast<size_t>(operation)].name;
}

std::string name_of(RoutingMode mode)
{
	for (const auto &named : MODES) {
		if (named.value.routing == mode.routing && named.value.bias == mode.bias)
			return named.name;
	}
	return "unknown";
}

namespace
{

/* RANK:NS. */
void set_slow(TrafficShape &shape, const std::string &text)
{
	const size_t colon = text.find(':');

	if (colon == std::string::npos)
		throw NameError("slow: '" + text + "' is not RANK:NS");
	shape.slow_rank = whole_of("rank", text.substr(0, colon));
	shape.slow_ns = whole_of("slow", text.substr(colon + 1));
}

} // namespace

bool set_traffic(TrafficShape &shape, const std::string &name, const std::string &value)
{
	if (name == "traffic")
		shape.pattern = pattern_of(value);
	else if (name == "operation")
		shape.operation = operation_of(value);
	else if (name == "mode")
		shape.request_mode = shape.response_mode = mode_of(value);
	else if (name == "response_mode")
		shape.response_mode = mode_of(value);
	else if (name == "load")
		shape.load_ppm = load_of(value);
	else if (name == "bytes")
		shape.bytes = whole_of(name, value);
	else if (name == "flits")
		shape.raw_flits = whole_of(name, value);
	else if (name == "shift")
		shape.shift = whole_of(name, value);
	else if (name == "radix")
		shape.radix = whole_of(name, value);
	else if (name == "processes")
		shape.processes = whole_of(name, value);
	else if (name == "compute")
		shape.compute_ns = whole_of(name, value);
	else if (name == "slow")
		set_slow(shape, value);
	else
		return false;
	return true;
}

} // namespace aries::sim
