// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Short messages where completions are held, as on the way to another host: that one was lost is known when others may
 * have been sent behind it. Each comes, once, whole and in order, or its event tells that it does not.
 */
#include "aries_hw.h"
#include "talk.hpp"

#include <random>
#include <thread>

namespace
{

/** A connection over a network that holds completions; the limits of repeats are those of the interface. */
struct Held : Talk {
	explicit Held(const Shape &shape = {}) : Talk(shape) { model::hold(true); }
	~Held()
	{
		model::fault(0, "drop", 0);
		model::fault(1, "drop", 0);
		model::hold(false);
	}
	Held(const Held &) = delete;
	Held &operator=(const Held &) = delete;
};

void a_moment()
{
	std::this_thread::sleep_for(std::chrono::microseconds(200));
}

/* A credit is on its way for a moment, too. */
void send_with_credit(Side &s, const std::string &message, uint32_t msg_id)
{
	gni_return_t rc;

	while ((rc = s.send(message, "", msg_id)) == GNI_RC_NOT_DONE)
		a_moment();
	assert_int_equal(rc, GNI_RC_SUCCESS);
}

void expect_failed(const Side &s, uint32_t msg_id)
{
	gni_cq_entry_t e;

	assert_rc(TRANSACTION_ERROR, s.outcome(&e));
	assert_int_equal(GNI_CQ_GET_MSG_ID(e), msg_id);
	assert_int_equal(GNI_CQ_GET_INST_ID(e), 1001);
	assert_int_equal(GNI_CQ_GET_STATUS(e), ARIES_ST_TIMEOUT);
}

} // namespace

static void repeated_until_it_arrives(void **)
{
	Held t({.credits = 8, .largest = 8192});

	for (const char *fault : {"drop", "corrupt", "drop-response"}) {
		for (size_t n : {8, 2032, 8000}) {
			for (uint64_t lost : {1, 3}) {
				model::fault(0, fault, lost);
				assert_rc(SUCCESS, t.a.send(text(n, 3), "", 0x12345678, 17));
				t.a.expect_sent(0x12345678);
				t.b.expect(text(n, 3), 17);
				assert_rc(NOT_DONE, t.b.look());
			}
		}
	}
	assert_true(t.a.statistic(GNI_STAT_SMSG_RETRANS_COUNT) > 0);
	gni_cq_entry_t e;
	assert_rc(NOT_DONE, t.a.sent(&e));
	model::hold(false);
	assert_rc(SUCCESS, GNI_EpUnbind(t.a.ep));
}

/* Those behind it are there already: it comes into its own slot, in front of them. */
static void among_others(void **)
{
	Held t;

	for (unsigned round = 0; round < 6; round++) {
		model::fault(0, "drop", 1 + round / 2);
		for (unsigned n = 0; n < 4; n++)
			assert_rc(SUCCESS, t.a.send(text(100 + n, n), "", n));
		gni_cq_entry_t e;
		unsigned seen = 0;
		for (unsigned n = 0; n < 4; n++) {
			assert_rc(SUCCESS, t.a.outcome(&e));
			seen |= 1U << GNI_CQ_GET_MSG_ID(e);
		}
		assert_int_equal(seen, 0xf);
		for (unsigned n = 0; n < 4; n++)
			t.b.expect(text(100 + n, n));
		assert_rc(NOT_DONE, t.b.look());
	}
}

/* The last message leaves no hole. Behind one that stays away nothing would be found: no more is taken. */
static void in_vain(void **)
{
	for (unsigned behind : {0, 1, 2}) {
		Held t;

		assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(t.a.nic, 2));
		model::fault(0, "drop", 100000);
		for (unsigned n = 0; n <= behind; n++)
			assert_rc(SUCCESS, t.a.send("lost", "", n));
		gni_cq_entry_t e;
		for (unsigned n = 0; n <= behind; n++)
			assert_rc(TRANSACTION_ERROR, t.a.outcome(&e));
		assert_rc(NOT_DONE, t.a.sent(&e));
		model::fault(0, "drop", 0);
		assert_rc(NOT_DONE, t.b.look());
		if (behind) {
			assert_rc(INVALID_PARAM, t.a.send("more", "", 9));
			continue;
		}
		for (unsigned n = 0; n < 20; n++) {
			send_with_credit(t.a, text(500, n), n);
			t.a.expect_sent(n);
			t.b.expect(text(500, n));
		}
	}
}

static void plain_mailbox(void **)
{
	Held t({.credits = 8, .largest = 5000, .type = GNI_SMSG_TYPE_MBOX});

	for (size_t n : {8, 5000}) {
		model::fault(0, "drop-response", 1);
		assert_rc(SUCCESS, t.a.send(text(n, 1), "", 77));
		t.a.expect_sent(77);
		t.b.expect(text(n, 1));
		model::fault(0, "drop", 1);
		assert_rc(SUCCESS, t.a.send(text(n, 2), "", 78));
		expect_failed(t.a, 78);
		assert_rc(NOT_DONE, t.b.look());
		assert_rc(SUCCESS, t.a.send(text(n, 3), "", 79));
		t.a.expect_sent(79);
		t.b.expect(text(n, 3));
	}
}

/** Mailboxes that have been used, by a connection that is over. */
struct Used : Talk {
	Used() : Talk({.credits = 4, .largest = 64})
	{
		assert_rc(SUCCESS, GNI_EpUnbind(a.ep));
		assert_rc(SUCCESS, GNI_EpUnbind(b.ep));
		a.bind(b, 1001);
		b.bind(a, 1000);
	}
};

