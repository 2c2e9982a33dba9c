// SPDX-License-Identifier: GPL-2.0-only
/* Endpoints: return codes of GNI_Ep* but datagrams (datagram.c) and collectives (ce.c). */
#include "conformance.h"

FIXTURE(ep)
{
	struct side s; /* the endpoint is not bound */
};

FIXTURE_SETUP(ep)
{
	ASSERT_EQ(0, side_open(&self->s, conf_cookie(), 1));
}

FIXTURE_TEARDOWN(ep)
{
	side_close(&self->s);
}

/* ---- GNI_EpCreate ---- */

TEST_F(ep, GNI_EpCreate__SUCCESS__with_a_queue)
{
	gni_ep_handle_t ep = NULL;

	RC(SUCCESS, GNI_EpCreate(self->s.nic, self->s.cq, &ep));
	EXPECT_NE(NULL, ep);
	MUST(GNI_EpDestroy(ep));
}

TEST_F(ep, GNI_EpCreate__SUCCESS__without_a_queue)
{
	gni_ep_handle_t ep = NULL;

	RC(SUCCESS, GNI_EpCreate(self->s.nic, NULL, &ep));
	MUST(GNI_EpDestroy(ep));
}

TEST_F(ep, GNI_EpCreate__INVALID_PARAM__null_nic)
{
	gni_ep_handle_t ep = NULL;

	RC(INVALID_PARAM, GNI_EpCreate(NULL, self->s.cq, &ep));
	EXPECT_EQ(NULL, ep);
}

TEST_F(ep, GNI_EpCreate__INVALID_PARAM__null_result)
{
	RC(INVALID_PARAM, GNI_EpCreate(self->s.nic, self->s.cq, NULL));
}

