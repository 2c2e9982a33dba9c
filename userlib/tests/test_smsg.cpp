// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Short messages over the device model: what they carry, when they wait, where mailboxes may be. */
#include "aries_hw.h"
#include "talk.hpp"

#include <algorithm>

MODEL_TEST(sizes)
{
	Talk t({.credits = 4, .largest = 65535});
	unsigned seed = 0;

	for (size_t n : {0, 1, 7, 8, 47, 48, 49, 63, 64, 65, 200, 2031, 2032, 2033, 4080, 4081, 10000, 65534, 65535}) {
		for (size_t header : {size_t{0}, size_t{1}, n / 3, n}) {
			if (header > n)
				continue;
			std::string s = text(n, ++seed);
			assert_rc(SUCCESS, t.a.send(s.substr(0, header), s.substr(header), seed));
			t.a.expect_sent(seed);
			gni_cq_entry_t e = 0;
			assert_rc(SUCCESS, GNI_CqGetEvent(t.b.remote, &e));
			assert_int_equal(GNI_CQ_GET_TYPE(e), GNI_CQ_EVENT_TYPE_SMSG);
			assert_rc(NOT_DONE, GNI_CqGetEvent(t.b.remote, &e));
			t.b.expect(s);
			assert_rc(NOT_DONE, t.b.look());
			/* And the answer. */
			assert_rc(SUCCESS, t.b.send(s.substr(0, header), s.substr(header), ~seed));
			t.b.expect_sent(~seed);
			t.a.expect(s);
			assert_rc(SUCCESS, GNI_CqGetEvent(t.a.remote, &e));
		}
	}
	assert_true(t.a.surroundings_untouched() && t.b.surroundings_untouched());
}

MODEL_TEST(one_doorbell)
{
	Talk t({.credits = 64});

	for (size_t n : {0, 8, 56, 64, 2032}) {
		uint64_t before = model::counter(0, ARIES_CNT_FMA_TRAPS);
		assert_rc(SUCCESS, t.a.send(text(n, 1)));
		if (!model::polls())
			assert_int_equal(model::counter(0, ARIES_CNT_FMA_TRAPS) - before, 1);
		t.b.expect(text(n, 1));
	}
	/* Ping-pong returns credits with the messages. */
	uint64_t before = model::counter(0, ARIES_CNT_FMA_TRAPS) + model::counter(1, ARIES_CNT_FMA_TRAPS);
	for (int i = 0; i < 100; i++) {
		assert_rc(SUCCESS, t.a.send("ping"));
		t.b.expect("ping");
		assert_rc(SUCCESS, t.b.send("pong"));
		t.a.expect("pong");
		t.a.drain();
		t.b.drain();
	}
	const uint64_t traps = model::counter(0, ARIES_CNT_FMA_TRAPS) + model::counter(1, ARIES_CNT_FMA_TRAPS) - before;

	/* That of a doorbell before them may still come. */
	assert_in_range(traps, model::polls() ? 0 : 200, model::polls() ? 202 : 200);
}

MODEL_TEST(message_stays_until_released)
{
	Talk t;
	void *first = nullptr, *again = nullptr;
	uint8_t tag = GNI_SMSG_ANY_TAG;

	assert_rc(NOT_DONE, GNI_SmsgRelease(t.b.ep));
	assert_rc(SUCCESS, t.a.send("one", "", 1, 3));
	assert_rc(SUCCESS, t.a.send("two", "", 2, 4));
	assert_rc(SUCCESS, GNI_SmsgGetNextWTag(t.b.ep, &first, &tag));
	assert_int_equal(tag, 3);
	tag = GNI_SMSG_ANY_TAG;
	assert_rc(SUCCESS, GNI_SmsgGetNextWTag(t.b.ep, &again, &tag));
	assert_ptr_equal(first, again);
	assert_int_equal(tag, 3);
	assert_rc(SUCCESS, GNI_SmsgGetNext(t.b.ep, &again));
	assert_ptr_equal(first, again);
	assert_memory_equal(first, "one", 3);
	assert_rc(SUCCESS, GNI_SmsgRelease(t.b.ep));
	assert_rc(NOT_DONE, GNI_SmsgRelease(t.b.ep));
	t.b.expect("two", 4);
}

