// SPDX-License-Identifier: GPL-2.0-only
/*
 * A message is lost and is put again, and what happens while the second put is in flight decides
 * its outcome. Its one event must arrive, with its own contents, also if the event of the first put
 * was read before the sender had seen the status of that put (kgni_cq_decide()).
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "sim_kernel.h"

#include "ends.h"

static enum fabric_fate fate_of_puts;
static unsigned int rung;

static enum fabric_fate fate(unsigned int from, const struct aries_fma *fma)
{
	(void)from;
	if (fma->op != ARIES_FMA_PUT_SYNC)
		return FABRIC_DONE;
	rung++;
	return fate_of_puts;
}

/* Send a message that is lost. @early: another thread reads its event before the send returns. */
static void lose_one(bool early)
{
	both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
	fabric_fate = fate;
	fate_of_puts = FABRIC_LATE;
	fabric_meanwhile = early ? read_at_once : NULL;
	rung = 0;
	assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	fabric_meanwhile = NULL;
	reap(&end[0]);
	assert_int_equal(end[0].completed, 0);
}

/* The NIC is reset: the event reports that the message was flushed. */
static void reset_after(bool early)
{
	unsigned int n;

	lose_one(early);
	fate_of_puts = FABRIC_ON_ITS_WAY;
	fabric_delay = 1u << 30;
	for (n = 0; n < 20 && rung < 2; n++) {
		fabric_run(1);
		reap(&end[0]);
	}
	assert_int_equal(rung, 2);
	assert_int_equal(end[0].completed, 0);
	fabric_tell(0, ARIES_EVENT_RESET, &(struct aries_event_info){ .quiet_ms = 0 });
	fabric_tell(0, ARIES_EVENT_QUIET, &(struct aries_event_info){ .quiet_ms = 0 });
	for (n = 0; n < 100; n++) {
		fabric_run(1000);
		reap(&end[0]);
	}
	assert_int_equal(end[0].completed, 1);
	assert_int_equal(end[0].failed, 1);
}

static void reset_read_in_time(void **state)
{
	(void)state;
	reset_after(false);
}

static void reset_read_early(void **state)
{
	(void)state;
	reset_after(true);
}

/* The NIC does not accept the message any more: reap() checks the contents of the event. */
static void not_taken_after(bool early)
{
	unsigned int n;

	lose_one(early);
	fate_of_puts = FABRIC_NOT_TAKEN;
	for (n = 0; n < 100 && !end[0].completed; n++) {
		fabric_run(1000);
		reap(&end[0]);
	}
	assert_int_equal(end[0].completed, 1);
	assert_int_equal(end[0].failed, 1);
}

static void not_taken_read_in_time(void **state)
{
	(void)state;
	not_taken_after(false);
}

static void not_taken_read_early(void **state)
{
	(void)state;
	not_taken_after(true);
}

/*
 * Both events of a post that has succeeded are in the queue when the NIC is reset. So both report
 * success.
 */
static void both_events_of_a_post(void **state)
{
	gni_post_descriptor_t d = { .type = GNI_POST_FMA_PUT, .length = 8 }, *done;
	gni_cq_entry_t entry;
	unsigned int events;
	u64 data = 1;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	d.cq_mode = GNI_CQMODE_LOCAL_EVENT | GNI_CQMODE_GLOBAL_EVENT;
	d.local_addr = (uintptr_t)&data;
	d.remote_addr = (uintptr_t)end[1].mailbox;
	d.remote_mem_hndl = end[1].mem;
	assert_int_equal(gni_post_fma(end[0].ep, &d), GNI_RC_SUCCESS);
	fabric_tell(0, ARIES_EVENT_RESET, &(struct aries_event_info){ .quiet_ms = 0 });
	fabric_tell(0, ARIES_EVENT_QUIET, &(struct aries_event_info){ .quiet_ms = 0 });
	for (events = 0; events < 2; events++) {
		assert_int_equal(gni_cq_get_event(end[0].tx, &entry), GNI_RC_SUCCESS);
		assert_int_equal(gni_get_completed(end[0].tx, entry, &done), GNI_RC_SUCCESS);
		assert_ptr_equal(done, &d);
	}
	assert_int_equal(d.status, GNI_RC_SUCCESS);
	assert_int_equal(d.cq_mode_complete, d.cq_mode);
	assert_int_equal(gni_cq_get_event(end[0].tx, &entry), GNI_RC_NOT_DONE);
}

