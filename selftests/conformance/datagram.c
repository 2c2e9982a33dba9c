// SPDX-License-Identifier: GPL-2.0-only
/* Datagrams between two domains of one process. */
#include "conformance.h"

#define SOON 20u /* ms */
#define FAR (CONF_PATIENCE * 1000u)
#define FOREVER ((uint32_t)-1)
#define ID_A 0x1111222233334444ull
#define ID_B 0x5555666677778888ull

FIXTURE(datagram)
{
	struct side a, b;	 /* bound to each other */
	gni_ep_handle_t any;	 /* of b, not bound: for wildcards */
	char out[GNI_DATAGRAM_MAXSIZE], in_a[GNI_DATAGRAM_MAXSIZE], in_b[GNI_DATAGRAM_MAXSIZE];
	gni_post_state_t state;
	uint32_t pe, id;
	uint64_t found;
};

FIXTURE_SETUP(datagram)
{
	self->state = (gni_post_state_t)99;
	self->pe = self->id = 99;
	self->found = 0;
	memset(self->out, 'x', sizeof(self->out));
	memset(self->in_a, 0, sizeof(self->in_a));
	memset(self->in_b, 0, sizeof(self->in_b));
	ASSERT_EQ(0, two_open(&self->a, &self->b));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_EpCreate(self->b.nic, NULL, &self->any));
}

FIXTURE_TEARDOWN(datagram)
{
	GNI_EpDestroy(self->any);
	side_close(&self->a);
	side_close(&self->b);
}

#define POST_A() GNI_EpPostData(self->a.ep, self->out, 128, self->in_a, 128)
#define POST_B() GNI_EpPostData(self->b.ep, self->out, 128, self->in_b, 128)
#define POST_ANY() GNI_EpPostData(self->any, self->out, 128, self->in_b, 128)
#define POST_A_ID() GNI_EpPostDataWId(self->a.ep, self->out, 128, self->in_a, 128, ID_A)
#define POST_B_ID() GNI_EpPostDataWId(self->b.ep, self->out, 128, self->in_b, 128, ID_B)
#define TEST_A() GNI_EpPostDataTest(self->a.ep, &self->state, &self->pe, &self->id)
#define TEST_A_ID(id_) GNI_EpPostDataTestById(self->a.ep, id_, &self->state, &self->pe, &self->id)
#define WAIT_A(time) GNI_EpPostDataWait(self->a.ep, time, &self->state, &self->pe, &self->id)
#define WAIT_A_ID(id_, time)                                                                         \
	GNI_EpPostDataWaitById(self->a.ep, id_, time, &self->state, &self->pe, &self->id)
#define COMPLETED()                                                                                  \
	do {                                                                                         \
		EXPECT_EQ(GNI_POST_COMPLETED, self->state);                                          \
		EXPECT_EQ(self->b.pe, self->pe);                                                     \
		EXPECT_EQ(self->b.id, self->id);                                                     \
		EXPECT_EQ(0, memcmp(self->out, self->in_a, sizeof(self->out)));                      \
	} while (0)

/* ---- GNI_EpPostData, GNI_EpPostDataWId ---- */

TEST_F(datagram, GNI_EpPostData__SUCCESS__bound_meets_bound)
{
	RC(SUCCESS, POST_A());
	RC(SUCCESS, POST_B());
	MUST(WAIT_A(FAR));
	COMPLETED();
}

TEST_F(datagram, GNI_EpPostData__SUCCESS__bound_meets_wildcard)
{
	RC(SUCCESS, POST_ANY());
	RC(SUCCESS, POST_A());
	MUST(WAIT_A(FAR));
	COMPLETED();
}

TEST_F(datagram, GNI_EpPostData__SUCCESS__of_no_bytes)
{
	RC(SUCCESS, GNI_EpPostData(self->a.ep, NULL, 0, NULL, 0));
	RC(SUCCESS, GNI_EpPostData(self->b.ep, NULL, 0, NULL, 0));
	MUST(WAIT_A(FAR));
	EXPECT_EQ(GNI_POST_COMPLETED, self->state);
}

TEST_F(datagram, GNI_EpPostData__INVALID_PARAM__handle_or_buffers)
{
	RC(INVALID_PARAM, GNI_EpPostData(NULL, self->out, 8, self->in_a, 8));
	RC(INVALID_PARAM, GNI_EpPostData(self->a.ep, NULL, 8, self->in_a, 8));
	RC(INVALID_PARAM, GNI_EpPostData(self->a.ep, self->out, 8, NULL, 8));
}

TEST_F(datagram, GNI_EpPostData__ERROR_RESOURCE__one_is_outstanding)
{
	MUST(POST_A());
	RC(ERROR_RESOURCE, POST_A());
}

