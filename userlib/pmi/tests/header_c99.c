/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* The headers in an old C, alone and in any order. */
#include <pmi2.h>
#include <pmi_cray.h>

int pmi_header_c99(void);

int pmi_header_c99(void)
{
	return PMI_SUCCESS + PMI2_SUCCESS;
}
