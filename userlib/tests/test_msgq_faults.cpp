// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Message queues over the device model when things go wrong: losses, repetitions, damage, death. */
#include "gni_memhandle.h"
#include "msgq_rank.hpp"

#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

namespace
{

using Clock = std::chrono::steady_clock;

void expect_failed(MsgqRank &r, uint32_t msg_id, uint32_t status, const char *name)
{
	gni_cq_entry_t e = 0;
	char text[32];

	assert_rc(TRANSACTION_ERROR, r.outcome(&e));
	assert_int_equal(GNI_CQ_GET_TYPE(e), GNI_CQ_EVENT_TYPE_MSGQ);
	assert_int_equal(GNI_CQ_GET_MSG_ID(e), msg_id);
	assert_int_equal(GNI_CQ_GET_STATUS(e), status);
	assert_rc(SUCCESS, GNI_CqErrorStr(e, text, sizeof(text)));
	assert_string_equal(text, name);
}

uint32_t statistic(const MsgqRank &r, gni_statistic_t which)
{
	uint32_t value = 0;

	assert_rc(SUCCESS, GNI_GetNicStat(r.nic, which, &value));
	return value;
}

MODEL_TEST(repeated_until_it_arrives)
{
	MsgqPair p(4);
	uint32_t repeated = 0;

	for (const char *fault : {"drop", "corrupt"}) {
		for (unsigned i = 0; i < 20; i++) {
			model::fault(0, fault, i % 4);
			repeated += i % 4;
			p.a.send_ok(p.b, "all the same", i);
			assert_rc(SUCCESS, p.b.progress());
			p.b.expect(p.a, "all the same");
			assert_true(p.b.heard.empty());
		}
	}
	assert_int_equal(statistic(p.a, GNI_STAT_SMSG_RETRANS_COUNT), repeated);
}

MODEL_TEST(packets_that_come_twice)
{
	MsgqPair p(4);

	for (unsigned i = 0; i < 30; i++) {
		model::fault(0, "duplicate", 1);
		p.a.send_ok(p.b, std::to_string(i), i);
		model::fault(1, "duplicate", 2);
		assert_rc(SUCCESS, p.b.progress());
		p.b.expect(p.a, std::to_string(i));
		assert_true(p.b.heard.empty());
	}
}

/* Damage is known to its receiver: the slot is free again. */
MODEL_TEST(not_repeated)
{
	MsgqPair p(4);

	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(p.a.nic, 0));
	for (unsigned i = 0; i < 20; i++) {
		model::fault(0, "corrupt", 1);
		assert_rc(SUCCESS, p.a.send(p.b, "lost", i));
		expect_failed(p.a, i, ARIES_ST_CRC, "MSGQ:PACKET_DAMAGED");
		model::fault(0, "corrupt", 0);
		p.a.send_ok(p.b, "arrives", i);
		assert_rc(SUCCESS, p.b.progress());
		p.b.expect(p.a, "arrives");
		assert_true(p.b.heard.empty());
	}
	assert_int_equal(statistic(p.a, GNI_STAT_SMSG_RETRANS_COUNT), 0);
}

/* A message of which nobody knows keeps its slot; with the last one the connection is at its end. */
MODEL_TEST(fate_unknown)
{
	MsgqPair p(4);

	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(p.a.nic, 0));
	for (unsigned i = 0; i < 3; i++) {
		model::fault(0, "drop", 1);
		assert_rc(SUCCESS, p.a.send(p.b, "lost", i));
		expect_failed(p.a, i, ARIES_ST_TIMEOUT, "MSGQ:TIMEOUT");
	}
	p.a.send_ok(p.b, "arrives");
	assert_rc(NOT_DONE, p.a.send(p.b, "no slot"));
	assert_rc(SUCCESS, p.b.progress());
	p.b.expect(p.a, "arrives");
	/* One of four is less than half: the credit does not come back before the next message. */
	model::fault(0, "drop", 0);
	assert_rc(NOT_DONE, p.a.send(p.b, "no slot"));
	assert_rc(SUCCESS, GNI_MsgqConnRelease(p.a.q, p.b.address));
	assert_rc(SUCCESS, GNI_MsgqConnRelease(p.b.q, p.a.address));
	msgq_connect(p.a, p.b);
	model::fault(0, "drop", 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_rc(SUCCESS, p.a.send(p.b, "lost", i));
		expect_failed(p.a, i, ARIES_ST_TIMEOUT, "MSGQ:TIMEOUT");
	}
	assert_rc(INVALID_STATE, p.a.send(p.b, "never"));
	assert_rc(SUCCESS, GNI_MsgqConnRelease(p.a.q, p.b.address));
	assert_rc(SUCCESS, GNI_MsgqConnRelease(p.b.q, p.a.address));
	msgq_connect(p.a, p.b);
	p.a.send_ok(p.b, "again");
	assert_rc(SUCCESS, p.b.progress());
	p.b.expect(p.a, "again");
}

