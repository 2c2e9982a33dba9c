// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Message queues where completions are held, as on the way to another host: that a message was lost is known when
 * others may have been sent behind it. Each comes once and whole, or its event tells that it does not; no slot is lost.
 */
#include "aries_hw.h"
#include "msgq_rank.hpp"

#include <chrono>
#include <random>
#include <set>
#include <thread>

namespace
{

/** Held completions, from the attaching to the end of the ranks that are declared after it. */
struct Held {
	Held() { model::hold(true); }
	~Held()
	{
		for (uint32_t node = 0; node < 2; node++) {
			model::fault(node, "drop", 0);
			model::fault(node, "drop-response", 0);
		}
		model::hold(false);
	}
	Held(const Held &) = delete;
	Held &operator=(const Held &) = delete;
};

uint32_t repeated(const MsgqRank &r)
{
	uint32_t value = 0;

	assert_rc(SUCCESS, GNI_GetNicStat(r.nic, GNI_STAT_SMSG_RETRANS_COUNT, &value));
	return value;
}

void expect_nothing_more(MsgqRank &r)
{
	assert_rc(SUCCESS, r.progress());
	assert_true(r.heard.empty());
}

MODEL_TEST(repeated_until_it_arrives)
{
	const Held held;
	MsgqPair p(4);
	gni_cq_entry_t e;

	for (const char *fault : {"drop", "corrupt", "drop-response"}) {
		for (unsigned lost = 1; lost < 4; lost++) {
			const uint32_t before = repeated(p.a);
			model::fault(0, fault, lost);
			assert_rc(SUCCESS, p.a.send(p.b, "all the same", 0x12345678, 17));
			p.a.expect_sent(0x12345678);
			assert_true(repeated(p.a) > before);
			assert_rc(SUCCESS, p.b.progress());
			p.b.expect(p.a, "all the same", 17);
			expect_nothing_more(p.b);
			model::fault(0, fault, 0);
		}
	}
	assert_rc(NOT_DONE, p.a.sent(&e));
	assert_rc(SUCCESS, GNI_MsgqIdle(p.a.q));
}

/* Those behind it are there already. It comes after them: a slot is no place in an order. */
MODEL_TEST(among_others)
{
	const Held held;
	MsgqPair p(8);

	for (unsigned round = 0; round < 6; round++) {
		model::fault(0, "drop", 1 + round / 2);
		for (unsigned n = 0; n < 4; n++)
			assert_rc(SUCCESS, p.a.send(p.b, std::to_string(n), n));
		unsigned seen = 0;
		for (unsigned n = 0; n < 4; n++) {
			gni_cq_entry_t e;
			assert_rc(SUCCESS, p.a.outcome(&e));
			seen |= 1U << GNI_CQ_GET_MSG_ID(e);
		}
		assert_int_equal(seen, 0xf);
		assert_rc(SUCCESS, p.b.progress());
		std::multiset<std::string> texts;
		for (const Heard &h : p.b.heard)
			texts.insert(h.text);
		p.b.heard.clear();
		assert_true(texts == (std::multiset<std::string>{"0", "1", "2", "3"}));
		expect_nothing_more(p.b);
	}
}

/* One that stays away has its event, and gives its slot back once the way is open and it is known to be away. */
MODEL_TEST(in_vain)
{
	const Held held;
	MsgqPair p(4);
	gni_cq_entry_t e;

	for (uint16_t attempts : {0, 3}) {
		assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(p.a.nic, attempts));
		for (unsigned n = 0; n < 12; n++) {
			model::fault(0, "corrupt", 100000);
			assert_rc(SUCCESS, p.a.send(p.b, "lost", n));
			assert_rc(TRANSACTION_ERROR, p.a.outcome(&e));
			assert_int_equal(GNI_CQ_GET_MSG_ID(e), n);
			assert_int_equal(GNI_CQ_GET_INST_ID(e), p.b.id);
			assert_int_equal(GNI_CQ_GET_STATUS(e), ARIES_ST_CRC);
			model::fault(0, "corrupt", 0);
		}
		expect_nothing_more(p.b);
		p.a.send_ok(p.b, "arrives");
		assert_rc(SUCCESS, p.b.progress());
		p.b.expect(p.a, "arrives");
	}
}

