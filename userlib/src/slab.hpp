// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
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
 * a new object. What an object points at stays there for threads that are late.
 *
 * A child of fork() finds all of it empty: the parent's handles are not valid
 * there, and the slots that had been used are used last.
 */
#ifndef UGNI_SLAB_HPP
#define UGNI_SLAB_HPP

#include "guard.hpp"
#include "mapgap.hpp"
#include "wiped.hpp"

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
	static constexpr uint32_t kHeld = ~1U;
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
		State *s = reserve() ? state_.get() : nullptr;
		if (!s)
			return nullptr;
		T *object = nullptr;
		{
			const Hold hold(*s);
			object = take(*s);
		}
		if (!object)
			return nullptr;
		new (object) T();
		object->magic.store(T::kMagic, std::memory_order_release);
		return object;
	}

	/** The handle is invalid from here on; the slot stays out of use until recycle(). */
	static void retire(T *object) { object->magic.store(kDead, std::memory_order_release); }

	/** Gives a retired object's slot back; once, however often it is called. */
	void recycle(T *object)
	{
		State *s = state_.get();
		uint32_t slot = index(object);

		if (!s || object->magic.load(std::memory_order_relaxed) == T::kMagic)
			return;
		const Hold hold(*s);
		if (s->links[slot] == kHeld) {
			s->links[slot] = kNone;
			(s->free ? s->links[s->tail] : s->head) = slot;
			s->tail = slot;
			s->free++;
		}
	}

	/**
	 * Asks @visit about live objects until it says true. None of them gets past settle() meanwhile; @visit must not
	 * create or recycle any.
	 */
	template <typename Visit> void visit(Visit &&visit)
	{
		State *s = state_.get();
		if (!s)
			return;
		const Hold hold(*s);
		for (uint32_t n = 0; n < s->used; n++) {
			T *object = at(static_cast<uint32_t>((s->start + n) % T::kSlots));
			if (object->magic.load(std::memory_order_acquire) == T::kMagic && visit(object))
				break;
		}
	}

	/** After retire(): no visit() looks at the object any more. */
	void settle()
	{
		if (State *s = state_.get()) {
			const Hold hold(*s);
		}
	}

	void destroy(T *object)
	{
		retire(object);
		recycle(object);
	}

private:
	struct State {
		pthread_mutex_t lock; /* protects everything below */
		bool begun;
		uint32_t start; /* the slot that was used first */
		uint32_t used;  /* slots ever handed out */
		uint32_t head;  /* of the free ones; valid if there are any */
		uint32_t tail;
		uint32_t free;
		uint32_t links[T::kSlots]; /* kHeld: in use; a free slot: the next one */
	};

	/* Holds the lock; the thread is not cancelled meanwhile. */
	class Hold
	{
	public:
		explicit Hold(State &state) : lock_(&state.lock) { (void)pthread_mutex_lock(lock_); }
		~Hold() { (void)pthread_mutex_unlock(lock_); }
		Hold(const Hold &) = delete;
		Hold &operator=(const Hold &) = delete;

	private:
		Uncancelled uncancelled_;
		pthread_mutex_t *lock_;
	};

	T *at(uint32_t slot) const
	{
		uintptr_t base = base_.load(std::memory_order_relaxed);
		return reinterpret_cast<T *>(base) + slot; // NOLINT(performance-no-int-to-ptr)
	}
	uint32_t index(const T *object) const { return static_cast<uint32_t>(object - at(0)); }

	T *take(State &s)
	{
		if (!s.begun) {
			s.begun = true;
			s.start = next_.load(std::memory_order_relaxed);
		}
		T *object = s.free > kQuarantine ? nullptr : extend(s);
		return object || !s.free ? object : pop(s);
	}

	T *pop(State &s)
	{
		uint32_t slot = s.head;

		s.head = s.links[slot];
		s.links[slot] = kHeld;
		s.free--;
		return at(slot);
	}

	T *extend(State &s)
	{
		while (s.used < T::kSlots) {
			const uint32_t slot = static_cast<uint32_t>((s.start + s.used++) % T::kSlots);
			/* Clients use the low 24 bits of a handle as an id and keep 0 and 1 for themselves. */
			if ((reinterpret_cast<uintptr_t>(at(slot)) & 0xffffff) == 0)
				continue;
			next_.store(slot + 1, std::memory_order_relaxed);
			s.links[slot] = kHeld;
			return at(slot);
		}
		return nullptr;
	}

	/* Reads of slots never used give zeros: no live handle. */
	bool reserve()
	{
		if (base_.load(std::memory_order_acquire) != kNowhere)
			return true;
		void *p = map_wiped(kBytes + kMapGap);
		if (!p)
			return false;
		uintptr_t nowhere = kNowhere;
		if (!base_.compare_exchange_strong(nowhere, reinterpret_cast<uintptr_t>(p)))
			(void)munmap(p, kBytes + kMapGap);
		return true;
	}

	/* No object is there yet: a range that no address is in. */
	std::atomic<uintptr_t> base_{kNowhere};
	/* Where a child of fork() goes on. */
	std::atomic<uint32_t> next_{0};
	Wiped<State> state_;
};

} // namespace ugni

#endif
