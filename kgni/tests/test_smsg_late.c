// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Short messages of kGNI that are still in flight when their put returns, and may still be lost,
 * like all messages to another host. None is lost, none arrives twice, they stay in order, and each
 * has one event.
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "sim_kernel.h"

#include "ends.h"

static enum fabric_fate fate_of_all;

static enum fabric_fate always(unsigned int from, const struct aries_fma *fma)
{
	(void)from;
	(void)fma;
	return fate_of_all;
}

/* Most messages arrive, and that is known later. One in eight is lost, or its response is. */
static enum fabric_fate mostly(unsigned int from, const struct aries_fma *fma)
{
	static const enum fabric_fate rare[] = { FABRIC_LATE, FABRIC_LATE_UNHEARD, FABRIC_LATE,
						 FABRIC_LOST, FABRIC_NO_WAY };

	(void)from;
	(void)fma;
	return fabric_random(8) ? FABRIC_ON_ITS_WAY : rare[fabric_random(ARRAY_SIZE(rare))];
}

/*
 * The clients do not notice, no matter whether an event is read before or after the sender
 * continues.
 */
static void mended(void **state)
{
	unsigned int n, way;

	for (way = 0; way < 6; way++) {
		both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
		fabric_delay = way / 2 * 4;
		fabric_meanwhile = way & 1 ? read_at_once : NULL;
		for (n = 0; n < 10000; n++) {
			fabric_fate = mostly;
			step();
		}
		fabric_meanwhile = NULL;
		assert_true(drain());
		assert_true(end[0].sent > 300 && end[1].sent > 300);
		assert_int_equal(end[0].failed + end[1].failed, 0);
		if (way == 5)
			return;
		finish(state);
		begin(state);
	}
}

static unsigned int victim;

/* The victim-th put that makes a message visible is lost. The others arrive. */
static enum fabric_fate one_of_them(unsigned int from, const struct aries_fma *fma)
{
	if (from == 0 && fma->op == ARIES_FMA_PUT_SYNC && fma->tid && victim && !--victim)
		return FABRIC_LATE;
	return FABRIC_ON_ITS_WAY;
}

/*
 * Messages sent after the lost one have arrived already. It is put into its own slot, before them.
 */
static void among_others(void **state)
{
	unsigned int n, which;

	for (which = 1; which <= CREDITS; which++) {
		both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
		victim = which;
		fabric_delay = 3;
		fabric_fate = one_of_them;
		for (n = 0; n < 4; n++)
			assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
		for (n = 0; n < 4; n++)
			assert_int_equal(receive_one(&end[1]), n + 1 < which || which > 4);
		assert_true(drain());
		assert_int_equal(end[0].failed, 0);
		if (which == CREDITS)
			return;
		finish(state);
		begin(state);
	}
}

/*
 * While a message is being retransmitted no new one is sent. All messages in flight may have been
 * lost.
 */
static void all_of_them(void **state)
{
	unsigned int n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
	fabric_delay = 2;
	fabric_fate = always;
	fate_of_all = FABRIC_LATE;
	for (n = 0; n < 4; n++)
		assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	fabric_run(5);
	reap(&end[0]);
	assert_int_equal(end[0].completed, 0);
	assert_int_equal(send_one(&end[0]), GNI_RC_NOT_DONE);
	assert_int_equal(gni_ep_unbind(end[0].ep), GNI_RC_NOT_DONE);
	fate_of_all = FABRIC_ON_ITS_WAY;
	for (n = 0; n < 10; n++) {
		fabric_run(1000);
		reap(&end[0]);
	}
	assert_int_equal(end[0].completed, 4);
	assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	assert_true(drain());
	assert_int_equal(end[0].failed, 0);
}

/* Run until the outcome of everything sent is known. */
static void until_over(struct end *e)
{
	unsigned int n;

	for (n = 0; n < 100 && e->completed != e->sent; n++) {
		fabric_run(2000);
		reap(e);
	}
	assert_int_equal(e->completed, e->sent);
}

static void connect_anew(void)
{
	unsigned int n;

	for (n = 0; n < 2; n++) {
		assert_int_equal(gni_ep_unbind(end[n].ep), GNI_RC_SUCCESS);
		memset(end[n].mailbox, 0, end[n].attr.buff_size);
		assert_int_equal(gni_ep_bind(end[n].ep, !n, 77), GNI_RC_SUCCESS);
	}
	for (n = 0; n < 2; n++)
		assert_int_equal(gni_smsg_init(end[n].ep, &end[n].attr, &end[!n].attr),
				 GNI_RC_SUCCESS);
	end[1].received = end[0].sent;
}

/*
 * If the last message fails it is withdrawn, as if it had failed at once. If others were sent after
 * a failed one the receiver could not find them, so nothing more is accepted until the ends
 * reconnect.
 */
