// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file The cache of registrations, with an owner that counts. */
#include "../../tests/cmocka_cpp.hpp"

#include "udreg_pub.h"

#include <cerrno>
#include <cstring>
#include <functional>
#include <pthread.h>
#include <set>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

/** What the owner of a cache has registered at present. */
struct Owner {
	std::set<void *> live;
	std::vector<std::pair<uint64_t, uint64_t>> asked;
	int ended = 0, destroyed = 0;
	bool refuse = false, full = false, throws = false, sleeps = false;
};

void *do_register(void *addr, uint64_t length, void *context)
{
	auto &owner = *static_cast<Owner *>(context);
	if (owner.refuse || owner.full)
		return owner.full ? nullptr : UDREG_DEVICE_REG_FAILED;
	if (owner.throws)
		throw 3;
	while (__atomic_load_n(&owner.sleeps, __ATOMIC_RELAXED))
		usleep(1000);
	owner.asked.emplace_back(reinterpret_cast<uintptr_t>(addr), length);
	void *data = new char;
	owner.live.insert(data);
	return data;
}

uint32_t do_deregister(void *data, void *context)
{
	auto &owner = *static_cast<Owner *>(context);
	assert_int_equal(1, owner.live.erase(data));
	delete static_cast<char *>(data);
	owner.ended++;
	if (owner.throws)
		throw 4;
	return 0;
}

void do_destroy(void *context)
{
	static_cast<Owner *>(context)->destroyed++;
}

/** A cache that goes with its scope. */
struct Cached {
	Owner owner;
	udreg_cache_attr_t attr{};
	udreg_cache_handle_t handle = nullptr;

	explicit Cached(uint32_t modes, uint32_t max = 0)
	{
		strcpy(attr.cache_name, "cache");
		attr.modes = modes;
		attr.max_entries = max;
		attr.reg_context = attr.dreg_context = attr.destructor_context = &owner;
		attr.device_reg_func = do_register;
		attr.device_dereg_func = do_deregister;
		attr.destructor_callback = do_destroy;
		assert_int_equal(UDREG_RC_SUCCESS, UDREG_CacheCreate(&attr));
		assert_int_equal(UDREG_RC_SUCCESS, UDREG_CacheAccess(attr.cache_name, &handle));
	}
	Cached(const Cached &) = delete;
	Cached &operator=(const Cached &) = delete;
	~Cached()
	{
		UDREG_CacheDestroy(handle);
		assert_true(owner.live.empty());
		assert_int_equal(1, owner.destroyed);
	}

	udreg_entry_t *take(uint64_t addr, uint64_t length)
	{
		udreg_entry_t *entry = nullptr;
		assert_int_equal(UDREG_RC_SUCCESS,
				 UDREG_Register(handle, reinterpret_cast<void *>(addr), length, &entry));
		return entry;
	}
	void give(udreg_entry_t *entry) { assert_int_equal(UDREG_RC_SUCCESS, UDREG_DecrRefcount(handle, entry)); }
	uint64_t stat(udreg_stat_t which)
	{
		uint64_t value = 99;
		assert_int_equal(UDREG_RC_SUCCESS, UDREG_GetStat(handle, which, &value));
		return value;
	}
};

constexpr uint32_t lazy = UDREG_CC_MODE_USE_LAZY_DEREG;

} // namespace

TEST(hits_and_misses)
{
	Cached cache(lazy);
	udreg_entry_t *entry = cache.take(0x10010, 100);
	assert_int_equal(0x10000, entry->address);
	assert_int_equal(0x1000, entry->length);
	assert_ptr_equal(entry, cache.take(0x10fff, 1));
	assert_int_equal(2, entry->ref_count);
	assert_ptr_not_equal(entry, cache.take(0x10fff, 2)); /* one page further */
	assert_int_equal(1, cache.stat(UDREG_STAT_CACHE_HIT));
	assert_int_equal(2, cache.stat(UDREG_STAT_CACHE_MISS));
	assert_int_equal(2, cache.stat(UDREG_STAT_CACHE_ENTRIES));
	assert_true(cache.owner.asked[1] == std::make_pair(uint64_t{0x10000}, uint64_t{0x2000}));
	/* a part of the larger one is found in it, however far from its begin */
	cache.take(0x11000, 0x1000);
	assert_int_equal(2, cache.stat(UDREG_STAT_CACHE_HIT));
}

