// SPDX-License-Identifier: BSD-2-Clause
/* Registration of memory. */
#include "debug.hpp"
#include "memhandle.hpp"
#include "objects.hpp"

#include <cstddef>

using namespace ugni;

namespace
{

/* Ordering and pool flags are taken and change nothing: this NIC orders all, and has one pool. */
constexpr uint32_t kHintFlags = GNI_MEM_STRICT_PI_ORDERING | GNI_MEM_RELAXED_PI_ORDERING | GNI_MEM_PI_FLUSH |
				GNI_MEM_MDD_SHARED | GNI_MEM_MDD_DEDICATED;
constexpr uint32_t kTakenFlags = GNI_MEM_READ_ONLY | kHintFlags;

/* Checks that all registrations share. */
gni_return_t check(const char *name, const gni_nic *nic, const gni_cq *cq, uint32_t flags, uint32_t taken,
		   const gni_mem_handle_t *handle)
{
	if (!nics.valid(nic) || !handle)
		return GNI_RC_INVALID_PARAM;
	if (cq && (!queues.valid(cq) || cq->nic != nic))
		return GNI_RC_INVALID_PARAM;
	if (flags & ~taken) {
		debug("%s: flags 0x%x are not available", name, flags & ~taken);
		return GNI_RC_INVALID_PARAM;
	}
	return GNI_RC_SUCCESS;
}

constexpr uint32_t kVirtual = 4096; /* where virtual handles begin in the table of registrations */

/* Place of a handle in that table. */
uint32_t table_index(const gni_mem_handle_t &handle)
{
	return mem_mdh(handle) + (mem_flags(handle) & kMemVmdh ? kVirtual : 0);
}

/** What the driver has registered, on its way into the table and into a handle. */
struct Registered {
	MemHandle handle;
	uint32_t mdh;
	uint64_t address;
	uint64_t length;
	uint64_t reserved; /* pages of a reserved region, else 0 */
	PageRange kept;    /* from children of fork() */
};

uint64_t pages_of(uint32_t page_shift, uint64_t small)
{
	return page_shift > kPageShift ? small >> (page_shift - kPageShift) : small;
}

gni_return_t keep(gni_nic *nic, gni_cq *cq, const Registered &r, gni_mem_handle_t *handle)
{
	const gni_mem_handle_t made = mem_encode(r.handle);
	Registration *place = nic->registrations.place(table_index(made));

	if (!place) {
		(void)kernel::mem_deregister(nic->fd, r.mdh);
		return GNI_RC_ERROR_NOMEM;
	}
	*handle = made;
	/* Without memory for the range a child gets a copy. */
	*place = {made, r.address, r.length, cq, r.mdh, r.reserved, fork_keep(r.kept) ? r.kept : PageRange{}};
	if (cq)
		cq->registrations++;
	return GNI_RC_SUCCESS;
}

/* The registration that a caller's handle names. */
Registration *find(const gni_nic *nic, const gni_mem_handle_t &handle)
{
	Registration *r = mem_intact(handle) ? nic->registrations.find(table_index(handle)) : nullptr;

	return r && r->handle.qword1 == handle.qword1 && r->handle.qword2 == handle.qword2 ? r : nullptr;
}

/* It leaves the table first: the driver may give its number to another thread's registration at once. */
gni_return_t end(const gni_nic *nic, Registration *r)
{
	const Registration ended = *r;

	*r = {};
	gni_return_t rc = nic->checkpoint ? GNI_RC_SUCCESS : kernel::mem_deregister(nic->fd, ended.mdh);
	if (rc != GNI_RC_SUCCESS) {
		*r = ended;
		return rc;
	}
	fork_share(ended.kept);
	if (ended.cq)
		cq_forget_registration(ended.cq);
	return GNI_RC_SUCCESS;
}

/*
 * Memory registered with another NIC handle of this process and tag. UCX counts
 * on it: each opening of its memory domain makes a new handle, and the memory
 * of earlier ones is deregistered with the newest.
 */
gni_return_t end_elsewhere(const gni_nic *nic, const gni_mem_handle_t &handle)
{
	gni_nic *other = nullptr;

	nics.visit([&](gni_nic *n) {
		if (n == nic || n->address != nic->address || n->ptag != nic->ptag || !find(n, handle))
			return false;
		other = n;
		return true;
	});
	if (!other)
		return GNI_RC_INVALID_PARAM;
	const Locked lock(Subject::control, other);
	Registration *r = nics.valid(other) ? find(other, handle) : nullptr;
	return r ? end(other, r) : GNI_RC_INVALID_PARAM;
}

/* The NIC handle that has @fd open, nullptr if none has. */
gni_nic *nic_of_file(int fd)
{
	gni_nic *found = nullptr;

	nics.visit([&](gni_nic *n) {
		if ((n->checkpoint ? n->kept_fd : n->fd) != fd)
			return false;
		found = n;
		return true;
	});
	return found;
}

/* Said, for it is not the memory handle that is bad: UCX deregisters through domains that it has destroyed. */
gni_return_t no_nic(const char *name, const gni_nic *nic)
{
	debug("%s: %p is no NIC handle, or its domain is destroyed", name, static_cast<const void *>(nic));
	return GNI_RC_INVALID_PARAM;
}

/* The handle of a reserved region tells no pages until it is live. */
gni_return_t update(const gni_nic *nic, uint64_t address, uint64_t length, const gni_cq *cq, uint32_t flags,
		    gni_mem_handle_t *handle)
{
	Registration *r = find(nic, *handle);

	if (!r || !r->pages || (cq && cq != r->cq))
		return GNI_RC_INVALID_PARAM;
	MemHandle m = mem_decode(r->handle);
	if ((flags & GNI_MEM_READ_ONLY) && !(m.flags & kMemReadOnly))
		return GNI_RC_INVALID_PARAM;
	kgni_mem_update arg{};
	arg.mdh = r->mdh;
	arg.address = address;
	arg.length = length;
	gni_return_t rc = kernel::mem_update(nic->fd, &arg);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	m.pages = r->pages;
	r->handle = mem_encode(m);
	*handle = r->handle;
	return GNI_RC_SUCCESS;
}

} // namespace

