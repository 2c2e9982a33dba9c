// SPDX-License-Identifier: GPL-2.0-only
/* Statements about datagrams and short messages: statements.csv, sections 7 and 11. */
#include "mailbox.h"

/* ---- 7: datagrams ---- */

FIXTURE(pairs)
{
	struct side a, b; /* bound to each other */
	gni_post_state_t state;
	uint32_t pe, id;
	uint64_t number;
	uint8_t in_a[128], in_b[128];
};

FIXTURE_SETUP(pairs)
{
	self->state = GNI_POST_ERROR;
	ASSERT_EQ(0, two_open(&self->a, &self->b));
}

FIXTURE_TEARDOWN(pairs)
{
	side_close(&self->a);
	side_close(&self->b);
}

#define STATE &self->state, &self->pe, &self->id
#define TEST_OF(side) GNI_EpPostDataTest(self->side.ep, STATE)
#define WAIT_OF(side) GNI_EpPostDataWait(self->side.ep, 10000, STATE)

TEST_F(pairs, S7_1__128_bytes_each_way)
{
	uint8_t out_a[128], out_b[128];

	memset(out_a, 'a', sizeof(out_a));
	memset(out_b, 'b', sizeof(out_b));
	MUST(GNI_EpPostData(self->a.ep, out_a, 128, self->in_a, 128));
	MUST(GNI_EpPostData(self->b.ep, out_b, 128, self->in_b, 128));
	MUST(WAIT_OF(a));
	EXPECT_EQ(GNI_POST_COMPLETED, self->state);
	MUST(WAIT_OF(b));
	EXPECT_EQ(0, memcmp(self->in_a, out_b, 128));
	EXPECT_EQ(0, memcmp(self->in_b, out_a, 128));
}

TEST_F(pairs, S7_3__neither_queue_nor_memory)
{
	gni_ep_handle_t a, b;

	MUST(GNI_EpCreate(self->a.nic, NULL, &a));
	MUST(GNI_EpCreate(self->b.nic, NULL, &b));
	MUST(GNI_EpBind(a, self->b.pe, self->b.id));
	MUST(GNI_EpBind(b, self->a.pe, self->a.id));
	RC(SUCCESS, GNI_EpPostData(a, "x", 1, self->in_a, 128));
	RC(SUCCESS, GNI_EpPostData(b, "y", 1, self->in_b, 128));
	MUST(GNI_EpPostDataWait(a, 10000, STATE));
	EXPECT_EQ('y', self->in_a[0]);
	MUST(GNI_EpDestroy(a));
	MUST(GNI_EpDestroy(b));
}

TEST_F(pairs, S7_7__cancelled_ones_are_probed_and_told_once)
{
	MUST(GNI_EpPostDataWId(self->a.ep, NULL, 0, self->in_a, 128, 5));
	RC(NO_MATCH, GNI_PostDataProbeById(self->a.nic, &self->number));
	MUST(GNI_EpPostDataCancelById(self->a.ep, 5));
	RC(SUCCESS, GNI_PostDataProbeById(self->a.nic, &self->number));
	EXPECT_EQ(5, self->number);
	/* not consumed */
	RC(SUCCESS, GNI_PostDataProbeById(self->a.nic, &self->number));
	RC(SUCCESS, GNI_EpPostDataTestById(self->a.ep, 5, STATE));
	EXPECT_EQ(GNI_POST_TERMINATED, self->state);
	RC(NO_MATCH, GNI_EpPostDataTestById(self->a.ep, 5, STATE));
	RC(NO_MATCH, GNI_PostDataProbeById(self->a.nic, &self->number));
}

TEST_F(pairs, S7_8__no_delay_after_a_probe)
{
	time_t begin = time(NULL);

	MUST(GNI_EpPostDataWId(self->a.ep, NULL, 0, self->in_a, 128, 1));
	MUST(GNI_EpPostDataWId(self->b.ep, NULL, 0, self->in_b, 128, 2));
	EXPECT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_PostDataProbeById(self->a.nic, &self->number)));
	EXPECT_EQ(1, self->number);
	RC(SUCCESS, GNI_EpPostDataWaitById(self->a.ep, 1, (uint32_t)-1, STATE));
	EXPECT_GE(begin + CONF_PATIENCE, time(NULL));
}

