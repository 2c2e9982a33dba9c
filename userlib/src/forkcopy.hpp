// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * What a child of fork() gets of registered memory (GNI_CDM_MODE_FORK_*).
 *
 * The kernel copies pinned pages when a process forks, so the parent's stay
 * with the NIC whatever the mode: that is FULLCOPY, and needs nothing. In the
 * other modes pages are kept from the child: all of them, or those that belong
 * to the region entirely.
 *
 * They are kept from it by MADV_DONTFORK, which is set when the process forks
 * and taken back right after it. That advice belongs to a mapping: set for as
 * long as a region is registered it would go with pages that mremap() moves,
 * split mappings, of which a process may have so many and no more, and could
 * not be taken back from a part of a huge page.
 */
#ifndef UGNI_FORKCOPY_HPP
#define UGNI_FORKCOPY_HPP

#include <cstdint>

namespace ugni
{

struct PageRange {
	uint64_t start;
	uint64_t end; /* start: none */
};

/** Pages of a region that a domain with @modes keeps from children. */
PageRange fork_range(uint32_t modes, uint64_t address, uint64_t length);

/**
 * What fork_keep() needs once in a process, ahead of it: a first registration costs no more system calls than others.
 * Without memory fork_keep() tries again.
 */
void fork_prepare();

/**
 * Keeps the pages of @range from children, until fork_share() has been called as often for each of them. No system
 * call; pages that cannot be kept are copied. Return: false without memory, nothing is changed then.
 */
bool fork_keep(const PageRange &range);
/** Takes one fork_keep() of the same range back. Needs no memory. */
void fork_share(const PageRange &range);

} // namespace ugni

#endif
