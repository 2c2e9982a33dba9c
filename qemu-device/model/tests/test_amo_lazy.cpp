/* SPDX-License-Identifier: GPL-2.0-or-later */
/* N12: the AMO cache with lazy updates: results that stay in the NIC, and all that must not notice. */
#include <cstdlib>
#include <random>
#include <thread>

#include "nic/amo_cache.hpp"
#include "tests/amo_table.hpp"
#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

constexpr uint64_t CACHED_CTL = ARIES_FMAD_CTL_CACHED_AMO_MASK;
constexpr unsigned int FADD = 0x008, FADD_C = 0x018, ADD_C = 0x118, IADD_SC = 0x374, FIADD_S = 0x254;
constexpr unsigned int ALIAS = MDH + 1;

void set_lazy(const FakeHost &host, bool on)
{
	host.write32(ARIES_CTL_CONTROL, 0);
	host.write32(ARIES_AMO_CTL, on);
	host.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
	assert_int_equal(host.read(ARIES_AMO_CTL, 4), on);
}

/** A pair whose second node updates its memory lazily. */
struct LazyPair : Pair {
	LazyPair()
	{
		set_lazy(b, true);
		a.enable_fmad(FMAD, PTAG_A, OWNER, CACHED_CTL);
	}
	uint64_t run(unsigned int code, uint64_t at, uint64_t operand)
	{
		desc().offset = BASE + at;
		fetched() = 0;
		assert_int_equal(amo(code, operand, 0, code & 0x200 ? 4 : 8), ARIES_ST_OK);
		return fetched();
	}
	uint64_t get(uint64_t at)
	{
		desc().offset = BASE + at;
		assert_int_equal(a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_OK);
		return fetched();
	}
	void store(uint64_t at, const void *data, unsigned int bytes)
	{
		desc().offset = BASE + at;
		memcpy(a.line(FMAD), data, bytes);
		assert_int_equal(put(bytes), ARIES_ST_OK);
	}
	void store(uint64_t at, uint64_t value) { store(at, &value, 8); }
	uint64_t updates() const { return b.counter(ARIES_CNT_AMO_CACHE_UPDATES); }
	void flush() const { b.write32(ARIES_AMO_FLUSH, 1); }
};

/* Memory is old until something wants the word; every NIC sees the new value. */
void test_results_stay(void **)
{
	LazyPair p;

	p.word() = 100;
	assert_int_equal(p.run(FADD_C, 0, 1), 100);
	assert_int_equal(p.run(FADD_C, 0, 1), 101);
	assert_int_equal(p.word(), 100);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_MISSES), 1);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_HITS), 1);
	assert_int_equal(p.updates(), 0);
	assert_int_equal(p.get(0), 102);
	assert_int_equal(p.word(), 102);
	assert_int_equal(p.updates(), 1);
	/* A get leaves the word where it is. */
	assert_int_equal(p.run(FADD_C, 0, 1), 102);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_HITS), 2);
	assert_int_equal(p.word(), 102);
	p.flush();
	assert_int_equal(p.word(), 103);
	p.flush();
	assert_int_equal(p.updates(), 2);
	/* Lazy is not never. */
	p.run(ADD_C, 0, 1);
	assert_int_equal(p.word(), 103);
	p.b.main_loop();
	assert_int_equal(p.word(), 104);
}

/* Each operation, where the node is not lazy; and one that is may not change its mind under way. */
void test_mode(void **)
{
	LazyPair p;
	const unsigned int errors = p.b.guest_errors;

	p.b.write32(ARIES_AMO_CTL, 0);
	assert_int_equal(p.b.read(ARIES_AMO_CTL, 4), 1);
	assert_int_equal(p.b.guest_errors, errors + 1);
	p.b.write32(ARIES_AMO_FLUSH, 0);
	assert_int_equal(p.b.guest_errors, errors + 2);
	p.run(ADD_C, 0, 7);
	assert_int_equal(p.word(), 0);
	set_lazy(p.b, false);
	assert_int_equal(p.word(), 7);
	p.run(ADD_C, 0, 7);
	assert_int_equal(p.word(), 14);
	p.run(ADD_C, 8, 1);
	/* Names of the other kind are no contents. */
	set_lazy(p.b, true);
	p.run(ADD_C, 0, 7);
	assert_int_equal(p.word(), 14);
	assert_int_equal(p.get(0), 21);
	assert_int_equal(p.a.read(ARIES_AMO_CTL, 4), 0);
}

