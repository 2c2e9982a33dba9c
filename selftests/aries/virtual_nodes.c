// SPDX-License-Identifier: GPL-2.0-only
/*
 * A job with virtual node addresses: datagrams and channel sends name nodes, and are told of them, as
 * everything else of the job does.
 */
#include "dgram.h"
#include "recv.h"
#include "kselftest_harness.h"

#define ABSENT 77u /* node that the table names and nobody has */
#define ENTRIES 3

/* This node is 1 of the job; 0 and 2 are nobody's. */
FIXTURE(nodes)
{
	struct kgni_job job;
	struct kgni_ntt_entry entries[ENTRIES];
	uint32_t base, pe;
	int admin, a, b;
};

static int table(int fd, uint32_t flags, const struct kgni_ntt_entry *entries, uint32_t *base)
{
	struct kgni_ntt arg = { .argsz = sizeof(arg), .flags = flags, .count = ENTRIES,
				.granularity = 1, .base = *base, .entries = (uintptr_t)entries };
	int rc = aries_ioctl(fd, KGNI_IOC_NTT, &arg);

	*base = arg.base;
	return rc;
}

FIXTURE_SETUP(nodes)
{
	struct kgni_query q = { .argsz = sizeof(q) };
	struct kgni_job_ntt tie = { .argsz = sizeof(tie), .flags = KGNI_JOB_NTT_CLEANUP,
				    .size = ENTRIES };
	struct kgni_attach at = {};
	int n;

	self->admin = aries_open();
	self->job = (struct kgni_job){ .argsz = sizeof(self->job), .job_id = 6,
				       .cookie = aries_cookie(), .ptag = ARIES_ANY_PTAG,
				       .limit_mdd = -1, .limit_cq = -1, .limit_fma = -1 };
	self->base = 0;
	ASSERT_EQ(0, aries_ioctl(self->admin, KGNI_IOC_QUERY, &q));
	self->pe = q.pe;
	for (n = 0; n < ENTRIES; n++)
		self->entries[n] = (struct kgni_ntt_entry){ .block = ABSENT + (uint32_t)n };
	self->entries[1].block = q.pe;
	ASSERT_EQ(0, table(self->admin, 0, self->entries, &self->base));
	ASSERT_EQ(0, aries_ioctl(self->admin, KGNI_IOC_JOB, &self->job));
	tie.cookie = self->job.cookie;
	tie.base = self->base;
	ASSERT_EQ(0, aries_ioctl(self->admin, KGNI_IOC_JOB_NTT, &tie));
	self->a = dgram_attached(self->job.cookie, 1, &at);
	ASSERT_LE(0, self->a);
	EXPECT_EQ(1, at.pe);
	self->b = dgram_attached(self->job.cookie, 2, NULL);
	ASSERT_LE(0, self->b);
}

FIXTURE_TEARDOWN(nodes)
{
	close(self->a);
	close(self->b);
	self->job.flags = KGNI_JOB_DESTROY;
	EXPECT_EQ(0, aries_ioctl(self->admin, KGNI_IOC_JOB, &self->job));
	close(self->admin);
}

static uint32_t probed(int fd)
{
	struct kgni_dgram_probe arg = { .argsz = sizeof(arg), .flags = KGNI_DGRAM_ID };

	return aries_ioctl(fd, KGNI_IOC_DGRAM_PROBE, &arg) ? 9999 : arg.pe;
}

TEST_F(nodes, datagrams)
{
	struct kgni_dgram_test t;

	ASSERT_EQ(0, dgram_wildcard(self->b, 7, "from b"));
	ASSERT_EQ(0, dgram_directed(self->a, 5, 1, 2, "from a"));
	EXPECT_EQ(1, probed(self->a));
	ASSERT_EQ(0, dgram_test(self->a, 5, 1000, &t));
	EXPECT_TRUE(dgram_holds(&t, 2, "from b"));
	EXPECT_EQ(1, t.pe);
	EXPECT_EQ(1, probed(self->b));
	ASSERT_EQ(0, dgram_test(self->b, 7, 1000, &t));
	EXPECT_TRUE(dgram_holds(&t, 1, "from a"));
	EXPECT_EQ(1, t.pe);
}

TEST_F(nodes, outside_of_the_job)
{
	struct kgni_dgram_test t;

	EXPECT_EQ(EINVAL, dgram_directed(self->a, 5, ENTRIES, 2, "x"));
	EXPECT_EQ(EINVAL, dgram_directed(self->a, 5, UINT32_MAX, 2, "x"));
	if (ABSENT >= (uint32_t)aries_number("nodes"))
		/* a node that the fabric has not */
		EXPECT_EQ(EINVAL, dgram_directed(self->a, 5, 0, 2, "x"));
	/* one that has left the table meanwhile has no name */
	ASSERT_EQ(0, dgram_wildcard(self->b, 7, ""));
	ASSERT_EQ(0, dgram_directed(self->a, 5, 1, 2, ""));
	self->entries[1].block = ABSENT + 1;
	ASSERT_EQ(0, table(self->admin, KGNI_NTT_CHANGE, self->entries, &self->base));
	EXPECT_EQ(KGNI_NO_PE, probed(self->a));
	ASSERT_EQ(0, dgram_test(self->a, 5, 1000, &t));
	EXPECT_EQ(KGNI_DGRAM_COMPLETED, t.state);
	EXPECT_EQ(KGNI_NO_PE, t.pe);
	self->entries[1].block = self->pe;
	ASSERT_EQ(0, table(self->admin, KGNI_NTT_CHANGE, self->entries, &self->base));
	ASSERT_EQ(0, dgram_test(self->b, 7, 1000, &t));
	EXPECT_EQ(1, t.pe);
}

/* A domain without a table of its own goes on with physical addresses. */
TEST_F(nodes, others)
{
	uint32_t cookie = aries_cookie();
	int a = dgram_attached(cookie, 1, NULL), b = dgram_attached(cookie, 2, NULL);
	struct kgni_dgram_test t;

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, dgram_wildcard(b, 7, "x"));
	ASSERT_EQ(0, dgram_directed(a, 5, self->pe, 2, "y"));
	ASSERT_EQ(0, dgram_test(b, 7, 1000, &t));
	EXPECT_EQ(self->pe, t.pe);
	close(a);
	close(b);
}

TEST_F(nodes, sends)
{
	struct kgni_mem_register mem;
	struct kgni_recv_test t;
	uint8_t *page = aries_pages(1);
	struct raw_cq q;
	struct raw r;
	int nr;

	ASSERT_EQ(0, raw_open(&r, self->job.cookie));
	ASSERT_EQ(0, raw_cq(&r, &q, 8, 0));
	ASSERT_EQ(0, aries_register(r.fd, page, ARIES_PAGE, 0, KGNI_NO_CQ, &mem));
	nr = recv_post(r.fd, mem.mdh, page + 2048, 8, 3, KGNI_NO_CQ);
	ASSERT_LE(0, nr);
	memcpy(page, "message", 8);
	EXPECT_EQ(ARIES_ST_NTT, send_to(&r, &q, ENTRIES, 3, mem.mdh, page, 8));
	EXPECT_EQ(ARIES_ST_OK, send_to(&r, &q, 1, 3, mem.mdh, page, 8));
	EXPECT_EQ(KGNI_RECV_DONE, recv_test(r.fd, nr, &t));
	EXPECT_EQ(1, t.pe);
	EXPECT_EQ(0, memcmp(page + 2048, "message", 8));
	raw_cq_unmap(&q);
	raw_close(&r);
}

TEST_HARNESS_MAIN