TEST(lazy_keeps_and_eager_ends)
{
	{
		Cached cache(lazy);
		cache.give(cache.take(0x1000, 1));
		assert_int_equal(0, cache.owner.ended);
		cache.take(0x1000, 1);
		assert_int_equal(1, cache.stat(UDREG_STAT_CACHE_HIT));
	}
	Cached cache(0);
	cache.give(cache.take(0x1000, 1));
	assert_int_equal(1, cache.owner.ended);
	assert_int_equal(0, cache.stat(UDREG_STAT_CACHE_ENTRIES));
}

TEST(the_longest_unused_goes_first)
{
	Cached cache(lazy, 3);
	udreg_entry_t *a = cache.take(0x1000, 1), *b = cache.take(0x2000, 1), *c = cache.take(0x3000, 1);
	udreg_entry_t *none = nullptr;
	assert_int_equal(UDREG_RC_NO_SPACE, UDREG_Register(cache.handle, reinterpret_cast<void *>(0x4000), 1, &none));
	assert_int_equal(UDREG_RC_NO_MATCH, UDREG_Evict(cache.handle));
	cache.give(b);
	cache.give(a);
	cache.give(c);
	cache.give(cache.take(0x2000, 1)); /* b is the latest now: order a, c, b */
	cache.take(0x4000, 1);             /* a goes */
	assert_int_equal(1, cache.stat(UDREG_STAT_CACHE_EVICTED));
	const uint64_t before = cache.stat(UDREG_STAT_CACHE_MISS);
	cache.take(0x3000, 1);
	cache.take(0x2000, 1);
	assert_int_equal(before, cache.stat(UDREG_STAT_CACHE_MISS));
	cache.give(cache.take(0x4000, 1));
}

/* Nobody tells of unmapped memory, so nothing that nobody uses outlives it, also where it was to be kept. */
TEST(what_counts_on_the_kernel_keeps_nothing)
{
	Cached cache(lazy | UDREG_CC_MODE_USE_KERNEL_CACHE);
	udreg_entry_t *first = cache.take(0x1000, 1), *second = cache.take(0x1000, 1);
	assert_ptr_equal(first, second);
	cache.give(first);
	assert_int_equal(0, cache.owner.ended);
	cache.give(second);
	assert_int_equal(1, cache.owner.ended);
	assert_int_equal(0, cache.stat(UDREG_STAT_CACHE_ENTRIES));
}

TEST(counters_begin_anew)
{
	Cached cache(lazy);
	cache.give(cache.take(0x1000, 1));
	cache.give(cache.take(0x1000, 1));
	assert_int_equal(UDREG_RC_SUCCESS, UDREG_Evict(cache.handle));
	for (const udreg_stat_t stat : {UDREG_STAT_CACHE_HIT, UDREG_STAT_CACHE_MISS, UDREG_STAT_CACHE_EVICTED}) {
		assert_int_equal(1, cache.stat(stat));
		assert_int_equal(UDREG_RC_SUCCESS, UDREG_ResetStat(cache.handle, stat));
		assert_int_equal(0, cache.stat(stat));
	}
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_ResetStat(cache.handle, UDREG_STAT_CACHE_ENTRIES));
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_ResetStat(cache.handle, static_cast<udreg_stat_t>(7)));
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_ResetStat(nullptr, UDREG_STAT_CACHE_HIT));
}

TEST(evict_one_by_one)
{
	Cached cache(lazy);
	cache.give(cache.take(0x1000, 1));
	cache.give(cache.take(0x2000, 1));
	assert_int_equal(UDREG_RC_SUCCESS, UDREG_Evict(cache.handle));
	assert_int_equal(UDREG_RC_SUCCESS, UDREG_Evict(cache.handle));
	assert_int_equal(UDREG_RC_NO_MATCH, UDREG_Evict(cache.handle));
	assert_int_equal(2, cache.owner.ended);
}

