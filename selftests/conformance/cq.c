// SPDX-License-Identifier: GPL-2.0-only
/* Completion queues: creation, events, waiting, error texts. */
#include "conformance.h"

#define SOON 20ull	 /* ms */
#define FAR (CONF_PATIENCE * 1000ull)

FIXTURE(cq)
{
	struct side s;	       /* polled, bound to itself */
	struct side b;	       /* the same with blocking queues */
	gni_post_descriptor_t d; /* a put of 8 bytes of s */
	gni_post_descriptor_t e; /* a put of 8 bytes of b */
	gni_cq_entry_t entry;
};

FIXTURE_SETUP(cq)
{
	self->entry = 0;
	ASSERT_EQ(0, self_open(&self->s));
	ASSERT_EQ(0, self_open_as(&self->b, (struct side_options){ .cq = GNI_CQ_BLOCKING }));
	self->d = conf_post(&self->s, side_name(&self->s), GNI_POST_FMA_PUT, 0, 64, 8);
	self->e = conf_post(&self->b, side_name(&self->b), GNI_POST_FMA_PUT, 0, 64, 8);
}

FIXTURE_TEARDOWN(cq)
{
	side_close(&self->s);
	side_close(&self->b);
}

/* Puts behind the end of the registration: accepted, then failed. */
static gni_post_descriptor_t bad_put(const struct side *s)
{
	gni_post_descriptor_t d = conf_post(s, side_name(s), GNI_POST_FMA_PUT, 0, 0, 8);

	d.remote_addr += CONF_BYTES;
	return d;
}

/* More remote events than rx has room for. Return: how many puts did not succeed at their source. */
static int overrun(struct side *s)
{
	gni_post_descriptor_t d = conf_post(s, side_name(s), GNI_POST_FMA_PUT, 0, 64, 8);
	unsigned int i;
	int bad = 0;

	d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
	for (i = 0; i < 4 * CONF_CQ_ENTRIES; i++)
		bad += conf_fma(s, &d) != GNI_RC_SUCCESS;
	return bad;
}

/* ---- GNI_CqCreate ---- */

