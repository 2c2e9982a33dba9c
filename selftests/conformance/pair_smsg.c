// SPDX-License-Identifier: GPL-2.0-only
/* Short messages between two ranks. */
#include "mailbox.h"
#include "pair.h"

struct talk {
	struct side s;
	struct side_name peer;
	void *header;
	uint8_t tag;
};

/* Both ranks have a mailbox and know the other's. */
static void begin(struct __test_metadata *_metadata, struct pair *pair, struct talk *t)
{
	gni_smsg_attr_t mine, theirs;

	memset(t, 0, sizeof(*t));
	ASSERT_EQ(0, pair_open(pair, &t->s, &t->peer));
	mine = mailbox(&t->s);
	pair_swap(pair, &mine, &theirs, sizeof(mine));
	MUST(GNI_SmsgInit(t->s.ep, &mine, &theirs));
	pair_meet(pair);
}

static void end(struct pair *pair, struct talk *t)
{
	pair_meet(pair);
	side_close(&t->s);
}

#define NEXT(t) CONF_UNTIL(SUCCESS, GNI_SmsgGetNext((t)->s.ep, &(t)->header))
#define NEXT_TAG(t) CONF_UNTIL(SUCCESS, GNI_SmsgGetNextWTag((t)->s.ep, &(t)->header, &(t)->tag))

PAIR_TEST(GNI_SmsgInit__SUCCESS__attributes_of_the_other_rank)
{
	gni_smsg_attr_t mine, theirs;
	struct side_name peer;
	struct side s;

	ASSERT_EQ(0, pair_open(pair, &s, &peer));
	mine = mailbox(&s);
	pair_swap(pair, &mine, &theirs, sizeof(mine));
	RC(SUCCESS, GNI_SmsgInit(s.ep, &mine, &theirs));
	pair_meet(pair);
	side_close(&s);
}

PAIR_TEST(GNI_SmsgSend__SUCCESS__both_ranks_send_first)
{
	uint32_t word = 100 + pair->rank;
	gni_cq_entry_t entry;
	struct talk t;

	begin(_metadata, pair, &t);
	RC(SUCCESS, GNI_SmsgSend(t.s.ep, NULL, 0, &word, sizeof(word), word));
	ASSERT_EQ(GNI_RC_SUCCESS, conf_event(t.s.cq, &entry));
	EXPECT_EQ(word, GNI_CQ_GET_MSG_ID(entry));
	ASSERT_EQ(GNI_RC_SUCCESS, NEXT(&t));
	EXPECT_EQ(100 + !pair->rank, *(uint32_t *)t.header);
	MUST(GNI_SmsgRelease(t.s.ep));
	/* and its event */
	MUST(conf_event(t.s.rx, &entry));
	end(pair, &t);
}

/* Ten times as many messages as there are credits. */
PAIR_TEST(GNI_SmsgGetNext__SUCCESS__order_of_sending)
{
	gni_cq_entry_t entry;
	struct talk t;
	uint32_t n;

	begin(_metadata, pair, &t);
	for (n = 0; n < 10 * MAILBOX_CREDITS; n++) {
		if (pair->rank == 0) {
			ASSERT_EQ(GNI_RC_SUCCESS,
				  CONF_UNTIL(SUCCESS, GNI_SmsgSend(t.s.ep, &n, sizeof(n), NULL, 0, n)));
			ASSERT_EQ(GNI_RC_SUCCESS, conf_event(t.s.cq, &entry));
			continue;
		}
		RC(SUCCESS, CONF_UNTIL(SUCCESS, GNI_SmsgGetNext(t.s.ep, &t.header)));
		ASSERT_EQ(n, *(uint32_t *)t.header);
		MUST(GNI_SmsgRelease(t.s.ep));
	}
	end(pair, &t);
}

PAIR_TEST(GNI_SmsgSend__NOT_DONE__until_the_other_rank_has_released)
{
	uint32_t word = 5;
	struct talk t;
	int n;

	begin(_metadata, pair, &t);
	if (pair->rank == 0) {
		for (n = 0; n < MAILBOX_CREDITS; n++) {
			MUST(GNI_SmsgSend(t.s.ep, NULL, 0, &word, sizeof(word), 0));
		}
		RC(NOT_DONE, GNI_SmsgSend(t.s.ep, NULL, 0, &word, sizeof(word), 0));
	}
	pair_meet(pair);
	for (n = 0; pair->rank && n < MAILBOX_CREDITS; n++) {
		MUST(NEXT(&t));
		MUST(GNI_SmsgRelease(t.s.ep));
	}
	pair_meet(pair);
	if (pair->rank == 0) {
		RC(SUCCESS, CONF_UNTIL(SUCCESS, GNI_SmsgSend(t.s.ep, NULL, 0, &word, sizeof(word), 0)));
	}
	end(pair, &t);
}

PAIR_TEST(GNI_SmsgSendWTag__SUCCESS__tag_arrives)
{
	uint32_t word = 5;
	struct talk t;

	begin(_metadata, pair, &t);
	RC(SUCCESS, GNI_SmsgSendWTag(t.s.ep, &word, sizeof(word), NULL, 0, 0, 40 + pair->rank));
	t.tag = GNI_SMSG_ANY_TAG;
	ASSERT_EQ(GNI_RC_SUCCESS, NEXT_TAG(&t));
	EXPECT_EQ(40 + !pair->rank, t.tag);
	end(pair, &t);
}

PAIR_TEST(GNI_SmsgGetNextWTag__NO_MATCH__until_the_tag_is_right)
{
	uint32_t word = 5;
	struct talk t;

	begin(_metadata, pair, &t);
	MUST(GNI_SmsgSendWTag(t.s.ep, &word, sizeof(word), NULL, 0, 0, 6));
	pair_meet(pair);
	t.tag = 7;
	RC(NO_MATCH, CONF_UNTIL(NO_MATCH, GNI_SmsgGetNextWTag(t.s.ep, &t.header, &t.tag)));
	t.tag = 6;
	RC(SUCCESS, GNI_SmsgGetNextWTag(t.s.ep, &t.header, &t.tag));
	end(pair, &t);
}

/* A rank whose partner has unregistered its mailbox. */
PAIR_TEST(GNI_CqGetEvent__TRANSACTION_ERROR__mailbox_is_gone)
{
	gni_cq_entry_t entry = 0;
	uint32_t word = 5;
	struct talk t;

	begin(_metadata, pair, &t);
	MUST(GNI_MemDeregister(t.s.nic, &t.s.mem));
	memset(&t.s.mem, 0, sizeof(t.s.mem));
	pair_meet(pair);
	MUST(GNI_SmsgSend(t.s.ep, NULL, 0, &word, sizeof(word), 0x77));
	ASSERT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_CqTestEvent(t.s.cq)));
	RC(TRANSACTION_ERROR, GNI_CqGetEvent(t.s.cq, &entry));
	EXPECT_EQ(GNI_CQ_EVENT_TYPE_SMSG, GNI_CQ_GET_TYPE(entry));
	EXPECT_EQ(0x77, GNI_CQ_GET_MSG_ID(entry));
	end(pair, &t);
}

TEST_HARNESS_MAIN
