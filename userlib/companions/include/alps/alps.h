/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* ALPS: what a process of an application may ask about it. Types for both libraries, libalpslli and libalpsutil. */
#ifndef ALPS_ALPS_H
#define ALPS_ALPS_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Access to a communication domain of the application on this node. */
typedef struct {
	uint32_t device_id;
	uint32_t local_addr; /* NIC address of this node */
	uint32_t cookie;
	uint8_t ptag;
} alpsAppGni_t;

/* Answer to the request ALPS_APP_LLI_ALPS_REQ_GNI: u.buf holds count of alpsAppGni_t. */
typedef struct {
	int32_t count;
	union {
		uint64_t align;
		char buf[8];
	} u;
} alpsAppLLIGni_t;

/* Where the application is, seen from the caller's node. */
typedef struct {
	int firstPe;    /* lowest rank on this node */
	int numPesHere; /* ranks on this node */
	int numPes;     /* ranks of the application */
	int numNodes;
	int depth; /* processors for each rank */
} alpsAppLayout_t;

/* A rank's place. */
typedef struct {
	int cmdIx; /* which of several programs: 0 */
	int nid;   /* node */
} placementList_t;

#ifdef __cplusplus
}
#endif

#endif /* ALPS_ALPS_H */