gni_return_t GNI_MemRegister(gni_nic_handle_t nic_hndl, uint64_t address, uint64_t length, gni_cq_handle_t dst_cq_hndl,
			     uint32_t flags, uint32_t vmdh_index, gni_mem_handle_t *mem_hndl)
{
	gni_return_t rc =
		check("GNI_MemRegister", nic_hndl, dst_cq_hndl, flags,
		      kTakenFlags | GNI_MEM_RESERVE_REGION | GNI_MEM_UPDATE_REGION | GNI_MEM_USE_VMDH, mem_hndl);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	const Locked lock(Subject::control, nic_hndl);
	if (!nics.valid(nic_hndl))
		return GNI_RC_INVALID_PARAM;
	const bool reserve = flags & GNI_MEM_RESERVE_REGION;
	if (length == 0 || (reserve && (flags & GNI_MEM_UPDATE_REGION)))
		return GNI_RC_INVALID_PARAM;
	if (flags & GNI_MEM_UPDATE_REGION)
		return update(nic_hndl, address, length, dst_cq_hndl, flags, mem_hndl);

	const bool is_virtual = flags & GNI_MEM_USE_VMDH;
	kgni_mem_register arg{};
	arg.vmdh = is_virtual ? vmdh_index : 0;
	arg.flags = (is_virtual ? KGNI_MEM_VMDH : 0) | (flags & GNI_MEM_READ_ONLY ? KGNI_MEM_READ_ONLY : 0) |
		    (reserve ? KGNI_MEM_RESERVE : 0);
	arg.address = address;
	arg.length = length;
	arg.cq = dst_cq_hndl ? dst_cq_hndl->number : KGNI_NO_CQ;
	rc = kernel::mem_register(nic_hndl->fd, &arg);
	if (rc != GNI_RC_SUCCESS)
		return rc;

	Registered r{.handle = {},
		     .mdh = arg.mdh,
		     .address = address,
		     .length = length,
		     .reserved = reserve ? arg.pages : 0,
		     .kept = reserve ? PageRange{} : fork_range(nic_hndl->modes, address, length)};
	r.handle.address = arg.base;
	r.handle.pages = reserve ? 0 : pages_of(arg.page_shift, arg.pages);
	r.handle.mdh = is_virtual ? arg.vmdh : arg.mdh;
	r.handle.page_shift = static_cast<uint8_t>(arg.page_shift);
	r.handle.flags =
		static_cast<uint8_t>((flags & GNI_MEM_READ_ONLY ? kMemReadOnly : 0) | (is_virtual ? kMemVmdh : 0));
	return keep(nic_hndl, dst_cq_hndl, r, mem_hndl);
}

