// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows, scatter and FMA launch by plain stores of a process, to the own node.
 */
#include "raw.h"
#include "kselftest_harness.h"

#define BYTES (1ul << 20)
#define RING_AT (BYTES / 2)
#define RING_ENTRIES 1000u

FIXTURE(window)
{
	struct raw r;
	struct raw_cq cq;
	uint8_t *data;
	struct kgni_mem_register mem;
	volatile uint8_t *put, *get;
	volatile struct aries_fma_desc *desc;
	volatile struct aries_fma_window *window;
};

static volatile uint8_t *map_window(struct raw *r, uint64_t offset)
{
	void *p = mmap(NULL, r->at.put_size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
		       (off_t)offset);

	return p == MAP_FAILED ? NULL : p;
}

FIXTURE_SETUP(window)
{
	ASSERT_EQ(0, raw_open(&self->r, aries_cookie()));
	ASSERT_EQ(0, raw_cq(&self->r, &self->cq, 100, 0));
	self->data = aries_pages(BYTES / ARIES_PAGE);
	ASSERT_NE(NULL, self->data);
	memset(self->data, 0, BYTES);
	ASSERT_EQ(0, aries_register(self->r.fd, self->data, BYTES, 0, self->cq.c.cq, &self->mem));
	self->put = map_window(&self->r, self->r.at.put_offset);
	self->get = map_window(&self->r, self->r.at.get_offset);
	ASSERT_NE(NULL, self->put);
	ASSERT_NE(NULL, self->get);
	self->desc = (volatile struct aries_fma_desc *)(self->r.area + ARIES_DESC_FMA);
	self->window = (volatile struct aries_fma_window *)(self->r.area + ARIES_DESC_WINDOW);
	self->desc->pe = self->r.at.pe;
	self->desc->mdh = (uint16_t)self->mem.mdh;
	self->desc->offset = raw_offset(self->data);
	self->desc->local_mdh = (uint16_t)self->mem.mdh;
	self->desc->local_offset = raw_offset(self->data + BYTES / 4);
	self->desc->cq = (uint16_t)self->cq.c.cq;
	self->window->ring_mdh = (uint16_t)self->mem.mdh;
	self->window->ring_offset = raw_offset(self->data + RING_AT);
	self->window->ring_entries = RING_ENTRIES;
}

FIXTURE_TEARDOWN(window)
{
	raw_close(&self->r);
}

/* The doorbell's status. */
static uint32_t ring(struct raw *r, unsigned int op, unsigned int length, unsigned int mode)
{
	__sync_synchronize();
	r->bell[ARIES_DB_FMA / 8] = (uint64_t)length << ARIES_DB_LEN_SHIFT |
				    (uint64_t)op << ARIES_DB_OP_SHIFT |
				    (uint64_t)mode << ARIES_DB_MODE_SHIFT;
	__sync_synchronize();
	return raw_status(r);
}

static uint32_t done(struct raw *r)
{
	return *(volatile uint32_t *)(r->area + ARIES_DESC_DONE);
}

static struct aries_launch_entry entry(unsigned int kind, uint32_t pe, const void *to,
				       uint64_t value)
{
	const struct aries_launch_entry e = {
		.target = raw_offset(to) | (uint64_t)pe << ARIES_LAUNCH_PE_SHIFT |
			  (uint64_t)kind << ARIES_LAUNCH_KIND_SHIFT,
		.value = value,
	};

	return e;
}

/* Stores of all widths, a get, an atomic, one event for all. */
TEST_F(window, transaction)
{
	uint64_t *words = (uint64_t *)self->data;

	*(volatile uint64_t *)self->put = 0x1122334455667788;
	*(volatile uint32_t *)(self->put + 8) = 0xaabbccdd;
	*(volatile uint16_t *)(self->put + 12) = 0xeeff;
	*(self->put + 15) = 0x99;
	EXPECT_EQ(0x1122334455667788, words[0]);
	EXPECT_EQ(0x9900eeffaabbccdd, words[1]);
	*(volatile uint64_t *)self->get = raw_offset(self->data + 4096) |
					  15ull << ARIES_GETW_LEN_SHIFT;
	EXPECT_EQ(0, memcmp(self->data + 4096, self->data, 16));
	EXPECT_EQ(0, raw_take(&self->cq));
	EXPECT_EQ(0, ring(&self->r, ARIES_FMA_CLOSE, 0, ARIES_EV_GLOBAL));
	EXPECT_NE(0, raw_take(&self->cq));
	EXPECT_EQ(0, raw_take(&self->cq));
}

/* The part of the window that is this node's lands; what is the next node's does not. */
TEST_F(window, scatter)
{
	unsigned int at;

	self->window->pe_shift = 6;
	self->window->pe_bits = 1;
	for (at = 0; at < 256; at += 8)
		if (!(at & 64))
			*(volatile uint64_t *)(self->put + at) = 0x1000 + at;
	for (at = 0; at < 64; at += 8) {
		EXPECT_EQ(0x1000 + at, ((uint64_t *)self->data)[at / 8]);
		EXPECT_EQ(0x1080 + at, ((uint64_t *)self->data)[8 + at / 8]);
	}
	EXPECT_EQ(0, ring(&self->r, ARIES_FMA_CLOSE, 0, ARIES_EV_GLOBAL));
	EXPECT_NE(0, raw_take(&self->cq));
	*(volatile uint64_t *)(self->put + 64) = 1;
	EXPECT_NE(0, ring(&self->r, ARIES_FMA_CLOSE, 0, 0));
	self->window->pe_shift = 2;
	*(volatile uint64_t *)self->put = 1;
	EXPECT_EQ(ARIES_ST_RESERVED, ring(&self->r, ARIES_FMA_CLOSE, 0, 0));
}

