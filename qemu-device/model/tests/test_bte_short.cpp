/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Short block transfers between neighbours, which have a way of their own: it comes to the same as the general one. */
#include <random>
#include <thread>

#include "tests/blocks.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int RO = 102, HOLE = 103;
constexpr uint64_t SMALL = 16 * PAGE;

/** Blocks, and regions whose pages are not writable, or not there, from the third one on. */
struct Way : Blocks {
	explicit Way(bool general)
	{
		/* Any limit of injection makes all transfers general; this one never makes them wait. */
		if (general)
			a.write32(ARIES_BI_LIMIT, 1000);
		for (unsigned int mdh : {RO, HOLE}) {
			auto *pte = reinterpret_cast<uint64_t *>(
				b.ram(b.make_mdd(mdh, PTAG_B, b.alloc(SMALL), SMALL, BASE)));

			auto *own = reinterpret_cast<uint64_t *>(
				a.ram(a.make_mdd(mdh, PTAG_A, a.alloc(SMALL), SMALL, BASE)));

			for (uint64_t *entry : {&pte[2], &own[2]})
				*entry = mdh == RO ? *entry & ~uint64_t(ARIES_PTE_WRITE) : 0;
		}
	}

	/* Both sides' events, then everything that the transfer may have changed. */
	std::vector<uint64_t> run(const aries_bte_desc &work)
	{
		std::vector<uint64_t> seen;

		a.slot(FMAD, 0) = work;
		seen.push_back(a.ring_bte(FMAD, 0));
		wait_idle();
		while (const Event event = a.next_event(20))
			seen.push_back(event.word);
		while (const Event event = b.next_event(21))
			seen.push_back(event.word);
		seen.push_back(a.read(ARIES_FMAD_STATUS_N(FMAD), 8));
		for (unsigned int which = 0; which < ARIES_CNT_COUNT; which++) {
			if (!timed(which))
				seen.push_back(a.counter(which) << 32 | b.counter(which));
		}
		return seen;
	}

	/* Modelled time depends on the moment; hops and tiles on the way that was found free. */
	static bool timed(unsigned int which)
	{
		return which == ARIES_CNT_LATENCY_NS || which == ARIES_CNT_LATENCY_LAST_NS ||
		       which == ARIES_CNT_NETLINK_TILES;
	}
};

aries_bte_desc random_work(std::mt19937 &random)
{
	auto below = [&](uint32_t n) { return random() % n; };
	aries_bte_desc d = {};

	d.pe = below(20) ? 1 : below(5) * 19; /* itself, and nodes that do not exist */
	d.mdh = uint16_t(below(8) ? FAR : below(3) ? RO + below(2) : FAR + 7);
	d.local_mdh = uint16_t(below(8) ? NEAR : below(3) ? RO + below(2) : NEAR + 7);
	d.op = uint8_t(below(3) ? ARIES_BTE_PUT : ARIES_BTE_GET);
	d.length = below(10) ? 1 + below(4096) : 1 + below(9000);
	d.offset = BASE + below(3 * PAGE);
	d.local_offset = BASE + below(3 * PAGE);
	if (!below(20))
		d.offset = BASE + BIG - below(4096);
	if (d.op == ARIES_BTE_GET && below(10)) {
		d.offset &= ~uint64_t(3);
		d.length = (d.length + 3) & ~3u;
	}
	d.cq = 20;
	d.tid = uint16_t(random());
	d.local_event = random();
	d.remote_event = random();
	d.mode = uint8_t(below(8) | below(4) << 4);
	d.flags = below(8) ? 0 : ARIES_BTE_FENCE;
	return d;
}

TEST(test_as_the_general_way)
{
	Way quick(false), general(true);
	std::mt19937 random(20261121);

	for (unsigned int n = 0; n < 4000; n++) {
		const aries_bte_desc work = random_work(random);
		const auto one = quick.run(work), other = general.run(work);

		if (one != other)
			print_message("transfer %u: op %u, %u bytes, status %u\n", n, work.op, work.length,
				      unsigned(one[0]));
		assert_int_equal(one.size(), other.size());
		for (size_t i = 0; i < one.size(); i++)
			assert_int_equal(one[i], other[i]);
	}
	assert_memory_equal(quick.b.ram(quick.far), general.b.ram(general.far), BIG);
	assert_memory_equal(quick.a.ram(quick.near), general.a.ram(general.near), BIG);
	assert_true(quick.a.counter(ARIES_CNT_BTE_PUTS) > 1000 && quick.a.counter(ARIES_CNT_BTE_GETS) > 300);
	assert_true(quick.a.counter(ARIES_CNT_ERRORS) > 500);
	/* Both are as fast as each other in modelled time, but for the moments at which they were rung. */
	const double ratio =
		double(quick.a.counter(ARIES_CNT_LATENCY_NS)) / double(general.a.counter(ARIES_CNT_LATENCY_NS));

	assert_true(ratio > 0.5 && ratio < 2);
}

