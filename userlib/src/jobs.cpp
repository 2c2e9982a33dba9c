// SPDX-License-Identifier: BSD-2-Clause
/* Jobs that stop for a while: suspend and resume by a launcher, checkpoints by the process itself. */
#include "debug.hpp"
#include "objects.hpp"

using namespace ugni;

namespace
{

gni_return_t suspend(uint32_t device, uint32_t flags, uint64_t job_id, uint8_t ptag, uint32_t cookie, uint32_t timeout)
{
	kgni_suspend arg{};
	int fd = -1;

	if (ptag == 0)
		return GNI_RC_INVALID_PARAM;
	arg.flags = flags;
	arg.job_id = job_id;
	arg.cookie = cookie;
	arg.ptag = ptag;
	arg.timeout_ms = timeout;
	gni_return_t rc = kernel::open_device(device, &fd);
	if (rc == GNI_RC_NO_MATCH)
		return GNI_RC_INVALID_PARAM;
	if (rc != GNI_RC_SUCCESS && rc != GNI_RC_PERMISSION_ERROR)
		return flags & KGNI_SUSPEND_RESUME ? GNI_RC_INVALID_PARAM : GNI_RC_ERROR_RESOURCE;
	if (rc != GNI_RC_SUCCESS)
		return rc;
	rc = kernel::suspend(fd, &arg);
	sys::close_device(fd);
	return rc;
}

gni_return_t set_checkpoint(gni_cdm *cdm, bool on)
{
	if (!cdms.valid(cdm))
		return GNI_RC_INVALID_PARAM;
	for (gni_nic *nic = cdm->nics.first(); nic; nic = nic->next) {
		if (nic->checkpoint == on)
			continue;
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
