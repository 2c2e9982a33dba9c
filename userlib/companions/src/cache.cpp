// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "cache.hpp"

#include <algorithm>
#include <cstdio>

namespace udreg
{

Cache::~Cache()
{
	while (!entries_.empty())
		end(entries_.begin());
	if (attr_.destructor_callback)
		attr_.destructor_callback(attr_.destructor_context);
}

void Cache::say(const char *what, const udreg_entry_t &entry) const
{
	if (attr_.debug_mode)
		(void)fprintf(stderr, "udreg: rank %u, cache %s: %s 0x%llx + 0x%llx\n", attr_.debug_rank,
			      attr_.cache_name, what, static_cast<unsigned long long>(entry.address),
			      static_cast<unsigned long long>(entry.length));
}

/* Entries that cover a range begin before its first byte, and not further before it than the longest is long. */
Cache::Entry *Cache::find(uint64_t address, uint64_t end)
{
	const uint64_t first = address > longest_ ? address - longest_ : 0;
	for (auto at = by_address_.lower_bound(first); at != by_address_.end() && at->first <= address; ++at)
		if (at->second->address + at->second->length >= end)
			return entries_.find(at->second)->second.get();
	return nullptr;
}

void Cache::end(Entries::iterator entry)
{
	Entry &gone = *entry->second;
	if (!gone.stale)
		by_address_.erase(gone.place);
	if (gone.shown.ref_count == 0)
		idle_.erase(gone.idle);
	say("end", gone.shown);
	/* The owner has taken the registration back where there is none. */
	if (gone.shown.device_data)
		attr_.device_dereg_func(gone.shown.device_data, attr_.dreg_context);
	entries_.erase(entry);
}

void Cache::end_oldest()
{
	evicted_++;
	end(entries_.find(idle_.front()));
}

bool Cache::make_room()
{
	if (attr_.max_entries == 0 || entries_.size() < attr_.max_entries)
		return true;
	if (idle_.empty())
		return false;
	end_oldest();
	return true;
}

udreg_return_t Cache::acquire(uint64_t address, uint64_t length, udreg_entry_t **entry)
{
	const uint64_t mask = page() - 1;
	if (length == 0 || address + length < address || address + length > UINT64_MAX - mask)
		return UDREG_RC_INVALID_PARAM;
	const uint64_t last = (address + length + mask) & ~mask;
	address &= ~mask;

	const std::lock_guard guard(lock_);
	if (Entry *found = find(address, last)) {
		hits_++;
		if (found->shown.ref_count++ == 0)
			idle_.erase(found->idle);
		*entry = &found->shown;
		return UDREG_RC_SUCCESS;
	}
	misses_++;
	if (!make_room())
		return UDREG_RC_NO_SPACE;
	auto made = std::make_unique<Entry>();
	made->shown = {nullptr, address, last - address, 1};
	udreg_entry_t *shown = &made->shown;
	made->place = by_address_.emplace(address, shown);
	Entries::iterator place;
	try {
		place = entries_.emplace(shown, std::move(made)).first;
	} catch (...) {
		by_address_.erase(
			std::prev(by_address_.upper_bound(address))); /* equal keys keep their order: it is the last */
		throw;
	}
	// NOLINTNEXTLINE(performance-no-int-to-ptr)
	shown->device_data = attr_.device_reg_func(reinterpret_cast<void *>(address), shown->length, attr_.reg_context);
	if (!shown->device_data || shown->device_data == UDREG_DEVICE_REG_FAILED) {
		by_address_.erase(place->second->place);
		entries_.erase(place);
		return UDREG_RC_NO_SPACE;
	}
	longest_ = std::max(longest_, shown->length);
	say("begin", *shown);
	*entry = shown;
	return UDREG_RC_SUCCESS;
}

udreg_return_t Cache::release(udreg_entry_t *entry, bool remove)
{
	const std::lock_guard guard(lock_);
	const auto found = entries_.find(entry);
	if (found == entries_.end() || entry->ref_count == 0)
		return UDREG_RC_INVALID_PARAM;
	if (--entry->ref_count > 0)
		return UDREG_RC_SUCCESS;
	found->second->idle = idle_.insert(idle_.end(), entry);
	if (remove || !lazy() || found->second->stale)
		end(found);
	return UDREG_RC_SUCCESS;
}

udreg_return_t Cache::evict()
{
	const std::lock_guard guard(lock_);
	if (idle_.empty())
		return UDREG_RC_NO_MATCH;
	end_oldest();
	return UDREG_RC_SUCCESS;
}

udreg_return_t Cache::invalidate(uint64_t address, uint64_t length)
{
	if (length == 0 || address + length < address)
		return UDREG_RC_INVALID_PARAM;
	const std::lock_guard guard(lock_);
	const uint64_t first = address > longest_ ? address - longest_ : 0;
	for (auto at = by_address_.lower_bound(first); at != by_address_.end() && at->first < address + length;) {
		udreg_entry_t *shown = (at++)->second;
		if (shown->address + shown->length <= address)
			continue;
		const auto found = entries_.find(shown);
		evicted_++;
		if (shown->ref_count == 0) {
			end(found);
		} else {
			by_address_.erase(found->second->place);
			found->second->stale = true;
		}
	}
	return UDREG_RC_SUCCESS;
}

void Cache::trim()
{
	const std::lock_guard guard(lock_);
	while (!idle_.empty())
		end(entries_.find(idle_.front()));
}

udreg_return_t Cache::stat(udreg_stat_t stat, uint64_t *value)
{
	const std::lock_guard guard(lock_);
	switch (stat) {
	case UDREG_STAT_CACHE_HIT:
		*value = hits_;
		return UDREG_RC_SUCCESS;
	case UDREG_STAT_CACHE_MISS:
		*value = misses_;
		return UDREG_RC_SUCCESS;
	case UDREG_STAT_CACHE_EVICTED:
		*value = evicted_;
		return UDREG_RC_SUCCESS;
	case UDREG_STAT_CACHE_ENTRIES:
		*value = entries_.size();
		return UDREG_RC_SUCCESS;
	}
	return UDREG_RC_INVALID_PARAM;
}

udreg_return_t Cache::reset_stat(udreg_stat_t stat)
{
	const std::lock_guard guard(lock_);
	switch (stat) {
	case UDREG_STAT_CACHE_HIT:
		hits_ = 0;
		return UDREG_RC_SUCCESS;
	case UDREG_STAT_CACHE_MISS:
		misses_ = 0;
		return UDREG_RC_SUCCESS;
	case UDREG_STAT_CACHE_EVICTED:
		evicted_ = 0;
		return UDREG_RC_SUCCESS;
	case UDREG_STAT_CACHE_ENTRIES: /* no count, but what is there */
		break;
	}
	return UDREG_RC_INVALID_PARAM;
}

} // namespace udreg
