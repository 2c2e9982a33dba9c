// SPDX-License-Identifier: GPL-2.0-only
/* Statements about posts and CQ writes: statements.csv, sections 9 and 10. */
#include "conformance.h"

FIXTURE(transfers)
{
	struct side s; /* bound to itself, both events allowed */
	gni_post_descriptor_t d;
	uint64_t *from;
	uint64_t *at; /* 64 bytes further */
};

FIXTURE_SETUP(transfers)
{
	ASSERT_EQ(0, self_open_as(&self->s, (struct side_options){ .modes = GNI_CDM_MODE_DUAL_EVENTS,
								   .cq = GNI_CQ_NOBLOCK }));
	self->d = conf_post(&self->s, side_name(&self->s), GNI_POST_FMA_PUT, 0, 64, 8);
	self->from = (uint64_t *)self->s.data;
	self->at = self->from + 8;
}

FIXTURE_TEARDOWN(transfers)
{
	side_close(&self->s);
}

/* ---- 8 and 9: descriptors and their events ---- */

TEST_F(transfers, S8_5__both_events_of_one_descriptor)
{
	gni_post_descriptor_t *done;
	gni_cq_entry_t entry;
	uint16_t first;

	self->d.cq_mode = GNI_CQMODE_LOCAL_EVENT | GNI_CQMODE_GLOBAL_EVENT;
	MUST(GNI_PostFma(self->s.ep, &self->d));
	MUST(conf_event(self->s.cq, &entry));
	MUST(GNI_GetCompleted(self->s.cq, entry, &done));
	EXPECT_EQ(&self->d, done);
	first = self->d.cq_mode_complete;
	EXPECT_TRUE(first == GNI_CQMODE_LOCAL_EVENT || first == GNI_CQMODE_GLOBAL_EVENT);
	MUST(conf_event(self->s.cq, &entry));
	MUST(GNI_GetCompleted(self->s.cq, entry, &done));
	EXPECT_EQ(&self->d, done);
	EXPECT_EQ(GNI_CQMODE_LOCAL_EVENT | GNI_CQMODE_GLOBAL_EVENT, self->d.cq_mode_complete);
	RC(NOT_DONE, GNI_CqGetEvent(self->s.cq, &entry));
}

TEST_F(transfers, S9_1__post_id_comes_back)
{
	self->d.post_id = 0x1122334455667788;
	MUST(conf_fma(&self->s, &self->d));
	EXPECT_EQ(0x1122334455667788, self->d.post_id);
}

TEST_F(transfers, S9_2__source_of_a_short_put_is_free_at_once)
{
	unsigned int i;

	for (i = 0; i < 50; i++) {
		*self->from = i;
		MUST(GNI_PostFma(self->s.ep, &self->d));
		*self->from = 999;
		MUST(conf_reap(self->s.cq, &self->d));
		EXPECT_EQ(i, *self->at);
	}
}

TEST_F(transfers, S9_3__gets_to_any_local_address)
{
	unsigned int i;

	for (i = 0; i < 8; i++) {
		self->d = conf_post(&self->s, side_name(&self->s), i % 2 ? GNI_POST_FMA_GET : GNI_POST_RDMA_GET,
				    512 + i, 4096, 32);
		memset(self->s.data + 4096, (int)i + 1, 32);
		RC(SUCCESS, i % 2 ? conf_fma(&self->s, &self->d) : conf_rdma(&self->s, &self->d));
		EXPECT_EQ(0, memcmp(self->s.data + 512 + i, self->s.data + 4096, 32));
	}
}

TEST_F(transfers, S9_5__long_transfers)
{
	static const size_t bytes = 4 << 20;
	uint8_t *data = conf_pages(2 * bytes / CONF_PAGE);
	gni_mem_handle_t mem;
	size_t i;

	ASSERT_NE(NULL, data);
	for (i = 0; i < bytes; i++)
		data[i] = (uint8_t)(i * 7 + i / 4096);
	MUST(GNI_MemRegister(self->s.nic, (uintptr_t)data, 2 * bytes, NULL, 0, CONF_NO_VMDH, &mem));
	self->d.type = GNI_POST_RDMA_PUT;
	self->d.length = bytes;
	self->d.local_addr = (uintptr_t)data;
	self->d.remote_addr = (uintptr_t)data + bytes;
	self->d.local_mem_hndl = mem;
	self->d.remote_mem_hndl = mem;
	RC(SUCCESS, conf_rdma(&self->s, &self->d));
	EXPECT_EQ(0, memcmp(data, data + bytes, bytes));
	/* short ones of any length as well */
	self->d.type = GNI_POST_FMA_PUT;
	self->d.length = 300001;
	memset(data + bytes, 0, bytes);
	RC(SUCCESS, conf_fma(&self->s, &self->d));
	EXPECT_EQ(0, memcmp(data, data + bytes, 300001));
	EXPECT_EQ(0, data[bytes + 300001]);
	MUST(GNI_MemDeregister(self->s.nic, &mem));
	munmap(data, 2 * bytes);
}

