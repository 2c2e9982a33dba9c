/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The AMO cache of a target: which 64 words the NIC holds (N12). Words are
 * written to host memory with every operation, and the values are taken from
 * there as well: the cache knows names and no contents. So nothing has to be
 * written back when a memory domain, a node or an initiator goes away, nobody
 * holds a lock that could outlive him, and cached and other commands agree.
 */
#ifndef ARIES_NIC_AMO_CACHE_HPP
#define ARIES_NIC_AMO_CACHE_HPP

#include "fabric/layout.hpp"

namespace aries
{

inline constexpr uint32_t AMO_CACHE_ENTRIES = AMO_CACHE_SETS * AMO_CACHE_WAYS;
inline constexpr uint32_t AMO_CACHE_WORD = 8; /* bytes; two narrow neighbours share an entry */

static_assert(AMO_CACHE_ENTRIES == 64, "N12");

/** A view of the cache in the segment. All calls: any thread of any member, lock-free, and bounded. */
class AmoCache
{
public:
	explicit AmoCache(AmoCacheSlot &slot) noexcept : slot_(slot) {}

	/** A cached command uses the word at @offset of memory domain @mdh. */
	void use(uint32_t mdh, uint64_t offset) noexcept
	{
		const uint64_t tag = name(mdh, offset);
		const uint32_t set = uint32_t(offset / AMO_CACHE_WORD) % AMO_CACHE_SETS;

		for (const auto &way : slot_.tag[set]) {
			if (way.load(std::memory_order_relaxed) == tag) {
				slot_.hits.fetch_add(1, std::memory_order_relaxed);
				return;
			}
		}
		slot_.misses.fetch_add(1, std::memory_order_relaxed);
		settle(set, insert(set, tag), tag);
	}

	/** The words of @mdh leave: the number may soon mean another region. */
	void drop(uint32_t mdh) noexcept
	{
		for (auto &set : slot_.tag) {
			for (auto &way : set) {
				uint64_t tag = way.load(std::memory_order_relaxed);

				if (tag && (tag & ~VALID) >> ARIES_OFFSET_BITS == mdh)
					way.compare_exchange_strong(tag, 0);
			}
		}
	}

	/** Empty, and the counters zero. */
	void reset() noexcept
	{
		for (auto &set : slot_.tag) {
			for (auto &way : set)
				way.store(0);
		}
		for (auto &next : slot_.next)
			next.store(0);
		slot_.hits.store(0);
		slot_.misses.store(0);
		slot_.evictions.store(0);
	}

private:
	static constexpr uint64_t VALID = uint64_t(1) << 63;

	static uint64_t name(uint32_t mdh, uint64_t offset) noexcept
	{
		return VALID | uint64_t(mdh) << ARIES_OFFSET_BITS | (offset & ~uint64_t(AMO_CACHE_WORD - 1));
	}

	/* An empty way if there is one, else that of the word which came first. Return: the way */
	uint32_t insert(uint32_t set, uint64_t tag) noexcept
	{
		for (uint32_t way = 0; way < AMO_CACHE_WAYS; way++) {
			uint64_t empty = 0;

			if (slot_.tag[set][way].compare_exchange_strong(empty, tag))
				return way;
		}
		const uint32_t way = slot_.next[set].fetch_add(1) % AMO_CACHE_WAYS;
		const uint64_t before = slot_.tag[set][way].exchange(tag);

		if (before && before != tag)
			slot_.evictions.fetch_add(1, std::memory_order_relaxed);
		return way;
	}

	/* Another initiator may have brought the same word in at the same time: the lower way stays. */
	void settle(uint32_t set, uint32_t mine, uint64_t tag) noexcept
	{
		for (uint32_t way = 0; way < AMO_CACHE_WAYS; way++) {
			uint64_t same = tag;

			if (way != mine && slot_.tag[set][way].load() == tag)
				slot_.tag[set][way > mine ? way : mine].compare_exchange_strong(same, 0);
		}
	}

	AmoCacheSlot &slot_;
};

} // namespace aries

#endif
