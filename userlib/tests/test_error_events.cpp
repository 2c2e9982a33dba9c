// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Error events over the fake kernel: what is asked of the driver, and every return code. */
#include "session.hpp"

#include <cerrno>

static gni_err_handle_t subscribed(const Session &s, uint32_t size = 0)
{
	gni_err_handle_t err = nullptr;

	assert_rc(SUCCESS, GNI_SubscribeErrors(s.nic, 7, GNI_ERRMASK_TRANSACTION, size, &err));
	return err;
}

TEST(a_subscription_asks_for_its_domain)
{
	Session s;
	gni_err_handle_t err = subscribed(s, 100);
	const kgni_err_subscribe &asked = fake::kernel().subscriptions.back();

	assert_int_equal(asked.flags, 0);
	assert_int_equal(asked.cookie, 0x1234);
	assert_int_equal(asked.ptag, 33);
	assert_int_equal(asked.mask, GNI_ERRMASK_TRANSACTION);
	assert_int_equal(asked.entries, 100);
	const size_t files = fake::kernel().files.size();
	assert_rc(SUCCESS, GNI_ReleaseErrors(err));
	assert_int_equal(fake::kernel().files.size(), files - 1);
	assert_rc(INVALID_PARAM, GNI_ReleaseErrors(err));
}

TEST(without_a_nic_handle_all_tags)
{
	Session s;
	gni_err_handle_t err = nullptr;

	assert_rc(SUCCESS, GNI_SubscribeErrors(nullptr, 0, 0xff, 0, &err));
	assert_int_equal(fake::kernel().subscriptions.back().flags, KGNI_ERR_ALL);
	assert_int_equal(fake::kernel().subscriptions.back().cookie, 0);
	assert_rc(SUCCESS, GNI_ReleaseErrors(err));
	assert_rc(NO_MATCH, GNI_SubscribeErrors(nullptr, 5, 0xff, 0, &err));
}

TEST(every_errno_of_a_subscription)
{
	static const struct {
		int error;
		gni_return_t rc;
	} cases[] = {
		{EINVAL, GNI_RC_INVALID_PARAM}, {EPERM, GNI_RC_INVALID_PARAM}, {EACCES, GNI_RC_INVALID_PARAM},
		{ENOENT, GNI_RC_NO_MATCH},      {ENODEV, GNI_RC_NO_MATCH},     {ENOMEM, GNI_RC_ERROR_NOMEM},
		{EBUSY, GNI_RC_ERROR_RESOURCE}, {EIO, GNI_RC_ERROR_RESOURCE},
	};
	Session s;
	gni_err_handle_t err = nullptr;
	size_t files = fake::kernel().files.size();

	for (const auto &c : cases) {
		fake::kernel().errors[KGNI_IOC_ERR_SUBSCRIBE] = -c.error;
		assert_int_equal(GNI_SubscribeErrors(s.nic, 0, 0xff, 0, &err), c.rc);
		assert_null(err);
		assert_int_equal(fake::kernel().files.size(), files);
	}
	fake::kernel().open_error = -EACCES;
	assert_rc(ERROR_RESOURCE, GNI_SubscribeErrors(s.nic, 0, 0xff, 0, &err));
	assert_rc(INVALID_PARAM, GNI_SubscribeErrors(s.nic, 0, 0xff, 0, nullptr));
	assert_rc(INVALID_PARAM, GNI_SubscribeErrors(reinterpret_cast<gni_nic_handle_t>(s.cq), 0, 0xff, 0, &err));
}

