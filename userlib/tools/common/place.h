// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Place of a process in a job of several ranks, and how ranks are started in one node.
 */
#ifndef TOOLS_PLACE_H
#define TOOLS_PLACE_H

#include <cstdint>
#include <functional>
#include <string>

namespace tools
{

class CommandLine;

struct Place {
	int rank = 0;
	int ranks = 1;
	uint32_t device = 0; /* N of /dev/kgniN */
	uint32_t cookie = 0;
	std::string kvs; /* where ranks meet: a path, unix:PATH, tcp:HOST:PORT where rank 0 serves, dir:PATH */
	std::string job;
};

/** Reads OPENGNI_KVS, OPENGNI_JOB, PMI_RANK and PMI_SIZE or OPENGNI_RANK and OPENGNI_RANKS, and OPENGNI_COOKIE. Throws
 * UsageError. */
Place place_from_environment();

/**
 * Adds the options of all programs with ranks: --local, --rank, --ranks, --kvs, --cookie, --job, --device.
 * @param most ranks that --local starts, at most; it stays 0 if it is not given
 */
void add_place_options(CommandLine &line, Place &place, int &local, unsigned most);

/**
 * Checks that the place is complete. Throws UsageError that says how to start a rank.
 * @param options whether the program has those of add_place_options(); else it takes its place from the environment
 * alone
 */
void check_place(const Place &place, bool options = true);

/** Ends this process with status 1 in @p seconds unless it ends before: after a failure others may wait for it in vain,
 * or it for them. */
void exit_after(unsigned seconds);

/**
 * Forks @p ranks processes that find each other through a temporary directory.
 * @param program name for messages
 * @param rank what a rank does; its return value is the exit status of the child
 * @return 0 when every rank returned 0, else 1
 */
int run_local(const char *program, Place place, int ranks, const std::function<int(const Place &)> &rank);

} // namespace tools

#endif // TOOLS_PLACE_H
