// SPDX-License-Identifier: GPL-2.0-only
/* Devices, versions, resources, counters. */
#include "conformance.h"

#define NO_DEVICE 15u

/* ---- GNI_GetNumLocalDevices, GNI_GetLocalDeviceIds, GNI_GetDeviceType ---- */

TEST(GNI_GetNumLocalDevices__SUCCESS__at_least_one)
{
	int count = 0;

	RC(SUCCESS, GNI_GetNumLocalDevices(&count));
	EXPECT_LE(1, count);
	EXPECT_GE(16, count);
}

RC_TEST(GNI_GetNumLocalDevices__INVALID_PARAM__null_result, INVALID_PARAM, GNI_GetNumLocalDevices(NULL));

TEST(GNI_GetNumLocalDevices__ERROR_RESOURCE__no_device)
{
	int count = 0;

	RC(ERROR_RESOURCE, CONF_APART(conf_no_devices(), GNI_GetNumLocalDevices(&count)));
}

TEST(GNI_GetLocalDeviceIds__SUCCESS__as_many_as_there_are)
{
	int ids[17], count = 0, i;

	memset(ids, 0xff, sizeof(ids));
	MUST(GNI_GetNumLocalDevices(&count));
	RC(SUCCESS, GNI_GetLocalDeviceIds(16, ids));
	EXPECT_EQ((int)CONF_DEVICE, ids[0]);
	for (i = 0; i < count; i++) {
		EXPECT_LE(0, ids[i]);
	}
	EXPECT_EQ(-1, ids[count]);
}

TEST(GNI_GetLocalDeviceIds__INVALID_PARAM__null_or_no_room)
{
	int id;

	RC(INVALID_PARAM, GNI_GetLocalDeviceIds(1, NULL));
	RC(INVALID_PARAM, GNI_GetLocalDeviceIds(0, &id));
	RC(INVALID_PARAM, GNI_GetLocalDeviceIds(-1, &id));
}

TEST(GNI_GetLocalDeviceIds__ERROR_RESOURCE__no_device)
{
	int id;

	RC(ERROR_RESOURCE, CONF_APART(conf_no_devices(), GNI_GetLocalDeviceIds(1, &id)));
}

TEST(GNI_GetDeviceType__SUCCESS__gemini_or_aries)
{
	gni_nic_device_t type = (gni_nic_device_t)-1;

	RC(SUCCESS, GNI_GetDeviceType(&type));
	EXPECT_TRUE(type == GNI_DEVICE_GEMINI || type == GNI_DEVICE_ARIES);
}

TEST(GNI_GetDeviceType__ERROR_RESOURCE__no_device)
{
	gni_nic_device_t type;

	RC(ERROR_RESOURCE, CONF_APART(conf_no_devices(), GNI_GetDeviceType(&type)));
}

/* Not as many as could be: nothing is known about any. */
TEST(GNI_GetNumLocalDevices__ERROR_RESOURCE__no_more_files)
{
	int count = 0;

	RC(ERROR_RESOURCE, CONF_APART(conf_no_files(), GNI_GetNumLocalDevices(&count)));
}

/* ---- GNI_GetVersion, GNI_GetVersionInformation ---- */

TEST(GNI_GetVersion__SUCCESS__that_of_the_header)
{
	uint32_t version = 0;

	RC(SUCCESS, GNI_GetVersion(&version));
	EXPECT_EQ(GNI_GET_MAJOR(GNI_VERSION), GNI_GET_MAJOR(version));
	EXPECT_LE(GNI_GET_MINOR(GNI_VERSION), GNI_GET_MINOR(version));
}

RC_TEST(GNI_GetVersion__INVALID_PARAM__null_result, INVALID_PARAM, GNI_GetVersion(NULL));

TEST(GNI_GetVersionInformation__SUCCESS__library_and_driver)
{
	gni_version_info_t info;
	uint32_t version = 0;

	memset(&info, 0xff, sizeof(info));
	RC(SUCCESS, GNI_GetVersionInformation(&info));
	MUST(GNI_GetVersion(&version));
	EXPECT_EQ(version, info.ugni_version);
	EXPECT_NE(NULL, memchr(info.ugni_build_string, 0, sizeof(info.ugni_build_string)));
	EXPECT_NE(NULL, memchr(info.kgni_build_string, 0, sizeof(info.kgni_build_string)));
	EXPECT_NE(0, info.ugni_build_string[0]);
	EXPECT_NE(0, info.kgni_build_string[0]);
}

RC_TEST(GNI_GetVersionInformation__INVALID_PARAM__null_result, INVALID_PARAM,
	GNI_GetVersionInformation(NULL));

