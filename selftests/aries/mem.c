// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registration of memory.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include "aries_test.h"
#include "kselftest_harness.h"

FIXTURE(mem)
{
	int fd;
	uint8_t *pages;
	struct aries_use before;
};

#define MEM_PAGES 16

FIXTURE_SETUP(mem)
{
	self->fd = aries_attached(aries_cookie(), NULL);
	ASSERT_LE(0, self->fd);
	self->pages = aries_pages(MEM_PAGES);
	ASSERT_NE(NULL, self->pages);
	self->before = aries_use();
}

FIXTURE_TEARDOWN(mem)
{
	munmap(self->pages, MEM_PAGES * ARIES_PAGE);
	close(self->fd);
}

static int deregister(int fd, uint32_t mdh)
{
	struct kgni_mem_deregister arg = { .argsz = sizeof(arg), .mdh = mdh };

	return aries_ioctl(fd, KGNI_IOC_MEM_DEREGISTER, &arg);
}

TEST_F(mem, widened_to_pages)
{
	struct kgni_mem_register mem;

	ASSERT_EQ(0, aries_register(self->fd, self->pages + 100, 1, 0, KGNI_NO_CQ, &mem));
	EXPECT_EQ((uintptr_t)self->pages, mem.base);
	EXPECT_EQ(1, mem.pages);
	EXPECT_LE(12, mem.page_shift);
	EXPECT_EQ(0, deregister(self->fd, mem.mdh));
	ASSERT_EQ(0, aries_register(self->fd, self->pages + 4095, 2, 0, KGNI_NO_CQ, &mem));
	EXPECT_EQ(2, mem.pages);
	EXPECT_EQ(0, deregister(self->fd, mem.mdh));
}

TEST_F(mem, pins_and_unpins)
{
	struct kgni_mem_register mem;
	struct aries_use now;

	ASSERT_EQ(0, aries_register(self->fd, self->pages, MEM_PAGES * ARIES_PAGE, 0, KGNI_NO_CQ,
				    &mem));
	now = aries_use();
	EXPECT_EQ(self->before.mdd + 1, now.mdd);
	EXPECT_EQ(self->before.pages + MEM_PAGES, now.pages);
	EXPECT_EQ(0, deregister(self->fd, mem.mdh));
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

TEST_F(mem, bad_arguments)
{
	int other_fd;
	struct kgni_mem_register mem;

	EXPECT_EQ(EINVAL, aries_register(self->fd, self->pages, 0, 0, KGNI_NO_CQ, NULL));
	EXPECT_EQ(EFAULT, aries_register(self->fd, (void *)ARIES_PAGE, 8, 0, KGNI_NO_CQ, NULL));
	EXPECT_EQ(EINVAL, aries_register(self->fd, (void *)-4096l, 8192, 0, KGNI_NO_CQ, NULL));
	EXPECT_EQ(EFBIG, aries_register(self->fd, self->pages, (1ull << 40) + 1, 0, KGNI_NO_CQ,
					NULL));
	EXPECT_EQ(ENOENT, aries_register(self->fd, self->pages, 8, 0, 0, NULL));
	EXPECT_EQ(ENOENT, aries_register(self->fd, self->pages, 8, 0, ARIES_CQ_ENTRIES, NULL));
	EXPECT_EQ(ENOENT, deregister(self->fd, 0));
	EXPECT_EQ(ENOENT, deregister(self->fd, ARIES_MDD_ENTRIES));
	EXPECT_EQ(ENOENT, deregister(self->fd, UINT32_MAX));

	/* what another file registered is none of ours */
	other_fd = aries_attached(aries_cookie(), NULL);
	ASSERT_LE(0, other_fd);
	ASSERT_EQ(0, aries_register(other_fd, self->pages, 8, 0, KGNI_NO_CQ, &mem));
	EXPECT_EQ(ENOENT, deregister(self->fd, mem.mdh));
	close(other_fd);
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

TEST_F(mem, hole_in_the_middle)
{
	ASSERT_EQ(0, munmap(self->pages + 4 * ARIES_PAGE, ARIES_PAGE));
	EXPECT_EQ(EFAULT, aries_register(self->fd, self->pages, MEM_PAGES * ARIES_PAGE, 0,
					 KGNI_NO_CQ, NULL));
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

TEST_F(mem, memory_that_is_mapped_read_only)
{
	struct kgni_mem_register mem;

	ASSERT_EQ(0, mprotect(self->pages, MEM_PAGES * ARIES_PAGE, PROT_READ));
	EXPECT_EQ(EACCES, aries_register(self->fd, self->pages, 8, 0, KGNI_NO_CQ, NULL));
	ASSERT_EQ(0, aries_register(self->fd, self->pages, 8, KGNI_MEM_READ_ONLY, KGNI_NO_CQ, &mem));
	EXPECT_EQ(0, deregister(self->fd, mem.mdh));
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

TEST_F(mem, twice_is_two_registrations)
{
	struct kgni_mem_register a, b;

	ASSERT_EQ(0, aries_register(self->fd, self->pages, 8, 0, KGNI_NO_CQ, &a));
	ASSERT_EQ(0, aries_register(self->fd, self->pages, 8, 0, KGNI_NO_CQ, &b));
	EXPECT_NE(a.mdh, b.mdh);
	EXPECT_EQ(0, deregister(self->fd, a.mdh));
	EXPECT_EQ(ENOENT, deregister(self->fd, a.mdh));
	EXPECT_EQ(0, deregister(self->fd, b.mdh));
}

/* Exit status of a child without privileges that tries to register more than it may lock. */
static int over_the_limit(uint32_t cookie, void *pages, size_t bytes)
{
	/* twice two pages, each with a page of its table */
	struct rlimit limit = { 6 * ARIES_PAGE, 6 * ARIES_PAGE };
	int status, fd;
	pid_t pid = fork();

	if (!pid) {
		if (setrlimit(RLIMIT_MEMLOCK, &limit) || setgid(ARIES_NOBODY) || setuid(ARIES_NOBODY))
			_exit(254);
		fd = aries_attached(cookie, NULL);
		if (fd < 0)
			_exit(253);
		if (aries_register(fd, pages, 2 * ARIES_PAGE, 0, KGNI_NO_CQ, NULL))
			_exit(252);
		_exit(aries_register(fd, pages, bytes, 0, KGNI_NO_CQ, NULL));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

TEST_F(mem, limit_of_locked_memory)
{
	uint32_t cookie = aries_cookie();
	int fd = aries_attached(cookie, NULL);

	ASSERT_LE(0, fd);
	EXPECT_EQ(EPERM, over_the_limit(cookie, self->pages, MEM_PAGES * ARIES_PAGE));
	EXPECT_EQ(0, over_the_limit(cookie, self->pages, 2 * ARIES_PAGE));
	close(fd);
}

/* The pages stay pinned and registered when the process unmaps them. */
TEST_F(mem, unmapped_after_registration)
{
	struct kgni_mem_register mem;
	void *page = aries_pages(1);

	ASSERT_NE(NULL, page);
	ASSERT_EQ(0, aries_register(self->fd, page, 8, 0, KGNI_NO_CQ, &mem));
	ASSERT_EQ(0, munmap(page, ARIES_PAGE));
	EXPECT_EQ(self->before.pages + 1, aries_use().pages);
	EXPECT_EQ(0, deregister(self->fd, mem.mdh));
	EXPECT_EQ(self->before.pages, aries_use().pages);
}

TEST_HARNESS_MAIN