TEST(masks_and_tags)
{
	Session s;
	gni_err_handle_t err = subscribed(s);
	gni_error_mask_t mask = 0;

	assert_rc(SUCCESS, GNI_GetErrorMask(err, &mask));
	assert_int_equal(mask, GNI_ERRMASK_TRANSACTION);
	assert_rc(SUCCESS, GNI_SetErrorMask(err, GNI_ERRMASK_CRITICAL, &mask));
	assert_int_equal(mask, GNI_ERRMASK_TRANSACTION);
	assert_rc(SUCCESS, GNI_GetErrorMask(err, &mask));
	assert_int_equal(mask, GNI_ERRMASK_CRITICAL);
	assert_rc(SUCCESS, GNI_SetErrorPtag(err, 9));
	assert_int_equal(fake::kernel().filter.ptag, 9);
	fake::kernel().errors[KGNI_IOC_ERR_CONTROL] = -EPERM;
	assert_rc(PERMISSION_ERROR, GNI_SetErrorPtag(err, 9));
	fake::kernel().errors[KGNI_IOC_ERR_CONTROL] = -EIO;
	assert_rc(INVALID_PARAM, GNI_SetErrorMask(err, 0, &mask));
	assert_rc(INVALID_PARAM, GNI_GetErrorMask(err, nullptr));
	assert_rc(INVALID_PARAM, GNI_SetErrorMask(err, 0, nullptr));
	assert_rc(INVALID_PARAM, GNI_GetErrorMask(nullptr, &mask));
	assert_rc(INVALID_PARAM, GNI_SetErrorMask(nullptr, 0, &mask));
	assert_rc(INVALID_PARAM, GNI_SetErrorPtag(nullptr, 0));
	assert_rc(SUCCESS, GNI_ReleaseErrors(err));
}

TEST(events_come_as_they_are)
{
	Session s;
	gni_err_handle_t err = subscribed(s);
	gni_error_event_t e = {};

	assert_rc(NOT_DONE, GNI_GetErrorEvent(err, &e));
	fake::kernel().error_events.push_back({ARIES_ST_BOUNDS, GNI_ERRMASK_TRANSACTION, 33, 5, 1234, {1, 2, 3, 4}});
	assert_rc(SUCCESS, GNI_GetErrorEvent(err, &e));
	assert_int_equal(e.error_code, ARIES_ST_BOUNDS);
	assert_int_equal(e.error_category, GNI_ERRMASK_TRANSACTION);
	assert_int_equal(e.ptag, 33);
	assert_int_equal(e.serial_number, 5);
	assert_int_equal(e.timestamp, 1234);
	assert_int_equal(e.info_mmrs[3], 4);
	assert_rc(INVALID_PARAM, GNI_GetErrorEvent(err, nullptr));
	assert_rc(INVALID_PARAM, GNI_GetErrorEvent(nullptr, &e));
	assert_rc(SUCCESS, GNI_ReleaseErrors(err));
}

TEST(waiting_for_several)
{
	Session s;
	gni_err_handle_t err = subscribed(s);
	gni_error_event_t e[3] = {};
	uint32_t n = 0;

	fake::kernel().error_events.assign(4, {});
	assert_rc(SUCCESS, GNI_WaitErrorEvents(err, e, 3, 50, &n));
	assert_int_equal(n, 3);
	assert_int_equal(fake::kernel().error_reads.back().timeout_ms, ~uint64_t{0});
	assert_int_equal(fake::kernel().error_reads.back().batch_ms, 50);
	assert_rc(TIMEOUT, GNI_WaitErrorEvents(err, e, 3, 50, &n));
	assert_int_equal(n, 1);
	fake::kernel().error_events.assign(1, {});
	assert_rc(SUCCESS, GNI_WaitErrorEvents(err, e, 3, 0, &n));
	assert_int_equal(n, 1);
	/* more at a time than the driver gives */
	std::vector<gni_error_event_t> many(KGNI_ERR_ENTRIES_MAX + 1);
	fake::kernel().error_events.assign(1, {});
	assert_rc(SUCCESS, GNI_WaitErrorEvents(err, many.data(), KGNI_ERR_ENTRIES_MAX + 1, 0, &n));
	assert_int_equal(fake::kernel().error_reads.back().count, KGNI_ERR_ENTRIES_MAX);
	/* a signal */
	assert_rc(NOT_DONE, GNI_WaitErrorEvents(err, e, 3, 0, &n));
	/* the NIC was reset */
	fake::kernel().errors[KGNI_IOC_ERR_READ] = -EIO;
	assert_rc(INVALID_PARAM, GNI_WaitErrorEvents(err, e, 3, 0, &n));
	assert_rc(INVALID_PARAM, GNI_WaitErrorEvents(err, e, 0, 0, &n));
	assert_rc(INVALID_PARAM, GNI_WaitErrorEvents(err, nullptr, 3, 0, &n));
	assert_rc(INVALID_PARAM, GNI_WaitErrorEvents(err, e, 3, 0, nullptr));
	assert_rc(INVALID_PARAM, GNI_WaitErrorEvents(nullptr, e, 3, 0, &n));
	assert_rc(SUCCESS, GNI_ReleaseErrors(err));
}

TEST_MAIN("error events")
