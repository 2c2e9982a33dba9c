/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sleeping on a word that several processes share. */
#ifndef ARIES_FABRIC_FUTEX_HPP
#define ARIES_FABRIC_FUTEX_HPP

#include <atomic>
#include <cstdint>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace aries
{

/** A counter, and a word that says whether a thread sleeps until it changes; both in shared memory. */
class Bell
{
public:
	Bell(std::atomic<uint32_t> &count, std::atomic<uint32_t> &sleeping) noexcept
		: count_(count), sleeping_(sleeping)
	{
	}

	/** Wakes the sleeper. Any thread; a system call only if a thread sleeps, which then sees all earlier stores. */
	void ring() noexcept
	{
		count_.fetch_add(1, std::memory_order_seq_cst);
		if (sleeping_.load(std::memory_order_seq_cst))
			syscall(SYS_futex, &count_, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
	}

	/**
	 * Sleeps until the bell rings, at most @ns, unless @busy returns true. @busy is called after the announcement
	 * that this thread is about to sleep. One thread at a time.
	 */
	template <typename Busy> void wait(uint64_t ns, Busy &&busy) noexcept
	{
		const uint32_t seen = count_.load(std::memory_order_seq_cst);

		sleeping_.store(1, std::memory_order_seq_cst);
		if (!busy()) {
			const timespec limit = {time_t(ns / 1'000'000'000), long(ns % 1'000'000'000)};

			syscall(SYS_futex, &count_, FUTEX_WAIT, seen, &limit, nullptr, 0);
		}
		sleeping_.store(0, std::memory_order_relaxed);
	}

private:
	std::atomic<uint32_t> &count_;
	std::atomic<uint32_t> &sleeping_;
};

} // namespace aries

#endif
