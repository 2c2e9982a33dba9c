// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Message queues against plain queues: random instances, sizes, order of calls and losses; then threads. */
#include "msgq_rank.hpp"

#include <atomic>
#include <random>
#include <sched.h>
#include <thread>

namespace
{

using Random = std::minstd_rand;
using Way = std::pair<uint32_t, uint32_t>; /* sender, receiver */

size_t below(Random &r, size_t n)
{
	return r() % n;
}

struct Message {
	std::string text;
	uint8_t tag;
};

struct World {
	std::vector<std::unique_ptr<MsgqRank>> ranks;
	std::map<Way, std::deque<Message>> queues; /* what receivers must get, in this order */
	unsigned stalls = 0, delivered = 0;

	World(uint32_t nodes, uint32_t instances, const gni_msgq_attr_t &attrs)
	{
		for (uint32_t n = 0; n < nodes; n++) {
			for (uint32_t i = 0; i < instances; i++) {
				ranks.push_back(std::make_unique<MsgqRank>(n, 100 * n + i, attrs));
				assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(ranks.back()->nic, 1000));
			}
		}
		/* Any instance of a node may make the connection. */
		for (uint32_t n = 0; n < nodes; n++) {
			for (uint32_t m = n; m < nodes; m++)
				msgq_connect(*ranks[n * instances + m % instances], *ranks[m * instances]);
		}
	}

	void send(MsgqRank &from, MsgqRank &to, Random &r)
	{
		Message m = {std::string(below(r, 128), static_cast<char>('a' + below(r, 26))),
			     static_cast<uint8_t>(r())};
		const auto id = static_cast<uint32_t>(r());
		gni_return_t rc = from.send(to, m.text, id, m.tag);

		if (rc == GNI_RC_NOT_DONE) {
			stalls++;
			return;
		}
		assert_int_equal(rc, GNI_RC_SUCCESS);
		from.expect_sent(id);
		queues[{from.id, to.id}].push_back(m);
	}

	void receive(MsgqRank &to, Random &r)
	{
		to.answer = static_cast<int>(below(r, 2));
		gni_return_t rc = to.progress(below(r, 50) ? ~0U : 1);

		assert_true(rc == GNI_RC_SUCCESS || (rc == GNI_RC_NOT_DONE && !to.answer));
		for (const Heard &h : to.heard) {
			auto &queue = queues[{h.id, to.id}];
			assert_false(queue.empty());
			assert_string_equal(h.text.c_str(), queue.front().text.c_str());
			assert_int_equal(h.tag, queue.front().tag);
			assert_int_equal(h.pe, h.id / 100);
			queue.pop_front();
			delivered++;
		}
		to.heard.clear();
	}

	bool pending() const
	{
		return std::any_of(queues.begin(), queues.end(), [](auto &q) { return !q.second.empty(); });
	}

	void drain(Random &r)
	{
		for (unsigned round = 0; pending(); round++) {
			assert_true(round < 2000);
			for (auto &rank : ranks)
				receive(*rank, r);
		}
	}
};

void run(Random &r, uint32_t nodes, const gni_msgq_attr_t &attrs, bool losses, unsigned least)
{
	World w(nodes, attrs.nloc_insts, attrs);

	for (unsigned step = 0; step < 8000; step++) {
		MsgqRank &one = *w.ranks[below(r, w.ranks.size())];
		MsgqRank &two = *w.ranks[below(r, w.ranks.size())];
		/* Phases in which receivers fall behind. */
		if (below(r, 100) < (step / 500 % 2 ? 96U : 30U))
			w.send(one, two, r);
		else
			w.receive(one, r);
		if (losses && !below(r, 20))
			model::fault(static_cast<uint32_t>(below(r, nodes)), "drop", below(r, 4));
		if (losses && !below(r, 20))
			model::fault(static_cast<uint32_t>(below(r, nodes)), "duplicate", below(r, 20));
	}
	w.drain(r);
	assert_true(w.delivered >= least);
	assert_true(w.stalls > 0);
}

int world_of_three(void **)
{
	model::start(3);
	model::allow(kCookie, kPtag);
	return 0;
}

TEST_BETWEEN(against_queues, world_of_three, world_stop)
{
	Random r(20261121);

	run(r, 2, msgq_attrs(1, 5, 64), false, 1000);
	run(r, 3, msgq_attrs(2, 8, 256), false, 2000);
	run(r, 2, msgq_attrs(3, 70, 2), false, 2000);
}

/* A mailbox with more slots than the receive queue: events are lost, and others are read after the message. */
MODEL_TEST(overruns)
{
	Random r(7);
	World w(2, 1, msgq_attrs(1, 150, 2));
	MsgqRank &a = *w.ranks[0], &b = *w.ranks[1];
	unsigned sent = 0, seen = 0;

	for (unsigned round = 0; round < 1500; round++) {
		for (size_t n = below(r, 90); n-- > 0 && a.send(b, std::to_string(sent)) == GNI_RC_SUCCESS; sent++)
			a.expect_sent(0);
		b.answer = below(r, 20) == 0;
		for (size_t n = below(r, 90); n-- > 0;)
			(void)b.progress();
		for (; !b.heard.empty(); seen++)
			b.expect(a, std::to_string(seen));
	}
	b.answer = 1;
	assert_rc(SUCCESS, b.progress());
	assert_int_equal(seen + b.heard.size(), sent);
	assert_true(sent > 20000);
}

TEST_BETWEEN(against_queues_with_losses, world_of_three, world_stop)
{
	Random r(4);

	run(r, 2, msgq_attrs(2, 6, 4), true, 1000);
	run(r, 3, msgq_attrs(1, 33, 64), true, 1000);
}

