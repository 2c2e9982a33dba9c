/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* Fast memory access: doorbells and window stores of the processes (N07, N08, N18). */
#ifndef ARIES_NIC_FMA_HPP
#define ARIES_NIC_FMA_HPP

#include "nic/engines/ce.hpp"
#include "nic/remote/carry.hpp"
#include "nic/tables/amo.hpp"
#include "nic/tables/fmad.hpp"
#include "nic/tables/ntt.hpp"
#include "nic/target/copy.hpp"
#include "nic/target/serve.hpp"
#include "nic/time/hold.hpp"
#include "nic/time/traffic.hpp"

namespace aries
{

/** One FMA operation on its way through the NIC. */
struct FmaWork {
	/**
	 * Nothing yet, by the descriptor at @area. Member by member: compilers clear an aggregate as a whole before,
	 * with a string instruction that takes dozens of cycles.
	 */
	FmaWork(Fmad &of, uint32_t number, const uint8_t *area) noexcept
		: fmad(of), index(number), desc(copy_once<aries_fma_desc>(area + ARIES_DESC_FMA))
	{
		rights.ctl = of.ctl.load(std::memory_order_relaxed);
	}

	Fmad &fmad;
	uint32_t index;      /* of the descriptor */
	aries_fma_desc desc; /* copied once */
	Rights rights = {};
	uint8_t op = 0;   /* enum aries_fma_op */
	uint8_t mode = 0; /* ARIES_EV_* */
	uint16_t tid = 0;
	uint16_t amo = 0;
	uint32_t bytes = 0;
	const uint8_t *data = nullptr; /* of a put */

	uint32_t node = 0; /* physical target */
	uint64_t now = 0;
	Passage passage = {};
	uint64_t fetched = 0;   /* by an atomic */
	uint32_t cq_serial = 0; /* of the queue for its events; 0: none are to come */
	bool remote_overrun = false;
	bool unanswered = false; /* whatever the target has done */
	bool reported = false;   /* the failure is in the error queues */
	bool held = false;       /* it is on its way, and what becomes of it is told later */
	bool awaited = false;    /* if so, the doorbell's store waits for it: nothing else would tell */

	bool is_get() const noexcept { return op == ARIES_FMA_GET_OP || op == ARIES_FMA_GET_FLAG; }
	bool is_atomic() const noexcept { return op == ARIES_FMA_AMO_OP || op == ARIES_FMA_AMO_FLAG; }
	bool is_put() const noexcept
	{
		return op == ARIES_FMA_PUT_LINE || op == ARIES_FMA_PUT_SYNC || op == ARIES_FMA_CLOSE;
	}
	/** The response is followed by a flag (N11). */
	bool flagged() const noexcept { return op == ARIES_FMA_GET_FLAG || op == ARIES_FMA_AMO_FLAG; }
	/** Several operations for one doorbell. */
	bool is_batch() const noexcept { return op >= ARIES_FMA_PUT_SCATTER && op <= ARIES_FMA_LAUNCH_RING; }
	uint16_t event_bits() const noexcept { return mode & (ARIES_EV_LOCAL | ARIES_EV_GLOBAL); }
	PacketKind kind(const AmoCommand &command) const noexcept
	{
		if (is_atomic())
			return command.fetch ? PacketKind::FetchAmo : PacketKind::Amo;
		return is_get() ? PacketKind::Get : op == ARIES_FMA_CQWRITE ? PacketKind::CqWrite : PacketKind::Put;
	}
	/** What the target gets to see. It may outlive the work, but for the data of a put. */
	[[gnu::always_inline]] TargetRequest request(PacketKind kind, const AmoCommand &command = {}) const noexcept
	{
		return {.kind = kind,
			.flagged = op == ARIES_FMA_PUT_SYNC,
			.remote_event = (mode & ARIES_EV_REMOTE) != 0,
			.type = uint8_t(field(mode, ARIES_EV_TYPE_MASK)),
			.mdh = desc.mdh,
			.command = command,
			.node = node,
			.key = rights.key,
			.bytes = bytes,
			.event = desc.remote_event,
			.offset = desc.offset,
			.flag_offset = desc.sync_offset,
			.flag_value = desc.sync_value,
			.operand = {desc.operand[0], desc.operand[1]},
			.data = data};
	}
};

/** Equal header fields take equal ways (R12). */
inline uint64_t header_hash(const FmaWork &work) noexcept
{
	return (uint64_t(work.desc.mdh) << ARIES_OFFSET_BITS | (work.desc.offset & OFFSET_MASK) >> 6) + work.node;
}

/** What an operation carries, or asks for, on its way. @command: of an atomic */
inline uint32_t wire_bytes(const FmaWork &work, const AmoCommand &command) noexcept
{
	return work.is_atomic() ? amo_wire_bytes(command) : work.op == ARIES_FMA_CQWRITE ? CQWRITE_BYTES : work.bytes;
}

struct HeldFma;

/** Where the data of a response go, and the flag behind them. */
struct Landing {
	FmaRuns data;
	RunList<1> flag;
};

class Fma
{
public:
	Fma(Core &core, Fmad *fmads, Ntt &ntt, Traffic &traffic, Ce &ce, Hold &hold, Carry &carry,
	    uint8_t *desc_area) noexcept
		: core_(core), fmads_(fmads), ntt_(ntt), traffic_(traffic), ce_(ce), hold_(hold), carry_(carry),
		  desc_area_(desc_area)
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

