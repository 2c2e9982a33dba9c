/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* Channel sends: block transfers whose target decides where they go (N16). */
#include "nic/bte.hpp"

namespace aries
{

/* From here on the transfer is a put to the place that the target has posted. */
uint8_t Bte::match(BteWork &work) noexcept
{
	uint8_t status = target_state(core_, work.node, now_ns());

	if (status != ARIES_ST_OK)
		return status;
	{
		Visit target(core_, work.node);

		status = rmt_take(core_.segment.node(work.node), core_.members.lock_word(), uint32_t(work.desc.offset),
				  work.rights.key, work.desc.length, work.claim);
		if (work.claim.ecc) [[unlikely]]
			ecc_found(core_, work.node, ARIES_RAS_RMT, work.claim.index, work.claim.ecc & ECC_TWO_BITS);
		if (status != ARIES_ST_OK) {
			target.count_refused();
			return status;
		}
	}
	core_.host.trace("send_matched", work.claim.index, work.claim.offset, work.desc.length);
	work.desc.mdh = work.claim.mdh;
	work.desc.offset = work.claim.offset;
	return ARIES_ST_OK;
}

/* The message is there: tells the target. */
uint8_t Bte::finish_send(BteWork &work, bool &overrun) noexcept
{
	NodeSlot &slot = core_.segment.node(work.node);
	uint8_t status = target_state(core_, work.node, now_ns());

	if (status != ARIES_ST_OK)
		return status;
	Visit target(core_, work.node);

	status = target.admit(work.access());
	if (status != ARIES_ST_OK)
		return status;
	if (!rmt_finish(slot, work.claim, work.desc.length))
		return ARIES_ST_FLUSHED;
	const CqEntry entry = {.data = work.claim.event,
			       .tid = uint16_t(work.claim.index),
			       .status = ARIES_ST_OK,
			       .info = ARIES_INFO_REMOTE,
			       .source = ARIES_SRC_REMOTE,
			       .type = uint8_t(field(work.desc.mode, ARIES_EV_TYPE_MASK)),
			       .remote_overrun = false};

	if (target.mdd().has_cq())
		overrun = target.post(entry.word()) == CqResult::OVERRUN;
	rmt_told(slot, work.claim);
	return ARIES_ST_OK;
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
	if (status != ARIES_ST_OK)
		rmt_return(core_.segment.node(work.node), work.claim);
	return status;
}

} // namespace aries
