// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions that are populated later, and regions of several pieces.
 */
#include <sys/wait.h>

#include "raw.h"
#include "kselftest_harness.h"

#define PAGES 8

FIXTURE(regions)
{
	struct raw r;
	uint8_t *pages;
	struct aries_use before;
};

FIXTURE_SETUP(regions)
{
	ASSERT_EQ(0, raw_open(&self->r, aries_cookie()));
	self->pages = aries_pages(PAGES);
	ASSERT_NE(NULL, self->pages);
	self->before = aries_use();
}

FIXTURE_TEARDOWN(regions)
{
	munmap(self->pages, PAGES * ARIES_PAGE);
	raw_close(&self->r);
}

static int deregister(struct raw *r, uint32_t mdh)
{
	struct kgni_mem_deregister arg = { .argsz = sizeof(arg), .mdh = mdh };

	return aries_ioctl(r->fd, KGNI_IOC_MEM_DEREGISTER, &arg);
}

static int update(struct raw *r, uint32_t mdh, const void *start, size_t bytes, uint64_t *pages)
{
	struct kgni_mem_update arg = { .argsz = sizeof(arg),
				       .mdh = mdh,
				       .address = (uintptr_t)start,
				       .length = bytes };
	int rc = aries_ioctl(r->fd, KGNI_IOC_MEM_UPDATE, &arg);

	if (pages)
		*pages = arg.pages;
	return rc;
}

static int segments(struct raw *r, const struct kgni_mem_segment *list, uint32_t count,
		    uint32_t flags, struct kgni_mem_segments *out)
{
	struct kgni_mem_segments arg = { .argsz = sizeof(arg),
					 .flags = flags,
					 .segments = (uintptr_t)list,
					 .count = count,
					 .cq = KGNI_NO_CQ };
	int rc = aries_ioctl(r->fd, KGNI_IOC_MEM_SEGMENTS, &arg);

	if (out)
		*out = arg;
	return rc;
}

static uint32_t put(struct raw *r, uint32_t mdh, const void *to, uint64_t value)
{
	return raw_put(r, 0, mdh, to, &value, sizeof(value), 0);
}