static void put_word(gni_ep_handle_t ep, gni_post_descriptor_t *d, u64 *word)
{
	*d = (gni_post_descriptor_t){ .type = GNI_POST_FMA_PUT, .length = 8,
				      .cq_mode = GNI_CQMODE_GLOBAL_EVENT,
				      .local_addr = (uintptr_t)word,
				      .remote_addr = (uintptr_t)end[1].mailbox,
				      .remote_mem_hndl = end[1].mem };
	assert_int_equal(gni_post_fma(ep, d), GNI_RC_SUCCESS);
}

/*
 * A descriptor is given back for the event that was read, and for no other: its memory is the
 * client's again then.
 */
static void no_descriptor_without_its_event(void **state)
{
	gni_post_descriptor_t d[2], *done;
	gni_cq_entry_t first, second;
	u64 word = 1;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	put_word(end[0].ep, &d[0], &word);
	put_word(end[0].ep, &d[1], &word);
	assert_int_equal(gni_cq_get_event(end[0].tx, &first), GNI_RC_SUCCESS);
	/* the other event, as it lies in the queue */
	second = first ^ FIELD_PREP(ARIES_CQE_TID_MASK, 1ull ^ 2ull);
	assert_int_equal(gni_get_completed(end[0].tx, second, &done), GNI_RC_DESCRIPTOR_ERROR);
	assert_int_equal(gni_get_completed(end[0].tx, first, &done), GNI_RC_SUCCESS);
	assert_ptr_equal(done, &d[0]);
	assert_int_equal(gni_cq_get_event(end[0].tx, &first), GNI_RC_SUCCESS);
	assert_true(first == second);
	assert_int_equal(gni_get_completed(end[0].tx, second, &done), GNI_RC_SUCCESS);
	assert_ptr_equal(done, &d[1]);
}

/*
 * Events of posts that nobody has taken keep a queue from becoming one of memory, also without the
 * endpoint.
 */
static void a_queue_with_events_takes_no_memory(void **state)
{
	gni_post_descriptor_t d, *done;
	gni_mem_handle_t handle;
	gni_cq_entry_t entry;
	gni_cq_handle_t cq;
	gni_ep_handle_t ep;
	u64 word = 1;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	assert_int_equal(gni_cq_create(end[0].nic, 8, 0, NULL, 0, &cq), GNI_RC_SUCCESS);
	assert_int_equal(gni_ep_create(end[0].nic, cq, &ep), GNI_RC_SUCCESS);
	assert_int_equal(gni_ep_bind(ep, 1, 77), GNI_RC_SUCCESS);
	put_word(ep, &d, &word);
	assert_int_equal(gni_ep_destroy(ep), GNI_RC_SUCCESS);
	assert_int_equal(gni_mem_register(end[0].nic, (uintptr_t)end[0].mailbox, PAGE_SIZE, cq,
					  GNI_MEM_READWRITE, &handle),
			 GNI_RC_INVALID_PARAM);
	assert_int_equal(gni_cq_get_event(cq, &entry), GNI_RC_SUCCESS);
	assert_int_equal(gni_get_completed(cq, entry, &done), GNI_RC_SUCCESS);
	assert_int_equal(gni_mem_register(end[0].nic, (uintptr_t)end[0].mailbox, PAGE_SIZE, cq,
					  GNI_MEM_READWRITE, &handle),
			 GNI_RC_SUCCESS);
	assert_int_equal(gni_mem_deregister(end[0].nic, &handle, 0), GNI_RC_SUCCESS);
	assert_int_equal(gni_cq_destroy(cq), GNI_RC_SUCCESS);
}

