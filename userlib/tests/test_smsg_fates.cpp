// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Short messages when nobody can know at once what became of them: lost responses, links that are cut for a while,
 * mailboxes used once more. What a send's event says is true, and messages come once, whole and in order.
 */
#include "aries_hw.h"
#include "talk.hpp"

#include <functional>
#include <thread>

namespace
{

using Clock = std::chrono::steady_clock;

/* Repeats @what until it says so, at most a minute. */
bool soon(const std::function<bool()> &what)
{
	const auto end = Clock::now() + std::chrono::minutes(1);

	while (!what()) {
		if (Clock::now() > end)
			return false;
		std::this_thread::yield();
	}
	return true;
}

bool sends_soon(Side &s, const std::string &what, uint32_t id = 0)
{
	return soon([&] { return s.send(what, "", id) == GNI_RC_SUCCESS; });
}

/* The message has arrived, the answer is lost: with each type, count of credits and size, at each place of the ring. */
MODEL_TEST(lost_response)
{
	for (auto type : {GNI_SMSG_TYPE_MBOX, GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT}) {
		/* A plain mailbox does not repeat the first part of a longer one. */
		const size_t longest = type == GNI_SMSG_TYPE_MBOX ? 1900 : 4000;
		for (uint16_t credits : {1, 2, 3, 16}) {
			Talk t({.credits = credits, .largest = 5000, .type = type});
			for (unsigned i = 0; i < 3U * credits + 20; i++) {
				const bool read_first = i % 2;
				const std::string message = text(i % 5 ? i * 7 : longest, i);
				model::fault(0, "drop-response", i % 3 == 0);
				assert_true(sends_soon(t.a, message, i));
				if (read_first)
					t.b.expect(message);
				t.a.expect_sent(i);
				model::fault(0, "drop-response", 0);
				if (!read_first)
					t.b.expect(message);
				assert_rc(NOT_DONE, t.b.look());
				if (i % 4 == 0) {
					assert_rc(SUCCESS, t.b.send("back", "", i));
					t.b.expect_sent(i);
					t.a.expect("back");
				}
				t.b.drain();
			}
		}
	}
}

/* None of many answers comes; the sender gives up, or not, but never goes past what it does not know. */
MODEL_TEST(many_lost_responses)
{
	for (auto type : {GNI_SMSG_TYPE_MBOX, GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT}) {
		for (uint16_t credits : {2, 16}) {
			Talk t({.credits = credits, .largest = 200, .type = type});
			gni_cq_entry_t e;
			assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(t.a.nic, 3));
			/* The ring has older messages at the places that come next. */
			for (unsigned i = 0; i < 40; i++) {
				assert_true(sends_soon(t.a, "earlier message"));
				t.b.expect("earlier message");
				t.a.drain();
				t.b.drain();
			}
			model::fault(0, "drop-response", 1000);
			assert_rc(SUCCESS, t.a.send(std::string(100, 'A'), "", 1));
			assert_rc(TRANSACTION_ERROR, t.a.outcome(&e));
			assert_int_equal(GNI_CQ_GET_STATUS(e), ARIES_ST_TIMEOUT);
			t.b.expect(std::string(100, 'A'));
			/* Accepted, but not sent before the other one's fate is known. */
			if (credits > 2) {
				assert_rc(SUCCESS, t.a.send("behind", "", 2));
				assert_rc(NOT_DONE, t.a.send("not yet"));
				assert_true(t.a.statistic(GNI_STAT_SMSG_RETRANS_STALL) > 0);
				assert_rc(TRANSACTION_ERROR, t.a.outcome(&e));
				assert_int_equal(GNI_CQ_GET_MSG_ID(e), 2);
				assert_rc(NOT_DONE, t.b.look());
			}
			model::fault(0, "drop-response", 0);
			for (unsigned i = 0; i < 40; i++) {
				assert_true(sends_soon(t.a, text(i, i), 3 + i));
				t.a.expect_sent(3 + i);
				t.b.expect(text(i, i));
				assert_rc(NOT_DONE, t.b.look());
			}
		}
	}
}

/* The credit of a message tells that it has arrived before anybody has asked. */
MODEL_TEST(credit_tells_the_fate)
{
	Talk t({.credits = 2, .largest = 64, .type = GNI_SMSG_TYPE_MBOX});
	gni_cq_entry_t e;

	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(t.a.nic, 1));
	model::fault(0, "drop-response", 3);
	assert_rc(SUCCESS, t.a.send("one", "", 1));
	assert_rc(TRANSACTION_ERROR, t.a.outcome(&e));
	t.b.expect("one");
	assert_rc(SUCCESS, t.b.send("answer"));
	t.a.expect("answer");
	for (unsigned i = 0; i < 10; i++) {
		assert_true(sends_soon(t.a, text(i, i)));
		t.b.expect(text(i, i));
		t.a.drain();
	}
}

