// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * pmi-info: what libpmi says about this rank, and whether the ranks of the job reach each other: keys, gathers and
 * barriers with known contents. Started by aprun, or alone as a job of one.
 */
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <pmi.h>

#include "common/command_line.h"
#include "common/failure.h"
#include "common/output.h"

namespace
{

using tools::Failure;
using tools::format;

enum Exit { exit_ok = 0, exit_failed = 1, exit_usage = 2 };

constexpr const char *about =
	"Prints what libpmi says about this rank, and checks whether the ranks of the job reach each other: keys,\n"
	"gathers and barriers with known contents. aprun starts it on the nodes; alone it is a job of one.";

constexpr const char *footer =
	"Environment: what aprun sets for programs over libpmi; PMI_DEBUG=1 tells more about failures.\n"
	"\n"
	"Exit status: 0 all as it should be, 1 not, 2 no place in a job, or the command line is wrong.";

struct Rank {
	int number = 0;
	int size = 0;
};

void check(int rc, const char *what)
{
	if (rc)
		throw Failure(format("%s: code %d", what, rc));
}

/* Each byte of each rank's block tells whose it is and where it stands. */
unsigned char mark(int rank, int at)
{
	return static_cast<unsigned char>(rank * 31 + at * 7 + 1);
}

void check_gather(const Rank &rank)
{
	constexpr int block = 1000;
	std::vector<unsigned char> mine(block), all(static_cast<size_t>(rank.size) * block);
	int wrong = 0;

	for (int i = 0; i < block; i++)
		mine[i] = mark(rank.number, i);
	check(PMI_Allgather(mine.data(), all.data(), block), "PMI_Allgather");
	for (int peer = 0; peer < rank.size; peer++)
		for (int i = 0; i < block; i++)
			wrong += all[static_cast<size_t>(peer) * block + i] != mark(peer, i);
	if (wrong)
		throw Failure(format("PMI_Allgather: %d wrong bytes", wrong));
}

void check_keys(const Rank &rank)
{
	char name[256], value[PMI2_MAX_VALLEN];
	const int peer = (rank.number + 1) % rank.size;

	check(PMI_KVS_Get_my_name(name, sizeof(name)), "PMI_KVS_Get_my_name");
	check(PMI_KVS_Put(name, format("info %d", rank.number).c_str(), format("of rank %d", rank.number).c_str()),
	      "PMI_KVS_Put");
	check(PMI_KVS_Commit(name), "PMI_KVS_Commit");
	check(PMI_Barrier(), "PMI_Barrier");
	check(PMI_KVS_Get(name, format("info %d", peer).c_str(), value, sizeof(value)), "PMI_KVS_Get");
	if (value != format("of rank %d", peer))
		throw Failure(format("PMI_KVS_Get: '%s' of rank %d is wrong", value, peer));
}

const char *variable(const char *name)
{
	const char *value = getenv(name); // NOLINT(concurrency-mt-unsafe)

	return value ? value : "-";
}

void show(const Rank &rank)
{
	char mapping[PMI2_MAX_VALLEN] = "-", job[256] = "-";
	int node = -1, clique = 0, found = 0;

	(void)PMI_Get_nid(rank.number, &node);
	(void)PMI_Get_clique_size(&clique);
	(void)PMI2_Job_GetId(job, sizeof(job));
	(void)PMI2_Info_GetJobAttr("PMI_process_mapping", mapping, sizeof(mapping), &found);
	printf("rank %d of %d, job %s, node %d with %d ranks, mapping %s, ptag %s, cookie %s, device %s, address %s\n",
	       rank.number, rank.size, job, node, clique, found ? mapping : "-", variable("PMI_GNI_PTAG"),
	       variable("PMI_GNI_COOKIE"), variable("PMI_GNI_DEV_ID"), variable("PMI_GNI_LOC_ADDR"));
}

int run()
{
	Rank rank;
	int spawned = 0, appnum = 0;
	const int rc = PMI2_Init(&spawned, &rank.size, &rank.number, &appnum);

	if (rc)
		throw tools::UsageError(format("PMI2_Init: code %d (PMI_DEBUG=1 says more)", rc));
	try {
		show(rank);
		check_keys(rank);
		check_gather(rank);
		check(PMI_Barrier(), "PMI_Barrier");
		check(PMI2_Finalize(), "PMI2_Finalize");
	} catch (const Failure &failure) {
		throw Failure(format("rank %d: %s", rank.number, failure.what()));
	}
	return exit_ok;
}

} // namespace

int main(int argc, char **argv)
{
	try {
		tools::CommandLine line("pmi-info", about, {}, footer);
		return tools::finish("pmi-info", line.parse(argc, argv) ? run() : exit_ok);
	} catch (const tools::UsageError &error) {
		fprintf(stderr, "pmi-info: %s\n", error.what());
		return exit_usage;
	} catch (const std::exception &error) {
		fprintf(stderr, "pmi-info: %s\n", error.what());
	}
	return exit_failed;
}
