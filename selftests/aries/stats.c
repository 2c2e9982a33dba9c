// SPDX-License-Identifier: GPL-2.0-only
/*
 * What libugni tells of resources and counters is what driver and NIC have: resources are really
 * there to be taken, and no more of them, and each operation counts where it should and nowhere else.
 */
#include <sys/resource.h>

#include "kselftest_harness.h"
#include "raw.h"
#include "ugni_test.h"

static gni_dev_res_desc_t device_has(gni_dev_res_t kind)
{
	gni_dev_res_desc_t d = { .total = (uint64_t)-1 };

	if (GNI_GetDevResInfo(0, kind, &d))
		d.total = (uint64_t)-1;
	return d;
}

static gni_job_res_desc_t job_has(uint8_t ptag, gni_job_res_t kind)
{
	gni_job_res_desc_t d = { .limit = (uint64_t)-1 };

	if (GNI_GetJobResInfo(0, ptag, kind, &d))
		d.limit = (uint64_t)-1;
	return d;
}

/* Each with its sysfs file: two ways to the same truth. */
TEST(devices_resources)
{
	static const struct {
		gni_dev_res_t kind;
		unsigned int total, reserved;
		const char *used, *sysfs_total;
	} all[] = {
		{ GNI_DEV_RES_MDD, ARIES_MDD_ENTRIES, 1, "resources/mdd_used", "resources/mdd_total" },
		{ GNI_DEV_RES_CQ, ARIES_CQ_ENTRIES, 1, "resources/cq_used", "resources/cq_total" },
		{ GNI_DEV_RES_FMA, ARIES_FMA_DESCRIPTORS, 1, "resources/fma_used", "resources/fma_total" },
		{ GNI_DEV_RES_CE, ARIES_CE_CHANNELS, 0, "resources/ce_used", "resources/ce_total" },
	};
	struct ugni_self u;
	size_t i;

	ASSERT_EQ(0, ugni_begin(&u, aries_cookie()));
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		gni_dev_res_desc_t d = device_has(all[i].kind);
		long long used = aries_number(all[i].used);

		EXPECT_EQ(all[i].total, d.total);
		EXPECT_EQ(all[i].reserved, d.reserved);
		EXPECT_EQ(0, d.held);
		EXPECT_EQ(d.total, (uint64_t)used + d.available + d.reserved + d.held);
		EXPECT_EQ(aries_number(all[i].sysfs_total), used + (long long)d.available);
	}
	ugni_end(&u);
}

/* As many as are told to be available can be taken, and then none. */
TEST(what_is_available_can_be_had)
{
	struct rlimit limit = { 4096, 4096 };
	uint64_t left, fma, n;
	uint32_t cookie = aries_cookie();
	int fds[ARIES_FMA_DESCRIPTORS], fd;
	void *page = aries_pages(1);

	setrlimit(RLIMIT_NOFILE, &limit);
	fma = device_has(GNI_DEV_RES_FMA).available;
	ASSERT_GT(ARIES_FMA_DESCRIPTORS, fma);
	for (n = 0; n < fma; n++) {
		fds[n] = aries_attached(cookie, NULL);
		ASSERT_LE(0, fds[n]);
		ASSERT_EQ(fma - n - 1, device_has(GNI_DEV_RES_FMA).available);
	}
	EXPECT_EQ(-ENOSPC, aries_attached(cookie, NULL));
	fd = fds[0];
	left = device_has(GNI_DEV_RES_CQ).available;
	for (n = 0; n < left; n++) {
		ASSERT_EQ(0, aries_cq(fd, 1, 0, NULL));
	}
	EXPECT_EQ(0, device_has(GNI_DEV_RES_CQ).available);
	EXPECT_EQ(ENOSPC, aries_cq(fd, 1, 0, NULL));
	left = device_has(GNI_DEV_RES_MDD).available;
	for (n = 0; n < left; n++) {
		ASSERT_EQ(0, aries_register(fd, page, 8, 0, KGNI_NO_CQ, NULL));
	}
	EXPECT_EQ(0, device_has(GNI_DEV_RES_MDD).available);
	EXPECT_EQ(ENOSPC, aries_register(fd, page, 8, 0, KGNI_NO_CQ, NULL));
	for (n = 0; n < fma; n++)
		close(fds[n]);
	EXPECT_EQ(fma, device_has(GNI_DEV_RES_FMA).available);
}