	/**
	 * Where completions are held, after a doorbell that reads and says neither by an event nor by a flag when the
	 * data is there: waits for it, and leaves its outcome in the descriptor area. The lock is not held.
	 */
	void await(uint32_t index) noexcept;

	/** Leaves the outcome of a doorbell in the descriptor area. */
	void publish_status(uint32_t index, uint8_t status) noexcept;

private:
	FmaWork begin(uint32_t index) noexcept { return {fmads_[index], index, area(index)}; }
	void decode(FmaWork &work, uint64_t value) noexcept;
	uint8_t run(FmaWork &work) noexcept;
	uint8_t check(FmaWork &work) noexcept;
	uint8_t check_length(const FmaWork &work) const noexcept;
	uint8_t put(FmaWork &work) noexcept;
	uint8_t deliver(FmaWork &work) noexcept;
	uint8_t get(FmaWork &work) noexcept;
	uint8_t atomic(FmaWork &work) noexcept;
	static uint8_t check_atomic(const FmaWork &work, AmoCommand &command) noexcept;
	uint8_t find_landing(const FmaWork &work, Visit &local, Landing &place) const noexcept;
	static void raise_flag(const FmaWork &work, const Landing &place) noexcept;
	uint8_t cq_write(FmaWork &work) noexcept;
	uint8_t collective(FmaWork &work, bool carried = false) noexcept;
	uint8_t contribute_carried(CePlace engine, uint32_t index, const CeSender &sender,
				   CeContribution what) noexcept;
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
	void source_events(FmaWork &work, uint8_t status) noexcept;
	void finish(FmaWork &work, uint8_t status) noexcept;
	void ended(FmaWork &work, uint8_t status) noexcept
	{
		if (work.held) [[unlikely]]
			return;
		if (work.fmad.group) [[unlikely]]
			close_group(work, status);
		else
			finish(work, status);
	}
	/* Where completions are held, or some still are of the descriptor's: fma_hold.cpp */
	bool holds(const Fmad &fmad) const noexcept { return hold_.on() || fmad.held.load(std::memory_order_relaxed); }
	static uint8_t held_transaction(const FmaWork &work, AmoCommand &command, Transaction &transaction) noexcept;
	uint8_t probe(const FmaWork &work, const AmoCommand &command, uint32_t &life) noexcept;
	uint8_t probe_landing(const FmaWork &work, uint32_t &life) noexcept;
	[[gnu::cold]] uint8_t carry(FmaWork &work) noexcept;
	uint8_t send_carried(const std::shared_ptr<HeldFma> &op) noexcept;
	void answered(const std::shared_ptr<HeldFma> &op, const CarriedResponse &response,
		      std::span<const uint8_t> data) noexcept;
	void bring_back(HeldFma &held, const CarriedResponse &response, std::span<const uint8_t> data) noexcept;
	[[gnu::cold]] uint8_t hold_back(FmaWork &work, bool carried = false) noexcept;
	uint8_t prepare_held(const FmaWork &work, HeldFma &held, bool carried) noexcept;
	static void commit(HeldFma &held) noexcept;
	uint8_t depart(const std::shared_ptr<HeldFma> &op, bool carried) noexcept;
	void return_held(const std::shared_ptr<HeldFma> &op, std::unique_lock<SpinLock> &guard) noexcept;
	static uint64_t arrives_at(const HeldFma &held) noexcept;
	uint64_t in_order(const FmaWork &work, uint64_t due_ns) noexcept;
	static void count_held(HeldFma &held) noexcept;
	void serve_held(const std::shared_ptr<HeldFma> &op) noexcept;
	uint8_t at_target(HeldFma &held) noexcept;
	static uint8_t fetch_held(HeldFma &held, const TargetRequest &request, Visit &target) noexcept;
	void end_held(const std::shared_ptr<HeldFma> &op) noexcept;
	uint8_t land_held(HeldFma &held) noexcept;
	void end_silent(HeldFma &held) noexcept;
	void finish_held(HeldFma &held, uint8_t before) noexcept;
	[[gnu::cold]] void close_group(FmaWork &work, uint8_t status) noexcept;
	[[gnu::cold]] void capture(const FmaWork &work, uint8_t status, const FmaRuns *got) noexcept;
	void window_done(FmaWork &work, uint8_t status) noexcept;
	uint8_t *area(uint32_t index) const noexcept { return desc_area_ + size_t(index) * ARIES_DESC_STRIDE; }

	Core &core_;
	Fmad *const fmads_;
	Ntt &ntt_;
	Traffic &traffic_;
	Ce &ce_;
	Hold &hold_;
	Carry &carry_;
	uint8_t *const desc_area_;
	std::atomic<uint64_t> contributions_{0}; /* to collectives, ever */
	/* Where completions are held: when the last operation without an event of its own is at each target. */
	std::array<std::atomic<uint64_t>, MEMBERS_MAX> silent_until_{};
};

/** Records a failed operation: counters, error events here and, for refusals, at the target. */
void report_failure(Core &core, CounterBlock &counters, uint8_t status, uint8_t ptag, uint32_t index, uint8_t op,
		    const TargetRequest &request) noexcept;

} // namespace aries

#endif
