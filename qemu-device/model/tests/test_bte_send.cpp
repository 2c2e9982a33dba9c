/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Channel sends into posted receives (N16). */
#include <random>
#include <set>
#include <thread>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/child.hpp"
#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int BIG_MDH = 100, MUTE_MDH = 101, NEAR = 102;
constexpr uint64_t BIG = 5 << 20;
constexpr uint16_t CHANNEL = 0xbeef;

uint64_t ctl_word(unsigned int channel, unsigned int mdh, unsigned int ptag = PTAG_B)
{
	return ARIES_RMT_CTL_VALID_MASK | uint64_t(ptag) << 8 | uint64_t(channel) << 16 | uint64_t(mdh) << 32;
}

/* A sender that waits for it may take the receive before this returns. */
void put_up(const FakeHost &host, unsigned int n, unsigned int channel, uint64_t at, uint32_t length,
	    unsigned int mdh = MDH)
{
	host.write64(ARIES_RMT_OFFSET_N(n), BASE + at);
	host.write32(ARIES_RMT_LENGTH_N(n), length);
	host.write32(ARIES_RMT_EVENT_N(n), 0x5000 + n);
	host.write64(ARIES_RMT_CTL_N(n), ctl_word(channel, mdh));
}

void post(const FakeHost &host, unsigned int n, unsigned int channel, uint64_t at, uint32_t length,
	  unsigned int mdh = MDH)
{
	put_up(host, n, channel, at, length, mdh);
	assert_true(host.read(ARIES_RMT_CTL_N(n), 8) & ARIES_RMT_CTL_VALID_MASK);
	assert_int_equal(host.read(ARIES_RMT_STATUS_N(n), 8), 0);
}

bool posted(const FakeHost &host, unsigned int n)
{
	return host.read(ARIES_RMT_CTL_N(n), 8) & ARIES_RMT_CTL_VALID_MASK;
}

aries_bte_desc &fill_send(const FakeHost &host, unsigned int index, unsigned int channel, uint32_t length,
			  unsigned int mode = ARIES_EV_GLOBAL)
{
	aries_bte_desc &d = host.slot(index, 2);

	d = {};
	d.pe = 1;
	d.offset = channel;
	d.local_mdh = LOCAL_MDH;
	d.local_offset = BASE;
	d.length = length;
	d.cq = 20;
	d.local_event = 0x1111;
	d.remote_event = 0x2222;
	d.op = ARIES_BTE_SEND;
	d.mode = uint8_t(mode);
	return d;
}

struct Sends : Pair {
	uint64_t near, far;

	explicit Sends(const FakeHost::Options &options = {}) : Pair(options)
	{
		near = a.alloc(BIG);
		far = b.alloc(BIG);
		a.make_mdd(NEAR, PTAG_A, near, BIG, BASE);
		b.make_mdd(BIG_MDH, PTAG_B, far, BIG, BASE, ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(21) << 24);
		b.make_mdd(MUTE_MDH, PTAG_B, far, BIG, BASE);
		for (uint64_t i = 0; i < BIG; i++)
			*a.ram(near + i) = uint8_t(i * 31 + i / 4096);
		for (uint64_t i = 0; i < BYTES; i++)
			*a.ram(local + i) = uint8_t(i * 7 + 1);
	}
	unsigned int outcome()
	{
		const Event event = a.wait_event(20, 5000);

		assert_true(bool(event));
		assert_false(bool(a.next_event(20)));
		return event.status();
	}
	unsigned int send(uint32_t length, unsigned int channel = CHANNEL)
	{
		fill_send(a, FMAD, channel, length);
		a.ring_bte(FMAD, 2);
		return outcome();
	}
	void arrived(unsigned int n, uint32_t length)
	{
		assert_int_equal(b.read(ARIES_RMT_STATUS_N(n), 8),
				 length | ARIES_RMT_STATUS_DONE_MASK); /* from node 0 */
		assert_false(posted(b, n));
		const Event event = b.next_event(21);

		assert_int_equal(event.source(), ARIES_SRC_REMOTE);
		assert_int_equal(event.info(), ARIES_INFO_REMOTE);
		assert_int_equal(event.data(), 0x5000 + n);
		assert_int_equal(event.tid(), n);
		assert_false(bool(b.next_event(21)));
	}
};

