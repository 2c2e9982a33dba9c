/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queues and channels; what a transfer does is in bte_transfer.cpp. */
#include "nic/engines/bte.hpp"

#include <bit>
#include <chrono>
#include <cstring>
#include <new>

#include "fabric/quiet_thread.hpp"
#include "nic/engines/fma.hpp"

namespace aries
{

namespace
{

/*
 * What the trapping thread does itself: one chunk. Handing 1 MiB to another
 * thread costs as much again as the tenth of a millisecond that it takes.
 */
constexpr uint32_t INLINE_BYTES = BTE_CHUNK;
constexpr std::chrono::milliseconds RESET_WAIT{2000}, LOOK{1};

} // namespace

Bte::Bte(Core &core, Fmad *fmads, Ntt &ntt, Traffic &traffic, Hold &hold, Carry &carry, uint8_t *desc_area)
	: core_(core), fmads_(fmads), ntt_(ntt), hold_(hold), desc_area_(desc_area),
	  transfer_(core, traffic, hold, carry)
{
}

Bte::~Bte()
{
	reset();
	{
		std::lock_guard guard(mutex_);
		stop_ = true;
	}
	work_.notify_all();
	for (std::thread &thread : workers_)
		thread.join();
}

/* Copies the slot: the process may write it again at once. */
uint8_t Bte::take(uint32_t index, uint32_t slot, BteWork &work) noexcept
{
	const uint8_t *from =
		desc_area_ + size_t(index) * ARIES_DESC_STRIDE + ARIES_DESC_BTE + slot * sizeof(aries_bte_desc);

	memcpy(&work.desc, from, sizeof(work.desc));
	asm volatile("" ::: "memory");
	work.index = index;
	work.node = work.desc.pe;
	work.fmad = &fmads_[index];
	work.rights = {work.fmad->ctl.load(std::memory_order_relaxed), 0};
	work.epoch = work.fmad->block_epoch.load(std::memory_order_relaxed);
	return work.check(core_, ntt_);
}

/* The one fenced, and those behind a fenced one, wait. */
bool Bte::eligible(const Queue &queue, const BteWork &work) const noexcept
{
	return !queue.fenced && (!work.fence() || !queue.running);
}

/* The domain has as many under way as it may; mutex held. */
bool Bte::at_limit(const BteWork &work) const noexcept
{
	const uint32_t limit = limits_[work.rights.ptag()].load(std::memory_order_relaxed);

	return (limit & ARIES_PTAG_BTE_LIMITED_MASK) &&
	       under_way_[work.rights.ptag()] >= (limit & ARIES_PTAG_BTE_LIMIT_MASK);
}

/* Takes a channel, mutex held; -1 if all are busy. Short transfers come and go without the mutex. */
int Bte::begin(Queue &queue, const BteWork &work) noexcept
{
	uint32_t busy = busy_channels_.load(std::memory_order_seq_cst);
	int channel;

	do {
		channel = std::countr_one(busy);
		if (channel >= int(ARIES_BTE_CHANNELS))
			return -1;
	} while (!busy_channels_.compare_exchange_weak(busy, busy | 1u << channel, std::memory_order_seq_cst));
	queue.running++;
	queue.fenced = work.fence();
	transfer_.renew(uint32_t(channel));
	return channel;
}

void Bte::end(const BteWork &work, int channel) noexcept
{
	std::lock_guard guard(mutex_);
	Queue &queue = queues_[work.index];

	busy_channels_.fetch_and(~(1u << channel));
	queue.running--;
	queue.fenced = false;
	under_way_[work.rights.ptag()]--;
	fmads_[work.index].busy.fetch_sub(1);
	if (waiting_)
		work_.notify_all();
	idle_.notify_all();
}

uint8_t Bte::doorbell(uint32_t index, uint64_t value) noexcept
{
	BteWork work;
	uint8_t status = ARIES_ST_RESERVED;
	int channel = -1;
	Fmad &fmad = fmads_[index];

	if (!(value & ~ARIES_DB_SLOT_MASK))
		status = take(index, uint32_t(value), work);
	else
		work.desc = {};
	/* Transfers that are limited are counted, which takes the mutex. */
	if (status == ARIES_ST_OK && transfer_.is_short(work) && !limit(work.rights.ptag()) &&
	    (channel = seize(fmad)) >= 0) [[likely]] {
		CounterBlock &counters = counters_[size_t(channel)];
		bool overrun = false;

		counters.add(ARIES_CNT_SSIDS);
		work.channel = uint8_t(channel);
		conclude(work, transfer_.move_short(work, counters, overrun), overrun, counters);
		release(channel);
		return ARIES_ST_OK;
	}
	if (status == ARIES_ST_OK) {
		std::lock_guard guard(mutex_);
		Queue &queue = queues_[index];

		if (at_limit(work)) [[unlikely]]
			return ARIES_ST_QUEUE_FULL;
		const bool here = work.node >= core_.segment.nodes() || !is_carried(core_, work.node);

		/* No processor waits for modelled time, or for another host. */
		if (queue.waiting.empty() && work.desc.length <= INLINE_BYTES && !hold_.on() && here &&
		    eligible(queue, work))
			channel = begin(queue, work);
		if (channel < 0 && queue.waiting.size() >= ARIES_BTE_QUEUE) {
			/* Nothing was taken, so there is no event either: the process tries again. */
			status = ARIES_ST_QUEUE_FULL;
		} else if (channel < 0) {
			if (!start_workers() || !enqueue(queue, work))
				return ARIES_ST_QUEUE_FULL;
			waiting_++;
			work_.notify_one();
		}
		if (status == ARIES_ST_OK) {
			fmad.busy.fetch_add(1);
			under_way_[work.rights.ptag()]++;
		}
	} else {
		fmad.last.store(status, std::memory_order_relaxed);
		if (value & ~ARIES_DB_SLOT_MASK)
			return status;
		report_failure(core_, fmad.counters, status, work.rights.ptag(), index, work.desc.op, work.request());
		work.complete(core_, status, false);
	}
	if (channel >= 0) {
		run(work, channel);
		end(work, channel);
	}
	return status;
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
		more = transfer_.next_chunk(share, counters_[ARIES_BTE_CHANNELS]);
		guard.lock();
	}
	share.partners--;
	helping_ = false;
	idle_.notify_all();
}

