// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Contributions to collectives, and those that wait for their turn. */
#include "aries_regs.h"
#include "ce.hpp"
#include "post.hpp"

#include <cinttypes>
#include <cstdlib>

namespace ugni
{

namespace
{

constexpr uint32_t kKnownModes = GNI_CEMODE_TWO_OP | GNI_CEMODE_FPE_OP_INVAL | GNI_CEMODE_FPE_OFLOW |
				 GNI_CEMODE_FPE_UFLOW | GNI_CEMODE_FPE_PRECISION;
/* A queue that the NIC keeps refusing is tried once in so many calls. */
constexpr uint32_t kBackoffMost = 64;

static_assert(GNI_CEMODE_TWO_OP == ARIES_CEMODE_TWO_OP && (kKnownModes & ~GNI_CEMODE_TWO_OP) == ARIES_CEMODE_FPE_MASK);
static_assert(GNI_CE_FPE_OP_INVAL == ARIES_CE_FPE_INVALID && GNI_CE_FPE_PRECISION == ARIES_CE_FPE_INEXACT);

gni_return_t check(const gni_ep *ep, const gni_post_descriptor_t *d)
{
	const gni_return_t rc = GNI_RC_INVALID_PARAM;

	if (ep->ce_kind != GNI_CE_CHILD_PE || ep->ce_engine >= ARIES_CE_CHANNELS)
		return refuse(rc, kPostFma, "the endpoint is no leaf of a tree: GNI_EpSetCeAttr()");
	if (!ce_known(d->ce_cmd))
		return refuse(rc, kPostFma, "no collective 0x%02x", static_cast<unsigned>(d->ce_cmd));
	if (d->ce_mode & ~kKnownModes || d->ce_red_id > UINT32_MAX)
		return refuse(rc, kPostFma, "ce_mode 0x%x or ce_red_id has bits without a meaning", d->ce_mode);
	if (d->cq_mode & GNI_CQMODE_REMOTE_EVENT)
		return refuse(rc, kPostFma, "a remote event of a collective");
	if ((d->ce_mode & ARIES_CEMODE_FPE_MASK) && !ce_floating(d->ce_cmd))
		return refuse(rc, kPostFma, "exceptions of floating point with collective 0x%02x",
			      static_cast<unsigned>(d->ce_cmd));
	if (gni_hndl_none(&d->local_mem_hndl))
		return refuse(rc, kPostFma, "local_mem_hndl is empty: where is the result to go?");
	if (d->local_addr % 8)
		return refuse(GNI_RC_ALIGNMENT_ERROR, kPostFma, "local_addr 0x%" PRIx64 " is no multiple of 8",
			      d->local_addr);
	return GNI_RC_SUCCESS;
}

/* A minimum or maximum has an index for its second operand: two operands mean nothing there. */
uint32_t mode_of(const gni_post_descriptor_t *d)
{
	return ce_indexed(d->ce_cmd) ? d->ce_mode & ~uint32_t{GNI_CEMODE_TWO_OP} : d->ce_mode;
}

CeWaiting prepare(const gni_ep *ep, gni_post_descriptor_t *d, const Ticket &ticket, gni_ce_result_t *result)
{
	CeWaiting w = {};

	w.descriptor = ticket.id ? d : nullptr;
	w.result = result;
	w.id = ticket.id;
	w.events = d->cq_mode;
	w.command = static_cast<uint16_t>(d->ce_cmd);
	w.area.pe = ep->remote_address;
	w.area.dlvr_mode = d->dlvr_mode;
	w.area.offset = ep->ce_index | static_cast<uint64_t>(ep->ce_engine) << ARIES_CE_ENGINE_SHIFT |
			static_cast<uint64_t>(mode_of(d)) << ARIES_CE_MODE_SHIFT;
	w.area.local_mdh = gni_hndl_name(&d->local_mem_hndl);
	w.area.cq = ep->cq ? static_cast<uint16_t>(ep->cq->number) : 0;
	w.area.local_offset = gni_hndl_offset(&d->local_mem_hndl, d->local_addr);
	w.area.local_event = ep->events[0];
	w.area.remote_event = ep->events[1];
	w.area.operand[0] = d->first_operand;
	w.area.operand[1] = d->second_operand;
	w.area.sync_value = d->ce_red_id;
	return w;
}

/* Return: ARIES_ST_*; CE_BUSY leaves everything as it was. */
uint32_t ring(gni_nic *nic, const CeWaiting &w)
{
	*fma_area(nic) = w.area;
	fma_ring(nic, w.id, 0, ARIES_FMA_CE, w.events, w.command);
	return fma_last_status(nic);
}

/* A refused contribution gets no result from the NIC, so the library writes the status. It does not if the refusal
 * concerns the result block itself. */
void refuse(const CeWaiting &w, uint32_t status)
{
	if (!(status & ARIES_ST_LOCAL))
		ce_set_control(w.result, ARIES_CER_DONE | static_cast<uint64_t>(status) << ARIES_CER_STATUS_SHIFT |
						 w.area.sync_value << ARIES_CER_RED_ID_SHIFT);
}

CeQueue *queue_of(gni_ep *ep)
{
	if (ep->ce)
		return ep->ce;
	auto *q = static_cast<CeQueue *>(calloc(1, sizeof(CeQueue)));
	if (!q)
		return nullptr;
	q->ep = ep;
	q->next = ep->nic->collectives;
	ep->nic->collectives = q;
	ep->ce = q;
	return q;
}

void drop_queue(CeQueue *q)
{
	CeQueue **at = &q->ep->nic->collectives;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	q->ep->ce = nullptr;
	free(q);
}

CeWaiting *pop(CeQueue *q)
{
	CeWaiting *w = q->first;

	q->first = w->next;
	q->count--;
	return w;
}

bool enqueue(gni_ep *ep, const CeWaiting &what)
{
	if (ep->ce && ep->ce->count == kCeWaitingMost)
		return false;
	auto *w = static_cast<CeWaiting *>(malloc(sizeof(CeWaiting)));
	CeQueue *q = w ? queue_of(ep) : nullptr;
	if (!q) {
		free(w);
		return false;
	}
	*w = what;
	if (q->first)
		q->last->next = w;
	else
		q->first = w;
	q->last = w;
	q->count++;
	ce_set_pending(w->result, ep->nic, kCeQueued);
	return true;
}

/* Undoes post_begin(). */
void cancel(gni_ep *ep, const gni_post_descriptor_t *d, const Ticket &ticket)
{
	if (!ticket.id)
		return;
	ticket.cq->room += (d->cq_mode & kEventModes) == kEventModes ? 2 : 1;
	request_end(ep->nic, ep->nic->requests[static_cast<uint16_t>(ticket.id)], ticket.id);
}

/* Posts waiting contributions until the NIC refuses one. */
void advance(CeQueue *q)
{
	if (q->pause) {
		q->pause--;
		return;
	}
	while (q->first) {
		const uint32_t status = ring(q->ep->nic, *q->first);

		if (status == ARIES_ST_CE_BUSY) {
			q->backoff = q->backoff < kBackoffMost ? 2 * q->backoff + 1 : kBackoffMost;
			q->pause = q->backoff;
			return;
		}
		CeWaiting *w = pop(q);
		if (status != ARIES_ST_OK)
			refuse(*w, status);
		free(w);
		q->backoff = 0;
	}
	drop_queue(q);
}

} // namespace

void ce_advance(gni_nic *nic)
{
	const Locked lock(Subject::collectives, nic);

	if (!nics.valid(nic))
		return;
	for (CeQueue *q = nic->collectives, *next; q; q = next) {
		next = q->next;
		advance(q);
	}
}

void ce_leave(gni_ep *ep)
{
	const Locked lock(Subject::collectives, ep->nic);
	CeQueue *q = ep->ce;

	ep->ce_kind = GNI_CE_CHILD_UNUSED;
	if (!q)
		return;
	while (q->first) {
		CeWaiting *w = pop(q);
		refuse(*w, ARIES_ST_FLUSHED);
		if (w->descriptor && ep->references > 1) {
			const Ticket ticket = {ep->cq, w->id};
			*fma_area(ep->nic) = w->area;
			fma_fail(ep, w->descriptor, ticket, ARIES_ST_FLUSHED);
		}
		free(w);
	}
	drop_queue(q);
}

gni_return_t fma_collective(gni_ep *ep, gni_post_descriptor_t *d)
{
	gni_return_t rc = check(ep, d);

	if (rc != GNI_RC_SUCCESS)
		return rc;
	/* The library also writes to the block, so it needs the block's virtual address. */
	const uint64_t block = mem_virtual_address(ep->nic, d->local_mem_hndl, d->local_addr);
	if (!block)
		return refuse(GNI_RC_INVALID_PARAM, kPostFma,
			      "local_addr 0x%" PRIx64 " is not in a region that this process has registered",
			      d->local_addr);
	auto *const result = reinterpret_cast<gni_ce_result_t *>(block); // NOLINT(performance-no-int-to-ptr)
	Ticket ticket;
	rc = post_begin(ep, ep->cq, d, &ticket, kPostFma);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	const CeWaiting w = prepare(ep, d, ticket, result);
	if (ep->ce)
		ce_advance(ep->nic);
	const Locked lock(Subject::collectives, ep->nic);
	if (!endpoints.valid(ep))
		return refuse(GNI_RC_INVALID_PARAM, kPostFma, "%s", kNoEndpoint);
	uint32_t status = ARIES_ST_CE_BUSY;
	if (!ep->ce) {
		ce_set_pending(w.result, ep->nic, 0);
		status = ring(ep->nic, w);
	}
	if (status == ARIES_ST_CE_BUSY) {
		if (enqueue(ep, w))
			return GNI_RC_SUCCESS;
		cancel(ep, d, ticket);
		return later(GNI_RC_ERROR_RESOURCE, kPostFma, "%u collectives of the endpoint wait", kCeWaitingMost);
	}
	if (status != ARIES_ST_OK) {
		refuse(w, status);
		if (!ticket.id)
			d->status = GNI_RC_TRANSACTION_ERROR;
	}
	return GNI_RC_SUCCESS;
}

} // namespace ugni
