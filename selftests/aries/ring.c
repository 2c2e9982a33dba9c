// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues of all sizes that the NIC knows, up to the largest: made, filled to the last entry, emptied.
 */
#include "raw.h"
#include "kselftest_harness.h"

FIXTURE(ring)
{
	struct raw r;
	struct raw_cq q;
	struct kgni_mem_register mem;
	uint8_t *page;
	struct aries_use before;
};

FIXTURE_SETUP(ring)
{
	self->before = aries_use();
	self->page = aries_pages(1);
	ASSERT_EQ(0, raw_open(&self->r, aries_cookie()));
	ASSERT_EQ(0, aries_register(self->r.fd, self->page, 8, 0, KGNI_NO_CQ, &self->mem));
}

FIXTURE_TEARDOWN(ring)
{
	raw_close(&self->r);
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

TEST_F_TIMEOUT(ring, every_size, 300)
{
	const uint32_t most = (1u << ARIES_CQ_LOG2_MAX) - 1;
	uint32_t entries;

	for (entries = 1023; entries <= most; entries = 2 * entries + 1) {
		const uint32_t wanted[] = { entries, entries / 2 + 1 };
		unsigned int i;

		for (i = 0; i < 2; i++) {
			ASSERT_EQ(0, raw_cq(&self->r, &self->q, wanted[i], 0)) {
				TH_LOG("%u entries", wanted[i]);
			}
			EXPECT_EQ(entries + 1, self->q.c.entries);
			/* nothing of whoever had the memory before */
			EXPECT_EQ(0, self->q.slots[0] | self->q.slots[entries]);
			EXPECT_EQ(0, raw_cq_close(&self->r, &self->q));
		}
	}
}

/* Entry @i of the queue, which says so in its data. */
static uint32_t post(struct raw *r, uint32_t cq, uint32_t mdh, const void *to, uint32_t i)
{
	const struct aries_fma_desc desc = { .pe = r->at.pe, .mdh = (uint16_t)mdh,
					     .offset = raw_offset(to), .cq = (uint16_t)cq,
					     .local_event = i };

	memcpy((void *)(r->area + ARIES_DESC_FMA), &desc, sizeof(desc));
	__sync_synchronize();
	r->bell[ARIES_DB_FMA / 8] = 8ull << ARIES_DB_LEN_SHIFT |
				    (uint64_t)ARIES_FMA_PUT_LINE << ARIES_DB_OP_SHIFT |
				    (uint64_t)ARIES_EV_LOCAL << ARIES_DB_MODE_SHIFT;
	return raw_status(r);
}

/* What clients ask for who want 262,144 events and more: filled, one too many, emptied. */
TEST_F_TIMEOUT(ring, the_largest_is_filled_and_emptied, 600)
{
	uint32_t i, bad = 0, slots;
	uint64_t entry;

	ASSERT_EQ(0, raw_cq(&self->r, &self->q, 262144, 0));
	slots = self->q.c.entries;
	ASSERT_EQ(1u << ARIES_CQ_LOG2_MAX, slots);
	for (i = 0; i < slots - 1; i++)
		bad += post(&self->r, self->q.c.cq, self->mem.mdh, self->page, i) != ARIES_ST_OK;
	ASSERT_EQ(0, bad);
	post(&self->r, self->q.c.cq, self->mem.mdh, self->page, i);
	for (i = 0; i < slots - 1; i++) {
		entry = raw_take(&self->q);
		bad += (uint32_t)entry != i || entry & ARIES_CQE_OVERRUN;
	}
	EXPECT_EQ(0, bad);
	EXPECT_NE(0, raw_take(&self->q) & ARIES_CQE_OVERRUN);
	EXPECT_EQ(0, raw_take(&self->q));
	/* and again from the start */
	EXPECT_EQ(ARIES_ST_OK, post(&self->r, self->q.c.cq, self->mem.mdh, self->page, 7));
	EXPECT_EQ(7, (uint32_t)raw_take(&self->q));
	EXPECT_EQ(0, raw_cq_close(&self->r, &self->q));
}

TEST_HARNESS_MAIN