/* The receiver looks after events alone, as clients do; the credit it sent while its link was down is lost. */
MODEL_TEST(lost_credit)
{
	for (const char *fault : {"link", "drop", "drop-response"}) {
		Talk t({.credits = 8, .largest = 64});
		const bool link = *fault == 'l';
		for (unsigned i = 0; i < 8; i++)
			assert_rc(SUCCESS, t.a.send("m"));
		t.a.drain();
		model::fault(1, fault, link ? 0 : 1000);
		for (unsigned i = 0; i < 8; i++)
			t.b.expect("m");
		t.b.drain();
		/* A word whose answer alone was lost has arrived. */
		if (strcmp(fault, "drop-response") != 0)
			assert_rc(NOT_DONE, t.a.send("m"));
		model::fault(1, fault, link);
		/* Nobody calls anything for the receiver. */
		assert_true(sends_soon(t.a, "m"));
		t.b.expect("m");
		assert_rc(NOT_DONE, t.b.look());
	}
}

/* Nobody has to ask for it: the very next release tells once more. */
MODEL_TEST(lost_credit_is_told_again)
{
	Talk t({.credits = 8, .largest = 64});
	const auto told = [] { return model::counter(1, ARIES_CNT_FMA_TRAPS); };

	for (unsigned i = 0; i < 8; i++)
		assert_rc(SUCCESS, t.a.send("m"));
	t.a.drain();
	const uint64_t before = told();
	unsigned read = 0;
	model::fault(1, "drop", 1);
	for (; told() == before && read < 8; read++)
		t.b.expect("m");
	assert_true(read < 8);
	assert_rc(NOT_DONE, t.a.send("m"));
	t.b.expect("m");
	for (unsigned i = 0; i <= read; i++)
		assert_rc(SUCCESS, t.a.send("m"));
}

/* A mailbox that does not repeat: what is lost is lost, and its event says so. */
MODEL_TEST(plain_mailbox_does_not_repeat)
{
	Talk t({.credits = 4, .largest = 64, .type = GNI_SMSG_TYPE_MBOX});
	gni_cq_entry_t e;

	for (unsigned i = 0; i < 10; i++) {
		model::fault(0, "drop", 1);
		assert_rc(SUCCESS, t.a.send("lost", "", i));
		assert_rc(TRANSACTION_ERROR, t.a.outcome(&e));
		assert_int_equal(GNI_CQ_GET_MSG_ID(e), i);
		assert_int_equal(GNI_CQ_GET_STATUS(e), ARIES_ST_TIMEOUT);
		assert_rc(NOT_DONE, t.b.look());
		assert_rc(SUCCESS, t.a.send("there", "", i));
		t.a.expect_sent(i);
		t.b.expect("there");
	}
}

/* Behind a message of unknown fate there is room for another one only if there is room for both. */
MODEL_TEST(no_room_behind)
{
	Talk t({.credits = 2, .largest = 64, .type = GNI_SMSG_TYPE_MBOX});
	gni_cq_entry_t e;

	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(t.a.nic, 1));
	assert_rc(SUCCESS, t.a.send("one", "", 1));
	t.a.expect_sent(1);
	model::fault(0, "drop-response", 1000);
	assert_rc(SUCCESS, t.a.send("two", "", 2));
	assert_rc(TRANSACTION_ERROR, t.a.outcome(&e));
	for (unsigned i = 0; i < 20; i++)
		assert_rc(NOT_DONE, t.a.send("three", "", 3));
	model::fault(0, "drop-response", 0);
	t.b.expect("one");
	t.b.expect("two");
	assert_rc(NOT_DONE, t.b.look());
	assert_true(sends_soon(t.a, "three", 3));
	t.b.expect("three");
}

