// SPDX-License-Identifier: GPL-2.0-only
/*
 * FMA descriptors that several attachments use in turn: each finds its own content and its own
 * rights, all make progress, and one that does not want to share is refused.
 */
#include <pthread.h>

#include "raw.h"
#include "kselftest_harness.h"

#define FMA_SHARED 0x00020000u
#define SHARERS 3
#define ROUNDS 300
#define PAIRS 2
#define SFMA 10

/* A domain that may have @descriptors FMA descriptors. */
static int limited(struct kgni_job *job, uint32_t cookie, int descriptors)
{
	int fd = aries_open(), rc;

	*job = (struct kgni_job){ .argsz = sizeof(*job), .job_id = 77, .cookie = cookie,
				  .ptag = ARIES_ANY_PTAG, .limit_mdd = -1, .limit_cq = -1,
				  .limit_fma = descriptors };
	rc = aries_ioctl(fd, KGNI_IOC_JOB, job);
	close(fd);
	return rc;
}

static int destroy(struct kgni_job *job)
{
	int fd = aries_open(), rc;

	job->flags = KGNI_JOB_DESTROY;
	rc = aries_ioctl(fd, KGNI_IOC_JOB, job);
	close(fd);
	return rc;
}

struct user {
	struct raw r;
	struct raw_cq cq;
	struct kgni_mem_register mem;
	uint64_t *words;
	int bad;
};

static int user_open(struct user *u, uint32_t cookie)
{
	int rc;

	memset(u, 0, sizeof(*u));
	rc = raw_open_mode(&u->r, cookie, FMA_SHARED);
	if (rc)
		return rc;
	u->words = aries_pages(1);
	rc = raw_cq(&u->r, &u->cq, 64, 0);
	return rc ? rc : aries_register(u->r.fd, u->words, ARIES_PAGE, 0, KGNI_NO_CQ, &u->mem);
}

/* The mapping of the queue holds the file as well. */
static void user_close(struct user *u)
{
	munmap((void *)u->cq.header, u->cq.c.mmap_size);
	raw_close(&u->r);
}

FIXTURE(share)
{
	struct kgni_job job;
	uint32_t cookie;
	struct user u[SHARERS];
};

FIXTURE_SETUP(share)
{
	int i;

	self->cookie = aries_cookie();
	ASSERT_EQ(0, limited(&self->job, self->cookie, 1));
	for (i = 0; i < SHARERS; i++) {
		ASSERT_EQ(0, user_open(&self->u[i], self->cookie));
	}
}

FIXTURE_TEARDOWN(share)
{
	int i;

	for (i = 0; i < SHARERS; i++)
		user_close(&self->u[i]);
	EXPECT_EQ(0, destroy(&self->job));
}

static int one_put(struct user *u, uint64_t value)
{
	uint64_t entry;

	if (raw_put(&u->r, u->cq.c.cq, u->mem.mdh, &u->words[value % 512], &value, 8,
		    ARIES_EV_GLOBAL))
		return -1;
	entry = raw_take(&u->cq);
	if (!entry || raw_entry_status(entry))
		return -1;
	return u->words[value % 512] == value ? 0 : -1;
}

TEST_F(share, one_descriptor_for_all)
{
	struct kgni_res res = { .argsz = sizeof(res), .kind = SFMA, .ptag = self->u[0].r.at.ptag };
	struct kgni_res fma = { .argsz = sizeof(fma), .kind = 6, .ptag = self->u[0].r.at.ptag };
	int i;

	for (i = 1; i < SHARERS; i++) {
		EXPECT_EQ(self->u[0].r.at.fmad, self->u[i].r.at.fmad);
		EXPECT_NE(self->u[0].r.at.owner, self->u[i].r.at.owner);
	}
	EXPECT_EQ(0, aries_ioctl(self->u[0].r.fd, KGNI_IOC_RES, &res));
	EXPECT_EQ(SHARERS, res.used);
	EXPECT_EQ(0, aries_ioctl(self->u[0].r.fd, KGNI_IOC_RES, &fma));
	EXPECT_EQ(1, fma.used);
}

