/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Global clock and event timer (N25). */
#include <random>
#include <thread>
#include <vector>

#include <unistd.h>

#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

constexpr uint64_t MS = 1'000'000;
constexpr uint64_t FAR_AWAY = uint64_t(1) << 62;

uint64_t now(const FakeHost &host)
{
	return host.read(ARIES_CLK_NOW, 8);
}

uint32_t ctl_word(bool periodic, unsigned int vector)
{
	return ARIES_TMR_CTL_ENABLE_MASK | (periodic ? ARIES_TMR_CTL_PERIODIC_MASK : 0) | vector << 8;
}

void start(const FakeHost &host, unsigned int timer, uint64_t compare, uint64_t period, unsigned int vector)
{
	host.write64(ARIES_TMR_COMPARE_N(timer), compare);
	host.write64(ARIES_TMR_PERIOD_N(timer), period);
	host.write32(ARIES_TMR_CTL_N(timer), ctl_word(period != 0, vector));
}

uint64_t fired(const FakeHost &host, unsigned int timer)
{
	return host.read(ARIES_TMR_FIRED_N(timer), 8);
}

/** Does what a host does: waits as long as it was asked to, then calls; false if there is nothing to wait for. */
bool serve(FakeHost &host)
{
	const uint64_t delay = host.timer_delay.exchange(UINT64_MAX);

	if (delay == UINT64_MAX)
		return false;
	std::this_thread::sleep_for(std::chrono::nanoseconds(delay));
	aries_nic_timer(host.nic());
	return true;
}