TEST_F(datagram, GNI_EpPostData__SIZE_ERROR__129_bytes)
{
	char large[GNI_DATAGRAM_MAXSIZE + 1] = "";

	RC(SIZE_ERROR, GNI_EpPostData(self->a.ep, large, sizeof(large), self->in_a, 128));
}

TEST_F(datagram, GNI_EpPostDataWId__SUCCESS__any_id)
{
	RC(SUCCESS, POST_A_ID());
	RC(SUCCESS, POST_B_ID());
	MUST(WAIT_A_ID(ID_A, FAR));
	COMPLETED();
}

TEST_F(datagram, GNI_EpPostDataWId__INVALID_PARAM__handle_buffers_id)
{
	RC(INVALID_PARAM, GNI_EpPostDataWId(NULL, self->out, 8, self->in_a, 8, ID_A));
	RC(INVALID_PARAM, GNI_EpPostDataWId(self->a.ep, NULL, 8, self->in_a, 8, ID_A));
	RC(INVALID_PARAM, GNI_EpPostDataWId(self->a.ep, self->out, 8, self->in_a, 8, (uint64_t)-1));
}

TEST_F(datagram, GNI_EpPostDataWId__ERROR_RESOURCE__one_is_outstanding)
{
	MUST(POST_A_ID());
	RC(ERROR_RESOURCE, POST_A_ID());
}

TEST_F(datagram, GNI_EpPostDataWId__SIZE_ERROR__129_bytes)
{
	char large[GNI_DATAGRAM_MAXSIZE + 1] = "";

	RC(SIZE_ERROR, GNI_EpPostDataWId(self->a.ep, large, sizeof(large), self->in_a, 128, ID_A));
}

/* ---- GNI_EpPostDataTest, GNI_EpPostDataTestById ---- */

TEST_F(datagram, GNI_EpPostDataTest__SUCCESS__pending_then_completed_once)
{
	MUST(POST_A());
	RC(SUCCESS, TEST_A());
	EXPECT_EQ(GNI_POST_PENDING, self->state);
	MUST(POST_B());
	do {
		RC(SUCCESS, TEST_A());
	} while (self->state == GNI_POST_PENDING || self->state == GNI_POST_REMOTE_DATA);
	COMPLETED();
	RC(NO_MATCH, TEST_A());
}

TEST_F(datagram, GNI_EpPostDataTest__INVALID_PARAM__handle_or_pointers)
{
	MUST(POST_A());
	RC(INVALID_PARAM, GNI_EpPostDataTest(NULL, &self->state, &self->pe, &self->id));
	RC(INVALID_PARAM, GNI_EpPostDataTest(self->a.ep, NULL, &self->pe, &self->id));
	RC(INVALID_PARAM, GNI_EpPostDataTest(self->a.ep, &self->state, NULL, &self->id));
	RC(INVALID_PARAM, GNI_EpPostDataTest(self->a.ep, &self->state, &self->pe, NULL));
}

TEST_F(datagram, GNI_EpPostDataTest__NO_MATCH__nothing_posted)
{
	RC(NO_MATCH, TEST_A());
}

TEST_F(datagram, GNI_EpPostDataTest__SIZE_ERROR__buffer_is_too_small)
{
	MUST(GNI_EpPostData(self->a.ep, self->out, 128, self->in_a, 16));
	MUST(POST_B());
	RC(SIZE_ERROR, CONF_UNTIL(SIZE_ERROR, TEST_A()));
	EXPECT_EQ(0, self->in_a[16]);
}

TEST_F(datagram, GNI_EpPostDataTestById__SUCCESS__completed)
{
	MUST(POST_A_ID());
	RC(SUCCESS, TEST_A_ID(ID_A));
	EXPECT_EQ(GNI_POST_PENDING, self->state);
	MUST(POST_B_ID());
	do {
		RC(SUCCESS, TEST_A_ID(ID_A));
	} while (self->state == GNI_POST_PENDING || self->state == GNI_POST_REMOTE_DATA);
	COMPLETED();
}

TEST_F(datagram, GNI_EpPostDataTestById__INVALID_PARAM__handle_or_pointers)
{
	MUST(POST_A_ID());
	RC(INVALID_PARAM, GNI_EpPostDataTestById(NULL, ID_A, &self->state, &self->pe, &self->id));
	RC(INVALID_PARAM, GNI_EpPostDataTestById(self->a.ep, ID_A, NULL, &self->pe, &self->id));
}

TEST_F(datagram, GNI_EpPostDataTestById__NO_MATCH__another_id)
{
	MUST(POST_A_ID());
	RC(NO_MATCH, TEST_A_ID(ID_B));
}

