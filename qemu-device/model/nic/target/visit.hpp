/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests at their target: is there anybody, and may the packet do what it asks (N26). */
#ifndef ARIES_NIC_VISIT_HPP
#define ARIES_NIC_VISIT_HPP

#include "fabric/flight.hpp"
#include "nic/tables/cq.hpp"
#include "nic/tables/vmdh.hpp"
#include "nic/target/att.hpp"

namespace aries
{

/** What request packets ask for. */
struct Access {
	uint32_t node;
	uint16_t mdh;
	uint32_t key;
	uint64_t offset;
	uint64_t bytes;
	bool write;
	bool remote_event;
};

/**
 * Whether requests can reach @node now: ARIES_ST_OK, ARIES_ST_NO_NODE (no such
 * address, never there, left), ARIES_ST_TIMEOUT (dead, or not enabled).
 */
inline uint8_t target_state(Core &core, uint32_t node, uint64_t now) noexcept
{
	if (node >= core.segment.nodes())
		return ARIES_ST_NO_NODE;
	const Presence presence = core.members.presence(node, now);

	if (presence != Presence::ALIVE) [[unlikely]]
		return presence == Presence::ABSENT ? ARIES_ST_NO_NODE : ARIES_ST_TIMEOUT;
	/* With ONLINE_CARRIED besides it is on another host. */
	const uint32_t online = core.segment.node(node).online.load(std::memory_order_acquire);

	return online == ONLINE_ALL ? ARIES_ST_OK : ARIES_ST_TIMEOUT;
}

/**
 * Whether @node is on another host and serves requests: for who has asked target_state(), which says TIMEOUT then, as
 * nobody here can reach its memory.
 */
inline bool is_carried(const Core &core, uint32_t node) noexcept
{
	return core.segment.node(node).online.load(std::memory_order_acquire) == (ONLINE_ALL | ONLINE_CARRIED);
}

/** Whether the address is one of another host's nodes, as far as this host is concerned. */
inline bool lives_elsewhere(const Core &core, uint32_t node) noexcept
{
	return core.segment.node(node).carrier.load(std::memory_order_relaxed) != 0;
}

/** As target_state(), for who does not need the node's memory: nodes of other hosts can be reached, too. */
inline uint8_t reachable(Core &core, uint32_t node, uint64_t now) noexcept
{
	const uint8_t status = target_state(core, node, now);

	if (status != ARIES_ST_TIMEOUT || core.members.presence(node, now) != Presence::ALIVE)
		return status;
	return is_carried(core, node) ? uint8_t(ARIES_ST_OK) : status;
}

/**
 * A visit to the memory of a target: everything between construction and
 * destruction is seen by the target's invalidation. Check with admit(), then
 * translate with runs().
 */
class Visit
{
public:
	Visit(Core &core, uint32_t node) noexcept
		: core_(core), node_(node), guard_(core.segment, node, core.node), slot_(core.segment.node(node))
	{
	}
	~Visit()
	{
		Flight &counters = guard_.counters();

		if (use_.hits)
			count(counters.pte_hits, use_.hits);
		if (use_.misses) [[unlikely]]
			count_misses(counters);
	}

	/** All checks of a request but translation, in the order key, bounds, rights. Return: ARIES_ST_* */
	uint8_t admit(const Access &access) noexcept;

	/** The same for a range of our own memory (no key; codes carry ARIES_ST_LOCAL; ARIES_ST_DISABLED if switched
	 * off). */
	uint8_t admit_local(uint16_t mdh, uint8_t ptag, uint64_t offset, uint64_t bytes, bool write) noexcept;

	/** Translates for an access that begins afterwards, and ends before the visit. */
	template <size_t N> uint8_t runs(uint64_t offset, uint64_t bytes, bool write, RunList<N> &list) noexcept
	{
		const uint8_t status = find(offset, bytes, write, list);

		if (lazy() && status == ARIES_ST_OK) [[unlikely]]
			return settle(list.run, list.count, write);
		return status;
	}

	/** As runs(), for ranges in one page, and not lazy(); nullptr in @host for others. */
	[[gnu::always_inline]] inline uint8_t spot(uint64_t offset, uint64_t bytes, bool write, uint8_t *&host) noexcept
	{
		return Translator(*ram_, mdd_, slot_.pte_cache, core_, use_).spot(offset, bytes, write, host);
	}