MODEL_TEST(tags)
{
	Talk t;
	void *p = nullptr;
	char text[] = "x";

	for (unsigned tag : {0U, 1U, 127U, 254U}) {
		assert_rc(SUCCESS, t.a.send("tagged", "", 0, static_cast<uint8_t>(tag)));
		uint8_t wanted = static_cast<uint8_t>(tag ^ 2);
		assert_rc(NO_MATCH, GNI_SmsgGetNextWTag(t.b.ep, &p, &wanted));
		assert_int_equal(wanted, tag ^ 2);
		/* It is not the current message. */
		assert_rc(NOT_DONE, GNI_SmsgRelease(t.b.ep));
		wanted = static_cast<uint8_t>(tag);
		assert_rc(SUCCESS, GNI_SmsgGetNextWTag(t.b.ep, &p, &wanted));
		wanted = static_cast<uint8_t>(tag ^ 2);
		assert_rc(NO_MATCH, GNI_SmsgGetNextWTag(t.b.ep, &p, &wanted));
		t.b.expect("tagged", static_cast<int>(tag));
	}
	assert_rc(SUCCESS, GNI_SmsgSend(t.a.ep, text, 1, nullptr, 0, 7));
	t.b.expect("x", 0);
	assert_rc(SUCCESS, t.a.send("untagged reader", "", 0, 9));
	assert_rc(SUCCESS, t.b.look());
}

/* Messages run out first, then come back with Release, by a put of their own; less than half may still be on the way.
 */
MODEL_TEST(mailbox_credits)
{
	Talk t({.credits = 8, .largest = 64});

	for (int round = 0; round < 20; round++) {
		uint32_t n = 0;
		while (t.a.send(text(8, n)) == GNI_RC_SUCCESS)
			n++;
		assert_in_range(n, round ? 5 : 8, 8);
		assert_int_equal(t.a.statistic(GNI_STAT_SMSG_MBOX_CREDITS_STALL), round + 1);
		for (uint32_t i = 0; i < n; i++)
			t.b.expect(text(8, i));
		assert_rc(NOT_DONE, t.b.look());
		t.a.drain();
		t.b.drain();
	}
	assert_int_equal(t.a.statistic(GNI_STAT_SMSG_BUFF_CREDITS_STALL), 0);
	assert_rc(SUCCESS, GNI_ResetNicStat(t.a.nic, GNI_STAT_SMSG_MBOX_CREDITS_STALL));
	assert_int_equal(t.a.statistic(GNI_STAT_SMSG_MBOX_CREDITS_STALL), 0);
}

MODEL_TEST(one_credit)
{
	Talk t({.credits = 1, .largest = 100});

	for (unsigned i = 0; i < 50; i++) {
		assert_rc(SUCCESS, t.a.send(text(i, i)));
		assert_rc(NOT_DONE, t.a.send(""));
		t.b.expect(text(i, i));
		t.a.drain();
		t.b.drain();
	}
}

/* Space runs out before the credits do; four messages of the largest size fit, more with more memory. */
MODEL_TEST(buffer_credits)
{
	for (uint32_t extra : {0U, 100000U}) {
		Talk t({.credits = 64, .largest = 16384, .extra = extra});
		unsigned fit = 0;
		for (int round = 0; round < 5; round++) {
			unsigned n = 0;
			while (t.a.send(text(16384, n)) == GNI_RC_SUCCESS)
				n++;
			if (!round)
				fit = n;
			assert_int_equal(t.a.statistic(GNI_STAT_SMSG_BUFF_CREDITS_STALL), round + 1);
			for (unsigned i = 0; i < n; i++)
				t.b.expect(text(16384, i));
			t.a.drain();
			t.b.drain();
		}
		assert_int_equal(fit, 4 + extra / (16384 + 64));
		assert_int_equal(t.a.statistic(GNI_STAT_SMSG_MBOX_CREDITS_STALL), 0);
	}
}

