// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "wlm_detect.h"

#include <stdlib.h>
#include <string.h>

static int is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

char *wlm_detect_get_active(void)
{
	if (is_set("SLURM_JOB_ID"))
		return strdup("SLURM");
	return is_set("ALPS_APP_ID") ? strdup("ALPS") : NULL;
}

const char *wlm_detect_get_default(void)
{
	return "ALPS";
}
