// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Collective channels: engines of the NIC and their place in a tree. */
#include "ce.hpp"
#include "aries_regs.h"
#include "debug.hpp"

#include <bit>

using namespace ugni;

namespace ugni
{

constinit Slab<gni_ce> channels;

void ce_close(gni_ce *ce)
{
	channels.retire(ce);
	if (ce->cq)
		ce->cq->endpoints--;
	ce->nic->channels.remove(ce);
	channels.recycle(ce);
}

} // namespace ugni

namespace
{

constexpr const char *kNoEngines = "this NIC has no collective engines";
constexpr uint32_t kRoundModes =
	GNI_CE_MODE_ROUND_UP | GNI_CE_MODE_ROUND_DOWN | GNI_CE_MODE_ROUND_NEAR | GNI_CE_MODE_ROUND_ZERO;
constexpr uint32_t kEventModes = GNI_CE_MODE_CQE_ONCOMP | GNI_CE_MODE_CQE_ONERR;
constexpr uint32_t kRouteModes =
	GNI_CE_MODE_RC_NMIN_HASH | GNI_CE_MODE_RC_MIN_HASH | GNI_CE_MODE_RC_MNON_HASH | GNI_CE_MODE_RC_ADAPT;

static_assert(GNI_CE_MAX_CHILDREN == KGNI_CE_CHILDREN && GNI_CE_CHILD_VCE == KGNI_CE_ENGINE &&
	      GNI_CE_CHILD_PE == KGNI_CE_ENDPOINT);

bool has_engines(const gni_nic *nic)
{
	return nic->caps & ARIES_ID_CAPS_CE_MASK;
}

/* Of each kind one mode; programs of the field name none where the default will do. */
bool modes_valid(uint32_t modes)
{
	return !(modes & ~(kRoundModes | kEventModes | kRouteModes)) && std::popcount(modes & kRoundModes) <= 1 &&
	       std::popcount(modes & kEventModes) <= 1 && std::popcount(modes & kRouteModes) <= 1;
}

/* To the nearest, as the processor does by default. */
uint32_t rounding_of(uint32_t modes)
{
	const uint32_t mode = modes & kRoundModes ? modes & kRoundModes : GNI_CE_MODE_ROUND_NEAR;

	return static_cast<uint32_t>(std::countr_zero(mode));
}

uint32_t route_of(uint32_t modes)
{
	switch (modes & kRouteModes) {
	case GNI_CE_MODE_RC_NMIN_HASH:
		return 1;
	case GNI_CE_MODE_RC_MIN_HASH:
		return 2;
	case GNI_CE_MODE_RC_MNON_HASH:
		return 3;
	default:
		return 0;
	}
}

/* An endpoint of the same NIC handle that describes an edge of a tree. */
bool edge(const gni_ep *ep, const gni_nic *nic)
{
	return endpoints.valid(ep) && ep->nic == nic && ep->bound && ep->ce_kind != GNI_CE_CHILD_UNUSED &&
	       (ep->ce_kind == GNI_CE_CHILD_PE || ep->ce_engine < ARIES_CE_CHANNELS);
}

/* Each child has an index of its own, and together they are 0 to count - 1. */
bool fill_children(const gni_nic *nic, gni_ep *const *eps, uint32_t count, kgni_ce_child *children)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; i < count; i++) {
		const gni_ep *ep = eps[i];
		if (!edge(ep, nic) || ep->ce_index >= count || (seen >> ep->ce_index & 1))
			return false;
		seen |= uint64_t{1} << ep->ce_index;
		kgni_ce_child &child = children[ep->ce_index];
		child.pe = ep->remote_address;
		child.kind = ep->ce_kind;
		child.ce = ep->ce_kind == GNI_CE_CHILD_VCE ? ep->ce_engine : 0;
		child.inst_id = ep->ce_kind == GNI_CE_CHILD_PE ? ep->remote_id : 0;
	}
	return true;
}

} // namespace

