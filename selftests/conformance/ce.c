// SPDX-License-Identifier: GPL-2.0-only
/* Collectives: channels, trees of one process, results. */
#include "conformance.h"

#define ANY_MODES (GNI_CE_MODE_ROUND_NEAR | GNI_CE_MODE_CQE_ONCOMP | GNI_CE_MODE_RC_ADAPT)

/* A root with two leaves: two domains of this process. */
FIXTURE(ce)
{
	struct side a, b;
	gni_ce_handle_t ce; /* of a */
	uint32_t id;
	gni_cq_handle_t events;
	gni_ep_handle_t child[2];
	gni_ce_result_t *result[2];
};

FIXTURE_SETUP(ce)
{
	ASSERT_EQ(0, two_open(&self->a, &self->b));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_CeCreate(self->a.nic, &self->ce));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_CeGetId(self->ce, &self->id));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_CqCreate(self->a.nic, 16, 0, GNI_CQ_NOBLOCK, NULL, NULL, &self->events));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_EpCreate(self->a.nic, NULL, &self->child[0]));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_EpCreate(self->a.nic, NULL, &self->child[1]));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_EpBind(self->child[0], self->a.pe, self->a.id));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_EpBind(self->child[1], self->b.pe, self->b.id));
	self->result[0] = (gni_ce_result_t *)self->a.data;
	self->result[1] = (gni_ce_result_t *)self->b.data;
}

FIXTURE_TEARDOWN(ce)
{
	GNI_CeDestroy(self->ce);
	side_close(&self->a);
	side_close(&self->b);
}

/* Children 0 and 1 are the two domains; both contribute through their endpoints. */
static int plant(gni_ce_handle_t ce, uint32_t id, gni_ep_handle_t *child, struct side *a, struct side *b,
		 gni_cq_handle_t events)
{
	/* a's own endpoint leads to b so far */
	if (GNI_EpUnbind(a->ep) || GNI_EpBind(a->ep, a->pe, a->id))
		return 1;
	if (GNI_EpSetCeAttr(child[0], 0, 0, GNI_CE_CHILD_PE) || GNI_EpSetCeAttr(child[1], 0, 1, GNI_CE_CHILD_PE))
		return 2;
	if (GNI_CeConfigure(ce, child, 2, NULL, events, ANY_MODES))
		return 3;
	if (GNI_EpSetCeAttr(a->ep, id, 0, GNI_CE_CHILD_PE) || GNI_EpSetCeAttr(b->ep, id, 1, GNI_CE_CHILD_PE))
		return 4;
	return 0;
}

#define PLANT() ASSERT_EQ(0, plant(self->ce, self->id, self->child, &self->a, &self->b, self->events))

static gni_post_descriptor_t contribution(const struct side *s, gni_ce_cmd_type_t command, uint64_t value)
{
	gni_post_descriptor_t d = conf_post(s, side_name(s), GNI_POST_CE, 0, 0, 0);

	d.ce_cmd = command;
	d.ce_red_id = 77;
	d.first_operand = value;
	return d;
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* ---- GNI_CeCreate, GNI_CeGetId, GNI_CeDestroy ---- */

TEST_F(ce, GNI_CeCreate__SUCCESS__a_second_channel)
{
	gni_ce_handle_t ce = NULL;
	uint32_t id = self->id;

	RC(SUCCESS, GNI_CeCreate(self->a.nic, &ce));
	MUST(GNI_CeGetId(ce, &id));
	EXPECT_NE(self->id, id);
	MUST(GNI_CeDestroy(ce));
}

TEST_F(ce, GNI_CeCreate__INVALID_PARAM__handle_or_pointer)
{
	gni_ce_handle_t ce;

	RC(INVALID_PARAM, GNI_CeCreate(NULL, &ce));
	RC(INVALID_PARAM, GNI_CeCreate(self->a.nic, NULL));
}

TEST_F(ce, GNI_CeCreate__ERROR_RESOURCE__all_are_taken)
{
	gni_dev_res_desc_t desc;
	gni_ce_handle_t ce[65];
	uint64_t n;

	MUST(GNI_GetDevResInfo(CONF_DEVICE, GNI_DEV_RES_CE, &desc));
	ASSERT_GE(64, desc.available);
	for (n = 0; n < desc.available; n++) {
		MUST(GNI_CeCreate(self->a.nic, &ce[n]));
	}
	RC(ERROR_RESOURCE, GNI_CeCreate(self->a.nic, &ce[n]));
	while (n) {
		MUST(GNI_CeDestroy(ce[--n]));
	}
}

TEST(GNI_CeCreate__ERROR_NOMEM__no_address_space)
{
	gni_ce_handle_t ce = NULL;
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	uint32_t pe;

	MUST(GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, conf_cookie(), 0, &cdm));
	MUST(GNI_CdmAttach(cdm, CONF_DEVICE, &pe, &nic));
	conf_no_memory();
	RC(ERROR_NOMEM, GNI_CeCreate(nic, &ce));
	conf_memory_again();
	RC(SUCCESS, GNI_CeCreate(nic, &ce));
}

