// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file How an instance begins and ends, and what it knows of memory. */
#include "instance.hpp"
#include "codes.hpp"
#include "debug.hpp"
#include "gni_memhandle.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace dmapp
{

constinit thread_local OwnWays own_ways{};

namespace
{

/* Events that are not read yet: block transfers of a NIC handle are fewer, and there is one fence. */
constexpr uint32_t kEvents = 1024;
constexpr size_t kBounceBytes = size_t{64} << 10;
/* With what other PEs read, and where collectives end. */
constexpr size_t kOwnBytes = kBounceBytes + ((sizeof(Shared) + 4095) & ~size_t{4095});
/* Instances of GNI that a program makes itself have the numbers of ranks. */
constexpr uint32_t kFirstInstance = 0xd00000;

uint64_t address_of(const void *p)
{
	return reinterpret_cast<uintptr_t>(p);
}

void *pointer_to(uint64_t address)
{
	return reinterpret_cast<void *>(address); // NOLINT(performance-no-int-to-ptr)
}

bool within(const Region &r, uint64_t address, uint64_t bytes)
{
	return bytes <= r.bytes && address - r.base <= r.bytes - bytes;
}

/* A PE without memory comes to the meetings all the same. */
template <typename F> dmapp_return_t with_memory(F &&f)
try {
	return f();
} catch (const std::bad_alloc &) {
	return DMAPP_RC_NO_SPACE;
}

} // namespace

dmapp_return_t Instance::add_region(void *start, uint64_t bytes, Region *region)
{
	gni_mem_handle_t handle{};
	const gni_return_t rc =
		GNI_MemRegister(nic_, address_of(start), bytes, nullptr, GNI_MEM_READWRITE, UINT32_MAX, &handle);

	if (rc == GNI_RC_SUCCESS) {
		/* In handles of other formats name_of() would read something else. */
		if (gni_hndl_flags(&handle) & (GNI_HNDL_SECOND_FORMAT | GNI_HNDL_VMDH)) {
			(void)GNI_MemDeregister(nic_, &handle);
			return DMAPP_RC_NOT_SUPPORTED;
		}
		*region = {address_of(start), bytes, handle};
	} else
		debug("%zu bytes at %p are not registered: %s", static_cast<size_t>(bytes), start, gni_err_str[rc]);
	return code_of(rc);
}

dmapp_return_t Instance::attach()
{
	uint32_t address = 0;
	gni_return_t rc = GNI_CdmCreate(kFirstInstance + static_cast<uint32_t>(job_.pe), GNI_FIND_ALLOC_PTAG,
					job_.cookie, GNI_CDM_MODE_FORK_FULLCOPY, &cdm_);

	if (rc == GNI_RC_SUCCESS)
		rc = GNI_CdmAttach(cdm_, job_.device, &address, &nic_);
	if (rc == GNI_RC_SUCCESS)
		rc = GNI_CqCreate(nic_, kEvents, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &cq_);
	if (rc != GNI_RC_SUCCESS) {
		debug("PE %d is not attached to NIC %u: %s", job_.pe, job_.device, gni_err_str[rc]);
		return code_of(rc);
	}
	mine_.address = address;
	mine_.instance = kFirstInstance + static_cast<uint32_t>(job_.pe);
	bounce_ = static_cast<char *>(place::pages(kOwnBytes));
	if (!bounce_)
		return DMAPP_RC_NO_SPACE;
	shared_ = reinterpret_cast<Shared *>(bounce_ + kBounceBytes);
	dmapp_return_t done = add_region(bounce_, kOwnBytes, &mine_.own);
	const place::Range data = place::data_segment();
	if (done == DMAPP_RC_SUCCESS && data.bytes)
		done = add_region(data.start, data.bytes, &mine_.data);
	return done;
}

/* All that may fail on this PE alone. */
dmapp_return_t Instance::prepare(const Attributes &wanted)
{
	static uint64_t instances;

	if (!attributes_sound(wanted))
		return DMAPP_RC_INVALID_PARAM;
	const dmapp_return_t rc = attach();
	if (rc != DMAPP_RC_SUCCESS)
		return rc;
	attributes_ = wanted;
	ways_ = ways_of(wanted);
	serial_ = ++instances;
	locks.open(Locks::limit_of(getenv("DMAPP_MAX_LOCKS"))); // NOLINT(concurrency-mt-unsafe)
	ids_.resize(wanted.max_outstanding_nb);
	for (uint32_t n = wanted.max_outstanding_nb; n > 0; n--)
		id_give(&ids_[n - 1]);
	endpoints_.resize(cards_.size());
	cards_[static_cast<size_t>(job_.pe)] = mine_;
	return endpoint(job_.pe) ? DMAPP_RC_SUCCESS : DMAPP_RC_RESOURCE_ERROR;
}

dmapp_return_t Instance::open_heap(void *heap, size_t bytes)
{
	if (!heap)
		return bytes ? DMAPP_RC_NO_SPACE : DMAPP_RC_INVALID_PARAM;
	heap_.open(heap, bytes);
	return nic_ ? add_region(heap, bytes, &mine_.heap) : DMAPP_RC_SUCCESS;
}

/* All PEs come to both meetings, whatever has failed: nobody waits for those that have given up. */
dmapp_return_t Instance::open(const Attributes &wanted)
{
	joined_ = place::open(&job_);
	if (!joined_)
		return DMAPP_RC_RESOURCE_ERROR;
	cards_.resize(static_cast<size_t>(job_.npes));
	dmapp_return_t rc = with_memory([&] { return prepare(wanted); });
	const size_t bytes = Heap::bytes_of(getenv("XT_SYMMETRIC_HEAP_SIZE")); // NOLINT(concurrency-mt-unsafe)
	void *heap = place::heap_map(bytes);
	const dmapp_return_t opened = with_memory([&] { return open_heap(heap, bytes); });
	if (rc == DMAPP_RC_SUCCESS)
		rc = opened;
	mine_.code = static_cast<uint32_t>(rc);
	if (!place::allgather(&mine_, cards_.data(), sizeof(mine_)))
		return DMAPP_RC_RESOURCE_ERROR;
	for (const Card &card : cards_) {
		if (rc == DMAPP_RC_SUCCESS)
			rc = static_cast<dmapp_return_t>(card.code);
	}
	return rc;
}

Instance::~Instance()
{
	helper_end();
	if (cdm_)
		(void)GNI_CdmDestroy(cdm_);
	if (heap_.start())
		place::heap_unmap(heap_.start(), heap_.bytes());
	if (bounce_)
		place::pages_end(bounce_, kOwnBytes);
	if (joined_)
		place::close();
}

dmapp_seg_desc_t Instance::describe(const Region &r, Kind kind) const
{
	dmapp_seg_desc_t seg{};

	seg.addr = pointer_to(r.base);
	seg.len = r.bytes;
	seg.key[0] = r.handle.qword1;
	seg.key[1] = r.handle.qword2;
	seg.key[2] = r.base;
	seg.key[3] = r.bytes;
	seg.key[4] = uint64_t{mark_of(kind)} << 32 | static_cast<uint32_t>(job_.pe);
	return seg;
}

void Instance::job(dmapp_jobinfo_t *info) const
{
	*info = {};
	info->version = 7; /* the release whose functions these are */
	info->hw_version = GNI_DEVICE_ARIES;
	info->npes = job_.npes;
	info->pe = job_.pe;
	info->data_seg = describe(mine_.data, Kind::data);
	info->sheap_seg = describe(mine_.heap, Kind::heap);
}

dmapp_return_t Instance::register_memory(void *address, uint64_t bytes, dmapp_seg_desc_t *seg)
{
	if (!address || !bytes || !seg || address_of(address) + bytes < bytes)
		return DMAPP_RC_INVALID_PARAM;
	/* First, for there may be no memory for it: what is registered is always known here. */
	const auto known = registered_.emplace(address_of(address), Region{});
	const dmapp_return_t rc = add_region(address, bytes, &known->second);
	if (rc == DMAPP_RC_SUCCESS)
		*seg = describe(known->second, Kind::registered);
	else
		registered_.erase(known);
	return rc;
}

/* By the key: who has merged descriptors may have changed what stands before it. */
dmapp_return_t Instance::unregister_memory(const dmapp_seg_desc_t *seg)
{
	const uint64_t mine = uint64_t{mark_of(Kind::registered)} << 32 | static_cast<uint32_t>(job_.pe);

	if (!seg || seg->key[4] != mine)
		return DMAPP_RC_INVALID_PARAM;
	const auto [from, to] = registered_.equal_range(seg->key[2]);
	for (auto r = from; r != to; ++r) {
		gni_mem_handle_t handle = r->second.handle;

		if (handle.qword1 != seg->key[0] || handle.qword2 != seg->key[1])
			continue;
		registered_.erase(r);
		return code_of(GNI_MemDeregister(nic_, &handle));
	}
	return DMAPP_RC_NOT_FOUND;
}

const gni_mem_handle_t *Instance::own(const void *address, uint64_t bytes) const
{
	const uint64_t at = address_of(address);

	if (within(mine_.heap, at, bytes))
		return &mine_.heap.handle;
	if (within(mine_.data, at, bytes))
		return &mine_.data.handle;
	/* Those that begin last before it are most likely the ones. */
	for (auto r = registered_.upper_bound(at); r != registered_.begin();) {
		--r;
		if (within(r->second, at, bytes))
			return &r->second.handle;
	}
	return nullptr;
}

dmapp_return_t Instance::read_board(dmapp_pe_t pe, Board *board)
{
	const Region &own = card(pe).own;
	const uint64_t address = own.base + kBounceBytes + offsetof(Shared, board);
	const Place from = {
		{address & GNI_OFFSET_MASK, card(pe).address, name_of(own.handle), 0}, &own.handle, address, pe};

	return perform({Form::blocking, nullptr}, [&](Pending &p) {
		get_small(reinterpret_cast<char *>(board), from, sizeof(*board), p);
		return DMAPP_RC_SUCCESS;
	});
}

gni_ep_handle_t Instance::endpoint(dmapp_pe_t pe)
{
	gni_ep_handle_t &ep = endpoints_[static_cast<size_t>(pe)];
	const Card &card = cards_[static_cast<size_t>(pe)];

	if (ep)
		return ep;
	if (GNI_EpCreate(nic_, cq_, &ep) != GNI_RC_SUCCESS)
		return ep = nullptr;
	if (GNI_EpBind(ep, card.address, card.instance) != GNI_RC_SUCCESS) {
		(void)GNI_EpDestroy(ep);
		ep = nullptr;
	}
	return ep;
}

} // namespace dmapp
