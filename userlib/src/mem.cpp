// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Registration of memory. */
#include "debug.hpp"
#include "gni_memhandle.h"
#include "objects.hpp"
#include "polled.hpp"

#include <cinttypes>
#include <cstddef>
#include <cstdlib>

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
	const gni_return_t rc = GNI_RC_INVALID_PARAM;

	if (!nics.valid(nic) || !handle)
		return refuse(rc, name, "%s", handle ? kNoNic : kNull);
	if (cq && (!queues.valid(cq) || cq->nic != nic))
		return refuse(rc, name, "dst_cq_hndl is no queue of this NIC handle");
	if (cq && source_queue(cq))
		return refuse(rc, name, "dst_cq_hndl is for local and global events: endpoints or posts name it");
	if (flags & ~taken)
		return refuse(rc, name, "flags 0x%x are not available", flags & ~taken);
	return GNI_RC_SUCCESS;
}

constexpr uint32_t kVirtual = 4096; /* where virtual handles begin in the table of registrations */

/* Place of a handle in that table. */
uint32_t table_index(const gni_mem_handle_t &handle)
{
	return gni_hndl_mdh(&handle) + (gni_hndl_flags(&handle) & GNI_HNDL_VMDH ? kVirtual : 0);
}

/** A registration of the driver, before it is in the table and in a handle. */
struct Registered {
	gni_hndl handle;
	uint32_t mdh;
	uint64_t address;
	uint64_t length;
	uint64_t reserved; /* pages of a reserved region, else 0 */
	PageRange kept;    /* from children of fork() */
	Piece *pieces;     /* of a region of several */
};

uint64_t pages_of(uint32_t page_shift, uint64_t small)
{
	return page_shift > GNI_HNDL_ADDRESS_SHIFT ? small >> (page_shift - GNI_HNDL_ADDRESS_SHIFT) : small;
}

gni_return_t keep(gni_nic *nic, gni_cq *cq, const Registered &r, gni_mem_handle_t *handle, const char *call)
{
	const gni_mem_handle_t made = gni_hndl_encode(r.handle);
	Registration *place = nic->registrations.place(table_index(made));

	if (!place) {
		(void)kernel::mem_deregister(nic->fd, r.mdh, call);
		return refuse(GNI_RC_ERROR_NOMEM, call, "no memory for the table of registrations");
	}
	*handle = made;
	/* Without memory for the range a child gets a copy. */
	*place = {made, r.address, r.length, cq, r.mdh, r.reserved, fork_keep(r.kept) ? r.kept : PageRange{}, r.pieces};
	if (cq)
		cq->registrations++;
	return GNI_RC_SUCCESS;
}

constexpr const char *kNotIntact = "the memory handle is empty, or its check code is wrong";

/* Where the pages of a region are. Return: nullptr without memory. */
Piece *pieces_of(const gni_mem_segment_t *segments, uint32_t count)
{
	constexpr uint64_t kInPage = (uint64_t{1} << GNI_HNDL_ADDRESS_SHIFT) - 1;
	auto *pieces = static_cast<Piece *>(calloc(count + 1UL, sizeof(Piece)));

	for (uint32_t i = 0; pieces && i < count; i++) {
		const uint64_t start = segments[i].address & ~kInPage;

		pieces[i] = {start, ((segments[i].address + segments[i].length + kInPage) & ~kInPage) - start};
	}
	return pieces;
}

/* The registration that a caller's handle names. */
Registration *find(const gni_nic *nic, const gni_mem_handle_t &handle)
{
	Registration *r = gni_hndl_intact(&handle) ? nic->registrations.find(table_index(handle)) : nullptr;

	return r && r->handle.qword1 == handle.qword1 && r->handle.qword2 == handle.qword2 ? r : nullptr;
}

/* The entry leaves the table first: the driver may give the number to another thread's registration at once. */
gni_return_t end(const gni_nic *nic, Registration *r, const char *call)
{
	const Registration ended = *r;

	if (!nic->checkpoint)
		fma_drain(nic);
	*r = {};
	gni_return_t rc = nic->checkpoint ? GNI_RC_SUCCESS : kernel::mem_deregister(nic->fd, ended.mdh, call);
	if (rc != GNI_RC_SUCCESS) {
		*r = ended;
		return rc;
	}
	fork_share(ended.kept);
	free(ended.pieces);
	if (ended.cq)
		cq_forget_registration(ended.cq);
	return GNI_RC_SUCCESS;
}

/* A NIC handle of this process, with the tag of @nic, for which @has is true; nullptr if there is none. */
template <typename F> gni_nic *nic_with(const gni_nic *nic, F has)
{
	gni_nic *found = nullptr;

	nics.visit([&](gni_nic *n) {
		if (n->address != nic->address || n->ptag != nic->ptag || !has(n))
			return false;
		found = n;
		return true;
	});
	return found;
}

