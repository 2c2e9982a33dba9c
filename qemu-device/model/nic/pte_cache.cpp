/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
#include "nic/pte_cache.hpp"

namespace aries
{

/* The way of an older copy of the line, else an empty one, else they take turns. */
uint32_t PteCache::choose(PteCacheSet &set, uint32_t number, uint64_t tag) noexcept
{
	uint32_t empty = PTE_CACHE_WAYS;

	for (uint32_t way = 0; way < PTE_CACHE_WAYS; way++) {
		const uint64_t there = set.tag[way].load(std::memory_order_relaxed);

		if (there == tag)
			return way;
		if (!there && empty == PTE_CACHE_WAYS)
			empty = way;
	}
	if (empty < PTE_CACHE_WAYS)
		return empty;
	return slot_.next[number].fetch_add(1, std::memory_order_relaxed) % PTE_CACHE_WAYS;
}

bool PteCache::fill(Membership &members, uint64_t tag, const uint64_t (&line)[PTE_CACHE_LANES]) noexcept
{
	const uint32_t number = index(tag);
	PteCacheSet &set = slot_.set[number];
	const uint32_t way = choose(set, number, tag);
	uint64_t state = set.state[way].load(std::memory_order_relaxed);

	if (uint32_t(state) && members.holder_alive(uint32_t(state)))
		return false;
	if (!set.state[way].compare_exchange_strong(state, (state & ~uint64_t(UINT32_MAX)) | members.lock_word(),
						    std::memory_order_acq_rel, std::memory_order_relaxed))
		return false;
	const uint64_t before = set.tag[way].exchange(0, std::memory_order_acq_rel);

	/* Who reads one of these with acquire sees the state above, too. */
	for (uint32_t lane = 0; lane < PTE_CACHE_LANES; lane++)
		set.pte[way][lane].store(line[lane], std::memory_order_release);
	set.tag[way].store(tag, std::memory_order_release);
	set.state[way].store(((state >> 32) + 1) << 32, std::memory_order_release);
	return before && before != tag;
}

void PteCache::drop(uint32_t mdh) noexcept
{
	for (auto &set : slot_.set) {
		for (auto &way : set.tag) {
			uint64_t tag = way.load(std::memory_order_relaxed);

			if (tag && pte_tag_mdh(tag) == mdh && way.compare_exchange_strong(tag, 0))
				slot_.invalidations.fetch_add(1, std::memory_order_relaxed);
		}
	}
}

void PteCache::drop_all() noexcept
{
	for (auto &set : slot_.set) {
		for (auto &way : set.tag) {
			if (way.exchange(0))
				slot_.invalidations.fetch_add(1, std::memory_order_relaxed);
		}
	}
}

} // namespace aries
