// SPDX-License-Identifier: GPL-2.0-only
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
#include "late.h"

/* What the cases of late.h need: here an operation that is not lost is on its way for some ticks. */
static struct {
	enum fabric_fate fate;
	unsigned int count;
} loss[2];

static enum fabric_fate some(unsigned int from, const struct aries_fma *fma)
{
	(void)fma;
	if (!loss[from].count)
		return FABRIC_ON_ITS_WAY;
	loss[from].count--;
	return loss[from].fate;
}

static void late_lose(unsigned int i, enum late_loss what, unsigned int count)
{
	loss[i].fate = what == LATE_REQUEST ? FABRIC_LATE : FABRIC_LATE_UNHEARD;
	loss[i].count = count;
}

static void late_connect(gni_smsg_type_t type, unsigned int repeats)
{
	begin(NULL);
	both(type);
	memset(loss, 0, sizeof(loss));
	fabric_fate = some;
	fabric_delay = 3;
	if (repeats)
		assert_int_equal(gni_smsg_set_max_retrans(end[0].nic, repeats), GNI_RC_SUCCESS);
}

static void late_disconnect(void)
{
	finish(NULL);
}

static void late_reconnect(void)
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
}

static gni_return_t late_send(unsigned int i, void *message, unsigned int bytes, u32 id)
{
	return gni_smsg_send(end[i].ep, message, bytes / 3, message + bytes / 3, bytes - bytes / 3,
			     id);
}

static gni_return_t late_look(unsigned int i, void **message)
{
	return gni_smsg_getnext(end[i].ep, message);
}

static gni_return_t late_release(unsigned int i)
{
	return gni_smsg_release(end[i].ep);
}

static gni_return_t late_event(unsigned int i, gni_cq_entry_t *event)
{
	return gni_cq_get_event(end[i].tx, event);
}

static void late_moment(void)
{
	fabric_run(1);
}

const struct late_env late_env = {
	.connect = late_connect,
	.disconnect = late_disconnect,
	.reconnect = late_reconnect,
	.lose = late_lose,
	.send = late_send,
	.look = late_look,
	.release = late_release,
	.event = late_event,
	.moment = late_moment,
	.inst_id = { 100, 101 },
};

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
		LATE_CASES(cmocka_unit_test),
		cmocka_unit_test_setup_teardown(mended, begin, finish),
		cmocka_unit_test_setup_teardown(all_of_them, begin, finish),
		cmocka_unit_test_setup_teardown(without_queue, begin, finish),
		cmocka_unit_test_setup_teardown(ended, begin, finish),
		cmocka_unit_test_setup_teardown(reset, begin, finish),
		cmocka_unit_test_setup_teardown(no_memory, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
