// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* 48 bits into the queue of a remote registration, and chains of such writes. */
#include "post.hpp"

namespace ugni
{

namespace
{

constexpr const char *kCtPostCqWrite = "GNI_CtPostCqWrite";
/* A chain that is longer has no end. */
constexpr uint32_t kMostWrites = 65536;

/* The checks that both forms share; @cq is set to the queue of the events. */
gni_return_t write_check(gni_ep *ep, const gni_post_descriptor_t *d, gni_cq **cq, const char *call)
{
	const gni_return_t rc = post_check(ep, d, call);

	if (rc != GNI_RC_SUCCESS)
		return rc;
	if (d->type != GNI_POST_CQWRITE)
		return refuse(GNI_RC_INVALID_PARAM, call, "a descriptor of type %d", d->type);
	if (gni_hndl_none(&d->remote_mem_hndl))
		return refuse(GNI_RC_INVALID_PARAM, call, "remote_mem_hndl is empty");
	*cq = d->src_cq_hndl;
	if (!*cq)
		*cq = ep->cq;
	else if (!source_queue_sound(ep, *cq))
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", kBadSourceQueue);
	return GNI_RC_SUCCESS;
}

const gni_ct_cqw_post_descriptor_t *follower(const void *at)
{
	return static_cast<const gni_ct_cqw_post_descriptor_t *>(at);
}

/* Nothing of a chain is written before all of it has been looked at. */
gni_return_t check_followers(const gni_nic *nic, const void *at)
{
	const gni_return_t rc = GNI_RC_INVALID_PARAM;

	for (uint32_t n = 1; at; n++, at = follower(at)->next_descr) {
		if (n == kMostWrites)
			return refuse(rc, kCtPostCqWrite, "more than %u pieces", kMostWrites);
		if (!piece_endpoint_sound(follower(at)->ep_hndl, nic))
			return refuse(rc, kCtPostCqWrite, "%s", kBadPieceEndpoint);
		if (gni_hndl_none(&follower(at)->remote_mem_hndl))
			return refuse(rc, kCtPostCqWrite, "%s", kBadPieceMemory);
	}
	return GNI_RC_SUCCESS;
}

/* Fills in the write of @d. The value is the event: a remote event of its own is not asked for. */
aries_fma_desc *first_write(const gni_ep *ep, const gni_post_descriptor_t *d, const gni_cq *cq)
{
	aries_fma_desc *area = fma_fill(ep, d, cq);

	area->offset = 0;
	area->operand[0] = d->cqwrite_value & ARIES_CQE_WRITE_MASK;
	return area;
}

/* Rings the last write, with the events that were asked for. */
void last_write(const gni_ep *ep, gni_post_descriptor_t *d, const Ticket &ticket)
{
	fma_ring(ep->nic, ticket.id, 0, ARIES_FMA_CQWRITE, d->cq_mode & kEventModes);
	if (!ticket.id) [[unlikely]]
		fma_silent_end(ep, d);
}

/* Writes @d and what follows it; the last write rings with the events of all. */
void write_all(gni_ep *ep, gni_post_descriptor_t *d, const Ticket &ticket)
{
	aries_fma_desc *area = first_write(ep, d, ticket.cq);

	for (const void *at = d->next_descr; at; at = follower(at)->next_descr) {
		const uint32_t status = fma_ring_piece(ep->nic, 0, ARIES_FMA_CQWRITE);

		if (status != ARIES_ST_OK) {
			fma_fail(ep, d, ticket, status);
			return;
		}
		area->pe = follower(at)->ep_hndl->remote_address;
		area->mdh = gni_hndl_name(&follower(at)->remote_mem_hndl);
		area->operand[0] = follower(at)->cqwrite_value & ARIES_CQE_WRITE_MASK;
	}
	last_write(ep, d, ticket);
}

} // namespace

} // namespace ugni

using namespace ugni;

gni_return_t GNI_PostCqWrite(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr)
{
	gni_cq *cq = nullptr;
	Ticket ticket;
	gni_return_t rc = write_check(ep_hndl, post_descr, &cq, __func__);

	if (rc == GNI_RC_SUCCESS)
		rc = post_begin(ep_hndl, cq, post_descr, &ticket, __func__);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	first_write(ep_hndl, post_descr, cq);
	last_write(ep_hndl, post_descr, ticket);
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_CtPostCqWrite(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr)
{
	gni_cq *cq = nullptr;
	Ticket ticket;
	gni_return_t rc = write_check(ep_hndl, post_descr, &cq, kCtPostCqWrite);

	if (rc == GNI_RC_SUCCESS)
		rc = check_followers(ep_hndl->nic, post_descr->next_descr);
	if (rc == GNI_RC_SUCCESS)
		rc = post_begin(ep_hndl, cq, post_descr, &ticket, kCtPostCqWrite);
	if (rc == GNI_RC_SUCCESS)
		write_all(ep_hndl, post_descr, ticket);
	return rc;
}
