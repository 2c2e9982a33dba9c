/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion queues: overrun, interrupts, stop. */
#include <thread>

#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int SLOTS = 64;

TEST(test_overrun)
{
	Pair p;

	for (unsigned int i = 0; i < SLOTS + 10; i++)
		assert_int_equal(p.put(8, ARIES_EV_GLOBAL, i), 0);
	assert_int_equal(p.a.read(ARIES_CQ_PRODUCED_N(20), 8), SLOTS);
	assert_int_equal(p.a.read(ARIES_CQ_DROPPED_N(20), 8), 11);
	assert_int_equal(p.a.counter(ARIES_CNT_CQ_OVERRUNS), 11);
	for (unsigned int i = 0; i < SLOTS - 1; i++) {
		const Event event = p.a.next_event(20);

		assert_false(event.overrun());
		assert_int_equal(event.tid(), i);
	}
	const Event mark = p.a.next_event(20);

	assert_true(mark.overrun());
	assert_int_equal(mark.source(), ARIES_SRC_CQ);
	assert_false(bool(p.a.next_event(20)));
	/* Drained, the queue works again. */
	assert_int_equal(p.put(8, ARIES_EV_GLOBAL, 99), 0);
	assert_int_equal(p.a.next_event(20).tid(), 99);
}

TEST(test_remote_overrun)
{
	Pair p;

	for (unsigned int i = 0; i < SLOTS + 2; i++) {
		assert_int_equal(p.put(8, ARIES_EV_GLOBAL | ARIES_EV_REMOTE), 0);
		const Event event = p.a.next_event(20);

		assert_int_equal(event.remote_overrun(), i >= SLOTS - 1);
		assert_int_equal(event.status(), 0);
	}
}

/* Whatever the owner says, the NIC stays in the slots, and nothing there is overwritten. */
TEST(test_untrusted_count)
{
	Pair p;
	auto *header = reinterpret_cast<uint64_t *>(p.a.ram(p.a.read(ARIES_CQ_BASE_N(20), 8)));
	const uint64_t *slots = header + ARIES_CQ_HEADER_BYTES / 8;

	for (unsigned int i = 0; i < SLOTS + 10; i++) {
		*header = uint64_t(0x9e3779b97f4a7c15) * i;
		assert_int_equal(p.put(8, ARIES_EV_GLOBAL), 0);
	}
	assert_in_range(p.a.read(ARIES_CQ_PRODUCED_N(20), 8), 1, SLOTS);
	assert_int_equal(slots[SLOTS], 0);
	while (p.a.next_event(20)) {
	}
	assert_int_equal(p.put(8, ARIES_EV_GLOBAL, 99), 0);
	assert_int_equal(p.a.next_event(20).tid(), 99);
}

/* A reader that was stopped for whole rounds tells an old count: the queue goes on with it. */
TEST(test_count_of_another_round)
{
	Pair p;
	auto *header = reinterpret_cast<uint64_t *>(p.a.ram(p.a.read(ARIES_CQ_BASE_N(20), 8)));

	for (uint64_t rounds : {uint64_t(1), uint64_t(2), uint64_t(1) << 40, ~uint64_t(0)}) {
		assert_int_equal(p.put(8, ARIES_EV_GLOBAL, 1), 0);
		assert_int_equal(p.a.next_event(20).tid(), 1);
		*header -= rounds * SLOTS;
		/* One round less looks as a queue that has just been full: its last slot gets the mark. */
		assert_int_equal(p.put(8, ARIES_EV_GLOBAL, 2), 0);
		assert_int_equal(p.a.next_event(20).overrun(), rounds == 1);
		for (unsigned int i = 0; i < 2 * SLOTS; i++) {
			*header -= rounds * SLOTS;
			assert_int_equal(p.put(8, ARIES_EV_GLOBAL, i), 0);
			const Event event = p.a.next_event(20);
			assert_true(event.overrun() || event.tid() == i);
		}
		for (unsigned int i = 0; i < SLOTS - 1; i++)
			assert_int_equal(p.put(8, ARIES_EV_GLOBAL, i), 0);
		for (unsigned int i = 0; i < SLOTS - 1; i++)
			assert_int_equal(p.a.next_event(20).tid(), i);
	}
}

