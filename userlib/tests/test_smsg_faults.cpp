// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Short messages when something goes wrong: lost packets, dead peers, damage, queues that overrun. */
#include "aries_hw.h"
#include "talk.hpp"

/* The event of a send that failed: both ids, and a text. */
static void expect_failed(const Side &s, uint32_t msg_id, uint32_t local_event, uint32_t status, const char *name)
{
	gni_cq_entry_t e;
	gni_post_descriptor_t *d = nullptr;
	char buffer[64];
	uint32_t recoverable = 2;

	assert_rc(TRANSACTION_ERROR, s.outcome(&e));
	assert_int_equal(GNI_CQ_GET_TYPE(e), GNI_CQ_EVENT_TYPE_SMSG);
	assert_int_equal(GNI_CQ_GET_MSG_ID(e), msg_id);
	assert_int_equal(GNI_CQ_GET_INST_ID(e), local_event);
	assert_int_equal(GNI_CQ_GET_STATUS(e), status);
	assert_int_equal(GNI_CQ_GET_SOURCE(e), ARIES_SRC_FMA);
	assert_false(GNI_CQ_OVERRUN(e) || GNI_CQ_REM_OVERRUN(e) || GNI_CQ_STATUS_OK(e));
	assert_rc(SUCCESS, GNI_CqErrorStr(e, buffer, sizeof(buffer)));
	assert_string_equal(buffer, name);
	assert_rc(SUCCESS, GNI_CqErrorRecoverable(e, &recoverable));
	assert_int_equal(recoverable, status == ARIES_ST_TIMEOUT || status == ARIES_ST_CRC);
	assert_rc(DESCRIPTOR_ERROR, GNI_GetCompleted(s.source, e, &d));
	assert_rc(NOT_DONE, s.sent(&e));
}

MODEL_TEST(repeated_until_it_arrives)
{
	Talk t({.credits = 8, .largest = 8192});
	uint32_t repeats = 0;

	/* Packets lost in all doorbells of short and long messages. */
	for (const char *fault : {"drop", "corrupt"}) {
		for (size_t n : {8, 2032, 8000}) {
			for (uint64_t lost : {1, 5}) {
				model::fault(0, fault, lost);
				assert_rc(SUCCESS, t.a.send(text(n, 3), "", 0x12345678));
				t.a.expect_sent(0x12345678);
				t.b.expect(text(n, 3));
				assert_rc(NOT_DONE, t.b.look());
				assert_true(t.a.statistic(GNI_STAT_SMSG_RETRANS_COUNT) > repeats);
				repeats = t.a.statistic(GNI_STAT_SMSG_RETRANS_COUNT);
				t.b.drain();
			}
		}
	}
	gni_cq_entry_t e;
	assert_rc(NOT_DONE, t.a.sent(&e));
	assert_rc(SUCCESS, GNI_EpUnbind(t.a.ep));
}

MODEL_TEST(not_repeated_for_ever)
{
	Talk t;

	assert_rc(SUCCESS, GNI_EpSetEventData(t.a.ep, 0xfedcba, 1));
	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(t.a.nic, 3));
	for (size_t n : {8, 4096}) {
		model::fault(0, "drop", 100000);
		assert_rc(SUCCESS, t.a.send(text(n, 1), "", 0xffffffff));
		expect_failed(t.a, 0xffffffff, 0xfedcba, ARIES_ST_TIMEOUT, "SMSG:TIMEOUT");
		model::fault(0, "drop", 0);
		assert_rc(NOT_DONE, t.b.look());
		/* A message that did not arrive leaves no hole. */
		assert_rc(SUCCESS, t.a.send("after", "", 5));
		t.a.expect_sent(5);
		t.b.expect("after");
	}
	assert_int_equal(t.a.statistic(GNI_STAT_SMSG_RETRANS_COUNT), 6);
	assert_rc(SUCCESS, GNI_EpUnbind(t.a.ep));
}