/*
 * Memory registered with another NIC handle of this process and tag. UCX counts
 * on it: each opening of its memory domain makes a new handle, and the memory
 * of earlier ones is deregistered with the newest.
 */
gni_return_t end_elsewhere(const gni_nic *nic, const gni_mem_handle_t &handle, const char *call)
{
	gni_nic *const other = nic_with(nic, [&](const gni_nic *n) { return n != nic && find(n, handle); });

	if (!other)
		return refuse(GNI_RC_INVALID_PARAM, call, "no memory is registered under this handle");
	const Locked lock(Subject::control, other);
	Registration *r = nics.valid(other) ? find(other, handle) : nullptr;
	return r ? end(other, r, call) : refuse(GNI_RC_INVALID_PARAM, call, "another thread has deregistered it");
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

/* Logged, because the memory handle is valid: UCX deregisters by the handles of domains that it has destroyed. */
gni_return_t no_nic(const char *name, const gni_nic *nic)
{
	return refuse(GNI_RC_INVALID_PARAM, name, "%p is no NIC handle, or its domain is destroyed",
		      static_cast<const void *>(nic));
}

/* The handle of a reserved region tells no pages until it is live. */
gni_return_t update(const gni_nic *nic, uint64_t address, uint64_t length, const gni_cq *cq, uint32_t flags,
		    gni_mem_handle_t *handle, const char *call)
{
	Registration *r = find(nic, *handle);

	if (!r || !r->pages)
		return refuse(GNI_RC_INVALID_PARAM, call, "an update of what is no reserved region");
	if (cq && cq != r->cq)
		return refuse(GNI_RC_INVALID_PARAM, call, "an update names another queue than the reservation");
	gni_hndl m = gni_hndl_decode(&r->handle);
	if ((flags & GNI_MEM_READ_ONLY) && !(m.flags & GNI_HNDL_READ_ONLY))
		return refuse(GNI_RC_INVALID_PARAM, call, "a read-only update of a region that is not");
	kgni_mem_update arg{};
	arg.mdh = r->mdh;
	arg.address = address;
	arg.length = length;
	gni_return_t rc = kernel::mem_update(nic->fd, &arg, call);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	m.pages = r->pages;
	r->handle = gni_hndl_encode(m);
	*handle = r->handle;
	return GNI_RC_SUCCESS;
}

} // namespace

uint64_t ugni::mem_virtual_address(const gni_nic *nic, const gni_mem_handle_t &h, uint64_t address)
{
	const uint64_t origin = gni_hndl_decode(&h).address;

	/* The handle of a region in one piece carries its virtual address. */
	if (origin)
		return address;
	const uint32_t place = table_index(h);
	gni_nic *const owner = nic_with(nic, [&](const gni_nic *n) { return n->registrations.find(place) != nullptr; });
	if (!owner)
		return 0;
	const Locked lock(Subject::control, owner);
	const Registration *r = nics.valid(owner) ? owner->registrations.find(place) : nullptr;
	return r ? RegistrationTable::address_at(*r, address) : 0;
}

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
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoNic);
	const bool reserve = flags & GNI_MEM_RESERVE_REGION;
	if (length == 0)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "a length of 0");
	if (reserve && (flags & GNI_MEM_UPDATE_REGION))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "a region is reserved or updated, not both");
	if (flags & GNI_MEM_UPDATE_REGION)
		return update(nic_hndl, address, length, dst_cq_hndl, flags, mem_hndl, __func__);

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
		     .kept = reserve ? PageRange{} : fork_range(nic_hndl->modes, address, length),
		     .pieces = nullptr};
	r.handle.address = arg.base;
	r.handle.pages = reserve ? 0 : pages_of(arg.page_shift, arg.pages);
	r.handle.mdh = is_virtual ? arg.vmdh : arg.mdh;
	r.handle.page_shift = static_cast<uint8_t>(arg.page_shift);
	r.handle.flags = static_cast<uint8_t>((flags & GNI_MEM_READ_ONLY ? GNI_HNDL_READ_ONLY : 0) |
					      (is_virtual ? GNI_HNDL_VMDH : 0));
	return keep(nic_hndl, dst_cq_hndl, r, mem_hndl, __func__);
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
		return refuse(GNI_RC_INVALID_PARAM, __func__, "no segments");
	const Locked lock(Subject::control, nic_hndl);
	if (!nics.valid(nic_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoNic);

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
		     .length = arg.pages << GNI_HNDL_ADDRESS_SHIFT,
		     .reserved = 0,
		     .kept = {},
		     .pieces = pieces_of(mem_segments, segments_cnt)};
	if (!r.pieces) {
		(void)kernel::mem_deregister(nic_hndl->fd, arg.mdh);
		return refuse(GNI_RC_ERROR_NOMEM, __func__, "no memory for the list of segments");
	}
	r.handle.pages = pages_of(arg.page_shift, arg.pages);
	r.handle.mdh = is_virtual ? arg.vmdh : arg.mdh;
	r.handle.page_shift = static_cast<uint8_t>(arg.page_shift);
	r.handle.flags = static_cast<uint8_t>((flags & GNI_MEM_READ_ONLY ? GNI_HNDL_READ_ONLY : 0) |
					      (is_virtual ? GNI_HNDL_VMDH : 0));
	rc = keep(nic_hndl, dst_cq_hndl, r, mem_hndl, __func__);
	if (rc != GNI_RC_SUCCESS)
		free(r.pieces);
	return rc;
}

