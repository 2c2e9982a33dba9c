// SPDX-License-Identifier: GPL-2.0-only
/* Subscriptions to error events. */
#include <pthread.h>
#include <signal.h>

#include "conformance.h"

#define NO_DEVICE 15u
#define ALL_CATEGORIES 0xff
#define BATCH_MS 50u

FIXTURE(errors)
{
	struct side s; /* bound to itself */
	gni_err_handle_t err;
	gni_error_event_t event;
	gni_error_mask_t mask;
};

FIXTURE_SETUP(errors)
{
	self->mask = 0;
	memset(&self->event, 0, sizeof(self->event));
	ASSERT_EQ(0, self_open(&self->s));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_SubscribeErrors(self->s.nic, 0, ALL_CATEGORIES, 0, &self->err));
}

FIXTURE_TEARDOWN(errors)
{
	GNI_ReleaseErrors(self->err);
	side_close(&self->s);
}

/* A put out of bounds, which this node reports as initiator and as target. */
static int fail(struct side *s)
{
	gni_post_descriptor_t d = conf_post(s, side_name(s), GNI_POST_FMA_PUT, 0, 0, 8);

	d.remote_addr += CONF_BYTES;
	return conf_fma(s, &d) != GNI_RC_TRANSACTION_ERROR;
}

/* ---- GNI_SubscribeErrors, GNI_ReleaseErrors ---- */

TEST_F(errors, GNI_SubscribeErrors__SUCCESS__events_of_the_own_tag)
{
	gni_err_handle_t err = NULL;

	RC(SUCCESS, GNI_SubscribeErrors(self->s.nic, NO_DEVICE, ALL_CATEGORIES, 8, &err));
	ASSERT_EQ(0, fail(&self->s));
	EXPECT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_GetErrorEvent(err, &self->event)));
	MUST(GNI_ReleaseErrors(err));
}

TEST(GNI_SubscribeErrors__SUCCESS__all_tags_of_a_device)
{
	gni_error_event_t event;
	gni_err_handle_t err;
	struct side s;

	RC(SUCCESS, GNI_SubscribeErrors(NULL, CONF_DEVICE, ALL_CATEGORIES, 0, &err));
	ASSERT_EQ(0, self_open(&s));
	ASSERT_EQ(0, fail(&s));
	EXPECT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_GetErrorEvent(err, &event)));
	MUST(GNI_ReleaseErrors(err));
	side_close(&s);
}

TEST_F(errors, GNI_SubscribeErrors__INVALID_PARAM__handle_or_pointer)
{
	gni_err_handle_t err;

	RC(INVALID_PARAM, GNI_SubscribeErrors(self->s.nic, 0, ALL_CATEGORIES, 0, NULL));
	RC(INVALID_PARAM, GNI_SubscribeErrors(CONF_NO_HANDLE(gni_nic_handle_t), 0, ALL_CATEGORIES, 0, &err));
}

TEST(GNI_SubscribeErrors__INVALID_PARAM__all_tags_without_privilege)
{
	gni_err_handle_t err;

	RC(INVALID_PARAM, CONF_NOBODY_RC(GNI_SubscribeErrors(NULL, CONF_DEVICE, ALL_CATEGORIES, 0, &err)));
}

TEST(GNI_SubscribeErrors__NO_MATCH__no_such_device)
{
	gni_err_handle_t err;

	RC(NO_MATCH, GNI_SubscribeErrors(NULL, NO_DEVICE, ALL_CATEGORIES, 0, &err));
}

/* A process has none of its parent's handles. */
static void own_side(struct side *s)
{
	if (side_open(s, conf_cookie(), 1))
		_exit(254);
}

TEST_F(errors, GNI_SubscribeErrors__ERROR_RESOURCE__no_more_files_for_the_process)
{
	gni_err_handle_t err;

	RC(ERROR_RESOURCE, CONF_APART((own_side(&self->s), conf_no_files()),
				      GNI_SubscribeErrors(self->s.nic, 0, ALL_CATEGORIES, 0, &err)));
}

