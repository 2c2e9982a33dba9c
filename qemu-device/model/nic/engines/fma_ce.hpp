/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contributions to collectives: what a doorbell asks for, checked at its own NIC. */
#ifndef ARIES_NIC_FMA_CE_HPP
#define ARIES_NIC_FMA_CE_HPP

#include "nic/engines/ce.hpp"
#include "nic/engines/fma_work.hpp"
#include "nic/remote/carry.hpp"

namespace aries
{

class FmaCe
{
public:
	FmaCe(Core &core, Traffic &traffic, Ce &ce, Carry &carry) noexcept
		: core_(core), traffic_(traffic), ce_(ce), carry_(carry)
	{
	}

	/**
	 * Its events are the engine's to send, once there is an outcome.
	 * @carried: the engine is on another host
	 */
	uint8_t contribute(FmaWork &work, bool carried = false) noexcept;

private:
	uint8_t give_carried(CePlace engine, uint32_t index, const CeSender &sender, CeContribution what) noexcept;

	Core &core_;
	Traffic &traffic_;
	Ce &ce_;
	Carry &carry_;
	std::atomic<uint64_t> contributions_{0}; /* ever */
};

} // namespace aries

#endif