/*
 * Short ones take channels without the mutex under which long ones wait for them: nobody may sleep on, and the last
 * bytes tell that all arrived.
 */
TEST(test_beside_long_ones)
{
	constexpr unsigned int THREADS = 3;
	constexpr uint64_t ROUNDS = 2000, LONG = 64;
	Blocks p;
	std::atomic<unsigned int> failed{0};
	std::vector<std::thread> threads;

	for (unsigned int t = 0; t < THREADS; t++) {
		p.a.enable_fmad(FMAD + 1 + t, PTAG_A, OWNER);
		p.a.make_cq(30 + t, 6, OWNER);
	}
	for (unsigned int t = 0; t < THREADS; t++) {
		threads.emplace_back([&, t] {
			p.fill(FMAD + 1 + t, 0, ARIES_BTE_PUT, (t + 2) << 20, 0, 4096).cq = uint16_t(30 + t);
			for (uint64_t i = 0; i < ROUNDS; i++) {
				p.a.ring_bte(FMAD + 1 + t, 0);
				const Event event = p.a.wait_event(30 + t, 20000);

				failed += !event || event.status();
			}
		});
	}
	for (unsigned int rung = 0, ended = 0; ended < LONG;) {
		if (rung < LONG && rung < ended + 8) {
			p.fill(FMAD, rung % 8, ARIES_BTE_PUT, 0, 8192, (1 << 20) + 64 * rung);
			assert_int_equal(p.a.ring_bte(FMAD, rung % 8), 0);
			rung++;
			continue;
		}
		assert_int_equal(p.outcome(), 0);
		ended++;
	}
	for (std::thread &thread : threads)
		thread.join();
	p.wait_idle();
	assert_int_equal(failed, 0);
	assert_int_equal(p.a.counter(ARIES_CNT_BTE_PUTS), LONG + THREADS * ROUNDS);
	for (unsigned int t = 0; t < THREADS; t++)
		assert_int_equal(p.there(((t + 2) << 20) + 4095), Blocks::pattern(4095));
}

/* Threads in the middle of a transfer wait until the test lets them go. */
struct Gate {
	std::atomic<bool> shut{false};
	std::atomic<unsigned int> inside{0};

	FakeHost::Options options()
	{
		return {.on_trace = [this](const char *event, uint64_t) {
			if (!shut || strcmp(event, "bte_done") != 0)
				return;
			inside++;
			while (shut)
				std::this_thread::yield();
			inside--;
		}};
	}
	void wait_for(unsigned int threads) const
	{
		while (inside < threads)
			std::this_thread::yield();
	}
};

/* All four channels are with short transfers when a long one comes; it starts when they have ended. */
TEST(test_wakes_who_waits)
{
	Gate gate;
	Blocks p(gate.options());
	std::vector<std::thread> threads;

	gate.shut = true;
	for (unsigned int t = 0; t < ARIES_BTE_CHANNELS; t++) {
		p.a.enable_fmad(FMAD + 1 + t, PTAG_A, OWNER);
		p.fill(FMAD + 1 + t, 0, ARIES_BTE_PUT, 0, 0, 64, 0);
		threads.emplace_back([&, t] { p.a.ring_bte(FMAD + 1 + t, 0); });
	}
	gate.wait_for(ARIES_BTE_CHANNELS);
	p.fill(FMAD, 0, ARIES_BTE_PUT, 0, 0, 64);
	p.a.ring_bte(FMAD, 0);
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
	assert_false(bool(p.a.next_event(20))); /* N14 */
	gate.shut = false;
	for (std::thread &thread : threads)
		thread.join();
	assert_int_equal(p.outcome(), 0);
}

