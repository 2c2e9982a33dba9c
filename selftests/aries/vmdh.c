// SPDX-License-Identifier: GPL-2.0-only
/*
 * Virtual memory domain handles: blocks, places, and who may use them.
 */
#include "raw.h"
#include "kselftest_harness.h"

FIXTURE(vmdh)
{
	uint32_t cookie;
	struct raw r;
	uint8_t *page;
	struct aries_use before;
};

FIXTURE_SETUP(vmdh)
{
	self->cookie = aries_cookie();
	self->before = aries_use();
	ASSERT_EQ(0, raw_open(&self->r, self->cookie));
	self->page = aries_pages(1);
	ASSERT_NE(NULL, self->page);
}

FIXTURE_TEARDOWN(vmdh)
{
	raw_close(&self->r);
	munmap(self->page, ARIES_PAGE);
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

static int block(struct raw *r, uint32_t entries)
{
	struct kgni_mdd_block arg = { .argsz = sizeof(arg), .entries = entries };

	return aries_ioctl(r->fd, KGNI_IOC_MDD_BLOCK, &arg);
}

static int place(struct raw *r, void *page, uint32_t vmdh, struct kgni_mem_register *out)
{
	struct kgni_mem_register arg = { .argsz = sizeof(arg), .flags = KGNI_MEM_VMDH,
					 .address = (uintptr_t)page, .length = 8,
					 .cq = KGNI_NO_CQ, .vmdh = vmdh };
	int rc = aries_ioctl(r->fd, KGNI_IOC_MEM_REGISTER, &arg);

	if (out)
		*out = arg;
	return rc;
}

static int deregister(struct raw *r, uint32_t mdh)
{
	struct kgni_mem_deregister arg = { .argsz = sizeof(arg), .mdh = mdh };

	return aries_ioctl(r->fd, KGNI_IOC_MEM_DEREGISTER, &arg);
}

/* To the start of the region, which is offset 0 wherever it is in the process. */
static uint32_t put(struct raw *r, uint32_t mdh, uint64_t value)
{
	return raw_put(r, 0, mdh, NULL, &value, sizeof(value), 0);
}

TEST_F(vmdh, places)
{
	struct kgni_mem_register mem, any;

	EXPECT_EQ(ENOENT, place(&self->r, self->page, 0, NULL));
	EXPECT_EQ(EINVAL, block(&self->r, 0));
	EXPECT_EQ(ENOSPC, block(&self->r, ARIES_MDD_ENTRIES + 1));
	ASSERT_EQ(0, block(&self->r, 4));
	EXPECT_EQ(EBUSY, block(&self->r, 4));
	ASSERT_EQ(0, place(&self->r, self->page, 2, &mem));
	EXPECT_EQ(2, mem.vmdh);
	EXPECT_EQ(EBUSY, place(&self->r, self->page, 2, NULL));
	EXPECT_EQ(ENOENT, place(&self->r, self->page, 4, NULL));
	EXPECT_EQ(ARIES_ST_OK, put(&self->r, ARIES_MDH_VIRTUAL | 2, 5));
	EXPECT_EQ(5, *(uint64_t *)self->page);
	EXPECT_EQ(ARIES_ST_OK, put(&self->r, mem.mdh, 6));
	EXPECT_EQ(ARIES_ST_MDD, put(&self->r, ARIES_MDH_VIRTUAL | 1, 7));
	EXPECT_EQ(ARIES_ST_MDD, put(&self->r, ARIES_MDH_VIRTUAL | 4, 7));
	ASSERT_EQ(0, place(&self->r, self->page, UINT32_MAX, &any));
	EXPECT_EQ(0, any.vmdh);
	EXPECT_EQ(mem.mdh, any.mdh + 2);
	EXPECT_EQ(0, deregister(&self->r, mem.mdh));
	EXPECT_EQ(ARIES_ST_MDD, put(&self->r, ARIES_MDH_VIRTUAL | 2, 8));
	EXPECT_EQ(6, *(uint64_t *)self->page);
	EXPECT_EQ(0, place(&self->r, self->page, 2, NULL));
	EXPECT_EQ(0, place(&self->r, self->page, 1, NULL));
	EXPECT_EQ(0, place(&self->r, self->page, 3, NULL));
	EXPECT_EQ(ENOSPC, place(&self->r, self->page, UINT32_MAX, NULL));
}

/* Memory domains of the domain, as it is told about them. */
static struct kgni_res mdds(struct raw *r)
{
	struct kgni_res res = { .argsz = sizeof(res), .kind = 1, .ptag = r->at.ptag };

	if (aries_ioctl(r->fd, KGNI_IOC_RES, &res))
		res.used = ~0ull;
	return res;
}

TEST_F(vmdh, not_more_than_the_job_may_have)
{
	struct kgni_job arg = { .argsz = sizeof(arg), .job_id = 7, .cookie = self->cookie,
				.ptag = ARIES_ANY_PTAG, .limit_mdd = 4, .limit_cq = -1,
				.limit_fma = -1 };
	struct kgni_mem_register mem;

	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &arg));
	EXPECT_EQ(ENOSPC, block(&self->r, 5));
	EXPECT_EQ(0, block(&self->r, 4));
	/* the block is all that it may have, and its places are paid for */
	EXPECT_EQ(4, mdds(&self->r).used);
	EXPECT_EQ(ENOSPC, aries_register(self->r.fd, self->page, 8, 0, KGNI_NO_CQ, NULL));
	EXPECT_EQ(0, place(&self->r, self->page, 1, &mem));
	EXPECT_EQ(4, mdds(&self->r).used);
	EXPECT_EQ(0, deregister(&self->r, mem.mdh));
	EXPECT_EQ(4, mdds(&self->r).used);
	arg.limit_mdd = 5;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &arg));
	EXPECT_EQ(0, aries_register(self->r.fd, self->page, 8, 0, KGNI_NO_CQ, &mem));
	EXPECT_EQ(5, mdds(&self->r).used);
	EXPECT_EQ(ENOSPC, aries_register(self->r.fd, self->page, 8, 0, KGNI_NO_CQ, NULL));
	EXPECT_EQ(0, deregister(&self->r, mem.mdh));
	raw_close(&self->r);
	/* everything is back, and may be used in another way */
	ASSERT_EQ(0, raw_open(&self->r, self->cookie));
	EXPECT_EQ(0, mdds(&self->r).used);
	EXPECT_EQ(0, aries_register(self->r.fd, self->page, 8, 0, KGNI_NO_CQ, NULL));
	EXPECT_EQ(ENOSPC, block(&self->r, 5));
	EXPECT_EQ(1, mdds(&self->r).used);
	EXPECT_EQ(0, block(&self->r, 4));
	raw_close(&self->r);
	ASSERT_EQ(0, raw_open(&self->r, aries_cookie()));
	arg.flags = KGNI_JOB_DESTROY;
	EXPECT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &arg));
}