TEST(jobs_resources)
{
	struct kgni_job job = { .argsz = sizeof(job), .job_id = 5011, .cookie = aries_cookie(),
				.ptag = ARIES_ANY_PTAG, .limit_mdd = 9, .limit_cq = 8,
				.limit_fma = 7 };
	struct kgni_query query = { .argsz = sizeof(query) };
	struct ugni_self u;
	int fd = aries_open();

	ASSERT_EQ(0, aries_ioctl(fd, KGNI_IOC_JOB, &job));
	ASSERT_EQ(0, aries_ioctl(fd, KGNI_IOC_QUERY, &query));
	EXPECT_EQ(9, job_has(job.ptag, GNI_JOB_RES_MDD).limit);
	EXPECT_EQ(8, job_has(job.ptag, GNI_JOB_RES_CQ).limit);
	EXPECT_EQ(7, job_has(job.ptag, GNI_JOB_RES_FMA).limit);
	EXPECT_EQ(ARIES_CE_CHANNELS, job_has(job.ptag, GNI_JOB_RES_CE).limit);
	EXPECT_EQ(7 * query.bte_queue, job_has(job.ptag, GNI_JOB_RES_RMDA).limit);
	EXPECT_EQ(0, job_has(job.ptag, GNI_JOB_RES_MDD).used);
	EXPECT_EQ(0, job_has(job.ptag, GNI_JOB_RES_FMA).used);
	ASSERT_EQ(0, ugni_begin(&u, job.cookie));
	EXPECT_EQ(1, job_has(job.ptag, GNI_JOB_RES_MDD).used);
	EXPECT_EQ(1, job_has(job.ptag, GNI_JOB_RES_CQ).used);
	EXPECT_EQ(1, job_has(job.ptag, GNI_JOB_RES_FMA).used);
	EXPECT_EQ(0, job_has(job.ptag, GNI_JOB_RES_CE).used);
	EXPECT_EQ(0, job_has(job.ptag, GNI_JOB_RES_RMDA).used);
	ugni_end(&u);
	EXPECT_EQ(0, job_has(job.ptag, GNI_JOB_RES_MDD).used);
	EXPECT_EQ(0, job_has(job.ptag, GNI_JOB_RES_CQ).used);
	EXPECT_EQ(0, job_has(job.ptag, GNI_JOB_RES_FMA).used);
	job.flags = KGNI_JOB_DESTROY;
	EXPECT_EQ(0, aries_ioctl(fd, KGNI_IOC_JOB, &job));
	EXPECT_EQ((uint64_t)-1, job_has(job.ptag, GNI_JOB_RES_MDD).limit);
	close(fd);
}

enum { TRAPS, PUTS, GETS, AMOS, BTE_PUTS, BTE_GETS, BTE_BYTES, REQUESTS, RESPONSES, SERVED, EVENTS,
       ERRORS, REFUSED, COUNTERS };

static const char *const counters[COUNTERS] = {
	"fma_traps", "fma_puts", "fma_gets", "fma_amos", "bte_puts", "bte_gets", "bte_bytes",
	"req_packets", "rsp_packets", "rx_requests", "cq_events", "errors", "rx_refused",
};

static void count_all(long long *to)
{
	char name[64];
	int i;

	for (i = 0; i < COUNTERS; i++) {
		snprintf(name, sizeof(name), "stats/%s", counters[i]);
		to[i] = aries_number(name);
	}
}

FIXTURE(stats)
{
	struct ugni_self u;
	long long before[COUNTERS], after[COUNTERS];
};

FIXTURE_SETUP(stats)
{
	ASSERT_EQ(0, ugni_begin(&self->u, aries_cookie()));
	count_all(self->before);
}

FIXTURE_TEARDOWN(stats)
{
	ugni_end(&self->u);
}

#define GREW(by, which) EXPECT_EQ((long long)(by), self->after[which] - self->before[which])