/* N16: the target decides where the data goes, to the byte; local, global and remote events. */
TEST(test_send)
{
	Sends p;
	unsigned int n = 0;

	for (uint32_t length : {1u, 63u, 64u, 65u, 4096u, 50000u, 1048577u, 4u << 20}) {
		for (uint64_t at : {0ul, 5ul, 4091ul}) {
			memset(p.b.ram(p.far), 0, BIG);
			post(p.b, n, CHANNEL, at, uint32_t(BIG - at), BIG_MDH);
			aries_bte_desc &d = fill_send(p.a, FMAD, CHANNEL, length,
						      ARIES_EV_LOCAL | ARIES_EV_GLOBAL | ARIES_EV_REMOTE);

			d.local_mdh = NEAR;
			d.local_offset = BASE + 3;
			assert_int_equal(p.a.ring_bte(FMAD, 2), 0);
			const Event first = p.a.wait_event(20, 5000), second = p.a.wait_event(20, 5000);

			assert_int_equal(first.info() | second.info(), ARIES_INFO_LOCAL | ARIES_INFO_GLOBAL);
			assert_int_equal(first.status() | second.status(), 0);
			assert_int_equal(first.source(), ARIES_SRC_BTE);
			p.arrived(n, length);
			assert_memory_equal(p.b.ram(p.far + at), p.a.ram(p.near + 3), length);
			assert_int_equal(*p.b.ram(p.far + at + length), 0);
			if (at)
				assert_int_equal(*p.b.ram(p.far + at - 1), 0);
			n = (n + 1) % ARIES_RMT_ENTRIES;
		}
	}
	assert_int_equal(p.a.counter(ARIES_CNT_BTE_SENDS), 24);
	assert_int_equal(p.a.counter(ARIES_CNT_BTE_PUTS), 0);
}

/* N16: without a receive there is a clear error, and nothing else. */
TEST(test_no_receive)
{
	Sends p;

	assert_int_equal(p.send(64), ARIES_ST_NO_RECEIVE);
	post(p.b, 4, CHANNEL, 0, BYTES);
	assert_int_equal(p.send(64, CHANNEL + 1), ARIES_ST_NO_RECEIVE);
	/* Another domain's. */
	p.b.set_key(9, KEY + 1);
	p.b.write64(ARIES_RMT_CTL_N(4), 0);
	p.b.write64(ARIES_RMT_CTL_N(4), ctl_word(CHANNEL, MDH, 9));
	assert_int_equal(p.send(64), ARIES_ST_NO_RECEIVE);
	/* Of a tag that is not in use. */
	p.b.write64(ARIES_RMT_CTL_N(4), 0);
	p.b.write64(ARIES_RMT_CTL_N(4), ctl_word(CHANNEL, MDH, 200));
	assert_int_equal(p.send(64), ARIES_ST_NO_RECEIVE);
	/* Taken back; used up. */
	p.b.write64(ARIES_RMT_CTL_N(4), 0);
	assert_int_equal(p.send(64), ARIES_ST_NO_RECEIVE);
	post(p.b, 4, CHANNEL, 0, BYTES);
	assert_int_equal(p.send(64), ARIES_ST_OK);
	p.arrived(4, 64);
	assert_int_equal(p.send(64), ARIES_ST_NO_RECEIVE);
	assert_int_equal(p.b.counter(ARIES_CNT_RX_REFUSED), 6);
	assert_int_equal(p.a.read(ARIES_ERR_COUNT, 4), 6);
	assert_int_equal(p.a.read(ARIES_ERR_EVENT, 8) & 0xffff, ARIES_ST_NO_RECEIVE);
	/* A reset takes all back. */
	post(p.b, 5, CHANNEL, 0, BYTES);
	aries_nic_reset(p.b.nic());
	assert_false(posted(p.b, 5));
	assert_int_equal(p.b.read(ARIES_RMT_LENGTH_N(5), 4), 0);
}

TEST(test_too_long)
{
	Sends p;

	post(p.b, 0, CHANNEL, 0, 99);
	assert_int_equal(p.send(100), ARIES_ST_RECEIVE_LENGTH);
	assert_true(posted(p.b, 0));
	assert_int_equal(*p.b.ram(p.target), 0);
	assert_int_equal(p.send(99), ARIES_ST_OK);
	p.arrived(0, 99);
	assert_int_equal(*p.b.ram(p.target + 99), 0);
	/* The buffer is checked against its memory domain when it is used. */
	post(p.b, 0, CHANNEL, BYTES - 50, 100);
	assert_int_equal(p.send(100), ARIES_ST_BOUNDS);
	assert_true(posted(p.b, 0));
	assert_int_equal(p.send(50), ARIES_ST_OK);
	p.arrived(0, 50);
}

