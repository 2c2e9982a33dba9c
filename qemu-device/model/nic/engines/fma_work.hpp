/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One FMA operation, where its response goes, and the descriptors by which it is asked for and told of. */
#ifndef ARIES_NIC_FMA_WORK_HPP
#define ARIES_NIC_FMA_WORK_HPP

#include "nic/tables/amo.hpp"
#include "nic/tables/fmad.hpp"
#include "nic/target/copy.hpp"
#include "nic/target/serve.hpp"
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
	/** Equal header fields take equal ways (R12). */
	[[gnu::always_inline]] uint64_t header_hash() const noexcept
	{
		return (uint64_t(desc.mdh) << ARIES_OFFSET_BITS | (desc.offset & OFFSET_MASK) >> 6) + node;
	}
	/** What it carries, or asks for, on its way. @command: of an atomic */
	uint32_t wire_bytes(PacketKind kind, const AmoCommand &command) const noexcept
	{
		if (kind == PacketKind::Amo || kind == PacketKind::FetchAmo)
			return amo_wire_bytes(command);
		return kind == PacketKind::CqWrite ? CQWRITE_BYTES : bytes;
	}
	/** What it sends. */
	[[gnu::always_inline]] Transaction transaction(PacketKind kind, uint32_t wire) const noexcept
	{
		return Transaction::of(kind, desc.dlvr_mode, node, wire, header_hash());
	}
	/** Data, or a value, come back. */
	bool lands(const AmoCommand &command) const noexcept { return is_get() || (is_atomic() && command.fetch); }
	void count_put() noexcept
	{
		fmad.counters.add(ARIES_CNT_FMA_PUTS,
				  (bytes + ARIES_PACKET_BYTES - 1) / ARIES_PACKET_BYTES + (op == ARIES_FMA_PUT_SYNC));
	}
	/** It has left. */
	void count(PacketKind kind) noexcept
	{
		if (kind == PacketKind::Amo || kind == PacketKind::FetchAmo)
			fmad.counters.add(ARIES_CNT_FMA_AMOS);
		else if (kind == PacketKind::Get)
			fmad.counters.add(ARIES_CNT_FMA_GETS, (bytes + ARIES_PACKET_BYTES - 1) / ARIES_PACKET_BYTES);
		else if (kind == PacketKind::Put)
			count_put();
	}
	/** Everything that the command alone decides. */
	uint8_t check_atomic(AmoCommand &command) const noexcept;
};

/** Where the data of a response go, and the flag behind them. */
struct Landing {
	FmaRuns data;
	RunList<1> flag;

	/** @local: a visit to our own node */
	uint8_t find(const FmaWork &work, Visit &local) noexcept;
	/** After the data. */
	void raise_flag(const FmaWork &work) const noexcept;
	/** Both: @bytes of a get, or the value that an atomic has fetched. */
	void store(const FmaWork &work, const uint8_t *bytes) const noexcept;
};

/** The FMA descriptors of a NIC: their areas, and what is told by them when an operation is over. */
class FmaDescriptors
{
public:
	FmaDescriptors(Core &core, Fmad *fmads, uint8_t *desc_area) noexcept
		: core_(core), fmads_(fmads), desc_area_(desc_area)
	{
	}

	Fmad &operator[](uint32_t index) const noexcept { return fmads_[index]; }
	uint8_t *area(uint32_t index) const noexcept { return desc_area_ + size_t(index) * ARIES_DESC_STRIDE; }
	aries_fma_window window(uint32_t index) const noexcept
	{
		return copy_once<aries_fma_window>(area(index) + ARIES_DESC_WINDOW);
	}
	FmaWork begin(uint32_t index) const noexcept { return {fmads_[index], index, area(index)}; }

	/** Leaves the outcome of a doorbell in the descriptor area. */
	void publish_status(uint32_t index, uint8_t status) const noexcept
	{
		static_assert(offsetof(aries_fma_status, status) == 4 && sizeof(aries_fma_status) == 8);
		auto *word = reinterpret_cast<uint64_t *>(area(index) + ARIES_DESC_STATUS);

		__atomic_store_n(word, ++fmads_[index].sequence | uint64_t(status) << 32, __ATOMIC_RELEASE);
	}

	/** The operation is over: its failure is reported, its events are sent. */
	void finish(FmaWork &work, uint8_t status) const noexcept;

private:
	void source_events(FmaWork &work, uint8_t status) const noexcept;

	Core &core_;
	Fmad *const fmads_;
	uint8_t *const desc_area_;
};

/** Records a failed operation: counters, error events here and, for refusals, at the target. */
void report_failure(Core &core, CounterBlock &counters, uint8_t status, uint8_t ptag, uint32_t index, uint8_t op,
		    const TargetRequest &request) noexcept;

/** Tells the packet trace. @got: what a get has brought; it tells itself when it went well */
[[gnu::cold]] void capture_fma(Core &core, const FmaWork &work, uint8_t status, const FmaRuns *got) noexcept;

} // namespace aries

#endif