static enum fabric_fate lost(unsigned int from, const struct aries_fma *fma)
{
	(void)from;
	(void)fma;
	return fate_of_puts;
}

/*
 * A post without events: its descriptor alone tells what has become of it, at the end of the call.
 */
static void silent_posts_tell_failures(void **state)
{
	static const enum fabric_fate fates[] = { FABRIC_LOST, FABRIC_NO_WAY, FABRIC_DONE };
	gni_post_descriptor_t d;
	unsigned int n;
	u64 word = 1;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	fabric_fate = lost;
	for (n = 0; n < ARRAY_SIZE(fates); n++) {
		fate_of_puts = fates[n];
		d = (gni_post_descriptor_t){ .type = GNI_POST_FMA_PUT, .length = 8,
					     .local_addr = (uintptr_t)&word,
					     .remote_addr = (uintptr_t)end[1].mailbox,
					     .remote_mem_hndl = end[1].mem };
		assert_int_equal(gni_post_fma(end[0].ep, &d), GNI_RC_SUCCESS);
		assert_int_equal(d.status, fates[n] == FABRIC_DONE ? GNI_RC_SUCCESS
								   : GNI_RC_TRANSACTION_ERROR);
	}
}

/* What is posted has room for its events: one slot is kept for the mark of an overrun. */
static void posts_have_room_for_their_events(void **state)
{
	gni_post_descriptor_t d[8], *done;
	gni_cq_entry_t entry;
	gni_cq_handle_t cq;
	gni_ep_handle_t ep;
	unsigned int n;
	u64 word = 1;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	assert_int_equal(gni_cq_create(end[0].nic, ARRAY_SIZE(d), 0, NULL, 0, &cq), GNI_RC_SUCCESS);
	assert_int_equal(gni_ep_create(end[0].nic, cq, &ep), GNI_RC_SUCCESS);
	assert_int_equal(gni_ep_bind(ep, 1, 77), GNI_RC_SUCCESS);
	for (n = 0; n < ARRAY_SIZE(d) - 1; n++)
		put_word(ep, &d[n], &word);
	d[n] = d[0];
	assert_int_equal(gni_post_fma(ep, &d[n]), GNI_RC_ERROR_RESOURCE);
	for (n = 0; n < ARRAY_SIZE(d) - 1; n++) {
		assert_int_equal(gni_cq_get_event(cq, &entry), GNI_RC_SUCCESS);
		assert_int_equal(gni_get_completed(cq, entry, &done), GNI_RC_SUCCESS);
		assert_ptr_equal(done, &d[n]);
	}
	assert_int_equal(gni_ep_destroy(ep), GNI_RC_SUCCESS);
	assert_int_equal(gni_cq_destroy(cq), GNI_RC_SUCCESS);
}

/*
 * CRC-8/MAXIM over the bytes before it: libugni, which gets such handles from other nodes, checks
 * it.
 */
static void handles_have_their_check_code(void **state)
{
	const u8 *bytes = (const u8 *)&end[0].mem;
	unsigned int at, bit;
	u8 crc = 0;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	for (at = 0; at < sizeof(end[0].mem) - 1; at++) {
		crc ^= bytes[at];
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x8c : crc >> 1;
	}
	assert_int_equal(bytes[at], crc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reset_read_in_time, begin, finish),
		cmocka_unit_test_setup_teardown(reset_read_early, begin, finish),
		cmocka_unit_test_setup_teardown(not_taken_read_in_time, begin, finish),
		cmocka_unit_test_setup_teardown(not_taken_read_early, begin, finish),
		cmocka_unit_test_setup_teardown(both_events_of_a_post, begin, finish),
		cmocka_unit_test_setup_teardown(no_descriptor_without_its_event, begin, finish),
		cmocka_unit_test_setup_teardown(a_queue_with_events_takes_no_memory, begin, finish),
		cmocka_unit_test_setup_teardown(silent_posts_tell_failures, begin, finish),
		cmocka_unit_test_setup_teardown(posts_have_room_for_their_events, begin, finish),
		cmocka_unit_test_setup_teardown(handles_have_their_check_code, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
