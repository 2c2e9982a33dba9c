// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "locks.hpp"
#include "entry.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>

namespace dmapp
{

uint32_t Locks::limit_of(const char *text)
{
	char *end = nullptr;
	const unsigned long number = text ? strtoul(text, &end, 10) : 0;

	return !number || *end || number > kMost ? kDefault : static_cast<uint32_t>(number);
}

dmapp_lock_handle_t Locks::add(const LockPlace &place)
{
	auto slot = std::find_if(slots_.begin(), slots_.end(), [](const Slot &s) { return !s.held; });

	if (slot == slots_.end())
		slot = slots_.insert(slot, Slot{});
	slot->place = place;
	slot->held = true;
	held_++;
	return uint64_t{slot->generation} << 32 | static_cast<uint32_t>(slot - slots_.begin() + 1);
}

const LockPlace *Locks::find(dmapp_lock_handle_t handle) const
{
	const auto index = static_cast<uint32_t>(handle);

	if (!index || index > slots_.size())
		return nullptr;
	const Slot &slot = slots_[index - 1];
	return slot.held && slot.generation == handle >> 32 ? &slot.place : nullptr;
}

dmapp_lock_handle_t Locks::find(const void *address, dmapp_pe_t pe) const
{
	for (size_t n = 0; n < slots_.size(); n++) {
		const Slot &slot = slots_[n];

		if (slot.held && slot.place.address == address && slot.place.pe == pe)
			return uint64_t{slot.generation} << 32 | (n + 1);
	}
	return 0;
}

void Locks::remove(dmapp_lock_handle_t handle)
{
	Slot &slot = slots_[static_cast<uint32_t>(handle) - 1];

	slot.held = false;
	slot.generation++;
	held_--;
}

namespace
{

constexpr long kLongestNapNs = 1000000;
/* Attempts between two looks whether who holds the lock is still there. */
constexpr uint32_t kAttempts = 64;

struct Wanted {
	const dmapp_lock_desc_t *lock;
	const dmapp_seg_desc_t *seg;
	dmapp_pe_t host;
	uint64_t flags;
	dmapp_lock_handle_t *handle;
};

/* Return: what was there when @from was to become @to. */
dmapp_return_t swap_word(Instance &i, const Place &at, uint64_t from, uint64_t to, uint64_t *old)
{
	return i.perform({Form::blocking, nullptr}, [&](Pending &p) {
		i.atomic(at, {GNI_FMA_ATOMIC_CSWAP, {from, to}}, old, p);
		return DMAPP_RC_SUCCESS;
	});
}

/* One attempt. Return: BUSY: @holder has it. */
dmapp_return_t attempt(Instance &i, const Wanted &w, uint64_t *holder)
{
	const uint64_t mine = static_cast<uint64_t>(i.pe()) + 1;
	Place at;

	*holder = 0;
	if (!w.handle)
		return DMAPP_RC_INVALID_PARAM;
	if (w.flags)
		return DMAPP_RC_NOT_SUPPORTED;
	dmapp_return_t rc = i.aim(w.lock, w.seg, w.host, sizeof(w.lock->word), false, &at);
	if (rc == DMAPP_RC_SUCCESS && at.address % 8)
		rc = DMAPP_RC_ALIGNMENT_ERROR;
	if (rc == DMAPP_RC_SUCCESS && i.locks.full())
		rc = DMAPP_RC_RESOURCE_ERROR;
	if (rc == DMAPP_RC_SUCCESS)
		rc = swap_word(i, at, 0, mine, holder);
	if (rc != DMAPP_RC_SUCCESS)
		return rc;
	if (*holder)
		return DMAPP_RC_BUSY;
	*w.handle = i.locks.add({at.at, w.lock, w.host});
	return rc;
}

/* Whether it is worth waiting: not for a PE that is gone, nor for the only thread that could give it back. */
dmapp_return_t worth(Instance &i, uint64_t holder)
{
	if (holder > static_cast<uint64_t>(i.npes()))
		return DMAPP_RC_INVALID_PARAM;
	const auto pe = static_cast<dmapp_pe_t>(holder - 1);
	if (pe == i.pe() && i.attributes().max_concurrency == 1)
		return DMAPP_RC_BUSY;
	return i.alive(pe) ? DMAPP_RC_SUCCESS : DMAPP_RC_TRANSACTION_ERROR;
}

/* Nobody else is kept from the library while this one waits. */
dmapp_return_t acquire(const Wanted &w)
{
	timespec nap = {0, 1000};

	for (uint32_t n = 0;; n++) {
		const dmapp_return_t rc = enter([&](Instance &i) {
			uint64_t holder = 0;
			const dmapp_return_t tried = attempt(i, w, &holder);

			if (tried != DMAPP_RC_BUSY)
				return tried;
			const dmapp_return_t why = n % kAttempts ? DMAPP_RC_SUCCESS : worth(i, holder);
			return why == DMAPP_RC_SUCCESS ? DMAPP_RC_NOT_DONE : why;
		});

		if (rc != DMAPP_RC_NOT_DONE)
			return rc;
		(void)nanosleep(&nap, nullptr);
		nap.tv_nsec = std::min(nap.tv_nsec * 2, kLongestNapNs);
	}
}

/* Until the other PE has answered the lock is held, and may be given back once more. Return: NOT_FOUND: it is not this
 * PE's any more. */
dmapp_return_t release(Instance &i, dmapp_lock_handle_t handle)
{
	const uint64_t mine = static_cast<uint64_t>(i.pe()) + 1;
	uint64_t old = 0;
	Place at{};

	at.at = i.locks.find(handle)->at;
	/* What was changed while the lock was held is there before it is free; gsync tells what was not. */
	i.settle();
	const dmapp_return_t rc = swap_word(i, at, mine, 0, &old);
	if (rc != DMAPP_RC_SUCCESS)
		return rc;
	i.locks.remove(handle);
	return old == mine ? rc : DMAPP_RC_NOT_FOUND;
}

} // namespace

} // namespace dmapp

using namespace dmapp;

dmapp_return_t dmapp_lock_acquire(dmapp_lock_desc_t *lock, dmapp_seg_desc_t *seg, dmapp_pe_t host_pe, uint64_t flags,
				  dmapp_lock_handle_t *handle)
{
	return acquire({lock, seg, host_pe, flags, handle});
}

dmapp_return_t dmapp_lock_try(dmapp_lock_desc_t *lock, dmapp_seg_desc_t *seg, dmapp_pe_t host_pe, uint64_t flags,
			      dmapp_lock_handle_t *handle)
{
	return enter([&](Instance &i) {
		uint64_t holder = 0;

		return attempt(i, {lock, seg, host_pe, flags, handle}, &holder);
	});
}

dmapp_return_t dmapp_lock_release(dmapp_lock_handle_t handle, uint64_t flags)
{
	return enter([&](Instance &i) {
		if (flags)
			return DMAPP_RC_NOT_SUPPORTED;
		return i.locks.find(handle) ? release(i, handle) : DMAPP_RC_INVALID_PARAM;
	});
}

dmapp_return_t dmapp_lock_release_addr(dmapp_lock_desc_t *lock, dmapp_pe_t host_pe, uint64_t flags)
{
	return enter([&](Instance &i) {
		const dmapp_lock_handle_t handle = i.locks.find(lock, host_pe);

		if (flags)
			return DMAPP_RC_NOT_SUPPORTED;
		return handle ? release(i, handle) : DMAPP_RC_NOT_FOUND;
	});
}