TEST(test_refusals)
{
	Sends p;
	auto refused = [&](uint64_t at, unsigned int size, uint64_t value) {
		const unsigned int errors = p.b.guest_errors;

		aries_nic_write(p.b.nic(), 0, at, size, value);
		assert_int_equal(p.b.guest_errors - errors, 1);
	};
	auto sent = [&](unsigned int status, auto change) {
		change(fill_send(p.a, FMAD, CHANNEL, 64));
		p.a.ring_bte(FMAD, 2);
		assert_int_equal(p.outcome(), status);
		assert_true(posted(p.b, 3));
	};

	refused(ARIES_RMT_CTL_N(3), 8, ctl_word(CHANNEL, MDH)); /* no length */
	post(p.b, 3, CHANNEL, 0, 64);
	refused(ARIES_RMT_CTL_N(3), 8, ctl_word(CHANNEL, MDH)); /* posted already */
	refused(ARIES_RMT_CTL_N(3), 8, 2);
	refused(ARIES_RMT_OFFSET_N(3), 8, uint64_t(1) << 40);
	refused(ARIES_RMT_STATUS_N(3), 8, 0);
	sent(ARIES_ST_RESERVED, [](aries_bte_desc &d) { d.mdh = 1; });
	sent(ARIES_ST_RESERVED, [](aries_bte_desc &d) { d.offset = 0x10000; });
	sent(ARIES_ST_RESERVED, [](aries_bte_desc &d) { d.reserved[0] = 1; });
	sent(ARIES_ST_LENGTH, [](aries_bte_desc &d) { d.length = 0; });
	sent(ARIES_ST_NO_NODE, [](aries_bte_desc &d) { d.pe = 7; });
	sent(ARIES_ST_LOCAL_MDD, [](aries_bte_desc &d) { d.local_mdh = 55; });
	sent(ARIES_ST_LOCAL_BOUNDS, [](aries_bte_desc &d) { d.local_offset = BASE + BYTES; });
	sent(ARIES_ST_LOCAL_ACCESS, [](aries_bte_desc &d) { d.flags = ARIES_BTE_PHYS; });
	p.b.write64(ARIES_RMT_CTL_N(3), 0);
	/* A remote event that nobody could get; without asking for it the message arrives silently. */
	post(p.b, 3, CHANNEL, 0, 64, MUTE_MDH);
	sent(ARIES_ST_NO_CQ, [](aries_bte_desc &d) { d.mode |= ARIES_EV_REMOTE; });
	assert_int_equal(p.send(64), ARIES_ST_OK);
	assert_true(p.b.read(ARIES_RMT_STATUS_N(3), 8) & ARIES_RMT_STATUS_DONE_MASK);
	assert_false(bool(p.b.next_event(21)));
}

/* Lost or refused on the way: the receive is as before, and the next try gets it. Copies change nothing (N19, N27). */
TEST(test_faults)
{
	Sends p;
	char err[64];

	post(p.b, 1, CHANNEL, 0, BYTES);
	post(p.b, 2, CHANNEL, 0, BYTES);
	for (const char *fault : {"drop", "corrupt"}) {
		aries_nic_set_fault(p.a.nic(), fault, 1, err, sizeof(err));
		assert_int_equal(p.send(5000), *fault == 'd' ? ARIES_ST_TIMEOUT : ARIES_ST_CRC);
		assert_true(posted(p.b, 1) && posted(p.b, 2));
		assert_false(bool(p.b.next_event(21)));
	}
	aries_nic_set_fault(p.a.nic(), "duplicate", 50, err, sizeof(err));
	aries_nic_set_fault(p.a.nic(), "reorder", 1, err, sizeof(err));
	assert_int_equal(p.send(5000), ARIES_ST_OK);
	p.arrived(1, 5000);
	assert_memory_equal(p.b.ram(p.target), p.a.ram(p.local), 5000);
	assert_true(posted(p.b, 2));
	/* The memory domain goes away and comes back. */
	assert_true(p.b.invalidate(MDH));
	assert_int_equal(p.send(5000), ARIES_ST_MDD);
	assert_true(posted(p.b, 2));
}