/* ---- GNI_GetDevResInfo, GNI_GetJobResInfo ---- */

TEST(GNI_GetDevResInfo__SUCCESS__memory_domains)
{
	gni_dev_res_desc_t before, after;
	struct side s;

	RC(SUCCESS, GNI_GetDevResInfo(CONF_DEVICE, GNI_DEV_RES_MDD, &before));
	EXPECT_LE(before.available + before.reserved + before.held, before.total);
	ASSERT_EQ(0, self_open(&s));
	RC(SUCCESS, GNI_GetDevResInfo(CONF_DEVICE, GNI_DEV_RES_MDD, &after));
	EXPECT_EQ(before.available - 1, after.available);
	side_close(&s);
}

TEST(GNI_GetDevResInfo__INVALID_PARAM__selector_device_pointer)
{
	gni_dev_res_desc_t desc;

	RC(INVALID_PARAM, GNI_GetDevResInfo(CONF_DEVICE, GNI_DEV_RES_FIRST, &desc));
	RC(INVALID_PARAM, GNI_GetDevResInfo(CONF_DEVICE, GNI_DEV_RES_LAST, &desc));
	RC(INVALID_PARAM, GNI_GetDevResInfo(NO_DEVICE, GNI_DEV_RES_MDD, &desc));
	RC(INVALID_PARAM, GNI_GetDevResInfo(CONF_DEVICE, GNI_DEV_RES_MDD, NULL));
}

/* Gemini has an MRT, Aries a DLA: one of them is not there. */
TEST(GNI_GetDevResInfo__ERROR_RESOURCE__the_other_nic_has_it)
{
	gni_dev_res_desc_t desc;
	gni_nic_device_t type;

	MUST(GNI_GetDeviceType(&type));
	RC(ERROR_RESOURCE, GNI_GetDevResInfo(CONF_DEVICE, type == GNI_DEVICE_GEMINI ? GNI_DEV_RES_CE :
					     GNI_DEV_RES_MRT, &desc));
}

FIXTURE(nic)
{
	struct side s;
	uint32_t cookie;
	uint8_t ptag;
};

FIXTURE_SETUP(nic)
{
	self->cookie = conf_cookie();
	ASSERT_EQ(0, side_open(&self->s, self->cookie, 1));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_GetPtag(CONF_DEVICE, self->cookie, &self->ptag));
}

FIXTURE_TEARDOWN(nic)
{
	side_close(&self->s);
}

TEST_F(nic, GNI_GetJobResInfo__SUCCESS__queues)
{
	gni_job_res_desc_t desc;

	RC(SUCCESS, GNI_GetJobResInfo(CONF_DEVICE, self->ptag, GNI_JOB_RES_CQ, &desc));
	EXPECT_EQ(2, desc.used);
	EXPECT_LE(2, desc.limit);
}

TEST_F(nic, GNI_GetJobResInfo__INVALID_PARAM__selector_tag_device_pointer)
{
	gni_job_res_desc_t desc;

	RC(INVALID_PARAM, GNI_GetJobResInfo(CONF_DEVICE, self->ptag, GNI_JOB_RES_FIRST, &desc));
	RC(INVALID_PARAM, GNI_GetJobResInfo(CONF_DEVICE, self->ptag, GNI_JOB_RES_LAST, &desc));
	RC(INVALID_PARAM, GNI_GetJobResInfo(CONF_DEVICE, 0, GNI_JOB_RES_CQ, &desc));
	RC(INVALID_PARAM, GNI_GetJobResInfo(NO_DEVICE, self->ptag, GNI_JOB_RES_CQ, &desc));
	RC(INVALID_PARAM, GNI_GetJobResInfo(CONF_DEVICE, self->ptag, GNI_JOB_RES_CQ, NULL));
}

TEST_F(nic, GNI_GetJobResInfo__ERROR_RESOURCE__the_other_nic_has_it)
{
	gni_job_res_desc_t desc;
	gni_nic_device_t type;

	MUST(GNI_GetDeviceType(&type));
	RC(ERROR_RESOURCE, GNI_GetJobResInfo(CONF_DEVICE, self->ptag, type == GNI_DEVICE_GEMINI ?
					     GNI_JOB_RES_CE : GNI_JOB_RES_GART, &desc));
}

/* ---- GNI_GetPtag, GNI_GetNttGran ---- */

TEST_F(nic, GNI_GetPtag__SUCCESS__of_a_domain_in_use)
{
	uint8_t ptag = 0;

	RC(SUCCESS, GNI_GetPtag(CONF_DEVICE, self->cookie, &ptag));
	EXPECT_LE(GNI_PTAG_USER_START, ptag);
	EXPECT_GE(GNI_PTAG_USER_END, ptag);
}

