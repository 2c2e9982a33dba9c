// SPDX-License-Identifier: GPL-2.0-only
/* Short messages between two domains of one process. */
#include "mailbox.h"

FIXTURE(smsg)
{
	struct side a, b;
	gni_smsg_attr_t at_a, at_b;
	void *header;
	uint8_t tag;
	uint32_t word;
};

FIXTURE_SETUP(smsg)
{
	self->header = NULL;
	self->tag = GNI_SMSG_ANY_TAG;
	self->word = 0x12345678;
	ASSERT_EQ(0, two_open(&self->a, &self->b));
	self->at_a = mailbox(&self->a);
	self->at_b = mailbox(&self->b);
}

FIXTURE_TEARDOWN(smsg)
{
	side_close(&self->a);
	side_close(&self->b);
}

#define CONNECT() ASSERT_EQ(0, mailbox_connect(&self->a, &self->b))
#define SEND() GNI_SmsgSend(self->a.ep, NULL, 0, &self->word, sizeof(self->word), 7)
#define SEND_TAG(tag) GNI_SmsgSendWTag(self->a.ep, &self->word, sizeof(self->word), NULL, 0, 7, tag)
#define NEXT() GNI_SmsgGetNext(self->b.ep, &self->header)
#define NEXT_TAG() GNI_SmsgGetNextWTag(self->b.ep, &self->header, &self->tag)
#define INIT() GNI_SmsgInit(self->a.ep, &self->at_a, &self->at_b)

/* ---- GNI_SmsgBufferSizeNeeded ---- */

TEST_F(smsg, GNI_SmsgBufferSizeNeeded__SUCCESS__grows_with_credits_and_size)
{
	unsigned int small = 0, size = 0;

	RC(SUCCESS, GNI_SmsgBufferSizeNeeded(&self->at_a, &small));
	EXPECT_LE(MAILBOX_LARGEST, small);
	self->at_a.mbox_maxcredit = 1000;
	RC(SUCCESS, GNI_SmsgBufferSizeNeeded(&self->at_a, &size));
	EXPECT_LT(small, size);
	self->at_a.mbox_maxcredit = MAILBOX_CREDITS;
	self->at_a.msg_maxsize = 60000;
	RC(SUCCESS, GNI_SmsgBufferSizeNeeded(&self->at_a, &size));
	EXPECT_LT(small, size);
}

TEST_F(smsg, GNI_SmsgBufferSizeNeeded__SUCCESS__other_fields_may_be_anything)
{
	unsigned int size = 0;
	gni_smsg_attr_t a;

	memset(&a, 0xee, sizeof(a));
	a.msg_type = GNI_SMSG_TYPE_MBOX;
	a.mbox_maxcredit = 8;
	a.msg_maxsize = 64;
	RC(SUCCESS, GNI_SmsgBufferSizeNeeded(&a, &size));
	EXPECT_LT(0, size);
}

TEST_F(smsg, GNI_SmsgBufferSizeNeeded__INVALID_PARAM__pointers_type_sizes)
{
	unsigned int size;
	gni_smsg_attr_t bad = self->at_a;

	RC(INVALID_PARAM, GNI_SmsgBufferSizeNeeded(NULL, &size));
	RC(INVALID_PARAM, GNI_SmsgBufferSizeNeeded(&self->at_a, NULL));
	bad.msg_type = GNI_SMSG_TYPE_INVALID;
	RC(INVALID_PARAM, GNI_SmsgBufferSizeNeeded(&bad, &size));
	bad = self->at_a;
	bad.mbox_maxcredit = 0;
	RC(INVALID_PARAM, GNI_SmsgBufferSizeNeeded(&bad, &size));
	bad = self->at_a;
	bad.msg_maxsize = GNI_SMSG_MAX_SIZE + 1;
	RC(INVALID_PARAM, GNI_SmsgBufferSizeNeeded(&bad, &size));
}

/* ---- GNI_SmsgInit ---- */