TEST_F(regions, populated_page_by_page)
{
	struct kgni_mem_register mem;
	uint64_t pages;

	ASSERT_EQ(0, aries_register(self->r.fd, self->pages, PAGES * ARIES_PAGE, KGNI_MEM_RESERVE,
				    KGNI_NO_CQ, &mem));
	EXPECT_EQ(PAGES, mem.pages);
	EXPECT_EQ(self->before.pages, aries_use().pages);
	EXPECT_EQ(ARIES_ST_MDD, put(&self->r, mem.mdh, self->pages, 1));
	ASSERT_EQ(0, update(&self->r, mem.mdh, self->pages + 2 * ARIES_PAGE + 5, 1, &pages));
	EXPECT_EQ(1, pages);
	EXPECT_EQ(ARIES_ST_TRANSLATION, put(&self->r, mem.mdh, self->pages, 1));
	EXPECT_EQ(ARIES_ST_OK, put(&self->r, mem.mdh, self->pages + 2 * ARIES_PAGE, 0x1234));
	EXPECT_EQ(0x1234, *(uint64_t *)(self->pages + 2 * ARIES_PAGE));
	ASSERT_EQ(0, update(&self->r, mem.mdh, self->pages, PAGES * ARIES_PAGE, &pages));
	EXPECT_EQ(PAGES, pages);
	EXPECT_EQ(self->before.pages + PAGES, aries_use().pages);
	EXPECT_EQ(ARIES_ST_OK, put(&self->r, mem.mdh, self->pages, 7));
	EXPECT_EQ(7, *(uint64_t *)self->pages);
	EXPECT_EQ(0, deregister(&self->r, mem.mdh));
	EXPECT_EQ(ARIES_ST_MDD, put(&self->r, mem.mdh, self->pages, 8));
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

/* The process maps other pages in the middle: the region follows with the next update. */
TEST_F(regions, follows_the_process)
{
	struct kgni_mem_register mem;
	uint8_t *middle = self->pages + 3 * ARIES_PAGE;
	uint64_t pages;

	ASSERT_EQ(0, aries_register(self->r.fd, self->pages, PAGES * ARIES_PAGE, KGNI_MEM_RESERVE,
				    KGNI_NO_CQ, &mem));
	ASSERT_EQ(0, update(&self->r, mem.mdh, self->pages, PAGES * ARIES_PAGE, NULL));
	EXPECT_EQ(ARIES_ST_OK, put(&self->r, mem.mdh, middle, 1));
	ASSERT_EQ(middle, mmap(middle, ARIES_PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	EXPECT_EQ(ARIES_ST_OK, put(&self->r, mem.mdh, middle, 2));
	EXPECT_EQ(0, *(uint64_t *)middle);
	ASSERT_EQ(0, update(&self->r, mem.mdh, middle, ARIES_PAGE, &pages));
	EXPECT_EQ(PAGES, pages);
	EXPECT_EQ(self->before.pages + PAGES, aries_use().pages);
	EXPECT_EQ(ARIES_ST_OK, put(&self->r, mem.mdh, middle, 3));
	EXPECT_EQ(3, *(uint64_t *)middle);
	EXPECT_EQ(ARIES_ST_OK, put(&self->r, mem.mdh, self->pages, 4));
	EXPECT_EQ(4, *(uint64_t *)self->pages);
	EXPECT_EQ(0, deregister(&self->r, mem.mdh));
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

/* What is left populated goes away with the file. */
TEST_F(regions, end_of_the_file)
{
	struct kgni_mem_register mem;
	struct raw other;

	ASSERT_EQ(0, raw_open(&other, aries_cookie()));
	ASSERT_EQ(0, aries_register(other.fd, self->pages, PAGES * ARIES_PAGE, KGNI_MEM_RESERVE,
				    KGNI_NO_CQ, &mem));
	ASSERT_EQ(0, update(&other, mem.mdh, self->pages + ARIES_PAGE, 2 * ARIES_PAGE, NULL));
	raw_close(&other);
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

TEST_F(regions, updates_refused)
{
	struct kgni_mem_register mem, ordinary;
	struct kgni_mem_update arg;
	uint8_t *inner = self->pages + ARIES_PAGE;
	int status = 0;
	pid_t child;

	ASSERT_EQ(0, aries_register(self->r.fd, self->pages, ARIES_PAGE, 0, KGNI_NO_CQ, &ordinary));
	ASSERT_EQ(0, aries_register(self->r.fd, inner, 2 * ARIES_PAGE, KGNI_MEM_RESERVE, KGNI_NO_CQ,
				    &mem));
	EXPECT_EQ(EINVAL, update(&self->r, ordinary.mdh, self->pages, 8, NULL));
	EXPECT_EQ(ENOENT, update(&self->r, ARIES_MDD_ENTRIES, inner, 8, NULL));
	EXPECT_EQ(EINVAL, update(&self->r, mem.mdh, inner, 0, NULL));
	EXPECT_EQ(EINVAL, update(&self->r, mem.mdh, self->pages, 8, NULL));
	EXPECT_EQ(EINVAL, update(&self->r, mem.mdh, inner, 2 * ARIES_PAGE + 1, NULL));
	EXPECT_EQ(EINVAL, update(&self->r, mem.mdh, inner + 2 * ARIES_PAGE, 1, NULL));
	arg = (struct kgni_mem_update){ .argsz = sizeof(arg), .flags = 1, .mdh = mem.mdh,
					.address = (uintptr_t)inner, .length = 1 };
	EXPECT_EQ(EINVAL, aries_ioctl(self->r.fd, KGNI_IOC_MEM_UPDATE, &arg));
	arg.flags = 0;
	arg.reserved = 1;
	EXPECT_EQ(EINVAL, aries_ioctl(self->r.fd, KGNI_IOC_MEM_UPDATE, &arg));
	/* a child has the file and the same addresses, but they are other pages */
	child = fork();
	if (!child)
		_exit(update(&self->r, mem.mdh, inner, 8, NULL));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(EBADF, WEXITSTATUS(status));
	EXPECT_EQ(ARIES_ST_MDD, put(&self->r, mem.mdh, inner, 1));
	ASSERT_EQ(0, munmap(inner + ARIES_PAGE, ARIES_PAGE));
	EXPECT_EQ(EFAULT, update(&self->r, mem.mdh, inner, 2 * ARIES_PAGE, NULL));
	EXPECT_EQ(ARIES_ST_MDD, put(&self->r, mem.mdh, inner, 1));
	EXPECT_EQ(0, deregister(&self->r, ordinary.mdh));
	EXPECT_EQ(0, deregister(&self->r, mem.mdh));
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

TEST_F(regions, several_pieces)
{
	const struct kgni_mem_segment list[] = {
		{ (uintptr_t)self->pages + 6 * ARIES_PAGE + 100, 8 },
		{ (uintptr_t)self->pages, 2 * ARIES_PAGE },
		{ (uintptr_t)self->pages + 4 * ARIES_PAGE, 1 },
	};
	struct kgni_mem_segments mem;
	const uint64_t two[2] = { 0x11, 0x22 };

	ASSERT_EQ(0, segments(&self->r, list, 3, 0, &mem));
	EXPECT_EQ(4, mem.pages);
	EXPECT_EQ(self->before.pages + 4, aries_use().pages);
	EXPECT_EQ(ARIES_ST_OK, raw_put(&self->r, 0, mem.mdh, (void *)(ARIES_PAGE - 8), two, 16, 0));
	EXPECT_EQ(0x11, *(uint64_t *)(self->pages + 7 * ARIES_PAGE - 8));
	EXPECT_EQ(0x22, *(uint64_t *)self->pages);
	EXPECT_EQ(ARIES_ST_OK, put(&self->r, mem.mdh, (void *)(4 * ARIES_PAGE - 8), 0x33));
	EXPECT_EQ(0x33, *(uint64_t *)(self->pages + 5 * ARIES_PAGE - 8));
	EXPECT_EQ(ARIES_ST_BOUNDS, put(&self->r, mem.mdh, (void *)(4 * ARIES_PAGE), 1));
	EXPECT_EQ(EINVAL, update(&self->r, mem.mdh, self->pages, 8, NULL));
	EXPECT_EQ(0, deregister(&self->r, mem.mdh));
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

TEST_F(regions, pieces_refused)
{
	struct kgni_mem_segment list[] = {
		{ (uintptr_t)self->pages, 8 },
		{ (uintptr_t)self->pages + ARIES_PAGE, 0 },
	};

	EXPECT_EQ(EINVAL, segments(&self->r, list, 2, 0, NULL));
	EXPECT_EQ(EINVAL, segments(&self->r, list, 0, 0, NULL));
	EXPECT_EQ(EFBIG, segments(&self->r, list, KGNI_SEGMENTS_MAX + 1, 0, NULL));
	EXPECT_EQ(EINVAL, segments(&self->r, list, 1, KGNI_MEM_RESERVE, NULL));
	EXPECT_EQ(EFAULT, segments(&self->r, NULL, 1, 0, NULL));
	list[1] = (struct kgni_mem_segment){ ARIES_PAGE, 8 };
	EXPECT_EQ(EFAULT, segments(&self->r, list, 2, 0, NULL));
	list[1] = (struct kgni_mem_segment){ -4096ull, 8192 };
	EXPECT_EQ(EINVAL, segments(&self->r, list, 2, 0, NULL));
	list[1] = (struct kgni_mem_segment){ 0, (1ull << 40) + 1 };
	EXPECT_EQ(EFBIG, segments(&self->r, list, 2, 0, NULL));
	/* each fits a handle, not both */
	list[0] = (struct kgni_mem_segment){ ARIES_PAGE, 1ull << 39 };
	list[1] = (struct kgni_mem_segment){ ARIES_PAGE, (1ull << 39) + 1 };
	EXPECT_EQ(EFBIG, segments(&self->r, list, 2, 0, NULL));
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

/* Nanoseconds that the registration of @pages takes, the best of some. */
static double cost(struct raw *r, void *memory, size_t pages)
{
	struct kgni_mem_register mem;
	struct timespec t[2];
	double best = 1e12;
	int i;

	for (i = 0; i < 5; i++) {
		double took;

		clock_gettime(CLOCK_MONOTONIC, &t[0]);
		if (aries_register(r->fd, memory, pages * ARIES_PAGE, 0, KGNI_NO_CQ, &mem))
			return -1;
		clock_gettime(CLOCK_MONOTONIC, &t[1]);
		took = (t[1].tv_sec - t[0].tv_sec) * 1e9 + (t[1].tv_nsec - t[0].tv_nsec);
		best = took < best ? took : best;
		if (mem.pages != pages || deregister(r, mem.mdh))
			return -1;
	}
	return best;
}

/* One call for 16 MiB, and a cost in proportion: a square of it would be 256 times that of 1 MiB. */
TEST_F(regions, one_call_for_much)
{
	const size_t small = 256, large = 16 * small;
	uint8_t *memory = aries_pages(large);
	double one, much;

	ASSERT_NE(NULL, memory);
	memset(memory, 1, large * ARIES_PAGE);
	one = cost(&self->r, memory, small);
	much = cost(&self->r, memory, large);
	TH_LOG("%zu pages %.0f us, %zu pages %.0f us", small, one / 1000, large, much / 1000);
	EXPECT_LT(0, one);
	EXPECT_LT(0, much);
	EXPECT_LT(much, 100 * one);
	munmap(memory, large * ARIES_PAGE);
}

TEST_HARNESS_MAIN