uint8_t Bte::transfer(BteWork &work, CounterBlock &counters) noexcept
{
	BteShare share = transfer_.begin(work);

	if (share.shared)
		offer(share);
	while (transfer_.next_chunk(share, counters))
		;
	if (share.shared)
		withdraw(share);
	return transfer_.end(share, work, counters);
}

void Bte::run(BteWork &work, int channel) noexcept
{
	CounterBlock &counters = counters_[size_t(channel)];
	bool overrun = false;

	work.ssid = ssids_.take();
	work.channel = uint8_t(channel);
	counters.add(ARIES_CNT_SSIDS);
	uint8_t status = work.ecc ? transfer_.damage(work.index, work.ecc) : uint8_t(ARIES_ST_OK);

	if (status == ARIES_ST_OK && work.send())
		status = transfer_.match(work);
	if (status == ARIES_ST_OK) [[likely]]
		status = transfer_.tell(work, transfer(work, counters), overrun);
	ssids_.give(work.ssid);
	conclude(work, status, overrun, counters);
}

bool Bte::hit(uint32_t index, bool twice) noexcept
{
	const uint32_t bits = twice ? ECC_TWO_BITS : ECC_ONE_BIT;
	std::lock_guard guard(mutex_);

	if (index < ARIES_FMA_DESCRIPTORS) {
		if (queues_[index].waiting.empty())
			return false;
		queues_[index].waiting.front().ecc |= uint8_t(bits);
		return true;
	}
	const uint32_t channel = index - ARIES_FMA_DESCRIPTORS;

	if (channel >= ARIES_BTE_CHANNELS || !(busy_channels_.load() >> channel & 1))
		return false;
	transfer_.hit(channel, bits);
	return true;
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
		       work.complete(core_, status, overrun);
	       });
}

/* Counters, errors and events here. */
void Bte::conclude(const BteWork &work, uint8_t status, bool overrun, CounterBlock &counters) noexcept
{
	if (status == ARIES_ST_OK) [[likely]] {
		counters.add(work.send() ? ARIES_CNT_BTE_SENDS : work.put() ? ARIES_CNT_BTE_PUTS : ARIES_CNT_BTE_GETS);
		counters.add(ARIES_CNT_BTE_BYTES, work.desc.length);
	} else {
		fmads_[work.index].last.store(status, std::memory_order_relaxed);
		report_failure(core_, counters, status, work.rights.ptag(), work.index, work.desc.op, work.request());
	}
	if (!hold_.on() || !complete_later(work, status, overrun)) [[likely]]
		work.complete(core_, status, overrun);
	core_.host.trace("bte_done", work.index, work.desc.length, status);
}

