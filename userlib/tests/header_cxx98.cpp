// SPDX-License-Identifier: BSD-2-Clause
/* The oldest C++ that the header is for. */
#include <gni_pub.h>

uint32_t header_cxx98()
{
	return GNI_VERSION;
}
