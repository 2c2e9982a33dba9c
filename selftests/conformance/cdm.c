// SPDX-License-Identifier: GPL-2.0-only
/* Communication domains: creation, attachment, checkpoints. */
#include <signal.h>

#include "conformance.h"

#define NO_DEVICE 15u

FIXTURE(cdm)
{
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	uint32_t pe;
};

FIXTURE_SETUP(cdm)
{
	self->nic = NULL;
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, conf_cookie(), 0, &self->cdm));
}

FIXTURE_TEARDOWN(cdm)
{
	if (self->cdm)
		GNI_CdmDestroy(self->cdm);
}

/* ---- GNI_CdmCreate ---- */

TEST(GNI_CdmCreate__SUCCESS__any_tag)
{
	gni_cdm_handle_t cdm = NULL;

	RC(SUCCESS, GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, conf_cookie(), 0, &cdm));
	EXPECT_NE(NULL, cdm);
	MUST(GNI_CdmDestroy(cdm));
}

TEST(GNI_CdmCreate__SUCCESS__modes_of_ucx)
{
	gni_cdm_handle_t cdm = NULL;

	RC(SUCCESS, GNI_CdmCreate(0x80000001u, GNI_FIND_ALLOC_PTAG, conf_cookie(),
				  GNI_CDM_MODE_FORK_FULLCOPY | GNI_CDM_MODE_CACHED_AMO_ENABLED |
				  GNI_CDM_MODE_ERR_NO_KILL | GNI_CDM_MODE_FAST_DATAGRAM_POLL |
				  GNI_CDM_MODE_FMA_SHARED, &cdm));
	MUST(GNI_CdmDestroy(cdm));
}

TEST(GNI_CdmCreate__INVALID_PARAM__null_result)
{
	RC(INVALID_PARAM, GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, conf_cookie(), 0, NULL));
}

TEST(GNI_CdmCreate__INVALID_PARAM__modes_exclude_each_other)
{
	gni_cdm_handle_t cdm = NULL;

	RC(INVALID_PARAM, GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, conf_cookie(),
					GNI_CDM_MODE_FORK_FULLCOPY | GNI_CDM_MODE_FORK_NOCOPY, &cdm));
	RC(INVALID_PARAM, GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, conf_cookie(),
					GNI_CDM_MODE_ERR_NO_KILL | GNI_CDM_MODE_ERR_ALL_KILL, &cdm));
	EXPECT_EQ(NULL, cdm);
}

TEST(GNI_CdmCreate__ERROR_NOMEM__no_address_space)
{
	gni_cdm_handle_t cdm = NULL;

	conf_no_memory();
	RC(ERROR_NOMEM, GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, 0x40001000, 0, &cdm));
	conf_memory_again();
	RC(SUCCESS, GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, 0x40001000, 0, &cdm));
}

/* ---- GNI_CdmDestroy ---- */

TEST_F(cdm, GNI_CdmDestroy__SUCCESS__attached)
{
	MUST(GNI_CdmAttach(self->cdm, CONF_DEVICE, &self->pe, &self->nic));
	RC(SUCCESS, GNI_CdmDestroy(self->cdm));
	self->cdm = NULL;
}

TEST_F(cdm, GNI_CdmDestroy__INVALID_PARAM__twice)
{
	MUST(GNI_CdmDestroy(self->cdm));
	RC(INVALID_PARAM, GNI_CdmDestroy(self->cdm));
	self->cdm = NULL;
}

RC_TEST(GNI_CdmDestroy__INVALID_PARAM__null_handle, INVALID_PARAM, GNI_CdmDestroy(NULL));

/* ---- GNI_CdmGetNicAddress ---- */

TEST_F(cdm, GNI_CdmGetNicAddress__SUCCESS__as_attaching_tells)
{
	uint32_t address = 0xffffffff, cpu = 0xffffffff;

	RC(SUCCESS, GNI_CdmGetNicAddress(CONF_DEVICE, &address, &cpu));
	MUST(GNI_CdmAttach(self->cdm, CONF_DEVICE, &self->pe, &self->nic));
	EXPECT_EQ(self->pe, address);
	EXPECT_GT(sysconf(_SC_NPROCESSORS_CONF), cpu);
}

