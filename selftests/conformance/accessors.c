// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accessors of queue entries, by their functions; the macros are the same. Those of collectives are in
 * ce.c. Entries come from real events: what is in which bit is not the tests' business.
 */
#include "mailbox.h"

#define LOCAL_DATA 0xabc123u  /* 24 bits: Aries keeps no more */
#define REMOTE_DATA 0x87654321u

FIXTURE(entry)
{
	struct side s;		 /* bound to itself */
	gni_cq_entry_t local;	 /* global event of a put */
	gni_cq_entry_t remote;	 /* remote event of a put */
	gni_cq_entry_t failed;	 /* global event of a put that failed */
};

FIXTURE_SETUP(entry)
{
	gni_post_descriptor_t d, bad;

	ASSERT_EQ(0, self_open(&self->s));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_EpSetEventData(self->s.ep, LOCAL_DATA, REMOTE_DATA));
	d = conf_post(&self->s, side_name(&self->s), GNI_POST_FMA_PUT, 0, 64, 8);
	d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
	bad = d;
	bad.remote_addr += CONF_BYTES;
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_PostFma(self->s.ep, &d));
	ASSERT_EQ(GNI_RC_SUCCESS, conf_event(self->s.cq, &self->local));
	ASSERT_EQ(GNI_RC_SUCCESS, conf_event(self->s.rx, &self->remote));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_PostFma(self->s.ep, &bad));
	ASSERT_EQ(GNI_RC_TRANSACTION_ERROR, conf_event(self->s.cq, &self->failed));
}

FIXTURE_TEARDOWN(entry)
{
	side_close(&self->s);
}

/* The event of a queue write of @value. */
static gni_cq_entry_t written(struct side *s, uint64_t value)
{
	gni_post_descriptor_t d = conf_post(s, side_name(s), GNI_POST_CQWRITE, 0, 0, 0);
	gni_cq_entry_t entry = 0;

	d.cqwrite_value = value;
	if (GNI_PostCqWrite(s->ep, &d) || conf_reap(s->cq, &d) || conf_event(s->rx, &entry))
		return 0;
	return entry;
}

/* ---- Reading ---- */

TEST_F(entry, gni_cq_get_data__VALUE__event_data_and_written_values)
{
	EXPECT_EQ(REMOTE_DATA, gni_cq_get_data(self->remote));
	EXPECT_EQ(0x123456789abc, gni_cq_get_data(written(&self->s, 0x123456789abc)));
	EXPECT_EQ(0x123456789abc, gni_cq_get_data(written(&self->s, 0xffff123456789abc)));
}

TEST_F(entry, gni_cq_get_source__VALUE__not_0)
{
	EXPECT_NE(0, gni_cq_get_source(self->local));
	EXPECT_NE(0, gni_cq_get_source(self->remote));
	EXPECT_NE(0, gni_cq_get_source(written(&self->s, 1)));
}

TEST_F(entry, gni_cq_get_status__VALUE__0_is_good)
{
	EXPECT_EQ(0, gni_cq_get_status(self->local));
	EXPECT_EQ(0, gni_cq_get_status(self->remote));
	EXPECT_NE(0, gni_cq_get_status(self->failed));
	EXPECT_TRUE(GNI_CQ_STATUS_OK(self->local));
	EXPECT_FALSE(GNI_CQ_STATUS_OK(self->failed));
}

/* It tells a source's kinds of events from each other. */
TEST_F(entry, gni_cq_get_info__VALUE__of_a_local_and_a_global_event)
{
	gni_post_descriptor_t d = conf_post(&self->s, side_name(&self->s), GNI_POST_FMA_PUT, 0, 64, 8);
	gni_cq_entry_t entry;

	d.cq_mode = GNI_CQMODE_LOCAL_EVENT;
	MUST(GNI_PostFma(self->s.ep, &d));
	MUST(conf_event(self->s.cq, &entry));
	EXPECT_EQ(gni_cq_get_source(self->local), gni_cq_get_source(entry));
	EXPECT_NE(gni_cq_get_info(self->local), gni_cq_get_info(entry));
}

