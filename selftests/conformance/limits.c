// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every limit of gni_job_limits_t: it holds for all processes of the job, GNI_GetJobResInfo tells use and
 * limit, and what was given back can be had again.
 */
#include "conformance.h"

#define JOB 7400

FIXTURE(limits)
{
	gni_job_limits_t limits;
	uint32_t cookie;
	uint8_t ptag;
	struct side a, b;
};

FIXTURE_SETUP(limits)
{
	self->limits = conf_limits();
	self->cookie = conf_job(JOB, &self->limits);
	ASSERT_NE(0, self->cookie);
	MUST(GNI_GetPtag(CONF_DEVICE, self->cookie, &self->ptag));
	ASSERT_EQ(0, side_open(&self->a, self->cookie, 1));
	ASSERT_EQ(0, side_open(&self->b, self->cookie, 2));
}

FIXTURE_TEARDOWN(limits)
{
	side_close(&self->a);
	side_close(&self->b);
}

#define CONFIGURE(field, value)                                                                     \
	do {                                                                                        \
		self->limits = conf_limits();                                                       \
		self->limits.field = (value);                                                       \
		MUST(GNI_ConfigureJob(CONF_DEVICE, JOB, self->ptag, self->cookie, &self->limits));  \
	} while (0)

#define INFO(kind, used_now, limit_now)                                                             \
	do {                                                                                        \
		gni_job_res_desc_t desc = { 99999, 99999 };                                         \
		MUST(GNI_GetJobResInfo(CONF_DEVICE, self->ptag, kind, &desc));                      \
		EXPECT_EQ(used_now, desc.used);                                                     \
		EXPECT_EQ(limit_now, desc.limit);                                                   \
	} while (0)

TEST_F(limits, GNI_GetJobResInfo__SUCCESS__collective_engines)
{
	gni_ce_handle_t ce, other;

	CONFIGURE(a.m.ce_limit, 1);
	INFO(GNI_JOB_RES_CE, 0, 1);
	MUST(GNI_CeCreate(self->a.nic, &ce));
	INFO(GNI_JOB_RES_CE, 1, 1);
	RC(ERROR_RESOURCE, GNI_CeCreate(self->b.nic, &other));
	MUST(GNI_CeDestroy(ce));
	RC(SUCCESS, GNI_CeCreate(self->b.nic, &other));
	MUST(GNI_CeDestroy(other));
}

TEST_F(limits, GNI_GetJobResInfo__SUCCESS__memory_domains)
{
	gni_mem_handle_t mem;

	CONFIGURE(mdd_limit, 3);
	INFO(GNI_JOB_RES_MDD, 2, 3);
	RC(SUCCESS, GNI_MemRegister(self->b.nic, (uintptr_t)self->b.data, 8, NULL, GNI_MEM_READWRITE,
				    CONF_NO_VMDH, &mem));
	RC(ERROR_RESOURCE, GNI_MemRegister(self->a.nic, (uintptr_t)self->a.data, 8, NULL,
					   GNI_MEM_READWRITE, CONF_NO_VMDH, &mem));
	INFO(GNI_JOB_RES_MDD, 3, 3);
}

