/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Polled doorbells: those that processes leave in their descriptor areas, without a trap. */
#ifndef ARIES_NIC_DOORBELL_POLL_HPP
#define ARIES_NIC_DOORBELL_POLL_HPP

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "nic/engines/fma.hpp"

namespace aries
{

/**
 * A process that may (FMAD_CTL.POLL) stores its doorbell as a word of its descriptor area, ARIES_DESC_POLL. A thread of
 * the NIC looks at these words and runs what they say as a trapped store would be.
 *
 * It looks at those of descriptors that have had a doorbell lately, which it tells them by ARIES_DESC_AWAKE, and sleeps
 * when there are none. The process looks at that word after each doorbell, and where it is 0 traps once, by
 * ARIES_DB_POLL: the trap runs the doorbell, and if others came shortly before the thread looks after the descriptor
 * from now on. Either side stores its own word before it reads the other's, with a full fence between, so a doorbell is
 * seen by one of them at least; whoever gets the descriptor's lock first runs it.
 *
 * Where completions are held nobody is looked after, nor is a descriptor with requests under way to another host: a
 * store that has to wait for room must hold up the processor that made it, and nobody else.
 *
 * The area is the process's: each word is read once, and what it makes of it is its own loss.
 */
class DoorbellPoll
{
public:
	/** Doorbells that come within so long of each other are worth being looked for. */
	static constexpr uint64_t LINGER_NS = 50'000;
	/**
	 * So many doorbells in a row that were run by a trap though the thread should have found them: the host has no
	 * processor for it. Then it leaves the descriptor alone for a while.
	 */
	static constexpr uint32_t LATE_MOST = 16;
	static constexpr uint64_t LATE_PAUSE_NS = 10'000'000;

	/** Of the thread, for whatever pins it. */
	static constexpr const char *THREAD_NAME = "aries-doorbell";

	/** @offered: whether the NIC has polled doorbells at all; without nothing of this costs anything */
	DoorbellPoll(Core &core, Fmad *fmads, Fma &fma, Traffic &traffic, Hold &hold, uint8_t *desc_area,
		     bool offered) noexcept
		: core_(core), fmads_(fmads), fma_(fma), traffic_(traffic), hold_(hold), desc_area_(desc_area),
		  offered_(offered)
	{
	}
	~DoorbellPoll() { stop(); }
	DoorbellPoll(const DoorbellPoll &) = delete;
	DoorbellPoll &operator=(const DoorbellPoll &) = delete;

	bool offered() const noexcept { return offered_; }

	/**
	 * FMAD_CTL is about to be written; the descriptor's lock is held. A doorbell that lies there is run with the
	 * rights that it was stored under.
	 * @on: whether there may be such doorbells from now on
	 */
	void control(uint32_t index, bool on) noexcept;
	/** The same for a reset: what lies there is dropped. */
	void reset(uint32_t index) noexcept;

	/** ARIES_DB_POLL; the descriptor's lock is held. */
	void kick(uint32_t index) noexcept;

	/**
	 * From time to time: doorbells that nobody was told of. There are none, unless the guest's fence was none:
	 * emulators leave it out for a guest with one processor.
	 */
	void sweep() noexcept;

	/**
	 * Whether a doorbell is being run, or lies there and is about to be by the thread or sweep(), also if its
	 * process has not come as far as its trap: who wants the descriptor quiet has to wait for it. Any thread.
	 */
	bool busy(uint32_t index) const noexcept;

	/** The thread ends. No store of a guest may come afterwards. */
	void stop() noexcept;

private:
	static constexpr uint32_t WORD_BITS = 64;

	struct alignas(64) Entry {
		std::atomic<bool> on{false};      /* changes under the descriptor's lock */
		std::atomic<uint64_t> phase{0};   /* of the doorbell taken last; the same */
		std::atomic<bool> running{false}; /* a doorbell, at this moment; the same */
		std::atomic<bool> rung{false};    /* since the thread has looked at the clock */
		uint64_t last_ns = 0;             /* when it did and that was so; of the thread */
		/* under the descriptor's lock */
		uint64_t kicked_ns = 0; /* last trap for a doorbell that nobody looked for */
		uint64_t pause_ns = 0;  /* the thread leaves it alone until then */
		uint32_t late = 0;      /* doorbells in a row that the thread has not found */
	};

	uint8_t *area(uint32_t index) const noexcept { return desc_area_ + size_t(index) * ARIES_DESC_STRIDE; }
	uint64_t word(uint32_t index) const noexcept;
	bool fresh(uint32_t index, uint64_t word) const noexcept;
	void tell(uint32_t index, bool awake) const noexcept;
	bool holds(uint32_t index) const noexcept;
	bool active(uint32_t index) const noexcept;
	bool any_active() const noexcept;
	bool take(uint32_t index) noexcept;
	bool look_after(uint32_t index) noexcept;
	void give_up(uint32_t index) noexcept;
	void serve(uint32_t index) noexcept;
	void doze(uint32_t index) noexcept;
	void too_late(Entry &entry, uint32_t index) noexcept;
	void after(uint32_t index) noexcept;
	bool look_round() noexcept;
	void look_at_clock() noexcept;
	void run() noexcept;

	Core &core_;
	Fmad *const fmads_;
	Fma &fma_;
	Traffic &traffic_;
	Hold &hold_;
	uint8_t *const desc_area_;
	const bool offered_;
	std::array<Entry, ARIES_FMA_DESCRIPTORS> entries_;
	/* Descriptors that the thread looks after; a bit changes under the descriptor's lock. */
	std::array<std::atomic<uint64_t>, ARIES_FMA_DESCRIPTORS / WORD_BITS> active_{};
	std::mutex mutex_;
	std::condition_variable changed_; /* somebody is to be looked after, or stop */
	std::atomic<bool> stop_{false};   /* changes under the mutex */
	std::thread thread_;              /* exists once somebody was; under the mutex */
};

} // namespace aries

#endif