/* A short one with a fence, or behind something that waits, does not overtake. */
TEST(test_behind_long_one)
{
	Blocks p;

	for (unsigned int round = 0; round < 20; round++) {
		p.fill(FMAD, 0, ARIES_BTE_PUT, 0, 0, BIG).tid = 1;
		p.a.ring_bte(FMAD, 0);
		aries_bte_desc &d = p.fill(FMAD, 1, ARIES_BTE_PUT, 0, 0, 64);

		d.flags = ARIES_BTE_FENCE;
		d.tid = 2;
		p.a.ring_bte(FMAD, 1);
		assert_int_equal(p.a.wait_event(20, 5000).tid(), 1);
		assert_int_equal(p.a.wait_event(20, 5000).tid(), 2);
	}
}

/* A NIC that is cut off gets nothing. */
TEST(test_cut_off)
{
	Blocks p;
	char err[256];

	assert_int_equal(aries_nic_set_fault(p.b.nic(), "link", 0, err, sizeof(err)), 0);
	p.fill(FMAD, 0, ARIES_BTE_PUT, 0, 0, 64);
	p.a.ring_bte(FMAD, 0);
	assert_int_equal(p.outcome(), ARIES_ST_NO_NODE);
	assert_int_equal(p.there(1), 0); /* the pattern has no 0 there */
}

/* An address that nobody has taken. */
TEST(test_nobody_there)
{
	FakeHost alone(fabric_path(), 0, {.nodes = 4});
	aries_bte_desc &d = alone.slot(FMAD, 0);

	alone.set_key(PTAG_A, KEY);
	alone.enable_fmad(FMAD, PTAG_A, OWNER);
	alone.make_cq(20, 6, OWNER);
	alone.make_mdd(NEAR, PTAG_A, alone.alloc(PAGE), PAGE, BASE);
	d = {};
	d.pe = 2;
	d.mdh = FAR;
	d.local_mdh = NEAR;
	d.offset = d.local_offset = BASE;
	d.length = 64;
	d.cq = 20;
	d.op = ARIES_BTE_PUT;
	d.mode = ARIES_EV_GLOBAL;
	alone.ring_bte(FMAD, 0);
	assert_int_equal(alone.wait_event(20, 1000).status(), ARIES_ST_NO_NODE);
}

/* With 8 packets outstanding a page takes eight round trips. */
TEST(test_limit_of_injection)
{
	Blocks p;
	uint64_t free, limited;

	p.fill(FMAD, 0, ARIES_BTE_PUT, 0, 0, PAGE);
	p.a.ring_bte(FMAD, 0);
	free = p.a.counter(ARIES_CNT_LATENCY_LAST_NS);
	p.a.write32(ARIES_BI_LIMIT, 8);
	std::this_thread::sleep_for(std::chrono::milliseconds(1));
	p.a.ring_bte(FMAD, 0);
	limited = p.a.counter(ARIES_CNT_LATENCY_LAST_NS);
	assert_true(limited > 4 * free);
}

/* A reset waits for what is under way, by whichever thread. */
TEST(test_reset_waits)
{
	for (uint64_t bytes : {PAGE, BIG}) {
		Gate gate;
		Blocks p(gate.options());

		p.fill(FMAD, 0, ARIES_BTE_PUT, 0, 0, bytes);
		gate.shut = true;
		std::thread ringer([&] { p.a.ring_bte(FMAD, 0); });
		gate.wait_for(1);
		std::thread opener([&] {
			std::this_thread::sleep_for(std::chrono::milliseconds(50));
			gate.shut = false;
		});

		aries_nic_reset(p.a.nic());
		assert_false(gate.shut);
		assert_int_equal(p.a.read(ARIES_FMAD_STATUS_N(FMAD), 8) & 0xffff, 0);
		ringer.join();
		opener.join();
	}
}

/* A reset comes between them, and afterwards all is as new. */
TEST(test_reset_meanwhile)
{
	Blocks p;
	std::atomic<bool> stop{false};

	std::thread thread([&] {
		p.fill(FMAD, 0, ARIES_BTE_PUT, 0, 0, 4096);
		while (!stop)
			p.a.store(FMAD, ARIES_FMA_DOORBELL + ARIES_DB_BTE, 8, 0);
	});

	for (unsigned int i = 0; i < 20; i++) {
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
		aries_nic_reset(p.a.nic());
		assert_int_equal(p.a.read(ARIES_FMAD_CTL_N(FMAD), 8), 0);
	}
	stop = true;
	thread.join();
	assert_int_equal(p.a.read(ARIES_FMAD_STATUS_N(FMAD), 8) & 0xffff, 0);
}

} // namespace

TEST_MAIN("short block transfers")