TEST_F(smsg, GNI_SmsgInit__SUCCESS__both_sides)
{
	RC(SUCCESS, INIT());
	RC(SUCCESS, GNI_SmsgInit(self->b.ep, &self->at_b, &self->at_a));
}

TEST_F(smsg, GNI_SmsgInit__SUCCESS__again_after_unbinding)
{
	MUST(INIT());
	MUST(GNI_EpUnbind(self->a.ep));
	MUST(GNI_EpBind(self->a.ep, self->b.pe, self->b.id));
	RC(SUCCESS, INIT());
}

TEST_F(smsg, GNI_SmsgInit__INVALID_PARAM__handle_or_pointers)
{
	RC(INVALID_PARAM, GNI_SmsgInit(NULL, &self->at_a, &self->at_b));
	RC(INVALID_PARAM, GNI_SmsgInit(self->a.ep, NULL, &self->at_b));
	RC(INVALID_PARAM, GNI_SmsgInit(self->a.ep, &self->at_a, NULL));
}

TEST_F(smsg, GNI_SmsgInit__INVALID_PARAM__sides_do_not_agree)
{
	self->at_b.mbox_maxcredit++;
	self->at_b.buff_size = 65536;
	RC(INVALID_PARAM, INIT());
	self->at_b = mailbox(&self->b);
	self->at_b.msg_maxsize--;
	RC(INVALID_PARAM, INIT());
	self->at_b = mailbox(&self->b);
	self->at_b.msg_type = GNI_SMSG_TYPE_MBOX;
	RC(INVALID_PARAM, INIT());
}

TEST_F(smsg, GNI_SmsgInit__INVALID_PARAM__mailbox_is_too_small)
{
	self->at_a.buff_size--;
	RC(INVALID_PARAM, INIT());
}

TEST_F(smsg, GNI_SmsgInit__INVALID_STATE__endpoint_is_not_bound)
{
	MUST(GNI_EpUnbind(self->a.ep));
	RC(INVALID_STATE, INIT());
}

TEST_F(smsg, GNI_SmsgInit__ERROR_NOMEM__no_address_space)
{
	uint8_t *large = conf_pages(2048);
	gni_mem_handle_t mem;

	/* Many credits: their book-keeping does not fit into memory that the process has already. */
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_MemRegister(self->a.nic, (uintptr_t)large, 2048 * CONF_PAGE, self->a.rx,
						  GNI_MEM_READWRITE, CONF_NO_VMDH, &mem));
	self->at_a.msg_buffer = large;
	self->at_a.mem_hndl = mem;
	self->at_a.mbox_maxcredit = 60000;
	self->at_a.msg_maxsize = 16;
	MUST(GNI_SmsgBufferSizeNeeded(&self->at_a, &self->at_a.buff_size));
	ASSERT_GT(2048 * CONF_PAGE, self->at_a.buff_size);
	self->at_b = self->at_a;
	conf_no_memory();
	RC(ERROR_NOMEM, INIT());
	conf_memory_again();
	RC(SUCCESS, INIT());
}

/* ---- GNI_SmsgSend, GNI_SmsgSendWTag ---- */

TEST_F(smsg, GNI_SmsgSend__SUCCESS__header_and_data)
{
	static const char text[] = "header|data";
	gni_cq_entry_t entry;
	char header[] = "header|", data[] = "data";

	CONNECT();
	RC(SUCCESS, GNI_SmsgSend(self->a.ep, header, 7, data, sizeof(data), 0xfedcba98));
	ASSERT_EQ(GNI_RC_SUCCESS, conf_event(self->a.cq, &entry));
	EXPECT_EQ(GNI_CQ_EVENT_TYPE_SMSG, GNI_CQ_GET_TYPE(entry));
	EXPECT_EQ(0xfedcba98, GNI_CQ_GET_MSG_ID(entry));
	MUST(NEXT());
	EXPECT_EQ(0, memcmp(text, self->header, sizeof(text)));
	MUST(conf_event(self->b.rx, &entry));
}

