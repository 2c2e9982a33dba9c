/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file
 * Pages of a peer's memory that the kernel cannot provide: the file system of the peer's file is full, or the file was
 * truncated.
 *
 * The kernel reports such a page by SIGBUS to the thread that touches it, which would end the process of the initiator
 * instead of the memory's owner. A handler of this process puts a page of zeros there and marks the mapping. The access
 * goes on, and its thread checks the mark afterwards. Faults at other addresses are passed on to the earlier handler.
 */
#ifndef ARIES_FABRIC_BUS_GUARD_HPP
#define ARIES_FABRIC_BUS_GUARD_HPP

#include <atomic>
#include <cstdint>

namespace aries
{

/** Number of mappings of this process that have lost a page and still exist. Normally 0. */
inline constinit std::atomic<uint32_t> lossy_mappings{0};

/** Unblocks SIGBUS in the calling thread: hosts block it in many threads, and a blocked SIGBUS ends the process. */
void admit_bus_errors() noexcept;

/** A mapping that the handler guards. */
class BusGuard
{
public:
	/**
	 * Guards @bytes at @at, which are mapped in units of @page bytes. Throws std::bad_alloc. May be called by any
	 * thread.
	 */
	BusGuard(uint8_t *at, uint64_t bytes, uint64_t page);
	/** To be called before the memory is unmapped, when no thread uses it any more. */
	~BusGuard();
	BusGuard(const BusGuard &) = delete;
	BusGuard &operator=(const BusGuard &) = delete;

	/** Whether a page of the mapping was ever lost. */
	bool lossy() const noexcept;

	struct Range;

private:
	Range *const range_;
};

} // namespace aries

#endif
