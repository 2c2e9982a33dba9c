// SPDX-License-Identifier: GPL-2.0-only
/* Message queues: a node with one instance, connected with itself. */
#include "queue.h"

#define SOON 20u /* ms */

FIXTURE(msgq)
{
	struct side s; /* bound to itself */
	gni_msgq_attr_t attributes;
	gni_msgq_handle_t queue;
	gni_msgq_ep_attr_t record;
	uint32_t bytes;
	struct received got;
	gni_cq_entry_t entry;
};

FIXTURE_SETUP(msgq)
{
	self->queue = NULL;
	self->bytes = 0;
	memset(&self->got, 0, sizeof(self->got));
	self->got.go_on = 1;
	memset(&self->record, 0, sizeof(self->record));
	self->attributes = queue_attributes(1);
	ASSERT_EQ(0, self_open(&self->s));
}

FIXTURE_TEARDOWN(msgq)
{
	side_close(&self->s);
}

#define INIT() GNI_MsgqInit(self->s.nic, queue_receive, &self->got, self->s.cq, &self->attributes, &self->queue)
#define RESERVE(pe) GNI_MsgqGetConnAttrs(self->queue, pe, &self->record, &self->bytes)
#define CONNECT(pe) GNI_MsgqConnect(self->queue, pe, &self->record)
#define SEND() GNI_MsgqSend(self->queue, self->s.ep, "he", 2, "ad", 2, 0xfedcba98, 9)
#define PROGRESS(ms) GNI_MsgqProgress(self->queue, ms)
/* A queue that is connected with itself. */
#define READY()                                                                                      \
	do {                                                                                         \
		MUST(INIT());                                                                        \
		MUST(RESERVE(self->s.pe));                                                           \
		MUST(CONNECT(self->s.pe));                                                           \
	} while (0)

/* ---- GNI_MsgqSize ---- */

TEST_F(msgq, GNI_MsgqSize__SUCCESS__grows_with_the_connections)
{
	uint32_t small = 0, large = 0;

	RC(SUCCESS, GNI_MsgqSize(&self->attributes, &small));
	EXPECT_LT(0, small);
	EXPECT_EQ(0, small % CONF_PAGE);
	self->attributes.num_msgq_eps = 4000;
	self->attributes.smsg_q_sz = 64;
	RC(SUCCESS, GNI_MsgqSize(&self->attributes, &large));
	EXPECT_LT(small, large);
}

TEST_F(msgq, GNI_MsgqSize__INVALID_PARAM__pointers_or_limits)
{
	uint32_t size;

	RC(INVALID_PARAM, GNI_MsgqSize(NULL, &size));
	RC(INVALID_PARAM, GNI_MsgqSize(&self->attributes, NULL));
	self->attributes.max_msg_sz = GNI_MSGQ_MSG_SZ_MAX + 1;
	RC(INVALID_PARAM, GNI_MsgqSize(&self->attributes, &size));
	self->attributes = queue_attributes(GNI_MSGQ_NODE_INSTS_MAX + 1);
	RC(INVALID_PARAM, GNI_MsgqSize(&self->attributes, &size));
}

/* ---- GNI_MsgqInit ---- */

TEST_F(msgq, GNI_MsgqInit__SUCCESS__and_again_after_release)
{
	RC(SUCCESS, INIT());
	MUST(GNI_MsgqRelease(self->queue));
	RC(SUCCESS, INIT());
}

TEST_F(msgq, GNI_MsgqInit__INVALID_PARAM__handles_pointers_limits)
{
	gni_msgq_attr_t *a = &self->attributes;

	RC(INVALID_PARAM, GNI_MsgqInit(NULL, queue_receive, NULL, self->s.cq, a, &self->queue));
	RC(INVALID_PARAM, GNI_MsgqInit(self->s.nic, NULL, NULL, self->s.cq, a, &self->queue));
	RC(INVALID_PARAM, GNI_MsgqInit(self->s.nic, queue_receive, NULL, NULL, a, &self->queue));
	RC(INVALID_PARAM, GNI_MsgqInit(self->s.nic, queue_receive, NULL, self->s.cq, NULL, &self->queue));
	RC(INVALID_PARAM, GNI_MsgqInit(self->s.nic, queue_receive, NULL, self->s.cq, a, NULL));
	a->max_msg_sz = GNI_MSGQ_MSG_SZ_MAX + 1;
	RC(INVALID_PARAM, INIT());
	EXPECT_EQ(NULL, self->queue);
}

TEST_F(msgq, GNI_MsgqInit__ERROR_NOMEM__no_address_space)
{
	conf_no_memory();
	RC(ERROR_NOMEM, INIT());
	conf_memory_again();
	RC(SUCCESS, INIT());
}