/* Nobody knows what became of four messages: the sender is told that there will be no slot, instead of waiting. */
MODEL_TEST(fate_unknown)
{
	const Held held;
	MsgqPair p(4);
	gni_cq_entry_t e;

	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(p.a.nic, 0));
	for (unsigned n = 0; n < 4; n++) {
		model::fault(0, "drop", 1);
		assert_rc(SUCCESS, p.a.send(p.b, "lost", n));
		assert_rc(TRANSACTION_ERROR, p.a.outcome(&e));
		assert_int_equal(GNI_CQ_GET_STATUS(e), ARIES_ST_TIMEOUT);
	}
	assert_rc(INVALID_STATE, p.a.send(p.b, "never"));
}

/* Credits that get lost on their way: the sender does not hang. */
MODEL_TEST(lost_credits)
{
	const Held held;
	MsgqPair p(4);
	const auto begin = std::chrono::steady_clock::now();

	for (unsigned n = 0; n < 60; n++) {
		gni_return_t rc;
		while ((rc = p.a.send(p.b, std::to_string(n), n)) == GNI_RC_NOT_DONE) {
			assert_true(std::chrono::steady_clock::now() - begin < std::chrono::minutes(1));
			assert_rc(SUCCESS, p.b.progress());
		}
		assert_int_equal(rc, GNI_RC_SUCCESS);
		p.a.expect_sent(n);
		model::fault(1, "drop", 1);
		assert_rc(SUCCESS, p.b.progress());
		p.b.expect(p.a, std::to_string(n));
		model::fault(1, "drop", 0);
	}
}

/* The end of an endpoint, a connection, a queue and a domain with messages on their way, lost, and repeated. */
MODEL_TEST(ends_with_messages_under_way)
{
	const Held held;

	for (unsigned way = 0; way < 8; way++) {
		MsgqPair p(8);
		gni_cq_entry_t e;

		model::fault(0, "drop", way & 1 ? 100000 : 2);
		for (unsigned n = 0; n < 4; n++)
			assert_rc(SUCCESS, p.a.send(p.b, "under way", n));
		if (way & 1) {
			std::this_thread::sleep_for(std::chrono::milliseconds(30));
			(void)p.a.sent(&e);
		}
		if (way & 2) {
			assert_rc(SUCCESS, GNI_EpDestroy(p.a.to[p.b.id]));
			p.a.to.clear();
			if (way & 4)
				assert_rc(SUCCESS, GNI_MsgqRelease(p.a.q));
			for (unsigned n = 0; n < 4; n++)
				(void)p.a.outcome(&e);
			assert_rc(NOT_DONE, p.a.sent(&e));
		} else if (way & 4) {
			/* Another process of the node would do that. */
			assert_rc(NOT_DONE, GNI_MsgqConnRelease(p.a.q, p.b.address));
		}
		model::fault(0, "drop", 0);
	}
}

struct Stream {
	MsgqRank &from, &to;
	uint32_t sent = 0, ended = 0;
	std::set<std::string> come = {};

	void step(std::mt19937 &random, uint32_t most)
	{
		if (sent < most && random() % 2 && from.send(to, std::to_string(sent), sent, 1) == GNI_RC_SUCCESS)
			sent++;
		gni_cq_entry_t e;
		gni_return_t rc;
		while ((rc = from.sent(&e)) != GNI_RC_NOT_DONE) {
			assert_int_equal(rc, GNI_RC_SUCCESS);
			ended++;
		}
		assert_rc(SUCCESS, to.progress());
		for (const Heard &h : to.heard)
			assert_true(come.insert(h.text).second);
		to.heard.clear();
	}
	bool over(uint32_t most) const { return ended == most && come.size() == most; }
};

MODEL_TEST(both_ways)
{
	const Held held;
	MsgqPair p(4);
	std::mt19937 random{1};
	Stream ways[] = {{p.a, p.b}, {p.b, p.a}};
	constexpr uint32_t kMost = 300;
	const auto begin = std::chrono::steady_clock::now();

	for (uint32_t n = 0; !ways[0].over(kMost) || !ways[1].over(kMost); n++) {
		assert_true(std::chrono::steady_clock::now() - begin < std::chrono::minutes(2));
		if (n % 40 == 0 && (ways[0].sent < kMost || ways[1].sent < kMost))
			model::fault(random() % 2, random() % 2 ? "drop" : "drop-response", 1);
		for (Stream &way : ways)
			way.step(random, kMost);
		std::this_thread::sleep_for(std::chrono::microseconds(200));
	}
	assert_true(repeated(p.a) > 0);
}

} // namespace

TEST_MAIN("message queues whose messages are lost late")
