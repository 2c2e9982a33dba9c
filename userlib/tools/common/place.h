// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * Place of a process in a job of several ranks, and how ranks are started in one node.
 */
#ifndef TOOLS_PLACE_H
#define TOOLS_PLACE_H

#include <getopt.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace tools
{

struct Place {
	int rank = 0;
	int ranks = 1;
	uint32_t device = 0; /* N of /dev/kgniN */
	uint32_t cookie = 0;
	std::string kvs; /* as for open_kvs() */
	std::string job;
};

/**
 * Reads a number with an optional suffix K, M or G.
 * Throws UsageError that names @p what when it is none or exceeds @p max.
 */
uint64_t parse_number(const char *text, const char *what, uint64_t max);

/** Reads OPENGNI_KVS, OPENGNI_JOB, OPENGNI_RANK, OPENGNI_RANKS and OPENGNI_COOKIE. Throws UsageError. */
Place place_from_environment();

/** Letters of the options in rank_options(). */
constexpr char rank_letters[] = "l:r:n:k:c:j:d:hV";

/** Long options of all programs with ranks: place_option()'s, --local, --help, --version; then @p own and the table's
 * end. */
std::vector<option> rank_options(std::initializer_list<option> own);

/** getopt_long(), for use before there are threads. Throws UsageError for what is no option, or lacks its value. */
int next_option(int argc, char **argv, const char *letters, const option *table);

/**
 * Takes one of the options -r, -n, -k, -c, -j, -d, which all programs with ranks have.
 * @return false when @p option is another one. Throws UsageError.
 */
bool place_option(Place &place, int option, const char *argument);

/** Checks that the place is complete. Throws UsageError that says how to start a rank. */
void check_place(const Place &place);

/**
 * Forks @p ranks processes that find each other through a temporary directory.
 * @param program name for messages
 * @param rank what a rank does; its return value is the exit status of the child
 * @return 0 when every rank returned 0, else 1
 */
int run_local(const char *program, Place place, int ranks, const std::function<int(const Place &)> &rank);

} // namespace tools

#endif // TOOLS_PLACE_H