/* The oldest receive of the channel, whatever its number. */
TEST(test_order)
{
	Sends p;
	std::mt19937 random(16);
	std::vector<unsigned int> waiting[3];
	std::set<unsigned int> free;

	for (unsigned int n = 0; n < ARIES_RMT_ENTRIES; n++)
		free.insert(n);
	for (unsigned int round = 0; round < 1000; round++) {
		const unsigned int channel = random() % 3;

		if (!free.empty() && random() % 2) {
			const unsigned int n = *std::next(free.begin(), random() % long(free.size()));

			free.erase(n);
			post(p.b, n, channel, n * 1000, 1000);
			waiting[channel].push_back(n);
		} else if (waiting[channel].empty()) {
			assert_int_equal(p.send(1, channel), ARIES_ST_NO_RECEIVE);
		} else {
			const unsigned int n = waiting[channel].front();

			*p.a.ram(p.local) = uint8_t(round);
			assert_int_equal(p.send(1 + round % 1000, channel), ARIES_ST_OK);
			p.arrived(n, 1 + round % 1000);
			assert_int_equal(*p.b.ram(p.target + n * 1000), uint8_t(round));
			waiting[channel].erase(waiting[channel].begin());
			free.insert(n);
		}
	}
}

/* N17: a fenced send starts after what was before it; many senders never get the same receive. */
TEST(test_many)
{
	Sends p;
	constexpr unsigned int THREADS = 4, EACH = ARIES_RMT_ENTRIES / THREADS;

	for (unsigned int round = 0; round < 30; round++) {
		std::vector<std::thread> threads;
		std::atomic<unsigned int> failures{0};

		for (unsigned int n = 0; n < ARIES_RMT_ENTRIES; n++)
			post(p.b, n, CHANNEL, n * 1024, 1024);
		for (unsigned int t = 0; t < THREADS; t++) {
			p.a.enable_fmad(t + 1, PTAG_A, OWNER);
			for (unsigned int i = 0; i < EACH; i++)
				memset(p.a.ram(p.local + (t * EACH + i) * 1024), int(t * EACH + i + 1), 1024);
			threads.emplace_back([&, t] {
				for (unsigned int i = 0; i < EACH; i++) {
					aries_bte_desc &d = fill_send(p.a, t + 1, CHANNEL, 1024, 0);

					d.local_offset = BASE + (t * EACH + i) * 1024;
					d.flags = i == EACH - 1 ? ARIES_BTE_FENCE : 0;
					if (p.a.ring_bte(t + 1, 2))
						failures++;
				}
			});
		}
		for (std::thread &thread : threads)
			thread.join();
		assert_int_equal(failures, 0);
		std::set<uint8_t> seen;

		for (unsigned int n = 0; n < ARIES_RMT_ENTRIES; n++) {
			const uint8_t *at = p.b.ram(p.target + n * 1024);

			for (unsigned int i = 0; i < 200 && posted(p.b, n); i++)
				usleep(1000);
			assert_true(p.b.read(ARIES_RMT_STATUS_N(n), 8) & ARIES_RMT_STATUS_DONE_MASK);
			assert_memory_equal(at, at + 512, 512);
			assert_true(seen.insert(*at).second);
			assert_true(bool(p.b.wait_event(21, 1000)));
		}
		assert_int_equal(seen.size(), ARIES_RMT_ENTRIES);
	}
}