TEST_F(limits, GNI_GetJobResInfo__SUCCESS__completion_queues)
{
	gni_cq_handle_t cq;

	CONFIGURE(cq_limit, 4);
	INFO(GNI_JOB_RES_CQ, 4, 4);
	RC(ERROR_RESOURCE, GNI_CqCreate(self->a.nic, 8, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
}

TEST_F(limits, GNI_GetJobResInfo__SUCCESS__fma_descriptors)
{
	struct side c;

	CONFIGURE(fma_limit, 2);
	INFO(GNI_JOB_RES_FMA, 2, 2);
	EXPECT_NE(0, side_open(&c, self->cookie, 3));
	INFO(GNI_JOB_RES_FMA, 2, 2);
}

/* 2^N MiB; both sides have CONF_BYTES. */
TEST_F(limits, GNI_GetJobResInfo__SUCCESS__translation_space)
{
	const uint64_t mib = 1u << 20;
	uint8_t *big = conf_pages(512);
	gni_mem_handle_t mem;

	CONFIGURE(a.m.iommu_limit, 1);
	INFO(GNI_JOB_RES_IOMMU, 2 * CONF_BYTES, 2 * mib);
	RC(ERROR_RESOURCE, GNI_MemRegister(self->a.nic, (uintptr_t)big, 2 * mib, NULL, GNI_MEM_READWRITE,
					   CONF_NO_VMDH, &mem));
	RC(SUCCESS, GNI_MemRegister(self->a.nic, (uintptr_t)big, 2 * mib - 2 * CONF_BYTES, NULL,
				    GNI_MEM_READWRITE, CONF_NO_VMDH, &mem));
	INFO(GNI_JOB_RES_IOMMU, 2 * mib, 2 * mib);
	RC(ERROR_RESOURCE, GNI_MemRegister(self->b.nic, (uintptr_t)self->b.data, 1, NULL,
					   GNI_MEM_READWRITE, CONF_NO_VMDH, &mem));
}

TEST_F(limits, GNI_PostRdma__ERROR_RESOURCE__limit_of_the_job)
{
	gni_post_descriptor_t d = {};
	gni_cq_entry_t e;

	MUST(GNI_EpBind(self->a.ep, self->b.pe, 2));
	d.type = GNI_POST_RDMA_PUT;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	d.local_addr = (uintptr_t)self->a.data;
	d.local_mem_hndl = self->a.mem;
	d.remote_addr = (uintptr_t)self->b.data;
	d.remote_mem_hndl = self->b.mem;
	d.length = 64;
	self->a.data[0] = 1;
	CONFIGURE(bte_limit, 0);
	INFO(GNI_JOB_RES_RMDA, 0, 0);
	RC(ERROR_RESOURCE, GNI_PostRdma(self->a.ep, &d));
	RC(NOT_DONE, GNI_CqGetEvent(self->a.cq, &e));
	EXPECT_EQ(0, self->b.data[0]);
	CONFIGURE(bte_limit, 1);
	INFO(GNI_JOB_RES_RMDA, 0, 1);
	RC(SUCCESS, conf_rdma(&self->a, &d));
	EXPECT_EQ(1, self->b.data[0]);
	/* twice, so that the short way of the library is taken, too */
	RC(SUCCESS, conf_rdma(&self->a, &d));
	CONFIGURE(bte_limit, 0);
	RC(ERROR_RESOURCE, GNI_PostRdma(self->a.ep, &d));
}

/* What is GNI_JOB_INVALID_LIMIT stays; the one byte of each of the two small ones counts alone. */
TEST_F(limits, GNI_ConfigureJob__SUCCESS__each_limit_alone)
{
	CONFIGURE(mdd_limit, 40);
	CONFIGURE(cq_limit, 41);
	CONFIGURE(fma_limit, 42);
	CONFIGURE(bte_limit, 43);
	CONFIGURE(a.m.ce_limit, 2);
	CONFIGURE(a.m.iommu_limit, 6);
	CONFIGURE(b.dla_limit, 0);
	INFO(GNI_JOB_RES_MDD, 2, 40);
	INFO(GNI_JOB_RES_CQ, 4, 41);
	INFO(GNI_JOB_RES_FMA, 2, 42);
	INFO(GNI_JOB_RES_RMDA, 0, 43);
	INFO(GNI_JOB_RES_CE, 0, 2);
	INFO(GNI_JOB_RES_IOMMU, 2 * CONF_BYTES, 64u << 20);
	MUST(GNI_ConfigureJob(CONF_DEVICE, JOB, self->ptag, self->cookie, NULL));
	INFO(GNI_JOB_RES_CE, 0, 2);
}

TEST_HARNESS_MAIN