/* Asking costs nothing that counts while the receiver is just slow. */
MODEL_TEST(asks_with_growing_pauses)
{
	Talk t({.credits = 2, .largest = 64});

	for (unsigned i = 0; i < 2; i++)
		assert_rc(SUCCESS, t.a.send("m"));
	const uint64_t before = model::counter(0, ARIES_CNT_FMA_TRAPS);
	const auto begin = Clock::now();
	uint64_t refused = 0;
	while (Clock::now() - begin < std::chrono::milliseconds(200)) {
		assert_rc(NOT_DONE, t.a.send("m"));
		refused++;
	}
	const uint64_t ms = static_cast<uint64_t>(
		std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count());
	const uint64_t asked = model::counter(0, ARIES_CNT_FMA_TRAPS) - before;
	assert_true(asked >= 1);
	/* Pauses of 1, 2, 4 ... 64, 64 ms */
	assert_true(asked <= 8 + ms / 64);
	assert_true(refused > asked);
}

/* The peer's link is cut: repeated with pauses, and there when it is back. */
MODEL_TEST(cut_link)
{
	Talk t;
	gni_cq_entry_t e;

	for (size_t n : {5, 5000}) {
		Talk wide({.credits = 8, .largest = 8192});
		assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(wide.a.nic, 1000));
		model::fault(1, "link", 0);
		assert_rc(SUCCESS, wide.a.send(text(n, 1), "", 9));
		assert_rc(NOT_DONE, wide.a.sent(&e));
		/* The event is kept back: somebody who waits for one shall look again. */
		assert_rc(SUCCESS, GNI_CqTestEvent(wide.a.source));
		uint32_t which = 7;
		assert_rc(SUCCESS, GNI_CqVectorMonitor(&wide.a.source, 1, 60000, &which));
		assert_int_equal(which, 0);
		const uint32_t repeats = wide.a.statistic(GNI_STAT_SMSG_RETRANS_COUNT);
		assert_true(repeats >= 2);
		assert_true(soon([&] {
			assert_rc(NOT_DONE, wide.a.sent(&e));
			return wide.a.statistic(GNI_STAT_SMSG_RETRANS_COUNT) >= repeats + 2;
		}));
		assert_rc(NOT_DONE, wide.a.send("meanwhile"));
		model::fault(1, "link", 1);
		/* Who polls the mailbox for an answer moves it as well. */
		assert_true(soon([&] { return wide.a.look() == GNI_RC_NOT_DONE && wide.b.look() == GNI_RC_SUCCESS; }));
		wide.b.expect(text(n, 1));
		wide.a.expect_sent(9);
		assert_rc(SUCCESS, wide.a.send("next"));
		wide.b.expect("next");
	}
	/* Too long. The connection goes on all the same. */
	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(t.a.nic, 3));
	model::fault(1, "link", 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_rc(SUCCESS, t.a.send("lost", "", i));
		uint32_t which = 0;
		assert_rc(TRANSACTION_ERROR, GNI_CqVectorWaitEvent(&t.a.source, 1, 60000, &e, &which));
		assert_int_equal(GNI_CQ_GET_MSG_ID(e), i);
		assert_int_equal(GNI_CQ_GET_STATUS(e), ARIES_ST_NO_NODE);
	}
	model::fault(1, "link", 1);
	assert_rc(SUCCESS, t.a.send("there"));
	t.b.expect("there");
	assert_rc(NOT_DONE, t.b.look());
	assert_int_equal(t.a.statistic(GNI_STAT_SMSG_RETRANS_COUNT), 9);
}

/* Endpoint, queue and domain end while a message is being repeated. */
MODEL_TEST(ends_meanwhile)
{
	gni_cq_entry_t e;

	for (unsigned way = 0; way < 3; way++) {
		Talk t;
		assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(t.a.nic, 1000));
		model::fault(1, "link", 0);
		assert_rc(SUCCESS, t.a.send("never", "", 4));
		if (way == 1)
			assert_rc(NOT_DONE, t.a.sent(&e));
		assert_rc(NOT_DONE, GNI_EpUnbind(t.a.ep));
		if (way < 2) {
			assert_rc(SUCCESS, GNI_EpDestroy(t.a.ep));
			assert_rc(TRANSACTION_ERROR, t.a.outcome(&e));
			assert_int_equal(GNI_CQ_GET_MSG_ID(e), 4);
		} else {
			assert_rc(SUCCESS, GNI_EpDestroy(t.a.ep));
			assert_rc(SUCCESS, GNI_CqDestroy(t.a.source));
		}
		model::fault(1, "link", 1);
		assert_rc(NOT_DONE, t.b.look());
	}
	{
		/* The event was kept back, and nobody reads it: a queue that is made then has nothing of it. */
		Talk t;
		model::fault(1, "link", 0);
		assert_rc(SUCCESS, t.a.send("never"));
		assert_rc(NOT_DONE, t.a.sent(&e));
		assert_rc(SUCCESS, GNI_EpDestroy(t.a.ep));
		assert_rc(SUCCESS, GNI_CqDestroy(t.a.source));
		assert_rc(SUCCESS, GNI_CqCreate(t.a.nic, 100, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &t.a.source));
		assert_rc(NOT_DONE, t.a.sent(&e));
		model::fault(1, "link", 1);
	}
	Talk t;
	model::fault(1, "link", 0);
	assert_rc(SUCCESS, t.a.send("never"));
	assert_rc(NOT_DONE, t.a.sent(&e));
	assert_rc(SUCCESS, GNI_CdmDestroy(t.a.cdm));
	model::fault(1, "link", 1);
}

