// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Endpoints. Binding is on the hot path of some clients: no system call, no lock. */
#include "aries_regs.h"
#include "debug.hpp"
#include "gone.hpp"
#include "objects.hpp"
#include "unsettled.hpp"

using namespace ugni;

namespace ugni
{

constinit Slab<gni_ep> endpoints;

/*
 * An endpoint with posts in flight keeps its slot until the last of them has
 * been reaped: their requests name it.
 */
void ep_close(gni_ep *ep)
{
	endpoints.retire(ep);
	if (ep->nic->unsettled.first())
		unsettled_leave(ep);
	smsg_close(ep);
	ce_leave(ep);
	if (ep->datagram)
		datagram_close(ep);
	ep->nic->endpoints.remove(ep);
	if (ep->cq)
		ep->cq->endpoints--;
	ep_release(ep);
}

/* A handle that is still good has a reference: if not, threads that posted at once have spoilt the count. */
void ep_end(gni_ep *ep)
{
	if (endpoints.valid(ep))
		ep->references = 1;
	else
		endpoints.recycle(ep);
}

} // namespace ugni

gni_return_t GNI_EpCreate(gni_nic_handle_t nic_hndl, gni_cq_handle_t src_cq_hndl, gni_ep_handle_t *ep_hndl)
{
	if (!nics.valid(nic_hndl) || !ep_hndl)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", ep_hndl ? kNoNic : kNull);
	const Locked lock(Subject::control, nic_hndl);
	if (!nics.valid(nic_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoNic);
	if (src_cq_hndl && (!queues.valid(src_cq_hndl) || src_cq_hndl->nic != nic_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "src_cq_hndl is no queue of this NIC handle");
	if (src_cq_hndl && src_cq_hndl->registrations)
		return refuse(GNI_RC_INVALID_PARAM, __func__,
			      "src_cq_hndl is for remote events: %u registrations name it", src_cq_hndl->registrations);
	if (src_cq_hndl && (src_cq_hndl->modes & GNI_CQ_UNMANAGED))
		return refuse(GNI_RC_INVALID_PARAM, __func__,
			      "nobody reads events of posts from a queue that is unmanaged");
	gni_ep *ep = endpoints.create();
	if (!ep)
		return refuse(GNI_RC_ERROR_NOMEM, __func__, "%s", kNoHandles);
	ep->references = 1;
	ep->nic = nic_hndl;
	ep->cq = src_cq_hndl;
	ep->ready = &no_queue;
	if (src_cq_hndl)
		src_cq_hndl->endpoints++;
	nic_hndl->endpoints.add(ep);
	*ep_hndl = ep;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_EpSetEventData(gni_ep_handle_t ep_hndl, uint32_t local_event, uint32_t remote_event)
{
	if (!endpoints.valid(ep_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoEndpoint);
	ep_hndl->events[0] = local_event;
	ep_hndl->events[1] = remote_event;
	ep_hndl->own_event_data = true;
	return GNI_RC_SUCCESS;
}

[[gnu::cold]] static gni_return_t bind_refused(const gni_ep *ep, uint32_t address)
{
	const gni_return_t rc = GNI_RC_INVALID_PARAM;
	const char *const call = "GNI_EpBind";

	if (!endpoints.valid(ep))
		return refuse(rc, call, "%s", kNoEndpoint);
	if (ep->bound)
		return refuse(rc, call, "the endpoint is bound already, to node %u, instance %u", ep->remote_address,
			      ep->remote_id);
	return refuse(rc, call, "node address 0x%x has more than %u bits", address, ARIES_PE_BITS);
}

gni_return_t GNI_EpBind(gni_ep_handle_t ep_hndl, uint32_t remote_addr, uint32_t remote_id)
{
	if (!endpoints.valid(ep_hndl) || ep_hndl->bound || remote_addr >> ARIES_PE_BITS) [[unlikely]]
		return bind_refused(ep_hndl, remote_addr);
	ep_hndl->remote_address = remote_addr;
	ep_hndl->remote_id = remote_id;
	if (!ep_hndl->own_event_data) {
		ep_hndl->events[0] = remote_id;
		ep_hndl->events[1] = ep_hndl->nic->inst_id;
	}
	/* The source queue's size bounds what may be posted; ids are there for all of it. */
	ep_hndl->bound = true;
	/* Checks are not on the short ways. */
	ep_hndl->ready = ep_hndl->cq && !ep_hndl->nic->checks ? ep_hndl->cq : &no_queue;
	return GNI_RC_SUCCESS;
}

static gni_return_t idle(gni_ep *ep, const char *call)
{
	if (!endpoints.valid(ep))
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", kNoEndpoint);
	if (ep->references <= 1) [[likely]]
		return GNI_RC_SUCCESS;
	ep_mend(ep);
	if (ep->references <= 1)
		return GNI_RC_SUCCESS;
	if (!nic_there(ep->nic))
		return nic_gone(ep->nic);
	return later(GNI_RC_NOT_DONE, call, "%u posts, messages or datagrams of the endpoint are not reaped",
		     ep->references - 1);
}

gni_return_t GNI_EpIdle(gni_ep_handle_t ep_hndl)
{
	return idle(ep_hndl, __func__);
}

[[gnu::noinline]] static void unbind_more(gni_ep *ep)
{
	const Locked lock(Subject::control, ep->nic);

	if (!endpoints.valid(ep))
		return;
	if (ep->nic->unsettled.first())
		unsettled_leave(ep);
	smsg_close(ep);
	ce_leave(ep);
}

gni_return_t GNI_EpUnbind(gni_ep_handle_t ep_hndl)
{
	gni_return_t rc = idle(ep_hndl, __func__);

	if (rc == GNI_RC_SUCCESS) {
		if (ep_hndl->smsg || ep_hndl->ce) [[unlikely]]
			unbind_more(ep_hndl);
		ep_hndl->ce_kind = GNI_CE_CHILD_UNUSED;
		ep_hndl->bound = false;
		ep_hndl->ready = &no_queue;
	}
	return rc;
}

gni_return_t GNI_EpDestroy(gni_ep_handle_t ep_hndl)
{
	if (!endpoints.valid(ep_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoEndpoint);
	const Locked lock(Subject::control, ep_hndl->nic);
	if (!endpoints.valid(ep_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoEndpoint);
	ep_close(ep_hndl);
	return GNI_RC_SUCCESS;
}