TEST_F(share, content_is_kept_and_not_seen)
{
	volatile uint64_t *area[SHARERS];
	size_t k;
	int i;

	for (i = 0; i < SHARERS; i++) {
		area[i] = (volatile uint64_t *)self->u[i].r.area;
		for (k = 0; k < ARIES_DESC_STRIDE / 8; k++) {
			ASSERT_EQ(0, area[i][k]);
		}
		for (k = 0; k < ARIES_DESC_STRIDE / 8; k++)
			area[i][k] = (uint64_t)(i + 1) << 32 | k;
	}
	for (i = 0; i < SHARERS; i++)
		for (k = 0; k < ARIES_DESC_STRIDE / 8; k++) {
			ASSERT_EQ((uint64_t)(i + 1) << 32 | k, area[i][k]);
		}
}

/* Who comes last gets the descriptor that fewest use. */
TEST(users_are_spread)
{
	uint32_t cookie = aries_cookie();
	unsigned int first = 0, i;
	struct kgni_job job;
	struct user u[2 * PAIRS];

	ASSERT_EQ(0, limited(&job, cookie, 2));
	for (i = 0; i < 2 * PAIRS; i++) {
		ASSERT_EQ(0, user_open(&u[i], cookie));
		first += u[i].r.at.fmad == u[0].r.at.fmad;
	}
	EXPECT_EQ(PAIRS, first);
	for (i = 0; i < 2 * PAIRS; i++)
		user_close(&u[i]);
	EXPECT_EQ(0, destroy(&job));
}

/* A queue may only be named by its owner: it would fail if the rights did not come along. */
TEST_F(share, each_has_its_own_rights)
{
	int i, round;

	for (round = 0; round < 20; round++)
		for (i = 0; i < SHARERS; i++) {
			ASSERT_EQ(0, one_put(&self->u[i], round * 16 + i));
		}
	EXPECT_EQ(ARIES_ST_CQ_OWNER | ARIES_ST_LOCAL,
		  raw_put(&self->u[0].r, self->u[1].cq.c.cq, self->u[0].mem.mdh,
			  self->u[0].words, "abcd", 4, ARIES_EV_GLOBAL) | ARIES_ST_LOCAL);
	EXPECT_EQ(0, raw_take(&self->u[1].cq));
}

static void *many_puts(void *arg)
{
	struct user *u = arg;
	uint64_t i;

	for (i = 0; i < ROUNDS; i++)
		u->bad += one_put(u, i * 3 + 1) != 0;
	return NULL;
}

TEST_F(share, all_at_once)
{
	pthread_t threads[SHARERS];
	int i;

	for (i = 0; i < SHARERS; i++) {
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, many_puts, &self->u[i]));
	}
	for (i = 0; i < SHARERS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < SHARERS; i++) {
		EXPECT_EQ(0, self->u[i].bad);
	}
}

/* One leaves with a block transfer under way; the others notice nothing. */
TEST_F(share, one_leaves)
{
	EXPECT_EQ(0, one_put(&self->u[0], 1));
	EXPECT_EQ(0, one_put(&self->u[1], 2));
	EXPECT_EQ(0, raw_block(&self->u[1].r, self->u[1].cq.c.cq, ARIES_BTE_PUT,
			       self->u[1].mem.mdh, self->u[1].words, self->u[1].words + 256, 1024));
	user_close(&self->u[1]);
	EXPECT_EQ(0, one_put(&self->u[0], 3));
	EXPECT_EQ(0, one_put(&self->u[2], 4));
	ASSERT_EQ(0, user_open(&self->u[1], self->cookie));
	EXPECT_EQ(self->u[0].r.at.fmad, self->u[1].r.at.fmad);
	EXPECT_EQ(0, one_put(&self->u[1], 5));
}

