// SPDX-License-Identifier: GPL-2.0-only
/* Collectives over two ranks: each has a channel, the first one's is the root. */
#include "pair.h"

#define ANY_MODES (GNI_CE_MODE_ROUND_NEAR | GNI_CE_MODE_CQE_ONCOMP | GNI_CE_MODE_RC_ADAPT)

struct tree {
	struct side s;
	struct side_name peer;
	gni_ce_handle_t ce;
	uint32_t id, peer_id;
	gni_ce_result_t *result;
	gni_ep_handle_t leaf, other; /* edges: to this process, to the other channel */
};

/*
 * The root's children are its own process (index 0) and the other rank's channel (1), whose only child is
 * its own process (0). Each process contributes to the channel of its node.
 */
static void plant(struct __test_metadata *_metadata, struct pair *pair, struct tree *t)
{
	gni_ep_handle_t children[2];
	gni_cq_handle_t events;

	ASSERT_EQ(0, pair_open(pair, &t->s, &t->peer));
	t->result = (gni_ce_result_t *)t->s.data;
	MUST(GNI_CeCreate(t->s.nic, &t->ce));
	MUST(GNI_CeGetId(t->ce, &t->id));
	pair_swap(pair, &t->id, &t->peer_id, sizeof(t->id));
	MUST(GNI_CqCreate(t->s.nic, 16, 0, GNI_CQ_NOBLOCK, NULL, NULL, &events));
	MUST(GNI_EpCreate(t->s.nic, NULL, &t->leaf));
	MUST(GNI_EpCreate(t->s.nic, NULL, &t->other));
	MUST(GNI_EpBind(t->leaf, t->s.pe, t->s.id));
	MUST(GNI_EpBind(t->other, t->peer.pe, t->peer.id));
	MUST(GNI_EpSetCeAttr(t->leaf, 0, 0, GNI_CE_CHILD_PE));
	MUST(GNI_EpSetCeAttr(t->other, t->peer_id, 1, GNI_CE_CHILD_VCE));
	children[0] = t->leaf;
	children[1] = t->other;
	MUST(GNI_CeConfigure(t->ce, children, pair->rank ? 1 : 2, pair->rank ? t->other : NULL, events, ANY_MODES));
	MUST(GNI_EpUnbind(t->s.ep));
	MUST(GNI_EpBind(t->s.ep, t->s.pe, t->s.id));
	MUST(GNI_EpSetCeAttr(t->s.ep, t->id, 0, GNI_CE_CHILD_PE));
	pair_meet(pair);
}

static void fell(struct pair *pair, struct tree *t)
{
	pair_meet(pair);
	GNI_CeDestroy(t->ce);
	GNI_EpDestroy(t->leaf);
	GNI_EpDestroy(t->other);
	side_close(&t->s);
}

static gni_post_descriptor_t contribution(const struct tree *t, gni_ce_cmd_type_t command, uint64_t value)
{
	gni_post_descriptor_t d = conf_post(&t->s, side_name(&t->s), GNI_POST_CE, 0, 0, 0);

	d.ce_cmd = command;
	d.ce_red_id = 5;
	d.first_operand = value;
	return d;
}

PAIR_TEST(GNI_CeCheckResult__SUCCESS__sum_of_both_ranks)
{
	struct tree t;
	gni_post_descriptor_t d;

	plant(_metadata, pair, &t);
	d = contribution(&t, GNI_FMA_CE_IADD, 100 + pair->rank);
	MUST(GNI_PostFma(t.s.ep, &d));
	RC(SUCCESS, CONF_UNTIL(SUCCESS, GNI_CeCheckResult(t.result, sizeof(*t.result))));
	EXPECT_EQ(201, t.result->result1);
	EXPECT_EQ(GNI_RC_SUCCESS, conf_reap(t.s.cq, &d));
	fell(pair, &t);
}

PAIR_TEST(GNI_CeCheckResult__NOT_DONE__until_the_other_rank_contributes)
{
	struct tree t;
	gni_post_descriptor_t d;

	plant(_metadata, pair, &t);
	d = contribution(&t, GNI_FMA_CE_IADD, 1);
	if (pair->rank == 0) {
		MUST(GNI_PostFma(t.s.ep, &d));
		usleep(20000);
		RC(NOT_DONE, GNI_CeCheckResult(t.result, sizeof(*t.result)));
	}
	pair_meet(pair);
	if (pair->rank) {
		MUST(GNI_PostFma(t.s.ep, &d));
	}
	RC(SUCCESS, CONF_UNTIL(SUCCESS, GNI_CeCheckResult(t.result, sizeof(*t.result))));
	EXPECT_EQ(2, t.result->result1);
	fell(pair, &t);
}

/* A member that leaves ends the tree for all. */
PAIR_TEST(GNI_CeCheckResult__TRANSACTION_ERROR__other_rank_is_gone)
{
	struct tree t;
	gni_post_descriptor_t d;

	plant(_metadata, pair, &t);
	d = contribution(&t, GNI_FMA_CE_IADD, 1);
	if (pair->rank == 0) {
		MUST(GNI_PostFma(t.s.ep, &d));
		RC(TRANSACTION_ERROR,
		   CONF_UNTIL(TRANSACTION_ERROR, GNI_CeCheckResult(t.result, sizeof(*t.result))));
		EXPECT_FALSE(GNI_CE_RES_STATUS_OK(t.result));
	} else {
		MUST(GNI_CdmDestroy(t.s.cdm));
		t.s = (struct side){ .data = t.s.data };
	}
	pair_meet(pair);
	if (pair->rank == 0)
		fell(pair, &t);
	else
		pair_meet(pair);
}

TEST_HARNESS_MAIN
