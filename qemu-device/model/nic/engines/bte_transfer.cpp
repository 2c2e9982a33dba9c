/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* One block transfer: chunks of at most 1 MiB, each a visit of its own, so that an invalidation waits for no more. */
#include "link/timing.hpp"
#include "nic/engines/bte.hpp"
#include "nic/target/copy.hpp"
#include "nic/target/sequence.hpp"

namespace aries
{

namespace
{

constexpr uint32_t STREAM_BYTES = 16 << 20; /* transfers that are larger than caches are */
constexpr uint64_t SHARE_CHUNKS = 4;        /* from here on a second thread is worth waking */

} // namespace

/*
 * Modelled latency of what came at @start and has arrived at @arrived, of which @quiet_ns are the way. A channel begins
 * when it has sent what it had before. The host is often faster than that: who posts as soon as it has seen the end of
 * one transfer does not wait for what is left of it in modelled time. Injected faults delay what has long been sent.
 */
uint64_t Bte::latency(const BteWork &work, uint64_t start, uint64_t arrived, uint64_t quiet_ns) noexcept
{
	uint64_t &sent = sent_[work.channel];
	const uint64_t left = arrived - quiet_ns, before = std::min(sent, left);

	if (!core_.faults.any()) [[likely]]
		sent = std::max(sent, left);
	return arrived - std::max(start, before);
}

/* One processor cannot saturate the memory: a thread that has nothing else to do takes chunks of a long transfer. */
uint8_t Bte::transfer(BteWork &work, CounterBlock &counters) noexcept
{
	const uint64_t host_start = now_ns();
	BteShare share = {.work = work,
			  .chunks = (work.desc.length + BTE_CHUNK - 1) / BTE_CHUNK,
			  .backwards = core_.faults.reorder(),
			  .start = core_.at(host_start)};
	const bool shared = share.chunks >= SHARE_CHUNKS && !share.backwards && !hold_.on();

	if (shared)
		offer(share);
	while (next_chunk(share, counters))
		;
	if (shared)
		withdraw(share);
	const uint8_t status = share.status.load(std::memory_order_relaxed);

	if (status != ARIES_ST_OK)
		return status;
	work.unanswered = share.unanswered.load();
	work.back_ns = share.back;
	const uint64_t took = latency(work, share.start, share.arrived() - share.lag, share.last - share.end);

	count_latency(core_, counters, took);
	core_.host.trace("bte_copied", work.desc.length, now_ns() - host_start, took);
	return ARIES_ST_OK;
}

/* Carries one more chunk; false if there is none, or no sense in it. */
bool Bte::next_chunk(BteShare &share, CounterBlock &counters) noexcept
{
	const uint64_t taken = share.next.fetch_add(1, std::memory_order_relaxed);
	if (taken >= share.chunks || share.status.load(std::memory_order_relaxed) != ARIES_ST_OK)
		return false;
	const uint64_t at = (share.backwards ? share.chunks - 1 - taken : taken) * BTE_CHUNK;
	const uint64_t bytes = std::min<uint64_t>(BTE_CHUNK, share.work.desc.length - at);
	uint8_t status = cancelled(share.work) ? uint8_t(ARIES_ST_FLUSHED) : channel_damage(share.work);
	uint8_t none = ARIES_ST_OK;

	if (status == ARIES_ST_OK)
		status = chunk(share, at, bytes, counters);

	if (status != ARIES_ST_OK)
		share.status.compare_exchange_strong(none, status, std::memory_order_relaxed);
	return status == ARIES_ST_OK;
}

void Bte::offer(BteShare &share) noexcept
{
	std::lock_guard guard(mutex_);

	if (!offered_ && !helping_ && !waiting_) {
		offered_ = &share;
		work_.notify_one();
	}
}

/* Nobody moves chunks of @share any more when this returns: at most one chunk's time. */
void Bte::withdraw(BteShare &share) noexcept
{
	std::unique_lock guard(mutex_);

	if (offered_ == &share)
		offered_ = nullptr;
	idle_.wait(guard, [&share] { return !share.partners; });
}

/* Mutex held. Whoever waits for a channel's thread comes first. */
void Bte::help(std::unique_lock<std::mutex> &guard) noexcept
{
	BteShare &share = *offered_;
	bool more = true;

	offered_ = nullptr;
	helping_ = true;
	share.partners++;
	while (more && !waiting_ && !stop_) {
		guard.unlock();
		more = next_chunk(share, counters_[ARIES_BTE_CHANNELS]);
		guard.lock();
	}
	share.partners--;
	helping_ = false;
	idle_.notify_all();
}

uint8_t Bte::local_runs(const BteWork &work, uint64_t at, uint64_t bytes, Visit &local, BteRuns &list) noexcept
{
	const aries_bte_desc &desc = work.desc;
	uint8_t status;

	if (work.physical()) {
		status = local.admit_physical();
		if (status != ARIES_ST_OK)
			return status;
		status = physical_runs(*local.ram(), desc.local_offset + at, bytes, list);
		if (status == ARIES_ST_OK && local.lazy()) [[unlikely]]
			status = local.settle(list.run, list.count, !work.put());
	} else {
		status = local.admit_local(desc.local_mdh, work.rights.ptag(), desc.local_offset, desc.length,
					   !work.put());
		if (status != ARIES_ST_OK)
			return status;
		status = local.runs((desc.local_offset + at) & OFFSET_MASK, bytes, !work.put(), list);
	}
	return local_status(status);
}

uint8_t Bte::chunk(BteShare &share, uint64_t at, uint64_t bytes, CounterBlock &counters) noexcept
{
	const BteWork &work = share.work;
	BteRuns near;
	Bursts bursts;

	if (core_.own().online.load(std::memory_order_relaxed) != ONLINE_ALL)
		return ARIES_ST_FLUSHED;
	uint8_t status = target_state(core_, work.node, now_ns());

	if (status == ARIES_ST_TIMEOUT && is_carried(core_, work.node)) [[unlikely]]
		return carry_chunk(share, at, bytes, counters);
	if (status != ARIES_ST_OK)
		return status;
	const bool held = hold_.on();

	/* Nobody waits with a visit open: invalidations wait for visits. */
	if (held) [[unlikely]] {
		status = account(share, bytes, counters, bursts);
		if (status != ARIES_ST_OK)
			return status;
		hold_chunk(share);
		if (cancelled(work))
			return ARIES_ST_FLUSHED;
	}
	Visit local(core_, core_.node);

	status = local_runs(work, at, bytes, local, near);
	if (status == ARIES_ST_OK && !held) [[likely]]
		status = account(share, bytes, counters, bursts);
	const uint8_t unanswered = status == ARIES_ST_OK ? why_unanswered(bursts) : uint8_t(ARIES_ST_OK);
	uint8_t none = ARIES_ST_OK;

	if (unanswered != ARIES_ST_OK) [[unlikely]]
		share.unanswered.compare_exchange_strong(none, unanswered);
	if (status == ARIES_ST_OK)
		status = move(work, at, bytes, near, work.put() || unanswered == ARIES_ST_OK);
	if (core_.trace.wants(at / ARIES_PACKET_BYTES)) [[unlikely]]
		capture(work, at, bytes, status, bursts, near);
	return status;
}

/*
 * Where completions are held: a channel is busy until its data has left, and the last of it is in memory when it has
 * arrived. A flush ends the wait.
 */
void Bte::hold_chunk(const BteShare &share) noexcept
{
	const bool last = share.next.load(std::memory_order_relaxed) >= share.chunks;

	hold_.sleep_until((last ? share.last : share.end) + share.stalled, [this, &share] {
		return cancelled(share.work) || core_.own().online.load(std::memory_order_relaxed) != ONLINE_ALL;
	});
}

/* OK if a response comes to every packet of a chunk. */
uint8_t Bte::why_unanswered(const Bursts &bursts) const noexcept
{
	for (uint32_t i = 0; i < bursts.count; i++) {
		if (traffic_.unanswered(bursts.passage[i]))
			return traffic_.why_unanswered(bursts.passage[i]);
	}
	return ARIES_ST_OK;
}

/*
 * The target's part.
 * @answered: false if nothing of a get comes back
 */
uint8_t Bte::move(const BteWork &work, uint64_t at, uint64_t bytes, const BteRuns &near, bool answered) noexcept
{
	BteRuns far;
	Visit target(core_, work.node);

	/* The whole range each time: the memory domain may have become another one. */
	uint8_t status = target.admit(work.access());

	if (status == ARIES_ST_OK && work.send() && !rmt_held(core_.segment.node(work.node), work.claim))
		status = ARIES_ST_FLUSHED;
	if (status == ARIES_ST_OK)
		status = target.runs((work.desc.offset + at) & OFFSET_MASK, bytes, work.put(), far);
	if (status != ARIES_ST_OK) {
		target.count_refused();
		return status;
	}
	target.count_requests((bytes + ARIES_PACKET_BYTES - 1) / ARIES_PACKET_BYTES);
	if (work.send())
		core_.host.trace("send_writes", work.claim.index, at, bytes);
	/* Pieces of one node may overlap, which only the ordinary copy minds. */
	if (core_.faults.any()) [[unlikely]] {
		arrive<BTE_CHUNK / ARIES_PACKET_BYTES>(core_.faults, target, packets_of(bytes), [&](uint32_t packet) {
			const uint64_t from = uint64_t(packet) * ARIES_PACKET_BYTES;
			const uint64_t part = std::min<uint64_t>(bytes - from, ARIES_PACKET_BYTES);

			if (work.put())
				copy_part(far, near, from, part);
			else if (answered)
				copy_part(near, far, from, part);
		});
		return target.settled();
	}
	const bool stream = work.desc.length >= STREAM_BYTES && work.node != core_.node;

	if (work.put())
		copy_runs(far, near, stream);
	else
		copy_runs(near, far, stream);
	return target.settled();
}

/*
 * Packets and modelled time, in bursts as long as the buffer of outstanding requests. All bursts are ready at once: it
 * is the NICs and the network that make one wait for another (L08). When the host comes late with a chunk, what the
 * network is like then counts, and the delay does not.
 */
uint8_t Bte::account(BteShare &share, uint64_t bytes, CounterBlock &counters, Bursts &bursts) noexcept
{
	const BteWork &work = share.work;
	std::unique_lock guard(share.booking, std::defer_lock);

	if (share.chunks > 1) {
		guard.lock();
		if (const uint64_t now = core_.at(now_ns()); share.last && now > share.end) {
			share.lag += now - share.end;
			share.floor = now;
		}
	}
	while (bytes) {
		const uint32_t burst = uint32_t(std::min(bytes, BTE_BURST));
		Passage &passage = bursts.passage[bursts.count++];
		const Transaction transaction =
			Transaction::of(work.put() ? PacketKind::Put : PacketKind::Get, work.desc.dlvr_mode, work.node,
					burst, work.desc.offset >> 6);
		const uint8_t status = traffic_.send(transaction, share.floor, counters, passage);

		if (status != ARIES_ST_OK)
			return status;
		share.last = std::max(share.last, share.floor + traffic_.waited(passage, share.floor));
		share.back = std::max({share.back, share.last, passage.back_ns + NIC_PIPELINE_NS});
		share.end = share.last - quiet_ns(work.put(), passage.hops);
		/* A smaller window: the next packets wait for responses. */
		if (const uint64_t windows = traffic_.windows(burst / ARIES_PACKET_BYTES); windows > 1) [[unlikely]]
			share.stalled +=
				(windows - 1) * (std::max(passage.back_ns, share.last) - (passage.depart_ns - SEND_NS));
		bytes -= burst;
	}
	return ARIES_ST_OK;
}

/* After the data: the last thing that happens at the target. */
uint8_t Bte::remote_event(const BteWork &work, bool &overrun) noexcept
{
	if (!(work.desc.mode & ARIES_EV_REMOTE))
		return ARIES_ST_OK;
	uint8_t status = target_state(core_, work.node, now_ns());

	if (status == ARIES_ST_TIMEOUT && is_carried(core_, work.node)) [[unlikely]] {
		CarriedResponse response = {};

		status = ask_carrier(work, CarriedKind::BlockEvent, response);
		overrun = response.flags & SERVED_OVERRUN;
		return status;
	}
	if (status != ARIES_ST_OK)
		return status;
	Visit target(core_, work.node);

	status = target.admit(work.access());
	if (status != ARIES_ST_OK)
		return status;
	serve_event([&work] { return work.request(); }, target, overrun);
	return ARIES_ST_OK;
}

/*
 * The events, when the last response is back in modelled time; the channel is free before. False if there is nothing to
 * wait for, or no way to wait.
 */
bool Bte::complete_later(const BteWork &work, uint8_t status, bool overrun) noexcept
{
	/* FMAD_STATUS.BUSY counts it, and no longer when it is dropped. */
	struct Busy {
		explicit Busy(Fmad &of) noexcept : fmad(of) { fmad.busy.fetch_add(1); }
		Busy(const Busy &other) noexcept : Busy(other.fmad) {}
		Busy &operator=(const Busy &) = delete;
		~Busy() { fmad.busy.fetch_sub(1); }

		Fmad &fmad;
	};

	return work.back_ns && work.cq_serial &&
	       hold_.add(work.back_ns, work.index, [this, work, status, overrun, busy = Busy(fmads_[work.index])] {
		       complete(work, status, overrun);
	       });
}

/* Local and global event at the initiator, if its queue still is there. */
void Bte::complete(const BteWork &work, uint8_t status, bool overrun) noexcept
{
	const aries_bte_desc &desc = work.desc;
	CqEntry entry = {.data = desc.local_event,
			 .tid = desc.tid,
			 .status = status,
			 .info = ARIES_INFO_LOCAL,
			 .source = ARIES_SRC_BTE,
			 .type = uint8_t(field(desc.mode, ARIES_EV_TYPE_MASK)),
			 .remote_overrun = overrun};

	if (!work.cq_serial)
		return;
	if (desc.mode & ARIES_EV_LOCAL)
		cq_post(core_, core_.node, nullptr, desc.cq, entry.word(), work.cq_serial);
	if (desc.mode & ARIES_EV_GLOBAL) {
		entry.info = ARIES_INFO_GLOBAL;
		cq_post(core_, core_.node, nullptr, desc.cq, entry.word(), work.cq_serial);
	}
}

} // namespace aries
