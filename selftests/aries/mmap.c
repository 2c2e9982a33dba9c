// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a process may map, and how.
 */
#include <setjmp.h>
#include <signal.h>

#include "aries_test.h"
#include "kselftest_harness.h"

FIXTURE(map)
{
	int fd;
	struct kgni_attach attach;
};

FIXTURE_SETUP(map)
{
	self->fd = aries_attached(aries_cookie(), &self->attach);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(map)
{
	close(self->fd);
}

/* 0, or the errno of mmap(). */
static int try_map(int fd, uint64_t offset, size_t size, int prot, int flags)
{
	void *p = mmap(NULL, size, prot, flags, fd, (off_t)offset);

	if (p == MAP_FAILED)
		return errno;
	munmap(p, size);
	return 0;
}

static const int rw = PROT_READ | PROT_WRITE;

TEST_F(map, own_regions)
{
	EXPECT_EQ(0, try_map(self->fd, self->attach.desc_offset, ARIES_DESC_STRIDE, rw, MAP_SHARED));
	EXPECT_EQ(0, try_map(self->fd, self->attach.doorbell_offset, ARIES_PAGE, rw, MAP_SHARED));
	EXPECT_EQ(0, try_map(self->fd, self->attach.put_offset, self->attach.put_size, rw,
			     MAP_SHARED));
	EXPECT_EQ(0, try_map(self->fd, self->attach.get_offset, self->attach.put_size, rw,
			     MAP_SHARED));
}

TEST_F(map, not_more_than_a_region)
{
	EXPECT_EQ(EINVAL, try_map(self->fd, self->attach.desc_offset,
				  ARIES_DESC_STRIDE + ARIES_PAGE, rw, MAP_SHARED));
	EXPECT_EQ(EINVAL, try_map(self->fd, self->attach.doorbell_offset, 2 * ARIES_PAGE, rw,
				  MAP_SHARED));
	EXPECT_EQ(EINVAL, try_map(self->fd, self->attach.put_offset,
				  self->attach.put_size + ARIES_PAGE, rw, MAP_SHARED));
}

TEST_F(map, small_window)
{
	struct kgni_attach arg = aries_attach_arg(aries_cookie());
	int fd = aries_open();

	ASSERT_LE(0, fd);
	arg.modes = 0x00200000; /* GNI_CDM_MODE_FMA_SMALL_WINDOW */
	ASSERT_EQ(0, aries_ioctl(fd, KGNI_IOC_ATTACH, &arg));
	EXPECT_EQ(ARIES_FMA_SMALL_WINDOW, arg.put_size);
	EXPECT_EQ(ARIES_FMA_SMALL_WINDOW, aries_number("fma_sm_win_sz"));
	EXPECT_EQ(0, try_map(fd, arg.put_offset, arg.put_size, rw, MAP_SHARED));
	EXPECT_EQ(0, try_map(fd, arg.get_offset, arg.put_size, rw, MAP_SHARED));
	EXPECT_EQ(EINVAL, try_map(fd, arg.put_offset, arg.put_size + ARIES_PAGE, rw, MAP_SHARED));
	EXPECT_EQ(EINVAL, try_map(fd, arg.get_offset, ARIES_FMA_WINDOW, rw, MAP_SHARED));
	close(fd);
}

TEST_F(map, not_from_the_middle)
{
	EXPECT_EQ(EINVAL, try_map(self->fd, self->attach.desc_offset + ARIES_PAGE, ARIES_PAGE, rw,
				  MAP_SHARED));
	EXPECT_EQ(EINVAL, try_map(self->fd, self->attach.put_offset + ARIES_PAGE, ARIES_PAGE, rw,
				  MAP_SHARED));
}

TEST_F(map, not_private_and_not_executable)
{
	EXPECT_EQ(EINVAL, try_map(self->fd, self->attach.desc_offset, ARIES_PAGE, rw, MAP_PRIVATE));
	EXPECT_EQ(EPERM, try_map(self->fd, self->attach.desc_offset, ARIES_PAGE, rw | PROT_EXEC,
				 MAP_SHARED));
}

TEST_F(map, not_before_attach)
{
	int fd = aries_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(ENOTCONN, try_map(fd, self->attach.desc_offset, ARIES_PAGE, rw, MAP_SHARED));
	close(fd);
}

TEST_F(map, no_queue_of_another)
{
	int other = aries_attached(aries_cookie(), NULL);
	struct kgni_cq_create cq;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, aries_cq(other, 1, 0, &cq));
	EXPECT_EQ(ENXIO, try_map(self->fd, cq.mmap_offset, cq.mmap_size, rw, MAP_SHARED));
	EXPECT_EQ(0, try_map(other, cq.mmap_offset, cq.mmap_size, rw, MAP_SHARED));
	close(other);
}

