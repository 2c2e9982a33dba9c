/* SPDX-License-Identifier: GPL-2.0-or-later */
/* N12: lazy updates under much traffic: all kinds in random order, and many initiators at once. */
#include <algorithm>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/amo_table.hpp"
#include "tests/lazy_pair.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int ALIAS = MDH + 1;

/** Cached and other atomics, puts, gets and block puts in random order against plain memory. */
class Differential
{
public:
	Differential()
	{
		pair_.b.make_mdd(ALIAS, PTAG_B, pair_.target, BYTES, BASE);
		ctl_[0] = pair_.b.read(ARIES_MDD_CTL_N(uint64_t(MDH)), 8);
		ctl_[1] = pair_.b.read(ARIES_MDD_CTL_N(uint64_t(ALIAS)), 8);
	}
	void round(unsigned int n)
	{
		const uint64_t at = random_() % (WORDS * 8);

		switch (random_() % 16) {
		case 0:
			put(at, 1 + random_() % 40);
			break;
		case 1:
			pair_.desc().mdh = uint16_t(random_() % 2 ? MDH : ALIAS);
			break;
		case 2:
			get(at & ~uint64_t(7));
			break;
		case 3:
			if (n % 7 == 0)
				pair_.b.main_loop();
			break;
		case 4:
			if (n % 40 == 0)
				remake();
			break;
		default:
			atomic(at);
		}
	}
	void finish()
	{
		pair_.flush();
		assert_memory_equal(pair_.b.ram(pair_.target), memory_.data(), memory_.size());
	}
	LazyPair &pair() { return pair_; }

private:
	static constexpr uint64_t WORDS = 200;

	void atomic(uint64_t at)
	{
		const Command &c = COMMANDS[random_() % std::size(COMMANDS)];
		const uint64_t first = random_() & random_(), second = random_();
		uint64_t old = 0, now;

		at &= ~uint64_t(c.bytes - 1);
		memcpy(&old, &memory_[at], c.bytes);
		now = expected(c, old, first, second);
		memcpy(&memory_[at], &now, c.bytes);
		pair_.desc().offset = BASE + at;
		pair_.fetched() = 0;
		assert_int_equal(pair_.amo(c.code, first, second, c.bytes), ARIES_ST_OK);
		if (c.fetch)
			assert_int_equal(pair_.fetched(), old);
	}
	void put(uint64_t at, uint64_t bytes)
	{
		uint8_t data[64];

		bytes = std::min(bytes, WORDS * 8 - at);
		for (uint8_t &byte : data)
			byte = uint8_t(random_());
		memcpy(&memory_[at], data, bytes);
		pair_.store(at, data, unsigned(bytes));
	}
	void get(uint64_t at)
	{
		uint64_t expect;

		memcpy(&expect, &memory_[at], 8);
		assert_int_equal(pair_.get(at), expect);
	}
	/* Memory is right when its domain has gone. */
	void remake()
	{
		assert_true(pair_.b.invalidate(MDH));
		assert_true(pair_.b.invalidate(ALIAS));
		assert_memory_equal(pair_.b.ram(pair_.target), memory_.data(), memory_.size());
		pair_.b.write64(ARIES_MDD_CTL_N(uint64_t(MDH)), ctl_[0]);
		pair_.b.write64(ARIES_MDD_CTL_N(uint64_t(ALIAS)), ctl_[1]);
	}

	LazyPair pair_;
	std::vector<uint8_t> memory_ = std::vector<uint8_t>(WORDS * 8);
	std::mt19937_64 random_{getenv("ARIES_FUZZ_SEED") ? strtoull(getenv("ARIES_FUZZ_SEED"), nullptr, 0) : 12};
	uint64_t ctl_[2];
};

TEST(test_random)
{
	Differential test;

	for (unsigned int n = 0; n < 30000; n++)
		test.round(n);
	test.finish();
	assert_true(test.pair().updates() > 1000);
	assert_true(test.pair().b.counter(ARIES_CNT_AMO_CACHE_EVICTIONS) > 1000);
	assert_true(test.pair().b.counter(ARIES_CNT_AMO_CACHE_HITS) > 1000);
}

/* Many initiators, all kinds of atomics and updates at once: no addition is lost. */
TEST(test_threads)
{
	constexpr unsigned int THREADS = 4, ROUNDS = 20000, WORDS = 96;
	LazyPair p;
	std::vector<std::thread> threads;
	std::atomic<unsigned int> running{THREADS}, bad{0};

	for (unsigned int t = 0; t < THREADS; t++) {
		FakeHost &host = t & 1 ? p.b : p.a;

		host.enable_fmad(10 + t, t & 1 ? PTAG_B : PTAG_A, OWNER, CACHED_CTL);
		aries_fma_desc &desc = host.desc(10 + t);

		desc = p.desc();
		desc.local_mdh = t & 1 ? MDH : LOCAL_MDH;
		desc.local_offset = BASE + PAGE + 64 * t;
		desc.operand[0] = 1;
		threads.emplace_back([&, t] {
			static constexpr unsigned int CODES[] = {ADD_C, FADD, FADD_C, 0x108};

			for (unsigned int i = 0; i < ROUNDS; i++) {
				const unsigned int n = i % 3 ? 0 : 1 + i * 7 % (WORDS - 1);

				desc.offset = BASE + 8 * n;
				bad += host.ring(10 + t, ARIES_FMA_AMO_OP, 8, 0, 0, CODES[(i + t) % 4]) != ARIES_ST_OK;
				/* A neighbour's word in the same line of memory, written and read. */
				if (i % 64 == 0) {
					desc.offset = BASE + 8 * (WORDS + t);
					bad += host.ring(10 + t, ARIES_FMA_PUT_LINE, 8) != ARIES_ST_OK;
					desc.offset = BASE;
					bad += host.ring(10 + t, ARIES_FMA_GET_OP, 64) != ARIES_ST_OK;
				}
			}
			running--;
		});
	}
	while (running) {
		p.flush();
		p.b.main_loop();
		std::this_thread::yield();
	}
	for (std::thread &thread : threads)
		thread.join();
	assert_int_equal(bad, 0);
	p.flush();
	uint64_t sum = 0;

	for (unsigned int n = 0; n < WORDS; n++)
		sum += p.word(8 * n);
	assert_int_equal(sum, THREADS * ROUNDS);
}

} // namespace

TEST_MAIN("lazy updates under load")