MODEL_TEST(plain_mailbox_reports_at_once)
{
	Talk t({.credits = 8, .largest = 5000, .type = GNI_SMSG_TYPE_MBOX});

	for (size_t n : {8, 5000}) {
		model::fault(0, "corrupt", 1);
		assert_rc(SUCCESS, t.a.send(text(n, 1), "", 77));
		model::fault(0, "corrupt", 0);
		expect_failed(t.a, 77, 1001, ARIES_ST_CRC, "SMSG:PACKET_DAMAGED");
		assert_rc(NOT_DONE, t.b.look());
		assert_rc(SUCCESS, t.a.send(text(n, 2), "", 78));
		t.a.expect_sent(78);
		t.b.expect(text(n, 2));
	}
	assert_int_equal(t.a.statistic(GNI_STAT_SMSG_RETRANS_COUNT), 0);
}

/* The mailbox's memory is gone: no repetition helps. */
MODEL_TEST(deregistered_mailbox)
{
	Talk t;
	gni_mem_handle_t h = t.b.handle;

	assert_rc(SUCCESS, GNI_MemDeregister(t.b.nic, &h));
	assert_rc(SUCCESS, t.a.send("lost", "", 3));
	expect_failed(t.a, 3, 1001, ARIES_ST_MDD, "SMSG:MDD_INVALID");
	assert_int_equal(t.a.statistic(GNI_STAT_SMSG_RETRANS_COUNT), 0);
}

MODEL_TEST(dead_peer)
{
	Talk t;

	assert_rc(SUCCESS, t.b.send("last words"));
	assert_rc(SUCCESS, t.a.send("read", "", 1));
	t.a.expect_sent(1);
	model::kill(1);
	gni_cq_entry_t e;
	for (int i = 0; i < 5; i++) {
		assert_rc(SUCCESS, t.a.send("anybody?", "", 2));
		assert_rc(TRANSACTION_ERROR, t.a.outcome(&e));
		assert_int_equal(GNI_CQ_GET_MSG_ID(e), 2);
		assert_int_equal(GNI_CQ_GET_INST_ID(e), 1001);
	}
	t.a.expect("last words");
	for (int i = 0; i < 100; i++)
		assert_rc(NOT_DONE, t.a.look());
	assert_rc(SUCCESS, GNI_EpUnbind(t.a.ep));
	assert_rc(SUCCESS, GNI_EpDestroy(t.a.ep));
}

/* The credit word, then the header words, then what goes with data. */
static uint64_t *line(const Side &s, unsigned number)
{
	return reinterpret_cast<uint64_t *>(s.bytes + size_t{number} * 64);
}

MODEL_TEST(damaged_header)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		Talk t;
		assert_rc(SUCCESS, t.a.send("whole"));
		line(t.b, 1)[0] ^= uint64_t{1} << bit;
		assert_rc(INVALID_STATE, t.b.look());
		assert_rc(INVALID_STATE, t.b.look());
		assert_rc(INVALID_PARAM, t.b.send("no more"));
		assert_rc(SUCCESS, GNI_EpUnbind(t.b.ep));
	}
}

MODEL_TEST(damaged_slot_without_a_message)
{
	Talk t;

	line(t.b, 1)[0] = 0x4141414141414141;
	assert_rc(INVALID_STATE, t.b.look());
}

MODEL_TEST(damaged_credits)
{
	{
		Talk t;
		line(t.b, 0)[0] = 0x10001;
		assert_rc(INVALID_PARAM, t.b.send("x"));
		assert_rc(INVALID_STATE, t.b.look());
	}
	Talk t;
	assert_rc(SUCCESS, t.a.send("x"));
	line(t.b, 2)[0] ^= 0x100000; /* with the data, 8 credits: one line of header words */
	assert_rc(INVALID_STATE, t.b.look());
}