/* The next transfer that may start, round robin over the descriptors; mutex held. */
bool Bte::next(BteWork &work, int &channel) noexcept
{
	for (uint32_t i = 1; waiting_ && i <= queues_.size(); i++) {
		const uint32_t index = (round_ + i) % queues_.size();
		Queue &queue = queues_[index];

		if (queue.waiting.empty() || !eligible(queue, queue.waiting.front()))
			continue;
		channel = begin(queue, queue.waiting.front());
		if (channel < 0)
			return false;
		work = queue.waiting.front();
		queue.waiting.pop_front();
		waiting_--;
		round_ = index;
		return true;
	}
	return false;
}

void Bte::worker(uint32_t number) noexcept
{
	std::unique_lock guard(mutex_);

	take_back_lane(number);
	while (!stop_) {
		BteWork work;
		int channel;

		if (!next(work, channel)) {
			if (offered_ && !helping_)
				help(guard);
			else
				work_.wait(guard);
			continue;
		}
		guard.unlock();
		run(work, channel);
		end(work, channel);
		/* The host's lock may be held by a thread that waits for us: its main loop raises our interrupts. */
		if (core_.own().irq_vectors.load())
			core_.wake.raise(core_.node, 0);
		guard.lock();
	}
}

/* Mutex held. */
bool Bte::enqueue(Queue &queue, const BteWork &work) noexcept
try {
	queue.waiting.push_back(work);
	return true;
} catch (const std::bad_alloc &) {
	return false;
}

/* Mutex held. */
bool Bte::start_workers() noexcept
{
	if (!workers_.empty())
		return true;
	try {
		workers_.reserve(ARIES_BTE_CHANNELS);
		for (uint32_t i = 0; i < ARIES_BTE_CHANNELS; i++)
			workers_.push_back(quiet_thread([this, i] { worker(i); }));
	} catch (...) {
		core_.host.log(ARIES_LOG_WARN, "cannot start a thread for block transfers");
	}
	return !workers_.empty();
}

void Bte::flush(uint32_t index) noexcept
{
	std::deque<BteWork> &waiting = queues_[index].waiting;
	std::unique_lock guard(mutex_);

	fmads_[index].block_epoch.fetch_add(1);
	/* What comes meanwhile is of the new epoch. */
	while (!waiting.empty() && waiting.front().cancelled()) {
		const BteWork work = waiting.front();

		waiting.pop_front();
		under_way_[work.rights.ptag()]--;
		waiting_--;
		guard.unlock();
		work.complete(core_, ARIES_ST_FLUSHED, false);
		fmads_[index].busy.fetch_sub(1);
		guard.lock();
	}
}

void Bte::reset() noexcept
{
	std::unique_lock guard(mutex_);

	for (uint32_t i = 0; i < queues_.size(); i++) {
		fmads_[i].block_epoch.fetch_add(1);
		waiting_ -= uint32_t(queues_[i].waiting.size());
		for (const BteWork &work : queues_[i].waiting)
			under_way_[work.rights.ptag()]--;
		fmads_[i].busy.fetch_sub(uint32_t(queues_[i].waiting.size()));
		queues_[i].waiting.clear();
	}
	for (auto &limit : limits_)
		limit.store(0, std::memory_order_relaxed);
	/* Short transfers do not tell when they end. */
	for (auto waited = LOOK; busy_channels_ && waited < RESET_WAIT; waited += LOOK)
		idle_.wait_for(guard, LOOK);
}

uint32_t Bte::backlog() noexcept
{
	std::lock_guard guard(mutex_);

	return waiting_ + uint32_t(std::popcount(busy_channels_.load()));
}

uint32_t Bte::status() noexcept
{
	std::lock_guard guard(mutex_);

	return busy_channels_ | prep(ARIES_BTE_STATUS_WAITING_MASK, waiting_);
}

uint64_t Bte::counter(unsigned int which) const noexcept
{
	uint64_t sum = 0;

	for (const CounterBlock &block : counters_)
		sum += block.get(which);
	return sum;
}

void Bte::clear_counters() noexcept
{
	for (CounterBlock &block : counters_)
		block.clear();
}

} // namespace aries