/*
 * With a tag the limit is not msg_maxsize, but a quarter of the ring: four of
 * them are on the way at any time, at any place of the ring's end.
 */
MODEL_TEST(longer_with_a_tag)
{
	for (uint32_t extra : {0U, 10000U, 400000U}) {
		Talk t({.credits = 8, .largest = 2048, .extra = extra});
		const uint32_t ring = 4 * 2112 + extra / 64 * 64;
		const uint32_t most = std::min(ring / 4 / 64 * 64 - 16, 65535U);
		assert_in_range(most, 2048 + 4, 65535); /* UCX: its header of 4 bytes comes on top */
		for (unsigned round = 0; round < 40; round++) {
			assert_rc(ERROR_RESOURCE, t.a.send(text(most + 1, 0)));
			assert_rc(ERROR_RESOURCE, t.a.send(text(most, 0), "y"));
			/* Half of the credits may wait for the peer to hear of them. */
			for (unsigned i = 0; i < 2; i++)
				assert_rc(SUCCESS, t.a.send(text(most - round, i), std::string(round, 'd')));
			for (unsigned i = 0; i < 2; i++)
				t.b.expect(text(most - round, i) + std::string(round, 'd'));
			t.a.drain();
			t.b.drain();
			assert_rc(SUCCESS, t.a.send(text(round * 50, round)));
			t.b.expect(text(round * 50, round));
			t.a.drain();
			t.b.drain();
		}
		assert_true(t.b.surroundings_untouched());
	}
}

/* Every position of the ring's end relative to a message; a message is always in one piece. */
MODEL_TEST(ring_wraps)
{
	Talk t({.credits = 16, .largest = 1000, .extra = 64});

	for (unsigned i = 0; i < 3000; i++) {
		std::string s = text((i * 131) % 1001, i);
		assert_rc(SUCCESS, t.a.send(s));
		if (i % 3 == 2) {
			for (unsigned j = i - 2; j <= i; j++)
				t.b.expect(text((j * 131) % 1001, j));
			t.a.drain();
			t.b.drain();
		}
	}
	assert_true(t.b.surroundings_untouched());
}

/* The source queue is full of events: nothing is sent. */
MODEL_TEST(request_stall)
{
	Talk t({.credits = 1000, .largest = 8, .remote_entries = 2000});
	unsigned n = 0;
	gni_cq_entry_t e;

	while (t.a.send("x") == GNI_RC_SUCCESS)
		n++;
	assert_int_equal(n, 255);
	assert_int_equal(t.a.statistic(GNI_STAT_SMSG_REQ_STALL), 1);
	assert_rc(SUCCESS, t.a.sent(&e));
	assert_rc(SUCCESS, t.a.send("x"));
	for (unsigned i = 0; i < 256; i++)
		t.b.expect("x");
	assert_rc(NOT_DONE, t.b.look());
}

MODEL_TEST(unaligned_mailboxes)
{
	for (uint32_t skew : {1, 3, 8, 40, 63, 64, 65, 4095}) {
		Talk t({.credits = 3, .largest = 3000, .skew = skew, .extra = skew % 5});
		for (unsigned i = 0; i < 100; i++) {
			std::string s = text(size_t{30} * i, i);
			assert_rc(SUCCESS, t.a.send(s));
			t.b.expect(s);
			assert_rc(SUCCESS, t.b.send(s));
			t.a.expect(s);
			t.a.drain();
			t.b.drain();
		}
		assert_true(t.a.surroundings_untouched() && t.b.surroundings_untouched());
	}
}

