// SPDX-License-Identifier: GPL-2.0-only
/* Checks for every post, and the reservation of entries for its events. */
#include "kgni_cq.h"
#include "kgni_handle.h"
#include "kgni_post.h"

/**
 * kgni_post_check() - check the parameters that all posts have in common
 * @ep: endpoint
 * @d: descriptor; NULL is refused
 *
 * Context: any. Return: GNI_RC_SUCCESS, or GNI_RC_INVALID_PARAM.
 */
gni_return_t kgni_post_check(const struct gni_ep *ep, const gni_post_descriptor_t *d)
{
	if (!kgni_ep_valid(ep) || !d)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)ep, (uintptr_t)d);
	if (!READ_ONCE(ep->bound))
		return kgni_refuse(GNI_RC_INVALID_PARAM, ENOTCONN, d->post_id);
	if ((d->cq_mode & ~KGNI_CQ_MODES) || (d->dlvr_mode & ARIES_DLV_RSVD_MASK))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, d->post_id, d->cq_mode,
				   d->dlvr_mode);
	return GNI_RC_SUCCESS;
}

/**
 * kgni_post_begin() - accept a post: kGNI owns the descriptor until its last event is reaped
 * @ep: endpoint
 * @cq: queue for its local events, may be NULL if it asks for none
 * @d: descriptor
 * @kind: KGNI_REQUEST_POST or KGNI_REQUEST_BTE
 * @id: receives its transaction id, 0 if it has no local events
 *
 * Context: any. Return: GNI_RC_SUCCESS; GNI_RC_INVALID_PARAM if events are wanted without a queue,
 * or both events without GNI_CDM_MODE_DUAL_EVENTS; GNI_RC_ERROR_RESOURCE if the queue could
 * overrun, there is no free id, the job is suspended, or the NIC is gone.
 */
gni_return_t kgni_post_begin(struct gni_ep *ep, struct gni_cq *cq, gni_post_descriptor_t *d,
			     enum kgni_request_kind kind, u16 *id)
{
	u16 events = d->cq_mode & KGNI_EVENT_MODES;

	*id = 0;
	if (READ_ONCE(ep->nic->gone))
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, ENODEV, d->post_id);
	if (READ_ONCE(ep->nic->quiet))
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, EAGAIN, d->post_id);
	if (events) {
		if (!cq ||
		    (events == KGNI_EVENT_MODES && !(ep->nic->modes & GNI_CDM_MODE_DUAL_EVENTS)))
			return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, d->post_id, events);
		*id = kgni_cq_request_post(ep, cq, d, kind);
		if (!*id)
			return kgni_refuse(GNI_RC_ERROR_RESOURCE, ENOSPC, d->post_id);
	}
	d->status = GNI_RC_SUCCESS;
	d->cq_mode_complete = 0;
	return GNI_RC_SUCCESS;
}