/* The 65th word drives one out, and that one's result into memory. */
void test_eviction_updates(void **)
{
	LazyPair p;

	for (uint64_t n = 0; n < 64; n++)
		p.run(ADD_C, 8 * n, n + 1);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_EVICTIONS), 0);
	for (uint64_t n = 0; n < 64; n++)
		assert_int_equal(p.word(8 * n), 0);
	p.run(ADD_C, 8 * 64, 1);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_EVICTIONS), 1);
	assert_int_equal(p.b.counter(ARIES_CNT_AMO_CACHE_MISSES), 65);
	assert_int_equal(p.updates(), 1);
	assert_int_equal(p.word(0), 1);
	assert_int_equal(p.word(8), 0);
	assert_int_equal(p.run(FADD_C, 0, 1), 1);
	p.flush();
	for (uint64_t n = 0; n < 64; n++)
		assert_int_equal(p.word(8 * n), n + 1 + (n == 0));
}

/* Puts of any kind come after the results before them, and are not overwritten later. */
void test_puts(void **)
{
	LazyPair p;
	const uint32_t half = 0xabcd;

	p.run(ADD_C, 0, 5);
	p.store(0, 1000);
	assert_int_equal(p.run(FADD_C, 0, 1), 1000);
	/* The value that memory has anyway. */
	p.store(0, 1000);
	p.flush();
	assert_int_equal(p.word(), 1000);
	/* Half of the word. */
	p.store(0, uint64_t(7) << 32);
	p.run(ADD_C, 0, 1);
	p.store(0, &half, 4);
	p.flush();
	assert_int_equal(p.word(), uint64_t(7) << 32 | half);
	/* A window store, a long line, and one that begins in the middle of a word. */
	std::vector<uint8_t> line(1000, 0x11);

	for (uint64_t n = 0; n < 64; n++)
		p.run(ADD_C, 8 * n, 2);
	p.store(4, line.data(), 500);
	p.flush();
	assert_int_equal(p.word(0), 0x1111111100000000 | (half + 2));
	assert_int_equal(p.word(8), 0x1111111111111111);
	assert_int_equal(p.word(8 * 63), 2);
	p.run(ADD_C, 16, 1);
	p.desc().offset = BASE;
	p.a.store(FMAD, 16, 8, 77);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0), ARIES_ST_OK);
	p.flush();
	assert_int_equal(p.word(16), 77);
}

/* Launched puts keep no page of a node that is lazy. */
void test_launched_puts(void **)
{
	LazyPair p;
	auto *entry = reinterpret_cast<aries_launch_entry *>(p.a.line(FMAD));
	auto launch = [&](uint64_t at, uint64_t value) {
		for (unsigned int i = 0; i < 2; i++)
			entry[i] = {(BASE + at + 8 * i) | uint64_t(1) << ARIES_LAUNCH_PE_SHIFT |
					    uint64_t(ARIES_LAUNCH_PUT8) << ARIES_LAUNCH_KIND_SHIFT,
				    value + i};
		p.desc().pe = 0;
		const uint32_t status = p.a.ring(FMAD, ARIES_FMA_LAUNCH, 2);

		p.desc().pe = 1;
		assert_int_equal(status, ARIES_ST_OK);
	};

	p.run(ADD_C, 0, 5);
	p.run(ADD_C, 8, 5);
	launch(0, 30);
	p.flush();
	assert_int_equal(p.word(0), 30);
	assert_int_equal(p.word(8), 31);
	assert_int_equal(p.run(FADD_C, 8, 1), 31);
}

