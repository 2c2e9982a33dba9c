// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * All ranks in one node, as child processes.
 */
#ifndef GNI_PERF_LOCAL_H
#define GNI_PERF_LOCAL_H

#include "options.h"

namespace perf
{

/**
 * Forks options.local ranks that find each other through a temporary directory.
 * @param rank what a rank does; its return value is the exit status of the child
 * @return 0 when every rank returned 0
 */
int run_local(const Options &options, int (*rank)(const Options &));

} // namespace perf

#endif // GNI_PERF_LOCAL_H