TEST_F(pairs, S7_13__wildcards_do_not_meet)
{
	gni_ep_handle_t a, b;

	MUST(GNI_EpCreate(self->a.nic, NULL, &a));
	MUST(GNI_EpCreate(self->b.nic, NULL, &b));
	MUST(GNI_EpPostDataWId(a, "x", 1, self->in_a, 128, 1));
	MUST(GNI_EpPostDataWId(b, "y", 1, self->in_b, 128, 2));
	RC(TIMEOUT, GNI_EpPostDataWaitById(a, 1, 300, STATE));
	RC(NO_MATCH, GNI_PostDataProbeById(self->b.nic, &self->number));
	MUST(GNI_EpDestroy(a));
	MUST(GNI_EpDestroy(b));
}

TEST_F(pairs, S7_14__other_domains_do_not_meet)
{
	struct side other;

	/* the same instance, another cookie */
	ASSERT_EQ(0, side_open(&other, conf_cookie(), self->b.id));
	MUST(GNI_EpBind(other.ep, self->a.pe, self->a.id));
	MUST(GNI_EpPostData(self->a.ep, NULL, 0, self->in_a, 128));
	MUST(GNI_EpPostData(other.ep, NULL, 0, self->in_b, 128));
	RC(TIMEOUT, GNI_EpPostDataWait(self->a.ep, 300, STATE));
	RC(TIMEOUT, GNI_EpPostDataWait(other.ep, 300, STATE));
	MUST(GNI_EpPostData(self->b.ep, NULL, 0, self->in_b, 128));
	MUST(WAIT_OF(a));
	EXPECT_EQ(GNI_POST_COMPLETED, self->state);
	side_close(&other);
}

TEST_F(pairs, S7_15__crossing_posts_meet_before_a_wildcard)
{
	gni_ep_handle_t any;

	MUST(GNI_EpCreate(self->b.nic, NULL, &any));
	MUST(GNI_EpPostDataWId(self->b.ep, "d", 1, self->in_b, 128, 1));
	MUST(GNI_EpPostDataWId(any, "w", 1, self->in_b, 128, 2));
	MUST(GNI_EpPostDataWId(self->a.ep, "a", 1, self->in_a, 128, 3));
	MUST(GNI_EpPostDataWaitById(self->a.ep, 3, 10000, STATE));
	EXPECT_EQ('d', self->in_a[0]);
	RC(SUCCESS, GNI_EpPostDataTestById(any, 2, STATE));
	EXPECT_EQ(GNI_POST_PENDING, self->state);
	MUST(GNI_EpDestroy(any));
}

TEST_F(pairs, S7_16__a_domain_meets_itself)
{
	gni_ep_handle_t to_self, any;

	MUST(GNI_EpCreate(self->a.nic, NULL, &any));
	MUST(GNI_EpCreate(self->a.nic, NULL, &to_self));
	MUST(GNI_EpBind(to_self, self->a.pe, self->a.id));
	MUST(GNI_EpPostDataWId(any, "w", 1, self->in_a, 128, 1));
	MUST(GNI_EpPostDataWId(to_self, "s", 1, self->in_b, 128, 2));
	MUST(GNI_EpPostDataWaitById(any, 1, 10000, STATE));
	EXPECT_EQ('s', self->in_a[0]);
	EXPECT_EQ(self->a.id, self->id);
	MUST(GNI_EpDestroy(any));
	MUST(GNI_EpDestroy(to_self));
}

/* ---- 11: short messages ---- */

#define SEND(side, text, id) GNI_SmsgSend(self->side.ep, text, sizeof(text), NULL, 0, id)

