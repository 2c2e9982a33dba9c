// SPDX-License-Identifier: BSD-2-Clause
/* Communication domains. */
#include "debug.hpp"
#include "environment.hpp"
#include "objects.hpp"

#include <cstdlib>
#include <cstring>

using namespace ugni;

namespace ugni
{

constinit Slab<gni_cdm> cdms;

} // namespace ugni

namespace
{

constexpr uint32_t kKnownModes =
	GNI_CDM_MODE_FORK_NOCOPY | GNI_CDM_MODE_FORK_FULLCOPY | GNI_CDM_MODE_FORK_PARTCOPY | GNI_CDM_MODE_ERR_NO_KILL |
	GNI_CDM_MODE_ERR_ALL_KILL | GNI_CDM_MODE_FAST_DATAGRAM_POLL | GNI_CDM_MODE_BTE_SINGLE_CHANNEL |
	GNI_CDM_MODE_USE_PCI_IOMMU | GNI_CDM_MODE_MDD_DEDICATED | GNI_CDM_MODE_MDD_SHARED | GNI_CDM_MODE_DUAL_EVENTS |
	GNI_CDM_MODE_DLA_ENABLE_FORWARDING | GNI_CDM_MODE_DLA_DISABLE_FORWARDING | GNI_CDM_MODE_FMA_DEDICATED |
	GNI_CDM_MODE_FMA_SHARED | GNI_CDM_MODE_CACHED_AMO_ENABLED | GNI_CDM_MODE_CQ_NIC_LOCAL_PLACEMENT |
	GNI_CDM_MODE_FLBTE_DISABLE | GNI_CDM_MODE_FMA_SMALL_WINDOW;

/* Of each of these at most one bit may be set. */
constexpr uint32_t kChoices[] = {
	GNI_CDM_MODE_FORK_NOCOPY | GNI_CDM_MODE_FORK_FULLCOPY | GNI_CDM_MODE_FORK_PARTCOPY,
	GNI_CDM_MODE_ERR_NO_KILL | GNI_CDM_MODE_ERR_ALL_KILL,
	GNI_CDM_MODE_MDD_DEDICATED | GNI_CDM_MODE_MDD_SHARED,
	GNI_CDM_MODE_FMA_DEDICATED | GNI_CDM_MODE_FMA_SHARED,
	GNI_CDM_MODE_DLA_ENABLE_FORWARDING | GNI_CDM_MODE_DLA_DISABLE_FORWARDING,
};

gni_return_t check_modes(uint32_t modes, const char *call)
{
	if (modes & ~kKnownModes)
		return refuse(GNI_RC_INVALID_PARAM, call, "unknown mode bits 0x%x", modes & ~kKnownModes);
	for (uint32_t choice : kChoices) {
		if (std::popcount(modes & choice) > 1)
			return refuse(GNI_RC_INVALID_PARAM, call, "the modes 0x%x exclude each other", modes & choice);
	}
	return GNI_RC_SUCCESS;
}

/* libfabric's tests set UGNI_FMA_SHARED=0: descriptors are not shared then, whatever the program asks for. */
uint32_t modes_wanted(uint32_t modes)
{
	const char *shared = getenv(env::UGNI_FMA_SHARED); // NOLINT(concurrency-mt-unsafe)

	if (!(modes & GNI_CDM_MODE_FMA_SHARED) || !shared || strcmp(shared, "0") != 0)
		return modes;
	return (modes & ~uint32_t{GNI_CDM_MODE_FMA_SHARED}) | GNI_CDM_MODE_FMA_DEDICATED;
}

} // namespace

gni_return_t GNI_CdmCreate(uint32_t inst_id, uint8_t ptag, uint32_t cookie, uint32_t modes, gni_cdm_handle_t *cdm_hndl)
{
	debug_begin();
	if (!cdm_hndl || ptag == 0)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", cdm_hndl ? "ptag is 0" : kNull);
	gni_return_t rc = check_modes(modes, __func__);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	gni_cdm *cdm = cdms.create();
	if (!cdm)
		return refuse(GNI_RC_ERROR_NOMEM, __func__, "%s", kNoHandles);
	cdm->inst_id = inst_id;
	cdm->ptag = ptag;
	cdm->cookie = cookie;
	cdm->modes = modes_wanted(modes);
	*cdm_hndl = cdm;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_CdmDestroy(gni_cdm_handle_t cdm_hndl)
{
	if (!cdms.valid(cdm_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoDomain);
	const Locked lock(Subject::domain, cdm_hndl);
	if (!cdms.valid(cdm_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoDomain);
	cdms.retire(cdm_hndl);
	while (gni_nic *nic = cdm_hndl->nics.first())
		nic_close(nic);
	cdms.recycle(cdm_hndl);
	return GNI_RC_SUCCESS;
}
