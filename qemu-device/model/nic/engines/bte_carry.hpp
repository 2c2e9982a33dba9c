/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Block transfers with nodes of other hosts. */
#ifndef ARIES_NIC_BTE_CARRY_HPP
#define ARIES_NIC_BTE_CARRY_HPP

#include "nic/engines/bte_work.hpp"
#include "nic/remote/carry.hpp"

namespace aries
{

struct CarriedPieces;

/** The target's part of a transfer, done by the gateway of its host. Calls wait until the transfer is flushed. */
class BteBeyond
{
public:
	BteBeyond(Core &core, Carry &carry) noexcept : core_(core), carry_(carry) {}

	/** @answered: false if nothing of a get comes back */
	uint8_t move(const BteWork &work, uint64_t at, uint64_t bytes, bool answered) noexcept;
	/** Asks, and waits for the answer. */
	uint8_t ask(const BteWork &work, CarriedKind kind, CarriedResponse &response) noexcept;
	/** Takes a receive for a send, and gives it back. */
	uint8_t match(BteWork &work) noexcept;
	void give_back(const BteWork &work) noexcept;

private:
	CarriedRequest carried(const BteWork &work, CarriedKind kind) const noexcept;
	uint8_t send_piece(const std::shared_ptr<CarriedPieces> &pieces, uint64_t at, uint32_t bytes) noexcept;
	uint8_t issue_piece(const std::shared_ptr<CarriedPieces> &pieces, const CarriedRequest &request) noexcept;
	void piece_back(CarriedPieces &pieces, const CarriedRequest &request, const CarriedResponse &response,
			std::span<const uint8_t> data) noexcept;
	uint8_t wait_for_pieces(CarriedPieces &pieces, uint32_t left) noexcept;

	Core &core_;
	Carry &carry_;
};

} // namespace aries

#endif
