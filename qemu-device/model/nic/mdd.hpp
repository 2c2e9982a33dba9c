/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory domain descriptors: checks of an access, publication, invalidation. */
#ifndef ARIES_NIC_MDD_HPP
#define ARIES_NIC_MDD_HPP

#include "nic/core.hpp"
#include "nic/pte_cache.hpp"

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
 * mutex). Invalidation: clear VALID, move to the next epoch, then wait until
 * nobody is left in the old one, and drop what those have left in the PTE
 * cache.
 */
class MddTable
{
public:
	explicit MddTable(Core &core) noexcept : core_(core) {}

	/** False, without effect, if the descriptor is valid, being drained, or the values make no sense. */
	bool publish(uint32_t mdh, const MddView &view) noexcept;
	/** False if an invalidation is still draining. */
	bool invalidate(uint32_t mdh) noexcept;
	void invalidate_all() noexcept;
	/**
	 * Page entries of @mdh were changed in place: visits that begin from now on see the new ones. The others end
	 * with the drain. False if one is under way.
	 */
	bool refresh(uint32_t mdh) noexcept;
	/** Starts a drain that invalidates nothing. */
	void next_epoch() noexcept { next_epoch(NONE); }
	/** True while accesses that began before the last invalidation are in flight, or their atomics in the cache. */
	bool draining() noexcept;
	/** Host memory gets what the AMO cache has, unless a reset is draining. False if a peer keeps a line. */
	bool update_atomics() noexcept;

private:
	static constexpr uint32_t ALL = UINT32_MAX;
	static constexpr uint32_t NONE = UINT32_MAX - 1;

	void next_epoch(uint32_t what) noexcept;
	bool settle_atomics() noexcept;

	void renew(MddSlot &mdd) noexcept { mdd.serial.fetch_add(1, std::memory_order_seq_cst); }

	Core &core_;
	bool draining_ = false;
	bool both_phases_ = false;
	bool lose_ = false; /* what the AMO cache has is not written back */
	unsigned int phase_ = 0;
	uint32_t what_ = 0;
};

} // namespace aries

#endif