TEST_F(entry, gni_cq_overrun__VALUE__of_a_queue_that_lost_events)
{
	gni_post_descriptor_t d = conf_post(&self->s, side_name(&self->s), GNI_POST_FMA_PUT, 0, 64, 8);
	gni_cq_entry_t entry = 0;
	unsigned int i;

	EXPECT_EQ(0, gni_cq_overrun(self->local));
	EXPECT_EQ(0, gni_cq_overrun(self->remote));
	d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
	for (i = 0; i < 4 * CONF_CQ_ENTRIES; i++)
		conf_fma(&self->s, &d);
	while (GNI_CqGetEvent(self->s.rx, &entry) == GNI_RC_SUCCESS) {
		EXPECT_EQ(0, gni_cq_overrun(entry));
	}
	EXPECT_NE(0, gni_cq_overrun(entry));
	/* what the LND asserts */
	EXPECT_NE(0, gni_cq_overrun(self->local | 1ull << 63));
}

TEST_F(entry, gni_cq_rem_overrun__VALUE__of_a_put_into_a_full_queue)
{
	gni_post_descriptor_t d = conf_post(&self->s, side_name(&self->s), GNI_POST_FMA_PUT, 0, 64, 8), *done;
	gni_cq_entry_t entry = 0;
	unsigned int i;

	EXPECT_EQ(0, gni_cq_rem_overrun(self->local));
	d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
	for (i = 0; i < 4 * CONF_CQ_ENTRIES; i++) {
		MUST(GNI_PostFma(self->s.ep, &d));
		conf_event(self->s.cq, &entry);
		GNI_GetCompleted(self->s.cq, entry, &done);
	}
	EXPECT_NE(0, gni_cq_rem_overrun(entry));
}

TEST_F(entry, gni_cq_get_inst_id__VALUE__event_data_of_either_side)
{
	gni_post_descriptor_t d = conf_post(&self->s, side_name(&self->s), GNI_POST_FMA_PUT, 0, 64, 8);
	gni_cq_entry_t entry;

	d.cq_mode = GNI_CQMODE_LOCAL_EVENT;
	MUST(GNI_PostFma(self->s.ep, &d));
	MUST(conf_event(self->s.cq, &entry));
	EXPECT_EQ(LOCAL_DATA, gni_cq_get_inst_id(entry));
	EXPECT_EQ(LOCAL_DATA, gni_cq_get_inst_id(self->local));
	EXPECT_EQ(REMOTE_DATA & 0xffffff, gni_cq_get_inst_id(self->remote) & 0xffffff);
}

TEST_F(entry, gni_cq_get_rem_inst_id__VALUE__all_32_bits)
{
	EXPECT_EQ(REMOTE_DATA, gni_cq_get_rem_inst_id(self->remote));
}

/* Two posts that are outstanding at the same time have different ones. */
TEST_F(entry, gni_cq_get_tid__VALUE__finds_the_post)
{
	gni_post_descriptor_t a = conf_post(&self->s, side_name(&self->s), GNI_POST_FMA_PUT, 0, 64, 8), b = a;
	gni_cq_entry_t first, second;

	MUST(GNI_PostFma(self->s.ep, &a));
	MUST(GNI_PostFma(self->s.ep, &b));
	MUST(conf_event(self->s.cq, &first));
	MUST(conf_event(self->s.cq, &second));
	EXPECT_NE(gni_cq_get_tid(first), gni_cq_get_tid(second));
}

TEST_F(entry, gni_cq_get_type__VALUE__post)
{
	EXPECT_EQ(GNI_CQ_EVENT_TYPE_POST, gni_cq_get_type(self->local));
	EXPECT_EQ(GNI_CQ_EVENT_TYPE_POST, gni_cq_get_type(self->failed));
}

TEST(gni_cq_get_msg_id__VALUE__all_32_bits_of_a_send)
{
	gni_cq_entry_t entry;
	struct side a, b;

	ASSERT_EQ(0, two_open(&a, &b));
	ASSERT_EQ(0, mailbox_connect(&a, &b));
	MUST(GNI_SmsgSend(a.ep, "x", 1, NULL, 0, 0xffeeddcc));
	MUST(conf_event(a.cq, &entry));
	EXPECT_EQ(0xffeeddcc, gni_cq_get_msg_id(entry));
	EXPECT_EQ(GNI_CQ_EVENT_TYPE_SMSG, gni_cq_get_type(entry));
	side_close(&a);
	side_close(&b);
}

