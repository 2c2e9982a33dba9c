// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* FMA posts: puts and gets. An operation of up to one line is one doorbell. */
#include "post.hpp"

#include <cinttypes>
#include <cstring>

namespace ugni
{

namespace
{

/* Largest part of a get in one doorbell: whole packets that fit the length field. */
constexpr uint64_t kGetPiece = 0xffc0;
/* A NIC that takes so many looks to answer a doorbell is gone. */
constexpr uint32_t kStatusLooks = 1U << 20;

/* Copies put data into the line. Short data, with which latency is measured, are copied without a call. */
inline void line_copy(gni_nic *nic, uint64_t source, uint64_t bytes)
{
	char *line = nic->area + ARIES_DESC_LINE;
	const char *from = reinterpret_cast<const char *>(source); // NOLINT(performance-no-int-to-ptr)

	if (bytes == 8)
		memcpy(line, from, 8);
	else if (bytes)
		memcpy(line, from, bytes);
}

} // namespace

UGNI_IN_ONE_PAGE(512)
gni_return_t post_begin(gni_ep *ep, gni_cq *cq, gni_post_descriptor_t *d, Ticket *ticket, const char *call)
{
	uint32_t events = d->cq_mode & kEventModes;

	*ticket = {cq, 0};
	if (events) {
		uint32_t count = events == kEventModes ? 2 : 1;
		if (!cq || (count == 2 && !(ep->nic->modes & GNI_CDM_MODE_DUAL_EVENTS)))
			return refuse(GNI_RC_INVALID_PARAM, call, "%s",
				      cq ? "local and global event need GNI_CDM_MODE_DUAL_EVENTS"
					 : "an event is wanted, and the endpoint has no queue");
		RequestTable &requests = ep->nic->requests;
		/* Threads that post at once may have taken more than there was. */
		const bool room = static_cast<int32_t>(cq->room) >= static_cast<int32_t>(count);
		ticket->id = room ? requests.take() : 0;
		if (!ticket->id) {
			nic_refused(ep->nic);
			return later(GNI_RC_ERROR_RESOURCE, call, "%s",
				     room ? "no transaction id is free"
					  : "the source queue has no room for more events");
		}
		post_request(requests[static_cast<uint16_t>(ticket->id)], ep, cq, d, events);
		cq->room -= count;
	}
	d->status = GNI_RC_SUCCESS;
	d->cq_mode_complete = 0;
	return GNI_RC_SUCCESS;
}

uint32_t fma_ring_piece(const gni_nic *nic, uint64_t length, aries_fma_op op)
{
	fma_settle(nic);
	uint32_t before = fma_status(nic)->sequence;

	fma_ring(nic, 0, length, op, 0);
	fma_settle(nic);
	for (uint32_t look = 0; fma_status(nic)->sequence == before; look++) {
		if (look == kStatusLooks)
			return ARIES_ST_TIMEOUT;
	}
	return fma_status(nic)->status;
}

void fma_fail(gni_ep *ep, gni_post_descriptor_t *d, const Ticket &ticket, uint32_t status)
{
	gni_nic *nic = ep->nic;

	if (!ticket.id) {
		d->status = GNI_RC_TRANSACTION_ERROR;
		return;
	}
	/*
	 * An empty put raises the events. If that put fails, too, the events carry
	 * its status; otherwise readers of the queue add the status kept here.
	 */
	nic->requests[static_cast<uint16_t>(ticket.id)].state |= (status & 0x3f) << Request::kForcedShift;
	ticket.cq->attention++;
	fma_ring(nic, ticket.id, 0, ARIES_FMA_PUT_LINE, d->cq_mode & kEventModes);
}

void fma_silent_end(const gni_ep *ep, gni_post_descriptor_t *d)
{
	if (fma_last_status(ep->nic) != ARIES_ST_OK)
		d->status = GNI_RC_TRANSACTION_ERROR;
}

gni_return_t fma_put(gni_ep *ep, gni_post_descriptor_t *d)
{
	bool flagged = d->type == GNI_POST_FMA_PUT_W_SYNCFLAG;

	if (gni_hndl_none(&d->remote_mem_hndl))
		return refuse(GNI_RC_INVALID_PARAM, kPostFma, "remote_mem_hndl is empty");
	if (flagged && d->sync_flag_addr % 8)
		return refuse(GNI_RC_ALIGNMENT_ERROR, kPostFma, "sync_flag_addr 0x%" PRIx64 " is no multiple of 8",
			      d->sync_flag_addr);
	Ticket ticket;
	gni_return_t rc = post_begin(ep, ep->cq, d, &ticket, kPostFma);
	if (rc != GNI_RC_SUCCESS)
		return rc;

	gni_nic *nic = ep->nic;
	aries_fma_desc *area = fma_fill(ep, d, ep->cq);
	uint64_t source = d->local_addr;
	uint64_t offset = gni_hndl_offset(&d->remote_mem_hndl, d->remote_addr);
	uint64_t left = d->length;
	while (left > ARIES_DESC_LINE_BYTES) {
		line_copy(nic, source, ARIES_DESC_LINE_BYTES);
		uint32_t status = fma_ring_piece(nic, ARIES_DESC_LINE_BYTES, ARIES_FMA_PUT_LINE);
		if (status != ARIES_ST_OK) {
			fma_fail(ep, d, ticket, status);
			return GNI_RC_SUCCESS;
		}
		source += ARIES_DESC_LINE_BYTES;
		left -= ARIES_DESC_LINE_BYTES;
		offset += ARIES_DESC_LINE_BYTES;
		area->offset = offset & GNI_OFFSET_MASK;
	}
	line_copy(nic, source, left);
	if (flagged) {
		area->sync_offset = gni_hndl_offset(&d->remote_mem_hndl, d->sync_flag_addr);
		area->sync_value = d->sync_flag_value;
	}
	fma_ring(nic, ticket.id, left, flagged ? ARIES_FMA_PUT_SYNC : ARIES_FMA_PUT_LINE, d->cq_mode);
	if (!ticket.id) [[unlikely]]
		fma_silent_end(ep, d);
	return GNI_RC_SUCCESS;
}

gni_return_t fma_get(gni_ep *ep, gni_post_descriptor_t *d)
{
	if (gni_hndl_none(&d->remote_mem_hndl) || gni_hndl_none(&d->local_mem_hndl))
		return refuse(GNI_RC_INVALID_PARAM, kPostFma, "%s_mem_hndl is empty",
			      gni_hndl_none(&d->remote_mem_hndl) ? "remote" : "local");
	if (d->length == 0)
		return refuse(GNI_RC_INVALID_PARAM, kPostFma, "a get of 0 bytes");
	const bool flagged = d->type == GNI_POST_FMA_GET_W_FLAG;
	if ((d->remote_addr | d->length) % 4 || (flagged && d->local_addr % 4))
		return refuse(GNI_RC_ALIGNMENT_ERROR, kPostFma,
			      "a get of %" PRIu64 " bytes from 0x%" PRIx64 " to 0x%" PRIx64 ": multiples of 4 only",
			      d->length, d->remote_addr, d->local_addr);
	Ticket ticket;
	gni_return_t rc = post_begin(ep, ep->cq, d, &ticket, kPostFma);
	if (rc != GNI_RC_SUCCESS)
		return rc;

	aries_fma_desc *area = fma_fill(ep, d, ep->cq);
	area->local_mdh = gni_hndl_name(&d->local_mem_hndl);
	area->local_offset = gni_hndl_offset(&d->local_mem_hndl, d->local_addr);
	uint64_t offset = gni_hndl_offset(&d->remote_mem_hndl, d->remote_addr);
	uint64_t local = gni_hndl_offset(&d->local_mem_hndl, d->local_addr);
	uint64_t left = d->length;
	while (left > kGetPiece) {
		uint32_t status = fma_ring_piece(ep->nic, kGetPiece, ARIES_FMA_GET_OP);
		if (status != ARIES_ST_OK) {
			fma_fail(ep, d, ticket, status);
			return GNI_RC_SUCCESS;
		}
		left -= kGetPiece;
		offset += kGetPiece;
		local += kGetPiece;
		area->offset = offset & GNI_OFFSET_MASK;
		area->local_offset = local & GNI_OFFSET_MASK;
	}
	fma_ring(ep->nic, ticket.id, left, flagged ? ARIES_FMA_GET_FLAG : ARIES_FMA_GET_OP, d->cq_mode);
	if (!ticket.id) [[unlikely]]
		fma_silent_end(ep, d);
	return GNI_RC_SUCCESS;
}

} // namespace ugni