TEST_F(nic, GNI_GetPtag__INVALID_PARAM__device_or_pointer)
{
	uint8_t ptag;

	RC(INVALID_PARAM, GNI_GetPtag(NO_DEVICE, self->cookie, &ptag));
	RC(INVALID_PARAM, GNI_GetPtag(CONF_DEVICE, self->cookie, NULL));
}

TEST_F(nic, GNI_GetPtag__NO_MATCH__unknown_cookie)
{
	uint8_t ptag;

	RC(NO_MATCH, GNI_GetPtag(CONF_DEVICE, conf_cookie(), &ptag));
}

TEST_F(nic, GNI_GetPtag__ERROR_RESOURCE__no_more_files)
{
	uint8_t ptag;

	RC(ERROR_RESOURCE, CONF_APART(conf_no_files(), GNI_GetPtag(CONF_DEVICE, self->cookie, &ptag)));
}

TEST(GNI_GetNttGran__SUCCESS__without_privilege)
{
	uint32_t granularity = 0;

	RC(SUCCESS, GNI_GetNttGran(CONF_DEVICE, &granularity));
	RC(SUCCESS, CONF_NOBODY_RC(GNI_GetNttGran(CONF_DEVICE, &granularity)));
}

TEST(GNI_GetNttGran__INVALID_PARAM__device_or_pointer)
{
	uint32_t granularity;

	RC(INVALID_PARAM, GNI_GetNttGran(NO_DEVICE, &granularity));
	RC(INVALID_PARAM, GNI_GetNttGran(CONF_DEVICE, NULL));
}

/* ---- GNI_GetNicStat, GNI_ResetNicStat ---- */

TEST_F(nic, GNI_GetNicStat__SUCCESS__every_counter)
{
	uint32_t value;
	int stat;

	for (stat = 0; stat < GNI_NUM_STATS; stat++) {
		value = 1;
		RC(SUCCESS, GNI_GetNicStat(self->s.nic, (gni_statistic_t)stat, &value));
		EXPECT_EQ(0, value);
	}
}

TEST_F(nic, GNI_GetNicStat__INVALID_PARAM__handle_counter_pointer)
{
	uint32_t value;

	RC(INVALID_PARAM, GNI_GetNicStat(NULL, GNI_STAT_SMSG_REQ_STALL, &value));
	RC(INVALID_PARAM, GNI_GetNicStat(self->s.nic, (gni_statistic_t)1000, &value));
	RC(INVALID_PARAM, GNI_GetNicStat(self->s.nic, GNI_STAT_SMSG_REQ_STALL, NULL));
}

TEST_F(nic, GNI_ResetNicStat__INVALID_PARAM__handle_or_counter)
{
	RC(INVALID_PARAM, GNI_ResetNicStat(NULL, GNI_STAT_SMSG_REQ_STALL));
	RC(INVALID_PARAM, GNI_ResetNicStat(self->s.nic, (gni_statistic_t)1000));
}

/* ---- Distributed queues: declared, and refused ---- */

TEST_F(nic, GNI_DqueueInit__ILLEGAL_OP__no_such_queues)
{
	gni_dqueue_handle_t queue = NULL;

	RC(ILLEGAL_OP, GNI_DqueueInit(self->s.nic, NULL, NULL, &queue));
	EXPECT_EQ(NULL, queue);
}

TEST_F(nic, GNI_DqueueFini__ILLEGAL_OP__no_such_queues)
{
	gni_dqueue_handle_t queue = NULL;

	RC(ILLEGAL_OP, GNI_DqueueFini(queue));
}

TEST_F(nic, GNI_DqueueConnect__ILLEGAL_OP__no_such_queues)
{
	gni_dqueue_handle_t queue = NULL;

	RC(ILLEGAL_OP, GNI_DqueueConnect(queue, NULL, 0));
}

TEST_F(nic, GNI_DqueuePut__ILLEGAL_OP__no_such_queues)
{
	gni_dqueue_handle_t queue = NULL;
	uint64_t word = 1;

	RC(ILLEGAL_OP, GNI_DqueuePut(queue, &word, sizeof(word), 0, 0));
}

TEST_F(nic, GNI_DqueueProgress__ILLEGAL_OP__no_such_queues)
{
	gni_dqueue_handle_t queue = NULL;

	RC(ILLEGAL_OP, GNI_DqueueProgress(queue));
}

TEST_HARNESS_MAIN
