// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Block transfers. */
#include "aries_regs.h"
#include "post.hpp"

#include <bit>
#include <cinttypes>

using namespace ugni;

namespace
{

constexpr const char *kPostRdma = "GNI_PostRdma";
constexpr uint64_t kMostBytes = 0xffffffff;
constexpr uint32_t kKnownRdmaModes = GNI_RDMAMODE_PHYS_ADDR | GNI_RDMAMODE_FENCE | GNI_RDMAMODE_GETWC_DIS;

/* Nothing has happened yet when one of these checks fails. */
gni_return_t check(const gni_ep *ep, const gni_post_descriptor_t *d)
{
	gni_return_t rc = post_check(ep, d, kPostRdma);

	if (rc != GNI_RC_SUCCESS)
		return rc;
	bool get = d->type == GNI_POST_RDMA_GET;
	if (!get && d->type != GNI_POST_RDMA_PUT)
		return refuse(GNI_RC_INVALID_PARAM, kPostRdma, "a descriptor of type %d", d->type);
	if (d->rdma_mode & ~kKnownRdmaModes)
		return refuse(GNI_RC_INVALID_PARAM, kPostRdma, "rdma_mode 0x%x has bits without a meaning",
			      d->rdma_mode);
	if (!gni_hndl_intact(&d->local_mem_hndl) || !gni_hndl_intact(&d->remote_mem_hndl))
		return refuse(GNI_RC_INVALID_PARAM, kPostRdma, "%s_mem_hndl is empty, or its check code is wrong",
			      gni_hndl_intact(&d->remote_mem_hndl) ? "local" : "remote");
	if (d->length == 0 || d->length > kMostBytes)
		return refuse(GNI_RC_INVALID_PARAM, kPostRdma, "a transfer of %" PRIu64 " bytes", d->length);
	if (d->src_cq_hndl && !source_queue_sound(ep, d->src_cq_hndl))
		return refuse(GNI_RC_INVALID_PARAM, kPostRdma, "%s", kBadSourceQueue);
	if (get && (d->remote_addr | d->length) % 4)
		return refuse(GNI_RC_ALIGNMENT_ERROR, kPostRdma,
			      "a get of %" PRIu64 " bytes from 0x%" PRIx64 ": multiples of 4 only", d->length,
			      d->remote_addr);
	if (d->rdma_mode & GNI_RDMAMODE_PHYS_ADDR)
		return refuse(GNI_RC_PERMISSION_ERROR, kPostRdma, "GNI_RDMAMODE_PHYS_ADDR is the kernel's");
	if (gni_hndl_flags(get ? &d->local_mem_hndl : &d->remote_mem_hndl) & GNI_HNDL_READ_ONLY)
		return refuse(GNI_RC_PERMISSION_ERROR, kPostRdma, "the region to be written to is read-only");
	return GNI_RC_SUCCESS;
}

/* The NIC copies the slot when the doorbell arrives: one is enough. */
constexpr uint64_t kSlot = 0;

aries_bte_desc *slot_area(const gni_nic *nic)
{
	return reinterpret_cast<aries_bte_desc *>(nic->area + ARIES_DESC_BTE) + kSlot;
}

/* Both memory domains, where the first word of a slot has them. */
uint64_t slot_names(const gni_post_descriptor_t *d)
{
	static_assert(offsetof(aries_bte_desc, mdh) == 4 && offsetof(aries_bte_desc, local_mdh) == 6 &&
		      offsetof(aries_bte_desc, offset) == 8 && offsetof(aries_bte_desc, local_offset) == 16 &&
		      offsetof(aries_bte_desc, length) == 24 && offsetof(aries_bte_desc, cq) == 28 &&
		      offsetof(aries_bte_desc, tid) == 30 && offsetof(aries_bte_desc, local_event) == 32 &&
		      offsetof(aries_bte_desc, op) == 40 && offsetof(aries_bte_desc, mode) == 41 &&
		      offsetof(aries_bte_desc, flags) == 42 && offsetof(aries_bte_desc, dlvr_mode) == 44);
	return static_cast<uint64_t>(gni_hndl_name(&d->remote_mem_hndl)) << 32 |
	       static_cast<uint64_t>(gni_hndl_name(&d->local_mem_hndl)) << 48;
}

void fill(aries_bte_desc *slot, const gni_ep *ep, const gni_post_descriptor_t *d, const Ticket &ticket)
{
	slot->pe = ep->remote_address;
	slot->mdh = gni_hndl_name(&d->remote_mem_hndl);
	slot->local_mdh = gni_hndl_name(&d->local_mem_hndl);
	slot->offset = gni_hndl_offset(&d->remote_mem_hndl, d->remote_addr);
	slot->local_offset = gni_hndl_offset(&d->local_mem_hndl, d->local_addr);
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

/* Whether the NIC has refused the last doorbell for lack of space. */
bool full(const gni_nic *nic)
{
	const auto *status = reinterpret_cast<const volatile aries_fma_status *>(nic->area + ARIES_DESC_STATUS);

	return status->status == ARIES_ST_QUEUE_FULL;
}

/* The NIC has not taken the transfer: its queue is full, or the job is at its limit. No event will come. */
[[gnu::cold]] gni_return_t not_taken(gni_nic *nic, const Ticket &ticket)
{
	if (ticket.id) {
		Request &r = nic->requests[static_cast<uint16_t>(ticket.id)];
		ticket.cq->room += static_cast<uint32_t>(std::popcount(r.pending()));
		request_end(nic, r, ticket.id);
	}
	return later(GNI_RC_ERROR_RESOURCE, kPostRdma,
		     "the NIC's queue is full, or as many are under way as the job may have");
}

} // namespace

/* Everything but the common case below. */
UGNI_IN_ONE_PAGE(2048)
[[gnu::noinline]] static gni_return_t post_any(gni_ep *ep, gni_post_descriptor_t *d)
{
	gni_return_t rc = check(ep, d);

	if (rc != GNI_RC_SUCCESS)
		return rc;
	gni_nic *nic = ep->nic;
	gni_cq *cq = d->src_cq_hndl ? d->src_cq_hndl : ep->cq;
	if (nic->bte_in_flight >= nic->bte_limit) {
		nic->statistics[gni_nic::kStatisticTxdNone]++;
		nic_refused(nic);
		return later(GNI_RC_ERROR_RESOURCE, kPostRdma, "%u block transfers are under way", nic->bte_in_flight);
	}
	Ticket ticket;
	rc = post_begin(ep, cq, d, &ticket, kPostRdma);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	if (ticket.id) {
		nic->requests[static_cast<uint16_t>(ticket.id)].state |= Request::kBte;
		nic->bte_in_flight++;
	}
	fill(slot_area(nic), ep, d, ticket);
	/* Addresses in regions of virtual handles are taken as they are only here. */
	if (d->type == GNI_POST_RDMA_PUT &&
	    !((gni_hndl_flags(&d->local_mem_hndl) | gni_hndl_flags(&d->remote_mem_hndl)) & GNI_HNDL_VMDH))
		nic->rdma_put = {d->local_mem_hndl, d->remote_mem_hndl, slot_names(d)};
	store_fence();
	fma_settle(nic);
	doorbell_store(nic->doorbell + ARIES_DB_BTE / 8, kSlot);
	if (full(nic)) [[unlikely]]
		return not_taken(nic, ticket);
	return GNI_RC_SUCCESS;
}

/*
 * A put with a global event between regions that were named last time, too, takes the short way: their check codes,
 * most of the work, need no second look. As GNI_PostFma: two branches, the slot in whole words.
 */
UGNI_IN_ONE_PAGE(1024)
gni_return_t GNI_PostRdma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr)
{
	gni_ep *const ep = ep_hndl;
	gni_post_descriptor_t *const d = post_descr;

	if (!endpoints.reachable(ep, !d)) [[unlikely]]
		return post_refuse(ep, d, kPostRdma);
	const uint64_t first = first_word(ep); /* magic and references */
	const uint64_t kind = post_kind(d);
	const uint64_t bytes = d->length;
	const uint64_t uncommon = (static_cast<uint32_t>(first) ^ gni_ep::kMagic) |
				  ((kind & kCommonMask) ^ common_kind(GNI_POST_RDMA_PUT)) | bytes >> 32 |
				  static_cast<uint64_t>(!bytes) | d->rdma_mode |
				  static_cast<uint64_t>((d->src_cq_hndl != ep->cq) & (d->src_cq_hndl != nullptr));
	if (uncommon) [[unlikely]]
		return post_any(ep, d);
	gni_cq *const cq = ep->ready;
	gni_nic *const nic = ep->nic;
	const RdmaPair &pair = nic->rdma_put;
	const gni_mem_handle_t local = d->local_mem_hndl, remote = d->remote_mem_hndl;
	const uint64_t queue = cq_room_and_number(cq);
	/* The signs tell: no room, few free ids, or as many transfers under way as may be. */
	const uint32_t lacking = (static_cast<uint32_t>(queue) - 1) | static_cast<uint32_t>(nic->requests.spare()) |
				 (nic->bte_limit - nic->bte_in_flight - 1);
	if ((local.qword1 ^ pair.local.qword1) | (local.qword2 ^ pair.local.qword2) |
	    (remote.qword1 ^ pair.remote.qword1) | (remote.qword2 ^ pair.remote.qword2) | (lacking >> 31) |
	    static_cast<uint64_t>(!pair.names)) [[unlikely]]
		return post_any(ep, d);

	const uint32_t id = nic->requests.take_free();
	Request &r = nic->requests[static_cast<uint16_t>(id)];
	cq->room = static_cast<uint32_t>(queue) - 1;
	ep->references = static_cast<uint32_t>(first >> 32) + 1;
	nic->bte_in_flight++;
	r.descriptor = d;
	r.ep = ep;
	r.cq = cq;
	r.state = GNI_CQMODE_GLOBAL_EVENT << 1 | Request::kBte;

	uint64_t *const words = reinterpret_cast<uint64_t *>(slot_area(nic));
	words[0] = ep->remote_address | pair.names;
	words[1] = d->remote_addr & GNI_OFFSET_MASK;
	words[2] = d->local_addr & GNI_OFFSET_MASK;
	words[3] = bytes | queue >> 32 << 32 | static_cast<uint64_t>(id) << 48;
	words[4] = event_data(ep);
	words[5] = ARIES_BTE_PUT | (kind >> 32 & kKnownCqModes) << 8 | kind >> 48 << 32;
	words[6] = 0;
	words[7] = 0;
	store_fence();
	fma_settle(nic);
	doorbell_store(nic->doorbell + ARIES_DB_BTE / 8, kSlot);
	if (full(nic)) [[unlikely]]
		return not_taken(nic, {cq, id});
	return GNI_RC_SUCCESS;
}
