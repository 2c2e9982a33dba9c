/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What block transfers do. */
#ifndef ARIES_NIC_BTE_TRANSFER_HPP
#define ARIES_NIC_BTE_TRANSFER_HPP

#include <array>
#include <mutex>

#include "nic/engines/bte_carry.hpp"
#include "nic/time/hold.hpp"

namespace aries
{

/** Bytes booked on the network at once: as many packets as may be outstanding. */
inline constexpr uint64_t BTE_BURST = uint64_t(ARIES_ORB_ENTRIES) * ARIES_PACKET_BYTES;

/** What the network said about the bursts of a chunk. */
struct Bursts {
	uint32_t count = 0;
	std::array<Passage, BTE_CHUNK / BTE_BURST> passage;
};

/** A transfer under way, as those see it who move its chunks: its channel's thread, and perhaps one that has no work.
 */
struct BteShare {
	const BteWork &work;
	const uint64_t chunks;
	const bool backwards; /* last chunk first */
	const bool shared;    /* one processor cannot saturate the memory: a thread that has nothing to do may help */
	std::atomic<uint64_t> next{0};
	std::atomic<uint8_t> status{ARIES_ST_OK};     /* the first failure */
	std::atomic<uint8_t> unanswered{ARIES_ST_OK}; /* the first reason */
	uint32_t partners = 0;                        /* under the mutex */

	/* Modelled time, of one thread at a time: what the NIC sends without a break is not booked in pieces. */
	const uint64_t host_start; /* but for this */
	const uint64_t start;
	uint64_t floor = start;  /* earliest that packets leave: start, or when the host came with a late chunk */
	uint64_t end = start;    /* what was booked so far has left */
	uint64_t lag = 0;        /* time for which the NIC waited for the host */
	uint64_t last = 0;       /* arrival of the last packet so far */
	uint64_t back = 0;       /* of the last response so far */
	uint64_t stalled = 0;    /* waits for responses */
	std::mutex booking = {}; /* for all of them while chunks are left to others */

	/** When all of it has arrived, in modelled time. */
	uint64_t arrived() const noexcept { return last + stalled; }
};

/** What channels do with their transfers, chunk by chunk; each thread has a channel, or helps with one's transfer. */
class BteTransfer
{
public:
	BteTransfer(Core &core, Traffic &traffic, Hold &hold, Carry &carry) noexcept
		: core_(core), traffic_(traffic), hold_(hold), beyond_(core, carry)
	{
	}

	/** A send looks for a receive: from here on it is a put to the place that the target has posted. */
	uint8_t match(BteWork &work) noexcept;
	BteShare begin(const BteWork &work) const noexcept;
	/** Moves one more chunk; false if there is none, or no sense in it. */
	bool next_chunk(BteShare &share, CounterBlock &counters) noexcept;
	/** All chunks have been moved, or one has failed. */
	uint8_t end(const BteShare &share, BteWork &work, CounterBlock &counters) noexcept;
	/**
	 * Tells the target, if all went well with @status; what has failed of a send leaves the receive posted.
	 * Return: what becomes of the transfer
	 */
	uint8_t tell(BteWork &work, uint8_t status, bool &overrun) noexcept;

	/** Whether move_short() does it all: one visit to either side, no mutex. */
	bool is_short(const BteWork &work) const noexcept;
	uint8_t move_short(const BteWork &work, CounterBlock &counters, bool &overrun) noexcept;

	/** An error of one bit, or @twice of two, in the transfer that a channel has. */
	void hit(uint32_t channel, uint32_t bits) noexcept { ecc_[channel].fetch_or(bits); }
	void renew(uint32_t channel) noexcept { ecc_[channel].store(ECC_WHOLE); }
	/** What was read of a transfer with wrong bits: with two of them nobody knows where it would go. */
	[[gnu::cold]] uint8_t damage(uint32_t index, uint32_t hit) noexcept;

private:
	uint8_t channel_damage(const BteWork &work) noexcept;
	uint64_t latency(const BteWork &work, uint64_t start, uint64_t arrived, uint64_t quiet_ns) noexcept;
	uint8_t chunk(BteShare &share, uint64_t at, uint64_t bytes, CounterBlock &counters) noexcept;
	uint8_t account(BteShare &share, uint64_t bytes, CounterBlock &counters, Bursts &bursts) noexcept;
	uint8_t move(const BteWork &work, uint64_t at, uint64_t bytes, const BteRuns &near, bool answered) noexcept;
	bool answered(BteShare &share, const Bursts &bursts) const noexcept;
	void hold_chunk(const BteShare &share) noexcept;
	uint8_t deliver_short(const BteWork &work, const FmaRuns &near, bool &overrun) noexcept;
	uint8_t tell_target(BteWork &work, bool &overrun) noexcept;

	Core &core_;
	Traffic &traffic_;
	Hold &hold_;
	BteBeyond beyond_;
	std::array<uint64_t, ARIES_BTE_CHANNELS> sent_{}; /* modelled time; a channel's word is its user's */
	std::array<std::atomic<uint32_t>, ARIES_BTE_CHANNELS> ecc_{}; /* EccHit */
};

/** Tells the packet trace. */
[[gnu::cold]] void capture_bte(Core &core, const BteWork &work, uint64_t at, uint64_t bytes, uint8_t status,
			       const Bursts &bursts, const BteRuns &near) noexcept;

} // namespace aries

#endif
