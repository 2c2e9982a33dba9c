// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * gni-isolation: what a process must not reach, tried, and the memory of the victim looked at after each try.
 */
#include <cstdio>
#include <exception>

#include "common/command_line.h"
#include "common/failure.h"
#include "common/output.h"
#include "common/wait.h"
#include "stage.h"

namespace isolation
{

namespace
{

constexpr const char *about =
	"Tries what the NIC has to refuse: transfers from another communication domain, with a\n"
	"wrong cookie, with forged or stale memory handles, out of bounds, into read-only memory,\n"
	"with the queue or memory of another process. Each must be answered by a return code or an\n"
	"event that names the cause, and the memory of the victim must not change.\n"
	"\n"
	"Rank 0 is the victim and prints TAP, rank 1 attacks. Both need root: the attacker makes a\n"
	"second domain, and starts processes without privileges.";

constexpr const char *footer =
	"Environment, set by the cluster tool: OPENGNI_KVS, OPENGNI_JOB, OPENGNI_RANK,\n"
	"OPENGNI_RANKS, OPENGNI_COOKIE.\n"
	"\n"
	"Exit status: 0 everything was refused as it should, 1 something was not, or a rank was\n"
	"lost, 2 the command line is wrong.";

struct Options {
	tools::Place place;
	int local = 0;
	double timeout = 120;
	bool list = false;
	bool done = false; /* help or version was printed */
};

void list_attacks()
{
	for (const Attack &attack : attacks())
		printf("%s\n", attack.name);
}

Options parse(int argc, char **argv)
{
	tools::CommandLine line("gni-isolation", about, {}, footer);
	Options o;
	o.place = tools::place_from_environment();
	tools::add_place_options(line, o.place, o.local, 2);
	line.seconds({"--timeout", "SEC", "gives up a wait after this time (default 120)"}, o.timeout);
	line.flag("--list", "prints the names of the attacks", o.list);
	o.done = !line.parse(argc, argv);
	if (o.local == 1)
		throw tools::UsageError("--local takes 2 ranks");
	if (!o.local && !o.list && !o.done)
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
	if (options.list)
		list_attacks();
	if (options.list || options.done)
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