TEST_F(ce, GNI_CeGetId__SUCCESS__the_same_every_time)
{
	uint32_t id = ~self->id;

	RC(SUCCESS, GNI_CeGetId(self->ce, &id));
	EXPECT_EQ(self->id, id);
}

TEST_F(ce, GNI_CeGetId__INVALID_PARAM__handle_or_pointer)
{
	uint32_t id;

	RC(INVALID_PARAM, GNI_CeGetId(NULL, &id));
	RC(INVALID_PARAM, GNI_CeGetId(self->ce, NULL));
}

TEST_F(ce, GNI_CeDestroy__SUCCESS__configured)
{
	PLANT();
	RC(SUCCESS, GNI_CeDestroy(self->ce));
}

TEST_F(ce, GNI_CeDestroy__INVALID_PARAM__null_or_twice)
{
	RC(INVALID_PARAM, GNI_CeDestroy(NULL));
	MUST(GNI_CeDestroy(self->ce));
	RC(INVALID_PARAM, GNI_CeDestroy(self->ce));
}

/* ---- GNI_EpSetCeAttr ---- */

TEST_F(ce, GNI_EpSetCeAttr__SUCCESS__every_kind_of_edge)
{
	RC(SUCCESS, GNI_EpSetCeAttr(self->child[0], 0, 31, GNI_CE_CHILD_PE));
	RC(SUCCESS, GNI_EpSetCeAttr(self->child[0], self->id, 0, GNI_CE_CHILD_VCE));
}

TEST_F(ce, GNI_EpSetCeAttr__INVALID_PARAM__handle_index_kind_binding)
{
	RC(INVALID_PARAM, GNI_EpSetCeAttr(NULL, 0, 0, GNI_CE_CHILD_PE));
	RC(INVALID_PARAM, GNI_EpSetCeAttr(self->child[0], 0, GNI_CE_MAX_CHILDREN, GNI_CE_CHILD_PE));
	RC(INVALID_PARAM, GNI_EpSetCeAttr(self->child[0], 0, 0, (gni_ce_child_t)7));
	MUST(GNI_EpUnbind(self->child[0]));
	RC(INVALID_PARAM, GNI_EpSetCeAttr(self->child[0], 0, 0, GNI_CE_CHILD_PE));
}

/* ---- GNI_CeConfigure ---- */

TEST_F(ce, GNI_CeConfigure__SUCCESS__root_of_two_leaves)
{
	MUST(GNI_EpSetCeAttr(self->child[0], 0, 0, GNI_CE_CHILD_PE));
	MUST(GNI_EpSetCeAttr(self->child[1], 0, 1, GNI_CE_CHILD_PE));
	RC(SUCCESS, GNI_CeConfigure(self->ce, self->child, 2, NULL, self->events, ANY_MODES));
	RC(SUCCESS, GNI_CeConfigure(self->ce, self->child, 2, NULL, self->events, ANY_MODES));
}

#define CONFIGURE(eps, count, parent, modes) GNI_CeConfigure(self->ce, eps, count, parent, self->events, modes)

