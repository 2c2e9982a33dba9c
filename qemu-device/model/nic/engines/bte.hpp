/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* Block transfer engine: queues of the descriptors and four channels (N14, N15, N17). */
#ifndef ARIES_NIC_BTE_HPP
#define ARIES_NIC_BTE_HPP

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "nic/core/ecc.hpp"
#include "nic/remote/carry.hpp"
#include "nic/tables/fmad.hpp"
#include "nic/tables/ntt.hpp"
#include "nic/tables/ssid.hpp"
#include "nic/target/receive.hpp"
#include "nic/target/serve.hpp"
#include "nic/time/hold.hpp"
#include "nic/time/traffic.hpp"

namespace aries
{

/** One block transfer: its slot copied at the doorbell, with the rights of that moment. */
struct BteWork {
	aries_bte_desc desc;
	Rights rights;
	uint32_t index;         /* of the FMA descriptor */
	uint32_t node;          /* physical target */
	uint32_t epoch;         /* of the queue; another one now means flushed */
	uint32_t cq_serial = 0; /* of the queue for its events; 0: none are to come */
	uint8_t ssid = 0;
	uint8_t channel = 0;              /* that carries it */
	uint8_t ecc = ECC_WHOLE;          /* while it waits: EccHit */
	uint8_t unanswered = ARIES_ST_OK; /* else why a packet has no response */
	uint64_t back_ns = 0;             /* where completions are held: when its events are due, in modelled time */
	RmtClaim claim = {};              /* of a send */

	/** Data goes to the target. */
	bool put() const noexcept { return desc.op != ARIES_BTE_GET; }
	bool send() const noexcept { return desc.op == ARIES_BTE_SEND; }
	bool fence() const noexcept { return desc.flags & ARIES_BTE_FENCE; }
	bool physical() const noexcept { return desc.flags & ARIES_BTE_PHYS; }
	/** What the target gets to see, from byte @at on. A send is a put once it knows where to. */
	TargetRequest request(uint64_t at = 0) const noexcept
	{
		return {.kind = put() ? PacketKind::Put : PacketKind::Get,
			.flagged = false,
			.remote_event = (desc.mode & ARIES_EV_REMOTE) != 0,
			.type = uint8_t(field(desc.mode, ARIES_EV_TYPE_MASK)),
			.mdh = desc.mdh,
			.command = {},
			.node = node,
			.key = rights.key,
			.bytes = uint32_t(desc.length - at),
			.event = desc.remote_event,
			.offset = desc.offset + at,
			.flag_offset = 0,
			.flag_value = 0,
			.operand = {},
			.data = nullptr};
	}
	/** Of the whole range each time: the memory domain may have become another one meanwhile. */
	Access access() const noexcept { return request().access(); }
};

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
	std::atomic<uint64_t> next{0};
	std::atomic<uint8_t> status{ARIES_ST_OK};     /* the first failure */
	std::atomic<uint8_t> unanswered{ARIES_ST_OK}; /* the first reason */
	uint32_t partners = 0;                        /* under the mutex */

	/* Modelled time, of one thread at a time: what the NIC sends without a break is not booked in pieces. */
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

struct CarriedPieces;

class Bte
{
public:
	Bte(Core &core, Fmad *fmads, Ntt &ntt, Traffic &traffic, Hold &hold, Carry &carry, uint8_t *desc_area);
	/** Ends what is running at its next chunk and stops the threads. */
	~Bte();
	Bte(const Bte &) = delete;
	Bte &operator=(const Bte &) = delete;

	/**
	 * DB_BTE; the descriptor's lock is held. Small transfers with nothing in front run here, others are queued.
	 * Return: ARIES_ST_OK if the transfer was taken; what becomes of it is told by events.
	 */
	uint8_t doorbell(uint32_t index, uint64_t value) noexcept;

	/** Queued transfers of a descriptor end with ARIES_ST_FLUSHED, running ones at their next chunk; does not wait.
	 */
	void flush(uint32_t index) noexcept;
	/** Drops everything without events and waits for what is running; bounded. */
	void reset() noexcept;

	/** PTAG_BTE: block transfers that descriptors of a tag may have queued or running at once. */
	void limit(uint32_t ptag, uint32_t value) noexcept { limits_[ptag].store(value, std::memory_order_relaxed); }
	uint32_t limit(uint32_t ptag) const noexcept { return limits_[ptag].load(std::memory_order_relaxed); }

	uint64_t counter(unsigned int which) const noexcept;
	void clear_counters() noexcept;
	/** Transfers queued or running, of all descriptors. */
	uint32_t backlog() noexcept;

	/**
	 * An error of one bit, or @twice of two: below ARIES_FMA_DESCRIPTORS in the transfer of that descriptor which
	 * waits longest, from there on in the one that a channel carries. False if there is none.
	 */
	bool hit(uint32_t index, bool twice) noexcept;

	/** BTE_STATUS register. */
	uint32_t status() noexcept;

private:
	struct Queue {
		std::deque<BteWork> waiting;
		uint32_t running = 0;
		bool fenced = false; /* the one running wants to be alone */
	};