TEST_F(pairs, S11_1__mailboxes_anywhere_and_larger)
{
	gni_smsg_attr_t at_a = mailbox(&self->a), at_b = mailbox(&self->b);
	void *p;

	/* not aligned, the second right behind the first, more room than needed */
	at_a.msg_buffer = self->a.data + 13;
	at_b.mbox_offset = at_b.buff_size + 1;
	at_a.buff_size += 777;
	MUST(GNI_SmsgInit(self->a.ep, &at_a, &at_b));
	MUST(GNI_SmsgInit(self->b.ep, &at_b, &at_a));
	MUST(SEND(a, "one", 1));
	MUST(SEND(b, "two", 2));
	EXPECT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_SmsgGetNext(self->b.ep, &p)));
	EXPECT_EQ(0, memcmp(p, "one", 4));
	EXPECT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_SmsgGetNext(self->a.ep, &p)));
	EXPECT_EQ(0, memcmp(p, "two", 4));
	EXPECT_EQ(0, self->a.data[12]);
}

TEST_F(pairs, S11_3__event_data_before_and_after_connecting)
{
	gni_cq_entry_t entry;

	MUST(GNI_EpSetEventData(self->a.ep, 1, 0x51));
	ASSERT_EQ(0, mailbox_connect(&self->a, &self->b));
	MUST(SEND(a, "x", 1));
	MUST(conf_event(self->b.rx, &entry));
	EXPECT_EQ(0x51, GNI_CQ_GET_INST_ID(entry));
	MUST(GNI_EpSetEventData(self->a.ep, 1, 0x52));
	MUST(SEND(a, "x", 2));
	MUST(conf_event(self->b.rx, &entry));
	EXPECT_EQ(0x52, GNI_CQ_GET_INST_ID(entry));
}

TEST_F(pairs, S11_5__one_event_here_and_one_there)
{
	gni_cq_entry_t entry;

	ASSERT_EQ(0, mailbox_connect(&self->a, &self->b));
	MUST(SEND(a, "x", 0xabcd1234));
	MUST(conf_event(self->a.cq, &entry));
	EXPECT_EQ(GNI_CQ_EVENT_TYPE_SMSG, GNI_CQ_GET_TYPE(entry));
	EXPECT_EQ(0xabcd1234, GNI_CQ_GET_MSG_ID(entry));
	RC(NOT_DONE, GNI_CqGetEvent(self->a.cq, &entry));
	MUST(conf_event(self->b.rx, &entry));
	EXPECT_EQ(GNI_CQ_EVENT_TYPE_SMSG, GNI_CQ_GET_TYPE(entry));
	RC(NOT_DONE, GNI_CqGetEvent(self->b.rx, &entry));
	RC(NOT_DONE, GNI_CqGetEvent(self->a.rx, &entry));
}

TEST_F(pairs, S11_6__buffers_may_change_after_sending)
{
	char header[8] = "header", data[8] = "data";
	void *p;

	ASSERT_EQ(0, mailbox_connect(&self->a, &self->b));
	MUST(GNI_SmsgSend(self->a.ep, header, 8, data, 8, 1));
	memset(header, '!', 8);
	memset(data, '!', 8);
	EXPECT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_SmsgGetNext(self->b.ep, &p)));
	EXPECT_EQ(0, memcmp(p, "header\0\0data\0\0\0", 16));
}

TEST_F(pairs, S11_7__one_current_message_until_released)
{
	void *first = NULL, *again = NULL, *second = NULL;

	ASSERT_EQ(0, mailbox_connect(&self->a, &self->b));
	MUST(SEND(a, "first", 1));
	MUST(SEND(a, "second", 2));
	EXPECT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_SmsgGetNext(self->b.ep, &first)));
	RC(SUCCESS, GNI_SmsgGetNext(self->b.ep, &again));
	EXPECT_EQ(first, again);
	/* it lies in the mailbox */
	EXPECT_TRUE((uint8_t *)first >= self->b.data && (uint8_t *)first < self->b.data + CONF_BYTES);
	MUST(GNI_SmsgRelease(self->b.ep));
	EXPECT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_SmsgGetNext(self->b.ep, &second)));
	EXPECT_EQ(0, memcmp(second, "second", 7));
}