/* Back to back in one registration, from an odd address on. */
MODEL_TEST(many_mailboxes_in_one_registration)
{
	constexpr unsigned kBoxes = 20;
	Shape shape = {.credits = 4, .largest = 500};
	gni_smsg_attr_t one = attributes(shape);
	Rank a(0, 1, size_t{one.buff_size} * kBoxes + 100), b(1, 2, size_t{one.buff_size} * kBoxes + 100);
	std::vector<gni_ep_handle_t> from(kBoxes), to(kBoxes);

	for (unsigned i = 0; i < kBoxes; i++) {
		gni_smsg_attr_t at_a = one, at_b = one;
		at_a.msg_buffer = a.bytes + 13;
		at_b.msg_buffer = b.bytes + 13;
		at_a.mem_hndl = a.handle;
		at_b.mem_hndl = b.handle;
		at_a.mbox_offset = at_b.mbox_offset = i * one.buff_size;
		assert_rc(SUCCESS, GNI_EpCreate(a.nic, a.source, &from[i]));
		assert_rc(SUCCESS, GNI_EpCreate(b.nic, b.source, &to[i]));
		assert_rc(SUCCESS, GNI_EpBind(from[i], b.address, 2));
		assert_rc(SUCCESS, GNI_EpBind(to[i], a.address, 1));
		assert_rc(SUCCESS, GNI_SmsgInit(from[i], &at_a, &at_b));
		assert_rc(SUCCESS, GNI_SmsgInit(to[i], &at_b, &at_a));
		assert_rc(SUCCESS, GNI_EpSetEventData(from[i], i, 0x1000000 + i));
	}
	for (unsigned round = 0; round < 8; round++) {
		for (unsigned i = 0; i < kBoxes; i++) {
			std::string s = text(500, i + round);
			assert_rc(SUCCESS, GNI_SmsgSend(from[i], s.data(), 500, nullptr, 0, i));
		}
		for (unsigned i = 0; i < kBoxes; i++) {
			gni_cq_entry_t e = 0;
			void *p = nullptr;
			assert_rc(SUCCESS, GNI_CqGetEvent(b.remote, &e));
			assert_int_equal(GNI_CQ_GET_INST_ID(e), i);
			assert_int_equal(GNI_CQ_GET_REM_INST_ID(e), 0x1000000 + i);
			assert_rc(SUCCESS, GNI_SmsgGetNext(to[i], &p));
			assert_memory_equal(p, text(500, i + round).data(), 500);
			assert_rc(SUCCESS, GNI_SmsgRelease(to[i]));
			assert_rc(SUCCESS, GNI_CqGetEvent(a.source, &e));
			assert_int_equal(GNI_CQ_GET_MSG_ID(e), i);
		}
	}
}

/* The peer is ready first: data and events wait for the local SmsgInit and EpSetEventData. */
/* Regions of virtual handles count from their start; both sides know both by the addresses that they were given. */
MODEL_TEST(mailboxes_in_virtual_regions)
{
	Talk t({.credits = 2, .largest = 200, .skew = 8, .extra = 4096}, false);

	for (Side *side : {&t.a, &t.b}) {
		assert_rc(SUCCESS, GNI_MemDeregister(side->nic, &side->handle));
		assert_rc(SUCCESS, GNI_SetMddResources(side->nic, 8));
		assert_rc(SUCCESS, GNI_MemRegister(side->nic, side->at(0), side->size, side->remote, GNI_MEM_USE_VMDH,
						   ~0U, &side->handle));
		side->attr.mem_hndl = side->handle;
	}
	t.a.init(t.b);
	t.b.init(t.a);
	/* One way, so that credits come by words of their own and, lost once, by asking for them. */
	for (unsigned i = 0; i < 40; i++) {
		assert_rc(SUCCESS, t.a.send(text(i * 5, i), "", i));
		t.a.expect_sent(i);
		t.b.expect(text(i * 5, i));
	}
	assert_rc(SUCCESS, t.b.send("back"));
	t.a.expect("back");
	assert_true(t.a.surroundings_untouched() && t.b.surroundings_untouched());
}

