// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * A NIC that was reset or removed. The driver puts memory behind its mappings that reads as ones: a
 * status word that no doorbell leaves, an entry that no NIC writes. So whoever looks at these anyway
 * finds out, and the others need no look.
 */
#ifndef UGNI_GONE_HPP
#define UGNI_GONE_HPP

#include "aries_hw.h"
#include "cq.hpp"
#include "objects.hpp"

namespace ugni
{

/** Contents of a queue's slots when the NIC is gone. */
constexpr uint64_t kGoneEntry = ~uint64_t{0};

/** Value of the status word of a descriptor area when the NIC is gone. */
constexpr uint32_t kGoneStatus = ~0U;

/**
 * @nic was found to be gone: from now on its posts are refused.
 *
 * Return: INVALID_STATE the NIC was reset, NO_MATCH it was removed.
 */
gni_return_t nic_gone(gni_nic *nic);

/** The NIC's status of the last doorbell. */
inline volatile const aries_fma_status *fma_status(const gni_nic *nic)
{
	return reinterpret_cast<volatile const aries_fma_status *>(nic->area + ARIES_DESC_STATUS);
}

/** The NIC is still there, as far as its status word says: for calls that find nothing, or no room. */
inline bool nic_there(const gni_nic *nic)
{
	return fma_status(nic)->status != kGoneStatus;
}

/** The caller is to try again, because of @why. Return: NOT_DONE; as nic_gone() if that would never help. */
[[gnu::noinline]] gni_return_t nic_later(gni_nic *nic, const char *call, const char *why);

/** The gone entry was taken from @cq: the next reader finds it again. Return: as nic_gone(). */
gni_return_t cq_gone(gni_cq *cq);

/** The next entry of @cq, left in place, is one of a NIC that is still there, or there is none. */
inline gni_return_t cq_there(const gni_cq *cq)
{
	return cq_peek(cq) == kGoneEntry ? nic_gone(cq->nic) : GNI_RC_SUCCESS;
}

} // namespace ugni

#endif