/* Taken back while the message is arriving: it ends, and the receive can be posted anew. */
TEST(test_withdraw_under_way)
{
	Sends p;
	unsigned int flushed = 0;

	for (unsigned int round = 0; round < 60; round++) {
		post(p.b, 7, CHANNEL, 0, BIG, BIG_MDH);
		fill_send(p.a, FMAD, CHANNEL, BIG).local_mdh = NEAR;
		p.a.ring_bte(FMAD, 2);
		std::this_thread::sleep_for(std::chrono::microseconds(20 * round));
		p.b.write64(ARIES_RMT_CTL_N(7), 0);
		/* When this has ended nobody writes to the buffer any more. */
		p.b.write32(ARIES_INV_PTES, BIG_MDH);
		while (p.b.read(ARIES_INV_STATUS, 4))
			;
		for (uint64_t at = 0; at < BIG; at += 64)
			*p.b.ram(p.far + at) = uint8_t(~*p.a.ram(p.near + at));
		const unsigned int status = p.outcome();

		for (uint64_t at = 0; at < BIG; at += 64)
			assert_int_equal(*p.b.ram(p.far + at), uint8_t(~*p.a.ram(p.near + at)));
		assert_true(status == ARIES_ST_OK || status == ARIES_ST_FLUSHED || status == ARIES_ST_NO_RECEIVE);
		flushed += status == ARIES_ST_FLUSHED;
		assert_false(posted(p.b, 7));
		/* Which of the two was faster is told, to both alike. */
		const bool arrived = p.b.read(ARIES_RMT_STATUS_N(7), 8) & ARIES_RMT_STATUS_DONE_MASK;

		assert_int_equal(arrived, status == ARIES_ST_OK);
		assert_int_equal(bool(p.b.next_event(21)), arrived);
	}
	post(p.b, 7, CHANNEL, 0, 64);
	assert_int_equal(p.send(64), ARIES_ST_OK);
	p.b.write64(ARIES_RMT_CTL_N(7), 0);
	p.arrived(7, 64);
	assert_int_equal(p.b.guest_errors, 0);
	print_message("%u of 60 taken back on the way\n", flushed);
}

/* Taken back, or taken back and posted anew, when the data is there and the target has not been told yet. */
TEST(test_withdraw_at_the_end)
{
	FakeHost::Options options;
	std::function<void()> copied;

	options.on_trace = [&](const char *event, uint64_t) {
		if (copied && !strcmp(event, "bte_copied"))
			copied();
	};
	Sends p(options);

	post(p.b, 7, CHANNEL, 0, BYTES);
	copied = [&] { p.b.write64(ARIES_RMT_CTL_N(7), 0); };
	assert_int_equal(p.send(64), ARIES_ST_FLUSHED);
	assert_false(posted(p.b, 7));
	assert_int_equal(p.b.read(ARIES_RMT_STATUS_N(7), 8), 0);
	post(p.b, 7, CHANNEL, 0, BYTES);
	copied = [&] {
		p.b.write64(ARIES_RMT_CTL_N(7), 0);
		post(p.b, 7, CHANNEL, 1000, BYTES - 1000);
	};
	assert_int_equal(p.send(64), ARIES_ST_FLUSHED);
	assert_true(posted(p.b, 7));
	assert_false(bool(p.b.next_event(21)));
	assert_int_equal(p.a.counter(ARIES_CNT_BTE_SENDS), 0);
	copied = nullptr;
	assert_int_equal(p.send(64), ARIES_ST_OK);
	p.arrived(7, 64);
	assert_memory_equal(p.b.ram(p.target + 1000), p.a.ram(p.local), 64);
}

bool all_are(const uint8_t *at, uint64_t bytes, uint8_t value)
{
	return *at == value && !memcmp(at, at + 1, bytes - 1);
}

/**
 * Taken back by a receiver that then waits as the driver does, and uses its buffer for something else. A sender that
 * has looked before is waited for, however long it takes; one that has not looked yet writes nothing.
 */
TEST(test_withdraw_waits)
{
	for (uint64_t bytes : {uint64_t(64), BYTES, BIG}) {
		FakeHost::Options options;
		std::atomic<bool> inside{false}, go_on{false};

		options.on_trace = [&](const char *event, uint64_t receive) {
			if (strcmp(event, "send_writes") != 0)
				return;
			assert_int_equal(receive, 7);
			inside = true;
			while (!go_on)
				usleep(1000);
		};
		Sends p(options);

		memset(p.b.ram(p.far), 0x77, BIG);
		post(p.b, 7, CHANNEL, 0, BIG, BIG_MDH);
		fill_send(p.a, FMAD, CHANNEL, uint32_t(bytes)).local_mdh = NEAR;
		std::thread sender([&p] { p.a.ring_bte(FMAD, 2); });

		while (!inside)
			usleep(1000);
		p.b.write64(ARIES_RMT_CTL_N(7), 0);
		assert_false(posted(p.b, 7));
		p.b.write32(ARIES_INV_PTES, BIG_MDH);
		for (unsigned int i = 0; i < 20; i++) {
			assert_int_equal(p.b.read(ARIES_INV_STATUS, 4), 1);
			usleep(1000);
		}
		go_on = true;
		while (p.b.read(ARIES_INV_STATUS, 4))
			usleep(100);
		memset(p.b.ram(p.far), 0x55, BIG);
		assert_int_equal(p.outcome(), ARIES_ST_FLUSHED);
		sender.join();
		assert_true(all_are(p.b.ram(p.far), BIG, 0x55));
		assert_false(bool(p.b.next_event(21)));
	}
}

