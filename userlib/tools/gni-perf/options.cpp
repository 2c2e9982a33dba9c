// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "options.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "common/command_line.h"
#include "common/failure.h"
#include "gni_pub.h"
#include "layout.h"
#include "stream.h"
#include "tests.h"

namespace perf
{

namespace
{

using tools::format;
using tools::parse_number;
using tools::UsageError;

constexpr const char *about = "Moves data between the ranks of a job through the GNI interface, verifies every\n"
			      "byte of it, and prints latency, bandwidth, message rate and modelled latency.\n"
			      "\n"
			      "Ranks pair up: of N ranks, rank r talks to rank r + N/2. A rank of the lower half\n"
			      "measures, its partner serves; rank 0 prints.";

constexpr const char *footer_head =
	"Two nodes without a launcher meet by datagrams of the domain of --cookie (default 0x70657266). Tests that\n"
	"run if none is named: put-lat, put-bw, get-lat, get-bw, bte-put-bw, bte-get-bw, amo-lat, amo-bw, smsg.\n"
	"\n"
	"Names for --tests:\n";

constexpr const char *footer_tail =
	"\n"
	"Environment: OPENGNI_KVS, OPENGNI_JOB, OPENGNI_RANK, OPENGNI_RANKS, OPENGNI_COOKIE. `cluster run` and aprun\n"
	"set it; without it and without --rank, --local or HOST, gni-perf serves.\n"
	"\n"
	"The cookie names the communication domain. Creating a domain needs CAP_SYS_ADMIN;\n"
	"joining one that exists does not.\n"
	"\n"
	"Exit status: 0 every transfer was right, 1 a check failed or a peer was lost,\n"
	"2 the command line is wrong.";

std::string footer()
{
	std::string text = footer_head;
	for (const Test &test : all_tests())
		text += format("  %-12s %s%s\n", test.name, test.text, test.standard ? "" : " (only when named)");
	return text + footer_tail;
}

std::vector<std::string> split(const std::string &text)
{
	std::vector<std::string> words;
	std::istringstream stream(text);
	for (std::string word; std::getline(stream, word, ',');)
		if (!word.empty())
			words.push_back(word);
	return words;
}

/* Tests that time an operation's loop or send messages keep to their own modes. */
uint16_t parse_delivery(const std::string &text)
{
	if (text == "adaptive")
		return GNI_DLVMODE_PERFORMANCE;
	if (text == "in-order")
		return GNI_DLVMODE_IN_ORDER;
	if (text == "min-hash")
		return GNI_DLVMODE_MIN_HASH;
	if (text == "nmin-hash")
		return GNI_DLVMODE_NMIN_HASH;
	throw UsageError(format("--delivery: '%s' is not adaptive, in-order, min-hash or nmin-hash", text.c_str()));
}

constexpr uint32_t default_cookie = 0x70657266; /* "perf" */
constexpr uint64_t largest = 1ull << 32;

/* "4K", or "8-4K": a size and what doubling makes of it. */
void add_sizes(std::vector<uint64_t> &sizes, const std::string &text)
{
	const size_t dash = text.find('-');
	const uint64_t first = parse_number(text.substr(0, dash).c_str(), "--sizes", largest);
	if (dash == std::string::npos) {
		sizes.push_back(first);
		return;
	}
	const uint64_t last = parse_number(text.substr(dash + 1).c_str(), "--sizes", largest);
	if (!first || first > last)
		throw UsageError(format("--sizes: '%s' goes from nowhere to nowhere", text.c_str()));
	for (uint64_t size = first; size <= last; size *= 2)
		sizes.push_back(size);
}

void add_test_options(tools::CommandLine &line, Options &o)
{
	constexpr uint64_t most_iterations = 100000000;

	line.option({"-t,--tests", "LIST",
		     "comma-separated names from the list below; default all but those that are marked"},
		    [&o](const std::string &list) { o.tests = split(list); });
	line.option({"-s,--sizes", "LIST",
		     "bytes, with K, M, G, or A-B: A, doubled again and again up to B; default depends\n"
		     "on the test"},
		    [&o](const std::string &list) {
			    o.sizes.clear();
			    for (const std::string &size : split(list))
				    add_sizes(o.sizes, size);
		    });
	line.number({"-m,--max-size", "BYTES", "leaves out larger default sizes (default 64M)"}, o.max_size, largest);
	line.seconds({"-D,--duration", "SEC", "time for each size in tests *-lat and *-bw (default 1)"}, o.seconds);
	line.number({"-w,--window", "N", "operations of a thread under way in *-bw, 1 to 1024 (default 64)"}, o.window,
		    most_window, 1);
	line.number({"-T,--threads", "N", "threads in *-bw, each with an attachment of its own, 1 to 64 (default 1)"},
		    o.threads, most_threads, 1);
	line.flag("-b,--bidirectional", "both nodes at once in *-bw; rate and bandwidth are of both together",
		  o.bidirectional);
	line.number({"-i,--iterations", "N", "verified transfers for each size, fewer for large ones (default 200)"},
		    o.iterations, most_iterations, 1);
	line.seconds({"--size-time", "SEC", "stops a size early after this time (default 5)"}, o.size_seconds);
	line.seconds({"--timeout", "SEC", "gives up a wait after this time (default 120)"}, o.timeout_seconds);
	line.option({"--delivery", "MODE",
		     "way of the data through the network: adaptive (default), in-order, min-hash, or\n"
		     "nmin-hash (through a router that is not on a shortest way)"},
		    [&o](const std::string &mode) { o.delivery = parse_delivery(mode); });
	line.flag("--huge-pages",
		  "the data lies in huge pages of 2 MiB, as it does in programs that are made with\n"
		  "Cray's modules for them",
		  o.huge_pages);
}

void add_start_options(tools::CommandLine &line, Options &o)
{
	constexpr unsigned most_local = 64;

	line.group("Start of ranks");
	tools::add_place_options(line, o.place, o.local, most_local);
	line.group("Two nodes without a launcher");
	line.word("HOST",
		  "the NIC address of the server's node (3, 0x3, nid00003), or the IP address or name of a\n"
		  "node that IP over the fabric reaches",
		  o.host);
	line.flag("--server", "serves, even where a launcher has set the environment", o.server);
	line.flag("--once", "the server ends with its first client, and with its status", o.once);
	line.seconds({"--connect-time", "SEC", "the client gives up when nobody has answered (default 10)"},
		     o.connect_seconds);
}

void add_output_options(tools::CommandLine &line, Options &o)
{
	line.group("Output");
	line.text({"--csv", "FILE",
		   "writes the results as comma-separated values, - for standard output (then no table)"},
		  o.csv);
	line.text({"--json", "FILE", "writes the results as JSON, - for standard output (then no table)"}, o.json);
	line.flag("-q,--quiet", "no table", o.quiet);
	line.flag("--list", "prints the names of the tests", o.list);
}

void read_command_line(Options &o, int argc, char **argv)
{
	tools::CommandLine line("gni-perf", about,
				{"[options]        under a launcher, or with --local: ranks of a job",
				 "[options]        anywhere else: serves clients, one after the other",
				 "HOST [options]   asks the server at HOST, measures and prints"},
				footer());
	add_test_options(line, o);
	add_start_options(line, o);
	add_output_options(line, o);
	o.done = !line.parse(argc, argv);
	o.iterations_given = line.given("--iterations");
}

void check_options(Options &o)
{
	for (const std::string &name : o.tests) {
		auto same = [&](const Test &t) { return name == t.name; };
		if (std::none_of(all_tests().begin(), all_tests().end(), same))
			throw UsageError(format("no test '%s'; gni-perf --list names them", name.c_str()));
	}
	if (!o.list && !o.local && !o.done && !o.alone())
		tools::check_place(o.place);
}

/* Neither a launcher nor the command line has told of other ranks. */
bool has_no_job(const Options &o)
{
	return !o.local && o.place.ranks == 1 && o.place.rank == 0;
}

bool is_stream(const std::string &test)
{
	return test.ends_with("-bw") || test.ends_with("-lat");
}

/* Memory for one operation of each thread, both ways. */
uint64_t stream_bytes(const Options &o)
{
	uint64_t most = 0;
	for (const uint64_t size : o.sizes)
		most = std::max(most, size);
	Layout layout;
	layout.size = most ? most : 4u << 20;
	return layout.stride() * o.threads * 2;
}

void settle_alone(Options &o)
{
	static const std::vector<std::string> usual = {"put-lat",    "put-bw",  "get-lat", "get-bw", "bte-put-bw",
						       "bte-get-bw", "amo-lat", "amo-bw",  "smsg"};
	if (o.server && !o.host.empty())
		throw UsageError("either --server or HOST");
	if (o.host.empty() && has_no_job(o) && !o.list && !o.done)
		o.server = true;
	if (o.once && !o.server)
		throw UsageError("--once is for the server");
	if (!o.alone())
		return;
	if (o.local)
		throw UsageError("--local starts ranks of its own: neither HOST nor --server goes with it");
	if (o.tests.empty())
		o.tests = usual;
	for (const Test &test : all_tests())
		if (!test.run && o.wants(test.name))
			throw UsageError(format("test '%s' is for all ranks of a job: it needs a launcher", test.name));
}

} // namespace

bool Options::wants(const std::string &test) const
{
	return std::find(tests.begin(), tests.end(), test) != tests.end();
}

Options parse_options(int argc, char **argv)
{
	Options o;
	o.place = tools::place_from_environment();
	/* That of a launcher's job is no cookie on which two nodes have agreed. */
	const uint32_t cookie_of_job = std::exchange(o.place.cookie, 0);
	read_command_line(o, argc, argv);
	for (uint64_t size : o.sizes)
		if (size == 0)
			throw UsageError("--sizes must not contain 0");
	if (o.local == 1 || o.local % 2)
		throw UsageError("--local takes an even number of ranks");
	settle_alone(o);
	if (o.alone() || std::any_of(o.tests.begin(), o.tests.end(), is_stream))
		o.least_data = stream_bytes(o);
	if (!o.place.cookie)
		o.place.cookie = o.alone() ? default_cookie : cookie_of_job;
	check_options(o);
	return o;
}

} // namespace perf
