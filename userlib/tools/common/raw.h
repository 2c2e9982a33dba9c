// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * An attachment without libugni: a process may write anything into its descriptor area and doorbell page.
 */
#ifndef TOOLS_RAW_H
#define TOOLS_RAW_H

#include <cstddef>
#include <cstdint>

#include "aries_hw.h"
#include "uapi/kgni_abi.h"

namespace tools
{

class RawAttachment
{
public:
	/** Opens /dev/kgniN and signs on. Throws Failure. */
	RawAttachment(uint32_t device, uint32_t cookie);
	RawAttachment(const RawAttachment &) = delete;
	RawAttachment &operator=(const RawAttachment &) = delete;
	~RawAttachment();

	uint32_t pe() const { return attach_.pe; }
	uint32_t descriptor() const { return attach_.fmad; }

	/** Makes a queue and returns its number. Throws Failure. */
	uint32_t create_queue();

	/** True when no entry was ever written into the queue made last. */
	bool queue_empty() const;

	/** Takes the next entry out of the queue made last; 0 if there is none. */
	uint64_t take_entry()
	{
		uint64_t *slot = slots() + (read_ & slot_mask_);
		const uint64_t entry = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
		if (entry) {
			__atomic_store_n(slot, 0, __ATOMIC_RELAXED);
			__atomic_store_n(static_cast<uint64_t *>(queue_), ++read_, __ATOMIC_RELEASE);
		}
		return entry;
	}

	/** Registers memory and returns its handle, with the NIC for as long as this attachment. Throws Failure. */
	uint32_t register_memory(void *start, size_t bytes) const;

	/** Writes slot 0 of the block transfers. */
	void fill_slot(const aries_bte_desc &slot);

	/** Rings the doorbell once for @p op and returns the status that the NIC writes, ARIES_ST_*. */
	uint32_t doorbell(const aries_fma_desc &desc, aries_fma_op op, uint32_t bytes, uint32_t events);

	/** The descriptor area: memory of the NIC. */
	volatile uint64_t *area() const { return static_cast<volatile uint64_t *>(area_); }

	/** A word of the doorbell page; stores to it trap. */
	volatile uint64_t *bell(uint32_t offset) const
	{
		return reinterpret_cast<volatile uint64_t *>(static_cast<uint8_t *>(bell_) + offset);
	}

	/** Tries to map @p size bytes at file offset @p offset; returns 0 or errno. */
	int try_map(uint64_t offset, size_t size) const;

private:
	uint64_t *slots() const
	{
		return reinterpret_cast<uint64_t *>(static_cast<uint8_t *>(queue_) + ARIES_CQ_HEADER_BYTES);
	}

	int fd_ = -1;
	kgni_attach attach_ = {};
	void *area_ = nullptr;
	void *bell_ = nullptr;
	void *queue_ = nullptr;
	size_t queue_size_ = 0;
	uint64_t slot_mask_ = 0;
	uint64_t read_ = 0;
};

} // namespace tools

#endif // TOOLS_RAW_H
