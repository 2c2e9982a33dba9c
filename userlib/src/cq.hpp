// SPDX-License-Identifier: BSD-2-Clause
/* Consumer's side of a queue: one header page, then slots; a slot that reads 0 is empty. */
#ifndef UGNI_CQ_HPP
#define UGNI_CQ_HPP

#include "cq_entry.hpp"
#include "objects.hpp"

namespace ugni
{

gni_cq_entry_t cq_overlay(gni_cq *cq, gni_cq_entry_t entry);

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
	gni_cq_entry_t entry = cq_peek(cq);

	if (!entry)
		return 0;
	uint64_t read = cq->read.load(std::memory_order_relaxed);
	__atomic_store_n(&cq->slots[read & cq->mask], 0, __ATOMIC_RELAXED);
	cq->read.store(read + 1, std::memory_order_relaxed);
	/* The NIC may use the slot again once it sees this: the slot must read 0 by then. */
	__atomic_store_n(&cq->header->consumed, read + 1, __ATOMIC_RELEASE);
	if (cq->nic->overlays) [[unlikely]]
		entry = cq_overlay(cq, entry);
	return entry;
}

/** Hands a taken entry to the caller; the code that goes with it. */
inline gni_return_t cq_deliver(gni_cq *cq, gni_cq_entry_t entry, gni_cq_entry_t *out)
{
	*out = entry;
	if (entry & ARIES_CQE_OVERRUN) [[unlikely]]
		return GNI_RC_ERROR_RESOURCE;
	if (cq->handler) [[unlikely]]
		cq->handler(out, cq->context);
	return entry & ARIES_CQE_STATUS_MASK ? GNI_RC_TRANSACTION_ERROR : GNI_RC_SUCCESS;
}

} // namespace ugni

#endif
