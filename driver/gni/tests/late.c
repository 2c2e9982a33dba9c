// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* See late.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "late.h"

enum { PATIENCE = 200000 }; /* moments until a case has failed */

static uint8_t text_of_message[LATE_LARGEST];

/* The text of a message, which its number says. */
static void *text(uint32_t number, unsigned int bytes)
{
	unsigned int i;

	for (i = 0; i < bytes; i++)
		text_of_message[i] = (uint8_t)(number * 31 + i * 7 + i / 251);
	return text_of_message;
}

static gni_return_t try_to_send(unsigned int end, uint32_t number, unsigned int bytes)
{
	gni_return_t rc = late_env.send(end, text(number, bytes), bytes, number);

	/* The message was copied when the call returned. */
	memset(text_of_message, 0xee, bytes);
	return rc;
}

/* A credit may be on its way, and a message being retransmitted. */
static void send(unsigned int end, uint32_t number, unsigned int bytes)
{
	unsigned int n;
	gni_return_t rc = GNI_RC_NOT_DONE;

	for (n = 0; n < PATIENCE && rc == GNI_RC_NOT_DONE; n++) {
		rc = try_to_send(end, number, bytes);
		if (rc == GNI_RC_NOT_DONE)
			late_env.moment();
	}
	assert_int_equal(rc, GNI_RC_SUCCESS);
}

/* Return: the number of the message that an event is about. */
static uint32_t outcome(unsigned int end, bool delivered)
{
	gni_cq_entry_t event;
	gni_return_t rc = GNI_RC_NOT_DONE;
	unsigned int n;

	for (n = 0; n < PATIENCE && rc == GNI_RC_NOT_DONE; n++) {
		rc = late_env.event(end, &event);
		if (rc == GNI_RC_NOT_DONE)
			late_env.moment();
	}
	assert_int_equal(rc, delivered ? GNI_RC_SUCCESS : GNI_RC_TRANSACTION_ERROR);
	assert_int_equal(GNI_CQ_GET_TYPE(event), GNI_CQ_EVENT_TYPE_SMSG);
	assert_int_equal(!GNI_CQ_STATUS_OK(event), !delivered);
	if (!delivered)
		assert_int_equal(GNI_CQ_GET_INST_ID(event), late_env.inst_id[end]);
	return GNI_CQ_GET_MSG_ID(event);
}

static void expect_no_event(unsigned int end)
{
	gni_cq_entry_t event;

	assert_int_equal(late_env.event(end, &event), GNI_RC_NOT_DONE);
}

/* Return: whether there was a message, which is this one. */
static bool receive(unsigned int end, uint32_t number, unsigned int bytes)
{
	void *message;
	gni_return_t rc = late_env.look(end, &message);

	if (rc == GNI_RC_NOT_DONE)
		return false;
	assert_int_equal(rc, GNI_RC_SUCCESS);
	assert_memory_equal(message, text(number, bytes), bytes);
	assert_int_equal(late_env.release(end), GNI_RC_SUCCESS);
	return true;
}

static void expect(unsigned int end, uint32_t number, unsigned int bytes)
{
	unsigned int n;

	for (n = 0; n < PATIENCE; n++) {
		if (receive(end, number, bytes))
			return;
		late_env.moment();
	}
	fail_msg("message %u did not arrive", number);
}

static void expect_no_message(unsigned int end)
{
	void *message;

	assert_int_equal(late_env.look(end, &message), GNI_RC_NOT_DONE);
}

void late_repeated(void **state)
{
	static const unsigned int sizes[] = { 8, 2032, LATE_LARGEST };
	unsigned int size, what, lost;
	uint32_t number = 0x12345678;

	(void)state;
	late_env.connect(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT, 0);
	for (what = LATE_REQUEST; what <= LATE_RESPONSE; what++)
		for (size = 0; size < 3; size++)
			for (lost = 1; lost <= 3; lost += 2, number++) {
				late_env.lose(0, what, lost);
				send(0, number, sizes[size]);
				assert_int_equal(outcome(0, true), number);
				expect(1, number, sizes[size]);
				expect_no_message(1);
			}
	expect_no_event(0);
	late_env.disconnect();
}

void late_among_others(void **state)
{
	unsigned int round, seen;
	uint32_t n;

	(void)state;
	late_env.connect(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT, 0);
	for (round = 0; round < 6; round++) {
		send(0, 9, 9);
		late_env.lose(0, LATE_REQUEST, 1 + round / 2);
		for (n = 0; n < 4; n++)
			send(0, n, 100 + n);
		for (seen = 0, n = 0; n < 5; n++)
			seen |= 1u << outcome(0, true);
		assert_int_equal(seen, 0x20f);
		expect(1, 9, 9);
		for (n = 0; n < 4; n++)
			expect(1, n, 100 + n);
		expect_no_message(1);
	}
	late_env.disconnect();
}

