// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * A conversation of short messages in both directions, again and again, with one fault at each of its doorbells in
 * turn; and a random one whose links flap all the time. Each message whose event says success comes, once, whole and in
 * order. UGNI_TEST_SEED repeats a random run.
 */
#include "talk.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <thread>

namespace
{

using Clock = std::chrono::steady_clock;

enum class Fate { open, success, failure };

struct Message {
	uint32_t id;
	std::string text;
	Fate fate;
};

/* One direction: what was accepted and has not been received. */
struct Way {
	Side &from;
	Side &to;
	bool exact; /* a send that failed has not arrived */
	std::deque<Message> waiting = {};
	uint32_t next = 1;
	unsigned failures = 0;
	unsigned arrived_late = 0; /* had an event of failure */

	Way(Side &from_, Side &to_, bool exact_) : from(from_), to(to_), exact(exact_) {}

	bool send(size_t bytes)
	{
		const std::string content = text(bytes, next);
		const gni_return_t rc = from.send(content, "", next, static_cast<uint8_t>(next % 255));

		if (rc == GNI_RC_NOT_DONE)
			return false;
		assert_int_equal(rc, GNI_RC_SUCCESS);
		waiting.push_back({next++, content, Fate::open});
		return true;
	}

	void events()
	{
		gni_cq_entry_t e;
		gni_return_t rc;

		while ((rc = GNI_CqGetEvent(from.source, &e)) != GNI_RC_NOT_DONE) {
			assert_true(rc == GNI_RC_SUCCESS || rc == GNI_RC_TRANSACTION_ERROR);
			const bool failed = rc != GNI_RC_SUCCESS;
			failures += failed;
			const auto m = std::find_if(waiting.begin(), waiting.end(),
						    [&](const Message &w) { return w.id == GNI_CQ_GET_MSG_ID(e); });
			if (m == waiting.end())
				continue; /* received before */
			if (failed && exact)
				waiting.erase(m);
			else
				m->fate = failed ? Fate::failure : Fate::success;
		}
	}

	/* Return: whether there was a message. */
	bool receive()
	{
		void *p = nullptr;
		uint8_t tag = GNI_SMSG_ANY_TAG;
		const gni_return_t rc = GNI_SmsgGetNextWTag(to.ep, &p, &tag);

		if (rc == GNI_RC_NOT_DONE)
			return false;
		assert_int_equal(rc, GNI_RC_SUCCESS);
		/* What failed may have been left out, but nothing else. */
		if (waiting.empty() || !same(waiting.front(), p, tag))
			events();
		while (!waiting.empty() && !same(waiting.front(), p, tag)) {
			assert_int_equal(static_cast<int>(waiting.front().fate), static_cast<int>(Fate::failure));
			waiting.pop_front();
		}
		assert_false(waiting.empty());
		arrived_late += waiting.front().fate == Fate::failure;
		waiting.pop_front();
		assert_rc(SUCCESS, GNI_SmsgRelease(to.ep));
		return true;
	}

	static bool same(const Message &m, const void *p, uint8_t tag)
	{
		return tag == m.id % 255 && memcmp(p, m.text.data(), m.text.size()) == 0;
	}