TEST_F(ce, GNI_CeConfigure__INVALID_PARAM__handles_children_modes)
{
	MUST(GNI_EpSetCeAttr(self->child[0], 0, 0, GNI_CE_CHILD_PE));
	RC(INVALID_PARAM, GNI_CeConfigure(NULL, self->child, 1, NULL, self->events, ANY_MODES));
	RC(INVALID_PARAM, CONFIGURE(NULL, 1, NULL, ANY_MODES));
	RC(INVALID_PARAM, CONFIGURE(self->child, 0, NULL, ANY_MODES));
	RC(INVALID_PARAM, CONFIGURE(self->child, GNI_CE_MAX_CHILDREN + 1, NULL, ANY_MODES));
	/* the second child is none */
	RC(INVALID_PARAM, CONFIGURE(self->child, 2, NULL, ANY_MODES));
	/* the parent is none */
	RC(INVALID_PARAM, CONFIGURE(self->child, 1, self->child[1], ANY_MODES));
	/* at most one mode of each kind */
	RC(INVALID_PARAM, CONFIGURE(self->child, 1, NULL, ANY_MODES | GNI_CE_MODE_ROUND_UP));
	RC(SUCCESS, CONFIGURE(self->child, 1, NULL, ANY_MODES));
}

TEST_F(ce, GNI_CeConfigure__SUCCESS__without_a_mode_of_each_kind)
{
	MUST(GNI_EpSetCeAttr(self->child[0], 0, 0, GNI_CE_CHILD_PE));
	RC(SUCCESS, CONFIGURE(self->child, 1, NULL, GNI_CE_MODE_ROUND_NEAR | GNI_CE_MODE_CQE_ONCOMP));
	RC(SUCCESS, CONFIGURE(self->child, 1, NULL, ANY_MODES & ~GNI_CE_MODE_CQE_ONCOMP));
	RC(SUCCESS, CONFIGURE(self->child, 1, NULL, GNI_CE_MODE_RC_MIN_HASH));
	RC(SUCCESS, CONFIGURE(self->child, 1, NULL, 0));
}

/* ---- GNI_CeCheckResult ---- */

TEST_F(ce, GNI_CeCheckResult__SUCCESS__sum_at_both_leaves)
{
	gni_post_descriptor_t a = contribution(&self->a, GNI_FMA_CE_IADD, 40);
	gni_post_descriptor_t b = contribution(&self->b, GNI_FMA_CE_IADD, 2);
	int i;

	PLANT();
	MUST(GNI_PostFma(self->a.ep, &a));
	MUST(GNI_PostFma(self->b.ep, &b));
	for (i = 0; i < 2; i++) {
		RC(SUCCESS, CONF_UNTIL(SUCCESS, GNI_CeCheckResult(self->result[i], sizeof(gni_ce_result_t))));
		EXPECT_TRUE(GNI_CE_RES_STATUS_OK(self->result[i]));
		EXPECT_EQ(42, self->result[i]->result1);
	}
	EXPECT_EQ(GNI_RC_SUCCESS, conf_reap(self->a.cq, &a));
	EXPECT_EQ(GNI_RC_SUCCESS, conf_reap(self->b.cq, &b));
}

TEST_F(ce, GNI_CeCheckResult__NOT_DONE__a_leaf_is_missing)
{
	gni_post_descriptor_t a = contribution(&self->a, GNI_FMA_CE_IADD, 40);

	PLANT();
	MUST(GNI_PostFma(self->a.ep, &a));
	RC(NOT_DONE, GNI_CeCheckResult(self->result[0], sizeof(gni_ce_result_t)));
	usleep(20000);
	RC(NOT_DONE, GNI_CeCheckResult(self->result[0], sizeof(gni_ce_result_t)));
}

RC_TEST(GNI_CeCheckResult__INVALID_PARAM__null_result, INVALID_PARAM, GNI_CeCheckResult(NULL, 24));

/* The value is there, and so is what happened on the way. */
TEST_F(ce, GNI_CeCheckResult__TRANSACTION_ERROR__overflow)
{
	gni_post_descriptor_t a = contribution(&self->a, GNI_FMA_CE_FPADD, bits_of(1.7e308));
	gni_post_descriptor_t b = contribution(&self->b, GNI_FMA_CE_FPADD, bits_of(1.7e308));

	PLANT();
	MUST(GNI_PostFma(self->a.ep, &a));
	MUST(GNI_PostFma(self->b.ep, &b));
	RC(TRANSACTION_ERROR,
	   CONF_UNTIL(TRANSACTION_ERROR, GNI_CeCheckResult(self->result[0], sizeof(gni_ce_result_t))));
	EXPECT_TRUE(GNI_CE_RES_STATUS_OK(self->result[0]));
	EXPECT_EQ(GNI_CE_FPE_OFLOW, GNI_CE_RES_GET_FPE(self->result[0]) & GNI_CE_FPE_OFLOW);
	EXPECT_EQ(0x7ff0000000000000, self->result[0]->result1);
}

