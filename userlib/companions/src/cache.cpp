// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "cache.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <pthread.h>
#include <sys/mman.h>

namespace udreg
{

namespace
{

constexpr uint64_t small_page = 4096, large_page = uint64_t{1} << 21, largest_page = uint64_t{1} << 30;

/**
 * Whether the page at @p address is larger than @p bytes. To change the size of a mapping from so many bytes to so many
 * changes nothing, and is refused with EINVAL in the middle of a huge page.
 */
bool larger(uint64_t address, uint64_t bytes, uint64_t next)
{
	uint64_t middle = address & ~(bytes - 1);
	if (middle % next == 0)
		middle += bytes;
	void *place = reinterpret_cast<void *>(middle); // NOLINT(performance-no-int-to-ptr)
	return mremap(place, bytes, bytes, 0) == MAP_FAILED && errno == EINVAL;
}

/** While it lives the thread is not cancelled. */
class Uncancelled
{
public:
	Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
	~Uncancelled() noexcept(false) { pthread_setcancelstate(before_, nullptr); } // a request may be answered here
	Uncancelled(const Uncancelled &) = delete;
	Uncancelled &operator=(const Uncancelled &) = delete;

private:
	int before_ = PTHREAD_CANCEL_ENABLE;
};

} // namespace

uint64_t Cache::page(uint64_t address) const
{
	const int before = errno;
	uint64_t bytes = small_page;
	if ((attr_.modes & UDREG_CC_MODE_USE_LARGE_PAGES) && larger(address, small_page, large_page))
		bytes = larger(address, large_page, largest_page) ? largest_page : large_page;
	errno = before;
	return bytes;
}

bool Cache::close()
{
	const std::lock_guard guard(lock_);
	if (closed_)
		return false;
	while (!entries_.empty())
		end(entries_.begin());
	closed_ = true;
	if (attr_.destructor_callback)
		attr_.destructor_callback(attr_.destructor_context);
	return true;
}

void Cache::say(const char *what, const udreg_entry_t &entry) const
{
	const Uncancelled whole;
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

void Cache::remove(Entries::iterator entry)
{
	Entry &gone = *entry->second;
	if (!gone.stale)
		by_address_.erase(gone.place);
	if (gone.shown.ref_count == 0)
		idle_.erase(gone.idle);
	entries_.erase(entry);
}

/* It is out of the cache before the owner's function is called. */
void Cache::end(Entries::iterator entry)
{
	const udreg_entry_t gone = entry->second->shown;
	remove(entry);
	say("end", gone);
	/* The owner has taken the registration back where there is none. */
	if (gone.device_data)
		attr_.device_dereg_func(gone.device_data, attr_.dreg_context);
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

/* False without memory. */
bool Cache::insert(uint64_t address, uint64_t length, Entries::iterator *place)
{
	try {
		auto made = std::make_unique<Entry>();
		udreg_entry_t *shown = &made->shown;
		*shown = {nullptr, address, length, 1};
		*place = entries_.emplace(shown, std::move(made)).first;
	} catch (const std::bad_alloc &) {
		return false;
	}
	Entry &entry = *(*place)->second;
	try {
		entry.place = by_address_.emplace(address, &entry.shown);
	} catch (const std::bad_alloc &) {
		entries_.erase(*place);
		return false;
	}
	return true;
}

udreg_return_t Cache::acquire(uint64_t address, uint64_t length, udreg_entry_t **entry)
{
	constexpr uint64_t most = UINT64_MAX - largest_page;
	if (length == 0 || address + length < address || address + length > most)
		return UDREG_RC_INVALID_PARAM;
	uint64_t last = (address + length + small_page - 1) & ~(small_page - 1);
	address &= ~(small_page - 1);

	const std::lock_guard guard(lock_);
	if (closed_)
		return UDREG_RC_INVALID_PARAM;
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
	const uint64_t mask = page(last - 1) - 1;
	last = (last + mask) & ~mask;
	address &= ~(page(address) - 1);
	Entries::iterator place;
	if (!insert(address, last - address, &place))
		return UDREG_RC_NO_SPACE;

	/* Whichever way the owner's function ends, without a registration there is no entry. */
	struct Unless {
		Cache &cache;
		Entries::iterator place;
		bool registered;
		~Unless()
		{
			if (!registered)
				cache.remove(place);
		}
	} unless = {*this, place, false};
	udreg_entry_t *shown = &place->second->shown;
	// NOLINTNEXTLINE(performance-no-int-to-ptr)
	void *data = attr_.device_reg_func(reinterpret_cast<void *>(address), shown->length, attr_.reg_context);
	/* Runtimes evict and try again when there is no space, for as long as there is something to evict. */
	if (!data || data == UDREG_DEVICE_REG_FAILED)
		return data ? UDREG_RC_INVALID_PARAM : UDREG_RC_NO_SPACE;
	shown->device_data = data;
	unless.registered = true;
	longest_ = std::max(longest_, shown->length);
	say("begin", *shown);
	*entry = shown;
	return UDREG_RC_SUCCESS;
}

udreg_return_t Cache::release(udreg_entry_t *entry, bool drop)
{
	const std::lock_guard guard(lock_);
	const auto found = entries_.find(entry);
	if (found == entries_.end() || entry->ref_count == 0)
		return UDREG_RC_INVALID_PARAM;
	if (entry->ref_count > 1) {
		entry->ref_count--;
		return UDREG_RC_SUCCESS;
	}
	try {
		found->second->idle = idle_.insert(idle_.end(), entry);
	} catch (const std::bad_alloc &) {
		return UDREG_RC_NO_SPACE;
	}
	entry->ref_count = 0;
	if (drop || !lazy() || found->second->stale)
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