/* Credits that are lost are sent again by later looks: the sender does not hang. */
MODEL_TEST(lost_credits)
{
	MsgqPair p(4);

	unsigned left = 4;

	for (unsigned round = 0; round < 5; round++) {
		for (unsigned i = 0; i < left; i++)
			p.a.send_ok(p.b, "m");
		assert_rc(NOT_DONE, p.a.send(p.b, "m"));
		model::fault(1, "drop", 1000);
		assert_rc(SUCCESS, p.b.progress());
		assert_int_equal(p.b.heard.size(), 4);
		p.b.heard.clear();
		assert_rc(NOT_DONE, p.a.send(p.b, "m"));
		for (unsigned i = 0; i < 20; i++)
			assert_rc(SUCCESS, p.b.progress());
		assert_rc(NOT_DONE, p.a.send(p.b, "m"));
		/* Not with every look. */
		const uint64_t traps = model::counter(1, ARIES_CNT_FMA_TRAPS);
		const auto begin = Clock::now();
		for (unsigned i = 0; i < 3000; i++)
			assert_rc(SUCCESS, p.b.progress());
		const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
		assert_true(model::counter(1, ARIES_CNT_FMA_TRAPS) - traps <= 8 + static_cast<uint64_t>(ms) / 64);
		model::fault(1, "drop", 0);
		while (p.a.send(p.b, "m") != GNI_RC_SUCCESS) {
			assert_true(Clock::now() - begin < std::chrono::minutes(1));
			assert_rc(SUCCESS, p.b.progress());
		}
		p.a.expect_sent(0);
		left = 3;
	}
}

/* While credits are due a wait looks after them. */
MODEL_TEST(lost_credits_and_a_wait)
{
	MsgqPair p(1);

	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(p.b.nic, 0));
	p.a.send_ok(p.b, "m");
	model::fault(1, "drop", 1);
	assert_rc(SUCCESS, p.b.progress(30));
	p.a.send_ok(p.b, "m");
}

/* So does one that is long: nobody else would. */
MODEL_TEST(lost_credits_and_a_long_wait)
{
	MsgqPair p(1);

	p.a.send_ok(p.b, "first");
	model::fault(1, "drop", 4);
	assert_rc(SUCCESS, p.b.progress());
	p.b.expect(p.a, "first");
	p.b.answer = 0;
	std::thread waiter([&] { (void)p.b.progress(600000); });
	const auto begin = Clock::now();
	gni_return_t rc;
	while ((rc = p.a.send(p.b, "second")) == GNI_RC_NOT_DONE && Clock::now() - begin < std::chrono::minutes(1))
		std::this_thread::yield();
	if (rc != GNI_RC_SUCCESS)
		_exit(1); /* the other thread waits for long */
	waiter.join();
	p.a.expect_sent(0);
	p.b.expect(p.a, "second");
}

/* The answer is lost, the message is not: it comes once, and its send is a success. */
MODEL_TEST(lost_responses)
{
	MsgqPair p(4);

	for (unsigned i = 0; i < 40; i++) {
		model::fault(0, "drop-response", 1 + i % 3);
		assert_rc(SUCCESS, p.a.send(p.b, std::to_string(i), i));
		if (i % 2)
			assert_rc(SUCCESS, p.b.progress());
		p.a.expect_sent(i);
		assert_rc(SUCCESS, p.b.progress());
		p.b.expect(p.a, std::to_string(i));
		assert_true(p.b.heard.empty());
		model::fault(0, "drop-response", 0);
	}
}

/* The slot is read, and tells that the message is there: it is not put again, nor is another's in its place. */
MODEL_TEST(arrived_is_not_repeated)
{
	MsgqPair p(4);
	uint64_t packets = 0;

	for (unsigned i = 0; i < 20; i++) {
		const uint64_t before = model::counter(0, ARIES_CNT_FMA_PUTS);
		model::fault(0, "drop-response", i ? 1 + i % 2 : 0);
		p.a.send_ok(p.b, "once", i);
		const uint64_t put = model::counter(0, ARIES_CNT_FMA_PUTS) - before;
		if (i == 0)
			packets = put;
		assert_int_equal(put, packets);
		assert_rc(SUCCESS, p.b.progress());
		p.b.expect(p.a, "once");
		assert_true(p.b.heard.empty());
	}
}

