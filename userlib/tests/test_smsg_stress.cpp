// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Short messages against plain queues: random sizes, tags, order of calls and losses; then both sides at once. */
#include "talk.hpp"

#include <algorithm>
#include <deque>
#include <random>
#include <thread>

namespace
{

struct Message {
	std::string text;
	uint8_t tag;
};

struct Way {
	Side &from;
	Side &to;
	std::deque<Message> queue; /* what the receiver must get, in this order */
	std::deque<uint32_t> ids;  /* of sends whose event is to come */
	unsigned stalls = 0;
	unsigned delivered = 0;
};

using Random = std::minstd_rand;

size_t below(Random &r, size_t n)
{
	return r() % n;
}

void send(Way &w, Random &r, uint32_t largest)
{
	size_t n = below(r, 4) ? below(r, std::min(largest, 300U) + 1) : below(r, largest + 1);
	size_t header = below(r, n + 1);
	Message m = {text(n, static_cast<unsigned>(r())), static_cast<uint8_t>(below(r, 255))};
	uint32_t id = static_cast<uint32_t>(r());
	gni_return_t rc = w.from.send(m.text.substr(0, header), m.text.substr(header), id, m.tag);

	if (rc == GNI_RC_NOT_DONE) {
		w.stalls++;
		return;
	}
	assert_int_equal(rc, GNI_RC_SUCCESS);
	w.queue.push_back(m);
	w.ids.push_back(id);
}

void receive(Way &w, Random &r, bool losses)
{
	void *p = nullptr;
	uint8_t tag = below(r, 3) ? GNI_SMSG_ANY_TAG : static_cast<uint8_t>(below(r, 255));
	uint8_t wanted = tag;
	gni_return_t rc = GNI_SmsgGetNextWTag(w.to.ep, &p, &tag);

	if (w.queue.empty()) {
		assert_int_equal(rc, GNI_RC_NOT_DONE);
		return;
	}
	const Message &m = w.queue.front();
	/* Packets that get lost are sent again, after a while. */
	if (losses && rc == GNI_RC_NOT_DONE) {
		gni_cq_entry_t e;
		(void)GNI_CqGetEvent(w.from.remote, &e);
		return;
	}
	if (wanted != GNI_SMSG_ANY_TAG && wanted != m.tag) {
		assert_int_equal(rc, GNI_RC_NO_MATCH);
		return;
	}
	assert_int_equal(rc, GNI_RC_SUCCESS);
	assert_int_equal(tag, m.tag);
	assert_memory_equal(p, m.text.data(), m.text.size());
	if (!below(r, 3))
		return; /* looked at, released later */
	assert_rc(SUCCESS, GNI_SmsgRelease(w.to.ep));
	w.queue.pop_front();
	w.delivered++;
}

void reap(Way &w, bool losses)
{
	gni_cq_entry_t e;

	while (GNI_CqGetEvent(w.to.remote, &e) != GNI_RC_NOT_DONE)
		;
	/* Messages that are sent again may have their events behind later ones. */
	while (!w.ids.empty()) {
		assert_rc(SUCCESS, w.from.outcome(&e));
		const auto id = std::find(w.ids.begin(), w.ids.end(), GNI_CQ_GET_MSG_ID(e));
		assert_true(losses ? id != w.ids.end() : id == w.ids.begin());
		w.ids.erase(id);
	}
	assert_rc(NOT_DONE, w.from.sent(&e));
}

void run(Random &r, const Shape &shape, bool losses)
{
	Talk t(shape);
	Way ways[2] = {{.from = t.a, .to = t.b, .queue = {}, .ids = {}},
		       {.from = t.b, .to = t.a, .queue = {}, .ids = {}}};

	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(t.a.nic, 1000));
	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(t.b.nic, 1000));
	for (unsigned step = 0; step < 4000; step++) {
		Way &w = ways[below(r, 2)];
		/* Phases in which one side falls behind. */
		if (below(r, 100) < (step / 500 % 2 ? 65U : 35U))
			send(w, r, shape.largest);
		else
			receive(w, r, losses);
		if (losses && !below(r, 20))
			model::fault(static_cast<uint32_t>(below(r, 2)), "drop", below(r, 6));
		if (!below(r, 20) || ways[0].ids.size() > 100 || ways[1].ids.size() > 100) {
			reap(ways[0], losses);
			reap(ways[1], losses);
		}
	}
	for (Way &w : ways) {
		while (!w.queue.empty())
			receive(w, r, losses);
		assert_true(w.delivered > (losses ? 100U : 300U));
		assert_true(w.stalls > 0);
	}
	assert_true(t.a.surroundings_untouched() && t.b.surroundings_untouched());
}

MODEL_TEST(against_queues)
{
	Random r(20261121);

	run(r, {.credits = 3, .largest = 50, .skew = 5}, false);
	run(r, {.credits = 32, .largest = 8192}, false);
	run(r, {.credits = 64, .largest = 65535, .skew = 24}, false);
	run(r, {.credits = 8, .largest = 2048, .extra = 1000}, false);
}

MODEL_TEST(against_queues_with_losses)
{
	Random r(4);

	run(r, {.credits = 7, .largest = 3000, .skew = 1}, true);
	run(r, {.credits = 40, .largest = 100}, true);
}

/* Each side in a thread of its own, as two processes would be. */
MODEL_TEST(both_at_once)
{
	constexpr unsigned kMessages = 20000;
	Talk t({.credits = 16, .largest = 4000});
	auto length = [](unsigned i) { return i % 50 ? i % 200 : i % 4001; };
	auto side = [&](Side &s, bool *good) {
		unsigned out = 0, in = 0;
		*good = false;
		while (out < kMessages || in < kMessages) {
			gni_cq_entry_t e;
			void *p = nullptr;
			if (out < kMessages) {
				gni_return_t rc = s.send(text(length(out), out), "", out);
				if (rc != GNI_RC_SUCCESS && rc != GNI_RC_NOT_DONE)
					return;
				out += rc == GNI_RC_SUCCESS;
				if (rc == GNI_RC_NOT_DONE)
					std::this_thread::yield();
			}
			while (GNI_SmsgGetNext(s.ep, &p) == GNI_RC_SUCCESS) {
				std::string expected = text(length(in), in);
				if (memcmp(p, expected.data(), expected.size()) != 0)
					return;
				if (GNI_SmsgRelease(s.ep) != GNI_RC_SUCCESS)
					return;
				in++;
			}
			while (GNI_CqGetEvent(s.source, &e) == GNI_RC_SUCCESS)
				;
			while (GNI_CqGetEvent(s.remote, &e) != GNI_RC_NOT_DONE)
				;
		}
		*good = true;
	};
	bool a = false, b = false;
	std::thread other([&] { side(t.b, &b); });
	side(t.a, &a);
	other.join();
	assert_true(a && b);
	assert_rc(NOT_DONE, t.a.look());
	assert_rc(NOT_DONE, t.b.look());
}

} // namespace

TEST_MAIN("short messages against plain queues")
