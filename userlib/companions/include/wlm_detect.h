/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* Which workload manager runs this (pkg-config cray-wlm_detect). */
#ifndef WLM_DETECT_H
#define WLM_DETECT_H

#ifdef __cplusplus
extern "C" {
#endif

/* "SLURM" or "ALPS" for a process that one of them has started, else null. For the caller to free(). */
char *wlm_detect_get_active(void);

/* The one to assume: "ALPS". Not to be freed. */
const char *wlm_detect_get_default(void);

#ifdef __cplusplus
}
#endif

#endif /* WLM_DETECT_H */