/* Block transfers read and overwrite what is in the cache, at the target and at home. */
void test_block_transfers(void **)
{
	LazyPair p;
	auto move = [&](unsigned int op, FakeHost &host, unsigned int pe, unsigned int mdh, unsigned int local_mdh) {
		aries_bte_desc &d = host.slot(FMAD, 0);

		d = {};
		d.pe = pe;
		d.mdh = uint16_t(mdh);
		d.local_mdh = uint16_t(local_mdh);
		d.offset = d.local_offset = BASE;
		d.length = 4096;
		d.op = uint8_t(op);
		assert_int_equal(host.ring_bte(FMAD, 0), ARIES_ST_OK);
	};
	auto *here = reinterpret_cast<uint64_t *>(p.a.ram(p.local));

	p.b.enable_fmad(FMAD, PTAG_B, OWNER, CACHED_CTL);
	p.run(ADD_C, 64, 9);
	move(ARIES_BTE_GET, p.a, 1, MDH, LOCAL_MDH);
	assert_int_equal(here[8], 9);
	p.run(ADD_C, 64, 9);
	here[8] = 500;
	move(ARIES_BTE_PUT, p.a, 1, MDH, LOCAL_MDH);
	assert_int_equal(p.run(FADD_C, 64, 1), 500);
	/* The lazy node's own transfers: out of its memory, into it, and to bus addresses. */
	move(ARIES_BTE_PUT, p.b, 0, LOCAL_MDH, MDH);
	assert_int_equal(here[8], 501);
	p.run(ADD_C, 64, 1);
	here[8] = 700;
	move(ARIES_BTE_GET, p.b, 0, LOCAL_MDH, MDH);
	p.flush();
	assert_int_equal(p.word(64), 700);
	p.b.enable_fmad(0, PTAG_B, OWNER, ARIES_FMAD_CTL_KERNEL_MASK);
	p.run(ADD_C, 64, 1);
	aries_bte_desc &d = p.b.slot(0, 0);

	d = {};
	d.pe = 0;
	d.mdh = LOCAL_MDH;
	d.offset = BASE;
	d.local_offset = p.target;
	d.length = 4096;
	d.op = ARIES_BTE_PUT;
	d.flags = ARIES_BTE_PHYS;
	assert_int_equal(p.b.ring_bte(0, 0), ARIES_ST_OK);
	assert_int_equal(here[8], 701);
	p.run(ADD_C, 64, 1);
	here[8] = 800;
	d.op = ARIES_BTE_GET;
	assert_int_equal(p.b.ring_bte(0, 0), ARIES_ST_OK);
	p.flush();
	assert_int_equal(p.word(64), 800);
}

/* Commands that are not cached take part; so do both widths. */
void test_all_commands_agree(void **)
{
	LazyPair p;

	assert_int_equal(p.run(FADD_C, 0, 1), 0);
	assert_int_equal(p.run(FADD, 0, 1), 1);
	assert_int_equal(p.word(), 2);
	assert_int_equal(p.run(FADD_C, 0, 1), 2);
	assert_int_equal(p.run(IADD_SC, 4, 3), 0);
	assert_int_equal(p.run(FADD_C, 0, 1), uint64_t(3) << 32 | 3);
	assert_int_equal(p.run(FIADD_S, 4, 1), 3);
	assert_int_equal(p.word(), uint64_t(4) << 32 | 4);
	/* A half that is in the cache does not hold the other one back. */
	p.run(IADD_SC, 8, 1);
	const uint32_t other = 99;

	p.store(12, &other, 4);
	p.run(IADD_SC, 12, 1);
	p.flush();
	assert_int_equal(p.word(8), uint64_t(100) << 32 | 1);
}

/* Two memory domains over the same pages have one cache. */
void test_aliases(void **)
{
	LazyPair p;

	p.b.make_mdd(ALIAS, PTAG_B, p.target, BYTES, BASE);
	p.run(ADD_C, 0, 1);
	p.desc().mdh = ALIAS;
	assert_int_equal(p.run(FADD_C, 0, 1), 1);
	assert_int_equal(p.get(0), 2);
	p.run(ADD_C, 0, 1);
	p.desc().mdh = MDH;
	p.store(0, 50);
	p.desc().mdh = ALIAS;
	assert_int_equal(p.run(FADD_C, 0, 1), 50);
	p.run(ADD_C, 0, 1);
	/* The other domain goes, and memory has what was reached through it; the word stays. */
	assert_true(p.b.invalidate(MDH));
	assert_int_equal(p.word(), 52);
	assert_int_equal(p.run(FADD_C, 0, 1), 52);
	assert_true(p.b.invalidate(ALIAS));
	assert_int_equal(p.word(), 53);
}

/* Everything that could write an old word back after memory has been given to somebody else. */
void stir(LazyPair &p)
{
	p.b.make_mdd(ALIAS + 1, PTAG_B, p.b.alloc(BYTES), BYTES, BASE);
	p.desc().mdh = ALIAS + 1;
	for (uint64_t n = 0; n < 256; n++)
		p.run(ADD_C, 8 * n, 1);
	p.flush();
	p.b.main_loop();
	aries_nic_set_bus_master(p.b.nic(), false);
	aries_nic_set_bus_master(p.b.nic(), true);
}

