// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file The C functions of udreg: names and handles of caches. An exception of the owner's functions passes through to
 * who has called, and so does the end of the thread; the library itself has none that get out.
 */
#include "cache.hpp"

#include <cstddef>
#include <cstring>
#include <new>
#include <pthread.h>

namespace
{

using udreg::Cache;

/** All caches of the process by name. A handle is looked up before it is used, so a stale one does no harm. */
struct Table {
	std::mutex lock;
	std::map<std::string, std::shared_ptr<Cache>> caches;
};

alignas(Table) std::byte place[sizeof(Table)]; // never destroyed: used while the process ends

Table &table()
{
	return *std::launder(reinterpret_cast<Table *>(place));
}

/* A child of fork() has no caches: registrations are its parent's, and another thread of that may have held any lock.
 */
void begin()
{
	new (place) Table;
}

[[gnu::constructor]] void loaded()
{
	begin();
	(void)pthread_atfork(nullptr, nullptr, begin);
}

std::shared_ptr<Cache> lookup(udreg_cache_handle_t handle)
{
	const std::lock_guard guard(table().lock);
	for (const auto &[name, cache] : table().caches)
		if (reinterpret_cast<udreg_cache_handle_t>(cache.get()) == handle)
			return cache;
	return nullptr;
}

/** Runs @p body with the cache that a handle stands for. */
template <typename Body> udreg_return_t with_cache(udreg_cache_handle_t handle, Body &&body)
{
	const std::shared_ptr<Cache> cache = lookup(handle);
	return cache ? body(*cache) : UDREG_RC_INVALID_PARAM;
}

constexpr uint32_t known_modes = UDREG_CC_MODE_USE_LARGE_PAGES | UDREG_CC_MODE_USE_LAZY_DEREG |
				 UDREG_CC_MODE_USE_KERNEL_CACHE | UDREG_CC_MODE_USE_EVICT_W_UNREG;

} // namespace

udreg_return_t UDREG_CacheCreate(udreg_cache_attr_t *attr)
{
	if (!attr || !attr->device_reg_func || !attr->device_dereg_func)
		return UDREG_RC_INVALID_PARAM;
	const size_t length = strnlen(attr->cache_name, sizeof(attr->cache_name));
	if (length == 0 || length == sizeof(attr->cache_name))
		return UDREG_RC_INVALID_PARAM;
	if (attr->modes & ~known_modes)
		return UDREG_RC_INVALID_PARAM;
	try {
		auto made = std::make_shared<Cache>(*attr);
		const std::lock_guard guard(table().lock);
		return table().caches.emplace(attr->cache_name, std::move(made)).second ? UDREG_RC_SUCCESS
											: UDREG_RC_INVALID_PARAM;
	} catch (const std::bad_alloc &) {
		return UDREG_RC_NO_SPACE;
	}
}

udreg_return_t UDREG_CacheAccess(char *cache_name, udreg_cache_handle_t *handle)
{
	if (!cache_name || !handle)
		return UDREG_RC_INVALID_PARAM;
	const std::lock_guard guard(table().lock);
	for (const auto &[name, cache] : table().caches) {
		if (name != cache_name)
			continue;
		cache->users++;
		*handle = reinterpret_cast<udreg_cache_handle_t>(cache.get());
		return UDREG_RC_SUCCESS;
	}
	return UDREG_RC_NO_MATCH;
}

udreg_return_t UDREG_CacheRelease(udreg_cache_handle_t handle)
{
	return with_cache(handle, [](Cache &cache) {
		bool last = false;
		{
			const std::lock_guard guard(table().lock);
			if (cache.users == 0)
				return UDREG_RC_INVALID_PARAM;
			last = --cache.users == 0;
		}
		if (last)
			cache.trim();
		return UDREG_RC_SUCCESS;
	});
}

udreg_return_t UDREG_CacheDestroy(udreg_cache_handle_t handle)
{
	return with_cache(handle, [](Cache &cache) {
		/* Its callbacks run without the table's lock; if one does not return the cache is still there. */
		const bool first = cache.close();
		const std::lock_guard guard(table().lock);
		std::erase_if(table().caches, [&](const auto &item) { return item.second.get() == &cache; });
		return first ? UDREG_RC_SUCCESS : UDREG_RC_INVALID_PARAM;
	});
}

udreg_return_t UDREG_Register(udreg_cache_handle_t handle, void *addr, uint64_t length, udreg_entry_t **entry)
{
	if (!entry)
		return UDREG_RC_INVALID_PARAM;
	return with_cache(
		handle, [&](Cache &cache) { return cache.acquire(reinterpret_cast<uintptr_t>(addr), length, entry); });
}

udreg_return_t UDREG_DecrRefcount(udreg_cache_handle_t handle, udreg_entry_t *entry)
{
	return with_cache(handle, [&](Cache &cache) { return cache.release(entry, false); });
}

udreg_return_t UDREG_Unregister(udreg_cache_handle_t handle, udreg_entry_t *entry)
{
	return with_cache(handle, [&](Cache &cache) { return cache.release(entry, cache.evicts_on_unregister()); });
}

udreg_return_t UDREG_Evict(udreg_cache_handle_t handle)
{
	return with_cache(handle, [](Cache &cache) { return cache.evict(); });
}

udreg_return_t UDREG_InvalidateRange(udreg_cache_handle_t handle, void *addr, uint64_t length)
{
	return with_cache(handle,
			  [&](Cache &cache) { return cache.invalidate(reinterpret_cast<uintptr_t>(addr), length); });
}

udreg_return_t UDREG_GetStat(udreg_cache_handle_t handle, udreg_stat_t stat, uint64_t *value)
{
	if (!value)
		return UDREG_RC_INVALID_PARAM;
	return with_cache(handle, [&](Cache &cache) { return cache.stat(stat, value); });
}

udreg_return_t UDREG_ResetStat(udreg_cache_handle_t handle, udreg_stat_t stat)
{
	return with_cache(handle, [&](Cache &cache) { return cache.reset_stat(stat); });
}