TEST_F(msgq, GNI_MsgqInit__INVALID_STATE__nic_handle_has_one)
{
	MUST(INIT());
	RC(INVALID_STATE, INIT());
}

/* All instances of a node pass the same. */
TEST(GNI_MsgqInit__INVALID_STATE__other_attributes_than_the_first_instance)
{
	gni_msgq_attr_t attributes = queue_attributes(2);
	struct received got = { 0 };
	gni_msgq_handle_t queue;
	struct side a, b;

	ASSERT_EQ(0, two_open(&a, &b));
	MUST(GNI_MsgqInit(a.nic, queue_receive, &got, a.cq, &attributes, &queue));
	attributes.smsg_q_sz++;
	RC(INVALID_STATE, GNI_MsgqInit(b.nic, queue_receive, &got, b.cq, &attributes, &queue));
	attributes.smsg_q_sz--;
	RC(SUCCESS, GNI_MsgqInit(b.nic, queue_receive, &got, b.cq, &attributes, &queue));
}

/* Shared memory of a node is a file system that nothing can be written to. */
static void no_shared_memory(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/dev/shm", "tmpfs", MS_RDONLY, NULL))
		_exit(254);
}

TEST_F(msgq, GNI_MsgqInit__PERMISSION_ERROR__no_shared_memory)
{
	no_shared_memory();
	RC(PERMISSION_ERROR, INIT());
}

/* ---- GNI_MsgqRelease, GNI_MsgqIdle ---- */

TEST_F(msgq, GNI_MsgqRelease__SUCCESS__connected)
{
	READY();
	RC(SUCCESS, GNI_MsgqRelease(self->queue));
}

TEST_F(msgq, GNI_MsgqRelease__INVALID_PARAM__null_or_twice)
{
	RC(INVALID_PARAM, GNI_MsgqRelease(NULL));
	MUST(INIT());
	MUST(GNI_MsgqRelease(self->queue));
	RC(INVALID_PARAM, GNI_MsgqRelease(self->queue));
}

TEST_F(msgq, GNI_MsgqRelease__NOT_DONE__event_of_a_send_not_read)
{
	READY();
	MUST(SEND());
	RC(NOT_DONE, GNI_MsgqRelease(self->queue));
	MUST(conf_event(self->s.cq, &self->entry));
	MUST(PROGRESS(0));
	RC(SUCCESS, GNI_MsgqRelease(self->queue));
}

TEST_F(msgq, GNI_MsgqIdle__SUCCESS__nothing_under_way)
{
	READY();
	RC(SUCCESS, GNI_MsgqIdle(self->queue));
}

RC_TEST(GNI_MsgqIdle__INVALID_PARAM__null_handle, INVALID_PARAM, GNI_MsgqIdle(NULL));

TEST_F(msgq, GNI_MsgqIdle__NOT_DONE__message_not_received)
{
	READY();
	MUST(SEND());
	MUST(conf_event(self->s.cq, &self->entry));
	RC(NOT_DONE, GNI_MsgqIdle(self->queue));
	MUST(PROGRESS(0));
	RC(SUCCESS, GNI_MsgqIdle(self->queue));
}

/* ---- GNI_MsgqGetConnAttrs ---- */

TEST_F(msgq, GNI_MsgqGetConnAttrs__SUCCESS__one_instance)
{
	MUST(INIT());
	RC(SUCCESS, RESERVE(self->s.pe));
	EXPECT_EQ(self->s.pe, self->record.pe_addr);
	EXPECT_EQ(1, self->record.num_insts);
	EXPECT_EQ(self->s.id, self->record.insts[0].id);
	EXPECT_LE(offsetof(gni_msgq_ep_attr_t, insts[1]), self->bytes);
	/* the size need not be asked for */
	RC(SUCCESS, GNI_MsgqGetConnAttrs(self->queue, self->s.pe + 1, &self->record, NULL));
}

TEST_F(msgq, GNI_MsgqGetConnAttrs__INVALID_PARAM__handle_address_pointer)
{
	RC(INVALID_PARAM, GNI_MsgqGetConnAttrs(NULL, self->s.pe, &self->record, &self->bytes));
	MUST(INIT());
	RC(INVALID_PARAM, GNI_MsgqGetConnAttrs(self->queue, self->s.pe, NULL, &self->bytes));
	RC(INVALID_PARAM, RESERVE(0xffffffff));
}

TEST_F(msgq, GNI_MsgqGetConnAttrs__INVALID_STATE__node_has_one)
{
	MUST(INIT());
	MUST(RESERVE(self->s.pe));
	RC(INVALID_STATE, RESERVE(self->s.pe));
}