TEST(GNI_CdmGetNicAddress__NO_MATCH__no_such_device)
{
	uint32_t address, cpu;

	RC(NO_MATCH, GNI_CdmGetNicAddress(NO_DEVICE, &address, &cpu));
}

/* ---- GNI_CdmAttach ---- */

TEST_F(cdm, GNI_CdmAttach__SUCCESS__first_device)
{
	RC(SUCCESS, GNI_CdmAttach(self->cdm, CONF_DEVICE, &self->pe, &self->nic));
	EXPECT_NE(NULL, self->nic);
}

TEST_F(cdm, GNI_CdmAttach__SUCCESS__nearest_device)
{
	RC(SUCCESS, GNI_CdmAttach(self->cdm, (uint32_t)-1, &self->pe, &self->nic));
	EXPECT_NE(NULL, self->nic);
}

TEST_F(cdm, GNI_CdmAttach__INVALID_PARAM__null_pointers)
{
	RC(INVALID_PARAM, GNI_CdmAttach(NULL, CONF_DEVICE, &self->pe, &self->nic));
	RC(INVALID_PARAM, GNI_CdmAttach(self->cdm, CONF_DEVICE, NULL, &self->nic));
	RC(INVALID_PARAM, GNI_CdmAttach(self->cdm, CONF_DEVICE, &self->pe, NULL));
	EXPECT_EQ(NULL, self->nic);
}

TEST_F(cdm, GNI_CdmAttach__INVALID_PARAM__destroyed_domain)
{
	MUST(GNI_CdmDestroy(self->cdm));
	RC(INVALID_PARAM, GNI_CdmAttach(self->cdm, CONF_DEVICE, &self->pe, &self->nic));
	self->cdm = NULL;
}

TEST_F(cdm, GNI_CdmAttach__NO_MATCH__no_such_device)
{
	RC(NO_MATCH, GNI_CdmAttach(self->cdm, NO_DEVICE, &self->pe, &self->nic));
}

/* A process has none of its parent's handles. */
static void own_domain(gni_cdm_handle_t *cdm)
{
	if (GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, conf_cookie(), 0, cdm))
		_exit(254);
}

TEST_F(cdm, GNI_CdmAttach__NO_MATCH__no_device_at_all)
{
	RC(NO_MATCH, CONF_APART((conf_no_devices(), own_domain(&self->cdm)),
				GNI_CdmAttach(self->cdm, CONF_DEVICE, &self->pe, &self->nic)));
}

TEST_F(cdm, GNI_CdmAttach__INVALID_STATE__the_same_device_twice)
{
	MUST(GNI_CdmAttach(self->cdm, CONF_DEVICE, &self->pe, &self->nic));
	RC(INVALID_STATE, GNI_CdmAttach(self->cdm, CONF_DEVICE, &self->pe, &self->nic));
}

TEST_F(cdm, GNI_CdmAttach__INVALID_STATE__no_nearest_device_left)
{
	gni_return_t rc;
	int n = 0;

	do {
		rc = GNI_CdmAttach(self->cdm, (uint32_t)-1, &self->pe, &self->nic);
	} while (rc == GNI_RC_SUCCESS && n++ < 16);
	RC(INVALID_STATE, GNI_CdmAttach(self->cdm, (uint32_t)-1, &self->pe, &self->nic));
}

TEST_F(cdm, GNI_CdmAttach__ERROR_NOMEM__no_address_space)
{
	conf_no_memory();
	RC(ERROR_NOMEM, GNI_CdmAttach(self->cdm, CONF_DEVICE, &self->pe, &self->nic));
	conf_memory_again();
	RC(SUCCESS, GNI_CdmAttach(self->cdm, CONF_DEVICE, &self->pe, &self->nic));
}

