/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address translation: from an offset in a memory domain to runs of host memory. */
#ifndef ARIES_NIC_ATT_HPP
#define ARIES_NIC_ATT_HPP

#include <cstring>

#include "nic/core/runs.hpp"
#include "nic/tables/mdd.hpp"
#include "nic/target/wide_copy.hpp"

namespace aries
{

/** What translations of one visit asked of the PTE cache and of the tables. */
struct PteUse {
	uint32_t hits = 0;
	uint32_t misses = 0;
	uint32_t evictions = 0;
	uint32_t walks = 0; /* reads of a table: a directory entry, or a line of page entries */
};

/** Translation in one memory domain, for as long as its visit lasts. */
class Translator
{
public:
	Translator(const RamMap &ram, const MddView &mdd, PteCacheSlot &cache, const Core &core, PteUse &use) noexcept
		: ram_(ram), mdd_(mdd), cache_(cache), core_(core), use_(use)
	{
	}

	/**
	 * Translates @bytes at @offset; the caller has checked the bounds.
	 * Return: ARIES_ST_OK, ARIES_ST_TRANSLATION (entry not valid, reserved bits, not memory), or ARIES_ST_ACCESS
	 * (page is not writable and @write).
	 */
	template <size_t N> uint8_t runs(uint64_t offset, uint64_t bytes, bool write, RunList<N> &list) noexcept
	{
		const unsigned int shift = mdd_.page_shift();
		const uint64_t page_size = uint64_t(1) << shift;
		uint64_t at = mdd_.position(offset) + (mdd_.base & (page_size - 1));
		const RamMap::Piece *ram = ram_.first();
		Line line;

		while (bytes) {
			const uint64_t in_page = at & (page_size - 1);
			uint64_t part = std::min(bytes, page_size - in_page);
			uint64_t pte;

			if (!entry_in(line, at >> shift, pte))
				return ARIES_ST_TRANSLATION;
			if (write && !(pte & ARIES_PTE_WRITE))
				return ARIES_ST_ACCESS;
			bytes -= part;
			at += part;
			if (!pieces((pte & ARIES_PTE_ADDR_MASK) + in_page, part, list, ram))
				return ARIES_ST_TRANSLATION;
		}
		return ARIES_ST_OK;
	}

	/**
	 * As runs(), for a range in one page and one piece of memory, which is what small operations have.
	 * @host: nullptr if the range is another one, with ARIES_ST_OK
	 */
	uint8_t spot(uint64_t offset, uint64_t bytes, bool write, uint8_t *&host) noexcept
	{
		const unsigned int shift = mdd_.page_shift();
		const uint64_t page_size = uint64_t(1) << shift;
		const uint64_t at = mdd_.position(offset) + (mdd_.base & (page_size - 1));
		const uint64_t in_page = at & (page_size - 1);
		uint64_t pte;

		host = nullptr;
		if (bytes - 1 >= page_size - in_page) /* nor any page for a range of nothing */
			return ARIES_ST_OK;
		if (!entry(at >> shift, pte))
			return ARIES_ST_TRANSLATION;
		if (write && !(pte & ARIES_PTE_WRITE))
			return ARIES_ST_ACCESS;
		host = ram_.span((pte & ARIES_PTE_ADDR_MASK) + in_page, bytes);
		return ARIES_ST_OK;
	}

private:
	/* The line of the cache that a range has come to. */
	struct Line {
		uint64_t number = UINT64_MAX;
		uint64_t pte[PTE_CACHE_LANES];
	};

	/* As entry(); the pages of a range mostly follow one another, and eight of them are found at once. */
	bool entry_in(Line &line, uint64_t page, uint64_t &pte) noexcept
	{
		const uint64_t number = page / PTE_CACHE_LANES;

		if (number != line.number)
			line.number = cache_.find_line(mdd_.tag + number, line.pte) ? number : UINT64_MAX;
		if (number == line.number && usable(line.pte[page % PTE_CACHE_LANES])) [[likely]] {
			pte = line.pte[page % PTE_CACHE_LANES];
			use_.hits++;
			return true;
		}
		use_.misses++;
		return miss(page, pte);
	}

