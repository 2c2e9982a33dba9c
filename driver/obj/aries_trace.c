// SPDX-License-Identifier: GPL-2.0-only
/* Defines the tracepoints. */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "aries_trace.h"
