/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What waits until modelled time has come, where completions are held (FabricClock::holds()). */
#ifndef ARIES_NIC_HOLD_HPP
#define ARIES_NIC_HOLD_HPP

#include <bitset>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "nic/core/core.hpp"

namespace aries
{

/**
 * The operations of a NIC that are on their way, in the order of the modelled times at which something is to be done
 * for them. A thread of its own does it; it exists once something was held, and sleeps while nothing is due.
 *
 * Actions run with no lock held. One that is not run, because of a reset or the end of the NIC, is destroyed: what has
 * to happen in any case is up to destructors of what it holds.
 */
class Hold
{
public:
	using Action = std::function<void()>;

	/** No store of a guest waits longer, whatever the network is like: its kernel would take the processor for
	 * dead. */
	static constexpr std::chrono::milliseconds PATIENCE{50};

	explicit Hold(Core &core) noexcept : core_(core) {}
	~Hold() { stop(); }
	Hold(const Hold &) = delete;
	Hold &operator=(const Hold &) = delete;

	/** Whether completions are held now. One load. */
	bool on() const noexcept { return core_.network.clock().holds(); }

	/**
	 * Has @action run when it is @due_ns, in modelled time; those that are due at the same time in the order in
	 * which they came. Any thread, any lock that actions do not take.
	 * @owner: FMA descriptor that it is for, see expedite()
	 * Return: false, with nothing done, if there is no memory or no thread
	 */
	bool add(uint64_t due_ns, uint32_t owner, Action action) noexcept;

	/**
	 * What is on its way for @owner, or will be, is due at once, as its process waits for the end; or no longer.
	 * Does not wait for it.
	 */
	void expedite(uint32_t owner, bool on) noexcept;

	/** Packets that are on their way, and that have come back or never will (N20). */
	void depart(uint32_t packets) noexcept { packets_.fetch_add(packets, std::memory_order_relaxed); }
	void arrive(uint32_t packets) noexcept { packets_.fetch_sub(packets, std::memory_order_relaxed); }
	uint32_t packets() const noexcept { return packets_.load(std::memory_order_relaxed); }

	/**
	 * After an operation, with no lock held: where a processor would stand still because its NIC takes no more,
	 * this waits, for at most PATIENCE.
	 * @limit: packets that may be on their way
	 */
	void throttle(uint32_t limit) noexcept;

	/** For the same: waits for what an action does, for at most PATIENCE; false if that is over. */
	template <typename Done> bool wait(Done &&done) noexcept
	{
		std::unique_lock guard(mutex_);

		return room_.wait_for(guard, PATIENCE, std::forward<Done>(done));
	}

	/** For threads of the model: sleeps until it is @due_ns or @given_up says so, which is asked every few ms. */
	template <typename GivenUp> void sleep_until(uint64_t due_ns, GivenUp &&given_up) const noexcept
	{
		for (uint64_t left; on() && (left = left_ns(due_ns)) && !given_up();)
			nap(left);
	}

	/** Everything on its way is dropped; what is being done is waited for. */
	void reset() noexcept;

	/** The same, and the thread ends. Nothing may be added afterwards. */
	void stop() noexcept;

private:
	struct Item {
		uint64_t due_ns;
		uint64_t number; /* in the order in which they came */
		uint32_t owner;
		Action action;
	};

	/* A heap has the item on top that std::less calls the greatest. */
	static bool later(const Item &a, const Item &b) noexcept
	{
		return a.due_ns != b.due_ns ? a.due_ns > b.due_ns : a.number > b.number;
	}

	uint64_t left_ns(uint64_t due_ns) const noexcept;
	static void nap(uint64_t ns) noexcept;
	void drop(std::unique_lock<std::mutex> &guard) noexcept;
	void run() noexcept;
	void run_due(std::unique_lock<std::mutex> &guard) noexcept;

	Core &core_;
	std::mutex mutex_;
	std::condition_variable changed_; /* something to do, or stop */
	std::condition_variable room_;    /* an action was run, or all were dropped */
	std::vector<Item> heap_;
	uint64_t numbers_ = 0;
	std::bitset<ARIES_FMA_DESCRIPTORS> hurry_; /* owners whose operations wait no longer */
	bool running_ = false;                     /* an action, without the mutex */
	bool stop_ = false;
	std::atomic<uint32_t> packets_{0};
	std::thread thread_;
};

} // namespace aries

#endif
