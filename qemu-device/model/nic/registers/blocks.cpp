/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/registers/blocks.hpp"

#include "nic/tables/amo_cache.hpp"
#include "nic/tables/pte_cache.hpp"

namespace aries
{

namespace
{

/** What a block does not say of itself. */
struct Untouched {
	static void revoke(BlockUnits &, uint8_t) noexcept {}
	static void reset(BlockUnits &) noexcept {}
	static void on_death(BlockUnits &) noexcept {}
	static void sweep(BlockUnits &) noexcept {}
};

/** Each block of the list has one, or this does not compile. */
template <typename Block> struct Life;

/* Membership itself. */
template <> struct Life<MemberBlock> : Untouched {
};

/* PeerMaps publishes and withdraws memory; Drain has the epoch. */
template <> struct Life<RamBlock> : Untouched {
};

template <> struct Life<InterruptBlock> : Untouched {
	static void reset(BlockUnits &units) noexcept
	{
		units.core.own().irq_vectors.store(0);
		units.core.own().wake_sent.store(0);
	}
};

template <> struct Life<ErrorBlock> : Untouched {
	static void reset(BlockUnits &units) noexcept { units.core.errors.clear(); }
	static void on_death(BlockUnits &units) noexcept { units.core.errors.bury(); }
	static void sweep(BlockUnits &units) noexcept
	{
		if (units.core.errors.sweep())
			units.core.request_irq(units.core.node, 1);
	}
};

/* The entries themselves go with their tables. */
template <> struct Life<EccBlock> : Untouched {
	static void reset(BlockUnits &units) noexcept
	{
		for (EccSlot &slot : units.core.own().ecc) {
			slot.corrected.store(0);
			slot.damaged.store(0);
			slot.first.store(0);
			slot.first_at.store(0);
			slot.window.store(0);
			slot.threshold.store(0);
			slot.limit.store(0);
		}
		units.core.own().ecc_signal.store(0);
		units.core.own().ecc_stopped.store(0);
	}
};

/* Deaths concern engines of all nodes: Ce::sweep(). */
template <> struct Life<CollectiveBlock> : Untouched {
	static void revoke(BlockUnits &units, uint8_t status) noexcept { units.ces.reset(status); }
};

template <> struct Life<ReceiveBlock> : Untouched {
	static void revoke(BlockUnits &units, uint8_t) noexcept { units.receives.reset(); }
	static void on_death(BlockUnits &units) noexcept { units.receives.bury(); }
};

template <> struct Life<DomainBlock> : Untouched {
	static void revoke(BlockUnits &units, uint8_t) noexcept { units.mdds.revoke_all(); }
};

template <> struct Life<QueueBlock> : Untouched {
	static void revoke(BlockUnits &units, uint8_t) noexcept { units.cqs.stop_all(); }
	static void reset(BlockUnits &units) noexcept { units.cqs.clear(); }
	static void on_death(BlockUnits &units) noexcept { units.cqs.bury(); }
	static void sweep(BlockUnits &units) noexcept { units.cqs.sweep(); }
};

template <> struct Life<KeyBlock> : Untouched {
	static void revoke(BlockUnits &units, uint8_t) noexcept
	{
		for (auto &key : units.core.own().ptag_key)
			key.store(0);
	}
};

template <> struct Life<VmdhBlock> : Untouched {
	static void revoke(BlockUnits &units, uint8_t) noexcept
	{
		for (auto &entry : units.core.own().vmdh)
			entry.store(0);
	}
	static void reset(BlockUnits &units) noexcept
	{
		units.core.own().vmdh_hits.store(0);
		units.core.own().vmdh_misses.store(0);
	}
};

template <> struct Life<AmoBlock> : Untouched {
	static void reset(BlockUnits &units) noexcept
	{
		units.core.own().amo_lazy.store(0);
		AmoCache(units.core, units.core.node).reset();
	}
	static void on_death(BlockUnits &units) noexcept
	{
		AmoCache(units.core, units.core.node).bury(units.core.members);
	}
	/* Lazy is not never. */
	static void sweep(BlockUnits &units) noexcept
	{
		const NodeSlot &own = units.core.own();

		if (own.amo_lazy.load(std::memory_order_relaxed) && (own.online.load() & ONLINE_MASTER))
			units.mdds.update_atomics();
	}
};

/* A gateway drops what it brings back to another life; it finds that out within a visit, which is waited for. */
template <> struct Life<CarryBlock> : Untouched {
	static void revoke(BlockUnits &units, uint8_t) noexcept { units.core.own().carry_life.fetch_add(1); }
};

/* A line that a dead member was filling is replaced by the next who comes there. */
template <> struct Life<PteBlock> : Untouched {
	static void reset(BlockUnits &units) noexcept { PteCache(units.core.own().pte_cache).reset(); }
};

} // namespace

void blocks_revoke(BlockUnits &units, uint8_t status) noexcept
{
	NodeSlot::each([&]<typename Block>() { Life<Block>::revoke(units, status); });
}

void blocks_reset(BlockUnits &units) noexcept
{
	NodeSlot::each([&]<typename Block>() { Life<Block>::reset(units); });
}

void blocks_on_death(BlockUnits &units) noexcept
{
	NodeSlot::each([&]<typename Block>() { Life<Block>::on_death(units); });
}

void blocks_sweep(BlockUnits &units) noexcept
{
	NodeSlot::each([&]<typename Block>() { Life<Block>::sweep(units); });
}

} // namespace aries