TEST_F(msgq, GNI_MsgqGetConnAttrs__ERROR_RESOURCE__more_nodes_than_num_msgq_eps)
{
	uint32_t n;

	MUST(INIT());
	for (n = 0; n < self->attributes.num_msgq_eps; n++)
		MUST(RESERVE(self->s.pe + n));
	RC(ERROR_RESOURCE, RESERVE(self->s.pe + n));
	MUST(GNI_MsgqConnRelease(self->queue, self->s.pe));
	RC(SUCCESS, RESERVE(self->s.pe + n));
}

TEST_F(msgq, GNI_MsgqGetConnAttrs__PERMISSION_ERROR__instances_are_missing)
{
	self->attributes = queue_attributes(2);
	MUST(INIT());
	RC(PERMISSION_ERROR, RESERVE(self->s.pe));
}

/* ---- GNI_MsgqConnect ---- */

TEST_F(msgq, GNI_MsgqConnect__SUCCESS__with_itself)
{
	MUST(INIT());
	MUST(RESERVE(self->s.pe));
	RC(SUCCESS, CONNECT(self->s.pe));
}

TEST_F(msgq, GNI_MsgqConnect__INVALID_PARAM__handle_pointer_record)
{
	MUST(INIT());
	MUST(RESERVE(self->s.pe));
	RC(INVALID_PARAM, GNI_MsgqConnect(NULL, self->s.pe, &self->record));
	RC(INVALID_PARAM, GNI_MsgqConnect(self->queue, self->s.pe, NULL));
	self->record.max_msg_sz--;
	RC(INVALID_PARAM, CONNECT(self->s.pe));
	self->record.max_msg_sz++;
	self->record.num_insts = GNI_MSGQ_NODE_INSTS_MAX + 1;
	RC(INVALID_PARAM, CONNECT(self->s.pe));
}

TEST_F(msgq, GNI_MsgqConnect__NO_MATCH__nothing_reserved)
{
	MUST(INIT());
	MUST(RESERVE(self->s.pe));
	MUST(GNI_MsgqConnRelease(self->queue, self->s.pe));
	RC(NO_MATCH, CONNECT(self->s.pe));
}

TEST_F(msgq, GNI_MsgqConnect__INVALID_STATE__connected_already)
{
	READY();
	RC(INVALID_STATE, CONNECT(self->s.pe));
}

/* The record is one that another node could have sent. */
TEST_F(msgq, GNI_MsgqConnect__PERMISSION_ERROR__instances_are_missing)
{
	self->attributes = queue_attributes(2);
	MUST(INIT());
	self->record.pe_addr = self->s.pe;
	self->record.max_msg_sz = self->attributes.max_msg_sz;
	self->record.smsg_q_sz = self->attributes.smsg_q_sz;
	self->record.num_insts = 1;
	self->record.insts[0].id = self->s.id;
	self->record.insts[0].mdh = self->s.mem;
	RC(PERMISSION_ERROR, CONNECT(self->s.pe));
}

/* ---- GNI_MsgqConnRelease ---- */

TEST_F(msgq, GNI_MsgqConnRelease__SUCCESS__and_connected_again)
{
	READY();
	RC(SUCCESS, GNI_MsgqConnRelease(self->queue, self->s.pe));
	MUST(RESERVE(self->s.pe));
	MUST(CONNECT(self->s.pe));
	RC(SUCCESS, GNI_MsgqConnRelease(self->queue, self->s.pe));
}

RC_TEST(GNI_MsgqConnRelease__INVALID_PARAM__null_handle, INVALID_PARAM, GNI_MsgqConnRelease(NULL, 0));

TEST_F(msgq, GNI_MsgqConnRelease__NO_MATCH__not_connected)
{
	MUST(INIT());
	RC(NO_MATCH, GNI_MsgqConnRelease(self->queue, self->s.pe));
}

TEST_F(msgq, GNI_MsgqConnRelease__NOT_DONE__event_of_a_send_not_read)
{
	READY();
	MUST(SEND());
	RC(NOT_DONE, GNI_MsgqConnRelease(self->queue, self->s.pe));
	MUST(conf_event(self->s.cq, &self->entry));
	MUST(PROGRESS(0));
	RC(SUCCESS, GNI_MsgqConnRelease(self->queue, self->s.pe));
}

/* ---- GNI_MsgqSend ---- */