TEST_F(map, queue_is_gone_after_destroy)
{
	struct kgni_cq_create cq;
	struct kgni_cq_destroy destroy = { .argsz = sizeof(destroy) };

	ASSERT_EQ(0, aries_cq(self->fd, 1, 0, &cq));
	destroy.cq = cq.cq;
	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_CQ_DESTROY, &destroy));
	EXPECT_EQ(ENXIO, try_map(self->fd, cq.mmap_offset, cq.mmap_size, rw, MAP_SHARED));
}

static sigjmp_buf back;

static void on_sigbus(int sig)
{
	siglongjmp(back, sig);
}

/* A mapping that outlives its queue must not show memory that belongs to somebody else now. */
TEST_F(map, old_mapping_of_a_destroyed_queue_faults)
{
	struct kgni_cq_create cq;
	struct kgni_cq_destroy destroy = { .argsz = sizeof(destroy) };
	volatile uint64_t *slots;

	ASSERT_EQ(0, aries_cq(self->fd, 1, 0, &cq));
	slots = mmap(NULL, cq.mmap_size, rw, MAP_SHARED, self->fd, (off_t)cq.mmap_offset);
	ASSERT_NE(MAP_FAILED, (void *)slots);
	EXPECT_EQ(0, slots[0]);
	destroy.cq = cq.cq;
	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_CQ_DESTROY, &destroy));
	signal(SIGBUS, on_sigbus);
	if (!sigsetjmp(back, 1)) {
		uint64_t value = slots[0];

		EXPECT_TRUE(0) {
			TH_LOG("read %#llx", (unsigned long long)value);
		}
	}
	signal(SIGBUS, SIG_DFL);
}

/* The number of a queue comes back: an old mapping is no way past the end of the new, smaller one. */
TEST_F(map, old_mapping_of_a_larger_queue)
{
	struct kgni_cq_create large, cq = { .cq = ~0u };
	struct kgni_cq_destroy destroy = { .argsz = sizeof(destroy) };
	volatile uint64_t *slots;
	unsigned int n;

	ASSERT_EQ(0, aries_cq(self->fd, 4096, 0, &large));
	slots = mmap(NULL, large.mmap_size, rw, MAP_SHARED, self->fd, (off_t)large.mmap_offset);
	ASSERT_NE(MAP_FAILED, (void *)slots);
	for (n = 0; n <= ARIES_CQ_ENTRIES && cq.cq != large.cq; n++) {
		destroy.cq = n ? cq.cq : large.cq;
		ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_CQ_DESTROY, &destroy));
		ASSERT_EQ(0, aries_cq(self->fd, 1, 0, &cq));
	}
	ASSERT_EQ(large.cq, cq.cq);
	ASSERT_GT(large.mmap_size, cq.mmap_size);
	signal(SIGBUS, on_sigbus);
	if (!sigsetjmp(back, 1)) {
		slots[cq.mmap_size / 8] = 0x5ec2e75ec2e75ec2ull;
		EXPECT_TRUE(0);
	}
	signal(SIGBUS, SIG_DFL);
	munmap((void *)slots, large.mmap_size);
}

static int has_flag(const char *flags, const char *flag)
{
	char word[8];

	snprintf(word, sizeof(word), " %s ", flag);
	return !!strstr(flags, word);
}

