/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Receives for channel sends: the owner's table, and how a sender takes one (N16). */
#ifndef ARIES_NIC_RECEIVE_HPP
#define ARIES_NIC_RECEIVE_HPP

#include <array>

#include "nic/core/drain.hpp"

namespace aries
{

/** A receive that a sender has taken. */
struct RmtClaim {
	uint32_t index = 0;
	uint64_t state = 0; /* RmtSlot::state while it is ours; 0: none */
	uint16_t mdh = 0;
	uint64_t offset = 0;
	uint32_t event = 0;
	uint32_t ecc = ECC_WHOLE; /* EccHit: what was found in the receive, for the caller to count */
};

/**
 * Takes the oldest receive of @slot for @channel and @key. The caller visits the node.
 * Return: ARIES_ST_OK, ARIES_ST_NO_RECEIVE, ARIES_ST_RECEIVE_LENGTH, ARIES_ST_ECC (it has two wrong bits)
 */
uint8_t rmt_take(NodeSlot &slot, uint32_t taker, uint32_t channel, uint32_t key, uint32_t bytes,
		 RmtClaim &claim) noexcept;
/** An error of one bit, or @twice of two, in a receive; false if it is not posted. */
bool rmt_hit(RmtSlot &receive, bool twice) noexcept;
/** Whether the owner has not taken the receive back. */
bool rmt_held(const NodeSlot &slot, const RmtClaim &claim) noexcept;
/** The message of @bytes is there; rmt_told() when its event is. False: the owner has taken the receive back. */
bool rmt_finish(NodeSlot &slot, RmtClaim &claim, uint32_t bytes) noexcept;
void rmt_told(NodeSlot &slot, const RmtClaim &claim) noexcept;
/** It failed: the receive is posted as before. */
void rmt_return(NodeSlot &slot, const RmtClaim &claim) noexcept;

/** The RMT block, for the register file: one caller at a time but for sweep(). */
class ReceiveTable
{
public:
	ReceiveTable(Core &core, Drain &drain) noexcept : core_(core), drain_(drain) {}

	uint64_t control(uint32_t index) const noexcept;
	/**
	 * False, without effect: posted already, its last drain is not done, or a buffer of no length. VALID = 0 takes
	 * the receive back, and begins a drain unless its message is there.
	 */
	bool configure(uint32_t index, uint64_t ctl) noexcept;
	uint64_t status(uint32_t index) const noexcept;
	uint64_t offset(uint32_t index) const noexcept { return stage_[index].offset; }
	void set_offset(uint32_t index, uint64_t value) noexcept { stage_[index].offset = value; }
	uint32_t length(uint32_t index) const noexcept { return stage_[index].length; }
	void set_length(uint32_t index, uint32_t value) noexcept { stage_[index].length = value; }
	uint32_t event(uint32_t index) const noexcept { return stage_[index].event; }
	void set_event(uint32_t index, uint32_t value) noexcept { stage_[index].event = value; }
	void reset() noexcept;
	/** Posts again what was taken by senders that have died, and owes the events that they may not have posted. */
	void bury() noexcept;

private:
	struct Stage {
		uint64_t offset;
		uint32_t length;
		uint32_t event;
	};

	void owe_event(const RmtSlot &receive) noexcept;
	void cancel(uint32_t index, uint64_t ctl) noexcept;
	static uint64_t release(RmtSlot &receive) noexcept;

	Core &core_;
	Drain &drain_;
	Leaving<ARIES_RMT_ENTRIES> leaving_;
	std::array<Stage, ARIES_RMT_ENTRIES> stage_{};
	uint64_t posted_ = 0;
};

} // namespace aries

#endif
