// SPDX-License-Identifier: GPL-2.0-only
/*
 * Message queues between two ranks. On one node both are instances of one group that is connected with
 * itself; on two nodes each is the only instance of its own.
 */
#include "pair.h"
#include "queue.h"

struct member {
	struct side s;
	struct side_name peer;
	gni_msgq_handle_t queue;
	struct received got;
};

static void join(struct __test_metadata *_metadata, struct pair *pair, struct member *g)
{
	gni_msgq_attr_t attributes;
	gni_msgq_ep_attr_t record;
	uint8_t theirs[PAIR_BYTES];
	uint32_t bytes = 0;
	int alone;

	memset(g, 0, sizeof(*g));
	memset(&record, 0, sizeof(record));
	g->got.go_on = 1;
	ASSERT_EQ(0, pair_open(pair, &g->s, &g->peer));
	alone = g->s.pe == g->peer.pe;
	attributes = queue_attributes(alone ? 2 : 1);
	MUST(GNI_MsgqInit(g->s.nic, queue_receive, &g->got, g->s.cq, &attributes, &g->queue));
	pair_meet(pair);
	/* one instance connects a node */
	if (!alone || pair->rank == 0) {
		MUST(GNI_MsgqGetConnAttrs(g->queue, g->peer.pe, &record, &bytes));
		ASSERT_GE(PAIR_BYTES, bytes);
	}
	pair_swap(pair, &record, theirs, PAIR_BYTES);
	if (!alone)
		memcpy(&record, theirs, PAIR_BYTES);
	if (!alone || pair->rank == 0) {
		MUST(GNI_MsgqConnect(g->queue, g->peer.pe, &record));
	}
	pair_meet(pair);
}

static void leave(struct pair *pair, struct member *g)
{
	pair_meet(pair);
	GNI_MsgqRelease(g->queue);
	side_close(&g->s);
}

PAIR_TEST(GNI_MsgqSend__SUCCESS__both_ranks)
{
	char text[4] = { 'r', 'k', ' ', (char)('0' + pair->rank) };
	gni_cq_entry_t entry;
	struct member g;

	join(_metadata, pair, &g);
	RC(SUCCESS, GNI_MsgqSend(g.queue, g.s.ep, text, 2, text + 2, 2, 0x1000 + pair->rank, 30 + pair->rank));
	MUST(conf_event(g.s.cq, &entry));
	EXPECT_EQ(0x1000 + pair->rank, GNI_CQ_GET_MSG_ID(entry));
	g.got.go_on = 0;
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_MsgqProgress(g.queue, CONF_PATIENCE * 1000));
	EXPECT_EQ(1, g.got.count);
	EXPECT_EQ(g.peer.id, g.got.id);
	EXPECT_EQ(g.peer.pe, g.got.pe);
	EXPECT_EQ(30 + !pair->rank, g.got.tag);
	text[3] = (char)('0' + !pair->rank);
	EXPECT_EQ(0, memcmp(text, g.got.text, 4));
	leave(pair, &g);
}

PAIR_TEST(GNI_MsgqProgress__SUCCESS__woken_by_the_other_rank)
{
	gni_cq_entry_t entry;
	struct member g;

	join(_metadata, pair, &g);
	if (pair->rank == 0) {
		usleep(20000);
		MUST(GNI_MsgqSend(g.queue, g.s.ep, "late", 4, NULL, 0, 1, 1));
		MUST(conf_event(g.s.cq, &entry));
	} else {
		g.got.go_on = 0;
		RC(SUCCESS, GNI_MsgqProgress(g.queue, CONF_PATIENCE * 1000));
		EXPECT_EQ(1, g.got.count);
	}
	leave(pair, &g);
}

PAIR_TEST(GNI_MsgqSend__NOT_DONE__until_the_other_rank_has_received)
{
	gni_return_t rc = GNI_RC_SUCCESS;
	gni_cq_entry_t entry;
	struct member g;
	int sent = 0;

	join(_metadata, pair, &g);
	while (pair->rank == 0 && rc == GNI_RC_SUCCESS && sent++ < 1000)
		rc = GNI_MsgqSend(g.queue, g.s.ep, "many", 4, NULL, 0, 1, 1);
	if (pair->rank == 0) {
		RC(NOT_DONE, GNI_MsgqSend(g.queue, g.s.ep, "many", 4, NULL, 0, 1, 1));
	}
	pair_meet(pair);
	if (pair->rank) {
		MUST(CONF_UNTIL(SUCCESS, GNI_MsgqProgress(g.queue, 0)));
		EXPECT_LT(0, g.got.count);
	}
	pair_meet(pair);
	if (pair->rank == 0) {
		RC(SUCCESS, CONF_UNTIL(SUCCESS, GNI_MsgqSend(g.queue, g.s.ep, "many", 4, NULL, 0, 1, 1)));
		while (GNI_CqGetEvent(g.s.cq, &entry) == GNI_RC_SUCCESS)
			;
	}
	leave(pair, &g);
}

TEST_HARNESS_MAIN
