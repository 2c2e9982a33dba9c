// SPDX-License-Identifier: GPL-2.0-only
/* Exported names. */
#define CRAY_CONFIG_GHAL_ARIES 1 /* all counters */
#include "conformance.h"

/* Names that a client prints: each is there and differs from the others. */
static void all_different(struct __test_metadata *_metadata, const char *const *names, int count)
{
	int i, j;

	for (i = 0; i < count; i++) {
		ASSERT_NE(NULL, names[i]);
		EXPECT_LT(0, strlen(names[i]));
		for (j = 0; j < i; j++) {
			EXPECT_NE(0, strcmp(names[i], names[j]));
		}
	}
}

TEST(gni_err_str__VALUE__one_for_each_code)
{
	all_different(_metadata, gni_err_str, GNI_RC_ERROR_NOMEM + 1);
	EXPECT_NE(NULL, strstr(gni_err_str[GNI_RC_SUCCESS], "SUCCESS"));
	EXPECT_NE(NULL, strstr(gni_err_str[GNI_RC_ILLEGAL_OP], "ILLEGAL_OP"));
}

TEST(gni_statistic_str__VALUE__one_for_each_counter)
{
	all_different(_metadata, gni_statistic_str, GNI_NUM_STATS);
}

TEST(gni_dev_res_to_str__VALUE__one_for_each_resource)
{
	const char *names[GNI_DEV_RES_LAST];
	int i;

	for (i = GNI_DEV_RES_FIRST + 1; i < GNI_DEV_RES_LAST; i++)
		names[i] = gni_dev_res_to_str((gni_dev_res_t)i);
	all_different(_metadata, names + GNI_DEV_RES_FIRST + 1, GNI_DEV_RES_LAST - GNI_DEV_RES_FIRST - 1);
	EXPECT_NE(NULL, gni_dev_res_to_str((gni_dev_res_t)1000));
}

TEST(gni_job_res_to_str__VALUE__one_for_each_resource)
{
	const char *names[GNI_JOB_RES_LAST];
	int i;

	for (i = GNI_JOB_RES_FIRST + 1; i < GNI_JOB_RES_LAST; i++)
		names[i] = gni_job_res_to_str((gni_job_res_t)i);
	all_different(_metadata, names + GNI_JOB_RES_FIRST + 1, GNI_JOB_RES_LAST - GNI_JOB_RES_FIRST - 1);
	EXPECT_NE(NULL, gni_job_res_to_str((gni_job_res_t)1000));
}

TEST_HARNESS_MAIN