/* While its fate is open the connection is ended and made anew: it is not put into the new one. */
MODEL_TEST(connection_ends_meanwhile)
{
	gni_msgq_attr_t two = msgq_attrs(2, 4);
	MsgqRank a0(0, 10, two), a1(0, 11, two), b(1, 20, msgq_attrs(1, 4));
	gni_cq_entry_t e;

	msgq_connect(a1, b);
	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(a0.nic, 1000));
	for (unsigned i = 0; i < 5; i++) {
		model::fault(0, "drop", 3);
		assert_rc(SUCCESS, a0.send(b, "old", i));
		assert_rc(SUCCESS, GNI_MsgqConnRelease(a1.q, b.address));
		assert_rc(SUCCESS, GNI_MsgqConnRelease(b.q, a1.address));
		msgq_connect(a1, b);
		model::fault(0, "drop", 0);
		assert_rc(TRANSACTION_ERROR, a0.outcome(&e));
		assert_int_equal(GNI_CQ_GET_MSG_ID(e), i);
		for (unsigned j = 0; j < 9; j++) {
			a1.send_ok(b, "new", j);
			assert_rc(SUCCESS, b.progress());
			b.expect(a1, "new");
			assert_true(b.heard.empty());
		}
	}
}

/* What is refused for certain gives its slot back; a message of unknown fate that is read after all, too. */
MODEL_TEST(slots_come_back)
{
	MsgqPair p(2);
	gni_cq_entry_t e;

	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(p.a.nic, 0));
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 2; i++) {
			model::fault(0, "drop-response", 1);
			assert_rc(SUCCESS, p.a.send(p.b, "unknown", i));
			assert_rc(TRANSACTION_ERROR, p.a.outcome(&e));
		}
		assert_rc(INVALID_STATE, p.a.send(p.b, "no slot"));
		assert_rc(SUCCESS, p.b.progress());
		for (unsigned i = 0; i < 2; i++)
			p.b.expect(p.a, "unknown");
		/* Their fate is known: there is hope once more. */
		for (unsigned i = 0; i < 2; i++)
			p.a.send_ok(p.b, "there", i);
		assert_rc(NOT_DONE, p.a.send(p.b, "no slot"));
		assert_rc(SUCCESS, p.b.progress());
		for (unsigned i = 0; i < 2; i++)
			p.b.expect(p.a, "there");
	}
}

/*
 * The message has arrived and was read, and other instances of the node have used its slot since, twice: it is not put
 * again, on top of theirs.
 */
MODEL_TEST(slot_goes_round_meanwhile)
{
	for (unsigned times = 1; times <= 4; times++) {
		gni_msgq_attr_t two = msgq_attrs(2, 1);
		MsgqRank a0(0, 10, two), a1(0, 11, two), b(1, 20, msgq_attrs(1, 1));
		msgq_connect(a0, b);
		assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(a0.nic, 1000));
		/* Of the message, and of the looks that come at once. */
		model::fault(0, "drop-response", 3);
		assert_rc(SUCCESS, a0.send(b, "first", 1));
		assert_rc(SUCCESS, b.progress());
		b.expect(a0, "first");
		for (unsigned i = 0; i < times; i++) {
			a1.send_ok(b, std::to_string(i));
			if (i + 1 == times)
				a0.expect_sent(1);
			assert_rc(SUCCESS, b.progress());
			b.expect(a1, std::to_string(i));
			assert_true(b.heard.empty());
		}
	}
}