TEST(GNI_SubscribeErrors__ERROR_NOMEM__no_address_space)
{
	gni_err_handle_t err;

	conf_no_memory();
	RC(ERROR_NOMEM, GNI_SubscribeErrors(NULL, CONF_DEVICE, ALL_CATEGORIES, 0, &err));
	conf_memory_again();
	RC(SUCCESS, GNI_SubscribeErrors(NULL, CONF_DEVICE, ALL_CATEGORIES, 0, &err));
}

TEST_F(errors, GNI_ReleaseErrors__SUCCESS__with_events_in_the_queue)
{
	ASSERT_EQ(0, fail(&self->s));
	RC(SUCCESS, GNI_ReleaseErrors(self->err));
}

TEST_F(errors, GNI_ReleaseErrors__INVALID_PARAM__null_or_twice)
{
	RC(INVALID_PARAM, GNI_ReleaseErrors(NULL));
	MUST(GNI_ReleaseErrors(self->err));
	RC(INVALID_PARAM, GNI_ReleaseErrors(self->err));
}

struct waiter {
	gni_err_handle_t err;
	gni_return_t rc;
};

static void *wait_for_one(void *arg)
{
	struct waiter *w = arg;
	gni_error_event_t event;
	uint32_t count;

	w->rc = GNI_WaitErrorEvents(w->err, &event, 1, 0, &count);
	return NULL;
}

TEST_F(errors, GNI_ReleaseErrors__NOT_DONE__a_thread_waits)
{
	struct waiter w = { self->err, 99 };
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_one, &w));
	usleep(200000);
	RC(NOT_DONE, GNI_ReleaseErrors(self->err));
	ASSERT_EQ(0, fail(&self->s));
	pthread_join(thread, NULL);
	EXPECT_EQ(GNI_RC_SUCCESS, w.rc);
}

/* ---- GNI_GetErrorMask, GNI_SetErrorMask ---- */

TEST_F(errors, GNI_GetErrorMask__SUCCESS__that_of_the_subscription)
{
	RC(SUCCESS, GNI_GetErrorMask(self->err, &self->mask));
	EXPECT_EQ(ALL_CATEGORIES, self->mask);
}

TEST_F(errors, GNI_GetErrorMask__INVALID_PARAM__handle_or_pointer)
{
	RC(INVALID_PARAM, GNI_GetErrorMask(NULL, &self->mask));
	RC(INVALID_PARAM, GNI_GetErrorMask(self->err, NULL));
}

TEST_F(errors, GNI_SetErrorMask__SUCCESS__tells_the_one_before)
{
	RC(SUCCESS, GNI_SetErrorMask(self->err, GNI_ERRMASK_TRANSIENT, &self->mask));
	EXPECT_EQ(ALL_CATEGORIES, self->mask);
	MUST(GNI_GetErrorMask(self->err, &self->mask));
	EXPECT_EQ(GNI_ERRMASK_TRANSIENT, self->mask);
	ASSERT_EQ(0, fail(&self->s));
	usleep(50000);
	EXPECT_EQ(GNI_RC_NOT_DONE, GNI_GetErrorEvent(self->err, &self->event));
}

TEST_F(errors, GNI_SetErrorMask__INVALID_PARAM__handle_or_pointer)
{
	RC(INVALID_PARAM, GNI_SetErrorMask(NULL, ALL_CATEGORIES, &self->mask));
	RC(INVALID_PARAM, GNI_SetErrorMask(self->err, ALL_CATEGORIES, NULL));
}

/* ---- GNI_GetErrorEvent ---- */

TEST_F(errors, GNI_GetErrorEvent__SUCCESS__tag_and_category)
{
	ASSERT_EQ(0, fail(&self->s));
	RC(SUCCESS, CONF_UNTIL(SUCCESS, GNI_GetErrorEvent(self->err, &self->event)));
	EXPECT_NE(0, self->event.error_code);
	EXPECT_EQ(GNI_ERRMASK_TRANSACTION, self->event.error_category);
	EXPECT_LE(GNI_PTAG_USER_START, self->event.ptag);
}