/* Processes of a domain share its block; another domain's packets do not match it. */
TEST_F(vmdh, who_shares)
{
	struct raw same, foreign;

	ASSERT_EQ(0, raw_open(&same, self->cookie));
	ASSERT_EQ(0, raw_open(&foreign, aries_cookie()));
	ASSERT_EQ(0, block(&self->r, 4));
	EXPECT_EQ(ENOENT, place(&same, self->page, 1, NULL));
	EXPECT_EQ(ENOSPC, block(&same, 5));
	EXPECT_EQ(0, block(&same, 4));
	ASSERT_EQ(0, place(&self->r, self->page, 0, NULL));
	EXPECT_EQ(EBUSY, place(&same, self->page, 0, NULL));
	EXPECT_EQ(0, place(&same, self->page, 1, NULL));
	EXPECT_EQ(ARIES_ST_OK, put(&same, ARIES_MDH_VIRTUAL | 0, 1));
	EXPECT_EQ(ARIES_ST_MDD, put(&foreign, ARIES_MDH_VIRTUAL | 0, 2));
	EXPECT_EQ(1, *(uint64_t *)self->page);
	raw_close(&same);
	EXPECT_EQ(ARIES_ST_MDD, put(&self->r, ARIES_MDH_VIRTUAL | 1, 3));
	EXPECT_EQ(ARIES_ST_OK, put(&self->r, ARIES_MDH_VIRTUAL | 0, 4));
	raw_close(&foreign);
}

TEST_HARNESS_MAIN