TEST_F(transfers, S9_6__remote_event_wants_a_queue_there)
{
	gni_mem_handle_t without;
	gni_cq_entry_t entry;

	self->d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
	RC(SUCCESS, conf_fma(&self->s, &self->d));
	RC(SUCCESS, conf_event(self->s.rx, &entry));
	MUST(GNI_MemRegister(self->s.nic, (uintptr_t)self->s.data, CONF_PAGE, NULL, 0, CONF_NO_VMDH, &without));
	self->d.remote_mem_hndl = without;
	EXPECT_NE(GNI_RC_NOT_DONE, conf_fma(&self->s, &self->d));
	RC(NOT_DONE, GNI_CqGetEvent(self->s.rx, &entry));
	MUST(GNI_MemDeregister(self->s.nic, &without));
}

TEST_F(transfers, S9_7__local_event_alone)
{
	self->d.cq_mode = GNI_CQMODE_LOCAL_EVENT;
	RC(SUCCESS, conf_fma(&self->s, &self->d));
	EXPECT_EQ(GNI_CQMODE_LOCAL_EVENT, self->d.cq_mode_complete);
}

TEST_F(transfers, S9_8__silent_posts_have_no_event)
{
	gni_cq_entry_t entry;
	unsigned int i;

	self->d.cq_mode = GNI_CQMODE_SILENT;
	for (i = 1; i <= 3 * CONF_CQ_ENTRIES; i++) {
		*self->from = i;
		MUST(GNI_PostFma(self->s.ep, &self->d));
	}
	self->d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	self->d.dlvr_mode = GNI_DLVMODE_IN_ORDER;
	RC(SUCCESS, conf_fma(&self->s, &self->d));
	EXPECT_EQ(3 * CONF_CQ_ENTRIES, *self->at);
	RC(NOT_DONE, GNI_CqGetEvent(self->s.cq, &entry));
}

TEST_F(transfers, S9_9__every_delivery_mode)
{
	static const uint16_t modes[] = { GNI_DLVMODE_PERFORMANCE, GNI_DLVMODE_NO_ADAPT, GNI_DLVMODE_NO_HASH,
					  GNI_DLVMODE_NO_RADAPT,   GNI_DLVMODE_IN_ORDER, GNI_DLVMODE_MNON_HASH,
					  GNI_DLVMODE_NMIN_HASH,   GNI_DLVMODE_MIN_HASH, GNI_DLVMODE_ADAPTIVE0,
					  GNI_DLVMODE_ADAPTIVE1,   GNI_DLVMODE_ADAPTIVE2, GNI_DLVMODE_ADAPTIVE3 };
	unsigned int i;

	EXPECT_EQ(GNI_DLVMODE_NO_ADAPT | GNI_DLVMODE_NO_HASH, GNI_DLVMODE_IN_ORDER);
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		*self->from = i + 1;
		self->d.dlvr_mode = modes[i];
		RC(SUCCESS, conf_fma(&self->s, &self->d));
		EXPECT_EQ(i + 1, *self->at);
	}
}

TEST_F(transfers, S9_9__in_order_puts_to_one_place)
{
	static gni_post_descriptor_t d[32];
	unsigned int i, round;

	for (round = 0; round < 20; round++) {
		gni_post_descriptor_t *done;
		gni_cq_entry_t entry;

		for (i = 0; i < 32; i++) {
			d[i] = self->d;
			d[i].dlvr_mode = GNI_DLVMODE_IN_ORDER;
			*self->from = round * 32 + i;
			MUST(GNI_PostFma(self->s.ep, &d[i]));
		}
		for (i = 0; i < 32; i++) {
			MUST(conf_event(self->s.cq, &entry));
			MUST(GNI_GetCompleted(self->s.cq, entry, &done));
		}
		EXPECT_EQ(round * 32 + 31, *self->at);
	}
}

