/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/mdd.hpp"

#include "nic/amo_cache.hpp"

namespace aries
{

namespace
{

constexpr unsigned int PAGE_SHIFT_MIN = 12;
constexpr unsigned int PAGE_SHIFT_MAX = 36; /* 64 GiB (N02) */

bool sensible(const MddView &view)
{
	const unsigned int shift = view.page_shift();

	return shift >= PAGE_SHIFT_MIN && shift <= PAGE_SHIFT_MAX && view.length >= 1 &&
	       view.length <= OFFSET_MASK + 1 && (!view.two_level() || shift == PAGE_SHIFT_MIN);
}

} // namespace

bool MddTable::publish(uint32_t mdh, const MddView &view) noexcept
{
	MddSlot &mdd = core_.own().mdd[mdh];

	if ((mdd.ctl.load(std::memory_order_relaxed) & ARIES_MDD_CTL_VALID_MASK) || !sensible(view))
		return false;
	if (draining() && (what_ == ALL || what_ == mdh))
		return false;
	mdd.base.store(view.base, std::memory_order_relaxed);
	mdd.length.store(view.length, std::memory_order_relaxed);
	mdd.table.store(view.table, std::memory_order_relaxed);
	mdd.cq_serial.store(view.has_cq() ? cq_serial_of(core_.own().cq[view.cq()]) : 0, std::memory_order_relaxed);
	renew(mdd);
	mdd.ctl.store(view.ctl, std::memory_order_release);
	return true;
}

/* Over a drain still under way (reset, bus mastering off) both phases have to be empty once. */
void MddTable::next_epoch(uint32_t what) noexcept
{
	both_phases_ = draining();
	phase_ = core_.own().epoch.fetch_add(1, std::memory_order_seq_cst) & 1;
	draining_ = true;
	what_ = both_phases_ ? ALL : what;
}

bool MddTable::invalidate(uint32_t mdh) noexcept
{
	if (draining())
		return false;
	core_.own().mdd[mdh].ctl.store(0, std::memory_order_seq_cst);
	renew(core_.own().mdd[mdh]);
	AmoCache(core_.own().amo_cache).drop(mdh);
	PteCache(core_.own().pte_cache).drop(mdh);
	next_epoch(mdh);
	return true;
}

bool MddTable::refresh(uint32_t mdh) noexcept
{
	if (draining())
		return false;
	renew(core_.own().mdd[mdh]);
	PteCache(core_.own().pte_cache).drop(mdh);
	next_epoch(mdh);
	return true;
}

void MddTable::invalidate_all() noexcept
{
	lose_ = true;
	for (auto &mdd : core_.own().mdd) {
		if (mdd.ctl.load(std::memory_order_relaxed))
			mdd.ctl.store(0, std::memory_order_seq_cst);
		renew(mdd);
	}
	PteCache(core_.own().pte_cache).drop_all();
	next_epoch(ALL);
}

/* Nobody visits any more. After a reset the memory is not ours to write to; else it gets what the AMO cache has. */
bool MddTable::settle_atomics() noexcept
{
	const RamMap *ram = lose_ ? nullptr : core_.maps.own();

	return AmoCache(core_.own().amo_cache)
		.empty(what_ == ALL || what_ == NONE ? AmoCache::ANY : what_, ram, core_.members);
}

bool MddTable::update_atomics() noexcept
{
	return lose_ || AmoCache(core_.own().amo_cache).update(core_.maps.own(), core_.members);
}

bool MddTable::draining() noexcept
{
	if (!draining_)
		return false;
	if (core_.members.in_flight(phase_) || (both_phases_ && core_.members.in_flight(phase_ ^ 1)))
		return true;
	if (core_.own().amo_lazy.load() && !settle_atomics())
		return true;
	draining_ = false;
	both_phases_ = false;
	lose_ = false;
	if (what_ == ALL)
		PteCache(core_.own().pte_cache).drop_all();
	else if (what_ != NONE)
		PteCache(core_.own().pte_cache).drop(what_);
	return false;
}

} // namespace aries