TEST_F(datagram, GNI_EpPostDataTestById__SIZE_ERROR__buffer_is_too_small)
{
	MUST(GNI_EpPostDataWId(self->a.ep, self->out, 128, self->in_a, 16, ID_A));
	MUST(POST_B());
	RC(SIZE_ERROR, CONF_UNTIL(SIZE_ERROR, TEST_A_ID(ID_A)));
}

/* ---- GNI_EpPostDataWait, GNI_EpPostDataWaitById ---- */

TEST_F(datagram, GNI_EpPostDataWait__SUCCESS__without_limit)
{
	MUST(POST_A());
	MUST(POST_B());
	RC(SUCCESS, WAIT_A(FOREVER));
	COMPLETED();
}

TEST_F(datagram, GNI_EpPostDataWait__INVALID_PARAM__handle_pointers_no_time)
{
	MUST(POST_A());
	RC(INVALID_PARAM, GNI_EpPostDataWait(NULL, SOON, &self->state, &self->pe, &self->id));
	RC(INVALID_PARAM, GNI_EpPostDataWait(self->a.ep, SOON, NULL, &self->pe, &self->id));
	RC(INVALID_PARAM, WAIT_A(0));
}

TEST_F(datagram, GNI_EpPostDataWait__TIMEOUT__nobody_answers)
{
	MUST(POST_A());
	RC(TIMEOUT, WAIT_A(SOON));
	MUST(POST_B());
	RC(SUCCESS, WAIT_A(FAR));
}

TEST_F(datagram, GNI_EpPostDataWait__SIZE_ERROR__buffer_is_too_small)
{
	MUST(GNI_EpPostData(self->a.ep, self->out, 128, self->in_a, 16));
	MUST(POST_B());
	RC(SIZE_ERROR, WAIT_A(FAR));
}

TEST_F(datagram, GNI_EpPostDataWait__NO_MATCH__nothing_posted)
{
	RC(NO_MATCH, WAIT_A(SOON));
}

TEST_F(datagram, GNI_EpPostDataWaitById__SUCCESS__completed)
{
	MUST(POST_A_ID());
	MUST(POST_B_ID());
	RC(SUCCESS, WAIT_A_ID(ID_A, FOREVER));
	COMPLETED();
}

TEST_F(datagram, GNI_EpPostDataWaitById__INVALID_PARAM__handle_pointers_no_time)
{
	MUST(POST_A_ID());
	RC(INVALID_PARAM, GNI_EpPostDataWaitById(NULL, ID_A, SOON, &self->state, &self->pe, &self->id));
	RC(INVALID_PARAM, GNI_EpPostDataWaitById(self->a.ep, ID_A, SOON, &self->state, NULL, &self->id));
	RC(INVALID_PARAM, WAIT_A_ID(ID_A, 0));
}

TEST_F(datagram, GNI_EpPostDataWaitById__TIMEOUT__nobody_answers)
{
	MUST(POST_A_ID());
	RC(TIMEOUT, WAIT_A_ID(ID_A, SOON));
}

TEST_F(datagram, GNI_EpPostDataWaitById__SIZE_ERROR__buffer_is_too_small)
{
	MUST(GNI_EpPostDataWId(self->a.ep, self->out, 128, self->in_a, 16, ID_A));
	MUST(POST_B());
	RC(SIZE_ERROR, WAIT_A_ID(ID_A, FAR));
}

TEST_F(datagram, GNI_EpPostDataWaitById__NO_MATCH__another_id)
{
	MUST(POST_A_ID());
	RC(NO_MATCH, WAIT_A_ID(ID_B, SOON));
}

/* ---- GNI_PostDataProbe, GNI_PostDataProbeById, GNI_PostdataProbeWaitById ---- */

TEST_F(datagram, GNI_PostDataProbe__SUCCESS__does_not_consume)
{
	MUST(POST_A());
	MUST(POST_B());
	RC(SUCCESS, CONF_UNTIL(SUCCESS, GNI_PostDataProbe(self->a.nic, &self->pe, &self->id)));
	EXPECT_EQ(self->b.pe, self->pe);
	EXPECT_EQ(self->b.id, self->id);
	RC(SUCCESS, GNI_PostDataProbe(self->a.nic, &self->pe, &self->id));
	MUST(TEST_A());
	RC(NO_MATCH, GNI_PostDataProbe(self->a.nic, &self->pe, &self->id));
}

TEST_F(datagram, GNI_PostDataProbe__INVALID_PARAM__handle_or_pointers)
{
	RC(INVALID_PARAM, GNI_PostDataProbe(NULL, &self->pe, &self->id));
	RC(INVALID_PARAM, GNI_PostDataProbe(self->a.nic, NULL, &self->id));
	RC(INVALID_PARAM, GNI_PostDataProbe(self->a.nic, &self->pe, NULL));
}