TEST(unregister_evicts_where_asked)
{
	{
		Cached cache(lazy | UDREG_CC_MODE_USE_EVICT_W_UNREG);
		assert_int_equal(UDREG_RC_SUCCESS, UDREG_Unregister(cache.handle, cache.take(0x1000, 1)));
		assert_int_equal(1, cache.owner.ended);
	}
	Cached cache(lazy);
	assert_int_equal(UDREG_RC_SUCCESS, UDREG_Unregister(cache.handle, cache.take(0x1000, 1)));
	assert_int_equal(0, cache.owner.ended);
}

TEST(invalidation)
{
	Cached cache(lazy);
	udreg_entry_t *busy = cache.take(0x10000, 0x4000);
	cache.give(cache.take(0x20000, 0x1000));
	cache.give(cache.take(0x30000, 0x1000));
	assert_int_equal(UDREG_RC_SUCCESS,
			 UDREG_InvalidateRange(cache.handle, reinterpret_cast<void *>(0x13fff), 0xd000));
	assert_int_equal(1, cache.owner.ended); /* 0x20000, not 0x30000, and the busy one later */
	udreg_entry_t *fresh = cache.take(0x10000, 0x1000);
	assert_ptr_not_equal(busy, fresh);
	cache.give(busy);
	assert_int_equal(2, cache.owner.ended);
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_DecrRefcount(cache.handle, busy));
	assert_int_equal(UDREG_RC_SUCCESS,
			 UDREG_InvalidateRange(cache.handle, reinterpret_cast<void *>(0x31000), 0x1000));
	assert_int_equal(2, cache.owner.ended);
	/* its first byte is enough */
	assert_int_equal(UDREG_RC_SUCCESS, UDREG_InvalidateRange(cache.handle, reinterpret_cast<void *>(0x2ffff), 1));
	assert_int_equal(2, cache.owner.ended);
	assert_int_equal(UDREG_RC_SUCCESS, UDREG_InvalidateRange(cache.handle, reinterpret_cast<void *>(0x2ffff), 2));
	assert_int_equal(3, cache.owner.ended);
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_InvalidateRange(cache.handle, nullptr, 0));
	assert_int_equal(UDREG_RC_INVALID_PARAM,
			 UDREG_InvalidateRange(cache.handle, reinterpret_cast<void *>(-4096l), 8192));
}

TEST(the_owner_may_exchange_his_data)
{
	Cached cache(lazy);
	udreg_entry_t *entry = cache.take(0x1000, 1);
	do_deregister(entry->device_data, &cache.owner);
	entry->device_data = nullptr;
	cache.give(entry);
	assert_int_equal(UDREG_RC_SUCCESS, UDREG_Evict(cache.handle)); /* nothing to deregister any more */
	assert_int_equal(1, cache.owner.ended);
}

TEST(failed_registration_leaves_nothing)
{
	Cached cache(lazy);
	udreg_entry_t *entry = nullptr;
	cache.owner.refuse = true;
	void *page = reinterpret_cast<void *>(0x1000);
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_Register(cache.handle, page, 1, &entry));
	assert_null(entry);
	assert_int_equal(0, cache.stat(UDREG_STAT_CACHE_ENTRIES));
	cache.owner.full = true;
	assert_int_equal(UDREG_RC_NO_SPACE, UDREG_Register(cache.handle, page, 1, &entry));
	assert_null(entry);
	assert_int_equal(0, cache.stat(UDREG_STAT_CACHE_ENTRIES));
	cache.owner.refuse = cache.owner.full = false;
	cache.take(0x1000, 1);
}

