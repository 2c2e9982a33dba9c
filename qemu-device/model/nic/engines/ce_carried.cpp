/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/engines/ce_carried.hpp"

#include "nic/engines/ce_math.hpp"

namespace aries
{

namespace
{

/* CarriedRequest::offset of a contribution: as in a descriptor. */
constexpr uint64_t CHILD = 0xff;
constexpr unsigned int ENGINE_SHIFT = 8;

/* CarriedRequest::flag_value. */
uint64_t details(uint8_t status, uint8_t fpe, uint8_t ce_mode, uint8_t level)
{
	return status | uint64_t(fpe) << 8 | uint64_t(ce_mode) << 16 | uint64_t(level) << 24;
}

} // namespace

CarriedRequest ce_carried(const Core &core, CePlace to, uint32_t index, const CeSender &sender,
			  const CeContribution &what) noexcept
{
	CarriedRequest request = {};

	request.kind = uint8_t(sender.kind == CE_CHILD_ENGINE ? CarriedKind::Partial : CarriedKind::Contribute);
	request.op = ARIES_FMA_CE;
	request.amo = what.command;
	request.source = core.node;
	request.target = to.node;
	request.key = sender.key;
	request.event = what.red_id;
	request.index = what.source;
	request.bytes = sender.serial;
	request.at = sender.from.node;
	request.offset = index | uint64_t(to.engine) << ENGINE_SHIFT;
	request.flag_offset = what.serial;
	request.flag_value = details(what.status, what.fpe, what.ce_mode, what.level);
	request.operand[0] = what.operand[0];
	request.operand[1] = what.operand[1];
	request.depart_ns = what.arrive_ns;
	return request;
}

CarriedRequest ce_carried(const Core &core, uint32_t node, uint64_t handle, const CeOutcome &outcome) noexcept
{
	CarriedRequest request = {};

	request.kind = uint8_t(CarriedKind::Outcome);
	request.op = ARIES_FMA_CE;
	request.source = core.node;
	request.target = node;
	request.event = outcome.red_id;
	request.flag_offset = handle;
	request.flag_value = details(outcome.status, outcome.fpe, 0, 0);
	request.operand[0] = outcome.result[0];
	request.operand[1] = outcome.result[1];
	request.depart_ns = outcome.at_ns;
	return request;
}

bool ce_sound(const CarriedRequest &request, uint32_t nodes) noexcept
{
	const CarriedKind kind = CarriedKind(request.kind);
	const bool engine = kind == CarriedKind::Partial;
	const auto ce_mode = uint8_t(request.flag_value >> 16), level = uint8_t(request.flag_value >> 24);
	CeCommand command;

	if (kind < CarriedKind::Contribute)
		return true;
	if (request.flags || request.type || request.op != ARIES_FMA_CE || request.part || request.claim.state ||
	    request.flag_value >> 32)
		return false;
	if (kind == CarriedKind::Outcome)
		return true;
	return command.decode(request.amo) && (request.offset & CHILD) < ARIES_CE_CHILDREN &&
	       request.offset >> ENGINE_SHIFT < ARIES_CE_CHANNELS && !(ce_mode & ~ARIES_CEMODE_TWO_OP) &&
	       level < CE_LEVELS && request.index <= UINT16_MAX && request.at < nodes &&
	       bool(request.index & CE_SOURCE_ENGINE) == engine && request.flag_offset &&
	       (engine ? (request.index & ~uint32_t(CE_SOURCE_ENGINE)) < ARIES_CE_CHANNELS
		       : request.at == request.source && !level);
}

CeArrived ce_arrived(const CarriedRequest &request, uint64_t handle) noexcept
{
	const bool engine = CarriedKind(request.kind) == CarriedKind::Partial;
	CeArrived arrived = {};
	CeContribution &what = arrived.what;

	arrived.to = {request.target, uint32_t(request.offset >> ENGINE_SHIFT)};
	arrived.index = uint32_t(request.offset & CHILD);
	arrived.sender = {engine ? CE_CHILD_ENGINE : CE_CHILD_ENDPOINT,
			  {request.at, engine ? request.index & ~uint32_t(CE_SOURCE_ENGINE) : 0},
			  request.key,
			  nullptr,
			  request.bytes};
	what.operand[0] = request.operand[0];
	what.operand[1] = request.operand[1];
	what.arrive_ns = request.depart_ns;
	what.serial = request.flag_offset;
	what.token = handle;
	what.carried = 1;
	what.key = request.key;
	what.red_id = request.event;
	what.command = request.amo;
	what.source = uint16_t(request.index);
	what.status = uint8_t(request.flag_value);
	what.fpe = uint8_t(request.flag_value >> 8);
	what.ce_mode = uint8_t(request.flag_value >> 16);
	what.level = uint8_t(request.flag_value >> 24);
	return arrived;
}

CarriedResponse ce_response(const CarriedRequest &outcome) noexcept
{
	CarriedResponse response = {};

	response.status = uint8_t(outcome.flag_value);
	response.flags = SERVED_OUTCOME;
	response.fetched = outcome.operand[0];
	response.claim.state = outcome.operand[1];
	response.claim.offset = outcome.depart_ns;
	response.claim.event = outcome.event;
	response.claim.mdh = uint8_t(outcome.flag_value >> 8);
	return response;
}

CeOutcome ce_outcome(const CarriedResponse &response, uint32_t red_id, uint64_t now) noexcept
{
	if (!(response.flags & SERVED_OUTCOME))
		return {{0, 0},
			now,
			red_id,
			response.status == ARIES_ST_OK ? uint8_t(ARIES_ST_TIMEOUT) : response.status,
			0};
	return {{response.fetched, response.claim.state},
		response.claim.offset,
		response.claim.event,
		response.status,
		uint8_t(response.claim.mdh)};
}

} // namespace aries