TEST_F(smsg, GNI_SmsgSend__SUCCESS__data_may_be_null)
{
	CONNECT();
	RC(SUCCESS, GNI_SmsgSend(self->a.ep, &self->word, sizeof(self->word), NULL, 0, 7));
	MUST(NEXT());
	EXPECT_EQ(self->word, *(uint32_t *)self->header);
}

TEST_F(smsg, GNI_SmsgSend__INVALID_PARAM__handle_or_no_mailbox)
{
	RC(INVALID_PARAM, GNI_SmsgSend(NULL, NULL, 0, &self->word, 4, 7));
	RC(INVALID_PARAM, SEND());
	CONNECT();
	RC(INVALID_PARAM, GNI_SmsgSend(self->a.ep, NULL, 4, NULL, 0, 7));
	RC(INVALID_PARAM, GNI_SmsgSend(self->a.ep, NULL, 0, NULL, 4, 7));
}

TEST_F(smsg, GNI_SmsgSend__NOT_DONE__no_credit)
{
	gni_return_t rc = GNI_RC_SUCCESS;
	int sent = 0;

	CONNECT();
	while (rc == GNI_RC_SUCCESS && sent++ < 1000)
		rc = SEND();
	EXPECT_EQ(GNI_RC_NOT_DONE, rc);
	EXPECT_EQ(MAILBOX_CREDITS, sent - 1);
	RC(NOT_DONE, SEND());
	while (NEXT() == GNI_RC_SUCCESS) {
		MUST(GNI_SmsgRelease(self->b.ep));
	}
	RC(SUCCESS, CONF_UNTIL(SUCCESS, SEND()));
}

TEST_F(smsg, GNI_SmsgSend__ERROR_RESOURCE__larger_than_msg_maxsize)
{
	char large[MAILBOX_LARGEST + 1] = "";

	CONNECT();
	RC(ERROR_RESOURCE, GNI_SmsgSend(self->a.ep, large, 1, large, MAILBOX_LARGEST, 7));
	RC(SUCCESS, GNI_SmsgSend(self->a.ep, large, 1, large, MAILBOX_LARGEST - 1, 7));
}

TEST_F(smsg, GNI_SmsgSendWTag__SUCCESS__tag_arrives)
{
	CONNECT();
	RC(SUCCESS, SEND_TAG(254));
	MUST(NEXT_TAG());
	EXPECT_EQ(254, self->tag);
	EXPECT_EQ(self->word, *(uint32_t *)self->header);
}

TEST_F(smsg, GNI_SmsgSendWTag__INVALID_PARAM__handle_or_tag_of_the_wildcard)
{
	RC(INVALID_PARAM, GNI_SmsgSendWTag(NULL, NULL, 0, &self->word, 4, 7, 1));
	CONNECT();
	RC(INVALID_PARAM, SEND_TAG(GNI_SMSG_ANY_TAG));
}

TEST_F(smsg, GNI_SmsgSendWTag__NOT_DONE__no_credit)
{
	int sent;

	CONNECT();
	for (sent = 0; sent < MAILBOX_CREDITS; sent++) {
		MUST(SEND_TAG(1));
	}
	RC(NOT_DONE, SEND_TAG(1));
}

/* The limit of messages with a tag is that of the interface, where the mailbox has room; UCX needs 4 bytes more. */
TEST_F(smsg, GNI_SmsgSendWTag__SUCCESS__a_little_larger_than_msg_maxsize)
{
	char large[MAILBOX_LARGEST + 4] = "large";

	CONNECT();
	RC(SUCCESS, GNI_SmsgSendWTag(self->a.ep, large, 4, large + 4, MAILBOX_LARGEST, 7, 1));
	MUST(NEXT_TAG());
	EXPECT_EQ(0, memcmp(large, self->header, sizeof(large)));
}

