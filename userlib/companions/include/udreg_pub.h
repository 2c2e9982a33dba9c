/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * udreg: a cache of memory registrations. The owner of a cache says how memory
 * is registered; the cache says when. Link with libudreg (pkg-config cray-udreg).
 *
 * Addresses and lengths are widened to whole pages of 4 KiB. A cache may be used
 * by several threads; its callbacks are called with its lock held and must not
 * call the cache. A callback may end by a C++ exception, or with its thread,
 * which may be cancelled there and nowhere else: the cache is whole then, without
 * the registration that was to be made, or was to end. A child of fork() has no
 * caches: handles of its parent are none there.
 *
 * The cache does not see that memory is unmapped. With UDREG_CC_MODE_USE_KERNEL_CACHE,
 * which asks for that, it keeps no entry that nobody uses, lazy or not: none can
 * outlive its memory. Who unmaps memory while entries are kept
 * (UDREG_CC_MODE_USE_LAZY_DEREG alone) says so by UDREG_InvalidateRange().
 */
#ifndef UDREG_PUB_H
#define UDREG_PUB_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UDREG_MAX_CACHENAME_LEN 63

/* Modes. */
#define UDREG_CC_MODE_USE_LARGE_PAGES 0x1   /* where huge pages are, widen to those */
#define UDREG_CC_MODE_USE_LAZY_DEREG 0x2    /* keep entries that nobody uses, the latest used longest */
#define UDREG_CC_MODE_USE_KERNEL_CACHE 0x4  /* memory may be unmapped unannounced: keep nothing unused */
#define UDREG_CC_MODE_USE_EVICT_W_UNREG 0x8 /* UDREG_Unregister() removes, even if lazy */

/*
 * What device_reg_func returns where this memory cannot be registered: INVALID_PARAM. NULL says that there is no room
 * for another registration: NO_SPACE, for which one evicts and tries again.
 */
#define UDREG_DEVICE_REG_FAILED ((void *)-1)

typedef enum udreg_return {
	UDREG_RC_SUCCESS = 0,
	UDREG_RC_INVALID_PARAM, /* null pointer, unknown handle or entry, empty or wrapping range, name too long, or
				   device_reg_func said UDREG_DEVICE_REG_FAILED */
	UDREG_RC_ERROR_NO_DEVICE,
	UDREG_RC_NO_SPACE, /* every entry is in use, device_reg_func said NULL, or no memory */
	UDREG_RC_NO_MATCH  /* no cache of that name; nothing to evict */
} udreg_return_t;

typedef enum udreg_stat {
	UDREG_STAT_CACHE_HIT = 0,
	UDREG_STAT_CACHE_MISS,
	UDREG_STAT_CACHE_EVICTED, /* removed to make room, by UDREG_Evict() or UDREG_InvalidateRange() */
	UDREG_STAT_CACHE_ENTRIES
} udreg_stat_t;

typedef struct udreg_cache_attr {
	char cache_name[UDREG_MAX_CACHENAME_LEN + 1];
	uint32_t max_entries; /* 0: no limit */
	uint32_t modes;
	uint32_t debug_mode; /* not 0: a line on stderr for each registration and its end */
	uint32_t debug_rank; /* named in those lines */
	void *reg_context;
	void *dreg_context;
	void *destructor_context;
	void *(*device_reg_func)(void *addr, uint64_t length, void *context);
	uint32_t (*device_dereg_func)(void *device_data, void *context);
	void (*destructor_callback)(void *context); /* after the last entry; may be null */
} udreg_cache_attr_t;

typedef struct udreg_cache *udreg_cache_handle_t;

typedef struct udreg_entry {
	void *device_data; /* of device_reg_func; the owner may exchange it */
	uint64_t address;  /* of the first page */
	uint64_t length;
	uint32_t ref_count;
} udreg_entry_t;

/* Makes a cache; UDREG_RC_INVALID_PARAM if there is one of that name. */
udreg_return_t UDREG_CacheCreate(udreg_cache_attr_t *attr);

/* A handle of a cache. After the last UDREG_CacheRelease() entries that nobody uses are gone; the cache is not. */
udreg_return_t UDREG_CacheAccess(char *cache_name, udreg_cache_handle_t *handle);
udreg_return_t UDREG_CacheRelease(udreg_cache_handle_t handle);

/* Ends all registrations and the cache. Handles and entries are not valid then; using them is UDREG_RC_INVALID_PARAM.
 */
udreg_return_t UDREG_CacheDestroy(udreg_cache_handle_t handle);

/*
 * A registration that covers the range: one that is there, or a new one. Counts
 * one use, ended by UDREG_DecrRefcount() or UDREG_Unregister().
 */
udreg_return_t UDREG_Register(udreg_cache_handle_t handle, void *addr, uint64_t length, udreg_entry_t **entry);
udreg_return_t UDREG_Unregister(udreg_cache_handle_t handle, udreg_entry_t *entry);
udreg_return_t UDREG_DecrRefcount(udreg_cache_handle_t handle, udreg_entry_t *entry);

/* Ends the registration that has been unused longest. */
udreg_return_t UDREG_Evict(udreg_cache_handle_t handle);

/*
 * Memory has gone or will go: registrations that touch the range are not found
 * any more; they end at once, or with their last use.
 */
udreg_return_t UDREG_InvalidateRange(udreg_cache_handle_t handle, void *addr, uint64_t length);

udreg_return_t UDREG_GetStat(udreg_cache_handle_t handle, udreg_stat_t stat, uint64_t *value);
/* Counts from 0 on; UDREG_STAT_CACHE_ENTRIES, which tells what is there, is UDREG_RC_INVALID_PARAM. */
udreg_return_t UDREG_ResetStat(udreg_cache_handle_t handle, udreg_stat_t stat);

#ifdef __cplusplus
}
#endif

#endif /* UDREG_PUB_H */