/* The page that is there counts, not the mode: a provider may set that always. */
TEST(large_pages)
{
	constexpr uint64_t huge = 1 << 21;
	Cached cache(lazy | UDREG_CC_MODE_USE_LARGE_PAGES);
	void *memory = mmap(nullptr, 0x3000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(MAP_FAILED, memory);
	const auto at = reinterpret_cast<uintptr_t>(memory);
	errno = 0;
	udreg_entry_t *entry = cache.take(at + 0x1005, 8);
	assert_int_equal(at + 0x1000, entry->address);
	assert_int_equal(0x1000, entry->length);
	assert_int_equal(0, errno);
	munmap(memory, 0x3000);
	/* unmapped, too: the owner's function will say so */
	entry = cache.take(0x212345, 8);
	assert_int_equal(0x212000, entry->address);
	memory = mmap(nullptr, huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (memory == MAP_FAILED)
		return print_message("no huge pages here\n");
	for (const uint64_t offset : {uint64_t{0x5005}, uint64_t{0}, huge - 8}) {
		entry = cache.take(reinterpret_cast<uintptr_t>(memory) + offset, 8);
		assert_int_equal(reinterpret_cast<uintptr_t>(memory), entry->address);
		assert_int_equal(huge, entry->length);
	}
	munmap(memory, huge);
}

static int caught(const std::function<void()> &act)
{
	try {
		act();
	} catch (int n) {
		return n;
	}
	return 0;
}

TEST(exceptions_of_the_owner_pass)
{
	Cached cache(lazy);
	udreg_entry_t *entry = nullptr;
	void *page = reinterpret_cast<void *>(0x1000);
	cache.give(cache.take(0x5000, 1));
	cache.give(cache.take(0x6000, 1));
	cache.owner.throws = true;
	assert_int_equal(3, caught([&] { (void)UDREG_Register(cache.handle, page, 1, &entry); }));
	assert_null(entry);
	assert_int_equal(2, cache.stat(UDREG_STAT_CACHE_ENTRIES));
	assert_int_equal(4, caught([&] { (void)UDREG_Evict(cache.handle); }));
	assert_int_equal(1, cache.stat(UDREG_STAT_CACHE_ENTRIES));
	/* of what ends with the cache as well, which is there still */
	assert_int_equal(4, caught([&] { (void)UDREG_CacheDestroy(cache.handle); }));
	assert_int_equal(0, cache.stat(UDREG_STAT_CACHE_ENTRIES));
	assert_int_equal(0, cache.owner.destroyed);
	cache.owner.throws = false;
	cache.take(0x1000, 1);
}

TEST(a_thread_is_cancelled_in_the_owners_function)
{
	Cached cache(lazy);
	cache.owner.sleeps = true;
	pthread_t thread;
	void *result = nullptr;
	const auto body = [](void *data) -> void * {
		udreg_entry_t *entry = nullptr;
		(void)UDREG_Register(static_cast<Cached *>(data)->handle, reinterpret_cast<void *>(0x1000), 1, &entry);
		return nullptr;
	};
	assert_int_equal(0, pthread_create(&thread, nullptr, body, &cache));
	usleep(50000);
	assert_int_equal(0, pthread_cancel(thread));
	assert_int_equal(0, pthread_join(thread, &result));
	assert_ptr_equal(PTHREAD_CANCELED, result);
	cache.owner.sleeps = false;
	assert_int_equal(0, cache.stat(UDREG_STAT_CACHE_ENTRIES));
	cache.take(0x1000, 1);
}

/* While another thread holds the cache's lock. */
TEST(a_child_has_no_caches)
{
	Cached cache(lazy);
	cache.owner.sleeps = true;
	std::thread other([&] { cache.take(0x1000, 1); });
	usleep(50000);
	const pid_t child = fork();
	if (child == 0) {
		alarm(20);
		udreg_cache_handle_t handle = nullptr;
		Owner owner;
		udreg_cache_attr_t attr = cache.attr;
		attr.reg_context = attr.dreg_context = attr.destructor_context = &owner;
		const bool ok = UDREG_CacheRelease(cache.handle) == UDREG_RC_INVALID_PARAM &&
				UDREG_CacheAccess(attr.cache_name, &handle) == UDREG_RC_NO_MATCH &&
				UDREG_CacheCreate(&attr) == UDREG_RC_SUCCESS &&
				UDREG_CacheAccess(attr.cache_name, &handle) == UDREG_RC_SUCCESS &&
				UDREG_CacheDestroy(handle) == UDREG_RC_SUCCESS && owner.destroyed == 1;
		_exit(ok ? 0 : 1);
	}
	int status = 0;
	assert_int_equal(child, waitpid(child, &status, 0));
	assert_int_equal(0, status);
	__atomic_store_n(&cache.owner.sleeps, false, __ATOMIC_RELAXED);
	other.join();
}

TEST(wrong_arguments)
{
	Cached cache(lazy);
	udreg_entry_t *entry = nullptr, other{};
	udreg_cache_handle_t handle = nullptr;
	char name[] = "elsewhere";
	void *page = reinterpret_cast<void *>(0x1000);
	uint64_t value;
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_CacheCreate(nullptr));
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_CacheCreate(&cache.attr)); /* there is one of that name */
	udreg_cache_attr_t attr = cache.attr;
	strcpy(attr.cache_name, name);
	attr.modes = 0x100;
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_CacheCreate(&attr));
	attr.modes = 0;
	attr.device_reg_func = nullptr;
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_CacheCreate(&attr));
	attr.device_reg_func = do_register;
	memset(attr.cache_name, 'x', sizeof(attr.cache_name));
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_CacheCreate(&attr));
	assert_int_equal(UDREG_RC_NO_MATCH, UDREG_CacheAccess(name, &handle));
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_CacheAccess(nullptr, &handle));
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_Register(cache.handle, page, 0, &entry));
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_Register(cache.handle, page, UINT64_MAX - 5, &entry));
	/* the last page cannot be rounded up to */
	assert_int_equal(UDREG_RC_INVALID_PARAM,
			 UDREG_Register(cache.handle, reinterpret_cast<void *>(-0x1800l), 0x1000, &entry));
	assert_null(entry);
	udreg_entry_t *given = cache.take(0x5000, 1);
	cache.give(given);
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_DecrRefcount(cache.handle, given)); /* it is nobody's */
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_Register(cache.handle, page, 1, nullptr));
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_Register(nullptr, page, 1, &entry));
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_DecrRefcount(cache.handle, &other));
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_DecrRefcount(cache.handle, nullptr));
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_GetStat(cache.handle, UDREG_STAT_CACHE_HIT, nullptr));
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_GetStat(cache.handle, static_cast<udreg_stat_t>(7), &value));
}