TEST_F(smsg, GNI_SmsgSendWTag__ERROR_RESOURCE__larger_than_the_interface_or_the_mailbox_allows)
{
	static char large[GNI_SMSG_MAX_SIZE + 1];

	CONNECT();
	RC(ERROR_RESOURCE, GNI_SmsgSendWTag(self->a.ep, large, sizeof(large), NULL, 0, 7, 1));
	RC(ERROR_RESOURCE, GNI_SmsgSendWTag(self->a.ep, large, 1, large, GNI_SMSG_MAX_SIZE, 7, 1));
	RC(ERROR_RESOURCE, GNI_SmsgSendWTag(self->a.ep, large, 4 * (MAILBOX_LARGEST + 64), NULL, 0, 7, 1));
}

/* ---- GNI_SmsgGetNext, GNI_SmsgGetNextWTag, GNI_SmsgRelease ---- */

/* Overwrites the mailbox of @s with what no peer has written. */
static void damage(struct side *s)
{
	memset(s->data, 0xdb, mailbox(s).buff_size);
}

TEST_F(smsg, GNI_SmsgGetNext__SUCCESS__in_the_order_of_sending)
{
	uint32_t n;

	CONNECT();
	for (n = 0; n < 3; n++) {
		self->word = n;
		MUST(SEND());
	}
	for (n = 0; n < 3; n++) {
		RC(SUCCESS, NEXT());
		EXPECT_EQ(n, *(uint32_t *)self->header);
		MUST(GNI_SmsgRelease(self->b.ep));
	}
	RC(NOT_DONE, NEXT());
}

TEST_F(smsg, GNI_SmsgGetNext__NOT_DONE__nothing_sent)
{
	CONNECT();
	RC(NOT_DONE, NEXT());
}

TEST_F(smsg, GNI_SmsgGetNext__INVALID_PARAM__handle_pointer_no_mailbox)
{
	RC(INVALID_PARAM, NEXT());
	CONNECT();
	RC(INVALID_PARAM, GNI_SmsgGetNext(NULL, &self->header));
	RC(INVALID_PARAM, GNI_SmsgGetNext(self->b.ep, NULL));
}

TEST_F(smsg, GNI_SmsgGetNext__INVALID_STATE__damaged_mailbox)
{
	CONNECT();
	damage(&self->b);
	RC(INVALID_STATE, NEXT());
	RC(INVALID_STATE, NEXT());
}

TEST_F(smsg, GNI_SmsgGetNextWTag__SUCCESS__its_tag_or_any)
{
	CONNECT();
	MUST(SEND_TAG(3));
	MUST(SEND_TAG(4));
	self->tag = 3;
	RC(SUCCESS, NEXT_TAG());
	MUST(GNI_SmsgRelease(self->b.ep));
	self->tag = GNI_SMSG_ANY_TAG;
	RC(SUCCESS, NEXT_TAG());
	EXPECT_EQ(4, self->tag);
}

TEST_F(smsg, GNI_SmsgGetNextWTag__NO_MATCH__leaves_the_message)
{
	CONNECT();
	MUST(SEND_TAG(3));
	self->tag = 4;
	RC(NO_MATCH, NEXT_TAG());
	RC(NO_MATCH, NEXT_TAG());
	self->tag = 3;
	RC(SUCCESS, NEXT_TAG());
}

TEST_F(smsg, GNI_SmsgGetNextWTag__NOT_DONE__nothing_sent)
{
	CONNECT();
	RC(NOT_DONE, NEXT_TAG());
}

TEST_F(smsg, GNI_SmsgGetNextWTag__INVALID_PARAM__handle_pointers_no_mailbox)
{
	RC(INVALID_PARAM, NEXT_TAG());
	CONNECT();
	RC(INVALID_PARAM, GNI_SmsgGetNextWTag(NULL, &self->header, &self->tag));
	RC(INVALID_PARAM, GNI_SmsgGetNextWTag(self->b.ep, NULL, &self->tag));
	RC(INVALID_PARAM, GNI_SmsgGetNextWTag(self->b.ep, &self->header, NULL));
}

TEST_F(smsg, GNI_SmsgGetNextWTag__INVALID_STATE__damaged_mailbox)
{
	CONNECT();
	damage(&self->b);
	RC(INVALID_STATE, NEXT_TAG());
}

