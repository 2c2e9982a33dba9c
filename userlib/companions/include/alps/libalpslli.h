/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Requests of a rank to its launcher (pkg-config cray-alpslli): lock, put a
 * request, get the response, get its bytes, unlock. Answered from the environment
 * that aprun gives.
 *
 * Functions return ALPS_APP_LLI_ALPS_STAT_OK or one of the codes below. One
 * thread at a time; the lock keeps others out.
 */
#ifndef ALPS_LIBALPSLLI_H
#define ALPS_LIBALPSLLI_H

#include <alps/alps.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ALPS_APP_LLI_ALPS_STAT_OK 0
#define ALPS_APP_LLI_ALPS_STAT_NO_APP 1  /* aprun has not started this process, or its variables make no sense */
#define ALPS_APP_LLI_ALPS_STAT_BAD_REQ 2 /* unknown request; null pointer; fewer bytes are left than asked for */
#define ALPS_APP_LLI_ALPS_STAT_NOT_LOCKED 3

/* Requests and their answers. */
#define ALPS_APP_LLI_ALPS_REQ_APID 1    /* uint64_t: number of the application */
#define ALPS_APP_LLI_ALPS_REQ_GNI 2     /* alpsAppLLIGni_t with its list */
#define ALPS_APP_LLI_ALPS_REQ_START 3   /* this rank runs now: no bytes */
#define ALPS_APP_LLI_ALPS_REQ_EXITING 4 /* this rank ends in order: no bytes */

int alps_app_lli_lock(void); /* waits for the thread that has it */
int alps_app_lli_unlock(void);

/* What goes with a request (buf, len) is not needed by any of them. */
int alps_app_lli_put_request(int request, void *buf, size_t len);

/* *status: what became of the last request; *bytes: length of its answer. */
int alps_app_lli_get_response(int *status, size_t *bytes);

/* The next len bytes of the answer. */
int alps_app_lli_get_response_bytes(void *buf, size_t len);

#ifdef __cplusplus
}
#endif

#endif /* ALPS_LIBALPSLLI_H */