/* What is there when a connection begins is the peer's, where there was none before: no question is needed. */
static void early_in_new_memory(void **)
{
	Talk t({.credits = 4, .largest = 64}, false);

	t.a.init(t.b);
	for (unsigned i = 0; i < 3; i++)
		assert_rc(SUCCESS, t.a.send(text(8, i)));
	t.b.init(t.a);
	model::fault(1, "drop", 1U << 30);
	for (unsigned i = 0; i < 3; i++)
		t.b.expect(text(8, i));
	assert_rc(NOT_DONE, t.b.look());
	model::fault(1, "drop", 0);
}

/* Else it may be of the earlier one. The peer is asked, and answers get lost; but clients look once. */
static void early_and_asked_in_vain(void **)
{
	for (const bool held : {false, true}) {
		Used t;

		t.a.init(t.b);
		for (unsigned i = 0; i < 3; i++)
			assert_rc(SUCCESS, t.a.send(text(8, i)));
		for (unsigned i = 0; i < 3; i++)
			t.a.expect_sent(0);
		t.b.init(t.a);
		model::hold(held);
		model::fault(1, "drop", 5);
		for (unsigned i = 0; i < 3; i++)
			t.b.expect(text(8, i));
		assert_rc(NOT_DONE, t.b.look());
		model::hold(false);
	}
}

/* Nor does it wait for ever for a peer that does not answer at all. */
static void early_and_silent(void **)
{
	Used t;

	t.a.init(t.b);
	assert_rc(SUCCESS, t.a.send("early"));
	t.b.init(t.a);
	model::fault(1, "drop", 1U << 30);
	for (unsigned i = 0; i < 200; i++)
		assert_rc(NOT_DONE, t.b.look());
	model::fault(1, "drop", 0);
	for (unsigned i = 0; i < 100 && t.b.look() != GNI_RC_SUCCESS; i++)
		;
	t.b.expect("early");
}

/* No event tells of a credit word that is lost. Who has no room asks. */
static void credits_lost(void **)
{
	Held t({.credits = 4, .largest = 64});

	for (unsigned n = 0; n < 40; n++) {
		send_with_credit(t.a, text(40, n), n);
		t.a.expect_sent(n);
		model::fault(1, "drop", 1);
		t.b.expect(text(40, n));
		model::fault(1, "drop", 0);
	}
}

/* The end of an endpoint, and of a domain, with messages on their way, lost, and repeated. */
static void ends_with_messages_under_way(void **)
{
	model::hold(true);
	for (unsigned way = 0; way < 4; way++) {
		Talk t;
		gni_cq_entry_t e;

		model::fault(0, "drop", way & 1 ? 100000 : 2);
		for (unsigned n = 0; n < 4; n++)
			assert_rc(SUCCESS, t.a.send("under way", "", n));
		if (way & 1) {
			std::this_thread::sleep_for(std::chrono::milliseconds(30));
			(void)t.a.sent(&e);
		}
		if (way & 2) {
			assert_rc(SUCCESS, GNI_EpDestroy(t.a.ep));
			for (unsigned n = 0; n < 4; n++)
				(void)t.a.outcome(&e);
			assert_rc(NOT_DONE, t.a.sent(&e));
		}
	}
	model::fault(0, "drop", 0);
	model::hold(false);
}

namespace
{

struct Direction {
	Side &from, &to;
	uint32_t sent = 0, ended = 0, received = 0;

	void step(std::mt19937 &random, uint32_t most)
	{
		if (sent < most && random() % 2 && from.send(text(size(sent), sent), "", sent) == GNI_RC_SUCCESS)
			sent++;
		gni_cq_entry_t e;
		gni_return_t rc;
		while ((rc = from.sent(&e)) != GNI_RC_NOT_DONE) {
			assert_int_equal(rc, GNI_RC_SUCCESS);
			ended++;
		}
		(void)GNI_CqGetEvent(to.remote, &e);
		if (to.look() == GNI_RC_SUCCESS) {
			to.expect(text(size(received), received));
			received++;
		}
	}
	static size_t size(uint32_t n) { return n % 7 ? 8 + n % 50 : 3000; }
};

} // namespace

static void both_ways(void **)
{
	Held t({.credits = 8, .largest = 4096});
	std::mt19937 random{1};
	Direction ways[] = {{t.a, t.b}, {t.b, t.a}};
	constexpr uint32_t kMost = 300;

	for (uint32_t n = 0;
	     ways[0].ended < kMost || ways[1].ended < kMost || ways[0].received < kMost || ways[1].received < kMost;
	     n++) {
		if (n % 40 == 0 && (ways[0].sent < kMost || ways[1].sent < kMost))
			model::fault(random() % 2, random() % 2 ? "drop" : "drop-response", 1);
		for (Direction &way : ways)
			way.step(random, kMost);
		a_moment();
	}
	assert_true(t.a.statistic(GNI_STAT_SMSG_RETRANS_COUNT) > 0);
}

int main()
{
	const CMUnitTest tests[] = {
		model_test(repeated_until_it_arrives),
		model_test(among_others),
		model_test(in_vain),
		model_test(plain_mailbox),
		model_test(credits_lost),
		model_test(early_in_new_memory),
		model_test(early_and_asked_in_vain),
		model_test(early_and_silent),
		model_test(ends_with_messages_under_way),
		model_test(both_ways),
	};
	return cmocka_run_group_tests_name("short messages that are lost late", tests, nullptr, nullptr);
}