/* When INV_MDD is done memory has the results, and nothing is ever written there again. */
void test_deregistration(void **)
{
	for (unsigned int ptes : {0u, 1u}) {
		LazyPair p;

		for (uint64_t n = 0; n < 64; n++)
			p.run(ADD_C, 8 * n, n + 1);
		if (ptes) {
			p.b.write32(ARIES_INV_PTES, MDH);
			while (p.b.read(ARIES_INV_STATUS, 4))
				;
		} else {
			assert_true(p.b.invalidate(MDH));
		}
		for (uint64_t n = 0; n < 64; n++) {
			assert_int_equal(p.word(8 * n), n + 1);
			p.word(8 * n) = 0;
		}
		stir(p);
		for (uint64_t n = 0; n < 64; n++)
			assert_int_equal(p.word(8 * n), 0);
	}
}

/* A device that may no longer master the bus has written everything before it says so, and nothing later. */
void test_bus_master_off(void **)
{
	LazyPair p;

	p.run(ADD_C, 0, 1);
	aries_nic_set_bus_master(p.b.nic(), false);
	assert_int_equal(p.word(), 1);
	p.word() = 0;
	p.b.main_loop();
	aries_nic_set_bus_master(p.b.nic(), true);
	stir(p);
	assert_int_equal(p.word(), 0);
}

/* A reset loses what was not written, and writes nothing afterwards. */
void test_reset(void **)
{
	LazyPair p;

	p.run(ADD_C, 0, 1);
	p.b.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_RESET_MASK);
	assert_int_equal(p.b.read(ARIES_AMO_CTL, 4), 0);
	assert_int_equal(p.word(), 0);
	p.b.set_key(PTAG_B, KEY);
	set_lazy(p.b, true);
	stir(p);
	assert_int_equal(p.word(), 0);
	/* A member that goes and comes back. */
	const std::string path = fabric_path();
	FakeHost a(path, 0);
	{
		FakeHost b(path, 1);

		set_lazy(b, true);
	}
	FakeHost again(path, 1);

	assert_int_equal(again.read(ARIES_AMO_CTL, 4), 0);
}

/* N13: a processor's store between an atomic and its update is newer; one between two atomics counts. */
void test_processors(void **)
{
	LazyPair p;

	p.run(ADD_C, 0, 1);
	p.word() = 1000;
	p.flush();
	assert_int_equal(p.word(), 1000);
	p.run(ADD_C, 0, 1);
	p.word() = 2000;
	assert_int_equal(p.run(FADD_C, 0, 1), 2000);
	assert_int_equal(p.get(0), 2001);
}

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

void test_random(void **)
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
void test_threads(void **)
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

/* A memory domain goes while others use it: afterwards its memory is somebody else's. */
void test_deregistration_under_fire(void **)
{
	constexpr unsigned int ROUNDS = 300;
	LazyPair p;
	const uint64_t ctl = p.b.read(ARIES_MDD_CTL_N(uint64_t(MDH)), 8);
	std::atomic<bool> stop{false};
	std::atomic<uint64_t> added{0};
	std::thread other([&] {
		while (!stop)
			for (uint64_t n = 0; n < 160; n++) {
				p.desc().offset = BASE + 8 * (n / 2);
				p.amo(ADD_C, 1); /* the second one of a word finds it in the cache */
				added++;
			}
	});
	unsigned int touched = 0;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		const bool done = p.b.invalidate(MDH);

		for (uint64_t n = 0; n < 80; n++)
			__atomic_store_n(&p.word(8 * n), 0xeeee, __ATOMIC_SEQ_CST);
		p.b.main_loop();
		p.flush();
		std::this_thread::yield();
		for (uint64_t n = 0; n < 80; n++)
			touched += !done || __atomic_load_n(&p.word(8 * n), __ATOMIC_SEQ_CST) != 0xeeee;
		p.b.write64(ARIES_MDD_CTL_N(uint64_t(MDH)), ctl);
		for (const uint64_t from = added; added - from < 20;)
			std::this_thread::yield();
	}
	stop = true;
	other.join();
	assert_int_equal(touched, 0);
	assert_true(p.b.counter(ARIES_CNT_AMO_CACHE_HITS) > ROUNDS);
}