TEST_F(transfers, S9_10__fence_comes_after_what_was_posted_before)
{
	gni_post_descriptor_t first, second, *done;
	gni_cq_entry_t entry;
	unsigned int round;

	for (round = 1; round <= 10; round++) {
		memset(self->s.data, (int)round, 16384);
		memset(self->s.data + 40000, 0, 8);
		first = conf_post(&self->s, side_name(&self->s), GNI_POST_RDMA_PUT, 0, 20000, 16384);
		second = conf_post(&self->s, side_name(&self->s), GNI_POST_RDMA_PUT, 20000 + 16376, 40000, 8);
		/* reads what the first one writes last */
		second.rdma_mode = GNI_RDMAMODE_FENCE;
		MUST(GNI_PostRdma(self->s.ep, &first));
		MUST(GNI_PostRdma(self->s.ep, &second));
		MUST(conf_event(self->s.cq, &entry));
		MUST(GNI_GetCompleted(self->s.cq, entry, &done));
		EXPECT_EQ(&first, done);
		MUST(conf_event(self->s.cq, &entry));
		MUST(GNI_GetCompleted(self->s.cq, entry, &done));
		EXPECT_EQ(&second, done);
		EXPECT_EQ(round, self->s.data[40000]);
	}
}

/* ---- 9: atomics ---- */

/* Runs one; what was there before it, if it fetches. */
static uint64_t atomic(struct side *s, gni_fma_cmd_type_t command, size_t bytes, uint64_t a, uint64_t b,
		       gni_return_t *rc)
{
	gni_post_descriptor_t d = conf_post(s, side_name(s), GNI_POST_AMO, 0, 64, bytes);

	memset(s->data, 0, 16);
	d.amo_cmd = command;
	d.first_operand = a;
	d.second_operand = b;
	*rc = conf_fma(s, &d);
	return *(uint64_t *)s->data;
}

#define ATOMIC(command, bytes, a, b)                                                                 \
	({                                                                                           \
		gni_return_t atomic_rc;                                                              \
		uint64_t atomic_old = atomic(&self->s, command, bytes, a, b, &atomic_rc);            \
		EXPECT_EQ(GNI_RC_SUCCESS, atomic_rc);                                                \
		atomic_old;                                                                          \
	})

TEST_F(transfers, S9_13__and_with_xor)
{
	*self->at = 0xff00ff00;
	EXPECT_EQ(0xff00ff00, ATOMIC(GNI_FMA_ATOMIC_FAX, 8, 0x0ff00ff0, 0xf));
	EXPECT_EQ(((0xff00ff00ull & 0x0ff00ff0) ^ 0xf), *self->at);
}

TEST_F(transfers, S9_13__masked_swap)
{
	const uint64_t mask = 0xffff0000, value = 0x12345678;

	*self->at = 0xaaaabbbb;
	EXPECT_EQ(0xaaaabbbb, ATOMIC(GNI_FMA_ATOMIC2_FAX, 8, ~mask, value & mask));
	EXPECT_EQ(0x1234bbbb, *self->at);
}

TEST_F(transfers, S9_13__atomic_read)
{
	*self->at = 0x8877665544332211;
	EXPECT_EQ(0x8877665544332211, ATOMIC(GNI_FMA_ATOMIC2_FAND, 8, ~0ull, 0));
	EXPECT_EQ(0x8877665544332211, *self->at);
}

TEST_F(transfers, S9_14__compare_and_swap)
{
	static const gni_fma_cmd_type_t fetching[] = { GNI_FMA_ATOMIC_CSWAP, GNI_FMA_ATOMIC2_FCSWAP };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		*self->at = 7;
		EXPECT_EQ(7, ATOMIC(fetching[i], 8, 6, 100));
		EXPECT_EQ(7, *self->at);
		EXPECT_EQ(7, ATOMIC(fetching[i], 8, 7, 100));
		EXPECT_EQ(100, *self->at);
	}
	ATOMIC(GNI_FMA_ATOMIC2_CSWAP, 8, 100, 5);
	EXPECT_EQ(5, *self->at);
}

