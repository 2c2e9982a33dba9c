/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/time/orb.hpp"

namespace aries
{

void Orb::insert(const Run &run) noexcept
{
	if (end_ == run_.size()) {
		std::move(run_.begin() + first_, run_.begin() + end_, run_.begin());
		end_ -= first_;
		first_ = 0;
	}
	uint32_t at = end_++;

	for (; at > first_ && run_[at - 1].next > run.next; at--)
		run_[at] = run_[at - 1];
	run_[at] = run;
}

/* Frees up to @most of the entries that the next responses free; @when: gets the time of the last of them. */
uint32_t Orb::free_some(uint32_t most, uint64_t &when) noexcept
{
	Run run = run_[first_++];
	uint32_t count = std::min(most, run.packets);

	/* As many as come before the first one of the next run. */
	if (first_ < end_ && run_[first_].next < run.last)
		count = run.step ? uint32_t(std::min<uint64_t>(count, (run_[first_].next - run.next) / run.step + 1))
				 : 1;
	when = count == run.packets ? run.last : run.next + (count - 1) * run.step;
	entered_.store(entered_.load(std::memory_order_relaxed) - count, std::memory_order_relaxed);
	run.packets -= count;
	run.next = when + run.step;
	if (!run.packets)
		return count;
	if (first_ == end_ || run.next <= run_[first_].next)
		run_[--first_] = run;
	else
		insert(run);
	return count;
}

/*
 * What free_some() frees for the first packet and then for all, where the next responses are all of one run: the way of
 * packets of one thread when the buffer is full.
 * Return: false if other runs have a part in it; nothing was freed
 */
inline bool Orb::free_of_first(uint32_t one, uint32_t all, uint64_t now, Departure &leave) noexcept
{
	Run &run = run_[first_];
	const auto back = [&run](uint32_t n) { return n == run.packets ? run.last : run.next + (n - 1) * run.step; };

	if (all > run.packets || (first_ + 1 < end_ && run_[first_ + 1].next < run.last))
		return false;
	leave.first = one ? std::max(now, back(one)) : now;
	leave.last = std::max(now, back(all));
	run.next = back(all) + run.step;
	run.packets -= all;
	first_ += !run.packets;
	entered_.store(entered_.load(std::memory_order_relaxed) - all, std::memory_order_relaxed);
	return true;
}

/* Frees what is back as a whole. */
void Orb::expire(uint64_t now) noexcept
{
	uint32_t back = 0;

	for (; first_ < end_ && run_[first_].last <= now; first_++)
		back += run_[first_].packets;
	if (back)
		entered_.store(entered_.load(std::memory_order_relaxed) - back, std::memory_order_relaxed);
}

Orb::Departure Orb::find_room(uint32_t packets, uint64_t now) noexcept
{
	const std::lock_guard guard(lock_);

	expire(now);
	const uint32_t entered = entered_.load(std::memory_order_relaxed), most = limit();
	const uint32_t wanted = entered + std::min(packets, most);
	/* Entries that have to be free for the first packet, and for all. */
	const uint32_t one = entered >= most ? entered + 1 - most : 0, all = wanted > most ? wanted - most : 0;
	Departure leave{now, now};
	uint64_t when = now;

	if (all && first_ < end_ && free_of_first(one, all, now, leave)) [[likely]]
		return leave;
	for (uint32_t freed = 0; freed < all && first_ < end_;) {
		const bool first = freed < one;

		freed += free_some((first ? one : all) - freed, when);
		leave.last = std::max(leave.last, when);
		if (first)
			leave.first = leave.last;
	}
	return leave;
}

void Orb::keep(uint32_t packets, uint64_t now, uint64_t first, uint64_t last) noexcept
{
	const std::lock_guard guard(lock_);
	uint64_t when;

	if (last <= now)
		return;
	/* Threads that were admitted at once may be more than there are entries. */
	while (end_ - first_ >= ARIES_ORB_ENTRIES)
		free_some(UINT32_MAX, when);
	packets = std::min(packets, limit());
	first = std::min(first, last);
	insert({first, last, packets > 1 ? (last - first) / (packets - 1) : 0, packets});
	entered_.store(entered_.load(std::memory_order_relaxed) + packets, std::memory_order_relaxed);
}

uint32_t Orb::used(uint64_t now) noexcept
{
	const std::lock_guard guard(lock_);
	uint64_t when;

	expire(now);
	while (first_ < end_ && run_[first_].next <= now) {
		const Run &run = run_[first_];

		free_some(run.step ? uint32_t(std::min<uint64_t>((now - run.next) / run.step, UINT32_MAX - 1) + 1)
				   : run.packets,
			  when);
		expire(now);
	}
	return entered_.load(std::memory_order_relaxed);
}

} // namespace aries