using namespace ugni;

/* Everything but the common case below. */
UGNI_IN_ONE_PAGE(1024)
[[gnu::noinline]] static gni_return_t post_any(gni_ep *ep, gni_post_descriptor_t *d)
{
	gni_return_t rc = post_check(ep, d, kPostFma);

	if (rc != GNI_RC_SUCCESS)
		return rc;
	switch (d->type) {
	case GNI_POST_FMA_PUT:
	case GNI_POST_FMA_PUT_W_SYNCFLAG:
		return fma_put(ep, d);
	case GNI_POST_FMA_GET:
	case GNI_POST_FMA_GET_W_FLAG:
		return fma_get(ep, d);
	case GNI_POST_AMO:
	case GNI_POST_AMO_W_FLAG:
		return fma_atomic(ep, d);
	case GNI_POST_CE:
		return fma_collective(ep, d);
	default:
		return refuse(GNI_RC_INVALID_PARAM, kPostFma, "a descriptor of type %d", d->type);
	}
}

/* A put of 8 bytes with a global event, all of whose needs are there: the descriptor in whole words. */
template <bool polled>
[[gnu::always_inline]] static inline gni_return_t put_eight(gni_ep *ep, gni_post_descriptor_t *d, gni_cq *cq,
							    gni_nic *nic, uint64_t queue, uint32_t references)
{
	const uint64_t kind = post_kind(d);
	const gni_mem_handle_t handle = d->remote_mem_hndl;
	const uint32_t id = nic->requests.take_free();
	Request &r = nic->requests[static_cast<uint16_t>(id)];
	cq->room = static_cast<uint32_t>(queue) - 1;
	ep->references = references + 1;
	r.descriptor = d;
	r.ep = ep;
	r.cq = cq;
	r.state = GNI_CQMODE_GLOBAL_EVENT << 1;

	static_assert(offsetof(aries_fma_desc, mdh) == 4 && offsetof(aries_fma_desc, dlvr_mode) == 6 &&
		      offsetof(aries_fma_desc, offset) == 8 && offsetof(aries_fma_desc, local_mdh) == 24 &&
		      offsetof(aries_fma_desc, cq) == 26 && offsetof(aries_fma_desc, local_event) == 32 &&
		      offsetof(aries_fma_desc, remote_event) == 36);
	char *const area = nic->area;
	if (polled)
		polled_wait(nic);
	uint64_t *const words = reinterpret_cast<uint64_t *>(area + ARIES_DESC_FMA);
	words[0] = ep->remote_address | handle.qword1 >> 52 << 32 | kind >> 48 << 48;
	words[1] = d->remote_addr & GNI_OFFSET_MASK;
	words[3] = queue >> 32 << 16;
	words[4] = event_data(ep);
	*reinterpret_cast<uint64_t *>(area + ARIES_DESC_LINE) =
		load_word(reinterpret_cast<const void *>(d->local_addr)); // NOLINT(performance-no-int-to-ptr)
	const uint64_t bell = fma_bell(id, 8, ARIES_FMA_PUT_LINE, kind >> 32 & kKnownCqModes);
	store_fence();
	if (polled)
		polled_ring(nic, bell);
	else
		doorbell_store(nic->doorbell + ARIES_DB_FMA / 8, bell);
	return GNI_RC_SUCCESS;
}

