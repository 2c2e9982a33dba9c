/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* What tests of librca replace; nothing of it is exported. */
#ifndef COMPANIONS_RCA_H
#define COMPANIONS_RCA_H

#ifdef __cplusplus
extern "C" {
#endif

/* Folder below which /sys and /proc are: "" but in tests. */
extern const char *rca_root;

#ifdef __cplusplus
}
#endif

#endif /* COMPANIONS_RCA_H */
