// SPDX-License-Identifier: GPL-2.0-only
/* Where the tracepoints are. */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "aries_trace.h"
