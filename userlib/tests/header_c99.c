/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* The oldest C that the header is for. */
#include <gni_pub.h>

uint32_t header_c99(void)
{
	return GNI_VERSION;
}
