/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* The header alone, as a C program sees it. */
#include "layout.h"

/* Without CRAY_CONFIG_GHAL_ARIES the counters of the Aries engines are not declared. */
_Static_assert(GNI_NUM_STATS == 7, "GNI_NUM_STATS");
