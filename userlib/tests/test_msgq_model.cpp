// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Message queues over the device model: traffic, order, credits, several instances of a node. */
#include "msgq_rank.hpp"

#include <pthread.h>

namespace
{

MODEL_TEST(one_message)
{
	MsgqPair p;

	p.a.send_ok(p.b, "hello", 0xfedcba98, 200);
	assert_rc(SUCCESS, p.b.progress());
	p.b.expect(p.a, "hello", 200);
	assert_true(p.b.heard.empty());
	assert_rc(SUCCESS, p.a.progress());
	assert_true(p.a.heard.empty());
}

MODEL_TEST(both_ways_many_times)
{
	MsgqPair p(4);

	for (unsigned i = 0; i < 300; i++) {
		const std::string text(i % 127, static_cast<char>('a' + i % 26));
		p.a.send_ok(p.b, text, i, static_cast<uint8_t>(i));
		assert_rc(SUCCESS, p.b.progress());
		p.b.expect(p.a, text, static_cast<uint8_t>(i));
		p.b.send_ok(p.a, text + "!", i);
		assert_rc(SUCCESS, p.a.progress());
		p.a.expect(p.b, text + "!", 0);
	}
}

MODEL_TEST(lengths_of_both_parts)
{
	MsgqPair p;
	char part[129];

	memset(part, 'x', sizeof(part));
	part[0] = 127;
	for (uint32_t head = 0; head <= 128; head++) {
		assert_rc(SUCCESS, GNI_MsgqSend(p.a.q, p.a.endpoint(p.b), head ? part : nullptr, head,
						head < 128 ? (head ? part + 1 : part) : nullptr, 128 - head, head, 1));
		p.a.expect_sent(head);
		assert_rc(SUCCESS, p.b.progress());
		p.b.expect(p.a, std::string(127, 'x'));
	}
	assert_rc(SIZE_ERROR, GNI_MsgqSend(p.a.q, p.a.endpoint(p.b), part, 129, nullptr, 0, 0, 0));
	assert_rc(SIZE_ERROR, GNI_MsgqSend(p.a.q, p.a.endpoint(p.b), part, 65, part, 64, 0, 0));
	assert_rc(SIZE_ERROR, GNI_MsgqSend(p.a.q, p.a.endpoint(p.b), part, ~0U, part, 2, 0, 0));
	/* Nothing at all is a message too. */
	assert_rc(SUCCESS, GNI_MsgqSend(p.a.q, p.a.endpoint(p.b), nullptr, 0, nullptr, 0, 7, 9));
	p.a.expect_sent(7);
	assert_rc(SUCCESS, p.b.progress());
	assert_int_equal(p.b.heard.front().tag, 9);
}

MODEL_TEST(credits_come_back)
{
	for (uint32_t slots : {1U, 2U, 3U, 8U, 33U, 64U, 100U}) {
		MsgqPair p(slots, 256);
		for (unsigned round = 0; round < 5; round++) {
			unsigned sent = 0;
			gni_return_t rc;
			while ((rc = p.a.send(p.b, std::to_string(sent))) == GNI_RC_SUCCESS) {
				p.a.expect_sent(0);
				sent++;
				assert_true(sent <= slots);
			}
			assert_int_equal(rc, GNI_RC_NOT_DONE);
			/* Fewer than half may be on the way back. */
			assert_true(sent * 2 >= slots);
			assert_rc(SUCCESS, p.b.progress());
			for (unsigned i = 0; i < sent; i++)
				p.b.expect(p.a, std::to_string(i));
		}
		uint32_t stalls = 0;
		assert_rc(SUCCESS, GNI_GetNicStat(p.a.nic, GNI_STAT_SMSG_MBOX_CREDITS_STALL, &stalls));
		assert_int_equal(stalls, 5);
	}
}

MODEL_TEST(no_room_for_the_event)
{
	MsgqPair p(1024, 1024);
	unsigned sent = 0;

	while (p.a.send(p.b, "x", sent) == GNI_RC_SUCCESS)
		sent++;
	assert_rc(NOT_DONE, p.a.send(p.b, "x"));
	uint32_t stalls = 0;
	assert_rc(SUCCESS, GNI_GetNicStat(p.a.nic, GNI_STAT_SMSG_REQ_STALL, &stalls));
	assert_int_equal(stalls, 2);
	p.a.expect_sent(0);
	p.a.send_ok(p.b, "y", 1); /* the next event is that of the second message */
	assert_rc(SUCCESS, p.b.progress());
	assert_int_equal(p.b.heard.size(), sent + 1);
	assert_string_equal(p.b.heard.back().text.c_str(), "y");
}

MODEL_TEST(callback_stops)
{
	MsgqPair p;

	for (const char *text : {"1", "2", "3"})
		p.a.send_ok(p.b, text);
	p.b.answer = 0;
	assert_rc(NOT_DONE, p.b.progress());
	assert_int_equal(p.b.calls, 1);
	assert_rc(NOT_DONE, p.b.progress());
	assert_rc(SUCCESS, p.b.progress());
	assert_int_equal(p.b.calls, 3);
	p.b.expect(p.a, "1");
	p.b.expect(p.a, "2");
	p.b.expect(p.a, "3");
}

MODEL_TEST(timeout)
{
	MsgqPair p;

	assert_rc(SUCCESS, p.b.progress(30));
	assert_int_equal(p.b.calls, 0);
	p.a.send_ok(p.b, "there");
	assert_rc(SUCCESS, p.b.progress(30));
	p.b.expect(p.a, "there");
}

/* Endpoints without a queue report to the queue of the message queue. */
MODEL_TEST(queue_of_sends)
{
	MsgqPair p;
	gni_ep_handle_t ep = nullptr;
	gni_cq_handle_t other = nullptr;
	gni_cq_entry_t e = 0;

	assert_rc(SUCCESS, GNI_EpCreate(p.a.nic, nullptr, &ep));
	assert_rc(SUCCESS, GNI_EpBind(ep, p.b.address, p.b.id));
	assert_rc(SUCCESS, GNI_MsgqSend(p.a.q, ep, nullptr, 0, nullptr, 0, 11, 0));
	p.a.expect_sent(11);
	assert_rc(SUCCESS, GNI_EpUnbind(ep));
	assert_rc(SUCCESS, GNI_EpDestroy(ep));
	assert_rc(SUCCESS, GNI_CqCreate(p.a.nic, 8, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &other));
	assert_rc(SUCCESS, GNI_EpCreate(p.a.nic, other, &ep));
	assert_rc(SUCCESS, GNI_EpBind(ep, p.b.address, p.b.id));
	assert_rc(SUCCESS, GNI_MsgqSend(p.a.q, ep, nullptr, 0, nullptr, 0, 12, 0));
	assert_rc(NOT_DONE, p.a.sent(&e));
	assert_rc(NOT_DONE, GNI_EpUnbind(ep));
	assert_rc(SUCCESS, GNI_CqGetEvent(other, &e));
	assert_int_equal(GNI_CQ_GET_MSG_ID(e), 12);
	gni_post_descriptor_t *d = nullptr;
	assert_rc(DESCRIPTOR_ERROR, GNI_GetCompleted(other, e, &d));
	assert_rc(SUCCESS, GNI_EpUnbind(ep));
	/* It is in use as long as the message queue is. */
	assert_rc(ERROR_RESOURCE, GNI_CqDestroy(p.a.source));
}

/* Two instances on each of two nodes share one connection that the first ones make. */
MODEL_TEST(instances_share_a_connection)
{
	gni_msgq_attr_t attrs = msgq_attrs(2);
	MsgqRank a0(0, 10, attrs), a1(0, 11, attrs), b0(1, 20, attrs), b1(1, 21, attrs);

	msgq_connect(a0, b0);
	for (unsigned i = 0; i < 100; i++) {
		const std::string n = std::to_string(i);
		a0.send_ok(b0, "a0b0 " + n);
		a1.send_ok(b0, "a1b0 " + n);
		a0.send_ok(b1, "a0b1 " + n);
		a1.send_ok(b1, "a1b1 " + n);
		b1.send_ok(a1, "b1a1 " + n);
		for (MsgqRank *r : {&b0, &b1, &a1})
			assert_rc(SUCCESS, r->progress());
		b0.expect(a0, "a0b0 " + n);
		b0.expect(a1, "a1b0 " + n);
		b1.expect(a0, "a0b1 " + n);
		b1.expect(a1, "a1b1 " + n);
		a1.expect(b1, "b1a1 " + n);
	}
	/* All slots of one mailbox by one instance: then there is none for the other. */
	for (unsigned i = 0; i < 8; i++)
		(void)a0.send(b0, "x");
	assert_rc(NOT_DONE, a1.send(b0, "x"));
	assert_rc(SUCCESS, a1.send(b1, "x"));
}

/* The first instance of the other node, whose memory leads to the credits, has left. */
MODEL_TEST(credits_find_another_way)
{
	gni_msgq_attr_t attrs = msgq_attrs(2, 4);
	MsgqRank b(1, 20, msgq_attrs(1, 4));
	MsgqRank a0(0, 10, attrs), a1(0, 11, attrs);

	msgq_connect(a0, b);
	assert_rc(SUCCESS, GNI_MsgqRelease(a0.q));
	for (unsigned i = 0; i < 50; i++) {
		a1.send_ok(b, std::to_string(i));
		assert_rc(SUCCESS, b.progress());
		b.expect(a1, std::to_string(i));
	}
	gni_msgq_ep_attr_t a = {};
	assert_rc(PERMISSION_ERROR, GNI_MsgqGetConnAttrs(a1.q, 5, &a, nullptr));
	assert_rc(SUCCESS, GNI_MsgqConnRelease(a1.q, b.address));
}

MODEL_TEST(within_a_node)
{
	gni_msgq_attr_t attrs = msgq_attrs(2, 4);
	MsgqRank a0(0, 10, attrs), a1(0, 11, attrs);

	msgq_connect(a0, a1);
	for (unsigned i = 0; i < 40; i++) {
		a0.send_ok(a1, "to the other");
		a0.send_ok(a0, "to myself");
		assert_rc(SUCCESS, a0.progress());
		assert_rc(SUCCESS, a1.progress());
		a1.expect(a0, "to the other");
		a0.expect(a0, "to myself");
	}
}

int world_of_three(void **)
{
	model::start(3);
	model::allow(kCookie, kPtag);
	return 0;
}

TEST_BETWEEN(three_nodes, world_of_three, world_stop)
{
	gni_msgq_attr_t attrs = msgq_attrs(1, 4);
	MsgqRank a(0, 1, attrs), b(1, 2, attrs), c(2, 3, attrs);

	msgq_connect(a, b);
	msgq_connect(a, c);
	msgq_connect(b, c);
	for (unsigned i = 0; i < 40; i++) {
		a.send_ok(b, "ab");
		a.send_ok(c, "ac");
		b.send_ok(c, "bc");
		c.send_ok(a, "ca");
		for (MsgqRank *r : {&a, &b, &c})
			assert_rc(SUCCESS, r->progress());
		b.expect(a, "ab");
		c.expect(a, "ac");
		c.expect(b, "bc");
		a.expect(c, "ca");
	}
}

/* The smallest receive queue has 64 slots. */
MODEL_TEST(overrun)
{
	gni_msgq_attr_t one = msgq_attrs(1, 200, 2), two = msgq_attrs(2, 200, 2);
	MsgqRank b(1, 20, one);
	MsgqRank a0(0, 10, two), a1(0, 11, two);
	unsigned sent[2] = {}, seen[2] = {};

	msgq_connect(a0, b);
	for (unsigned round = 0; round < 60; round++) {
		unsigned i = 0;
		for (; i < 60 + round % 40; i++) {
			MsgqRank &from = (i + round) % 3 ? a0 : a1;
			unsigned &n = sent[from.id - 10];
			if (from.send(b, std::to_string(n)) != GNI_RC_SUCCESS)
				break;
			from.expect_sent(0);
			n++;
		}
		b.answer = static_cast<int>(round % 4);
		gni_return_t rc;
		while ((rc = b.progress()) == GNI_RC_NOT_DONE)
			;
		assert_int_equal(rc, GNI_RC_SUCCESS);
		for (const Heard &h : b.heard)
			assert_string_equal(h.text.c_str(), std::to_string(seen[h.id - 10]++).c_str());
		b.heard.clear();
		assert_int_equal(seen[0], sent[0]);
		assert_int_equal(seen[1], sent[1]);
	}
	assert_true(sent[0] > 3000 && sent[1] > 1500);
}

/* Messages whose events were lost are in high slots, later ones in low slots that were free meanwhile. */
MODEL_TEST(overrun_and_slots_used_again)
{
	MsgqPair p(120, 2);
	unsigned sent = 0;

	while (sent < 80)
		p.a.send_ok(p.b, std::to_string(sent++));
	p.b.answer = 0;
	for (unsigned i = 0; i < 60; i++)
		assert_rc(NOT_DONE, p.b.progress());
	while (sent < 83)
		p.a.send_ok(p.b, std::to_string(sent++));
	p.b.answer = 1;
	assert_rc(SUCCESS, p.b.progress());
	assert_int_equal(p.b.calls, sent);
	for (unsigned i = 0; i < sent; i++)
		p.b.expect(p.a, std::to_string(i));
}

/* One node has connected, the other one not yet: its messages wait, and are in order. */
MODEL_TEST(early_messages)
{
	MsgqPair p(8, 64, false);
	gni_msgq_ep_attr_t of_a = p.a.reserve(p.b.address), of_b = p.b.reserve(p.a.address);

	p.a.connect(p.b.address, of_b);
	p.a.send_ok(p.b, "1");
	p.a.send_ok(p.b, "2");
	assert_rc(SUCCESS, p.b.progress());
	assert_int_equal(p.b.calls, 0);
	assert_rc(NOT_DONE, GNI_MsgqIdle(p.b.q));
	p.a.send_ok(p.b, "3");
	p.b.connect(p.a.address, of_a);
	p.a.send_ok(p.b, "4");
	assert_rc(SUCCESS, p.b.progress(20));
	for (const char *text : {"1", "2", "3", "4"})
		p.b.expect(p.a, text);
	assert_rc(SUCCESS, GNI_MsgqIdle(p.b.q));
	/* The slots came back. */
	for (unsigned i = 0; i < 20; i++) {
		p.a.send_ok(p.b, "5");
		assert_rc(SUCCESS, p.b.progress());
	}
}

MODEL_TEST(connected_again)
{
	MsgqPair p(4);

	for (unsigned i = 0; i < 5; i++) {
		for (unsigned k = 0; k <= i % 3; k++)
			p.a.send_ok(p.b, "old");
		if (i % 2) {
			assert_rc(SUCCESS, p.b.progress());
			assert_int_equal(p.b.heard.size(), i % 3 + 1);
			p.b.heard.clear();
		}
		assert_rc(SUCCESS, GNI_MsgqConnRelease(p.a.q, p.b.address));
		assert_rc(NO_MATCH, p.a.send(p.b, "gone"));
		assert_rc(SUCCESS, GNI_MsgqConnRelease(p.b.q, p.a.address));
		msgq_connect(p.b, p.a);
		/* What nobody has read is gone with the connection. */
		assert_rc(SUCCESS, p.b.progress());
		assert_true(p.b.heard.empty());
	}
	for (unsigned k = 0; k < 20; k++) {
		p.a.send_ok(p.b, "new");
		assert_rc(SUCCESS, p.b.progress());
		p.b.expect(p.a, "new");
	}
}

/* An event that was not read names a slot that has another message by now. */
MODEL_TEST(events_of_an_old_connection)
{
	MsgqPair p(8);

	for (unsigned i = 0; i < 3; i++) {
		p.a.send_ok(p.b, "old");
		assert_rc(SUCCESS, p.b.progress());
		p.b.expect(p.a, "old");
	}
	p.a.send_ok(p.b, "not read");
	assert_rc(SUCCESS, GNI_MsgqConnRelease(p.a.q, p.b.address));
	assert_rc(SUCCESS, GNI_MsgqConnRelease(p.b.q, p.a.address));
	msgq_connect(p.a, p.b);
	for (const char *text : {"1", "2", "3", "4"})
		p.a.send_ok(p.b, text);
	assert_rc(SUCCESS, p.b.progress());
	for (const char *text : {"1", "2", "3", "4"})
		p.b.expect(p.a, text);
}

/* A new group of the same domain while members of the old one are still there. */
MODEL_TEST(next_group)
{
	MsgqPair p;
	MsgqRank c(0, 2000, msgq_attrs()), d(1, 2001, msgq_attrs());

	msgq_connect(c, d);
	c.send_ok(d, "second");
	p.a.send_ok(p.b, "first");
	assert_rc(SUCCESS, d.progress());
	assert_rc(SUCCESS, p.b.progress());
	d.expect(c, "second");
	p.b.expect(p.a, "first");
}

struct Replier {
	MsgqRank *self, *peer;
	gni_return_t nested;
};

int reply(uint32_t, uint32_t, void *, uint8_t, void *data)
{
	auto *r = static_cast<Replier *>(data);

	r->nested = GNI_MsgqProgress(r->self->q, 0);
	assert_rc(NOT_DONE, GNI_MsgqRelease(r->self->q));
	assert_rc(NOT_DONE, GNI_MsgqIdle(r->self->q));
	assert_rc(NOT_DONE, GNI_MsgqConnRelease(r->self->q, r->peer->address));
	r->self->send_ok(*r->peer, "answer");
	return 1;
}

MODEL_TEST(calls_from_the_callback)
{
	MsgqRank a(0, 1, msgq_attrs()), b(1, 2, msgq_attrs());
	Replier r = {&b, &a, GNI_RC_SUCCESS};
	gni_msgq_attr_t attrs = msgq_attrs();

	assert_rc(SUCCESS, GNI_MsgqRelease(b.q));
	assert_rc(SUCCESS, GNI_MsgqInit(b.nic, reply, &r, b.source, &attrs, &b.q));
	msgq_connect(a, b);
	a.send_ok(b, "question");
	assert_rc(SUCCESS, b.progress());
	assert_int_equal(r.nested, GNI_RC_INVALID_STATE);
	assert_rc(SUCCESS, a.progress());
	a.expect(b, "answer");
}

/* What a receiver does with its first message. */
struct Receiver {
	bool ends = false; /* its thread; else it throws */
	unsigned calls = 0;
	MsgqRank *self = nullptr;

