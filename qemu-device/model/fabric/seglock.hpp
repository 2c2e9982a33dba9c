/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A lock in the segment that survives the death of its holder. */
#ifndef ARIES_FABRIC_SEGLOCK_HPP
#define ARIES_FABRIC_SEGLOCK_HPP

#include "fabric/membership.hpp"

namespace aries
{

/**
 * Scoped lock on a word of the segment. The word is 0 or names its holder
 * (Membership::lock_word()); one of a dead member is taken over, and the new
 * holder must then repair what the word protects. Waiting is bounded: with a
 * holder that lives but does not run the lock is not had. Critical sections
 * are a few dozen instructions without calls.
 */
class SegLock
{
public:
	SegLock(std::atomic<uint32_t> &word, Membership &members) noexcept : word_(word)
	{
		uint32_t free = 0;

		held_ = word_.compare_exchange_strong(free, members.lock_word(), std::memory_order_acquire,
						      std::memory_order_relaxed);
		if (!held_)
			wait(members);
	}
	~SegLock() { unlock(); }
	SegLock(const SegLock &) = delete;
	SegLock &operator=(const SegLock &) = delete;

	bool held() const noexcept { return held_; }
	/** The former holder died in the middle of its work. */
	bool stolen() const noexcept { return stolen_; }

	void unlock() noexcept
	{
		if (held_)
			word_.store(0, std::memory_order_release);
		held_ = false;
	}

private:
	void wait(Membership &members) noexcept;

	std::atomic<uint32_t> &word_;
	bool held_ = false;
	bool stolen_ = false;
};

/** The same for what only threads of this process touch; held for one operation at most. */
class SpinLock
{
public:
	void lock() noexcept
	{
		if (flag_.exchange(true, std::memory_order_acquire))
			wait();
	}
	void unlock() noexcept { flag_.store(false, std::memory_order_release); }

private:
	void wait() noexcept;

	std::atomic<bool> flag_{false};
};

} // namespace aries

#endif
