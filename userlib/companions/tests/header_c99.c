/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* The headers in an old C. */
#include <alps/alps_toolAssist.h>
#include <alps/libalpslli.h>
#include <alps/libalpsutil.h>
#include <rca_lib.h>
#include <udreg_pub.h>
#include <wlm_detect.h>

int companions_header_c99(void);

int companions_header_c99(void)
{
	return UDREG_RC_SUCCESS + ALPS_APP_LLI_ALPS_STAT_OK + rns_absent;
}
