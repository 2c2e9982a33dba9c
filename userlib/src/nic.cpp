// SPDX-License-Identifier: BSD-2-Clause
/* Attachments of a domain to a NIC. */
#include "debug.hpp"
#include "objects.hpp"
#include "unsettled.hpp"

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

gni_return_t map_areas(gni_nic *nic, const kgni_attach &a)
{
	void *area = sys::map(nic->fd, ARIES_DESC_STRIDE, true, a.desc_offset);
	void *doorbell = area ? sys::map(nic->fd, kDoorbellBytes, false, a.doorbell_offset) : nullptr;

	nic->area = static_cast<char *>(area);
	nic->doorbell = static_cast<volatile uint64_t *>(doorbell);
	return doorbell ? GNI_RC_SUCCESS : GNI_RC_ERROR_NOMEM;
}

gni_return_t attach_open(gni_nic *nic, const gni_cdm *cdm)
{
	kgni_query q;
	gni_return_t rc = kernel::query(nic->fd, &q);
	if (rc != GNI_RC_SUCCESS)
		return rc;

	kgni_attach a{};
	a.inst_id = cdm->inst_id;
	a.cookie = cdm->cookie;
	a.modes = cdm->modes;
	a.ptag = cdm->ptag;
	rc = kernel::attach(nic->fd, &a, q.abi_version);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	nic->address = a.pe;
	nic->ptag = a.ptag;
	nic->bte_limit = q.bte_queue;
	nic->caps = q.caps;
	if (!nic->requests.open())
		return GNI_RC_ERROR_NOMEM;
	fork_prepare();
	return map_areas(nic, a);
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

gni_return_t attach(gni_cdm *cdm, uint32_t device, gni_nic **out)
{
	int fd = -1;
	gni_return_t rc = kernel::open_device(device, &fd);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	gni_nic *nic = nics.create();
	if (!nic) {
		sys::close_device(fd);
		return GNI_RC_ERROR_NOMEM;
	}
	nic->fd = fd;
	nic->device = device;
	nic->cdm = cdm;
	nic->inst_id = cdm->inst_id;
	nic->modes = cdm->modes;
	nic->smsg_retransmissions = FMA_SMSG_MAX_RETRANS_DEFAULT;
	rc = attach_open(nic, cdm);
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
gni_return_t attach_nearest(gni_cdm *cdm, gni_nic **out)
{
	const gni_return_t none = cdm->nics.first() ? GNI_RC_INVALID_STATE : GNI_RC_NO_MATCH;
	gni_return_t first = GNI_RC_NO_MATCH;

	for (uint32_t device = 0; device < kernel::kMaxDevices; device++) {
		if (attached(cdm, device))
			continue;
		const gni_return_t rc = attach(cdm, device, out);
		/* A signal, or no memory: the next one would not fare better. */
		if (rc == GNI_RC_SUCCESS || rc == GNI_RC_NOT_DONE || rc == GNI_RC_ERROR_NOMEM)
			return rc;
		if (first == GNI_RC_NO_MATCH)
			first = rc;
	}
	return first == GNI_RC_NO_MATCH ? none : first;
}

/* Nobody will reap the posts that are left. An endpoint that ended before them has its slot for their sake only. */
void forget_posts(gni_nic *nic)
{
	for (uint32_t id = 1; id < nic->requests.used(); id++) {
		Request &r = nic->requests[static_cast<uint16_t>(id)];
		if (!r.state)
			continue;
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
		return GNI_RC_INVALID_PARAM;
	const Locked lock(Subject::domain, cdm_hndl);
	if (!cdms.valid(cdm_hndl))
		return GNI_RC_INVALID_PARAM;

	gni_nic *nic = nullptr;
	gni_return_t rc;
	if (device_id == ~0U)
		rc = attach_nearest(cdm_hndl, &nic);
	else if (attached(cdm_hndl, device_id))
		rc = GNI_RC_INVALID_STATE;
	else
		rc = attach(cdm_hndl, device_id, &nic);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	*local_addr = nic->address;
	*nic_hndl = nic;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetNicStat(gni_nic_handle_t nic_hndl, gni_statistic_t stat, uint32_t *value)
{
	if (!nics.valid(nic_hndl) || !value || static_cast<unsigned>(stat) >= gni_nic::kStatistics)
		return GNI_RC_INVALID_PARAM;
	*value = nic_hndl->statistics[stat];
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_ResetNicStat(gni_nic_handle_t nic_hndl, gni_statistic_t stat)
{
	if (!nics.valid(nic_hndl) || static_cast<unsigned>(stat) >= gni_nic::kStatistics)
		return GNI_RC_INVALID_PARAM;
	nic_hndl->statistics[stat] = 0;
	return GNI_RC_SUCCESS;
}
