// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs until there is no protection tag left. The interface cannot end a job, so nothing that needs a new
 * domain works on this node afterwards: the name puts the program behind all others.
 */
#include "conformance.h"

#define TAGS 256

TEST(GNI_ConfigureJob__ERROR_RESOURCE__no_tag_left)
{
	uint32_t n = 0, first = conf_cookie();
	gni_return_t rc;

	do {
		rc = GNI_ConfigureJob(CONF_DEVICE, 9000 + n, GNI_FIND_ALLOC_PTAG, first + n, NULL);
	} while (rc == GNI_RC_SUCCESS && n++ < TAGS);
	RC(ERROR_RESOURCE, GNI_ConfigureJob(CONF_DEVICE, 9999, GNI_FIND_ALLOC_PTAG, first + TAGS, NULL));
	EXPECT_GT(GNI_PTAG_USER_END, n);
	/* those that are there go on */
	RC(SUCCESS, GNI_ConfigureJob(CONF_DEVICE, 9000, GNI_FIND_ALLOC_PTAG, first, NULL));
}

TEST_HARNESS_MAIN