	bool all_there() const
	{
		return std::all_of(waiting.begin(), waiting.end(),
				   [](const Message &m) { return m.fate == Fate::failure; });
	}
};

void drain(const Side &s)
{
	gni_cq_entry_t e;

	while (GNI_CqGetEvent(s.remote, &e) != GNI_RC_NOT_DONE)
		;
}

/* Until everything has its event and has come. */
void finish(Way &x, Way &y)
{
	const auto end = Clock::now() + std::chrono::minutes(2);

	do {
		assert_true(Clock::now() < end);
		for (Way *w : {&x, &y}) {
			w->events();
			while (w->receive())
				;
			drain(w->to);
		}
	} while (!x.all_there() || !y.all_there() || GNI_EpIdle(x.from.ep) != GNI_RC_SUCCESS ||
		 GNI_EpIdle(y.from.ep) != GNI_RC_SUCCESS);
}

void conversation(Way &x, Way &y)
{
	static constexpr size_t kSizes[] = {8, 60, 300, 40, 3000, 17, 90};

	for (unsigned i = 0; i < 12; i++) {
		(void)x.send(kSizes[i % std::size(kSizes)]);
		if (i % 3 == 1)
			(void)x.send(33);
		if (i % 4 == 2)
			(void)x.receive();
		if (i % 3 == 0)
			(void)y.send(kSizes[(i + 3) % std::size(kSizes)]);
		if (i % 5 == 3) {
			while (x.receive())
				;
			while (y.receive())
				;
		}
		if (i % 2) {
			x.events();
			y.events();
		}
	}
	finish(x, y);
}

struct Fault {
	const char *name;
	uint32_t node;
	bool link;
};

constexpr Fault kFaults[] = {
	{"drop", 0, false},    {"drop", 1, false},    {"drop-response", 0, false}, {"drop-response", 1, false},
	{"corrupt", 0, false}, {"corrupt", 1, false}, {"link", 0, true},           {"link", 1, true},
};

/* The fault comes before doorbell @at; a link comes back three doorbells later. Return: doorbells of the conversation
 */
unsigned with_fault(Way &x, Way &y, const Fault &f, unsigned at)
{
	unsigned doorbells = 0;

	model::on_doorbell([&](uint32_t) {
		if (doorbells == at)
			model::fault(f.node, f.name, f.link ? 0 : 1);
		if (f.link && doorbells == at + 3)
			model::fault(f.node, f.name, 1);
		doorbells++;
	});
	conversation(x, y);
	model::on_doorbell(nullptr);
	model::fault(f.node, f.name, f.link);
	return doorbells;
}

void sweep(gni_smsg_type_t type, uint16_t credits)
{
	Talk t({.credits = credits, .largest = 3000, .type = type, .remote_entries = 4000});
	Way x(t.a, t.b, true), y(t.b, t.a, true);

	conversation(x, y);
	for (const Fault &f : kFaults) {
		for (unsigned at = 0;; at++) {
			if (with_fault(x, y, f, at) <= at)
				break;
			if (type == GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT)
				assert_int_equal(x.failures + y.failures, 0);
		}
	}
	assert_int_equal(x.arrived_late + y.arrived_late, 0);
	assert_true(type == GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT || x.failures + y.failures > 0);
	assert_true(t.a.surroundings_untouched() && t.b.surroundings_untouched());
}

MODEL_TEST(each_doorbell)
{
	for (uint16_t credits : {1, 2, 3, 16})
		sweep(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT, credits);
}

MODEL_TEST(each_doorbell_of_plain_mailboxes)
{
	for (uint16_t credits : {2, 16})
		sweep(GNI_SMSG_TYPE_MBOX, credits);
}

uint32_t seed()
{
	const char *given = getenv("UGNI_TEST_SEED"); // NOLINT(concurrency-mt-unsafe)
	const uint32_t s = given ? static_cast<uint32_t>(strtoul(given, nullptr, 0)) : std::random_device{}();

	print_message("UGNI_TEST_SEED=%u\n", s);
	return s;
}

/* Cuts links and mends them all the time. A test that fails leaves it to the tear-down. */
class Flapper
{
public:
	void start(uint32_t seed)
	{
		end_ = false;
		thread_ = std::thread([this, seed] {
			std::minstd_rand r(seed);
			while (!end_) {
				const uint32_t node = r() % 2;
				model::fault(node, "link", 0);
				for (unsigned i = r() % 3000; i; i--)
					std::atomic_signal_fence(std::memory_order_seq_cst);
				model::fault(node, "link", 1);
				std::this_thread::sleep_for(std::chrono::microseconds(r() % 200));
			}
		});
	}
	void stop()
	{
		end_ = true;
		if (thread_.joinable())
			thread_.join();
	}

private:
	std::atomic<bool> end_{false};
	std::thread thread_;
};

Flapper flapper;

int flapper_stop(void **state)
{
	flapper.stop();
	return world_stop(state);
}

/* Links of both sides flap while all kinds of faults come and go; repeats are few, so that sends fail, too. */
TEST_BETWEEN(flapping_links, world_start, flapper_stop)
{
	std::minstd_rand random(seed());
	Talk t({.credits = 16, .largest = 200, .remote_entries = 4000});
	constexpr uint32_t kMessages = 3000;
	/* Several faults at once leave a fate open for longer than the repeats of a send. */
	Way x(t.a, t.b, false), y(t.b, t.a, false);

	flapper.start(random());
	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(t.a.nic, 3));
	const auto limit = Clock::now() + std::chrono::minutes(1);
	while (x.next < kMessages || y.next < kMessages) {
		assert_true(Clock::now() < limit);
		Way &w = random() % 2 ? x : y;
		switch (random() % 4) {
		case 0:
		case 1:
			(void)w.send(4 + random() % 150);
			break;
		case 2:
			(void)w.receive();
			break;
		default:
			w.events();
		}
		if (random() % 50 == 0)
			model::fault(random() % 2, kFaults[random() % 6].name, random() % 4);
		drain(t.a);
		drain(t.b);
	}
	flapper.stop();
	for (const Fault &f : kFaults)
		model::fault(f.node, f.name, f.link);
	finish(x, y);
	print_message("%u and %u repeats\n", t.a.statistic(GNI_STAT_SMSG_RETRANS_COUNT),
		      t.b.statistic(GNI_STAT_SMSG_RETRANS_COUNT));
	print_message("%u and %u messages, %u and %u failures, of these %u and %u had arrived\n", x.next, y.next,
		      x.failures, y.failures, x.arrived_late, y.arrived_late);
}

} // namespace

TEST_MAIN("a fault at each doorbell of short messages")
