/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Global clock and event timer (N25). */
#ifndef ARIES_NIC_TIMER_HPP
#define ARIES_NIC_TIMER_HPP

#include <array>
#include <mutex>

#include "nic/core/core.hpp"

namespace aries
{

/**
 * The TMR block. No thread waits here: the host is asked to call expire() when
 * the next comparator is due. Any thread; takes a lock of its own, the last of all.
 */
class EventTimer
{
public:
	explicit EventTimer(Core &core) noexcept : core_(core) {}

	uint32_t control(uint32_t index) noexcept { return get(index, &Timer::ctl); }
	/** False, without effect: no such vector, or a period that is too short. */
	bool set_control(uint32_t index, uint32_t value) noexcept;
	uint64_t period(uint32_t index) noexcept { return get(index, &Timer::period); }
	void set_period(uint32_t index, uint64_t ns) noexcept { set(index, &Timer::period, ns); }
	uint64_t compare(uint32_t index) noexcept { return get(index, &Timer::compare); }
	void set_compare(uint32_t index, uint64_t ns) noexcept { set(index, &Timer::compare, ns); }
	uint64_t fired(uint32_t index) noexcept { return get(index, &Timer::fired); }
	uint32_t pending() noexcept;
	void acknowledge(uint32_t timers) noexcept;

	/** Marks what is due and asks for its interrupts; the caller delivers them. */
	void expire() noexcept;
	void reset() noexcept;

private:
	struct Timer {
		uint32_t ctl = 0;
		uint64_t period = 0;  /* as written */
		uint64_t compare = 0; /* as written */
		uint64_t step = 0;    /* of the timer that runs; 0: once */
		uint64_t due = 0;
		uint64_t fired = 0;
	};

	template <typename T> T get(uint32_t index, T Timer::*member) noexcept
	{
		std::lock_guard guard(mutex_);

		return timers_[index].*member;
	}
	void set(uint32_t index, uint64_t Timer::*member, uint64_t value) noexcept
	{
		std::lock_guard guard(mutex_);

		timers_[index].*member = value;
	}
	void come(uint32_t index, uint64_t now) noexcept;
	void ask_host(uint64_t now) noexcept;

	Core &core_;
	std::mutex mutex_;
	std::array<Timer, ARIES_TIMERS> timers_;
	uint32_t pending_ = 0;
	uint64_t asked_ = UINT64_MAX; /* what the host was asked for last */
};

} // namespace aries

#endif