/* The line "VmFlags:" of a mapping. */
static void vm_flags(const void *p, char *line, int size)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	char start[32];
	int here = 0;

	snprintf(start, sizeof(start), "%lx-", (unsigned long)p);
	while (f && fgets(line, size, f)) {
		here |= !strncmp(line, start, strlen(start));
		if (here && !strncmp(line, "VmFlags:", 8))
			break;
	}
	if (f)
		fclose(f);
}

/* Not moved, grown, cut, made executable, inherited or dumped. */
TEST_F(map, stays_as_it_is)
{
	uint8_t *put = mmap(NULL, self->attach.put_size, rw, MAP_SHARED, self->fd,
			    (off_t)self->attach.put_offset);
	static const char *const flags[] = { "io", "pf", "de", "dc", "dd" };
	char line[256] = "";
	unsigned int i;

	ASSERT_NE(MAP_FAILED, (void *)put);
	EXPECT_EQ(MAP_FAILED, mremap(put, self->attach.put_size, self->attach.put_size,
				     MREMAP_MAYMOVE | MREMAP_FIXED, put + (1ul << 32)));
	EXPECT_EQ(MAP_FAILED, mremap(put, self->attach.put_size,
				     self->attach.put_size + ARIES_PAGE, MREMAP_MAYMOVE));
	EXPECT_EQ(-1, munmap(put, ARIES_PAGE));
	EXPECT_EQ(-1, mprotect(put, ARIES_PAGE, PROT_READ));
	EXPECT_EQ(-1, mprotect(put, self->attach.put_size, PROT_READ | PROT_EXEC));
	EXPECT_EQ(-1, madvise(put, self->attach.put_size, MADV_DOFORK));
	EXPECT_EQ(-1, madvise(put, self->attach.put_size, MADV_DODUMP));
	vm_flags(put, line, sizeof(line));
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		EXPECT_TRUE(has_flag(line, flags[i])) {
			TH_LOG("no %s: %s", flags[i], line);
		}
	}
	EXPECT_EQ(0, munmap(put, self->attach.put_size));
}

/* The descriptor area is memory, the doorbell page reads as zeros. */
TEST_F(map, contents)
{
	volatile uint64_t *area, *bell;
	uint64_t old;

	area = mmap(NULL, ARIES_DESC_STRIDE, rw, MAP_SHARED, self->fd,
		    (off_t)self->attach.desc_offset);
	bell = mmap(NULL, ARIES_PAGE, rw, MAP_SHARED, self->fd,
		    (off_t)self->attach.doorbell_offset);
	ASSERT_NE(MAP_FAILED, (void *)area);
	ASSERT_NE(MAP_FAILED, (void *)bell);
	old = area[ARIES_DESC_LINE / 8];
	area[ARIES_DESC_LINE / 8] = ~old;
	EXPECT_EQ(~old, area[ARIES_DESC_LINE / 8]);
	bell[ARIES_DB_NULL / 8] = 1;
	EXPECT_EQ(0, bell[0]);
	munmap((void *)area, ARIES_DESC_STRIDE);
	munmap((void *)bell, ARIES_PAGE);
}

/* What a process left in its area is not shown to the next one. */
TEST_F(map, area_is_clean_for_the_next_process)
{
	unsigned int tries, n;

	for (tries = 0; tries < 3; tries++) {
		struct kgni_attach attach;
		int fd = aries_attached(aries_cookie(), &attach);
		volatile uint64_t *area;

		ASSERT_LE(0, fd);
		area = mmap(NULL, ARIES_DESC_STRIDE, rw, MAP_SHARED, fd, (off_t)attach.desc_offset);
		ASSERT_NE(MAP_FAILED, (void *)area);
		for (n = 0; n < ARIES_DESC_STRIDE / 8; n++) {
			EXPECT_EQ(0, area[n]);
			area[n] = 0x5ec2e75ec2e75ec2ull;
		}
		munmap((void *)area, ARIES_DESC_STRIDE);
		close(fd);
	}
}

TEST_HARNESS_MAIN