TEST_F(cq, GNI_CqCreate__SUCCESS__polled_and_blocking)
{
	gni_cq_handle_t cq = NULL;

	RC(SUCCESS, GNI_CqCreate(self->s.nic, 1, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	EXPECT_NE(NULL, cq);
	MUST(GNI_CqDestroy(cq));
	RC(SUCCESS, GNI_CqCreate(self->s.nic, 1000, 3, GNI_CQ_BLOCKING, NULL, NULL, &cq));
	MUST(GNI_CqDestroy(cq));
}

TEST_F(cq, GNI_CqCreate__INVALID_PARAM__handle_count_mode_pointer)
{
	gni_cq_handle_t cq = NULL;

	RC(INVALID_PARAM, GNI_CqCreate(NULL, 8, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	RC(INVALID_PARAM, GNI_CqCreate(self->s.nic, 0, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	RC(INVALID_PARAM, GNI_CqCreate(self->s.nic, 8, 0, 0x80000000, NULL, NULL, &cq));
	RC(INVALID_PARAM, GNI_CqCreate(self->s.nic, 8, 0, GNI_CQ_NOBLOCK, NULL, NULL, NULL));
	EXPECT_EQ(NULL, cq);
}

TEST(GNI_CqCreate__ERROR_RESOURCE__limit_of_the_job)
{
	gni_job_limits_t limits = conf_limits();
	gni_cq_handle_t cq;
	struct side s;

	limits.cq_limit = 2;
	ASSERT_EQ(0, side_open(&s, conf_job(7002, &limits), 1));
	RC(ERROR_RESOURCE, GNI_CqCreate(s.nic, 8, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	MUST(GNI_MemDeregister(s.nic, &s.mem));
	MUST(GNI_CqDestroy(s.rx));
	RC(SUCCESS, GNI_CqCreate(s.nic, 8, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
}

TEST(GNI_CqCreate__ERROR_NOMEM__no_address_space)
{
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_cq_handle_t cq;
	uint32_t pe;

	MUST(GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, conf_cookie(), 0, &cdm));
	MUST(GNI_CdmAttach(cdm, CONF_DEVICE, &pe, &nic));
	conf_no_memory();
	RC(ERROR_NOMEM, GNI_CqCreate(nic, 8, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	conf_memory_again();
	RC(SUCCESS, GNI_CqCreate(nic, 8, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
}

/* ---- GNI_CqDestroy ---- */

TEST_F(cq, GNI_CqDestroy__SUCCESS__with_events_in_it)
{
	gni_cq_handle_t cq;
	gni_ep_handle_t ep;

	MUST(GNI_CqCreate(self->s.nic, 8, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	MUST(GNI_EpCreate(self->s.nic, cq, &ep));
	MUST(GNI_EpBind(ep, self->s.pe, self->s.id));
	self->d.src_cq_hndl = cq;
	MUST(GNI_PostFma(ep, &self->d));
	MUST(GNI_EpDestroy(ep));
	RC(SUCCESS, GNI_CqDestroy(cq));
}

TEST_F(cq, GNI_CqDestroy__INVALID_PARAM__null_or_twice)
{
	gni_cq_handle_t cq;

	RC(INVALID_PARAM, GNI_CqDestroy(NULL));
	MUST(GNI_CqCreate(self->s.nic, 8, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	MUST(GNI_CqDestroy(cq));
	RC(INVALID_PARAM, GNI_CqDestroy(cq));
}

TEST_F(cq, GNI_CqDestroy__ERROR_RESOURCE__an_endpoint_has_it)
{
	RC(ERROR_RESOURCE, GNI_CqDestroy(self->s.cq));
	/* no effect */
	EXPECT_EQ(GNI_RC_SUCCESS, conf_fma(&self->s, &self->d));
	MUST(GNI_EpDestroy(self->s.ep));
	self->s.ep = NULL;
	RC(SUCCESS, GNI_CqDestroy(self->s.cq));
	self->s.cq = NULL;
}

/* ---- GNI_CqGetEvent, GNI_CqTestEvent ---- */

TEST_F(cq, GNI_CqGetEvent__SUCCESS__takes_it_out)
{
	MUST(GNI_PostFma(self->s.ep, &self->d));
	ASSERT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_CqTestEvent(self->s.cq)));
	RC(SUCCESS, GNI_CqGetEvent(self->s.cq, &self->entry));
	RC(NOT_DONE, GNI_CqGetEvent(self->s.cq, &self->entry));
}

TEST_F(cq, GNI_CqGetEvent__NOT_DONE__empty)
{
	RC(NOT_DONE, GNI_CqGetEvent(self->s.cq, &self->entry));
}

TEST_F(cq, GNI_CqGetEvent__INVALID_PARAM__handle_or_pointer)
{
	RC(INVALID_PARAM, GNI_CqGetEvent(NULL, &self->entry));
	RC(INVALID_PARAM, GNI_CqGetEvent(self->s.cq, NULL));
	RC(INVALID_PARAM, GNI_CqGetEvent((gni_cq_handle_t)(void *)self->s.ep, &self->entry));
}

TEST_F(cq, GNI_CqGetEvent__ERROR_RESOURCE__overrun_once_then_it_works)
{
	overrun(&self->s);
	while (GNI_CqTestEvent(self->s.rx) == GNI_RC_SUCCESS) {
		MUST(GNI_CqGetEvent(self->s.rx, &self->entry));
	}
	RC(ERROR_RESOURCE, GNI_CqGetEvent(self->s.rx, &self->entry));
	EXPECT_TRUE(GNI_CQ_OVERRUN(self->entry));
	RC(NOT_DONE, GNI_CqGetEvent(self->s.rx, &self->entry));
	self->d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
	EXPECT_EQ(GNI_RC_SUCCESS, conf_fma(&self->s, &self->d));
	RC(SUCCESS, conf_event(self->s.rx, &self->entry));
	EXPECT_FALSE(GNI_CQ_OVERRUN(self->entry));
}

TEST_F(cq, GNI_CqGetEvent__TRANSACTION_ERROR__put_out_of_bounds)
{
	gni_post_descriptor_t d = bad_put(&self->s);

	MUST(GNI_PostFma(self->s.ep, &d));
	ASSERT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_CqTestEvent(self->s.cq)));
	RC(TRANSACTION_ERROR, GNI_CqGetEvent(self->s.cq, &self->entry));
	EXPECT_FALSE(GNI_CQ_STATUS_OK(self->entry));
}

TEST_F(cq, GNI_CqTestEvent__SUCCESS__leaves_it)
{
	MUST(GNI_PostFma(self->s.ep, &self->d));
	RC(SUCCESS, CONF_UNTIL(SUCCESS, GNI_CqTestEvent(self->s.cq)));
	RC(SUCCESS, GNI_CqTestEvent(self->s.cq));
	MUST(GNI_CqGetEvent(self->s.cq, &self->entry));
	RC(NOT_DONE, GNI_CqTestEvent(self->s.cq));
}

TEST_F(cq, GNI_CqTestEvent__NOT_DONE__empty)
{
	RC(NOT_DONE, GNI_CqTestEvent(self->s.cq));
}

RC_TEST(GNI_CqTestEvent__INVALID_PARAM__null_handle, INVALID_PARAM, GNI_CqTestEvent(NULL));

TEST_F(cq, GNI_CqTestEvent__ERROR_RESOURCE__overrun)
{
	gni_return_t rc;

	overrun(&self->s);
	while ((rc = GNI_CqTestEvent(self->s.rx)) == GNI_RC_SUCCESS)
		GNI_CqGetEvent(self->s.rx, &self->entry);
	EXPECT_EQ(GNI_RC_ERROR_RESOURCE, rc);
	RC(ERROR_RESOURCE, GNI_CqTestEvent(self->s.rx));
}

/* ---- GNI_CqWaitEvent ---- */

TEST_F(cq, GNI_CqWaitEvent__SUCCESS__event_is_there)
{
	MUST(GNI_PostFma(self->b.ep, &self->e));
	RC(SUCCESS, GNI_CqWaitEvent(self->b.cq, FAR, &self->entry));
	RC(TIMEOUT, GNI_CqWaitEvent(self->b.cq, SOON, &self->entry));
}

TEST_F(cq, GNI_CqWaitEvent__TIMEOUT__empty)
{
	RC(TIMEOUT, GNI_CqWaitEvent(self->b.cq, SOON, &self->entry));
	RC(TIMEOUT, GNI_CqWaitEvent(self->b.cq, 0, &self->entry));
}

TEST_F(cq, GNI_CqWaitEvent__INVALID_PARAM__handle_or_pointer)
{
	RC(INVALID_PARAM, GNI_CqWaitEvent(NULL, SOON, &self->entry));
	RC(INVALID_PARAM, GNI_CqWaitEvent(self->b.cq, SOON, NULL));
}

TEST_F(cq, GNI_CqWaitEvent__ERROR_RESOURCE__queue_that_is_polled)
{
	RC(ERROR_RESOURCE, GNI_CqWaitEvent(self->s.cq, SOON, &self->entry));
}

TEST_F(cq, GNI_CqWaitEvent__ERROR_RESOURCE__overrun)
{
	gni_return_t rc;

	overrun(&self->b);
	do {
		rc = GNI_CqWaitEvent(self->b.rx, FAR, &self->entry);
	} while (rc == GNI_RC_SUCCESS);
	EXPECT_EQ(GNI_RC_ERROR_RESOURCE, rc);
	EXPECT_TRUE(GNI_CQ_OVERRUN(self->entry));
	overrun(&self->b);
	while (GNI_CqTestEvent(self->b.rx) == GNI_RC_SUCCESS) {
		MUST(GNI_CqGetEvent(self->b.rx, &self->entry));
	}
	RC(ERROR_RESOURCE, GNI_CqWaitEvent(self->b.rx, SOON, &self->entry));
}

TEST_F(cq, GNI_CqWaitEvent__TRANSACTION_ERROR__put_out_of_bounds)
{
	gni_post_descriptor_t d = bad_put(&self->b);

	MUST(GNI_PostFma(self->b.ep, &d));
	RC(TRANSACTION_ERROR, GNI_CqWaitEvent(self->b.cq, FAR, &self->entry));
}

/* ---- GNI_CqVectorWaitEvent ---- */

TEST_F(cq, GNI_CqVectorWaitEvent__SUCCESS__tells_which)
{
	gni_cq_handle_t both[2] = { self->b.rx, self->b.cq };
	uint32_t which = 9;

	MUST(GNI_PostFma(self->b.ep, &self->e));
	RC(SUCCESS, GNI_CqVectorWaitEvent(both, 2, FAR, &self->entry, &which));
	EXPECT_EQ(1, which);
	RC(NOT_DONE, GNI_CqGetEvent(self->b.cq, &self->entry));
}

TEST_F(cq, GNI_CqVectorWaitEvent__TIMEOUT__all_empty)
{
	gni_cq_handle_t both[2] = { self->b.rx, self->b.cq };
	uint32_t which;

	RC(TIMEOUT, GNI_CqVectorWaitEvent(both, 2, SOON, &self->entry, &which));
}

TEST_F(cq, GNI_CqVectorWaitEvent__NOT_DONE__interrupt_masked)
{
	uint32_t which;

	MUST(GNI_CqInterruptMask(self->b.cq));
	RC(NOT_DONE, GNI_CqVectorWaitEvent(&self->b.cq, 1, SOON, &self->entry, &which));
	MUST(GNI_CqInterruptUnmask(self->b.cq));
	RC(TIMEOUT, GNI_CqVectorWaitEvent(&self->b.cq, 1, SOON, &self->entry, &which));
}

TEST_F(cq, GNI_CqVectorWaitEvent__INVALID_PARAM__queues_or_pointers)
{
	gni_cq_handle_t both[2] = { self->b.cq, NULL };
	uint32_t which;

	RC(INVALID_PARAM, GNI_CqVectorWaitEvent(NULL, 1, SOON, &self->entry, &which));
	RC(INVALID_PARAM, GNI_CqVectorWaitEvent(both, 0, SOON, &self->entry, &which));
	RC(INVALID_PARAM, GNI_CqVectorWaitEvent(both, 2, SOON, &self->entry, &which));
	RC(INVALID_PARAM, GNI_CqVectorWaitEvent(both, 1, SOON, NULL, &which));
	RC(INVALID_PARAM, GNI_CqVectorWaitEvent(both, 1, SOON, &self->entry, NULL));
}

TEST_F(cq, GNI_CqVectorWaitEvent__ERROR_RESOURCE__one_is_polled)
{
	gni_cq_handle_t both[2] = { self->b.cq, self->s.cq };
	uint32_t which;

	RC(ERROR_RESOURCE, GNI_CqVectorWaitEvent(both, 2, SOON, &self->entry, &which));
}

TEST_F(cq, GNI_CqVectorWaitEvent__TRANSACTION_ERROR__put_out_of_bounds)
{
	gni_post_descriptor_t d = bad_put(&self->b);
	uint32_t which = 9;

	MUST(GNI_PostFma(self->b.ep, &d));
	RC(TRANSACTION_ERROR, GNI_CqVectorWaitEvent(&self->b.cq, 1, FAR, &self->entry, &which));
	EXPECT_EQ(0, which);
}

/* ---- GNI_CqVectorMonitor ---- */

TEST_F(cq, GNI_CqVectorMonitor__SUCCESS__leaves_the_event)
{
	gni_cq_handle_t both[2] = { self->b.rx, self->b.cq };
	uint32_t which = 9;

	MUST(GNI_PostFma(self->b.ep, &self->e));
	RC(SUCCESS, GNI_CqVectorMonitor(both, 2, FAR, &which));
	EXPECT_EQ(1, which);
	RC(SUCCESS, GNI_CqVectorMonitor(both, 2, FAR, &which));
	MUST(GNI_CqGetEvent(self->b.cq, &self->entry));
}

TEST_F(cq, GNI_CqVectorMonitor__TIMEOUT__all_empty)
{
	uint32_t which;

	RC(TIMEOUT, GNI_CqVectorMonitor(&self->b.cq, 1, SOON, &which));
}

TEST_F(cq, GNI_CqVectorMonitor__NOT_DONE__interrupt_masked)
{
	uint32_t which;

	MUST(GNI_CqInterruptMask(self->b.cq));
	RC(NOT_DONE, GNI_CqVectorMonitor(&self->b.cq, 1, SOON, &which));
}

TEST_F(cq, GNI_CqVectorMonitor__INVALID_PARAM__queues_or_pointer)
{
	uint32_t which;

	RC(INVALID_PARAM, GNI_CqVectorMonitor(NULL, 1, SOON, &which));
	RC(INVALID_PARAM, GNI_CqVectorMonitor(&self->b.cq, 0, SOON, &which));
	RC(INVALID_PARAM, GNI_CqVectorMonitor(&self->b.cq, 1, SOON, NULL));
}

TEST_F(cq, GNI_CqVectorMonitor__ERROR_RESOURCE__queue_that_is_polled)
{
	uint32_t which;

	RC(ERROR_RESOURCE, GNI_CqVectorMonitor(&self->s.cq, 1, SOON, &which));
}

/* ---- GNI_CqInterruptMask, GNI_CqInterruptUnmask ---- */

TEST_F(cq, GNI_CqInterruptMask__SUCCESS__nests)
{
	uint32_t which;

	RC(SUCCESS, GNI_CqInterruptMask(self->b.cq));
	RC(SUCCESS, GNI_CqInterruptMask(self->b.cq));
	MUST(GNI_CqInterruptUnmask(self->b.cq));
	EXPECT_EQ(GNI_RC_NOT_DONE, GNI_CqVectorMonitor(&self->b.cq, 1, SOON, &which));
	MUST(GNI_CqInterruptUnmask(self->b.cq));
	EXPECT_EQ(GNI_RC_TIMEOUT, GNI_CqVectorMonitor(&self->b.cq, 1, SOON, &which));
}

TEST_F(cq, GNI_CqInterruptMask__INVALID_PARAM__null_or_polled)
{
	RC(INVALID_PARAM, GNI_CqInterruptMask(NULL));
	RC(INVALID_PARAM, GNI_CqInterruptMask(self->s.cq));
}

TEST_F(cq, GNI_CqInterruptUnmask__SUCCESS__after_masking)
{
	MUST(GNI_CqInterruptMask(self->b.cq));
	RC(SUCCESS, GNI_CqInterruptUnmask(self->b.cq));
}

TEST_F(cq, GNI_CqInterruptUnmask__NOT_DONE__not_masked)
{
	RC(NOT_DONE, GNI_CqInterruptUnmask(self->b.cq));
}

TEST_F(cq, GNI_CqInterruptUnmask__INVALID_PARAM__null_or_polled)
{
	RC(INVALID_PARAM, GNI_CqInterruptUnmask(NULL));
	RC(INVALID_PARAM, GNI_CqInterruptUnmask(self->s.cq));
}

/* ---- GNI_CqErrorStr, GNI_CqErrorRecoverable ---- */

TEST_F(cq, GNI_CqErrorStr__SUCCESS__text_of_a_failed_put)
{
	gni_post_descriptor_t d = bad_put(&self->s);
	char text[256];

	memset(text, 0x7f, sizeof(text));
	MUST(GNI_PostFma(self->s.ep, &d));
	ASSERT_EQ(GNI_RC_TRANSACTION_ERROR, conf_event(self->s.cq, &self->entry));
	RC(SUCCESS, GNI_CqErrorStr(self->entry, text, sizeof(text)));
	EXPECT_NE(NULL, memchr(text, 0, sizeof(text)));
	EXPECT_LT(0, strlen(text));
}

TEST_F(cq, GNI_CqErrorStr__INVALID_PARAM__no_buffer)
{
	RC(INVALID_PARAM, GNI_CqErrorStr(self->entry, NULL, 256));
}

TEST_F(cq, GNI_CqErrorStr__SIZE_ERROR__buffer_of_two_bytes)
{
	char text[2];

	RC(SIZE_ERROR, GNI_CqErrorStr(self->entry, text, sizeof(text)));
}

TEST_F(cq, GNI_CqErrorRecoverable__SUCCESS__out_of_bounds_is_for_good)
{
	gni_post_descriptor_t d = bad_put(&self->s);
	uint32_t recoverable = 9;

	MUST(GNI_PostFma(self->s.ep, &d));
	ASSERT_EQ(GNI_RC_TRANSACTION_ERROR, conf_event(self->s.cq, &self->entry));
	RC(SUCCESS, GNI_CqErrorRecoverable(self->entry, &recoverable));
	EXPECT_EQ(0, recoverable);
}

TEST_F(cq, GNI_CqErrorRecoverable__INVALID_PARAM__null_result)
{
	RC(INVALID_PARAM, GNI_CqErrorRecoverable(self->entry, NULL));
}

/* The field of the status is looked for: one of its values has no meaning. */
TEST_F(cq, GNI_CqErrorRecoverable__INVALID_STATE__status_without_meaning)
{
	gni_cq_entry_t found = 0, entry;
	uint32_t recoverable;
	unsigned int shift;
	uint64_t value;

	for (shift = 0; shift < 63 && !found; shift++) {
		for (value = 1; value < 64 && !found; value++) {
			entry = value << shift & ~(1ull << 63);
			if (gni_cq_get_status(entry) &&
			    GNI_CqErrorRecoverable(entry, &recoverable) != GNI_RC_SUCCESS)
				found = entry;
		}
	}
	ASSERT_NE(0, found);
	RC(INVALID_STATE, GNI_CqErrorRecoverable(found, &recoverable));
}

TEST_HARNESS_MAIN
