// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Chains of FMA posts: one set of events for all.
 *
 * Neighbours of 4 or 8 bytes in the same memory domain become entries of one
 * launch, so that a chain of small pieces costs a doorbell for 128 of them.
 */
#include "post.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace ugni
{

namespace
{

constexpr const char *kCtPostFma = "GNI_CtPostFma";
/* A chain that is longer has no end. */
constexpr uint32_t kMostPieces = 65536;
/* Whole packets that fit the length field of a get. */
constexpr uint64_t kGetPiece = 0xffc0;

const void *memory(uint64_t address)
{
	return reinterpret_cast<const void *>(address); // NOLINT(performance-no-int-to-ptr)
}

struct Piece {
	const void *next;
	gni_ep *ep;
	uint64_t length;
	uint64_t local_addr;
	uint64_t remote_addr;
	gni_mem_handle_t local;
	gni_mem_handle_t remote;

	uint64_t offset() const { return gni_hndl_offset(&remote, remote_addr); }
	uint64_t local_offset() const { return gni_hndl_offset(&local, local_addr); }
	bool small() const { return length == 8 || length == 4; }
};

Piece first_piece(gni_ep *ep, const gni_post_descriptor_t *d)
{
	return {d->next_descr, ep, d->length, d->local_addr, d->remote_addr, d->local_mem_hndl, d->remote_mem_hndl};
}

Piece put_piece(const void *at)
{
	const auto *d = static_cast<const gni_ct_put_post_descriptor_t *>(at);

	return {d->next_descr, d->ep_hndl, d->length, d->local_addr, d->remote_addr, {}, d->remote_mem_hndl};
}

Piece get_piece(const void *at)
{
	const auto *d = static_cast<const gni_ct_get_post_descriptor_t *>(at);

	return {d->next_descr,  d->ep_hndl,        d->length,         d->local_addr,
		d->remote_addr, d->local_mem_hndl, d->remote_mem_hndl};
}

gni_return_t check_piece(const Piece &p, const gni_nic *nic, bool get)
{
	const gni_return_t rc = GNI_RC_INVALID_PARAM;

	if (!piece_endpoint_sound(p.ep, nic))
		return refuse(rc, kCtPostFma, "%s", kBadPieceEndpoint);
	if (gni_hndl_none(&p.remote) || (get && gni_hndl_none(&p.local)))
		return refuse(rc, kCtPostFma, "%s", kBadPieceMemory);
	if (nic->checks &&
	    (!mem_address_sound(p.remote, p.remote_addr) || (get && !mem_address_sound(p.local, p.local_addr))))
		return refuse(rc, kCtPostFma, "bits 63 to 40 of an address in a piece are not those of its region");
	if (!get)
		return GNI_RC_SUCCESS;
	if (p.length == 0)
		return refuse(rc, kCtPostFma, "a get of 0 bytes in a piece");
	if ((p.remote_addr | p.length) % 4)
		return refuse(GNI_RC_ALIGNMENT_ERROR, kCtPostFma,
			      "a get of %" PRIu64 " bytes from 0x%" PRIx64 ": multiples of 4 only", p.length,
			      p.remote_addr);
	return GNI_RC_SUCCESS;
}

/* Collects pieces for the NIC; postponed pieces are rung before a piece that cannot wait. */
class Chain
{
public:
	/** @id and @events of all go with the last piece, or with an empty put if @separate. */
	Chain(gni_nic *nic, aries_fma_desc *area, bool get, uint32_t id, uint64_t events, bool separate)
		: nic_(nic), area_(area), get_(get), separate_(separate), id_(id), events_(events)
	{
	}

	/** Return: ARIES_ST_* of pieces that were rung without events since the last call. */
	uint32_t add(const Piece &p)
	{
		if (!p.small()) {
			uint32_t status = flush();

			return status == ARIES_ST_OK ? large(p) : status;
		}
		uint32_t status = ARIES_ST_OK;
		if (entries_ == ARIES_LAUNCH_LINE || (entries_ && !fits(p)))
			status = flush();
		if (status == ARIES_ST_OK)
			append(p);
		return status;
	}

	uint32_t flush()
	{
		uint32_t count = entries_;

		entries_ = 0;
		return count ? fma_ring_piece(nic_, count, ARIES_FMA_LAUNCH) : static_cast<uint32_t>(ARIES_ST_OK);
	}

	/** Rings the remaining pieces, with the events unless these were rung already. */
	void finish()
	{
		if (entries_)
			fma_ring(nic_, id_, entries_, ARIES_FMA_LAUNCH, events_);
		else if (separate_)
			fma_ring(nic_, id_, 0, ARIES_FMA_PUT_LINE, events_);
		entries_ = 0;
	}

private:
	bool fits(const Piece &p) const
	{
		return area_->mdh == gni_hndl_name(&p.remote) && (!get_ || area_->local_mdh == gni_hndl_name(&p.local));
	}

	void aim(const Piece &p)
	{
		area_->pe = p.ep->remote_address;
		area_->mdh = gni_hndl_name(&p.remote);
		area_->offset = p.offset();
		area_->local_mdh = get_ ? gni_hndl_name(&p.local) : uint16_t{0};
		area_->local_offset = get_ ? p.local_offset() : 0;
	}

	void append(const Piece &p)
	{
		auto *entry = reinterpret_cast<aries_launch_entry *>(nic_->area + ARIES_DESC_LINE) + entries_;
		bool wide = p.length == 8;
		uint64_t kind;
		uint64_t value = 0;

		if (!entries_)
			aim(p);
		if (get_) {
			kind = wide ? ARIES_LAUNCH_GET8 : ARIES_LAUNCH_GET4;
			value = p.local_offset();
		} else {
			kind = wide ? ARIES_LAUNCH_PUT8 : ARIES_LAUNCH_PUT4;
			memcpy(&value, memory(p.local_addr), p.length);
		}
		entry->target = p.offset() | uint64_t{p.ep->remote_address} << ARIES_LAUNCH_PE_SHIFT |
				kind << ARIES_LAUNCH_KIND_SHIFT;
		entry->value = value;
		entries_++;
	}

	uint32_t large(const Piece &p)
	{
		const aries_fma_op op = get_ ? ARIES_FMA_GET_OP : ARIES_FMA_PUT_LINE;
		uint64_t most = get_ ? kGetPiece : ARIES_DESC_LINE_BYTES;
		uint64_t done = 0;
		uint32_t status;

		aim(p);
		do {
			uint64_t part = std::min(p.length - done, most);

			area_->offset = (p.offset() + done) & GNI_OFFSET_MASK;
			if (get_)
				area_->local_offset = (p.local_offset() + done) & GNI_OFFSET_MASK;
			else if (part)
				memcpy(nic_->area + ARIES_DESC_LINE, memory(p.local_addr + done), part);
			done += part;
			if (done == p.length && !p.next && !separate_) {
				fma_ring(nic_, id_, part, op, events_);
				return ARIES_ST_OK;
			}
			status = fma_ring_piece(nic_, part, op);
		} while (status == ARIES_ST_OK && done < p.length);
		return status;
	}

	gni_nic *nic_;
	aries_fma_desc *area_;
	bool get_;
	bool separate_;
	uint32_t id_;
	uint64_t events_;
	uint32_t entries_ = 0;
};

Piece next_piece(const Piece &p, bool get)
{
	return get ? get_piece(p.next) : put_piece(p.next);
}

gni_return_t check_chain(gni_ep *ep, const gni_post_descriptor_t *d, bool get)
{
	Piece p = first_piece(ep, d);

	for (uint32_t n = 0; n < kMostPieces; n++) {
		gni_return_t rc = check_piece(p, ep->nic, get);
		if (rc != GNI_RC_SUCCESS || !p.next)
			return rc;
		p = next_piece(p, get);
	}
	return refuse(GNI_RC_INVALID_PARAM, kCtPostFma, "more than %u pieces", kMostPieces);
}

uint32_t run_chain(Chain &chain, gni_ep *ep, const gni_post_descriptor_t *d, bool get)
{
	Piece p = first_piece(ep, d);
	uint32_t status = chain.add(p);

	while (status == ARIES_ST_OK && p.next) {
		p = next_piece(p, get);
		status = chain.add(p);
	}
	return status;
}

} // namespace

gni_return_t fma_chain(gni_ep *ep, gni_post_descriptor_t *d)
{
	const bool get = d->type == GNI_POST_FMA_GET;
	/* Only a put could carry a remote event, and a put would write to the target. */
	if (get && (d->cq_mode & GNI_CQMODE_REMOTE_EVENT))
		return refuse(GNI_RC_INVALID_PARAM, kCtPostFma, "a remote event of a get");
	gni_return_t rc = check_chain(ep, d, get);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	Ticket ticket;
	rc = post_begin(ep, ep->cq, d, &ticket, kCtPostFma);
	if (rc != GNI_RC_SUCCESS)
		return rc;

	/* A remote event comes at the first target, after everything. */
	const bool remote = d->cq_mode & GNI_CQMODE_REMOTE_EVENT;
	aries_fma_desc *area = fma_fill(ep, d, ep->cq);
	Chain chain(ep->nic, area, get, ticket.id, d->cq_mode, remote);
	uint32_t status = run_chain(chain, ep, d, get);
	if (status == ARIES_ST_OK && remote)
		status = chain.flush();
	if (status != ARIES_ST_OK) {
		fma_fail(ep, d, ticket, status);
		return GNI_RC_SUCCESS;
	}
	if (remote) {
		area->pe = ep->remote_address;
		area->mdh = gni_hndl_name(&d->remote_mem_hndl);
		area->offset = gni_hndl_offset(&d->remote_mem_hndl, d->remote_addr);
	}
	chain.finish();
	if (!ticket.id)
		fma_silent_end(ep, d);
	return GNI_RC_SUCCESS;
}

} // namespace ugni

using namespace ugni;

gni_return_t GNI_CtPostFma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr)
{
	gni_return_t rc = post_check(ep_hndl, post_descr, kCtPostFma);

	if (rc != GNI_RC_SUCCESS)
		return rc;
	if (post_descr->type != GNI_POST_FMA_PUT && post_descr->type != GNI_POST_FMA_GET)
		return refuse(GNI_RC_INVALID_PARAM, kCtPostFma, "a descriptor of type %d", post_descr->type);
	return fma_chain(ep_hndl, post_descr);
}