TEST_F(ep, GNI_EpCreate__INVALID_PARAM__destroyed_queue)
{
	gni_ep_handle_t ep = NULL;
	gni_cq_handle_t cq;

	MUST(GNI_CqCreate(self->s.nic, 8, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	MUST(GNI_CqDestroy(cq));
	RC(INVALID_PARAM, GNI_EpCreate(self->s.nic, cq, &ep));
}

TEST_F(ep, GNI_EpCreate__INVALID_PARAM__queue_of_another_nic_handle)
{
	gni_ep_handle_t ep = NULL;
	struct side other;

	ASSERT_EQ(0, side_open(&other, conf_cookie(), 2));
	RC(INVALID_PARAM, GNI_EpCreate(self->s.nic, other.cq, &ep));
	side_close(&other);
}

TEST_F(ep, GNI_EpCreate__INVALID_PARAM__queue_for_remote_events)
{
	gni_ep_handle_t ep = NULL;

	RC(INVALID_PARAM, GNI_EpCreate(self->s.nic, self->s.rx, &ep));
	EXPECT_EQ(NULL, ep);
	/* until nothing sends events there any more */
	MUST(GNI_MemDeregister(self->s.nic, &self->s.mem));
	memset(&self->s.mem, 0, sizeof(self->s.mem));
	RC(SUCCESS, GNI_EpCreate(self->s.nic, self->s.rx, &ep));
	MUST(GNI_EpDestroy(ep));
}

TEST(GNI_EpCreate__ERROR_NOMEM__no_address_space)
{
	gni_ep_handle_t ep = NULL;
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	uint32_t pe;

	MUST(GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, conf_cookie(), 0, &cdm));
	MUST(GNI_CdmAttach(cdm, CONF_DEVICE, &pe, &nic));
	conf_no_memory();
	RC(ERROR_NOMEM, GNI_EpCreate(nic, NULL, &ep));
	conf_memory_again();
	RC(SUCCESS, GNI_EpCreate(nic, NULL, &ep));
}

/* ---- GNI_EpSetEventData ---- */

TEST_F(ep, GNI_EpSetEventData__SUCCESS__unbound)
{
	RC(SUCCESS, GNI_EpSetEventData(self->s.ep, 5, 6));
}

TEST_F(ep, GNI_EpSetEventData__INVALID_PARAM__null_handle)
{
	RC(INVALID_PARAM, GNI_EpSetEventData(NULL, 5, 6));
}

TEST_F(ep, GNI_EpSetEventData__INVALID_PARAM__destroyed_endpoint)
{
	gni_ep_handle_t ep = self->s.ep;

	MUST(GNI_EpDestroy(ep));
	self->s.ep = NULL;
	RC(INVALID_PARAM, GNI_EpSetEventData(ep, 5, 6));
}

/* ---- GNI_EpBind ---- */

TEST_F(ep, GNI_EpBind__SUCCESS__own_address)
{
	RC(SUCCESS, GNI_EpBind(self->s.ep, self->s.pe, self->s.id));
}

TEST_F(ep, GNI_EpBind__SUCCESS__again_after_unbinding)
{
	MUST(GNI_EpBind(self->s.ep, self->s.pe, 8));
	MUST(GNI_EpUnbind(self->s.ep));
	RC(SUCCESS, GNI_EpBind(self->s.ep, self->s.pe, 9));
}

TEST_F(ep, GNI_EpBind__INVALID_PARAM__null_handle)
{
	RC(INVALID_PARAM, GNI_EpBind(NULL, self->s.pe, 8));
}

TEST_F(ep, GNI_EpBind__INVALID_PARAM__destroyed_endpoint)
{
	gni_ep_handle_t ep = self->s.ep;

	MUST(GNI_EpDestroy(ep));
	self->s.ep = NULL;
	RC(INVALID_PARAM, GNI_EpBind(ep, self->s.pe, 8));
}

TEST_F(ep, GNI_EpBind__INVALID_PARAM__bound_already)
{
	MUST(GNI_EpBind(self->s.ep, self->s.pe, 8));
	RC(INVALID_PARAM, GNI_EpBind(self->s.ep, self->s.pe, 9));
}

TEST_F(ep, GNI_EpBind__INVALID_PARAM__no_such_address)
{
	RC(INVALID_PARAM, GNI_EpBind(self->s.ep, 0xffffffff, 8));
}

/* ---- GNI_EpUnbind, GNI_EpIdle ---- */

TEST_F(ep, GNI_EpUnbind__SUCCESS__nothing_outstanding)
{
	MUST(GNI_EpBind(self->s.ep, self->s.pe, 8));
	RC(SUCCESS, GNI_EpUnbind(self->s.ep));
}

TEST_F(ep, GNI_EpUnbind__INVALID_PARAM__null_handle)
{
	RC(INVALID_PARAM, GNI_EpUnbind(NULL));
}

TEST_F(ep, GNI_EpUnbind__INVALID_PARAM__a_queue_is_no_endpoint)
{
	RC(INVALID_PARAM, GNI_EpUnbind((gni_ep_handle_t)(void *)self->s.cq));
}

TEST_F(ep, GNI_EpUnbind__NOT_DONE__post_not_reaped)
{
	gni_post_descriptor_t d;

	MUST(GNI_EpBind(self->s.ep, self->s.pe, self->s.id));
	d = conf_post(&self->s, side_name(&self->s), GNI_POST_FMA_PUT, 0, 64, 8);
	MUST(GNI_PostFma(self->s.ep, &d));
	RC(NOT_DONE, GNI_EpUnbind(self->s.ep));
	MUST(conf_reap(self->s.cq, &d));
	MUST(GNI_EpUnbind(self->s.ep));
}

TEST_F(ep, GNI_EpIdle__SUCCESS__nothing_outstanding)
{
	MUST(GNI_EpBind(self->s.ep, self->s.pe, 8));
	RC(SUCCESS, GNI_EpIdle(self->s.ep));
}

TEST_F(ep, GNI_EpIdle__INVALID_PARAM__null_handle)
{
	RC(INVALID_PARAM, GNI_EpIdle(NULL));
}

TEST_F(ep, GNI_EpIdle__NOT_DONE__post_not_reaped)
{
	gni_post_descriptor_t d;

	MUST(GNI_EpBind(self->s.ep, self->s.pe, self->s.id));
	d = conf_post(&self->s, side_name(&self->s), GNI_POST_FMA_PUT, 0, 64, 8);
	MUST(GNI_PostFma(self->s.ep, &d));
	RC(NOT_DONE, GNI_EpIdle(self->s.ep));
	MUST(conf_reap(self->s.cq, &d));
	RC(SUCCESS, GNI_EpIdle(self->s.ep));
}

/* ---- GNI_EpDestroy ---- */

TEST_F(ep, GNI_EpDestroy__SUCCESS__unbound)
{
	RC(SUCCESS, GNI_EpDestroy(self->s.ep));
	self->s.ep = NULL;
}

TEST_F(ep, GNI_EpDestroy__SUCCESS__bound)
{
	MUST(GNI_EpBind(self->s.ep, self->s.pe, 8));
	RC(SUCCESS, GNI_EpDestroy(self->s.ep));
	self->s.ep = NULL;
}

TEST_F(ep, GNI_EpDestroy__INVALID_PARAM__null_handle)
{
	RC(INVALID_PARAM, GNI_EpDestroy(NULL));
}

TEST_F(ep, GNI_EpDestroy__INVALID_PARAM__twice)
{
	MUST(GNI_EpDestroy(self->s.ep));
	RC(INVALID_PARAM, GNI_EpDestroy(self->s.ep));
	self->s.ep = NULL;
}

TEST_HARNESS_MAIN
