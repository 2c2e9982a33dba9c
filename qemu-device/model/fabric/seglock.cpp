/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/seglock.hpp"

#include <sched.h>

namespace aries
{

namespace
{

/** Tells the processor that this is a waiting loop. */
void relax() noexcept
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	asm volatile("yield");
#endif
}

constexpr unsigned int SPINS = 64;
constexpr uint64_t ASK_NS = 1'000'000; /* a critical section takes a thousandth of that */
constexpr uint64_t GIVE_UP_NS = 1'000'000'000;

} // namespace

void SegLock::wait(Membership &members) noexcept
{
	const uint64_t start = now_ns();

	while (!held_) {
		for (unsigned int i = 0; i < SPINS; i++) {
			uint32_t free = 0;

			if (word_.load(std::memory_order_relaxed) == 0 &&
			    word_.compare_exchange_strong(free, members.lock_word(), std::memory_order_acquire)) {
				held_ = true;
				return;
			}
			relax();
		}
		sched_yield();
		uint32_t holder = word_.load(std::memory_order_relaxed);

		const uint64_t waited = now_ns() - start;

		if (holder && !members.holder_alive(holder, waited > ASK_NS) &&
		    word_.compare_exchange_strong(holder, members.lock_word(), std::memory_order_acquire)) {
			held_ = true;
			stolen_ = true;
			return;
		}
		if (waited > GIVE_UP_NS)
			return;
	}
}

void SpinLock::wait() noexcept
{
	for (unsigned int i = 0; flag_.exchange(true, std::memory_order_acquire); i++) {
		if (i % SPINS == SPINS - 1)
			sched_yield();
		else
			relax();
	}
}

} // namespace aries