/* Nothing was delivered. */
TEST_F(ce, GNI_CeCheckResult__TRANSACTION_ERROR__contributions_to_different_operations)
{
	gni_post_descriptor_t a = contribution(&self->a, GNI_FMA_CE_IADD, 1);
	gni_post_descriptor_t b = contribution(&self->b, GNI_FMA_CE_AND, 1);

	PLANT();
	MUST(GNI_PostFma(self->a.ep, &a));
	MUST(GNI_PostFma(self->b.ep, &b));
	RC(TRANSACTION_ERROR,
	   CONF_UNTIL(TRANSACTION_ERROR, GNI_CeCheckResult(self->result[0], sizeof(gni_ce_result_t))));
	EXPECT_FALSE(GNI_CE_RES_STATUS_OK(self->result[0]));
}

/* ---- Accessors of results ---- */

TEST_F(ce, gni_ce_res_get_status__VALUE__0_or_not)
{
	gni_post_descriptor_t a = contribution(&self->a, GNI_FMA_CE_IADD, 1);
	gni_post_descriptor_t b = contribution(&self->b, GNI_FMA_CE_AND, 1);

	PLANT();
	MUST(GNI_PostFma(self->a.ep, &a));
	MUST(GNI_PostFma(self->b.ep, &b));
	EXPECT_EQ(GNI_RC_TRANSACTION_ERROR,
		  CONF_UNTIL(TRANSACTION_ERROR, GNI_CeCheckResult(self->result[0], sizeof(gni_ce_result_t))));
	EXPECT_NE(0, gni_ce_res_get_status(self->result[0]));
}

static void sum(struct __test_metadata *_metadata, struct side *a, struct side *b, gni_ce_cmd_type_t command,
		uint64_t one, uint64_t two)
{
	gni_post_descriptor_t from_a = contribution(a, command, one), from_b = contribution(b, command, two);

	MUST(GNI_PostFma(a->ep, &from_a));
	MUST(GNI_PostFma(b->ep, &from_b));
	conf_reap(a->cq, &from_a);
	conf_reap(b->cq, &from_b);
}

TEST_F(ce, gni_ce_res_status_ok__VALUE__delivered)
{
	EXPECT_EQ(0, gni_ce_res_status_ok(self->result[0]));
	PLANT();
	sum(_metadata, &self->a, &self->b, GNI_FMA_CE_IADD, 1, 2);
	EXPECT_NE(0, gni_ce_res_status_ok(self->result[0]));
	EXPECT_EQ(0, gni_ce_res_get_status(self->result[0]));
}

TEST_F(ce, gni_ce_res_get_fpe__VALUE__inexact)
{
	PLANT();
	sum(_metadata, &self->a, &self->b, GNI_FMA_CE_FPADD, bits_of(1.0), bits_of(2.0));
	EXPECT_EQ(0, gni_ce_res_get_fpe(self->result[0]));
	sum(_metadata, &self->a, &self->b, GNI_FMA_CE_FPADD, bits_of(1.0), bits_of(1e-30));
	EXPECT_EQ(GNI_CE_FPE_PRECISION, gni_ce_res_get_fpe(self->result[0]));
}

TEST_F(ce, gni_ce_res_get_red_id__VALUE__that_of_the_post)
{
	PLANT();
	sum(_metadata, &self->a, &self->b, GNI_FMA_CE_IADD, 1, 2);
	EXPECT_EQ(77, gni_ce_res_get_red_id(self->result[0]));
	EXPECT_EQ(77, gni_ce_res_get_red_id(self->result[1]));
}

TEST_F(ce, gni_cq_get_ce_id__VALUE__of_the_channel)
{
	gni_cq_entry_t entry;

	PLANT();
	sum(_metadata, &self->a, &self->b, GNI_FMA_CE_IADD, 1, 2);
	MUST(conf_event(self->events, &entry));
	EXPECT_EQ(self->id, gni_cq_get_ce_id(entry));
}

TEST_F(ce, gni_cq_get_reductn_id__VALUE__that_of_the_post)
{
	gni_cq_entry_t entry;

	PLANT();
	sum(_metadata, &self->a, &self->b, GNI_FMA_CE_IADD, 1, 2);
	MUST(conf_event(self->events, &entry));
	EXPECT_EQ(77, gni_cq_get_reductn_id(entry));
}

TEST_HARNESS_MAIN
