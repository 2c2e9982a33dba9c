/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * FMA to a node of another host: the way of operations that are held (fma_hold.cpp), but the target's part is done by
 * the carrier of that node. What comes back is brought home by the thread of Carry, and completes as what was held.
 */
#include "nic/engines/fma_hold.hpp"
#include "nic/remote/inbound.hpp"

namespace aries
{

/* The descriptor's lock is held. */
uint8_t Fma::carry(FmaWork &work) noexcept
{
	return work.op == ARIES_FMA_CE ? collective(work, true) : hold_back(work, true);
}

uint8_t Fma::send_carried(const std::shared_ptr<HeldFma> &op) noexcept
{
	HeldFma &held = *op;
	const FmaWork &work = held.work;
	const TargetRequest request = work.request(work.kind(held.command), held.command);
	CarriedRequest carried = carried_request(core_, request, work.is_atomic() ? work.amo : uint16_t(0));
	const uint32_t payload = request.kind == PacketKind::Put ? request.bytes : 0;

	carried.index = work.index;
	carried.op = work.op;
	carried.depart_ns = work.passage.depart_ns;
	carried.dlvr_mode = work.desc.dlvr_mode;
	carried.hash = uint32_t(header_hash(work));
	return carry_.send(
		carried, payload, [&](uint8_t *to) { memcpy(to, request.data, payload); },
		request.kind == PacketKind::Get ? request.bytes : 0,
		[this, op](const CarriedResponse &response, std::span<const uint8_t> data) {
			answered(op, response, data);
		});
}

/* What the target has found, as if it had been served here. */
void Fma::bring_back(HeldFma &held, const CarriedResponse &response, std::span<const uint8_t> data) noexcept
try {
	FmaWork &work = held.work;

	held.status = response.status;
	held.beyond = response;
	held.served = {response.fetched, (response.flags & SERVED_OVERRUN) != 0, (response.flags & SERVED_HIT) != 0,
		       (response.flags & SERVED_WALKED) != 0, (response.flags & SERVED_RAN) != 0};
	work.fetched = held.served.fetched;
	work.remote_overrun = held.served.overrun;
	if (held.status != ARIES_ST_OK || !work.is_get())
		return;
	if (data.size() != work.bytes)
		held.status = ARIES_ST_TIMEOUT;
	else
		held.payload.assign(data.begin(), data.end());
} catch (const std::bad_alloc &) {
	held.status = ARIES_ST_TIMEOUT;
}

/* On the thread of Carry. */
void Fma::answered(const std::shared_ptr<HeldFma> &op, const CarriedResponse &response,
		   std::span<const uint8_t> data) noexcept
{
	HeldFma &held = *op;
	std::unique_lock guard(held.work.fmad.lock);

	bring_back(held, response, data);
	if (held.served.ran)
		traffic_.serve_atomic(held.work.node, held.served.hit, held.served.walked, held.command.fetch,
				      held.work.passage);
	later_turn(response, held.work.passage.depart_ns, held.work.passage);
	return_held(op, guard);
}

} // namespace aries
