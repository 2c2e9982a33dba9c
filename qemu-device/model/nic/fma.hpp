/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* Fast memory access: doorbells and window stores of the processes (N07, N08, N18). */
#ifndef ARIES_NIC_FMA_HPP
#define ARIES_NIC_FMA_HPP

#include "nic/amo.hpp"
#include "nic/ce.hpp"
#include "nic/fmad.hpp"
#include "nic/ntt.hpp"
#include "nic/rmt.hpp"
#include "nic/traffic.hpp"

namespace aries
{

/** One FMA operation on its way through the NIC. */
struct FmaWork {
	Fmad &fmad;
	uint32_t index;      /* of the descriptor */
	aries_fma_desc desc; /* copied once */
	Rights rights;
	uint8_t op;   /* enum aries_fma_op */
	uint8_t mode; /* ARIES_EV_* */
	uint16_t tid;
	uint16_t amo;
	uint32_t bytes;
	const uint8_t *data; /* of a put */

	uint32_t node = 0; /* physical target */
	uint64_t now = 0;
	Passage passage = {};
	uint64_t fetched = 0;   /* by an atomic */
	uint32_t cq_serial = 0; /* of the queue for its events; 0: none are to come */
	bool remote_overrun = false;
	bool unanswered = false; /* whatever the target has done */
	bool reported = false;   /* the failure is in the error queues */

	bool is_get() const noexcept { return op == ARIES_FMA_GET_OP || op == ARIES_FMA_GET_FLAG; }
	bool is_atomic() const noexcept { return op == ARIES_FMA_AMO_OP || op == ARIES_FMA_AMO_FLAG; }
	/** The response is followed by a flag (N11). */
	bool flagged() const noexcept { return op == ARIES_FMA_GET_FLAG || op == ARIES_FMA_AMO_FLAG; }
	/** Several operations for one doorbell. */
	bool is_batch() const noexcept { return op >= ARIES_FMA_PUT_SCATTER && op <= ARIES_FMA_LAUNCH_RING; }
	uint16_t event_bits() const noexcept { return mode & (ARIES_EV_LOCAL | ARIES_EV_GLOBAL); }
	Access access(uint64_t length, bool write) const noexcept
	{
		return {node, desc.mdh, rights.key, desc.offset, length, write, (mode & ARIES_EV_REMOTE) != 0};
	}
};

/** Equal header fields take equal ways (R12). */
inline uint64_t header_hash(const FmaWork &work) noexcept
{
	return (uint64_t(work.desc.mdh) << ARIES_OFFSET_BITS | (work.desc.offset & OFFSET_MASK) >> 6) + work.node;
}

/** Where the data of a response go, and the flag behind them. */
struct Landing {
	FmaRuns data;
	RunList<1> flag;
};

class Fma
{
public:
	Fma(Core &core, Fmad *fmads, Ntt &ntt, Traffic &traffic, Ce &ce, uint8_t *desc_area) noexcept
		: core_(core), fmads_(fmads), ntt_(ntt), traffic_(traffic), ce_(ce), desc_area_(desc_area)
	{
	}

	/** DB_FMA; the descriptor's lock is held. Runs the whole operation. */
	void doorbell(uint32_t index, uint64_t value) noexcept;
	/** A store of @size bytes into the put window; lock held. */
	void put_window(uint32_t index, uint32_t at, unsigned int size, uint64_t value) noexcept;
	/** The upper half of a launch entry stored to DB_LAUNCH; lock held. */
	void launch_store(uint32_t index, uint64_t value) noexcept;
	/** A control word stored into the get window; lock held. */
	void get_window(uint32_t index, uint32_t at, uint64_t word) noexcept;

	/** Leaves the outcome of a doorbell in the descriptor area. */
	void publish_status(uint32_t index, uint8_t status) noexcept;

private:
	FmaWork begin(uint32_t index) noexcept;
	void decode(FmaWork &work, uint64_t value) noexcept;
	uint8_t run(FmaWork &work) noexcept;
	uint8_t check(FmaWork &work) noexcept;
	uint8_t check_length(const FmaWork &work) const noexcept;
	uint8_t put(FmaWork &work) noexcept;
	uint8_t deliver(FmaWork &work) noexcept;
	static uint8_t check_flag(const FmaWork &work, Visit &target) noexcept;
	static uint8_t flagged_spots(const FmaWork &work, Visit &target, uint8_t *&place, uint8_t *&flag) noexcept;
	uint8_t deliver_runs(const FmaWork &work, Visit &target) noexcept;
	uint8_t get(FmaWork &work) noexcept;
	uint8_t atomic(FmaWork &work) noexcept;
	[[gnu::cold]] uint8_t run_lazily(FmaWork &work, const AmoCommand &command, Visit &target, uint8_t *word,
					 bool &hit) noexcept;
	uint8_t execute(FmaWork &work, const AmoCommand &command, Visit &target) noexcept;
	static uint8_t check_atomic(const FmaWork &work, AmoCommand &command) noexcept;
	uint8_t find_landing(const FmaWork &work, Visit &local, Landing &place) const noexcept;
	static void raise_flag(const FmaWork &work, const Landing &place) noexcept;
	uint8_t cq_write(FmaWork &work) noexcept;
	uint8_t collective(FmaWork &work) noexcept;
	uint8_t batch(FmaWork &work, uint8_t status) noexcept;
	uint8_t batch_parts(FmaWork &work, uint32_t &done) noexcept;
	uint8_t put_scatter(FmaWork &work, uint32_t &done) noexcept;
	uint8_t launch_line(FmaWork &work, uint32_t &done) noexcept;
	uint8_t launch_ring(FmaWork &work, uint32_t &done) noexcept;
	uint8_t read_ring(const FmaWork &work, const aries_fma_window &ring, uint32_t at, uint32_t count,
			  aries_launch_entry *to) noexcept;
	uint8_t launch(FmaWork &work, const aries_launch_entry *entry, uint32_t count, uint32_t &done) noexcept;
	uint8_t launch_one(FmaWork &work, const aries_launch_entry &entry, uint32_t index) noexcept;
	uint8_t run_part(FmaWork &work, FmaWork &part) noexcept;
	aries_fma_window window(uint32_t index) const noexcept;
	uint8_t send(FmaWork &work, PacketKind kind, uint32_t bytes) noexcept;
	void remote_event(FmaWork &work, Visit &target) noexcept;
	void source_events(FmaWork &work, uint8_t status) noexcept;
	void finish(FmaWork &work, uint8_t status) noexcept;
	[[gnu::cold]] void capture(const FmaWork &work, uint8_t status, const FmaRuns *got) noexcept;
	void window_done(FmaWork &work, uint8_t status) noexcept;
	uint8_t *area(uint32_t index) const noexcept { return desc_area_ + size_t(index) * ARIES_DESC_STRIDE; }

	Core &core_;
	Fmad *const fmads_;
	Ntt &ntt_;
	Traffic &traffic_;
	Ce &ce_;
	uint8_t *const desc_area_;
	std::atomic<uint64_t> contributions_{0}; /* to collectives, ever */
};

/** Records a failed operation: counters, error events here and, for refusals, at the target. */
void report_failure(Core &core, CounterBlock &counters, uint8_t status, uint8_t ptag, uint32_t index, uint8_t op,
		    const Access &access) noexcept;

} // namespace aries

#endif
