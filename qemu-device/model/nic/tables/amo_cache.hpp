/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The AMO cache of a target: 64 words (N12), used by all initiators at once.
 *
 * Host memory is updated with each operation, or lazily.
 *
 * With each operation: the values are those of host memory, and the cache knows names only. Nothing has to be written
 * back when a memory domain, a node or an initiator goes away, and nobody takes a lock.
 *
 * Lazily: a line holds the newest value, and what host memory held when the line last looked. All atomics of the node
 * then run under the lock of the word's set, and other accesses of a NIC write back what they are about to read or
 * overwrite before they touch it. A write back exchanges a value that memory still has: what was stored there
 * meanwhile, by a put at the same time or by a processor (N13), is newer and stays. Lines are named by bus address, so
 * a word that two memory domains share is one line.
 *
 * A line with two wrong bits (nic/core/ecc.hpp) whose result memory has is dropped. Else the result is lost, and memory
 * has an older one: the line stays, and refuses whoever wants the word, until all of it is overwritten or its memory
 * domain ends. So nobody takes the older one for the result.
 *
 * A line never outlives its memory domain: whoever ends a domain, or the NIC's mastering of the bus, waits for all
 * visits and then writes the lines back himself, before anybody is told that the memory is free.
 */
#ifndef ARIES_NIC_AMO_CACHE_HPP
#define ARIES_NIC_AMO_CACHE_HPP

#include "fabric/peermap.hpp"
#include "fabric/seglock.hpp"
#include "nic/core/ecc.hpp"
#include "nic/core/runs.hpp"
#include "nic/tables/amo.hpp"

namespace aries
{

inline constexpr uint32_t AMO_CACHE_ENTRIES = AMO_CACHE_SETS * AMO_CACHE_WAYS;
inline constexpr uint32_t AMO_CACHE_WORD = 8; /* bytes; two narrow neighbours share an entry */

static_assert(AMO_CACHE_ENTRIES == 64, "N12");

/** One atomic at its target. */
struct AmoRequest {
	AmoCommand command;
	uint32_t mdh;
	uint64_t offset;
	uint8_t *word; /* in this process */
	uint64_t first;
	uint64_t second;
};

/** What became of it. */
struct AmoResult {
	uint64_t old; /* value of the word before */
	bool hit;     /* the word was in the cache */
};

/** A view of the cache in the segment. All calls: any thread of any member, and bounded. */
class AmoCache
{
public:
	/** Without @core errors are not counted; there are none then but in tests. */
	AmoCache(AmoCacheSlot &slot, const Core *core, uint32_t node) noexcept : slot_(slot), core_(core), node_(node)
	{
	}
	/** That of @node. */
	AmoCache(const Core &core, uint32_t node) noexcept : AmoCache(core.segment.node(node).amo_cache, &core, node) {}

	/** A cached command uses the word at @offset of memory domain @mdh. Lock-free. Return: whether it was there */
	bool use(uint32_t mdh, uint64_t offset) noexcept;

	/** Whether a cached command would find the word. */
	bool holds(uint32_t mdh, uint64_t offset) const noexcept
	{
		for (const AmoLine &line : slot_.line[set_of(offset)]) {
			if (line.tag.load(std::memory_order_relaxed) == name(mdh, offset))
				return true;
		}
		return false;
	}

	/** The words of @mdh leave: the number may soon mean another region. Not with contents. */
	void drop(uint32_t mdh) noexcept;

	/** Empty, contents lost, and the counters zero. */
	void reset() noexcept;

	/**
	 * Lazy updates: runs @request, cached or not.
	 * @ram: of the target, valid for the whole call
	 * Return: ARIES_ST_OK, or without effect ARIES_ST_TIMEOUT (a live member keeps the lock), ARIES_ST_ECC (an
	 * earlier result is lost)
	 */
	uint8_t run(const AmoRequest &request, const RamMap &ram, Membership &members, AmoResult &result) noexcept;

	/**
	 * Lazy updates: the @count runs at @run are about to be read, or with @write overwritten. Host memory has
	 * every result there afterwards.
	 * Return: ARIES_ST_OK, ARIES_ST_TIMEOUT (a live member keeps a lock), ARIES_ST_ECC (a result is lost)
	 */
	uint8_t settle(const Run *run, size_t count, bool write, const RamMap &ram, Membership &members) noexcept;

	/** An error of one bit, or @twice of two, in line number @line; false if it is empty, or its lock is not to be
	 * had. */
	bool hit(uint32_t line, bool twice, Membership &members) noexcept;

	/** Lazy updates: all contents go to host memory, and stay here. Return: as empty() */
	bool update(const RamMap *ram, Membership &members) noexcept { return empty(ANY, ram, members, true); }

	/** Locks of members that are gone are taken over. */
	void bury(Membership &members) noexcept;

	static constexpr uint32_t ANY = UINT32_MAX;

	/**
	 * Lazy updates: all contents go to host memory, and the words of @mdh, or ANY, leave. Without @ram they are
	 * lost instead.
	 * @keep: nothing leaves
	 * Return: false if a live member keeps a lock
	 */
	bool empty(uint32_t mdh, const RamMap *ram, Membership &members, bool keep = false) noexcept;

private:
	static constexpr uint64_t VALID = uint64_t(1) << 63;

	static uint64_t name(uint32_t mdh, uint64_t offset) noexcept
	{
		return VALID | uint64_t(mdh) << ARIES_OFFSET_BITS | (offset & ~uint64_t(AMO_CACHE_WORD - 1));
	}
	static uint32_t mdh_of(uint64_t tag) noexcept
	{
		return uint32_t(tag >> ARIES_OFFSET_BITS) & (ARIES_MDD_ENTRIES - 1);
	}
	/* The low bits of an offset are those of its bus address. */
	static uint32_t set_of(uint64_t address) noexcept
	{
		return uint32_t(address / AMO_CACHE_WORD) % AMO_CACHE_SETS;
	}
	uint32_t insert(uint32_t set, uint64_t tag) noexcept;
	void settle_twins(uint32_t set, uint32_t mine, uint64_t tag) noexcept;
	bool hit_contents(uint32_t line, bool twice) noexcept;
	void mend_name(uint32_t set, uint64_t tag) noexcept;
	uint8_t mend(AmoLine &line, bool used) noexcept;
	void found(const AmoLine &line, bool twice) const noexcept;
	AmoLine *find(uint32_t set, uint64_t place) noexcept;
	AmoLine *victim(uint32_t set, const RamMap &ram) noexcept;
	AmoLine *take_in(uint32_t set, uint64_t tag, uint64_t place, const uint64_t *word, const RamMap &ram) noexcept;
	void write_back(AmoLine &line, const RamMap &ram) noexcept;
	static uint64_t execute(AmoLine &line, const AmoRequest &request, uint64_t at, uint64_t memory) noexcept;

	AmoCacheSlot &slot_;
	const Core *const core_;
	const uint32_t node_;
};

} // namespace aries

#endif
