// SPDX-License-Identifier: BSD-2-Clause
/* Block transfers. */
#include "aries_regs.h"
#include "debug.hpp"
#include "post.hpp"

using namespace ugni;

namespace
{

constexpr uint64_t kMostBytes = 0xffffffff;
constexpr uint32_t kKnownRdmaModes = GNI_RDMAMODE_PHYS_ADDR | GNI_RDMAMODE_FENCE | GNI_RDMAMODE_GETWC_DIS;

/* Nothing has happened yet when one of these checks fails. */
gni_return_t check(const gni_ep *ep, const gni_post_descriptor_t *d)
{
	gni_return_t rc = post_check(ep, d);

	if (rc != GNI_RC_SUCCESS)
		return rc;
	bool get = d->type == GNI_POST_RDMA_GET;
	if ((!get && d->type != GNI_POST_RDMA_PUT) || (d->rdma_mode & ~kKnownRdmaModes))
		return GNI_RC_INVALID_PARAM;
	if (!mem_intact(d->local_mem_hndl) || !mem_intact(d->remote_mem_hndl))
		return GNI_RC_INVALID_PARAM;
	if (d->length == 0 || d->length > kMostBytes)
		return GNI_RC_INVALID_PARAM;
	if (d->src_cq_hndl && (!queues.valid(d->src_cq_hndl) || d->src_cq_hndl->nic != ep->nic))
		return GNI_RC_INVALID_PARAM;
	if (get && (d->remote_addr | d->length) % 4)
		return GNI_RC_ALIGNMENT_ERROR;
	if (d->rdma_mode & GNI_RDMAMODE_PHYS_ADDR)
		return GNI_RC_PERMISSION_ERROR;
	if (mem_flags(get ? d->local_mem_hndl : d->remote_mem_hndl) & kMemReadOnly)
		return GNI_RC_PERMISSION_ERROR;
	return GNI_RC_SUCCESS;
}

void fill(aries_bte_desc *slot, const gni_ep *ep, const gni_post_descriptor_t *d, const Ticket &ticket)
{
	slot->pe = ep->remote_address;
	slot->mdh = mem_name(d->remote_mem_hndl);
	slot->local_mdh = mem_name(d->local_mem_hndl);
	slot->offset = d->remote_addr & kOffsetMask;
	slot->local_offset = d->local_addr & kOffsetMask;
	slot->length = static_cast<uint32_t>(d->length);
	slot->cq = ticket.cq ? static_cast<uint16_t>(ticket.cq->number) : 0;
	slot->tid = static_cast<uint16_t>(ticket.id);
	slot->local_event = ep->events[0];
	slot->remote_event = ep->events[1];
	slot->op = d->type == GNI_POST_RDMA_GET ? ARIES_BTE_GET : ARIES_BTE_PUT;
	slot->mode = static_cast<uint8_t>(d->cq_mode);
	slot->flags = d->rdma_mode & GNI_RDMAMODE_FENCE ? ARIES_BTE_FENCE : 0;
	slot->dlvr_mode = d->dlvr_mode;
	for (uint16_t &word : slot->reserved)
		word = 0;
}

} // namespace

UGNI_IN_ONE_PAGE(1024)
gni_return_t GNI_PostRdma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr)
{
	gni_return_t rc = check(ep_hndl, post_descr);

	if (rc != GNI_RC_SUCCESS)
		return rc;
	gni_nic *nic = ep_hndl->nic;
	gni_cq *cq = post_descr->src_cq_hndl ? post_descr->src_cq_hndl : ep_hndl->cq;
	if (nic->bte_in_flight >= nic->bte_limit)
		return GNI_RC_ERROR_RESOURCE;
	Ticket ticket;
	rc = post_begin(ep_hndl, cq, post_descr, &ticket);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	if (ticket.id) {
		nic->requests[static_cast<uint16_t>(ticket.id)].state |= Request::kBte;
		nic->bte_in_flight++;
	}

	/* The NIC copies the slot when the doorbell arrives: any slot would do. */
	uint32_t index = nic->bte_slot++ % ARIES_BTE_SLOTS;
	fill(reinterpret_cast<aries_bte_desc *>(nic->area + ARIES_DESC_BTE) + index, ep_hndl, post_descr, ticket);
	store_fence();
	doorbell_store(nic->doorbell + ARIES_DB_BTE / 8, index);
	return GNI_RC_SUCCESS;
}
