/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * The environment variables that libugni, libpmi, their companions and the tools read: one table. gni-info prints it,
 * and selftests/tool/test_user_tools.py compares it with what the sources name.
 *
 *   V(name, readers, value where it is not set, meaning)
 */
#ifndef UGNI_ENVIRONMENT_HPP
#define UGNI_ENVIRONMENT_HPP

/* clang-format off */
#define UGNI_ENVIRONMENT(V) \
	V(UGNI_DEBUG, "libugni, libpmi", "0", \
	  "lines about calls that fail: 1 refusals and failures, 2 also what is to be tried again; a word is 1") \
	V(UGNI_DEBUG_FILE, "libugni", "standard error", \
	  "file to which those lines are appended; %p is the process, %h the host, %r the rank") \
	V(UGNI_CHECK, "libugni", "0", "not 0: more checks of what a program posts, at a cost") \
	V(UGNI_FMA_SHARED, "libugni", "1", "0: FMA descriptors are not shared, even for a program that asks for it") \
	V(OMPI_COMM_WORLD_RANK, "libugni", "", "rank for those lines, as Open MPI's launcher tells it") \
	V(PMI_DEBUG, "libpmi", "0", "not 0: lines about what libpmi refuses") \
	V(PMI_RANK, "libugni, libpmi", "", "rank of this process, as a launcher tells it") \
	V(PMI_SIZE, "libpmi", "", "ranks of the job") \
	V(PMI_APPNUM, "libpmi", "0", "number of the program in its job") \
	V(PMI_GNI_COOKIE, "libpmi, libalpslli, gni-info", "", "cookies of the job's domains, with : between them") \
	V(PMI_GNI_PTAG, "libpmi, libalpslli", "", "protection tags, one a cookie; 255: found by the cookie") \
	V(PMI_GNI_DEV_ID, "libpmi, libalpslli", "", "devices, one a cookie") \
	V(PMI_GNI_LOC_ADDR, "libpmi, libalpslli", "", "addresses of this node's NICs, one a cookie") \
	V(ALPS_APP_ID, "libalpslli, libwlm_detect", "", "number of the application") \
	V(ALPS_APP_PE, "libugni, libalpsutil", "", "rank of this process, as aprun tells it") \
	V(ALPS_APP_DEPTH, "libalpsutil", "", "processors a rank, as aprun tells it") \
	V(SLURM_JOB_ID, "libwlm_detect", "", "set: the workload manager is Slurm") \
	V(OPENGNI_RANK, "libugni, libpmi, tools", "0", "rank of this process, as the cluster tool tells it") \
	V(OPENGNI_RANKS, "libpmi, tools", "1", "ranks of the job") \
	V(OPENGNI_COOKIE, "libpmi, tools", "", "cookie of the job's domain") \
	V(OPENGNI_JOB, "libpmi, tools", "singleton", "name of the job, and of its keys") \
	V(OPENGNI_KVS, "libpmi, tools", "", "socket of the key-value service") \
	V(OPENGNI_KVS_TIMEOUT, "libpmi, tools", "", "seconds after which waiting for other ranks is given up") \
	V(OPENGNI_LAYOUT, "libpmi, libalpslli", "", "node x ranks of the job in rank order, as 0x2,3x1") \
	V(OPENGNI_NODE, "libpmi", "", "address of this node's NIC")
/* clang-format on */

namespace ugni::env
{

/* The names, for the code that reads the variables. */
#define UGNI_ENVIRONMENT_NAME(name, readers, unset, meaning) inline constexpr char name[] = #name;
UGNI_ENVIRONMENT(UGNI_ENVIRONMENT_NAME)
#undef UGNI_ENVIRONMENT_NAME

} // namespace ugni::env

#endif
