// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "options.h"

#include <getopt.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "common/failure.h"
#include "common/version.h"
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

const char help_text[] =
	R"(usage: gni-perf [options]            under a launcher, or with --local: ranks of a job
       gni-perf [--once] [options]   anywhere else: serves clients, one after the other
       gni-perf HOST [options]       asks the server at HOST, measures and prints

Moves data between the ranks of a job through the GNI interface, verifies every
byte of it, and prints latency, bandwidth, message rate and modelled latency.

Ranks pair up: of N ranks, rank r talks to rank r + N/2. A rank of the lower half
measures, its partner serves; rank 0 prints.

Start:
  under `cluster run`     rank, control channel and cookie come from the environment
  -l, --local=N           start N ranks in this node (2 is usual)
  -r, --rank=R            by hand, once per rank: number of this rank
  -n, --ranks=N           how many there are
  -k, --kvs=STORE         where they meet: dir:PATH (all ranks see it), tcp:HOST:PORT (rank 0
                          serves) or unix:PATH
  -c, --cookie=C          their communication domain
  -j, --job=WORD          name space of the keys in STORE

Two nodes without a launcher:
  HOST                    the NIC address of the server's node (3, 0x3, nid00003), or the IP address or name of a node
                          that IP over the fabric reaches
      --server            serves, even where a launcher has set the environment
      --once              the server ends with its first client, and with its status
      --connect-time=SEC  the client gives up when nobody has answered (default 10)
      The two meet by datagrams of the domain of --cookie (default 0x70657266). Tests that run if none is named:
      put-lat, put-bw, get-lat, get-bw, bte-put-bw, bte-get-bw, amo-lat, amo-bw, smsg.

Tests:
  -t, --tests=LIST        comma-separated; default all but those marked:
)";

const char help_tail[] =
	R"(  -s, --sizes=LIST        bytes, with K, M, G; default depends on the test
  -m, --max-size=BYTES    leaves out larger default sizes (default 64M)
                          or A-B: A and what doubling makes of it up to B
  -D, --duration=SEC      time of a size in tests *-lat and *-bw (default 1)
  -w, --window=N          operations of a thread under way in *-bw, 1 to 1024 (default 64)
  -T, --threads=N         threads in *-bw, each with an attachment of its own, 1 to 64 (default 1)
  -b, --bidirectional     both nodes at once in *-bw; rate and bandwidth are of both together
  -i, --iterations=N      verified transfers for each size, fewer for large ones (default 200)
      --size-time=SEC     stops a size early after this time (default 5)
      --timeout=SEC       gives up a wait after this time (default 120)
      --delivery=MODE     way of the data through the network: adaptive (default), in-order,
                          min-hash, or nmin-hash (through a router that is not on a shortest way)
      --huge-pages        the data lies in huge pages of 2 MiB, as it does in programs that are made with
                          Cray's modules for them
  -d, --device=N          N of /dev/kgniN (default 0)

Output:
      --csv=FILE          writes the results as comma-separated values, - for standard output (then no table)
      --json=FILE         writes the results as JSON, - for standard output (then no table)
  -q, --quiet             no table
      --list              prints the names of the tests
  -h, --help              this text
  -V, --version           prints the version

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

enum Long {
	opt_size_time = 256,
	opt_timeout,
	opt_json,
	opt_list,
	opt_delivery,
	opt_csv,
	opt_server,
	opt_once,
	opt_connect,
	opt_huge
};

constexpr const char *letters_of_own = "t:s:m:i:qD:w:T:b";
constexpr uint32_t default_cookie = 0x70657266; /* "perf" */

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
				    {"csv", required_argument, nullptr, opt_csv},
				    {"duration", required_argument, nullptr, 'D'},
				    {"window", required_argument, nullptr, 'w'},
				    {"threads", required_argument, nullptr, 'T'},
				    {"bidirectional", no_argument, nullptr, 'b'},
				    {"server", no_argument, nullptr, opt_server},
				    {"once", no_argument, nullptr, opt_once},
				    {"connect-time", required_argument, nullptr, opt_connect},
				    {"huge-pages", no_argument, nullptr, opt_huge},
				    {"list", no_argument, nullptr, opt_list}});
}

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

uint32_t parse_count(const char *what, uint64_t most)
{
	const uint64_t count = parse_number(optarg, what, most);
	if (!count)
		throw UsageError(format("%s must not be 0", what));
	return static_cast<uint32_t>(count);
}

/* Options of streams and of processes without a launcher; false for all others. */
bool take_stream_option(Options &o, int c)
{
	switch (c) {
	case 'D':
		o.seconds = parse_seconds(optarg, "--duration");
		return true;
	case 'w':
		o.window = parse_count("--window", most_window);
		return true;
	case 'T':
		o.threads = parse_count("--threads", most_threads);
		return true;
	case 'b':
		o.bidirectional = true;
		return true;
	case opt_csv:
		o.csv = optarg;
		return true;
	case opt_server:
		o.server = true;
		return true;
	case opt_once:
		o.once = true;
		return true;
	case opt_connect:
		o.connect_seconds = parse_seconds(optarg, "--connect-time");
		return true;
	default:
		return false;
	}
}

void take_option(Options &o, int c)
{
	if (take_stream_option(o, c))
		return;
	switch (c) {
	case 't':
		o.tests = split(optarg);
		break;
	case 's':
		for (const std::string &size : split(optarg))
			add_sizes(o.sizes, size);
		break;
	case 'm':
		o.max_size = parse_number(optarg, "--max-size", largest);
		break;
	case 'i':
		o.iterations = static_cast<uint32_t>(parse_number(optarg, "--iterations", 100000000));
		o.iterations_given = true;
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
	case opt_huge:
		o.huge_pages = true;
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
	case 'V':
		tools::print_version("gni-perf");
		o.done = true;
		break;
	default:
		tools::place_option(o.place, c, optarg);
	}
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
	const std::string letters = tools::rank_letters + std::string(letters_of_own);
	const std::vector<option> table = long_options();
	for (int c; (c = tools::next_option(argc, argv, letters.c_str(), table.data())) != -1;)
		take_option(o, c);
	if (optind < argc)
		o.host = argv[optind++];
	if (optind < argc)
		throw UsageError(format("'%s' is one word too many; see --help", argv[optind]));
	if (o.iterations == 0)
		throw UsageError("--iterations must not be 0");
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