TEST_F(msgq, GNI_MsgqSend__SUCCESS__event_and_message)
{
	READY();
	RC(SUCCESS, SEND());
	MUST(conf_event(self->s.cq, &self->entry));
	EXPECT_EQ(GNI_CQ_EVENT_TYPE_MSGQ, GNI_CQ_GET_TYPE(self->entry));
	EXPECT_EQ(0xfedcba98, GNI_CQ_GET_MSG_ID(self->entry));
	MUST(PROGRESS(SOON));
	EXPECT_EQ(1, self->got.count);
	EXPECT_EQ(self->s.id, self->got.id);
	EXPECT_EQ(self->s.pe, self->got.pe);
	EXPECT_EQ(9, self->got.tag);
	EXPECT_EQ(0, memcmp("head", self->got.text, 4));
}

TEST_F(msgq, GNI_MsgqSend__INVALID_PARAM__handles_or_pointers)
{
	READY();
	RC(INVALID_PARAM, GNI_MsgqSend(NULL, self->s.ep, "h", 1, NULL, 0, 1, 1));
	RC(INVALID_PARAM, GNI_MsgqSend(self->queue, NULL, "h", 1, NULL, 0, 1, 1));
	RC(INVALID_PARAM, GNI_MsgqSend(self->queue, self->s.ep, NULL, 1, NULL, 0, 1, 1));
	RC(INVALID_PARAM, GNI_MsgqSend(self->queue, self->s.ep, "h", 1, NULL, 1, 1, 1));
}

TEST_F(msgq, GNI_MsgqSend__NO_MATCH__node_is_not_connected)
{
	MUST(INIT());
	RC(NO_MATCH, SEND());
}

TEST_F(msgq, GNI_MsgqSend__NO_MATCH__instance_is_not_there)
{
	READY();
	MUST(GNI_EpUnbind(self->s.ep));
	MUST(GNI_EpBind(self->s.ep, self->s.pe, self->s.id + 1));
	RC(NO_MATCH, SEND());
}

TEST_F(msgq, GNI_MsgqSend__NOT_DONE__no_slot)
{
	gni_return_t rc = GNI_RC_SUCCESS;
	int sent = 0;

	READY();
	while (rc == GNI_RC_SUCCESS && sent++ < 1000)
		rc = SEND();
	EXPECT_LT(QUEUE_SLOTS, sent);
	RC(NOT_DONE, SEND());
	MUST(PROGRESS(0));
	EXPECT_EQ(sent - 1, self->got.count);
	RC(SUCCESS, CONF_UNTIL(SUCCESS, SEND()));
}

TEST_F(msgq, GNI_MsgqSend__SIZE_ERROR__larger_than_max_msg_sz)
{
	char large[GNI_MSGQ_MSG_SZ_MAX] = "";

	READY();
	RC(SIZE_ERROR, GNI_MsgqSend(self->queue, self->s.ep, "h", 1, large, sizeof(large), 1, 1));
	RC(SUCCESS, GNI_MsgqSend(self->queue, self->s.ep, "h", 1, large, sizeof(large) - 1, 1, 1));
}

TEST_F(msgq, GNI_MsgqSend__INVALID_STATE__reserved_but_not_connected)
{
	MUST(INIT());
	MUST(RESERVE(self->s.pe));
	RC(INVALID_STATE, SEND());
}

/* ---- GNI_MsgqProgress ---- */

TEST_F(msgq, GNI_MsgqProgress__SUCCESS__nothing_or_all_there_is)
{
	READY();
	RC(SUCCESS, PROGRESS(0));
	RC(SUCCESS, PROGRESS(SOON));
	EXPECT_EQ(0, self->got.count);
	MUST(SEND());
	MUST(SEND());
	RC(SUCCESS, PROGRESS(SOON));
	EXPECT_EQ(2, self->got.count);
}

RC_TEST(GNI_MsgqProgress__INVALID_PARAM__null_handle, INVALID_PARAM, GNI_MsgqProgress(NULL, 0));

TEST_F(msgq, GNI_MsgqProgress__SUCCESS__waits_without_the_mode)
{
	self->attributes.modes = 0;
	READY();
	RC(SUCCESS, PROGRESS(SOON));
	RC(SUCCESS, PROGRESS(0));
}

TEST_F(msgq, GNI_MsgqProgress__NOT_DONE__callback_wants_no_more)
{
	READY();
	MUST(SEND());
	MUST(SEND());
	self->got.go_on = 0;
	RC(NOT_DONE, PROGRESS(0));
	EXPECT_EQ(1, self->got.count);
	self->got.go_on = 1;
	RC(SUCCESS, PROGRESS(0));
	EXPECT_EQ(2, self->got.count);
}

TEST_F(msgq, GNI_MsgqProgress__INVALID_STATE__instances_are_missing)
{
	self->attributes = queue_attributes(2);
	MUST(INIT());
	RC(INVALID_STATE, PROGRESS(0));
}

TEST_HARNESS_MAIN
