// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <istream>

#include "names.hpp"

namespace aries::sim
{

namespace
{

constexpr char FORMAT[] = "# aries messages 1 nodes ";
constexpr char COUNT[] = " count ";
constexpr char COLUMNS[] = "ns,source,target,bytes,operation";
constexpr uint64_t MOST_NS = 2'000'000'000; // of a run of 2^31 cycles, with some to spare
constexpr uint64_t MOST_BYTES = 1 << 30;
constexpr uint64_t MOST_MESSAGES = 1 << 28;
constexpr size_t FIELDS = 5;

class Reader
{
public:
	Reader(std::istream &in, const std::string &name, double clock_mhz)
		: in_(in), name_(name), clock_khz_(static_cast<uint64_t>(std::lround(clock_mhz * 1000)))
	{
	}

	Trace read()
	{
		Trace trace;
		const uint64_t count = head(trace);

		expect(COLUMNS);
		for (uint64_t i = 0; i < count; i++) {
			if (!next())
				bad("cut off: " + std::to_string(i) + " of " + std::to_string(count) + " messages");
			trace.messages.push_back(message(trace.nodes));
		}
		if (next())
			bad("there are more than " + std::to_string(count) + " messages");
		std::stable_sort(trace.messages.begin(), trace.messages.end(),
				 [](const TracedMessage &a, const TracedMessage &b) { return a.cycle < b.cycle; });
		return trace;
	}

private:
	[[noreturn]] void bad(const std::string &rule) const
	{
		throw NameError(name_ + ":" + std::to_string(line_) + ": " + rule);
	}

	/* A line that the file's end cuts is none. */
	bool next()
	{
		line_++;
		return static_cast<bool>(std::getline(in_, text_)) && !in_.eof();
	}

	void expect(const char *text)
	{
		if (!next() || text_ != text)
			bad("expected '" + std::string(text) + "'");
	}

	uint64_t number(const std::string &text, const char *what, uint64_t most) const
	{
		uint64_t value = 0;
		const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);

		if (error != std::errc{} || end != text.data() + text.size() || value > most)
			bad(std::string(what) + ": not a whole number from 0 to " + std::to_string(most));
		return value;
	}

	uint64_t head(Trace &trace)
	{
		const bool there = next();
		const size_t count = text_.find(COUNT);

		if (!there || !text_.starts_with(FORMAT) || count == std::string::npos)
			bad("expected '" + std::string(FORMAT) + "N" + COUNT + "N'");
		trace.nodes = static_cast<uint32_t>(
			number(text_.substr(sizeof(FORMAT) - 1, count - sizeof(FORMAT) + 1), "nodes", UINT32_MAX - 1));
		return number(text_.substr(count + sizeof(COUNT) - 1), "count", MOST_MESSAGES);
	}

	uint32_t node(const std::string &text, const char *what, uint32_t nodes) const
	{
		const uint64_t value = number(text, what, UINT32_MAX);

		if (value >= nodes)
			bad(std::string(what) + " " + std::to_string(value) + " does not exist: the trace has " +
			    std::to_string(nodes) + " nodes");
		return static_cast<uint32_t>(value);
	}

	TracedMessage message(uint32_t nodes) const
	{
		std::string fields[FIELDS];
		size_t field = 0;

		for (const char c : text_) {
			if (c == ',' && ++field == FIELDS)
				break;
			if (c != ',')
				fields[field] += c;
		}
		if (field + 1 != FIELDS)
			bad("a message has " + std::to_string(FIELDS) + " values: " + COLUMNS);

		const uint64_t ns = number(fields[0], "ns", UINT64_MAX);

		if (ns > MOST_NS)
			bad("a message at " + std::to_string(ns) + " ns: a run has at most " + std::to_string(MOST_NS) +
			    "; sim-trace.py --from, --to and --pause shorten a trace");

		TracedMessage message{ns * clock_khz_ / 1'000'000, node(fields[1], "source", nodes),
				      node(fields[2], "target", nodes),
				      static_cast<uint32_t>(number(fields[3], "bytes", MOST_BYTES)), Operation::Put};

		if (message.source == message.target)
			bad("a message to itself");
		if (!message.bytes)
			bad("a message of 0 bytes");
		if (fields[4] != "put" && fields[4] != "get")
			bad("an operation is put or get");
		if (fields[4] == "get")
			message.operation = Operation::Get;
		return message;
	}

	std::istream &in_;
	std::string name_;
	uint64_t clock_khz_;
	std::string text_;
	size_t line_ = 0;
};

} // namespace

Trace parse_trace(std::istream &in, const std::string &name, double clock_mhz)
{
	return Reader(in, name, clock_mhz).read();
}

Trace read_trace(const std::string &path, double clock_mhz)
{
	std::ifstream file(path);

	if (!file)
		throw NameError(path + " cannot be read");
	return parse_trace(file, path, clock_mhz);
}

} // namespace aries::sim
