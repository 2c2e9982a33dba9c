/* SPDX-License-Identifier: GPL-2.0-or-later */
/* N12: what is in the AMO cache when a memory domain, the right to master the bus or the device itself goes. */
#include <thread>

#include "tests/lazy_pair.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int LATER_MDH = MDH + 1;

/* Everything that could write an old word back after memory has been given to somebody else. */
void stir(LazyPair &p)
{
	p.b.make_mdd(LATER_MDH, PTAG_B, p.b.alloc(BYTES), BYTES, BASE);
	p.desc().mdh = LATER_MDH;
	for (uint64_t n = 0; n < 256; n++)
		p.run(ADD_C, 8 * n, 1);
	p.flush();
	p.b.main_loop();
	aries_nic_set_bus_master(p.b.nic(), false);
	aries_nic_set_bus_master(p.b.nic(), true);
}

/* When INV_MDD is done memory has the results, and nothing is ever written there again. */
TEST(test_deregistration)
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

/* A memory domain goes while others use it: afterwards its memory is somebody else's. */
TEST(test_deregistration_under_fire)
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

/* A device that may no longer master the bus has written everything before it says so, and nothing later. */
TEST(test_bus_master_off)
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
TEST(test_reset)
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

} // namespace

TEST_MAIN("ends of lazy updates")
