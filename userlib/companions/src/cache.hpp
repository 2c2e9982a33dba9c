// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file A cache of registrations: what covers a range, in which order it was used, who uses it. */
#pragma once

#include "udreg_pub.h"

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace udreg
{

/**
 * One cache. Methods take the lock. Whichever way a function of the owner's ends, by an exception or with its thread,
 * the cache is whole: what it was to register is not there, what it was to end is gone. Entries are found by address:
 * they may overlap, because a range that no single entry covers gets one of its own.
 */
class Cache
{
public:
	explicit Cache(const udreg_cache_attr_t &attr) : attr_(attr) {}
	Cache(const Cache &) = delete;
	Cache &operator=(const Cache &) = delete;
	~Cache() = default;

	/** Ends all registrations and calls the destructor callback; there are none afterwards. False at the second
	 * time. */
	bool close();
	udreg_return_t acquire(uint64_t address, uint64_t length, udreg_entry_t **entry);
	/** @param drop do not keep it once nobody uses it */
	udreg_return_t release(udreg_entry_t *entry, bool drop);
	udreg_return_t evict();
	udreg_return_t invalidate(uint64_t address, uint64_t length);
	/** Ends what nobody uses. */
	void trim();
	udreg_return_t stat(udreg_stat_t stat, uint64_t *value);
	udreg_return_t reset_stat(udreg_stat_t stat);

	/** Without a kernel that tells of unmapped memory nothing is kept for callers that count on it. */
	bool lazy() const
	{
		return (attr_.modes & (UDREG_CC_MODE_USE_LAZY_DEREG | UDREG_CC_MODE_USE_KERNEL_CACHE)) ==
		       UDREG_CC_MODE_USE_LAZY_DEREG;
	}
	bool evicts_on_unregister() const { return attr_.modes & UDREG_CC_MODE_USE_EVICT_W_UNREG; }

	/** Handles that users have; the table of caches guards it. */
	unsigned int users = 0;

private:
	struct Entry {
		udreg_entry_t shown{};
		bool stale = false; /* invalid, but in use */
		std::list<udreg_entry_t *>::iterator idle;
		std::multimap<uint64_t, udreg_entry_t *>::iterator place;
	};
	using Entries = std::map<const udreg_entry_t *, std::unique_ptr<Entry>>;

	Entry *find(uint64_t address, uint64_t end);
	bool make_room();
	bool insert(uint64_t address, uint64_t length, Entries::iterator *place);
	void remove(Entries::iterator entry);
	void end(Entries::iterator entry);
	void end_oldest();
	void say(const char *what, const udreg_entry_t &entry) const;
	/** Bytes of the page that is at an address, as far as the mode wants to know. */
	uint64_t page(uint64_t address) const;

	const udreg_cache_attr_t attr_;
	std::mutex lock_;
	bool closed_ = false;
	Entries entries_;
	std::multimap<uint64_t, udreg_entry_t *> by_address_; /* those that may be found, by their first byte */
	std::list<udreg_entry_t *> idle_;                     /* those that nobody uses; the oldest first */
	uint64_t longest_ = 0;                                /* no entry is longer */
	uint64_t hits_ = 0, misses_ = 0, evicted_ = 0;
};

} // namespace udreg
