/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of collective engines that go to other hosts: Documentation/gateway.md */
#ifndef ARIES_NIC_CE_CARRIED_HPP
#define ARIES_NIC_CE_CARRIED_HPP

#include "fabric/carry_area.hpp"
#include "nic/engines/ce.hpp"
#include "nic/remote/carry.hpp"

namespace aries
{

/** What engines have for engines and endpoints of other hosts. */
class CeBeyond
{
public:
	virtual ~CeBeyond() = default;

	/**
	 * Takes a partial result or an outcome to the gateway, which answers for all that becomes of it. No lock is
	 * held; may wait for room, for a bounded time.
	 * Return: ARIES_ST_OK, or why it has not got there
	 */
	virtual uint8_t carry(const CarriedRequest &request) noexcept = 0;
};

/** By this node's area of the segment. */
class CeByArea final : public CeBeyond
{
public:
	explicit CeByArea(Carry &carry) noexcept : carry_(carry) {}

	uint8_t carry(const CarriedRequest &request) noexcept override;

private:
	Carry &carry_;
};

/** A contribution as it travels: of an endpoint, or, if the sender is an engine, its partial result. */
CarriedRequest ce_carried(const Core &core, CePlace to, uint32_t index, const CeSender &sender,
			  const CeContribution &what) noexcept;
/** An outcome, for the gateway of this host: for the contribution that it knows as @handle, of a child on @node. */
CarriedRequest ce_carried(const Core &core, uint32_t node, uint64_t handle, const CeOutcome &outcome) noexcept;

/** Whether the fields that a Contribute, Partial or Outcome is made of make sense; true of all other requests. */
bool ce_sound(const CarriedRequest &request, uint32_t nodes) noexcept;

/** What a sound Contribute or Partial says. */
struct CeArrived {
	CePlace to;
	uint32_t index;
	CeSender sender;
	CeContribution what;
};
CeArrived ce_arrived(const CarriedRequest &request, uint64_t handle) noexcept;

/** An outcome as a response to the contribution, and back. A response without an outcome has refused it. */
CarriedResponse ce_response(const CarriedRequest &outcome) noexcept;
CeOutcome ce_outcome(const CarriedResponse &response, uint32_t red_id, uint64_t now) noexcept;

} // namespace aries

#endif
