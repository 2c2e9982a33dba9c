// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Pieces of operations: by FMA up to the threshold, and for memory that is not registered; else block transfers.
 */
#include "gni_memhandle.h"
#include "instance.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace dmapp
{

namespace
{

/* Whole words that fit the length field of a get, and the bounce buffer. */
constexpr uint64_t kGetPiece = 0xffc0;
constexpr uint64_t kBlockPiece = uint64_t{1} << 30;
constexpr size_t kBlocksAtOnce = 64;
constexpr uint32_t kRefusals = 1000;

uint64_t address_in(const void *p)
{
	return reinterpret_cast<uintptr_t>(p);
}

} // namespace

bool Instance::took_other(uint32_t status, Pending &p)
{
	if (status == ARIES_ST_LATER) {
		await(p);
		fence_needed_ = true;
		return true;
	}
	if (status == RMA_GONE)
		all_gone();
	p.failed(status == RMA_GONE ? uint32_t{ARIES_ST_DISABLED} : status);
	close_told();
	return false;
}

void Instance::await(Pending &p) const
{
	if (p.fence <= fences_done_)
		p.since = fence_next_;
	p.fence = fence_next_;
}

/* Return: false if it cannot be a block transfer. */
bool Instance::block(const Place &remote, const void *local, uint64_t bytes, const gni_mem_handle_t &handle,
		     gni_post_type_t type, Pending &p)
{
	const gni_ep_handle_t ep = endpoint(remote.pe);

	if (!ep)
		return false;
	uint32_t refusals = 0;
	for (uint64_t done = 0; done < bytes;) {
		Block *b = block_take();
		gni_return_t rc = GNI_RC_ERROR_RESOURCE;

		if (!b && !done)
			return false;
		if (!b) {
			p.failed(ARIES_ST_QUEUE_FULL);
			return true;
		}
		b->owner = &p;
		b->d = {};
		b->d.type = type;
		b->d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
		b->d.dlvr_mode = remote.at.dlvr_mode;
		b->d.local_addr = address_in(local) + done;
		b->d.local_mem_hndl = handle;
		b->d.remote_addr = remote.address + done;
		b->d.remote_mem_hndl = *remote.handle;
		b->d.length = std::min(bytes - done, kBlockPiece);
		/* Others of this PE end, and make room; if there are none, the job has no block transfers left. */
		while ((rc = GNI_PostRdma(ep, &b->d)) == GNI_RC_ERROR_RESOURCE && !gone_ &&
		       (blocks_out_ || refusals++ < kRefusals))
			progress();
		if (rc != GNI_RC_SUCCESS) {
			block_give(b);
			if (!done && rc == GNI_RC_ERROR_RESOURCE)
				return false;
			p.failed(rc == GNI_RC_ERROR_RESOURCE ? ARIES_ST_QUEUE_FULL : ARIES_ST_DISABLED);
			return true;
		}
		p.blocks++;
		blocks_out_++;
		done += b->d.length;
	}
	return true;
}

/* No exception leaves an operation that has begun. */
bool Instance::blocks_more()
try {
	blocks_.push_back(std::make_unique<Block[]>(kBlocksAtOnce));
	for (size_t n = 0; n < kBlocksAtOnce; n++)
		block_give(&blocks_.back()[n]);
	return true;
} catch (const std::bad_alloc &) {
	return false;
}

Block *Instance::block_take()
{
	if (!blocks_free_ && !blocks_more())
		return nullptr;
	Block *b = blocks_free_;
	blocks_free_ = b->next;
	return b;
}

void Instance::block_give(Block *b)
{
	b->next = blocks_free_;
	blocks_free_ = b;
}

void Instance::put_long(const Place &to, const void *from, uint64_t bytes, Pending &p)
{
	if (bytes >= ways().offload_threshold) {
		const gni_mem_handle_t *handle = own(from, bytes);

		if (handle && block(to, from, bytes, *handle, GNI_POST_RDMA_PUT, p))
			return;
	}
	ugni_rma_place at = to.at;
	const char *source = static_cast<const char *>(from);
	for (uint64_t left = bytes; left;) {
		const auto part = static_cast<uint32_t>(std::min<uint64_t>(left, ARIES_DESC_LINE_BYTES));

		if (!took(ugni_rma_put(nic_, &at, source, part), p))
			return;
		at.offset = (at.offset + part) & GNI_OFFSET_MASK;
		source += part;
		left -= part;
	}
}

/* The NIC orders one line of data and its flag, no more: all lines but the last are put and waited for first. */
void Instance::put_flag(const Place &to, const void *from, uint64_t bytes, const Place &flag, uint64_t value,
			Pending &p)
{
	const uint64_t last = bytes % ARIES_DESC_LINE_BYTES;

	if (bytes > last) {
		before_flag_ = {};
		put(to, from, bytes - last, before_flag_);
		finish(before_flag_);
		if (before_flag_.status != ARIES_ST_OK || gone_)
			return p.failed(gone_ ? uint32_t{ARIES_ST_DISABLED} : before_flag_.status);
	}
	ugni_rma_place at = to.at;
	at.offset = (at.offset + bytes - last) & GNI_OFFSET_MASK;
	(void)took(ugni_rma_put_flag(nic_, &at, static_cast<const char *>(from) + (bytes - last),
				     static_cast<uint32_t>(last), flag.at.offset, value),
		   p);
}

/* Through the bounce buffer, where the NIC reads whole words. */
void Instance::get_small(char *to, const Place &from, uint64_t bytes, Pending &p)
{
	const ugni_rma_own through = bounce();

	for (uint64_t done = 0; done < bytes;) {
		const uint64_t skew = (from.address + done) % 4;
		const uint64_t part = std::min(bytes - done, kGetPiece - skew);
		const auto words = static_cast<uint32_t>((skew + part + 3) & ~uint64_t{3});
		ugni_rma_place at = from.at;

		at.offset = (at.offset + done - skew) & GNI_OFFSET_MASK;
		if (!took(ugni_rma_get(nic_, &at, &through, words), p))
			return;
		memcpy(to + done, bounce_ + skew, part);
		done += part;
	}
}

void Instance::get(void *to, const Place &from, uint64_t bytes, Pending &p)
{
	if (bytes >= ways().offload_threshold && (from.address | bytes) % 4 == 0) {
		const gni_mem_handle_t *handle = own(to, bytes);

		if (handle && block(from, to, bytes, *handle, GNI_POST_RDMA_GET, p))
			return;
	}
	get_small(static_cast<char *>(to), from, bytes, p);
}

void Instance::atomic(const Place &to, const ugni_rma_amo &amo, void *old, Pending &p)
{
	const ugni_rma_own through = bounce();

	if (took(ugni_rma_atomic(nic_, &to.at, &amo, old ? &through : nullptr), p) && old)
		memcpy(old, bounce_, 8);
}

bool Instance::alive(dmapp_pe_t pe)
{
	const Card &card = cards_[static_cast<size_t>(pe)];
	const ugni_rma_own through = bounce();
	const ugni_rma_place at = {card.heap.base & GNI_OFFSET_MASK, card.address, name_of(card.heap.handle), 0};

	if (ugni_rma_get(nic_, &at, &through, 4) == ARIES_ST_OK)
		return true;
	close_told();
	return false;
}

void Instance::batch_begin(const Place &to, Pending &p)
{
	batch_at_ = to.at;
	batch_owner_ = &p;
	if (&p == &implicit_)
		helper_wake();
}

void Instance::flush()
{
	const aries_launch_entry *entry = entries_;
	uint32_t left = entry_count_;

	entry_count_ = 0;
	while (left && !gone_) {
		uint32_t failed = 0;
		const uint32_t status = ugni_rma_launch(nic_, &batch_at_, batch_command_, entry, left, &failed);

		/* A silent batch ends with a CLOSE, which tells of its entries: each is held, the batch is not. */
		await(*batch_owner_);
		if (took(status, *batch_owner_)) {
			fence_needed_ = true;
			break;
		}
		if (failed >= left)
			break;
		/* Those behind the one that failed have nothing to do with it. */
		entry += failed + 1;
		left -= failed + 1;
	}
	batch_command_ = 0;
	batch_owner_ = nullptr;
	batch_number_++;
}

} // namespace dmapp
