// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "gone.hpp"
#include "debug.hpp"

namespace ugni
{

gni_return_t nic_gone(gni_nic *nic)
{
	const Locked lock(Subject::control, nic);
	if (nic->gone == GNI_RC_SUCCESS && nics.valid(nic)) {
		nic->gone = kernel::gone(nic->fd);
		debug("device %u %s: close what was made with it and attach again", nic->device,
		      nic->gone == GNI_RC_NO_MATCH ? "was removed" : "was reset");
		/* The common posts look at their queue's room only. */
		for (gni_ep *ep = nic->endpoints.first(); ep; ep = ep->next)
			ep->ready = &no_queue;
	}
	return nic->gone;
}

gni_return_t nic_later(gni_nic *nic, const char *call, const char *why)
{
	return nic_there(nic) ? later(GNI_RC_NOT_DONE, call, "%s", why) : nic_gone(nic);
}

gni_return_t cq_gone(gni_cq *cq)
{
	const uint64_t read = cq->read.load(std::memory_order_relaxed) - 1;

	cq->read.store(read, std::memory_order_relaxed);
	__atomic_store_n(&cq->slots[read & cq->mask], kGoneEntry, __ATOMIC_RELAXED);
	return nic_gone(cq->nic);
}

} // namespace ugni
