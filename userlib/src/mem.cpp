// SPDX-License-Identifier: BSD-2-Clause
/* Registration of memory. */
#include "debug.hpp"
#include "memhandle.hpp"
#include "objects.hpp"

using namespace ugni;

namespace
{

/* Ordering and pool flags are taken and change nothing: this NIC orders all, and has one pool. */
constexpr uint32_t kTakenFlags = GNI_MEM_READ_ONLY | GNI_MEM_STRICT_PI_ORDERING | GNI_MEM_RELAXED_PI_ORDERING |
				 GNI_MEM_PI_FLUSH | GNI_MEM_MDD_SHARED | GNI_MEM_MDD_DEDICATED;

} // namespace

gni_return_t GNI_MemRegister(gni_nic_handle_t nic_hndl, uint64_t address, uint64_t length, gni_cq_handle_t dst_cq_hndl,
			     uint32_t flags, uint32_t vmdh_index, gni_mem_handle_t *mem_hndl)
{
	(void)vmdh_index;
	if (!nics.valid(nic_hndl) || !mem_hndl || length == 0)
		return GNI_RC_INVALID_PARAM;
	if (dst_cq_hndl && (!queues.valid(dst_cq_hndl) || dst_cq_hndl->nic != nic_hndl))
		return GNI_RC_INVALID_PARAM;
	if (flags & ~kTakenFlags) {
		debug("GNI_MemRegister: flags 0x%x are not available", flags & ~kTakenFlags);
		return GNI_RC_INVALID_PARAM;
	}

	kgni_mem_register arg{};
	arg.flags = flags & GNI_MEM_READ_ONLY ? KGNI_MEM_READ_ONLY : 0;
	arg.address = address;
	arg.length = length;
	arg.cq = dst_cq_hndl ? dst_cq_hndl->number : KGNI_NO_CQ;
	gni_return_t rc = kernel::mem_register(nic_hndl->fd, &arg);
	if (rc != GNI_RC_SUCCESS)
		return rc;

	Registration *place = nic_hndl->registrations.place(arg.mdh);
	if (!place) {
		(void)kernel::mem_deregister(nic_hndl->fd, arg.mdh);
		return GNI_RC_ERROR_NOMEM;
	}
	MemHandle m{};
	m.address = arg.base;
	m.pages = arg.page_shift > kPageShift ? arg.pages >> (arg.page_shift - kPageShift) : arg.pages;
	m.mdh = arg.mdh;
	m.page_shift = static_cast<uint8_t>(arg.page_shift);
	m.flags = flags & GNI_MEM_READ_ONLY ? kMemReadOnly : 0;
	*mem_hndl = mem_encode(m);
	*place = {*mem_hndl, address, length, dst_cq_hndl};
	if (dst_cq_hndl)
		dst_cq_hndl->registrations++;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_MemDeregister(gni_nic_handle_t nic_hndl, gni_mem_handle_t *mem_hndl)
{
	if (!nics.valid(nic_hndl) || !mem_hndl || !mem_intact(*mem_hndl))
		return GNI_RC_INVALID_PARAM;
	Registration *r = nic_hndl->registrations.find(mem_mdh(*mem_hndl));
	if (!r || r->handle.qword1 != mem_hndl->qword1 || r->handle.qword2 != mem_hndl->qword2)
		return GNI_RC_INVALID_PARAM;

	gni_return_t rc = kernel::mem_deregister(nic_hndl->fd, mem_mdh(*mem_hndl));
	if (rc != GNI_RC_SUCCESS)
		return rc;
	gni_cq *cq = r->cq;
	*r = {};
	if (cq)
		cq_forget_registration(cq);
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_MemHndlQueryAttr(gni_mem_handle_t *mem_hndl, gni_mem_handle_attr_t attr, int *yesno)
{
	if (!mem_hndl || !yesno || !mem_intact(*mem_hndl))
		return GNI_RC_INVALID_PARAM;
	if (attr < GNI_MEMHNDL_ATTR_READONLY || attr > GNI_MEMHNDL_ATTR_CLONE)
		return GNI_RC_INVALID_PARAM;
	/* Attribute n is flag bit n - 1. */
	*yesno = mem_flags(*mem_hndl) >> (attr - GNI_MEMHNDL_ATTR_READONLY) & 1;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_RebuildMemHndl(gni_mem_handle_t *src_mem_hndl, uint32_t vmdh_index, gni_mem_handle_t *dst_mem_hndl)
{
	if (!src_mem_hndl || !dst_mem_hndl || !mem_intact(*src_mem_hndl) || vmdh_index > 0xfff)
		return GNI_RC_INVALID_PARAM;
	MemHandle m = mem_decode(*src_mem_hndl);
	if (!(m.flags & kMemVmdh))
		return GNI_RC_INVALID_PARAM;
	if (m.pages == 0)
		return GNI_RC_INVALID_STATE;
	m.mdh = vmdh_index;
	m.flags &= static_cast<uint8_t>(~kMemSecondFormat);
	*dst_mem_hndl = mem_encode(m);
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_MemQueryHndls(gni_nic_handle_t nic_hndl, int fd, gni_mem_handle_t *mem_hndl, uint64_t *address,
			       uint64_t *length)
{
	if (address)
		*address = 0;
	if (length)
		*length = 0;
	if (!nics.valid(nic_hndl) || fd >= 0 || !mem_hndl || !address || !length)
		return GNI_RC_INVALID_PARAM;

	uint32_t from = 0;
	if (!mem_none(*mem_hndl)) {
		const Registration *r = nic_hndl->registrations.find(mem_mdh(*mem_hndl));
		if (!r || r->handle.qword1 != mem_hndl->qword1 || r->handle.qword2 != mem_hndl->qword2)
			return GNI_RC_INVALID_STATE;
		from = mem_mdh(*mem_hndl) + 1U;
	}
	const Registration *r = nic_hndl->registrations.next(from);
	if (!r)
		return GNI_RC_NO_MATCH;
	*mem_hndl = r->handle;
	*address = r->address;
	*length = r->length;
	return GNI_RC_SUCCESS;
}
