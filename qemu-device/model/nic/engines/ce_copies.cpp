/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of collectives that come twice, by the faults that are injected. */
#include <new>

#include "nic/engines/ce.hpp"

namespace aries
{

void Ce::count_duplicate(CePlace at) noexcept
{
	FlightGuard guard(core_.segment, at.node, core_.node);

	guard.counters().duplicates.fetch_add(1, std::memory_order_relaxed);
}

/* One packet with a contribution. A copy may come at once, or when all is over. */
uint8_t Ce::give(CePlace at, uint32_t index, const CeSender &sender, const CeContribution &what, Step &step) noexcept
{
	const bool again = core_.faults.any() && core_.faults.take_duplicates(1);
	const bool late = again && core_.faults.reorder();
	const uint8_t status = contribute(at, index, sender, what, step);

	if (!again)
		return status;
	Step none;
	CeSender copy = sender;

	copy.control = nullptr;
	if (late)
		drive(step);
	(void)contribute(at, index, copy, what, none);
	drive(none);
	return status;
}

/* An outcome's packet comes again: at once, or when the next outcome is on its way. */
void Ce::copy_down(CePlace from, const Delivery &delivery) noexcept
{
	Step none;

	if (!core_.faults.reorder() || !keep_late(from, delivery))
		hand_down(from, delivery, none);
}

bool Ce::keep_late(CePlace from, const Delivery &delivery) noexcept
try {
	std::lock_guard guard(late_mutex_);

	late_.emplace_back(from, delivery);
	return true;
} catch (const std::bad_alloc &) {
	return false;
}

void Ce::late_down() noexcept
{
	std::vector<std::pair<CePlace, Delivery>> late;
	{
		std::lock_guard guard(late_mutex_);

		late.swap(late_);
	}
	for (const auto &[from, delivery] : late) {
		Step none;

		hand_down(from, delivery, none);
		drive(none);
	}
}

} // namespace aries