gni_return_t GNI_MemRegisterSegments(gni_nic_handle_t nic_hndl, gni_mem_segment_t *mem_segments, uint32_t segments_cnt,
				     gni_cq_handle_t dst_cq_hndl, uint32_t flags, uint32_t vmdh_index,
				     gni_mem_handle_t *mem_hndl)
{
	gni_return_t rc = check("GNI_MemRegisterSegments", nic_hndl, dst_cq_hndl, flags, kTakenFlags | GNI_MEM_USE_VMDH,
				mem_hndl);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	if (!mem_segments || segments_cnt == 0)
		return GNI_RC_INVALID_PARAM;
	const Locked lock(Subject::control, nic_hndl);
	if (!nics.valid(nic_hndl))
		return GNI_RC_INVALID_PARAM;

	/* The caller's structure is the kernel's. */
	static_assert(sizeof(gni_mem_segment_t) == sizeof(kgni_mem_segment) &&
		      offsetof(gni_mem_segment_t, length) == offsetof(kgni_mem_segment, length));
	const bool is_virtual = flags & GNI_MEM_USE_VMDH;
	kgni_mem_segments arg{};
	arg.vmdh = is_virtual ? vmdh_index : 0;
	arg.flags = (is_virtual ? KGNI_MEM_VMDH : 0) | (flags & GNI_MEM_READ_ONLY ? KGNI_MEM_READ_ONLY : 0);
	arg.segments = reinterpret_cast<uintptr_t>(mem_segments);
	arg.count = segments_cnt;
	arg.cq = dst_cq_hndl ? dst_cq_hndl->number : KGNI_NO_CQ;
	rc = kernel::mem_segments(nic_hndl->fd, &arg);
	if (rc != GNI_RC_SUCCESS)
		return rc;

	Registered r{.handle = {},
		     .mdh = arg.mdh,
		     .address = 0,
		     .length = arg.pages << kPageShift,
		     .reserved = 0,
		     .kept = {}};
	r.handle.pages = pages_of(arg.page_shift, arg.pages);
	r.handle.mdh = is_virtual ? arg.vmdh : arg.mdh;
	r.handle.page_shift = static_cast<uint8_t>(arg.page_shift);
	r.handle.flags =
		static_cast<uint8_t>((flags & GNI_MEM_READ_ONLY ? kMemReadOnly : 0) | (is_virtual ? kMemVmdh : 0));
	return keep(nic_hndl, dst_cq_hndl, r, mem_hndl);
}

gni_return_t GNI_MemDeregister(gni_nic_handle_t nic_hndl, gni_mem_handle_t *mem_hndl)
{
	if (!nics.valid(nic_hndl))
		return no_nic("GNI_MemDeregister", nic_hndl);
	if (!mem_hndl)
		return GNI_RC_INVALID_PARAM;
	{
		const Locked lock(Subject::control, nic_hndl);
		if (!nics.valid(nic_hndl))
			return no_nic("GNI_MemDeregister", nic_hndl);
		Registration *r = find(nic_hndl, *mem_hndl);
		if (r)
			return end(nic_hndl, r);
	}
	return end_elsewhere(nic_hndl, *mem_hndl);
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
	if (!mem_hndl || !address || !length || (nic_hndl && fd >= 0))
		return GNI_RC_INVALID_PARAM;
	const gni_nic *const nic = fd >= 0 ? nic_of_file(fd) : nic_hndl;
	if (!nics.valid(nic))
		return GNI_RC_INVALID_PARAM;

	uint32_t from = 0;
	if (!mem_none(*mem_hndl)) {
		if (!find(nic, *mem_hndl))
			return GNI_RC_INVALID_STATE;
		from = table_index(*mem_hndl) + 1U;
	}
	const Registration *r = nic->registrations.next(from);
	if (!r)
		return GNI_RC_NO_MATCH;
	*mem_hndl = r->handle;
	*address = r->address;
	*length = r->length;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_SetMddResources(gni_nic_handle_t nic_hndl, uint32_t num_entries)
{
	if (!nics.valid(nic_hndl) || num_entries == 0)
		return GNI_RC_INVALID_PARAM;
	return kernel::mdd_block(nic_hndl->fd, num_entries);
}
