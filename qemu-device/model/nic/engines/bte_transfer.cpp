/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chunks of at most 1 MiB are a visit each, so that an invalidation waits for no more. */
#include "nic/engines/bte_transfer.hpp"

#include "link/timing.hpp"
#include "nic/target/copy.hpp"
#include "nic/target/sequence.hpp"

namespace aries
{

namespace
{

constexpr uint32_t STREAM_BYTES = 16 << 20; /* transfers that are larger than caches are */
constexpr uint64_t SHARE_CHUNKS = 4;        /* from here on a second thread is worth waking */
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

/*
 * Modelled latency of what came at @start and has arrived at @arrived, of which @quiet_ns are the way. A channel begins
 * when it has sent what it had before. The host is often faster than that: who posts as soon as it has seen the end of
 * one transfer does not wait for what is left of it in modelled time. Injected faults delay what has long been sent.
 */
uint64_t BteTransfer::latency(const BteWork &work, uint64_t start, uint64_t arrived, uint64_t quiet_ns) noexcept
{
	uint64_t &sent = sent_[work.channel];
	const uint64_t left = arrived - quiet_ns, before = std::min(sent, left);

	if (!core_.faults.any()) [[likely]]
		sent = std::max(sent, left);
	return arrived - std::max(start, before);
}

uint8_t BteTransfer::match(BteWork &work) noexcept
{
	uint8_t status = target_state(core_, work.node, now_ns());

	if (status == ARIES_ST_TIMEOUT && is_carried(core_, work.node)) [[unlikely]]
		status = beyond_.match(work);
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

uint8_t BteTransfer::damage(uint32_t index, uint32_t hit) noexcept
{
	ecc_found(core_, core_.node, ARIES_RAS_BTE, index, hit & ECC_TWO_BITS);
	return hit & ECC_TWO_BITS ? ARIES_ST_LOCAL_ECC : ARIES_ST_OK;
}

/* The channel reads its transfer with each chunk, and at its end. */
uint8_t BteTransfer::channel_damage(const BteWork &work) noexcept
{
	std::atomic<uint32_t> &ecc = ecc_[work.channel];
	const uint32_t hit = ecc.load(std::memory_order_relaxed) ? ecc.exchange(ECC_WHOLE) : uint32_t(ECC_WHOLE);

	return hit ? damage(ARIES_FMA_DESCRIPTORS + work.channel, hit) : uint8_t(ARIES_ST_OK);
}

BteShare BteTransfer::begin(const BteWork &work) const noexcept
{
	const uint64_t chunks = (work.desc.length + BTE_CHUNK - 1) / BTE_CHUNK, now = now_ns();
	const bool backwards = core_.faults.reorder();

	return {.work = work,
		.chunks = chunks,
		.backwards = backwards,
		.shared = chunks >= SHARE_CHUNKS && !backwards && !hold_.on(),
		.host_start = now,
		.start = core_.at(now)};
}

bool BteTransfer::next_chunk(BteShare &share, CounterBlock &counters) noexcept
{
	const uint64_t taken = share.next.fetch_add(1, std::memory_order_relaxed);
	if (taken >= share.chunks || share.status.load(std::memory_order_relaxed) != ARIES_ST_OK)
		return false;
	const uint64_t at = (share.backwards ? share.chunks - 1 - taken : taken) * BTE_CHUNK;
	const uint64_t bytes = std::min<uint64_t>(BTE_CHUNK, share.work.desc.length - at);
	uint8_t status = share.work.cancelled() ? uint8_t(ARIES_ST_FLUSHED) : channel_damage(share.work);
	uint8_t none = ARIES_ST_OK;

	if (status == ARIES_ST_OK)
		status = chunk(share, at, bytes, counters);

	if (status != ARIES_ST_OK)
		share.status.compare_exchange_strong(none, status, std::memory_order_relaxed);
	return status == ARIES_ST_OK;
}

uint8_t BteTransfer::end(const BteShare &share, BteWork &work, CounterBlock &counters) noexcept
{
	const uint8_t status = share.status.load(std::memory_order_relaxed);

	if (status != ARIES_ST_OK)
		return status;
	work.unanswered = share.unanswered.load();
	work.back_ns = share.back;
	const uint64_t took = latency(work, share.start, share.arrived() - share.lag, share.last - share.end);

	count_latency(core_, counters, took);
	core_.host.trace("bte_copied", work.desc.length, now_ns() - share.host_start, took);
	return ARIES_ST_OK;
}

uint8_t BteTransfer::chunk(BteShare &share, uint64_t at, uint64_t bytes, CounterBlock &counters) noexcept
{
	const BteWork &work = share.work;
	BteRuns near;
	Bursts bursts;

	if (core_.own().online.load(std::memory_order_relaxed) != ONLINE_ALL)
		return ARIES_ST_FLUSHED;
	uint8_t status = target_state(core_, work.node, now_ns());
	const bool beyond = status == ARIES_ST_TIMEOUT && is_carried(core_, work.node);
	const bool held = hold_.on();

	if (status != ARIES_ST_OK && !beyond)
		return status;
	/* Nobody waits with a visit open: invalidations wait for visits. */
	if (held || beyond) [[unlikely]] {
		status = account(share, bytes, counters, bursts);
		if (status != ARIES_ST_OK)
			return status;
		if (held)
			hold_chunk(share);
		if (work.cancelled())
			return ARIES_ST_FLUSHED;
		if (beyond)
			return beyond_.move(work, at, bytes, answered(share, bursts));
	}
	Visit local(core_, core_.node);

	status = work.runs(at, bytes, local, near);
	if (status == ARIES_ST_OK && !held) [[likely]]
		status = account(share, bytes, counters, bursts);
	if (status == ARIES_ST_OK)
		status = move(work, at, bytes, near, answered(share, bursts) || work.put());
	if (core_.trace.wants(at / ARIES_PACKET_BYTES)) [[unlikely]]
		capture_bte(core_, work, at, bytes, status, bursts, near);
	return status;
}

/*
 * Where completions are held: a channel is busy until its data has left, and the last of it is in memory when it has
 * arrived. A flush ends the wait.
 */
void BteTransfer::hold_chunk(const BteShare &share) noexcept
{
	const bool last = share.next.load(std::memory_order_relaxed) >= share.chunks;

	hold_.sleep_until((last ? share.last : share.end) + share.stalled, [this, &share] {
		return share.work.cancelled() || core_.own().online.load(std::memory_order_relaxed) != ONLINE_ALL;
	});
}

/* A response comes to every packet of a chunk. */
bool BteTransfer::answered(BteShare &share, const Bursts &bursts) const noexcept
{
	for (uint32_t i = 0; i < bursts.count; i++) {
		uint8_t none = ARIES_ST_OK;

		if (!traffic_.unanswered(bursts.passage[i])) [[likely]]
			continue;
		share.unanswered.compare_exchange_strong(none, traffic_.why_unanswered(bursts.passage[i]));
		return false;
	}
	return true;
}

/*
 * The target's part.
 * @answered: false if nothing of a get comes back
 */
uint8_t BteTransfer::move(const BteWork &work, uint64_t at, uint64_t bytes, const BteRuns &near, bool answered) noexcept
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
uint8_t BteTransfer::account(BteShare &share, uint64_t bytes, CounterBlock &counters, Bursts &bursts) noexcept
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
		const uint8_t status = traffic_.send(work.transaction(burst), share.floor, counters, passage);

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
uint8_t BteTransfer::tell_target(BteWork &work, bool &overrun) noexcept
{
	if (!work.send() && !(work.desc.mode & ARIES_EV_REMOTE))
		return ARIES_ST_OK;
	uint8_t status = target_state(core_, work.node, now_ns());

	if (status == ARIES_ST_TIMEOUT && is_carried(core_, work.node)) [[unlikely]] {
		CarriedResponse response = {};

		status = beyond_.ask(work, work.send() ? CarriedKind::Finish : CarriedKind::BlockEvent, response);
		overrun = response.flags & SERVED_OVERRUN;
		return status;
	}
	if (status != ARIES_ST_OK)
		return status;
	Visit target(core_, work.node);

	if (work.send())
		return serve_message(core_, work.request(), work.claim, target, overrun);
	status = target.admit(work.access());
	if (status == ARIES_ST_OK)
		serve_event([&work] { return work.request(); }, target, overrun);
	return status;
}

uint8_t BteTransfer::tell(BteWork &work, uint8_t status, bool &overrun) noexcept
{
	if (status == ARIES_ST_OK && !work.send())
		status = channel_damage(work);
	if (status == ARIES_ST_OK)
		status = tell_target(work, overrun);
	if (work.send() && status != ARIES_ST_OK) {
		if (core_.segment.node(work.node).carrier.load()) [[unlikely]]
			beyond_.give_back(work);
		else
			rmt_return(core_.segment.node(work.node), work.claim);
	}
	if (status == ARIES_ST_OK && work.send())
		status = channel_damage(work);
	return status == ARIES_ST_OK ? work.unanswered : status;
}

bool BteTransfer::is_short(const BteWork &work) const noexcept
{
	return work.desc.length <= SHORT_BYTES && !work.send() && !work.physical() &&
	       work.node < core_.segment.nodes() && core_.network.adjacent(core_.node, work.node) &&
	       !core_.faults.any() && !core_.trace.on() && !traffic_.injection_limit() && !hold_.on() &&
	       !is_carried(core_, work.node);
}

/* The target's part; its event comes with the data. */
uint8_t BteTransfer::deliver_short(const BteWork &work, const FmaRuns &near, bool &overrun) noexcept
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

/*
 * What the general way comes to when nothing is in front of a transfer, nothing can get lost and nobody looks at its
 * packets.
 */
uint8_t BteTransfer::move_short(const BteWork &work, CounterBlock &counters, bool &overrun) noexcept
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
	traffic_.send(work.transaction(desc.length), now, counters, passage, host);
	if (status == ARIES_ST_OK)
		count_latency(core_, counters, latency(work, now, now + passage.latency_ns, quiet_ns(work.put(), 0)));
	return status;
}

} // namespace aries
