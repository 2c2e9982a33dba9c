// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Consumer's side of a queue: one header page, then slots; a slot that reads 0 is empty. */
#ifndef UGNI_CQ_HPP
#define UGNI_CQ_HPP

#include "gni_entry.h"
#include "objects.hpp"

namespace ugni
{

/** The header page is in front of the slots. */
inline aries_cq_header *cq_header(const gni_cq *cq)
{
	return reinterpret_cast<aries_cq_header *>(reinterpret_cast<char *>(cq->slots) - ARIES_CQ_HEADER_BYTES);
}

/**
 * The queue whose handler is to see an event that has been taken, or nullptr. Who waits takes events without calling
 * the handler, and calls it when nothing of the library's is in force any more: a handler may end by an exception or
 * with its thread, and then no destructor of the library is run.
 */
using HandlerDue = gni_cq *;

/**
 * What cq_deliver() does when an entry needs a closer look.
 * @due: gets the queue if its handler is to be called; nullptr: it is called at once
 */
gni_return_t cq_deliver_special(gni_cq *cq, gni_cq_entry_t entry, gni_cq_entry_t *out, HandlerDue *due,
				const char *call);

/** An empty queue of a NIC handle with something to look after: does so. As cq_next(). */
gni_return_t cq_tend(gni_cq *cq, gni_cq_entry_t *out, HandlerDue *due);

/** GNI_CqGetEvent() from within another function; @due as above. */
gni_return_t cq_next(gni_cq *cq, gni_cq_entry_t *out, HandlerDue *due);

/** Next entry, left in place; 0 if there is none. Any thread. */
inline gni_cq_entry_t cq_peek(const gni_cq *cq)
{
	uint64_t read = cq->read.load(std::memory_order_relaxed);

	/* Pairs with the NIC's release store: what happened before the event is visible. */
	return __atomic_load_n(&cq->slots[read & cq->mask], __ATOMIC_ACQUIRE);
}

/** Takes the next entry out; 0 if there is none. */
inline gni_cq_entry_t cq_take(gni_cq *cq)
{
	uint64_t read = cq->read.load(std::memory_order_relaxed);
	uint64_t *slot = &cq->slots[read & cq->mask];
	gni_cq_entry_t entry = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

	if (!entry)
		return 0;
	__atomic_store_n(slot, 0, __ATOMIC_RELAXED);
	read++;
	cq->read.store(read, std::memory_order_relaxed);
	/* The NIC may use the slot again once it sees this: the slot must read 0 by then. */
	__atomic_store_n(&cq_header(cq)->consumed, read, __ATOMIC_RELEASE);
	return entry;
}

/** Continues at the next entry, wherever in the queue it is. For threads that may also take entries. */
void cq_resync(gni_cq *cq);

/**
 * The queue is empty, for the reader. Threads that read it at once may have left it before entries that have been
 * taken; after many looks the whole queue is looked at.
 */
inline void cq_missed(gni_cq *cq)
{
	/* Threads that look at once may go past 0. */
	if (static_cast<int32_t>(--cq->looks) <= 0) [[unlikely]]
		cq_resync(cq);
}

/** GNI_CqVectorMonitor() from within another function, whose guard is @outer. */
gni_return_t cq_monitor(gni_cq **cqs, uint32_t count, uint64_t timeout_ms, uint32_t *which, const Uncancelled &outer,
			const char *call);

/** What cq_take() leaves to be looked at: bits that a plain entry does not have. */
constexpr uint64_t kSpecialEntry = ARIES_CQE_OVERRUN | ARIES_CQE_STATUS_MASK | ARIES_CQE_TYPE_MASK;

/** Calls the handler of a queue for an event that cq_next() has taken. */
inline void cq_handle(HandlerDue due, gni_cq_entry_t *event)
{
	if (due) [[unlikely]]
		due->handler(event, due->context);
}

} // namespace ugni

#endif
