/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory domain descriptors: checks of an access, publication, invalidation. */
#ifndef ARIES_NIC_MDD_HPP
#define ARIES_NIC_MDD_HPP

#include "nic/core/core.hpp"
#include "nic/core/drain.hpp"
#include "nic/core/ecc.hpp"
#include "nic/tables/pte_cache.hpp"

namespace aries
{

/** A descriptor, copied once. */
struct MddView {
	uint64_t ctl;
	uint64_t base;
	uint64_t length;
	uint64_t table;
	uint64_t tag = 0; /* of its first line in the PTE cache */

	bool valid() const noexcept { return ctl & ARIES_MDD_CTL_VALID_MASK; }
	bool read_only() const noexcept { return ctl & ARIES_MDD_CTL_READ_ONLY_MASK; }
	bool two_level() const noexcept { return ctl & ARIES_MDD_CTL_TWO_LEVEL_MASK; }
	bool has_cq() const noexcept { return ctl & ARIES_MDD_CTL_CQ_VALID_MASK; }
	uint8_t ptag() const noexcept { return uint8_t(field(ctl, ARIES_MDD_CTL_PTAG_MASK)); }
	unsigned int page_shift() const noexcept { return unsigned(field(ctl, ARIES_MDD_CTL_PAGE_SHIFT_MASK)); }
	uint32_t cq() const noexcept { return uint32_t(field(ctl, ARIES_MDD_CTL_CQ_MASK)); }

	/** Bytes from the start of the region to @offset, modulo 2^40. */
	uint64_t position(uint64_t offset) const noexcept { return (offset - base) & OFFSET_MASK; }
	bool contains(uint64_t offset, uint64_t bytes) const noexcept { return position(offset) + bytes <= length; }
};

/** Copies descriptor @mdh of @slot; stable while the caller has a FlightGuard on that node. */
inline MddView mdd_load(const NodeSlot &slot, uint32_t mdh) noexcept
{
	const MddSlot &mdd = slot.mdd[mdh % ARIES_MDD_ENTRIES];
	MddView view;

	view.ctl = mdd.ctl.load(std::memory_order_acquire);
	view.base = mdd.base.load(std::memory_order_relaxed);
	view.length = mdd.length.load(std::memory_order_relaxed);
	view.table = mdd.table.load(std::memory_order_relaxed);
	view.tag = pte_tag(mdh % ARIES_MDD_ENTRIES, mdd.serial.load(std::memory_order_relaxed));
	return view;
}

/**
 * The owner's side of the table. One caller at a time (the NIC's control
 * mutex). A descriptor that was invalidated can be published again when its
 * drain is done.
 */
class MddTable
{
public:
	MddTable(Core &core, Drain &drain) noexcept : core_(core), drain_(drain) {}

	/** False, without effect, if the descriptor is valid, being drained, or the values make no sense. */
	bool publish(uint32_t mdh, const MddView &view) noexcept;
	/** Begins a drain. */
	void invalidate(uint32_t mdh) noexcept;
	/** All of them; the caller begins the drain. */
	void revoke_all() noexcept;
	/** What the AMO cache has is lost, not written back. Begins a drain and returns its ticket. */
	uint64_t lose_atomics() noexcept;
	/** Invalidates nothing, but the caches are empty at the end of the drain that this begins. */
	uint64_t flush() noexcept;
	/**
	 * Page entries of @mdh were changed in place: visits that begin from now on see the new ones. The others end
	 * with the drain that this begins.
	 */
	void refresh(uint32_t mdh) noexcept;
	/**
	 * The visits of the epoch that drains have ended: what they have left in the caches goes; host memory gets what
	 * the AMO cache has, unless that is to be lost. False if a peer keeps a line: to be called again.
	 */
	bool settle() noexcept;
	/** Host memory gets what the AMO cache has, unless a reset is draining. False if a peer keeps a line. */
	bool update_atomics() noexcept;

private:
	void renew(MddSlot &mdd) noexcept { mdd.serial.fetch_add(1, std::memory_order_seq_cst); }
	bool losing() const noexcept { return lost_ > drain_.done(); }

	Core &core_;
	Drain &drain_;
	Leaving<ARIES_MDD_ENTRIES> leaving_;
	uint64_t flushed_ = 0; /* ticket */
	uint64_t lost_ = 0;    /* ticket: until then what the AMO cache has is not written back */
};

} // namespace aries

#endif
