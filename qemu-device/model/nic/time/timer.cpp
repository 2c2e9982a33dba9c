/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/time/timer.hpp"

#include <algorithm>

namespace aries
{

bool EventTimer::set_control(uint32_t index, uint32_t value) noexcept
{
	std::lock_guard guard(mutex_);
	Timer &timer = timers_[index];
	const bool enable = value & ARIES_TMR_CTL_ENABLE_MASK, periodic = value & ARIES_TMR_CTL_PERIODIC_MASK;

	if (field(value, ARIES_TMR_CTL_VECTOR_MASK) >= ARIES_MSIX_VECTORS)
		return false;
	if (enable && periodic && timer.period < ARIES_TIMER_PERIOD_MIN)
		return false;
	timer.ctl = value;
	if (enable) {
		timer.step = periodic ? timer.period : 0;
		timer.due = timer.compare;
		timer.fired = 0;
	}
	ask_host(global_clock(core_.segment));
	return true;
}

uint32_t EventTimer::pending() noexcept
{
	std::lock_guard guard(mutex_);

	return pending_;
}

void EventTimer::acknowledge(uint32_t timers) noexcept
{
	std::lock_guard guard(mutex_);

	pending_ &= ~timers;
}

/*
 * A periodic timer stays on its grid, comparator plus multiples of the period,
 * however late the host is: timers of several nodes stay in step. What lay
 * before the first interrupt is not counted.
 */
void EventTimer::come(uint32_t index, uint64_t now) noexcept
{
	Timer &timer = timers_[index];
	const uint64_t steps = timer.step ? (now - timer.due) / timer.step + 1 : 1;

	timer.fired += timer.fired ? steps : 1;
	if (timer.step)
		timer.due += steps * timer.step;
	else
		timer.ctl &= ~uint32_t(ARIES_TMR_CTL_ENABLE_MASK);
	pending_ |= 1u << index;
	core_.request_irq(core_.node, 1u << field(timer.ctl, ARIES_TMR_CTL_VECTOR_MASK));
}

void EventTimer::expire() noexcept
{
	std::lock_guard guard(mutex_);
	const uint64_t now = global_clock(core_.segment);

	for (uint32_t i = 0; i < timers_.size(); i++) {
		if ((timers_[i].ctl & ARIES_TMR_CTL_ENABLE_MASK) && timers_[i].due <= now)
			come(i, now);
	}
	asked_ = UINT64_MAX;
	ask_host(now);
}

/* Mutex held: who asks last must be who knows best. */
void EventTimer::ask_host(uint64_t now) noexcept
{
	uint64_t due = UINT64_MAX;

	for (const Timer &timer : timers_) {
		if (timer.ctl & ARIES_TMR_CTL_ENABLE_MASK)
			due = std::min(due, timer.due);
	}
	if (due == asked_)
		return;
	asked_ = due;
	core_.host.timer(due == UINT64_MAX ? UINT64_MAX : due > now ? due - now : 0);
}

void EventTimer::reset() noexcept
{
	std::lock_guard guard(mutex_);

	timers_.fill({});
	pending_ = 0;
	ask_host(0);
}

} // namespace aries
