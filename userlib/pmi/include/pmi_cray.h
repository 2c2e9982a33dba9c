/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* Another name of pmi.h. */
#ifndef PMI_CRAY_H_INCLUDED
#define PMI_CRAY_H_INCLUDED

#include <pmi.h>

#endif
