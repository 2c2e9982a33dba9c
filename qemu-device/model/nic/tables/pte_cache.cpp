/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/tables/pte_cache.hpp"

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

	if (any_hit()) [[unlikely]]
		set_twice(number * PTE_CACHE_WAYS + way, false);
	/* Who reads one of these with acquire sees the state above, too. */
	for (uint32_t lane = 0; lane < PTE_CACHE_LANES; lane++)
		set.pte[way][lane].store(line[lane], std::memory_order_release);
	set.tag[way].store(tag, std::memory_order_release);
	set.state[way].store(((state >> 32) + 1) << 32, std::memory_order_release);
	return before && before != tag;
}

void PteCache::set_twice(uint32_t line, bool on) noexcept
{
	std::atomic<uint64_t> &word = slot_.twice[line / 64];
	const uint64_t bit = uint64_t(1) << line % 64;

	if (on)
		word.fetch_or(bit);
	else
		word.fetch_and(~bit);
}

bool PteCache::hit(uint32_t line, bool twice) noexcept
{
	std::atomic<uint64_t> &place = slot_.set[line / PTE_CACHE_WAYS].tag[line % PTE_CACHE_WAYS];
	uint64_t tag = place.load();

	slot_.hit.store(1);
	do {
		/* A tag of nothing but WHOLE would be that of an empty line: serial numbers start above 0. */
		if (!(tag & ~PTE_TAG_WHOLE))
			return false;
		if (twice)
			set_twice(line, true);
	} while (!place.compare_exchange_weak(tag, tag & ~PTE_TAG_WHOLE));
	return true;
}

uint32_t PteCache::mend(uint64_t tag, bool &twice) noexcept
{
	const uint32_t number = index(tag);

	for (uint32_t way = 0; way < PTE_CACHE_WAYS; way++) {
		const uint32_t line = number * PTE_CACHE_WAYS + way;
		uint64_t there = tag & ~PTE_TAG_WHOLE;

		twice = slot_.twice[line / 64].load() >> line % 64 & 1;
		if (!slot_.set[number].tag[way].compare_exchange_strong(there, twice ? 0 : tag))
			continue;
		set_twice(line, false);
		return line;
	}
	return NONE;
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
