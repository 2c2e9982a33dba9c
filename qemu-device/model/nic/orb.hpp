/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Outstanding requests: at most 1,024 packets of a NIC wait for their responses (N20). */
#ifndef ARIES_NIC_ORB_HPP
#define ARIES_NIC_ORB_HPP

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <sched.h>

#include "aries_regs.h"

namespace aries
{

class Orb
{
public:
	/**
	 * Scoped use of entries, one a packet; a longer train goes through the buffer in parts. What takes a sixteenth
	 * of the buffer at most is not counted, it only needs room: its thread does nothing else until it is answered,
	 * so there are never more of them than threads, and a locked instruction on either side would be a tenth of a
	 * small put.
	 */
	class Use
	{
	public:
		Use(Orb &orb, uint32_t packets) noexcept
			: orb_(orb),
			  count_(packets > std::max(1u, orb.limit() / 16) ? std::min(packets, orb.limit()) : 0),
			  stalled_(orb.take(count_))
		{
		}
		~Use()
		{
			if (count_)
				orb_.used_.fetch_sub(count_, std::memory_order_relaxed);
		}
		Use(const Use &) = delete;
		Use &operator=(const Use &) = delete;
		/** The buffer was full. */
		bool stalled() const noexcept { return stalled_; }

	private:
		Orb &orb_;
		const uint32_t count_;
		const bool stalled_;
	};

	/** Packets that may be outstanding, at least 1: fewer than there are entries with balanced injection. */
	uint32_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
	void set_limit(uint32_t packets) noexcept { limit_.store(packets, std::memory_order_relaxed); }
	uint32_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

private:
	/* Waits for entries by yielding, but not for ever: the accounting may overshoot, a thread may not hang. */
	bool take(uint32_t count) noexcept
	{
		const uint32_t most = limit();

		if (!count && used_.load(std::memory_order_relaxed) < most) [[likely]]
			return false;
		if (used_.fetch_add(count, std::memory_order_relaxed) + std::max(count, 1u) <= most)
			return false;
		for (int i = 0; i < WAITS; i++) {
			used_.fetch_sub(count, std::memory_order_relaxed);
			sched_yield();
			if (used_.fetch_add(count, std::memory_order_relaxed) + std::max(count, 1u) <= most)
				break;
		}
		return true;
	}

	static constexpr int WAITS = 64;
	alignas(64) std::atomic<uint32_t> used_{0};
	std::atomic<uint32_t> limit_{ARIES_ORB_ENTRIES};
};

} // namespace aries

#endif