MODEL_TEST(early_messages)
{
	Talk t({}, false);
	gni_cq_entry_t e = 0;

	t.a.init(t.b);
	assert_rc(SUCCESS, GNI_EpSetEventData(t.a.ep, 1, 0xabcdef01));
	for (uint32_t i = 0; i < 8; i++)
		assert_rc(SUCCESS, t.a.send(text(size_t{100} * i, i), "", 0x80000000 + i));
	assert_rc(NOT_DONE, t.a.send("too much"));
	assert_rc(SUCCESS, GNI_CqGetEvent(t.b.remote, &e));
	assert_int_equal(GNI_CQ_GET_REM_INST_ID(e), 0xabcdef01);
	assert_int_equal(GNI_CQ_GET_INST_ID(e), 0xcdef01);
	assert_rc(INVALID_PARAM, t.b.look());
	t.b.init(t.a);
	for (uint32_t i = 0; i < 8; i++) {
		t.b.expect(text(size_t{100} * i, i));
		t.a.expect_sent(0x80000000 + i);
	}
	assert_rc(SUCCESS, t.b.send("hello"));
	t.a.expect("hello");
}

/* What another connection left in the memory is no message; its end gives back what it had. */
MODEL_TEST(mailbox_memory_again)
{
	Talk t;
	Side c(1, 1002, {});

	for (uint32_t i = 0; i < 5; i++)
		assert_rc(SUCCESS, t.b.send("unread"));
	t.b.drain();
	assert_rc(SUCCESS, t.a.send("x"));
	assert_rc(NOT_DONE, GNI_EpUnbind(t.a.ep));
	t.a.drain();
	assert_rc(SUCCESS, GNI_EpUnbind(t.a.ep));
	assert_rc(INVALID_PARAM, t.a.look());
	assert_rc(INVALID_PARAM, t.a.send("unbound"));
	assert_rc(INVALID_STATE, GNI_SmsgInit(t.a.ep, &t.a.attr, &c.attr));
	t.a.bind(c, 1002);
	c.bind(t.a, 1000);
	c.init(t.a);
	assert_rc(SUCCESS, c.send("early"));
	t.a.init(c);
	t.a.expect("early");
	assert_rc(NOT_DONE, t.a.look());
	for (uint32_t i = 0; i < 8; i++)
		assert_rc(SUCCESS, t.a.send("new"));
	assert_rc(NOT_DONE, t.a.send("no credits from before"));
	for (uint32_t i = 0; i < 8; i++)
		c.expect("new");
	/* Destroyed with events outstanding: they are still delivered. */
	assert_rc(SUCCESS, GNI_EpDestroy(t.a.ep));
	for (int i = 0; i < 8; i++)
		t.a.expect_sent(0);
	assert_rc(INVALID_PARAM, GNI_SmsgRelease(t.a.ep));
}

/* Two domains of one process on one NIC, and an endpoint bound to itself. */
MODEL_TEST(loopback)
{
	Shape shape = {.credits = 2, .largest = 300};
	Side a(0, 1, shape), b(0, 2, shape), self(0, 3, shape);

	a.bind(b, 2);
	b.bind(a, 1);
	self.bind(self, 3);
	a.init(b);
	b.init(a);
	self.init(self);
	for (unsigned i = 0; i < 20; i++) {
		assert_rc(SUCCESS, a.send(text(300, i)));
		b.expect(text(300, i));
		assert_rc(SUCCESS, self.send(text(200, i)));
		self.expect(text(200, i));
		a.drain();
		b.drain();
		self.drain();
	}
}

