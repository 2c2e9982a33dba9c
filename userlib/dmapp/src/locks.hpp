// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Locks that a PE holds. The word of a lock is 0, or the number of its holder plus 1. */
#pragma once

#include "dmapp.h"
#include "rma.h"

#include <vector>

namespace dmapp
{

/** A lock: a word of a PE. */
struct LockPlace {
	ugni_rma_place at;
	const void *address; /* as its holder has given it */
	dmapp_pe_t pe;
};

class Locks
{
public:
	static constexpr uint32_t kDefault = 128;
	static constexpr uint32_t kMost = 1023;

	/** @text: DMAPP_MAX_LOCKS. Return: how many one may hold; the default if it makes no sense. */
	static uint32_t limit_of(const char *text);

	/** Takes the memory for all of them. */
	void open(uint32_t limit)
	{
		slots_.reserve(limit);
		limit_ = limit;
	}
	bool full() const { return held_ == limit_; }
	/** Only if not full(); there is memory for it. Return: the handle. */
	dmapp_lock_handle_t add(const LockPlace &place);
	/** Return: nullptr if none is held by that name. */
	const LockPlace *find(dmapp_lock_handle_t handle) const;
	/** The same by its place; 0 if none is. */
	dmapp_lock_handle_t find(const void *address, dmapp_pe_t pe) const;
	void remove(dmapp_lock_handle_t handle);

private:
	struct Slot {
		LockPlace place;
		uint32_t generation;
		bool held;
	};
	std::vector<Slot> slots_;
	uint32_t limit_ = kDefault;
	uint32_t held_ = 0;
};

} // namespace dmapp
