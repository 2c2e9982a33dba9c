/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FMA operations on their way, where completions are held, and those for nodes of other hosts. */
#ifndef ARIES_NIC_FMA_HOLD_HPP
#define ARIES_NIC_FMA_HOLD_HPP

#include <array>
#include <memory>
#include <vector>

#include "nic/engines/fma_work.hpp"
#include "nic/remote/carry.hpp"
#include "nic/time/hold.hpp"

namespace aries
{

struct HeldFma;

/**
 * Operations of a descriptor without an event of their own, up to the next one that has one: it comes behind them and
 * tells their first failure. Changes under the descriptor's lock.
 */
struct HoldGroup {
	uint32_t open = 0;                    /* that are on their way */
	uint8_t status = ARIES_ST_OK;         /* the first failure */
	uint8_t torn = ARIES_ST_OK;           /* why a part of the data that the next sync flag stands for is lost */
	std::shared_ptr<HeldFma> parked = {}; /* has the event, and is ready */
};

/** One operation on its way; FMAD_STATUS.BUSY counts it. */
struct HeldFma {
	HeldFma(const FmaWork &from, std::shared_ptr<HoldGroup> of, Hold &in);
	~HeldFma();
	HeldFma(const HeldFma &) = delete;
	HeldFma &operator=(const HeldFma &) = delete;

	Hold &hold;
	FmaWork work;
	std::vector<uint8_t> payload = {}; /* of a put, or what a get brings back */
	Transaction transaction = {};
	AmoCommand command = {};
	Served served = {};
	CarriedResponse beyond = {};          /* what the target's host has said, if it is another one */
	uint32_t far_life = 0, near_life = 0; /* MddSlot::life of both memory domains when it left */
	uint8_t status = ARIES_ST_OK;
	bool lands = false;  /* data come back */
	bool told = false;   /* as TIMEOUT, see FmaHold::await(): what becomes of it now concerns nobody */
	bool closes = false; /* has an event */
	std::atomic<bool> done{false};
	std::shared_ptr<HoldGroup> group;
};

class FmaHold
{
public:
	FmaHold(Core &core, Traffic &traffic, Hold &hold, Carry &carry, FmaDescriptors &descriptors) noexcept
		: core_(core), traffic_(traffic), hold_(hold), carry_(carry), descriptors_(descriptors)
	{
	}

	/** Completions are held, or some still are of the descriptor's. */
	bool on(const Fmad &fmad) const noexcept { return hold_.on() || fmad.held.load(std::memory_order_relaxed); }

	/**
	 * Sends an operation; the descriptor's lock is held.
	 * @carried: the target is on another host
	 * Return: ARIES_ST_OK with @work.held, or why there is nothing on its way
	 */
	[[gnu::cold]] uint8_t begin(FmaWork &work, bool carried = false) noexcept;

	/**
	 * After a doorbell that reads and says neither by an event nor by a flag when the data is there: waits for it,
	 * and leaves its outcome in the descriptor area. The descriptor's lock is not held.
	 */
	void await(uint32_t index) noexcept;

	/**
	 * A doorbell whose own part is done, and whose parts may be on their way: a batch, or one that was refused at
	 * once. Its event comes behind theirs.
	 */
	[[gnu::cold]] void end_group(FmaWork &work, uint8_t status) noexcept;

private:
	uint8_t probe(const FmaWork &work, const AmoCommand &command, uint32_t &life) noexcept;
	uint8_t probe_landing(const FmaWork &work, uint32_t &life) noexcept;
	uint8_t prepare(HeldFma &held, bool carried) noexcept;
	static void commit(HeldFma &held) noexcept;
	uint8_t send_carried(const std::shared_ptr<HeldFma> &op) noexcept;
	void bring_back(HeldFma &held, const CarriedResponse &response, std::span<const uint8_t> data) noexcept;
	void answered(const std::shared_ptr<HeldFma> &op, const CarriedResponse &response,
		      std::span<const uint8_t> data) noexcept;
	uint8_t depart(const std::shared_ptr<HeldFma> &op, bool carried) noexcept;
	static uint64_t arrives_at(const HeldFma &held) noexcept;
	uint64_t in_order(const FmaWork &work, uint64_t due_ns) noexcept;
	void serve(const std::shared_ptr<HeldFma> &op) noexcept;
	uint8_t at_target(HeldFma &held) noexcept;
	void respond(const std::shared_ptr<HeldFma> &op, std::unique_lock<SpinLock> &guard) noexcept;
	void end(const std::shared_ptr<HeldFma> &op) noexcept;
	uint8_t land(HeldFma &held) noexcept;
	void end_silent(HeldFma &held) noexcept;
	void finish(HeldFma &held, uint8_t before) noexcept;

	Core &core_;
	Traffic &traffic_;
	Hold &hold_;
	Carry &carry_;
	FmaDescriptors &descriptors_;
	/* When the last operation without an event of its own is at each target. */
	std::array<std::atomic<uint64_t>, MEMBERS_MAX> silent_until_{};
};

} // namespace aries

#endif
