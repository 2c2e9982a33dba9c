/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/engines/doorbell_poll.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include "fabric/flight.hpp"
#include "fabric/quiet_thread.hpp"

namespace aries
{

namespace
{

constexpr uint32_t BACK_LANE = 2;         /* of flights; held completions have 1 */
constexpr unsigned int CLOCK_ROUNDS = 32; /* between two looks at the clock, which takes as long as some rounds */
constexpr unsigned int YIELD_ROUNDS = 64; /* without a doorbell: a processor that has others to run may do so */

void relax() noexcept
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

} // namespace

uint64_t DoorbellPoll::word(uint32_t index) const noexcept
{
	return __atomic_load_n(reinterpret_cast<const uint64_t *>(area(index) + ARIES_DESC_POLL), __ATOMIC_ACQUIRE);
}

bool DoorbellPoll::fresh(uint32_t index, uint64_t word) const noexcept
{
	return (word ^ entries_[index].phase.load(std::memory_order_relaxed)) & ARIES_DB_PHASE;
}

void DoorbellPoll::tell(uint32_t index, bool awake) const noexcept
{
	__atomic_store_n(reinterpret_cast<uint32_t *>(area(index) + ARIES_DESC_AWAKE), awake, __ATOMIC_SEQ_CST);
}

/* Whether a doorbell may have to wait for those before it. */
bool DoorbellPoll::holds(uint32_t index) const noexcept
{
	return hold_.on() || fmads_[index].held.load(std::memory_order_relaxed);
}

bool DoorbellPoll::active(uint32_t index) const noexcept
{
	return active_[index / WORD_BITS].load(std::memory_order_acquire) >> index % WORD_BITS & 1;
}

bool DoorbellPoll::any_active() const noexcept
{
	uint64_t bits = 0;

	for (const std::atomic<uint64_t> &word : active_)
		bits |= word.load(std::memory_order_acquire);
	return bits;
}

/* A doorbell that has just been taken is no longer fresh, but was marked as running before. */
bool DoorbellPoll::busy(uint32_t index) const noexcept
{
	const Entry &entry = entries_[index];
	const bool lies = (word(index) ^ entry.phase.load(std::memory_order_acquire)) & ARIES_DB_PHASE;

	if (entry.running.load(std::memory_order_acquire))
		return true;
	return lies && entry.on.load(std::memory_order_relaxed) && (active(index) || !hold_.on());
}

/* Lock held. Runs the doorbell that lies there, unless that was done; it is over then, or on its way. */
bool DoorbellPoll::take(uint32_t index) noexcept
{
	const uint64_t value = word(index);
	Entry &entry = entries_[index];

	if (!fresh(index, value))
		return false;
	entry.running.store(true, std::memory_order_relaxed);
	entry.phase.store(value & ARIES_DB_PHASE, std::memory_order_release);
	entry.rung.store(true, std::memory_order_relaxed);
	fma_.doorbell(index, value & ~ARIES_DB_PHASE);
	entry.running.store(false, std::memory_order_release);
	return true;
}

/* Lock held. False if there is no thread, and can be none. */
bool DoorbellPoll::look_after(uint32_t index) noexcept
try {
	const std::lock_guard guard(mutex_);

	if (stop_)
		return false;
	if (!thread_.joinable())
		thread_ = quiet_thread([this] { run(); });
	entries_[index].rung.store(true, std::memory_order_relaxed);
	active_[index / WORD_BITS].fetch_or(uint64_t(1) << index % WORD_BITS);
	tell(index, true);
	changed_.notify_one();
	return true;
} catch (...) {
	return false;
}

/* Lock held. A process that stores a doorbell from now on traps; what was stored before is there to be seen. */
void DoorbellPoll::give_up(uint32_t index) noexcept
{
	active_[index / WORD_BITS].fetch_and(~(uint64_t(1) << index % WORD_BITS));
	tell(index, false);
	std::atomic_thread_fence(std::memory_order_seq_cst);
}

void DoorbellPoll::control(uint32_t index, bool on) noexcept
{
	Entry &entry = entries_[index];
	const bool was = entry.on.load(std::memory_order_relaxed);

	if (was)
		take(index);
	if (was && !on) {
		give_up(index);
		/* Nobody waits for what it may have read: the descriptor is given to somebody else. */
		fmads_[index].awaited.reset();
	}
	if (!was && on) {
		entry.phase.store(0, std::memory_order_relaxed);
		entry.kicked_ns = entry.pause_ns = entry.late = 0;
		__atomic_store_n(reinterpret_cast<uint64_t *>(area(index) + ARIES_DESC_POLL), 0, __ATOMIC_RELAXED);
		tell(index, false);
	}
	entry.on.store(on, std::memory_order_relaxed);
}

void DoorbellPoll::reset(uint32_t index) noexcept
{
	if (entries_[index].on.exchange(false))
		give_up(index);
}

void DoorbellPoll::kick(uint32_t index) noexcept
{
	Entry &entry = entries_[index];

	fmads_[index].counters.add(ARIES_CNT_FMA_WAKES);
	if (!entry.on.load(std::memory_order_relaxed)) {
		fma_.publish_status(index, ARIES_ST_DISABLED);
		return;
	}
	if (!take(index))
		return;
	if (active(index)) {
		too_late(entry, index);
		return;
	}
	/* One that comes alone is not worth a thread's waking up: it would find nothing else. */
	const uint64_t now = now_ns();

	if (now - entry.kicked_ns < LINGER_NS && now >= entry.pause_ns && !holds(index))
		look_after(index);
	entry.kicked_ns = now;
}

/* Lock held. The process was tired of waiting for the thread. */
void DoorbellPoll::too_late(Entry &entry, uint32_t index) noexcept
{
	if (++entry.late < LATE_MOST)
		return;
	entry.late = 0;
	entry.pause_ns = now_ns() + LATE_PAUSE_NS;
	give_up(index);
	/* Of what came meanwhile nobody else will know. */
	take(index);
}

/* The thread's part of what a trapping processor does when the descriptor's lock is free again. */
void DoorbellPoll::after(uint32_t index) noexcept
{
	/* Completions are held since a moment ago, or its target is on another host: once, as it is not looked after
	 * then. */
	if (fmads_[index].held.load(std::memory_order_relaxed)) [[unlikely]] {
		hold_.throttle(traffic_.room());
		fma_.await(index);
	}
	/* The host's lock may be held by a thread that waits for us: its main loop raises our interrupts. */
	if (core_.own().irq_vectors.load(std::memory_order_relaxed)) [[unlikely]]
		core_.wake.raise(core_.node, 0);
}

void DoorbellPoll::serve(uint32_t index) noexcept
{
	if (holds(index)) [[unlikely]] {
		doze(index);
		return;
	}
	{
		const std::lock_guard guard(fmads_[index].lock);

		if (!active(index) || !take(index))
			return;
		entries_[index].late = 0;
		fmads_[index].counters.add(ARIES_CNT_FMA_POLLED);
	}
	after(index);
}

/* The last look is behind the word that sends later doorbells to the trap. */
void DoorbellPoll::doze(uint32_t index) noexcept
{
	{
		const std::lock_guard guard(fmads_[index].lock);

		if (!active(index))
			return;
		give_up(index);
		if (!take(index))
			return;
		fmads_[index].counters.add(ARIES_CNT_FMA_POLLED);
	}
	after(index);
}

void DoorbellPoll::sweep() noexcept
{
	for (uint32_t index = 0; offered_ && index < entries_.size(); index++) {
		if (!entries_[index].on.load(std::memory_order_relaxed) || active(index) || !fresh(index, word(index)))
			continue;
		{
			const std::lock_guard guard(fmads_[index].lock);

			/* Where completions are held the process waits for what it reads by its trap. */
			if (!entries_[index].on.load(std::memory_order_relaxed) || hold_.on() || !take(index))
				continue;
			fmads_[index].counters.add(ARIES_CNT_FMA_POLLED);
		}
		after(index);
	}
}

/* Whether there was a doorbell. One of each descriptor, so that nobody waits for more than one of each other. */
bool DoorbellPoll::look_round() noexcept
{
	bool found = false;

	for (uint32_t w = 0; w < active_.size(); w++) {
		for (uint64_t bits = active_[w].load(std::memory_order_acquire); bits; bits &= bits - 1) {
			const uint32_t index = w * WORD_BITS + uint32_t(std::countr_zero(bits));

			if (!fresh(index, word(index)))
				continue;
			serve(index);
			found = true;
		}
	}
	return found;
}

void DoorbellPoll::look_at_clock() noexcept
{
	const uint64_t now = now_ns();

	for (uint32_t w = 0; w < active_.size(); w++) {
		for (uint64_t bits = active_[w].load(std::memory_order_acquire); bits; bits &= bits - 1) {
			const uint32_t index = w * WORD_BITS + uint32_t(std::countr_zero(bits));
			Entry &entry = entries_[index];

			if (entry.rung.exchange(false, std::memory_order_relaxed))
				entry.last_ns = now;
			else if (now - entry.last_ns > LINGER_NS || holds(index))
				doze(index);
		}
	}
}

void DoorbellPoll::run() noexcept
{
	unsigned int rounds = 0, idle = 0;

	take_back_lane(BACK_LANE);
	prctl(PR_SET_NAME, THREAD_NAME);
	while (!stop_.load(std::memory_order_relaxed)) {
		if (!any_active()) {
			std::unique_lock guard(mutex_);

			changed_.wait(guard, [this] { return stop_ || any_active(); });
			idle = 0;
			continue;
		}
		idle = look_round() ? 0 : idle + 1;
		if (++rounds % CLOCK_ROUNDS == 0)
			look_at_clock();
		if (idle && idle % YIELD_ROUNDS == 0)
			sched_yield();
		else if (idle)
			relax();
	}
}

void DoorbellPoll::stop() noexcept
{
	{
		const std::lock_guard guard(mutex_);

		stop_ = true;
		changed_.notify_one();
	}
	if (thread_.joinable())
		thread_.join();
}

} // namespace aries
