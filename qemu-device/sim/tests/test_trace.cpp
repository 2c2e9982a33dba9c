// SPDX-License-Identifier: GPL-2.0-or-later
/* Traces: every message is sent when it is ready and comes; files that cannot be, and those that end too early. */
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "jobs.hpp"
#include "names.hpp"
#include "rig.hpp"
#include "trace.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

constexpr char SMALL[] = "# aries messages 1 nodes 4 count 4\n"
			 "ns,source,target,bytes,operation\n"
			 "2000,1,0,8,get\n"
			 "1000,0,1,4096,put\n"
			 "1000,0,3,100,put\n"
			 "3000,2,3,64,get\n";

Trace parse(const std::string &text)
{
	std::istringstream in(text);

	return parse_trace(in, "trace", 1000);
}

TEST(messages_by_time)
{
	const Trace trace = parse(SMALL);

	assert_int_equal(trace.nodes, 4);
	assert_int_equal(trace.messages.size(), 4);
	assert_int_equal(trace.messages[0].cycle, 1000);
	assert_int_equal(trace.messages[0].bytes, 4096);
	assert_int_equal(trace.messages[1].target, 3);
	assert_true(trace.messages[2].operation == Operation::Get);
	assert_int_equal(trace.messages[3].source, 2);
}

void refused(const std::string &text, const char *part)
{
	std::string said;

	try {
		parse(text);
	} catch (const NameError &error) {
		said = error.what();
	}
	if (said.find(part) == std::string::npos || said.find('\n') != std::string::npos)
		fail_msg("%s: said \"%s\", not \"%s\"", text.c_str(), said.c_str(), part);
}

std::string with(const std::string &message)
{
	return "# aries messages 1 nodes 4 count 1\nns,source,target,bytes,operation\n" + message + "\n";
}

/* At whatever byte a file ends, it is told; only the whole one is taken. */
TEST(cut_off_anywhere)
{
	const std::string whole = SMALL;

	for (size_t length = 0; length < whole.size(); length++) {
		std::string said;

		try {
			parse(whole.substr(0, length));
		} catch (const NameError &error) {
			said = error.what();
		}
		if (said.empty())
			fail_msg("%zu of %zu bytes were taken", length, whole.size());
	}
	refused(whole.substr(0, whole.size() - 3), "trace:6: cut off: 3 of 4 messages");
}

TEST(files_that_cannot_be)
{
	refused("", "trace:1: expected '# aries messages 1 nodes N count N'");
	refused("# aries messages 2 nodes 4 count 1\n", "expected '# aries messages 1");
	refused("# aries messages 1 nodes x count 1\n", "nodes: not a whole number");
	refused("# aries messages 1 nodes 4 count -1\n", "count: not a whole number");
	refused("# aries messages 1 nodes 4 count 1\nsource,target\n", "trace:2: expected 'ns,source");
	refused(with("1,0,4,8,put"), "trace:3: target 4 does not exist: the trace has 4 nodes");
	refused(with("1,7,0,8,put"), "source 7 does not exist");
	refused(with("1,0,0,8,put"), "to itself");
	refused(with("1,0,1,0,put"), "0 bytes");
	refused(with("1,0,1,8,send"), "put or get");
	refused(with("1,0,1,8"), "has 5 values");
	refused(with("1,0,1,8,put,9"), "has 5 values");
	refused(with("-1,0,1,8,put"), "ns: not a whole number");
	refused(with("9999999999,0,1,8,put"), "a message at 9999999999 ns: a run has at most 2000000000; sim-trace.py");
	refused(with("1,0,1,8,put\n1,0,1,8,put"), "more than 1 messages");
}

/* Ranks of the trace are nodes of the job; everything is sent once, and the run lasts as long as the trace. */
TEST(is_sent_to_its_end)
{
	const std::string path =
		(std::filesystem::temp_directory_path() / "trace-").string() + std::to_string(getpid());
	const auto machine = topology::build_aries({.groups = 2, .chassis = 2, .slots = 2});
	RunShape shape;

	std::ofstream(path) << SMALL;
	shape.jobs = parse_jobs("{nodes: 4, groups: 2, trace: " + path + "}", "jobs", machine, {});
	std::remove(path.c_str());
	assert_int_equal(shape.jobs[0].trace.messages[0].cycle, 875);
	shape.warmup = 0;
	shape.measure = 5000;

	const Result result = run(machine, shape);

	assert_true(result.drained);
	assert_int_equal(result.statistics.message.count(), 4);
	assert_int_equal(result.statistics.latency.count(), 1 + 64 + 2 + 1);
	assert_int_equal(result.statistics.window_bytes, 8 + 4096 + 100 + 64);
	assert_int_equal(result.statistics.injected_flits, 3 + 3 + 64 * 15 + 15 + 3 + 7 + 1 + 3 + 12);

	/* A job that is too small for it. */
	shape.jobs[0].nodes.resize(3);

	const std::string said = check_workload(shape.jobs, Layout(machine, {}, 4));

	assert_string_equal(said.c_str(), "a trace of 4 nodes, and 3 in the job");
}

} // namespace

TEST_MAIN("tests")
