// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Jobs that stop for a while: suspend and resume by a launcher, checkpoints by the process itself. */
#include "debug.hpp"
#include "objects.hpp"
#include "polled.hpp"

using namespace ugni;

namespace
{

gni_return_t suspend(uint32_t device, uint32_t flags, uint64_t job_id, uint8_t ptag, uint32_t cookie, uint32_t timeout,
		     const char *call = __builtin_FUNCTION())
{
	kgni_suspend arg{};
	int fd = -1;

	if (ptag == 0)
		return refuse(GNI_RC_INVALID_PARAM, call, "ptag is 0");
	arg.flags = flags;
	arg.job_id = job_id;
	arg.cookie = cookie;
	arg.ptag = ptag;
	arg.timeout_ms = timeout;
	gni_return_t rc = kernel::open_device(device, &fd);
	if (rc != GNI_RC_SUCCESS) {
		if (rc != GNI_RC_PERMISSION_ERROR)
			rc = rc == GNI_RC_NO_MATCH || (flags & KGNI_SUSPEND_RESUME) ? told(GNI_RC_INVALID_PARAM)
										    : told(GNI_RC_ERROR_RESOURCE);
		return kernel::no_device(rc, call, device, fd);
	}
	rc = kernel::suspend(fd, &arg, call);
	sys::close_device(fd);
	return rc;
}

gni_return_t set_checkpoint(gni_cdm *cdm, bool on, const char *call = __builtin_FUNCTION())
{
	if (!cdms.valid(cdm))
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", kNoDomain);
	/* Who attaches or destroys the domain meanwhile changes the list. */
	const Locked lock(Subject::domain, cdm);
	if (!cdms.valid(cdm))
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", kNoDomain);
	for (gni_nic *nic = cdm->nics.first(); nic; nic = nic->next) {
		const Locked own(Subject::control, nic);

		if (nic->checkpoint == on)
			continue;
		if (on)
			fma_drain(nic);
		nic->checkpoint = on;
		nic->kept_fd = on ? nic->fd : nic->kept_fd;
		nic->fd = on ? -1 : nic->kept_fd;
	}
	return GNI_RC_SUCCESS;
}

} // namespace

gni_return_t GNI_SuspendJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie, uint32_t timeout)
{
	return suspend(device_id, 0, job_id, ptag, cookie, timeout);
}

gni_return_t GNI_ResumeJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie)
{
	return suspend(device_id, KGNI_SUSPEND_RESUME, job_id, ptag, cookie, 0);
}

gni_return_t GNI_CdmCheckpoint(gni_cdm_handle_t cdm_handle)
{
	return set_checkpoint(cdm_handle, true);
}

gni_return_t GNI_CdmResume(gni_cdm_handle_t cdm_handle)
{
	return set_checkpoint(cdm_handle, false);
}