TEST_F(share, who_must_have_one_alone_is_refused)
{
	struct kgni_job job;
	uint32_t cookie = aries_cookie();
	struct raw other;

	EXPECT_EQ(-ENOSPC, aries_attached(self->cookie, NULL));
	/* nor is there one of another domain to be had */
	ASSERT_EQ(0, limited(&job, cookie, 0));
	EXPECT_EQ(ENOSPC, raw_open_mode(&other, cookie, FMA_SHARED));
	EXPECT_EQ(0, destroy(&job));
}

/* Stores to windows and their end, in turn: the failure of one is not told to another. */
TEST_F(share, windows)
{
	volatile uint64_t *window[2];
	struct user *u = self->u;
	int i;

	for (i = 0; i < 2; i++) {
		const struct aries_fma_desc desc = { .pe = u[i].r.at.pe,
						     .mdh = (uint16_t)u[i].mem.mdh,
						     .offset = raw_offset(u[i].words),
						     .cq = (uint16_t)u[i].cq.c.cq };

		window[i] = mmap(NULL, ARIES_FMA_WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED,
				 u[i].r.fd, (off_t)u[i].r.at.put_offset);
		ASSERT_NE(MAP_FAILED, window[i]);
		memcpy((void *)(u[i].r.area + ARIES_DESC_FMA), &desc, sizeof(desc));
	}
	window[0][0] = 7;
	window[1][0] = 8;
	window[0][ARIES_PAGE / 8] = 9; /* behind the end of the region */
	window[1][1] = 10;
	for (i = 1; i >= 0; i--)
		u[i].r.bell[ARIES_DB_FMA / 8] =
			(uint64_t)ARIES_FMA_CLOSE << ARIES_DB_OP_SHIFT |
			(uint64_t)ARIES_EV_GLOBAL << ARIES_DB_MODE_SHIFT;
	EXPECT_EQ(7, u[0].words[0]);
	EXPECT_EQ(8, u[1].words[0]);
	EXPECT_EQ(10, u[1].words[1]);
	EXPECT_EQ(ARIES_ST_OK, raw_entry_status(raw_take(&u[1].cq)));
	EXPECT_EQ(ARIES_ST_BOUNDS, raw_entry_status(raw_take(&u[0].cq)));
	for (i = 0; i < 2; i++)
		munmap((void *)window[i], ARIES_FMA_WINDOW);
}

TEST_F(share, places_of_others_do_not_exist)
{
	struct raw *r = &self->u[0].r;
	void *p;

	p = mmap(NULL, ARIES_PAGE, PROT_WRITE, MAP_SHARED, r->fd,
		 (off_t)self->u[1].r.at.desc_offset);
	EXPECT_EQ(MAP_FAILED, p);
	EXPECT_EQ(EINVAL, errno);
	p = mmap(NULL, ARIES_PAGE, PROT_WRITE, MAP_SHARED, r->fd, 0);
	EXPECT_EQ(MAP_FAILED, p);
	EXPECT_EQ(EINVAL, errno);
}

/* More attachments than a NIC has descriptors. */
TEST(more_than_there_are)
{
	enum { MORE = ARIES_FMA_DESCRIPTORS + 20 };
	struct aries_use before = aries_use();
	uint32_t cookie = aries_cookie();
	static struct user u[MORE];
	int n;

	for (n = 0; n < MORE; n++) {
		ASSERT_EQ(0, user_open(&u[n], cookie)) {
			TH_LOG("attachment %d", n + 1);
		}
	}
	for (n = 0; n < MORE; n++) {
		ASSERT_EQ(0, one_put(&u[n], n + 1));
	}
	for (n = 0; n < MORE; n++)
		user_close(&u[n]);
	EXPECT_TRUE(aries_use_equal(before, aries_use()));
}

TEST_HARNESS_MAIN
