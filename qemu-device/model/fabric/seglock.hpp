/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks in the segment that survive the death of their holder: taking one repairs what it protects. */
#ifndef ARIES_FABRIC_SEGLOCK_HPP
#define ARIES_FABRIC_SEGLOCK_HPP

#include "fabric/membership.hpp"

namespace aries
{

/**
 * How long to wait for a member that holds a lock, lives and does not run (because of a debugger or a freezer). Such a
 * lock is never taken away from its holder: a member that does not get it leaves a mark, or fails. Threads of this
 * process are waited for without a limit, because they run.
 */
enum class Patience : uint64_t {
	NONE = 0,          /* for the owner's regular sweep, which is repeated */
	BRIEF = 1'000'000, /* ns; for callers that lose nothing without the lock; a critical section takes a thousandth
			    */
	LONG = 1'000'000'000,
};

/**
 * The word of a lock is 0, or names its holder (Membership::lock_word()). The lock of a dead member is taken over. Only
 * Guard makes a SegLock, and has the protected block repaired after a take-over.
 */
class SegLock
{
	template <typename Block> friend class Guard;

	SegLock(std::atomic<uint32_t> &word, Membership &members, Patience patience) noexcept : word_(word)
	{
		uint32_t free = 0;

		held_ = word_.compare_exchange_strong(free, members.lock_word(), std::memory_order_seq_cst,
						      std::memory_order_relaxed);
		if (!held_) [[unlikely]]
			wait(members, uint64_t(patience));
	}
	~SegLock() { unlock(); }

	void unlock() noexcept
	{
		if (held_)
			word_.store(0, std::memory_order_release);
		held_ = false;
	}
	/* Leaves the repair to another member: the dead member holds the lock again. */
	void give_back() noexcept
	{
		word_.store(dead_, std::memory_order_release);
		held_ = false;
	}
	void wait(Membership &members, uint64_t patience_ns) noexcept;

	std::atomic<uint32_t> &word_;
	bool held_ = false;
	uint32_t dead_ = 0; /* the word of the holder that died in the middle of its work */

public:
	SegLock(const SegLock &) = delete;
	SegLock &operator=(const SegLock &) = delete;
};

/**
 * Scoped lock of a block of the segment. Critical sections are a few dozen instructions without calls.
 *
 * Block has
 *     std::atomic<uint32_t> &lock()   its lock
 *     bool repair()                   repairs what a holder that died at any instruction may have left; the lock is
 *                                     held. False if this member cannot reach what the repair needs: then the lock is
 *                                     not taken.
 */
template <typename Block> class Guard
{
public:
	Guard(Membership &members, Block &block, Patience patience = Patience::LONG) noexcept
		: lock_(block.lock(), members, patience)
	{
		if (lock_.dead_ && !block.repair()) [[unlikely]]
			lock_.give_back();
	}

	bool held() const noexcept { return lock_.held_; }
	void unlock() noexcept { lock_.unlock(); }

private:
	SegLock lock_;
};

/** A lock for data that only threads of this process use; held for one operation at most. */
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
