// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "options.h"

#include <getopt.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "common/failure.h"
#include "gni_pub.h"
#include "tests.h"

namespace perf
{

namespace
{

using tools::format;
using tools::parse_number;
using tools::UsageError;

const char help_text[] =
	R"(usage: gni-perf [options]

Moves data between the ranks of a job through the GNI interface, verifies every
byte of it, and prints latency, bandwidth, message rate and modelled latency.

Ranks pair up: of N ranks, rank r talks to rank r + N/2. A rank of the lower half
measures, its partner serves; rank 0 prints.

Start:
  under `cluster run`     rank, control channel and cookie come from the environment
  -l, --local=N           start N ranks in this node (2 is usual)
  -r, --rank=R -n, --ranks=N -k, --kvs=STORE -c, --cookie=C   by hand, once per rank
      STORE is dir:PATH (all ranks see it), tcp:HOST:PORT (rank 0 serves) or unix:PATH
  -j, --job=WORD          name space of the keys in STORE

Tests:
  -t, --tests=LIST        comma-separated; default all but those marked:
)";

const char help_tail[] =
	R"(  -s, --sizes=LIST        bytes, with K, M, G; default depends on the test
  -m, --max-size=BYTES    leaves out larger default sizes (default 64M)
  -i, --iterations=N      verified transfers for each size, fewer for large ones (default 200)
      --size-time=SEC     stops a size early after this time (default 5)
      --timeout=SEC       gives up a wait after this time (default 120)
      --delivery=MODE     way of the data through the network: adaptive (default), in-order,
                          min-hash, or nmin-hash (through a router that is not on a shortest way)
  -d, --device=N          N of /dev/kgniN (default 0)

Output:
      --json=FILE         writes the results as JSON, - for standard output (then no table)
  -q, --quiet             no table
      --list              prints the names of the tests
  -h, --help              this text

Environment: OPENGNI_KVS, OPENGNI_JOB, OPENGNI_RANK, OPENGNI_RANKS, OPENGNI_COOKIE.

The cookie names the communication domain. Creating a domain needs CAP_SYS_ADMIN;
joining one that exists does not.

Exit status: 0 every transfer was right, 1 a check failed or a peer was lost,
2 the command line is wrong.
)";

double parse_seconds(const char *text, const char *what)
{
	char *end = nullptr;
	double value = strtod(text, &end);
	if (end == text || *end || !(value > 0) || value > 86400)
		throw UsageError(format("%s: '%s' is not a time in seconds", what, text));
	return value;
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

void print_help()
{
	fputs(help_text, stdout);
	for (const Test &test : all_tests())
		printf("      %-12s %s%s\n", test.name, test.text, test.standard ? "" : " (only when named)");
	fputs(help_tail, stdout);
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

enum Long { opt_size_time = 256, opt_timeout, opt_json, opt_list, opt_delivery };

std::vector<option> long_options()
{
	return tools::rank_options({{"tests", required_argument, nullptr, 't'},
				    {"sizes", required_argument, nullptr, 's'},
				    {"max-size", required_argument, nullptr, 'm'},
				    {"iterations", required_argument, nullptr, 'i'},
				    {"size-time", required_argument, nullptr, opt_size_time},
				    {"timeout", required_argument, nullptr, opt_timeout},
				    {"delivery", required_argument, nullptr, opt_delivery},
				    {"json", required_argument, nullptr, opt_json},
				    {"quiet", no_argument, nullptr, 'q'},
				    {"list", no_argument, nullptr, opt_list}});
}

constexpr uint64_t largest = 1ull << 32;

void take_option(Options &o, int c)
{
	switch (c) {
	case 't':
		o.tests = split(optarg);
		break;
	case 's':
		for (const std::string &size : split(optarg))
			o.sizes.push_back(parse_number(size.c_str(), "--sizes", largest));
		break;
	case 'm':
		o.max_size = parse_number(optarg, "--max-size", largest);
		break;
	case 'i':
		o.iterations = static_cast<uint32_t>(parse_number(optarg, "--iterations", 100000000));
		break;
	case 'l':
		o.local = static_cast<int>(parse_number(optarg, "--local", 64));
		break;
	case opt_size_time:
		o.size_seconds = parse_seconds(optarg, "--size-time");
		break;
	case opt_timeout:
		o.timeout_seconds = parse_seconds(optarg, "--timeout");
		break;
	case opt_delivery:
		o.delivery = parse_delivery(optarg);
		break;
	case opt_json:
		o.json = optarg;
		break;
	case 'q':
		o.quiet = true;
		break;
	case opt_list:
		o.list = true;
		break;
	case 'h':
		print_help();
		o.done = true;
		break;
	default:
		if (!tools::place_option(o.place, c, optarg))
			throw UsageError("see gni-perf --help");
	}
}

void check_options(Options &o)
{
	for (const std::string &name : o.tests) {
		auto same = [&](const Test &t) { return name == t.name; };
		if (std::none_of(all_tests().begin(), all_tests().end(), same))
			throw UsageError(format("no test '%s'; gni-perf --list names them", name.c_str()));
	}
	if (!o.list && !o.local && !o.done)
		tools::check_place(o.place);
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
	const std::string letters = tools::rank_letters + std::string("t:s:m:i:q");
	const std::vector<option> table = long_options();
	for (int c; (c = tools::next_option(argc, argv, letters.c_str(), table.data())) != -1;)
		take_option(o, c);
	if (optind < argc)
		throw UsageError(format("'%s' is not an option", argv[optind]));
	if (o.iterations == 0)
		throw UsageError("--iterations must not be 0");
	for (uint64_t size : o.sizes)
		if (size == 0)
			throw UsageError("--sizes must not contain 0");
	if (o.local == 1 || o.local % 2)
		throw UsageError("--local takes an even number of ranks");
	check_options(o);
	return o;
}

} // namespace perf
