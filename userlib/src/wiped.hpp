// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#ifndef UGNI_WIPED_HPP
#define UGNI_WIPED_HPP

#include <atomic>
#include <cstddef>
#include <sys/mman.h>
#include <type_traits>

namespace ugni
{

/** For a large table of which a process uses few pages: prevents huge pages, of which one would cost 2 MiB. */
inline void keep_sparse(void *table, size_t bytes)
{
	(void)madvise(table, bytes, MADV_NOHUGEPAGE);
}

/** Pages that read 0 at first. A child of fork() finds them so again, whatever the parent had there. */
inline void *map_wiped(size_t bytes)
{
	void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return nullptr;
	/* Linux 4.14 on; there is no driver for an older one. */
	(void)madvise(p, bytes, MADV_WIPEONFORK);
	keep_sparse(p, bytes);
	return p;
}

/**
 * State of the process that a child of fork() does not inherit: locks, which another thread may have held, and
 * whatever belongs to the parent. All bits zero must be a T as it begins; so they are in a mutex.
 */
template <typename T> class Wiped
{
	static_assert(std::is_trivially_destructible_v<T>);

public:
	/** Any thread. Return: nullptr without memory. */
	T *get()
	{
		T *p = place_.load(std::memory_order_acquire);

		return p ? p : make();
	}

private:
	T *make()
	{
		T *mine = static_cast<T *>(map_wiped(sizeof(T)));
		T *first = nullptr;

		if (!mine || place_.compare_exchange_strong(first, mine, std::memory_order_acq_rel))
			return mine;
		(void)munmap(mine, sizeof(T));
		return first;
	}

	std::atomic<T *> place_{nullptr};
};

/**
 * Tells whether this is a child of fork() that finds the parent's state, perhaps half changed. For state that is not
 * wiped, so that leak detectors find it. Called with the lock of that state.
 */
class Inherited
{
public:
	/** Return: true at the first call in each process; also without memory. */
	bool first_look()
	{
		bool *seen = seen_.get();
		const bool first = !seen || !*seen;

		if (seen)
			*seen = true;
		return first;
	}

private:
	Wiped<bool> seen_;
};

} // namespace ugni

#endif
