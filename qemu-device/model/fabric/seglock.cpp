/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/seglock.hpp"

#include <algorithm>

#include <sched.h>

namespace aries
{

namespace
{

/** Tells the processor that this is a spin loop. */
void relax() noexcept
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	asm volatile("yield");
#endif
}

constexpr unsigned int SPINS = 64;
constexpr uint64_t ASK_NS = 1'000'000;

static_assert(uint64_t(Patience::BRIEF) <= ASK_NS && uint64_t(Patience::LONG) > ASK_NS);

} // namespace

/*
 * A member that has waited long sets a bit in the word, so that later members wait for the same holder only briefly.
 * The holder's unlock() clears the bit.
 */
void SegLock::wait(Membership &members, uint64_t patience_ns) noexcept
{
	const uint64_t start = now_ns();

	while (!held_) {
		for (unsigned int i = 0; i < SPINS; i++) {
			uint32_t free = 0;

			if (word_.load(std::memory_order_relaxed) == 0 &&
			    word_.compare_exchange_strong(free, members.lock_word())) {
				held_ = true;
				return;
			}
			relax();
		}
		sched_yield();
		uint32_t holder = word_.load(std::memory_order_relaxed);
		const uint64_t waited = now_ns() - start;

		if (!holder || members.is_own(holder))
			continue;
		if (!members.holder_alive(holder, waited > ASK_NS)) {
			held_ = word_.compare_exchange_strong(holder, members.lock_word());
			dead_ = held_ ? holder : 0;
			continue;
		}
		if (waited > uint64_t(Patience::LONG))
			word_.compare_exchange_strong(holder, holder | LOCK_SLOW);
		if (waited > (holder & LOCK_SLOW ? std::min(patience_ns, uint64_t(Patience::BRIEF)) : patience_ns))
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
