// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's part in transfers, seen through the bare NIC: translation tables of small and
 * large pages, rights, what a forged descriptor is told, interrupts.
 */
#include <pthread.h>
#include <signal.h>

#include "raw.h"
#include "kselftest_harness.h"

#define BYTES (4ul << 20)
#define HUGE (2ul << 20)

FIXTURE(raw)
{
	struct raw r;
	struct raw_cq cq;
	uint8_t *data;
	struct kgni_mem_register mem;
};

FIXTURE_SETUP(raw)
{
	ASSERT_EQ(0, raw_open(&self->r, aries_cookie()));
	ASSERT_EQ(0, raw_cq(&self->r, &self->cq, 100, KGNI_CQ_BLOCKING));
	self->data = aries_pages(BYTES / ARIES_PAGE);
	ASSERT_NE(NULL, self->data);
	memset(self->data, 0x11, BYTES);
	ASSERT_EQ(0, aries_register(self->r.fd, self->data, BYTES, 0, self->cq.c.cq, &self->mem));
}

FIXTURE_TEARDOWN(raw)
{
	raw_close(&self->r);
}

TEST_F(raw, puts_of_all_lengths_across_pages)
{
	uint8_t data[ARIES_DESC_LINE_BYTES];
	uint32_t len;

	for (len = 0; len < sizeof(data); len++)
		data[len] = (uint8_t)(len * 7 + 3);
	for (len = 1; len <= sizeof(data); len += len / 8 + 1) {
		uint8_t *to = self->data + 5 * ARIES_PAGE - len / 2;
		uint64_t entry;

		ASSERT_EQ(0, raw_put(&self->r, self->cq.c.cq, self->mem.mdh, to, data, len,
				     ARIES_EV_GLOBAL));
		ASSERT_EQ(0, memcmp(to, data, len));
		ASSERT_EQ(0x11, to[-1]);
		ASSERT_EQ(0x11, to[len]);
		entry = raw_take(&self->cq);
		ASSERT_NE(0, entry);
		ASSERT_EQ(0, raw_entry_status(entry));
		ASSERT_EQ(RAW_LOCAL, entry & ARIES_CQE_DATA_MASK);
		memset(to, 0x11, len);
	}
}

/* More than 512 pages, so more than one page of table entries, on both sides. */
TEST_F(raw, block_transfers_over_pages_of_entries)
{
	const uint32_t len = BYTES / 2;
	uint8_t *from = self->data, *to = self->data + len;
	uint64_t entry;
	uint32_t i;

	for (i = 0; i < len; i++)
		from[i] = (uint8_t)(i * 13 + (i >> 9));
	ASSERT_EQ(0, raw_block(&self->r, self->cq.c.cq, ARIES_BTE_PUT, self->mem.mdh, to, from,
			       len));
	entry = raw_poll(&self->cq, 20000);
	ASSERT_NE(0, entry);
	EXPECT_EQ(0, raw_entry_status(entry));
	EXPECT_EQ(0, memcmp(to, from, len));
	memset(to, 0, len);
	ASSERT_EQ(0, raw_block(&self->r, self->cq.c.cq, ARIES_BTE_GET, self->mem.mdh, from, to,
			       len));
	entry = raw_poll(&self->cq, 20000);
	ASSERT_NE(0, entry);
	EXPECT_EQ(0, raw_entry_status(entry));
	EXPECT_EQ(0, memcmp(to, from, len));
}

/* As allocators of mailboxes have them: a file of hugetlbfs where it is mounted, without huge pages set aside. */
TEST_F(raw, huge_pages_of_a_file)
{
	struct kgni_mem_register mem;
	char name[] = "/dev/hugepages/aries.XXXXXX";
	uint8_t *huge;
	int fd;

	fd = mkstemp(name);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, unlink(name));
	ASSERT_EQ(0, ftruncate(fd, HUGE));
	huge = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, huge);
	memset(huge, 0, HUGE);
	ASSERT_EQ(0, aries_register(self->r.fd, huge, HUGE, 0, KGNI_NO_CQ, &mem));
	EXPECT_EQ(21, mem.page_shift);
	EXPECT_EQ(0, raw_put(&self->r, 0, mem.mdh, huge + HUGE - 4, "abcd", 4, 0));
	EXPECT_EQ(0, memcmp(huge + HUGE - 4, "abcd", 4));
	EXPECT_EQ(ARIES_ST_BOUNDS, raw_put(&self->r, 0, mem.mdh, huge + HUGE, "abcd", 4, 0));
	munmap(huge, HUGE);
	close(fd);
}

TEST_F(raw, large_pages)
{
	struct kgni_mem_register mem;
	FILE *f = fopen("/proc/sys/vm/nr_hugepages", "w");
	uint8_t *huge;

	if (f) {
		fputs("4", f);
		fclose(f);
	}
	huge = mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (huge == MAP_FAILED)
		SKIP(return, "no huge pages");
	memset(huge, 0, 2 * HUGE);
	ASSERT_EQ(0, aries_register(self->r.fd, huge, 2 * HUGE, 0, KGNI_NO_CQ, &mem));
	EXPECT_LE(21, mem.page_shift);
	EXPECT_EQ(0, raw_put(&self->r, 0, mem.mdh, huge + HUGE - 2, "abcd", 4, 0));
	EXPECT_EQ(0, memcmp(huge + HUGE - 2, "abcd", 4));
	EXPECT_EQ(ARIES_ST_BOUNDS,
		  raw_put(&self->r, 0, mem.mdh, huge + 2 * HUGE - 2, "abcd", 4, 0));
	/* a part that is not made of whole large pages gets small ones, and reaches no further */
	ASSERT_EQ(0, aries_register(self->r.fd, huge + ARIES_PAGE, HUGE, 0, KGNI_NO_CQ, &mem));
	EXPECT_EQ(12, mem.page_shift);
	EXPECT_EQ(ARIES_ST_BOUNDS,
		  raw_put(&self->r, 0, mem.mdh, huge + ARIES_PAGE - 1, "abcd", 4, 0));
	EXPECT_EQ(ARIES_ST_BOUNDS,
		  raw_put(&self->r, 0, mem.mdh, huge + ARIES_PAGE + HUGE, "abcd", 4, 0));
}