TEST(test_interrupt)
{
	Pair p;
	const uint64_t irq = ARIES_CQ_CTL_IRQ_MASK | uint64_t(4) << 32;

	p.a.make_cq(100, 6, OWNER, irq);
	p.desc().cq = 100;
	assert_int_equal(p.put(8, ARIES_EV_GLOBAL), 0);
	assert_int_equal(p.a.irqs[4], 0);
	p.a.write32(ARIES_CQI_ARM, 100); /* at once: there is an entry */
	assert_int_equal(p.a.irqs[4], 1);
	assert_int_equal(p.a.read(ARIES_CQI_SUMMARY, 4), 2);
	assert_int_equal(p.a.read(ARIES_CQI_PENDING_N(1), 8), uint64_t(1) << 36);
	p.a.write64(ARIES_CQI_PENDING_N(1), uint64_t(1) << 36);
	assert_int_equal(p.a.read(ARIES_CQI_SUMMARY, 4), 0);
	assert_int_equal(p.put(8, ARIES_EV_GLOBAL), 0);
	assert_int_equal(p.a.irqs[4], 1); /* one shot */
	while (p.a.next_event(100))
		;
	assert_int_equal(p.a.read(ARIES_CQI_ARMED_N(1), 8), 0);
	p.a.write32(ARIES_CQI_ARM, 100);
	assert_int_equal(p.a.irqs[4], 1);
	assert_int_equal(p.a.read(ARIES_CQI_ARMED_N(0), 8), 0);
	assert_int_equal(p.a.read(ARIES_CQI_ARMED_N(1), 8), uint64_t(1) << 36);
	assert_int_equal(p.put(8, ARIES_EV_GLOBAL), 0);
	assert_int_equal(p.a.irqs[4], 2);
	assert_int_equal(p.a.read(ARIES_CQI_ARMED_N(1), 8), 0);
	while (p.a.next_event(100))
		;
	p.a.write32(ARIES_CQI_ARM, 100);
	assert_int_equal(p.a.read(ARIES_CQI_ARMED_N(1), 8), uint64_t(1) << 36);
	p.a.write32(ARIES_CQI_DISARM, 100);
	assert_int_equal(p.a.read(ARIES_CQI_ARMED_N(1), 8), 0);
	assert_int_equal(p.put(8, ARIES_EV_GLOBAL), 0);
	assert_int_equal(p.a.irqs[4], 2);
}

TEST(test_delayed_interrupt)
{
	Pair p;

	p.a.make_cq(100, 6, OWNER, ARIES_CQ_CTL_IRQ_MASK | uint64_t(4) << 32 | uint64_t(3) << 40);
	p.desc().cq = 100;
	p.a.write32(ARIES_CQI_ARM, 100);
	for (unsigned int i = 1; i <= 5; i++) {
		assert_int_equal(p.put(8, ARIES_EV_GLOBAL), 0);
		assert_int_equal(p.a.irqs[4], i >= 3);
	}
}

TEST(test_remote_interrupt)
{
	Pair p;

	p.b.make_cq(130, 6, OWNER, ARIES_CQ_CTL_IRQ_MASK | uint64_t(7) << 32);
	p.b.make_mdd(MDH + 1, PTAG_B, p.target, BYTES, BASE, ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(130) << 24);
	p.b.write32(ARIES_CQI_ARM, 130);
	p.desc().mdh = MDH + 1;
	assert_int_equal(p.put(8, ARIES_EV_REMOTE), 0);
	assert_int_equal(p.b.irqs[7], 0);
	/* The socket is readable at once. */
	p.b.main_loop(1000);
	assert_int_equal(p.b.irqs[7], 1);
	assert_int_equal(p.b.read(ARIES_CQI_PENDING_N(2), 8), 4);
	assert_int_equal(p.a.irqs[7], 0);
}

TEST(test_stop_is_synchronous)
{
	Pair p;
	std::atomic<bool> stop{false};
	std::thread producer([&] {
		while (!stop)
			p.put(8, ARIES_EV_REMOTE);
	});

	for (int i = 0; i < 200; i++) {
		const uint64_t gpa = p.b.read(ARIES_CQ_BASE_N(21), 8);
		const uint64_t ctl = p.b.read(ARIES_CQ_CTL_N(21), 8);
		auto *slots = reinterpret_cast<uint64_t *>(p.b.ram(gpa + ARIES_CQ_HEADER_BYTES));

		p.b.write64(ARIES_CQ_CTL_N(21), 0);
		for (unsigned int s = 0; s < SLOTS; s++)
			__atomic_store_n(&slots[s], 0, __ATOMIC_RELAXED);
		std::this_thread::yield();
		for (unsigned int s = 0; s < SLOTS; s++)
			assert_int_equal(__atomic_load_n(&slots[s], __ATOMIC_RELAXED), 0);
		p.b.write64(ARIES_CQ_CTL_N(21), ctl);
	}
	stop = true;
	producer.join();
}

TEST(test_bad_configuration)
{
	Pair p;
	const uint64_t base = p.a.alloc(2 * PAGE);
	const uint64_t good = ARIES_CQ_CTL_VALID_MASK | uint64_t(9) << 8;

	p.a.write64(ARIES_CQ_BASE_N(50), base);
	const uint64_t bad_words[] = {ARIES_CQ_CTL_VALID_MASK | uint64_t(5) << 8,
				      ARIES_CQ_CTL_VALID_MASK | uint64_t(20) << 8,
				      good | uint64_t(ARIES_MSIX_VECTORS) << 32};

	for (uint64_t bad : bad_words) {
		p.a.write64(ARIES_CQ_CTL_N(50), bad);
		assert_int_equal(p.a.read(ARIES_CQ_CTL_N(50), 8), 0);
	}
	p.a.write64(ARIES_CQ_BASE_N(50), LOW_BYTES - PAGE);
	p.a.write64(ARIES_CQ_CTL_N(50), good);
	assert_int_equal(p.a.read(ARIES_CQ_CTL_N(50), 8), 0);
	assert_int_equal(p.a.counter(ARIES_CNT_GUEST_ERRORS), 4);
	p.a.write64(ARIES_CQ_BASE_N(50), base);
	p.a.write64(ARIES_CQ_CTL_N(50), good);
	assert_int_equal(p.a.read(ARIES_CQ_CTL_N(50), 8), good);
}

} // namespace

TEST_MAIN("tests")