TEST_F(cdm, GNI_CdmAttach__PERMISSION_ERROR__domain_that_does_not_exist)
{
	RC(PERMISSION_ERROR, CONF_APART((own_domain(&self->cdm), conf_become_nobody()),
					GNI_CdmAttach(self->cdm, CONF_DEVICE, &self->pe, &self->nic)));
}

TEST(GNI_CdmAttach__PERMISSION_ERROR__tag_and_cookie_do_not_belong_together)
{
	uint32_t cookie = conf_cookie(), pe;
	gni_cdm_handle_t cdm, wrong;
	gni_nic_handle_t nic;
	uint8_t ptag;

	MUST(GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, cookie, 0, &cdm));
	MUST(GNI_CdmAttach(cdm, CONF_DEVICE, &pe, &nic));
	MUST(GNI_GetPtag(CONF_DEVICE, cookie, &ptag));
	MUST(GNI_CdmCreate(2, ptag == 200 ? 201 : 200, cookie, 0, &wrong));
	RC(PERMISSION_ERROR, GNI_CdmAttach(wrong, CONF_DEVICE, &pe, &nic));
	GNI_CdmDestroy(cdm);
}

/* A job with one FMA descriptor, and two instances that do not share. */
TEST(GNI_CdmAttach__ERROR_RESOURCE__no_fma_descriptor_left)
{
	gni_job_limits_t limits = conf_limits();
	gni_cdm_handle_t cdm[2];
	gni_nic_handle_t nic;
	uint32_t cookie, pe;

	limits.fma_limit = 1;
	cookie = conf_job(7001, &limits);
	ASSERT_NE(0, cookie);
	MUST(GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, cookie, GNI_CDM_MODE_FMA_DEDICATED, &cdm[0]));
	MUST(GNI_CdmCreate(2, GNI_FIND_ALLOC_PTAG, cookie, GNI_CDM_MODE_FMA_DEDICATED, &cdm[1]));
	MUST(GNI_CdmAttach(cdm[0], CONF_DEVICE, &pe, &nic));
	RC(ERROR_RESOURCE, GNI_CdmAttach(cdm[1], CONF_DEVICE, &pe, &nic));
	MUST(GNI_CdmDestroy(cdm[0]));
	RC(SUCCESS, GNI_CdmAttach(cdm[1], CONF_DEVICE, &pe, &nic));
}

TEST_F(cdm, GNI_CdmAttach__ERROR_RESOURCE__no_more_files)
{
	RC(ERROR_RESOURCE,
	   CONF_APART((own_domain(&self->cdm), conf_no_files()), GNI_CdmAttach(self->cdm, CONF_DEVICE, &self->pe, &self->nic)));
}

/* ---- GNI_CdmCheckpoint, GNI_CdmResume ---- */

TEST_F(cdm, GNI_CdmCheckpoint__SUCCESS__and_all_can_be_destroyed)
{
	gni_cq_handle_t cq;

	MUST(GNI_CdmAttach(self->cdm, CONF_DEVICE, &self->pe, &self->nic));
	MUST(GNI_CqCreate(self->nic, 8, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	RC(SUCCESS, GNI_CdmCheckpoint(self->cdm));
	MUST(GNI_CqDestroy(cq));
	MUST(GNI_CdmDestroy(self->cdm));
	self->cdm = NULL;
}

RC_TEST(GNI_CdmCheckpoint__INVALID_PARAM__null_handle, INVALID_PARAM, GNI_CdmCheckpoint(NULL));

TEST_F(cdm, GNI_CdmResume__SUCCESS__all_works_again)
{
	gni_cq_handle_t cq;

	MUST(GNI_CdmAttach(self->cdm, CONF_DEVICE, &self->pe, &self->nic));
	MUST(GNI_CdmCheckpoint(self->cdm));
	RC(SUCCESS, GNI_CdmResume(self->cdm));
	MUST(GNI_CqCreate(self->nic, 8, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	MUST(GNI_CqDestroy(cq));
}

RC_TEST(GNI_CdmResume__INVALID_PARAM__null_handle, INVALID_PARAM, GNI_CdmResume(NULL));

TEST_HARNESS_MAIN
