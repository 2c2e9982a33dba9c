// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who frees much keeps nobody waiting: while one thread gives a large region back, others of the
 * same file go on. A peer that keeps the NIC from letting go: selftests/cluster/test_reset.py.
 */
#include <pthread.h>

#include "raw.h"
#include "kselftest_harness.h"

#define LARGE (96ul << 20)
#define ROUNDS 30 /* the other processor may not get on while the host is busy */
#define OTHERS 20 /* calls of which none is possible while somebody has the file to itself */

FIXTURE(unlocked)
{
	int fd;
	uint8_t *pages;
	struct aries_use before;
};

FIXTURE_SETUP(unlocked)
{
	self->before = aries_use();
	self->fd = aries_attached(aries_cookie(), NULL);
	ASSERT_LE(0, self->fd);
	self->pages = aries_pages(LARGE / ARIES_PAGE);
	ASSERT_NE(NULL, self->pages);
	madvise(self->pages, LARGE, MADV_NOHUGEPAGE);
	memset(self->pages, 1, LARGE);
}

FIXTURE_TEARDOWN(unlocked)
{
	close(self->fd);
	munmap(self->pages, LARGE);
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

struct giver {
	int fd;
	uint32_t mdh;
	volatile int begun, over;
	int rc;
};

static void *give_back(void *arg)
{
	struct giver *g = arg;
	struct kgni_mem_deregister dereg = { .argsz = sizeof(dereg), .mdh = g->mdh };

	g->begun = 1;
	g->rc = aries_ioctl(g->fd, KGNI_IOC_MEM_DEREGISTER, &dereg);
	g->over = 1;
	return NULL;
}

/* Calls that need the file's lock, made while the region was given back; or -1. */
static long meanwhile(int fd, uint32_t mdh)
{
	struct giver g = { .fd = fd, .mdh = mdh };
	struct kgni_ce_free none = { .argsz = sizeof(none), .ce = ARIES_CE_CHANNELS };
	pthread_t thread;
	long calls = 0;

	if (pthread_create(&thread, NULL, give_back, &g))
		return -1;
	while (!g.begun)
		;
	while (!g.over) {
		if (aries_ioctl(fd, KGNI_IOC_CE_FREE, &none) != ENOENT)
			calls = -1;
		if (calls < 0)
			break;
		calls += !g.over;
	}
	pthread_join(thread, NULL);
	return g.rc ? -1 : calls;
}

static long most_calls(int fd, void *pages, uint32_t flags)
{
	struct kgni_mem_register mem;
	long calls, most = 0;
	int i;

	for (i = 0; i < ROUNDS && most <= OTHERS; i++) {
		struct kgni_mem_update update = { .argsz = sizeof(update),
						  .address = (uintptr_t)pages, .length = LARGE };

		if (aries_register(fd, pages, LARGE, flags, KGNI_NO_CQ, &mem))
			return -1;
		update.mdh = mem.mdh;
		if (flags & KGNI_MEM_RESERVE && aries_ioctl(fd, KGNI_IOC_MEM_UPDATE, &update))
			return -1;
		calls = meanwhile(fd, mem.mdh);
		if (calls < 0)
			return -1;
		most = calls > most ? calls : most;
	}
	return most;
}

TEST_F(unlocked, a_large_region)
{
	const long calls = most_calls(self->fd, self->pages, 0);

	TH_LOG("%ld calls of another thread", calls);
	EXPECT_LT(OTHERS, calls);
}

TEST_F(unlocked, a_populated_region)
{
	const long calls = most_calls(self->fd, self->pages, KGNI_MEM_RESERVE);

	TH_LOG("%ld calls of another thread", calls);
	EXPECT_LT(OTHERS, calls);
}

TEST_F(unlocked, everything_is_back_when_a_call_returns)
{
	struct kgni_mem_register mem;
	struct kgni_mem_update update = { .argsz = sizeof(update),
					  .address = (uintptr_t)self->pages, .length = LARGE };
	struct kgni_mem_deregister dereg = { .argsz = sizeof(dereg) };

	ASSERT_EQ(0, aries_register(self->fd, self->pages, LARGE, KGNI_MEM_RESERVE, KGNI_NO_CQ,
				    &mem));
	update.mdh = mem.mdh;
	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_MEM_UPDATE, &update));
	/* all pages are others now */
	ASSERT_EQ(self->pages, mmap(self->pages, LARGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	madvise(self->pages, LARGE, MADV_NOHUGEPAGE);
	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_MEM_UPDATE, &update));
	EXPECT_EQ(LARGE / ARIES_PAGE, update.pages);
	EXPECT_EQ(self->before.pages + (long long)(LARGE / ARIES_PAGE), aries_use().pages);
	dereg.mdh = mem.mdh;
	EXPECT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_MEM_DEREGISTER, &dereg));
	EXPECT_EQ(self->before.pages, aries_use().pages);
}

TEST_HARNESS_MAIN
