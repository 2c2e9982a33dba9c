// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a child of fork() has when the regions that kept memory from it have ended: all of it, and
 * the parent has no more mappings than before. Memory that moved, huge pages, and a process that
 * has as many mappings as it may have.
 */
#include "child.h"
#include "kselftest_harness.h"

#define HUGE (2ul << 20)
#define MANY 500

FIXTURE(memory)
{
	struct ugni_self u;
	long max_maps;
	long huge_pages;
};

static long sysctl(const char *name, long value)
{
	char path[64];
	long before = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/vm/%s", name);
	f = fopen(path, "r+");
	if (!f)
		return -1;
	if (fscanf(f, "%ld", &before) != 1)
		before = -1;
	rewind(f);
	fprintf(f, "%ld\n", value);
	return fclose(f) ? -1 : before;
}

static unsigned int mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned int n = 0;
	int c;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

struct span {
	volatile uint8_t *from;
	size_t bytes;
};

static int touch(void *argument)
{
	const struct span *s = argument;
	size_t i;

	signal(SIGSEGV, SIG_DFL);
	for (i = 0; i < s->bytes; i += ARIES_PAGE)
		(void)s->from[i];
	return 0;
}

/* 0: a child has all of it. */
static int child_reads(void *from, size_t bytes)
{
	struct span s = { from, bytes };

	return in_child(touch, &s);
}

FIXTURE_SETUP(memory)
{
	self->max_maps = -1;
	self->huge_pages = -1;
	ASSERT_EQ(0, ugni_begin_modes(&self->u, aries_cookie(), FORK_PARTCOPY));
	/* what in_child() maps is there before mappings are counted */
	ASSERT_EQ(0, child_reads(self, 1));
}

FIXTURE_TEARDOWN(memory)
{
	ugni_end(&self->u);
	if (self->max_maps >= 0)
		sysctl("max_map_count", self->max_maps);
	if (self->huge_pages >= 0)
		sysctl("nr_hugepages", self->huge_pages);
}

static int keep(struct ugni_self *u, void *from, size_t bytes, gni_mem_handle_t *mem)
{
	return GNI_MemRegister(u->nic, (uintptr_t)from, bytes, NULL, 0, -1, mem);
}

TEST_F_TIMEOUT(memory, moved_while_registered, 2 * LIMIT)
{
	const size_t bytes = 16 * ARIES_PAGE;
	char *from = aries_pages(16), *to = mmap(NULL, 2 * bytes, PROT_NONE,
						 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	gni_mem_handle_t mem;

	ASSERT_NE(NULL, from);
	ASSERT_NE(MAP_FAILED, (void *)to);
	memset(from, 1, bytes);
	ASSERT_EQ(0, keep(&self->u, from, bytes, &mem));
	EXPECT_EQ(1000 + SIGSEGV, child_reads(from, bytes));
	ASSERT_EQ(to, mremap(from, bytes, 2 * bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to));
	EXPECT_EQ(0, GNI_MemDeregister(self->u.nic, &mem));
	EXPECT_EQ(0, child_reads(to, 2 * bytes));
	munmap(to, 2 * bytes);
}

/* Regions in huge pages, in the order in which they begin; they end in both orders. */
static const struct {
	size_t from[2], bytes[2];
} parts[] = {
	{ { 0, 0 }, { HUGE, ARIES_PAGE } },
	{ { 0, 0 }, { ARIES_PAGE, HUGE } },
	{ { 0, HUGE / 2 }, { 2 * HUGE, HUGE } },
	{ { 0, ARIES_PAGE }, { HUGE, 2 * ARIES_PAGE } },
};

TEST_F_TIMEOUT(memory, huge_pages_in_part, 4 * LIMIT)
{
	gni_mem_handle_t mem[2];
	unsigned int i, before;
	char *p;

	self->huge_pages = sysctl("nr_hugepages", 4);
	p = mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
		 -1, 0);
	if (p == MAP_FAILED)
		SKIP(return, "no huge pages");
	memset(p, 1, 2 * HUGE);
	/* the kernel never joins mappings of huge pages: a border between the two stays */
	madvise(p, HUGE, MADV_DONTFORK);
	madvise(p, HUGE, MADV_DOFORK);
	for (i = 0; i < 2 * sizeof(parts) / sizeof(parts[0]); i++) {
		const size_t *from = parts[i / 2].from, *bytes = parts[i / 2].bytes;

		before = mappings();
		ASSERT_EQ(0, keep(&self->u, p + from[0], bytes[0], &mem[0]));
		ASSERT_EQ(0, keep(&self->u, p + from[1], bytes[1], &mem[1]));
		EXPECT_EQ(1000 + SIGSEGV, child_reads(p, HUGE)) TH_LOG("parts %u", i / 2);
		EXPECT_EQ(0, GNI_MemDeregister(self->u.nic, &mem[i % 2]));
		EXPECT_EQ(0, GNI_MemDeregister(self->u.nic, &mem[!(i % 2)]));
		EXPECT_EQ(0, child_reads(p, 2 * HUGE)) TH_LOG("parts %u, order %u", i / 2, i % 2);
		EXPECT_EQ(before, mappings()) TH_LOG("parts %u, order %u", i / 2, i % 2);
	}
	munmap(p, 2 * HUGE);
}

/* A large region with small ones in it ends first: what is left has many borders. */
TEST_F_TIMEOUT(memory, as_many_mappings_as_there_may_be, 4 * LIMIT)
{
	static gni_mem_handle_t mem[MANY];
	const size_t bytes = 2 * MANY * ARIES_PAGE;
	char *p = aries_pages(2 * MANY);
	gni_mem_handle_t large;
	unsigned int i, before;

	ASSERT_NE(NULL, p);
	memset(p, 7, bytes);
	/* the library's tables have their size before mappings are counted */
	for (i = 0; i < MANY; i++) {
		ASSERT_EQ(0, keep(&self->u, p + 2 * i * ARIES_PAGE, ARIES_PAGE, &mem[i]));
	}
	for (i = 0; i < MANY; i++) {
		ASSERT_EQ(0, GNI_MemDeregister(self->u.nic, &mem[i]));
	}
	before = mappings();
	self->max_maps = sysctl("max_map_count", 200);
	ASSERT_LT(200, self->max_maps);
	ASSERT_EQ(0, keep(&self->u, p, bytes, &large));
	for (i = 0; i < MANY; i++) {
		ASSERT_EQ(0, keep(&self->u, p + 2 * i * ARIES_PAGE, ARIES_PAGE, &mem[i]));
	}
	EXPECT_EQ(1000 + SIGSEGV, child_reads(p, bytes));
	EXPECT_EQ(0, GNI_MemDeregister(self->u.nic, &large));
	EXPECT_EQ(0, child_reads(p + ARIES_PAGE, 1));
	/* at the limit the kernel may leave one border, however many regions there are */
	EXPECT_GE(before + 1, mappings());
	for (i = 0; i < MANY; i++) {
		EXPECT_EQ(0, GNI_MemDeregister(self->u.nic, &mem[i]));
	}
	EXPECT_EQ(0, child_reads(p, bytes));
	EXPECT_GE(before + 1, mappings());
	munmap(p, bytes);
}

TEST_HARNESS_MAIN
