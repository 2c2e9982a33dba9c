// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* Defines the tracepoints. */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "aries_trace.h"