/* A link is cut for a while. What is sent meanwhile waits, and the order stays. */
MODEL_TEST(cut_link)
{
	MsgqPair p(8);
	const auto begin = Clock::now();

	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(p.a.nic, 1000));
	for (unsigned round = 0; round < 5; round++) {
		gni_cq_entry_t e;
		model::fault(1, "link", 0);
		assert_rc(SUCCESS, p.a.send(p.b, "first", 1));
		assert_rc(NOT_DONE, p.a.sent(&e));
		assert_rc(NOT_DONE, p.a.send(p.b, "second", 2));
		assert_true(statistic(p.a, GNI_STAT_SMSG_RETRANS_STALL) > 0);
		assert_rc(NOT_DONE, GNI_MsgqRelease(p.a.q));
		model::fault(1, "link", 1);
		/* Who waits for an answer moves it. */
		while (p.b.heard.empty()) {
			assert_true(Clock::now() - begin < std::chrono::minutes(1));
			assert_rc(SUCCESS, p.a.progress());
			assert_rc(SUCCESS, p.b.progress());
		}
		p.a.expect_sent(1);
		p.a.send_ok(p.b, "second", 2);
		assert_rc(SUCCESS, p.b.progress());
		p.b.expect(p.a, "first");
		p.b.expect(p.a, "second");
		assert_true(p.b.heard.empty());
	}
	/* Too long: a failure, no hole. */
	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(p.a.nic, 3));
	model::fault(1, "link", 0);
	for (unsigned i = 0; i < 10; i++) {
		assert_rc(SUCCESS, p.a.send(p.b, "lost", i));
		expect_failed(p.a, i, ARIES_ST_NO_NODE, "MSGQ:NO_NODE");
	}
	model::fault(1, "link", 1);
	p.a.send_ok(p.b, "there");
	assert_rc(SUCCESS, p.b.progress());
	p.b.expect(p.a, "there");
}

/* A queue that cannot block is looked at until the time is over, or a message has come. */
MODEL_TEST(waits_without_the_mode)
{
	gni_msgq_attr_t attrs = msgq_attrs();

	attrs.modes = 0;
	MsgqRank a(0, 10, attrs), b(1, 20, attrs);
	msgq_connect(a, b);
	const auto begin = Clock::now();
	assert_rc(SUCCESS, b.progress(50));
	assert_true(Clock::now() - begin >= std::chrono::milliseconds(49));
	b.answer = 0;
	std::thread sender([&] {
		std::this_thread::sleep_for(std::chrono::milliseconds(20));
		(void)a.send(b, "here");
	});
	assert_rc(SUCCESS, b.progress(60000));
	sender.join();
	assert_true(Clock::now() - begin < std::chrono::seconds(50));
	b.expect(a, "here");
}

/* Two threads release, or make, the same queue; a third one's files stay its own. */
MODEL_TEST(two_threads_end_it)
{
	for (unsigned round = 0; round < 20; round++) {
		Rank r(0, 5, 4096);
		gni_msgq_handle_t q[2] = {};
		gni_return_t made[2], ended[2];
		std::atomic<int> ready{0};
		std::atomic<bool> end{false};
		std::atomic<unsigned> lost{0};
		auto both = [&](auto what) {
			ready = 0;
			auto body = [&](unsigned n) {
				ready++;
				while (ready < 2)
					std::this_thread::yield();
				what(n);
			};
			std::thread one(body, 0), two(body, 1);
			one.join();
			two.join();
		};
		std::thread other([&] {
			while (!end) {
				const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
				std::this_thread::yield();
				lost += write(fd, "x", 1) != 1;
				lost += close(fd) != 0;
			}
		});
		gni_msgq_attr_t attrs[2] = {msgq_attrs(), msgq_attrs()};
		both([&](unsigned n) {
			made[n] = GNI_MsgqInit(
				r.nic, [](uint32_t, uint32_t, void *, uint8_t, void *) { return 1; }, nullptr, r.source,
				&attrs[n], &q[n]);
		});
		assert_int_equal((made[0] == GNI_RC_SUCCESS) + (made[1] == GNI_RC_SUCCESS), 1);
		assert_int_equal(made[made[0] == GNI_RC_SUCCESS], GNI_RC_INVALID_STATE);
		both([&](unsigned n) { ended[n] = GNI_MsgqRelease(q[made[1] == GNI_RC_SUCCESS]); });
		end = true;
		other.join();
		assert_int_equal((ended[0] == GNI_RC_SUCCESS) + (ended[1] == GNI_RC_SUCCESS), 1);
		assert_int_equal(lost, 0);
		assert_rc(SUCCESS, GNI_EpDestroy(r.ep));
		assert_rc(SUCCESS, GNI_CqDestroy(r.source));
	}
}

