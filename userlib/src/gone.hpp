// SPDX-License-Identifier: BSD-2-Clause
/*
 * A NIC that was reset or removed. The driver puts memory behind its mappings that reads as ones: a
 * status word that no doorbell leaves, an entry that no NIC writes. So whoever looks at these anyway
 * finds out, and the others need no look.
 */
#ifndef UGNI_GONE_HPP
#define UGNI_GONE_HPP

#include "cq.hpp"
#include "objects.hpp"

namespace ugni
{

/** What slots of a queue hold whose NIC is gone. */
constexpr uint64_t kGoneEntry = ~uint64_t{0};

/** What the status word of a descriptor area reads as whose NIC is gone. */
constexpr uint32_t kGoneStatus = ~0U;

/**
 * @nic was found to be gone: from now on its posts are refused.
 *
 * Return: INVALID_STATE the NIC was reset, NO_MATCH it was removed.
 */
gni_return_t nic_gone(gni_nic *nic);

/** The gone entry was taken from @cq: the next reader finds it again. Return: as nic_gone(). */
gni_return_t cq_gone(gni_cq *cq);

/** The next entry of @cq, left in place, is one of a NIC that is still there, or there is none. */
inline gni_return_t cq_there(const gni_cq *cq)
{
	return cq_peek(cq) == kGoneEntry ? nic_gone(cq->nic) : GNI_RC_SUCCESS;
}

} // namespace ugni

#endif