TEST_F(pairs, S11_9__untagged_is_tag_0)
{
	uint8_t tag = GNI_SMSG_ANY_TAG;
	void *p;

	ASSERT_EQ(0, mailbox_connect(&self->a, &self->b));
	MUST(SEND(a, "x", 1));
	EXPECT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_SmsgGetNextWTag(self->b.ep, &p, &tag)));
	EXPECT_EQ(0, tag);
	MUST(GNI_SmsgRelease(self->b.ep));
	MUST(GNI_SmsgSendWTag(self->a.ep, "y", 2, NULL, 0, 2, 254));
	EXPECT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_SmsgGetNext(self->b.ep, &p)));
}

TEST_F(pairs, S11_13__messages_sent_before_the_peer_connects)
{
	gni_smsg_attr_t at_a = mailbox(&self->a), at_b = mailbox(&self->b);
	void *p;

	MUST(GNI_SmsgInit(self->a.ep, &at_a, &at_b));
	MUST(SEND(a, "early", 1));
	MUST(SEND(a, "earlier", 2));
	MUST(GNI_SmsgInit(self->b.ep, &at_b, &at_a));
	EXPECT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_SmsgGetNext(self->b.ep, &p)));
	EXPECT_EQ(0, memcmp(p, "early", 6));
	MUST(GNI_SmsgRelease(self->b.ep));
	EXPECT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_SmsgGetNext(self->b.ep, &p)));
	EXPECT_EQ(0, memcmp(p, "earlier", 8));
}

TEST_F(pairs, S11_14__messages_whose_events_were_lost)
{
	gni_cq_handle_t tiny;
	gni_mem_handle_t mem;
	gni_cq_entry_t entry = 0;
	gni_smsg_attr_t at_a = mailbox(&self->a), at_b;
	uint32_t i, got = 0, lost = 0, sent = 0;
	gni_return_t rc;
	void *p;

	/* messages arrive at a queue that nobody reads */
	MUST(GNI_CqCreate(self->b.nic, 2, 0, GNI_CQ_NOBLOCK, NULL, NULL, &tiny));
	MUST(GNI_MemRegister(self->b.nic, (uintptr_t)self->b.data, CONF_BYTES, tiny, 0, CONF_NO_VMDH, &mem));
	at_a.mbox_maxcredit = 700;
	MUST(GNI_SmsgBufferSizeNeeded(&at_a, &at_a.buff_size));
	at_b = at_a;
	at_b.msg_buffer = self->b.data;
	at_b.mem_hndl = mem;
	ASSERT_GE(CONF_BYTES, at_a.buff_size);
	MUST(GNI_SmsgInit(self->a.ep, &at_a, &at_b));
	MUST(GNI_SmsgInit(self->b.ep, &at_b, &at_a));
	for (i = 0; i < 600; i++) {
		rc = GNI_SmsgSend(self->a.ep, &i, sizeof(i), NULL, 0, i);
		if (rc == GNI_RC_SUCCESS) {
			sent++;
			MUST(conf_event(self->a.cq, &entry));
		}
	}
	ASSERT_LT(500, sent);
	do {
		rc = GNI_CqGetEvent(tiny, &entry);
		lost += rc == GNI_RC_ERROR_RESOURCE;
	} while (rc != GNI_RC_NOT_DONE);
	EXPECT_EQ(1, lost);
	while (GNI_SmsgGetNext(self->b.ep, &p) == GNI_RC_SUCCESS) {
		EXPECT_EQ(got, *(uint32_t *)p);
		got++;
		MUST(GNI_SmsgRelease(self->b.ep));
	}
	EXPECT_EQ(sent, got);
	/* and the queue works again */
	MUST(SEND(a, "x", 1));
	RC(SUCCESS, conf_event(tiny, &entry));
	MUST(GNI_EpUnbind(self->b.ep));
	MUST(GNI_MemDeregister(self->b.nic, &mem));
	MUST(GNI_CqDestroy(tiny));
}

TEST_HARNESS_MAIN