	uint8_t take(uint32_t index, uint32_t slot, BteWork &work) noexcept;
	uint8_t check(BteWork &work) noexcept;
	bool enqueue(Queue &queue, const BteWork &work) noexcept;
	bool eligible(const Queue &queue, const BteWork &work) const noexcept;
	bool at_limit(const BteWork &work) const noexcept;
	int begin(Queue &queue, const BteWork &work) noexcept;
	void end(const BteWork &work, int channel) noexcept;
	void run(BteWork &work, int channel) noexcept;
	void conclude(const BteWork &work, uint8_t status, bool overrun, CounterBlock &counters) noexcept;
	bool is_short(const BteWork &work) const noexcept;
	int seize(const Fmad &fmad) noexcept;
	void release(int channel) noexcept;
	uint8_t move_short(const BteWork &work, CounterBlock &counters, bool &overrun) noexcept;
	uint8_t deliver_short(const BteWork &work, const FmaRuns &near, bool &overrun) noexcept;
	uint8_t transfer(BteWork &work, CounterBlock &counters) noexcept;
	uint64_t latency(const BteWork &work, uint64_t start, uint64_t arrived, uint64_t quiet_ns) noexcept;
	bool next_chunk(BteShare &share, CounterBlock &counters) noexcept;
	void offer(BteShare &share) noexcept;
	void withdraw(BteShare &share) noexcept;
	void help(std::unique_lock<std::mutex> &guard) noexcept;
	uint8_t chunk(BteShare &share, uint64_t at, uint64_t bytes, CounterBlock &counters) noexcept;
	uint8_t account(BteShare &share, uint64_t bytes, CounterBlock &counters, Bursts &bursts) noexcept;
	uint8_t move(const BteWork &work, uint64_t at, uint64_t bytes, const BteRuns &near, bool answered) noexcept;
	uint8_t why_unanswered(const Bursts &bursts) const noexcept;
	[[gnu::cold]] uint8_t damage(uint32_t index, uint32_t hit) noexcept;
	uint8_t channel_damage(const BteWork &work) noexcept;
	[[gnu::cold]] void capture(const BteWork &work, uint64_t at, uint64_t bytes, uint8_t status,
				   const Bursts &bursts, const BteRuns &near) noexcept;
	uint8_t local_runs(const BteWork &work, uint64_t at, uint64_t bytes, Visit &local, BteRuns &list) noexcept;
	uint8_t remote_event(const BteWork &work, bool &overrun) noexcept;
	uint8_t send(BteWork &work, CounterBlock &counters, bool &overrun) noexcept;
	uint8_t match(BteWork &work) noexcept;
	uint8_t finish_send(BteWork &work, bool &overrun) noexcept;
	void complete(const BteWork &work, uint8_t status, bool overrun) noexcept;
	bool complete_later(const BteWork &work, uint8_t status, bool overrun) noexcept;
	void hold_chunk(const BteShare &share) noexcept;
	bool cancelled(const BteWork &work) noexcept;
	/* To nodes of other hosts: bte_carry.cpp */
	CarriedRequest carried(const BteWork &work, CarriedKind kind) const noexcept;
	[[gnu::cold]] uint8_t carry_chunk(BteShare &share, uint64_t at, uint64_t bytes,
					  CounterBlock &counters) noexcept;
	uint8_t send_piece(const std::shared_ptr<CarriedPieces> &pieces, uint64_t at, uint32_t bytes) noexcept;
	uint8_t issue_piece(const std::shared_ptr<CarriedPieces> &pieces, const CarriedRequest &request) noexcept;
	void piece_back(CarriedPieces &pieces, const CarriedRequest &request, const CarriedResponse &response,
			std::span<const uint8_t> data) noexcept;
	uint8_t wait_for_pieces(CarriedPieces &pieces, uint32_t left) noexcept;
	[[gnu::cold]] uint8_t ask_carrier(const BteWork &work, CarriedKind kind, CarriedResponse &response) noexcept;
	[[gnu::cold]] uint8_t match_carried(BteWork &work) noexcept;
	[[gnu::cold]] void return_carried(const BteWork &work) noexcept;
	bool next(BteWork &work, int &channel) noexcept;
	bool start_workers() noexcept;
	void worker(uint32_t number) noexcept;

	Core &core_;
	Fmad *const fmads_;
	Ntt &ntt_;
	Traffic &traffic_;
	Hold &hold_;
	Carry &carry_;
	uint8_t *const desc_area_;
	SsidPool ssids_;

	std::mutex mutex_;
	std::condition_variable work_; /* something to do, or stop */
	std::condition_variable idle_; /* a transfer has ended */
	std::array<Queue, ARIES_FMA_DESCRIPTORS> queues_;
	std::array<std::atomic<uint32_t>, ARIES_FMA_DESCRIPTORS> epochs_{};
	uint32_t round_ = 0;                     /* descriptor served last */
	std::atomic<uint32_t> waiting_{0};       /* changes under the mutex */
	std::atomic<uint32_t> busy_channels_{0}; /* bit mask */
	BteShare *offered_ = nullptr;            /* a long transfer that an idle thread may help with */
	bool helping_ = false;                   /* a thread does; it counts in counters_ behind the channels */
	std::array<std::atomic<uint32_t>, ARIES_PTAG_ENTRIES> limits_{}; /* as PTAG_BTE */
	std::array<uint32_t, ARIES_PTAG_ENTRIES> under_way_{};           /* all but short transfers */
	bool stop_ = false;
	std::vector<std::thread> workers_;
	std::array<CounterBlock, ARIES_BTE_CHANNELS + 1> counters_;
	std::array<uint64_t, ARIES_BTE_CHANNELS> sent_{}; /* modelled time; a channel's word is its user's */
	std::array<std::atomic<uint32_t>, ARIES_BTE_CHANNELS> channel_ecc_{}; /* EccHit */
};

} // namespace aries

#endif