/* Who owns a mailbox may clear it while messages are under way: that is no damage, and credits come again. */
MODEL_TEST(cleared_mailbox)
{
	Talk t({.credits = 2, .largest = 64});

	for (int round = 0; round < 3; round++) {
		assert_rc(SUCCESS, t.a.send("one"));
		assert_true(!round || line(t.a, 0)[0]); /* has been read */
		line(t.a, 0)[0] = 0;
		assert_rc(SUCCESS, t.a.send("two"));
		t.b.expect("one");
		t.b.expect("two");
		assert_rc(NOT_DONE, t.b.look());
		t.a.drain();
		t.b.drain();
	}
}

/* A repetition whose first attempt has arrived after all puts the header word of a released message there again. */
MODEL_TEST(message_twice)
{
	Talk t({.credits = 2, .largest = 64});

	assert_rc(SUCCESS, t.a.send("one"));
	uint64_t word = line(t.b, 1)[0];
	t.b.expect("one");
	assert_rc(SUCCESS, t.a.send("two"));
	t.b.expect("two");
	line(t.b, 1)[0] = word;
	assert_rc(NOT_DONE, t.b.look());
	assert_rc(SUCCESS, t.a.send("three"));
	t.b.expect("three");
}

/* Events get lost, messages do not: drain the queue, then look into the mailbox. */
MODEL_TEST(receive_queue_overruns)
{
	Talk t({.credits = 200, .largest = 64, .remote_entries = 60});
	gni_cq_entry_t e = 0;

	for (int round = 0; round < 3; round++) {
		unsigned events = 0, overruns = 0;
		for (unsigned i = 0; i < 150; i++)
			assert_rc(SUCCESS, t.a.send(text(i % 48, i), "", i));
		for (;;) {
			gni_return_t rc = GNI_CqGetEvent(t.b.remote, &e);
			if (rc == GNI_RC_NOT_DONE)
				break;
			overruns += rc == GNI_RC_ERROR_RESOURCE && GNI_CQ_OVERRUN(e);
			events += rc == GNI_RC_SUCCESS;
		}
		assert_int_equal(overruns, 1);
		assert_int_equal(events, 63);
		for (unsigned i = 0; i < 150; i++) {
			t.b.expect(text(i % 48, i));
			t.a.expect_sent(i);
		}
		assert_rc(NOT_DONE, t.b.look());
	}
}

/* Modifiers and accessors agree about the entry of a send that failed. */
MODEL_TEST(entry_of_a_failed_send)
{
	Talk t;
	gni_cq_entry_t e;
	gni_mem_handle_t h = t.b.handle;

	assert_rc(SUCCESS, GNI_MemDeregister(t.b.nic, &h));
	assert_rc(SUCCESS, GNI_EpSetEventData(t.a.ep, 0xffffff, 1));
	assert_rc(SUCCESS, t.a.send("x", "", 0x89abcdef));
	assert_rc(TRANSACTION_ERROR, t.a.sent(&e));
	assert_int_equal(GNI_CQ_GET_INST_ID(e), 0xffffff);
	assert_int_equal(GNI_CQ_GET_STATUS(e), ARIES_ST_MDD);
	GNI_CQ_SET_INST_ID(e, 0x1234567);
	assert_int_equal(GNI_CQ_GET_INST_ID(e), 0x234567);
	GNI_CQ_SET_MSG_ID(e, 7);
	GNI_CQ_SET_TID(e, 9);
	assert_int_equal(GNI_CQ_GET_INST_ID(e), 0x234567);
	assert_int_equal(GNI_CQ_GET_MSG_ID(e), 7);
	assert_int_equal(GNI_CQ_GET_INFO(e), ARIES_INFO_LOCAL);
	assert_int_equal(GNI_CQ_GET_TID(e), 0);
	GNI_CQ_CLR_STATUS(e);
	assert_true(GNI_CQ_STATUS_OK(e));
	assert_int_equal(GNI_CQ_GET_TYPE(e), GNI_CQ_EVENT_TYPE_SMSG);
	assert_int_equal(GNI_CQ_GET_MSG_ID(e), 7);
	assert_int_equal(GNI_CQ_GET_SOURCE(e), ARIES_SRC_FMA);
}

TEST_MAIN("short messages under faults")
