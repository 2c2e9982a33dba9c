// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The last resort when links are cut: the shortest way that is left. Route tables know minimal ways and ways through a
 * root; where many links are cut a machine can still be whole while none of these is.
 */
#ifndef ARIES_NETLINK_DETOURS_HPP
#define ARIES_NETLINK_DETOURS_HPP

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "netlink/router_states.hpp"
#include "topology/wiring.hpp"

namespace aries
{

/** Threads: find() from any number at once; they take turns, and none allocates. */
class Detours
{
public:
	Detours(const topology::Wiring &wiring, const RouterStates &states)
		: wiring_(wiring), states_(states), towards_(wiring.routers()), queue_(wiring.routers())
	{
	}

	/**
	 * Calls @p use with the output tiles from one router to another, in order; of shortest ways @p random takes
	 * one.
	 * @return false if no way is left
	 */
	template <typename Use> bool find(uint32_t from, uint32_t to, uint32_t random, Use &&use) noexcept
	{
		const std::lock_guard guard(mutex_);

		if (!search(from, to, random))
			return false;
		/* The queue has done its work: its memory takes the way, which has no more links than there are
		 * routers. */
		uint32_t hops = 0;

		for (uint32_t at = from; at != to; at = wiring_.far_end(at, link_tile(queue_[hops++])).router)
			queue_[hops] = towards_[at];
		use(std::span<const uint32_t>(queue_.data(), hops));
		return true;
	}

private:
	static constexpr uint32_t NOT_SEEN = UINT32_MAX;

	bool search(uint32_t from, uint32_t to, uint32_t random) noexcept;

	const topology::Wiring &wiring_;
	const RouterStates &states_;
	std::mutex mutex_;
	std::vector<uint32_t> towards_; // for each router its output tile on a shortest way
	std::vector<uint32_t> queue_;
};

} // namespace aries

#endif
