/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Outstanding requests: at most 1,024 packets of a NIC wait for their responses (N20). */
#ifndef ARIES_NIC_ORB_HPP
#define ARIES_NIC_ORB_HPP

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "aries_regs.h"
#include "fabric/seglock.hpp"

namespace aries
{

/**
 * The buffer of outstanding requests, in modelled time: each packet has an entry until the modelled time at which its
 * response is back.
 *
 * A packet that finds no entry leaves when the first response has freed one. Who issues so slowly that it has few
 * packets outstanding is not entered, as that would cost a tenth of a small put; so a thread may have a quarter of the
 * buffer outstanding beyond what is entered.
 */
class Orb
{
public:
	/** When packets may leave: the first of them, and the last one not before. Modelled ns. */
	struct Departure {
		uint64_t first;
		uint64_t last;
	};

	/** Packets that are entered, until somebody finds that they are back: while there are none admit() lets all
	 * pass. */
	uint32_t entered() const noexcept { return entered_.load(std::memory_order_relaxed); }

	/** Entries for @packets at modelled time @now; any thread. More than there are go through it in parts. */
	Departure admit(uint32_t packets, uint64_t now) noexcept
	{
		if (!entered()) [[likely]]
			return {now, now};
		return find_room(packets, now);
	}

	/**
	 * The responses to @packets, issued at @now by the thread with @lane, are back between @first and @last.
	 */
	void enter(uint32_t lane, uint32_t packets, uint64_t now, uint64_t first, uint64_t last) noexcept
	{
		std::atomic<uint64_t> &before = issued_[lane % LANES].at;
		const uint64_t then = before.load(std::memory_order_relaxed);

		before.store(now, std::memory_order_relaxed);
		/* By Little's law: what is outstanding of a thread that goes on like this. */
		if (now > then && packets * (last - now) <= (now - then) * few_.load(std::memory_order_relaxed))
			[[likely]]
			return;
		keep(packets, now, first, last);
	}

	/** Packets that may be outstanding, at least 1: fewer than there are entries with balanced injection. */
	uint32_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
	void set_limit(uint32_t packets) noexcept
	{
		limit_.store(packets, std::memory_order_relaxed);
		few_.store(packets / FEW, std::memory_order_relaxed);
	}
	/** Packets entered whose responses are not back at @now. */
	uint32_t used(uint64_t now) noexcept;

private:
	/* Packets whose responses come back one after the other. */
	struct Run {
		uint64_t next; /* when the next one is back */
		uint64_t last;
		uint64_t step; /* from one to the next */
		uint32_t packets;
	};

	static constexpr uint32_t LANES = 8, FEW = 4;

	Departure find_room(uint32_t packets, uint64_t now) noexcept;
	void keep(uint32_t packets, uint64_t now, uint64_t first, uint64_t last) noexcept;
	void expire(uint64_t now) noexcept;
	uint32_t free_some(uint32_t most, uint64_t &when) noexcept;
	bool free_of_first(uint32_t one, uint32_t all, uint64_t now, Departure &leave) noexcept;
	void insert(const Run &run) noexcept;

	struct alignas(64) Issued {
		std::atomic<uint64_t> at{UINT64_MAX};
	};

	alignas(64) std::atomic<uint32_t> entered_{0}; /* packets in runs */
	std::atomic<uint32_t> limit_{ARIES_ORB_ENTRIES};
	std::atomic<uint32_t> few_{ARIES_ORB_ENTRIES / FEW};
	std::array<Issued, LANES> issued_; /* by the threads with a lane, last */
	SpinLock lock_;                    /* for what follows */
	/* Runs from first_ to end_, in the order of the next responses: most come in this order, too. */
	std::array<Run, size_t{2} * ARIES_ORB_ENTRIES> run_;
	uint32_t first_ = 0, end_ = 0;
};

} // namespace aries

#endif
