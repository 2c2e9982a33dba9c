// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * What the launcher and the library that it preloads say to each other.
 */
#ifndef GNI_TRACE_SHARED_H
#define GNI_TRACE_SHARED_H

#include <atomic>
#include <cstdint>

#include "gni_trace_table.h"

namespace gnitrace
{

/** Variables for the preloaded library; it takes them away again unless children are to be followed. */
constexpr const char *env_file = "GNI_TRACE_FILE";       /* lines go there; not set: standard error */
constexpr const char *env_only = "GNI_TRACE_ONLY";       /* as -e */
constexpr const char *env_times = "GNI_TRACE_TIMES";     /* 1: time spent in each call */
constexpr const char *env_quiet = "GNI_TRACE_QUIET";     /* 1: no lines, counts only */
constexpr const char *env_follow = "GNI_TRACE_FOLLOW";   /* 1: children, too */
constexpr const char *env_counts = "GNI_TRACE_COUNTS";   /* file of Counts */
constexpr const char *env_process = "GNI_TRACE_PROCESS"; /* the one to trace, unless children are, too */
constexpr const char *env_preload = "GNI_TRACE_PRELOAD"; /* LD_PRELOAD as it was; not set: it was not set */

/** Counts of a function. */
struct Count {
	std::atomic<uint64_t> calls, not_done, errors, nanoseconds;
};

/** The file that all traced processes map. */
struct Counts {
	std::atomic<uint64_t> processes; /* in which the library was loaded */
	Count functions[GNI_TRACE_COUNT];
};

/** Names, by number. */
extern const char *const function_names[GNI_TRACE_COUNT];

/**
 * Sets @p chosen for each function that @p expression names: names with the wildcards * and ?, with commas between
 * them; a leading ! chooses all others. Empty: all GNI_ functions.
 * @return nullptr, or the name that stands for nothing
 */
const char *choose(const char *expression, bool (&chosen)[GNI_TRACE_COUNT]);

} // namespace gnitrace

#endif // GNI_TRACE_SHARED_H