MODEL_TEST(return_codes)
{
	Talk t({}, false);
	unsigned int size = 0;
	void *p = nullptr;
	uint8_t tag = 0;
	char c = 'x';

	gni_smsg_attr_t a = t.a.attr, b = t.b.attr;
	assert_rc(INVALID_PARAM, GNI_SmsgBufferSizeNeeded(nullptr, &size));
	assert_rc(INVALID_PARAM, GNI_SmsgBufferSizeNeeded(&a, nullptr));
	a.msg_type = GNI_SMSG_TYPE_INVALID;
	assert_rc(INVALID_PARAM, GNI_SmsgBufferSizeNeeded(&a, &size));
	a = t.a.attr;
	a.msg_maxsize = GNI_SMSG_MAX_SIZE + 1;
	assert_rc(INVALID_PARAM, GNI_SmsgBufferSizeNeeded(&a, &size));
	a.msg_maxsize = 100;
	a.mbox_maxcredit = 0;
	assert_rc(INVALID_PARAM, GNI_SmsgBufferSizeNeeded(&a, &size));
	a = t.a.attr;

	assert_rc(INVALID_PARAM, GNI_SmsgInit(nullptr, &a, &b));
	assert_rc(INVALID_PARAM, GNI_SmsgInit(t.a.ep, nullptr, &b));
	assert_rc(INVALID_PARAM, GNI_SmsgInit(t.a.ep, &a, nullptr));
	b.msg_type = GNI_SMSG_TYPE_MBOX;
	assert_rc(INVALID_PARAM, GNI_SmsgInit(t.a.ep, &a, &b));
	b = t.b.attr;
	b.mbox_maxcredit = 7;
	assert_rc(INVALID_PARAM, GNI_SmsgInit(t.a.ep, &a, &b));
	b = t.b.attr;
	b.msg_maxsize--;
	assert_rc(INVALID_PARAM, GNI_SmsgInit(t.a.ep, &a, &b));
	b = t.b.attr;
	a.buff_size--;
	assert_rc(INVALID_PARAM, GNI_SmsgInit(t.a.ep, &a, &b));
	a = t.a.attr;
	b.mem_hndl = {};
	assert_rc(INVALID_PARAM, GNI_SmsgInit(t.a.ep, &a, &b));
	b = t.b.attr;
	gni_ep_handle_t other = nullptr;
	assert_rc(SUCCESS, GNI_EpCreate(t.a.nic, t.a.source, &other));
	assert_rc(INVALID_STATE, GNI_SmsgInit(other, &a, &b));

	assert_rc(INVALID_PARAM, t.a.send("not set up"));
	assert_rc(INVALID_PARAM, GNI_SmsgGetNext(t.a.ep, &p));
	assert_rc(INVALID_PARAM, GNI_SmsgRelease(t.a.ep));
	t.a.init(t.b);
	assert_rc(INVALID_STATE, GNI_SmsgInit(t.a.ep, &a, &b));
	assert_rc(INVALID_PARAM, t.a.send("x", "", 0, GNI_SMSG_ANY_TAG));
	assert_rc(INVALID_PARAM, GNI_SmsgSend(t.a.ep, nullptr, 1, nullptr, 0, 0));
	assert_rc(INVALID_PARAM, GNI_SmsgSend(t.a.ep, &c, 1, nullptr, 1, 0));
	assert_rc(INVALID_PARAM, GNI_SmsgSend(nullptr, &c, 1, nullptr, 0, 0));
	std::string most = text(4097, 0);
	assert_rc(ERROR_RESOURCE, GNI_SmsgSend(t.a.ep, most.data(), 4096, most.data(), 1, 0));
	assert_rc(ERROR_RESOURCE, GNI_SmsgSend(t.a.ep, &c, 0xffffffff, &c, 2, 0));
	assert_rc(INVALID_PARAM, GNI_SmsgGetNext(t.a.ep, nullptr));
	assert_rc(INVALID_PARAM, GNI_SmsgGetNext(nullptr, &p));
	assert_rc(INVALID_PARAM, GNI_SmsgGetNextWTag(t.a.ep, &p, nullptr));
	assert_rc(INVALID_PARAM, GNI_SmsgGetNextWTag(t.a.ep, nullptr, &tag));
	assert_rc(INVALID_PARAM, GNI_SmsgGetNextWTag(nullptr, &p, &tag));
	assert_rc(INVALID_PARAM, GNI_SmsgRelease(nullptr));
	assert_rc(NOT_DONE, GNI_SmsgGetNextWTag(t.a.ep, &p, &tag));
	assert_rc(NOT_DONE, GNI_SmsgRelease(t.a.ep));
}

TEST_MAIN("short messages over the model")
