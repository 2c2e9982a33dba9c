/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/target/att.hpp"

namespace aries
{

/* One entry, read once: the guest may change it meanwhile. */
bool Translator::word(uint64_t gpa, uint64_t &value) noexcept
{
	const uint8_t *host = ram_.span(gpa, 8);

	if (!host || (gpa & 7))
		return false;
	use_.walks++;
	value = __atomic_load_n(reinterpret_cast<const uint64_t *>(host), __ATOMIC_RELAXED);
	return usable(value);
}

/* Table of page entries that has the entry of @page, and its place in there. */
bool Translator::find_table(uint64_t page, uint64_t &table, uint64_t &index) noexcept
{
	uint64_t directory;

	table = mdd_.table;
	index = page;
	if (!mdd_.two_level())
		return true;
	if (!word(mdd_.table + page / ARIES_PTES_PER_PAGE * 8, directory))
		return false;
	table = directory & ARIES_PTE_ADDR_MASK;
	index = page % ARIES_PTES_PER_PAGE;
	return true;
}

/* The line is there, but for wrong bits. With two of them it is read again: host memory has all that it had. */
bool Translator::mend(uint64_t page, uint64_t &pte) noexcept
{
	const uint64_t tag = mdd_.tag + page / PTE_CACHE_LANES;
	bool twice = false;
	const uint32_t line = cache_.mend(tag, twice);

	if (line == PteCache::NONE)
		return false;
	/* Whose cache it is nobody else wants to know. */
	uint32_t node = 0;

	while (!cache_.is(core_.segment.node(node).pte_cache))
		node++;
	ecc_found(core_, node, ARIES_RAS_PTE, line, twice);
	if (twice || !cache_.find(tag, uint32_t(page % PTE_CACHE_LANES), pte) || !usable(pte))
		return false;
	use_.misses--;
	use_.hits++;
	return true;
}

/* Reads the line of eight entries around @page and leaves it in the cache. */
bool Translator::miss(uint64_t page, uint64_t &pte) noexcept
{
	if (cache_.any_hit() && mend(page, pte)) [[unlikely]]
		return true;
	const unsigned int shift = mdd_.page_shift();
	const uint64_t in_first = mdd_.base & ((uint64_t(1) << shift) - 1);
	const uint64_t first = page - page % PTE_CACHE_LANES;
	const uint64_t last = (in_first + mdd_.length - 1) >> shift;
	const uint64_t lanes = std::min<uint64_t>(PTE_CACHE_LANES, last - first + 1);
	uint64_t line[PTE_CACHE_LANES] = {};
	uint64_t table;
	uint64_t index;

	if (!find_table(page, table, index))
		return false;
	const uint64_t gpa = table + (index - page % PTE_CACHE_LANES) * 8;
	const uint8_t *host = gpa & 7 ? nullptr : ram_.span(gpa, lanes * 8);

	/* A table whose end is no memory may have this entry all the same. */
	if (!host)
		return word(table + index * 8, pte);
	use_.walks++;
	for (uint64_t lane = 0; lane < lanes; lane++)
		line[lane] = __atomic_load_n(reinterpret_cast<const uint64_t *>(host) + lane, __ATOMIC_RELAXED);
	pte = line[page % PTE_CACHE_LANES];
	if (!usable(pte))
		return false;
	use_.evictions += cache_.fill(core_.members, mdd_.tag + page / PTE_CACHE_LANES, line);
	return true;
}

} // namespace aries