/* N25: all nodes read one clock, also those that come later or were reset; it goes on at the pace of the host's. */
TEST(test_clock)
{
	const std::string path = fabric_path();
	FakeHost a(path, 0);
	const uint64_t first = now(a),
		       host_first = uint64_t(std::chrono::steady_clock::now().time_since_epoch().count());

	assert_true(first < 10'000 * MS);
	usleep(20000);
	FakeHost b(path, 1);
	uint64_t last = first;

	for (unsigned int i = 0; i < 10000; i++) {
		const uint64_t at = now(i % 2 ? b : a);

		assert_true(at >= last);
		last = at;
		if (i % 1000 == 0)
			aries_nic_reset(b.nic());
	}
	const uint64_t took = uint64_t(std::chrono::steady_clock::now().time_since_epoch().count()) - host_first;

	assert_true(last - first <= took + MS && last - first + 5 * MS >= took);
	assert_int_equal(a.read(ARIES_CLK_RATE, 8), 1'000'000'000);
	/* Halves, and what a process that has the page cannot do. */
	assert_true(a.read(ARIES_CLK_NOW + 4, 4) <= now(a) >> 32);
	const unsigned int errors = a.guest_errors;

	a.write64(ARIES_CLK_NOW, 0);
	a.write64(ARIES_CLK_RATE, 1);
	assert_int_equal(a.guest_errors - errors, 2);
	assert_true(now(a) >= last);
	assert_int_equal(a.read(ARIES_CLK_NOW + 16, 8), UINT64_MAX);
}

TEST(test_once)
{
	FakeHost host(fabric_path(), 0);

	for (unsigned int timer = 0; timer < ARIES_TIMERS; timer++) {
		const uint64_t due = now(host) + 5 * MS;

		start(host, timer, due, 0, 3 + timer);
		assert_true(host.timer_delay <= 5 * MS);
		/* Too early: nothing. */
		aries_nic_timer(host.nic());
		if (now(host) < due)
			assert_int_equal(fired(host, timer), 0);
		while (serve(host))
			;
		assert_true(now(host) >= due);
		assert_int_equal(fired(host, timer), 1);
		assert_int_equal(host.irqs[3 + timer], 1);
		assert_int_equal(host.read(ARIES_TMR_CTL_N(timer), 4), ctl_word(false, 3 + timer) & ~1u);
		assert_int_equal(host.read(ARIES_TMR_PENDING, 4), 1u << timer);
		host.write32(ARIES_TMR_PENDING, 1u << timer);
		assert_int_equal(host.read(ARIES_TMR_PENDING, 4), 0);
		aries_nic_timer(host.nic());
		assert_int_equal(host.irqs[3 + timer], 1);
	}
	/* The time has passed: at once. */
	start(host, 0, 1, 0, 2);
	assert_int_equal(host.timer_delay, 0);
	assert_true(serve(host));
	assert_int_equal(host.irqs[2], 1);
	assert_int_equal(host.guest_errors, 0);
}

/* N25: regular interrupts, on one grid at all nodes. */
TEST(test_periodic)
{
	const std::string path = fabric_path();
	FakeHost a(path, 0), b(path, 1);
	const uint64_t compare = now(a) + 2 * MS, period = 3 * MS;

	start(a, 1, compare, period, 5);
	start(b, 2, compare, period, 6);
	for (unsigned int i = 0; i < 10; i++) {
		for (FakeHost *host : {&a, &b}) {
			const uint64_t delay = host->timer_delay;

			std::this_thread::sleep_for(std::chrono::nanoseconds(delay));
			const uint64_t before = now(*host);

			aries_nic_timer(host->nic());
			/* The next one is due between these two, and a point of the grid is. */
			const uint64_t low = before + host->timer_delay, high = now(*host) + host->timer_delay;

			assert_true((high - compare) / period * period + compare >= low);
			assert_true(host->timer_delay <= period);
		}
	}
	assert_true(fired(a, 1) >= a.irqs[5] && a.irqs[5] >= 1);
	assert_true(fired(b, 2) >= b.irqs[6] && b.irqs[6] >= 1);
	/* Both have counted the same grid points, but for one that came between the two reads. */
	aries_nic_timer(a.nic());
	aries_nic_timer(b.nic());
	const uint64_t counted_a = fired(a, 1), counted_b = fired(b, 2);

	assert_true(counted_a + 2 >= counted_b && counted_b + 2 >= counted_a);
	/* A host that was away: one interrupt, but all periods counted. */
	const uint64_t before = fired(a, 1);
	const unsigned int irqs = a.irqs[5];

	usleep(30000);
	aries_nic_timer(a.nic());
	assert_true(fired(a, 1) - before >= 9);
	assert_int_equal(a.irqs[5], irqs + 1);
	/* Stopped. */
	a.write32(ARIES_TMR_CTL_N(1), 0);
	assert_int_equal(a.timer_delay, UINT64_MAX);
	usleep(5000);
	aries_nic_timer(a.nic());
	assert_int_equal(a.irqs[5], irqs + 1);
}

TEST(test_earliest_is_asked_for)
{
	FakeHost host(fabric_path(), 0);

	start(host, 0, FAR_AWAY, 0, 1);
	assert_true(host.timer_delay > FAR_AWAY / 2 && host.timer_delay <= FAR_AWAY);
	start(host, 1, now(host) + 50 * MS, 0, 1);
	assert_true(host.timer_delay <= 50 * MS);
	const unsigned int requests = host.timer_requests;

	start(host, 2, now(host) + 500 * MS, 0, 1);
	assert_int_equal(host.timer_requests, requests);
	host.write32(ARIES_TMR_CTL_N(1), 0);
	assert_true(host.timer_delay > 50 * MS && host.timer_delay <= 500 * MS);
	/* Comparator and period are taken over with ENABLE, not before. */
	host.write64(ARIES_TMR_COMPARE_N(2), 1);
	aries_nic_timer(host.nic());
	assert_int_equal(fired(host, 2), 0);
	host.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_RESET_MASK);
	assert_int_equal(host.timer_delay, UINT64_MAX);
	assert_int_equal(host.read(ARIES_TMR_CTL_N(0), 4), 0);
	assert_int_equal(host.read(ARIES_TMR_COMPARE_N(0), 8), 0);
}

TEST(test_refusals)
{
	FakeHost host(fabric_path(), 0);
	auto refused = [&](uint64_t period, uint32_t ctl) {
		const unsigned int errors = host.guest_errors;

		host.write64(ARIES_TMR_PERIOD_N(0), period);
		host.write32(ARIES_TMR_CTL_N(0), ctl);
		assert_int_equal(host.guest_errors - errors, 1);
		assert_int_equal(host.read(ARIES_TMR_CTL_N(0), 4), 0);
		aries_nic_timer(host.nic());
		assert_int_equal(fired(host, 0), 0);
	};

	refused(ARIES_TIMER_PERIOD_MIN - 1, ctl_word(true, 0));
	refused(0, ctl_word(true, 0));
	refused(MS, ctl_word(true, ARIES_MSIX_VECTORS));
	refused(MS, ctl_word(false, 255));
	refused(MS, ctl_word(true, 1) | 4);
	refused(MS, 1u << 31 | 1);
	host.write32(ARIES_TMR_PENDING, 1u << ARIES_TIMERS);
	assert_int_equal(host.guest_errors, 7);
	/* The longest period there is does not overflow. */
	start(host, 3, now(host), ARIES_TMR_PERIOD_NS_MASK, 4);
	assert_true(serve(host));
	assert_int_equal(fired(host, 3), 1);
	start(host, 3, UINT64_MAX, 0, 4);
	aries_nic_timer(host.nic());
	assert_int_equal(fired(host, 3), 0);
}

/* Several processors start and stop timers while they come. */
TEST(test_threads)
{
	FakeHost host(fabric_path(), 0);
	std::atomic<bool> stop{false};
	std::vector<std::thread> threads;

	for (unsigned int t = 0; t < ARIES_TIMERS; t++) {
		threads.emplace_back([&, t] {
			std::mt19937 random(t);

			for (unsigned int i = 0; i < 3000; i++) {
				start(host, t, now(host) + random() % 100000, random() % 2 ? 100000 : 0, t + 1);
				if (random() % 4 == 0)
					host.write32(ARIES_TMR_CTL_N(t), 0);
				host.write32(ARIES_TMR_PENDING, 1u << t);
			}
			start(host, t, 1, 0, t + 10);
		});
	}
	threads.emplace_back([&] {
		while (!stop) {
			aries_nic_timer(host.nic());
			usleep(50);
		}
	});
	for (unsigned int t = 0; t < ARIES_TIMERS; t++)
		threads[t].join();
	stop = true;
	threads.back().join();
	aries_nic_timer(host.nic());
	for (unsigned int t = 0; t < ARIES_TIMERS; t++)
		assert_int_equal(host.irqs[t + 10], 1);
	assert_int_equal(host.guest_errors, 0);
}

} // namespace

TEST_MAIN("tests")