/* Puts of both kinds differ in it from block transfers, or not at all: only that it can be read is certain. */
TEST_F(entry, gni_cq_get_trans_type__VALUE__the_same_for_the_same_transfer)
{
	gni_post_descriptor_t d = conf_post(&self->s, side_name(&self->s), GNI_POST_FMA_PUT, 0, 64, 8);
	gni_cq_entry_t entry;

	MUST(GNI_PostFma(self->s.ep, &d));
	MUST(conf_event(self->s.cq, &entry));
	EXPECT_EQ(gni_cq_get_trans_type(self->local), gni_cq_get_trans_type(entry));
}

/* ---- Fields of the DLA and of fast-launch block transfers: no event of a put has them ---- */

TEST_F(entry, gni_cq_get_block_id__VALUE__0_of_a_put)
{
	EXPECT_EQ(0, gni_cq_get_block_id(self->local));
}

TEST_F(entry, gni_cq_get_unsuccessful_cnt__VALUE__0_of_a_put)
{
	EXPECT_EQ(0, gni_cq_get_unsuccessful_cnt(self->local));
}

TEST_F(entry, gni_cq_get_marker_id__VALUE__0_of_a_put)
{
	EXPECT_EQ(0, gni_cq_get_marker_id(self->local));
}

TEST_F(entry, gni_cq_get_failed_enqueue_cnt__VALUE__0_of_a_put)
{
	EXPECT_EQ(0, gni_cq_get_failed_enqueue_cnt(self->local));
}

TEST_F(entry, gni_cq_status_dla_overflow__VALUE__0_of_a_put)
{
	EXPECT_EQ(0, gni_cq_status_dla_overflow(self->local));
	EXPECT_EQ(0, gni_cq_status_dla_overflow(self->failed));
}

TEST_F(entry, gni_cq_bte_enq_status__VALUE__0_of_a_put)
{
	EXPECT_EQ(0, gni_cq_bte_enq_status(self->local));
	EXPECT_EQ(0, gni_cq_bte_enq_status(self->failed));
}

/* ---- Writing: one field changes, the others stay ---- */

TEST_F(entry, gni_cq_set_inst_id__VALUE__24_bits)
{
	gni_cq_entry_t entry = self->local;

	gni_cq_set_inst_id(&entry, 0x12abcdef);
	EXPECT_EQ(0xabcdef, gni_cq_get_inst_id(entry) & 0xffffff);
	EXPECT_EQ(gni_cq_get_tid(self->local), gni_cq_get_tid(entry));
	EXPECT_EQ(gni_cq_get_type(self->local), gni_cq_get_type(entry));
}

TEST_F(entry, gni_cq_set_rem_inst_id__VALUE__32_bits)
{
	gni_cq_entry_t entry = self->remote;

	gni_cq_set_rem_inst_id(&entry, 0x12abcdef);
	EXPECT_EQ(0x12abcdef, gni_cq_get_rem_inst_id(entry));
	EXPECT_EQ(gni_cq_get_source(self->remote), gni_cq_get_source(entry));
}

TEST_F(entry, gni_cq_set_tid__VALUE__read_back)
{
	gni_cq_entry_t entry = self->local;

	gni_cq_set_tid(&entry, 0x1357);
	EXPECT_EQ(0x1357, gni_cq_get_tid(entry));
	EXPECT_EQ(gni_cq_get_inst_id(self->local), gni_cq_get_inst_id(entry));
}

TEST_F(entry, gni_cq_set_msg_id__VALUE__read_back)
{
	gni_cq_entry_t entry = self->local;

	gni_cq_set_type(&entry, GNI_CQ_EVENT_TYPE_SMSG);
	gni_cq_set_msg_id(&entry, 0xfedcba98);
	EXPECT_EQ(0xfedcba98, gni_cq_get_msg_id(entry));
}

TEST_F(entry, gni_cq_set_type__VALUE__read_back)
{
	gni_cq_entry_t entry = self->local;
	uint64_t type;

	for (type = 0; type < 4; type++) {
		gni_cq_set_type(&entry, type);
		EXPECT_EQ(type, gni_cq_get_type(entry));
	}
	gni_cq_set_type(&entry, GNI_CQ_EVENT_TYPE_POST);
	EXPECT_EQ(self->local, entry);
}

TEST_F(entry, gni_cq_clr_status__VALUE__0)
{
	gni_cq_entry_t entry = self->failed;

	gni_cq_clr_status(&entry);
	EXPECT_EQ(0, gni_cq_get_status(entry));
	EXPECT_EQ(gni_cq_get_tid(self->failed), gni_cq_get_tid(entry));
}

TEST_HARNESS_MAIN
