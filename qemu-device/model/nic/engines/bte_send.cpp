/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* Channel sends: block transfers whose target decides where they go (N16). */
#include "nic/engines/bte.hpp"

namespace aries
{

/* From here on the transfer is a put to the place that the target has posted. */
uint8_t Bte::match(BteWork &work) noexcept
{
	uint8_t status = target_state(core_, work.node, now_ns());

	if (status == ARIES_ST_TIMEOUT && is_carried(core_, work.node)) [[unlikely]]
		status = match_carried(work);
	else if (status == ARIES_ST_OK) {
		Visit target(core_, work.node);

		status = serve_match(core_, work.request(), core_.members.lock_word(), target, work.claim);
	}
	if (status != ARIES_ST_OK)
		return status;
	core_.host.trace("send_matched", work.claim.index, work.claim.offset, work.desc.length);
	work.desc.mdh = work.claim.mdh;
	work.desc.offset = work.claim.offset;
	return ARIES_ST_OK;
}

/* The message is there: tells the target. */
uint8_t Bte::finish_send(BteWork &work, bool &overrun) noexcept
{
	uint8_t status = target_state(core_, work.node, now_ns());

	if (status == ARIES_ST_TIMEOUT && is_carried(core_, work.node)) [[unlikely]] {
		CarriedResponse response = {};

		status = ask_carrier(work, CarriedKind::Finish, response);
		overrun = response.flags & SERVED_OVERRUN;
		return status;
	}
	if (status != ARIES_ST_OK)
		return status;
	Visit target(core_, work.node);

	return serve_message(core_, work.request(), work.claim, target, overrun);
}

/* A whole send; what has failed leaves the receive posted. */
uint8_t Bte::send(BteWork &work, CounterBlock &counters, bool &overrun) noexcept
{
	uint8_t status = match(work);

	if (status != ARIES_ST_OK)
		return status;
	status = transfer(work, counters);
	if (status == ARIES_ST_OK)
		status = finish_send(work, overrun);
	if (status == ARIES_ST_OK)
		return status;
	if (core_.segment.node(work.node).carrier.load()) [[unlikely]]
		return_carried(work);
	else
		rmt_return(core_.segment.node(work.node), work.claim);
	return status;
}

} // namespace aries
