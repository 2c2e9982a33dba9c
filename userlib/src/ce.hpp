// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Collectives. A child of a tree has one contribution pending in the NIC; what
 * is posted meanwhile waits here, in order, until the NIC takes it. Result
 * blocks say so in their control word, which CeCheckResult() polls.
 */
#ifndef UGNI_CE_HPP
#define UGNI_CE_HPP

#include "aries_hw.h"
#include "objects.hpp"

namespace ugni
{

/** A contribution that waits, with all values for its doorbell. */
struct CeWaiting {
	CeWaiting *next;
	gni_post_descriptor_t *descriptor; /* nullptr if it reports no event */
	gni_ce_result_t *result;
	aries_fma_desc area;
	uint32_t id; /* transaction, 0 if it reports no event */
	uint16_t events;
	uint16_t command;
};

/** Waiting contributions of one endpoint. */
struct CeQueue {
	CeQueue *next; /* in gni_nic::collectives */
	gni_ep *ep;
	CeWaiting *first;
	CeWaiting *last;
	uint32_t count;
	uint32_t pause; /* calls until the next try */
	uint32_t backoff;
};

/** Largest number of waiting contributions of an endpoint. */
constexpr uint32_t kCeWaitingMost = 1024;
/* Control word of a result block whose collective waits; until the NIC has it the rest names the NIC handle. */
constexpr uint64_t kCeQueued = 2;
constexpr uint64_t kCeNicMask = ~uint64_t{alignof(gni_nic) - 1};

static_assert(!(kCeQueued & (ARIES_CER_DONE | ARIES_CER_PENDING)) && kCeQueued < alignof(gni_nic) &&
	      !(ARIES_CER_PENDING & kCeNicMask));
static_assert(sizeof(gni_ce_result_t) == sizeof(aries_ce_result));

/* The 26 commands: bit n is command n. There is no product. */
constexpr uint64_t kCeCommands = 0x3fULL | 0x3fULL << 0x10 | 0x3fULL << 0x18 | 0xfULL << 0x30 | 0xfULL << 0x38;

constexpr bool ce_known(uint32_t command)
{
	return command < 64 && (kCeCommands >> command & 1);
}

constexpr bool ce_floating(uint32_t command)
{
	return (command & 0x18) == 0x18;
}

/** The second operand is the index of the first. */
constexpr bool ce_indexed(uint32_t command)
{
	return (command & 0x10) && (command & 7) < 4;
}

inline uint64_t ce_control(const gni_ce_result_t *result)
{
	/* Pairs with the NIC's store, which comes after the results. */
	return __atomic_load_n(&result->control, __ATOMIC_ACQUIRE);
}

inline void ce_set_control(gni_ce_result_t *result, uint64_t control)
{
	__atomic_store_n(&result->control, control, __ATOMIC_RELEASE);
}

/** There is no result yet. @state: kCeQueued, or 0 when the NIC has it. */
inline void ce_set_pending(gni_ce_result_t *result, const gni_nic *nic, uint64_t state)
{
	/* Twice: a NIC that accepts the contribution replaces the control word, and leaves the rest until the end. */
	__atomic_store_n(&result->result1, reinterpret_cast<uintptr_t>(nic), __ATOMIC_RELAXED);
	ce_set_control(result, reinterpret_cast<uintptr_t>(nic) | state);
}

/** The NIC handle that a block without a result names; anything in one that was never posted. */
inline gni_nic *ce_nic(const gni_ce_result_t *result, uint64_t control)
{
	const uint64_t name = control & ARIES_CER_PENDING ? __atomic_load_n(&result->result1, __ATOMIC_RELAXED)
							  : control & kCeNicMask;

	return reinterpret_cast<gni_nic *>(name); // NOLINT(performance-no-int-to-ptr)
}

} // namespace ugni

#endif