TEST_F(errors, GNI_GetErrorEvent__INVALID_PARAM__handle_or_pointer)
{
	RC(INVALID_PARAM, GNI_GetErrorEvent(NULL, &self->event));
	RC(INVALID_PARAM, GNI_GetErrorEvent(self->err, NULL));
}

TEST_F(errors, GNI_GetErrorEvent__NOT_DONE__nothing_happened)
{
	RC(NOT_DONE, GNI_GetErrorEvent(self->err, &self->event));
}

/* ---- GNI_WaitErrorEvents ---- */

TEST_F(errors, GNI_WaitErrorEvents__SUCCESS__as_many_as_wanted)
{
	gni_error_event_t events[2];
	uint32_t count = 0;

	ASSERT_EQ(0, fail(&self->s));
	ASSERT_EQ(0, fail(&self->s));
	RC(SUCCESS, GNI_WaitErrorEvents(self->err, events, 2, CONF_PATIENCE * 1000, &count));
	EXPECT_EQ(2, count);
	EXPECT_EQ(events[0].serial_number + 1, events[1].serial_number);
}

TEST_F(errors, GNI_WaitErrorEvents__INVALID_PARAM__handle_pointers_room)
{
	uint32_t count;

	RC(INVALID_PARAM, GNI_WaitErrorEvents(NULL, &self->event, 1, BATCH_MS, &count));
	RC(INVALID_PARAM, GNI_WaitErrorEvents(self->err, NULL, 1, BATCH_MS, &count));
	RC(INVALID_PARAM, GNI_WaitErrorEvents(self->err, &self->event, 0, BATCH_MS, &count));
	RC(INVALID_PARAM, GNI_WaitErrorEvents(self->err, &self->event, 1, BATCH_MS, NULL));
}

static void nothing(int signal)
{
	(void)signal;
}

TEST_F(errors, GNI_WaitErrorEvents__NOT_DONE__a_signal_came)
{
	struct sigaction action = { .sa_handler = nothing };
	uint32_t count;

	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ualarm(100000, 0);
	RC(NOT_DONE, GNI_WaitErrorEvents(self->err, &self->event, 1, BATCH_MS, &count));
}

TEST_F(errors, GNI_WaitErrorEvents__TIMEOUT__fewer_than_wanted)
{
	gni_error_event_t events[16];
	uint32_t count = 0;

	ASSERT_EQ(0, fail(&self->s));
	RC(TIMEOUT, GNI_WaitErrorEvents(self->err, events, 16, BATCH_MS, &count));
	EXPECT_LT(0, count);
	EXPECT_GT(16, count);
}

/* ---- GNI_SetErrorPtag ---- */

TEST_F(errors, GNI_SetErrorPtag__SUCCESS__all_tags)
{
	struct side other;

	RC(SUCCESS, GNI_SetErrorPtag(self->err, 0));
	ASSERT_EQ(0, self_open(&other));
	ASSERT_EQ(0, fail(&other));
	EXPECT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_GetErrorEvent(self->err, &self->event)));
	side_close(&other);
}

RC_TEST(GNI_SetErrorPtag__INVALID_PARAM__null_handle, INVALID_PARAM, GNI_SetErrorPtag(NULL, 0));

static void subscribe_and_become_nobody(gni_err_handle_t *err)
{
	if (GNI_SubscribeErrors(NULL, CONF_DEVICE, ALL_CATEGORIES, 0, err))
		_exit(254);
	conf_become_nobody();
}

TEST_F(errors, GNI_SetErrorPtag__PERMISSION_ERROR__not_root)
{
	RC(PERMISSION_ERROR,
	   CONF_APART(subscribe_and_become_nobody(&self->err), GNI_SetErrorPtag(self->err, 0)));
}

TEST_HARNESS_MAIN
