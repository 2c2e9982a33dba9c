// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* The header as an old compiler of C++ sees it. */
#include <dmapp.h>

#include <gni_pub.h>

int dmapp_header_cxx98(dmapp_jobinfo_t *info)
{
	dmapp_rma_attrs_ext_t attributes = dmapp_rma_attrs_ext_t();

	return attributes.queue_flags ? 1 : static_cast<int>(dmapp_get_jobinfo(info));
}