gni_return_t GNI_CeCreate(gni_nic_handle_t nic_hndl, gni_ce_handle_t *ce_hndl)
{
	if (!nics.valid(nic_hndl) || !ce_hndl)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", ce_hndl ? kNoNic : kNull);
	if (!has_engines(nic_hndl))
		return refuse(GNI_RC_ILLEGAL_OP, __func__, "%s", kNoEngines);
	const Locked lock(Subject::control, nic_hndl);
	if (!nics.valid(nic_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoNic);
	gni_ce *ce = channels.create();
	if (!ce)
		return refuse(GNI_RC_ERROR_NOMEM, __func__, "%s", kNoHandles);
	gni_return_t rc = kernel::ce_alloc(nic_hndl->fd, &ce->number);
	if (rc != GNI_RC_SUCCESS) {
		channels.destroy(ce);
		return rc;
	}
	ce->nic = nic_hndl;
	nic_hndl->channels.add(ce);
	*ce_hndl = ce;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_CeGetId(gni_ce_handle_t ce_hndl, uint32_t *ce_id)
{
	if (!channels.valid(ce_hndl) || !ce_id)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", ce_id ? kNoChannel : kNull);
	*ce_id = ce_hndl->number;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_EpSetCeAttr(gni_ep_handle_t ep_hndl, uint32_t ce_id, uint32_t child_id, gni_ce_child_t child_type)
{
	if (!endpoints.valid(ep_hndl) || !ep_hndl->bound)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s",
			      endpoints.valid(ep_hndl) ? "the endpoint is not bound" : kNoEndpoint);
	if (child_id >= GNI_CE_MAX_CHILDREN)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "child %u: 0 to %d are possible", child_id,
			      GNI_CE_MAX_CHILDREN - 1);
	if (!has_engines(ep_hndl->nic))
		return refuse(GNI_RC_ILLEGAL_OP, __func__, "%s", kNoEngines);
	/* A child process has no channel id, so that of an endpoint of type PE counts when it posts. */
	if (child_type != GNI_CE_CHILD_PE && (child_type != GNI_CE_CHILD_VCE || ce_id >= ARIES_CE_CHANNELS))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "a neighbour of type %d with channel %u", child_type,
			      ce_id);
	ep_hndl->ce_kind = static_cast<uint8_t>(child_type);
	ep_hndl->ce_index = static_cast<uint8_t>(child_id);
	ep_hndl->ce_engine = static_cast<uint8_t>(ce_id < 255 ? ce_id : 255);
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_CeConfigure(gni_ce_handle_t ce_hndl, gni_ep_handle_t *child_eps, uint32_t num_child_eps,
			     gni_ep_handle_t parent_ep, gni_cq_handle_t cq_hndl, uint32_t modes)
{
	kgni_ce_child children[KGNI_CE_CHILDREN] = {};

	if (!channels.valid(ce_hndl) || !child_eps)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", child_eps ? kNoChannel : kNull);
	if (!modes_valid(modes))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "modes 0x%x: two of one kind, or unknown ones", modes);
	if (num_child_eps == 0 || num_child_eps > GNI_CE_MAX_CHILDREN)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%u children: 1 to %d are possible", num_child_eps,
			      GNI_CE_MAX_CHILDREN);
	gni_nic *nic = ce_hndl->nic;
	const Locked lock(Subject::control, nic);
	if (!channels.valid(ce_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoChannel);
	if (cq_hndl && (!queues.valid(cq_hndl) || cq_hndl->nic != nic || cq_hndl->registrations))
		return refuse(GNI_RC_INVALID_PARAM, __func__,
			      "cq_hndl is no queue of this NIC handle, or one for remote events");
	if (parent_ep && (!edge(parent_ep, nic) || parent_ep->ce_kind != GNI_CE_CHILD_VCE))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "parent_ep is no endpoint to a channel");
	if (!fill_children(nic, child_eps, num_child_eps, children))
		return refuse(GNI_RC_INVALID_PARAM, __func__,
			      "a child is no neighbour in a tree, or the indices are not 0 to %u", num_child_eps - 1);

	kgni_ce_config arg{};
	arg.ce = ce_hndl->number;
	arg.flags = (parent_ep ? KGNI_CE_PARENT : 0) | (modes & GNI_CE_MODE_CQE_ONERR ? KGNI_CE_CQ_ONERR : 0);
	arg.count = num_child_eps;
	arg.children = reinterpret_cast<uintptr_t>(children);
	arg.cq = cq_hndl ? cq_hndl->number : KGNI_NO_CQ;
	arg.round = rounding_of(modes);
	arg.route = route_of(modes);
	arg.parent_pe = parent_ep ? parent_ep->remote_address : 0;
	arg.parent_ce = parent_ep ? parent_ep->ce_engine : 0;
	arg.parent_index = parent_ep ? parent_ep->ce_index : 0;
	gni_return_t rc = kernel::ce_config(nic->fd, &arg);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	if (ce_hndl->cq)
		ce_hndl->cq->endpoints--;
	ce_hndl->cq = cq_hndl;
	if (cq_hndl)
		cq_hndl->endpoints++;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_CeDestroy(gni_ce_handle_t ce_hndl)
{
	if (!channels.valid(ce_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoChannel);
	const Locked lock(Subject::control, ce_hndl->nic);
	if (!channels.valid(ce_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoChannel);
	(void)kernel::ce_free(ce_hndl->nic->fd, ce_hndl->number, nullptr);
	ce_close(ce_hndl);
	return GNI_RC_SUCCESS;
}
