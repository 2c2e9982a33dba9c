/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/tables/mdd.hpp"

#include "nic/tables/amo_cache.hpp"

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

	if ((ecc_shown(mdd.ctl.load(std::memory_order_relaxed), MDD_ECC) & ARIES_MDD_CTL_VALID_MASK) ||
	    !sensible(view) || !leaving_.gone(mdh, drain_))
		return false;
	mdd.base.store(view.base, std::memory_order_relaxed);
	mdd.length.store(view.length, std::memory_order_relaxed);
	mdd.table.store(view.table, std::memory_order_relaxed);
	mdd.cq_serial.store(view.has_cq() ? cq_serial_of(core_.own().cq[view.cq()]) : 0, std::memory_order_relaxed);
	mdd.life.fetch_add(1, std::memory_order_relaxed);
	renew(mdd);
	mdd.ctl.store(view.ctl, std::memory_order_release);
	return true;
}

void MddTable::invalidate(uint32_t mdh) noexcept
{
	core_.own().mdd[mdh].ctl.store(0, std::memory_order_seq_cst);
	renew(core_.own().mdd[mdh]);
	AmoCache(core_, core_.node).drop(mdh);
	PteCache(core_.own().pte_cache).drop(mdh);
	leaving_.leave(mdh, drain_.begin());
}

void MddTable::refresh(uint32_t mdh) noexcept
{
	renew(core_.own().mdd[mdh]);
	PteCache(core_.own().pte_cache).drop(mdh);
	leaving_.leave(mdh, drain_.begin());
}

void MddTable::revoke_all() noexcept
{
	for (auto &mdd : core_.own().mdd) {
		if (mdd.ctl.load(std::memory_order_relaxed))
			mdd.ctl.store(0, std::memory_order_seq_cst);
		renew(mdd);
	}
	PteCache(core_.own().pte_cache).drop_all();
}

uint64_t MddTable::lose_atomics() noexcept
{
	lost_ = flush();
	return lost_;
}

uint64_t MddTable::flush() noexcept
{
	flushed_ = drain_.begin();
	return flushed_;
}

/* Nobody visits any more who began before: what is taken out here is not put in again. */
bool MddTable::settle() noexcept
{
	AmoCache atomics(core_, core_.node);
	const RamMap *ram = losing() ? nullptr : core_.maps.own();
	const bool lazy = core_.own().amo_lazy.load() != 0;

	const bool all = flushed_ > drain_.done() && flushed_ <= drain_.covers();

	if (lazy && all && !atomics.empty(AmoCache::ANY, ram, core_.members))
		return false;
	for (uint32_t mdh = 0; mdh < ARIES_MDD_ENTRIES; mdh++) {
		if (!leaving_.ends(mdh, drain_))
			continue;
		if (lazy && !all && !atomics.empty(mdh, ram, core_.members))
			return false;
		PteCache(core_.own().pte_cache).drop(mdh);
	}
	if (losing())
		PteCache(core_.own().pte_cache).drop_all();
	return true;
}

bool MddTable::update_atomics() noexcept
{
	return losing() || AmoCache(core_, core_.node).update(core_.maps.own(), core_.members);
}

} // namespace aries