/* Each instance in a thread of its own, as processes would be: two senders of one node fight for slots. */
MODEL_TEST(all_at_once)
{
	constexpr uint32_t kMessages = 10000;
	World w(2, 2, msgq_attrs(2, 8, 16));
	std::atomic<unsigned> good = 0, finished = 0;
	std::atomic<bool> failed{false};
	/* The others would wait for ever for the one that has given up. */
	const auto give_up = [&](const char *what, size_t self, uint32_t value) {
		print_error("rank %zu: %s %u\n", self, what, value);
		failed = true;
	};
	const auto side = [&](size_t self) {
		MsgqRank &me = *w.ranks[self];
		const size_t others[2] = {self ^ 2, self ^ 3}; /* on the other node */
		uint32_t out[2] = {}, in[2] = {};
		unsigned done = 0;
		while (!failed && (in[0] < kMessages || in[1] < kMessages || out[0] < kMessages || out[1] < kMessages ||
				   finished < 4)) {
			gni_cq_entry_t e;
			bool moved = false;
			for (unsigned k = 0; k < 2; k++) {
				if (out[k] == kMessages)
					continue;
				gni_return_t rc = me.send(*w.ranks[others[k]], std::to_string(out[k]), out[k]);
				if (rc != GNI_RC_SUCCESS && rc != GNI_RC_NOT_DONE)
					return give_up("a send says", self, rc);
				out[k] += rc == GNI_RC_SUCCESS;
				moved |= rc == GNI_RC_SUCCESS;
			}
			while (me.sent(&e) == GNI_RC_SUCCESS)
				;
			const gni_return_t got = me.progress(moved ? ~0U : 1);
			if (got != GNI_RC_SUCCESS)
				return give_up("progress says", self, got);
			for (const Heard &h : me.heard) {
				const unsigned k = h.id == w.ranks[others[0]]->id ? 0 : 1;
				if (h.id != w.ranks[others[k]]->id || h.text != std::to_string(in[k]++))
					return give_up("another message than number", self, in[k] - 1);
			}
			me.heard.clear();
			if (!done && in[0] == kMessages && in[1] == kMessages && out[0] == kMessages &&
			    out[1] == kMessages) {
				done = 1;
				finished++;
			}
		}
		good += !failed;
	};
	for (auto &r : w.ranks) {
		for (auto &peer : w.ranks)
			(void)r->endpoint(*peer);
	}
	std::vector<std::thread> threads;
	for (size_t i = 0; i < 4; i++)
		threads.emplace_back(side, i);
	for (std::thread &t : threads)
		t.join();
	assert_int_equal(good, 4);
}

/* ---- released while another thread uses it ---- */

struct User {
	MsgqPair *pair;
	std::atomic<unsigned> calls{0};
	std::atomic<unsigned> unknown{0}; /* the first answer that nobody expects; 0: none */

	void check(gni_return_t rc, std::initializer_list<gni_return_t> expected)
	{
		unsigned none = 0;

		if (std::find(expected.begin(), expected.end(), rc) == expected.end())
			(void)unknown.compare_exchange_strong(none, static_cast<unsigned>(rc));
	}
};

void *use_for_ever(void *argument)
{
	auto *u = static_cast<User *>(argument);
	MsgqRank &a = u->pair->a, &b = u->pair->b;
	bool refused = false;

	while (!refused) {
		const gni_return_t sent = a.send(b, "late", 1);
		gni_cq_entry_t e = 0;

		u->check(sent, {GNI_RC_SUCCESS, GNI_RC_NOT_DONE, GNI_RC_INVALID_PARAM, GNI_RC_ERROR_RESOURCE});
		(void)a.sent(&e);
		(void)b.progress();
		b.heard.clear();
		(void)b.send(a, "back");
		(void)b.sent(&e);
		const gni_return_t got = a.progress();
		u->check(got, {GNI_RC_SUCCESS, GNI_RC_NOT_DONE, GNI_RC_INVALID_PARAM});
		a.heard.clear();
		refused = sent == GNI_RC_INVALID_PARAM && got == GNI_RC_INVALID_PARAM &&
			  GNI_MsgqIdle(a.q) == GNI_RC_INVALID_PARAM;
		u->calls++;
	}
	return nullptr;
}

/* Who is late is refused and ends; the next queue has nothing of it. */
MODEL_TEST(released_in_use)
{
	for (unsigned round = 0; round < 30; round++) {
		{
			MsgqPair p;
			User u{&p};
			pthread_t thread;
			gni_return_t rc = GNI_RC_NOT_DONE;

			assert_int_equal(pthread_create(&thread, nullptr, use_for_ever, &u), 0);
			while (u.calls < 3 * round)
				(void)sched_yield();
			while (rc == GNI_RC_NOT_DONE)
				rc = GNI_MsgqRelease(p.a.q);
			assert_rc(SUCCESS, rc);
			assert_rc(INVALID_PARAM, GNI_MsgqRelease(p.a.q));
			assert_int_equal(pthread_join(thread, nullptr), 0);
			assert_int_equal(u.unknown, 0);
		}
		{
			MsgqPair next;
			next.a.send_ok(next.b, "hello", 7);
			assert_rc(SUCCESS, next.b.progress());
			next.b.expect(next.a, "hello");
		}
		/* Behind both pairs, which have their memory in this world. */
		if (round % 10 == 9) {
			(void)world_stop(nullptr);
			(void)world_start(nullptr);
		}
	}
}

} // namespace

TEST_MAIN("message queues against plain queues")
