// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Error events over the device model: who is told of what, and nobody of what is not theirs. */
#include "rank.hpp"

#include <thread>
#include <unistd.h>

static constexpr uint32_t kOtherCookie = 0x00810000;
static constexpr uint8_t kOtherPtag = 34;

static gni_err_handle_t subscribed(gni_nic_handle_t nic, gni_error_mask_t mask = 0xff, uint32_t entries = 0)
{
	gni_err_handle_t err = nullptr;

	assert_rc(SUCCESS, GNI_SubscribeErrors(nic, 0, mask, entries, &err));
	return err;
}

/* A put behind the end of the peer's region. */
static void fail(const Rank &from, const Rank &to)
{
	gni_post_descriptor_t d = from.post(to, GNI_POST_FMA_PUT, 8, 0, to.size + 4096);

	assert_int_equal(from.run(&d), ARIES_ST_BOUNDS);
}

MODEL_TEST(both_sides_are_told)
{
	Pair p;
	gni_err_handle_t at_a = subscribed(p.a.nic), at_b = subscribed(p.b.nic);
	gni_error_event_t e = {};

	assert_rc(NOT_DONE, GNI_GetErrorEvent(at_a, &e));
	fail(p.a, p.b);
	assert_rc(SUCCESS, GNI_GetErrorEvent(at_a, &e));
	assert_int_equal(e.error_code, ARIES_ST_BOUNDS);
	assert_int_equal(e.error_category, GNI_ERRMASK_TRANSACTION);
	assert_int_equal(e.ptag, kPtag);
	assert_int_equal(e.serial_number, 1);
	assert_int_equal(e.info_mmrs[0] & 0x3ffff, p.b.address);
	assert_rc(NOT_DONE, GNI_GetErrorEvent(at_a, &e));
	assert_rc(SUCCESS, GNI_GetErrorEvent(at_b, &e));
	assert_int_equal(e.error_code, ARIES_ST_BOUNDS);
	assert_int_equal(e.ptag, kPtag);
	assert_int_equal(e.info_mmrs[0] & 0x3ffff, p.a.address);
	assert_rc(SUCCESS, GNI_ReleaseErrors(at_a));
	assert_rc(SUCCESS, GNI_ReleaseErrors(at_b));
}

MODEL_TEST(the_mask_decides)
{
	Pair p;
	gni_err_handle_t err = subscribed(p.a.nic, GNI_ERRMASK_TRANSIENT);
	gni_error_event_t e = {};
	gni_error_mask_t before = 0;

	fail(p.a, p.b);
	assert_rc(NOT_DONE, GNI_GetErrorEvent(err, &e));
	assert_rc(SUCCESS, GNI_SetErrorMask(err, GNI_ERRMASK_TRANSACTION, &before));
	assert_int_equal(before, GNI_ERRMASK_TRANSIENT);
	fail(p.a, p.b);
	assert_rc(SUCCESS, GNI_GetErrorEvent(err, &e));
	/* a lost packet is a transient one, and no longer wanted */
	model::fault(0, "drop", 1);
	gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_FMA_PUT, 8);
	assert_int_equal(p.a.run(&d), ARIES_ST_TIMEOUT);
	assert_rc(NOT_DONE, GNI_GetErrorEvent(err, &e));
	assert_rc(SUCCESS, GNI_ReleaseErrors(err));
}

MODEL_TEST(nothing_of_another_tag)
{
	model::allow(kOtherCookie, kOtherPtag);
	Rank other(0, 7, 4096, 0, kOtherCookie);
	Pair p;
	gni_err_handle_t mine = subscribed(p.a.nic), theirs = subscribed(other.nic);
	gni_err_handle_t all = nullptr;
	gni_error_event_t e = {};

	assert_rc(SUCCESS, GNI_SubscribeErrors(nullptr, 0, 0xff, 0, &all));
	fail(p.a, p.b);
	fail(p.a, p.b);
	assert_rc(SUCCESS, GNI_GetErrorEvent(mine, &e));
	assert_rc(NOT_DONE, GNI_GetErrorEvent(theirs, &e));
	assert_rc(SUCCESS, GNI_GetErrorEvent(all, &e));
	/* an attack on the region of p.a: told to its owner and to the attacker, each in a sequence of its own */
	other.bind(p.a, 1000);
	gni_post_descriptor_t d = other.post(p.a, GNI_POST_FMA_PUT, 8);
	assert_int_equal(other.run(&d), ARIES_ST_PTAG);
	assert_rc(SUCCESS, GNI_GetErrorEvent(theirs, &e));
	assert_int_equal(e.error_code, ARIES_ST_PTAG);
	assert_int_equal(e.ptag, kOtherPtag);
	assert_int_equal(e.serial_number, 1);
	assert_rc(NOT_DONE, GNI_GetErrorEvent(theirs, &e));
	assert_rc(SUCCESS, GNI_GetErrorEvent(mine, &e));
	assert_int_equal(e.serial_number, 2);
	assert_rc(SUCCESS, GNI_GetErrorEvent(mine, &e));
	assert_int_equal(e.error_code, ARIES_ST_PTAG);
	assert_int_equal(e.ptag, kPtag);
	assert_int_equal(e.serial_number, 3);
	assert_rc(NOT_DONE, GNI_GetErrorEvent(mine, &e));
	assert_rc(SUCCESS, GNI_ReleaseErrors(mine));
	assert_rc(SUCCESS, GNI_ReleaseErrors(theirs));
	assert_rc(SUCCESS, GNI_ReleaseErrors(all));
}

MODEL_TEST(a_full_queue_leaves_a_gap)
{
	Pair p;
	gni_err_handle_t err = subscribed(p.a.nic, 0xff, 3);
	gni_error_event_t e[8] = {};
	uint32_t n = 0;

	for (int i = 0; i < 5; i++)
		fail(p.a, p.b);
	assert_rc(SUCCESS, GNI_WaitErrorEvents(err, e, 8, 0, &n));
	assert_int_equal(n, 3);
	assert_int_equal(e[2].serial_number, 3);
	fail(p.a, p.b);
	assert_rc(SUCCESS, GNI_GetErrorEvent(err, e));
	assert_int_equal(e[0].serial_number, 6);
	assert_rc(SUCCESS, GNI_ReleaseErrors(err));
}

MODEL_TEST(a_waiter_keeps_the_subscription)
{
	Pair p;
	gni_err_handle_t err = subscribed(p.a.nic);
	std::atomic<bool> started{false};
	gni_error_event_t e[4] = {};
	uint32_t n = 0;

	std::thread waiter([&] {
		started = true;
		assert_int_equal(GNI_WaitErrorEvents(err, e, 4, 200, &n), GNI_RC_TIMEOUT);
	});
	while (!started)
		usleep(1000);
	usleep(50000);
	assert_rc(NOT_DONE, GNI_ReleaseErrors(err));
	fail(p.a, p.b);
	fail(p.a, p.b);
	waiter.join();
	assert_int_equal(n, 2);
	assert_rc(SUCCESS, GNI_ReleaseErrors(err));
	assert_rc(INVALID_PARAM, GNI_GetErrorEvent(err, e));
}

TEST_MAIN("error events over the model")
