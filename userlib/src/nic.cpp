// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Attachments of a domain to a NIC. */
#include "debug.hpp"
#include "environment.hpp"
#include "objects.hpp"
#include "unsettled.hpp"

#include <cstdlib>
#include <cstring>

using namespace ugni;

namespace ugni
{

constinit Slab<gni_nic> nics;

} // namespace ugni

namespace
{

constexpr size_t kDoorbellBytes = 4096;

bool attached(const gni_cdm *cdm, uint32_t device)
{
	for (const gni_nic *nic = cdm->nics.first(); nic; nic = nic->next) {
		if (nic->device == device)
			return true;
	}
	return false;
}

gni_return_t map_areas(gni_nic *nic, const kgni_attach &a, const char *call)
{
	void *area = sys::map(nic->fd, ARIES_DESC_STRIDE, true, a.desc_offset);
	void *doorbell = area ? sys::map(nic->fd, kDoorbellBytes, false, a.doorbell_offset) : nullptr;

	nic->area = static_cast<char *>(area);
	nic->doorbell = static_cast<volatile uint64_t *>(doorbell);
	if (!doorbell)
		return refuse(GNI_RC_ERROR_NOMEM, call, "the descriptor of the NIC cannot be mapped");
	if (a.poll_offset) {
		nic->polled_state = {reinterpret_cast<uint64_t *>(nic->area + a.poll_offset),
				     reinterpret_cast<const uint32_t *>(nic->area + a.awake_offset), 0, 0, false};
		nic->polled = &nic->polled_state;
		nic->polls = -1;
	}
	return GNI_RC_SUCCESS;
}

/* A program under test may want to pay for checks. */
bool checks_wanted()
{
	const char *v = getenv(env::UGNI_CHECK); // NOLINT(concurrency-mt-unsafe)

	return v && *v && strcmp(v, "0") != 0;
}

gni_return_t attach_open(gni_nic *nic, const gni_cdm *cdm, const char *call)
{
	kgni_query q;
	gni_return_t rc = kernel::query(nic->fd, &q, call);
	if (rc != GNI_RC_SUCCESS)
		return rc;

	kgni_attach a{};
	a.inst_id = cdm->inst_id;
	a.cookie = cdm->cookie;
	a.modes = cdm->modes;
	a.ptag = cdm->ptag;
	rc = kernel::attach(nic->fd, &a, q.abi_version, call);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	nic->address = a.pe;
	nic->ptag = a.ptag;
	nic->bte_limit = q.bte_queue;
	nic->caps = q.caps;
	if (!nic->requests.open())
		return refuse(GNI_RC_ERROR_NOMEM, call, "no memory for the table of posts");
	fork_prepare();
	return map_areas(nic, a, call);
}

/* Frees what attach_open() and later calls acquired; the slot stays retired. */
void release(gni_nic *nic)
{
	if (nic->doorbell && !nic->checkpoint)
		sys::unmap(const_cast<uint64_t *>(nic->doorbell), kDoorbellBytes);
	if (nic->area && !nic->checkpoint)
		sys::unmap(nic->area, ARIES_DESC_STRIDE);
	nic->requests.close();
	nic->registrations.close([](const Registration &r) { fork_share(r.kept); });
	if (!nic->checkpoint)
		sys::close_device(nic->fd);
}

/* @error: gets why the device did not open, for a caller that asks for no other one */
gni_return_t attach(gni_cdm *cdm, uint32_t device, gni_nic **out, int *error, const char *call)
{
	int fd = -1;
	gni_return_t rc = kernel::open_device(device, &fd);
	*error = fd;
	if (rc != GNI_RC_SUCCESS)
		return rc;
	gni_nic *nic = nics.create();
	if (!nic) {
		sys::close_device(fd);
		return refuse(GNI_RC_ERROR_NOMEM, call, "%s", kNoHandles);
	}
	nic->fd = fd;
	nic->device = device;
	nic->cdm = cdm;
	nic->inst_id = cdm->inst_id;
	nic->modes = cdm->modes;
	nic->smsg_retransmissions = FMA_SMSG_MAX_RETRANS_DEFAULT;
	nic->checks = checks_wanted();
	rc = attach_open(nic, cdm, call);
	if (rc != GNI_RC_SUCCESS) {
		nics.retire(nic);
		nics.settle();
		release(nic);
		nics.recycle(nic);
		return rc;
	}
	cdm->nics.add(nic);
	*out = nic;
	return GNI_RC_SUCCESS;
}

/* The first device that is there, not attached yet, and takes this domain. Return: why the first one that is there did
 * not
 */
gni_return_t attach_nearest(gni_cdm *cdm, gni_nic **out, const char *call)
{
	gni_return_t first = GNI_RC_SUCCESS;

	for (uint32_t device = 0; device < kernel::kMaxDevices; device++) {
		int error = 0;

		if (attached(cdm, device))
			continue;
		/* Failures have been logged already, except for a device that could not be opened. */
		gni_return_t rc = attach(cdm, device, out, &error, call);
		if (error < 0 && rc != GNI_RC_NO_MATCH)
			rc = kernel::no_device(rc, call, device, error);
		/* A signal, or no memory: the next one would not fare better. */
		if (rc == GNI_RC_SUCCESS || rc == GNI_RC_NOT_DONE || rc == GNI_RC_ERROR_NOMEM)
			return rc;
		if (first == GNI_RC_SUCCESS && rc != GNI_RC_NO_MATCH)
			first = rc;
	}
	if (first != GNI_RC_SUCCESS)
		return first;
	if (cdm->nics.first())
		return refuse(GNI_RC_INVALID_STATE, call, "no NIC is left that the domain has not attached");
	return refuse(GNI_RC_NO_MATCH, call, "this node has no NIC");
}

/* Frees the copy of a message that has left. Copies of lost messages are in the list of unsettled ones. */
void drop_copy(const Request &r)
{
	if ((r.state & (Request::kCopied | Request::kUnsettled)) == Request::kCopied)
		free(r.copy);
}

/* The remaining posts will not be reaped. An endpoint that ended before them keeps its slot only for their sake. */
void forget_posts(gni_nic *nic)
{
	for (uint32_t id = 1; id < nic->requests.used(); id++) {
		Request &r = nic->requests[static_cast<uint16_t>(id)];
		if (!r.state)
			continue;
		drop_copy(r);
		r.state = 0;
		ep_release(r.ep);
	}
}

} // namespace