	/** As runs(), for atomics: nothing leaves the AMO cache. */
	template <size_t N> uint8_t find(uint64_t offset, uint64_t bytes, bool write, RunList<N> &list) noexcept
	{
		return Translator(*ram_, mdd_, slot_.pte_cache, core_, use_).runs(offset, bytes, write, list);
	}

	/** Whether the AMO cache may have newer values than host memory (N12). */
	bool lazy() const noexcept { return slot_.amo_lazy.load(std::memory_order_relaxed) != 0; }
	/**
	 * Writes back what the AMO cache has of runs that are about to be accessed.
	 * Return: ARIES_ST_OK, ARIES_ST_TIMEOUT (a member keeps a line for a second: memory may be older than an
	 * atomic that is done), ARIES_ST_ECC (the result of one is lost)
	 */
	[[gnu::cold]] uint8_t settle(const Run *run, size_t count, bool write) noexcept;

	/** Bus addresses instead of a memory domain, of our own node. */
	uint8_t admit_physical() noexcept
	{
		ram_ = core_.maps.own();
		if ((slot_.online.load(std::memory_order_acquire) & ONLINE_ALL) != ONLINE_ALL)
			return ARIES_ST_DISABLED;
		return ram_ ? ARIES_ST_OK : ARIES_ST_LOCAL_TRANSLATION;
	}

	const RamMap *ram() const noexcept { return ram_; }
	const MddView &mdd() const noexcept { return mdd_; }
	/** Descriptor that was found, of a virtual handle too. */
	uint32_t mdh() const noexcept { return pte_tag_mdh(mdd_.tag); }
	uint32_t node() const noexcept { return node_; }
	/** A translation was not in the PTE cache. */
	bool walked() const noexcept { return use_.misses != 0; }
	uint32_t misses() const noexcept { return use_.misses; }
	/** Writes into the queue of the memory domain. */
	CqResult post(uint64_t entry) noexcept
	{
		return cq_post(core_, node_, ram_, mdd_.cq(), entry, slot_.mdd[mdh()].cq_serial.load());
	}
	void count_requests(uint64_t packets) noexcept { count(guard_.counters().requests, packets); }
	void count_duplicate() noexcept { count(guard_.counters().duplicates, 1); }
	/** Also where a page of a table cannot be had: entries of zeros are not valid. */
	void count_refused() noexcept
	{
		guard_.counters().refused.fetch_add(1, std::memory_order_relaxed);
		(void)lost();
	}
	/** What was read or written is not the node's memory: see PeerMaps::lost(). */
	[[gnu::always_inline]] inline bool lost() noexcept { return core_.maps.lost(node_, ram_); }
	/** What becomes of an access that has been made: ARIES_ST_OK, or ARIES_ST_TRANSLATION if it was lost(). */
	uint8_t settled() noexcept
	{
		if (!lost()) [[likely]]
			return ARIES_ST_OK;
		count_refused();
		return ARIES_ST_TRANSLATION;
	}

private:
	uint8_t damage() noexcept;
	[[gnu::cold, gnu::noinline]] uint8_t look_at_key(uint32_t wanted) noexcept;
	[[gnu::cold, gnu::noinline]] uint8_t look_at_queue() noexcept;

	/* Statistics: of two threads of this node that count at the same instant one may be forgotten. */
	static void count(std::atomic<uint64_t> &word, uint64_t n) noexcept
	{
		word.store(word.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
	}

	void count_misses(Flight &counters) const noexcept
	{
		count(counters.walks, use_.walks);
		count(counters.pte_misses, use_.misses);
		count(counters.pte_evictions, use_.evictions);
	}

	Core &core_;
	const uint32_t node_;
	FlightGuard guard_;
	NodeSlot &slot_;
	const RamMap *ram_ = nullptr;
	MddView mdd_ = {};
	PteUse use_;
};

/** What a failure at our own side of an operation is called. TIMEOUT is the same on either side: a peer does not go on.
 */
constexpr uint8_t local_status(uint8_t status)
{
	return status == ARIES_ST_OK || status == ARIES_ST_TIMEOUT ? status : uint8_t(status | ARIES_ST_LOCAL);
}

/** Whether the target keeps a record of its own for this refusal. */
constexpr bool target_records(uint8_t status)
{
	return status == ARIES_ST_PTAG || status == ARIES_ST_MDD || status == ARIES_ST_BOUNDS ||
	       status == ARIES_ST_ACCESS || status == ARIES_ST_TRANSLATION;
}

} // namespace aries

#endif