UGNI_IN_ONE_PAGE(512)
[[gnu::noinline]] static gni_return_t put_eight_polled(gni_ep *ep, gni_post_descriptor_t *d, gni_cq *cq, gni_nic *nic,
						       uint64_t queue, uint32_t references)
{
	return put_eight<true>(ep, d, cq, nic, queue, references);
}

/*
 * A put of 8 bytes with a global event takes the short way: no call, three
 * branches. What the post leaves in d is written when it completes. test_budget
 * counts its instructions.
 */
UGNI_IN_ONE_PAGE(512)
gni_return_t GNI_PostFma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr)
{
	gni_ep *const ep = ep_hndl;
	gni_post_descriptor_t *const d = post_descr;

	if (!endpoints.reachable(ep, !d)) [[unlikely]]
		return post_refuse(ep, d, kPostFma);
	const uint64_t first = first_word(ep); /* magic and references */
	const gni_mem_handle_t handle = d->remote_mem_hndl;
	const uint64_t uncommon = (static_cast<uint32_t>(first) ^ gni_ep::kMagic) |
				  ((post_kind(d) & kCommonMask) ^ common_kind(GNI_POST_FMA_PUT)) | (d->length ^ 8) |
				  (gni_hndl_flags(&handle) & (GNI_HNDL_SECOND_FORMAT | GNI_HNDL_VMDH)) |
				  static_cast<uint64_t>(!handle.qword2);
	if (uncommon) [[unlikely]]
		return post_any(ep, d);
	gni_cq *const cq = ep->ready;
	gni_nic *const nic = ep->nic;
	const uint64_t queue = cq_room_and_number(cq);
	const auto references = static_cast<uint32_t>(first >> 32);
	/* The sign tells: no room, or few free ids; or that the doorbell is to be polled. */
	const auto lacking =
		static_cast<int32_t>((static_cast<uint32_t>(queue) - 1) | static_cast<uint32_t>(nic->requests.spare()));
	if ((lacking | nic->polls) < 0) [[unlikely]]
		return lacking < 0 ? post_any(ep, d) : put_eight_polled(ep, d, cq, nic, queue, references);
	return put_eight<false>(ep, d, cq, nic, queue, references);
}
