/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Short block transfers between neighbours: what the general way of bte_transfer.cpp comes to when nothing is in front
 * of a transfer, nothing can get lost and nobody looks at its packets. One reading of the clock, one visit to either
 * side, no mutex.
 */
#include "nic/engines/bte.hpp"

#include <bit>

#include "nic/target/copy.hpp"

namespace aries
{

namespace
{

constexpr uint32_t SHORT_BYTES = 64 * ARIES_PACKET_BYTES;

/* As Visit::runs(): a block of a page is in one page, so nobody asks where the next one lies. */
inline uint8_t short_runs(Visit &visit, uint64_t offset, uint64_t bytes, bool write, FmaRuns &list) noexcept
{
	uint8_t *host = nullptr;
	const uint8_t status = visit.lazy() ? uint8_t(ARIES_ST_OK) : visit.spot(offset, bytes, write, host);

	if (status != ARIES_ST_OK)
		return status;
	if (!host) [[unlikely]]
		return visit.runs(offset, bytes, write, list);
	list.add(host, bytes);
	return ARIES_ST_OK;
}

} // namespace

bool Bte::is_short(const BteWork &work) const noexcept
{
	return work.desc.length <= SHORT_BYTES && !work.send() && !work.physical() &&
	       work.node < core_.segment.nodes() && core_.network.adjacent(core_.node, work.node) &&
	       !core_.faults.any() && !core_.trace.on() && !traffic_.injection_limit() && !hold_.on() &&
	       !is_carried(core_, work.node);
}

/*
 * A channel for a transfer that has nothing of its descriptor in front of it; -1 if there is none. The descriptor's
 * lock is held until the transfer has ended, so nothing of it can start meanwhile.
 */
int Bte::seize(const Fmad &fmad) noexcept
{
	uint32_t busy = busy_channels_.load(std::memory_order_relaxed);
	const int channel = std::countr_one(busy);

	if (fmad.busy.load(std::memory_order_acquire) || channel >= int(ARIES_BTE_CHANNELS) ||
	    !busy_channels_.compare_exchange_strong(busy, busy | 1u << channel, std::memory_order_acquire))
		return -1;
	return channel;
}

/* Whoever queued a transfer because of us finds the channel free, or we see that there is somebody to wake. */
void Bte::release(int channel) noexcept
{
	busy_channels_.fetch_and(~(1u << channel), std::memory_order_seq_cst);
	if (waiting_.load(std::memory_order_seq_cst)) [[unlikely]] {
		std::lock_guard guard(mutex_);

		work_.notify_all();
	}
}

/* The target's part; its event comes with the data. */
uint8_t Bte::deliver_short(const BteWork &work, const FmaRuns &near, bool &overrun) noexcept
{
	const aries_bte_desc &desc = work.desc;
	FmaRuns far;
	Visit target(core_, work.node);
	uint8_t status = target.admit(work.access());

	if (status == ARIES_ST_OK)
		status = short_runs(target, desc.offset, desc.length, work.put(), far);
	if (status != ARIES_ST_OK) {
		target.count_refused();
		return status;
	}
	if (work.put())
		copy_runs(far, near);
	else
		copy_runs(near, far);
	status = target.settled();
	if (status != ARIES_ST_OK) [[unlikely]]
		return status;
	serve_event([&work] { return work.request(); }, target, overrun);
	target.count_requests((desc.length + ARIES_PACKET_BYTES - 1) / ARIES_PACKET_BYTES);
	return ARIES_ST_OK;
}

uint8_t Bte::move_short(const BteWork &work, CounterBlock &counters, bool &overrun) noexcept
{
	const aries_bte_desc &desc = work.desc;
	const uint64_t host = now_ns(), now = core_.at(host);
	FmaRuns near;
	Passage passage;
	uint8_t status = target_state(core_, work.node, host);

	if (status != ARIES_ST_OK)
		return status;
	{
		Visit local(core_, core_.node);

		status = local.admit_local(desc.local_mdh, work.rights.ptag(), desc.local_offset, desc.length,
					   !work.put());
		if (status == ARIES_ST_OK)
			status = short_runs(local, desc.local_offset, desc.length, !work.put(), near);
		if (status != ARIES_ST_OK)
			return local_status(status);
		status = deliver_short(work, near, overrun);
	}
	/* Nothing can get lost on the way, so the booking can wait until the data is there. */
	const Transaction transaction = Transaction::of(work.put() ? PacketKind::Put : PacketKind::Get, desc.dlvr_mode,
							work.node, desc.length, desc.offset >> 6);

	traffic_.send(transaction, now, counters, passage, host);
	if (status == ARIES_ST_OK)
		count_latency(core_, counters, latency(work, now, now + passage.latency_ns, quiet_ns(work.put(), 0)));
	return status;
}

} // namespace aries
