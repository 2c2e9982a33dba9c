/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PTE cache of a target: 128 entries of eight page entries each, 4-way (N03). It lies in the target's part of the
 * segment, and whoever visits the target's memory looks up and fills it, without waiting for anybody.
 *
 * No stale entry is ever used: a tag carries the serial number of its memory domain descriptor, which the owner
 * changes whenever a descriptor is published and whenever entries were changed in place. So what a visit that began
 * before brings in late matches no visit that begins after it.
 */
#ifndef ARIES_NIC_PTE_CACHE_HPP
#define ARIES_NIC_PTE_CACHE_HPP

#include "fabric/membership.hpp"

namespace aries
{

static_assert(PTE_CACHE_SETS * PTE_CACHE_WAYS == ARIES_PTE_CACHE_ENTRIES && PTE_CACHE_LANES == ARIES_PTE_CACHE_PTES,
	      "N03");

inline constexpr uint64_t PTE_TAG_WHOLE = uint64_t(1) << 63; /* not set: an error has hit the line */

/** Tag of the line with number 0 of a memory domain; the number of a line goes into the low bits. Never 0. */
constexpr uint64_t pte_tag(uint32_t mdh, uint64_t serial)
{
	return PTE_TAG_WHOLE | (serial & 0x1ffffff) << 38 | uint64_t(mdh) << 26;
}

constexpr uint32_t pte_tag_mdh(uint64_t tag)
{
	return uint32_t(tag >> 26) & (ARIES_MDD_ENTRIES - 1);
}

/** A view of the cache in the segment. All calls: any thread of any member, bounded. */
class PteCache
{
public:
	explicit PteCache(PteCacheSlot &slot) noexcept : slot_(slot) {}

	/** Looks lane @lane of the line with @tag up. */
	bool find(uint64_t tag, uint32_t lane, uint64_t &pte) const noexcept
	{
		return look_up(tag,
			       [lane, &pte](const auto &lanes) { pte = lanes[lane].load(std::memory_order_acquire); });
	}

	/** Looks all of the line with @tag up: one look for whoever wants several of its lanes. */
	bool find_line(uint64_t tag, uint64_t (&line)[PTE_CACHE_LANES]) const noexcept
	{
		return look_up(tag, [&line](const auto &lanes) {
			for (uint32_t lane = 0; lane < PTE_CACHE_LANES; lane++)
				line[lane] = lanes[lane].load(std::memory_order_acquire);
		});
	}

	/**
	 * Takes a line in, unless another member is at the same place. One that died there is replaced.
	 * Return: whether another line had to go
	 */
	bool fill(Membership &members, uint64_t tag, const uint64_t (&line)[PTE_CACHE_LANES]) noexcept;

	/** The lines of @mdh leave. */
	void drop(uint32_t mdh) noexcept;
	void drop_all() noexcept;
	/** Empty, and the counter zero. */
	void reset() noexcept
	{
		drop_all();
		slot_.invalidations.store(0);
		slot_.hit.store(0);
	}

	/** An error of one bit, or @twice of two, in line number @line of the cache; false if the line is empty. */
	bool hit(uint32_t line, bool twice) noexcept;
	bool is(const PteCacheSlot &slot) const noexcept { return &slot == &slot_; }
	/** Whether lines have been hit since the reset. */
	bool any_hit() const noexcept { return slot_.hit.load(std::memory_order_relaxed) != 0; }
	/**
	 * Looks for a line of @tag that was hit: with one wrong bit it is whole again, with two it has left.
	 * Return: its number, or NONE
	 */
	uint32_t mend(uint64_t tag, bool &twice) noexcept;
	static constexpr uint32_t NONE = UINT32_MAX;

private:
	/*
	 * Calls @read with the lanes of the line with @tag. The second look at the state tells that nobody has replaced
	 * the line meanwhile; the order of loads is that of the stores in fill().
	 */
	template <typename Read> bool look_up(uint64_t tag, Read &&read) const noexcept
	{
		const PteCacheSet &set = slot_.set[index(tag)];

		for (uint32_t way = 0; way < PTE_CACHE_WAYS; way++) {
			if (set.tag[way].load(std::memory_order_relaxed) != tag)
				continue;
			const uint64_t state = set.state[way].load(std::memory_order_acquire);

			if (uint32_t(state) || set.tag[way].load(std::memory_order_acquire) != tag)
				continue;
			read(set.pte[way]);
			if (set.state[way].load(std::memory_order_relaxed) == state)
				return true;
		}
		return false;
	}

	/* Neighbouring lines of a domain go to neighbouring sets, and first lines of several domains to several. */
	static uint32_t index(uint64_t tag) noexcept { return (uint32_t(tag) + pte_tag_mdh(tag)) % PTE_CACHE_SETS; }
	void set_twice(uint32_t line, bool on) noexcept;
	uint32_t choose(PteCacheSet &set, uint32_t number, uint64_t tag) noexcept;

	PteCacheSlot &slot_;
};

} // namespace aries

#endif