/* The same from the line; a node that is not there ends it. */
TEST_F(window, scatter_of_the_line)
{
	memset((void *)(self->r.area + ARIES_DESC_LINE), 0x5a, 256);
	self->window->pe_shift = 7;
	self->window->pe_bits = 9;
	self->window->at = 64;
	EXPECT_EQ(0, ring(&self->r, ARIES_FMA_PUT_SCATTER, 64, ARIES_EV_GLOBAL));
	EXPECT_EQ(1, done(&self->r));
	EXPECT_EQ(0, self->data[63]);
	EXPECT_EQ(0x5a, self->data[64]);
	EXPECT_EQ(0x5a, self->data[127]);
	EXPECT_EQ(0, self->data[128]);
	EXPECT_NE(0, raw_take(&self->cq));
	self->desc->pe = (1u << ARIES_PE_BITS) - 1;
	EXPECT_EQ(ARIES_ST_NO_NODE, ring(&self->r, ARIES_FMA_PUT_SCATTER, 64, ARIES_EV_GLOBAL));
	EXPECT_EQ(0, done(&self->r));
}

TEST_F(window, launch)
{
	volatile struct aries_launch_entry *line = (void *)(self->r.area + ARIES_DESC_LINE);
	const uint32_t pe = self->r.at.pe;
	uint64_t *words = (uint64_t *)self->data;
	unsigned int i;

	for (i = 0; i < 100; i++)
		line[i] = entry(ARIES_LAUNCH_PUT8, pe, &words[i * 3], i + 1);
	line[100] = entry(ARIES_LAUNCH_GET8, pe, &words[3], raw_offset(&words[1000]));
	line[101] = entry(ARIES_LAUNCH_AMO, pe, &words[3], 40);
	self->window->amo = 0x008; /* fetching addition */
	EXPECT_EQ(0, ring(&self->r, ARIES_FMA_LAUNCH, 102, ARIES_EV_LOCAL));
	EXPECT_EQ(102, done(&self->r));
	EXPECT_NE(0, raw_take(&self->cq));
	EXPECT_EQ(0, raw_take(&self->cq));
	for (i = 0; i < 100; i++) {
		EXPECT_EQ(i == 1 ? 42 : i + 1, words[i * 3]);
	}
	EXPECT_EQ(2, words[1000]);
	EXPECT_EQ(2, words[BYTES / 32 + 101]);

	line[50] = entry(ARIES_LAUNCH_PUT8, pe, self->data + BYTES, 1);
	EXPECT_EQ(ARIES_ST_BOUNDS, ring(&self->r, ARIES_FMA_LAUNCH, 102, 0));
	EXPECT_EQ(50, done(&self->r));
	EXPECT_EQ(ARIES_ST_LENGTH, ring(&self->r, ARIES_FMA_LAUNCH, 129, 0));
}

TEST_F(window, launch_ring)
{
	struct aries_launch_entry *entries = (void *)(self->data + RING_AT);
	uint64_t *words = (uint64_t *)self->data;
	unsigned int i;

	for (i = 0; i < RING_ENTRIES; i++)
		entries[(i + 900) % RING_ENTRIES] =
			entry(ARIES_LAUNCH_PUT8, self->r.at.pe, &words[i], i + 7);
	self->window->ring_first = 900;
	EXPECT_EQ(0, ring(&self->r, ARIES_FMA_LAUNCH_RING, RING_ENTRIES, ARIES_EV_GLOBAL));
	EXPECT_EQ(RING_ENTRIES, done(&self->r));
	for (i = 0; i < RING_ENTRIES; i++) {
		EXPECT_EQ(i + 7, words[i]);
	}
	EXPECT_NE(0, raw_take(&self->cq));
	EXPECT_EQ(ARIES_ST_LENGTH,
		  ring(&self->r, ARIES_FMA_LAUNCH_RING, RING_ENTRIES + 1, 0));
	/* Not memory of this process any more. */
	{
		struct kgni_mem_deregister arg = { .argsz = sizeof(arg), .mdh = self->mem.mdh };

		ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_MEM_DEREGISTER, &arg));
	}
	EXPECT_EQ(ARIES_ST_LOCAL_MDD, ring(&self->r, ARIES_FMA_LAUNCH_RING, 1, 0));
}

/* One 128-bit store, one operation. */
TEST_F(window, store_of_16_bytes)
{
	typedef unsigned long long pair __attribute__((vector_size(16)));
	uint64_t *words = (uint64_t *)self->data;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		const struct aries_launch_entry e =
			entry(ARIES_LAUNCH_PUT8, self->r.at.pe, &words[i], i + 70);
		const pair both = { e.target, e.value };

		asm volatile("movaps %1, %0"
			     : "=m"(*(pair *)(self->r.bell + ARIES_DB_LAUNCH / 8))
			     : "x"(both)
			     : "memory");
	}
	__sync_synchronize();
	EXPECT_EQ(0, ring(&self->r, ARIES_FMA_CLOSE, 0, ARIES_EV_GLOBAL));
	for (i = 0; i < 10; i++) {
		EXPECT_EQ(i + 70, words[i]);
	}
	EXPECT_NE(0, raw_take(&self->cq));
	EXPECT_EQ(0, raw_take(&self->cq));
}

TEST_HARNESS_MAIN
