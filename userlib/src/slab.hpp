// SPDX-License-Identifier: BSD-2-Clause
/*
 * Objects behind handles.
 *
 * A handle is the address of an object in a range of address space reserved
 * for its kind and never given back. So any value a caller passes, NULL, a
 * wild pointer or a handle destroyed earlier, is told apart from a live handle
 * by a range check, an alignment check and the object's magic word, without a
 * lock and without touching memory that might be gone.
 *
 * A slot is used again only after kQuarantine others of its kind have been
 * freed, oldest first, so that a handle destroyed recently is never taken for
 * a new object.
 */
#ifndef UGNI_SLAB_HPP
#define UGNI_SLAB_HPP

#include "mapgap.hpp"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <pthread.h>
#include <sys/mman.h>

namespace ugni
{

/**
 * T: has std::atomic<uint32_t> magic as its first member, kMagic, kSlots, and a
 * size that is a power of two. The system gives pages when they are first used.
 */
template <typename T> class Slab
{
	static_assert(std::has_single_bit(sizeof(T)));
	static constexpr uint32_t kDead = 0x64656164;
	static constexpr uint32_t kQuarantine = 64;
	static constexpr size_t kBytes = sizeof(T) * T::kSlots;
	static constexpr uint32_t kNone = ~0U;
	static constexpr uintptr_t kNowhere = uintptr_t{1} << 62;

public:
	/** May be called with any value, from any thread. */
	bool valid(const T *object) const
	{
		return reachable(object, false) && object->magic.load(std::memory_order_relaxed) == T::kMagic;
	}

	/**
	 * First half of valid(): @object may be looked at. One branch: an emulated processor pays for each as much as
	 * for five other instructions.
	 * @refused: another reason to say no
	 */
	bool reachable(const T *object, bool refused) const
	{
		uintptr_t distance = reinterpret_cast<uintptr_t>(object) - base_.load(std::memory_order_relaxed);

		/* Range and alignment at once: low bits that are set become high ones. */
		return (std::rotr(distance, std::countr_zero(sizeof(T))) | static_cast<uintptr_t>(refused) << 62) <
		       T::kSlots;
	}

	/** Return: a new object, or nullptr when memory or slots are exhausted. */
	T *create()
	{
		pthread_mutex_lock(&lock_);
		T *object = take();
		pthread_mutex_unlock(&lock_);
		if (!object)
			return nullptr;
		new (object) T();
		object->magic.store(T::kMagic, std::memory_order_release);
		return object;
	}

	/** The handle is invalid from here on; the slot stays out of use until recycle(). */
	static void retire(T *object) { object->magic.store(kDead, std::memory_order_release); }

	/** Gives a retired object's slot back. */
	void recycle(T *object)
	{
		uint32_t slot = index(object);

		pthread_mutex_lock(&lock_);
		*next(slot) = kNone;
		if (tail_ == kNone)
			head_ = slot;
		else
			*next(tail_) = slot;
		tail_ = slot;
		free_++;
		pthread_mutex_unlock(&lock_);
	}

	/**
	 * Asks @visit about live objects until it says true. None of them gets past settle() meanwhile; @visit must not
	 * create or recycle any.
	 */
	template <typename Visit> void visit(Visit &&visit)
	{
		pthread_mutex_lock(&lock_);
		for (uint32_t slot = 0; slot < used_; slot++) {
			T *object = at(slot);
			if (object->magic.load(std::memory_order_acquire) == T::kMagic && visit(object))
				break;
		}
		pthread_mutex_unlock(&lock_);
	}

	/** After retire(): no visit() looks at the object any more. */
	void settle()
	{
		pthread_mutex_lock(&lock_);
		pthread_mutex_unlock(&lock_);
	}

	void destroy(T *object)
	{
		retire(object);
		recycle(object);
	}

private:
	T *at(uint32_t slot) const
	{
		uintptr_t base = base_.load(std::memory_order_relaxed);
		return reinterpret_cast<T *>(base) + slot; // NOLINT(performance-no-int-to-ptr)
	}
	uint32_t index(const T *object) const { return static_cast<uint32_t>(object - at(0)); }
	/* A free slot keeps its link behind the magic word. */
	uint32_t *next(uint32_t slot) const
	{
		return reinterpret_cast<uint32_t *>(reinterpret_cast<char *>(at(slot)) + sizeof(uint64_t));
	}

	T *take()
	{
		if (free_ > kQuarantine)
			return pop();
		T *object = extend();
		return object || !free_ ? object : pop();
	}

	T *pop()
	{
		uint32_t slot = head_;

		head_ = *next(slot);
		if (head_ == kNone)
			tail_ = kNone;
		free_--;
		return at(slot);
	}

	T *extend()
	{
		if (base_.load(std::memory_order_relaxed) == kNowhere && !reserve())
			return nullptr;
		/* Clients use the low 24 bits of a handle as an id and keep 0 and 1 for themselves. */
		if ((reinterpret_cast<uintptr_t>(at(used_)) & 0xffffff) == 0)
			used_++;
		return used_ < T::kSlots ? at(used_++) : nullptr;
	}

	/* Reads of slots never used give zeros: no live handle. */
	bool reserve()
	{
		void *p = mmap(nullptr, kBytes + kMapGap, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p == MAP_FAILED)
			return false;
		base_.store(reinterpret_cast<uintptr_t>(p), std::memory_order_release);
		return true;
	}

	pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER; /* protects everything below */
	/* No object is there yet: a range that no address is in. Read without the lock. */
	std::atomic<uintptr_t> base_{kNowhere};
	uint32_t used_ = 0; /* slots ever handed out */
	uint32_t head_ = kNone;
	uint32_t tail_ = kNone;
	uint32_t free_ = 0;
};

} // namespace ugni

#endif
