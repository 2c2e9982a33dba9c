/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory domain descriptors: checks of an access, publication, invalidation. */
#ifndef ARIES_NIC_MDD_HPP
#define ARIES_NIC_MDD_HPP

#include "nic/core.hpp"

namespace aries
{

/** A descriptor, copied once. */
struct MddView {
	uint64_t ctl;
	uint64_t base;
	uint64_t length;
	uint64_t table;

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
	return view;
}

/**
 * The owner's side of the table. One caller at a time (the NIC's control
 * mutex). Invalidation: clear VALID, move to the next epoch, then wait until
 * nobody is left in the old one.
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
	/** Starts a drain that invalidates nothing. */
	void next_epoch() noexcept { next_epoch(NONE); }
	/** True while accesses that began before the last invalidation are in flight. */
	bool draining() noexcept;

private:
	static constexpr uint32_t ALL = UINT32_MAX;
	static constexpr uint32_t NONE = UINT32_MAX - 1;

	void next_epoch(uint32_t what) noexcept;

	Core &core_;
	bool draining_ = false;
	bool both_phases_ = false;
	unsigned int phase_ = 0;
	uint32_t what_ = 0;
};

} // namespace aries

#endif
