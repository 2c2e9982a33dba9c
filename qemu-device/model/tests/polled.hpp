/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that leaves its doorbells in its descriptor area. */
#ifndef ARIES_TESTS_POLLED_HPP
#define ARIES_TESTS_POLLED_HPP

#include <chrono>

#include <sched.h>

#include "tests/fake_host.hpp"

namespace aries_test
{

/** One doorbell at a time, as the specification has it. */
class Process
{
public:
	Process(FakeHost &host, unsigned int fmad) : host_(host), fmad_(fmad) {}

	static uint64_t value(unsigned int op, unsigned int bytes, unsigned int mode = 0, unsigned int tid = 0,
			      unsigned int amo = 0)
	{
		return uint64_t(tid) | uint64_t(bytes) << 16 | uint64_t(op) << 32 | uint64_t(mode) << 40 |
		       uint64_t(amo) << 48;
	}

	/** Stores the word, and nothing else. */
	void leave(uint64_t value)
	{
		before_ = sequence();
		phase_ ^= ARIES_DB_PHASE;
		__atomic_store_n(host_.polled(fmad_), value | phase_, __ATOMIC_RELEASE);
	}
	/** Has it run by a trap. */
	void kick() const { host_.store(fmad_, ARIES_FMA_DOORBELL + ARIES_DB_POLL, 8, 0); }
	/** Both, the latter if nobody looks. Return: whether it trapped */
	bool ring(uint64_t value)
	{
		leave(value);
		std::atomic_thread_fence(std::memory_order_seq_cst);
		const bool trap = !host_.awake(fmad_);

		if (trap)
			kick();
		return trap;
	}
	/** Whether the doorbell is over. */
	bool over() const { return sequence() != before_; }
	/** Waits until it is; fails the test after @seconds. Return: its status */
	uint32_t wait(unsigned int seconds = 60) const
	{
		const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);

		while (!over()) {
			if (std::chrono::steady_clock::now() > end)
				fail_msg("a doorbell of descriptor %u was lost", fmad_);
			sched_yield();
		}
		return host_.status(fmad_);
	}
	uint32_t run(uint64_t value)
	{
		ring(value);
		return wait();
	}
	/** Rings @value until a thread looks for what comes; it may have stopped again. */
	void awaken(uint64_t value)
	{
		const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);

		do {
			assert_int_equal(run(value), ARIES_ST_OK);
			assert_true(std::chrono::steady_clock::now() < end);
		} while (!host_.awake(fmad_));
	}
	/** After the descriptor was enabled. */
	void begin() { phase_ = 0; }

	uint32_t sequence() const
	{
		return uint32_t(
			__atomic_load_n(reinterpret_cast<const uint64_t *>(
						reinterpret_cast<uint8_t *>(&host_.desc(fmad_)) + ARIES_DESC_STATUS),
					__ATOMIC_ACQUIRE));
	}

private:
	FakeHost &host_;
	const unsigned int fmad_;
	uint64_t phase_ = 0;
	uint32_t before_ = 0;
};

} // namespace aries_test

#endif