TEST_F(transfers, S9_14__swap_minimum_maximum)
{
	*self->at = 10;
	EXPECT_EQ(10, ATOMIC(GNI_FMA_ATOMIC2_FSWAP, 8, 20, 0));
	EXPECT_EQ(20, ATOMIC(GNI_FMA_ATOMIC2_FIMIN, 8, (uint64_t)-3, 0));
	EXPECT_EQ((uint64_t)-3, ATOMIC(GNI_FMA_ATOMIC2_FIMAX, 8, 4, 0));
	EXPECT_EQ(4, *self->at);
}

TEST_F(transfers, S9_15__narrow_operands_leave_their_neighbours)
{
	*self->at = 0x1111111122222222;
	EXPECT_EQ(0x22222222, ATOMIC(GNI_FMA_ATOMIC2_FIADD_S, 4, 1, 0));
	EXPECT_EQ(0x1111111122222223, *self->at);
	ATOMIC(GNI_FMA_ATOMIC2_OR_S, 4, 0xf0000000, 0);
	EXPECT_EQ(0x11111111f2222223, *self->at);
}

TEST_F(transfers, S9_16__atomics_that_do_not_fetch_leave_local_memory)
{
	gni_post_descriptor_t d = conf_post(&self->s, side_name(&self->s), GNI_POST_AMO, 0, 64, 8);

	*self->from = 5;
	*self->at = 1;
	d.amo_cmd = GNI_FMA_ATOMIC_XOR;
	d.first_operand = 3;
	memset(&d.local_mem_hndl, 0, sizeof(d.local_mem_hndl));
	d.local_addr = 0;
	RC(SUCCESS, conf_fma(&self->s, &d));
	EXPECT_EQ(2, *self->at);
	EXPECT_EQ(5, *self->from);
}

/* ---- 9: refusals have no effect ---- */

TEST_F(transfers, S9_17__nothing_happens_when_a_post_is_refused)
{
	gni_cq_entry_t entry;

	*self->from = 5;
	*self->at = 1;
	self->d.type = GNI_POST_FMA_GET;
	self->d.remote_addr++;
	RC(ALIGNMENT_ERROR, GNI_PostFma(self->s.ep, &self->d));
	self->d.remote_addr--;
	self->d.length = 0;
	RC(INVALID_PARAM, GNI_PostFma(self->s.ep, &self->d));
	EXPECT_EQ(5, *self->from);
	RC(NOT_DONE, GNI_CqGetEvent(self->s.cq, &entry));
	RC(SUCCESS, GNI_EpIdle(self->s.ep));
}

/* ---- 10: CQ writes ---- */

TEST_F(transfers, S10_1__48_bits_for_the_queue_of_the_memory)
{
	gni_cq_entry_t entry;

	self->d.type = GNI_POST_CQWRITE;
	self->d.cqwrite_value = 0xfeed123456789abc;
	/* neither address nor length mean anything */
	self->d.remote_addr = 1;
	self->d.length = ~0ull;
	MUST(GNI_PostCqWrite(self->s.ep, &self->d));
	RC(SUCCESS, conf_reap(self->s.cq, &self->d));
	RC(SUCCESS, conf_event(self->s.rx, &entry));
	EXPECT_EQ(0x123456789abc, GNI_CQ_GET_DATA(entry));
}

TEST(S10_2__a_process_wakes_itself)
{
	struct side s;
	gni_post_descriptor_t d;
	gni_cq_entry_t entry;
	uint32_t which = 7;

	ASSERT_EQ(0, self_open_as(&s, (struct side_options){ .cq = GNI_CQ_BLOCKING }));
	RC(TIMEOUT, GNI_CqVectorMonitor(&s.rx, 1, 10, &which));
	d = conf_post(&s, side_name(&s), GNI_POST_CQWRITE, 0, 0, 0);
	MUST(GNI_PostCqWrite(s.ep, &d));
	RC(SUCCESS, GNI_CqVectorMonitor(&s.rx, 1, 10000, &which));
	EXPECT_EQ(0, which);
	RC(SUCCESS, GNI_CqGetEvent(s.rx, &entry));
	RC(SUCCESS, conf_reap(s.cq, &d));
	side_close(&s);
}

TEST_HARNESS_MAIN
