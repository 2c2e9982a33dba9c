// SPDX-License-Identifier: BSD-2-Clause
/* FMA posts: puts and gets. An operation of up to one line is one doorbell. */
#include "debug.hpp"
#include "post.hpp"

#include <cstring>

namespace ugni
{

namespace
{

/* Largest part of a get in one doorbell: whole packets that fit the length field. */
constexpr uint64_t kGetPiece = 0xffc0;
/* A NIC that takes so many looks to answer a doorbell is gone. */
constexpr uint32_t kStatusLooks = 1U << 20;

volatile const aries_fma_status *status_area(const gni_nic *nic)
{
	return reinterpret_cast<volatile const aries_fma_status *>(nic->area + ARIES_DESC_STATUS);
}

/* Put data into the line. Short ones are what latency is measured with: no call for them. */
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

uint32_t fma_last_status(const gni_nic *nic)
{
	return status_area(nic)->status;
}

uint32_t fma_ring_piece(const gni_nic *nic, uint64_t length, aries_fma_op op)
{
	uint32_t before = status_area(nic)->sequence;

	fma_ring(nic, 0, length, op, 0);
	for (uint32_t look = 0; status_area(nic)->sequence == before; look++) {
		if (look == kStatusLooks)
			return ARIES_ST_TIMEOUT;
	}
	return status_area(nic)->status;
}

void fma_fail(gni_ep *ep, gni_post_descriptor_t *d, const Ticket &ticket, uint32_t status)
{
	gni_nic *nic = ep->nic;

	if (!ticket.id) {
		d->status = GNI_RC_TRANSACTION_ERROR;
		return;
	}
	/*
	 * An empty put raises the events. If it fails, too, they carry its own
	 * status; otherwise readers of the queue add the one kept here.
	 */
	nic->requests[ticket.id].forced = static_cast<uint8_t>(status & 0x3f);
	nic->overlays++;
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

	if (mem_none(d->remote_mem_hndl))
		return GNI_RC_INVALID_PARAM;
	if (flagged && d->sync_flag_addr % 8)
		return GNI_RC_ALIGNMENT_ERROR;
	Ticket ticket;
	gni_return_t rc = post_begin(ep, ep->cq, d, &ticket);
	if (rc != GNI_RC_SUCCESS)
		return rc;

	gni_nic *nic = ep->nic;
	aries_fma_desc *area = fma_fill(ep, d, ep->cq);
	uint64_t source = d->local_addr;
	uint64_t offset = d->remote_addr;
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
		area->offset = offset & kOffsetMask;
	}
	line_copy(nic, source, left);
	if (flagged) {
		area->sync_offset = d->sync_flag_addr & kOffsetMask;
		area->sync_value = d->sync_flag_value;
	}
	fma_ring(nic, ticket.id, left, flagged ? ARIES_FMA_PUT_SYNC : ARIES_FMA_PUT_LINE, d->cq_mode);
	if (!ticket.id) [[unlikely]]
		fma_silent_end(ep, d);
	return GNI_RC_SUCCESS;
}

gni_return_t fma_get(gni_ep *ep, gni_post_descriptor_t *d)
{
	if (mem_none(d->remote_mem_hndl) || mem_none(d->local_mem_hndl) || d->length == 0)
		return GNI_RC_INVALID_PARAM;
	if ((d->remote_addr | d->length) % 4)
		return GNI_RC_ALIGNMENT_ERROR;
	Ticket ticket;
	gni_return_t rc = post_begin(ep, ep->cq, d, &ticket);
	if (rc != GNI_RC_SUCCESS)
		return rc;

	aries_fma_desc *area = fma_fill(ep, d, ep->cq);
	area->local_mdh = mem_mdh(d->local_mem_hndl);
	area->local_offset = d->local_addr & kOffsetMask;
	uint64_t offset = d->remote_addr;
	uint64_t local = d->local_addr;
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
		area->offset = offset & kOffsetMask;
		area->local_offset = local & kOffsetMask;
	}
	fma_ring(ep->nic, ticket.id, left, ARIES_FMA_GET_OP, d->cq_mode);
	if (!ticket.id) [[unlikely]]
		fma_silent_end(ep, d);
	return GNI_RC_SUCCESS;
}

} // namespace ugni

using namespace ugni;

gni_return_t GNI_PostFma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr)
{
	gni_return_t rc = post_check(ep_hndl, post_descr);

	if (rc != GNI_RC_SUCCESS)
		return rc;
	switch (post_descr->type) {
	case GNI_POST_FMA_PUT:
	case GNI_POST_FMA_PUT_W_SYNCFLAG:
		return fma_put(ep_hndl, post_descr);
	case GNI_POST_FMA_GET:
		return fma_get(ep_hndl, post_descr);
	case GNI_POST_AMO:
		return fma_atomic(ep_hndl, post_descr);
	case GNI_POST_CE:
	case GNI_POST_FMA_GET_W_FLAG:
	case GNI_POST_AMO_W_FLAG:
		debug("GNI_PostFma: type %d is not available", static_cast<int>(post_descr->type));
		return GNI_RC_INVALID_PARAM;
	default:
		return GNI_RC_INVALID_PARAM;
	}
}