/* The library would refuse the second before the NIC can. */
TEST_F(raw, cached_atomics_are_refused_without_the_mode)
{
	volatile uint64_t *word = (volatile uint64_t *)self->data;

	*word = 7;
	EXPECT_EQ(0, raw_add(&self->r, self->mem.mdh, word, 0x108));
	EXPECT_EQ(8, *word);
	EXPECT_EQ(ARIES_ST_BAD_OP, raw_add(&self->r, self->mem.mdh, word, 0x118));
	EXPECT_EQ(8, *word);
}

TEST_F(raw, forged_descriptors_are_refused_by_name)
{
	struct kgni_mem_register ro;
	uint8_t *page = aries_pages(1);
	const uint32_t mdh = self->mem.mdh;

	ASSERT_EQ(0, aries_register(self->r.fd, page, 1, KGNI_MEM_READ_ONLY, KGNI_NO_CQ, &ro));
	EXPECT_EQ(ARIES_ST_ACCESS, raw_put(&self->r, self->cq.c.cq, ro.mdh, page, "abcd", 4,
					   ARIES_EV_GLOBAL));
	EXPECT_EQ(ARIES_ST_ACCESS, raw_entry_status(raw_take(&self->cq)));
	EXPECT_EQ(0, page[0]);
	EXPECT_EQ(ARIES_ST_BOUNDS, raw_put(&self->r, 0, mdh, self->data + BYTES, "abcd", 4, 0));
	EXPECT_EQ(ARIES_ST_BOUNDS, raw_put(&self->r, 0, mdh, self->data - 1, "abcd", 4, 0));
	EXPECT_EQ(ARIES_ST_MDD, raw_put(&self->r, 0, (mdh + 2000) % 4096, page, "abcd", 4, 0));
	EXPECT_EQ(0x11, self->data[0]);
}

TEST_F(raw, another_domain_and_a_foreign_queue)
{
	struct raw_cq cq;
	struct raw other;

	ASSERT_EQ(0, raw_open(&other, aries_cookie()));
	ASSERT_EQ(0, raw_cq(&other, &cq, 10, 0));
	EXPECT_EQ(ARIES_ST_PTAG, raw_put(&other, cq.c.cq, self->mem.mdh, self->data, "abcd", 4,
					 ARIES_EV_GLOBAL));
	EXPECT_EQ(ARIES_ST_PTAG, raw_entry_status(raw_take(&cq)));
	EXPECT_EQ(0x11, self->data[0]);
	EXPECT_EQ(ARIES_ST_CQ_OWNER,
		  raw_put(&other, self->cq.c.cq, self->mem.mdh, self->data, "abcd", 4,
			  ARIES_EV_GLOBAL) & ~ARIES_ST_LOCAL);
	EXPECT_EQ(0, raw_take(&self->cq));
	EXPECT_EQ(0x11, self->data[0]);
	raw_close(&other);
}

TEST_F(raw, nothing_of_the_last_user_in_the_area)
{
	const long long total = aries_number("resources/fma_total");
	long long i;
	size_t k;

	/* numbers go around: take each descriptor once */
	for (i = 0; i < total; i++) {
		struct raw next;

		ASSERT_EQ(0, raw_open(&next, aries_cookie()));
		for (k = 0; k < ARIES_DESC_STRIDE; k += 8) {
			ASSERT_EQ(0, *(volatile uint64_t *)(next.area + k));
		}
		memset((void *)next.area, 0x5a, ARIES_DESC_STRIDE);
		raw_close(&next);
	}
	for (i = 0; i < total; i++) {
		struct raw next;

		ASSERT_EQ(0, raw_open(&next, aries_cookie()));
		for (k = 0; k < ARIES_DESC_STRIDE; k += 8) {
			ASSERT_EQ(0, *(volatile uint64_t *)(next.area + k));
		}
		raw_close(&next);
	}
}

struct later {
	struct raw *r;
	uint32_t cq, mdh;
	uint8_t *to;
};

static void *put_later(void *arg)
{
	struct later *l = arg;

	usleep(100000);
	raw_put(l->r, l->cq, l->mdh, l->to, "abcd", 4, ARIES_EV_REMOTE);
	return NULL;
}

/* One interrupt for each arming, many times over: a lost one would be a time-out. */
TEST_F(raw, a_remote_event_wakes_a_sleeper_each_time)
{
	uint32_t number = self->cq.c.cq;
	struct kgni_cq_wait w = { .argsz = sizeof(w),
				  .count = 1,
				  .cqs = (uintptr_t)&number,
				  .timeout_ms = 20000 };
	struct later l = { &self->r, 0, self->mem.mdh, self->data };
	pthread_t thread;
	int i;

	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, put_later, &l));
		EXPECT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_CQ_WAIT, &w));
		pthread_join(thread, NULL);
		EXPECT_EQ(RAW_REMOTE, raw_take(&self->cq) & ARIES_CQE_DATA_MASK);
	}
}

TEST_HARNESS_MAIN
