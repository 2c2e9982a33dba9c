/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/time/hold.hpp"

#include <algorithm>
#include <chrono>

#include <sys/prctl.h>

#include "fabric/flight.hpp"
#include "fabric/quiet_thread.hpp"

namespace aries
{

namespace
{

using std::chrono::nanoseconds;

/* Whoever moves modelled time on or lets it go faster wakes nobody, so sleepers look again after so long. */
constexpr nanoseconds LOOK = std::chrono::milliseconds(5);

/* The kernel wakes sleepers up to 50 us late if nobody asks for better. */
constexpr unsigned long TIMER_SLACK_NS = 1000;

constexpr uint32_t BACK_LANE = 1; /* of flights: the block transfer engine begins with 0 */

} // namespace

uint64_t Hold::left_ns(uint64_t due_ns) const noexcept
{
	return core_.network.clock().host_until(due_ns, now_ns());
}

void Hold::nap(uint64_t ns) noexcept
{
	std::this_thread::sleep_for(std::min(nanoseconds(int64_t(std::min<uint64_t>(ns, INT64_MAX))), LOOK));
}

bool Hold::add(uint64_t due_ns, uint32_t owner, Action action) noexcept
try {
	std::lock_guard guard(mutex_);

	if (stop_)
		return false;
	if (!thread_.joinable())
		thread_ = quiet_thread([this] { run(); });
	heap_.push_back({hurry_[owner] ? 0 : due_ns, numbers_++, owner, std::move(action)});
	std::push_heap(heap_.begin(), heap_.end(), later);
	if (heap_.front().number + 1 == numbers_)
		changed_.notify_one();
	return true;
} catch (...) {
	return false;
}

void Hold::expedite(uint32_t owner, bool on) noexcept
{
	std::lock_guard guard(mutex_);

	hurry_[owner] = on;
	if (!on)
		return;
	for (Item &item : heap_) {
		if (item.owner == owner)
			item.due_ns = 0;
	}
	/* Of one owner they keep the order in which they came; it is not that of their times, which no longer counts.
	 */
	std::make_heap(heap_.begin(), heap_.end(), later);
	changed_.notify_one();
}

void Hold::throttle(uint32_t limit) noexcept
{
	if (packets() > limit)
		wait([this, limit] { return packets() <= limit; });
}

/* Mutex held, and dropped while destructors run: those may take other locks. */
void Hold::drop(std::unique_lock<std::mutex> &guard) noexcept
{
	std::vector<Item> dropped;

	dropped.swap(heap_);
	guard.unlock();
	dropped.clear();
	guard.lock();
	room_.notify_all();
}

void Hold::reset() noexcept
{
	std::unique_lock guard(mutex_);

	drop(guard);
	room_.wait(guard, [this] { return !running_; });
	/* What was being done has added the next stage of it. */
	drop(guard);
}

void Hold::stop() noexcept
{
	{
		std::unique_lock guard(mutex_);

		stop_ = true;
		drop(guard);
		changed_.notify_one();
	}
	if (thread_.joinable())
		thread_.join();
}

/* Mutex held. What is on top is due. */
void Hold::run_due(std::unique_lock<std::mutex> &guard) noexcept
{
	std::pop_heap(heap_.begin(), heap_.end(), later);
	Item item = std::move(heap_.back());

	heap_.pop_back();
	running_ = true;
	guard.unlock();
	item.action();
	item.action = nullptr;
	/* The host's lock may be held by a thread that waits for us: its main loop raises our interrupts. */
	if (core_.own().irq_vectors.load())
		core_.wake.raise(core_.node, 0);
	guard.lock();
	running_ = false;
	room_.notify_all();
}

void Hold::run() noexcept
{
	std::unique_lock guard(mutex_);

	take_back_lane(BACK_LANE);
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
	while (!stop_) {
		if (heap_.empty()) {
			changed_.wait(guard);
			continue;
		}
		/* Where nothing is held any more nothing has a time to wait for. */
		const uint64_t left = on() ? left_ns(heap_.front().due_ns) : 0;

		if (left)
			changed_.wait_for(guard,
					  std::min(nanoseconds(int64_t(std::min<uint64_t>(left, INT64_MAX))), LOOK));
		else
			run_due(guard);
	}
}

} // namespace aries