TEST(use_after_the_end)
{
	udreg_cache_handle_t stale;
	udreg_entry_t *entry = nullptr;
	{
		Cached cache(lazy);
		stale = cache.handle;
		entry = cache.take(0x1000, 1);
	}
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_DecrRefcount(stale, entry));
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_CacheRelease(stale));
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_CacheDestroy(stale));
}

TEST(the_last_release_empties)
{
	Cached cache(lazy);
	udreg_cache_handle_t second;
	assert_int_equal(UDREG_RC_SUCCESS, UDREG_CacheAccess(cache.attr.cache_name, &second));
	assert_ptr_equal(cache.handle, second);
	cache.give(cache.take(0x1000, 1));
	assert_int_equal(UDREG_RC_SUCCESS, UDREG_CacheRelease(second));
	assert_int_equal(0, cache.owner.ended);
	assert_int_equal(UDREG_RC_SUCCESS, UDREG_CacheRelease(cache.handle));
	assert_int_equal(1, cache.owner.ended);
	assert_int_equal(UDREG_RC_INVALID_PARAM, UDREG_CacheRelease(cache.handle));
}

TEST(threads_share_a_cache)
{
	Cached cache(lazy, 8);
	std::vector<std::thread> threads;
	int bad = 0;
	for (unsigned int t = 0; t < 4; t++)
		threads.emplace_back([&, t] {
			for (uint64_t i = 0; i < 2000; i++) {
				udreg_entry_t *entry = nullptr;
				const uint64_t addr = 0x1000 * (1 + (i * 7 + t) % 13);
				if (UDREG_Register(cache.handle, reinterpret_cast<void *>(addr), 1, &entry) ||
				    entry->address != addr || UDREG_DecrRefcount(cache.handle, entry))
					__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	assert_int_equal(0, bad);
	assert_true(cache.stat(UDREG_STAT_CACHE_ENTRIES) <= 8);
}

TEST_MAIN("tests")
