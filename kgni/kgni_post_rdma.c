// SPDX-License-Identifier: GPL-2.0-only
/* Block transfers. */
#include <linux/export.h>

#include "gni_memhandle.h"
#include "kgni_cq.h"
#include "kgni_fma.h"
#include "kgni_handle.h"
#include "kgni_post.h"

#define KGNI_RDMA_MODES (GNI_RDMAMODE_PHYS_ADDR | GNI_RDMAMODE_FENCE | GNI_RDMAMODE_GETWC_DIS)

static gni_return_t kgni_rdma_check(const struct gni_ep *ep, const gni_post_descriptor_t *d)
{
	gni_return_t rc = kgni_post_check(ep, d);
	bool get, physical;

	if (rc != GNI_RC_SUCCESS)
		return rc;
	get = d->type == GNI_POST_RDMA_GET;
	physical = d->rdma_mode & GNI_RDMAMODE_PHYS_ADDR;
	if ((!get && d->type != GNI_POST_RDMA_PUT) || (d->rdma_mode & ~KGNI_RDMA_MODES))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, d->post_id, d->type, d->rdma_mode);
	if (!gni_hndl_intact(&d->remote_mem_hndl) ||
	    (!physical && !gni_hndl_intact(&d->local_mem_hndl)))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EBADF, d->post_id);
	if (!d->length || d->length > U32_MAX)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EMSGSIZE, d->post_id, d->length);
	if (d->src_cq_hndl && (!kgni_cq_valid(d->src_cq_hndl) || d->src_cq_hndl->nic != ep->nic ||
			       READ_ONCE(d->src_cq_hndl->registrations)))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EBADF, d->post_id,
				   (uintptr_t)d->src_cq_hndl);
	if (get && ((d->remote_addr | d->length) & 3))
		return kgni_refuse(GNI_RC_ALIGNMENT_ERROR, EINVAL, d->post_id, d->remote_addr,
				   d->length);
	if (physical ? !get && gni_hndl_flags(&d->remote_mem_hndl) & GNI_HNDL_READ_ONLY
		     : gni_hndl_flags(get ? &d->local_mem_hndl : &d->remote_mem_hndl) &
			       GNI_HNDL_READ_ONLY)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EACCES, d->post_id);
	return GNI_RC_SUCCESS;
}

static void kgni_rdma_fill(struct aries_bte_desc *slot, const struct gni_ep *ep,
			   const struct gni_cq *cq, const gni_post_descriptor_t *d, u16 id)
{
	bool physical = d->rdma_mode & GNI_RDMAMODE_PHYS_ADDR;

	*slot = (struct aries_bte_desc){
		.pe = ep->remote_address,
		.mdh = gni_hndl_name(&d->remote_mem_hndl),
		.local_mdh = physical ? 0 : gni_hndl_name(&d->local_mem_hndl),
		.offset = gni_hndl_offset(&d->remote_mem_hndl, d->remote_addr),
		.local_offset = physical ? d->local_addr
					 : gni_hndl_offset(&d->local_mem_hndl, d->local_addr),
		.length = d->length,
		.cq = cq ? cq->number : 0,
		.tid = id,
		.local_event = ep->local_event,
		.remote_event = ep->remote_event,
		.op = d->type == GNI_POST_RDMA_GET ? ARIES_BTE_GET : ARIES_BTE_PUT,
		.mode = d->cq_mode,
		.flags = (d->rdma_mode & GNI_RDMAMODE_FENCE ? ARIES_BTE_FENCE : 0) |
			 (physical ? ARIES_BTE_PHYS : 0),
		.dlvr_mode = d->dlvr_mode,
	};
}

/*
 * gni_post_rdma() - post a block transfer, see gni_pub.h
 *
 * GNI_RC_ERROR_RESOURCE: as many posts are outstanding as the queue or the NIC takes. Try again
 * after one has completed. Context: any.
 */
gni_return_t gni_post_rdma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr)
{
	gni_return_t rc = kgni_rdma_check(ep_hndl, post_descr);
	struct aries_bte_desc slot;
	struct gni_cq *cq;
	u8 status;
	u16 id;

	if (rc != GNI_RC_SUCCESS)
		return rc;
	cq = post_descr->src_cq_hndl ? post_descr->src_cq_hndl : ep_hndl->cq;
	rc = kgni_post_begin(ep_hndl, cq, post_descr, KGNI_REQUEST_BTE, &id);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	kgni_rdma_fill(&slot, ep_hndl, cq, post_descr, id);
	status = kgni_bte(ep_hndl, &slot);
	if (status != ARIES_ST_QUEUE_FULL)
		return GNI_RC_SUCCESS;
	if (id && !kgni_cq_withdraw(cq, id))
		return GNI_RC_SUCCESS;
	return kgni_refuse(GNI_RC_ERROR_RESOURCE, EAGAIN, post_descr->post_id);
}
EXPORT_SYMBOL_GPL(gni_post_rdma);