namespace ugni
{

void nic_close(gni_nic *nic)
{
	const Locked queue_lock(Subject::msgq, nic);
	const Locked lock(Subject::control, nic);

	nics.retire(nic);
	nics.settle();
	if (nic->msgq)
		msgq_close(nic->msgq);
	datagrams_close(nic);
	unsettled_close(nic);
	forget_posts(nic);
	while (gni_ep *ep = nic->endpoints.first()) {
		ep->datagram = false;
		ep->references = 1;
		ep_close(ep);
	}
	while (gni_ce *ce = nic->channels.first())
		ce_close(ce);
	while (gni_cq *cq = nic->queues.first())
		cq_close(cq);
	nic->cdm->nics.remove(nic);
	release(nic);
	nics.recycle(nic);
}

void request_end_special(gni_nic *nic, const Request &r, uint32_t id)
{
	drop_copy(r);
	if (r.state & Request::kUnsettled)
		unsettled_forget(nic, id);
	if (r.state & Request::kBte)
		nic->bte_in_flight--;
	if (r.state & Request::kMsgq)
		nic->msgq_sends--;
	if (r.forced())
		r.cq->attention--;
}

} // namespace ugni

gni_return_t GNI_CdmAttach(gni_cdm_handle_t cdm_hndl, uint32_t device_id, uint32_t *local_addr,
			   gni_nic_handle_t *nic_hndl)
{
	if (!cdms.valid(cdm_hndl) || !local_addr || !nic_hndl)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", cdms.valid(cdm_hndl) ? kNull : kNoDomain);
	const Locked lock(Subject::domain, cdm_hndl);
	if (!cdms.valid(cdm_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoDomain);

	gni_nic *nic = nullptr;
	gni_return_t rc;
	int error = 0;
	if (device_id == ~0U)
		rc = attach_nearest(cdm_hndl, &nic, __func__);
	else if (attached(cdm_hndl, device_id))
		rc = refuse(GNI_RC_INVALID_STATE, __func__, "the domain has attached device %u already", device_id);
	else
		rc = attach(cdm_hndl, device_id, &nic, &error, __func__);
	if (error < 0)
		return kernel::no_device(rc, __func__, device_id, error);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	*local_addr = nic->address;
	*nic_hndl = nic;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetNicStat(gni_nic_handle_t nic_hndl, gni_statistic_t stat, uint32_t *value)
{
	if (!nics.valid(nic_hndl) || !value || static_cast<unsigned>(stat) >= gni_nic::kStatistics)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "counter %d, or: %s", stat, value ? kNoNic : kNull);
	*value = nic_hndl->statistics[stat];
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_ResetNicStat(gni_nic_handle_t nic_hndl, gni_statistic_t stat)
{
	if (!nics.valid(nic_hndl) || static_cast<unsigned>(stat) >= gni_nic::kStatistics)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "counter %d, or: %s", stat, kNoNic);
	nic_hndl->statistics[stat] = 0;
	return GNI_RC_SUCCESS;
}
