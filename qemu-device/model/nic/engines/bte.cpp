/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
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
	: core_(core), fmads_(fmads), ntt_(ntt), traffic_(traffic), hold_(hold), carry_(carry), desc_area_(desc_area)
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
	work.rights = {fmads_[index].ctl.load(std::memory_order_relaxed), 0};
	work.epoch = epochs_[index].load(std::memory_order_relaxed);
	return check(work);
}

uint8_t Bte::check(BteWork &work) noexcept
{
	const aries_bte_desc &desc = work.desc;
	const NodeSlot &own = core_.own();
	const bool events = desc.mode & (ARIES_EV_LOCAL | ARIES_EV_GLOBAL);

	if (!(work.rights.ctl & ARIES_FMAD_CTL_ENABLE_MASK) &&
	    ecc_look(core_, core_.node, ARIES_RAS_FMAD, work.index, fmads_[work.index].ctl, FMAD_ECC,
		     work.rights.ctl) != ARIES_ST_OK)
		return ARIES_ST_LOCAL_ECC;
	if (!(work.rights.ctl & ARIES_FMAD_CTL_ENABLE_MASK) || own.online.load(std::memory_order_relaxed) != ONLINE_ALL)
		return ARIES_ST_DISABLED;
	work.cq_serial = events ? cq_claim(own, desc.cq, work.rights.owner()) : 0;
	if (events && !work.cq_serial) [[unlikely]] {
		const uint8_t why = cq_claim_again(core_, desc.cq, work.rights.owner(), work.cq_serial);

		if (why != ARIES_ST_OK)
			return why;
	}
	for (uint16_t word : desc.reserved) {
		if (word)
			return ARIES_ST_RESERVED;
	}
	if ((desc.mode & ARIES_EV_RSVD_MASK) || (desc.flags & ~(ARIES_BTE_FENCE | ARIES_BTE_PHYS)) ||
	    (desc.dlvr_mode & ARIES_DLV_RSVD_MASK) || !mdh_sound(desc.mdh) || desc.offset >> ARIES_OFFSET_BITS ||
	    (!work.physical() && desc.local_offset >> ARIES_OFFSET_BITS))
		return ARIES_ST_RESERVED;
	if (desc.op != ARIES_BTE_PUT && desc.op != ARIES_BTE_GET && desc.op != ARIES_BTE_SEND)
		return ARIES_ST_BAD_OP;
	if (work.send() && (desc.mdh || desc.offset > UINT16_MAX))
		return ARIES_ST_RESERVED;
	if (work.physical() && !work.rights.kernel())
		return ARIES_ST_LOCAL_ACCESS;
	if (!desc.length)
		return ARIES_ST_LENGTH;
	if (!work.put() && ((desc.offset | desc.length) & 3))
		return ARIES_ST_ALIGN;
	const uint8_t status = work.rights.load(core_, own, work.rights.ctl);

	return status == ARIES_ST_OK ? ntt_.resolve(work.rights.ctl, desc.pe, work.node) : status;
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
	channel_ecc_[size_t(channel)].store(ECC_WHOLE);
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
	if (status == ARIES_ST_OK && is_short(work) && !limit(work.rights.ptag()) && (channel = seize(fmad)) >= 0)
		[[likely]] {
		CounterBlock &counters = counters_[size_t(channel)];
		bool overrun = false;

		counters.add(ARIES_CNT_SSIDS);
		work.channel = uint8_t(channel);
		conclude(work, move_short(work, counters, overrun), overrun, counters);
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
		complete(work, status, false);
	}
	if (channel >= 0) {
		run(work, channel);
		end(work, channel);
	}
	return status;
}

void Bte::run(BteWork &work, int channel) noexcept
{
	CounterBlock &counters = counters_[size_t(channel)];
	bool overrun = false;

	work.ssid = ssids_.take();
	work.channel = uint8_t(channel);
	counters.add(ARIES_CNT_SSIDS);
	uint8_t status = work.ecc ? damage(work.index, work.ecc) : uint8_t(ARIES_ST_OK);

	if (status == ARIES_ST_OK) [[likely]]
		status = work.send() ? send(work, counters, overrun) : transfer(work, counters);
	if (status == ARIES_ST_OK)
		status = channel_damage(work);
	if (status == ARIES_ST_OK && !work.send())
		status = remote_event(work, overrun);
	if (status == ARIES_ST_OK)
		status = work.unanswered;
	ssids_.give(work.ssid);
	conclude(work, status, overrun, counters);
}

/* What was read of a transfer with wrong bits: with two of them nobody knows where it would go. */
uint8_t Bte::damage(uint32_t index, uint32_t hit) noexcept
{
	ecc_found(core_, core_.node, ARIES_RAS_BTE, index, hit & ECC_TWO_BITS);
	return hit & ECC_TWO_BITS ? ARIES_ST_LOCAL_ECC : ARIES_ST_OK;
}

/* The channel reads its transfer with each chunk, and at its end. */
uint8_t Bte::channel_damage(const BteWork &work) noexcept
{
	std::atomic<uint32_t> &ecc = channel_ecc_[work.channel];
	const uint32_t hit = ecc.load(std::memory_order_relaxed) ? ecc.exchange(ECC_WHOLE) : uint32_t(ECC_WHOLE);

	return hit ? damage(ARIES_FMA_DESCRIPTORS + work.channel, hit) : uint8_t(ARIES_ST_OK);
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
	channel_ecc_[channel].fetch_or(bits);
	return true;
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
		complete(work, status, overrun);
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

bool Bte::cancelled(const BteWork &work) noexcept
{
	return epochs_[work.index].load(std::memory_order_relaxed) != work.epoch;
}

void Bte::flush(uint32_t index) noexcept
{
	std::deque<BteWork> &waiting = queues_[index].waiting;
	std::unique_lock guard(mutex_);

	epochs_[index].fetch_add(1);
	/* What comes meanwhile is of the new epoch. */
	while (!waiting.empty() && cancelled(waiting.front())) {
		const BteWork work = waiting.front();

		waiting.pop_front();
		under_way_[work.rights.ptag()]--;
		waiting_--;
		guard.unlock();
		complete(work, ARIES_ST_FLUSHED, false);
		fmads_[index].busy.fetch_sub(1);
		guard.lock();
	}
}

void Bte::reset() noexcept
{
	std::unique_lock guard(mutex_);

	for (uint32_t i = 0; i < queues_.size(); i++) {
		epochs_[i].fetch_add(1);
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
