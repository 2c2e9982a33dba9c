/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* Placement of an application (pkg-config cray-alpsutil), from the environment that aprun gives. */
#ifndef ALPS_LIBALPSUTIL_H
#define ALPS_LIBALPSUTIL_H

#include <alps/alps.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Where the ranks of the caller's own application are. Each pointer may be null;
 * arrays are for the caller to free():
 *
 *   layout      seen from the caller's node
 *   places      of each rank
 *   nids        node of each rank        pes      number of each rank
 *   lengths     always null              ips      always null
 * and one entry for each stretch of ranks on one node, in the order of ranks:
 *   start_pe    first rank               total_pes    ranks there
 *   node_pes    ranks on that node       pe_cpus      processors for each
 *
 * Returns 1, or -1 with errno: ESRCH the application is not the caller's, EINVAL
 * the variables make no sense, ENOMEM.
 */
int alps_get_placement_info(uint64_t apid, alpsAppLayout_t *layout, placementList_t **places, int **nids, int **pes,
			    int **lengths, struct in_addr **ips, int **start_pe, int **total_pes, int **node_pes,
			    int **pe_cpus);

#ifdef __cplusplus
}
#endif

#endif /* ALPS_LIBALPSUTIL_H */
