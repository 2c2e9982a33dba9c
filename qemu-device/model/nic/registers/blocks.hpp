/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happens to the blocks of our slot in the segment, and when; the list of them is NodeSlot. */
#ifndef ARIES_NIC_BLOCKS_HPP
#define ARIES_NIC_BLOCKS_HPP

#include "nic/engines/ce.hpp"
#include "nic/tables/cq.hpp"
#include "nic/tables/mdd.hpp"
#include "nic/target/receive.hpp"

namespace aries
{

/** The units of a NIC that blocks belong to. */
struct BlockUnits {
	Core &core;
	MddTable &mdds;
	CqTable &cqs;
	CeTable &ces;
	ReceiveTable &receives;
};

/**
 * Each goes over the whole list. One caller at a time (the NIC's control mutex).
 * blocks_revoke(): a reset, or the address had another owner before: peers get nothing of it from now on. They may
 * still be at what they got; who waits for them calls blocks_reset() then. @status: for what was pending
 * blocks_reset(): nobody is left who began before: all is as new
 * blocks_on_death(): a member died or left: its locks are taken over, what it had begun here is ended
 * blocks_sweep(): from time to time
 */
void blocks_revoke(BlockUnits &units, uint8_t status) noexcept;
void blocks_reset(BlockUnits &units) noexcept;
void blocks_on_death(BlockUnits &units) noexcept;
void blocks_sweep(BlockUnits &units) noexcept;

} // namespace aries

#endif
