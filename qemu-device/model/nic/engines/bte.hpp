/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Block transfer engine: queues of the descriptors and four channels (N14, N15, N17). */
#ifndef ARIES_NIC_BTE_HPP
#define ARIES_NIC_BTE_HPP

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "nic/engines/bte_transfer.hpp"
#include "nic/tables/ssid.hpp"

namespace aries
{

class Bte
{
public:
	Bte(Core &core, Fmad *fmads, Ntt &ntt, Traffic &traffic, Hold &hold, Carry &carry, uint8_t *desc_area);
	/** Ends what is running at its next chunk and stops the threads. */
	~Bte();
	Bte(const Bte &) = delete;
	Bte &operator=(const Bte &) = delete;

	/**
	 * DB_BTE; the descriptor's lock is held. Small transfers with nothing in front run here, others are queued.
	 * Return: ARIES_ST_OK if the transfer was taken; what becomes of it is told by events.
	 */
	uint8_t doorbell(uint32_t index, uint64_t value) noexcept;

	/** Queued transfers of a descriptor end with ARIES_ST_FLUSHED, running ones at their next chunk; does not wait.
	 */
	void flush(uint32_t index) noexcept;
	/** Drops everything without events and waits for what is running; bounded. */
	void reset() noexcept;

	/** PTAG_BTE: block transfers that descriptors of a tag may have queued or running at once. */
	void limit(uint32_t ptag, uint32_t value) noexcept { limits_[ptag].store(value, std::memory_order_relaxed); }
	uint32_t limit(uint32_t ptag) const noexcept { return limits_[ptag].load(std::memory_order_relaxed); }

	uint64_t counter(unsigned int which) const noexcept;
	void clear_counters() noexcept;
	/** Transfers queued or running, of all descriptors. */
	uint32_t backlog() noexcept;

	/**
	 * An error of one bit, or @twice of two: below ARIES_FMA_DESCRIPTORS in the transfer of that descriptor which
	 * waits longest, from there on in the one that a channel carries. False if there is none.
	 */
	bool hit(uint32_t index, bool twice) noexcept;

	/** BTE_STATUS register. */
	uint32_t status() noexcept;

private:
	struct Queue {
		std::deque<BteWork> waiting;
		uint32_t running = 0;
		bool fenced = false; /* the one running wants to be alone */
	};

	uint8_t take(uint32_t index, uint32_t slot, BteWork &work) noexcept;
	bool enqueue(Queue &queue, const BteWork &work) noexcept;
	bool eligible(const Queue &queue, const BteWork &work) const noexcept;
	bool at_limit(const BteWork &work) const noexcept;
	int begin(Queue &queue, const BteWork &work) noexcept;
	void end(const BteWork &work, int channel) noexcept;
	void run(BteWork &work, int channel) noexcept;
	void conclude(const BteWork &work, uint8_t status, bool overrun, CounterBlock &counters) noexcept;
	int seize(const Fmad &fmad) noexcept;
	void release(int channel) noexcept;
	uint8_t transfer(BteWork &work, CounterBlock &counters) noexcept;
	void offer(BteShare &share) noexcept;
	void withdraw(BteShare &share) noexcept;
	void help(std::unique_lock<std::mutex> &guard) noexcept;
	bool complete_later(const BteWork &work, uint8_t status, bool overrun) noexcept;
	bool next(BteWork &work, int &channel) noexcept;
	bool start_workers() noexcept;
	void worker(uint32_t number) noexcept;

	Core &core_;
	Fmad *const fmads_;
	Ntt &ntt_;
	Hold &hold_;
	uint8_t *const desc_area_;
	BteTransfer transfer_;
	SsidPool ssids_;

	std::mutex mutex_;
	std::condition_variable work_; /* something to do, or stop */
	std::condition_variable idle_; /* a transfer has ended */
	std::array<Queue, ARIES_FMA_DESCRIPTORS> queues_;
	uint32_t round_ = 0;                     /* descriptor served last */
	std::atomic<uint32_t> waiting_{0};       /* changes under the mutex */
	std::atomic<uint32_t> busy_channels_{0}; /* bit mask */
	BteShare *offered_ = nullptr;            /* a long transfer that an idle thread may help with */
	bool helping_ = false;                   /* a thread does; it counts in counters_ behind the channels */
	std::array<std::atomic<uint32_t>, ARIES_PTAG_ENTRIES> limits_{}; /* as PTAG_BTE */
	std::array<uint32_t, ARIES_PTAG_ENTRIES> under_way_{};           /* all but short transfers */
	bool stop_ = false;
	std::vector<std::thread> workers_;
	std::array<CounterBlock, ARIES_BTE_CHANNELS + 1> counters_;
};

} // namespace aries

#endif