/** The cache alone, over a page of memory. */
struct Bare {
	std::string path = fabric_path();
	aries::Segment segment{path, {2, 16, 6, 4096}, 0};
	aries::Membership members{segment, 0, 100};
	std::unique_ptr<aries::AmoCacheSlot> slot = std::make_unique<aries::AmoCacheSlot>();
	aries::AmoCache cache{*slot};
	alignas(64) uint64_t memory[64] = {};
	aries::RamMap ram{0};
	aries::AmoRequest add = {{}, 3, 0, reinterpret_cast<uint8_t *>(memory), 1, 0};

	Bare()
	{
		members.join();
		members.activate();
		ram.add(0, sizeof(memory), reinterpret_cast<uint8_t *>(memory));
		assert_true(add.command.decode(FADD_C));
	}
};

/* Who dies with the lock of a set does not keep it; who lives does, and then nothing happens at all. */
void test_holders(void **)
{
	Bare bare;
	aries::AmoResult old = {};
	const aries::Run all = {reinterpret_cast<uint8_t *>(bare.memory), sizeof(bare.memory)};

	assert_true(bare.cache.run(bare.add, bare.ram, bare.members, old));
	for (auto &lock : bare.slot->lock)
		lock.store(2 | 5 << 16); /* node 1, which is not there */
	assert_true(bare.cache.run(bare.add, bare.ram, bare.members, old));
	assert_int_equal(old.old, 1);
	assert_true(old.hit);
	bare.slot->lock[0].store(2 | 5 << 16);
	assert_true(bare.cache.settle(&all, 1, false, bare.ram, bare.members));
	assert_int_equal(bare.memory[0], 2);
	assert_true(bare.cache.run(bare.add, bare.ram, bare.members, old));
	/* Another member, which does not run. */
	aries::Segment peer_segment{bare.path, {2, 16, 6, 4096}, 1};
	aries::Membership peer{peer_segment, 1, 100};

	peer.join();
	peer.activate();
	bare.slot->lock[0].store(peer.lock_word());
	assert_false(bare.cache.run(bare.add, bare.ram, bare.members, old));
	assert_false(bare.cache.settle(&all, 1, true, bare.ram, bare.members));
	assert_false(bare.cache.empty(3, &bare.ram, bare.members));
	assert_int_equal(bare.memory[0], 2);
	bare.slot->lock[0].store(0);
	assert_true(bare.cache.empty(4, &bare.ram, bare.members));
	assert_int_equal(bare.memory[0], 3);
	assert_true(bare.slot->line[0][0].place != 0);
	assert_true(bare.cache.empty(3, &bare.ram, bare.members));
	assert_true(bare.slot->line[0][0].place == 0);
}

/* Bus address 0 is a word like any other, and memory that is gone is not written. */
void test_edges_of_memory(void **)
{
	Bare bare;
	aries::AmoResult old = {};
	aries::RamMap none{0};

	assert_true(bare.cache.run(bare.add, bare.ram, bare.members, old));
	assert_int_equal(bare.memory[0], 0);
	assert_true(bare.add.command.decode(0x274));
	bare.add.word += 4;
	assert_true(bare.cache.run(bare.add, bare.ram, bare.members, old));
	assert_int_equal(bare.slot->misses, 1);
	assert_true(bare.cache.empty(aries::AmoCache::ANY, &none, bare.members));
	assert_int_equal(bare.memory[0], 1);
	assert_true(bare.cache.empty(aries::AmoCache::ANY, &bare.ram, bare.members));
	assert_int_equal(bare.memory[0], 1);
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(test_results_stay),
		cmocka_unit_test(test_mode),
		cmocka_unit_test(test_eviction_updates),
		cmocka_unit_test(test_puts),
		cmocka_unit_test(test_launched_puts),
		cmocka_unit_test(test_block_transfers),
		cmocka_unit_test(test_all_commands_agree),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_deregistration),
		cmocka_unit_test(test_bus_master_off),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_processors),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_deregistration_under_fire),
		cmocka_unit_test(test_holders),
		cmocka_unit_test(test_edges_of_memory),
	};

	return cmocka_run_group_tests_name("lazy updates", tests, nullptr, nullptr);
}