static void fail_with_others_behind(gni_smsg_type_t type, unsigned int behind)
{
	uint32_t n;

	late_env.connect(type, 2);
	send(0, 7, 70);
	expect(1, 7, 70);
	assert_int_equal(outcome(0, true), 7);
	late_env.lose(0, LATE_REQUEST, 100000);
	for (n = 0; n <= behind; n++)
		send(0, n, 40);
	for (n = 0; n <= behind; n++)
		outcome(0, false);
	expect_no_event(0);
	late_env.lose(0, LATE_REQUEST, 0);
	expect_no_message(1);
	if (behind) {
		assert_int_equal(try_to_send(0, 9, 40), GNI_RC_INVALID_PARAM);
		late_env.reconnect();
	}
	for (n = 0; n < 3 * LATE_CREDITS; n++) {
		send(0, n, 500);
		assert_int_equal(outcome(0, true), n);
		expect(1, n, 500);
	}
	late_env.disconnect();
}

void late_in_vain(void **state)
{
	unsigned int behind;

	(void)state;
	for (behind = 0; behind < 3; behind++) {
		fail_with_others_behind(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT, behind);
		fail_with_others_behind(GNI_SMSG_TYPE_MBOX, behind);
	}
}

void late_plain_mailbox(void **state)
{
	static const unsigned int sizes[] = { 8, LATE_LARGEST };
	unsigned int size;

	(void)state;
	late_env.connect(GNI_SMSG_TYPE_MBOX, 0);
	for (size = 0; size < 2; size++) {
		late_env.lose(0, LATE_RESPONSE, 1);
		send(0, 77, sizes[size]);
		assert_int_equal(outcome(0, true), 77);
		expect(1, 77, sizes[size]);
		late_env.lose(0, LATE_REQUEST, 1);
		send(0, 78, sizes[size]);
		assert_int_equal(outcome(0, false), 78);
		expect_no_message(1);
		send(0, 79, sizes[size]);
		assert_int_equal(outcome(0, true), 79);
		expect(1, 79, sizes[size]);
	}
	late_env.disconnect();
}

void late_credits(void **state)
{
	uint32_t n;

	(void)state;
	late_env.connect(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT, 0);
	for (n = 0; n < 10 * LATE_CREDITS; n++) {
		send(0, n, 40);
		assert_int_equal(outcome(0, true), n);
		late_env.lose(1, LATE_REQUEST, 1);
		expect(1, n, 40);
		late_env.lose(1, LATE_REQUEST, 0);
	}
	late_env.disconnect();
}

/* One direction of the traffic of late_both_ways(). */
struct way {
	unsigned int from;
	uint32_t sent, ended, received;
};

enum { MOST = 300 };

static unsigned int size_of(uint32_t number)
{
	return number % 7 ? 8 + number % 50 : 3000;
}

static uint32_t random_below(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % below;
}

static void step(struct way *w, uint32_t *random)
{
	gni_cq_entry_t event;
	gni_return_t rc;

	if (w->sent < MOST && random_below(random, 2)) {
		rc = try_to_send(w->from, w->sent, size_of(w->sent));
		assert_true(rc == GNI_RC_SUCCESS || rc == GNI_RC_NOT_DONE);
		w->sent += rc == GNI_RC_SUCCESS;
	}
	while ((rc = late_env.event(w->from, &event)) != GNI_RC_NOT_DONE) {
		assert_int_equal(rc, GNI_RC_SUCCESS);
		w->ended++;
	}
	w->received += receive(!w->from, w->received, size_of(w->received));
}

static bool over(const struct way *w)
{
	return w->ended == MOST && w->received == MOST;
}

void late_both_ways(void **state)
{
	struct way ways[] = { { .from = 0 }, { .from = 1 } };
	uint32_t random = 1, n;

	(void)state;
	late_env.connect(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT, 0);
	for (n = 0; n < PATIENCE && !(over(&ways[0]) && over(&ways[1])); n++) {
		if (n % 40 == 0 && (ways[0].sent < MOST || ways[1].sent < MOST))
			late_env.lose(random_below(&random, 2), random_below(&random, 2), 1);
		step(&ways[0], &random);
		step(&ways[1], &random);
		late_env.moment();
	}
	assert_true(over(&ways[0]) && over(&ways[1]));
	expect_no_message(0);
	expect_no_message(1);
	late_env.disconnect();
}
