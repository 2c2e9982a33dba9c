// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* What all posts share: checks, transaction ids, the descriptor area and the doorbell. */
#ifndef UGNI_POST_HPP
#define UGNI_POST_HPP

#include "aries_hw.h"
#include "debug.hpp"
#include "gni_memhandle.h"
#include "gone.hpp"
#include "mmio.hpp"
#include "objects.hpp"
#include "polled.hpp"

namespace ugni
{

constexpr uint32_t kEventModes = GNI_CQMODE_LOCAL_EVENT | GNI_CQMODE_GLOBAL_EVENT;
constexpr uint32_t kKnownCqModes = kEventModes | GNI_CQMODE_REMOTE_EVENT;
constexpr uint32_t kKnownDeliveryModes = GNI_DLVMODE_NO_ADAPT | GNI_DLVMODE_NO_HASH | GNI_DLVMODE_NO_RADAPT |
					 GNI_DLVMODE_NMIN_HASH | GNI_DLVMODE_MIN_HASH | GNI_DLVMODE_ADAPTIVE1 |
					 GNI_DLVMODE_ADAPTIVE2 | GNI_DLVMODE_ADAPTIVE3 | GNI_DLVMODE_ORDERED_TAIL;

/* The event bits of a post are those of a doorbell. */
static_assert(GNI_CQMODE_LOCAL_EVENT == ARIES_EV_LOCAL && GNI_CQMODE_GLOBAL_EVENT == ARIES_EV_GLOBAL &&
	      GNI_CQMODE_REMOTE_EVENT == ARIES_EV_REMOTE);

inline uint64_t load_word(const void *from)
{
	uint64_t value;

	__builtin_memcpy(&value, from, sizeof(value));
	return value;
}

/** type, cq_mode and dlvr_mode, which are 8 bytes in a row. */
inline uint64_t post_kind(const gni_post_descriptor_t *d)
{
	static_assert(offsetof(gni_post_descriptor_t, cq_mode) == offsetof(gni_post_descriptor_t, type) + 4);
	return load_word(&d->type);
}

/** Bits of post_kind() that are as in common_kind(): neither a remote event nor a delivery mode is among them. */
constexpr uint64_t kCommonMask =
	0xffffffff | uint64_t{0xffff & ~GNI_CQMODE_REMOTE_EVENT} << 32 | uint64_t{0xffff & ~kKnownDeliveryModes} << 48;

/** The common post of a type asks for a global event here, perhaps for a remote one, and sets no bit without a meaning.
 */
constexpr uint64_t common_kind(gni_post_type_t type)
{
	return uint64_t{GNI_CQMODE_GLOBAL_EVENT} << 32 | type;
}

/** Free space of @cq in events, and the number of @cq in the upper half. */
inline uint64_t cq_room_and_number(const gni_cq *cq)
{
	static_assert(offsetof(gni_ep, references) == 4 && offsetof(gni_cq, attention) == 4 &&
		      offsetof(gni_cq, number) == offsetof(gni_cq, room) + 4);
	return load_word(&cq->room);
}

/** Both words of event data, as a descriptor has them. */
inline uint64_t event_data(const gni_ep *ep)
{
	return load_word(ep->events);
}

/** Queue and transaction id of a post; the id is 0 if the post has no event here. */
struct Ticket {
	gni_cq *cq;
	uint32_t id;
};

/** cq_mode and dlvr_mode, which are neighbours, hold no bit without a meaning. */
inline bool post_modes_known(const gni_post_descriptor_t *d)
{
	uint32_t modes;

	static_assert(offsetof(gni_post_descriptor_t, dlvr_mode) == offsetof(gni_post_descriptor_t, cq_mode) + 2 &&
		      std::endian::native == std::endian::little);
	__builtin_memcpy(&modes, &d->cq_mode, sizeof(modes));
	return !(modes & ~(kKnownCqModes | kKnownDeliveryModes << 16));
}

/** ARIES_ST_* of the last doorbell. */
inline uint32_t fma_last_status(const gni_nic *nic)
{
	fma_settle(nic);
	return fma_status(nic)->status;
}

constexpr const char *kPostFma = "GNI_PostFma";
constexpr const char *kBadSourceQueue = "src_cq_hndl is no queue of this NIC handle, or one for remote events";

/** With UGNI_CHECK: checks addresses whole, of which the NIC gets 40 bits. */
[[gnu::cold]] bool post_addresses_sound(const gni_post_descriptor_t *d);
/** The same for one address; @h may be of another node. */
bool mem_address_sound(const gni_mem_handle_t &h, uint64_t address);

/** Logs the fault that post_check() found. */
[[gnu::cold]] gni_return_t post_refuse(const gni_ep *ep, const gni_post_descriptor_t *d, const char *call);

/** Checks that hold for every post. @call: the exported function */
inline gni_return_t post_check(const gni_ep *ep, const gni_post_descriptor_t *d, const char *call)
{
	if (!endpoints.valid(ep) || !d || !ep->bound || !post_modes_known(d) || !nic_there(ep->nic) ||
	    (ep->nic->checks && !post_addresses_sound(d))) [[unlikely]]
		return post_refuse(ep, d, call);
	return GNI_RC_SUCCESS;
}

constexpr const char *kBadPieceEndpoint = "a piece names an endpoint that is not bound, or of another NIC handle";
constexpr const char *kBadPieceMemory = "an empty memory handle in a piece";

/** Whether a piece of a chain may go to @ep: a chain has one NIC handle. */
inline bool piece_endpoint_sound(const gni_ep *ep, const gni_nic *nic)
{
	return endpoints.valid(ep) && ep->bound && ep->nic == nic;
}

/** Whether @cq may be the source queue of a post of @ep. */
inline bool source_queue_sound(const gni_ep *ep, const gni_cq *cq)
{
	return queues.valid(cq) && cq->nic == ep->nic && !cq->registrations;
}

/** Fills in the request of @d. */
inline void post_request(Request &r, gni_ep *ep, gni_cq *cq, gni_post_descriptor_t *d, uint32_t events)
{
	/* Bit n of cq_mode is the event with code n + 1. */
	static_assert(GNI_CQMODE_LOCAL_EVENT << 1 == 1 << ARIES_INFO_LOCAL &&
		      GNI_CQMODE_GLOBAL_EVENT << 1 == 1 << ARIES_INFO_GLOBAL);
	r.descriptor = d;
	r.ep = ep;
	r.cq = cq;
	r.state = events << 1;
	ep->references++;
}

/**
 * Accepts @d, whose events will go to @cq: until the last of them has been
 * reaped the descriptor is the library's.
 *
 * Return: SUCCESS, INVALID_PARAM (events without a queue, both events without
 * GNI_CDM_MODE_DUAL_EVENTS), ERROR_RESOURCE (the queue could overrun, or no id).
 */
gni_return_t post_begin(gni_ep *ep, gni_cq *cq, gni_post_descriptor_t *d, Ticket *ticket, const char *call);

/** The FMA descriptor in the descriptor area, which is the caller's until fma_ring(). Stores only. */
inline aries_fma_desc *fma_area(const gni_nic *nic)
{
	fma_settle(nic);
	return reinterpret_cast<aries_fma_desc *>(nic->area + ARIES_DESC_FMA);
}

/** Fills in the fields of all FMA operations. The compiler joins stores to adjacent fields. */
inline aries_fma_desc *fma_fill(const gni_ep *ep, const gni_post_descriptor_t *d, const gni_cq *cq)
{
	aries_fma_desc *area = fma_area(ep->nic);

	area->pe = ep->remote_address;
	area->mdh = gni_hndl_name(&d->remote_mem_hndl);
	area->dlvr_mode = d->dlvr_mode;
	area->offset = gni_hndl_offset(&d->remote_mem_hndl, d->remote_addr);
	area->local_mdh = 0;
	area->cq = cq ? static_cast<uint16_t>(cq->number) : 0;
	area->reserved = 0;
	area->local_event = ep->events[0];
	area->remote_event = ep->events[1];
	return area;
}

/** Value of a doorbell. */
inline uint64_t fma_bell(uint32_t id, uint64_t length, aries_fma_op op, uint64_t events, uint64_t atomic = 0)
{
	return static_cast<uint64_t>(id) << ARIES_DB_TID_SHIFT | length << ARIES_DB_LEN_SHIFT |
	       static_cast<uint64_t>(op) << ARIES_DB_OP_SHIFT | events << ARIES_DB_MODE_SHIFT |
	       atomic << ARIES_DB_AMO_SHIFT;
}

/** One doorbell: the whole operation happens, before this returns unless doorbells are polled. */
inline void fma_ring(const gni_nic *nic, uint32_t id, uint64_t length, aries_fma_op op, uint64_t events,
		     uint64_t atomic = 0)
{
	const uint64_t value = fma_bell(id, length, op, events, atomic);

	store_fence();
	if (nic->polled) [[unlikely]]
		polled_ring(nic, value);
	else
		doorbell_store(nic->doorbell + ARIES_DB_FMA / 8, value);
}

/** The same for a caller that looks at the status word. Return: ARIES_ST_* */
inline uint32_t fma_ring_and_look(const gni_nic *nic, uint32_t id, uint64_t length, aries_fma_op op, uint64_t events)
{
	const uint64_t value = fma_bell(id, length, op, events);

	store_fence();
	if (nic->polled) [[unlikely]]
		return polled_ring_and_wait(nic, value);
	doorbell_store(nic->doorbell + ARIES_DB_FMA / 8, value);
	return fma_status(nic)->status;
}

/**
 * As fma_ring(), for a piece that is not the last: asks for no event and looks
 * at the status word instead.
 *
 * Return: ARIES_ST_* of the piece.
 */
uint32_t fma_ring_piece(const gni_nic *nic, uint64_t length, aries_fma_op op);

/**
 * Ends a post of several pieces after one has failed with @status: the rest is
 * left out, and the events that were asked for here carry the status. Nothing
 * is raised at the target.
 */
void fma_fail(gni_ep *ep, gni_post_descriptor_t *d, const Ticket &ticket, uint32_t status);

/**
 * Ends a post that asked for no local and no global event, when its last
 * doorbell has been rung: the outcome is in the status word only.
 */
void fma_silent_end(const gni_ep *ep, gni_post_descriptor_t *d);

gni_return_t fma_put(gni_ep *ep, gni_post_descriptor_t *d);
gni_return_t fma_get(gni_ep *ep, gni_post_descriptor_t *d);
gni_return_t fma_atomic(gni_ep *ep, gni_post_descriptor_t *d);
gni_return_t fma_collective(gni_ep *ep, gni_post_descriptor_t *d);
/** A put or get, and the rest of its chain. */
gni_return_t fma_chain(gni_ep *ep, gni_post_descriptor_t *d);

} // namespace ugni

#endif