TEST_F(smsg, GNI_SmsgRelease__SUCCESS__after_a_message)
{
	CONNECT();
	MUST(SEND());
	MUST(NEXT());
	RC(SUCCESS, GNI_SmsgRelease(self->b.ep));
}

TEST_F(smsg, GNI_SmsgRelease__NOT_DONE__no_current_message)
{
	CONNECT();
	MUST(SEND());
	RC(NOT_DONE, GNI_SmsgRelease(self->b.ep));
	MUST(NEXT());
	MUST(GNI_SmsgRelease(self->b.ep));
	RC(NOT_DONE, GNI_SmsgRelease(self->b.ep));
}

TEST_F(smsg, GNI_SmsgRelease__INVALID_PARAM__handle_or_no_mailbox)
{
	RC(INVALID_PARAM, GNI_SmsgRelease(NULL));
	RC(INVALID_PARAM, GNI_SmsgRelease(self->b.ep));
}

/* ---- GNI_SmsgSetDeliveryMode, GNI_SmsgSetMaxRetrans ---- */

TEST_F(smsg, GNI_SmsgSetDeliveryMode__SUCCESS__in_order)
{
	RC(SUCCESS, GNI_SmsgSetDeliveryMode(self->a.nic, GNI_DLVMODE_IN_ORDER));
	CONNECT();
	MUST(SEND());
	MUST(NEXT());
	RC(SUCCESS, GNI_SmsgSetDeliveryMode(self->a.nic, GNI_DLVMODE_PERFORMANCE));
}

TEST_F(smsg, GNI_SmsgSetDeliveryMode__INVALID_PARAM__handle_or_mode)
{
	RC(INVALID_PARAM, GNI_SmsgSetDeliveryMode(NULL, GNI_DLVMODE_IN_ORDER));
	RC(INVALID_PARAM, GNI_SmsgSetDeliveryMode(self->a.nic, 0x8000));
}

TEST_F(smsg, GNI_SmsgSetMaxRetrans__SUCCESS__none_and_many)
{
	RC(SUCCESS, GNI_SmsgSetMaxRetrans(self->a.nic, 0));
	RC(SUCCESS, GNI_SmsgSetMaxRetrans(self->a.nic, 0xffff));
}

RC_TEST(GNI_SmsgSetMaxRetrans__INVALID_PARAM__null_handle, INVALID_PARAM, GNI_SmsgSetMaxRetrans(NULL, 1));

/* ---- Counters: here because short messages make them move ---- */

/* Sends until there is no credit, and once more. */
static int stall(gni_ep_handle_t ep)
{
	uint32_t word = 1;
	int n = 0;

	while (GNI_SmsgSend(ep, NULL, 0, &word, sizeof(word), 0) == GNI_RC_SUCCESS && n < 1000)
		n++;
	return n == MAILBOX_CREDITS ? 0 : n + 1;
}

TEST_F(smsg, GNI_GetNicStat__SUCCESS__counts_sends_without_credit)
{
	uint32_t value = 99;

	CONNECT();
	RC(SUCCESS, GNI_GetNicStat(self->a.nic, GNI_STAT_SMSG_MBOX_CREDITS_STALL, &value));
	EXPECT_EQ(0, value);
	ASSERT_EQ(0, stall(self->a.ep));
	RC(SUCCESS, GNI_GetNicStat(self->a.nic, GNI_STAT_SMSG_MBOX_CREDITS_STALL, &value));
	EXPECT_EQ(1, value);
}

TEST_F(smsg, GNI_ResetNicStat__SUCCESS__of_a_counter_that_has_counted)
{
	uint32_t value = 99;

	CONNECT();
	ASSERT_EQ(0, stall(self->a.ep));
	RC(SUCCESS, GNI_ResetNicStat(self->a.nic, GNI_STAT_SMSG_MBOX_CREDITS_STALL));
	MUST(GNI_GetNicStat(self->a.nic, GNI_STAT_SMSG_MBOX_CREDITS_STALL, &value));
	EXPECT_EQ(0, value);
}

TEST_HARNESS_MAIN