static void in_vain(void **state)
{
	unsigned int type, behind, before;
	u32 lost;

	for (type = 0; type < 2; type++)
		for (behind = 0; behind < 3; behind++) {
			both(type ? GNI_SMSG_TYPE_MBOX : GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
			assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
			assert_true(receive_one(&end[1]));
			before = jiffies;
			fabric_fate = always;
			fate_of_all = FABRIC_LATE;
			for (lost = 0; lost <= behind; lost++)
				assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
			until_over(&end[0]);
			assert_int_equal(end[0].failed, lost);
			assert_true(type || jiffies - before > 256);
			assert_false(receive_one(&end[1]));
			fabric_fate = NULL;
			if (behind) {
				assert_int_equal(send_one(&end[0]), GNI_RC_INVALID_PARAM);
				connect_anew();
			} else {
				end[1].received += lost;
			}
			for (lost = 0; lost < 3 * CREDITS; lost++) {
				assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
				assert_true(receive_one(&end[1]));
				reap(&end[0]);
			}
			finish(state);
			begin(state);
		}
	both(GNI_SMSG_TYPE_MBOX);
}

/* The response is lost. Even without AUTO_RETRANSMIT the message counts as delivered. */
static void unheard(void **state)
{
	unsigned int n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	fate_of_all = FABRIC_LATE_UNHEARD;
	for (n = 0; n < 3000; n++) {
		fabric_fate = fabric_random(2) ? always : NULL;
		step();
	}
	assert_true(drain());
	assert_int_equal(end[0].failed + end[1].failed, 0);
}

static enum fabric_fate no_credits(unsigned int from, const struct aries_fma *fma)
{
	(void)from;
	return fma->op == ARIES_FMA_PUT_SYNC && !fma->tid ? FABRIC_LATE : FABRIC_ON_ITS_WAY;
}

/* There is no event for a lost credit word. A sender without space asks the peer. */
static void credits_lost(void **state)
{
	unsigned int n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
	for (n = 0; n < 20000 && end[0].sent < 20 * CREDITS; n++) {
		fabric_fate = no_credits;
		if (send_one(&end[0]) == GNI_RC_NOT_DONE)
			fabric_run(1);
		receive_one(&end[1]);
		reap(&end[0]);
	}
	assert_int_equal(end[0].sent, 20 * CREDITS);
	assert_true(drain());
}

/* The peer's mailbox is registered without a queue. The sender learns that only from the event. */
static void without_queue(void **state)
{
	struct end *e = &end[1];

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	assert_int_equal(gni_ep_destroy(e->ep), GNI_RC_SUCCESS);
	assert_int_equal(gni_ep_destroy(end[0].ep), GNI_RC_SUCCESS);
	assert_int_equal(gni_mem_deregister(e->nic, &e->mem, 0), GNI_RC_SUCCESS);
	assert_int_equal(gni_mem_register(e->nic, (uintptr_t)e->mailbox, e->attr.buff_size, NULL,
					  GNI_MEM_READWRITE, &e->mem),
			 GNI_RC_SUCCESS);
	e->attr.mem_hndl = e->mem;
	connect_end(0);
	connect_end(1);
	fabric_fate = always;
	fate_of_all = FABRIC_ON_ITS_WAY;
	assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	assert_true(drain());
	assert_int_equal(end[0].failed, 0);
}

/* Four messages are lost. The more @ticks, the more of them have been retransmitted. */
static void four_lost(unsigned int ticks)
{
	unsigned int n;

	both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
	fabric_fate = always;
	fate_of_all = FABRIC_LATE;
	fabric_delay = ticks & 1 ? 4 : 0;
	for (n = 0; n < 4; n++)
		assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	for (n = 0; n < ticks / 2; n++) {
		fabric_run(1);
		reap(&end[0]);
	}
}

/*
 * The endpoint is destroyed with messages in flight, lost, and retransmitted. Their events are
 * still delivered, and nothing is accessed afterwards.
 */
static void ended(void **state)
{
	unsigned int ticks;

	for (ticks = 0; ticks < 40; ticks++) {
		four_lost(ticks);
		assert_int_equal(gni_ep_destroy(end[0].ep), GNI_RC_SUCCESS);
		if (ticks & 2)
			connect_end(0);
		fabric_run(1000);
		reap(&end[0]);
		assert_int_equal(end[0].failed, 4);
		fabric_fate = NULL;
		if (!(ticks & 2))
			connect_end(0);
		finish(state);
		begin(state);
	}
	both(GNI_SMSG_TYPE_MBOX);
}

/* The NIC is reset with such messages: each has exactly one event. */
static void reset(void **state)
{
	unsigned int ticks;

	for (ticks = 0; ticks < 40; ticks++) {
		four_lost(ticks);
		fabric_tell(0, ARIES_EVENT_RESET, &(struct aries_event_info){ .quiet_ms = 0 });
		fabric_run(ticks % 3);
		fabric_tell(0, ARIES_EVENT_QUIET, &(struct aries_event_info){ .quiet_ms = 0 });
		fabric_run(1000);
		reap(&end[0]);
		assert_int_equal(end[0].completed, 4);
		assert_int_equal(end[0].failed, 4);
		finish(state);
		begin(state);
	}
	both(GNI_SMSG_TYPE_MBOX);
}

/* If there is no memory for a copy, a loss is reported to the client. */
static void no_memory(void **state)
{
	unsigned int n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
	fabric_nomem = 2;
	for (n = 0; n < 3000 && !end[0].failed; n++) {
		fabric_fate = mostly;
		if (send_one(&end[0]) == GNI_RC_INVALID_PARAM)
			break;
		receive_one(&end[1]);
		reap(&end[0]);
		fabric_run(1);
	}
	fabric_nomem = 0;
	drain();
	assert_true(end[0].failed > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(mended, begin, finish),
		cmocka_unit_test_setup_teardown(among_others, begin, finish),
		cmocka_unit_test_setup_teardown(all_of_them, begin, finish),
		cmocka_unit_test_setup_teardown(in_vain, begin, finish),
		cmocka_unit_test_setup_teardown(unheard, begin, finish),
		cmocka_unit_test_setup_teardown(credits_lost, begin, finish),
		cmocka_unit_test_setup_teardown(without_queue, begin, finish),
		cmocka_unit_test_setup_teardown(ended, begin, finish),
		cmocka_unit_test_setup_teardown(reset, begin, finish),
		cmocka_unit_test_setup_teardown(no_memory, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
