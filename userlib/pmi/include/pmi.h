/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * PMI: how the processes of a job find each other. Interface 1, with the
 * additions that Cray's launchers have; pmi2.h is interface 2. Link with libpmi
 * (pkg-config cray-pmi).
 *
 * Functions return PMI_SUCCESS or one of the PMI_ERR_ codes. Before PMI_Init()
 * (or PMI2_Init()) and after the last PMI_Finalize() they return PMI_ERR_INIT.
 * A null pointer is PMI_ERR_INVALID_ARG. PMI_FAIL is what no other code says;
 * one line on stderr tells more if PMI_DEBUG or UGNI_DEBUG is set and not "0".
 * Every function may be called by several threads; they take turns.
 */
#ifndef PMI_H_INCLUDED
#define PMI_H_INCLUDED

#ifdef __cplusplus
extern "C" {
#endif

#define PMI_VERSION 1
#define PMI_SUBVERSION 1

#define PMI_SUCCESS 0
#define PMI_FAIL (-1)
#define PMI_ERR_INIT 1
#define PMI_ERR_NOMEM 2
#define PMI_ERR_INVALID_ARG 3
#define PMI_ERR_INVALID_KEY 4
#define PMI_ERR_INVALID_KEY_LENGTH 5
#define PMI_ERR_INVALID_VAL 6
#define PMI_ERR_INVALID_VAL_LENGTH 7
#define PMI_ERR_INVALID_LENGTH 8
#define PMI_ERR_INVALID_NUM_ARGS 9
#define PMI_ERR_INVALID_ARGS 10
#define PMI_ERR_INVALID_NUM_PARSED 11
#define PMI_ERR_INVALID_KEYVALP 12
#define PMI_ERR_INVALID_SIZE 13

typedef int PMI_BOOL;
#define PMI_TRUE 1
#define PMI_FALSE 0

/* Key and value of PMI_Spawn_multiple(). */
typedef struct PMI_keyval_t {
	const char *key;
	char *val;
} PMI_keyval_t;

/* ---- Begin and end ---- */

/*
 * Reads the job's environment and connects to its key-value service. *spawned
 * is 0. Also puts PMI_GNI_PTAG, PMI_GNI_COOKIE, PMI_GNI_DEV_ID and
 * PMI_GNI_LOC_ADDR into the environment where they are missing and the launcher
 * has told the job's cookie in another way. A process that no launcher has
 * started is rank 0 of a job of 1. May be called again; PMI_Finalize() as often.
 * PMI_FAIL: the variables make no sense, or the service does not answer.
 */
int PMI_Init(int *spawned);
int PMI_Initialized(PMI_BOOL *initialized);
int PMI_Finalize(void);

/* Ends the process with exit_code (1 for 0); the launcher then ends the others. Does not return. */
int PMI_Abort(int exit_code, const char error_msg[]);

/* ---- The job ---- */

int PMI_Get_size(int *size);
int PMI_Get_rank(int *rank);
int PMI_Get_universe_size(int *size); /* as many as the job has */
int PMI_Get_appnum(int *appnum);
int PMI_Get_id(char id_str[], int length); /* name of the job */
int PMI_Get_id_length_max(int *length);
int PMI_Get_kvs_domain_id(char id_str[], int length);

/* Ranks on the caller's node, in order. PMI_ERR_INVALID_LENGTH: there are more than length. */
int PMI_Get_clique_size(int *size);
int PMI_Get_clique_ranks(int ranks[], int length);

/* Returns when every rank has called it; waits without limit. */
int PMI_Barrier(void);

/* ---- Key-value space of the job ---- */

/*
 * Keys have up to 63 bytes, values up to 1,023; the lengths below count the NUL.
 * A key that nobody has put is PMI_ERR_INVALID_KEY at once: put, commit and
 * barrier come first.
 */
int PMI_KVS_Get_my_name(char kvsname[], int length);
int PMI_KVS_Get_name_length_max(int *length);
int PMI_KVS_Get_key_length_max(int *length);
int PMI_KVS_Get_value_length_max(int *length);
int PMI_KVS_Create(char kvsname[], int length); /* a new space that only who knows its name uses */
int PMI_KVS_Destroy(const char kvsname[]);
int PMI_KVS_Put(const char kvsname[], const char key[], const char value[]);
int PMI_KVS_Commit(const char kvsname[]);
int PMI_KVS_Get(const char kvsname[], const char key[], char value[], int length);

/* ---- Names of services, within the job ---- */

int PMI_Publish_name(const char service_name[], const char port[]);
int PMI_Unpublish_name(const char service_name[]);
int PMI_Lookup_name(const char service_name[], char port[]); /* port has room for a value */

/* Not offered by the launcher: PMI_FAIL. */
int PMI_Spawn_multiple(int count, const char *cmds[], const char **argvs[], const int maxprocs[],
		       const int info_keyval_sizesp[], const PMI_keyval_t *info_keyval_vectors[],
		       int preput_keyval_size, const PMI_keyval_t preput_keyval_vector[], int errors[]);

/* ---- Additions on Cray machines ---- */

int PMI_Get_version_info(int *major, int *minor, int *revision);

/*
 * Collects len_in bytes of every rank in out, in the order of ranks. Every rank
 * gives the same length, or PMI_FAIL.
 */
int PMI_Allgather(void *in, void *out, int len_in);

/* The same with a length for each rank; all_lens[rank] is len_in of that rank. */
int PMI_Allgatherv(void *in, int len_in, void *out, int *all_lens);

/* Copies buf of rank 0 to that of every rank. */
int PMI_Bcast(void *buf, int length);

/* Node of a rank: its NIC address. PMI_FAIL: the launcher has not told. */
int PMI_Get_nid(int rank, int *nid);
/* Those of all ranks, an int each, in the order of ranks. The library's, for reading; good until the last
 * PMI_Finalize(). */
int PMI_Get_nidlist_ptr(void **nids);
int PMI_Get_numpes_on_smp(int *num);

#ifdef __cplusplus
}
#endif

#include <pmi2.h>

#endif /* PMI_H_INCLUDED */
