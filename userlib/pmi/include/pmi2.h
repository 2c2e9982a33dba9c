/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * PMI, interface 2. See pmi.h for what holds for all functions; both
 * interfaces may be used in one process and share its place in the job.
 * PMI2_Job_Spawn, PMI2_Job_Connect and PMI2_Job_Disconnect do not exist here.
 */
#ifndef PMI2_H_INCLUDED
#define PMI2_H_INCLUDED

#ifdef __cplusplus
extern "C" {
#endif

#define PMI2_SUCCESS 0
#define PMI2_FAIL (-1)
#define PMI2_ERR_INIT 1
#define PMI2_ERR_NOMEM 2
#define PMI2_ERR_INVALID_ARG 3
#define PMI2_ERR_INVALID_KEY 4
#define PMI2_ERR_INVALID_KEY_LENGTH 5
#define PMI2_ERR_INVALID_VAL 6
#define PMI2_ERR_INVALID_VAL_LENGTH 7
#define PMI2_ERR_INVALID_LENGTH 8
#define PMI2_ERR_INVALID_NUM_ARGS 9
#define PMI2_ERR_INVALID_ARGS 10
#define PMI2_ERR_INVALID_NUM_PARSED 11
#define PMI2_ERR_INVALID_KEYVALP 12
#define PMI2_ERR_INVALID_SIZE 13
#define PMI2_ERR_OTHER 14

/* Sizes with the NUL. */
#define PMI2_MAX_KEYLEN 64
#define PMI2_MAX_VALLEN 1024
#define PMI2_MAX_ATTRVALUE 1024

/* PMI2_KVS_Get(): no hint who has put the key. */
#define PMI2_ID_NULL (-1)

int PMI2_Init(int *spawned, int *size, int *rank, int *appnum);
int PMI2_Initialized(void); /* 1 or 0 */
int PMI2_Finalize(void);
int PMI2_Abort(int flag, const char msg[]); /* as PMI_Abort(), exit code 1; flag (the whole job) is always so */

int PMI2_Job_GetId(char jobid[], int jobid_size);
int PMI2_Job_GetRank(int *rank);
int PMI2_Info_GetSize(int *size); /* ranks on the caller's node */

/*
 * Attributes of the job: "PMI_process_mapping" ("(vector,(0,2,4))": from node 0
 * on 2 nodes with 4 ranks each; groups follow each other) and "universeSize".
 * Another name: PMI2_SUCCESS and *found is 0.
 */
int PMI2_Info_GetJobAttr(const char name[], char value[], int valuelen, int *found);
int PMI2_Info_GetJobAttrIntArray(const char name[], int array[], int arraylen, int *outlen, int *found);

/* Attributes that ranks of one node put for each other. waitfor: until there is one. */
int PMI2_Info_PutNodeAttr(const char name[], const char value[]);
int PMI2_Info_GetNodeAttr(const char name[], char value[], int valuelen, int *found, int waitfor);

/* *vallen is the value's length without the NUL, or minus that where it was cut to maxvalue - 1. */
int PMI2_KVS_Put(const char key[], const char value[]);
int PMI2_KVS_Get(const char *jobid, int src_pmi_id, const char key[], char value[], int maxvalue, int *vallen);
int PMI2_KVS_Fence(void); /* what all ranks have put before is there after */

struct MPID_Info;
int PMI2_Nameserv_publish(const char service_name[], const struct MPID_Info *info_ptr, const char port[]);
int PMI2_Nameserv_lookup(const char service_name[], const struct MPID_Info *info_ptr, char port[], int port_len);
int PMI2_Nameserv_unpublish(const char service_name[], const struct MPID_Info *info_ptr);

#ifdef __cplusplus
}
#endif

#endif /* PMI2_H_INCLUDED */
