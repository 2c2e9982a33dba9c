// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* FMA posts: atomic operations. */
#include "aries_regs.h"
#include "atomic.hpp"
#include "debug.hpp"
#include "post.hpp"

#include <cinttypes>

namespace ugni
{

namespace
{

static_assert(ARIES_FMA_FLAG_BYTES == GNI_FMA_FLAGGED_RESPONSE_SIZE);

/* INVALID_PARAM is the documented answer to an opcode that the NIC does not have. */
gni_return_t available(const gni_nic *nic, const AtomicKind &kind, uint32_t opcode)
{
	uint64_t need = kind.operand_bytes == 8 ? ARIES_ID_CAPS_AMO64_MASK : ARIES_ID_CAPS_AMO32_MASK;

	if (kind.floating)
		need |= ARIES_ID_CAPS_AMOFP_MASK;
	if ((nic->caps & need) != need)
		return refuse(GNI_RC_INVALID_PARAM, kPostFma, "this NIC has no atomic 0x%03x", opcode);
	if (kind.cached && !(nic->modes & GNI_CDM_MODE_CACHED_AMO_ENABLED))
		return refuse(GNI_RC_INVALID_PARAM, kPostFma, "atomic 0x%03x needs GNI_CDM_MODE_CACHED_AMO_ENABLED",
			      opcode);
	return GNI_RC_SUCCESS;
}

/*
 * Open MPI posts the narrow compare-and-swap that returns nothing, names a place for the old value, and reads it: where
 * there is such a place, this is the one that returns it.
 */
uint32_t opcode_of(const gni_post_descriptor_t *d)
{
	constexpr uint32_t kNothingReturned = 0x100;
	const uint32_t opcode = d->amo_cmd;
	const bool narrow_swap = opcode == GNI_FMA_ATOMIC2_CSWAP_S || opcode == GNI_FMA_ATOMIC2_CSWAP_SC;
	const bool place = d->type == GNI_POST_AMO && !gni_hndl_none(&d->local_mem_hndl);

	static_assert(GNI_FMA_ATOMIC2_FCSWAP_S == (GNI_FMA_ATOMIC2_CSWAP_S & ~kNothingReturned) &&
		      GNI_FMA_ATOMIC2_FCSWAP_SC == (GNI_FMA_ATOMIC2_CSWAP_SC & ~kNothingReturned));
	return narrow_swap && place ? opcode & ~kNothingReturned : opcode;
}

} // namespace

UGNI_IN_ONE_PAGE(1024)
gni_return_t fma_atomic(gni_ep *ep, gni_post_descriptor_t *d)
{
	const uint32_t opcode = opcode_of(d);
	AtomicKind kind = atomic_kind(opcode);
	const bool flagged = d->type == GNI_POST_AMO_W_FLAG;

	if (!kind.operand_bytes)
		return refuse(GNI_RC_INVALID_PARAM, kPostFma, "no atomic 0x%03x", opcode);
	/* The command says how wide it is: clients give the length of a buffer, or twice the width. */
	if (!d->length || gni_hndl_none(&d->remote_mem_hndl))
		return refuse(GNI_RC_INVALID_PARAM, kPostFma, "an atomic %s",
			      d->length ? "with an empty remote_mem_hndl" : "of length 0");
	if (kind.fetching && gni_hndl_none(&d->local_mem_hndl))
		return refuse(GNI_RC_INVALID_PARAM, kPostFma, "atomic 0x%03x fetches, and local_mem_hndl is empty",
			      opcode);
	if (flagged && !kind.fetching)
		return refuse(GNI_RC_INVALID_PARAM, kPostFma, "atomic 0x%03x returns nothing that a flag could follow",
			      opcode);
	/* A power of two; the compiler would divide, and an emulated processor calls a function for that. */
	const uint64_t below = kind.operand_bytes - 1U;
	if ((d->remote_addr & below) || (kind.fetching && (d->local_addr & below)))
		return refuse(GNI_RC_ALIGNMENT_ERROR, kPostFma,
			      "an atomic of %u bytes with remote_addr 0x%" PRIx64 ", local_addr 0x%" PRIx64,
			      kind.operand_bytes, d->remote_addr, d->local_addr);
	gni_return_t rc = available(ep->nic, kind, opcode);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	Ticket ticket;
	rc = post_begin(ep, ep->cq, d, &ticket, kPostFma);
	if (rc != GNI_RC_SUCCESS)
		return rc;

	aries_fma_desc *area = fma_fill(ep, d, ep->cq);
	area->operand[0] = d->first_operand;
	area->operand[1] = d->second_operand;
	if (kind.fetching) {
		area->local_mdh = gni_hndl_name(&d->local_mem_hndl);
		area->local_offset = gni_hndl_offset(&d->local_mem_hndl, d->local_addr);
	}
	fma_ring(ep->nic, ticket.id, kind.operand_bytes, flagged ? ARIES_FMA_AMO_FLAG : ARIES_FMA_AMO_OP, d->cq_mode,
		 opcode);
	if (!ticket.id) [[unlikely]]
		fma_silent_end(ep, d);
	return GNI_RC_SUCCESS;
}

} // namespace ugni
