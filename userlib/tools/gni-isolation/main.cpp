// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * gni-isolation: what a process must not reach, tried, and the memory of the victim looked at after each try.
 */
#include <getopt.h>

#include <cstdio>
#include <exception>

#include "common/failure.h"
#include "common/output.h"
#include "common/version.h"
#include "common/wait.h"
#include "stage.h"

namespace isolation
{

namespace
{

const char help_text[] = R"(usage: gni-isolation [options]

Tries what the NIC has to refuse: transfers from another communication domain, with a
wrong cookie, with forged or stale memory handles, out of bounds, into read-only memory,
with the queue or memory of another process. Each must be answered by a return code or an
event that names the cause, and the memory of the victim must not change.

Rank 0 is the victim and prints TAP, rank 1 attacks. Both need root: the attacker makes a
second domain, and starts processes without privileges.

  -l, --local=2           starts both ranks in this node
  -r, --rank=R            by hand, once per rank: number of this rank
  -n, --ranks=2           how many there are
  -k, --kvs=STORE         where they meet: dir:PATH (both ranks see it), tcp:HOST:PORT (rank 0
                          serves) or unix:PATH
  -c, --cookie=C          their communication domain
  -j, --job=WORD          name space of the keys in STORE
  -d, --device=N          N of /dev/kgniN (default 0)
      --timeout=SEC       gives up a wait after this time (default 120)
      --list              prints the names of the attacks
  -h, --help              this text
  -V, --version           prints the version

Environment, set by the cluster tool: OPENGNI_KVS, OPENGNI_JOB, OPENGNI_RANK,
OPENGNI_RANKS, OPENGNI_COOKIE.

Exit status: 0 everything was refused as it should, 1 something was not, or a rank was
lost, 2 the command line is wrong.
)";

struct Options {
	tools::Place place;
	int local = 0;
	double timeout = 120;
	bool done = false; /* help or list was printed */
};

enum Long { opt_timeout = 256, opt_list };

void list_attacks()
{
	for (const Attack &attack : attacks())
		printf("%s\n", attack.name);
}

Options parse(int argc, char **argv)
{
	const std::vector<option> long_options = tools::rank_options(
		{{"timeout", required_argument, nullptr, opt_timeout}, {"list", no_argument, nullptr, opt_list}});
	Options o;
	o.place = tools::place_from_environment();
	for (int c; (c = tools::next_option(argc, argv, tools::rank_letters, long_options.data())) != -1;) {
		if (c == 'l') {
			o.local = static_cast<int>(tools::parse_number(optarg, "--local", 2));
		} else if (c == opt_timeout) {
			o.timeout = static_cast<double>(tools::parse_number(optarg, "--timeout", 86400));
		} else if (c == opt_list) {
			list_attacks();
			o.done = true;
		} else if (c == 'h') {
			fputs(help_text, stdout);
			o.done = true;
		} else if (c == 'V') {
			tools::print_version("gni-isolation");
			o.done = true;
		} else {
			tools::place_option(o.place, c, optarg);
		}
	}
	if (optind < argc)
		throw tools::UsageError(tools::format("'%s' is not an option; see --help", argv[optind]));
	if (o.local == 1 || o.timeout <= 0)
		throw tools::UsageError("--local takes 2 ranks, --timeout a time above 0");
	if (!o.local && !o.done)
		tools::check_place(o.place);
	return o;
}

/* Further ranks of a larger job have nothing to do but to wait for the end. */
int run_rank(const tools::Place &place, double timeout)
{
	tools::Kvs kvs(place, timeout);
	int status = 0;
	try {
		if (place.rank == 0)
			status = run_victim(place, kvs, timeout);
		else if (place.rank == 1)
			status = run_attacker(place, kvs, timeout);
	} catch (const tools::Failure &failure) {
		fprintf(stderr, "gni-isolation: rank %d: %s\n", place.rank, failure.what());
		if (place.rank == 0)
			printf("Bail out! %s\n", failure.what());
		status = 1;
	}
	if (status)
		tools::exit_after(10); /* the others may be gone */
	kvs.barrier();
	return status;
}

int run(int argc, char **argv)
{
	Options options = parse(argc, argv);
	if (options.done)
		return 0;
	if (!options.local)
		return run_rank(options.place, options.timeout);
	return tools::run_local("gni-isolation", options.place, options.local,
				[&](const tools::Place &place) { return run_rank(place, options.timeout); });
}

} // namespace

} // namespace isolation

int main(int argc, char **argv)
{
	try {
		return tools::finish("gni-isolation", isolation::run(argc, argv));
	} catch (const tools::UsageError &error) {
		fprintf(stderr, "gni-isolation: %s\n", error.what());
		return 2;
	} catch (const std::exception &error) {
		fprintf(stderr, "gni-isolation: %s\n", error.what());
		return 1;
	}
}
