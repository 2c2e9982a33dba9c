/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/**
 * @file
 * Pages of a peer's memory that cannot be had: the file system of its file is full, or the file was truncated.
 *
 * The kernel tells the thread that touches such a page by SIGBUS, which would end the process of whoever accesses the
 * memory, and not the one that it belongs to. A handler of the whole process puts a page of zeros there instead and
 * marks the mapping. The access goes on as if nothing had happened, and whoever made it looks at the mark behind it.
 * Faults at other addresses are passed on to the handler that was there before.
 */
#ifndef ARIES_FABRIC_BUS_GUARD_HPP
#define ARIES_FABRIC_BUS_GUARD_HPP

#include <atomic>
#include <cstdint>

namespace aries
{

/** Mappings of this process that have lost a page and are still there. In all but a broken machine 0. */
inline constinit std::atomic<uint32_t> lossy_mappings{0};

/** The calling thread takes SIGBUS: hosts block it in threads of theirs, and a blocked one ends the process. */
void admit_bus_errors() noexcept;

/** One mapping that the handler knows. */
class BusGuard
{
public:
	/**
	 * Guards @bytes at @at, which are mapped in units of @page bytes. Throws std::bad_alloc. May be called by any
	 * thread.
	 */
	BusGuard(uint8_t *at, uint64_t bytes, uint64_t page);
	/** To be called before the memory is unmapped, when nobody uses it any more. */
	~BusGuard();
	BusGuard(const BusGuard &) = delete;
	BusGuard &operator=(const BusGuard &) = delete;

	/** Whether a page of it was lost, ever. */
	bool lossy() const noexcept;

	struct Range;

private:
	Range *const range_;
};

} // namespace aries

#endif