/* Nobody has read or cleared the mailboxes; in any order of the two sides. */
MODEL_TEST(reconnected)
{
	for (unsigned order = 0; order < 2; order++) {
		for (unsigned unread = 0; unread <= 4; unread++) {
			Talk t({.credits = 4, .largest = 64});
			for (unsigned round = 0; round < 3; round++) {
				for (unsigned i = 0; i < unread; i++)
					assert_rc(SUCCESS, t.a.send("same"));
				t.a.drain();
				t.b.drain();
				assert_rc(SUCCESS, GNI_EpUnbind(t.a.ep));
				assert_rc(SUCCESS, GNI_EpUnbind(t.b.ep));
				t.a.bind(t.b, 1001);
				t.b.bind(t.a, 1000);
				Side &first = order ? t.a : t.b, &second = order ? t.b : t.a;
				first.init(second);
				second.init(first);
				assert_rc(NOT_DONE, t.b.look());
				assert_rc(NOT_DONE, t.a.look());
				for (unsigned i = 0; i < 10; i++) {
					assert_rc(SUCCESS, t.a.send("same", "", i));
					t.a.expect_sent(i);
					t.b.expect("same");
					assert_rc(NOT_DONE, t.b.look());
					assert_rc(SUCCESS, t.b.send("same", "", i));
					t.b.expect_sent(i);
					t.a.expect("same");
				}
			}
		}
	}
}

/* The receiver looks before the other side has connected anew: it sees the old messages, and all of the new ones. */
MODEL_TEST(looks_too_early)
{
	for (unsigned unread = 1; unread <= 4; unread++) {
		Talk t({.credits = 4, .largest = 64});
		for (unsigned i = 0; i < unread; i++)
			assert_rc(SUCCESS, t.a.send("old"));
		t.a.drain();
		assert_rc(SUCCESS, GNI_EpUnbind(t.b.ep));
		t.b.bind(t.a, 1000);
		t.b.init(t.a);
		for (unsigned i = 0; i < unread; i++)
			t.b.expect("old");
		assert_rc(SUCCESS, GNI_EpUnbind(t.a.ep));
		t.a.bind(t.b, 1001);
		t.a.init(t.b);
		for (unsigned i = 0; i < 10; i++) {
			assert_rc(SUCCESS, t.a.send("new"));
			t.b.expect("new");
			assert_rc(SUCCESS, t.b.send("answer"));
			t.a.expect("answer");
		}
	}
}

/*
 * One side connects anew while the other one goes on in the earlier connection: sends, reads, gives credits. Nothing of
 * that disturbs the new connection, whatever slot it comes to.
 */
MODEL_TEST(goes_on_meanwhile)
{
	for (unsigned before = 0; before < 6; before++) {
		for (unsigned late = 0; late <= 4; late++) {
			for (const bool unread : {false, true}) {
				Talk t({.credits = 4, .largest = 64});
				for (unsigned i = 0; i < before; i++) {
					assert_rc(SUCCESS, t.a.send("old"));
					t.b.expect("old");
				}
				/* Credits for these come late. */
				for (unsigned i = 0; i < 4; i++)
					assert_rc(SUCCESS, t.b.send("old"));
				t.a.drain();
				t.b.drain();
				assert_rc(SUCCESS, GNI_EpUnbind(t.b.ep));
				t.b.bind(t.a, 1000);
				t.b.init(t.a);
				for (unsigned i = 0; i < late && t.a.send("late") == GNI_RC_SUCCESS; i++)
					;
				for (unsigned i = 0; i < 4; i++)
					t.a.expect("old");
				t.a.drain();
				/* What is the earlier connection's first message, too, cannot be told from one. */
				gni_return_t seen = before ? t.b.look() : GNI_RC_NOT_DONE;
				assert_int_equal(seen, GNI_RC_NOT_DONE);
				if (unread)
					assert_rc(SUCCESS, t.b.send("early"));
				t.b.drain();
				assert_rc(SUCCESS, GNI_EpUnbind(t.a.ep));
				t.a.bind(t.b, 1001);
				t.a.init(t.b);
				if (unread)
					t.a.expect("early");
				for (unsigned i = 0; i < 20; i++) {
					assert_rc(SUCCESS, t.a.send(text(8, i)));
					t.b.expect(text(8, i));
					assert_rc(SUCCESS, t.b.send(text(8, i)));
					t.a.expect(text(8, i));
					t.a.drain();
					t.b.drain();
				}
			}
		}
	}
}