	static int receive(uint32_t, uint32_t, void *, uint8_t, void *data)
	{
		auto *r = static_cast<Receiver *>(data);

		if (r->calls++)
			return 1;
		if (r->ends)
			pthread_exit(r);
		throw 5;
	}
	static void *progress(void *data)
	{
		auto *r = static_cast<Receiver *>(data);

		try {
			(void)r->self->progress();
		} catch (int n) {
			r->calls += n == 5 ? 100 : 0;
			/* and it may be cancelled, as before */
			pthread_cancel(pthread_self());
			pthread_testcancel();
		}
		return nullptr;
	}
};

/* A receiver that does not return has received its message; the queue goes on, and ends. */
MODEL_TEST(receivers_that_do_not_return)
{
	for (const bool ends : {false, true}) {
		MsgqPair p(8, 64, false);
		Receiver r{ends, 0, &p.b};
		gni_msgq_attr_t attrs = msgq_attrs();
		pthread_t thread;
		void *result = nullptr;

		assert_rc(SUCCESS, GNI_MsgqRelease(p.b.q));
		assert_rc(SUCCESS, GNI_MsgqInit(p.b.nic, Receiver::receive, &r, p.b.source, &attrs, &p.b.q));
		msgq_connect(p.a, p.b);
		p.a.send_ok(p.b, "first");
		p.a.send_ok(p.b, "second");
		assert_int_equal(pthread_create(&thread, nullptr, Receiver::progress, &r), 0);
		assert_int_equal(pthread_join(thread, &result), 0);
		assert_ptr_equal(result, ends ? static_cast<void *>(&r) : PTHREAD_CANCELED);
		assert_int_equal(r.calls, ends ? 1 : 101);
		assert_rc(SUCCESS, p.b.progress());
		assert_int_equal(r.calls, ends ? 2 : 102);
		assert_rc(SUCCESS, GNI_MsgqIdle(p.b.q));
		assert_rc(SUCCESS, GNI_MsgqRelease(p.b.q));
	}
}

} // namespace

TEST_MAIN("message queues")
