// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* 48 bits into the queue of a remote registration. */
#include "post.hpp"

using namespace ugni;

gni_return_t GNI_PostCqWrite(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr)
{
	gni_return_t rc = post_check(ep_hndl, post_descr, __func__);

	if (rc != GNI_RC_SUCCESS)
		return rc;
	if (post_descr->type != GNI_POST_CQWRITE)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "a descriptor of type %d", post_descr->type);
	if (gni_hndl_none(&post_descr->remote_mem_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "remote_mem_hndl is empty");
	gni_cq *cq = post_descr->src_cq_hndl;
	if (!cq)
		cq = ep_hndl->cq;
	else if (!source_queue_sound(ep_hndl, cq))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kBadSourceQueue);
	Ticket ticket;
	rc = post_begin(ep_hndl, cq, post_descr, &ticket, __func__);
	if (rc != GNI_RC_SUCCESS)
		return rc;

	aries_fma_desc *area = fma_fill(ep_hndl, post_descr, cq);
	area->offset = 0;
	area->operand[0] = post_descr->cqwrite_value & ARIES_CQE_WRITE_MASK;
	/* The value is the event: a remote event of its own is not asked for. */
	fma_ring(ep_hndl->nic, ticket.id, 0, ARIES_FMA_CQWRITE, post_descr->cq_mode & kEventModes);
	if (!ticket.id) [[unlikely]]
		fma_silent_end(ep_hndl, post_descr);
	return GNI_RC_SUCCESS;
}