/* Words of one slot differ from turn to turn whatever their check is: equal ones would be one message less. */
MODEL_TEST(headers_take_turns)
{
	for (uint16_t credits : {1, 2, 3, 16}) {
		Talk t({.credits = credits, .largest = 64});
		std::vector<uint64_t> before(credits, uint64_t{1} << 24);
		for (unsigned i = 0; i < 5U * credits; i++) {
			assert_rc(SUCCESS, t.a.send("same"));
			const uint64_t word = reinterpret_cast<const uint64_t *>(t.b.bytes + 64)[i % credits];
			assert_int_equal((word ^ before[i % credits]) >> 24 & 1, 1);
			before[i % credits] = word;
			t.b.expect("same");
			t.a.drain();
			t.b.drain();
		}
	}
}

/* Messages that were there first, from a peer that cannot be asked for a while. */
MODEL_TEST(early_and_cut_off)
{
	Talk t({.credits = 4, .largest = 64});

	/* Another connection before, or nobody would be asked. */
	assert_rc(SUCCESS, GNI_EpUnbind(t.a.ep));
	assert_rc(SUCCESS, GNI_EpUnbind(t.b.ep));
	t.a.bind(t.b, 1001);
	t.b.bind(t.a, 1000);
	t.a.init(t.b);
	for (unsigned i = 0; i < 3; i++)
		assert_rc(SUCCESS, t.a.send(text(8, i)));
	t.b.init(t.a);
	model::fault(0, "link", 0);
	for (unsigned i = 0; i < 200; i++)
		assert_rc(NOT_DONE, t.b.look());
	model::fault(0, "link", 1);
	assert_true(soon([&] { return t.b.look() == GNI_RC_SUCCESS; }));
	for (unsigned i = 0; i < 3; i++)
		t.b.expect(text(8, i));
	assert_rc(NOT_DONE, t.b.look());
}

/* A mailbox that is registered without a queue takes messages; its owner polls. */
MODEL_TEST(mailbox_without_a_queue)
{
	Talk t({.credits = 4, .largest = 5000}, false);
	gni_cq_entry_t e;
	gni_mem_handle_t h = {};

	assert_rc(SUCCESS, GNI_MemRegister(t.b.nic, t.b.at(0), t.b.size, nullptr, 0, ~0U, &h));
	t.b.attr.mem_hndl = h;
	t.a.init(t.b);
	t.b.init(t.a);
	for (unsigned i = 0; i < 20; i++) {
		const std::string message = text(i % 2 ? i : 4000, i);
		assert_rc(SUCCESS, t.a.send(message, "", i));
		t.a.expect_sent(i);
		t.b.expect(message);
		assert_rc(NOT_DONE, GNI_CqGetEvent(t.b.remote, &e));
		assert_rc(SUCCESS, t.b.send("back", "", i));
		t.b.expect_sent(i);
		t.a.expect("back");
	}
	assert_int_equal(t.a.statistic(GNI_STAT_SMSG_RETRANS_COUNT), 0);
}

MODEL_TEST(aligned_to_16)
{
	for (uint32_t skew : {0, 5, 64}) {
		Talk t({.credits = 4, .largest = 300, .skew = skew});
		for (unsigned i = 0; i < 40; i++) {
			void *p = nullptr;
			assert_rc(SUCCESS, t.a.send(text(i * 7, i)));
			assert_rc(SUCCESS, GNI_SmsgGetNext(t.b.ep, &p));
			assert_int_equal(reinterpret_cast<uintptr_t>(p) % 16, 0);
			assert_rc(SUCCESS, GNI_SmsgRelease(t.b.ep));
			t.a.drain();
		}
	}
}

} // namespace

TEST_MAIN("fates of short messages")