TEST_F(datagram, GNI_PostDataProbe__NO_MATCH__pending)
{
	MUST(POST_A());
	RC(NO_MATCH, GNI_PostDataProbe(self->a.nic, &self->pe, &self->id));
}

TEST_F(datagram, GNI_PostDataProbeById__SUCCESS__the_id_of_the_post)
{
	MUST(POST_A_ID());
	MUST(POST_B_ID());
	RC(SUCCESS, CONF_UNTIL(SUCCESS, GNI_PostDataProbeById(self->a.nic, &self->found)));
	EXPECT_EQ(ID_A, self->found);
}

TEST_F(datagram, GNI_PostDataProbeById__INVALID_PARAM__handle_or_pointer)
{
	RC(INVALID_PARAM, GNI_PostDataProbeById(NULL, &self->found));
	RC(INVALID_PARAM, GNI_PostDataProbeById(self->a.nic, NULL));
}

TEST_F(datagram, GNI_PostDataProbeById__NO_MATCH__posted_without_id)
{
	MUST(POST_A());
	MUST(POST_B());
	ASSERT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_PostDataProbe(self->a.nic, &self->pe, &self->id)));
	RC(NO_MATCH, GNI_PostDataProbeById(self->a.nic, &self->found));
}

TEST_F(datagram, GNI_PostdataProbeWaitById__SUCCESS__the_id_of_the_post)
{
	MUST(POST_A_ID());
	MUST(POST_B_ID());
	RC(SUCCESS, GNI_PostdataProbeWaitById(self->a.nic, FOREVER, &self->found));
	EXPECT_EQ(ID_A, self->found);
}

TEST_F(datagram, GNI_PostdataProbeWaitById__INVALID_PARAM__handle_or_pointer)
{
	RC(INVALID_PARAM, GNI_PostdataProbeWaitById(NULL, SOON, &self->found));
	RC(INVALID_PARAM, GNI_PostdataProbeWaitById(self->a.nic, SOON, NULL));
}

TEST_F(datagram, GNI_PostdataProbeWaitById__TIMEOUT__nothing_ends)
{
	MUST(POST_A_ID());
	RC(TIMEOUT, GNI_PostdataProbeWaitById(self->a.nic, SOON, &self->found));
}

/* ---- GNI_EpPostDataCancel, GNI_EpPostDataCancelById ---- */

TEST_F(datagram, GNI_EpPostDataCancel__SUCCESS__ends_as_terminated)
{
	MUST(POST_A());
	RC(SUCCESS, GNI_EpPostDataCancel(self->a.ep));
	RC(SUCCESS, CONF_UNTIL(SUCCESS, GNI_PostDataProbe(self->a.nic, &self->pe, &self->id)));
	MUST(TEST_A());
	EXPECT_EQ(GNI_POST_TERMINATED, self->state);
	/* nothing is active any more */
	RC(NO_MATCH, GNI_EpPostDataCancel(self->a.ep));
}

TEST_F(datagram, GNI_EpPostDataCancel__SUCCESS__wildcard_is_gone)
{
	MUST(POST_ANY());
	RC(SUCCESS, GNI_EpPostDataCancel(self->any));
	EXPECT_EQ(GNI_RC_NO_MATCH, GNI_EpPostDataTest(self->any, &self->state, &self->pe, &self->id));
}

RC_TEST(GNI_EpPostDataCancel__INVALID_PARAM__null_handle, INVALID_PARAM, GNI_EpPostDataCancel(NULL));

TEST_F(datagram, GNI_EpPostDataCancel__NO_MATCH__nothing_posted)
{
	RC(NO_MATCH, GNI_EpPostDataCancel(self->a.ep));
}

TEST_F(datagram, GNI_EpPostDataCancelById__SUCCESS__ends_as_terminated)
{
	MUST(POST_A_ID());
	RC(SUCCESS, GNI_EpPostDataCancelById(self->a.ep, ID_A));
	MUST(WAIT_A_ID(ID_A, FAR));
	EXPECT_EQ(GNI_POST_TERMINATED, self->state);
}

RC_TEST(GNI_EpPostDataCancelById__INVALID_PARAM__null_handle, INVALID_PARAM,
	GNI_EpPostDataCancelById(NULL, ID_A));

TEST_F(datagram, GNI_EpPostDataCancelById__NO_MATCH__another_id)
{
	MUST(POST_A_ID());
	RC(NO_MATCH, GNI_EpPostDataCancelById(self->a.ep, ID_B));
}

TEST_HARNESS_MAIN