gni_return_t GNI_MemDeregister(gni_nic_handle_t nic_hndl, gni_mem_handle_t *mem_hndl)
{
	if (!nics.valid(nic_hndl))
		return no_nic("GNI_MemDeregister", nic_hndl);
	if (!mem_hndl)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	{
		const Locked lock(Subject::control, nic_hndl);
		if (!nics.valid(nic_hndl))
			return no_nic("GNI_MemDeregister", nic_hndl);
		Registration *r = find(nic_hndl, *mem_hndl);
		if (r)
			return end(nic_hndl, r, __func__);
	}
	return end_elsewhere(nic_hndl, *mem_hndl, __func__);
}

gni_return_t GNI_MemHndlQueryAttr(gni_mem_handle_t *mem_hndl, gni_mem_handle_attr_t attr, int *yesno)
{
	if (!mem_hndl || !yesno || !gni_hndl_intact(mem_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", mem_hndl && yesno ? kNotIntact : kNull);
	if (attr < GNI_MEMHNDL_ATTR_READONLY || attr > GNI_MEMHNDL_ATTR_CLONE)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "no attribute %d", attr);
	/* Attribute n is flag bit n - 1. */
	*yesno = gni_hndl_flags(mem_hndl) >> (attr - GNI_MEMHNDL_ATTR_READONLY) & 1;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_RebuildMemHndl(gni_mem_handle_t *src_mem_hndl, uint32_t vmdh_index, gni_mem_handle_t *dst_mem_hndl)
{
	if (!src_mem_hndl || !dst_mem_hndl || !gni_hndl_intact(src_mem_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", src_mem_hndl && dst_mem_hndl ? kNotIntact : kNull);
	if (vmdh_index > 0xfff)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "index %u has more than 12 bits", vmdh_index);
	gni_hndl m = gni_hndl_decode(src_mem_hndl);
	if (!(m.flags & GNI_HNDL_VMDH))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "the handle is not virtual");
	if (m.pages == 0)
		return refuse(GNI_RC_INVALID_STATE, __func__, "the region has not been updated yet");
	m.mdh = vmdh_index;
	m.flags &= static_cast<uint8_t>(~GNI_HNDL_SECOND_FORMAT);
	*dst_mem_hndl = gni_hndl_encode(m);
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_MemQueryHndls(gni_nic_handle_t nic_hndl, int fd, gni_mem_handle_t *mem_hndl, uint64_t *address,
			       uint64_t *length)
{
	if (address)
		*address = 0;
	if (length)
		*length = 0;
	if (!mem_hndl || !address || !length)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	if (nic_hndl && fd >= 0)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "a NIC handle or a file, not both");
	const gni_nic *const nic = fd >= 0 ? nic_of_file(fd) : nic_hndl;
	/* The lock keeps other threads from freeing registrations while the table is searched. */
	const Locked lock(Subject::control, nic);
	if (!nics.valid(nic))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s",
			      fd >= 0 ? "no NIC handle of this process has the file open" : kNoNic);

	uint32_t from = 0;
	if (!gni_hndl_none(mem_hndl)) {
		if (!find(nic, *mem_hndl))
			return refuse(GNI_RC_INVALID_STATE, __func__,
				      "the handle to go on from is not registered here");
		from = table_index(*mem_hndl) + 1U;
	}
	const Registration *r = nic->registrations.next(from);
	if (!r)
		return nothing(GNI_RC_NO_MATCH);
	*mem_hndl = r->handle;
	*address = r->address;
	*length = r->length;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_SetMddResources(gni_nic_handle_t nic_hndl, uint32_t num_entries)
{
	if (!nics.valid(nic_hndl) || num_entries == 0)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", num_entries ? kNoNic : "no entries");
	return kernel::mdd_block(nic_hndl->fd, num_entries);
}