/* Packets are of at most 64 bytes of data (P06). */
TEST_F(stats, puts_and_gets)
{
	gni_post_descriptor_t put = ugni_desc(&self->u, GNI_POST_FMA_PUT, 0, 2048, 64);
	gni_post_descriptor_t get = ugni_desc(&self->u, GNI_POST_FMA_GET, 0, 2048, 64);
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(GNI_RC_SUCCESS, ugni_fma(&self->u, &put));
	}
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(GNI_RC_SUCCESS, ugni_fma(&self->u, &get));
	}
	count_all(self->after);
	GREW(8, TRAPS);
	GREW(3, PUTS);
	GREW(5, GETS);
	GREW(0, AMOS);
	GREW(0, BTE_PUTS);
	GREW(8, REQUESTS);
	GREW(8, RESPONSES);
	GREW(8, SERVED);
	GREW(8, EVENTS);
	GREW(0, ERRORS);
	GREW(0, REFUSED);
}

TEST_F(stats, atomics)
{
	gni_post_descriptor_t amo = ugni_desc(&self->u, GNI_POST_AMO, 0, 2048, 8);
	int i;

	amo.amo_cmd = GNI_FMA_ATOMIC_FADD;
	amo.first_operand = 1;
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(GNI_RC_SUCCESS, ugni_fma(&self->u, &amo));
	}
	EXPECT_EQ(4, *(uint64_t *)(self->u.data + 2048));
	count_all(self->after);
	GREW(4, AMOS);
	GREW(0, PUTS);
	GREW(0, GETS);
	GREW(4, EVENTS);
}

TEST_F(stats, block_transfers)
{
	gni_post_descriptor_t put = ugni_desc(&self->u, GNI_POST_RDMA_PUT, 0, 2 * ARIES_PAGE, 4000);
	gni_post_descriptor_t get = ugni_desc(&self->u, GNI_POST_RDMA_GET, 0, 2 * ARIES_PAGE, 1000);

	ASSERT_EQ(GNI_RC_SUCCESS, ugni_rdma(&self->u, &put));
	ASSERT_EQ(GNI_RC_SUCCESS, ugni_rdma(&self->u, &put));
	ASSERT_EQ(GNI_RC_SUCCESS, ugni_rdma(&self->u, &get));
	count_all(self->after);
	GREW(2, BTE_PUTS);
	GREW(1, BTE_GETS);
	GREW(9000, BTE_BYTES);
	GREW(0, PUTS);
	GREW(0, GETS);
	GREW(3, TRAPS);
	GREW(3, EVENTS);
}

TEST_F(stats, failures)
{
	gni_post_descriptor_t put = ugni_desc(&self->u, GNI_POST_FMA_PUT, 0,
					      UGNI_PAGES * ARIES_PAGE, 8);

	ASSERT_EQ(GNI_RC_TRANSACTION_ERROR, ugni_fma(&self->u, &put));
	count_all(self->after);
	GREW(1, ERRORS);
	GREW(1, REFUSED);
	GREW(1, EVENTS);
}

/* Library counters of a handle: none of these operations ran short of anything. */
TEST_F(stats, library_counters)
{
	gni_post_descriptor_t put = ugni_desc(&self->u, GNI_POST_RDMA_PUT, 0, 2 * ARIES_PAGE, 4000);
	uint32_t value;
	int i;

	ASSERT_EQ(GNI_RC_SUCCESS, ugni_rdma(&self->u, &put));
	for (i = 0; i < GNI_NUM_STATS; i++) {
		value = 77;
		EXPECT_EQ(GNI_RC_SUCCESS, GNI_GetNicStat(self->u.nic, i, &value));
		EXPECT_EQ(0, value) { TH_LOG("%s", gni_statistic_str[i]); }
	}
	EXPECT_EQ(GNI_RC_INVALID_PARAM, GNI_GetNicStat(self->u.nic, GNI_STAT_SMSG_DLA_STALL, NULL));
	EXPECT_EQ(GNI_RC_INVALID_PARAM, GNI_GetNicStat(NULL, GNI_STAT_SMSG_DLA_STALL, &value));
}

TEST_HARNESS_MAIN