MODEL_TEST(dead_peer)
{
	MsgqPair p(4);
	gni_return_t rc;
	unsigned failed = 0;

	p.b.send_ok(p.a, "last words");
	p.a.send_ok(p.b, "nobody reads this");
	model::kill(1);
	while ((rc = p.a.send(p.b, "anybody?", failed)) == GNI_RC_SUCCESS) {
		gni_cq_entry_t e = 0;
		assert_rc(TRANSACTION_ERROR, p.a.outcome(&e));
		assert_int_equal(GNI_CQ_GET_MSG_ID(e), failed);
		assert_int_equal(GNI_CQ_GET_INST_ID(e), p.b.id);
		if (++failed == 20)
			break;
	}
	assert_true(failed >= 3);
	assert_true(failed == 20 || rc == GNI_RC_NOT_DONE);
	assert_rc(SUCCESS, p.a.progress());
	p.a.expect(p.b, "last words");
	for (unsigned i = 0; i < 50; i++)
		assert_rc(SUCCESS, p.a.progress());
	assert_rc(SUCCESS, GNI_MsgqIdle(p.a.q));
	assert_rc(SUCCESS, GNI_MsgqConnRelease(p.a.q, p.b.address));
	assert_rc(SUCCESS, GNI_MsgqRelease(p.a.q));
}

/* The instance has left, its node is there: an answer, and no slot is lost. */
MODEL_TEST(peer_has_left)
{
	gni_msgq_attr_t two = msgq_attrs(2);
	MsgqRank a(0, 10, msgq_attrs()), b0(1, 20, two), b1(1, 21, two);

	msgq_connect(a, b0);
	assert_rc(SUCCESS, GNI_MsgqRelease(b1.q));
	for (unsigned i = 0; i < 20; i++) {
		assert_rc(SUCCESS, a.send(b1, "gone", i));
		expect_failed(a, i, ARIES_ST_MDD, "MSGQ:MDD_INVALID");
		a.send_ok(b0, "there");
		assert_rc(SUCCESS, b0.progress());
		b0.expect(a, "there");
	}
}

/* Somebody of the same domain writes where it must not. */
struct Vandal : Rank {
	gni_msgq_ep_attr_t record;

	Vandal(const MsgqRank &of, const gni_msgq_ep_attr_t &record_) : Rank(of.address, 666, 4096), record(record_)
	{
		assert_rc(SUCCESS, GNI_EpBind(ep, of.address, of.id));
	}

	void write(uint64_t offset, uint64_t value)
	{
		memcpy(bytes, &value, sizeof(value));
		gni_post_descriptor_t d = {};
		d.type = GNI_POST_FMA_PUT;
		d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
		d.local_addr = at(0);
		d.remote_addr = offset;
		d.remote_mem_hndl = record.insts[0].mdh;
		d.length = sizeof(value);
		assert_int_equal(run(&d), 0);
	}
};

/* Header, number, sender: each is covered by the check. The other message is not touched. */
MODEL_TEST(damaged_messages)
{
	for (unsigned word = 0; word < 3; word++) {
		MsgqPair p(4, 64, false);
		gni_msgq_ep_attr_t of_a = p.a.reserve(p.b.address), of_b = p.b.reserve(p.a.address);
		p.a.connect(p.b.address, of_b);
		p.b.connect(p.a.address, of_a);
		Vandal v(p.b, of_b);
		p.a.send_ok(p.b, "damaged");
		p.a.send_ok(p.b, "sound");
		v.write((of_b.insts[0].mdh_off & 0xffffffffff) + size_t{word} * 8, 0x0101ff00ff000000);
		assert_rc(INVALID_STATE, p.b.progress());
		assert_int_equal(p.b.calls, 0);
		assert_rc(SUCCESS, p.b.progress());
		p.b.expect(p.a, "sound");
		assert_int_equal(p.b.calls, 1);
	}
}

MODEL_TEST(damaged_credits)
{
	MsgqPair p(4, 64, false);
	gni_msgq_ep_attr_t of_a = p.a.reserve(p.b.address), of_b = p.b.reserve(p.a.address);
	p.a.connect(p.b.address, of_b);
	p.b.connect(p.a.address, of_a);
	Vandal v(p.a, of_a);

	p.a.send_ok(p.b, "before");
	v.write(0, 0x0123456700000005);
	assert_rc(INVALID_STATE, p.a.send(p.b, "after"));
	assert_rc(SUCCESS, p.b.progress());
	p.b.expect(p.a, "before");
	/* True ones mend it. */
	v.write(0, 0);
	p.a.send_ok(p.b, "after");
	assert_rc(SUCCESS, p.b.progress());
	p.b.expect(p.a, "after");
}

} // namespace

TEST_MAIN("message queues, faults")