/* The same for one that has not looked yet: it writes nothing, also if a sender of its node has taken the next one. */
TEST(test_withdraw_before_the_write)
{
	enum { GONE, ANEW, TAKEN_ANEW };
	FakeHost::Options options;
	std::function<void()> matched;
	std::atomic<bool> inside{false}, go_on{false};
	thread_local bool second = false;

	options.on_trace = [&](const char *event, uint64_t) {
		if (matched && !second && !strcmp(event, "send_matched"))
			matched();
		if (second && !strcmp(event, "send_writes")) {
			inside = true;
			while (!go_on)
				usleep(1000);
		}
	};
	Sends p(options);

	p.a.enable_fmad(2, PTAG_A, OWNER);
	for (unsigned int then : {GONE, ANEW, TAKEN_ANEW}) {
		std::thread other;

		post(p.b, 7, CHANNEL, 0, BYTES);
		matched = [&] {
			assert_int_equal(p.b.read(ARIES_RMT_STATUS_N(7), 8), ARIES_RMT_STATUS_BUSY_MASK);
			p.b.write64(ARIES_RMT_CTL_N(7), 0);
			p.b.write32(ARIES_INV_PTES, MDH);
			while (p.b.read(ARIES_INV_STATUS, 4))
				usleep(100);
			memset(p.b.ram(p.target), 0x55, BYTES);
			if (then != GONE)
				post(p.b, 7, CHANNEL, 4096, 4096);
			if (then != TAKEN_ANEW)
				return;
			fill_send(p.a, 2, CHANNEL, 64, 0);
			other = std::thread([&p] {
				second = true;
				p.a.ring_bte(2, 2);
			});
			while (!inside)
				usleep(1000);
		};
		assert_int_equal(p.send(64), ARIES_ST_FLUSHED);
		assert_true(all_are(p.b.ram(p.target), BYTES, 0x55));
		assert_int_equal(posted(p.b, 7), then != GONE);
		assert_false(bool(p.b.next_event(21)));
		if (then == ANEW)
			p.b.write64(ARIES_RMT_CTL_N(7), 0);
		if (then == TAKEN_ANEW) {
			go_on = true;
			other.join();
			p.arrived(7, 64);
			assert_memory_equal(p.b.ram(p.target + 4096), p.a.ram(p.local), 64);
		}
	}
}

[[noreturn]] void send_for_ever(const std::string &path)
{
	FakeHost a(path, 0);
	const uint64_t near = a.alloc(BIG);

	a.set_key(PTAG_A, KEY);
	a.enable_fmad(FMAD, PTAG_A, OWNER);
	a.make_mdd(LOCAL_MDH, PTAG_A, near, BIG, BASE);
	fill_send(a, FMAD, CHANNEL, BIG, 0);
	for (;;) {
		a.ring_bte(FMAD, 2);
		usleep(200);
		aries_nic_tick(a.nic());
	}
}

/* A sender that is killed leaves the receive for the next one. */
TEST(test_sender_dies)
{
	const std::string path = fabric_path();
	FakeHost b(path, 1);
	const uint64_t far = b.alloc(BIG);

	b.set_key(PTAG_B, KEY);
	b.make_mdd(MDH, PTAG_B, far, BIG, BASE);
	for (unsigned int round = 0; round < 6; round++) {
		const pid_t child = quiet_fork();

		assert_true(child >= 0);
		if (!child)
			send_for_ever(path);
		for (unsigned int i = 0; i < 40 + 10 * round; i++) {
			if (!posted(b, 0))
				put_up(b, 0, CHANNEL, 0, BIG);
			usleep(1000);
			aries_nic_tick(b.nic());
		}
		kill(child, SIGKILL);
		waitpid(child, nullptr, 0);
		for (unsigned int i = 0; i < 300 && (b.read(ARIES_RMT_STATUS_N(0), 8) & ARIES_RMT_STATUS_BUSY_MASK);
		     i++) {
			usleep(10000);
			aries_nic_tick(b.nic());
		}
		assert_false(b.read(ARIES_RMT_STATUS_N(0), 8) & ARIES_RMT_STATUS_BUSY_MASK);
	}
}

} // namespace

TEST_MAIN("tests")