	/* An entry that is not valid is never taken from the cache: the owner may have filled it in since. */
	bool entry(uint64_t page, uint64_t &pte) noexcept
	{
		if (cache_.find(mdd_.tag + page / PTE_CACHE_LANES, uint32_t(page % PTE_CACHE_LANES), pte) &&
		    usable(pte)) [[likely]] {
			use_.hits++;
			return true;
		}
		use_.misses++;
		return miss(page, pte);
	}

	static bool usable(uint64_t pte) noexcept
	{
		return (pte & (ARIES_PTE_VALID | ARIES_PTE_RSVD_MASK)) == ARIES_PTE_VALID;
	}

	bool miss(uint64_t page, uint64_t &pte) noexcept;
	bool mend(uint64_t page, uint64_t &pte) noexcept;
	bool find_table(uint64_t page, uint64_t &table, uint64_t &index) noexcept;
	bool word(uint64_t gpa, uint64_t &value) noexcept;

	/* @ram: the piece of memory that is looked at first; becomes the last one found */
	template <size_t N>
	bool pieces(uint64_t gpa, uint64_t bytes, RunList<N> &list, const RamMap::Piece *&ram) noexcept
	{
		while (bytes) {
			if (gpa - ram->gpa >= ram->size) [[unlikely]] {
				ram = ram_.piece(gpa);
				if (!ram)
					return false;
			}
			const uint64_t at = gpa - ram->gpa, span = std::min(ram->size - at, bytes);

			if (!list.add(ram->host + at, span))
				return false;
			gpa += span;
			bytes -= span;
		}
		return true;
	}

	const RamMap &ram_;
	const MddView &mdd_;
	PteCache cache_;
	const Core &core_;
	PteUse &use_;
};

/** Runs of a bus address range that needs no translation. */
template <size_t N> uint8_t physical_runs(const RamMap &ram, uint64_t gpa, uint64_t bytes, RunList<N> &list) noexcept
{
	while (bytes) {
		uint64_t span;
		uint8_t *host = ram.find(gpa, span);

		if (!host)
			return ARIES_ST_TRANSLATION;
		span = std::min(span, bytes);
		if (!list.add(host, span))
			return ARIES_ST_TRANSLATION;
		gpa += span;
		bytes -= span;
	}
	return ARIES_ST_OK;
}

/**
 * memmove() in guest memory. Who writes there at once with whom is between the
 * guests' programs, so the thread sanitizer is not shown these accesses.
 */
inline void move_bytes(uint8_t *to, const uint8_t *from, uint64_t bytes) noexcept
{
#if defined(__SANITIZE_THREAD__) && defined(__x86_64__)
	if (to <= from || to >= from + bytes) {
		asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
	} else {
		to += bytes - 1;
		from += bytes - 1;
		asm volatile("std; rep movsb; cld" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
	}
#else
	wide_copy(to, from, bytes);
#endif
}

/**
 * Stores @bytes into guest memory. What a guest may poll on, 4 or 8 aligned
 * bytes, arrives in one piece and after all stores before it.
 */
inline void store_bytes(uint8_t *to, const uint8_t *from, uint64_t bytes) noexcept
{
	if (bytes == 8 && !(reinterpret_cast<uintptr_t>(to) & 7)) {
		uint64_t value;

		memcpy(&value, from, 8);
		__atomic_store_n(reinterpret_cast<uint64_t *>(to), value, __ATOMIC_RELEASE);
	} else if (bytes == 4 && !(reinterpret_cast<uintptr_t>(to) & 3)) {
		uint32_t value;

		memcpy(&value, from, 4);
		__atomic_store_n(reinterpret_cast<uint32_t *>(to), value, __ATOMIC_RELEASE);
	} else {
		/* Source and target may be the same guest's and overlap. */
		move_bytes(to, from, bytes);
	}
}

} // namespace aries

#endif
